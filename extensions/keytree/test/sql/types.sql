-- Every type, every operator, both directions: the index's answer beside the heap's.
SET client_min_messages = warning;
CREATE EXTENSION penumbra_keytree;
RESET client_min_messages;
CREATE TABLE t (i2 int2, i4 int4, i8 int8, u uuid, d date, ts timestamp, tz timestamptz);
INSERT INTO t SELECT
    CASE WHEN i % 50 = 0 THEN NULL ELSE (i * 7919) % 65536 - 32768 END,
    CASE WHEN i % 40 = 0 THEN NULL ELSE ((i * 2654435761) % 4294967296 - 2147483648)::int4 END,
    CASE WHEN i % 30 = 0 THEN NULL ELSE (i * 2654435761) % 1000003 * 4294967296 END,
    md5(i::text)::uuid,
    '2000-01-01'::date + i % 1000,
    '2000-01-01'::timestamp + i * interval '37 minutes',
    '2000-01-01'::timestamptz - i * interval '11 seconds'
FROM generate_series(1, 4000) i;
INSERT INTO t VALUES (-32768, -2147483648, -9223372036854775808, '00000000-0000-0000-0000-000000000000',
                      '-infinity', '-infinity', '-infinity'),
                     (32767, 2147483647, 9223372036854775807, 'ffffffff-ffff-ffff-ffff-ffffffffffff',
                      'infinity', 'infinity', 'infinity');
CREATE INDEX t_i2 ON t USING keytree (i2);
CREATE INDEX t_i4 ON t USING keytree (i4);
CREATE INDEX t_i8 ON t USING keytree (i8);
CREATE INDEX t_u ON t USING keytree (u);
CREATE INDEX t_d ON t USING keytree (d);
CREATE INDEX t_ts ON t USING keytree (ts);
CREATE INDEX t_tz ON t USING keytree (tz);
VACUUM ANALYZE t;

-- How many answers differ between the index and the heap, over operators, constants and scan kinds.
CREATE FUNCTION answer(query text, scans text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    PERFORM set_config('enable_' || kind, (kind = ANY (scans))::text, true)
    FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan,sort}'::text[]) kind;
    EXECUTE query INTO result;
    RETURN result;
END $$;
CREATE FUNCTION differences() RETURNS TABLE (attribute text, queries bigint, different bigint) LANGUAGE sql AS $$
    SELECT c, count(*), count(*) FILTER (WHERE answer(query, '{seqscan,sort}') IS DISTINCT FROM answer(query, scans))
    FROM unnest('{i2,i4,i8,u,d,ts,tz}'::text[]) c,
         LATERAL (SELECT query FROM unnest('{<,<=,=,>=,>}'::text[]) operator,
                      LATERAL (SELECT format('%L', v) AS v FROM
                          (SELECT answer(format('SELECT array_agg(v ORDER BY v) FROM (SELECT %I AS v FROM t ORDER BY %I LIMIT 2 OFFSET 3) x', c, c), '{seqscan,sort}')
                           UNION ALL SELECT answer(format('SELECT array_agg(v ORDER BY v) FROM (SELECT %I AS v FROM t ORDER BY %I DESC NULLS LAST LIMIT 2 OFFSET 3) x', c, c), '{seqscan,sort}')) a (vs),
                          LATERAL unnest(vs::text[]) v) k,
                      LATERAL (SELECT format('SELECT md5(string_agg(%I::text, '','')) FROM (SELECT %I FROM t WHERE %I %s %s ORDER BY %I %s) x',
                                             c, c, c, operator, v, c, direction)
                               FROM unnest('{ASC,DESC}'::text[]) direction) q (query)
                  UNION ALL
                  SELECT format('SELECT md5(string_agg(coalesce(%I::text, ''null''), '','')) FROM (SELECT %I FROM t WHERE %s ORDER BY %I %s) x',
                                c, c, condition, c, direction)
                  FROM unnest(ARRAY['true', format('%I IS NULL', c), format('%I IS NOT NULL', c)]) condition,
                       unnest('{ASC,DESC}'::text[]) direction) q,
         unnest(ARRAY['{indexscan}', '{indexonlyscan}', '{bitmapscan,sort}']) s (scan_text),
         LATERAL (SELECT scan_text::text[] AS scans) l
    GROUP BY c ORDER BY c $$;
