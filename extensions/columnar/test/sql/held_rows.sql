-- Values that the engine does not support are met after rows were computed: no row leaves the node
-- before the engine is at its end, so PostgreSQL's plan still takes over and the query never fails.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET datestyle = 'ISO, YMD';
SET timezone = 'Europe/Berlin'; -- whose rules go on for ever, and the engine's table does not
SET max_parallel_workers_per_gather = 0;
CREATE TABLE instants (id int, at timestamptz);
INSERT INTO instants SELECT i, timestamptz '2020-01-01' + i * interval '1 minute' FROM generate_series(1, 40000) i;
VACUUM ANALYZE instants;
SELECT penumbra.load('instants') > 0 AS loaded;

CREATE FUNCTION what_ran(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Penumbra|Ordinary Plan' THEN
			RETURN NEXT regexp_replace(trim(line), '^.*(Penumbra \w+|Ordinary).*rows=(\d+).*$', '\1: \2 rows');
		END IF;
	END LOOP;
END $$;

-- everything is supported: in one node, streaming or not
SET penumbra.mode = require;
SELECT count(*), min(id), max(id) FROM (SELECT id FROM instants WHERE date_trunc('day', at) > '2020-01-05' OFFSET 0) s;
SET penumbra.mode = prefer;
SELECT what_ran('SELECT id FROM instants WHERE date_trunc(''day'', at) > ''2020-01-05''');
SELECT what_ran('SELECT id, max(at)::date FROM instants GROUP BY id');
SELECT what_ran('SELECT id, at::date FROM instants ORDER BY id');

-- the last row is beyond the table: a scan, a filter and a projection above an aggregation, a projection above a sort
RESET penumbra.mode;
INSERT INTO instants VALUES (40001, '2300-07-01 12:00'), (40002, NULL);
VACUUM instants;
SELECT penumbra.load('instants') > 0 AS loaded;
SET penumbra.mode = prefer;
SELECT what_ran('SELECT id FROM instants WHERE date_trunc(''day'', at) > ''2020-01-05''');
SELECT count(*), max(id) FROM (SELECT id FROM instants WHERE date_trunc('day', at) > '2020-01-05' OFFSET 0) s;
SELECT what_ran('SELECT id, max(at)::date FROM instants GROUP BY id');
SELECT count(*), max(latest) FROM (SELECT id, max(at)::date AS latest FROM instants GROUP BY id OFFSET 0) s;
SELECT what_ran('SELECT id FROM instants GROUP BY id HAVING date_trunc(''day'', max(at)) > ''2020-01-05''');
SELECT what_ran('SELECT id, at::date FROM instants ORDER BY id');
SELECT max(day) FROM (SELECT id, at::date AS day FROM instants ORDER BY id OFFSET 0) s;

-- again and again, and as a cursor
SELECT v, (SELECT count(i) FROM (SELECT id FROM instants WHERE date_trunc('day', at) > '2020-01-20'
	AND id > v AND id < 40001 OFFSET 0) s(i)) FROM (VALUES (39990), (39999), (0)) t(v);
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM instants WHERE date_trunc('day', at) > '2020-01-05' ORDER BY id DESC;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM instants WHERE date_trunc('day', at) > '2020-01-05' AND id < 30000;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- a parallel scan cannot change its plan: such a qual stays with PostgreSQL
SET penumbra.mode = auto;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET cpu_tuple_cost = 1;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT bit_xor(id::bit(32))::integer FROM instants WHERE date_trunc('day', at) > '2020-01-05' AND id > 35000;
SELECT bit_xor(id::bit(32))::integer FROM instants WHERE date_trunc('day', at) > '2020-01-05' AND id > 35000;
DROP TABLE instants;
DROP FUNCTION what_ran;
