-- Documents as records: the same rows and errors with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE item AS (sku text, n int, p numeric(8,1), ok bool, extra jsonb);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE guarded AS (sku text, n positive);
CREATE FUNCTION items(k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT coalesce(jsonb_agg(CASE (j * k) % 11 WHEN 0 THEN '{}' WHEN 1 THEN '{"sku": null, "n": null, "p": null, "extra": null}'
  ELSE jsonb_build_object('sku', CASE (j + k) % 9 WHEN 0 THEN to_jsonb(j * k) WHEN 1 THEN '[1, 2.0]' WHEN 2 THEN 'true' ELSE to_jsonb('s' || (k * j) % 20) END,
    'n', CASE k % 3 WHEN 0 THEN to_jsonb(j) ELSE to_jsonb(j::text) END, 'p', (k * j % 100)::numeric / 100, 'ok', CASE j % 3 WHEN 0 THEN '"yes"' ELSE to_jsonb(j % 2 = 0) END,
    'extra', CASE j % 4 WHEN 0 THEN '{"a": 1.0}' WHEN 1 THEN '[1]' WHEN 2 THEN '"t"' ELSE 'null' END::jsonb, 'q"uote', k) END), '[]')
FROM generate_series(1, k % 5) j $$;
CREATE TABLE orders (id int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO orders SELECT k, CASE WHEN k % 97 = 0 THEN NULL WHEN k % 89 = 0 THEN '{}'
  ELSE jsonb_build_object('kind', 'k' || k % 7, 'name', CASE k % 5 WHEN 0 THEN NULL ELSE 'name ' || k % 31 END, 'total', (k % 1000)::numeric / 8, 'items', items(k)) END
FROM generate_series(1, 2000) k;
-- an element that is no object, and a text that is no number
CREATE TABLE strange (id int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO strange SELECT id, CASE id WHEN 77 THEN '{"items": [{"sku": 1}, 5]}' WHEN 78 THEN '{"items": {}}' ELSE doc END FROM orders WHERE id < 500;
CREATE TABLE wrong (id int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO wrong SELECT id, CASE id WHEN 77 THEN '{"items": [{"n": "x1"}], "kind": 5}' ELSE doc END FROM orders WHERE id < 500;
VACUUM ANALYZE orders, strange, wrong;
SELECT penumbra.load('orders'), penumbra.load('strange'), penumbra.load('wrong');

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT t.sku, count(*), sum(t.n), sum(t.p) FROM orders, jsonb_to_recordset(doc->''items'') AS t(sku text, n int, p numeric, ok bool) GROUP BY 1'),
  ('SELECT id, t.* FROM orders, jsonb_to_recordset(doc->''items'') AS t(sku text, n bigint, p float8, ok bool, extra jsonb, nothing text, "q""uote" smallint)'),
  ('SELECT id, sku, n FROM orders, jsonb_to_recordset(doc->''items'') AS t(sku text, n int) WHERE n > 2 AND sku LIKE ''s%'''),
  ('SELECT count(*) FROM orders, jsonb_to_recordset(doc->''items'') AS t(sku text, n int)'),
  ('SELECT id, n FROM orders LEFT JOIN LATERAL jsonb_to_recordset(doc->''items'') AS t(n int, sku text) ON true'),
  ('SELECT t.extra->>''a'', jsonb_typeof(t.extra), count(*) FROM orders, jsonb_to_recordset(doc->''items'') AS t(extra jsonb) GROUP BY 1, 2'),
  ('SELECT extra, count(*) FROM orders, jsonb_to_recordset(doc->''items'') AS t(extra jsonb) GROUP BY 1'),
  ('SELECT count(*) FROM orders, jsonb_to_recordset(doc->''items'') AS t(extra jsonb) WHERE extra IS NULL'),
  ('SELECT sku, p, count(*) FROM orders, jsonb_to_recordset(doc->''items'') AS t(sku varchar(12), p numeric(6,1)) GROUP BY 1, 2'),
  ('SELECT kind, count(*), sum(total), count(name) FROM orders, jsonb_to_record(doc) AS t(kind text, name varchar, total numeric(10,2)) GROUP BY 1'),
  ('SELECT id, t.* FROM orders, jsonb_to_record(doc) AS t(kind text, name text, total numeric, items jsonb) WHERE kind IS NULL OR id < 300'),
  ('SELECT count(*) FROM orders, jsonb_to_record(doc) AS t(kind text)'),
  ('SELECT sku, sum(n), count(ok), count(DISTINCT extra) FROM orders, jsonb_populate_recordset(NULL::item, doc->''items'') GROUP BY 1'),
  ('SELECT id, x.sku, x.n, x.p FROM orders, jsonb_populate_record(NULL::item, doc->''items''->0) x'),
  ('SELECT kind, n, count(*) FROM orders, jsonb_to_record(doc) AS t(kind text), jsonb_to_recordset(doc->''items'') AS u(n int) GROUP BY 1, 2'),
  ('SELECT a.id, t.n, b.id FROM orders a, jsonb_to_recordset(a.doc->''items'') AS t(n int), orders b WHERE b.id = t.n AND a.id < 200'),
  ('SELECT id, sku FROM wrong, jsonb_to_recordset(doc->''items'') AS t(sku text)');
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- as tables that are loaded
SELECT penumbra.load('orders', ARRAY[e || ' ->> ''sku''', '(' || e || ' ->> ''n'')::int', '(' || e || ' ->> ''p'')::numeric', '(' || e || ' ->> ''ok'')::bool',
  o || ' ->> ''kind''', '(' || o || ' ->> ''total'')::numeric']) > 0 AS loaded
FROM (VALUES ('jsonb_path_query(doc->''items'', ''strict $[*]'')', 'jsonb_path_query(doc, ''strict $'')')) AS lists(e, o);
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT t.sku, count(*), sum(t.n) FROM orders, jsonb_to_recordset(doc->'items') AS t(sku text, n int) GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT kind, count(*) FROM orders, jsonb_to_record(doc) AS t(kind text, total numeric) GROUP BY 1;
RESET penumbra.mode;
SELECT count(*) FROM questions WHERE agree(q) !~ '^\d+ rows$';

-- PostgreSQL makes whole records: errors are those of columns that are not read, too.
SET penumbra.mode = prefer;
SELECT id, sku FROM strange, jsonb_to_recordset(doc->'items') AS t(sku text);
SELECT id, sku FROM strange, jsonb_to_recordset(doc->'items') AS t(sku text) WHERE id > 77;
SELECT id, sku FROM wrong, jsonb_to_recordset(doc->'items') AS t(sku text, n int) WHERE id > 70;
SELECT count(sku) FROM orders, jsonb_to_recordset(doc->'items') AS t(sku varchar(2));
SELECT kind FROM orders, jsonb_to_record(doc->'kind') AS t(kind text);
SELECT count(*) FROM orders, jsonb_populate_recordset(NULL::guarded, '[{"n": 1}, {"n": 0}]');
-- PostgreSQL's: rows that are not asked for, other types, values to begin with, domains, whole rows, types that lost an attribute.
SELECT count(sku) FROM strange, jsonb_to_recordset(doc->'items') AS t(sku text) WHERE id < 70;
SELECT count(*), count(d) FROM orders, jsonb_to_recordset(doc->'items') AS t(d date);
SELECT count(*), sum(x.n) FROM orders, jsonb_populate_recordset(ROW('a', 1, 2, true, '{}')::item, doc->'items') x;
SELECT count(*), sum(x.n) FROM orders, jsonb_populate_recordset(NULL::guarded, doc->'items') x;
SELECT id, x FROM orders, jsonb_populate_recordset(NULL::item, doc->'items') x WHERE id = 7;
ALTER TYPE item DROP ATTRIBUTE p;
SELECT count(*), sum(x.n), count(x.ok) FROM orders, jsonb_populate_recordset(NULL::item, doc->'items') x;
RESET penumbra.mode;
DROP TABLE orders, strange, wrong, questions;
DROP FUNCTION items, agree, rows_of;
DROP TYPE item, guarded;
DROP DOMAIN positive;
