-- Whole documents, arrays and ranges as keys: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE span AS RANGE (subtype = numeric);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad');
CREATE FUNCTION value(k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 24
  WHEN 0 THEN NULL WHEN 1 THEN '[]' WHEN 2 THEN '{}' WHEN 3 THEN 'null' WHEN 4 THEN '""' WHEN 5 THEN '[null]'
  WHEN 6 THEN '{"b": [1, {"a": "x", "long key": -0.5}], "a": {}}' WHEN 7 THEN '1e20' WHEN 8 THEN '-12345.678901'
  WHEN 9 THEN '["a", ["b"], []]' WHEN 10 THEN 'true' WHEN 11 THEN '{"a": false}' WHEN 12 THEN '[[[[]]]]'
  WHEN 13 THEN '" "' WHEN 14 THEN '{"é": "ü"}' WHEN 15 THEN '0' WHEN 16 THEN '-7' WHEN 17 THEN '1e-30'
  ELSE jsonb_build_object('n', k % 7, 's', 's' || k % 3) END::jsonb $$;
CREATE FUNCTION numbers(k int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 11 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL,3}' WHEN 3 THEN '{{1,2},{3,4}}'
  WHEN 4 THEN '[0:1]={7,8}' WHEN 5 THEN '{7,8}' WHEN 6 THEN '{{1},{2},{3},{4}}' WHEN 7 THEN '{-2147483648,2147483647}'
  ELSE ARRAY[k % 5 - 2, k % 7] END::int[] $$;
CREATE TABLE things (id int, doc jsonb, wrapped jsonb, ints int[], words text[], reals float8[], moments timestamptz[],
  uuids uuid[], bits bytea[], moods mood[], prices numeric[], cents numeric(10,2)[], spans span, nums numrange, many nummultirange,
  days daterange[], flags bool[], small "char"[]) WITH (autovacuum_enabled = off);
INSERT INTO things SELECT k, value(k), jsonb_build_object('v', value(k)), numbers(k),
  CASE k % 6 WHEN 0 THEN ARRAY['a', NULL] WHEN 1 THEN ARRAY['a'] WHEN 2 THEN ARRAY['a', 'b'] WHEN 3 THEN ARRAY['ab'] WHEN 4 THEN ARRAY['', 'é'] END,
  CASE k % 5 WHEN 0 THEN '{NaN,-Infinity}' WHEN 1 THEN '{0,Infinity}' WHEN 2 THEN '{-1.5}' WHEN 3 THEN '{1e300,-1e-300}' END::float8[],
  ARRAY['epoch'::timestamptz + (k % 9 - 4) * interval '1 year', 'infinity'],
  ARRAY[md5((k % 5)::text)::uuid], CASE k % 4 WHEN 0 THEN ARRAY['\x00'::bytea] WHEN 1 THEN ARRAY['\x0000'::bytea] WHEN 2 THEN ARRAY['\x'::bytea, '\x00ff'] ELSE ARRAY['\x00ff'::bytea] END,
  ARRAY['sad', CASE k % 3 WHEN 0 THEN 'ok' ELSE 'glad' END]::mood[],
  CASE k % 7 WHEN 0 THEN '{1,2.5}' WHEN 1 THEN '{-1e40,NaN}' WHEN 2 THEN '{Infinity,-Infinity}' WHEN 3 THEN '{0}' WHEN 4 THEN '{99999999.9999,1}' END::numeric[],
  ARRAY[k % 3, 0.5, k % 2, 10], span(k % 4, k % 4 + 1.5), CASE k % 5 WHEN 0 THEN 'empty' WHEN 1 THEN '(,5]' WHEN 2 THEN '[1.25,)' WHEN 3 THEN '(,)' ELSE '(-3,4)' END::numrange,
  nummultirange(numrange(k % 3, 7), numrange(10, 11 + k % 2)), ARRAY[daterange('2024-01-01', '2024-01-02'::date + k % 3)], ARRAY[k % 2 = 0, NULL],
  ARRAY[(chr(65 + k % 3))::"char"]
FROM generate_series(1, 4000) k;
CREATE TABLE others WITH (autovacuum_enabled = off) AS SELECT id, doc, ints, words, prices, nums, spans FROM things WHERE id % 3 = 0 AND id < 400;
VACUUM ANALYZE things, others;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q)
SELECT replace(q, '$', c) FROM (VALUES
  ('SELECT $, count(*), sum(id) FROM things GROUP BY 1'),
  ('SELECT DISTINCT $ FROM things'),
  ('SELECT id % 3, count(DISTINCT $), count($) FROM things GROUP BY 1'),
  ('SELECT count($), count($) FILTER (WHERE id % 3 = 1) FROM things'),
  ('SELECT $, id FROM things ORDER BY $ DESC, id LIMIT 50'),
  ('SELECT id, $ FROM things ORDER BY $ NULLS FIRST, id')) t (q),
  unnest(ARRAY['doc', 'wrapped->''v''', 'wrapped', 'ints', 'words', 'reals', 'moments', 'uuids', 'bits', 'moods', 'prices', 'spans', 'nums', 'many', 'days', 'flags', 'small']) WITH ORDINALITY c (c, o)
