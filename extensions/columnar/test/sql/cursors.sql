-- What a statement has opened stays as it is until the statement ends, and is checked when it begins, as in PostgreSQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE opened (id int, kind int, note text);
INSERT INTO opened SELECT i, i % 3, 'note ' || i FROM generate_series(1, 5000) i;
CREATE TABLE halves (id int) PARTITION BY RANGE (id);
CREATE TABLE halves_low PARTITION OF halves FOR VALUES FROM (0) TO (1000);
CREATE TABLE halves_high PARTITION OF halves FOR VALUES FROM (1000) TO (9000);
INSERT INTO halves SELECT generate_series(0, 1999);
VACUUM opened, halves;
SET penumbra.mode = require;

-- an open cursor that nothing was fetched from: its tables are in use
CREATE FUNCTION while_open(query text, command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	result text;
BEGIN
	OPEN c FOR EXECUTE query;
	BEGIN
		EXECUTE command;
		RETURN NEXT 'done';
	EXCEPTION WHEN object_in_use THEN
		RETURN NEXT SQLERRM;
	END;
	FETCH c INTO result;
	RETURN NEXT 'then ' || result;
	CLOSE c;
END $$;
SELECT while_open('SELECT count(*) FROM opened', 'TRUNCATE opened');
SELECT while_open('SELECT sum(id) FROM opened', 'ALTER TABLE opened ALTER id TYPE bigint');
SELECT while_open('SELECT kind, count(*) FROM opened GROUP BY kind ORDER BY kind LIMIT 1', 'DROP TABLE opened');
SELECT while_open('SELECT DISTINCT kind FROM opened ORDER BY kind DESC LIMIT 1', 'TRUNCATE opened');
SELECT while_open('SELECT note FROM opened ORDER BY note LIMIT 1', 'ALTER TABLE opened ADD more float DEFAULT random()');
SELECT while_open('SELECT sum(id) FROM halves', 'TRUNCATE halves_high');
SELECT while_open('SELECT max(kind) + (SELECT max(id) FROM halves) FROM opened', 'TRUNCATE halves');
-- when it is closed they are not
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM opened;
FETCH c;
CLOSE c;
TRUNCATE opened;
ROLLBACK;
-- nor by a cursor that outlives its transaction, which has all its rows
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM opened;
COMMIT;
BEGIN;
TRUNCATE opened;
FETCH held;
ROLLBACK;
CLOSE held;
-- a prepared statement opens them in each execution, and EXPLAIN does not need them
PREPARE counted AS SELECT count(*), min(id) FROM opened;
EXECUTE counted;
EXECUTE counted;
EXPLAIN (COSTS OFF) EXECUTE counted;
-- executed again and again
SELECT h.id, (SELECT count(*) FROM opened o WHERE o.kind = h.id) FROM halves h WHERE h.id < 4 ORDER BY 1;

-- who may execute the functions of a query is the user who opened it, not who fetches
CREATE ROLE regress_opener;
CREATE ROLE regress_fetcher;
GRANT SELECT ON opened TO regress_opener, regress_fetcher;
REVOKE EXECUTE ON FUNCTION upper(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION upper(text) TO regress_opener;
CREATE FUNCTION open_for(INOUT c refcursor, query text) SECURITY DEFINER LANGUAGE plpgsql AS $$
BEGIN
	OPEN c FOR EXECUTE query;
END $$;
ALTER FUNCTION open_for(refcursor, text) OWNER TO regress_opener;
SET ROLE regress_fetcher;
SELECT max(upper(note)) FROM opened;
EXPLAIN (COSTS OFF) SELECT max(upper(note)) FROM opened;
BEGIN;
SELECT open_for('c', 'SELECT max(upper(note)) FROM opened');
FETCH c;
COMMIT;
-- also when the engine gives up at the first row, and PostgreSQL's own plan takes over
SET penumbra.mode = prefer;
BEGIN;
SELECT open_for('c', 'SELECT max(upper(note)), sum(1 / (id - 1)) FROM opened');
FETCH c;
ROLLBACK;
-- the other way round it is refused at once
RESET ROLE;
ALTER FUNCTION open_for(refcursor, text) OWNER TO regress_fetcher;
SET ROLE regress_opener;
SELECT open_for('c', 'SELECT max(upper(note)) FROM opened');
RESET ROLE;
-- in a scan's workers too
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET ROLE regress_fetcher;
EXPLAIN (COSTS OFF) SELECT note FROM opened WHERE upper(note) = 'NOTE 7' AND md5(note) > '0';
RESET ROLE;
GRANT EXECUTE ON FUNCTION upper(text) TO PUBLIC;
DROP FUNCTION while_open(text, text);
DROP TABLE opened, halves;
DROP OWNED BY regress_opener, regress_fetcher;
DROP ROLE regress_opener, regress_fetcher;
