-- Members of documents that are whole rows: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE facts (id int PRIMARY KEY, gone int, n numeric, flag bool, word text, code varchar(9) COLLATE "C", padded char(4), uu uuid, how mood, pos positive, day date, f float8, doc jsonb) WITH (autovacuum_enabled = off);
ALTER TABLE facts DROP COLUMN gone;
INSERT INTO facts SELECT k, (ARRAY[1, 1.50, 'NaN', NULL, 'Infinity', 0.00])[1 + k % 6]::numeric, CASE k % 3 WHEN 0 THEN NULL ELSE k % 2 = 0 END, CASE k % 4 WHEN 0 THEN NULL ELSE 'w"' || k % 5 END,
  (ARRAY['b', 'A', 'a', 'B'])[1 + k % 4], 'p' || k % 3, md5((k % 3)::text)::uuid, (ARRAY['sad', 'ok', 'happy', NULL])[1 + k % 4]::mood, 1 + k % 4, date '2024-01-01' + k % 3, k % 3 / 4.0,
  CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN 'null' WHEN 2 THEN '[{"a": 5}]' ELSE jsonb_build_object('a', k % 4, 'b', NULL) END
FROM generate_series(1, 2000) k;
CREATE VIEW seen AS SELECT id AS number, word, n * 2 AS n FROM facts;
VACUUM ANALYZE facts;
SELECT penumbra.load('facts');
CREATE TABLE questions (id int, q text);
INSERT INTO questions SELECT n, q FROM unnest(ARRAY[
  'SELECT to_jsonb(t)->>''word'', count(*) FROM facts t GROUP BY 1',
  'SELECT to_jsonb(t)->>''n'' AS n, to_jsonb(t)->>''flag'', count(*) FROM facts t GROUP BY 1, 2',
  'SELECT row_to_json(t)->>''n'' AS n, row_to_json(t)->>''uu'', row_to_json(t)->>''how'', count(*) FROM facts t GROUP BY 1, 2, 3',
  'SELECT to_jsonb(t)->>''code'' AS c, count(*), min(to_jsonb(t)->>''code'') FROM facts t GROUP BY 1 ORDER BY 1',
  'SELECT to_jsonb(t)->>''pos'', sum((to_jsonb(t)->>''id'')::int) FROM facts t WHERE to_jsonb(t)->>''flag'' = ''true'' GROUP BY 1',
  'SELECT to_jsonb(t)->''doc''->>''a'', count(*) FROM facts t GROUP BY 1',
  'SELECT count(*) FROM facts t WHERE to_jsonb(t)->''doc''->>''b'' IS NULL',
  'SELECT count(*), count(to_jsonb(t)->''doc''->0->>''a'') FROM facts t',
  'SELECT to_jsonb(b)->>''word'', count(*) FROM facts a LEFT JOIN facts b ON a.id = b.id + 1500 GROUP BY 1',
  'SELECT to_jsonb(s)->>''w'', count(*) FROM (SELECT id, upper(word) AS w FROM facts) s GROUP BY 1',
  'SELECT to_jsonb(s)->>''number'', to_jsonb(s)->>''n'' FROM seen s WHERE to_jsonb(s)->>''word'' = ''w"1''',
  'SELECT to_jsonb(t)->>''word'' FROM facts AS t(a, b, c) WHERE a < 100',
  'SELECT word, max(to_jsonb(t)->>''code'') FILTER (WHERE to_jsonb(t)->>''how'' = ''ok'') FROM facts t GROUP BY 1',
  'SELECT t.id, to_jsonb(t)->>''code'' FROM facts t WHERE t.word = ''w"1'' GROUP BY t.id',
  'SELECT (SELECT max(to_jsonb(u)->>''word'') FROM facts u WHERE u.pos = t.pos), count(*) FROM facts t GROUP BY 1'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- documents as keys
CREATE TABLE plain (id int, gone int, kind text, size int, at date) WITH (autovacuum_enabled = off);
ALTER TABLE plain DROP COLUMN gone;
INSERT INTO plain SELECT k, CASE k % 5 WHEN 0 THEN NULL ELSE 'k' || k % 3 END, k % 4, date '2024-01-01' + k % 2 FROM generate_series(1, 2000) k;
VACUUM ANALYZE plain;
SELECT penumbra.load('plain');
TRUNCATE questions;
INSERT INTO questions SELECT n, q FROM unnest(ARRAY[
  'SELECT to_jsonb(p) - ''id'', count(*) FROM plain p GROUP BY 1',
  'SELECT to_jsonb(p) - ''id'' - ''at'' AS key, sum(id) FROM plain p GROUP BY 1 ORDER BY 2',
  'SELECT DISTINCT to_jsonb(p) - ''id'' FROM plain p',
  'SELECT to_jsonb(s), count(*) FROM (SELECT kind, size FROM plain) s GROUP BY 1',
  'SELECT to_jsonb(s)->>''kind'', to_jsonb(s), count(*) FROM (SELECT kind, size FROM plain) s GROUP BY to_jsonb(s)',
  'SELECT sum(id * r) FROM (SELECT p.id, row_number() OVER (PARTITION BY to_jsonb(p) - ''id'' ORDER BY id) AS r FROM plain p) s'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
SET penumbra.mode = prefer;
SELECT to_jsonb(b) - 'id' AS v, count(*) FROM plain a LEFT JOIN plain b ON a.id = b.id + 1990 GROUP BY 1 ORDER BY 1, 2 LIMIT 3;
SELECT to_jsonb(p) - 'id' - 'kind' - 'size' - 'at' AS v, count(*) FROM plain p GROUP BY 1;
SELECT to_jsonb(p) - 'id' AS v, count(*) FROM plain p WHERE id < 4 GROUP BY p ORDER BY 1;
RESET penumbra.mode;
-- what else documents show, or groups have
SET penumbra.mode = prefer;
SELECT to_jsonb(t)->>'day', to_jsonb(t)->>'padded', to_jsonb(t)->>'f', to_jsonb(t)->>'nothing', to_jsonb(t)->>'gone', to_jsonb(t)->>'ctid', to_jsonb(t)->'doc', count(*) FROM facts t WHERE id < 9 GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 7;
SELECT to_jsonb(t)->>'word', count(*) FROM facts t WHERE id < 3 GROUP BY t ORDER BY 1;
SELECT to_jsonb(t)->>'word' AS w, to_jsonb(t)->>'code', count(*) FROM facts t WHERE id < 3 GROUP BY to_jsonb(t) ORDER BY 1;
SELECT to_jsonb(s)->>'a', count(*) FROM (SELECT id AS a, word AS a FROM facts) s WHERE to_jsonb(s)->>'a' LIKE '%1' GROUP BY 1 ORDER BY 1;
PREPARE members AS SELECT to_jsonb(t)->>'word' AS w, count(*) FROM facts t GROUP BY 1 ORDER BY 1;
EXECUTE members;
ALTER TABLE facts RENAME COLUMN word TO words;
EXECUTE members;
RESET penumbra.mode;
DROP VIEW seen;
DROP TABLE facts, plain, questions;
DROP FUNCTION agree, rows_of;
DROP DOMAIN positive;
DROP TYPE mood;
