-- Values inside of documents and arrays are columns of the cache: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE FUNCTION document(k int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 16
  WHEN 0 THEN NULL WHEN 1 THEN '[1, "z", null]' WHEN 2 THEN '"root"' WHEN 3 THEN 'null' WHEN 4 THEN '5'
  WHEN 5 THEN '{"kind": null, "n": "7", "o": []}' WHEN 6 THEN '{"kind": {"deep": true}, "n": 1.50, "1": "key"}'
  ELSE jsonb_build_object('kind', (ARRAY['click', 'view', 'buy', ''])[1 + k % 4], 'n', k % 100, 'u', 'u' || k % 377,
                          'o', jsonb_build_object('p', k % 7, 'q', k % 3 = 0, 'l', repeat('x', k % 50)),
                          'a', jsonb_build_array(k % 5, 'b' || k % 2, NULL))
END $$;
CREATE FUNCTION elements(k int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE k % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL,3}' WHEN 3 THEN '{{1,2},{3,4}}'
  WHEN 4 THEN '[0:1]={7,8}' ELSE ARRAY[k % 5, k % 7] END::int[] $$;
CREATE TABLE events (id int, doc jsonb, tags int[], words text[], n int) WITH (autovacuum_enabled = off);
INSERT INTO events SELECT k, document(k), elements(k), ARRAY['w' || k % 3, NULL, 'x'], k % 10
FROM generate_series(1, 3000) k;
-- out of line, and compressed
UPDATE events SET doc = doc || jsonb_build_object('long', (SELECT string_agg(md5(s::text), '') FROM generate_series(1, 300) s))
WHERE id % 500 = 7;
UPDATE events SET doc = doc || jsonb_build_object('long', repeat('abc', 5000)) WHERE id % 500 = 9;
CREATE TABLE lists WITH (autovacuum_enabled = off) AS SELECT id, tags, words FROM events;
VACUUM ANALYZE events, lists;

-- Nothing cached: rows come from the table. Then everything.
CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT doc->>''kind'', count(*), sum(n) FROM events GROUP BY 1'),
  ('SELECT doc->''kind''->>''deep'', doc#>>''{o,p}'', count(*) FROM events GROUP BY 1, 2'),
  ('SELECT doc->>0, doc->>-1, doc->>''1'', doc->''a''->>1, doc#>>''{a,0}'', doc#>>''{a,-1}'', id FROM events WHERE id < 100'),
  ('SELECT doc#>>''{}'', doc->>''o'', doc->>''a'' FROM events WHERE id < 200'),
  ('SELECT jsonb_typeof(doc), jsonb_typeof(doc->''kind''), jsonb_typeof(doc->''a''->2), count(*) FROM events GROUP BY 1, 2, 3'),
  ('SELECT count(*) FROM events WHERE doc->>''kind'' = ''view'' AND n > 3'),
  ('SELECT count(*) FROM events WHERE doc->>''kind'' IS NULL'),
  ('SELECT count(*), count(doc->>''n'') FROM events WHERE doc->''kind'' IS NULL OR doc IS NULL'),
  ('SELECT doc ? ''kind'', doc ?| ARRAY[''zz'', ''n''], doc ?& ARRAY[''kind'', ''n''], count(*) FROM events GROUP BY 1, 2, 3'),
  ('SELECT count(*) FROM events WHERE doc @> ''{"kind": "buy", "o": {"p": 3}}'''),
  ('SELECT count(*) FROM events WHERE doc <@ ''{"kind": null, "n": "7", "o": [], "x": 1}'''),
  ('SELECT count(*) FROM events WHERE doc->''n'' = ''7'' OR doc->''n'' < ''3'' OR doc->''kind'' <> ''"view"'''),
  ('SELECT jsonb_extract_path_text(doc, ''o'', ''q''), jsonb_extract_path(doc, ''a'')::text, count(*) FROM events GROUP BY 1, 2'),
  ('SELECT doc[''o''][''p'']::text, count(*) FROM events GROUP BY 1'),
  ('SELECT sum((doc#>>''{o,p}'')::int), avg((doc#>>''{o,p}'')::numeric) FROM events WHERE n < 5'),
  ('SELECT sum(CASE WHEN doc->>''n'' ~ ''^\d+$'' THEN (doc->>''n'')::int END), count(*) FROM events'),
  ('SELECT sum((doc->>''n'')::int) FROM events WHERE id % 16 <> 6'),
  ('SELECT length(doc->>''kind'') FROM events'),
  ('SELECT length(doc->>''long''), id FROM events WHERE doc->>''long'' IS NOT NULL'),
  ('SELECT upper(doc->>''kind'') || ''!'', min(doc->>''u''), max(doc->>''u'') FROM events GROUP BY 1'),
  ('SELECT id, doc->>''u'' FROM events WHERE doc->>''kind'' LIKE ''%i%'' ORDER BY doc->>''u'' DESC NULLS LAST, id LIMIT 20'),
  ('SELECT DISTINCT doc->>''kind'' FROM events'),
  ('SELECT id, rank() OVER (PARTITION BY doc->>''kind'' ORDER BY n, doc->>''u'', id) FROM events WHERE id < 300'),
  ('SELECT k, count(*) FROM (SELECT doc->>''kind'' AS k, n FROM events WHERE n > 2) s WHERE k <> ''buy'' GROUP BY 1'),
  ('WITH w AS (SELECT doc->>''u'' AS u, count(*) AS c FROM events GROUP BY 1) SELECT c, count(*) FROM w GROUP BY 1'),
  ('SELECT doc->>''kind'' FROM events UNION SELECT doc->''o''->>''p'' FROM events'),
  ('SELECT a.doc->>''kind'', count(*) FROM events a JOIN events b ON a.doc->>''u'' = b.doc->>''u'' AND b.n = 3 GROUP BY 1'),
  ('SELECT a.id, b.doc->>''kind'' FROM events a LEFT JOIN events b ON b.id = a.id + 2900 AND b.n = 1 WHERE a.n = 1'),
  ('SELECT a.n, b.doc->>''kind'' IS NULL, count(*) FROM events a LEFT JOIN events b ON b.id = a.id + 2900 GROUP BY 1, 2'),
  ('SELECT count(*) FROM events a WHERE EXISTS (SELECT FROM events b WHERE b.doc->>''u'' = a.doc->>''u'' AND b.id = a.id + 377)'),
  ('SELECT n, (SELECT max(b.doc->>''u'') FROM events b WHERE b.n = events.n) FROM events WHERE id < 50'),
  ('SELECT count(*) FROM lists WHERE 3 = ANY (tags)'),
  ('SELECT count(*) FROM lists WHERE 3 <> ALL (tags)'),
  ('SELECT count(*) FROM lists WHERE ''w1'' = ANY (words) AND NOT ''x'' <> ALL (words)'),
  ('SELECT tags @> ARRAY[1], tags <@ ARRAY[0, 1, 2, 3], tags && ARRAY[7, 4], tags = ''{}'', count(*) FROM lists GROUP BY 1, 2, 3, 4'),
  ('SELECT cardinality(tags), array_length(tags, 1), array_length(tags, 2), array_lower(tags, 1), array_upper(tags, 1), count(*) FROM lists GROUP BY 1, 2, 3, 4, 5'),
  ('SELECT tags[1], tags[0], tags[2][1], words[1], words[2], count(*) FROM lists GROUP BY 1, 2, 3, 4, 5'),
  ('SELECT words[1:2], words[2:], tags[:1], count(*) FROM lists GROUP BY 1, 2, 3'),
  ('SELECT array_to_string(tags, ''-''), array_to_string(words[1:2], '','', ''none''), array_dims(tags), count(*) FROM lists GROUP BY 1, 2, 3'),
  ('SELECT array_remove(words, ''x''), words || ''y''::text, array_prepend(''z'', words), array_cat(words, words[1:1]), array_replace(words, NULL, ''-''), count(*) FROM lists GROUP BY 1, 2, 3, 4, 5'),
  ('SELECT array_position(words, ''w1''), array_position(words, ''x'', 2), cardinality(array_positions(words, NULL)), array_length(trim_array(words, 1), 1), count(*) FROM lists GROUP BY 1, 2, 3, 4'),
  ('SELECT count(DISTINCT words[1:2]), count(*) FILTER (WHERE words[1:1] = ARRAY[''w2'']) FROM lists'),
  ('SELECT doc->>''kind'', count(*), sum(n) FROM (SELECT doc, n FROM events UNION ALL SELECT doc->''o'', id FROM events) s GROUP BY 1'),
  ('SELECT doc->>''kind'', min(doc->>''u''), count(*) FROM (SELECT n, doc FROM events UNION ALL SELECT id, doc FROM events) s WHERE n > 3 AND doc ? ''n'' GROUP BY 1'),
  ('SELECT s.doc->>''kind'', e.n, count(*) FROM (SELECT * FROM events UNION ALL SELECT * FROM events) s JOIN events e ON e.doc->>''u'' = s.doc->>''u'' WHERE s.n = 1 GROUP BY 1, 2'),
  ('SELECT t, count(*), sum(id) FROM (SELECT id, tags FROM lists UNION ALL SELECT n, tags FROM events) s, unnest(tags) t GROUP BY 1'),
  ('SELECT t, count(*) FROM (SELECT id, words FROM lists UNION ALL SELECT id, words[2:3] FROM lists) s, unnest(words) t GROUP BY 1'),
  ('SELECT unnest(words), tags[1], count(*) FROM (SELECT id, tags, words FROM lists UNION ALL SELECT n, tags, words FROM events) s GROUP BY 1, 2'),
  ('SELECT tags, count(*) FROM (SELECT tags FROM lists UNION ALL SELECT tags FROM events) s GROUP BY 1'),
  ('SELECT doc IS NULL, doc->>''kind'', count(*) FROM (SELECT doc FROM events UNION ALL SELECT doc FROM (SELECT doc FROM events UNION ALL SELECT doc FROM events) t) s GROUP BY 1, 2'),
  ('SELECT l.id, s.doc->>''u'' FROM lists l LEFT JOIN (SELECT id, doc FROM events UNION ALL SELECT id + 5000, doc FROM events) s ON s.id = l.id + 2000 WHERE l.id < 1500'),
  ('SELECT CASE WHEN id % 2 = 0 THEN nullif(id, 4) ELSE CASE WHEN NOT 1 <> ALL (tags) THEN coalesce(id, id) END END FROM lists');
SELECT id, agree(q) FROM questions ORDER BY id;
SELECT penumbra.load('events'), penumbra.load('lists');
SELECT penumbra.load('events', ARRAY['doc->>''kind''', 'doc #>> ''{o,p}''', 'doc->>''n''', 'doc->>''u''',
                                     'jsonb_typeof(doc)', 'doc->''kind'' IS NULL', 'doc ? ''kind''', 'doc->>''long''']);
SELECT penumbra.load('lists', ARRAY['3 = ANY (tags)', 'cardinality(tags)', 'tags[1]', 'words[1]']);
SELECT id, agree(q) FROM questions ORDER BY id;
SELECT relname, column_name, type, rows FROM penumbra.columns WHERE column_name ~ '[(\[]' ORDER BY 1, 2;
SELECT sum(mismatches) FROM (SELECT * FROM penumbra.verify('events') UNION ALL SELECT * FROM penumbra.verify('lists')) v;

-- Rows that were written, then patched, then loaded again.
UPDATE events SET doc = doc || '{"kind": "sold"}' WHERE id % 100 = 8;
UPDATE lists SET tags = ARRAY[3, id] WHERE id % 100 = 8;
DELETE FROM events WHERE id % 100 = 12;
INSERT INTO events SELECT k, document(k), elements(k), NULL, 3 FROM generate_series(4000, 4100) k;
INSERT INTO lists SELECT k, elements(k) FROM generate_series(4000, 4100) k;
SELECT id, agree(q) FROM questions WHERE id IN (1, 2, 6, 18, 32, 37) ORDER BY id;
VACUUM events, lists;
SELECT penumbra.refresh('events') > 0 AS refreshed, penumbra.refresh('lists') > 0 AS refreshed;
SELECT id, agree(q) FROM questions WHERE id IN (1, 2, 6, 18, 32, 37) ORDER BY id;
SELECT sum(mismatches) FROM penumbra.verify('events');

-- What EXPLAIN shows, and what is left to PostgreSQL.
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT doc->>'kind', count(*) FROM events e WHERE doc ? 'kind' GROUP BY 1;
SELECT doc, doc->>'kind' FROM events;
RESET penumbra.mode;

-- A name is looked up when the column is asked for; a type is part of it.
ALTER TABLE events RENAME doc TO document;
SELECT agree('SELECT document->>''kind'', count(*) FROM events GROUP BY 1');
SELECT count(*) FROM penumbra.columns WHERE relid = 'events'::regclass AND column_name = '(document ->> ''kind''::text)';
PREPARE kinds AS SELECT document->>'kind', count(*) FROM events GROUP BY 1 ORDER BY 1;
SET penumbra.mode = require;
EXECUTE kinds;
ALTER TABLE events ALTER tags TYPE bigint[];
EXECUTE kinds;
RESET penumbra.mode;
SELECT agree('SELECT count(*) FROM events WHERE 3 = ANY (tags)');
ALTER TABLE events ADD doc jsonb DEFAULT '{"kind": "default"}';
SELECT agree('SELECT doc->>''kind'', count(*) FROM events GROUP BY 1');
SELECT penumbra.load('events', ARRAY['doc->>''kind''']) > 0 AS loaded;
SELECT agree('SELECT doc->>''kind'', count(*) FROM events GROUP BY 1');
BEGIN;
ALTER TABLE events DROP doc;
ALTER TABLE events ADD doc jsonb DEFAULT '{"kind": "another"}';
SELECT agree('SELECT doc->>''kind'', count(*) FROM events GROUP BY 1');
ROLLBACK;
SELECT agree('SELECT doc->>''kind'', count(*) FROM events GROUP BY 1');

-- Partitions, of which one has its columns in another order.
CREATE TABLE parted (id int, doc jsonb, tags int[]) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_2 (tags int[], gone int, doc jsonb, id int);
ALTER TABLE parted_2 DROP gone;
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted SELECT k, document(k), elements(k) FROM generate_series(1, 1999) k;
VACUUM ANALYZE parted;
SELECT penumbra.load('parted', ARRAY['doc->>''kind''', 'id']);
SELECT relname, column_name, rows FROM penumbra.columns WHERE relname LIKE 'parted%' ORDER BY 1, 2;
SELECT agree('SELECT doc->>''kind'', cardinality(tags), count(*) FROM parted WHERE id > 500 GROUP BY 1, 2');
SELECT agree('SELECT p.doc->>''kind'', count(*) FROM parted p JOIN events e ON e.document->>''u'' = p.doc->>''u'' WHERE e.n = 3 GROUP BY 1');

-- Rights: of the columns that an expression reads. Labels: of these, too.
CREATE ROLE paths_reader;
GRANT SELECT (id, n) ON events TO paths_reader;
SET ROLE paths_reader;
SELECT document->>'kind' FROM events;
SELECT count(*) FROM penumbra.columns WHERE column_name LIKE '%->>%';
RESET ROLE;
GRANT SELECT ON events TO paths_reader;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
CREATE POLICY sold ON events USING (document->>'kind' = 'sold');
SET ROLE paths_reader;
SELECT agree('SELECT document->>''kind'', document->>''u'', count(*) FROM events GROUP BY 1, 2');
RESET ROLE;
ALTER TABLE events DISABLE ROW LEVEL SECURITY;
SECURITY LABEL FOR penumbra ON COLUMN events.document IS 'never';
SELECT count(*) FROM penumbra.columns WHERE relid = 'events'::regclass AND column_name LIKE '%document%';
SELECT penumbra.load('events', ARRAY['document->>''kind''']);
SECURITY LABEL FOR penumbra ON COLUMN events.document IS NULL;

-- What cannot be cached, and how many can.
SELECT penumbra.load('events', ARRAY['document->>']);
SELECT penumbra.load('events', ARRAY['document->>''kind'' || nobody']);
SELECT penumbra.load('events', ARRAY['current_setting(document->>''kind'')']);
SELECT penumbra.load('events', ARRAY['to_json(document)']);
SELECT penumbra.load('events', ARRAY['(document->>''n'')::int']);
SELECT penumbra.load('events', ARRAY['(SELECT 1)']);
SELECT penumbra.load('events', ARRAY['now()']);
\set VERBOSITY sqlstate
SELECT penumbra.load('events', ARRAY(SELECT format('document->>%L', 'key' || k) FROM generate_series(1, 70) k));
\set VERBOSITY default
SET penumbra.mode = require;
SELECT document->>'too many', count(*) FROM events GROUP BY 1;
SET penumbra.mode = prefer;
SELECT document->>'too many', count(*) FROM events GROUP BY 1;
RESET penumbra.mode;

-- How many rows pass: PostgreSQL has no statistics of paths.
CREATE FUNCTION expected_rows(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan'->'Plan Rows';
END $$;
CREATE TABLE many WITH (autovacuum_enabled = off) AS
SELECT i AS id, jsonb_build_object('kind', CASE i % 4 WHEN 0 THEN 'buy' ELSE 'view' || i % 3 END) AS doc FROM generate_series(1, 140000) i;
CREATE TABLE each_id WITH (autovacuum_enabled = off) AS SELECT id FROM many;
VACUUM ANALYZE many, each_id;
SELECT penumbra.load('many', ARRAY['id', 'doc->>''kind''']) > 0 AND penumbra.load('each_id') > 0 AS loaded;
SET penumbra.mode = off;
SELECT expected_rows($$SELECT m.id FROM many m JOIN each_id e ON m.id = e.id WHERE m.doc->>'kind' = 'buy'$$) < 2000 AS of_no_statistics;
SET penumbra.mode = require;
SELECT expected_rows($$SELECT m.id FROM many m JOIN each_id e ON m.id = e.id WHERE m.doc->>'kind' = 'buy'$$) BETWEEN 30000 AND 40000 AS of_the_column,
  expected_rows($$SELECT m.id FROM many m JOIN each_id e ON m.id = e.id WHERE m.doc->>'kind' IS NULL$$) < 100 AS of_nulls;
RESET penumbra.mode;

-- And how many distinct values there are.
SELECT penumbra.load('many', ARRAY['doc->''kind''']) > 0 AS loaded;
SET penumbra.mode = require;
SELECT expected_rows($$SELECT doc->>'kind', count(*) FROM many GROUP BY 1$$) AS kinds,
  expected_rows($$SELECT doc->'kind', id % 2 > 0, count(*) FROM many GROUP BY 1, 2$$) AS whole_kinds,
  expected_rows($$SELECT count(*) FROM many a JOIN many b ON a.doc->>'kind' = b.doc->>'kind' WHERE b.id < 1000 GROUP BY a.doc->>'kind'$$) AS joined,
  expected_rows($$SELECT a.id FROM many a JOIN many b ON a.doc->>'kind' = b.doc->>'kind' WHERE b.id < 1000$$) BETWEEN 10000000 AND 100000000 AS pairs;
RESET penumbra.mode;

DROP TABLE many, each_id;
-- Of 1 M rows: PostgreSQL guesses 0.5 %, or a third.
CREATE TABLE sales (at date, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO sales SELECT date '2026-01-01' + i / 86400, jsonb_strip_nulls(jsonb_build_object(
    'kind', CASE WHEN i % 10 > 0 THEN (ARRAY['buy', 'view', 'cart'])[1 + i % 3] END, 'price', i * 7919::bigint % 10007 / 10.0,
    'seq', i, 'rare', CASE WHEN i % 5000 = 7 THEN 'yes' END))
  FROM generate_series(1, 1000000) i;
VACUUM ANALYZE sales;
SELECT penumbra.load('sales', ARRAY['at', 'doc->>''kind''', 'doc->>''price''', 'doc->>''seq''', 'doc->>''rare''', 'doc ? ''rare''']) > 0 AS loaded;
CREATE FUNCTION is_near(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  there bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM sales WHERE ' || condition INTO there;
  -- a look that takes too long on a busy machine is taken again
  FOR attempt IN 1..20 LOOP
    IF expected_rows('SELECT at FROM sales WHERE ' || condition) BETWEEN there / 3.0 AND there * 3.0 THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END $$;
SET penumbra.mode = require;
SELECT condition, is_near(condition) FROM unnest(ARRAY['(doc->>''price'')::numeric > 100', '(doc->>''price'')::numeric > 999.5',
  'doc->>''kind'' IS NULL', 'doc->>''kind'' IS NOT NULL', 'doc->>''kind'' = ''view''', 'doc->>''kind'' <> ''view''',
  '(doc->>''seq'')::bigint < 50000', '(doc->>''seq'')::bigint BETWEEN 950000 AND 990000', 'doc->>''rare'' = ''yes''', 'doc ? ''rare''',
  'doc->>''kind'' LIKE ''%i%''', 'doc->>''kind'' = ''buy'' AND (doc->>''price'')::numeric < 10',
  'doc->>''kind'' IN (''buy'', ''cart'') AND at >= ''2026-01-10''']) WITH ORDINALITY c (condition, place)
ORDER BY place;
-- a value that no sampled row has
SELECT expected_rows($$SELECT at FROM sales WHERE doc->>'kind' = 'none'$$) BETWEEN 1 AND 100 AS few;
RESET penumbra.mode;
DROP FUNCTION is_near;

DROP TABLE sales;
DROP TABLE events, lists, parted, questions;
-- The server has room for so many expressions; those of a table that is dropped leave theirs.
DO $$
DECLARE
  paths text[] := ARRAY(SELECT format('doc->>''path %s''', i) FROM generate_series(1, 60) i);
BEGIN
  FOR i IN 1..20 LOOP
    CREATE TABLE dropped AS SELECT '{}'::jsonb AS doc;
    COMMIT;
    PERFORM penumbra.load('dropped', paths);
    DROP TABLE dropped;
    COMMIT;
  END LOOP;
END $$;
-- What queries have only wanted makes room for what is loaded, in the server and in a table; what is loaded does not.
SET penumbra.mode = prefer;
DO $$
DECLARE
  columns text := (SELECT string_agg(format('count(doc->>''wanted %s'')', i), ', ') FROM generate_series(1, 64) i);
BEGIN
  FOR i IN 1..20 LOOP
    EXECUTE format('CREATE TABLE wanted_%s AS SELECT ''{}''::jsonb AS doc FROM generate_series(1, 1000)', i);
    COMMIT;
    EXECUTE format('SELECT %s FROM wanted_%s', columns, i);
  END LOOP;
END $$;
CREATE TABLE asked AS SELECT '{"a": 1}'::jsonb AS doc FROM generate_series(1, 1000);
SELECT penumbra.load('asked', ARRAY['doc->>''a''']);
SELECT penumbra.load('wanted_20', ARRAY(SELECT format('doc->>''path %s''', i) FROM generate_series(1, 64) i));
SELECT count(*) FROM penumbra.columns WHERE relid = 'wanted_20'::regclass AND cached_pages > 0;
SELECT penumbra.load('wanted_20', ARRAY['doc->>''path 65''']);
SELECT penumbra.load('asked', ARRAY(SELECT format('doc->>''path %s''', i) FROM generate_series(1, 63) i));
SELECT count(*) FROM penumbra.columns WHERE relid = 'asked'::regclass AND cached_pages > 0;
-- Five seconds later what one query alone wanted makes room for what another wants; what is loaded by its name does not.
SET penumbra.mode = require;
SELECT count(doc->>'new') FROM wanted_1;
SELECT pg_sleep(5.1);
SELECT count(doc->>'new') FROM wanted_1;
SELECT count(doc->>'new') FROM asked;
SET penumbra.mode = prefer;
DO $$
BEGIN
  FOR i IN 1..20 LOOP
    EXECUTE format('DROP TABLE wanted_%s', i);
  END LOOP;
END $$;
DROP TABLE asked;
RESET penumbra.mode;

DROP FUNCTION expected_rows;
DROP FUNCTION document, elements, agree, rows_of;
DROP ROLE paths_reader;
