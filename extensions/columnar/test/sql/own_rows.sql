-- Subqueries that join a row's own elements with other rows, or group them: the same with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TABLE products (sku text PRIMARY KEY, category text, price numeric) WITH (autovacuum_enabled = off);
INSERT INTO products SELECT 's' || k, CASE k % 4 WHEN 0 THEN NULL ELSE 'c' || k % 3 END, k / 8.0 FROM generate_series(1, 60) k;
CREATE TABLE baskets (shop int, id varchar(8), customer int, tags text[], nums int[], doc jsonb, PRIMARY KEY (shop, id)) WITH (autovacuum_enabled = off);
INSERT INTO baskets SELECT k % 3, 'b' || k / 3, k % 50,
  CASE k % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' ELSE ARRAY['s' || k % 7, NULL, 's' || k % 90, 's' || k % 7] END,
  CASE k % 7 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY[k % 60, k % 13, NULL, k % 3] END,
  CASE WHEN k % 6 > 0 THEN jsonb_build_object('items', jsonb_build_array(jsonb_build_object('sku', 's' || k % 20, 'n', k % 8),
    jsonb_build_object('sku', NULL, 'n', 2), jsonb_build_object('sku', 's' || k % 5, 'n', 1), jsonb_build_object('sku', 's' || k % 20)),
    'mixed', CASE WHEN k % 4 > 0 THEN '[{"sku": "s1"}]'::jsonb ELSE '{"k": 1}' END) END