WHERE NOT (c = 'moods' AND q LIKE '%ORDER BY%') ORDER BY o, q;
INSERT INTO questions (q) VALUES
  ('SELECT cents, count(*) FROM things GROUP BY 1'),
  ('SELECT max(ints), min(ints), max(words), min(words) FROM things WHERE id % 11 <> 0'),
  ('SELECT count(*), sum(t.id) FROM things t JOIN others o ON t.doc = o.doc'),
  ('SELECT count(*), sum(t.id) FROM things t JOIN others o ON t.wrapped->''v'' = o.doc AND t.ints = o.ints'),
  ('SELECT count(*) FROM things t WHERE EXISTS (SELECT FROM others o WHERE o.words = t.words)'),
  ('SELECT count(*) FROM things t WHERE NOT EXISTS (SELECT FROM others o WHERE o.prices = t.prices)'),
  ('SELECT t.id, o.id FROM things t LEFT JOIN others o ON o.nums = t.nums AND o.id = t.id WHERE t.id < 200'),
  ('SELECT o.spans, count(*) FROM things t JOIN others o USING (spans) GROUP BY 1'),
  ('SELECT doc, wrapped->''v''->>''s'', count(*) FROM things GROUP BY 1, 2'),
  ('SELECT wrapped->''v'', count(*) FROM things WHERE wrapped->''v''->>''s'' = ''s1'' GROUP BY 1'),
  ('SELECT wrapped->''v'', count(*), max(wrapped->''v''->>''n'') FROM things GROUP BY 1 HAVING count(*) > 100'),
  ('SELECT ints, cardinality(ints), count(*) FROM things GROUP BY 1, 2'),
  ('SELECT ints, rank() OVER (PARTITION BY words ORDER BY ints, id) FROM things WHERE id < 500'),
  ('SELECT id, ints FROM things WHERE 7 = ANY (ints) ORDER BY ints, id'),
  ('SELECT count(*) FROM things WHERE ints = ''{7,8}'' OR words > ''{a}'''),
  ('SELECT count(*) FROM (SELECT doc, ints, count(*) FROM things GROUP BY GROUPING SETS ((doc), (ints), ())) s'),
  ('SELECT t.ints, count(*) FROM things t JOIN others o ON t.id = o.id + 1 WHERE t.ints < o.ints GROUP BY 1');
SELECT penumbra.load('things'), penumbra.load('others');
SELECT penumbra.load('things', ARRAY['doc', 'wrapped', 'wrapped->''v''', 'ints', 'words', 'reals', 'moments', 'uuids', 'bits', 'moods', 'prices',
  'cents', 'spans', 'nums', 'many', 'days', 'flags', 'small', 'wrapped->''v''->>''s''', 'wrapped->''v''->>''n''', 'cardinality(ints)', '7 = ANY (ints)',
  'ints = ''{7,8}''']) > 0 AS loaded;
SELECT penumbra.load('others', ARRAY['doc', 'ints', 'words', 'prices', 'nums', 'spans']) > 0 AS loaded;
SELECT count(*) FROM questions;
SELECT q, answer FROM (SELECT q, agree(q) AS answer FROM questions ORDER BY id) s WHERE answer !~ '^\d+ rows$' OR answer = '0 rows';
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT wrapped->'v', count(DISTINCT ints) FROM things GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM things t JOIN others o ON t.words = o.words;
RESET penumbra.mode;
DROP TABLE questions, others;

