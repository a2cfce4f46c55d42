-- Composites in arrays, in each other, and with what has parts: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN share AS numeric CHECK (VALUE >= 0);
CREATE DOMAIN labels AS text[] CHECK (cardinality(VALUE) < 9);
CREATE TYPE point3 AS (x float8, y numeric, z interval);
CREATE TYPE leg AS (code char(4), at timestamptz, place point3, tags labels, took interval);
CREATE TYPE trip AS (name text, legs leg[], part share, extra jsonb, span numrange, spans nummultirange, days daterange);
CREATE TYPE felt AS (how mood, why text);
CREATE TYPE opaque AS (words tsvector, n int);
CREATE DOMAIN journey AS trip;
CREATE FUNCTION make_leg(k int) RETURNS leg LANGUAGE sql IMMUTABLE AS $$
SELECT CASE WHEN k % 13 = 0 THEN NULL ELSE ROW((ARRAY['a', 'b ', 'abcd', NULL])[1 + k % 4], timestamptz '2024-01-01 UTC' + k % 3 * interval '1 h',
  CASE k % 4 WHEN 0 THEN NULL ELSE ROW(k % 2 / 4.0, (ARRAY[1, 1.0, 2.50])[1 + k % 3], (ARRAY['1 day', '24 hours', '1 mon', '30 days'])[1 + k % 4]::interval)::point3 END,
  CASE k % 3 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY['t' || k % 2, NULL] END::labels, (ARRAY['-1 hour', '1 day -1 hour', '23:00', '-25:00'])[1 + k % 4]::interval)::leg END $$;
CREATE TABLE journeys (id int, way trip, alias journey, legs leg[], grid point3[], felt felt[], odd opaque, odds opaque[], flags bit(3)[], codes char(3)[], times interval[], docs jsonb[]) WITH (autovacuum_enabled = off);
INSERT INTO journeys SELECT k, w, w, ARRAY[make_leg(k), make_leg(k % 5)], CASE k % 6 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY[[(make_leg(1)).place], [(make_leg(2)).place]] ELSE ARRAY[(make_leg(k % 8)).place, NULL] END,
  ARRAY[ROW((ARRAY['sad', 'ok', 'happy'])[1 + k % 3]::mood, 'w' || k % 4)::felt], ROW(('w' || k % 5)::tsvector, k % 3)::opaque, ARRAY[ROW(('w' || k % 4)::tsvector, k % 2)::opaque, NULL],
  ARRAY[(k % 8)::bit(3)], (ARRAY['{a,b}', '{"a ",b}', '{abc,NULL}', '{}'])[1 + k % 4]::char(3)[], (ARRAY['{1 day,2 hours}', '{24 hours,120 min}', '{-1 mon}', '{NULL,00:00:00}'])[1 + k % 4]::interval[],
  (ARRAY['{"{\"a\": 1.0}"}', '{"{\"a\": 1}"}', '{1,2}', '{}'])[1 + k % 4]::jsonb[]
FROM generate_series(1, 3000) k, LATERAL (SELECT CASE WHEN k % 17 > 0 THEN ROW('way ' || k % 6, ARRAY[make_leg(k % 7)], (ARRAY[1, 1.00, 2.5])[1 + k % 3], (ARRAY['{"a": 1.0}', '{"a": 1}', '[]', NULL])[1 + k % 4]::jsonb,
  numrange(1.0, (ARRAY[5, 5.0])[1 + k % 2]), nummultirange(numrange(k % 3, 7), numrange(10.0, 11)), daterange('2024-01-01', '2024-01-02'::date + k % 2))::trip END) AS made (w);
