-- HAVING on a table in the order of the key: groups that lie in one vector are dropped at once, whatever has been
-- written to the table since.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE own (k int, v numeric(12,2), t text);
INSERT INTO own SELECT i / 4, i % 7, 'text ' || i % 3 FROM generate_series(1, 100000) i;
VACUUM ANALYZE own;
SELECT penumbra.load('own') > 0 AS loaded;
-- the answers' number, whether they are PostgreSQL's, and whether groups were dropped at once
CREATE FUNCTION answers(query text, OUT answers bigint, OUT are_equal boolean, OUT drops boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT count(*), string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query)
		INTO answers, expected;
	SET LOCAL penumbra.mode = require;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO found;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
	are_equal := expected IS NOT DISTINCT FROM found;
	drops := plan::text ~ '"Dropped Groups": [1-9]';
	RESET penumbra.mode;
END $$;
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own GROUP BY k HAVING sum(v) > 17');
SELECT * FROM answers('SELECT k, t, count(*) FROM own WHERE v > 0 GROUP BY t, k HAVING count(*) > 1 AND max(v) > 5');
SELECT * FROM answers('SELECT k FROM own GROUP BY k HAVING count(*) > 4');
-- what can fail is asked of every group, and only where PostgreSQL asks it
SELECT * FROM answers('SELECT k, sum(v) FROM own GROUP BY k HAVING 10 / (sum(v) + 1) > 0.8');
-- rows of the heap may be of any group: few are read first
BEGIN;
INSERT INTO own VALUES (3, 100, 'new'), (24999, 100, 'new'), (NULL, 100, 'new');
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own GROUP BY k HAVING sum(v) > 17');
ROLLBACK;
DELETE FROM own WHERE v = 6;
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own GROUP BY k HAVING sum(v) > 13');
-- and so may rows that were moved far from their place
UPDATE own SET v = v + 20, t = repeat('long ', 20) WHERE k % 1000 = 5 AND v > 3;
VACUUM own;
SELECT penumbra.refresh('own') > 0 AS refreshed;
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own GROUP BY k HAVING sum(v) > 13');
-- in any order
CREATE TABLE own_shuffled AS SELECT * FROM own ORDER BY hashint4(k), v;
VACUUM ANALYZE own_shuffled;
SELECT penumbra.load('own_shuffled') > 0 AS loaded;
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own_shuffled GROUP BY k HAVING sum(v) > 13');
-- with many rows of the heap nothing is known
BEGIN;
INSERT INTO own SELECT 7, 0.01, 'new' FROM generate_series(1, 25000);
SELECT * FROM answers('SELECT k, sum(v), max(t) FROM own GROUP BY k HAVING sum(v) > 17');
ROLLBACK;
-- parameters
PREPARE above(numeric) AS SELECT count(*) FROM (SELECT k FROM own GROUP BY k HAVING sum(v) > $1) q;
SET plan_cache_mode = force_generic_plan;
EXECUTE above(14);
EXECUTE above(40);
EXECUTE above(NULL);
DROP FUNCTION answers;
DROP TABLE own, own_shuffled;
