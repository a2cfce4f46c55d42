-- Taking over by search_path and by plan: what is used, what stays, how it is undone.
\set superuser :USER
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_numeric;
CREATE FUNCTION uses(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		RETURN NEXT line;
	END LOOP;
END $$;
-- the function behind an operator, as a view keeps it
CREATE FUNCTION operator_schema(view regclass) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(DISTINCT oprnamespace::regnamespace::text, ', '), 'pg_catalog') FROM pg_depend
		JOIN pg_rewrite ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid
		JOIN pg_operator ON refclassid = 'pg_operator'::regclass AND refobjid = pg_operator.oid WHERE ev_class = view
$$;

-- by name, in the session
SET search_path = public;
SHOW search_path;
CREATE VIEW before AS SELECT 2.5 * x AS y FROM generate_series(1.0, 3) x;
SELECT penumbra_numeric.enable('session');
SELECT penumbra_numeric.enable('session') AS again;
SHOW search_path;
SELECT current_schema;
CREATE VIEW during AS SELECT 2.5 * x AS y FROM generate_series(1.0, 3) x;
SELECT operator_schema('before') AS before, operator_schema('during') AS during;
SELECT 2 * 3.0 AS mixed, '2' * 3.0 AS unknown, 1.5 + 1 AS plus, -(2.5) AS minus, 7.0 % 4 AS modulo, 2.0 ^ 3 AS power, 5 / 2 AS integers,
	abs(-2.5), sqrt(2), round(2.5), 1 / 3.0 AS third, sum(x), avg(x), max(x) FROM generate_series(1, 3, 0.5) x;
SELECT 1 / 0.0;
SELECT penumbra_numeric.disable('session');
SELECT penumbra_numeric.disable('session') AS again;
SHOW search_path;
-- it rolls back
BEGIN;
SELECT penumbra_numeric.enable('session');
ROLLBACK;
SHOW search_path;
SELECT penumbra_numeric.disable('session') AS nothing_to_undo;
-- a path that names pg_catalog, an empty one, one with strange names
SET search_path = pg_catalog, public;
SELECT penumbra_numeric.enable('session');
SHOW search_path;
SELECT penumbra_numeric.disable('session');
SHOW search_path;
SET search_path = '';
SELECT penumbra_numeric.enable('session');
SHOW search_path;
SELECT penumbra_numeric.disable('session');
SHOW search_path;
CREATE SCHEMA "a, ""b";
SET search_path = "a, ""b", public;
SELECT penumbra_numeric.enable('session');
SHOW search_path;
CREATE TABLE created_in_first_schema ();
SELECT 'created_in_first_schema'::regclass::oid = '"a, ""b".created_in_first_schema'::regclass AS in_first_schema;
SELECT penumbra_numeric.disable('session');
SHOW search_path;
DROP SCHEMA "a, ""b" CASCADE;
SET search_path = public;
-- functions that set a path of their own keep it
CREATE FUNCTION fixed_path() RETURNS text LANGUAGE sql SET search_path = pg_catalog AS $$ SELECT current_setting('search_path') $$;
SELECT penumbra_numeric.enable('session');
SELECT fixed_path();
SELECT penumbra_numeric.disable('session');

-- an operator that takes the operands as they are is not called
CREATE FUNCTION intrude(oid, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = integer, FUNCTION = intrude);
SELECT penumbra_numeric.disable('database');
DROP OPERATOR = (oid, integer);
DROP FUNCTION intrude;

-- errors
SELECT penumbra_numeric.enable('cluster');
CREATE SCHEMA open_to_all;
GRANT CREATE ON SCHEMA open_to_all TO PUBLIC;
SET search_path = open_to_all, public;
SELECT penumbra_numeric.enable('session');
-- of others, of a group, granted, made by anybody
CREATE ROLE numeric_group;
REVOKE CREATE ON SCHEMA open_to_all FROM PUBLIC;
SELECT penumbra_numeric.enable('session');
SELECT penumbra_numeric.disable('session');
GRANT CREATE ON SCHEMA open_to_all TO numeric_group;
SELECT penumbra_numeric.enable('session');
REVOKE CREATE ON SCHEMA open_to_all FROM numeric_group;
ALTER SCHEMA open_to_all OWNER TO numeric_group;
SELECT penumbra_numeric.enable('session');
SET search_path = "$user", public;
SELECT penumbra_numeric.enable('session');
SET search_path = public, not_made_yet;
SELECT penumbra_numeric.enable('session');
SET search_path = public, pg_catalog, "$user";
SELECT penumbra_numeric.enable('session');
SELECT penumbra_numeric.disable('session');
SET search_path = public;
DROP SCHEMA open_to_all;
DROP ROLE numeric_group;

-- for the database and for a role, with and without a setting before
CREATE ROLE numeric_user LOGIN;
CREATE FUNCTION stored() RETURNS text[] LANGUAGE sql AS $$
	SELECT setconfig FROM pg_db_role_setting WHERE setrole = 'numeric_user'::regrole
		OR setrole = 0 AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND setconfig::text ~ 'search_path' ORDER BY setrole DESC LIMIT 1
