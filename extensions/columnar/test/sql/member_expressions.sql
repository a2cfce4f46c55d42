-- What a query reads of documents of a UNION ALL whose members have conditions, joins or groups: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TABLE old (id int, shop int, doc jsonb) WITH (autovacuum_enabled = off);
CREATE TABLE recent (id int, shop int, doc jsonb) WITH (autovacuum_enabled = off);
CREATE TABLE shops (id int, name text, doc jsonb) WITH (autovacuum_enabled = off);
-- some items of old ones are no list
CREATE TABLE odd (id int, shop int, doc jsonb) WITH (autovacuum_enabled = off);
INSERT INTO old SELECT k, k % 20, jsonb_build_object('kind', 'k' || k % 7, 'price', (k % 100) / 4.0,
  'items', (SELECT coalesce(jsonb_agg(jsonb_build_object('sku', 's' || (k * j) % 20, 'n', j)), '[]') FROM generate_series(1, k % 4) j)) FROM generate_series(1, 3000) k;
INSERT INTO recent SELECT id + 2500, shop, doc FROM old;
INSERT INTO odd SELECT id, shop, CASE id % 2 WHEN 0 THEN '{"items": 5, "kind": "k3"}' ELSE doc END FROM old WHERE id < 1000;
INSERT INTO shops SELECT k, 'shop ' || k, jsonb_build_object('kind', 'c' || k % 5) FROM generate_series(0, 19) k;
VACUUM ANALYZE old, recent, shops, odd;
SELECT penumbra.load('old'), penumbra.load('recent'), penumbra.load('shops'), penumbra.load('odd');
SELECT penumbra.load('old', ARRAY['doc->>''kind''', 'doc->>''price''', e]) > 0 AND penumbra.load('recent', ARRAY['doc->>''kind''', 'doc->>''price''', e]) > 0 AS loaded
FROM (VALUES ('jsonb_array_elements(doc->''items'')->>''sku''')) AS elements(e);
CREATE VIEW events AS SELECT 1 AS src, id, shop, doc FROM old WHERE id < 1000 UNION ALL SELECT 2, id, shop, doc FROM recent WHERE shop > 3
  UNION ALL SELECT 3, id, shop, doc FROM odd WHERE id % 2 = 1;
CREATE VIEW joined AS SELECT o.id, s.name, o.doc, s.doc AS shop FROM old o JOIN shops s ON s.id = o.shop UNION ALL SELECT id, 'none', doc, NULL FROM recent;

