-- Expressions above a join that read its build side alone: what is computed there, and that the rows are PostgreSQL's.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE facts (id int, day int, shop int, v int, n numeric) WITH (autovacuum_enabled = off);
INSERT INTO facts SELECT i, nullif(i % 400, 7), i % 90, i % 1000, i % 777 / 7.0 FROM generate_series(1, 20000) i;
CREATE TABLE days (day int, at timestamp, name text, divisor numeric) WITH (autovacuum_enabled = off);
INSERT INTO days SELECT i, timestamp '2024-01-01' + i * interval '1 day', nullif('day ' || i % 30, 'day 3'), i % 350 FROM generate_series(0, 349) i;
CREATE TABLE shops (shop int, city text, boss int) WITH (autovacuum_enabled = off);
INSERT INTO shops SELECT i, CASE i % 3 WHEN 0 THEN 'Rome' WHEN 1 THEN 'Oslo, NO' END, i % 5 FROM generate_series(0, 79) i;
CREATE TABLE bosses (boss int, name text) WITH (autovacuum_enabled = off);
INSERT INTO bosses SELECT i, 'Boss ' || i FROM generate_series(0, 3) i;
VACUUM ANALYZE facts, days, shops, bosses;
SELECT penumbra.load('facts') > 0 AND penumbra.load('days') > 0 AND penumbra.load('shops') > 0 AND penumbra.load('bosses') > 0;

-- The projections below joins.
CREATE FUNCTION moved(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  PERFORM set_config('penumbra.mode', 'require', true);
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'Vector .*Join$|Vector Output|Vector Scan' THEN
      -- 19 names a subplan by its kind.
      RETURN NEXT regexp_replace(line, '"SubPlan \d+"|expr_\d+', 'subplan', 'g');
    END IF;
  END LOOP;
END $$;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  -- a condition with a correlated aggregate
  ('SELECT id FROM facts f WHERE n > 1.2 * (SELECT avg(n) FROM facts o WHERE o.shop = f.shop)'),
  -- windows, orders, DISTINCT and aggregates that are not computed before the join
  ('SELECT id, row_number() OVER (PARTITION BY upper(name), extract(month FROM at) ORDER BY id) FROM facts JOIN days USING (day)'),
  ('SELECT upper(city) || ''!'', id FROM facts JOIN shops USING (shop) ORDER BY 1, 2 DESC LIMIT 30'),
  ('SELECT to_char(at, ''Q''), count(DISTINCT id), count(*) FILTER (WHERE name LIKE ''%1'') FROM facts JOIN days USING (day) GROUP BY 1'),
  -- a build side that is a join, and the way through filters and other joins
  ('SELECT lower(name), upper(city), count(DISTINCT id) FROM facts JOIN shops USING (shop) JOIN bosses USING (boss) WHERE length(city) + v > 9 GROUP BY 1, 2'),
  ('SELECT d.name || ''x'', upper(city), count(DISTINCT id) FROM facts JOIN shops USING (shop) JOIN days d USING (day) GROUP BY 1, 2'),
  -- rows without a partner: strict expressions are NULL for them, others are not moved
  ('SELECT upper(city), coalesce(upper(city), ''none''), count(DISTINCT id) FROM facts LEFT JOIN shops USING (shop) GROUP BY 1, 2'),
  ('SELECT upper(coalesce(city, ''none'')), count(DISTINCT id) FROM facts LEFT JOIN shops USING (shop) GROUP BY 1'),
  ('SELECT CASE WHEN city LIKE ''O%'' THEN 1 ELSE 2 END, count(DISTINCT id) FROM facts FULL JOIN shops USING (shop) GROUP BY 1'),
  ('SELECT upper(city), count(DISTINCT id) FROM shops RIGHT JOIN facts USING (shop) GROUP BY 1'),
  -- what can fail for a day that no fact has, or that the condition keeps out, is not moved
  ('SELECT id, n / divisor FROM facts JOIN days USING (day) WHERE divisor > 0 ORDER BY n / divisor, id LIMIT 10'),
  ('SELECT count(DISTINCT n), 7 / divisor FROM facts JOIN days USING (day) WHERE id % 400 > 0 GROUP BY 2'),
  ('SELECT count(DISTINCT n), 7 / divisor FROM facts JOIN days USING (day) GROUP BY 2'),
  -- a condition of the join, and CASE with a test value
  ('SELECT id FROM facts f JOIN days d ON f.day = d.day AND upper(d.name) < ''DAY 1'' || f.v'),
  ('SELECT id FROM facts f LEFT JOIN days d ON f.day = d.day AND coalesce(d.name, ''DAY'') || ''x'' < ''day 1'' || f.v'),
  ('SELECT CASE lower(city) WHEN ''rome'' THEN 1 WHEN city || '''' THEN 2 END, count(DISTINCT id) FROM facts JOIN shops USING (shop) GROUP BY 1'),
  ('SELECT id FROM facts f WHERE EXISTS (SELECT FROM days d WHERE d.day = f.day AND lower(d.name) <> ''day '' || f.v % 30)'),
  -- a CTE that two read
  ('WITH c AS MATERIALIZED (SELECT shop, max(n) m, min(city) city FROM facts JOIN shops USING (shop) GROUP BY 1)
    SELECT f.id, upper(a.city), a.m * 2 FROM facts f JOIN c a ON a.shop = f.shop JOIN c b ON b.shop = f.v WHERE f.n < 0.5 * b.m'),
  -- parameters and functions that PostgreSQL evaluates
  ('SELECT id FROM facts JOIN shops USING (shop) WHERE replace(city, ''o'', (SELECT min(name) FROM bosses)) || v > ''R''');
SELECT id, agree(q) FROM questions ORDER BY id;
SELECT id, moved(q) FROM questions WHERE id IN (1, 2, 5, 7, 11, 14) ORDER BY id;
DROP TABLE facts, days, shops, bosses, questions;
DROP FUNCTION moved, agree, rows_of;
