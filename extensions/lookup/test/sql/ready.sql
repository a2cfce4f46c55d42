-- Which executions take a ready state, and that they return what others do.
CREATE EXTENSION penumbra_lookup;
CREATE FUNCTION ready() RETURNS bigint LANGUAGE sql
	AS $$SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready'$$;

CREATE TABLE items (id int PRIMARY KEY, parent int, name text, price numeric, at timestamptz DEFAULT '2026-01-01 UTC');
CREATE INDEX ON items (parent, id);
INSERT INTO items SELECT i, i / 10, 'item ' || i, i * 1.5 FROM generate_series(1, 1000) i;
VACUUM ANALYZE items;

-- the third execution is the first one on a ready state
PREPARE by_key(int) AS SELECT name, price FROM items WHERE id = $1;
SELECT penumbra_lookup.reset_executions();
EXECUTE by_key(1);
EXECUTE by_key(2);
EXECUTE by_key(3);
EXECUTE by_key(NULL);
EXECUTE by_key(1001);
EXECUTE by_key(4);
SELECT ready();

-- an index-only scan, backward, with LIMIT and OFFSET of parameters
PREPARE last_of(int, bigint, bigint) AS SELECT id FROM items WHERE parent = $1 ORDER BY id DESC LIMIT $2 OFFSET $3;
EXPLAIN (COSTS OFF) EXECUTE last_of(5, 3, 0);
SELECT penumbra_lookup.reset_executions();
EXECUTE last_of(5, 3, 0);
EXECUTE last_of(5, 3, 1);
EXECUTE last_of(6, 2, 0);
EXECUTE last_of(7, 0, 0);
EXECUTE last_of(8, NULL, 7);
EXECUTE last_of(8, -1, 0);
EXECUTE last_of(9, 1, 9);
SELECT ready();

-- joins of two and three tables
PREPARE parent_of(int) AS
	SELECT a.name, b.name FROM items a JOIN items b ON b.id = a.parent WHERE a.id = $1;
PREPARE grandparent_of(int) AS
	SELECT a.name, b.name, c.name FROM items a JOIN items b ON b.id = a.parent LEFT JOIN items c ON c.id = b.parent
	WHERE a.id = $1;
EXPLAIN (COSTS OFF) EXECUTE grandparent_of(1);
SELECT penumbra_lookup.reset_executions();
EXECUTE parent_of(125);
EXECUTE parent_of(125);
EXECUTE parent_of(999);
EXECUTE parent_of(3);
EXECUTE parent_of(998);
EXECUTE grandparent_of(998);
EXECUTE grandparent_of(998);
EXECUTE grandparent_of(54);
EXECUTE grandparent_of(3);
EXECUTE grandparent_of(777);
SELECT ready();

-- expressions, a one-time filter, row types of constants, arrays of keys
PREPARE expressions(int, text) AS
	SELECT CASE WHEN price > 100 THEN upper(name) ELSE name || $2 END, coalesce(parent, 0) + $1, price::text, at::date,
		id IN (1, 2), name IS DISTINCT FROM $2, nullif(parent, 0), tableoid::regclass, ctid
	FROM items WHERE id = $1 AND (name LIKE '%1%' OR price < 1000) AND $2 IS NOT NULL;
PREPARE some_of(int[]) AS SELECT id, name FROM items WHERE id = ANY ($1) ORDER BY id;
SELECT penumbra_lookup.reset_executions();
EXECUTE expressions(1, '!');
EXECUTE expressions(1, '!');
EXECUTE expressions(100, '?');
EXECUTE expressions(100, NULL);
EXECUTE some_of('{3,1,2}');
EXECUTE some_of('{3,1,2}');
EXECUTE some_of('{}');
EXECUTE some_of(NULL);
EXECUTE some_of('{1000,NULL,1000,5,-1}');
SELECT ready();
SET timezone = 'Pacific/Auckland';
SET datestyle = 'German';
EXECUTE expressions(100, '?');
RESET timezone;
RESET datestyle;
EXECUTE expressions(100, '?');

-- plans of one table and none
PREPARE constant(int) AS SELECT $1 + 1, now() IS NOT NULL;
PREPARE whole_table AS SELECT id FROM items ORDER BY id LIMIT 2;
SELECT penumbra_lookup.reset_executions();
EXECUTE constant(1);
EXECUTE constant(2);
EXECUTE constant(3);
EXECUTE whole_table;
EXECUTE whole_table;
EXECUTE whole_table;
SELECT ready();