INSERT INTO journeys (id, way, legs) VALUES (-1, ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL), '{}'), (-2, NULL, NULL);
-- out of line, and compressed
INSERT INTO journeys (id, way, legs) SELECT 5000 + k, ROW(string_agg(md5(k || ' ' || i), ''), (SELECT array_agg(make_leg(j)) FROM generate_series(1, 200) j), 1, NULL, NULL, NULL, NULL)::trip, (SELECT array_agg(make_leg(j)) FROM generate_series(1, 300) j)
FROM generate_series(1, 3) k, generate_series(1, 400) i GROUP BY k;
VACUUM ANALYZE journeys;
SELECT penumbra.load('journeys') > 0 AS loaded;
SELECT penumbra.load('journeys', ARRAY['way', 'legs', 'grid', 'felt', 'odd', 'odds', 'flags', 'codes', 'times', 'docs', '(way).name', '(way).part', '(way).legs', '(legs[1]).code', '((legs[1]).place).y', 'cardinality(legs)',
  '(way IS NULL)', '(unnest(legs)).code', '(unnest(legs)).at', '((unnest(legs)).place).y', '(unnest(legs)).took', '(unnest(grid)).z', 'unnest(grid)']) > 0 AS loaded;
CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q)
SELECT replace(q, '$', c) FROM (VALUES
  ('SELECT count(*), sum(id) FROM journeys GROUP BY $'),
  ('SELECT count(DISTINCT $), count($) FROM journeys'),
  ('SELECT id, rank() OVER (PARTITION BY id % 3, $ ORDER BY id) FROM journeys ORDER BY id'),
  ('SELECT count(*), sum(a.id) FROM journeys a JOIN journeys b ON a.$ = b.$ AND a.id < b.id WHERE b.id < 200')) t (q),
  unnest(ARRAY['way', 'legs', 'grid', 'felt', 'odd', 'odds', 'flags', 'codes', 'times', 'docs']) WITH ORDINALITY c (c, o) ORDER BY o, q;
INSERT INTO questions (q)
SELECT replace(q, '$', c) FROM (VALUES ('SELECT id, $ FROM journeys ORDER BY $ DESC, id'), ('SELECT id FROM journeys ORDER BY $ NULLS FIRST, id LIMIT 100')) t (q),
  unnest(ARRAY['way', 'grid', 'flags', 'codes', 'times', 'docs']) WITH ORDINALITY c (c, o) ORDER BY o, q;
INSERT INTO questions (q) VALUES
  ('SELECT (way).name, count(*), sum((way).part) FROM journeys GROUP BY 1'),
  ('SELECT (legs[1]).code, ((legs[1]).place).y::text, count(*) FROM journeys GROUP BY 1, 2'),
  ('SELECT cardinality(legs), array_ndims(grid), count(*) FROM journeys GROUP BY 1, 2'),
  ('SELECT count(*) FROM journeys WHERE way IS NULL'),
  ('SELECT count(*) FROM journeys WHERE way IS NOT NULL'),
  ('SELECT count(*) FROM journeys WHERE legs IS NULL OR grid IS NULL'),
  ('SELECT code, count(*), max(took) FROM journeys, unnest(legs) GROUP BY 1'),
  ('SELECT id, l.code, (l.place).y, l.took FROM journeys, unnest(legs) AS l WHERE l.at > ''2024-01-01 00:30 UTC'''),
  ('SELECT count(*) FROM journeys, unnest(legs) AS l'),
  ('SELECT id, l, row_to_json(l) FROM journeys, unnest(legs) AS l WHERE id < 300'),
  ('SELECT count(l), count(l.tags) FROM journeys, unnest(legs) AS l'),
  ('SELECT cardinality(l.tags), count(*) FROM journeys, unnest(legs) AS l GROUP BY 1'),
  ('SELECT n, code, count(*) FROM journeys, unnest(legs) WITH ORDINALITY AS l (code, at, place, tags, took, n) GROUP BY 1, 2'),
  ('SELECT (unnest(legs)).code, count(*) FROM journeys GROUP BY 1'),
  ('SELECT count(*) FROM (SELECT unnest(grid) AS p, count(*) FROM journeys GROUP BY 1) s'),
  ('SELECT x, z, count(*) FROM journeys LEFT JOIN LATERAL unnest(grid) AS p ON true GROUP BY 1, 2'),
  ('SELECT count(*) FROM journeys, unnest(legs) AS l WHERE id % 3 = 1 AND (l.place).x > 0 GROUP BY l.place'),
  ('SELECT (way).legs, count(*) FROM journeys WHERE id % 12 = 5 GROUP BY 1'),
  ('SELECT count(*) FROM journeys WHERE way = ROW(''way 1'', ARRAY[make_leg(1)], 1.0, ''{"a": 1}'', ''[1,5)'', ''{[1,7),[10,11)}'', ''[2024-01-01,2024-01-03)'')::trip'),
  ('SELECT count(*) FROM journeys WHERE way < ROW(''way 2'', NULL, NULL, NULL, NULL, NULL, NULL)::trip'),
  ('SELECT max(grid), min(times), max(codes), min(docs) FROM journeys'),
  ('SELECT ''1 day'' = ANY (times), count(*) FROM journeys GROUP BY 1'),
  ('SELECT count(*) FROM journeys WHERE times @> ''{24 hours}'' OR codes && ''{abc}'''),
  ('SELECT alias, count(*) FROM journeys WHERE id % 30 = 4 GROUP BY 1'),
  ('SELECT (alias).name, ((alias).extra)->>''a'', count(*) FROM journeys GROUP BY 1, 2'),
  ('SELECT id, way, legs, odd, odds FROM journeys WHERE (way).part > 2 AND id < 100');
