-- HAVING whose conditions the engine does not all know: it groups, and PostgreSQL evaluates the others for the groups
-- that pass the engine's.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE item (id int, g int, v int, t text, n numeric, d text);
INSERT INTO item SELECT i, i % 40, nullif(i % 50, 3), 'text ' || i % 13, i % 9 / 4.0, CASE WHEN i % 40 = 7 THEN 'x' ELSE i::text END
  FROM generate_series(1, 6000) i;
CREATE TABLE few (k int, least int);
INSERT INTO few SELECT i, i * 10 FROM generate_series(1, 30) i;
VACUUM ANALYZE item, few;
SELECT penumbra.load('item') > 0 AND penumbra.load('few') > 0 AS loaded;
CREATE FUNCTION plan_of(query text, options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('EXPLAIN (%s) %s', options, query);
END $$;
-- whether a node of Penumbra's groups, with how many filters of PostgreSQL's, and whether answer or error are the same
CREATE FUNCTION grouped(query text, OUT groups boolean, OUT filters bigint, OUT is_same boolean, OUT rows bigint, OUT error text)
LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	BEGIN
		EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO expected;
	EXCEPTION WHEN OTHERS THEN expected := SQLERRM;
	END;
	SET LOCAL penumbra.mode = prefer;
	BEGIN
		EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text), count(*) FROM (%s OFFSET 0) q', query) INTO found, rows;
	EXCEPTION WHEN OTHERS THEN
		found := SQLERRM;
		error := SQLERRM;
	END;
	is_same := found IS NOT DISTINCT FROM expected;
	plan := string_agg(line, E'\n') FROM plan_of(query, 'COSTS OFF') line;
	groups := plan ~ 'Penumbra Aggregate';
	filters := count(*) FROM regexp_matches(plan, '(^|\n) *Filter: ', 'g');
	RESET penumbra.mode;
END $$;
SET penumbra.mode = prefer;
EXPLAIN (COSTS OFF) SELECT g, upper(min(t)) FROM item GROUP BY g
  HAVING array_agg(v ORDER BY id) @> '{3}' OR string_agg(t, ',' ORDER BY id) ~ 'text 1,.*text 3$';
SELECT line FROM plan_of('SELECT g FROM item GROUP BY g HAVING (array_agg(v ORDER BY id))[1] > 20 AND count(*) > 1', 'ANALYZE') line
  WHERE line ~ 'Filter: \(|by Filter|Having';
EXPLAIN (COSTS OFF) SELECT v, sum(g) + 1 FROM item GROUP BY v
  HAVING (array_agg(t ORDER BY id))[1] ~ '1' AND count(*) > 100 ORDER BY 2 LIMIT 3;
