-- Subscripts of arrays as rows, and what the arrays have at these: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE pair AS (a int, b text);
CREATE TABLE lists (id int, ints int[], words text[], pairs pair[], docs jsonb[], name text) WITH (autovacuum_enabled = off);
INSERT INTO lists SELECT k, CASE k % 7 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '[3:5]={7,NULL,9}' WHEN 3 THEN '{{1,2,3},{4,5,6}}' WHEN 4 THEN '[-1:0][2:3]={{1,2},{3,4}}' ELSE ARRAY[k % 4, NULL, k % 5, 2] END,
  CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN '{a,NULL,"b c"}' ELSE ARRAY['w' || k % 3, 'v' || k % 4] END,
  CASE k % 4 WHEN 0 THEN NULL ELSE ARRAY[ROW(k % 3, 'p' || k % 2)::pair, NULL, ROW(NULL, NULL)::pair] END,
  ARRAY[jsonb_build_object('x', k % 3), '[1]', NULL], 'n' || k % 6
FROM generate_series(1, 3000) k;
INSERT INTO lists SELECT 9000 + k, array_agg(i), array_agg(md5(i::text || k)), NULL, NULL, 'long' FROM generate_series(1, 3) k, generate_series(1, 600) i GROUP BY k;
VACUUM ANALYZE lists;
SELECT penumbra.load('lists');
CREATE TABLE questions (id int, q text);
INSERT INTO questions SELECT n, q FROM unnest(ARRAY[
  'SELECT i, count(*) FROM lists, generate_subscripts(ints, 1) i GROUP BY i',
  'SELECT id, i, ints[i] FROM lists, generate_subscripts(ints, 1) i',
  'SELECT ints[i], count(*), sum(i) FROM lists, generate_subscripts(ints, 1) AS g(i) GROUP BY 1',
  'SELECT ints[i], sum(ints[i]) FROM lists CROSS JOIN LATERAL generate_subscripts(ints, 1) i WHERE ints[i] > 2 GROUP BY 1',
  'SELECT i, ints[i], count(*) FROM lists, generate_subscripts(ints, 2) i GROUP BY 1, 2',
  'SELECT count(*) FROM lists, generate_subscripts(ints, 3) i',
  'SELECT count(*) FROM lists, generate_subscripts(ints, 0) i',
  'SELECT count(*) FROM lists, generate_subscripts(ints, 1)',
  'SELECT id, i, words[i] FROM lists LEFT JOIN LATERAL generate_subscripts(words, 1) i ON true WHERE id < 300',
  'SELECT upper(words[i]), count(*) FROM lists, generate_subscripts(words, 1) i WHERE words[i] LIKE ''w%'' GROUP BY 1',
  'SELECT name, i, o, count(*) FROM lists, generate_subscripts(words, 1) WITH ORDINALITY AS g(i, o) GROUP BY 1, 2, 3',
  'SELECT (pairs[i]).a, (pairs[i]).b, count(*) FROM lists, generate_subscripts(pairs, 1) i GROUP BY 1, 2',
  'SELECT docs[i]->>''x'', count(*) FROM lists, generate_subscripts(docs, 1) i GROUP BY 1',
  'SELECT generate_subscripts(ints, 1) AS i, count(*) FROM lists GROUP BY 1',
  'SELECT i, count(*) FROM (SELECT id, generate_subscripts(words, 1) AS i, name FROM lists) s GROUP BY 1',
  'SELECT w, i, count(*) FROM (SELECT words[generate_subscripts(words, 1)] AS w, generate_subscripts(words, 1) AS i FROM lists) s GROUP BY 1, 2',
  'SELECT ints[generate_subscripts(ints, 1)] AS e, count(*) FROM lists GROUP BY 1',
  'SELECT a.id, b.id, i FROM lists a, lists b, generate_subscripts(a.words, 1) i WHERE a.words[i] = b.name AND a.id < 50',
  'SELECT a.id, i, b.words[i] FROM lists a LEFT JOIN lists b ON a.id = b.id + 2990 LEFT JOIN LATERAL generate_subscripts(b.words, 1) i ON true WHERE a.id > 2980',
  'SELECT a.id, s.e FROM lists a LEFT JOIN (SELECT b.id, coalesce(b.words[i], ''none'') AS e FROM lists b, generate_subscripts(b.words, 1) i) s ON a.id = s.id + 2990 WHERE a.id > 2980'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- as columns that are loaded
SELECT penumbra.load('lists', ARRAY['generate_subscripts(ints, 1)', 'ints[generate_subscripts(ints, 1)]', '(pairs[generate_subscripts(pairs, 1)]).a']) > 0 AS loaded;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT i, ints[i], count(*) FROM lists, generate_subscripts(ints, 1) i GROUP BY 1, 2;
RESET penumbra.mode;
-- PostgreSQL's: subscripts of another array, of other places, backwards
SET penumbra.mode = prefer;
SELECT pairs[i], count(*) FROM lists, generate_subscripts(pairs, 1) i GROUP BY 1 ORDER BY 1;
SELECT count(*), count(words[i]), count(ints[i + 1]), count(ints[i][2]) FROM lists, generate_subscripts(ints, 1) i;
SELECT i, count(*) FROM lists, generate_subscripts(words, 1, true) i WHERE id < 9000 GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(ints[i][j]) FROM lists, generate_subscripts(ints, 1) i, generate_subscripts(ints, 2) j;
RESET penumbra.mode;
SELECT column_name, mismatches, problem FROM penumbra.verify('lists') WHERE mismatches > 0 OR problem IS NOT NULL;
DROP TABLE lists, questions;
DROP FUNCTION agree, rows_of;
DROP TYPE pair;
