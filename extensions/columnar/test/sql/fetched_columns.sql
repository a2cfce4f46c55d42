-- Columns that the engine cannot read, of rows that it finds: they are fetched from the heap.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
CREATE TYPE pair AS (a int, b text);
CREATE TYPE stretch AS RANGE (subtype = int);
CREATE TABLE note (id int, gone text, doc jsonb, kind text, tags int[], span stretch, whole json, both_ pair, words tsvector, long_ jsonb, n numeric);
INSERT INTO note SELECT i, 'gone', jsonb_build_object('kind', 'k' || i % 500, 'n', i), 'k' || i % 300, CASE WHEN i % 7 > 0 THEN ARRAY[i, i % 3] END,
	stretch(i, i + 5), json_build_object('i', i), (i, 'b' || i)::pair, to_tsvector('simple', 'word' || i % 90 || ' other'),
	CASE WHEN i % 50 = 0 THEN jsonb_build_array(repeat(md5(i::text), 200), i) END, i / 8.0
FROM generate_series(1, 40000) i;
ALTER TABLE note DROP COLUMN gone;
ALTER TABLE note ADD COLUMN added jsonb DEFAULT '{"a": 1}';
VACUUM ANALYZE note;
SELECT penumbra.load('note', ARRAY['id', 'kind', 'n', 'doc->>''kind''']) > 0 AS loaded;
EXPLAIN (COSTS OFF) SELECT doc, id, tags FROM note WHERE kind = 'k7';
SELECT agree('SELECT * FROM note WHERE kind = ''k7''');
SELECT agree('SELECT tags, id, doc, n FROM note WHERE id BETWEEN 100 AND 180 ORDER BY id');
SELECT agree('SELECT doc, doc->>''kind'' FROM note WHERE doc->>''kind'' = ''k33''');
SELECT agree('SELECT long_ FROM note WHERE kind IN (''k50'', ''k51'')');
SELECT agree('SELECT span, whole::text, both_, words, added FROM note WHERE id % 1000 = 1');
-- whole rows are their columns
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT row_to_json(note) FROM note ORDER BY n DESC LIMIT 9;
RESET penumbra.mode;
SELECT agree('SELECT row_to_json(note)::text FROM note WHERE kind = ''k7'' ORDER BY n DESC LIMIT 9');
SELECT agree('SELECT note::text, to_jsonb(note) - ''doc'' FROM note WHERE id < 20');
SELECT agree('SELECT row_to_json(a)::text, b.id FROM note a LEFT JOIN note b ON b.id = a.id + 39990 WHERE a.id < 20');
SET penumbra.mode = prefer;
SELECT id, note IS NULL, note IS NOT NULL FROM note WHERE id IN (7, 50) ORDER BY id;
SELECT a.id, b IS NULL, row_to_json(b)->>'n' FROM note a LEFT JOIN note b ON b.id = a.id + 39997 WHERE a.id < 6 ORDER BY a.id;
SELECT count(note), jsonb_agg(note ORDER BY id)->0->>'doc' FROM note WHERE id < 400;
RESET penumbra.mode;
-- counts of rows that an outer join may lack: a column of its condition, one of the key, or the row
CREATE TABLE counted (k int, id int PRIMARY KEY, v text);
INSERT INTO counted SELECT CASE WHEN i % 3 > 0 THEN i % 50 END, i, CASE WHEN i % 4 > 0 THEN 'v' END FROM generate_series(1, 3000) i;
CREATE TABLE counted_child () INHERITS (counted);
INSERT INTO counted_child VALUES (7, 1, NULL), (NULL, 2, 'child'), (8, 1, NULL);
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT n.id, count(c) FROM note n LEFT JOIN counted c ON c.k = n.id GROUP BY n.id;
RESET penumbra.mode;
SELECT agree('SELECT n.id, count(c), count(c.*) FILTER (WHERE c.v IS NULL), count(n) FROM note n LEFT JOIN counted c ON n.id = c.k AND c.id > 9 GROUP BY n.id');
SELECT agree('SELECT count(c), count(n), count(*) FROM counted c RIGHT JOIN note n ON c.k = n.id');
SELECT agree('SELECT count(c) FROM note n LEFT JOIN ONLY counted c ON c.k IS NOT DISTINCT FROM n.id AND c.id > 2990');
SELECT agree('SELECT n.id % 7, count(c) FROM note n LEFT JOIN (counted c LEFT JOIN counted d ON d.k = c.id) ON c.k = n.id GROUP BY 1 HAVING count(d) > 3');
SELECT agree('SELECT n.id % 7, count(c) FROM note n LEFT JOIN counted c ON c.v || n.id = ''v9'' AND c.v = n.kind GROUP BY 1');
SELECT agree('SELECT n.id % 7, count(s) FROM note n LEFT JOIN (SELECT k, max(v) m FROM counted GROUP BY k) s ON s.k = n.id GROUP BY 1');
SET penumbra.mode = prefer;
-- a key says nothing of children
SELECT count(c), count(c.id), count(*) FROM note n FULL JOIN counted c ON c.k = n.id AND n.id < 9;
SELECT count(c), count(DISTINCT c), count(*) FROM note n LEFT JOIN counted c ON COALESCE(c.k, 7) = n.id WHERE n.id < 9;
RESET penumbra.mode;
DROP TABLE counted_child, counted;
-- kept conditions, of what is fetched
SELECT agree('SELECT id FROM note WHERE kind = ''k7'' AND words @@ ''word7''::tsquery AND span @> id + 1');
SELECT agree('SELECT id, (both_).b FROM note WHERE n > 4000 AND kind = ''k9'' AND (both_).a % 2 = 1');
-- casts that may end the engine's run
SET penumbra.mode = require;
SELECT id, doc FROM note WHERE doc->>'kind' = 'k44' AND substr(kind, 2)::int > 200 AND n < 500 ORDER BY id;
-- below other nodes
SET penumbra.mode = auto;
EXPLAIN (COSTS OFF) SELECT doc FROM note WHERE kind = 'k7' ORDER BY n DESC LIMIT 3;
SELECT doc FROM note WHERE kind = 'k7' ORDER BY n DESC LIMIT 3;
SELECT a.doc, b.tags FROM note a JOIN note b ON a.id = b.id + 300 WHERE a.kind = 'k7' AND b.kind = 'k7' AND a.id < 1000 ORDER BY a.id;
SELECT kind, (SELECT doc FROM note i WHERE i.kind = o.kind ORDER BY id LIMIT 1) FROM (VALUES ('k1'), ('k2'), ('none')) o (kind);
SELECT count(*), count(doc), jsonb_agg(doc->'n' ORDER BY id) FROM note WHERE kind = 'k8' AND id < 2000;
PREPARE found(text) AS SELECT id, doc FROM note WHERE kind = $1 AND id < 1000 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXECUTE found('k7');
EXECUTE found('k8');
-- rows that were changed since, by others and by the transaction itself
UPDATE note SET doc = '{"kind": "changed"}', kind = 'k7' WHERE id IN (1, 2, 39999);
DELETE FROM note WHERE id IN (7, 307);
SELECT agree('SELECT * FROM note WHERE kind = ''k7''');
BEGIN;
UPDATE note SET tags = '{7}' WHERE kind = 'k7' AND id < 5000;
INSERT INTO note (id, kind, doc) VALUES (50000, 'k7', '[]');
SELECT agree('SELECT id, tags, doc FROM note WHERE kind = ''k7''');
SAVEPOINT s;
DELETE FROM note WHERE kind = 'k7';
SELECT agree('SELECT id, tags, doc FROM note WHERE kind = ''k7''');
ROLLBACK TO s;
SELECT agree('SELECT id, tags, doc FROM note WHERE kind = ''k7''');
ROLLBACK;
VACUUM note;
SELECT agree('SELECT id, tags, doc FROM note WHERE kind = ''k7''');
-- cursors: of old snapshots, back and forth, and with a current row
SET penumbra.mode = prefer;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, doc, tags FROM note WHERE kind = 'k12';
FETCH 2 FROM c;
UPDATE note SET doc = '"later"' WHERE kind = 'k12';
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
BEGIN;
DECLARE d CURSOR FOR SELECT id, doc FROM note WHERE kind = 'k13';
FETCH 3 FROM d;
UPDATE note SET doc = '"current"' WHERE CURRENT OF d RETURNING id, doc;
DECLARE e CURSOR WITH HOLD FOR SELECT id, doc FROM note WHERE kind = 'k13' AND id < 1500 ORDER BY id;
COMMIT;
FETCH ALL FROM e;
CLOSE e;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT id, doc FROM note WHERE kind = 'k14' AND id < 1000 ORDER BY id;
COMMIT;
RESET penumbra.mode;
-- all rows, or what nothing can be read of, is PostgreSQL's
EXPLAIN (COSTS OFF) SELECT doc FROM note;
EXPLAIN (COSTS OFF) SELECT id FROM note WHERE doc->'n' IS NOT NULL AND tags IS NULL AND words IS NOT NULL;
-- rows of the result, above orders and joins
CREATE TABLE person (id int, name text, profile jsonb, parents int[]);
INSERT INTO person SELECT i, 'p' || i, CASE WHEN i % 3 > 0 THEN jsonb_build_object('p', i) END, ARRAY[i / 2, i / 3]
FROM generate_series(1, 20000, 2) i;
VACUUM ANALYZE person;
SELECT penumbra.load('person', ARRAY['id', 'name']) > 0 AS loaded;
EXPLAIN (COSTS OFF) SELECT * FROM note ORDER BY n DESC LIMIT 10;
SELECT agree('SELECT * FROM note ORDER BY n DESC LIMIT 10');
SELECT agree('SELECT id, upper(doc->>''n''), doc, long_ IS NULL, coalesce(tags, ''{}'') FROM note ORDER BY kind, id DESC LIMIT 20 OFFSET 500');
SELECT agree('SELECT doc, tags FROM note WHERE n > 100 ORDER BY n');
SELECT agree('SELECT id, doc->>''kind'', md5(tags::text) FROM note ORDER BY 2, id LIMIT 9');
EXPLAIN (COSTS OFF) SELECT n.id, n.doc, p.profile, p.name FROM note n LEFT JOIN person p USING (id) WHERE kind = 'k7' ORDER BY n DESC LIMIT 5;
SELECT agree('SELECT n.id, n.doc, p.profile, p.profile IS NULL, p.name FROM note n LEFT JOIN person p USING (id) WHERE kind = ''k7'' ORDER BY n DESC LIMIT 50');
SELECT agree('SELECT a.doc, b.tags, b.doc, c.parents FROM note a JOIN note b ON a.id = b.id + 300 FULL JOIN person c ON c.id = a.id AND c.id < 2000 WHERE a.id < 3000 OR a.id IS NULL');
SELECT agree('SELECT doc FROM note n WHERE EXISTS (SELECT FROM person p WHERE p.id = n.id AND name LIKE ''%77'')');
SELECT agree('SELECT profile->''p'', parents[1] FROM person p JOIN note n USING (id) WHERE n.kind IN (''k1'', ''k2'') AND p.name LIKE ''p11%1''');
SELECT agree('SELECT * FROM note JOIN (SELECT kind, max(n) AS n FROM note GROUP BY kind) m USING (kind, n) ORDER BY kind');
-- what is compared, or asked for by a subquery, is not fetched last
SELECT id FROM note WHERE doc IS NOT NULL AND added IS NULL ORDER BY n LIMIT 3;
SELECT id, tags FROM note WHERE kind = 'k7' ORDER BY tags DESC NULLS LAST, id LIMIT 2;
SELECT DISTINCT added FROM note;
SELECT n.id, s.doc FROM person n JOIN (SELECT id, doc, row_number() OVER (PARTITION BY kind ORDER BY id) AS r FROM note) s USING (id) WHERE r = 1 AND id < 10 ORDER BY 1;
SELECT id, doc, (SELECT name FROM person p WHERE p.id = n.id AND n.doc IS NOT NULL) FROM note n ORDER BY n DESC LIMIT 2;
SELECT count(*) FROM note n JOIN person p ON n.id = p.id AND (p.profile IS NULL) = (n.tags IS NULL);
SELECT id, doc FROM note ORDER BY n DESC LIMIT 1 FOR UPDATE;
CREATE TEMPORARY TABLE kept AS SELECT n.*, profile FROM note n LEFT JOIN person p USING (id) WHERE kind IN ('k10', 'k11');
SELECT count(*), count(doc), count(profile), md5(string_agg(doc::text || tags::text, ',' ORDER BY id)) FROM kept;
SET penumbra.mode = off;
SELECT count(*), count(doc), count(profile), md5(string_agg(n.doc::text || n.tags::text, ',' ORDER BY id))
FROM (SELECT n.*, profile FROM note n LEFT JOIN person p USING (id) WHERE kind IN ('k10', 'k11')) n;
SET penumbra.mode = prefer;
BEGIN;
DECLARE f SCROLL CURSOR FOR SELECT id, doc, profile FROM note LEFT JOIN person p USING (id) WHERE kind = 'k15' ORDER BY n;
FETCH 2 FROM f;
UPDATE note SET doc = '"later"' WHERE kind = 'k15';
DELETE FROM person WHERE id < 1000;
FETCH 2 FROM f;
FETCH BACKWARD 2 FROM f;
SELECT agree('SELECT id, doc, profile FROM note LEFT JOIN person p USING (id) WHERE kind = ''k15'' ORDER BY n LIMIT 7');
ROLLBACK;
RESET penumbra.mode;
ALTER TABLE person ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON person USING (profile IS NOT NULL);
CREATE ROLE fetched_reader;
GRANT SELECT (id, kind, n, doc) ON note TO fetched_reader;
GRANT SELECT ON person TO fetched_reader;
SET ROLE fetched_reader;
SELECT id, doc, profile FROM note JOIN person p USING (id) ORDER BY n LIMIT 3;
SELECT id, tags FROM note ORDER BY n LIMIT 3;
RESET ROLE;
DROP OWNED BY fetched_reader;
DROP ROLE fetched_reader;
-- columns that are not cached, though the engine could read them, of few rows
CREATE TABLE visit (id int, at timestamp, person int, page text, cost numeric, shown date, score float8);
INSERT INTO visit SELECT i, timestamp '2025-01-01' + i * 7919 % 1000003 * interval '1 s', i % 700, 'page ' || i % 90, i / 8.0,
	date '2025-01-01' + i % 365, CASE WHEN i % 9 > 0 THEN i / 3.0 END FROM generate_series(1, 40000) i;