-- Numbers that are equal and written differently are one value.
CREATE TABLE forms (id int, doc jsonb, list numeric[], reals float8[], span numrange) WITH (autovacuum_enabled = off);
INSERT INTO forms SELECT k, jsonb_build_object('p', (ARRAY['1', '1.0', '1.00', '2.50', '2.5', '0', '0.000', '-3.10'])[1 + k % 8]::numeric),
  ARRAY[(ARRAY[1, 1.0, 2.00])[1 + k % 3], 3.5], CASE k % 2 WHEN 0 THEN '{0,1}' ELSE '{-0,1}' END::float8[], numrange(1.0, (ARRAY[5, 5.0, 6])[1 + k % 3])
FROM generate_series(1, 1000) k;
VACUUM ANALYZE forms;
SELECT penumbra.load('forms'), penumbra.load('forms', ARRAY['doc', 'doc->''p''', 'list', 'reals', 'span']);
SELECT agree('SELECT (doc->''p'')::text::numeric + 0.000, n FROM (SELECT doc->''p'' AS p, count(*) AS n FROM forms GROUP BY 1) s, LATERAL (SELECT jsonb_build_object(''p'', p) AS doc) d') LIKE '% rows' AS same_groups;
SELECT agree('SELECT count(*) FROM (SELECT doc FROM forms GROUP BY 1) s');
SELECT agree('SELECT count(DISTINCT list), count(DISTINCT reals), count(DISTINCT span), count(DISTINCT doc->''p'') FROM forms');
SELECT agree('SELECT id, doc->''p'', list, reals, span FROM forms ORDER BY doc->''p'', list, reals, span, id');
SELECT agree('SELECT count(*) FROM forms a JOIN forms b ON a.list = b.list AND a.doc->''p'' = b.doc->''p''');
-- Any number of them, in documents short and long: all come back as they are written.
CREATE TABLE scales (id int, doc jsonb, list numeric[], spans nummultirange) WITH (autovacuum_enabled = off);
INSERT INTO scales SELECT k, (SELECT jsonb_object_agg(n, (ARRAY['10.00', '1', '0.000', '7.5', '2.500', '1e3', '-3.10', '0'])[1 + (k / 3 * n) % 8]::numeric) FROM generate_series(1, k % 12) n),
  (SELECT array_agg((ARRAY[1.00, 2, 0.0, 3.5, 0])[1 + (k * n) % 5]) FROM generate_series(1, k % 9) n), nummultirange(numrange(k % 3, 5.0), numrange(7, (ARRAY[8, 8.00])[1 + k % 2]))
FROM generate_series(1, 1000) k;
INSERT INTO scales (id, doc) SELECT 1000 + k, d::jsonb FROM unnest(ARRAY['0.00', '0', '[0.0]', '[0, 0.0]', '[]', '{}', '{"": 0.000}', '[1, 1, 1, 1, 1.0]', '1.' || repeat('0', 16383)]) WITH ORDINALITY AS made (d, k);
INSERT INTO scales (id, doc) SELECT 2000, jsonb_agg((n || '.' || repeat('0', n % 150))::numeric) FROM generate_series(0, 3000) n;
VACUUM ANALYZE scales;
SELECT penumbra.load('scales'), penumbra.load('scales', ARRAY['doc', 'list', 'spans', 'jsonb_path_query(doc, ''$[*]'')']);
SELECT q, agree(q) AS answer FROM unnest(ARRAY[
  'SELECT id, doc, list, spans FROM scales ORDER BY doc, list, spans, id', 'SELECT id, doc FROM scales WHERE doc > ''[]''',
  'SELECT count(*), sum(id) FROM scales GROUP BY doc', 'SELECT DISTINCT list FROM scales WHERE id % 9 = 0', 'SELECT count(DISTINCT doc), count(DISTINCT spans) FROM scales',
  'SELECT a.id, b.id, b.doc FROM scales a JOIN scales b ON a.doc = b.doc', 'SELECT id FROM scales WHERE doc = ''[1.0, 1, 1.00, 1, 1]''', 'SELECT id, doc FROM scales WHERE doc IN (''0.0'', ''[0.00, 0]'', ''1'')',
  'SELECT id, x FROM scales, jsonb_path_query(doc, ''$[*]'') x ORDER BY x, id', 'SELECT id, lag(doc) OVER (ORDER BY doc, id) FROM scales', 'SELECT array_agg(doc ORDER BY id) FROM scales WHERE doc > ''0'' GROUP BY id % 7 ORDER BY id % 7'
]) AS q;
SET work_mem = '64kB';
SELECT agree('SELECT id, doc FROM (SELECT id, doc, row_number() OVER (PARTITION BY doc ORDER BY id) AS n FROM scales) s WHERE n > 1 ORDER BY doc, id');
SELECT agree('SELECT length((SELECT doc::text FROM scales WHERE id = 2000)), count(*) FROM (SELECT doc, list FROM scales GROUP BY GROUPING SETS ((doc), (list))) s');
RESET work_mem;
DROP TABLE scales;

