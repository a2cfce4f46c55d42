-- a rare status
SELECT count(*), sum(total_amount)
FROM events WHERE http_status = 500;
