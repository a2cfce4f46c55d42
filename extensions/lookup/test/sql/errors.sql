-- Executions that an error breaks off, nested ones, and cursors.
CREATE EXTENSION penumbra_lookup;
CREATE VIEW taken AS SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready';

CREATE TABLE items (id int PRIMARY KEY, parent int, name text);
INSERT INTO items SELECT i, i / 2, 'item ' || i FROM generate_series(1, 1000) i;
CREATE INDEX ON items (parent, id);
VACUUM ANALYZE items;

-- an error in an expression, in and out of a subtransaction
PREPARE divided(int, int) AS SELECT id / $2 FROM items WHERE id = $1;
EXECUTE divided(6, 2);
EXECUTE divided(6, 2);
EXECUTE divided(6, 2);
EXECUTE divided(6, 0);
EXECUTE divided(6, 3);
EXECUTE divided(6, 3);
EXECUTE divided(6, 3);
BEGIN;
EXECUTE divided(6, 1);
SAVEPOINT a;
EXECUTE divided(6, 0);
ROLLBACK TO a;
EXECUTE divided(6, 2);
EXECUTE divided(6, 2);
EXECUTE divided(6, 0);
ROLLBACK;
EXECUTE divided(6, 2);

-- exceptions in a loop
CREATE FUNCTION caught(divisors int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	divisor int;
	result int;
	results text := '';
BEGIN
	FOREACH divisor IN ARRAY divisors LOOP
		BEGIN
			SELECT id / divisor INTO STRICT result FROM items WHERE id = 12;
			results := results || ' ' || result;
		EXCEPTION WHEN division_by_zero THEN
			results := results || ' -';
		END;
	END LOOP;
	RETURN results;
END $$;
SELECT caught('{1,2,3,0,0,4,0,6,12,0,1,2,3}');
SELECT caught('{0,0,0,0,1}');

-- recursion: the state is in use
CREATE FUNCTION depth(wanted int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	SELECT CASE WHEN parent = 0 THEN 1 ELSE depth(parent) + 1 END INTO result FROM items WHERE id = wanted;
	RETURN result;
END $$;
SELECT depth(i) FROM unnest('{1000,1000,17,1000,3}'::int[]) i;
CREATE FUNCTION endless(wanted int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	result int;
BEGIN
	SELECT CASE WHEN wanted > 0 THEN endless(id) ELSE 1 END INTO result FROM items WHERE id = greatest(wanted, 1);
	RETURN result;
END $$;
SELECT endless(0), endless(0), endless(0);
\set VERBOSITY sqlstate
SELECT endless(1);
\set VERBOSITY default
SELECT endless(0), endless(0), endless(0);

-- a function that changes what the execution reads from
CREATE FUNCTION change_name(wanted int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	UPDATE items SET name = name || '*' WHERE id = wanted;
	RETURN 'changed';
END $$;
PREPARE changes(int) AS SELECT change_name(id), name FROM items WHERE id = $1;
EXECUTE changes(7);
EXECUTE changes(7);
EXECUTE changes(7);
EXECUTE changes(7);
CREATE FUNCTION add_index() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	CREATE INDEX IF NOT EXISTS items_other ON others (name);
	RETURN 1;
END $$;
CREATE TABLE others (id int PRIMARY KEY, name text);
INSERT INTO others SELECT i, i FROM generate_series(1, 10) i;
PREPARE adds(int) AS SELECT CASE WHEN $1 > 2 THEN add_index() END, id FROM others WHERE id = $1;
EXECUTE adds(1);
EXECUTE adds(2);
EXECUTE adds(1);
EXECUTE adds(3);
EXECUTE adds(2);

-- cursors: of two at once one takes the state; scrolling; held over the end of the transaction
PREPARE children(int) AS SELECT id FROM items WHERE parent >= $1 ORDER BY parent, id;
CREATE FUNCTION open_children(name refcursor, wanted int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN
	OPEN name SCROLL FOR SELECT id FROM items WHERE parent >= wanted ORDER BY parent, id;
	RETURN name;
END $$;
DO $$
DECLARE
	c refcursor;
BEGIN
	FOR i IN 1..3 LOOP
		c := open_children('c', 1);
		CLOSE c;
	END LOOP;
END $$;
SELECT penumbra_lookup.reset_executions();
BEGIN;
SELECT open_children('a', 490);
SELECT open_children('b', 400);
FETCH 3 FROM a;
FETCH 2 FROM b;
FETCH BACKWARD 2 FROM a;
FETCH LAST FROM a;
FETCH ABSOLUTE 2 FROM a;
FETCH PRIOR FROM b;
FETCH NEXT FROM b;
SAVEPOINT s;
SELECT open_children('c', 300);
FETCH NEXT FROM a;
ROLLBACK TO s;
FETCH NEXT FROM a;
SAVEPOINT s;
CLOSE a;
SELECT open_children('a', 200);
RELEASE s;
FETCH NEXT FROM a;
CLOSE b;
COMMIT;
SELECT executions FROM taken;
SELECT outcome, executions FROM penumbra_lookup.executions WHERE outcome = 'in use';
-- the cursor fails within a subtransaction, and is of the transaction around it
CREATE FUNCTION open_ratios(name refcursor) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN
	OPEN name FOR SELECT 1 / (id - 12) FROM items WHERE parent >= 5 ORDER BY parent, id;
	RETURN name;
END $$;
DO $$
DECLARE
	c refcursor;
BEGIN
	FOR i IN 1..3 LOOP
		c := open_ratios('c');
		CLOSE c;
	END LOOP;
END $$;
BEGIN;
SELECT open_ratios('c');
FETCH 2 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
ROLLBACK TO s;
SELECT open_ratios('d');
FETCH 2 FROM d;
COMMIT;
BEGIN;
SELECT open_ratios('c');
FETCH 2 FROM c;
COMMIT;

-- loops that commit
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
DECLARE
	item record;
	found_name text;
BEGIN
	FOR item IN SELECT id FROM items WHERE parent >= 498 ORDER BY parent, id LOOP
		SELECT name INTO found_name FROM items WHERE id = item.id;
		RAISE NOTICE '%', found_name;
		COMMIT;
	END LOOP;
END $$;
CALL commits();
CALL commits();
CALL commits();

-- a timeout, and what follows
CREATE FUNCTION slowly(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(10); RETURN $1; END';
PREPARE sleeps(int) AS SELECT CASE WHEN $1 > 0 THEN slowly(id) END FROM items WHERE id = abs($1);
EXECUTE sleeps(-1);
EXECUTE sleeps(-1);
EXECUTE sleeps(-1);
SET statement_timeout = '100ms';
EXECUTE sleeps(1);
RESET statement_timeout;
EXECUTE sleeps(-1);
EXECUTE sleeps(-1);
EXECUTE sleeps(-1);

-- a sort that needs more of the disk than it may have, and one that goes there
PREPARE sorts(int) AS SELECT name FROM items WHERE id <= $1 ORDER BY repeat(name, 100) OFFSET $1 - 1;
SELECT penumbra_lookup.reset_executions();
EXECUTE sorts(20);
EXECUTE sorts(20);
EXECUTE sorts(20);
SET work_mem = '64kB';
SET temp_file_limit = '8kB';
\set VERBOSITY sqlstate
EXECUTE sorts(900);
\set VERBOSITY default
RESET temp_file_limit;
EXECUTE sorts(900);
RESET work_mem;
EXECUTE sorts(20);
EXECUTE sorts(20);
EXECUTE sorts(20);
TABLE taken;

-- a plan that goes while its execution is broken off
DO $$
DECLARE
	result int;
BEGIN
	FOR i IN 1..5 LOOP
		EXECUTE 'PREPARE passing(int) AS SELECT 1 / $1 FROM items WHERE id = 1';
		FOR divisor IN REVERSE 4..0 LOOP
			BEGIN
				EXECUTE format('EXECUTE passing(%s)', divisor) INTO result;
			EXCEPTION WHEN division_by_zero THEN
				EXECUTE 'DEALLOCATE passing';
			END;
		END LOOP;
	END LOOP;
END $$;

DISCARD ALL;
DROP TABLE items, others;
DROP VIEW taken;
DROP FUNCTION caught, depth, endless, change_name, add_index, open_children, open_ratios, slowly;
DROP PROCEDURE commits;
DROP EXTENSION penumbra_lookup;
