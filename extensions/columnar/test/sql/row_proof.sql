-- P3: rows of a page that was written since the load, by the rules' numbers in src/cache/README.md. Thirty rows fit a page.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE TABLE rows (id int, v int, filler char(200)) WITH (fillfactor = 90);
ALTER TABLE rows ALTER COLUMN filler SET STORAGE PLAIN;
INSERT INTO rows SELECT i, 0, 'x' FROM generate_series(1, 3000) i;
CREATE INDEX ON rows (id);
VACUUM (FREEZE) rows;
SELECT penumbra.load('rows', '{id, v}') > 0 AS loaded;

-- what both modes answer, what was served of it, and what verify says
CREATE FUNCTION look(OUT same boolean, OUT rows bigint, OUT sum bigint, OUT by_row boolean, OUT wrong bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE ours record; theirs record;
BEGIN
    SET LOCAL penumbra.mode = off;
    EXECUTE 'SELECT count(*) AS rows, sum(v) AS sum, sum(id) AS ids, min(id) AS least FROM rows' INTO theirs;
    SET LOCAL penumbra.mode = require;
    EXECUTE 'SELECT count(*) AS rows, sum(v) AS sum, sum(id) AS ids, min(id) AS least FROM rows' INTO ours;
    same := ours = theirs;
    rows := ours.rows;
    sum := ours.sum;
    SELECT pages_row_by_row > 0 INTO by_row FROM penumbra.explain_coverage('rows', '{id, v}');
    SELECT sum(mismatches) INTO wrong FROM penumbra.verify('rows');
END $$;
SELECT * FROM look();

-- W2, W3: an update within the page and its new row; a deleted row; one updated in vain; all on one page
UPDATE rows SET v = 1 WHERE id = 1;
SELECT * FROM look();
DELETE FROM rows WHERE id = 2;
SELECT * FROM look();
SELECT rows_from_cache, pages_row_by_row, pages_from_heap FROM penumbra.explain_coverage('rows', '{id, v}');
BEGIN;
UPDATE rows SET v = 1000 WHERE id = 3;
SELECT * FROM look();
ROLLBACK;
SELECT * FROM look();

-- W3: of one's own transaction and what is rolled back of it; a cursor sees neither
BEGIN;
DELETE FROM rows WHERE id = 4;
SAVEPOINT s;
UPDATE rows SET v = 500 WHERE id IN (5, 6);
SELECT * FROM look();
ROLLBACK TO s;
SELECT * FROM look();
SAVEPOINT s;
DELETE FROM rows WHERE id = 7;
SET LOCAL penumbra.mode = require;
DECLARE c CURSOR FOR SELECT count(*), sum(v) FROM rows;
UPDATE rows SET v = 100 WHERE id < 30;
FETCH c;
COMMIT;
SELECT * FROM look();

-- W3: locks of every strength, also of several, also below an update
BEGIN;
SELECT count(*) FROM (SELECT FROM rows WHERE id = 31 FOR KEY SHARE) l;
SELECT count(*) FROM (SELECT FROM rows WHERE id = 32 FOR SHARE) l;
SELECT count(*) FROM (SELECT FROM rows WHERE id = 33 FOR NO KEY UPDATE) l;
SELECT count(*) FROM (SELECT FROM rows WHERE id = 34 FOR UPDATE) l;
SAVEPOINT s;
UPDATE rows SET v = 7 WHERE id IN (31, 33);
SELECT * FROM look();
ROLLBACK TO s;
SELECT * FROM look();
COMMIT;
SELECT * FROM look();

-- W2: freezing leaves rows what they are
VACUUM (FREEZE) rows;
SELECT * FROM look();

-- W2: pruned pointers, then others' rows at them; a page of which rows were gone at load already
DELETE FROM rows WHERE id BETWEEN 61 AND 80;
VACUUM rows;
SELECT * FROM look();
INSERT INTO rows SELECT i, 10, 'y' FROM generate_series(5001, 5020) i;
SELECT * FROM look();
VACUUM rows;
DELETE FROM rows WHERE id % 3 = 0 AND id < 200;
VACUUM rows;
SELECT penumbra.unload('rows') > 0 AS unloaded, penumbra.load('rows', '{id, v}') > 0 AS loaded;
SELECT * FROM look();
UPDATE rows SET v = v + 1 WHERE id % 7 = 0 AND id < 200;
SELECT * FROM look();
DELETE FROM rows WHERE id % 5 = 0 AND id < 200;
VACUUM rows;
INSERT INTO rows SELECT i, 10, 'z' FROM generate_series(6001, 6020) i;
SELECT * FROM look();

-- W4: a serializable transaction reads the pages
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM look();
COMMIT;

-- W5: not where tuples may change in place
ALTER TABLE rows SET (user_catalog_table = true);
SELECT * FROM look();
ALTER TABLE rows RESET (user_catalog_table);
ALTER EXTENSION penumbra ADD TABLE rows;
SELECT * FROM look();
ALTER EXTENSION penumbra DROP TABLE rows;
SELECT * FROM look();

-- W6: every page was written; then the file is another one, with the same xmins: no chunk outlives its file
UPDATE rows SET v = v;
SELECT * FROM look();
CREATE FUNCTION cached() RETURNS boolean LANGUAGE sql AS
$$ SELECT coalesce(sum(chunks), 0) > 0 FROM penumbra.get_tables() WHERE relid = 'rows'::regclass $$;
SELECT cached();
BEGIN;
ALTER TABLE rows ALTER id TYPE bigint;
SAVEPOINT s;
ALTER TABLE rows ALTER id TYPE int;
ROLLBACK TO s;
SELECT cached();
ROLLBACK;
SELECT cached();
VACUUM FULL rows;
SELECT cached(), look.* FROM look();
SELECT penumbra.load('rows', '{id, v}') > 0 AS loaded;
BEGIN;
TRUNCATE rows;
PREPARE TRANSACTION 'truncated';
SELECT cached();
ROLLBACK PREPARED 'truncated';
SELECT * FROM look();

-- rows that are remembered beyond work_mem are pages of the heap
VACUUM rows;
INSERT INTO rows SELECT i, 1, 'z' FROM generate_series(10001, 60000) i;
VACUUM rows;
SELECT penumbra.unload('rows') > 0 AS unloaded, penumbra.load('rows', '{id, v}') > 0 AS loaded;
-- the new rows are at the end of the table, then in the places of the old
UPDATE rows SET v = 2 WHERE id % 2 = 0 AND id BETWEEN 10001 AND 34000;
VACUUM rows;
INSERT INTO rows SELECT i, 3, 'z' FROM generate_series(100001, 112000) i;
SELECT * FROM look();
SELECT pages_from_heap AS most FROM penumbra.explain_coverage('rows', '{id, v}') \gset
SET work_mem = '64kB';
SELECT * FROM look();
SELECT pages_from_heap > :most AS more FROM penumbra.explain_coverage('rows', '{id, v}');
RESET work_mem;

DROP FUNCTION look();
DROP FUNCTION cached();
DROP TABLE rows;

-- the planner knows that a page whose rows are proven one by one costs less than one of the heap
CREATE TABLE priced (id int, v int, filler char(200)) WITH (fillfactor = 80);
ALTER TABLE priced ALTER COLUMN filler SET STORAGE PLAIN;
INSERT INTO priced SELECT i, 0, 'x' FROM generate_series(1, 3000) i;
VACUUM ANALYZE priced;
SELECT penumbra.load('priced', '{id, v}') > 0 AS loaded;
UPDATE priced SET v = 1 WHERE id % 50 = 0;
CREATE FUNCTION price(mode text, OUT cost float8) LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    PERFORM set_config('penumbra.mode', mode, true);
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT sum(v) FROM priced' INTO plan;
    cost := plan->0->'Plan'->'Total Cost';
END $$;
SELECT pages_row_by_row > 50 AS by_row, pages_from_heap FROM penumbra.explain_coverage('priced', '{id, v}');
SELECT price('prefer') < 0.4 * price('off') AS is_cheap;
DROP FUNCTION price;
DROP TABLE priced;
