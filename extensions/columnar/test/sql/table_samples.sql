-- TABLESAMPLE in vectors: the rows of the sample are PostgreSQL's, of pages of the cache and of changed ones.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sampled (id int, g int, v numeric(8, 2), t text, x point);
INSERT INTO sampled SELECT i, i % 7, i % 100, 'text ' || i % 13, point(i, i) FROM generate_series(1, 20000) i;
DELETE FROM sampled WHERE id % 11 = 3;
VACUUM ANALYZE sampled;
SELECT penumbra.load('sampled') > 0 AS loaded;
CREATE TABLE names (g int, name text);
INSERT INTO names SELECT i, 'name ' || i FROM generate_series(0, 6) i;
VACUUM ANALYZE names;
CREATE TABLE parted (id int, g int) PARTITION BY RANGE (id);
CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (9000);
CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (9000) TO (MAXVALUE);
INSERT INTO parted SELECT id, g FROM sampled;
VACUUM ANALYZE parted;
SELECT penumbra.load('parted_low') + penumbra.load('parted_high') > 0 AS loaded;
-- whether the query runs in vectors, and whether the answer is PostgreSQL's
CREATE FUNCTION sampled(query text, OUT in_vectors boolean, OUT are_equal boolean, OUT has_rows boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query) INTO expected;
	SET LOCAL penumbra.mode = prefer;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO found;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
	are_equal := expected IS NOT DISTINCT FROM found;
	in_vectors := plan -> 0 -> 'Plan' ->> 'Node Type' = 'Custom Scan' AND plan::text !~ 'Ordinary Plan Used|Sample Scan.*Sample Scan';
	has_rows := expected IS NOT NULL;
	RESET penumbra.mode;
END $$;
SET penumbra.mode = prefer;
EXPLAIN (COSTS OFF) SELECT g, sum(v) FROM sampled TABLESAMPLE BERNOULLI (10) REPEATABLE (3) WHERE id > 9 GROUP BY g;
EXPLAIN (COSTS OFF) SELECT id FROM sampled s TABLESAMPLE SYSTEM (20);
RESET penumbra.mode;
CREATE FUNCTION all_samples() RETURNS TABLE (in_vectors boolean, are_equal boolean, has_rows boolean, query text) LANGUAGE sql AS $$
SELECT s.*, q FROM unnest(ARRAY[
  'SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (10) REPEATABLE (3)',
  'SELECT count(*), sum(v), max(t) FROM sampled TABLESAMPLE BERNOULLI (33.3) REPEATABLE (0.5)',
  'SELECT id, v, t FROM sampled TABLESAMPLE BERNOULLI (2) REPEATABLE (-7) WHERE g <> 4',
  'SELECT count(*), sum(id) FROM sampled TABLESAMPLE SYSTEM (30) REPEATABLE (3)',
  'SELECT g, sum(v) FROM sampled TABLESAMPLE SYSTEM (50) REPEATABLE (99) WHERE id > 700 GROUP BY g',
  'SELECT count(*), sum(id) FROM sampled TABLESAMPLE BERNOULLI (100)',
  'SELECT count(*), sum(id) FROM sampled TABLESAMPLE SYSTEM (100)',
  'SELECT count(*), sum(id) FROM sampled TABLESAMPLE BERNOULLI (0)',
  'SELECT count(*), sum(id) FROM sampled TABLESAMPLE SYSTEM (0) REPEATABLE (1)',
  'SELECT name, count(*), min(id) FROM sampled s TABLESAMPLE BERNOULLI (5) REPEATABLE (1) JOIN names USING (g) GROUP BY name',
  'SELECT count(*) FROM sampled a TABLESAMPLE BERNOULLI (50) REPEATABLE (1) JOIN sampled b TABLESAMPLE SYSTEM (50) REPEATABLE (1) USING (id)',
  'SELECT id, rank() OVER (PARTITION BY g ORDER BY v, id), sum(v) OVER (PARTITION BY g) FROM sampled TABLESAMPLE BERNOULLI (5) REPEATABLE (8)',
  'SELECT id, x::text FROM sampled TABLESAMPLE BERNOULLI (20) REPEATABLE (8) ORDER BY v, id LIMIT 9',
  'SELECT count(*), sum(id), min(g) FROM parted TABLESAMPLE BERNOULLI (10) REPEATABLE (3)',
  'SELECT g, count(*), sum(id) FROM parted TABLESAMPLE SYSTEM (40) REPEATABLE (4) GROUP BY g',
  'SELECT count(*) FROM sampled s WHERE EXISTS (SELECT FROM sampled e TABLESAMPLE BERNOULLI (3) REPEATABLE (5) WHERE e.v = s.v AND e.g = s.g)',
  'SELECT s.id, (SELECT sum(e.id) FROM sampled e TABLESAMPLE BERNOULLI (30) REPEATABLE (5) WHERE e.g = s.g) FROM sampled s WHERE s.id < 50',
  'WITH s AS MATERIALIZED (SELECT g, count(*) AS n FROM sampled TABLESAMPLE BERNOULLI (30) REPEATABLE (6) GROUP BY g) SELECT a.g, a.n, b.n FROM s a JOIN s b ON a.g = b.g + 1',
  'SELECT t, count(*) FROM (SELECT t FROM sampled TABLESAMPLE BERNOULLI (9) REPEATABLE (1) UNION ALL SELECT t FROM sampled TABLESAMPLE SYSTEM (9) REPEATABLE (1)) u GROUP BY t'])
  q, sampled(q) s $$;
