-- Keys that are made of plain values: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE shown AS ENUM ('x', 'y');
CREATE TYPE pair AS (first int, second text);
CREATE TABLE m (id int, k int, g int, s text, v varchar(8), n numeric, p numeric(8,2), f float8, r real, d date, t timestamptz, b bool, e mood, u uuid, c char(4), i interval, j jsonb, a int[], x shown)
WITH (autovacuum_enabled = off);
INSERT INTO m SELECT id, CASE WHEN id % 13 = 0 THEN NULL ELSE id % 7 END, CASE WHEN id % 11 = 0 THEN NULL ELSE id % 3 - 1 END,
  CASE id % 9 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'NULL' WHEN 3 THEN 'null' ELSE 's' || id % 4 END, CASE id % 6 WHEN 0 THEN NULL ELSE 'v,' || id % 5 END,
  CASE id % 10 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 WHEN 4 THEN 100 ELSE (id % 5)::numeric / 2 END, (id % 9) * 1.25,
  CASE id % 8 WHEN 0 THEN NULL WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN 'NaN' WHEN 4 THEN 'Infinity' ELSE id % 4 / 3.0::float8 END, id % 3 / 3.0::real,
  CASE id % 12 WHEN 0 THEN NULL WHEN 1 THEN 'infinity' ELSE date '2024-01-30' + id % 5 END, timestamptz '2024-03-31 00:30+00' + id % 4 * interval '40 minutes',
  CASE id % 5 WHEN 0 THEN NULL ELSE id % 2 = 0 END, (enum_range(NULL::mood))[id % 4], md5((id % 6)::text)::uuid, repeat('c', id % 3),
  CASE id % 3 WHEN 0 THEN interval '1 month' WHEN 1 THEN interval '30 days' ELSE interval '2 hours' END,
  CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN 'null'::jsonb WHEN 2 THEN '1.0' ELSE '1.00' END, CASE id % 3 WHEN 0 THEN NULL ELSE ARRAY[id % 2] END, (enum_range(NULL::shown))[1 + id % 2]