FROM generate_series(1, 4000) k;
-- no key; one that may be broken for a while; one that children do not share
CREATE TABLE keyless (LIKE baskets);
CREATE TABLE late (LIKE baskets, PRIMARY KEY (shop, id) DEFERRABLE);
CREATE TABLE parent (LIKE baskets, PRIMARY KEY (shop, id));
CREATE TABLE child () INHERITS (parent);
INSERT INTO keyless SELECT * FROM baskets WHERE customer < 9;
INSERT INTO late SELECT * FROM keyless;
INSERT INTO parent SELECT * FROM keyless;
INSERT INTO child SELECT * FROM keyless;
VACUUM ANALYZE;
SELECT penumbra.load('products') + penumbra.load('baskets', ARRAY['shop', 'id', 'customer', 'unnest(tags)', 'unnest(nums)', $$jsonb_array_elements(doc->'items')->>'sku'$$, $$jsonb_array_elements(doc->'items')->>'n'$$,
  $$jsonb_array_elements(doc->'mixed')->>'sku'$$]) > 0 AS loaded;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT shop, id, (SELECT sum(p.price * (e->>''n'')::int) FROM jsonb_array_elements(doc->''items'') e JOIN products p ON p.sku = e->>''sku'') FROM baskets'),
  ('SELECT customer, sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t WHERE p.category = ''c1'')) FROM baskets GROUP BY 1'),
  ('SELECT (SELECT max(p.price) FROM unnest(tags) t JOIN products p ON p.sku = t) AS dearest, count(*) FROM baskets GROUP BY 1'),
  ('SELECT shop, id, ARRAY(SELECT p.category FROM unnest(tags) WITH ORDINALITY u(t, i) JOIN products p ON p.sku = t ORDER BY i) FROM baskets ORDER BY 1, 2'),
  ('SELECT shop, id, (SELECT string_agg(p.category, '','' ORDER BY p.category, p.sku) FROM products p JOIN unnest(tags) t ON t = p.sku), (SELECT count(DISTINCT p.category) FROM products p, unnest(tags) t WHERE t = p.sku AND p.price > b.customer / 9.0) FROM baskets b ORDER BY 1, 2'),
  ('SELECT shop, id FROM baskets WHERE EXISTS (SELECT FROM jsonb_array_elements(doc->''items'') e JOIN products p ON p.sku = e->>''sku'' WHERE p.category = ''c2'')'),
  ('SELECT shop, id, (SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t AND p.price > customer / 9.0 JOIN products q ON q.price = p.price AND customer > 7) FROM baskets'),
  ('SELECT shop, id FROM baskets WHERE NOT EXISTS (SELECT FROM unnest(tags) t JOIN products p ON p.sku = t WHERE p.price < customer)'),
  ('SELECT shop, id FROM baskets b WHERE ''c1'' IN (SELECT p.category FROM unnest(b.tags) t JOIN products p ON p.sku = t)'),
  ('SELECT shop, id FROM baskets b WHERE EXISTS (SELECT FROM unnest(b.nums) n, unnest(b.tags) t WHERE t = ''s'' || n)'),
  ('SELECT shop, id, (SELECT max(n) FROM (SELECT e->>''sku'' AS k, sum((e->>''n'')::int) AS n FROM jsonb_array_elements(doc->''items'') e GROUP BY 1) g) FROM baskets'),
  ('SELECT shop, id, (SELECT string_agg(k || '':'' || n, '','' ORDER BY k) FROM (SELECT t AS k, count(*) AS n FROM unnest(tags) t GROUP BY 1 HAVING count(*) > 1) g) FROM baskets ORDER BY 1, 2'),
  ('SELECT shop, id, (SELECT t FROM unnest(tags) t GROUP BY t ORDER BY count(*) DESC, t LIMIT 1) FROM baskets ORDER BY 1, 2'),
  ('SELECT shop, id, (SELECT p.sku FROM unnest(tags) t JOIN products p ON p.sku = t ORDER BY p.price DESC LIMIT 1) FROM baskets ORDER BY 1, 2'),
  ('SELECT shop, id, k, n FROM baskets, LATERAL (SELECT e->>''sku'' AS k, count(*) AS n FROM jsonb_array_elements(doc->''items'') e GROUP BY 1) g WHERE n > 1'),
  ('SELECT shop, id, k, n FROM baskets LEFT JOIN LATERAL (SELECT t AS k, count(*) AS n FROM unnest(tags) t JOIN products p ON p.sku = t GROUP BY 1) g ON true'),
  ('SELECT a.id, b.id FROM baskets a JOIN baskets b ON a.shop = 1 AND b.shop = 2 AND a.id = b.id WHERE EXISTS (SELECT FROM unnest(a.tags) t JOIN unnest(b.tags) u ON t = u)'),
  ('SELECT a.shop, a.id, (SELECT count(*) FROM unnest(a.nums) n JOIN baskets b ON b.shop = 0 AND b.id = ''b'' || n AND b.customer > a.customer) FROM baskets a'),
  ('SELECT shop, count(*), count(m) FROM (SELECT shop, (SELECT max(p.price) FROM unnest(tags) t JOIN products p ON p.sku = t) AS m FROM baskets) s GROUP BY 1'),
  -- subqueries in FROM that are parts of their level
  ('SELECT shop, id, k, n FROM baskets, LATERAL (SELECT k, count(*) AS n FROM (SELECT n % 3 AS k FROM unnest(nums) n WHERE n <> customer) u GROUP BY k) x WHERE n > 1'),
  ('SELECT shop, id, (SELECT sum(price) FROM (SELECT t AS sku FROM unnest(tags) t WHERE t IS NOT NULL) u JOIN products p USING (sku)) FROM baskets'),
  ('SELECT shop, id, (SELECT max(price) FROM (SELECT price, category FROM unnest(tags) t, products p WHERE p.sku = t AND p.price < customer) u WHERE category <> ''c1'') FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM (SELECT t FROM (SELECT t FROM unnest(tags) t OFFSET 0) v) u JOIN products p ON p.sku = t) FROM baskets'),
  -- errors, and rows that do not ask
  ('SELECT shop, id, (SELECT p.price FROM unnest(tags) t JOIN products p ON p.sku = t) FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e JOIN products p ON p.sku = e->>''sku'') FROM baskets'),
  ('SELECT shop, id, CASE jsonb_typeof(doc->''mixed'') WHEN ''array'' THEN (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e JOIN products p ON p.sku = e->>''sku'') END FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM jsonb_array_elements(doc->''mixed'') e JOIN products p ON p.sku = e->>''sku'') FROM baskets WHERE jsonb_typeof(doc->''mixed'') = ''array'''),
  ('SELECT shop, id, (SELECT sum(10 / n) FROM unnest(nums) n JOIN products p ON p.sku = ''s'' || n WHERE n > 0) FROM baskets');
SELECT id, agree(q), q FROM questions ORDER BY id;