-- aggregates, groups in the order of an index, sorts
SET enable_hashagg = off;
PREPARE totals(int) AS SELECT count(*), sum(price), max(name), string_agg(name, ',' ), avg(id), array_agg(id) FROM items WHERE parent = $1;
PREPARE groups(int) AS
	SELECT parent, count(*) FILTER (WHERE id % 2 = 0), min(name) FROM items WHERE parent BETWEEN $1 AND $1 + 2 GROUP BY parent
	HAVING count(*) > 5;
PREPARE sorted(int) AS SELECT name, price FROM items WHERE parent = $1 ORDER BY name DESC LIMIT 3;
PREPARE sorted_groups(int) AS SELECT left(name, 6), sum(id) FROM items WHERE parent BETWEEN $1 AND $1 + 1 GROUP BY 1 ORDER BY 2 DESC;
EXPLAIN (COSTS OFF) EXECUTE sorted_groups(1);
SELECT penumbra_lookup.reset_executions();
EXECUTE totals(5);
EXECUTE totals(5);
EXECUTE totals(6);
EXECUTE totals(-1);
EXECUTE totals(7);
EXECUTE groups(5);
EXECUTE groups(5);
EXECUTE groups(98);
EXECUTE groups(500);
EXECUTE groups(0);
EXECUTE sorted(5);
EXECUTE sorted(5);
EXECUTE sorted(6);
EXECUTE sorted(-1);
EXECUTE sorted(0);
EXECUTE sorted_groups(5);
EXECUTE sorted_groups(5);
EXECUTE sorted_groups(97);
SELECT ready();

-- subqueries of a value and EXISTS, uncorrelated and correlated
PREPARE exist(int) AS SELECT EXISTS (SELECT FROM items WHERE id = $1), (SELECT name FROM items WHERE id = $1 + 1), 7 / (SELECT $1);
PREPARE related(int) AS
	SELECT id, EXISTS (SELECT FROM items b WHERE b.id = a.parent), (SELECT b.name FROM items b WHERE b.id = a.parent)
	FROM items a WHERE id BETWEEN $1 AND $1 + 2 AND price < (SELECT max(id) FROM items);
SELECT penumbra_lookup.reset_executions();
EXECUTE exist(5);
EXECUTE exist(5);
EXECUTE exist(999);
EXECUTE exist(0);
EXECUTE exist(1000);
EXECUTE exist(2000);
EXECUTE related(5);
EXECUTE related(5);
EXECUTE related(97);
EXECUTE related(0);
SELECT ready();

