-- Subqueries over the elements of a row's own arrays and documents: the same with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE order_line AS (sku text, qty int);
CREATE TABLE orders (id int, customer int, tags text[], nums int[], lines order_line[], doc jsonb, bound int) WITH (autovacuum_enabled = off);
INSERT INTO orders SELECT k, k % 50,
  CASE k % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' ELSE ARRAY['t' || k % 7, NULL, 't' || k % 40, repeat('long ', k % 6)] END,
  CASE k % 7 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '[-1:0]={NULL,4}' WHEN 3 THEN '{{1,2},{3,NULL}}' ELSE ARRAY[k % 60, k % 13, NULL, k % 3] END,
  CASE WHEN k % 5 > 0 THEN ARRAY[('s' || k % 11, k % 4)::order_line, (NULL, k % 6)::order_line, NULL] END,
  CASE WHEN k % 6 > 0 THEN jsonb_build_object('items', jsonb_build_array(
    jsonb_build_object('sku', 's' || k % 20, 'price', (k % 1000) / 8.0, 'state', CASE WHEN k % 3 > 0 THEN 'sold' ELSE 'open' END),
    jsonb_build_object('sku', NULL, 'price', k % 90, 'state', 'sold'), jsonb_build_object('state', 'open')),
    'attributes', jsonb_build_object('a', k % 4, 'b', 'x' || k % 3), 'mixed', CASE WHEN k % 4 > 0 THEN '[1, "x"]'::jsonb ELSE '{"k": 1}' END) END,
  k % 45
FROM generate_series(1, 5000) k;
-- more elements than a vector has
UPDATE orders SET nums = ARRAY(SELECT s % 1000 FROM generate_series(1, 5000) s), tags = ARRAY(SELECT 'many ' || s % 700 FROM generate_series(1, 5000) s) WHERE id IN (17, 4000);
VACUUM ANALYZE orders;
SELECT penumbra.load('orders', ARRAY['id', 'customer', 'bound', 'unnest(tags)', 'unnest(nums)', '(unnest(lines)).sku', '(unnest(lines)).qty',
  $$jsonb_array_elements(doc->'items')->>'sku'$$, $$jsonb_array_elements(doc->'items')->>'price'$$, $$jsonb_array_elements(doc->'items')->>'state'$$,
  $$jsonb_typeof(jsonb_array_elements(doc->'mixed'))$$]) > 0 AS loaded;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT sum((SELECT sum((e->>''price'')::numeric) FROM jsonb_array_elements(doc->''items'') e)) FROM orders'),
  ('SELECT customer, sum((SELECT max(n) FROM unnest(nums) n)) FROM orders GROUP BY 1'),
  ('SELECT id, (SELECT count(*) FROM unnest(tags)), (SELECT count(t) FROM unnest(tags) t), (SELECT count(DISTINCT t) FROM unnest(tags) t) FROM orders'),
  ('SELECT id, (SELECT string_agg(t, '','') FROM unnest(tags) t WHERE t > ''t2''), (SELECT array_agg(n) FROM unnest(nums) n WHERE n > bound) FROM orders WHERE id <> 17'),
  ('SELECT id, ARRAY(SELECT t FROM unnest(tags) t WHERE t IS NOT NULL) FROM orders WHERE id < 300'),
  ('SELECT id, ARRAY(SELECT DISTINCT t FROM unnest(tags) t ORDER BY t), ARRAY(SELECT n FROM unnest(nums) n WHERE n > 1 ORDER BY n % 7, n DESC) FROM orders WHERE id < 300'),
  ('SELECT id, (SELECT jsonb_agg(e->>''sku'' ORDER BY e->>''price'') FROM jsonb_array_elements(doc->''items'') e) FROM orders WHERE id < 300'),
  ('SELECT id, (SELECT sum(n) FILTER (WHERE n % 2 = 0) || ''/'' || count(*) FROM unnest(nums) n WHERE n < bound) FROM orders'),
  ('SELECT id FROM orders WHERE EXISTS (SELECT FROM unnest(tags) t WHERE t LIKE ''t3%'')'),
  ('SELECT id FROM orders WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(doc->''items'') e WHERE e->>''state'' = ''sold'' AND (e->>''price'')::numeric > bound)'),
  ('SELECT id FROM orders WHERE bound IN (SELECT n FROM unnest(nums) n)'),
  ('SELECT id FROM orders WHERE bound NOT IN (SELECT n FROM unnest(nums) n)'),
  ('SELECT id, bound IN (SELECT n FROM unnest(nums) n WHERE n > 2), bound = ALL (SELECT unnest(nums)), bound < ANY (SELECT unnest(nums)), NULL > ALL (SELECT n FROM unnest(nums) n) FROM orders'),
  ('SELECT id FROM orders WHERE 5 < ALL (SELECT n FROM unnest(nums) n) OR ''t5'' = ANY (SELECT t FROM unnest(tags) t)'),
  ('SELECT CASE WHEN EXISTS (SELECT FROM unnest(tags) t WHERE t = ''t1'') THEN ''a'' ELSE ''b'' END AS k, count(*) FROM orders GROUP BY 1'),
  ('SELECT id, (SELECT n FROM unnest(nums) WITH ORDINALITY x(n, i) WHERE i = 3) FROM orders'),
  ('SELECT id, (SELECT e->>''price'' FROM jsonb_array_elements(doc->''items'') e WHERE e->>''state'' = ''open'' LIMIT 1) FROM orders'),
  ('SELECT id, (SELECT t FROM unnest(tags) t ORDER BY length(t) DESC NULLS LAST LIMIT 1), (SELECT n FROM unnest(nums) n WHERE n > 3 LIMIT 1) FROM orders'),
  ('SELECT id, (SELECT e->>''price'' FROM jsonb_array_elements(doc->''items'') e WHERE e->>''sku'' IS NULL AND e->>''price'' IS NOT NULL) FROM orders'),
  ('SELECT sum((SELECT count(*) FROM jsonb_each(doc->''attributes'') a WHERE a.key = ''b'')), sum((SELECT count(*) FROM jsonb_each_text(doc->''attributes'') a WHERE a.value LIKE ''x1%'')) FROM orders'),
  ('SELECT sum((SELECT count(*) FROM jsonb_object_keys(doc->''attributes'') k WHERE k < ''b'')) FROM orders'),
  ('SELECT id, (SELECT sum(l.qty) FROM unnest(lines) l WHERE l.sku IS NOT NULL), (SELECT count(*) FROM unnest(lines)), EXISTS (SELECT FROM unnest(lines) l WHERE l.qty > 4) FROM orders'),
  ('SELECT count(*), sum(n), sum(s) FROM orders, LATERAL (SELECT count(*) n, sum((e->>''price'')::numeric) s FROM jsonb_array_elements(doc->''items'') e WHERE e->>''state'' = ''open'') x'),
  ('SELECT id, t, l FROM orders, LATERAL (SELECT t, length(t) AS l FROM unnest(tags) t WHERE t <> '''' ORDER BY 2 DESC LIMIT 1) x'),
  ('SELECT id, t, l FROM orders LEFT JOIN LATERAL (SELECT t, length(t) AS l FROM unnest(tags) t WHERE t <> '''' ORDER BY 2 DESC LIMIT 1) x ON true'),
  ('SELECT a.id, b.id FROM orders a JOIN orders b ON a.id = b.id + 1 WHERE EXISTS (SELECT FROM unnest(a.nums) n WHERE n = b.bound)'),
  -- errors, and rows that do not ask
  ('SELECT id, (SELECT n FROM unnest(nums) n) FROM orders'),
  ('SELECT id, (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e) FROM orders'),
  ('SELECT id, CASE jsonb_typeof(doc->''mixed'') WHEN ''array'' THEN (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e) END FROM orders'),
  ('SELECT id, CASE WHEN jsonb_typeof(doc->''mixed'') = ''array'' THEN (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e) END FROM orders'),
  ('SELECT id FROM orders WHERE EXISTS (SELECT FROM unnest(nums) n WHERE 10 / n > 1)'),
  ('SELECT id, CASE WHEN customer > 10 THEN (SELECT n FROM unnest(nums) n WHERE n > 3) END FROM orders WHERE id < 5'),
  ('SELECT id, (SELECT sum(10 / n) FROM unnest(nums) n WHERE n > 0) FROM orders');