CREATE TABLE questions (q text, id serial);
INSERT INTO questions (q) VALUES
  ('SELECT doc->>''kind'', count(*), sum((doc->>''price'')::numeric) FROM events GROUP BY 1'),
  ('SELECT src, i->>''sku'', count(*), sum((i->>''n'')::int) FROM events, jsonb_array_elements(doc->''items'') i GROUP BY 1, 2'),
  ('SELECT src, count(*) FROM events CROSS JOIN LATERAL jsonb_array_elements(doc->''items'') i WHERE doc->>''kind'' = ''k2'' GROUP BY 1'),
  ('SELECT src, o, i->>''sku'' FROM events, jsonb_array_elements(doc->''items'') WITH ORDINALITY x(i, o) WHERE o > 1'),
  ('SELECT id, sku FROM (SELECT id, doc FROM old WHERE shop < 5 UNION ALL SELECT id, doc FROM recent) u, jsonb_to_recordset(doc->''items'') AS t(sku text)'),
  ('SELECT doc->>''kind'', shop->>''kind'', count(*) FROM joined GROUP BY 1, 2'),
  ('SELECT s.id, u.doc->>''kind'' FROM shops s LEFT JOIN events u ON u.id = s.id'),
  ('SELECT coalesce(u.doc->>''kind'', ''none''), count(*) FROM shops s LEFT JOIN events u ON u.id = s.id GROUP BY 1'),
  ('SELECT id, row_number() OVER (PARTITION BY doc->>''kind'' ORDER BY id, src) FROM events'),
  ('SELECT a.id, b.src FROM events a JOIN events b ON a.doc->>''kind'' = b.doc->>''kind'' AND a.id = b.id - 7'),
  ('SELECT count(*), count(DISTINCT doc->>''kind''), count(doc) FROM events'),
  ('SELECT id, doc->>''kind'' FROM (SELECT id, ''{"kind": "c"}''::jsonb AS doc FROM old WHERE id < 10 UNION ALL SELECT id, doc FROM recent WHERE id < 2600) u');
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT doc->>'kind', count(*) FROM joined GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT i->>'sku', count(*) FROM (SELECT doc FROM old WHERE shop < 5 UNION ALL SELECT doc FROM recent) u, jsonb_array_elements(doc->'items') i GROUP BY 1;
SET penumbra.mode = prefer;
SELECT doc->>'kind', count(*) FROM (SELECT id, doc FROM old WHERE id < 9 UNION ALL (SELECT id, doc FROM recent ORDER BY id DESC LIMIT 9)) u GROUP BY 1 ORDER BY 1;
SELECT doc->>'kind', count(*) FROM (SELECT DISTINCT doc FROM old WHERE id < 99 UNION ALL SELECT doc FROM recent WHERE id < 2510 GROUP BY doc) u GROUP BY 1 ORDER BY 1;
-- Whole rows and other readers keep their columns.
SELECT u FROM (SELECT id, doc FROM old WHERE id = 1 UNION ALL SELECT id, doc FROM recent WHERE id = 2505) u WHERE doc->>'kind' < 'k5';
SELECT id, (SELECT u.doc->>'kind'), l.price FROM (SELECT id, doc FROM old WHERE id = 1 UNION ALL SELECT id, doc FROM recent WHERE id = 2505) u, LATERAL (SELECT u.doc->>'price' AS price) l;
-- A function is not called for rows that a join or a condition leaves out.
SELECT count(*) FROM (SELECT o.id, o.doc FROM odd o JOIN shops s ON s.id = o.id % 20 AND o.id % 2 = 1 UNION ALL SELECT id, doc FROM recent) u, jsonb_array_elements(doc->'items') i;
SELECT count(*) FROM (SELECT id, doc FROM odd WHERE id % 2 = 1 UNION ALL SELECT id, doc FROM recent) u, jsonb_array_elements(doc->'items') i;
SELECT count(*) FROM (SELECT id, doc FROM odd UNION ALL SELECT id, doc FROM recent WHERE id > 5000) u, jsonb_array_elements(doc->'items') i WHERE jsonb_typeof(doc->'items') = 'array';
SELECT u.id, s.name, i->>'sku' FROM (SELECT id, doc FROM odd WHERE id < 50 UNION ALL SELECT id, doc FROM recent WHERE id > 6000) u JOIN shops s ON s.id = u.id AND s.id % 2 = 1, jsonb_array_elements(u.doc->'items') i
WHERE s.id < 7 ORDER BY 1, 3;
SELECT count(*) FROM (SELECT id, doc FROM odd WHERE id < 100 UNION ALL SELECT id, doc FROM recent) u, jsonb_array_elements(doc->'items') i;
-- Partitions that have the columns in other places, beside one that is not cached, are scans by themselves.
CREATE TABLE parts (id int, doc jsonb, other jsonb, words text[]) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 (gone int, other jsonb, words text[], doc jsonb, id int) WITH (autovacuum_enabled = off);
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE UNLOGGED TABLE parts_3 PARTITION OF parts FOR VALUES IN (3);
INSERT INTO parts SELECT 1 + k % 3, jsonb_build_object('a', k % 5), jsonb_build_object('a', 'other'), ARRAY['w' || k % 4] FROM generate_series(1, 3000) k;
VACUUM ANALYZE parts;
SELECT count(*) FROM unnest(ARRAY['parts_1', 'parts_2']::regclass[]) p, LATERAL penumbra.load(p, ARRAY['id', 'doc->>''a''', 'cardinality(words)', 'words[1]', 'unnest(words)']) l WHERE l > 0;
SELECT doc->>'a' AS a, count(*), sum(cardinality(words)) FROM parts GROUP BY 1 ORDER BY 1;
SELECT id, w, count(*) FROM parts, unnest(words) w WHERE doc->>'a' < '3' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT p.id, count(*), sum((SELECT count(*) FROM unnest(p.words) w WHERE w > 'w1')) FROM parts p JOIN parts_2 q ON p.doc->>'a' = q.doc->>'a' AND q.words[1] = p.words[1] GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM parts WHERE doc->>'a' = '3';
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE doc->>'a' = '3';
RESET penumbra.mode;
DROP VIEW events, joined;
DROP TABLE parts, old, recent, shops, odd, questions;
DROP FUNCTION agree, rows_of;
