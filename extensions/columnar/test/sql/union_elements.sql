-- Elements over members of UNION ALL that are joins: the same rows with Penumbra required and without it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE item AS (sku text, n int);
CREATE TABLE old (id int, shop int, tags text[], items item[], doc jsonb) WITH (autovacuum_enabled = off);
CREATE TABLE recent (id int, shop int, tags text[], items item[], doc jsonb) WITH (autovacuum_enabled = off);
CREATE TABLE shops (id int, name text, labels text[], open boolean) WITH (autovacuum_enabled = off);
INSERT INTO old SELECT k, k % 20, CASE k % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY['t' || k % 7, NULL, 't' || k % 3] END,
  ARRAY[ROW('s' || k % 4, k % 3)::item, NULL], CASE k % 2 WHEN 0 THEN '5' ELSE '[1, 2]' END::jsonb FROM generate_series(1, 2000) k;
INSERT INTO recent SELECT id + 1500, shop, tags, items, doc FROM old;
INSERT INTO shops SELECT k, 'shop ' || k, ARRAY['l' || k % 3, 'm'], k % 2 = 1 FROM generate_series(1, 30) k;
VACUUM ANALYZE old, recent, shops;
SELECT penumbra.load('old'), penumbra.load('recent'), penumbra.load('shops');
CREATE VIEW joined AS SELECT o.id, s.name, o.tags, s.labels, o.items, o.doc FROM old o JOIN shops s ON s.id = o.shop
  UNION ALL SELECT r.id, s.name, r.tags, s.labels, r.items, r.doc FROM recent r LEFT JOIN shops s ON s.id = r.shop AND s.open WHERE r.id < 3000
  UNION ALL SELECT id, 'none', tags, NULL, items, doc FROM old WHERE id < 20;
CREATE TABLE questions (id int, q text);
INSERT INTO questions SELECT n, q FROM unnest(ARRAY[
  'SELECT t, count(*) FROM joined, unnest(tags) t GROUP BY 1',
  'SELECT name, l, count(*), sum(id) FROM joined, unnest(labels) l GROUP BY 1, 2',
  'SELECT id, name, t, o FROM joined, unnest(tags) WITH ORDINALITY x(t, o) WHERE o = 1 AND name <> ''shop 3''',
  'SELECT i.sku, sum(i.n), count(*) FROM joined, unnest(items) i GROUP BY 1',
  'SELECT count(*) FROM joined JOIN LATERAL unnest(tags) t ON t = ''t'' || id % 3',
  'SELECT i, count(*) FROM joined, generate_subscripts(tags, 1) i GROUP BY 1',
  'SELECT t, count(DISTINCT id) FROM (SELECT a.id, b.tags FROM old a FULL JOIN recent b ON a.id = b.id UNION ALL SELECT id, tags FROM old) u, unnest(tags) t GROUP BY 1'
]) WITH ORDINALITY AS asked (q, n);
SELECT q, agree(q) AS answer FROM (SELECT q FROM questions ORDER BY id) s;
-- functions that may fail are PostgreSQL's, for the rows that the join gives
SET penumbra.mode = prefer;
SELECT t, l, count(*) FROM joined, unnest(tags) t, unnest(labels) l WHERE id < 1000 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT t, count(*) FROM (SELECT a.id, array_remove(b.tags, 't1') AS tags FROM shops a, old b WHERE a.id = b.shop UNION ALL SELECT id, labels FROM shops) u, unnest(tags) t GROUP BY 1 ORDER BY 1;
SELECT e, count(*) FROM (SELECT o.doc FROM old o JOIN shops s ON s.id = o.shop AND s.open UNION ALL SELECT doc FROM recent WHERE id < 0) u, jsonb_array_elements(doc) e GROUP BY 1 ORDER BY 1;
SELECT e, count(*) FROM (SELECT o.doc FROM old o JOIN shops s ON s.id = o.shop UNION ALL SELECT doc FROM recent WHERE id < 0) u, jsonb_array_elements(doc) e GROUP BY 1 ORDER BY 1;
-- and what comes after DISTINCT or groups
SELECT t, count(*) FROM (SELECT DISTINCT shop, tags FROM old UNION ALL SELECT shop, tags FROM recent) u, unnest(tags) t GROUP BY 1 ORDER BY 1;
SELECT t, count(*) FROM (SELECT shop, min(tags) AS tags FROM old GROUP BY shop UNION ALL SELECT shop, tags FROM recent) u, unnest(tags) t GROUP BY 1 ORDER BY 1;
RESET penumbra.mode;
DROP VIEW joined;
DROP TABLE old, recent, shops, questions;
DROP FUNCTION agree, rows_of;
DROP TYPE item;
