-- Queries with joins and subqueries give the rows or the error of PostgreSQL's executor, and which of them are one node.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA joins;
SET search_path = joins;

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE FUNCTION is_one_node(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
  is_first boolean := true;
BEGIN
  PERFORM set_config('penumbra.mode', 'prefer', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF is_first AND line !~ '^Custom Scan \(Penumbra' OR line ~ '^ *(->  (?!Vector)|SubPlan|InitPlan|CTE)' THEN
      RETURN false;
    END IF;
    is_first := false;
  END LOOP;
  RETURN true;
END $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := agree(query, 'prefer');
BEGIN
  RETURN CASE WHEN result ~ '^\d+ rows$' AND is_one_node(query) THEN 'one node: ' ELSE '' END || result;
END $$;

CREATE FUNCTION explained(query text, options text = 'COSTS ON') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  part text;
BEGIN
  FOR part IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    -- 19 names a subplan by its kind.
    RETURN QUERY SELECT regexp_split_to_table(regexp_replace(part, '\m(all|any)_(\d+)\M', '"SubPlan \2"', 'g'), E'\n');
  END LOOP;
END $$;

CREATE TABLE big (k int, few int, n numeric, f float8, s text COLLATE "C", c char(6), i2 int2, i8 int8, d date, ts timestamp);
INSERT INTO big SELECT i, nullif(i % 7, 5), CASE i % 4 WHEN 0 THEN i WHEN 1 THEN i + 0.00 WHEN 2 THEN 'NaN' END,
  CASE i % 5 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' ELSE i::float8 END, 's' || i % 30, 'c' || i % 3,
  i % 50, i * 1000000007::int8, date '2020-01-01' + i % 40, timestamp '2020-01-01' + (i % 80) * interval '12 h'
FROM generate_series(1, 3000) i;
CREATE TABLE small AS SELECT * FROM big WHERE k % 100 = 7;
INSERT INTO small (k) VALUES (NULL), (7);
CREATE TABLE nothing (LIKE big);
VACUUM ANALYZE big, small, nothing;
DO $$ BEGIN PERFORM penumbra.load('big'); END $$;

\t on
-- kinds of joins
SELECT same('SELECT a.k, b.s FROM small a JOIN big b ON a.k = b.k');
SELECT same('SELECT a.k, b.s FROM small a LEFT JOIN big b ON a.k = b.k AND b.few > 2');
SELECT same('SELECT a.k, b.s FROM small a RIGHT JOIN big b ON a.k = b.k AND a.few > 2 WHERE b.k < 1000');
SELECT same('SELECT a.k, b.k FROM small a FULL JOIN (SELECT * FROM big WHERE k < 1000) b ON a.k = b.k');
SELECT same('SELECT a.k FROM small a WHERE EXISTS (SELECT FROM big b WHERE b.i8 = a.i8 AND b.s <> a.c)');
SELECT same('SELECT a.k FROM small a WHERE NOT EXISTS (SELECT FROM big b WHERE b.few = a.few AND b.k > 5)');
SELECT same('SELECT count(*), sum(a.k) FROM small a, big b');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k < b.k');
SELECT same('SELECT a.k, b.k FROM small a LEFT JOIN nothing b ON a.k = b.k');
SELECT same('SELECT count(*) FROM nothing a RIGHT JOIN big b USING (k)');
-- keys: floats, numerics, blank-padded, several widths, dates against timestamps, NULL only
SELECT same('SELECT a.f, b.f, count(*) FROM small a JOIN big b ON a.f = b.f GROUP BY a.f, b.f');
SELECT same('SELECT a.n, b.n FROM small a JOIN big b ON a.n = b.n AND a.k = b.k');
SELECT same('SELECT a.c, count(*) FROM small a JOIN big b ON a.c = b.c GROUP BY a.c');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.i2 = b.i8 / 1000000007 AND a.k = b.i2');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.d = b.ts');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.few = b.few WHERE a.few IS NULL');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k IS NOT DISTINCT FROM b.few');
-- NULL equals NULL in some keys, and in none whose column has no NULL
CREATE TABLE never_null (k int NOT NULL, s varchar(9) COLLATE "C" NOT NULL);
INSERT INTO never_null SELECT few, coalesce(s, 'none') FROM big WHERE few IS NOT NULL;
CREATE TABLE sometimes_null (LIKE never_null INCLUDING CONSTRAINTS) INHERITS (never_null);
VACUUM ANALYZE never_null;
DO $$ BEGIN PERFORM penumbra.load('never_null'); END $$;
SELECT (SELECT string_agg(part, ' AND ' ORDER BY part) FROM regexp_split_to_table(substring(line FROM 'Cond: \((.*)\)$'), ' AND ') part) AS keys
  FROM unnest('{small,sometimes_null}'::text[]) source, unnest(ARRAY['a.few IS NOT DISTINCT FROM b.k AND a.s = b.s',
    'a.few = b.k AND (a.s = b.s OR a.s IS NULL AND b.s IS NULL)', '(b.s IS NULL AND a.s IS NULL OR b.s = a.s)']) condition,
  explained(format('SELECT count(*) FROM big a JOIN %s b ON %s', source, condition), 'COSTS OFF') AS line
  WHERE line ~ 'Vector Join (Cond|Filter)';
SELECT kind, condition, same(format('SELECT * FROM small a %s JOIN (SELECT few, s, count(*) AS rows FROM big GROUP BY 1, 2) b ON %s',
  kind, condition)) FROM unnest('{INNER,LEFT}'::text[]) kind,
  unnest(ARRAY['a.few IS NOT DISTINCT FROM b.few AND a.s IS NOT DISTINCT FROM b.s', 'a.few = b.few AND a.s IS NOT DISTINCT FROM b.s',
    '(a.s = b.s OR (a.s IS NULL AND b.s IS NULL)) AND (b.few IS NULL AND a.few IS NULL OR b.few = a.few)',
    'a.s = b.s OR (a.s IS NULL AND b.few IS NULL)', 'a.s = b.s OR (a.s IS NULL AND a.s IS NULL)',
    'a.s = b.s OR (a.s IS NULL OR b.s IS NULL)', 'a.few = b.few OR (a.few IS NULL AND b.few IS NOT NULL)']) condition;
SELECT same('SELECT count(*) FROM small a WHERE ' || condition) FROM unnest(ARRAY[
  'EXISTS (SELECT FROM big b WHERE a.s IS NOT DISTINCT FROM b.s AND b.k > 900)',
  'NOT EXISTS (SELECT FROM big b WHERE a.few IS NOT DISTINCT FROM b.few AND b.k > 900)']) condition;
