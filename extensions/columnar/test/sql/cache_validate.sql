-- Validation: what is served after each kind of change. Three rows fit a page.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE EXTENSION IF NOT EXISTS penumbra_test;
CREATE TABLE pages (id int, v int, filler char(2000)) WITH (fillfactor = 100);
ALTER TABLE pages ALTER COLUMN filler SET STORAGE PLAIN;
INSERT INTO pages SELECT i, 0, 'x' FROM generate_series(1, 9000) i;
SELECT pg_relation_size('pages') / 8192 AS pages;

-- without a visibility map: by page LSNs
SELECT penumbra.load('pages', '{id, v}');
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
-- EXPLAIN says so
CREATE FUNCTION explain_pages(format text) RETURNS SETOF text LANGUAGE plpgsql SET penumbra.mode = require AS $$
DECLARE
	plan text;
BEGIN
	FOR plan IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT %s) SELECT sum(v) FROM pages', format) LOOP
		RETURN QUERY SELECT trim(line) FROM regexp_split_to_table(plan, E'\n') line WHERE line ~ '^ *"?Page';
	END LOOP;
END $$;
SELECT explain_pages('text');
SELECT explain_pages('json');
-- vacuum writes the map, with checksums new LSNs, too: then the first look proves rows; the stamps are renewed
VACUUM pages;
SELECT rows_from_cache, pages_from_heap, heap_ranges FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT explain_pages('text');
SELECT explain_pages('json');

-- an update fails two pages for good: the old row's, and the new row's is past the chunk
UPDATE pages SET v = 1 WHERE id = 10;
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
VACUUM pages;
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT changed_pages FROM penumbra.tables WHERE relid = 'pages'::regclass;
SELECT penumbra.refresh('pages');
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT sum(mismatches) FROM penumbra.verify('pages');

-- rolled back, all the same
BEGIN;
DELETE FROM pages WHERE id = 5000;
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
ROLLBACK;
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
-- a page that is not all-visible stays in the table until it is
SELECT penumbra.refresh('pages');
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');
VACUUM pages;
SELECT penumbra.refresh('pages') <= 1 AS ok;
SELECT * FROM penumbra.explain_coverage('pages', '{id, v}');

-- locks do not change rows, but may move the LSNs
BEGIN;
SELECT id FROM pages WHERE id = 100 FOR KEY SHARE;
COMMIT;
SELECT rows_from_cache BETWEEN 8997 AND 9000 FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT penumbra.refresh('pages') >= 0;

-- new pages, then fewer
INSERT INTO pages SELECT i, 0, 'x' FROM generate_series(9001, 9300) i;
SELECT pages_from_heap > 0 FROM penumbra.explain_coverage('pages', '{id, v}');
VACUUM pages;
SELECT penumbra.refresh('pages');
SELECT pages_from_heap, rows_from_cache FROM penumbra.explain_coverage('pages', '{id, v}');
DELETE FROM pages WHERE ctid >= '(1000,0)';
VACUUM pages;
SELECT pg_relation_size('pages') / 8192 < 1100 AS truncated;
SELECT rows_from_cache <= 3000 AS ok FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT sum(mismatches) FROM penumbra.verify('pages');
INSERT INTO pages SELECT i, 0, 'x' FROM generate_series(3001, 6000) i;
SELECT rows_from_cache <= 3000 AS ok FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT penumbra.refresh('pages') > 0;
SELECT rows_from_cache FROM penumbra.explain_coverage('pages', '{id, v}');
SELECT sum(mismatches) FROM penumbra.verify('pages');

-- pages that nobody has written yet, as an extension in bulk leaves them: cached for as long as they are empty
CREATE TABLE grown AS SELECT i AS a FROM generate_series(1, 100) i;
SELECT penumbra_test.add_new_pages('grown', 3);
SELECT penumbra.load('grown');
SELECT pages_from_cache, pages_from_heap FROM penumbra.explain_coverage('grown');
VACUUM grown; -- cuts them off
SELECT pages_from_cache, pages_from_heap FROM penumbra.explain_coverage('grown');
SELECT changed_pages, coverage_percent FROM penumbra.tables WHERE relid = 'grown'::regclass;
SELECT penumbra_test.add_new_pages('grown', 3);
SELECT pages_from_cache, pages_from_heap FROM penumbra.explain_coverage('grown');
VACUUM (TRUNCATE off) grown; -- tells inserts of them
SELECT penumbra.refresh('grown');
SELECT pages_from_cache, pages_from_heap FROM penumbra.explain_coverage('grown');
SELECT cached_pages, valid_percent FROM penumbra.tables WHERE relid = 'grown'::regclass;
INSERT INTO grown SELECT i FROM generate_series(101, 600) i;
SELECT pg_relation_size('grown') / 8192 AS pages;
SELECT pages_from_heap > 0 AS written FROM penumbra.explain_coverage('grown');
SET penumbra.mode = 'prefer';
SELECT count(*), sum(a) FROM grown;
RESET penumbra.mode;
SELECT sum(mismatches) FROM penumbra.verify('grown');
SELECT penumbra.refresh('grown');
SELECT rows_from_cache, pages_from_heap FROM penumbra.explain_coverage('grown');
SELECT sum(mismatches) FROM penumbra.verify('grown');
DROP TABLE grown;

-- verify finds what is wrong: a damaged header, a wrong value; and the load repairs nothing silently
CREATE TABLE damaged AS SELECT i AS a, 't' || i % 50 AS s FROM generate_series(1, 20000) i;
SELECT penumbra.load('damaged');
SELECT penumbra_test.damage('damaged', 1::smallint, 0);
SELECT column_name, pages_checked, mismatches, first_bad_block, problem FROM penumbra.verify('damaged');
SELECT penumbra_test.damage('damaged', 1::smallint, 0);
SELECT column_name, mismatches FROM penumbra.verify('damaged');
SELECT bool_or(penumbra_test.damage('damaged', 1::smallint, i * 64)) FROM generate_series(10, 60) i; -- within the first zone
SELECT column_name, mismatches > 0 AS found, problem FROM penumbra.verify('damaged');
SELECT penumbra.unload('damaged') > 0 AS dropped;
SELECT penumbra.load('damaged');
SELECT column_name, mismatches FROM penumbra.verify('damaged');
DROP TABLE damaged;

-- prepared transactions and dropped relations
BEGIN;
DROP TABLE pages;
PREPARE TRANSACTION 'drop pages';
ROLLBACK PREPARED 'drop pages';
SELECT penumbra.load('pages', '{id}') > 0;
SELECT rows_from_cache FROM penumbra.explain_coverage('pages', '{id}');
DROP TABLE pages;
SELECT count(*) FROM penumbra.tables;

-- a database's relations go with it
CREATE DATABASE elsewhere;
\c elsewhere
CREATE EXTENSION penumbra;
CREATE TABLE here AS SELECT 1 AS a;
SELECT penumbra.load('here');
\c regression
SELECT count(*) FROM penumbra.get_tables();
DROP DATABASE elsewhere;
SELECT count(*) FROM penumbra.get_tables();
SELECT size_class, pages, used_bytes FROM penumbra.memory;