SELECT * FROM all_samples();
-- a filter without matches in a sample says nothing of other rows
SET penumbra.mode = require;
SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (0) WHERE t = 'text 5';
SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (0.001) REPEATABLE (5) WHERE t = 'text 5';
SELECT count(*) FROM sampled WHERE t = 'text 5';
SELECT count(*) FROM sampled WHERE t = 'text 5';
RESET penumbra.mode;
-- rows that were written since: updated, deleted, and on new pages; then in a patch
UPDATE sampled SET v = v + 1 WHERE id % 50 = 2 AND id < 9000;
DELETE FROM sampled WHERE id % 50 = 4 AND id BETWEEN 5000 AND 12000;
INSERT INTO sampled SELECT i, i % 7, i % 100, 'new ' || i % 13 FROM generate_series(20001, 23000) i;
UPDATE parted SET g = g + 1 WHERE id % 70 = 2;
SELECT * FROM all_samples() WHERE NOT (in_vectors AND are_equal);
VACUUM sampled;
SELECT penumbra.load('sampled') > 0 AS loaded;
SELECT * FROM all_samples() WHERE NOT (in_vectors AND are_equal);
-- without REPEATABLE: references have samples of their own, and a sample is one wherever it is read
SET penumbra.mode = require;
SELECT n BETWEEN 1500 AND 2600 AS is_tenth FROM (SELECT count(*) AS n FROM sampled TABLESAMPLE BERNOULLI (10)) s;
SELECT n BETWEEN 100 AND 300 AS is_hundredth
  FROM (SELECT count(*) AS n FROM sampled a TABLESAMPLE BERNOULLI (10) JOIN sampled b TABLESAMPLE BERNOULLI (10) USING (id)) s;
SELECT count(*) FILTER (WHERE n <> m) FROM (SELECT g, count(*) OVER (PARTITION BY g) AS n, sum(1) OVER (PARTITION BY g, g % 2) AS m
  FROM sampled TABLESAMPLE BERNOULLI (10)) s;
RESET penumbra.mode;
SELECT a.n = b.n AS are_one FROM (SELECT sum(id::numeric ^ 2) AS n FROM sampled TABLESAMPLE BERNOULLI (50)) a,
  (SELECT sum(id::numeric ^ 2) AS n FROM sampled TABLESAMPLE BERNOULLI (50)) b;
-- parameters
SET plan_cache_mode = force_custom_plan;
PREPARE p(real, float8) AS SELECT count(*), sum(id) FROM sampled TABLESAMPLE BERNOULLI ($1) REPEATABLE ($2);
SET penumbra.mode = require;
CREATE TEMP TABLE ours AS EXECUTE p(7, 3);
SET penumbra.mode = off;
CREATE TEMP TABLE theirs AS EXECUTE p(7, 3);
SELECT ours = theirs AS are_equal FROM ours, theirs;
-- errors are PostgreSQL's
SET penumbra.mode = prefer;
SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (101);
SELECT count(*) FROM sampled TABLESAMPLE SYSTEM (-1);
SELECT count(*) FROM sampled TABLESAMPLE SYSTEM ('NaN');
SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (NULL);
SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (1) REPEATABLE (NULL);
EXECUTE p(200, 1);
SELECT n.g, (SELECT count(*) FROM sampled TABLESAMPLE BERNOULLI (n.g) REPEATABLE (1)) FROM names n ORDER BY g;
DROP TABLE sampled, names, parted;
DROP FUNCTION sampled(text), all_samples();
