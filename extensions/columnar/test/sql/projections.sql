-- Functions that only PostgreSQL knows above what runs in vectors: groups, orders and limits.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sale (id int, shop text, day date, price numeric(8, 2), at timestamp);
INSERT INTO sale SELECT i, 'shop ' || i % 11, date '2024-01-01' + i % 31, i % 977 / 4.0, timestamp '2024-01-01' + i * interval '1 minute'
FROM generate_series(1, 20000) i;
CREATE TABLE shop (name text, town text);
INSERT INTO shop SELECT 'shop ' || i, 'town ' || i % 3 FROM generate_series(0, 10) i;
VACUUM ANALYZE sale, shop;
SELECT penumbra.load('sale') > 0 AND penumbra.load('shop') > 0 AS loaded;
-- the plan's nodes from the top, and whether the answer is PostgreSQL's, also in order
CREATE FUNCTION projected(query text, mode text DEFAULT 'prefer', OUT nodes text, OUT are_equal boolean) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', query) INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE format('SELECT string_agg(q::text, E''\n'') FROM (%s) q', query) INTO found;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '^\S|->' THEN
			nodes := concat_ws(', ', nodes, substring(line FROM '(?:-> +)?(\S.*?)(?: on .*)?$'));
		END IF;
	END LOOP;
	are_equal := expected IS NOT DISTINCT FROM found;
	RESET penumbra.mode;
END $$;
-- groups
SELECT * FROM projected('SELECT age(max(at), min(at)) FROM sale');
SELECT * FROM projected('SELECT to_char(sum(price), ''999G999D99L'') FROM sale WHERE id < 0');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), jsonb_build_object(shop, count(*)), count(*) FROM sale GROUP BY shop ORDER BY 1');
SELECT * FROM projected('SELECT to_hex(hashtext(''x'')) FROM sale GROUP BY shop');
SELECT * FROM projected('SELECT to_char(date_trunc(''month'', at), ''Mon YYYY''), sum(price) FROM sale GROUP BY date_trunc(''month'', at) ORDER BY 1');
SELECT * FROM projected('SELECT format(''%s %s %s'', shop, day, grouping(shop, day)), count(*) FROM sale WHERE id < 500 GROUP BY ROLLUP (shop, day) ORDER BY 1');
SELECT * FROM projected('SELECT to_char(sum(price), ''999G999D99L'') FROM sale GROUP BY shop HAVING sum(price) > 222000 ORDER BY 1');
SELECT * FROM projected('SELECT to_hex(hashtext(town)), sum(price) FROM sale JOIN shop ON shop = name GROUP BY town ORDER BY 1');
SELECT * FROM projected('SELECT (array_agg(id ORDER BY at DESC))[1] FROM sale GROUP BY shop ORDER BY 1');
SELECT * FROM projected('SELECT m, s FROM (SELECT to_hex(hashtext(shop)) m, sum(price) s, count(*) c FROM sale GROUP BY shop) g WHERE c > 1800 ORDER BY 1');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), (SELECT max(town) FROM shop) FROM sale GROUP BY shop ORDER BY 1');
-- PostgreSQL's: a subquery that depends on the group, a condition on groups
SELECT * FROM projected('SELECT shop, (SELECT to_hex(hashtext(sale.shop))) FROM sale GROUP BY shop ORDER BY 1');
SELECT * FROM projected('SELECT shop FROM sale GROUP BY shop HAVING to_hex(hashtext(shop)) < ''8'' ORDER BY 1');
-- orders, limits and windows
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), id FROM sale ORDER BY price DESC, id LIMIT 5');
SELECT * FROM projected('SELECT to_char(at, ''HH24:MI''), price FROM sale WHERE id % 3 = 0 ORDER BY price + 1, id DESC LIMIT 5 OFFSET 100');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), id FROM sale WHERE id < 300 ORDER BY price, id');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), count(*) FROM sale GROUP BY shop ORDER BY sum(price) DESC LIMIT 3');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), count(*) FROM sale GROUP BY shop ORDER BY sum(price) DESC');
SELECT * FROM projected('SELECT to_hex(hashtext(town)), id FROM sale JOIN shop ON shop = name ORDER BY id DESC LIMIT 4');
SELECT * FROM projected('SELECT to_hex(hashtext(shop)), rank() OVER (PARTITION BY shop ORDER BY id) FROM sale ORDER BY id', 'require');
SELECT * FROM projected('SELECT to_hex(hashtext(shop || sum(price) OVER (PARTITION BY shop))) FROM sale ORDER BY id LIMIT 4', 'require');
SELECT * FROM projected('SELECT s.m, shop FROM shop JOIN (SELECT to_hex(hashtext(shop)) m, id, shop FROM sale ORDER BY price DESC, id LIMIT 5) s ON shop = name ORDER BY id');
SELECT * FROM projected('SELECT m FROM (SELECT to_hex(hashtext(shop)) m, id FROM sale WHERE id < 9 ORDER BY price) s ORDER BY id');
SELECT * FROM projected('SELECT name, m FROM shop, LATERAL (SELECT to_hex(hashtext(town)) m FROM sale WHERE shop = name ORDER BY price DESC, id LIMIT 1) s ORDER BY 1');
SELECT * FROM projected('SELECT to_hex(hashtext(name)) FROM shop UNION ALL (SELECT to_hex(hashtext(shop)) FROM sale ORDER BY id LIMIT 2) ORDER BY 1');
SELECT * FROM projected('SELECT random() < 2, id FROM sale ORDER BY id DESC LIMIT 3');
-- a node that goes over to the ordinary plan while it runs
SELECT * FROM projected('SELECT to_hex(hashtext((mode() WITHIN GROUP (ORDER BY CASE WHEN id % 2 = 0 THEN price ELSE price + 0.0000 END))::text)) FROM sale GROUP BY shop ORDER BY shop LIMIT 3');
-- PostgreSQL's: an order by what the engine does not know
SELECT * FROM projected('SELECT id FROM sale ORDER BY to_hex(hashtext(shop)), id LIMIT 3');
SELECT * FROM projected('SELECT generate_series(1, 2), to_hex(hashtext(shop)) FROM sale ORDER BY id LIMIT 3');
SET penumbra.mode = require;
SELECT to_hex(hashtext(shop)), id FROM sale ORDER BY price DESC, id LIMIT 2;
EXPLAIN (COSTS OFF, VERBOSE) SELECT to_hex(hashtext(shop)), id FROM sale ORDER BY price DESC, id LIMIT 2;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT to_hex(hashtext(shop)), id FROM sale ORDER BY price DESC, id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
SELECT to_hex(hashtext(shop)), count(*) FROM sale GROUP BY shop ORDER BY 1 LIMIT 2;
SELECT shop FROM sale GROUP BY shop HAVING to_hex(hashtext(shop)) < '8';
SET penumbra.mode = prefer;
SELECT 1 / (count(*) - count(*)), to_hex(hashtext(shop)) FROM sale GROUP BY shop;
PREPARE p(text) AS SELECT to_hex(hashtext(shop || $1)), count(*) FROM sale GROUP BY shop ORDER BY 1 LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE p('a');
EXECUTE p('b');
EXPLAIN (COSTS OFF, VERBOSE) SELECT to_hex(hashtext(shop)), count(*) FROM sale GROUP BY shop;
DROP FUNCTION projected;
DROP TABLE sale, shop;