SELECT id, agree(q), q FROM questions ORDER BY id;

-- Their plan.
EXPLAIN (COSTS OFF) SELECT customer, sum((SELECT max(n) FROM unnest(nums) WITH ORDINALITY u(n, i) WHERE n > bound AND i < 3)) FROM orders GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT id, (SELECT t FROM unnest(tags) t WHERE t LIKE 't%' ORDER BY t LIMIT 1) FROM orders;
-- asked of the rows that LIMIT leaves, where a plan costs enough to be made in two forms
SET cpu_tuple_cost = 5;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
SELECT line FROM plan_of('SELECT *, (SELECT count(*) FROM unnest(tags) t WHERE t LIKE ''t%'') FROM orders ORDER BY bound DESC, id LIMIT 3') line WHERE line ~ 'Top-N|Heap';
RESET cpu_tuple_cost;

-- Below an outer join the value of a row without a match is NULL, and no count of nothing.
SET penumbra.mode = prefer;
SELECT count(*), count(w), sum(w) FROM orders a LEFT JOIN (SELECT id + 2000 AS id, (SELECT count(*) FROM unnest(tags) t WHERE t > 't2') AS w FROM orders) s ON s.id = a.id;
SELECT count(*), count(w) FROM orders a LEFT JOIN (SELECT id + 2000 AS id, EXISTS (SELECT FROM unnest(tags) t WHERE t > 't2') AS w FROM orders) s ON s.id = a.id;
RESET penumbra.mode;

-- Functions in FROM that are PostgreSQL's: what the argument of one reads is found beside the elements of the next.
SET penumbra.mode = prefer;
SELECT count(*), sum(i), min(key) FROM (SELECT ARRAY[customer, bound] AS list, jsonb_build_object('n', customer, 'items', doc->'attributes') AS made FROM orders WHERE doc IS NOT NULL) s,
  generate_subscripts(list, 1) i, jsonb_each_text(made->'items') e(key, value);
SELECT count(*), sum(i), min(key) FROM (SELECT ARRAY[customer, bound] AS list, jsonb_build_object('n', customer, 'items', doc->'attributes') AS made FROM orders WHERE doc IS NOT NULL) s,
  jsonb_each_text(made->'items') e(key, value), generate_subscripts(list, 1) i;
RESET penumbra.mode;

-- Rows that were written since, in the same transaction, too.
UPDATE orders SET tags = ARRAY['t3', 'new'], doc = '{"items": [{"price": 7.25, "state": "open"}]}' WHERE id % 97 = 0;
BEGIN;
DELETE FROM orders WHERE id % 89 = 0;
INSERT INTO orders (id, customer, tags, nums, bound) VALUES (5001, 3, '{t3x,t3y}', '{1,2,3}', 2);
SELECT agree(q) FROM questions WHERE id IN (1, 2, 3, 9, 10, 17, 23) ORDER BY id;
ROLLBACK;

DROP TABLE orders, questions;
DROP TYPE order_line;
DROP FUNCTION agree, rows_of, plan_of;