-- What stays with PostgreSQL, for its rows or for the whole query.
CREATE TABLE others (q text, id serial);
INSERT INTO others (q) VALUES
  -- where an outer join makes what its part reads of the row NULL
  ('SELECT shop, id, (SELECT count(c) FROM products p LEFT JOIN (SELECT t, customer AS c FROM unnest(tags) t) u ON u.t = p.sku) FROM baskets WHERE customer < 3'),
  -- where the row may not be there, or is one of a group
  ('SELECT s.k, (SELECT count(*) FROM unnest(coalesce(b.nums, ''{1}'')) n JOIN products p ON p.sku = ''s'' || n) FROM generate_series(1, 99) s(k) LEFT JOIN baskets b ON b.shop = 0 AND b.id = ''b'' || s.k * 20'),
  ('SELECT tags, (SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t) FROM baskets GROUP BY tags'),
  ('SELECT shop, id, (SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t) FROM baskets GROUP BY shop, id'),
  ('SELECT shop, sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t)) FROM baskets GROUP BY ROLLUP (shop)'),
  ('SELECT shop, (SELECT count(*) FROM unnest(array_agg(b.nums[1])) n JOIN products p ON p.sku = ''s'' || n) FROM baskets b GROUP BY shop'),
  ('SELECT tags, (SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t WHERE p.price < max(customer)) FROM baskets GROUP BY tags'),
  ('SELECT shop, id, ARRAY(SELECT p.category FROM unnest(tags) WITH ORDINALITY u(t, i) LEFT JOIN products p ON p.sku = t ORDER BY i) FROM baskets ORDER BY 1, 2'),
  ('SELECT shop, id, (SELECT count(*) FILTER (WHERE b IS NOT NULL AND t > ''s3'') FROM unnest(b.tags) t JOIN products p ON p.sku = t) FROM baskets b'),
  ('SELECT shop, id, (SELECT count(p.sku) || ''/'' || count(*) FROM unnest(tags) t LEFT JOIN products p ON p.sku = t AND p.price > customer / 9.0) FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM unnest(tags) t LEFT JOIN (products p JOIN products q ON p.price = q.price AND p.price > customer / 9.0) ON p.sku = t) FROM baskets'),
  ('SELECT shop, id, (WITH w AS (SELECT customer % 5 AS r) SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t, w WHERE r > 2) FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM unnest(tags) t FULL JOIN products p ON p.sku = t) FROM baskets'),
  ('SELECT shop, id, (SELECT count(*) FROM (SELECT t FROM unnest(tags) t UNION SELECT sku FROM products) u) FROM baskets'),
  -- tables without such a key
  ('SELECT shop, id, (SELECT sum(p.price) FROM unnest(tags) t JOIN products p ON p.sku = t) FROM keyless'),
  ('SELECT shop, id, (SELECT sum(p.price) FROM unnest(tags) t JOIN products p ON p.sku = t) FROM late'),
  ('SELECT shop, id, (SELECT sum(p.price) FROM unnest(tags) t JOIN products p ON p.sku = t) FROM parent'),
  ('SELECT shop, id, (SELECT jsonb_object_agg(t, 1) FROM unnest(tags) t JOIN products p ON p.sku = t GROUP BY shop) FROM baskets WHERE customer = 3');
SELECT id, agree(q, 'prefer'), q FROM others ORDER BY id;

-- Their plan.
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT shop, id, t, n FROM baskets, LATERAL (SELECT t, count(*) AS n FROM unnest(tags) t GROUP BY 1) g;
RESET penumbra.mode;

-- A policy's table is not read again; who may read the columns of the elements alone may ask.
CREATE ROLE own_rows_reader;
GRANT SELECT (tags) ON baskets TO own_rows_reader;
GRANT SELECT ON products TO own_rows_reader;
SET ROLE own_rows_reader;
SET penumbra.mode = prefer;
SELECT sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t)) FROM baskets;
SELECT sum((SELECT count(*) FROM unnest(nums) n JOIN products p ON p.sku = 's' || n)) FROM baskets;
RESET ROLE;
ALTER TABLE baskets ENABLE ROW LEVEL SECURITY;
CREATE POLICY others ON baskets USING (tags[1] <> 's3');
SET ROLE own_rows_reader;
SELECT sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t)) FROM baskets;
RESET ROLE;
RESET penumbra.mode;
ALTER TABLE baskets DISABLE ROW LEVEL SECURITY;

-- A plan that is kept ends with the key.
SET penumbra.mode = prefer;
PREPARE sums AS SELECT sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t)) FROM baskets;
EXECUTE sums;
ALTER TABLE baskets DROP CONSTRAINT baskets_pkey;
INSERT INTO baskets SELECT * FROM baskets WHERE shop = 1 AND customer = 4;
EXECUTE sums;
SET penumbra.mode = off;
SELECT sum((SELECT count(*) FROM unnest(tags) t JOIN products p ON p.sku = t)) FROM baskets;
RESET penumbra.mode;
DEALLOCATE sums;

DROP TABLE questions, others, baskets, products, keyless, late, child, parent;
DROP ROLE own_rows_reader;
DROP FUNCTION agree, rows_of;