SELECT same('SELECT count(a.k), count(c.k) FROM never_null a LEFT JOIN never_null b ON a.k = b.k + 5 JOIN big c ON b.s IS NOT DISTINCT FROM c.s');
-- which 18 does not allow
DO $$ BEGIN
  ALTER TABLE sometimes_null ALTER k DROP NOT NULL;
  INSERT INTO sometimes_null VALUES (NULL, 'x');
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
SELECT same('SELECT count(*) FROM small a JOIN never_null b ON a.few IS NOT DISTINCT FROM b.k');
SELECT same('SELECT count(*) FROM (SELECT k, sum(length(s)) OVER (PARTITION BY k) FROM never_null) v');
-- NOT IN
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM big)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM big WHERE few > 3)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM nothing)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE k NOT IN (SELECT k FROM big WHERE k < 500)');
-- NOT IN of several columns, or correlated: NULLs on either side, in some columns, without rows
SELECT same('SELECT count(*), sum(k) FROM small WHERE (few, k) NOT IN (SELECT few, k FROM big WHERE k < 500)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE (few, k) NOT IN (SELECT few, k - 2 FROM big)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE (few, k) NOT IN (SELECT few, k FROM nothing)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE (k, few) NOT IN (SELECT nullif(k, 107), 3 FROM big WHERE few = 2)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few NOT IN (SELECT few FROM big b WHERE b.i2 = a.i2 AND b.k > 50)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few NOT IN (SELECT few FROM big b WHERE b.k - 2500 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few NOT IN (SELECT nullif(b.few, 4) FROM big b WHERE b.k + 1 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE (few, n) NOT IN (SELECT few, n FROM big b WHERE b.i2 = a.i2 AND b.k % 3 = 0)');
SELECT same('SELECT k, (few, k) IN (SELECT few, k FROM big WHERE k % 200 = 7) FROM small');
SELECT same('SELECT k, few IN (SELECT few FROM big b WHERE b.k % 900 = a.k), few NOT IN (SELECT nullif(b.few, 4) FROM big b
  WHERE b.k + 1 = a.k) IS NULL FROM small a');