$$;
SELECT current_database() AS database \gset
ALTER DATABASE :"database" SET search_path = public;
SELECT penumbra_numeric.enable('database');
SELECT ARRAY(SELECT s FROM unnest(stored()) s WHERE s ~ 'search_path') AS stored;
\c
SHOW search_path;
SELECT 2.5 * 2 AS five;
SELECT penumbra_numeric.disable('session');
SHOW search_path;
-- as long as it is stored, no schema of it opens
GRANT CREATE ON SCHEMA public TO numeric_user;
ALTER SCHEMA public OWNER TO numeric_user;
ALTER SCHEMA public RENAME TO former;
GRANT USAGE ON SCHEMA public TO numeric_user;
REVOKE USAGE ON SCHEMA public FROM numeric_user;
CREATE SCHEMA unrelated AUTHORIZATION numeric_user;
DROP SCHEMA unrelated;
SELECT role, is_of_database, search_path, open_schemas, is_guarded FROM penumbra_numeric.stored_paths;
-- what opened all the same is shown, and keeps nobody from what does not open more
CREATE SCHEMA given AUTHORIZATION numeric_user;
ALTER DATABASE :"database" SET search_path = public, given, missing, penumbra_numeric, pg_catalog, numeric_user;
SELECT role, is_of_database, search_path, open_schemas, is_guarded FROM penumbra_numeric.stored_paths;
CREATE SCHEMA unrelated;
GRANT USAGE ON SCHEMA given TO PUBLIC;
GRANT CREATE ON SCHEMA public TO numeric_user;
CREATE SCHEMA missing AUTHORIZATION numeric_user GRANT USAGE ON SCHEMA missing TO PUBLIC;
CREATE SCHEMA missing;
ALTER SCHEMA given OWNER TO CURRENT_USER;
REVOKE CREATE ON SCHEMA given FROM numeric_user;
SELECT open_schemas FROM penumbra_numeric.stored_paths;
BEGIN;
REVOKE USAGE ON SCHEMA given FROM PUBLIC;
SAVEPOINT closed;
ALTER SCHEMA given OWNER TO numeric_user;
ROLLBACK TO closed;
GRANT CREATE ON SCHEMA given TO PUBLIC;
ROLLBACK;
DROP SCHEMA unrelated, given, missing;
ALTER DATABASE :"database" SET search_path = public, penumbra_numeric, pg_catalog;
SELECT penumbra_numeric.disable('database');
SELECT ARRAY(SELECT s FROM unnest(stored()) s WHERE s ~ 'search_path') AS stored;
SELECT penumbra_numeric.disable('database') AS again;
-- what a role stores for itself keeps nobody from anything
ALTER ROLE numeric_user SET search_path = not_made_yet, penumbra_numeric, pg_catalog;
GRANT CREATE ON SCHEMA public TO numeric_user;
SELECT role, is_of_database, search_path, open_schemas, is_guarded FROM penumbra_numeric.stored_paths;
SELECT penumbra_numeric.open_schemas(path) FROM (VALUES ('public, penumbra_numeric, pg_catalog'), ('penumbra_numeric, public'),
	('penumbra_numeric, pg_catalog'), ('public'), (NULL)) paths (path);
REVOKE CREATE ON SCHEMA public FROM numeric_user;
ALTER ROLE numeric_user RESET search_path;
\c - numeric_user
SELECT penumbra_numeric.enable('database');
SET search_path = public;
ALTER ROLE numeric_user SET search_path = public, pg_catalog, 'Odd';
SELECT penumbra_numeric.enable('role');
SELECT stored();
SELECT penumbra_numeric.disable('role');
SELECT stored();
\c - :superuser
SHOW search_path;
DROP ROLE numeric_user;
DROP FUNCTION stored();

