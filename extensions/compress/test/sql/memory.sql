-- Memory of comparisons: that of the two values, however many there are.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;
CREATE FUNCTION peak_megabytes() RETURNS bigint LANGUAGE sql AS
$$SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+) kB')::bigint / 1024$$;
-- 24 values of 5 MB that differ at their end
CREATE TABLE large (t compressed_text(lz4) COLLATE "en-x-icu", b compressed_bytea(none), j compressed_jsonb(zstd));
INSERT INTO large SELECT repeat('0123456789abcdef', 5 * 65536) || md5(i::text) FROM generate_series(1, 24) i;
UPDATE large SET j = to_jsonb(t::text);
INSERT INTO large (b) SELECT convert_to(repeat('0123456789abcdef', 65536) || md5(i::text), 'UTF8') FROM generate_series(1, 20) i;
\c
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SELECT count(*) FROM (SELECT t FROM large WHERE t IS NOT NULL ORDER BY t OFFSET 0) s;
SELECT count(DISTINCT b), count(DISTINCT j) FROM large;
SELECT count(*) FROM large WHERE t < 'x' AND t > repeat('0123456789abcdef', 5 * 65536);
CREATE INDEX ON large USING hash (t);
CREATE INDEX ON large USING hash (b);
CREATE INDEX ON large USING hash (j);
SELECT peak_megabytes() < 150 AS bounded;
-- what is kept between statements is bounded by work_mem
SET work_mem = '64kB';
SELECT count(*) FROM large WHERE length(t) = length(t || 'x') - 1 AND t LIKE '0123%' AND j <> 'null';
SELECT peak_megabytes() < 150 AS bounded;
DROP TABLE large;
DROP FUNCTION peak_megabytes;