ALTER TABLE visit ADD COLUMN later text DEFAULT 'none';
VACUUM ANALYZE visit;
SELECT penumbra.load('visit', ARRAY['at', 'person']) > 0 AS loaded;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT * FROM visit ORDER BY at DESC LIMIT 5;
EXPLAIN (COSTS OFF) SELECT page, upper(page), cost FROM visit WHERE person = 7;
-- read by a clause, an order or a group; of many rows; the first rows
EXPLAIN (COSTS OFF) SELECT * FROM visit WHERE person = 7 AND page < 'page 4' ORDER BY shown, at LIMIT 5;
EXPLAIN (COSTS OFF) SELECT page, count(*) FROM visit WHERE person = 7 GROUP BY 1 LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM visit ORDER BY at LIMIT 5000;
EXPLAIN (COSTS OFF) SELECT * FROM visit LIMIT 5;
RESET penumbra.mode;
SELECT agree('SELECT * FROM visit ORDER BY at DESC LIMIT 50');
SELECT agree('SELECT later, score, id + 1, id FROM visit ORDER BY at LIMIT 9 OFFSET 30');
SELECT agree('SELECT page, page, page || 1, cost FROM visit WHERE person = 7');
SELECT agree('SELECT v.*, n.kind FROM visit v LEFT JOIN note n ON n.id = v.person AND n.kind > ''k2'' WHERE person < 3 ORDER BY v.at, v.person LIMIT 20');
SELECT agree('SELECT n.id, v.page, v.cost FROM note n LEFT JOIN visit v ON v.person = n.id + 690 ORDER BY n.id, v.at LIMIT 700');
SELECT agree('SELECT a.page, b.cost FROM visit a JOIN visit b ON a.person = b.person AND a.at < b.at WHERE a.person = 7 ORDER BY a.at, b.at LIMIT 30');
PREPARE latest(int) AS SELECT * FROM visit ORDER BY at DESC LIMIT $1;
EXECUTE latest(2);
UPDATE visit SET page = 'new', later = NULL WHERE person = 7 AND id % 2 = 0;
DELETE FROM visit WHERE person = 7 AND id % 3 = 0;
SELECT agree('SELECT * FROM visit WHERE person = 7 ORDER BY at LIMIT 60');
-- of the first rows of groups, and beside windows
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (kind) * FROM note ORDER BY kind, n DESC, id;
EXPLAIN (COSTS OFF) SELECT id, doc, rank() OVER (PARTITION BY kind ORDER BY n) FROM note ORDER BY id LIMIT 5;
SELECT doc, lag(whole) OVER (ORDER BY id) FROM note;
RESET penumbra.mode;
SELECT agree('SELECT DISTINCT ON (kind) * FROM note ORDER BY kind, n DESC, id');
SELECT agree('SELECT DISTINCT ON (person) person, page, doc FROM visit LEFT JOIN note ON note.id = person ORDER BY person, at LIMIT 300');
SELECT agree('SELECT DISTINCT ON (kind, id % 2) doc, md5(doc::text) FROM note ORDER BY kind, id % 2, id');
SELECT agree('SELECT id, doc, tags, rank() OVER (PARTITION BY kind ORDER BY n), sum(n) OVER (ORDER BY id) FROM note WHERE id < 900');
SELECT agree('SELECT id, doc, doc->>''n'', lag(doc->>''n'') OVER (ORDER BY id) FROM note ORDER BY id LIMIT 50');
SELECT agree('SELECT doc, count(*) OVER () || doc::text FROM note WHERE kind = ''k7''');
SELECT agree('SELECT id, profile, row_number() OVER (ORDER BY id) FROM note LEFT JOIN person p USING (id) ORDER BY id LIMIT 2000');
-- through subqueries: the first of each group, and what the query around does with them
CREATE TABLE many AS SELECT * FROM visit, generate_series(1, 3);
VACUUM ANALYZE many;
SELECT penumbra.load('many', ARRAY['at', 'person', 'id']) > 0 AS loaded;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at DESC, id) AS rn FROM many) s WHERE rn = 1;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY n DESC, id) AS rn FROM note) s WHERE rn = 1 AND id > 9 ORDER BY n LIMIT 3;
EXPLAIN (COSTS OFF) SELECT p.profile, s.doc, s.tags FROM (SELECT doc, tags, id FROM note ORDER BY n DESC, id LIMIT 90) s LEFT JOIN person p USING (id) ORDER BY s.id;
-- what the query around reads is a column of all rows
EXPLAIN (COSTS OFF) SELECT id, page FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at) AS rn FROM many) s WHERE rn = 1 AND page > 'page 5' ORDER BY cost;
EXPLAIN (COSTS OFF) SELECT count(page) FROM (SELECT * FROM visit ORDER BY at LIMIT 90) s;
RESET penumbra.mode;
SELECT agree('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at DESC, id, generate_series) AS rn FROM many) s WHERE rn = 1');
SELECT agree('SELECT page, page || cost, shown, page FROM (SELECT *, page AS again, rank() OVER (PARTITION BY person ORDER BY at DESC) AS rn FROM visit) s WHERE rn <= 2 AND id % 2 = 0');
SELECT agree('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY n DESC, id) AS rn FROM note) s WHERE rn = 1 AND id > 9 ORDER BY n LIMIT 3');
SELECT agree('SELECT p.profile, s.doc, s.tags FROM (SELECT doc, tags, id FROM note ORDER BY n DESC, id LIMIT 90) s LEFT JOIN person p USING (id) ORDER BY s.id');
SELECT agree('SELECT p.id, s.doc, s.tags, s.doc FROM person p LEFT JOIN (SELECT doc, tags, id FROM note ORDER BY n DESC, id LIMIT 900) s USING (id) WHERE p.id > 15000 ORDER BY p.id');
SELECT agree('SELECT doc, later FROM (SELECT doc, id, r, n FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY id) AS r FROM note) s WHERE r < 3 ORDER BY n LIMIT 300) t JOIN (SELECT DISTINCT ON (person) * FROM visit ORDER BY person, at) v ON v.person = t.id ORDER BY t.id');
SELECT agree('SELECT a.doc, b.doc FROM (SELECT doc, id FROM note ORDER BY id LIMIT 50) a JOIN (SELECT doc, id FROM note ORDER BY id OFFSET 20 LIMIT 50) b USING (id) ORDER BY id');
SELECT agree('SELECT p.id, s.doc FROM person p CROSS JOIN LATERAL (SELECT doc, n FROM note WHERE note.id = p.id ORDER BY n LIMIT 1) s WHERE p.name LIKE ''p11%1'' ORDER BY 1');
SET penumbra.mode = prefer;
SELECT doc, doc->>'n' FROM (SELECT doc, id FROM note ORDER BY id LIMIT 5) s ORDER BY doc;
SELECT doc FROM (SELECT doc, id FROM note ORDER BY id LIMIT 5) s WHERE doc->>'n' > '3' ORDER BY id;
SELECT s FROM (SELECT doc, id FROM note ORDER BY id LIMIT 3) s ORDER BY id;
SELECT doc, id FROM (SELECT doc, id FROM note ORDER BY id LIMIT 2) s UNION ALL SELECT profile, id FROM (SELECT * FROM person ORDER BY id LIMIT 2) t;
SELECT count(doc), max(id) FROM (SELECT doc, id FROM note ORDER BY id LIMIT 50) s;
INSERT INTO kept (id, doc) SELECT id, doc FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 3) s RETURNING id, doc;
WITH c AS MATERIALIZED (SELECT doc, id FROM note ORDER BY id LIMIT 5) SELECT a.doc, b.doc FROM c a JOIN c b ON a.id = b.id + 1 ORDER BY a.id;
SELECT id, (SELECT doc FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 30) s WHERE s.id = p.id) FROM person p ORDER BY id DESC LIMIT 3;
RESET penumbra.mode;
UPDATE visit SET page = 'newer', at = at + interval '1 day' WHERE person = 9;
SELECT agree('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at DESC, id) AS rn FROM visit) s WHERE rn = 1 ORDER BY id');
-- of LATERAL subqueries: the first rows for each row of another table
CREATE TABLE kinds AS SELECT 'k' || i AS kind, i % 3 AS third, jsonb_build_array(i) AS also FROM generate_series(260, 310) i, generate_series(0, i % 2);
INSERT INTO kinds VALUES (NULL, 1, '[]');
VACUUM ANALYZE kinds;
SELECT penumbra.load('kinds', ARRAY['kind', 'third']) > 0 AS loaded;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT k.kind, s.* FROM kinds k LEFT JOIN LATERAL (SELECT * FROM note WHERE note.kind = k.kind ORDER BY n DESC LIMIT 2) s ON true;
EXPLAIN (COSTS OFF) SELECT also, s.doc, t.page FROM kinds k, LATERAL (SELECT doc, id FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 1) s
	LEFT JOIN LATERAL (SELECT page FROM visit v WHERE v.person = s.id ORDER BY at, v.id LIMIT 1) t ON true WHERE third = 1;