-- by plan
CREATE TABLE prices (id numeric PRIMARY KEY, price numeric(12,2));
INSERT INTO prices SELECT i, i * 1.25 FROM generate_series(1, 1000) i;
CREATE INDEX ON prices ((price * 2));
CREATE TABLE quantities (id numeric PRIMARY KEY);
INSERT INTO quantities SELECT id FROM prices;
ANALYZE prices, quantities;
CREATE VIEW totals AS SELECT sum(id * price) AS total, avg(price), max(price), count(*) FILTER (WHERE price > 5) AS dear FROM prices;
LOAD 'penumbra_numeric';
SHOW penumbra_numeric.rewrite;
SELECT * FROM totals;
SET penumbra_numeric.rewrite = on;
SELECT * FROM totals;
SELECT uses('SELECT * FROM totals');
SELECT uses('SELECT round(price, 1), price::numeric(5,1), price::int FROM prices WHERE id = 5.0 AND price > 3');
SET enable_seqscan = off;
SELECT uses('SELECT id FROM prices WHERE price * 2 = 5.0');
SELECT trim(line) AS line FROM uses('SELECT max(id) FROM prices') line WHERE line ~ 'Index Only Scan';
SET enable_nestloop = off;
SET enable_hashjoin = off;
SELECT line FROM uses('SELECT a.id FROM prices a JOIN quantities b USING (id)') line WHERE line ~ 'Merge|Index';
RESET enable_seqscan;
RESET enable_hashjoin;
SET enable_mergejoin = off;
SELECT uses('SELECT a.id FROM prices a JOIN prices b ON a.price = b.id AND a.id < b.price');
SELECT count(*) FROM prices a JOIN prices b ON a.price = b.id AND a.id < b.price;
RESET enable_nestloop;
RESET enable_mergejoin;
SELECT price, sum(price) OVER (ORDER BY id ROWS 2 PRECEDING) FROM prices ORDER BY id LIMIT 3;
WITH changed AS (UPDATE prices SET price = price + 0.01 WHERE id % 250 = 0 RETURNING id, price * 2 AS twice)
SELECT sum(twice) FROM changed WHERE id > (SELECT avg(price) * 0.1 FROM prices);
INSERT INTO prices VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET price = prices.price + excluded.price RETURNING price;
SELECT id FROM prices WHERE id IN (1.0, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 11) AND price * 2 <> ALL (SELECT price FROM prices WHERE id < 4) ORDER BY id;
SELECT sum(1 / (id - 1)) FROM prices;
-- an aggregate that shares its transition state with one that stays is left alone, in every process
CREATE AGGREGATE shares_state(numeric) (SFUNC = numeric_avg_accum, STYPE = internal, FINALFUNC = numeric_sum, COMBINEFUNC = numeric_avg_combine,
	SERIALFUNC = numeric_avg_serialize, DESERIALFUNC = numeric_avg_deserialize, PARALLEL = SAFE);
SELECT uses('SELECT sum(price), shares_state(price), sum(id), stddev(price) FROM prices HAVING avg(price) > 0');
SELECT sum(price), shares_state(price), sum(id), round(stddev(price), 8) AS stddev FROM prices HAVING avg(price) > 0;
ALTER TABLE prices SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT uses('SELECT sum(price), shares_state(price), sum(id), stddev(price) FROM prices HAVING avg(price) > 0');
SELECT sum(price), shares_state(price), sum(id), round(stddev(price), 8) AS stddev FROM prices HAVING avg(price) > 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP AGGREGATE shares_state(numeric);
-- nobody's rights change: what is not for everybody to execute, theirs or ours, stays pg_catalog's, also in cached plans
CREATE ROLE numeric_user;
GRANT SELECT ON prices TO numeric_user;
SET plan_cache_mode = force_generic_plan;
PREPARE roots AS SELECT sum(sqrt(id)) > 0 AS has_roots FROM prices;
SELECT uses('EXECUTE roots');
SET ROLE numeric_user;
EXECUTE roots;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION pg_catalog.sqrt(numeric) FROM PUBLIC;
SELECT uses('EXECUTE roots');
SET ROLE numeric_user;
EXECUTE roots;
SELECT sum(sqrt(id)) FROM prices;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION penumbra_numeric.ln(numeric) FROM PUBLIC;
SET ROLE numeric_user;
SELECT round(max(ln(id)), 3) AS ln FROM prices;
RESET ROLE;
-- aggregates, and those that would share a state with one of them; functions of operators
REVOKE EXECUTE ON FUNCTION pg_catalog.sum(numeric), pg_catalog.numeric_mul(numeric, numeric) FROM PUBLIC;
SELECT uses('SELECT sum(price), avg(price), max(price) FROM prices');
SET ROLE numeric_user;
SELECT sum(price) FROM prices;
SELECT max(id * price) FROM prices;
SELECT max(id + price) FROM prices;
RESET ROLE;
-- everybody may again
GRANT EXECUTE ON FUNCTION pg_catalog.sqrt(numeric), penumbra_numeric.ln(numeric), pg_catalog.sum(numeric),
	pg_catalog.numeric_mul(numeric, numeric) TO PUBLIC;
SET ROLE numeric_user;
SELECT uses('EXECUTE roots');
EXECUTE roots;
RESET ROLE;
DEALLOCATE roots;
RESET plan_cache_mode;
REVOKE SELECT ON prices FROM numeric_user;
DROP ROLE numeric_user;
-- a cached plan, when the extension goes and comes
PREPARE total AS SELECT sum(price) FROM prices;
SET plan_cache_mode = force_generic_plan;
EXECUTE total;
DROP VIEW during;
DROP EXTENSION penumbra_numeric;
EXECUTE total;
SELECT uses('SELECT sum(price) FROM prices');
CREATE EXTENSION penumbra_numeric;
SELECT uses('SELECT sum(price) FROM prices');
EXECUTE total;