-- PostgreSQL makes arrays of arrays; the engine has the arrays where a condition has the whole one cached.
SET penumbra.mode = prefer;
SELECT array_agg(ints ORDER BY id) AS ints, array_agg(words ORDER BY id) AS words FROM things WHERE id IN (2, 8) AND ints < '{9}' AND words < '{z}';
SET penumbra.mode = require;
SELECT array_agg(ints ORDER BY id) FROM things WHERE id IN (2, 8) AND ints < '{9}';

-- Orders that bytes do not have: PostgreSQL compares each distinct value once.
SELECT agree('SELECT id, moods FROM things ORDER BY moods DESC, id');
SELECT agree('SELECT id, words FROM things ORDER BY words COLLATE "en-x-icu", id LIMIT 500');
SELECT agree('SELECT id, rank() OVER (PARTITION BY id % 5 ORDER BY moods) FROM things ORDER BY id');
SELECT agree('SELECT id FROM things ORDER BY words[1] COLLATE "en-x-icu" NULLS FIRST, moods, ints, id');
-- values that come in the order, against it, from both ends and from the middle
CREATE TABLE orders (id int, up mood[], n int, t text) WITH (autovacuum_enabled = off);
INSERT INTO orders SELECT k, ARRAY['ok']::mood[], CASE k % 4 WHEN 0 THEN k WHEN 1 THEN -k WHEN 2 THEN 20000 + k ELSE 40000 - k END, 'x' FROM generate_series(1, 8000) k;
UPDATE orders SET t = lpad(n::text, 6, '0'), up = array_fill('ok'::mood, ARRAY[1 + id % 30]) || 'glad'::mood;
VACUUM ANALYZE orders;
SELECT penumbra.load('orders', ARRAY['id', 'n', 't', 'up']) > 0 AS loaded;
SELECT agree('SELECT id FROM orders ORDER BY t COLLATE "en-x-icu", id'), agree('SELECT id FROM orders ORDER BY up, t COLLATE "en-x-icu" DESC');
SELECT agree('SELECT id % 5, min(up), max(up), min(t COLLATE "en-x-icu"), max(t COLLATE "en-x-icu") FILTER (WHERE n > 0), mode() WITHIN GROUP (ORDER BY up DESC) FROM orders GROUP BY 1');
SELECT agree('SELECT id % 50, min(up) FROM orders GROUP BY ROLLUP (id % 50) HAVING max(up) > ''{ok,ok,glad}''');
SELECT agree('SELECT t.id, max(o.up) FROM orders o JOIN things t ON t.id = o.id % 7 GROUP BY 1');
DROP TABLE orders;

