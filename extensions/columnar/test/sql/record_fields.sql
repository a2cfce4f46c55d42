-- Documents as records: arrays of what depends on settings or the catalog, domains of rows without a record.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN present AS text NOT NULL;
CREATE DOMAIN past AS date CHECK (VALUE < '2030-01-01');
CREATE DOMAIN few AS date[] CHECK (cardinality(VALUE) < 5);
CREATE TYPE visit AS (n positive, days date[], how mood[], word present);
CREATE TABLE visits (id int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO visits SELECT k, jsonb_build_object('n', 1 + k % 9, 'word', 'w' || k % 3, 'day', '2024-01-0' || 1 + k % 9,
  'list', (SELECT jsonb_agg(CASE j % 6 WHEN 5 THEN '{"n": 1, "word": "w"}' ELSE jsonb_build_object('n', 1 + j % 7, 'word', 'w' || j % 3,
    'day', CASE j % 4 WHEN 0 THEN NULL ELSE '2024-01-0' || 1 + j % 9 END,
    'days', CASE j % 4 WHEN 0 THEN '["2024-01-01", null, " 2024-02-02 "]' WHEN 1 THEN '"{2024-03-03, NULL , \"2024-03-04\"}"' WHEN 2 THEN '[]' ELSE to_jsonb(ARRAY['2024-01-0' || 1 + j % 3]) END,
    'stamps', CASE j % 3 WHEN 0 THEN '[["2024-01-01 10:00", "2024-01-01 11:00:00.126"], ["yesterday", null]]' WHEN 1 THEN 'null' ELSE '"[3:4]={2024-01-01, infinity}"' END::jsonb,
    'times', jsonb_build_array('0' || j % 3 || ':30', '10:00:00.55'), 'how', to_jsonb((ARRAY['sad', 'ok', 'happy'])[1 + j % 2 : 1 + j % 3]),
    'uu', jsonb_build_array(md5((j % 3)::text), md5('x')), 'nums', jsonb_build_array(j, j::numeric / 3, j::text), 'codes', jsonb_build_array('a', 'b' || j % 3, 7),
    'ranges', jsonb_build_array('[1,' || 2 + j % 3 || ')'), 'took', jsonb_build_array(j % 4 || ' h'), 'bits', '["101", "011"]'::jsonb, 'ns', jsonb_build_array(1 + j % 3, '2')) END) FROM generate_series(k, k + k % 4) j))
FROM generate_series(1, 1500) k;
INSERT INTO visits VALUES (0, NULL), (-1, '{"n": 1, "word": "w"}'), (-2, '{"list": [], "n": 2, "word": "w"}'), (-3, NULL);
VACUUM ANALYZE visits;
SELECT penumbra.load('visits');
CREATE TABLE questions (id int, q text);
INSERT INTO questions (id, q) SELECT n, replace(q, 'LIST', 'jsonb_to_recordset(doc->''list'') AS t') FROM unnest(ARRAY[
  'SELECT days, count(*) FROM visits, LIST(days date[]) GROUP BY 1',
  'SELECT days[1], cardinality(days), count(*) FROM visits, LIST(days date[], how mood[]) GROUP BY 1, 2',
  'SELECT id, days, how, uu FROM visits, LIST(days date[], how mood[], uu uuid[]) WHERE id < 40',
  'SELECT how, count(*) FROM visits, LIST(how mood[]) GROUP BY 1',
  'SELECT stamps, array_lower(stamps, 1), count(*) FROM visits, LIST(stamps timestamp[]) GROUP BY 1, 2',
  'SELECT stamps, count(*) FROM visits, LIST(stamps timestamptz(0)[]) GROUP BY 1',
  'SELECT times[2], count(*) FROM visits, LIST(times time(1)[]) GROUP BY 1',
  'SELECT nums, count(*) FROM visits, LIST(nums numeric(8,2)[]) GROUP BY 1',
  'SELECT codes, codes[2], count(*) FROM visits, LIST(codes varchar(5)[]) GROUP BY 1, 2',
  'SELECT codes, count(*) FROM visits, LIST(codes char(3)[]) GROUP BY 1',
  'SELECT ranges, bits, count(*) FROM visits, LIST(ranges int4range[], bits bit(3)[]) GROUP BY 1, 2',
  'SELECT took, count(*) FROM visits, LIST(took interval[]) GROUP BY 1',
  'SELECT ns, count(*) FROM visits, LIST(ns positive[]) GROUP BY 1',
  'SELECT days, count(*) FROM visits, LIST(days few) GROUP BY 1',
  'SELECT n, days[1], how[1], count(*) FROM visits, jsonb_populate_recordset(NULL::visit, doc->''list'') GROUP BY 1, 2, 3',
  'SELECT count(*) FROM visits, LIST(days date[]) WHERE ''2024-01-01'' = ANY (days)',
  -- domains of rows without a record
  'SELECT id, t.n, t.word FROM visits LEFT JOIN LATERAL LIST(n positive, word present) ON true',
  'SELECT n, count(*), count(word) FROM visits LEFT JOIN LATERAL LIST(n positive, word present) ON true GROUP BY 1',
  'SELECT n, ordinality, count(*) FROM visits LEFT JOIN LATERAL ROWS FROM (jsonb_to_recordset(doc->''list'') AS (n positive, word present)) WITH ORDINALITY AS t(n, word) ON true GROUP BY 1, 2',
  'SELECT word, n, count(*) FROM visits, jsonb_to_record(doc) AS t(n positive, word present) GROUP BY 1, 2',
  'SELECT id, t.word, t.day FROM visits, jsonb_to_record(doc) AS t(word present, day past) WHERE id < 50',
  'SELECT id, x.word, x.days FROM visits, jsonb_populate_record(NULL::visit, doc) x WHERE x.word IS NULL OR id < 30',
  'SELECT day, count(*) FROM visits LEFT JOIN LATERAL LIST(day past, days few) ON true GROUP BY 1',
  'SELECT a.id, t.word FROM visits a LEFT JOIN visits b ON a.id = b.id + 1400 LEFT JOIN LATERAL jsonb_to_record(b.doc) AS t(word present, n positive) ON true WHERE a.id > 1390'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- errors of columns that no query reads, and only of rows that are asked for
UPDATE visits SET doc = '{"n": 0, "list": [{"n": 0, "word": null, "day": "2040-01-01", "how": ["glad"], "days": ["no day"], "codes": ["too long"], "ns": [1, 0]}]}' WHERE id = 700;
SET penumbra.mode = prefer;
SELECT count(*) FROM visits LEFT JOIN LATERAL jsonb_to_recordset(doc->'list') AS t(n positive) ON true;
SELECT count(*) FROM visits LEFT JOIN LATERAL jsonb_to_recordset(doc->'list') AS t(n positive) ON true WHERE id < 700;
SELECT count(*) FROM visits, jsonb_to_record(doc) AS t(word present);
SELECT count(*) FROM visits, jsonb_to_record(doc) AS t(word present) WHERE id <> 700;
SELECT count(*) FROM visits, jsonb_to_record(doc) AS t(n positive) WHERE id > 600;
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood[]);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood[]) WHERE id > 700;
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(days date[]);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(codes varchar(5)[]);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(ns positive[]);
SELECT count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(days date) WHERE id = 1;
DELETE FROM visits WHERE id = 700;
-- settings, labels
SET DateStyle = 'SQL, DMY';
SELECT days, count(stamps) FROM visits, jsonb_to_recordset(doc->'list') AS t(stamps timestamp[], days date[]) GROUP BY 1 ORDER BY 1 LIMIT 2;
RESET DateStyle;
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SELECT how, count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood[]) GROUP BY 1;
ALTER TYPE mood RENAME VALUE 'fine' TO 'ok';
SELECT how, count(*) FROM visits, jsonb_to_recordset(doc->'list') AS t(how mood[]) GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
PREPARE numbers AS SELECT count(n), max(ns) FROM visits LEFT JOIN LATERAL jsonb_to_recordset(doc->'list') AS t(n int, ns positive[]) ON true;
EXECUTE numbers;
ALTER DOMAIN positive ADD CHECK (VALUE <> 3);
EXECUTE numbers;
RESET plan_cache_mode;
RESET penumbra.mode;
DROP TABLE visits, questions;
DROP FUNCTION agree, rows_of;
DROP TYPE visit, mood;
DROP DOMAIN positive, present, past, few;
