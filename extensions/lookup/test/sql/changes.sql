-- What may change between two executions of a plan.
CREATE EXTENSION penumbra_lookup;
CREATE VIEW taken AS SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready';

CREATE TABLE items (id int PRIMARY KEY, name text);
INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, 1000) i;
ANALYZE items;
PREPARE by_key(int) AS SELECT id, name FROM items WHERE id = $1;
CREATE FUNCTION warm_up() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found record;
BEGIN
	FOR i IN 1..4 LOOP
		EXECUTE 'EXECUTE by_key(5)' INTO found;
	END LOOP;
	RETURN found;
END $$;

-- rows
SELECT warm_up();
UPDATE items SET name = 'new' WHERE id = 5;
EXECUTE by_key(5);
DELETE FROM items WHERE id = 5;
EXECUTE by_key(5);
INSERT INTO items VALUES (5, 'again');
EXECUTE by_key(5);
BEGIN;
DELETE FROM items WHERE id = 5;
EXECUTE by_key(5);
ROLLBACK;
EXECUTE by_key(5);
-- the visibility map's page is let go
PREPARE only_key(int) AS SELECT id FROM items WHERE id = $1;
VACUUM items;
EXECUTE only_key(5);
EXECUTE only_key(5);
EXECUTE only_key(5);
EXECUTE only_key(5);

-- the table and its indexes
SELECT warm_up();
ALTER TABLE items ADD COLUMN extra int DEFAULT 7;
EXECUTE by_key(5);
SELECT warm_up();
ALTER TABLE items ALTER COLUMN name TYPE varchar(3) USING left(name, 3);
EXECUTE by_key(5);
DEALLOCATE by_key;
PREPARE by_key(int) AS SELECT id, name, extra FROM items WHERE id = $1;
SELECT warm_up();
REINDEX TABLE items;
EXECUTE by_key(5);
SELECT warm_up();
CLUSTER items USING items_pkey;
EXECUTE by_key(5);
SELECT warm_up();
VACUUM FULL items;
EXECUTE by_key(5);
SELECT warm_up();
CREATE UNIQUE INDEX other ON items (id) INCLUDE (name);
ALTER TABLE items DROP CONSTRAINT items_pkey;
EXECUTE by_key(5);
SELECT warm_up();
DROP INDEX other;
EXECUTE by_key(5);
ALTER TABLE items ADD PRIMARY KEY (id);
SELECT warm_up();
BEGIN;
TRUNCATE items;
EXECUTE by_key(5);
INSERT INTO items VALUES (5, 'in');
EXECUTE by_key(5);
ROLLBACK;
EXECUTE by_key(5);
SELECT warm_up();
BEGIN;
ALTER TABLE items RENAME COLUMN extra TO other;
SAVEPOINT a;
ALTER TABLE items DROP COLUMN other;
EXECUTE by_key(5);
ROLLBACK TO a;
EXECUTE by_key(5);
ROLLBACK;
EXECUTE by_key(5);
-- an active scan of the session is seen, one at rest is none
SELECT warm_up();
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 5;
FETCH c;
ALTER TABLE items ADD COLUMN fails int;
ROLLBACK;
ALTER TABLE items ADD COLUMN works int;
DROP TABLE items CASCADE;
EXECUTE by_key(5);
CREATE TABLE items (id int PRIMARY KEY, name text, extra text);
INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, 1000) i;
EXECUTE by_key(5);
DEALLOCATE by_key;
PREPARE by_key(int) AS SELECT id, name FROM items WHERE id = $1;
SELECT warm_up();

-- a table of this transaction, and a temporary one
BEGIN;
CREATE TEMP TABLE mine (id int PRIMARY KEY, name text) ON COMMIT DELETE ROWS;
INSERT INTO mine VALUES (1, 'one');
PREPARE of_mine AS SELECT name FROM mine WHERE id = 1;
EXECUTE of_mine;
EXECUTE of_mine;
EXECUTE of_mine;
SAVEPOINT a;
EXECUTE of_mine;
TRUNCATE mine;
EXECUTE of_mine;
ROLLBACK TO a;
EXECUTE of_mine;
COMMIT;
EXECUTE of_mine;
DISCARD TEMP;
EXECUTE of_mine;