-- what is read of them; by a function, since versions name subqueries differently
CREATE FUNCTION fetching_nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Custom Scan|Columns From Heap' THEN
			RETURN NEXT ltrim(line, ' >-');
		END IF;
	END LOOP;
END $$;
SELECT fetching_nodes('SELECT k.kind, s.id FROM kinds k, LATERAL (SELECT * FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 1) s WHERE s.doc IS NOT NULL');
RESET penumbra.mode;
SELECT agree('SELECT k.kind, s.* FROM kinds k LEFT JOIN LATERAL (SELECT * FROM note WHERE note.kind = k.kind ORDER BY n DESC LIMIT 2) s ON true ORDER BY k.kind, id');
SELECT agree('SELECT k.kind, s.doc, s.doc, doc->>''n'', also FROM kinds k CROSS JOIN LATERAL (SELECT doc, tags, n FROM note WHERE note.kind = k.kind ORDER BY n OFFSET 1 LIMIT 3) s WHERE third > 0 ORDER BY k.kind, n');
SELECT agree('SELECT also, s.doc, t.page FROM kinds k, LATERAL (SELECT doc, id FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 1) s LEFT JOIN LATERAL (SELECT page FROM visit v WHERE v.person = s.id ORDER BY at, v.id LIMIT 1) t ON true WHERE third = 1 ORDER BY k.kind');
SELECT agree('SELECT k.kind, s.id, s.tags FROM kinds k, LATERAL (SELECT * FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 1) s WHERE s.doc IS NOT NULL ORDER BY k.kind');
SELECT agree('SELECT k.kind, s.doc FROM kinds k, LATERAL (SELECT * FROM (SELECT doc, kind, n FROM note WHERE id > 9) x WHERE x.kind = k.kind ORDER BY n LIMIT 2) s ORDER BY k.kind, n');
SELECT agree('SELECT k.kind, s.doc, s.profile FROM kinds k, LATERAL (SELECT doc, profile, n FROM note JOIN person p USING (id) WHERE note.kind = k.kind ORDER BY n LIMIT 2) s ORDER BY k.kind, n');
SELECT agree('SELECT k.third, s.doc FROM kinds k, LATERAL (SELECT doc, n FROM note WHERE note.kind = k.kind AND note.id % 7 <> k.third ORDER BY n LIMIT 2) s ORDER BY k.kind, n');
SELECT agree('SELECT a.doc, s.doc, s.id FROM note a, LATERAL (SELECT doc, b.id FROM note b WHERE b.kind = a.kind AND b.id > a.id ORDER BY b.id LIMIT 1) s WHERE a.id < 200 ORDER BY a.id');
SELECT agree('SELECT * FROM (SELECT k.kind, s.doc, s.n FROM kinds k LEFT JOIN LATERAL (SELECT doc, n FROM note WHERE note.kind = k.kind ORDER BY n DESC LIMIT 2) s ON true) y ORDER BY n, kind LIMIT 40');
SELECT agree('SELECT k.kind, s.doc, t.x FROM kinds k, LATERAL (SELECT doc, id FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 2) s, LATERAL (SELECT s.doc->>''n'' AS x) t ORDER BY k.kind, id');
SELECT agree('SELECT third, count(s.doc), min(s.doc::text) FROM kinds k LEFT JOIN LATERAL (SELECT doc FROM note WHERE note.kind = k.kind ORDER BY n LIMIT 2) s ON true GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT k.kind, s.* FROM kinds k, LATERAL (SELECT * FROM (SELECT doc, kind, rank() OVER (PARTITION BY kind ORDER BY id) AS r FROM note) w WHERE r < 3 AND w.kind = k.kind) s ORDER BY k.kind, r');
SET penumbra.mode = prefer;
BEGIN;
DECLARE l SCROLL CURSOR FOR SELECT k.kind, s.doc FROM (SELECT DISTINCT kind FROM kinds WHERE third = 2) k, LATERAL (SELECT doc FROM note WHERE note.kind = k.kind ORDER BY n DESC LIMIT 1) s ORDER BY k.kind;
FETCH 2 FROM l;
UPDATE note SET doc = '"later"' WHERE kind LIKE 'k28%';
DELETE FROM note WHERE kind = 'k281';
FETCH 2 FROM l;
FETCH BACKWARD 2 FROM l;
SELECT agree('SELECT k.kind, s.doc FROM kinds k LEFT JOIN LATERAL (SELECT doc FROM note WHERE note.kind = k.kind ORDER BY n DESC LIMIT 1) s ON true ORDER BY k.kind');
ROLLBACK;
-- what ends with a node of its own: members of UNION ALL, CTEs, subqueries that are values, what is read above
SET penumbra.mode = require;
SELECT fetching_nodes('(SELECT doc, id FROM note ORDER BY n DESC LIMIT 3) UNION ALL (SELECT profile, id FROM person ORDER BY id LIMIT 3)');
SELECT fetching_nodes('WITH c AS MATERIALIZED (SELECT * FROM note ORDER BY n DESC LIMIT 5) SELECT a.doc, b.doc FROM c a JOIN c b ON a.id = b.id + 1');
SELECT fetching_nodes('SELECT third, (SELECT doc FROM note WHERE note.id = k.third ORDER BY n LIMIT 1) FROM kinds k');
SELECT fetching_nodes('SELECT id FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 9) s WHERE doc->>''n'' > ''3999''');
SELECT fetching_nodes('INSERT INTO kept (id, doc) SELECT id, doc FROM note ORDER BY n DESC LIMIT 3');
-- CTEs of whose columns the readers have none that is fetched, and what compares them
EXPLAIN (COSTS OFF) WITH c AS (SELECT * FROM note ORDER BY n DESC LIMIT 50) SELECT count(*), max(a.n) FROM c a JOIN c b ON a.id = b.id + 1;
RESET penumbra.mode;
SELECT agree('(SELECT doc, id FROM note ORDER BY n DESC LIMIT 90) UNION ALL (SELECT profile, id FROM person ORDER BY id LIMIT 90)');
SELECT agree('SELECT * FROM ((SELECT doc, id FROM note ORDER BY n DESC LIMIT 9) UNION ALL (SELECT profile, id FROM person ORDER BY id LIMIT 9)) u ORDER BY id, doc');
SELECT agree('WITH c AS MATERIALIZED (SELECT * FROM note ORDER BY n DESC LIMIT 50) SELECT a.doc, b.doc, b.tags FROM c a JOIN c b ON a.id = b.id + 1 ORDER BY a.id');
SELECT agree('WITH c AS (SELECT * FROM note ORDER BY n DESC LIMIT 50) SELECT count(*), max(a.n) FROM c a JOIN c b ON a.id = b.id + 1 ORDER BY 1');
SELECT agree('WITH c AS (SELECT doc, id FROM note ORDER BY n DESC LIMIT 50) SELECT a.doc FROM c a WHERE id IN (SELECT id + 1 FROM c) UNION ALL SELECT doc FROM c WHERE id % 2 = 0 ORDER BY 1');
SELECT agree('SELECT third, (SELECT doc FROM note WHERE note.id = k.third ORDER BY n LIMIT 1), EXISTS (SELECT doc FROM note WHERE note.id = k.third) FROM kinds k ORDER BY kind');
SELECT agree('SELECT id, (SELECT doc FROM note ORDER BY n DESC LIMIT 1) FROM person p WHERE id < 9 ORDER BY id');
SELECT agree('SELECT id, profile FROM person WHERE profile = ANY (SELECT jsonb_build_object(''p'', id) FROM note WHERE kind = ''k7'') ORDER BY id');
SELECT agree('SELECT id, doc->>''kind'' FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 900) s WHERE doc->>''n'' > ''3999'' ORDER BY id');
SELECT agree('SELECT doc->''kind'', count(*) FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 900) s GROUP BY 1 ORDER BY 1');
SELECT agree('SELECT doc, id FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 90) s EXCEPT SELECT doc, id FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 9) t ORDER BY 2');
SELECT agree('SELECT x.doc, x.r FROM (SELECT s.doc, s.id, rank() OVER (ORDER BY s.id) AS r FROM (SELECT doc, id FROM note ORDER BY n DESC LIMIT 90) s JOIN note USING (id)) x WHERE x.doc IS NOT NULL ORDER BY x.id');
UPDATE kept SET doc = s.doc FROM (SELECT doc, id FROM note ORDER BY n DESC, id LIMIT 3) s WHERE kept.id = s.id;
UPDATE note SET doc = s.doc FROM (SELECT doc, id + 1 AS id FROM note ORDER BY n DESC, id LIMIT 3) s WHERE note.id = s.id RETURNING note.id, note.doc;
RESET penumbra.mode;
DROP TABLE kinds;
-- of rows that PostgreSQL finds
CREATE UNLOGGED TABLE side AS SELECT id, id % 5 AS k FROM note WHERE id < 200;
SET penumbra.mode = prefer;
SELECT n.doc, v.page, v.later FROM visit v JOIN note n ON n.kind = 'k7' AND n.n < 1 + v.id WHERE (SELECT max(k) FROM side s WHERE s.id = v.id) = 3 ORDER BY v.id, n.id LIMIT 3;
SELECT n.doc, n.tags FROM (VALUES (1), (2)) t (i) JOIN note n ON true WHERE (SELECT max(k) FROM side s WHERE s.id = n.id) = i ORDER BY n.id, i LIMIT 3;
RESET penumbra.mode;
DROP TABLE side;
-- partitions, each for itself
CREATE TABLE part (id int, kind text, doc jsonb) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (20000);
CREATE TABLE part_2 (doc jsonb, id int, kind text);
ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM (20000) TO (50000);
INSERT INTO part SELECT id, kind, doc FROM note;
VACUUM ANALYZE part;
SELECT penumbra.load('part_1', ARRAY['id', 'kind']) > 0, penumbra.load('part_2', ARRAY['id', 'kind']) > 0 AS loaded;
SELECT agree('SELECT * FROM part WHERE kind = ''k7''');
-- of the rows of the result: the position tells the partition
CREATE TABLE tree (note text, at timestamp, id int, person int, page text, doc jsonb, cost numeric) PARTITION BY RANGE (person);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES FROM (0) TO (250) PARTITION BY LIST (page);
CREATE TABLE tree_1_a PARTITION OF tree_1 FOR VALUES IN ('page 1', 'page 2', 'page 3');
CREATE TABLE tree_1_b PARTITION OF tree_1 DEFAULT;
CREATE TABLE tree_2 (gone int, doc jsonb, cost numeric, page text, person int, at timestamp, id int, note text);
ALTER TABLE tree_2 DROP COLUMN gone;
ALTER TABLE tree ATTACH PARTITION tree_2 FOR VALUES FROM (250) TO (500);
CREATE TABLE tree_3 PARTITION OF tree DEFAULT;
INSERT INTO tree SELECT md5(v.id::text), v.at, v.id, v.person, v.page, n.doc, v.cost FROM visit v JOIN note n ON n.id = v.id;
VACUUM ANALYZE tree;
SELECT min(penumbra.load(t, ARRAY['at', 'id', 'person'])) > 0 AS loaded FROM unnest('{tree_1_a,tree_1_b,tree_2,tree_3}'::regclass[]) t;
SET penumbra.mode = require;
EXPLAIN (COSTS OFF) SELECT * FROM tree ORDER BY at DESC, id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person % 90 ORDER BY at DESC, id) AS rn FROM tree) s WHERE rn = 1;
-- read otherwise
EXPLAIN (COSTS OFF) SELECT id, note FROM tree WHERE cost > 100 ORDER BY at, page LIMIT 5;
RESET penumbra.mode;
SELECT agree('SELECT * FROM tree ORDER BY at DESC, id LIMIT 300');
SELECT agree('SELECT doc->>''n'', doc, upper(note), cost FROM tree ORDER BY at DESC, id LIMIT 200 OFFSET 50');
SELECT agree('SELECT * FROM tree ORDER BY person, id LIMIT 100');
SELECT agree('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY person % 90 ORDER BY at DESC, id) AS rn FROM tree) s WHERE rn = 1');
SELECT agree('SELECT t.doc, v.page, v.later, t.cost FROM tree t JOIN visit v USING (id) WHERE v.person < 9 ORDER BY v.at, id LIMIT 90');
SELECT agree('SELECT a.doc, b.note FROM tree a LEFT JOIN tree b ON a.id = b.person AND b.at < ''2025-01-02'' WHERE a.person = 8 ORDER BY a.at, a.id, b.id');
SELECT agree('SELECT DISTINCT ON (person) * FROM tree ORDER BY person, at, id');
UPDATE tree SET note = 'moved', person = person + 250 WHERE id % 700 = 3;
UPDATE tree SET doc = '[]' WHERE at > '2025-01-12';
DELETE FROM tree WHERE id % 11 = 0;
INSERT INTO tree (id, at, person) SELECT i, '2025-02-01', i FROM generate_series(1, 900, 100) i;
SELECT agree('SELECT * FROM tree ORDER BY at DESC, id LIMIT 300');
SELECT agree('SELECT p.id, s.* FROM person p, LATERAL (SELECT * FROM tree WHERE tree.person = p.id ORDER BY at DESC, id LIMIT 1) s WHERE p.id < 200 ORDER BY p.id');
-- a partition that is not cached, one that is out of the tree, and one of another schema of columns
CREATE TABLE tree_4 (LIKE tree_2 INCLUDING ALL);
INSERT INTO tree_4 SELECT doc, cost, page, person + 10000, at + interval '3 days', id, note FROM tree_2;
ALTER TABLE tree ATTACH PARTITION tree_4 FOR VALUES FROM (10000) TO (20000);
VACUUM ANALYZE tree;
SELECT agree('SELECT * FROM tree ORDER BY at DESC, id LIMIT 300');
PREPARE newest(int) AS SELECT id, person, cost, doc FROM tree WHERE person > $1 ORDER BY at DESC, id LIMIT 4;
EXECUTE newest(9);
ALTER TABLE tree DETACH PARTITION tree_4;
EXECUTE newest(9);
CREATE TABLE old_ (id int, at timestamp, doc jsonb, name text);
CREATE TABLE old_new (extra text DEFAULT 'x') INHERITS (old_);
INSERT INTO old_ SELECT id, at, doc FROM tree WHERE id < 9000;
INSERT INTO old_new SELECT id, at, doc FROM tree WHERE id >= 9000;
VACUUM ANALYZE old_, old_new;
SELECT penumbra.load('old_', ARRAY['at', 'id']) > 0, penumbra.load('old_new', ARRAY['at', 'id']) > 0 AS loaded;
SELECT agree('SELECT * FROM old_ ORDER BY at, id LIMIT 200');
SELECT agree('SELECT doc, id FROM (SELECT * FROM old_ ORDER BY at, id LIMIT 200) s ORDER BY id');
SELECT tableoid::regclass, doc FROM old_ ORDER BY at, id LIMIT 2;
DROP TABLE note, person, part, kept, visit, many, tree, tree_4, old_, old_new;
DROP TYPE pair, stretch;
DROP FUNCTION agree, rows_of, fetching_nodes;
