-- What a subquery on the inner side of an outer join makes of documents and arrays is NULL for a row without a match.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE pair AS (a int, b text);
CREATE TABLE lists (id int, words text[], doc jsonb, p pair, r numrange) WITH (autovacuum_enabled = off);
INSERT INTO lists SELECT k, CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN '{a,NULL,"b c"}' ELSE ARRAY['w' || k % 3, 'v' || k % 4] END,
  CASE WHEN k % 7 > 0 THEN jsonb_build_array(jsonb_build_object('x', k % 3), '{}'::jsonb) END, CASE WHEN k % 3 > 0 THEN ROW(k % 4, 'b')::pair END, numrange(k % 3, NULL)
FROM generate_series(1, 3000) k;
VACUUM ANALYZE lists;
SELECT penumbra.load('lists');
CREATE TABLE questions (id int, q text);
INSERT INTO questions SELECT n, replace(q, '{}', 's ON a.id = s.id + 2000') FROM unnest(ARRAY[
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e FROM lists) {} GROUP BY 1',
  'SELECT a.id, s.e FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e FROM lists) {}',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, CASE WHEN doc @> ''[{"x": 1}]'' THEN ''one'' ELSE ''other'' END AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->1, ''[]'') AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e->>''x'', count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0, ''[]'') AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(words[1], ''none'') AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(words, ''{none}'') AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(p, ROW(7, ''c'')::pair) AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce((p).a, -1) AS e FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, coalesce(i, ''none'') AS e FROM lists b, unnest(b.words) i) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, coalesce(i->>''x'', ''none'') AS e FROM lists b, jsonb_array_elements(b.doc) i) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, coalesce(t.x, -1) AS e FROM lists b, jsonb_to_recordset(b.doc) AS t(x int)) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, coalesce(b.words[i], ''none'') AS e FROM lists b, generate_subscripts(b.words, 1) i) {} GROUP BY 1',
  'SELECT count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e FROM lists) {} WHERE s.e IS NULL',
  'SELECT s.e, u.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e FROM lists) {} LEFT JOIN (SELECT DISTINCT coalesce(doc->0->>''x'', ''never'') AS e FROM lists) u ON u.e = s.e GROUP BY 1, 2',
  'SELECT a.id, s.e, s.k FROM lists a FULL JOIN (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e, 1 AS k FROM lists) {}',
  'SELECT s.e->>''x'', count(*) FROM lists a LEFT JOIN (SELECT id, doc->0 AS e FROM lists UNION ALL SELECT id, doc->1 FROM lists) {} GROUP BY 1',
  'SELECT s.e, count(*) FROM (SELECT id, coalesce(doc->0->>''x'', ''none'') AS e FROM lists) s RIGHT JOIN lists a ON a.id = s.id + 2000 AND s.e <> ''1'' GROUP BY 1'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- PostgreSQL's
SET penumbra.mode = prefer;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, doc->0 IS NULL AS e FROM lists) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, upper_inf(r) OR doc IS NULL AS e FROM lists) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(doc->0->>'x', 'none') AS e FROM lists UNION ALL SELECT id, 'm' || (doc->0->>'x') FROM lists) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, coalesce(i, 'none') AS e FROM lists b LEFT JOIN LATERAL unnest(b.words) i ON true) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, t.e FROM lists b LEFT JOIN LATERAL (SELECT coalesce(i, 'none') AS e FROM unnest(b.words) i) t ON true) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.e, count(*) FROM lists a LEFT JOIN (SELECT b.id, v.x || 'y' AS e FROM lists b, LATERAL (VALUES (coalesce(b.doc->0->>'x', 'none')), ('v')) v(x)) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
SELECT s.f, count(*) FROM lists a LEFT JOIN (SELECT id, coalesce(e, 'no e') AS f FROM (SELECT b.id, t.e FROM lists b LEFT JOIN (SELECT id, coalesce(doc->0->>'x', 'none') AS e FROM lists) t ON t.id = b.id + 2500) v) s ON a.id = s.id + 2000 GROUP BY 1 ORDER BY 1;
RESET penumbra.mode;
DROP TABLE lists, questions;
DROP FUNCTION agree, rows_of;
DROP TYPE pair;