FROM generate_series(1, 2000) id;
CREATE TABLE w (id int, k int, g int, s text) WITH (autovacuum_enabled = off);
INSERT INTO w SELECT id, id % 9, CASE WHEN id % 5 = 0 THEN NULL ELSE id % 3 END, 's' || id % 3 FROM generate_series(1, 1500) id;
VACUUM ANALYZE m, w;
SELECT penumbra.load('m'), penumbra.load('w');
-- a cast of its own
CREATE FUNCTION json_of(shown) RETURNS json LANGUAGE sql IMMUTABLE AS 'SELECT ''"same"''::json';
CREATE CAST (shown AS json) WITH FUNCTION json_of(shown);

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY ARRAY[k, g]'),
  ('SELECT ROW(k, s), count(*), sum(p) FROM m GROUP BY 1'),
  ('SELECT (k, s, d, b), min(id), max(t) FROM m GROUP BY (k, s, d, b)'),
  ('SELECT ROW(e, u), count(*) FROM m GROUP BY ROW(e, u)'),
  ('SELECT ROW(f, r) IS NULL, count(*), sum(id) FROM m GROUP BY ROW(f, r)'),
  ('SELECT ROW(n, i) IS NULL, count(*), sum(id) FROM m GROUP BY ROW(n, i)'),
  ('SELECT ROW(c, v), count(*) FROM m GROUP BY 1'),
  ('SELECT ROW(ROW(k, g), ARRAY[g, 5]), count(*) FROM m GROUP BY 1'),
  ('SELECT ARRAY[[k, g], [g, k]], count(*) FROM m GROUP BY 1'),
  ('SELECT ARRAY[s, v], count(*) FROM m GROUP BY 1'),
  ('SELECT ARRAY[d, ''2024-01-01''], count(*) FROM m GROUP BY 1'),
  ('SELECT ROW(k, g)::text, count(*) FROM m GROUP BY ROW(k, g)'),
  ('SELECT (k, s)::pair, count(*) FROM m GROUP BY 1'),
  ('SELECT ((k, s)::pair).second, count(*) FROM m GROUP BY (k, s)::pair'),
  ('SELECT ROW(k + 1, lower(s)), count(*) FROM m GROUP BY 1'),
  ('SELECT (ARRAY[k, g])[1], array_length(ARRAY[k, g], 1), count(*) FROM m GROUP BY ARRAY[k, g]'),
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY ARRAY[k, g] HAVING count(*) > 90'),
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY ARRAY[k, g] HAVING ARRAY[k, g] < ARRAY[3, 0]'),
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY ARRAY[k, g] ORDER BY ARRAY[k, g]'),
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY 1 ORDER BY 1 DESC LIMIT 5'),
  ('SELECT ROW(s, k), count(*) FROM m GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 9'),
  ('SELECT ROW(k, g), k, count(*) FROM m GROUP BY ROW(k, g), k'),
  ('SELECT ROW(k, g), count(DISTINCT s), count(DISTINCT (s, b)) FROM m GROUP BY ROW(k, g)'),
  ('SELECT jsonb_build_object(''k'', k, ''s'', s), count(*) FROM m GROUP BY 1'),
  ('SELECT jsonb_build_object(''a'', jsonb_build_array(k, b), ''d'', d, ''e'', e), count(*) FROM m GROUP BY 1'),
  ('SELECT jsonb_build_object(''n'', n) IS NULL, count(*), sum(id) FROM m GROUP BY jsonb_build_object(''n'', n)'),
  ('SELECT jsonb_build_array(t, u, v), count(*) FROM m GROUP BY 1'),
  ('SELECT jsonb_build_array(k, g), count(*) FROM m GROUP BY 1 HAVING sum(k) > 100'),
  ('SELECT to_jsonb(k), count(*) FROM m GROUP BY 1'),
  ('SELECT to_jsonb(s), count(*) FROM m GROUP BY 1'),
  ('SELECT to_jsonb(n) IS NULL, count(*) FROM m GROUP BY to_jsonb(n)'),
  ('SELECT to_jsonb(ROW(k, s)), count(*) FROM m GROUP BY 1'),
  ('SELECT to_jsonb(ARRAY[k, g]), count(*) FROM m GROUP BY 1'),
  ('SELECT to_jsonb((k, s)::pair), count(*) FROM m GROUP BY 1'),
  ('SELECT DISTINCT ARRAY[k, g] FROM m'),
  ('SELECT DISTINCT ROW(k, g), s FROM m'),
  ('SELECT DISTINCT ARRAY[k, g], 5 FROM m ORDER BY ARRAY[k, g] DESC'),
  ('SELECT DISTINCT jsonb_build_object(''k'', k) FROM m'),
  ('SELECT DISTINCT (k, g) FROM m WHERE id > 100 ORDER BY 1 LIMIT 7'),
  ('SELECT DISTINCT ON (ARRAY[k, g]) k, g, id FROM m ORDER BY ARRAY[k, g], id'),
  ('SELECT DISTINCT ON ((k, g)) k, g, id FROM m ORDER BY (k, g) DESC, id DESC'),
  ('SELECT count(DISTINCT (k, g)), count(DISTINCT ARRAY[k, g]), count(DISTINCT ROW(f, n)), count(DISTINCT (i, c)), count(DISTINCT ROW(j, a)) FROM m'),
  ('SELECT k, count(DISTINCT (g, s)), count(DISTINCT ARRAY[d, ''2024-01-31'']) FILTER (WHERE b), count(DISTINCT jsonb_build_array(s, n)), count(DISTINCT to_jsonb(s)), count((k, g)), count(to_jsonb(s)) FROM m GROUP BY k'),
  ('SELECT g, count(DISTINCT (k, s)) FROM m GROUP BY ROLLUP (g)'),
  ('SELECT count(DISTINCT (n, 1)), count(DISTINCT ROW(n)), count(DISTINCT n) FROM m'),
  ('SELECT id, row_number() OVER (PARTITION BY ARRAY[k, g] ORDER BY id) FROM m ORDER BY id'),
  ('SELECT id, rank() OVER (ORDER BY (k, g)) r, count(*) OVER (PARTITION BY (s, b)) FROM m ORDER BY id'),
  ('SELECT id, sum(p) OVER (PARTITION BY jsonb_build_object(''k'', k) ORDER BY (g, id)) FROM m ORDER BY id'),
  ('SELECT id, k, g FROM m ORDER BY (k, g), id LIMIT 20'),
  ('SELECT id, k, g FROM m ORDER BY ARRAY[g, k] DESC, id LIMIT 20'),
  ('SELECT id FROM m ORDER BY ROW(s, ROW(k)) DESC, id'),
  ('SELECT ARRAY[k, g] AS xx, count(*) FROM m GROUP BY xx UNION ALL SELECT ARRAY[g, k], count(*) FROM w GROUP BY 1'),
  ('SELECT x, count(*) FROM (SELECT ARRAY[k, g] x FROM m) o GROUP BY x'),
  ('SELECT x, y, count(*) FROM (SELECT (k, g) x, s y FROM m WHERE id > 10) o GROUP BY x, y HAVING count(*) > 5'),
  ('SELECT x, sum(c) FROM (SELECT ARRAY[k, g] x, s, count(*) c FROM m GROUP BY 1, 2) o GROUP BY x ORDER BY x'),
  ('SELECT x, count(*) FROM (SELECT x, y FROM (SELECT ROW(k, s) x, g y FROM m) o WHERE y > 0) p GROUP BY x'),
  ('SELECT x, max(id) FROM (SELECT jsonb_build_object(''k'', k, ''s'', s) x, id FROM m ORDER BY id LIMIT 700) o GROUP BY x ORDER BY 2'),
  ('SELECT x, count(*) FROM (SELECT DISTINCT ARRAY[k, g] x, s FROM m) o GROUP BY x'),
  ('SELECT o.x, count(*) FROM (SELECT ARRAY[k, g] x, id FROM m) o JOIN w ON w.id = o.id GROUP BY 1'),
  ('SELECT o.x, count(*) FROM w LEFT JOIN (SELECT id, k FROM m WHERE id < 900) q ON q.id = w.id, LATERAL (SELECT ARRAY[q.k, w.g] x) o GROUP BY 1'),
  ('SELECT (m.k, w.s), count(*) FROM m JOIN w USING (id) GROUP BY 1 ORDER BY 1'),
  ('SELECT g, array_agg(k ORDER BY (s, k)) FROM w GROUP BY g ORDER BY g'),
  ('SELECT k, string_agg(s, '','' ORDER BY (s, id) DESC) FROM w GROUP BY k ORDER BY k'),
  ('SELECT count(*) FROM (SELECT DISTINCT (k, g) FROM m UNION SELECT (k, g) FROM w) o'),
  ('SELECT count(*), sum(id) FROM m GROUP BY ROW(j, k)'),
  ('WITH o AS (SELECT ARRAY[k, g] x, id FROM m) SELECT x, count(*), min(id) FROM o GROUP BY x ORDER BY x'),
  ('WITH o AS (SELECT (k, s) x, g, id FROM m WHERE id > 5), p AS (SELECT x, sum(id) s FROM o WHERE g > 0 GROUP BY x) SELECT p.x, p.s, count(*) FROM p JOIN w ON w.id = p.s % 1000 GROUP BY 1, 2'),
  ('WITH o AS (SELECT DISTINCT jsonb_build_object(''k'', k) x FROM m), p AS NOT MATERIALIZED (SELECT x FROM o) SELECT DISTINCT x FROM p'),
  ('WITH o AS (SELECT ARRAY[k, g] x FROM m) SELECT k, (SELECT count(*) FROM (WITH q AS (SELECT x FROM o) SELECT x FROM q GROUP BY x) r) FROM w WHERE id < 9'),
  ('SELECT ARRAY[k, g] FROM m UNION SELECT ARRAY[g, k] FROM w'),
  ('SELECT (k, s) x, g FROM m UNION SELECT (k, s), g FROM w ORDER BY x, g LIMIT 30'),
  ('SELECT ARRAY[k, g] x FROM m INTERSECT ALL SELECT ARRAY[g, k] FROM w ORDER BY x'),
  ('SELECT ROW(k, g) FROM m EXCEPT SELECT DISTINCT (g, k) FROM w'),
  ('SELECT jsonb_build_object(''k'', k) FROM m UNION (SELECT jsonb_build_object(''k'', g) FROM w UNION ALL SELECT jsonb_build_object(''k'', id % 5) FROM w)'),
  ('SELECT x, count(*) FROM (SELECT ARRAY[k, g] x FROM m UNION ALL SELECT ARRAY[g, k] FROM w) o GROUP BY x'),
  ('SELECT x, y, count(*) FROM (SELECT s y, (k, g) x FROM m WHERE id > 3 UNION ALL SELECT s, (g, k) FROM w WHERE id < 99 UNION ALL SELECT s, (k, k + 1) FROM w) o GROUP BY x, y ORDER BY x, y'),
  ('SELECT x, sum(c) FROM (SELECT ARRAY[k, g] x, count(*) c FROM m GROUP BY 1 UNION ALL SELECT ARRAY[g, k], 1 FROM w) o GROUP BY x'),
  ('SELECT k, (SELECT count(*) FROM (SELECT ARRAY[m.k, w.g] FROM m WHERE m.id = w.id UNION SELECT ARRAY[v.k, w.g] FROM w v WHERE v.id = w.id) o) FROM w WHERE id < 50'),
  ('WITH o AS (SELECT ROW(k, g) x FROM m UNION SELECT ROW(k, g) FROM w) SELECT x, count(*) FROM o GROUP BY x'),
  ('SELECT q.x, count(*) FROM w LEFT JOIN (SELECT id, ARRAY[k, g] x FROM m WHERE id < 900) q ON q.id = w.id GROUP BY 1 ORDER BY 1'),
  ('SELECT q.x, q.x IS NULL, q.x::text, count(*) FROM w LEFT JOIN (SELECT id, (k, g) x FROM m WHERE id < 900) q ON q.id = w.id GROUP BY q.x ORDER BY q.x DESC'),
  ('SELECT DISTINCT q.x, w.g FROM w LEFT JOIN (SELECT id, ARRAY[g, NULL::int] x FROM m WHERE id < 99) q ON q.id = w.id ORDER BY q.x DESC NULLS LAST, w.g LIMIT 20'),
  ('SELECT w.id, rank() OVER (PARTITION BY q.y ORDER BY q.x NULLS FIRST) FROM w FULL JOIN (SELECT id, (k, s) x, ARRAY[g] y FROM m WHERE id > 700) q ON q.id = w.id ORDER BY q.x NULLS FIRST, w.id, 2'),
  ('SELECT o.x, count(*) FROM (SELECT w.id, q.x FROM w LEFT JOIN (SELECT id, (k, g) x FROM m WHERE id < 900) q ON q.id = w.id WHERE w.id > 10) o RIGHT JOIN m ON m.id = o.id GROUP BY o.x'),
  ('SELECT o, count(*) FROM w LEFT JOIN (SELECT k, s FROM m) o ON o.k = w.id GROUP BY o ORDER BY o'),
  ('WITH o AS (SELECT ARRAY[k, g] x, id FROM m) SELECT x, count(*) FROM o GROUP BY x UNION ALL SELECT x, max(id) FROM o WHERE id < 100 GROUP BY x'),
  ('WITH o AS MATERIALIZED (SELECT (k, s) x, id FROM m WHERE id > 5) SELECT o.x, p.x, count(*) FROM w LEFT JOIN o ON o.id = w.id LEFT JOIN o p ON p.id = w.id + 1000 GROUP BY 1, 2'),
  ('WITH o AS (SELECT (k, s) x, sum(id) c FROM m GROUP BY 1), p AS (SELECT x, c FROM o WHERE c > 1000) SELECT x, count(*), (SELECT count(*) FROM p) FROM p WHERE x IN (SELECT x FROM o GROUP BY x) GROUP BY x'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m JOIN w ON ARRAY[m.k, m.g] = ARRAY[w.k, w.g]'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m LEFT JOIN w ON ARRAY[m.k, m.g] = ARRAY[w.k, w.g] AND m.id > 1000 AND w.id < 500'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m FULL JOIN w ON ARRAY[m.k, m.g] = ARRAY[w.k, w.g]'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m JOIN w ON ARRAY[m.k, m.g, w.k] = ARRAY[w.k, 1, m.g] WHERE m.id < 500'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m JOIN w ON ARRAY[m.k, w.g] = ARRAY[w.k, m.g] WHERE m.id < 500'),
  ('SELECT count(*), sum(m.id) FROM (SELECT id, ROW(k, s, 7) r FROM m) m JOIN (SELECT ROW(k, s, 7) r FROM w WHERE id < 300) w ON m.r = w.r'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] IN (SELECT ARRAY[k, g] FROM w WHERE id < 20)'),
  ('SELECT count(*), sum(id) FROM m WHERE NOT EXISTS (SELECT FROM w WHERE ARRAY[m.k, m.g] = ARRAY[w.k, w.g] AND w.id < 20)'),
  ('SELECT count(*), sum(id) FROM m WHERE EXISTS (SELECT FROM w WHERE (m.k, m.g)::record = (SELECT (w.k, w.g)) AND w.id < 2) OR ARRAY[k, g] IN (SELECT ARRAY[k, g] FROM w WHERE id < 20)'),
  ('SELECT count(*), sum(a.id), sum(d.id) FROM m a JOIN w b ON ARRAY[a.k, a.g] = ARRAY[b.k, b.g] JOIN w d ON ARRAY[d.k, d.g] = ARRAY[b.k, b.g] WHERE a.id < 50 AND d.id < 50'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] < ARRAY[3, 0]'),
  ('SELECT count(*), sum(id), count(ARRAY[k, g] < ARRAY[g, NULL]) FROM m WHERE ARRAY[k, g, 1] < ARRAY[g, k, 2]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] <= ARRAY[3, 0]'),
  ('SELECT count(*), sum(id), count(ARRAY[k, g] <= ARRAY[g, NULL]) FROM m WHERE ARRAY[k, g, 1] <= ARRAY[g, k, 2]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] > ARRAY[3, 0]'),
  ('SELECT count(*), sum(id), count(ARRAY[k, g] > ARRAY[g, NULL]) FROM m WHERE ARRAY[k, g, 1] > ARRAY[g, k, 2]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] >= ARRAY[3, 0]'),
  ('SELECT count(*), sum(id), count(ARRAY[k, g] >= ARRAY[g, NULL]) FROM m WHERE ARRAY[k, g, 1] >= ARRAY[g, k, 2]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[s, v] < ARRAY[v::text, s]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[f, r::float8] > ARRAY[0, 0.5]::float8[]'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[n, p] <= ARRAY[1.0, NULL]'),
  ('SELECT ARRAY[d, ''2024-02-01''] > ARRAY[''2024-02-01'', d], count(*) FROM m GROUP BY 1'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m JOIN w ON ARRAY[m.k, m.g] < ARRAY[w.k, w.g] AND w.id < 20'),
  ('SELECT o, count(*) FROM (SELECT k, s FROM m) o GROUP BY o'),
  ('SELECT DISTINCT w FROM w WHERE id < 200'),
  ('SELECT w, w IS NULL, w::text AS t, row_to_json(w)::text, count(*) FROM w GROUP BY w ORDER BY 1 DESC LIMIT 9'),
  ('SELECT id, rank() OVER (PARTITION BY o.g ORDER BY o) r FROM (SELECT k, g, id FROM w) o ORDER BY id'),
  ('SELECT w, count(*) FROM w JOIN m ON m.k = w.id GROUP BY w'),
  ('SELECT (a, s), count(*) FROM m GROUP BY 1'),
  ('SELECT count(*) FROM m WHERE ARRAY[k, g] = ARRAY[g, k]'),
  ('SELECT count(*) FROM m WHERE ARRAY[k, g] <> ARRAY[3, NULL]'),
  ('SELECT count(*) FROM m WHERE ROW(k, s) = ANY (ARRAY[ROW(1, ''s1''::text), ROW(2, NULL::text)])'),
  ('SELECT count(*) FROM m WHERE ARRAY[s, v] = ''{s1,"v,1"}'''),
  ('SELECT ARRAY[k, g] = ARRAY[1, 0], count(*) FROM m GROUP BY 1'),
  ('SELECT k::text || ''-'' || g, count(*) FROM m GROUP BY 1'),
  ('SELECT concat_ws(''/'', s, v, k), count(*) FROM m GROUP BY 1'),
  ('SELECT format(''%s:%s'', k, s), count(*) FROM m GROUP BY 1'),
  ('SELECT count(*) FROM m WHERE (k, g) IN ((1, 0), (2, 1))'),
  ('SELECT count(*) FROM m WHERE 1 IN (k, g)'),
  ('SELECT count(*) FROM m JOIN w ON (m.k, m.g) = (w.k, w.g)'),
  ('SELECT count(*) FROM m WHERE (k, g) IN (SELECT k, g FROM w)');
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
SELECT count(*) FROM questions WHERE agree(q) !~ '^\d+ rows$';

-- What is grouped by, and where the values are made.
SET penumbra.mode = require;
-- From 18 on, groups are an entry of the query, so columns have their table's name.
CREATE FUNCTION described(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || query LOOP
    RETURN NEXT regexp_replace(line, '\mm\.', '', 'g');
  END LOOP;
END $$;
SELECT described($$SELECT ARRAY[k, g], count(*) FROM m GROUP BY ARRAY[k, g] ORDER BY 1$$);
SELECT described($$SELECT DISTINCT jsonb_build_object('k', k, 's', s) FROM m$$);
SELECT described($$SELECT x, max(p) FROM (SELECT (k, s) x, p FROM m WHERE id > 10 OFFSET 0) o GROUP BY x$$);
SELECT described($$SELECT count(DISTINCT (k, n)), count(DISTINCT to_jsonb(s)) FROM m$$);
-- PostgreSQL's: equal parts do not make equal documents, or unequal ones do.
SELECT jsonb_build_array(i), count(*) FROM m GROUP BY 1 ORDER BY 2;
SELECT jsonb_build_array(j), count(*) FROM m GROUP BY 1;
SELECT jsonb_build_array(f), count(*) FROM m GROUP BY 1;
SELECT jsonb_build_array(c), count(*) FROM m GROUP BY 1;
SELECT jsonb_build_array(x), count(*) FROM m GROUP BY 1;
SELECT jsonb_build_object('k', k, 'k', g), count(*) FROM m GROUP BY 1;
SELECT jsonb_build_object(s, k), count(*) FROM w GROUP BY 1;
RESET penumbra.mode;
INSERT INTO questions (q) SELECT q FROM (VALUES
  ('SELECT jsonb_build_array(i) IS NULL, count(*) FROM m GROUP BY jsonb_build_array(i)'), ('SELECT jsonb_build_array(j) IS NULL, count(*) FROM m GROUP BY jsonb_build_array(j)'),
  ('SELECT jsonb_build_array(f), count(*) FROM m GROUP BY 1'), ('SELECT jsonb_build_array(c), count(*) FROM m GROUP BY 1'), ('SELECT jsonb_build_array(x), count(*) FROM m GROUP BY 1'),
  ('SELECT jsonb_build_object(''k'', k, ''k'', g), count(*) FROM m GROUP BY 1'), ('SELECT to_jsonb(o), count(*) FROM (SELECT k AS a, g AS a FROM m) o GROUP BY 1'),
  ('SELECT ARRAY[k, g], GROUPING(ARRAY[k, g]), count(*) FROM m GROUP BY CUBE (ARRAY[k, g], s)'),
  ('SELECT count(*), sum(m.id), sum(w.id) FROM m JOIN w ON ARRAY[m.s, ''s1''] = ARRAY[w.s, ''s'' || w.g] WHERE w.id < 200'),
  ('SELECT count(*), sum(id) FROM m WHERE ARRAY[k, g] NOT IN (SELECT ARRAY[k, g] FROM w WHERE id < 20)'),
  ('SELECT count(*), sum(m.id) FROM m JOIN (SELECT ARRAY[k, g] x, count(*) c FROM w GROUP BY 1) q ON ARRAY[m.k, m.g] = q.x'),
  ('SELECT count(*), sum(m.id) FROM m LEFT JOIN (SELECT id, ARRAY[k, g] x FROM w WHERE id < 500) q ON q.id = m.id JOIN w ON ARRAY[w.k, w.g] = q.x WHERE w.id < 200'),
  ('SELECT count(*) FROM m WHERE ARRAY[s COLLATE "POSIX"] < ARRAY[v COLLATE "C"]'), ('SELECT count(*) FROM m WHERE ARRAY[10 / k, g] < ARRAY[g, 3]'), ('SELECT count(*) FROM m WHERE (ARRAY[e, e] < ARRAY[e, ''ok''])'),
  ('SELECT (k, s), count(*), sum(k) FROM m GROUP BY ROLLUP ((k, s)) ORDER BY 1, 2'),
  ('SELECT ROW(k, s), GROUPING(ROW(k, s), g), g, count(*) FROM m GROUP BY ROLLUP (ROW(k, s), g) HAVING GROUPING(ROW(k, s)) = 0 OR count(*) > 5'),
  ('SELECT ROW(k, s), g, count(*) FROM m GROUP BY GROUPING SETS ((ROW(k, s), g), g, (), ROW(k, s)) HAVING ROW(k, s) IS NOT NULL OR g > 0'),
  ('SELECT ROW(k, s), ROW(k, s) IS NULL, k, count(*) FROM m GROUP BY CUBE (ROW(k, s), k)'),
  ('SELECT ROW(k, s), ROW(k, g), count(*) FROM m GROUP BY CUBE (ROW(k, s), ROW(k, g))'),
  ('SELECT ROW(k, s), ARRAY[g], count(*), sum(k) FROM m GROUP BY ROLLUP (ROW(k, s), ARRAY[g]) ORDER BY count(*) DESC, 1, 2'),
  ('SELECT ROW(k, s), k + 1, count(*) FROM m GROUP BY CUBE (ROW(k, s), k + 1)'),
  ('SELECT (k, s)::pair, ((k, s)::pair).second, count(*) FROM m GROUP BY CUBE ((k, s)::pair, g)'),
  ('SELECT x, x IS NULL, count(*), GROUPING(x) FROM (SELECT ROW(k, s) x FROM m) o GROUP BY GROUPING SETS (x, ()) ORDER BY x'),
  ('SELECT q.x, w.g, count(*), GROUPING(q.x) FROM w LEFT JOIN (SELECT id, (k, s) x FROM m WHERE id < 900) q ON q.id = w.id GROUP BY CUBE (q.x, w.g)'),
  ('SELECT ARRAY[k, g], count(*) FROM m GROUP BY DISTINCT ROLLUP (ARRAY[k, g]), ROLLUP (ARRAY[k, g], s)'),
  ('SELECT ARRAY[k, g], s, rank() OVER (PARTITION BY ARRAY[k, g] ORDER BY count(*)) FROM m GROUP BY ARRAY[k, g], ROLLUP (s)'),
  ('SELECT x, count(*) FROM (SELECT ARRAY[k, g] x FROM m GROUP BY ROLLUP (ARRAY[k, g])) o GROUP BY x'),
  ('SELECT rank(ARRAY[1, 2]) WITHIN GROUP (ORDER BY ARRAY[id, 1]), ARRAY[k, g] FROM m GROUP BY CUBE (ARRAY[k, g])'),
  ('SELECT CASE WHEN ARRAY[k, g] > ARRAY[4, 0] THEN 1 END, count(*) FROM m GROUP BY CUBE (ARRAY[k, g], s)'),
  ('SELECT DISTINCT ARRAY[k], count(*) FROM m GROUP BY CUBE (ARRAY[k], s)'),
  ('SELECT cardinality(ARRAY[k, g]), ARRAY[k, g], count(*) FROM m GROUP BY CUBE (cardinality(ARRAY[k, g]), ARRAY[k, g])'),
  ('SELECT ROW(ARRAY[k, g], s), ARRAY[k, g], count(*) FROM m GROUP BY CUBE (ROW(ARRAY[k, g], s), ARRAY[k, g])'),
  ('SELECT ARRAY[k, g], ROW(ARRAY[k, g], s), x, count(*) FROM (SELECT k, g, s, (k, g) x FROM m WHERE id < 500) o GROUP BY GROUPING SETS ((ARRAY[k, g]), (ROW(ARRAY[k, g], s), x), ())'),
  ('SELECT x, cardinality(x), count(*) FROM (SELECT ARRAY[k, g] x FROM m GROUP BY 1) o GROUP BY ROLLUP (x, cardinality(x))'),
  ('SELECT jsonb_build_object(''k'', k, ''s'', s), g, count(*) FROM m GROUP BY GROUPING SETS ((jsonb_build_object(''k'', k, ''s'', s), g), g, ())'),
  ('SELECT ARRAY[k, 1], count(*) FROM m WHERE k IS NULL GROUP BY ROLLUP (ARRAY[k, 1])'),
  ('SELECT ARRAY[k, g], (SELECT count(*) FROM w WHERE w.k = 3) FROM m GROUP BY CUBE (ARRAY[k, g], s)'),
  ('WITH o AS (SELECT (k, s) x, id FROM m WHERE id < 500) SELECT x, count(*) FROM o GROUP BY x UNION ALL SELECT o, max(id) FROM o GROUP BY o'),
  ('SELECT count(*) FROM m JOIN w ON ARRAY[10 / m.k, m.g] = ARRAY[w.k, w.g]'),
  ('SELECT count(*) FROM m JOIN w ON ARRAY[m.k, 10 / w.g] = ARRAY[w.k, m.g] AND m.id < 0'),
  ('SELECT w, count(*) FROM m LEFT JOIN w ON m.k = w.id GROUP BY w'),
  ('SELECT q.x, count(*) FROM w JOIN (SELECT id, ARRAY[k, g] x FROM m WHERE id < 900) q ON q.id = w.id GROUP BY 1'),
  ('SELECT m, count(*) FROM m GROUP BY m'), ('SELECT x, o.x, count(*) FROM (SELECT (k, s) x FROM m LIMIT 2000) o GROUP BY x'),
  ('SELECT ARRAY[random() < 2, b], count(*) FROM m GROUP BY 1'), ('SELECT ARRAY[(SELECT 1), k], count(*) FROM m GROUP BY 1'),
  ('SELECT ARRAY[1, 2], count(*) FROM m WHERE k > 99 GROUP BY ARRAY[1, 2]'), ('SELECT DISTINCT ARRAY[k, g], random() < 2 FROM m'),
  ('SELECT DISTINCT ARRAY[k, g], (SELECT count(*) FROM w WHERE w.k = m.k) FROM m'), ('SELECT DISTINCT ARRAY[k, count(*)] FROM m GROUP BY k'),
  ('SELECT k FROM w WHERE EXISTS (SELECT DISTINCT ARRAY[m.k] FROM m WHERE m.k = w.k)'), ('SELECT k FROM w WHERE k IN (SELECT m.k FROM m WHERE m.g = w.g ORDER BY (m.k, m.g))'),
  ('SELECT ARRAY(SELECT m.k FROM m WHERE m.id = w.id ORDER BY (m.k, m.g)), id FROM w'), ('WITH o AS (SELECT DISTINCT ARRAY[k, g] x FROM m) SELECT x, count(*) FROM o GROUP BY x'),
  ('SELECT ARRAY[k, g] FROM m UNION ALL SELECT ARRAY[g, k] FROM w LIMIT 0'), ('SELECT ARRAY[k, g] FROM m UNION SELECT a FROM m'),
  ('SELECT ARRAY[k, g] FROM m UNION SELECT ARRAY[k] FROM w'), ('SELECT (k, g) FROM m UNION SELECT (k, g::bigint) FROM w'),
  ('WITH RECURSIVE r AS (SELECT ARRAY[1, 2] x UNION SELECT ARRAY[x[1] + 1, x[2]] FROM r WHERE x[1] < 9) SELECT * FROM r'),
  ('WITH RECURSIVE r AS (SELECT ARRAY[k, 2] x FROM w UNION SELECT ARRAY[x[1] + 1, 2] FROM r WHERE x[1] < 9) SELECT x, count(*) FROM r GROUP BY x'),
  ('SELECT x FROM (SELECT jsonb_build_object(''k'', k) x FROM m ORDER BY 1 LIMIT 50) o UNION SELECT jsonb_build_object(''k'', g) FROM w'),
  ('(SELECT jsonb_build_object(''k'', k) x FROM m ORDER BY jsonb_build_object(''k'', k) LIMIT 50) UNION SELECT jsonb_build_object(''k'', g) FROM w'),
  ('SELECT count(*) FROM m WHERE ARRAY[k, g] = ARRAY[1 / (id % 3), 0]'), ('SELECT ARRAY[ARRAY[k], CASE WHEN id > 0 THEN ARRAY[g, g] END], count(*) FROM m GROUP BY 1')) AS v(q);
-- The same answers, whoever computes them.
SELECT q, agree(q, 'prefer') AS answer FROM (SELECT q FROM questions ORDER BY id OFFSET 129) s;
-- The types of columns stay.
SET penumbra.mode = prefer;
CREATE TABLE made AS SELECT ARRAY[v] a, 1 b FROM m UNION SELECT ARRAY[v], 2 FROM m;
CREATE TABLE other AS SELECT a, count(*) FROM (SELECT ARRAY[v] a FROM m UNION ALL SELECT ARRAY[v::varchar(9)] FROM m) o GROUP BY a;
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid IN ('made'::regclass, 'other'::regclass) AND attnum > 0 ORDER BY 1, attnum;
DECLARE c CURSOR WITH HOLD FOR SELECT DISTINCT (k, g) FROM w ORDER BY 1;
FETCH 3 FROM c;
CLOSE c;
PREPARE p(int) AS SELECT ARRAY[k, $1], count(*) FROM w GROUP BY ARRAY[k, $1] ORDER BY 1 LIMIT 2;
EXECUTE p(5);
EXECUTE p(NULL);
CREATE VIEW v AS SELECT jsonb_build_object('k', k, 's', s) key, g FROM w;
SELECT key, sum(g) FROM v GROUP BY key ORDER BY key LIMIT 3;
DROP VIEW v;
-- Below a DISTINCT of whole values the order is that of whole values.
SET enable_hashagg = off;
SELECT DISTINCT ARRAY[k, g] AS a, (SELECT 1) AS one, s FROM m WHERE k < 2 AND g = 0 ORDER BY 1, 2, 3;
SELECT DISTINCT ARRAY[k, g] AS a, count(*) > 0 AS some, s FROM m WHERE k < 2 AND g = 0 GROUP BY k, g, s ORDER BY 1, 2, 3;
RESET enable_hashagg;
-- A type compares its attributes by their collations, and nothing that was dropped of it.
CREATE COLLATION same_letters (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE word AS (gone int, k int, s text COLLATE same_letters);
CREATE TYPE plain_word AS (gone int, k int, s text);
ALTER TYPE word DROP ATTRIBUTE gone;
ALTER TYPE plain_word DROP ATTRIBUTE gone;
CREATE TABLE words WITH (autovacuum_enabled = off) AS SELECT id, id % 3 AS k, 'Word' || id % 5 AS a, 'wORD' || id % 5 AS b FROM generate_series(1, 500) id;
VACUUM ANALYZE words;
SELECT penumbra.load('words');
SELECT count(*) FROM words WHERE (k, a)::word = (k, b)::word;
SELECT count(*) FROM words WHERE ARRAY[(k, a)::word] <> ARRAY[(k, b)::word];
SELECT count(*) FROM words x JOIN words y ON (x.k, x.a)::word = (y.k, y.b)::word;
SELECT count(*) FROM words WHERE (k, a)::word = (1, 'WORD1')::word;
SELECT count(*) FROM words WHERE (k, a)::plain_word = (1, 'Word1')::plain_word;
SELECT count(*) FROM words WHERE (k, a)::plain_word = ROW(1, 'Word1'::text, 2);
SELECT count(*) FROM words x JOIN words y ON (x.k, x.a)::plain_word = (y.k, y.a)::plain_word;
SELECT (k, a)::plain_word, count(*) FROM words GROUP BY 1 ORDER BY 1 LIMIT 2;
RESET penumbra.mode;
DROP TABLE m, w, questions, made, other, words;
DROP FUNCTION agree, rows_of, described;
DROP CAST (shown AS json);
DROP FUNCTION json_of;
DROP TYPE mood, shown, pair, word, plain_word;
DROP COLLATION same_letters;