-- privileges of tables, columns and functions; roles
CREATE FUNCTION shout(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN upper($1); END';
PREPARE shouted(int) AS SELECT shout(name) FROM items WHERE id = $1;
CREATE ROLE regress_lookup;
GRANT SELECT ON items, taken TO regress_lookup;
EXECUTE shouted(5);
EXECUTE shouted(5);
EXECUTE shouted(5);
SELECT warm_up();
SET ROLE regress_lookup;
EXECUTE by_key(5);
EXECUTE shouted(5);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION shout FROM PUBLIC;
EXECUTE shouted(5);
SET ROLE regress_lookup;
EXECUTE shouted(5);
EXECUTE by_key(5);
RESET ROLE;
EXECUTE shouted(5);
SET ROLE regress_lookup;
EXECUTE shouted(5);
RESET ROLE;
CREATE ROLE regress_lookup_group;
GRANT EXECUTE ON FUNCTION shout TO regress_lookup_group;
GRANT regress_lookup_group TO regress_lookup;
SET ROLE regress_lookup;
EXECUTE shouted(5);
RESET ROLE;
REVOKE regress_lookup_group FROM regress_lookup;
SET ROLE regress_lookup;
EXECUTE shouted(5);
RESET ROLE;
REVOKE SELECT ON items FROM regress_lookup;
GRANT SELECT (id) ON items TO regress_lookup;
SET ROLE regress_lookup;
EXECUTE by_key(5);
RESET ROLE;
EXECUTE by_key(5);

-- functions: another body, another property, a SQL function that is not inlined
EXECUTE shouted(5);
EXECUTE shouted(5);
CREATE OR REPLACE FUNCTION shout(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1 || ''!''; END';
EXECUTE shouted(5);
EXECUTE shouted(5);
EXECUTE shouted(5);
ALTER FUNCTION shout(text) SECURITY DEFINER SET datestyle = 'German';
EXECUTE shouted(5);
EXECUTE shouted(5);
EXECUTE shouted(5);
CREATE FUNCTION name_of(wanted int) RETURNS text LANGUAGE sql STABLE
	AS $$SELECT name FROM items WHERE id = wanted ORDER BY name LIMIT 1$$;
CREATE FUNCTION next_name(wanted int) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RETURN name_of(wanted + 1); END$$;
PREPARE names(int) AS SELECT name_of(id), next_name(id), id FROM items WHERE id = $1;
EXECUTE names(1);
EXECUTE names(2);
EXECUTE names(3);
CREATE OR REPLACE FUNCTION name_of(wanted int) RETURNS text LANGUAGE sql STABLE
	AS $$SELECT 'changed ' || name FROM items WHERE id = wanted ORDER BY name LIMIT 1$$;
EXECUTE names(4);
EXECUTE names(5);
EXECUTE names(6);
-- calls are counted when that is asked for
BEGIN;
SET LOCAL track_functions = 'all';
SELECT coalesce(pg_stat_get_xact_function_calls('next_name'::regproc), 0) AS before \gset
EXECUTE names(7);
EXECUTE names(8);
EXECUTE names(7);
EXECUTE names(8);
SELECT pg_stat_get_xact_function_calls('next_name'::regproc) - :before AS calls;
COMMIT;

-- row-level security
ALTER TABLE items ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON items USING (id % 2 = 0);
GRANT SELECT ON items TO regress_lookup;
SELECT warm_up();
SET ROLE regress_lookup;
EXECUTE by_key(5);
EXECUTE by_key(6);
EXECUTE by_key(6);
EXECUTE by_key(6);
EXECUTE by_key(5);
RESET ROLE;
EXECUTE by_key(5);
SET ROLE regress_lookup;
SET row_security = off;
EXECUTE by_key(6);
RESET row_security;
RESET ROLE;

-- composite types
CREATE TYPE pair AS (a int, b int);
CREATE TABLE pairs (id int PRIMARY KEY, value pair);
INSERT INTO pairs VALUES (1, (1, 2));
PREPARE pair_of(int) AS SELECT value, value::text, (value).b FROM pairs WHERE id = $1;
PREPARE whole_pair(int) AS SELECT value, value::text FROM pairs WHERE id = $1;
EXECUTE whole_pair(1);
EXECUTE whole_pair(1);
EXECUTE whole_pair(1);
EXECUTE pair_of(1);
EXECUTE pair_of(1);
EXECUTE pair_of(1);
ALTER TYPE pair ADD ATTRIBUTE c text CASCADE;
UPDATE pairs SET value.c = 'three';
EXECUTE whole_pair(1);
EXECUTE pair_of(1);

SELECT executions > 0 FROM taken;
DISCARD ALL;
SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'penumbra_lookup functions';
DROP TABLE items, pairs CASCADE;
DROP TYPE pair;
DROP VIEW taken;
DROP FUNCTION warm_up, shout, name_of, next_name;
DROP ROLE regress_lookup, regress_lookup_group;
DROP EXTENSION penumbra_lookup;
