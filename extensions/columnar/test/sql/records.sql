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
-- PostgreSQL's: rows that are not asked for, types that are not cached, values to begin with, whole rows, types that lost an attribute.
SELECT count(sku) FROM strange, jsonb_to_recordset(doc->'items') AS t(sku text) WHERE id < 70;
SELECT count(*), count(d) FROM orders, jsonb_to_recordset(doc->'items') AS t(d json);
SELECT count(*), sum(x.n) FROM orders, jsonb_populate_recordset(ROW('a', 1, 2, true, '{}')::item, doc->'items') x;
SELECT count(*), sum(x.n) FROM orders, jsonb_populate_recordset(NULL::guarded, doc->'items') x;
SELECT id, x FROM orders, jsonb_populate_recordset(NULL::item, doc->'items') x WHERE id = 7;
ALTER TYPE item DROP ATTRIBUTE p;
SELECT count(*), sum(x.n), count(x.ok) FROM orders, jsonb_populate_recordset(NULL::item, doc->'items') x;
RESET penumbra.mode;

-- Columns of all kinds of types: what depends on settings or the catalog is computed of texts, and domains are checked.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE place AS (city text, at numeric(6,2)[], zip char(5));
CREATE DOMAIN present AS text NOT NULL;
CREATE DOMAIN short AS text[] CHECK (cardinality(VALUE) < 5);
CREATE DOMAIN past AS date CHECK (VALUE < '2030-01-01');
CREATE DOMAIN anything AS int;
CREATE DOMAIN free AS int;
CREATE TYPE visit AS (day date, how mood, spot place, n positive, tags text[]);
CREATE TABLE visits (id int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO visits SELECT k, jsonb_build_object('list', (SELECT jsonb_agg(CASE j % 5 WHEN 4 THEN '{"n": 1, "word": "w"}' ELSE jsonb_build_object('day', '2024-01-0' || 1 + j % 9, 'at', '0' || j % 9 || ':3' || k % 2,
  'stamp', '2024-02-1' || j % 9 || ' 1' || j % 9 || ':00', 'zoned', '2024-02-1' || j % 9 || ' 10:00+0' || j % 3, 'how', (ARRAY['sad', 'ok', 'happy'])[1 + j % 3], 'n', j, 'word', 'w' || j % 3, 'uu', md5((j % 3)::text), 'bytes', '\x0' || j % 8,
  'took', j % 4 || ' h', 'tags', CASE j % 4 WHEN 0 THEN '["a", null, "b c"]' WHEN 1 THEN '"{x,\"y z\"}"' WHEN 2 THEN '[]' ELSE to_jsonb(ARRAY['t' || j % 2]) END, 'ints', CASE j % 3 WHEN 0 THEN '[[1, 2], [3, "4"]]' WHEN 1 THEN 'null' ELSE '[7]' END::jsonb,
  'spot', CASE j % 4 WHEN 0 THEN 'null' WHEN 1 THEN '"(Rome,{1.5},123)"' ELSE jsonb_build_object('city', 'c' || j % 2, 'at', jsonb_build_array(j, 1.005), 'zip', j) END,
  'spots', jsonb_build_array(jsonb_build_object('city', 'c' || j % 3), null), 'addr', '10.0.0.' || j % 4, 'bits', (ARRAY['101', '011'])[1 + j % 2], 'money', '$' || j % 3, 'r', '[1,' || 2 + j % 3 || ')') END) FROM generate_series(k, k + k % 4) j))
FROM generate_series(1, 1500) k;
INSERT INTO visits VALUES (0, NULL), (-1, '{}'), (-2, '{"list": []}');
VACUUM ANALYZE visits;
SELECT penumbra.load('visits');
INSERT INTO questions (id, q) SELECT 100 + n, q FROM unnest(ARRAY[
  'SELECT day, how, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(day date, how mood) GROUP BY 1, 2',
  'SELECT id, at, stamp, zoned FROM visits, jsonb_to_recordset(doc->''list'') AS t(at time, stamp timestamp, zoned timestamptz) WHERE at > ''04:00''',
  'SELECT stamp, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(stamp timestamp(0), at time(1)) GROUP BY 1',
  'SELECT uu, bytes, count(*), max(took) FROM visits, jsonb_to_recordset(doc->''list'') AS t(uu uuid, bytes bytea, took interval) GROUP BY 1, 2',
  'SELECT tags, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(tags text[]) GROUP BY 1',
  'SELECT cardinality(tags), tags[1], ints[2][1], count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(tags text[], ints int[]) GROUP BY 1, 2, 3',
  'SELECT id, tags, ints FROM visits, jsonb_to_recordset(doc->''list'') AS t(tags text[], ints int[]) WHERE id < 50',
  'SELECT spot, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(spot place) GROUP BY 1',
  'SELECT (spot).city, (spot).zip, (spot).at[1], count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(spot place) GROUP BY 1, 2, 3',
  'SELECT spots, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(spots place[]) GROUP BY 1',
  'SELECT n, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(n positive, word present) GROUP BY 1',
  'SELECT count(*), sum(n) FROM visits, jsonb_to_recordset(doc->''list'') AS t(n anything, day past)',
  'SELECT word, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(word present) WHERE id % 2 = 0 GROUP BY 1',
  'SELECT tags, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(tags short) GROUP BY 1',
  'SELECT addr, bits, r, money, count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(addr inet, bits bit(3), r int4range, money money) GROUP BY 1, 2, 3, 4',
  'SELECT count(*) FROM visits, jsonb_to_recordset(doc->''list'') AS t(word char(4), zoned timestamptz) WHERE word = ''w1''',
  'SELECT day, how, count(*), sum(n) FROM visits, jsonb_populate_recordset(NULL::visit, doc->''list'') GROUP BY 1, 2',
  'SELECT id, x.uu, x.at, x.spot FROM visits, jsonb_to_record(doc->''list''->0) AS x(uu uuid, at time, spot place) WHERE id < 120',
  'SELECT id, day FROM visits LEFT JOIN LATERAL jsonb_to_recordset(doc->''list'') AS t(day date, how mood) ON true',
  'SELECT day, count(*) FROM visits, jsonb_to_record(doc->''list''->1) AS t(day date, at time) GROUP BY 1'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions WHERE id > 100 ORDER BY id) s;
-- of a row without a document no domain is checked
SET penumbra.mode = prefer;
SELECT id, x.day, x.tags FROM visits, jsonb_populate_record(NULL::visit, doc->'list'->0) x WHERE id > 100 AND id < 104 OR id < 0;
RESET penumbra.mode;
-- errors of columns that no query reads, and only of rows that are asked for
UPDATE visits SET doc = '{"list": [{"n": 0, "word": null, "day": "2040-01-01", "how": "glad", "tags": 5, "at": "no time"}]}' WHERE id = 700;
SET penumbra.mode = prefer;
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(n positive);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(n positive) WHERE id < 700;
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(word present);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(day past);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(day date);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood) WHERE id <> 700;
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(tags text[]);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(at time);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(tags short);
DELETE FROM visits WHERE id = 700;
-- a constraint, a label and a name that come later; settings
ALTER DOMAIN anything ADD CHECK (VALUE < 1500);
SELECT count(*), sum(n) FROM visits, jsonb_to_recordset(doc->'list') AS t(n anything);
SELECT count(*), sum(n) FROM visits, jsonb_to_recordset(doc->'list') AS t(n anything) WHERE id < 1400;
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT how, count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood) GROUP BY 1 ORDER BY 1;
ALTER TYPE mood RENAME VALUE 'fine' TO 'ok';
ALTER TYPE place RENAME ATTRIBUTE city TO town;
SELECT (spot).town, count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(spot place) GROUP BY 1 ORDER BY 1;
-- a plan that is kept
SET plan_cache_mode = force_generic_plan;
PREPARE days AS SELECT tags[1], count(*) FROM visits, jsonb_populate_recordset(NULL::visit, doc->'list') GROUP BY 1 ORDER BY 1;
EXECUTE days;
ALTER TYPE visit RENAME ATTRIBUTE tags TO other_tags;
EXECUTE days;
ALTER TYPE visit RENAME ATTRIBUTE other_tags TO tags;
EXECUTE days;
PREPARE numbers AS SELECT sum(n) FROM visits, jsonb_to_recordset(doc->'list') AS t(n free);
EXECUTE numbers;
ALTER DOMAIN free ADD CHECK (VALUE < 1500);
EXECUTE numbers;
RESET plan_cache_mode;
SET DateStyle = 'SQL, DMY';
SELECT min(stamp), max(day) FROM visits, jsonb_to_recordset(doc->'list') AS t(stamp timestamp, day date);
RESET DateStyle;
RESET penumbra.mode;
DROP TABLE orders, strange, wrong, visits, questions;
DROP FUNCTION items, agree, rows_of;
DROP TYPE item, guarded, visit, place, mood;
DROP DOMAIN positive, present, short, past, anything, free;
