-- Correlated subqueries that cannot be joins are run once for each value of the query around them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA subplan_memo;
SET search_path = subplan_memo;

CREATE TABLE inner_rows AS SELECT i AS k, i % 50 AS few, 'text ' || i AS s FROM generate_series(1, 20000) i;
CREATE TABLE outer_rows AS SELECT i AS id, nullif(i % 7, 3) AS few, (i % 3)::numeric + CASE i % 2 WHEN 0 THEN 0.00 ELSE 0 END AS n
FROM generate_series(1, 300) i;
VACUUM ANALYZE inner_rows, outer_rows;
DO $$ BEGIN PERFORM penumbra.load('inner_rows'), penumbra.load('outer_rows'); END $$;

-- How often subqueries were looked up and run, and whether the rows are those of PostgreSQL's executor.
CREATE FUNCTION memoized(query text, more text = '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  said text := '';
  stock text[];
  ours text[];
BEGIN
  PERFORM set_config('penumbra.mode', 'off', true);
  EXECUTE format('SELECT array_agg(x::text ORDER BY x::text) FROM (%s) x', query) INTO stock;
  PERFORM set_config('penumbra.mode', 'prefer', true);
  EXECUTE format('SELECT array_agg(x::text ORDER BY x::text) FROM (%s) x', query) INTO ours;
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    said := said || coalesce(substring(line FROM '(?:Hits: \d+  Misses: \d+|Cache Mode: \w+)') || ' ', '');
  END LOOP;
  RETURN CASE WHEN stock = ours THEN 'same: ' ELSE 'DIFFERENT: ' END || said;
END $$;

\t on
-- conditions that are no equality; LIMIT; in a condition; IN
SELECT memoized('SELECT id, (SELECT count(*) FROM inner_rows i WHERE i.few <> o.few) FROM outer_rows o');
SELECT memoized('SELECT id, (SELECT s FROM inner_rows i WHERE i.few <> o.few ORDER BY k DESC LIMIT 1) FROM outer_rows o');
SELECT memoized('SELECT id, (SELECT s FROM inner_rows i WHERE i.few = o.few ORDER BY k OFFSET 5 FETCH FIRST ROW WITH TIES) FROM outer_rows o');
SELECT memoized('SELECT id FROM outer_rows o WHERE id = 5 OR (SELECT count(*) FROM inner_rows i WHERE i.few <> o.few) < 19000');
SELECT memoized('SELECT id FROM outer_rows o WHERE o.id NOT IN (SELECT k FROM inner_rows i WHERE i.few > o.few ORDER BY k LIMIT 100)');
-- equal numbers that are written differently
SELECT memoized('SELECT id, (SELECT o.n || s FROM inner_rows i WHERE i.few > o.n ORDER BY k LIMIT 1) FROM outer_rows o');
-- a value of two levels up, whose change makes everything new
SELECT memoized('SELECT id, (SELECT sum((SELECT max(k) FROM inner_rows i WHERE i.few <> q.few AND i.k < o.few * 1000))
  FROM outer_rows q WHERE q.id < 20) FROM outer_rows o WHERE o.id < 20');
-- what may find something else each time, what costs little, and what is not asked for
SELECT memoized('SELECT id, (SELECT count(*) FROM inner_rows i WHERE i.few <> o.few AND random() < 2) FROM outer_rows o');
SELECT memoized('SELECT id, (SELECT o.few + 1) FROM outer_rows o');
SET enable_memoize = off;
SELECT memoized('SELECT id, (SELECT count(*) FROM inner_rows i WHERE i.few <> o.few) FROM outer_rows o');
RESET enable_memoize;
-- a second row is an error all the same
SET penumbra.mode = prefer;
SELECT (SELECT s FROM inner_rows i WHERE i.few <> o.few - 1) FROM outer_rows o;
-- since 19 subplans have names
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    RETURN NEXT replace(line, 'SubPlan expr_1', 'SubPlan 1');
  END LOOP;
END $$;
SELECT explained('SELECT id, (SELECT count(*) FROM inner_rows i WHERE i.few <> o.few) FROM outer_rows o');
\t off
SET client_min_messages = error;
DROP SCHEMA subplan_memo CASCADE;