-- a cursor that scrolls over a sort takes the state of such a cursor only
CREATE FUNCTION open_sorted(name refcursor, wanted int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN OPEN name FOR SELECT items.name FROM items WHERE parent = wanted ORDER BY items.name; RETURN name; END $$;
CREATE FUNCTION scroll(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	cursor refcursor := open_sorted('sorted', wanted);
	first text;
	second text;
BEGIN
	MOVE LAST FROM cursor;
	FETCH PRIOR FROM cursor INTO first;
	FETCH FIRST FROM cursor INTO second;
	CLOSE cursor;
	RETURN first || ', ' || second;
END $$;
SELECT penumbra_lookup.reset_executions();
SELECT scroll(i) FROM generate_series(1, 5) i;
SELECT ready();

-- what is refused, with the reason
PREPARE locks(int) AS SELECT id FROM items WHERE id = $1 FOR UPDATE;
PREPARE writes(int) AS DELETE FROM items WHERE id = -$1;
SET enable_hashagg = on;
SET enable_sort = off;
PREPARE aggregates(int) AS SELECT name, count(*) FROM items WHERE parent = $1 AND id % 10 < 1 GROUP BY name;
RESET enable_hashagg;
PREPARE distincts(int) AS SELECT count(DISTINCT name) FROM items WHERE parent = $1;
PREPARE subquery(int) AS SELECT ARRAY(SELECT id FROM items WHERE id = $1);
PREPARE whole_row(int) AS SELECT i FROM items i WHERE id = $1;
SELECT penumbra_lookup.reset_executions();
EXECUTE locks(1);
EXECUTE locks(1);
EXECUTE locks(1);
EXECUTE writes(1);
EXECUTE writes(1);
EXECUTE writes(1);
EXECUTE aggregates(1);
EXECUTE aggregates(1);
EXECUTE aggregates(1);
EXECUTE distincts(1);
EXECUTE distincts(1);
EXECUTE distincts(1);
EXECUTE subquery(1);
EXECUTE subquery(1);
EXECUTE subquery(1);
EXECUTE whole_row(1);
EXECUTE whole_row(1);
EXECUTE whole_row(1);
EXECUTE whole_row(1);
SELECT outcome, executions FROM penumbra_lookup.executions WHERE executions > 0 AND outcome <> 'not cached';

-- partitions that are pruned when the execution starts
CREATE TABLE parts (id int PRIMARY KEY, name text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
INSERT INTO parts SELECT i, 'of part ' || i / 10 + 1 FROM generate_series(0, 19) i;
PREPARE pruned(int) AS SELECT name FROM parts WHERE id = $1;
SELECT penumbra_lookup.reset_executions();
EXECUTE pruned(5);
EXECUTE pruned(15);
EXECUTE pruned(5);
EXECUTE pruned(25);
SELECT sum(executions) FROM penumbra_lookup.executions WHERE outcome IN ('node', 'statement');

-- EXPLAIN ANALYZE takes PostgreSQL's path
SELECT penumbra_lookup.reset_executions();
DO $$BEGIN EXECUTE 'EXPLAIN (ANALYZE) EXECUTE by_key(5)'; END$$;
EXPLAIN (COSTS OFF) EXECUTE by_key(5);
SELECT outcome, executions FROM penumbra_lookup.executions WHERE executions > 0 AND outcome <> 'not cached';
EXECUTE by_key(5);
SELECT ready();

-- PL/pgSQL: INTO, PERFORM, FOR, RETURN QUERY
CREATE FUNCTION lookups(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found_name text;
	all_names text := '';
	item record;
BEGIN
	SELECT name INTO found_name FROM items WHERE id = wanted;
	PERFORM name FROM items WHERE id = wanted + 1;
	IF EXISTS (SELECT FROM items WHERE id = wanted + 997) THEN
		found_name := found_name || '!';
	END IF;
	all_names := found_name || ' ' || FOUND;
	FOR item IN SELECT id, name FROM items WHERE parent = wanted ORDER BY id LIMIT 2 LOOP
		all_names := all_names || ', ' || item.name;
	END LOOP;
	RETURN all_names;
END $$;
SELECT penumbra_lookup.reset_executions();
SELECT lookups(i) FROM generate_series(1, 5) i;
SELECT ready();

-- off
SET penumbra_lookup.max_plans = 0;
SELECT penumbra_lookup.reset_executions();
EXECUTE by_key(6);
SELECT outcome, executions FROM penumbra_lookup.executions WHERE executions > 0;
SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'penumbra_lookup functions';
RESET penumbra_lookup.max_plans;
EXECUTE by_key(6);

-- no more states than allowed, and which go first
SET penumbra_lookup.max_plans = 2;
DEALLOCATE ALL;
PREPARE p1(int) AS SELECT 1, name FROM items WHERE id = $1;
PREPARE p2(int) AS SELECT 2, name FROM items WHERE id = $1;
PREPARE p3(int) AS SELECT 3, name FROM items WHERE id = $1;
SELECT penumbra_lookup.reset_executions();
DO $$
BEGIN
	FOR i IN 1..40 LOOP
		EXECUTE 'EXECUTE p1(1)';
		EXECUTE 'EXECUTE p2(1)';
		EXECUTE 'EXECUTE p3(1)';
	END LOOP;
END $$;
SELECT executions BETWEEN 40 AND 110 FROM penumbra_lookup.executions WHERE outcome = 'ready';
SELECT count(*) <= 2 FROM pg_backend_memory_contexts WHERE name = 'penumbra_lookup functions';

DEALLOCATE ALL;
SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'penumbra_lookup functions';
DROP TABLE items CASCADE;
DROP FUNCTION ready(), lookups(int), scroll(int), open_sorted(refcursor, int);
DROP EXTENSION penumbra_lookup;
