-- What the view penumbra.statements counts, and what it says of statements that were not run in vectors.
SET client_min_messages = warning;
SET compute_query_id = auto;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE counted (id int PRIMARY KEY, k int, v numeric(10,2), j jsonb);
INSERT INTO counted SELECT i, i % 10, i / 4.0, '{}' FROM generate_series(1, 20000) i;
CREATE TABLE uncached AS SELECT i, i % 10 AS k FROM generate_series(1, 100000) i;
VACUUM ANALYZE counted, uncached;
SELECT penumbra.load('counted') > 0 AS loaded;

-- One statement, by a part of its text: EXPLAIN gives the number that its executions are counted by.
CREATE FUNCTION query_id(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || statement INTO plan;
    RETURN (plan -> 0 ->> 'Query Identifier')::bigint;
END $$;
CREATE FUNCTION counts(statement text, OUT calls bigint, OUT vectors bigint, OUT partly bigint, OUT not_ bigint,
                       OUT failed bigint, OUT restarts bigint, OUT cached bigint, OUT heap bigint, OUT reason text)
LANGUAGE SQL AS $$
    SELECT s.calls, calls_in_vectors, calls_partly, calls_not, failed_calls, s.restarts, rows_from_cache, rows_from_heap, s.reason
    FROM penumbra.statements s
    JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid
    WHERE rolname = current_user AND datname = current_database() AND queryid = query_id(statement)
$$;
SELECT penumbra.reset_statistics();
-- EXPLAIN counts nothing
SELECT * FROM counts('SELECT k, sum(v) FROM counted GROUP BY k');

-- executions, whatever the constants
SELECT count(*) FROM counted WHERE v > 10;
SELECT count(*) FROM counted WHERE v > 20;
SELECT * FROM counts('SELECT count(*) FROM counted WHERE v > 10');
-- a part in vectors; none, and why
SET penumbra.mode = prefer;
SELECT rank(5, 3) WITHIN GROUP (ORDER BY left(k::text, 1)::int, 1 / v) FROM counted WHERE v > 10;
SELECT * FROM counts('SELECT rank(5, 3) WITHIN GROUP (ORDER BY left(k::text, 1)::int, 1 / v) FROM counted WHERE v > 10');
RESET penumbra.mode;
SELECT rank(5, 3) WITHIN GROUP (ORDER BY k, 1 / v) FROM counted WHERE v > 10;
SELECT * FROM counts('SELECT rank(5, 3) WITHIN GROUP (ORDER BY k, 1 / v) FROM counted WHERE v > 10');
SELECT count(j) FROM counted;
SELECT * FROM counts('SELECT count(j) FROM counted');
SELECT sum(k) FROM uncached;
SELECT * FROM counts('SELECT sum(k) FROM uncached');
SELECT k FROM counted WHERE id = 7;
SELECT * FROM counts('SELECT k FROM counted WHERE id = 7');
SELECT 1 AS one;
SELECT * FROM counts('SELECT 1 AS one');
-- rows of the cache, and of the heap
BEGIN;
UPDATE counted SET v = v WHERE id <= 10;
SELECT sum(v) AS updated FROM counted;
SELECT calls, vectors, cached + heap AS rows, heap BETWEEN 10 AND 5000 AS has_heap_rows FROM counts('SELECT sum(v) AS updated FROM counted');
ROLLBACK;
-- the engine gives up: for an error of the data, which PostgreSQL raises
SELECT sum(10 / (k - 5)) AS failing FROM counted;
SELECT calls, failed, restarts, reason FROM counts('SELECT sum(10 / (k - 5)) AS failing FROM counted');
-- a cancel
SET statement_timeout = 20;
SELECT sum(sqrt(a.id * b.id + c.id)) AS canceled FROM counted a JOIN counted b USING (k) JOIN counted c USING (k);
RESET statement_timeout;
SELECT calls, failed FROM counts('SELECT sum(sqrt(a.id * b.id + c.id)) AS canceled FROM counted a JOIN counted b USING (k) JOIN counted c USING (k)');
-- an error in a subtransaction
BEGIN;
SAVEPOINT one;
SELECT sum(1 / (k - k)) AS rolled_back FROM counted;
ROLLBACK TO one;
SELECT calls, failed FROM counts('SELECT sum(1 / (k - k)) AS rolled_back FROM counted');
COMMIT;

-- generic plans are planned once and counted each time, with the refusals
SET plan_cache_mode = force_generic_plan;
PREPARE generic(int) AS SELECT count(j) AS generic FROM counted HAVING count(*) > $1;
EXECUTE generic(1);
EXECUTE generic(2);
EXECUTE generic(3);
SELECT calls, not_, reason FROM counts('EXECUTE generic(1)');
-- three of these, and the one before
SELECT count FROM penumbra.refusals WHERE reason = 'column of type jsonb';
DEALLOCATE generic;
RESET plan_cache_mode;
-- a cursor that is fetched in parts is one call
BEGIN;
DECLARE c CURSOR FOR SELECT id, v AS fetched FROM counted WHERE v > 10;
FETCH 2 FROM c;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
-- statements in functions have numbers of their own
DO $$
DECLARE r record; n bigint;
BEGIN
    FOR r IN SELECT k, count(*) FROM counted GROUP BY k LOOP NULL; END LOOP;
    FOR i IN 1..5 LOOP SELECT count(v) AS selected INTO n FROM counted WHERE k = i; END LOOP;
    BEGIN
        SELECT sum(1 / (k - k)) AS caught INTO n FROM counted;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
END $$;
SELECT calls, vectors FROM counts('SELECT k, count(*) FROM counted GROUP BY k');
SELECT calls, calls_in_vectors, rows_from_cache FROM penumbra.statements WHERE calls = 5 AND rows_from_cache > 0;
SELECT calls, failed FROM counts('SELECT sum(1 / (k - k)) AS caught FROM counted');
-- commands: the query inside, or before PostgreSQL 18 of CREATE TABLE AS and DECLARE the command
SELECT penumbra.reset_statistics();
COPY (SELECT count(*) AS copied FROM counted WHERE v > 10) TO STDOUT;
SELECT calls, vectors FROM counts('SELECT count(*) AS copied FROM counted WHERE v > 10');
CREATE TABLE made AS SELECT k, count(*) AS n FROM counted GROUP BY k;
BEGIN;
DECLARE c CURSOR FOR SELECT id, v AS fetched FROM counted WHERE v > 10;
FETCH 2 FROM c;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
SELECT sum(calls) FROM penumbra.statements WHERE rows_from_cache > 0;
CREATE FUNCTION is_shown(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE query LOOP NULL; END LOOP;
    RETURN true;
END $$;
SELECT is_shown('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) AS explained FROM counted WHERE v > 10');
SELECT calls, vectors, cached FROM counts('SELECT count(*) AS explained FROM counted WHERE v > 10');
-- INSERT ... SELECT reads in vectors
INSERT INTO made SELECT k, count(*) FROM counted GROUP BY k;
SELECT calls, partly, cached FROM counts('INSERT INTO made SELECT k, count(*) FROM counted GROUP BY k');
DROP TABLE made;
-- spilled, and decoded
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*) FROM (SELECT id, v, sum(k) AS spilled FROM counted GROUP BY id, v) q;
SELECT decoded_bytes > 20000 * 8 AS is_decoded, spilled_bytes > 0 AS is_spilled FROM penumbra.statements
WHERE queryid = query_id('SELECT count(*) FROM (SELECT id, v, sum(k) AS spilled FROM counted GROUP BY id, v) q');
RESET work_mem;
RESET hash_mem_multiplier;
-- rows that parallel workers read are their leader's
SET penumbra.mode = prefer;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT (max(ARRAY[k, v]))[1] AS parallel FROM counted WHERE v > 0;
SELECT calls, partly, cached + heap AS rows FROM counts('SELECT (max(ARRAY[k, v]))[1] AS parallel FROM counted WHERE v > 0');
RESET parallel_leader_participation;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET penumbra.mode;

-- one's own statements, all for members of pg_read_all_stats
CREATE ROLE penumbra_counted;
GRANT SELECT ON counted TO penumbra_counted;
SET ROLE penumbra_counted;
SELECT count(*) FROM penumbra.statements;
SELECT max(v) AS own FROM counted;
SELECT count(*) > 0 AS sees_own, bool_and(userid = 'penumbra_counted'::regrole) AS sees_nothing_else FROM penumbra.statements;
SELECT penumbra.reset_statistics();
RESET ROLE;
GRANT pg_read_all_stats TO penumbra_counted;
SET ROLE penumbra_counted;
SELECT count(DISTINCT userid) > 1 AS sees_all FROM penumbra.statements;
RESET ROLE;
-- not counted
SET penumbra.track_statements = off;
SELECT min(v) AS untracked FROM counted;
RESET penumbra.track_statements;
SELECT * FROM counts('SELECT min(v) AS untracked FROM counted');
-- a reset
SELECT min(stats_reset) AS reset_before FROM penumbra.statements \gset
SELECT penumbra.reset_statistics();
SELECT count(*) < 3 AS is_reset, min(stats_reset) > :'reset_before' AS is_later FROM penumbra.statements;
SELECT count(*) FROM penumbra.refusals;
SELECT hits, pages_from_cache, pages_from_heap, misses, evictions, stats_reset > :'reset_before' AS is_later FROM penumbra.tables
WHERE relname = 'counted';
SELECT sum(hits) AS hits, min(stats_reset) > :'reset_before' AS is_later FROM penumbra.columns WHERE relname = 'counted';
SELECT sum(evictions) AS evictions, min(stats_reset) > :'reset_before' AS is_later FROM penumbra.memory;
SELECT loads, chunks_loaded, heap_bytes, vacuums, stats_reset > :'reset_before' AS is_later FROM penumbra.activity;
SELECT segments_read, bytes_written, stats_reset > :'reset_before' AS is_later FROM penumbra.disk;
DROP TABLE counted, uncached;
DROP FUNCTION query_id(text), counts(text), is_shown(text);
DROP ROLE penumbra_counted;