RESET penumbra.mode;
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING array_agg(v ORDER BY id) @> ''{3}''');
SELECT * FROM grouped('SELECT g, count(*) FROM item GROUP BY g HAVING (array_agg(v ORDER BY id))[2] > 20 AND max(v) > 44 ORDER BY 2, 1 LIMIT 5');
SELECT * FROM grouped('SELECT g, json_agg(v ORDER BY id) FROM item WHERE id < 500 GROUP BY g HAVING json_agg(v ORDER BY id) ->> 0 LIKE ''1%''');
SELECT * FROM grouped('SELECT g, array_agg(DISTINCT v) FROM item GROUP BY g HAVING array_agg(DISTINCT v) <> array_agg(DISTINCT v + g % 2)');
SELECT * FROM grouped('SELECT array_agg(id ORDER BY id DESC) FROM item WHERE id < 9 HAVING array_length(array_agg(id), 1) = 8');
SELECT * FROM grouped('SELECT array_agg(id) FROM item WHERE id < 0 HAVING array_agg(id) IS NULL AND array_agg(t) <@ ''{}'' IS NULL');
-- all around it: windows, DISTINCT, ORDER BY, LIMIT, joins, set operations, subqueries, grouping sets
SELECT * FROM grouped('SELECT g, sum(count(*)) OVER (ORDER BY g) FROM item GROUP BY g HAVING array_agg(v) @> ''{3}'' OR g > 30 LIMIT 7');
SELECT * FROM grouped('SELECT DISTINCT count(*), g % 3 FROM item GROUP BY g HAVING array_agg(v) @> ''{7}''');
SELECT * FROM grouped('SELECT x.g, k FROM few JOIN (SELECT g FROM item GROUP BY g HAVING array_agg(v) @> ''{7}'') x ON g = k');
SELECT * FROM grouped('SELECT g, count(*) FROM item JOIN few ON g = k GROUP BY g HAVING array_agg(v ORDER BY id) @> ''{7}'' AND sum(least) > 10');
SELECT * FROM grouped('SELECT k FROM few EXCEPT SELECT g FROM item GROUP BY g HAVING array_agg(v) @> ''{7}''');
SELECT * FROM grouped('SELECT k FROM few WHERE k IN (SELECT g FROM item GROUP BY g HAVING array_agg(v) @> ''{7}'')');
SELECT * FROM grouped('SELECT k, (SELECT count(*) FROM item WHERE g = k GROUP BY g HAVING array_agg(v) @> ''{7}'') FROM few');
SELECT * FROM grouped('SELECT g, v, grouping(v), count(*) FROM item GROUP BY ROLLUP (g, v)
  HAVING json_agg(t ORDER BY id) ->> 0 <> ''text 1'' AND grouping(g) = 0 AND grouping(v) + g > 1');
SELECT * FROM grouped('SELECT g + 1, v FROM item GROUP BY CUBE (g + 1, v) HAVING (g + 1) IS NULL OR array_agg(id ORDER BY id) @> ARRAY[v]');
-- subqueries, parameters, keys
SELECT * FROM grouped('SELECT g FROM item a GROUP BY g HAVING count(*) > (SELECT least FROM few WHERE k = a.g)');
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING array_length(array_agg(id), 1) > (SELECT min(least) FROM few) AND count(*) > (SELECT max(k) FROM few)');
SELECT * FROM grouped('SELECT upper(t) || g FROM item GROUP BY upper(t), g HAVING array_agg(upper(t) || v) @> ARRAY[upper(t) || 7]');
PREPARE with_item(int) AS SELECT g FROM item GROUP BY g HAVING array_agg(v) @> ARRAY[$1] ORDER BY g;
SET penumbra.mode = prefer;
SET plan_cache_mode = force_generic_plan;
EXECUTE with_item(7);
RESET plan_cache_mode;
RESET penumbra.mode;
-- errors: of no group that a condition before, by PostgreSQL's order, drops, nor of the select list of a dropped one
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING (string_agg(d, '''' ORDER BY id))::numeric > 5 AND min(d) <> ''x''');
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING (string_agg(d, '''' ORDER BY id))::numeric > 5');
SELECT * FROM grouped('SELECT g, 10 / (g - 7) FROM item GROUP BY g HAVING array_agg(d) @> ''{8}''');
SELECT * FROM grouped('SELECT g, 10 / (g - 8) FROM item GROUP BY g HAVING array_agg(d) @> ''{8}''');
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING array_agg(d) @> ''{8}'' AND round(10 / (min(g) - 7), 2) + 1 + 1 > 0');
SELECT * FROM grouped('SELECT g FROM item GROUP BY g HAVING 10 / (min(g) - 7) > 0 AND array_to_string(array_agg(d), '''') > ''8''');
-- volatile functions are evaluated once for each group that comes to them
CREATE SEQUENCE asked;
SET penumbra.mode = prefer;
EXPLAIN (COSTS OFF) SELECT g FROM item GROUP BY g HAVING nextval('asked') > 0 AND count(*) > 5 AND sum(v) + 1 - 1 + 0 > 3500;
SELECT count(*) FROM (SELECT g FROM item GROUP BY g HAVING nextval('asked') > 0 AND sum(v) + 1 - 1 + 0 > 3500) q;
SELECT last_value FROM asked;
RESET penumbra.mode;
-- EXPLAIN says so, too, where a barrier hides rows
CREATE VIEW shown WITH (security_barrier) AS SELECT * FROM item WHERE g < 20;
SELECT * FROM grouped('SELECT g, max(n) FROM shown GROUP BY g HAVING array_agg(v ORDER BY id) @> ''{7}''');
DROP VIEW shown;
DROP TABLE item, few;
DROP SEQUENCE asked;
DROP FUNCTION grouped, plan_of;
