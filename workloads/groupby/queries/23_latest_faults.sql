-- the latest measures with many faults
SELECT id, site, taken_at FROM measures WHERE faults = 14 ORDER BY taken_at DESC, id DESC LIMIT 10;