SELECT same('SELECT k, (few, k, s) IN (SELECT few, nullif(k, 107), nullif(s, ''s7'') FROM big b WHERE b.k = a.k) FROM small a');
-- correlated subqueries
SELECT same('SELECT count(*), sum(k) FROM small a WHERE n > (SELECT avg(n) FROM big b WHERE b.few = a.few AND n <> ''NaN'')');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE 0 = (SELECT count(*) FROM big b WHERE b.k - 2500 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE 1 = (SELECT count(*) + 1 FROM big b WHERE b.k - 2500 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE 0 = (SELECT coalesce(sum(k), 0) FROM big b WHERE b.k - 2500 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE (SELECT max(k) FROM big b WHERE b.k - 2500 = a.k) IS NULL');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE (SELECT count(*) + 1 FROM big b WHERE b.k - 2500 = a.k HAVING count(*) > 0) IS NULL');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE s = (SELECT s FROM big b WHERE b.k = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE s = (SELECT s FROM big b WHERE b.few = a.few)');
SELECT same('SELECT k, (SELECT count(*) FROM big b WHERE b.few = a.few) FROM small a');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few = 1 OR EXISTS (SELECT FROM big b WHERE b.k - 2500 = a.k)');
-- subqueries under OR, NOT and CASE, of which NULL is another value than false, or not
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few = 1 OR a.k NOT IN (SELECT few FROM big b WHERE b.k < 9)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE few IN (SELECT few FROM big) IS NOT TRUE');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE k < 9 OR few IN (SELECT few FROM big b WHERE b.k - 2500 = a.k)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE NOT (few IN (SELECT few FROM big b WHERE b.k - 2500 = a.k))');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE EXISTS (SELECT FROM big b WHERE b.k - 2500 = a.k)
  OR NOT EXISTS (SELECT FROM big b WHERE b.few = a.few AND b.k > 9) OR k > (SELECT avg(k) FROM big b WHERE b.few = a.few)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE CASE WHEN k < 50 THEN EXISTS (SELECT FROM big b WHERE b.k = a.k) ELSE few = 1 END');
-- correlated by expressions
SELECT same('SELECT count(*), sum(k) FROM small a WHERE k > (SELECT avg(k) FROM big b WHERE b.few + 1 = a.few * 2)');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE k >= (SELECT max(k) FROM big b WHERE b.s::varchar = a.s::varchar)');
-- CTEs and subqueries below them
SELECT same('WITH t AS (SELECT few, sum(k) AS x FROM big GROUP BY few)
  SELECT a.few, a.x FROM t a WHERE a.x > (SELECT avg(x) FROM t b WHERE b.few <> 0 AND b.few = a.few) OR a.few = 0');
SELECT same('WITH t AS (SELECT few, k % 3 AS m, sum(k) AS x FROM big GROUP BY few, k % 3)
  SELECT a.few, a.x, b.x FROM t a JOIN t b USING (few) WHERE a.m = 1 AND b.m = 2');
SELECT same('WITH t AS (SELECT 1 AS kind, k, few FROM small UNION ALL SELECT 2, k, few FROM big WHERE few > 2)
  SELECT a.k, b.k FROM t a JOIN t b USING (k) WHERE a.kind = 1 AND b.kind = 2');
-- What could differ between two computations stays one.
SELECT same('WITH t AS (SELECT k, few FROM big ORDER BY few LIMIT 20) SELECT count(*) FROM t a JOIN t b USING (k)');
SELECT same('WITH t AS (SELECT few, sum(f) AS x FROM big WHERE f < 9 GROUP BY few) SELECT count(*) FROM t a JOIN t b USING (x)');
-- A semi join's other side is equal to what stands above it.
SELECT same('SELECT count(*) FROM big a WHERE k IN (SELECT b.k FROM small b JOIN big c USING (k)) AND k IN (SELECT k FROM small)');
-- grouping sets
SELECT same('SELECT few, k % 3, grouping(few, k % 3), count(*), sum(n), count(DISTINCT s) FROM big WHERE n <> ''NaN''
  GROUP BY ROLLUP (few, k % 3)');
SELECT same('SELECT few, s, grouping(s), max(k) FROM small GROUP BY CUBE (few, s) HAVING grouping(few) = 0 OR count(*) > 9');
SELECT same('SELECT few, count(*) FROM nothing GROUP BY GROUPING SETS ((few), ())');
SELECT same('SELECT count(*) FROM big GROUP BY GROUPING SETS ((), (), (few))');
SELECT same('SELECT a.few, b.x FROM small a JOIN (SELECT few, sum(k) AS x FROM big GROUP BY ROLLUP (few)) b ON a.few = b.few');
SELECT same('SELECT few, sum(few), sum(few + 1) FROM small GROUP BY ROLLUP (few) ORDER BY few LIMIT 3');
-- keys that are equal once they are simplified, or only where they come from
SELECT same('SELECT k = 1, (k = 1) AND true, grouping((k = 1) AND true), count(*) FROM small
  GROUP BY CUBE (k = 1, (k = 1) AND true)');
SELECT same('SELECT x, y, count(*) FROM (SELECT few AS x, few AS y FROM small OFFSET 0) s GROUP BY ROLLUP (x, y)');
-- The plan around a subquery has its InitPlans.
SELECT same('SELECT count(*) FROM small a JOIN (SELECT k FROM big WHERE k > (SELECT avg(k) FROM small) OFFSET 0) b ON a.k = b.k');
SELECT same('SELECT few, count(*) FROM small a JOIN (SELECT few, count(*) FROM big GROUP BY few
  HAVING count(*) > (SELECT count(*) FROM small)) b USING (few) GROUP BY few');
SELECT same('SELECT max(x) FROM (SELECT k, (SELECT max(k) FROM small) AS x FROM big ORDER BY k LIMIT 5) s');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE k > (SELECT avg(k) FROM big b WHERE b.few = a.few AND k > (SELECT min(k) FROM small))');
SELECT same('SELECT count(*), sum(k) FROM small a WHERE k > (SELECT avg(k) FROM big b WHERE b.few = a.few
  AND k > (SELECT min(k) FROM small c WHERE c.few = a.few))');
-- An InitPlan with two rows is an error only if a row asks for its value.
SELECT same('SELECT count(*) FROM big WHERE CASE WHEN k > 0 THEN true ELSE k > (SELECT k FROM small) END');
SELECT same('SELECT sum(coalesce(k, (SELECT k FROM small))) FROM big');
SELECT same('SELECT count(*) FROM nothing a JOIN big b ON a.k = b.k AND a.k + b.k > (SELECT k FROM small)');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k AND a.k + b.k > (SELECT avg(k) FROM small)');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k HAVING count(*) > (SELECT k FROM small)');
-- One that fails, in branches and conditions, is, too.
SELECT same('SELECT count(*) FROM big WHERE CASE WHEN k < 0 THEN k > (SELECT 1 / min(k - k) FROM small) ELSE true END');
SELECT same('SELECT count(*) FROM nothing a WHERE a.k > (SELECT 1 / min(k - k) FROM small)');
SELECT same('SELECT count(*) FROM big a WHERE a.k > (SELECT 1 / min(k - k) FROM small)');
SELECT same('SELECT count(*) FROM small a LEFT JOIN nothing b ON a.k = b.k AND b.k = (SELECT k FROM small)');
SELECT same('SELECT count(*), sum(k) FROM big WHERE k > (SELECT sum(k) / 100 FROM small)');
SELECT same('SELECT k, CASE WHEN k > 2990 THEN (SELECT 1 / min(k - k) FROM small) END FROM big');
-- More sort keys than columns.
SELECT same('SELECT k, k AS again FROM big ORDER BY k, 2 LIMIT 3');
SELECT same('SELECT sum(s.k) FROM small a, (SELECT k, k AS again FROM big ORDER BY 1, 2) s');
-- expressions over the nullable side
SELECT same('SELECT a.k, b.x, b.y FROM small a LEFT JOIN (SELECT k, coalesce(s, ''none'') AS x, 7 AS y FROM big) b ON a.k = b.k + 1');
-- errors of rows that are joined, and of rows that are not
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k AND 10 / (b.k - a.k) > 0');
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k AND 10 / (b.k - a.k - 1) < 10');
SELECT same('SELECT (b.s || ''x'')::int FROM small a JOIN big b ON a.k = b.k');
SELECT same('SELECT a.k + 2147483647 FROM small a LEFT JOIN big b ON a.k = b.k');
-- subqueries in the target list, of queries and of subqueries, with and without order
SELECT same('SELECT a.k, (SELECT count(*) FROM big b WHERE b.few = a.few), (SELECT sum(b.n) FROM big b WHERE b.k = a.k + 1) FROM small a');
SELECT same('SELECT a.k, (SELECT count(*) + 1 FROM big b WHERE b.few = a.few AND b.k > 2900) AS x FROM small a ORDER BY x DESC, a.k');
SELECT same('SELECT a.k, EXISTS (SELECT FROM big b WHERE b.k = a.k AND b.few = 3), a.few IN (SELECT few FROM big b WHERE b.k < 3), a.few NOT IN (SELECT few FROM big WHERE k < 9) FROM small a');
SELECT same('SELECT CASE WHEN a.few > 3 THEN (SELECT max(s) FROM big b WHERE b.d = a.d) ELSE coalesce((SELECT min(s) FROM big b WHERE b.k = a.k), ''none'') END FROM small a JOIN big c USING (k)');
SELECT same('SELECT a.k, (SELECT b.k FROM big b WHERE b.k = a.k) FROM small a');
SELECT same('SELECT a.k, (SELECT b.k FROM big b WHERE b.few = a.few) FROM small a');
SELECT same('SELECT a.k, CASE WHEN a.few IS NULL THEN (SELECT b.k FROM big b WHERE b.few = a.few) END FROM small a');
SELECT same('SELECT (SELECT 1 / (count(*) - 428) FROM big b WHERE b.few = a.few) FROM small a');
SELECT same('SELECT few, sum(x) FROM (SELECT a.few, (SELECT count(*) FROM big b WHERE b.few = a.few) AS x FROM small a OFFSET 0) s GROUP BY few');
SELECT same('SELECT DISTINCT a.few, (SELECT count(*) FROM big b WHERE b.few = a.few) FROM small a');
SELECT same('SELECT a.few, count(*), (SELECT count(*) FROM big b WHERE b.few = a.few) FROM small a GROUP BY a.few');
SELECT same('SELECT a.k, (SELECT count(*) FROM big b WHERE b.few = a.few) AS x FROM small a ORDER BY a.k LIMIT 3');
SELECT same('SELECT a.k, (SELECT count(*) FROM big b WHERE b.few = a.few AND random() < 2) FROM small a');

-- Where PostgreSQL would take the genetic search, the order is ours, if all relations are.
SET geqo_threshold = 2;
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k JOIN big c ON b.k = c.k JOIN small d ON d.k = c.k');
SELECT same('SELECT count(*), sum(c.k) FROM small a LEFT JOIN (big b JOIN big c ON b.k = c.k AND c.few < 4) ON a.k = b.k FULL JOIN small d ON d.k = c.k + 100');
SELECT same('SELECT count(*) FROM small a CROSS JOIN small b LEFT JOIN nothing c ON a.k = c.k WHERE a.k < 500 AND EXISTS (SELECT FROM big d WHERE d.k = b.k + 1)');
SELECT same('SELECT a.k, x FROM small a CROSS JOIN LATERAL (SELECT b.k + a.k AS x FROM big b WHERE b.k = a.k) l JOIN small c ON c.k = a.k');
RESET geqo_threshold;
SELECT same('SELECT count(*), sum(a.k) FROM ' || string_agg(format('%s t%s', CASE i % 3 WHEN 0 THEN 'big' ELSE 'small' END, i), ', ') ||
  ', big a WHERE ' || string_agg(format('a.k = t%s.k', i), ' AND ')) FROM generate_series(1, 19) i;
SELECT same('SELECT count(*) FROM small a JOIN big b USING (k) JOIN big c USING (k) JOIN big d USING (k) JOIN big e USING (k)
  JOIN big f USING (k) JOIN small g USING (k) JOIN nothing h USING (k)');

-- Set operations: NULLs are equal, types become those of the whole, and what is nested is its own operation.
SELECT same(format('SELECT count(*), sum(x), count(x) FROM (SELECT few AS x FROM big %s SELECT few + 1 FROM small) s', operation))
  FROM unnest('{UNION,INTERSECT,EXCEPT,UNION ALL,INTERSECT ALL,EXCEPT ALL}'::text[]) operation;
SELECT same('SELECT * FROM (SELECT few, s FROM big EXCEPT SELECT few, s FROM small) s WHERE few > 2 ORDER BY 1, 2');
SELECT same('SELECT sum(x) FROM (SELECT few AS x FROM big UNION SELECT n FROM small WHERE n <> ''NaN'' UNION SELECT NULL) s');
SELECT same('SELECT count(*) FROM ((SELECT i2 AS x FROM big EXCEPT SELECT 3::int8) INTERSECT (SELECT k FROM big UNION ALL SELECT few FROM small)) s');
SELECT same('SELECT f + 0, count(*) FROM (SELECT f, d FROM big UNION SELECT f, d FROM small) s GROUP BY 1');
SELECT same('SELECT count(*) FROM (SELECT k FROM big UNION SELECT 10 / (k - k) FROM nothing) s');
SELECT same('SELECT count(*) FROM (SELECT k FROM big UNION SELECT 10 / (k - k) FROM small) s');
SELECT same('SELECT k FROM small WHERE k IN (SELECT k FROM big WHERE few = 2 EXCEPT SELECT k + 100 FROM small)');
SELECT same('WITH a AS (SELECT few, s FROM big INTERSECT SELECT few, s FROM small) SELECT count(*) FROM a JOIN a b USING (s)');
SELECT same('SELECT c, d FROM big UNION SELECT c, d FROM small ORDER BY d, c DESC LIMIT 5');
SELECT same('SELECT count(*) FROM (SELECT k FROM big UNION SELECT k FROM small ORDER BY k LIMIT 10) s');
SELECT same('SELECT count(*) FROM big a JOIN (SELECT k, few FROM big UNION SELECT k, few + 1 FROM small) b ON a.k = b.k AND a.few < b.few');
-- At the top of a query, too, where PostgreSQL's plan has a column more than the query for some of them.
SELECT operation, same(format('SELECT few, s FROM big %s SELECT few, s FROM small', operation)),
    same(format('SELECT few, s FROM big %s SELECT few, s FROM small ORDER BY 2 DESC, 1 LIMIT 7 OFFSET 2', operation)),
    same(format('SELECT few, s FROM big WHERE k < 0 %s ALL (SELECT n, s FROM small EXCEPT ALL SELECT 3, s FROM big) ORDER BY 1, 2', operation))
  FROM unnest('{UNION,INTERSECT,EXCEPT}'::text[]) operation;
SELECT same('SELECT FROM big UNION SELECT FROM small'), same('SELECT 1 FROM big EXCEPT SELECT k FROM small'),
    same('SELECT k, few FROM small UNION SELECT k, nextval(''nowhere'') FROM big');
SELECT same('SELECT s, few FROM big UNION ALL SELECT s, k FROM small ORDER BY few, s LIMIT 3');
-- ALL: as often as the sides say, of no rows and of rows without columns, and below what reads them again.
SELECT operation, same(format('SELECT k %% 7 FROM big %s ALL SELECT k %% 5 FROM small', operation)),
    same(format('SELECT k FROM big %s ALL SELECT k FROM nothing', operation)), same(format('SELECT k FROM nothing %s ALL SELECT k FROM big', operation)),
    same(format('SELECT FROM big %s ALL SELECT FROM small', operation)),
    same(format('SELECT s, d, f, c FROM big %s ALL SELECT s, d, f, c FROM big WHERE few < 3', operation)),
    same(format('SELECT x, count(*) FROM (SELECT few AS x FROM big %s ALL SELECT few FROM small) q GROUP BY x', operation)),
    same(format('SELECT few FROM big %s ALL SELECT few FROM small ORDER BY 1 DESC LIMIT 5', operation)),
    same(format('SELECT a.k, q.x FROM small a JOIN (SELECT few AS x FROM big %s ALL SELECT few FROM small) q ON q.x = a.few', operation))
  FROM unnest('{INTERSECT,EXCEPT}'::text[]) operation;
SET penumbra.mode = prefer;
EXPLAIN (COSTS OFF) SELECT few, s FROM big EXCEPT ALL SELECT few, s FROM small;
EXPLAIN (COSTS OFF, VERBOSE) SELECT few AS a, s FROM big UNION SELECT few, s FROM small ORDER BY a;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM (SELECT few AS a, s FROM big UNION SELECT few, s FROM small) u,
  LATERAL (SELECT * FROM small WHERE small.few = u.a LIMIT 1) l;
CREATE TABLE of_sets AS SELECT few, s FROM big INTERSECT SELECT few, s FROM small;
INSERT INTO of_sets SELECT few, s FROM big EXCEPT ALL SELECT few, s FROM small;
PREPARE of_sets (integer) AS SELECT count(*) FROM (SELECT few, s FROM big WHERE few < $1 EXCEPT SELECT few, s FROM of_sets) d;
EXECUTE of_sets (3);
BEGIN;
DECLARE of_sets CURSOR FOR SELECT few, s FROM big UNION SELECT few, s FROM small ORDER BY 1, 2;
FETCH 2 FROM of_sets;
MOVE ALL FROM of_sets;
COMMIT;
DROP TABLE of_sets;
DEALLOCATE of_sets;

-- A left join whose matches are dropped is an anti join; the other side's columns are NULL above it.
SELECT same('SELECT * FROM small a LEFT JOIN big b ON a.k = b.k AND b.few > 2 WHERE b.k IS NULL ORDER BY a.k');
SELECT same('SELECT b.d, coalesce(b.s, ''none''), count(b.n), count(*) FROM big a LEFT JOIN small b ON a.k = b.k WHERE b.k IS NULL AND (b.i2 IS NULL OR a.k = 1) GROUP BY 1, 2');

-- The first rows of a correlated subquery are those of a window.
SELECT tail, same(format('SELECT a.k, l.* FROM small a, LATERAL (SELECT b.few, b.n, b.d FROM big b WHERE b.k = a.k %s) l', tail)),
    same(format('SELECT a.k, l.* FROM small a LEFT JOIN LATERAL (SELECT b.k AS x, b.s FROM big b WHERE b.few = a.few AND b.i2 = a.i2 %s) l ON l.x <> 7', tail))
  FROM unnest('{ORDER BY b.k LIMIT 1,ORDER BY b.k DESC LIMIT 2 OFFSET 1,ORDER BY b.k LIMIT 0,ORDER BY b.k LIMIT NULL OFFSET 3,
    ORDER BY b.k LIMIT 9223372036854775807 OFFSET 1}'::text[]) tail;
SELECT same('SELECT count(*) FROM small a, LATERAL (SELECT FROM big b WHERE b.few = a.few LIMIT 2) l');
SELECT same('SELECT k, (SELECT b.s FROM big b WHERE b.k = a.k ORDER BY b.i8 DESC, b.s, b.n LIMIT 1) FROM small a');
-- of which 17 makes a lateral join
SELECT replace(same('SELECT k FROM small a WHERE k IN (SELECT b.k FROM big b WHERE b.few = a.few ORDER BY b.k LIMIT 3)'), 'one node: ', '');
SELECT same('SELECT count(*) FROM small a, LATERAL (SELECT * FROM (SELECT few, k FROM big ORDER BY k LIMIT 50) b WHERE b.few = a.few) l');
SELECT same('SELECT a.k, (SELECT count(*) FROM big b WHERE b.k = a.k ORDER BY 1 LIMIT 1) FROM small a');

-- Rows that PostgreSQL computes go into joins of ours: of CTEs, VALUES, functions and subqueries that are not ours.
CREATE FUNCTION same_sources(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := same(query);
BEGIN
  PERFORM set_config('penumbra.mode', 'prefer', true);
  RETURN result || (SELECT format(', %s of PostgreSQL''s', count(*)) FROM explained(query, 'COSTS OFF') AS line WHERE line ~ 'Vector Rows of');
EXCEPTION WHEN OTHERS THEN
  RETURN result;
END $$;
SELECT same_sources('WITH x AS MATERIALIZED (SELECT * FROM small) SELECT b.k, x.* FROM big b JOIN x USING (k)');
SELECT same_sources('WITH x AS MATERIALIZED (SELECT * FROM big WHERE few < 3) SELECT count(*), sum(x.n), max(x.s), min(x.c), sum(y.i8), max(x.ts), min(y.d),
  sum(x.i2) FROM big b JOIN x ON x.k = b.k JOIN x y ON x.s = y.s AND x.d = y.d AND y.k < 500');
SELECT same_sources('SELECT b.k, v.* FROM big b LEFT JOIN (VALUES (1, ''a'', 1.50), (2, NULL, NULL), (2, ''b'', ''NaN''), (NULL, ''c'', 3)) v (k, s, n) ON b.k = v.k
  WHERE b.k < 5');
SELECT same_sources('SELECT sum(length(v.t)), count(*) FROM big b JOIN (SELECT g AS k, repeat(''large '', g * 40) AS t FROM generate_series(1, 300) g OFFSET 0) v USING (k)');
SELECT same_sources('SELECT count(*), sum(g) FROM generate_series(1, 10000) g RIGHT JOIN big b ON b.k = g WHERE b.few > 1');
SELECT same_sources('SELECT u, b.s FROM unnest(ARRAY[''s3'', NULL, ''s4'', ''s3'']) u FULL JOIN (SELECT s FROM big WHERE k < 40) b ON u = b.s');
SELECT same_sources('SELECT count(*), sum(r), sum(t) FROM (SELECT k, rank() OVER (PARTITION BY few ORDER BY k) r FROM big) a
  FULL JOIN (SELECT k, sum(i2) OVER (ORDER BY k) t FROM small) b USING (k)');
SELECT same_sources('SELECT count(*) FROM big a JOIN (SELECT k, few FROM big UNION ALL SELECT x, x FROM generate_series(1, 30) x) b ON a.k = b.k AND a.few < b.few');
SELECT same_sources('SELECT s.k, (SELECT count(*) FROM big b JOIN (VALUES (1), (2), (s.k)) v (k) ON b.k = v.k) FROM small s');
SELECT same_sources('WITH x AS MATERIALIZED (SELECT k, few FROM small) SELECT count(*) FROM big b JOIN small s USING (k) WHERE b.few IN (SELECT few FROM x WHERE x.k < 1000)
  AND EXISTS (SELECT FROM x WHERE x.k = b.k)');
SELECT same_sources('WITH x AS MATERIALIZED (SELECT s, count(*) AS n FROM big GROUP BY s) SELECT few, sum(x.n) FROM big JOIN x USING (s) GROUP BY few
  HAVING sum(x.n) > (SELECT avg(n) FROM x) ORDER BY 2 DESC LIMIT 3');
SELECT same_sources('SELECT b.k FROM big b JOIN (SELECT k FROM small WHERE k > 7 OFFSET 0) s USING (k) JOIN nothing n USING (k)');
SELECT same_sources('WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 60) SELECT count(*) FROM big JOIN r USING (k)');
SELECT same_sources('WITH RECURSIVE r (k, p) AS (SELECT min(k), 1 FROM small UNION SELECT s.k, p + 1 FROM r JOIN small s ON s.k BETWEEN r.k + 1 AND r.k + 100 WHERE p < 4)
  SELECT p, sum(r.k), min(big.s) FROM r LEFT JOIN big ON big.k = r.k GROUP BY p');
-- one that the ordinary plan does not have, since no row of it can matter
SELECT same_sources('SELECT count(*) FROM (VALUES (1), (2)) a (k) LEFT JOIN (SELECT b.k FROM big b LEFT JOIN (VALUES (1), (3)) c (k) USING (k)) d
  ON ''a''::char(6) = NULL AND a.k IS DISTINCT FROM d.k');
-- errors of the rows' computation, and of what is done with them, when the ordinary plan computes them again
SELECT same_sources('SELECT sum(v.x) FROM big b JOIN (SELECT g AS k, 1 / (g - 50) AS x FROM generate_series(1, 100) g OFFSET 0) v USING (k)');
SELECT same_sources('SELECT sum(1 / (v.k - 50)) FROM big b JOIN (SELECT g AS k FROM generate_series(1, 100) g OFFSET 0) v USING (k)');
-- what may not be computed twice, or not to its end, is left to PostgreSQL
CREATE SEQUENCE drawn;
CREATE TABLE written (k int);
SELECT same_sources('SELECT count(*) FROM big b JOIN (SELECT nextval(''drawn'') - nextval(''drawn'') + 8 AS k) v USING (k)');
SELECT same_sources('WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 60) SELECT big.k FROM r JOIN big USING (k)');
SELECT same_sources('WITH w AS (INSERT INTO written VALUES (7), (8) RETURNING k) SELECT count(*) FROM big JOIN w USING (k)');
-- a CTE that fails or has an effect, read by a subquery that no row asks for
SELECT setval('drawn', 1);
SELECT same_sources(format('SELECT * FROM (WITH z AS (SELECT k AS x, %s AS y FROM big) SELECT few, CASE WHEN few < few THEN (SELECT count(*) FROM z JOIN z w USING (x, y)) END
  FROM small WHERE few IN (SELECT few FROM big)) q ORDER BY 1, 2 LIMIT 3', failing)) FROM unnest(ARRAY['10 / (k - k)', 'nextval(''drawn'')']) failing;
SELECT last_value FROM drawn;
-- an InitPlan of another one's subquery reads the CTE, too
SELECT same_sources('WITH c AS (SELECT few, count(*) AS n FROM big GROUP BY few) SELECT * FROM (SELECT k, CASE WHEN k <> 8 THEN
  (SELECT count(*) FROM (SELECT n FROM c WHERE n >= (SELECT max(n) FROM c) ORDER BY 1 LIMIT 7) x WHERE n > 1)::text END FROM small WHERE few <= 3) q ORDER BY 1, 2 LIMIT 5');
-- prepared with and without a value, and run again
PREPARE of_source (int) AS SELECT count(*), sum(g) FROM big b JOIN generate_series(1, $1) g ON g = b.k;
SET plan_cache_mode = force_generic_plan;
SET penumbra.mode = prefer;
EXECUTE of_source (10);
EXECUTE of_source (2000);
RESET plan_cache_mode;
RESET penumbra.mode;
-- tables that no cache serves, and conditions that the engine does not know; one partition's Append leaves the plan
CREATE TEMP TABLE session (k int, s text);
INSERT INTO session SELECT i, 's' || i % 11 FROM generate_series(1, 200) i;
CREATE UNLOGGED TABLE unlogged (k int PRIMARY KEY, s text);
INSERT INTO unlogged SELECT i, 's' || i % 11 FROM generate_series(1, 20000) i;
CREATE TABLE parted (k int, s text) PARTITION BY RANGE (k);
CREATE UNLOGGED TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (100);
CREATE UNLOGGED TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200);
INSERT INTO parted SELECT i, 's' || i % 11 FROM generate_series(1, 199) i;
ANALYZE session, unlogged, parted;
SELECT same_sources('SELECT count(*), sum(b.n), max(t.s) FROM big b JOIN session t USING (k)');
SELECT same_sources('SELECT t.k, b.s FROM session t LEFT JOIN big b ON t.s = b.s AND b.k > 1900 WHERE t.k < 50');
SELECT same_sources('SELECT few, count(u.k) FROM big b FULL JOIN (SELECT * FROM unlogged WHERE k % 100 = 3) u USING (k) GROUP BY few');
SELECT same_sources('SELECT count(*), max(p.s) FROM big JOIN parted p USING (k)');
SELECT same_sources('SELECT count(*), max(p.s) FROM big JOIN parted p USING (k) WHERE p.k < 60');
SELECT same_sources('SELECT count(*) FROM big b JOIN small s USING (k) WHERE row_to_json(row(s.k))->>''f1'' LIKE ''1%''');
SELECT same_sources('SELECT count(*) FROM big b WHERE EXISTS (SELECT FROM session t WHERE t.k = b.k AND t.s < b.s)');
-- an InitPlan of a subquery that only the plan of a source needs
SELECT same_sources('SELECT b.k, x.c FROM big b JOIN (SELECT a.k, count(*) AS c FROM small a WHERE NOT EXISTS (SELECT FROM
  (SELECT k FROM session INTERSECT ALL SELECT k FROM big) s WHERE s.k = a.k AND s.k > (SELECT avg(k) FROM small)) GROUP BY 1) x ON x.k = b.k');
SELECT same_sources('SELECT count(*) FROM big b WHERE b.s NOT IN (SELECT t.s FROM session t WHERE t.k < 5)');
SELECT same_sources('SELECT b.k, (SELECT max(t.s) FROM session t JOIN small x USING (k) WHERE t.k <= b.k) FROM big b WHERE b.k < 40');
SELECT same_sources('SELECT count(*) FROM (SELECT k, count(*) AS n FROM session JOIN big USING (k) GROUP BY k) x JOIN small USING (k)');
SELECT same_sources('SELECT sum(1 / (t.k - 50)) FROM big b JOIN session t USING (k)');
SELECT same_sources('SELECT count(*) FROM big b JOIN session t USING (k) WHERE 1 / (t.k - 50) < 2');
SELECT same_sources('SELECT count(*) FROM big b JOIN session t USING (k) WHERE random() < 2 AND t.k + random() > 0');
SELECT same_sources('SELECT b.k FROM big b JOIN session t USING (k) WHERE t.k < 9 FOR UPDATE OF t');
SELECT same_sources('SELECT count(*) FROM big b JOIN unlogged t TABLESAMPLE BERNOULLI (100) USING (k)');
SELECT same_sources('SELECT count(*) FROM big b JOIN session t USING (k) WHERE t.ctid IS NOT NULL');
SELECT same_sources('SELECT count(*) FROM session a JOIN session b USING (k)');
-- a parallel one, and rows for each of an outer query
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT same_sources('SELECT count(*), sum(b.n), max(u.s) FROM big b JOIN unlogged u USING (k) WHERE u.s > ''s2''');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT same_sources('SELECT v.x, n FROM (VALUES (1), (30), (NULL), (150)) v (x),
  LATERAL (SELECT count(*) AS n FROM big b JOIN session t USING (k) WHERE t.k > v.x OFFSET 0) l');
-- an index that finds few rows of a cached table finds them for a join, too
CREATE TABLE indexed (k int PRIMARY KEY, s text);
INSERT INTO indexed SELECT i, 's' || i % 11 FROM generate_series(1, 200000) i;
VACUUM ANALYZE indexed;
SELECT penumbra.load('indexed') > 0;
SELECT line FROM explained('SELECT a.s, count(*) FROM indexed a JOIN indexed b USING (s) WHERE a.k BETWEEN 7 AND 9 GROUP BY 1', 'COSTS OFF') AS line;
SELECT a.s, count(*) FROM indexed a JOIN indexed b USING (s) WHERE a.k BETWEEN 7 AND 9 GROUP BY 1 ORDER BY 1;
-- LATERAL subqueries are joined by what they are compared with; a missing group has its row, unless a HAVING drops it
SELECT same('SELECT a.k, l.* FROM small a, LATERAL (SELECT count(*) AS n, sum(b.n), max(b.s) FROM big b WHERE b.k = a.k + 1900) l');
SELECT same('SELECT a.k, l.* FROM small a LEFT JOIN LATERAL (SELECT count(*) + 1 AS n FROM big b WHERE b.few = a.few AND b.s = a.s) l ON true');
SELECT same('SELECT a.k, l.* FROM small a JOIN LATERAL (SELECT sum(b.n) AS n FROM big b WHERE b.k = a.k HAVING count(*) > 0) l ON true');
SELECT same('SELECT a.k, l.* FROM small a LEFT JOIN LATERAL (SELECT sum(b.n) AS n FROM big b WHERE b.k = a.k + 1990 HAVING count(*) > 0) l ON true');
SELECT same('SELECT a.k, l.* FROM small a JOIN LATERAL (SELECT count(*) AS n FROM big b WHERE b.k = a.k + 1990 HAVING count(*) = 0) l ON true');
SELECT same('SELECT a.k, l.* FROM small a JOIN LATERAL (SELECT sum(b.k) AS n FROM big b WHERE b.few = a.few) l ON l.n > 100000 AND l.n > a.k');
SELECT same('SELECT a.k, l.* FROM small a LEFT JOIN LATERAL (SELECT sum(b.k) AS n FROM big b WHERE b.few = a.few) l ON l.n > 100000');
SELECT same('SELECT a.k, l.* FROM small a LEFT JOIN LATERAL (SELECT b.few, count(*) FROM big b WHERE b.s = a.s GROUP BY 1) l ON true');
SELECT same('SELECT a.k, l.k AS l, m.* FROM small a CROSS JOIN LATERAL (SELECT b.k FROM big b WHERE b.k = a.k OFFSET 0) l LEFT JOIN LATERAL
  (SELECT count(*) AS n FROM big c WHERE c.few = l.k AND c.c = a.c) m ON true');
SELECT same('SELECT a.k, (SELECT sum(l.n) FROM small b, LATERAL (SELECT count(*) AS n FROM big c WHERE c.k = b.k AND c.few = a.few) l) FROM small a');
SELECT same('SELECT count(*) FROM big a, LATERAL (SELECT k FROM big b WHERE b.few = a.few ORDER BY k DESC LIMIT 2) l WHERE a.k < 30');
SELECT same('SELECT sum(1 / l.n) FROM small a, LATERAL (SELECT count(*) AS n FROM big b WHERE b.k = a.k + 1995) l');
-- "require" looks at what the rows are of, too
CREATE TABLE unserved (k int, note json);
INSERT INTO unserved SELECT i, '{}' FROM generate_series(1, 5000) i;
SET penumbra.mode = require;
SELECT count(*), sum(r) FROM big JOIN (SELECT k, rank() OVER (ORDER BY k DESC) AS r FROM big) s USING (k);
\set VERBOSITY terse
SELECT count(*) FROM big JOIN (SELECT k, rank() OVER (ORDER BY note::text) AS r FROM unserved) s USING (k);
RESET penumbra.mode;
SELECT line FROM explained('WITH x AS MATERIALIZED (SELECT few, count(*) AS n FROM big GROUP BY few) SELECT b.k, x.n FROM big b JOIN x USING (few)', 'COSTS OFF') AS line;

-- Window functions are PostgreSQL's, over rows that the engine sorts: of a table, groups, joins and subqueries.
SELECT agree('SELECT k, rank() OVER (PARTITION BY few ORDER BY s DESC NULLS LAST) FROM big');
SELECT agree('SELECT few, s, sum(k), rank() OVER (PARTITION BY few ORDER BY sum(k) DESC) FROM big GROUP BY few, s');
SELECT agree('SELECT a.k, sum(b.k) OVER (PARTITION BY a.few ORDER BY b.k, a.k) FROM small a JOIN big b ON a.few = b.few WHERE b.k < 300');
SELECT agree('SELECT x, y, count(*) OVER (ORDER BY x, y), max(y) OVER (PARTITION BY y ORDER BY x)
  FROM (SELECT few AS x, i2 AS y FROM big UNION SELECT few, k FROM small) s');
SELECT agree('SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY c ORDER BY n DESC, k) AS r FROM big) s WHERE r <= 3');
SELECT agree('SELECT few, s, sum(k) AS x, avg(sum(k)) OVER (PARTITION BY few) FROM big GROUP BY ROLLUP (few, s) HAVING count(*) > 1');
SELECT agree('SELECT count(*) OVER () FROM small a JOIN big b USING (k)');
SET penumbra.mode = require;
SELECT regexp_replace(line, '^ *', '')
  FROM explained('SELECT s, d, lag(10 / k) OVER (PARTITION BY s ORDER BY d) FROM small JOIN big USING (k, s, d)', 'COSTS OFF') AS line
  WHERE line ~ 'WindowAgg|Sort';

-- EXPLAIN: the tree with what each stage is expected to give, and gave.  A year of a calendar of two centuries has all of
-- the sales of that year, whatever the statistics think of the other years.
CREATE TABLE calendar (day int PRIMARY KEY, year int);
CREATE TABLE sales (day int, amount int);
INSERT INTO calendar SELECT i, 1900 + i / 365 FROM generate_series(0, 72999) i;
INSERT INTO sales SELECT 36500 + i % 1825, i FROM generate_series(1, 100000) i;
VACUUM ANALYZE calendar, sales;
DO $$ BEGIN PERFORM penumbra.load('calendar'), penumbra.load('sales'); END $$;
SET penumbra.mode = prefer;
SELECT line FROM explained('SELECT year, stddev(amount) FROM sales JOIN calendar USING (day) WHERE year = 2001 GROUP BY year',
    'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') AS line
  WHERE line ~ 'Vector';
SELECT joined > 19000 AND joined < 21000 AS is_right, groups
FROM (SELECT (regexp_match(tree, 'Inner Join  \(rows=(\d+)\)'))[1]::int AS joined,
    (regexp_match(tree, 'Aggregate  \(rows=(\d+)\)'))[1]::int AS groups
  FROM (SELECT string_agg(line, E'\n') AS tree FROM explained(
    'SELECT year, stddev(amount) FROM sales JOIN calendar USING (day) WHERE year = 2001 GROUP BY year') AS line) t) e;
-- What the topmost join is expected to give, as a share of what it gives.  Columns of a UNION ALL have the statistics of
-- its members, those of a CTE the values that it computes; several columns have no more combinations than a table has rows.
CREATE FUNCTION expected_share(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  line text;
  rows numeric;
BEGIN
  EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO rows;
  FOR line IN SELECT * FROM explained(query) LOOP
    IF line ~ 'Vector Inner Join' THEN
      RETURN round((regexp_match(line, 'rows=(\d+)'))[1]::numeric / rows, 1);
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TABLE sold AS SELECT i AS ticket, i * 7 % 1000 AS item, i * 13 % 5000 AS buyer FROM generate_series(1, 50000) i;
CREATE TABLE returned AS SELECT * FROM sold WHERE ticket % 10 = 0;
VACUUM ANALYZE sold, returned;
DO $$ BEGIN PERFORM penumbra.load('sold'), penumbra.load('returned'); END $$;
SELECT expected_share('SELECT amount FROM (SELECT * FROM sales UNION ALL SELECT * FROM sales) s JOIN calendar USING (day)
  WHERE year = 2001');
-- A year that only a join with some of its days picks.
SELECT expected_share('SELECT amount FROM sales JOIN calendar c USING (day) JOIN calendar picked ON c.year = picked.year
  WHERE picked.day BETWEEN 36870 AND 36873');
SELECT expected_share('WITH bought AS (SELECT buyer, item % 3 AS kind, count(*) FROM sold GROUP BY 1, 2)
  SELECT b.* FROM bought b JOIN (SELECT kind, max(count) FROM bought GROUP BY 1) m ON b.kind = m.kind');
SELECT expected_share('SELECT * FROM sold JOIN returned USING (ticket, item, buyer)');
SET penumbra.threads_per_query = 0;
SELECT regexp_replace(line, ' +', '', 'g')
  FROM explained('SELECT count(*) FROM sales JOIN calendar USING (day)', 'ANALYZE, FORMAT JSON') AS line
  WHERE line ~ '"(Stage|Rows Out|Join Table|Build Rows|Planned Rows)"';

RESET penumbra.threads_per_query;
-- rows of one key meet the same rows, and are added up before the joins
CREATE TABLE bills AS SELECT i % 12 AS shop, i % 40 AS day, i % 9 AS amount, (i % 100)::numeric(9,2) / 4 AS price
FROM generate_series(1, 20000) i;
CREATE TABLE shops AS SELECT i AS id, 'region ' || i % 3 AS region FROM generate_series(0, 9) i;
CREATE TABLE closed AS SELECT 30 AS day;
VACUUM ANALYZE bills, shops, closed;
DO $$ BEGIN PERFORM penumbra.load(t) FROM unnest('{bills,shops,closed}'::regclass[]) t; END $$;
SELECT line FROM explained('SELECT region, count(*), avg(price) FROM bills JOIN shops ON shop = id GROUP BY 1 HAVING sum(amount) > 7',
    'COSTS OFF') AS line;
SELECT same('SELECT region, count(*), avg(price) FROM bills JOIN shops ON shop = id GROUP BY 1 HAVING sum(amount) > 7');
SELECT same('SELECT region, day % 3, min(price) FILTER (WHERE amount < 4) FROM bills LEFT JOIN shops ON shop = id GROUP BY 1, 2');
-- not what could fail of rows that a join drops, nor without keys, nor where few rows have a key in common
SELECT same('SELECT day % 3, sum(100 / (b.day - 30)) FROM bills b WHERE NOT EXISTS (SELECT FROM closed c WHERE c.day = b.day)
  GROUP BY 1');
SELECT same('SELECT count(*), sum(amount) FROM bills JOIN shops ON shop = id AND region = ''none''');
SELECT count(*) FILTER (WHERE line ~ 'part\.') FROM explained('SELECT region, count(price) FROM bills JOIN shops ON shop = id
  JOIN closed c ON c.day <> amount * bills.day + bills.price GROUP BY 1') AS line;

-- comparisons with ANY and ALL, by bounds: NULLs among the values, no values, NULL on the left
CREATE TABLE bids AS SELECT i % 15 AS shop, CASE WHEN i % 9 <> 0 THEN i % 20 END AS amount FROM generate_series(1, 500) i
WHERE i % 15 <> 3;
VACUUM ANALYZE bids;
DO $$ BEGIN PERFORM penumbra.load('bids'); END $$;
SET penumbra.mode = require;
SELECT line FROM explained('SELECT count(*) FROM bills WHERE amount >= ALL (SELECT amount FROM bids WHERE shop = bills.shop)',
    'COSTS OFF') AS line;
SELECT op, quantifier, correlated, same(format('SELECT coalesce(value::text, ''null''), count(*)
  FROM (SELECT amount %s %s (SELECT b.amount FROM bids b WHERE %s) AS value FROM
    (SELECT shop, nullif(amount, 4) AS amount, day FROM bills) bills) v GROUP BY 1', op, quantifier, correlated))
FROM unnest('{<,<=,>,>=,=,<>}'::text[]) op, unnest('{any,all}'::text[]) quantifier,
  unnest(ARRAY['b.shop = bills.shop', 'b.shop = bills.shop AND b.amount IS NOT NULL', 'b.shop = 4', 'b.shop = 3']) correlated
  ORDER BY 2, 1, 3;
SELECT same('SELECT count(*) FROM bills WHERE amount <> ALL (SELECT amount FROM bids WHERE amount > 5)');
SELECT same('SELECT count(*) FROM shops s WHERE region <= ALL (SELECT region FROM shops s2 WHERE s2.id = s.id)');
-- subqueries in keys and arguments of aggregates
SELECT same('SELECT (SELECT region FROM shops WHERE id = shop) AS region, count(*) FROM bills GROUP BY 1');
SELECT same('SELECT shop, sum((SELECT count(*) FROM bids b WHERE b.shop = bills.shop)),
  count(*) FILTER (WHERE EXISTS (SELECT FROM bids b WHERE b.shop = bills.shop AND b.amount = bills.amount))
  FROM bills GROUP BY 1 HAVING max((SELECT min(amount) FROM bids b WHERE b.shop = bills.shop)) IS DISTINCT FROM 3');
-- in the conditions of the only relation, with nothing above it but LIMIT
SELECT same('SELECT day, amount FROM bills WHERE amount > (SELECT avg(b.amount) FROM bids b WHERE b.shop = bills.shop)');
SELECT same('SELECT bills.*, amount || ''x'' FROM bills WHERE day = 3 OR EXISTS (SELECT FROM bids b WHERE b.shop = bills.shop AND b.amount > 18)');
SELECT same('SELECT shop FROM (SELECT shop, sum(amount) AS total FROM bills GROUP BY 1) t
  WHERE total > (SELECT 40 * avg(b.amount) FROM bids b WHERE b.shop = t.shop)');
SELECT same('WITH t AS MATERIALIZED (SELECT shop, sum(amount) AS total FROM bills GROUP BY 1)
  SELECT shop FROM t WHERE total > (SELECT 40 * avg(b.amount) FROM bids b WHERE b.shop = t.shop)');
SELECT count(*) FROM (SELECT day FROM bills WHERE amount > (SELECT avg(b.amount) FROM bids b WHERE b.shop = bills.shop) LIMIT 7) t;
CREATE TABLE dear (shop integer, amount integer);
SELECT regexp_replace(line, '"SubPlan \d"|expr_\d', 'subquery') AS line FROM explained('INSERT INTO dear SELECT shop, amount FROM bills
  WHERE amount > (SELECT avg(b.amount) FROM bids b WHERE b.shop = bills.shop)', 'COSTS OFF') AS line;
-- rows that are locked, or that a cursor changes, are PostgreSQL's
SET penumbra.mode = prefer;
SELECT same('SELECT day, amount FROM bills WHERE amount > (SELECT avg(b.amount) FROM bids b WHERE b.shop = bills.shop) FOR UPDATE');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM bids o WHERE amount > (SELECT 1.8 * avg(b.amount) FROM bids b WHERE b.shop = o.shop);
MOVE 2 IN c;
DELETE FROM bids WHERE CURRENT OF c;
COMMIT;
SELECT count(*) FROM bids;
-- a least or greatest value that PostgreSQL finds by an index is a join's value, too
CREATE INDEX ON bids (amount);
ANALYZE bids;
SET penumbra.mode = auto;
SELECT regexp_replace(line, '"SubPlan \d"|expr_\d', 'subquery') AS line
  FROM explained('SELECT day, (SELECT max(b.amount) FROM bids b WHERE b.shop = bills.shop) FROM bills', 'COSTS OFF') AS line;
SET penumbra.mode = require;
SELECT same('SELECT day, (SELECT max(b.amount) - min(b.amount) FROM bids b WHERE b.shop = bills.shop) FROM bills');
SET penumbra.mode = prefer;

\t off
-- Subqueries in conditions of joins: of one side they are joined with it first, and their value may be a key.
SELECT same('SELECT s.k, b.k FROM small s JOIN big b ON b.k = (SELECT max(x.k) FROM big x WHERE x.few = s.few)');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = (SELECT max(x.k) FROM big x WHERE x.few = s.few AND x.k < 500) AND s.k > 3');
SELECT same('SELECT count(*), count(b.k), sum(s.k) FROM small s FULL JOIN big b ON b.k = (SELECT max(x.k) FROM big x WHERE x.i2 = s.i2)');
SELECT same('SELECT s.k, b.k FROM small s RIGHT JOIN big b ON s.few = b.few AND EXISTS (SELECT FROM big x WHERE x.k = b.k + 1 AND x.i2 < 5) WHERE b.k < 50');
SELECT same('SELECT s.k FROM small s WHERE EXISTS (SELECT FROM big b WHERE b.few = s.few AND b.k = (SELECT min(x.k) FROM big x WHERE x.i2 = s.i2))');
SELECT same('SELECT s.k FROM small s WHERE NOT EXISTS (SELECT FROM big b WHERE b.k = (SELECT min(x.k) + s.k FROM big x WHERE x.i2 = s.i2))');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = s.k AND s.few NOT IN (SELECT x.few FROM big x WHERE x.k < s.k)');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = (SELECT x.k FROM big x WHERE x.few = s.few ORDER BY x.k DESC LIMIT 1)');
-- A second row is an error where a pair asks, and only there.
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = (SELECT x.k FROM big x WHERE x.few = s.few)');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = CASE WHEN s.k < 0 THEN (SELECT x.k FROM big x WHERE x.few = s.few) ELSE s.k END');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = CASE WHEN b.few < 0 THEN (SELECT x.k FROM big x WHERE x.few = s.few) ELSE s.k END');
-- Above the join a row without a partner has NULLs, and its subquery others.
SELECT same('SELECT s.k, b.k, (SELECT count(*) FROM big x WHERE x.k = b.k) FROM small s LEFT JOIN big b ON b.k = s.k AND (SELECT count(*) FROM big x WHERE x.k = b.k) > 0');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.k = s.k + 5 AND (SELECT count(*) FROM big x WHERE x.k = b.k) > 0 WHERE (SELECT count(*) FROM big x WHERE x.k = b.k) = 0');
-- Of both sides.
SELECT same('SELECT s.k, b.k FROM small s JOIN big b ON b.few = s.few AND b.k = (SELECT max(x.k) FROM big x WHERE x.few = b.few AND x.i2 = s.i2)');
SELECT same('SELECT s.k, b.k FROM small s LEFT JOIN big b ON b.few = s.few AND b.k = (SELECT max(x.k) FROM big x WHERE x.few = b.few AND x.i2 = s.i2)');

SET client_min_messages = warning;
DROP SCHEMA joins CASCADE;