SELECT count(*) FROM questions;
SELECT q, answer FROM (SELECT q, agree(q) AS answer FROM questions ORDER BY id) s WHERE answer !~ '^\d+ rows$' OR answer = '0 rows';
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT way, count(DISTINCT legs) FROM journeys GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT code, (place).y, count(*) FROM journeys, unnest(legs) GROUP BY 1, 2;
RESET penumbra.mode;
-- rows that were written since; values that only an update has
UPDATE journeys SET legs = legs || make_leg(id % 3), way.part = 7, grid[1].y = 3.000 WHERE id % 10 = 1;
DELETE FROM journeys WHERE id % 100 = 3;
SELECT q, answer FROM (SELECT q, agree(q) AS answer FROM questions ORDER BY id) s WHERE answer !~ '^\d+ rows$' OR answer = '0 rows';
-- a type inside is another then, and so is all that has it inside
ALTER TYPE point3 ADD ATTRIBUTE w text;
UPDATE journeys SET grid[1].w = 'w' || id % 2 WHERE id % 9 = 0;
SELECT q, answer FROM (SELECT q, agree(q) AS answer FROM questions ORDER BY id) s WHERE answer ~ '^DIFF' AND answer !~ 'ours: .0A000';
SELECT penumbra.load('journeys', ARRAY['way', 'legs', 'grid', 'unnest(grid)', '(way IS NULL)', '(unnest(legs)).code']) > 0 AS loaded;
SELECT q, answer FROM (SELECT q, agree(q) AS answer FROM questions ORDER BY id) s WHERE answer ~ 'DIFFERENT|refused' AND q ~ 'way|legs|grid';
BEGIN;
ALTER TYPE trip DROP ATTRIBUTE name;
ALTER TYPE leg RENAME ATTRIBUTE code TO cipher;
SET LOCAL penumbra.mode = prefer;
SELECT count(*), count(DISTINCT way), count(DISTINCT legs) FROM journeys;
SELECT cipher, count(*) FROM journeys, unnest(legs) GROUP BY 1 ORDER BY 1;
ROLLBACK;
ALTER TYPE leg DROP ATTRIBUTE place;
SELECT agree('SELECT count(*) FROM journeys GROUP BY way') ~ '^\d+ rows|0A000' AS agrees;
SELECT penumbra.load('journeys', ARRAY['way', 'legs', '(unnest(legs)).code', '(unnest(legs)).took']) > 0 AS loaded;
SELECT agree('SELECT count(*) FROM journeys GROUP BY way'), agree('SELECT code, took, count(*) FROM journeys, unnest(legs) GROUP BY 1, 2'), agree('SELECT count(DISTINCT legs) FROM journeys');
SELECT column_name, mismatches, problem FROM penumbra.verify('journeys') WHERE mismatches > 0 OR problem IS NOT NULL;
DROP TABLE journeys, questions;
DROP FUNCTION make_leg, agree, rows_of;
DROP DOMAIN journey;
DROP TYPE trip, leg, point3, felt, opaque, mood;
DROP DOMAIN share, labels;
