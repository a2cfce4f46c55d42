-- Joins that were planned to build their table of what turns out to be the larger side.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA swapped_sides;
SET search_path = swapped_sides;
SET penumbra.threads_per_query = 1;

-- What PostgreSQL's executor finds, and how often sides of joins were swapped for it.
CREATE FUNCTION swapped(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  stock text;
  ours text;
  line text;
  count int := 0;
BEGIN
  PERFORM set_config('penumbra.mode', 'off', true);
  EXECUTE format('SELECT x::text FROM (%s) x', query) INTO stock;
  PERFORM set_config('penumbra.mode', 'require', true);
  EXECUTE format('SELECT x::text FROM (%s) x', query) INTO ours;
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    count := count + coalesce(substring(line FROM 'Sides Swapped: (\d+)')::int, 0);
  END LOOP;
  RETURN format('%s%s swapped, %s', CASE WHEN stock IS DISTINCT FROM ours THEN 'DIFFERENT: stock ' || stock || ', ' END,
    count, ours);
END $$;

-- What EXPLAIN says of joins.
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Join|Swapped' THEN
      RETURN NEXT regexp_replace(line, ', its filter .*', '');
    END IF;
  END LOOP;
END $$;

-- Of the tags one has nearly all of the facts, which no statistics tell: two tags of a thousand are hot.
CREATE TABLE tags (k int, tag text);
INSERT INTO tags SELECT i, CASE WHEN i IN (7, 1000) THEN 'hot' ELSE 'tag ' || i END FROM generate_series(1, 1000) i;
CREATE TABLE facts (tag int, dim int, customer int, amount int);
INSERT INTO facts SELECT CASE WHEN i % 300 = 0 THEN i / 300 ELSE 7 END, i % 4001, i % 70001, i % 13
FROM generate_series(1, 300000) i;
CREATE TABLE dims (k int, s text);
INSERT INTO dims SELECT i, 'dim ' || i % 5 FROM generate_series(0, 4999) i;
CREATE TABLE customers (k int, s text);
INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(1, 60000) i;
VACUUM ANALYZE tags, facts, dims, customers;
DO $$ BEGIN PERFORM penumbra.load('tags'), penumbra.load('facts'), penumbra.load('dims'), penumbra.load('customers'); END $$;

\t on
SELECT swapped('SELECT count(*), sum(amount), min(d.s), count(DISTINCT d.k) FROM tags t JOIN facts f ON f.tag = t.k
  JOIN dims d ON d.k = f.dim WHERE t.tag = ''hot''');
SELECT swapped('SELECT count(*), sum(amount), min(d.s), count(d.k) FROM dims d LEFT JOIN (SELECT f.* FROM tags t
  JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'') x ON d.k = x.dim AND x.amount < 9');
SELECT swapped('SELECT count(*), sum(amount), min(d.s), count(d.k) FROM dims d FULL JOIN (SELECT f.* FROM tags t
  JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'') x ON d.k = x.dim');
SELECT swapped('SELECT count(*), min(s), sum(k) FROM dims d WHERE EXISTS (SELECT FROM tags t
  JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'' AND d.k = f.dim)');
SELECT swapped('SELECT count(*), min(s), sum(k) FROM dims d WHERE NOT EXISTS (SELECT FROM tags t
  JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'' AND d.k = f.dim)');
-- NOT IN has no other side
SELECT swapped('SELECT count(*), min(s), sum(k) FROM dims d WHERE k NOT IN (SELECT f.dim FROM tags t
  JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'')');
-- the joins of a subquery were ordered for one customer
SELECT swapped('SELECT count(*), sum(k) FROM customers c WHERE s < ''customer 2'' OR EXISTS (SELECT FROM facts f
  JOIN dims d ON d.k = f.dim WHERE f.customer = c.k AND d.s = ''dim 3'')');
-- the other side is large, too: back again
SELECT swapped('WITH hot AS NOT MATERIALIZED (SELECT dim, customer, sum(amount) FROM tags t
    JOIN facts f ON f.tag = t.k WHERE t.tag = ''hot'' GROUP BY 1, 2)
  SELECT count(*), sum(a.sum), sum(b.sum) FROM hot a JOIN hot b USING (dim, customer)');
SELECT explained('SELECT count(*), sum(amount), min(d.s), count(DISTINCT d.k) FROM tags t JOIN facts f ON f.tag = t.k
  JOIN dims d ON d.k = f.dim WHERE t.tag = ''hot''');
\t off

-- rows of a union's first member have left by then
SET penumbra.mode = require;
CREATE TABLE of_both AS SELECT s FROM customers WHERE k < 3 UNION ALL SELECT d.s FROM tags t JOIN facts f ON f.tag = t.k
  JOIN dims d ON d.k = f.dim WHERE t.tag = 'hot';
SET penumbra.mode = off;
SELECT count(*), count(DISTINCT s) FROM of_both;

-- each execution of a prepared statement begins as it was planned
PREPARE by_tag(text) AS SELECT count(*), sum(amount) FROM tags t JOIN facts f ON f.tag = t.k JOIN dims d ON d.k = f.dim
  WHERE t.tag = $1;
SET plan_cache_mode = force_generic_plan;
SET penumbra.mode = require;
EXECUTE by_tag('hot');
EXECUTE by_tag('tag 8');
EXECUTE by_tag('hot');
SET client_min_messages = error;
DROP SCHEMA swapped_sides CASCADE;
