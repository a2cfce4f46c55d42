-- Patches: decided new rows of a chunk's pages, by the rules' numbers in src/cache/README.md. Thirty rows fit a page.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SELECT sum(used_bytes) AS used_before FROM penumbra.get_memory() \gset
CREATE TABLE patched (id int, v int, note text, filler char(200)) WITH (fillfactor = 80, autovacuum_enabled = off);
ALTER TABLE patched ALTER COLUMN filler SET STORAGE PLAIN;
ALTER TABLE patched ALTER COLUMN note SET STORAGE EXTERNAL;
INSERT INTO patched SELECT i, 0, 'note ' || i, 'x' FROM generate_series(1, 6000) i;
CREATE INDEX ON patched (id);
VACUUM (FREEZE) patched;
SELECT penumbra.load('patched', '{id, v, note}') > 0 AS loaded;

-- what both modes answer, what was served of it, and what verify says; a chunk and its patch are two of "chunks"
CREATE FUNCTION look(OUT same boolean, OUT sum bigint, OUT chunks bigint, OUT by_row bigint, OUT heap bigint,
                     OUT wrong bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE ours record; theirs record;
BEGIN
    SET LOCAL penumbra.mode = off;
    EXECUTE 'SELECT count(*), sum(v) AS sum, sum(id) AS ids, min(id), max(note), count(note) FROM patched' INTO theirs;
    SET LOCAL penumbra.mode = require;
    EXECUTE 'SELECT count(*), sum(v) AS sum, sum(id) AS ids, min(id), max(note), count(note) FROM patched' INTO ours;
    same := ours = theirs;
    sum := ours.sum;
    SELECT s.chunks, pages_row_by_row, pages_from_heap INTO chunks, by_row, heap
    FROM penumbra.explain_coverage('patched', '{id, v, note}') s;
    SELECT sum(mismatches) INTO wrong FROM penumbra.verify('patched');
END $$;
SELECT * FROM look();

-- W9: new rows of updates within the page, on many pages; the page costs what P2 costs, without VACUUM
UPDATE patched SET v = 1 WHERE id % 60 = 0;
SELECT by_row > 50 AS by_row, same, sum, chunks, heap, wrong FROM look();
SELECT memory_bytes AS bytes_without FROM penumbra.get_tables() WHERE relid = 'patched'::regclass \gset
SELECT penumbra.refresh('patched') AS patched;
SELECT memory_bytes > :bytes_without AS counts_patch FROM penumbra.get_tables() WHERE relid = 'patched'::regclass;
SELECT * FROM look();
-- nothing to do any more
SELECT penumbra.refresh('patched') AS patched;

-- W9: a page that is written again is proven row by row again, the others are not
UPDATE patched SET v = 2 WHERE id = 60;
SELECT * FROM look();
SELECT penumbra.refresh('patched') AS patched;
SELECT * FROM look();

-- W15: of the pages that are as they were the patch before is enough: the heap is asked about few
UPDATE patched SET v = 2 WHERE id = 120;
SELECT heap_bytes AS bytes_before FROM penumbra.activity \gset
SELECT penumbra.refresh('patched') AS patched;
SELECT heap_bytes - :bytes_before < 5 * 8192 AS asked_few FROM penumbra.activity;
SELECT * FROM look();

-- W10: not while a transaction is open, nor of its rows when it was undone; the other pages have their patch
UPDATE patched SET v = 1 WHERE id % 90 = 1;
BEGIN;
UPDATE patched SET v = 1000 WHERE id IN (61, 600);
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT * FROM look();
ROLLBACK;
SELECT * FROM look();
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT * FROM look();
-- locks are no deleters
BEGIN;
SELECT count(*) FROM (SELECT FROM patched WHERE id IN (1, 60, 120) FOR UPDATE) l;
SELECT same, sum, chunks, wrong FROM look();
COMMIT;
-- twice: since 19 reads set bits of the map, after which a page can need the next refresh
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT * FROM look();

-- W14: rows of the patch that die, and of the chunk: where no new row is left the chunk alone proves the page
DELETE FROM patched WHERE id IN (60, 121, 122, 123);
SELECT * FROM look();
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT * FROM look();
-- vacuum moves rows within pages
VACUUM patched;
SELECT same, sum, chunks, by_row > 0 AS by_row, wrong FROM look();
SELECT penumbra.refresh('patched') >= 0 AS patched;
SELECT * FROM look();
-- W13: and sets the map's bits: a scan renews the stamps
SELECT count(*) AS bits_set FROM penumbra.explain_coverage('patched', '{id}') WHERE pages_row_by_row = 0;

-- W10: a new row at the place of one that was known to be dead, and of one that nobody saw dead
SELECT penumbra.unload('patched') > 0 AS unloaded, penumbra.load('patched', '{id, v, note}') > 0 AS loaded;
CREATE TABLE places AS SELECT ctid AS place, id FROM patched WHERE id BETWEEN 2001 AND 4000;
DELETE FROM patched WHERE id BETWEEN 2001 AND 2080;
SELECT * FROM look();
VACUUM patched;
INSERT INTO patched SELECT i, 6, 'reused ' || i, 'y' FROM generate_series(11001, 11060) i;
SELECT count(*) > 10 AS reused FROM patched WHERE id > 11000 AND ctid IN (SELECT place FROM places);
SELECT penumbra.refresh('patched') AS patched;
SELECT * FROM look();
DELETE FROM patched WHERE id BETWEEN 3001 AND 3080;
VACUUM patched;
INSERT INTO patched SELECT i, 7, 'unseen ' || i, 'y' FROM generate_series(12001, 12060) i;
SELECT count(*) > 10 AS reused FROM patched WHERE id > 12000 AND ctid IN (SELECT place FROM places);
SELECT same, sum, heap, wrong FROM look();
SELECT penumbra.refresh('patched') >= 0 AS loaded;
SELECT * FROM look();

-- W11: the columns of a patch are those of the chunk; a further one needs another chunk
SELECT penumbra.unload('patched') > 0 AS unloaded, penumbra.load('patched', '{id, v, note}') > 0 AS loaded;
UPDATE patched SET v = 3 WHERE id % 70 = 0;
SELECT penumbra.refresh('patched') AS patched;
SELECT chunks FROM look();
SELECT penumbra.load('patched', '{filler}') AS loaded;
SELECT * FROM look();
SET penumbra.mode = require;
SELECT count(filler), sum(v) FROM patched;
RESET penumbra.mode;

-- W11: large values are left out, nulls and detoasted ones are not
SELECT penumbra.unload('patched') > 0 AS unloaded, penumbra.load('patched', '{id, v, note}') > 0 AS loaded;
UPDATE patched SET note = NULL WHERE id = 200;
UPDATE patched SET note = repeat(md5(id::text), 100) WHERE id = 300;
UPDATE patched SET note = repeat(md5(id::text), 10000) WHERE id = 400;
SELECT same, sum, wrong FROM look();

-- W12: more rows than a patch may have: the chunk is built anew
SELECT penumbra.refresh('patched') AS patched;
SELECT * FROM look();
UPDATE patched SET v = 4 WHERE id % 10 = 0;
SELECT penumbra.refresh('patched') AS loaded;
SELECT * FROM look();

-- W5: not where tuples may change in place
UPDATE patched SET v = 6 WHERE id % 61 = 0;
ALTER TABLE patched SET (user_catalog_table = true);
SELECT penumbra.refresh('patched') >= 0 AS loaded;
SELECT * FROM look();
ALTER TABLE patched RESET (user_catalog_table);

-- W13: zone maps, filters and groups see a patch as they see a chunk
SELECT penumbra.refresh('patched') >= 0 AS loaded;
UPDATE patched SET v = id + 100000 WHERE id % 67 = 0;
SELECT penumbra.refresh('patched') AS patched;
SET penumbra.mode = prefer;
SELECT count(*), min(v), max(v) FROM patched WHERE v > 100000;
SELECT v > 100000 AS large, count(*), min(id) FROM patched GROUP BY 1 ORDER BY 1;
-- where the rows of a patch are, also those that it took from the patch before
CREATE FUNCTION misplaced(OUT updated int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
	c CURSOR FOR SELECT id, v FROM patched WHERE v > 100000;
	seen record;
	changed int;
BEGIN
	updated := 0;
	wrong := 0;
	OPEN c;
	LOOP
		FETCH c INTO seen;
		EXIT WHEN NOT FOUND;
		UPDATE patched SET v = v WHERE CURRENT OF c RETURNING id INTO changed;
		updated := updated + 1;
		wrong := wrong + (changed IS DISTINCT FROM seen.id)::int;
	END LOOP;
END $$;
BEGIN;
SELECT updated > 0 AS updated, wrong FROM misplaced();
ROLLBACK;
UPDATE patched SET v = id + 100000 WHERE id % 331 = 0;
SELECT penumbra.refresh('patched') AS patched;
BEGIN;
SELECT updated > 0 AS updated, wrong FROM misplaced();
ROLLBACK;
DROP FUNCTION misplaced;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(v) FROM patched WHERE note ~ '7$';
RESET penumbra.mode;
SELECT count(*), sum(v) FROM patched WHERE note ~ '7$';

-- W8: where only rows die nothing is built anew, be they vacuumed or not, until most are dead
VACUUM patched;
SELECT penumbra.unload('patched') > 0 AS unloaded, penumbra.load('patched', '{id, v, note}') > 0 AS loaded;
DELETE FROM patched WHERE id % 4 = 1;
SELECT penumbra.refresh('patched') AS built;
SELECT same, chunks, by_row, heap, wrong FROM look();
VACUUM patched;
SELECT penumbra.refresh('patched') AS built;
SELECT same, chunks, by_row, heap, wrong FROM look();
DELETE FROM patched WHERE id % 4 <> 2;
VACUUM patched;
SELECT penumbra.refresh('patched') AS built;
SELECT same, chunks, by_row, heap, wrong FROM look();

-- its memory is given back with the chunk
SELECT penumbra.unload('patched') > 0 AS unloaded;
SELECT sum(used_bytes) = :used_before AS all_is_free FROM penumbra.get_memory();

DROP FUNCTION look();
DROP TABLE patched, places;