-- CASE, coalesce() and conditions inside of what is cached, and around values that the engine reads as bytes
SELECT query, loaded.count >= 0 AS is_known, agree(query) FROM (VALUES
  ($$jsonb_array_elements_text(CASE jsonb_typeof(doc) WHEN 'array' THEN doc END)$$, $$SELECT e, count(*) FROM things, jsonb_array_elements_text(CASE jsonb_typeof(doc) WHEN 'array' THEN doc END) e GROUP BY 1$$),
  ($$jsonb_object_keys(CASE WHEN jsonb_typeof(doc) = 'object' THEN doc ELSE '{"none": 1}' END)$$, $$SELECT key, count(*) FROM things, jsonb_object_keys(CASE WHEN jsonb_typeof(doc) = 'object' THEN doc ELSE '{"none": 1}' END) key GROUP BY 1$$),
  ($$jsonb_array_length(CASE WHEN jsonb_typeof(doc) = 'array' AND NOT id < 9 THEN doc END)$$, $$SELECT jsonb_array_length(CASE WHEN jsonb_typeof(doc) = 'array' AND NOT id < 9 THEN doc END), count(*) FROM things GROUP BY 1$$),
  ($$doc -> 's'$$, $$SELECT min(id), coalesce(doc -> 'n', doc -> 's', '[]') FROM things GROUP BY 2$$),
  ($$doc -> 'n'$$, $$SELECT count(DISTINCT CASE WHEN (doc ? 'n') IS NOT TRUE THEN wrapped -> 'v' ELSE doc -> 's' END) FROM things$$),
  ($$unnest(coalesce(ints, '{0}'))$$, $$SELECT e, count(*) FROM things, unnest(coalesce(ints, '{0}')) e GROUP BY 1$$),
  ($$words$$, $$SELECT id, coalesce(words, '{none}') FROM things ORDER BY 2, 1 LIMIT 40$$),
  ($$3 = ALL (ints)$$, $$SELECT count(*), count(3 = ALL (ints)) FROM things WHERE (3 = ALL (ints)) IS NOT FALSE$$),
  ($$3 > ANY (ints)$$, $$SELECT count(*) FROM things WHERE 3 > ANY (ints)$$),
  ($$2.5 < ALL (prices)$$, $$SELECT count(*) FROM things WHERE 2.5 < ALL (prices)$$),
  ($$'a%' LIKE ANY (words)$$, $$SELECT count(*) FROM things WHERE 'a%' LIKE ANY (words)$$),
  ($$ints::text[]$$, $$SELECT ints::text[], count(*) FROM things GROUP BY 1$$),
  ($$doc::text LIKE ANY (words)$$, $$SELECT count(*) FROM things WHERE doc::text LIKE ANY (words)$$)
) q (expression, query), LATERAL (SELECT penumbra.load('things', ARRAY[expression]) AS count) loaded;
SELECT penumbra.load('things', ARRAY[$$jsonb_array_length(CASE WHEN jsonb_typeof(doc) <> 'string' THEN doc END)$$]);

DROP TABLE things, forms;
-- Counts of whole values are counts of rows that have one, of composites with NULLs alone, too.
CREATE TYPE place AS (x int, y text);
CREATE TABLE counted AS SELECT k AS id, CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN ROW(NULL, NULL)::place ELSE ROW(k, 'y')::place END AS at,
  CASE k % 3 WHEN 0 THEN NULL WHEN 1 THEN '{"a": null}' ELSE jsonb_build_object('a', k % 7, 'b', '{}'::jsonb) END AS doc,
  CASE k % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY[k] END AS list, CASE k % 2 WHEN 0 THEN '{"j": 1}'::json END AS plain FROM generate_series(1, 20000) k;
VACUUM ANALYZE counted;
SELECT penumbra.load('counted') > 0 AS loaded;
SELECT agree(q) FROM (VALUES
  ('SELECT count(at), count(doc), count(list), count(plain), count(doc->''a''), count(doc->''c'') FROM counted'),
  ('SELECT id % 4, count(doc->''b'') FILTER (WHERE list IS NULL), count(at) FILTER (WHERE id > 9000) FROM counted GROUP BY 1 HAVING count(doc) > 5 ORDER BY count(list), 1'),
  ('SELECT count(a), max(n) FROM (SELECT doc->''a'' AS a, count(at) OVER () AS n FROM counted WHERE id < 500 OFFSET 0) s WHERE n > 0'),
  ('SELECT id % 3, count(doc), count(*) FROM counted GROUP BY ROLLUP (1)'),
  ('SELECT count(c.at), count(d.list) FROM counted c JOIN counted d ON d.id = c.id + 1')) v (q);
SET penumbra.mode = prefer;
SELECT count(d.doc), count(d.at), count(d.list || 1), count(coalesce(d.list, '{1}')) FROM counted c LEFT JOIN counted d ON d.id = c.id + 15000;
SELECT sum((SELECT count(d.doc) FROM counted d WHERE d.id = c.id + 1 HAVING count(d.at) = 0)) FROM counted c WHERE c.id < 400;
SET penumbra.mode = off;
SELECT sum((SELECT count(d.doc) FROM counted d WHERE d.id = c.id + 1 HAVING count(d.at) = 0)) FROM counted c WHERE c.id < 400;
SELECT count(d.doc), count(d.at), count(d.list || 1), count(coalesce(d.list, '{1}')) FROM counted c LEFT JOIN counted d ON d.id = c.id + 15000;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT count(doc->'a') FILTER (WHERE id > 7) FROM counted;
RESET penumbra.mode;
DROP TABLE counted;
DROP TYPE place;
DROP FUNCTION value, numbers, agree, rows_of;
DROP TYPE span, mood;