SELECT * FROM differences();

-- They do use the index.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT i4 FROM t WHERE i4 > 5 ORDER BY i4 DESC;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts IS NOT NULL ORDER BY ts LIMIT 1;
EXPLAIN (COSTS OFF) SELECT i8 FROM t ORDER BY i8;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Arrays: any order, duplicates, NULLs, with other conditions.
SELECT answer(q, '{indexscan}') = answer(q, '{seqscan}') AS same FROM unnest(ARRAY[
    'SELECT count(*) FROM t WHERE i2 = ANY (''{5,3,5,null,-7,32767,100}'')',
    'SELECT count(*) FROM t WHERE i2 = ANY (''{5,3,5,null,-7,32767,100}'') AND i2 > 3',
    'SELECT count(*) FROM t WHERE i2 = ANY (''{5,3,9}'') AND i2 = ANY (''{9,10,3}'')',
    'SELECT count(*) FROM t WHERE i2 < ANY (''{5,3,9}'')',
    'SELECT count(*) FROM t WHERE i2 >= ANY (''{500,3000,9000}'')',
    'SELECT count(*) FROM t WHERE i2 = ANY (''{}'')',
    'SELECT count(*) FROM t WHERE i2 = ANY (''{null}'')',
    'SELECT count(*) FROM t WHERE i2 IN (SELECT 1) AND i2 IS NULL',
    'SELECT count(*) FROM t WHERE i2 > 10 AND i2 < 5']) q;

-- After deletes, VACUUM and new rows.
DELETE FROM t WHERE i4 % 3 = 0 OR ts < '2000-03-01' OR u < '40000000-0000-0000-0000-000000000000';
VACUUM t;
SELECT * FROM differences();
INSERT INTO t SELECT i, i, i, md5(i::text)::uuid, '2001-01-01'::date + i, '2000-02-01'::timestamp + i * interval '1 minute', '2000-02-01' FROM generate_series(1, 4000) i;
VACUUM t;
SELECT * FROM differences();

-- What is refused.
CREATE INDEX ON t USING keytree (i4 DESC);
CREATE INDEX ON t USING keytree (i4 NULLS FIRST);
CREATE INDEX ON t USING keytree (i4, i8);
CREATE INDEX ON t USING keytree (i4) INCLUDE (i8);
CREATE INDEX ON t USING keytree ((i4::text));
-- What is not.
CREATE INDEX ON t USING keytree ((i4 % 100)) WHERE i8 > 0;
SELECT answer('SELECT count(*) FROM t WHERE i4 % 100 = 7 AND i8 > 0', '{indexscan}')
     = answer('SELECT count(*) FROM t WHERE i4 % 100 = 7 AND i8 > 0', '{seqscan}') AS same;

-- Cursors that turn around; marks (merge join).
SET enable_seqscan = off;
SET enable_sort = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT i2 FROM t WHERE i2 > 32000 ORDER BY i2;
FETCH 3 c;
FETCH BACKWARD 2 c;
MOVE FORWARD ALL IN c;
FETCH BACKWARD 2 c;
MOVE BACKWARD ALL IN c;
FETCH 2 c;
COMMIT;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t a JOIN t b ON a.d = b.d;
SELECT count(*) FROM t a JOIN t b ON a.d = b.d;
SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_sort = on;
SELECT count(*) FROM t a JOIN t b ON a.d = b.d;
RESET ALL;

-- Parallel scans, both directions of order, arrays.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
CREATE TABLE p AS SELECT i % 50000 AS k, i AS n FROM generate_series(1, 100000) i;
CREATE INDEX p_k ON p USING keytree (k);
VACUUM ANALYZE p;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(k) FROM p WHERE k > 100;
SELECT count(*), sum(k) FROM p WHERE k > 100;
SELECT count(*), sum(k), sum(n) FROM p WHERE k > 100;
SELECT count(*), sum(k) FROM p WHERE k = ANY (ARRAY(SELECT generate_series(0, 49999, 3)));
SELECT count(*), sum(k) FROM (SELECT k, n FROM p WHERE k BETWEEN 3 AND 49000 ORDER BY k DESC LIMIT 80000) x;
RESET ALL;
SET client_min_messages = warning;
DROP EXTENSION penumbra_keytree CASCADE;
DROP TABLE t, p;
DROP FUNCTION answer, differences;
