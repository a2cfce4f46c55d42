-- Scans below Gather: several processes read one table, in chunks, each row once.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET parallel_setup_cost = 0;
SET cpu_tuple_cost = 1; -- so that sharing the work pays
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE wide (id int, kind int, amount numeric(12,2), filler text);
INSERT INTO wide SELECT i, i % 10, i / 4.0, repeat('x', 400) FROM generate_series(1, 60000) i;
CREATE TABLE narrow (id int, weight int);
INSERT INTO narrow SELECT i, i % 7 FROM generate_series(1, 60000, 3) i;
VACUUM ANALYZE wide, narrow;
SELECT penumbra.load('wide') > 2 AS is_in_chunks, penumbra.load('narrow') > 0 AS loaded;
-- pages that must come from the heap
UPDATE wide SET amount = amount + 1 WHERE id % 20000 = 0;
INSERT INTO wide SELECT i, i % 10, i, 'late' FROM generate_series(60001, 60500) i;

-- a qual that can fail, or is not the engine's, stays with PostgreSQL; the plan stays parallel
EXPLAIN (COSTS OFF) SELECT count(*), bit_xor(id::bit(32))::integer FROM wide WHERE kind < 5 AND 100 / (kind + 1) <> 20;
SELECT count(*), sum(id), bit_xor(id::bit(32))::integer FROM wide WHERE kind < 5 AND 100 / (kind + 1) <> 20;
-- arithmetic on declared numerics cannot overflow
EXPLAIN (COSTS OFF) SELECT count(*), bit_xor(id::bit(32))::integer FROM wide WHERE amount * (1 + kind / 10.0) < 5000;
SELECT count(*), sum(id), bit_xor(id::bit(32))::integer FROM wide WHERE amount * (1 + kind / 10.0) < 5000;
SELECT regr_count(w.id, n.weight), sum(w.amount) FROM wide w JOIN narrow n USING (id) WHERE w.kind <> 3;
SET penumbra.mode = off;
SELECT count(*), sum(id), bit_xor(id::bit(32))::integer FROM wide WHERE amount * (1 + kind / 10.0) < 5000;
SELECT count(*), sum(id), bit_xor(id::bit(32))::integer FROM wide WHERE kind < 5 AND 100 / (kind + 1) <> 20;
SELECT regr_count(w.id, n.weight), sum(w.amount) FROM wide w JOIN narrow n USING (id) WHERE w.kind <> 3;
RESET penumbra.mode;
-- no worker to be had: the leader reads everything
SET max_parallel_workers = 0;
SELECT bit_xor(id::bit(32))::integer, sum(amount) FROM wide;
RESET max_parallel_workers;
SELECT bit_xor(id::bit(32))::integer, sum(amount) FROM wide;
-- again and again
SET enable_material = off;
SELECT v, (SELECT bit_xor(id::bit(32))::integer FROM wide WHERE kind < v + 1 AND v > 0) FROM (VALUES (1), (2), (3)) t(v);
-- Members of UNION ALL that give up below Gather, in a worker or in the leader, where EXPLAIN counts rows.
CREATE TABLE dated WITH (autovacuum_enabled = off) AS SELECT id, 'Jan 5 2024' AS day FROM generate_series(1, 2000) id;
CREATE TABLE named WITH (autovacuum_enabled = off) AS SELECT id, 'name' AS day FROM generate_series(1, 2000) id;
VACUUM ANALYZE dated, named;
SELECT penumbra.load('dated') > 0 AND penumbra.load('named') > 0 AS loaded;
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '^ *(->)? *(Gather|Parallel Append|Custom Scan)' THEN
      RETURN NEXT regexp_replace(line, ' \(actual.*', '');
    END IF;
  END LOOP;
END $$;
SET penumbra.mode = prefer;
RESET min_parallel_table_scan_size;
SELECT * FROM analyzed('SELECT day FROM dated WHERE ARRAY[length(day), id] <> ARRAY[id, 10] UNION ALL SELECT day FROM named WHERE ARRAY[length(day), id] <> ARRAY[id, 10]');
SET parallel_leader_participation = off;
SELECT count(*) FROM analyzed('SELECT day FROM dated WHERE ARRAY[length(day), id] <> ARRAY[id, 10] UNION ALL SELECT day FROM named WHERE ARRAY[length(day), id] <> ARRAY[id, 10]');
SET max_parallel_workers = 0;
SELECT count(*) FROM analyzed('SELECT day FROM dated WHERE ARRAY[length(day), id] <> ARRAY[id, 10] UNION ALL SELECT day FROM named WHERE ARRAY[length(day), id] <> ARRAY[id, 10]');
RESET max_parallel_workers;
RESET parallel_leader_participation;
RESET penumbra.mode;
DROP TABLE wide, narrow, dated, named;
DROP FUNCTION analyzed;
