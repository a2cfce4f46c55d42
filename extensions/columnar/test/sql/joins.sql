-- Queries with joins and subqueries give the rows or the error of PostgreSQL's executor, and which of them are one node.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA joins;
SET search_path = joins;

-- The rows, sorted, or the error.
CREATE FUNCTION joined_rows(query text, mode text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  r record;
  result text[] := '{}';
  detail text;
BEGIN
  PERFORM set_config('penumbra.mode', mode, true);
  FOR r IN EXECUTE query LOOP
    result := result || r::text;
  END LOOP;
  RETURN array(SELECT x FROM unnest(result) x ORDER BY x COLLATE "C");
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN ARRAY['error', SQLSTATE, SQLERRM, detail];
END $$;
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
  stock text[] := joined_rows(query, 'off');
  ours text[] := joined_rows(query, 'prefer');
BEGIN
  IF stock IS DISTINCT FROM ours THEN
    RETURN format('DIFFERENT: %s stock: %s ours: %s', query, left(stock::text, 300), left(ours::text, 300));
  ELSIF stock[1] = 'error' THEN
    RETURN stock[3];
  END IF;
  RETURN format('%s%s rows', CASE WHEN is_one_node(query) THEN 'one node: ' END, cardinality(stock));
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
-- NOT IN
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM big)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM big WHERE few > 3)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE few NOT IN (SELECT few FROM nothing)');
SELECT same('SELECT count(*), sum(k) FROM small WHERE k NOT IN (SELECT k FROM big WHERE k < 500)');
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
-- The genetic join search frees its relations: nothing is offered there.
SET geqo_threshold = 2;
SELECT same('SELECT count(*) FROM small a JOIN big b ON a.k = b.k JOIN big c ON b.k = c.k JOIN small d ON d.k = c.k');
RESET geqo_threshold;
SELECT same('SELECT count(*) FROM small a JOIN big b USING (k) JOIN big c USING (k) JOIN big d USING (k) JOIN big e USING (k)
  JOIN big f USING (k) JOIN small g USING (k) JOIN nothing h USING (k)');

\t off
SET client_min_messages = warning;
DROP SCHEMA joins CASCADE;
