-- The planner knows what was written, and what a refresh has made right again without a scan in between. Rows are not
-- proven one by one here, so that a written page is the heap's.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE refreshed (id int, n int, filler char(100)) WITH (user_catalog_table = true);
INSERT INTO refreshed SELECT i, i % 100, '' FROM generate_series(1, 100000) i;
VACUUM ANALYZE refreshed;
SELECT penumbra.load('refreshed', '{id, n}');
CREATE FUNCTION plan() RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF) SELECT id FROM refreshed WHERE n < 50' INTO line;
	RETURN line;
END $$;
SELECT plan();
-- a row on each page changes, which the next query finds
UPDATE refreshed SET n = n + 1 WHERE id % 30 = 0;
SELECT plan();
SELECT sum(n) FROM refreshed;
SELECT plan();
VACUUM refreshed;
SELECT penumbra.refresh('refreshed') > 0 AS refreshed;
SELECT plan();
SELECT sum(n) FROM refreshed;
-- of two chunks one is written to
UPDATE refreshed SET n = n + 1 WHERE id <= 1000;
SELECT sum(n) FROM refreshed;
SELECT plan();
-- what was found of chunks is forgotten with them
UPDATE refreshed SET n = n + 1 WHERE id % 30 = 0;
SELECT sum(n) FROM refreshed;
SELECT plan();
SELECT penumbra.unload('refreshed') > 0 AS unloaded;
VACUUM refreshed;
SELECT penumbra.load('refreshed', '{id, n}') > 0 AS loaded;
SELECT plan();
DROP FUNCTION plan();
DROP TABLE refreshed;
