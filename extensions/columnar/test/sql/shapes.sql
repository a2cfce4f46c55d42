-- Shapes of queries that run whole in vectors: comparisons of rows, subqueries that rows are ordered by or that are
-- correlated by more than equalities, columns as rows, WITH TIES.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
\set explained :directory '/explained.sql'
\i :explained
CREATE TABLE sold (id int, shop int, day date, price numeric(8, 2), kind text COLLATE "C", f float8);
INSERT INTO sold SELECT i, nullif(i % 50, 7), date '2024-01-01' + i % 91, i % 977 / 4.0, nullif('kind ' || i % 9, 'kind 3'), i / 8.0
  FROM generate_series(1, 6000) i;
CREATE TABLE shop (id int, town text, since date, n numeric);
INSERT INTO shop SELECT i, 'town ' || i % 6, date '2023-06-01' + 20 * i, i % 4 FROM generate_series(1, 60) i;
VACUUM ANALYZE sold, shop;
SELECT penumbra.load('sold') > 0 AND penumbra.load('shop') > 0 AS loaded;
-- rows compared: the first pair that differs decides
SELECT * FROM compared('SELECT id FROM sold WHERE (day, id) > (date ''2024-03-20'', 4000) ORDER BY day, id LIMIT 20');
SELECT * FROM compared('SELECT count(*), min(id) FROM sold WHERE (shop, kind, id) <= (20, ''kind 5'', 2000)', 'prefer');
SELECT * FROM compared('SELECT (shop, price) < (f, id), (kind, shop) >= (NULL, 3), (3, kind) > (shop, ''kind 2''), count(*) FROM sold GROUP BY 1, 2, 3', 'prefer');
SELECT * FROM compared('SELECT count(*) FROM sold WHERE NOT ((shop, id) < (10, 2000))', 'prefer');
SELECT * FROM compared('SELECT count(*) FROM sold a JOIN shop b ON a.shop = b.id AND (a.day, a.id) < (b.since, b.id)', 'prefer');
-- the second pair is not looked at where the first decides
SELECT * FROM compared('SELECT count(*) FROM sold WHERE (shop, 10 / (shop - 20)) < (21, 3) OR shop IS NULL', 'prefer');
SELECT agree('SELECT count(*) FROM sold WHERE (shop, 10 / (shop - 20)) <= (20, 3)');
-- subqueries that the rows are ordered by are wanted for all of them, others for few
SELECT * FROM compared('SELECT s.id, (SELECT sum(price) FROM sold WHERE shop = s.id) AS a, (SELECT count(*) FROM sold WHERE shop = s.id AND kind = ''kind 1'') AS b
  FROM shop s ORDER BY 2 DESC NULLS LAST, 1 LIMIT 7', 'prefer');
SELECT * FROM compared('SELECT s.id FROM shop s ORDER BY (SELECT max(day) FROM sold WHERE shop = s.id) DESC NULLS LAST, 1 LIMIT 7 OFFSET 2', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT sum(price) FROM sold WHERE shop = s.id) FROM shop s ORDER BY 1 LIMIT 3', 'prefer');
SELECT agree('SELECT s.id, (SELECT price FROM sold WHERE shop = s.id) FROM shop s ORDER BY 2, 1 LIMIT 3');
-- the rows that LIMIT leaves are joined with the target list's subqueries
SELECT * FROM compared('SELECT s.id, (SELECT sum(price) FROM sold WHERE shop = s.id) FROM shop s LIMIT 4 OFFSET 2', 'prefer');
SELECT * FROM compared('SELECT id AS a, shop AS a, (SELECT town FROM shop WHERE shop.id = sold.shop), shop IN (SELECT id FROM shop WHERE n > 2),
  (SELECT count(*) FROM shop) FROM sold WHERE price > 200 ORDER BY price DESC, id FETCH FIRST 9 ROWS WITH TIES', 'prefer');
SELECT * FROM compared('SELECT shop, sum(price), max(day) - 2 * (SELECT count(*)::int FROM shop WHERE shop.id = sold.shop) FROM sold GROUP BY shop
  HAVING count(*) > 3 ORDER BY sum(price) DESC, 1 LIMIT 5', 'prefer');
SELECT * FROM compared('SELECT id, rank() OVER (PARTITION BY shop ORDER BY id), rank() OVER (ORDER BY price, id) + (SELECT count(*) FROM shop WHERE shop.id = sold.shop)
  FROM sold ORDER BY 2 DESC, 1 LIMIT 5', 'prefer');
SELECT * FROM compared('WITH w AS MATERIALIZED (SELECT shop, max(price) AS p FROM sold GROUP BY 1), v AS (SELECT * FROM w WHERE p > 100)
  SELECT s.id, (SELECT p FROM w WHERE w.shop = s.id), (SELECT count(*) FROM v WHERE v.shop = s.id) FROM shop s JOIN v ON v.shop = s.id ORDER BY p, 1 LIMIT 6', 'prefer');
SELECT * FROM compared('SELECT town, (SELECT count(*) FROM sold WHERE shop = s.id AND EXISTS (SELECT FROM shop x WHERE x.town = s.town AND x.id > sold.shop)) FROM shop s
  ORDER BY since DESC LIMIT 3', 'prefer');
-- also where a view or a subquery in FROM has them, and of what OFFSET 0 keeps apart all rows
CREATE VIEW shops AS SELECT s.*, (SELECT count(*) FROM sold WHERE shop = s.id) AS many, (SELECT max(day) FROM sold WHERE shop = s.id) AS newest FROM shop s;
SELECT * FROM compared('SELECT * FROM shops ORDER BY since DESC, id LIMIT 3', 'prefer');
SELECT * FROM compared('SELECT many + 1, id FROM shops WHERE many > 3 ORDER BY town DESC, id LIMIT 3', 'prefer');
SELECT * FROM compared('SELECT x.id, x.newest, s.price FROM shops x JOIN sold s ON s.shop = x.id ORDER BY s.price DESC, s.id LIMIT 4', 'prefer');
SELECT * FROM compared('SELECT * FROM (SELECT id, town, (SELECT min(price) FROM sold WHERE shop = x.id AND sold.id > x.many) FROM shops x) y ORDER BY town, id LIMIT 3', 'prefer');
SELECT * FROM compared('SELECT * FROM (SELECT s.*, (SELECT count(*) FROM sold WHERE shop = s.id) FROM shop s OFFSET 0) x ORDER BY since DESC, id LIMIT 3', 'prefer');
SELECT are_equal FROM unnest(ARRAY[
  'x, many FROM shops x ORDER BY id', 'x.many, y.id FROM sold y LEFT JOIN shops x ON x.id = y.shop + 1 ORDER BY y.id DESC', 'many, count(*) FROM shops GROUP BY 1 ORDER BY 1',
  'DISTINCT many FROM shops ORDER BY 1', 'id, many, random() < 2 FROM shops ORDER BY id', 'many FROM (SELECT *, random() < 2 FROM shops) x ORDER BY id',
  'id, n FROM (WITH c AS MATERIALIZED (SELECT * FROM sold) SELECT s.id, (SELECT count(*) FROM c WHERE shop = s.id) AS n FROM shop s) x ORDER BY id'])
  q, compared(format('SELECT %s LIMIT 30', q), 'prefer');
DROP VIEW shops;
-- but for whole rows, computed keys, what is volatile
SELECT are_equal FROM unnest(ARRAY[
  's.id, (SELECT count(*) FROM sold WHERE shop = s.id AND s IS NOT NULL) FROM shop s ORDER BY 1',
  'id % 7, (SELECT count(*) FROM sold WHERE shop = id % 7) FROM shop GROUP BY 1 ORDER BY 1',
  's.id, (SELECT count(*) FROM sold WHERE shop = s.id AND random() < 2) FROM shop s ORDER BY 1',
  'DISTINCT s.id, (SELECT count(*) FROM sold WHERE shop = s.id) FROM shop s ORDER BY 1']) q, compared(format('SELECT %s LIMIT 3', q), 'prefer');
SELECT agree('SELECT s.id, (SELECT 1 / (id - 60) FROM sold WHERE sold.id = s.id) FROM shop s ORDER BY 1 DESC LIMIT 2');
-- groups, windows' rows and what DISTINCT tells apart are joined with the subqueries of the target list and of HAVING
SELECT * FROM compared('SELECT shop, (SELECT town FROM shop WHERE id = sold.shop), count(*) FROM sold GROUP BY 1', 'prefer');
SELECT * FROM compared('SELECT k, (SELECT count(*) FROM sold WHERE shop = k), sum(n) FROM (SELECT id % 7 AS k, n FROM shop) x GROUP BY 1 ORDER BY 2 DESC, 1', 'prefer');
SELECT * FROM compared('SELECT s.id, s.town, max(price) FROM shop s JOIN sold ON shop = s.id GROUP BY s.id, s.town
  ORDER BY (SELECT sum(price) FROM sold WHERE shop = s.id AND kind = ''kind 1'') DESC NULLS LAST, 1 LIMIT 6', 'prefer');
SELECT * FROM compared('SELECT kind, sum(price), (SELECT count(*) FROM shop WHERE id = max(shop) + 1) FROM sold GROUP BY 1', 'prefer');
SELECT * FROM compared('SELECT shop FROM sold GROUP BY 1 HAVING sum(price) > (SELECT 5000 + 500 * n FROM shop WHERE id = sold.shop) OR count(*) < 3', 'prefer');
SELECT * FROM compared('SELECT shop FROM sold GROUP BY 1 HAVING EXISTS (SELECT FROM shop WHERE id = sold.shop AND n > 1) AND shop NOT IN (SELECT id + 30 FROM shop)', 'prefer');
SELECT * FROM compared('SELECT max(price) FROM sold HAVING max(shop) IN (SELECT id FROM shop WHERE n < max(sold.id))', 'prefer');
SELECT * FROM compared('SELECT town, rank() OVER (ORDER BY sum(n)), (SELECT count(*) FROM shop x WHERE x.town = s.town) FROM shop s GROUP BY 1', 'prefer');
SELECT * FROM compared('SELECT id, sum(price) OVER (PARTITION BY kind ORDER BY id), (SELECT town FROM shop WHERE id = sold.shop) FROM sold', 'prefer');
SELECT * FROM compared('SELECT DISTINCT shop, (SELECT town FROM shop WHERE id = sold.shop) FROM sold', 'prefer');
SELECT * FROM compared('SELECT DISTINCT kind, (SELECT town FROM shop WHERE id = sold.shop) FROM sold ORDER BY 2 DESC, 1 LIMIT 9', 'prefer');
SELECT * FROM compared('SELECT DISTINCT ON (kind) kind, id, (SELECT town FROM shop WHERE id = sold.shop) FROM sold ORDER BY kind, price DESC, id', 'require');
SELECT * FROM compared('SELECT x.k, x.c FROM (SELECT shop k, (SELECT n FROM shop WHERE id = sold.shop) c FROM sold GROUP BY 1) x WHERE x.c > 1', 'prefer');
SELECT are_equal FROM unnest(ARRAY[
  'SELECT shop, kind, grouping(kind), (SELECT town FROM shop WHERE id = sold.shop), count(*) FROM sold GROUP BY ROLLUP (1, 2)',
  'SELECT shop, unnest(ARRAY[1, 2]), (SELECT town FROM shop WHERE id = sold.shop) FROM sold GROUP BY 1',
  'SELECT shop, (SELECT price FROM sold x WHERE x.shop = sold.shop AND random() < 0) FROM sold GROUP BY 1',
  'SELECT shop, CASE WHEN count(*) > 1000 THEN (SELECT price FROM sold x WHERE x.shop = sold.shop) END FROM sold GROUP BY 1'])
  q, compared(q, 'prefer');
-- the planner writes a key's expression in another way; subqueries get columns that differ in a group
SELECT * FROM compared('SELECT NOT (shop < 9), coalesce(NOT (id > 30), false) OR count(*) < 9, count(*) FROM sold GROUP BY shop < 9, id > 30', 'prefer');
SELECT are_equal FROM unnest(ARRAY[
  'SELECT NOT k, count(*) FROM (SELECT shop < 9 AS k FROM sold) x GROUP BY ROLLUP (k)',
  'SELECT k, count(*), (SELECT count(*) FROM sold WHERE shop = k AND price < count(x.id)) FROM (SELECT id, 2 * (id % 7) AS k FROM shop) x GROUP BY 1',
  'SELECT k, count(*) FROM (SELECT 2 * (id % 7) AS k FROM shop) x GROUP BY 1 HAVING count(*) > (SELECT count(*) FROM sold WHERE shop < k)',
  'SELECT k, (SELECT count(*) FROM sold WHERE shop = k AND id > k) FROM (SELECT 2 * (id % 7) AS k FROM shop) x GROUP BY 1'])
  q, compared(q, 'prefer');
SELECT agree('SELECT shop, (SELECT price FROM sold x WHERE x.shop = sold.shop) FROM sold GROUP BY 1');
SELECT agree('SELECT shop FROM sold GROUP BY 1 HAVING (SELECT price FROM sold x WHERE x.shop = sold.shop) > 1 AND count(*) > 1');
-- the first rows of no order are PostgreSQL's of one table; of joins and groups there may be others
SELECT * FROM compared('SELECT s.id, l.* FROM shop s, LATERAL (SELECT id, kind FROM sold WHERE shop = s.id LIMIT 2 OFFSET 1) l', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT kind FROM sold WHERE shop = s.id AND day > s.since LIMIT 1) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, 8 IN (SELECT id FROM sold WHERE shop = s.id LIMIT 1) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, l.* FROM shop s LEFT JOIN LATERAL (SELECT kind, count(*) FROM sold WHERE shop = s.id GROUP BY 1 LIMIT 9) l ON true', 'prefer');
SELECT * FROM compared('SELECT count(*), count(DISTINCT l.id) FROM shop s, LATERAL (SELECT b.id FROM sold a JOIN shop b ON a.shop = b.id WHERE b.town = s.town LIMIT 2) l', 'prefer');
SELECT * FROM compared('SELECT s.town, count(*) FROM (SELECT * FROM sold OFFSET 0) a JOIN shop s ON a.shop = s.id GROUP BY 1', 'prefer');
SELECT agree('SELECT s.town, count(*) FROM (SELECT * FROM sold LIMIT 40) a JOIN shop s ON a.shop = s.id GROUP BY 1 ORDER BY 1');
-- subqueries that are correlated by more than equalities
SET penumbra.mode = prefer;
-- PostgreSQL's versions have other names for a subquery
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, '"?(SubPlan |expr_)1(_values)?"?', 'subquery\2', 'g');
	END LOOP;
END $$;
SELECT plan_of('SELECT s.id, (SELECT sum(price) FROM sold WHERE shop = s.id AND day > s.since) FROM shop s');
RESET penumbra.mode;
SELECT * FROM compared('SELECT s.id, (SELECT sum(price) FROM sold WHERE shop = s.id AND day > s.since),
  (SELECT count(*) FROM sold WHERE shop = s.id AND day BETWEEN s.since - 30 AND s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT a.id, (SELECT b.id FROM sold b WHERE b.shop = a.shop AND b.day < a.day ORDER BY b.day DESC, b.id DESC LIMIT 1)
  FROM sold a WHERE a.id % 200 = 3', 'prefer');
SELECT * FROM compared('SELECT s.id, l.n, l.k FROM shop s LEFT JOIN LATERAL (SELECT count(*) n, min(kind) k FROM sold WHERE shop = s.id AND day > s.since + 100) l ON true', 'prefer');
SELECT * FROM compared('SELECT s.id, l.* FROM shop s, LATERAL (SELECT day, kind FROM sold WHERE shop = s.id AND day > s.since ORDER BY price DESC, id LIMIT 2) l', 'prefer');
SELECT * FROM compared('SELECT count(*) FROM sold a WHERE a.price > (SELECT avg(b.price) FROM sold b WHERE b.shop = a.shop AND b.day <= a.day) AND a.id < 300', 'prefer');
SELECT * FROM compared('SELECT count(*) FROM shop s WHERE s.id < 3 OR EXISTS (SELECT FROM sold WHERE shop = s.id AND day < s.since)', 'prefer');
SELECT * FROM compared('SELECT s.id, s.id % 9 IN (SELECT right(kind, 1)::int FROM sold WHERE shop = s.id AND day < s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, s.id NOT IN (SELECT a.id % 60 FROM sold a WHERE a.shop = s.id AND a.day > s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, s.id > ALL (SELECT a.id % 60 FROM sold a WHERE a.shop = s.id AND a.day < s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT sum(a.price + b.price) FROM sold a JOIN sold b ON a.id = b.id + 50 WHERE a.shop = s.id AND a.day > s.since - 60) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.town, max((SELECT sum(CASE WHEN day > s.since THEN price END) FROM sold WHERE shop = s.id AND day > s.since - 60)) FROM shop s GROUP BY 1', 'prefer');
SELECT * FROM compared('SELECT s.id, l.* FROM shop s LEFT JOIN LATERAL (SELECT day - s.since FROM sold WHERE shop = s.id AND day > s.since ORDER BY id LIMIT 1) l ON true', 'prefer');
-- PostgreSQL's: a value over no rows, a NULL that may find some, conditions of two tables, no equality, values that are
-- equal and written differently; errors
SELECT * FROM compared('SELECT a.id, (SELECT b.id FROM sold b WHERE b.shop = a.shop AND (b.day, b.id) < (a.day, a.id) ORDER BY b.day DESC, b.id DESC LIMIT 1)
  FROM sold a WHERE a.id % 200 = 3', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT sum(a.price + b.price) FROM sold a JOIN sold b ON a.id = b.id + 50 AND b.kind <> ''x'' || s.id WHERE a.shop = s.id AND a.day > s.since - 60) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT count(*) + s.id FROM sold WHERE shop = s.id AND day > s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT count(*) FROM sold a WHERE a.shop = s.id AND (s.town = ''town 2'' OR a.day > s.since)) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT a.id, (SELECT count(*) FROM sold b WHERE b.id = a.id AND b.id > coalesce(a.shop, 3)) FROM sold a WHERE a.id < 200', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT count(*) FROM sold WHERE day > s.since) FROM shop s', 'prefer');
SELECT * FROM compared('SELECT s.id, (SELECT count(*) FROM sold WHERE shop = s.id AND price > s.n AND s.n::text > kind) FROM shop s', 'prefer');
SELECT agree('SELECT s.id, (SELECT price FROM sold WHERE shop = s.id AND day < s.since) FROM shop s');
SELECT agree('SELECT s.id, (SELECT count(*) FROM sold WHERE shop = s.id AND 10 / (id - 8) > s.id) FROM shop s');
-- columns as rows
SELECT * FROM compared('SELECT k, count(v), sum(v) FROM sold CROSS JOIN LATERAL (VALUES (''price'', price), (''id'', id::numeric), (kind, NULL)) u (k, v) GROUP BY k', 'prefer');
SELECT * FROM compared('SELECT s.town, u.n, count(*) FROM sold JOIN shop s ON s.id = shop LEFT JOIN LATERAL (VALUES (day, 1), (since, 2)) u (d, n) ON true
  WHERE price > 100 GROUP BY 1, 2', 'prefer');
SELECT * FROM compared('SELECT id, v FROM sold, LATERAL (VALUES (price), (price + shop), (10 / id)) u (v) WHERE v > 240 AND v < id', 'prefer');
SELECT * FROM compared('SELECT id, (SELECT max(v) FROM (VALUES (shop), (id % 50), (NULL)) u (v)) FROM sold WHERE id < 200', 'prefer');
SELECT * FROM compared('SELECT t.town, v FROM (SELECT town, count(*) n, max(since) FROM shop GROUP BY town) t, LATERAL (VALUES (n), (2 * n)) u (v)', 'prefer');
SELECT * FROM compared('SELECT t.town, v FROM (SELECT town, id FROM shop ORDER BY since LIMIT 5) t, LATERAL (VALUES (id), (2 * id)) u (v)', 'prefer');
SELECT agree('SELECT id, v FROM sold, LATERAL (VALUES (price), (10 / (shop - 20))) u (v)');
-- WITH TIES: the peers of the last row, too
EXPLAIN (COSTS OFF) SELECT id, price FROM sold WHERE shop < 9 ORDER BY price DESC FETCH FIRST 3 ROWS WITH TIES;
SELECT * FROM compared('SELECT id, price FROM sold ORDER BY price DESC FETCH FIRST 30 ROWS WITH TIES');
SELECT * FROM compared('SELECT id, kind FROM sold ORDER BY kind NULLS FIRST, day FETCH FIRST ROW WITH TIES');
SELECT * FROM compared('SELECT count(*), min(day), max(day) FROM (SELECT * FROM sold ORDER BY day OFFSET 1000 FETCH FIRST 10 ROWS WITH TIES) s');
SELECT * FROM compared('SELECT shop, count(*) FROM sold GROUP BY shop ORDER BY 2 DESC, shop IS NULL FETCH FIRST 2 ROWS WITH TIES');
SELECT * FROM compared('SELECT day FROM sold UNION SELECT since FROM shop ORDER BY 1 FETCH FIRST 5 ROWS WITH TIES');
SELECT * FROM compared('SELECT id FROM sold ORDER BY f FETCH FIRST 7000 ROWS WITH TIES');
SELECT * FROM compared('SELECT a.id, b.id, rank() OVER (PARTITION BY b.town ORDER BY a.id) FROM sold a JOIN shop b ON a.shop = b.id AND a.day = b.since
  ORDER BY b.since FETCH FIRST 3 ROWS WITH TIES');
SELECT agree('SELECT id, price FROM sold ORDER BY price, id OFFSET 7 FETCH FIRST 5 ROWS WITH TIES');
SELECT agree('SELECT id, price FROM sold ORDER BY price, id OFFSET 7000 FETCH FIRST 5 ROWS WITH TIES');
SELECT * FROM compared('SELECT id, price FROM sold ORDER BY price FETCH FIRST 0 ROWS WITH TIES');
SELECT agree('SELECT id, price FROM sold ORDER BY price FETCH FIRST -1 ROWS WITH TIES');
PREPARE ties (bigint, bigint) AS SELECT price FROM sold WHERE price > 200 ORDER BY price OFFSET $2 FETCH FIRST ($1) ROWS WITH TIES;
PREPARE tied (bigint, bigint) AS SELECT count(*), min(price), max(price), sum(price) FROM (SELECT * FROM sold ORDER BY price OFFSET $2 FETCH FIRST ($1) ROWS WITH TIES) s;
PREPARE no_ties (bigint) AS SELECT id FROM sold WHERE price < 0 ORDER BY price FETCH FIRST ($1) ROWS WITH TIES;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION ties(count bigint, first bigint, OUT in_vectors text, OUT ordinary text) LANGUAGE plpgsql AS $$
DECLARE
	call text := format('EXECUTE tied (%s, %s)', coalesce(count::text, 'NULL'), coalesce(first::text, 'NULL'));
	found record;
BEGIN
	SET LOCAL penumbra.mode = require;
	EXECUTE call INTO found;
	in_vectors := found::text;
	SET LOCAL penumbra.mode = off;
	DISCARD PLANS;
	EXECUTE call INTO found;
	ordinary := found::text;
	RESET penumbra.mode;
	DISCARD PLANS;
END $$;
SELECT count, first, in_vectors, in_vectors = ordinary AS are_equal FROM (VALUES (3, 1), (30, NULL), (0, 5), (NULL, 4), (NULL, NULL), (1, 100000),
  (9223372036854775807, 5)) v (count, first), ties(count, first);
SET penumbra.mode = prefer;
EXPLAIN (COSTS OFF) EXECUTE ties (3, 1);
EXECUTE ties (-1, 0);
EXECUTE ties (1, -1);
EXECUTE no_ties (-1);
EXECUTE no_ties (1);
RESET penumbra.mode;
RESET plan_cache_mode;
DROP FUNCTION ties;
-- keys that follow from others, sums of a column with constants, numerics of one scale, groups of sets
SELECT * FROM compared('SELECT shop, shop - 1 AS before, upper(kind), kind, shop + length(kind), count(*) FROM sold GROUP BY shop, shop - 1, kind, upper(kind), shop + length(kind)');
SELECT agree('SELECT id, id + 2147483000, count(*) FROM sold GROUP BY 1, 2');
SELECT * FROM compared('SELECT kind, sum(shop + 1), sum(shop - 2), sum(3 + shop), sum(shop), sum(shop + 4) FILTER (WHERE id < 9), sum(shop + 5), sum(shop - 90) FROM sold GROUP BY kind');
SELECT agree('SELECT sum(id + 1), sum(id + 2), sum(id + 3), sum(id + 2147477648) FROM sold');
SELECT agree('SELECT sum(id + 1), sum(id + 2), sum(id + 3), sum(id + 2147477647) FROM sold');
UPDATE sold SET price = 'NaN' WHERE id % 500 = 1;
UPDATE sold SET price = NULL, day = CASE WHEN id % 1000 = 2 THEN 'infinity' ELSE '-infinity' END::date WHERE id % 500 = 2;
SELECT * FROM compared('SELECT price, count(*), count(DISTINCT id % 7) FROM sold GROUP BY price');
SELECT * FROM compared('SELECT kind, count(DISTINCT price), max(price), sum(DISTINCT price) FROM sold GROUP BY kind');
SELECT * FROM compared('SELECT extract(year FROM day) AS y, extract(quarter FROM day) AS q, count(DISTINCT price) FROM sold GROUP BY 1, 2 ORDER BY 1, 2');
SELECT * FROM compared('SELECT id, price FROM sold ORDER BY price DESC NULLS LAST, id LIMIT 30');
SELECT * FROM compared('SELECT id, price, rank() OVER (PARTITION BY kind ORDER BY price NULLS FIRST) FROM sold');
SELECT * FROM compared('SELECT v, count(*) FROM (SELECT price - 0.5 AS v FROM sold UNION ALL SELECT n::numeric(5, 2) FROM shop) s GROUP BY v', 'prefer');
SELECT * FROM compared('SELECT price, shop, kind, grouping(price, shop, kind), count(*), max(id) FROM sold GROUP BY GROUPING SETS ((price, shop), (shop, kind), (shop), (), (shop))');
SELECT * FROM compared('SELECT price, kind, count(*) FROM sold WHERE id < 0 GROUP BY GROUPING SETS ((price), (kind), (), ())', 'prefer');
SELECT * FROM compared('SELECT price, count(*), avg(id) FROM sold GROUP BY price HAVING count(*) > 6 AND avg(id) > 2990 AND price > 3');
SELECT * FROM compared('SELECT * FROM (SELECT id, kind, price, row_number() OVER (PARTITION BY kind ORDER BY price DESC, id) AS n FROM sold) s WHERE n <= 3');
-- columns that nothing reads: of members whose types are not those of the whole, or that are ordered, and of CTEs
CREATE TABLE parcel (place point, id bigint, kind varchar(20), shop int, note json);
INSERT INTO parcel SELECT point(i, i), i, 'kind ' || i % 9, i % 50, '{}' FROM generate_series(1, 3000) i;
VACUUM ANALYZE parcel;
SELECT penumbra.load('parcel', '{id,kind,shop}') > 0 AS loaded;
CREATE VIEW moved AS SELECT id, kind, shop, NULL::point AS place, f AS more FROM sold UNION ALL SELECT id, kind, shop, place, 1 FROM parcel;
SELECT agree(q) FROM (VALUES ('SELECT count(*) FROM moved'), ('SELECT kind, count(*), sum(id) FROM moved GROUP BY kind'), ('SELECT id FROM moved WHERE shop = 3 AND id < 700'),
  ('SELECT kind, count(*), min(m.id) FROM moved m JOIN shop USING (id) GROUP BY kind'), ('SELECT j.kind, count(*) FROM (moved m JOIN shop s ON m.shop = s.id) AS j (a, kind) GROUP BY 1'),
  ('SELECT a.town, b.n FROM shop a, LATERAL (SELECT count(*) AS n FROM (SELECT id, place, shop FROM parcel UNION ALL (SELECT id, NULL, shop FROM sold ORDER BY id LIMIT 900)) u WHERE u.shop = a.id) b'),
  ('SELECT shop, count(*) FROM (SELECT shop, place, id FROM parcel UNION ALL SELECT shop, NULL, id FROM sold ORDER BY id LIMIT 4000) s GROUP BY shop ORDER BY shop'),
  ('SELECT shop, count(*) FROM (SELECT shop, note, id FROM (SELECT shop, note, id, place FROM parcel UNION ALL SELECT shop, NULL, id, NULL FROM sold) s UNION ALL SELECT id, NULL, 1 FROM shop) t GROUP BY shop'),
  ('WITH c AS MATERIALIZED (SELECT * FROM parcel) SELECT kind, count(*) FROM c GROUP BY kind'),
  ('WITH c AS (SELECT id, kind, place FROM moved), d AS (SELECT c.*, c.id + 1 AS next FROM c) SELECT a.kind, count(*) FROM c a JOIN d b ON a.id = b.next GROUP BY 1'),
  ('WITH c AS (SELECT * FROM parcel UNION ALL SELECT place, id, kind, 1, note FROM parcel) SELECT a.kind, count(*) FROM c a WHERE a.id IN (SELECT id FROM c WHERE shop = 4) GROUP BY 1'),
  ('WITH c AS (SELECT DISTINCT kind, shop FROM parcel) SELECT a.shop, count(*) FROM c a JOIN c b USING (shop) GROUP BY 1'),
  ('SELECT kind, count(*) FROM (SELECT kind, count(*) AS n, max(id) AS m FROM sold GROUP BY kind UNION ALL SELECT kind, 1::numeric, id FROM parcel) s GROUP BY kind'),
  -- a row as a whole, an error that PostgreSQL raises
  ('SELECT m.kind, count(m) FROM (SELECT kind, f FROM sold UNION ALL SELECT kind, 1 FROM parcel) m GROUP BY 1'),
  ('SELECT kind, count(*) FROM (SELECT kind, 1 / (id - 5) AS n FROM sold UNION ALL SELECT kind, 1 FROM parcel) s GROUP BY kind')) questions (q);
PREPARE of_shop(int) AS SELECT kind, count(*) FROM moved WHERE shop = $1 GROUP BY kind ORDER BY kind LIMIT 2;
SET plan_cache_mode = force_generic_plan;
SET penumbra.mode = require;
EXECUTE of_shop(3);
EXPLAIN (COSTS OFF) SELECT kind, count(*) FROM moved GROUP BY kind;
RESET penumbra.mode;
DROP VIEW moved;
DROP TABLE parcel;
DROP TABLE sold, shop;
DROP FUNCTION plan_of, agree, rows_of, compared, explained;
