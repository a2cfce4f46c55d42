-- A CTE that a query reads several times is computed once, by one node; what must not be computed twice is left to
-- PostgreSQL where that node would not be alone.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA shared_ctes;
SET search_path = shared_ctes;
SET penumbra.mode = prefer;

CREATE TABLE sales (id int PRIMARY KEY, shop int, day date, amount numeric(10,2), weight float8);
INSERT INTO sales SELECT i, i % 40, date '2024-01-01' + i % 90, i % 777 / 4.0, 1.0 / (1 + i % 13) FROM generate_series(1, 20000) i;
CREATE TABLE shops (shop int PRIMARY KEY, region text);
INSERT INTO shops SELECT i, 'r' || i % 5 FROM generate_series(0, 39) i;
VACUUM ANALYZE sales, shops;
SELECT count(penumbra.load(t)) FROM unnest(ARRAY['sales'::regclass, 'shops']) t;

CREATE FUNCTION plan(query text, options text = 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    RETURN NEXT regexp_replace(line, '(rows=\d+)\.00', '\1'); -- of 18
  END LOOP;
END $$;
-- Rows of all modes; how often each aggregation, sort and window is in the plan, and how often it is read again.
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  results text[] := '{}';
  mode text;
  computed bigint;
  again bigint;
  rest bigint;
BEGIN
  FOREACH mode IN ARRAY '{off,prefer}'::text[] LOOP
    PERFORM set_config('penumbra.mode', mode, true);
    EXECUTE format('SELECT md5(string_agg(r::text, E''\n'' ORDER BY r::text COLLATE "C")) || '' '' || count(*) FROM (%s) r', query)
      INTO result;
    results := results || result;
  END LOOP;
  IF results[1] IS DISTINCT FROM results[2] THEN
    RETURN 'DIFFERENT: ' || query;
  END IF;
  SELECT count(*) FILTER (WHERE p ~ 'Vector Scan on sales'), count(*) FILTER (WHERE p ~ 'computed once, above'),
    count(*) FILTER (WHERE p ~ 'CTE Scan') INTO computed, again, rest FROM plan(query) p;
  RETURN format('%s rows; sales is scanned %s times, shared %s times, scans of CTEs %s', split_part(results[1], ' ', 2), computed,
                again, rest);
END $$;

-- The plan, and what ran.
SELECT * FROM plan('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop)
  SELECT a.shop, a.total FROM s a JOIN s b ON b.shop = a.shop + 1 WHERE a.total > b.total ORDER BY 1');
SET penumbra.threads_per_query = 0;
SELECT * FROM plan('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop)
  SELECT a.shop FROM s a JOIN s b ON b.shop = a.shop + 1 WHERE a.total > b.total AND b.shop < 9', 'ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF, COSTS OFF');
RESET penumbra.threads_per_query;

-- Joins, set operations, subqueries, conditions of readers, CTEs of CTEs.
SELECT same('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop)
  SELECT a.shop, b.total FROM s a JOIN s b USING (shop) JOIN s c ON c.shop = a.shop * 2 WHERE b.total > 100');
SELECT same('WITH s AS (SELECT shop, day, count(*) AS n FROM sales GROUP BY 1, 2)
  SELECT ''a'', shop, n FROM s WHERE day < ''2024-02-01'' UNION ALL SELECT ''b'', shop, n FROM s WHERE n > 5 UNION ALL SELECT ''c'', max(shop), sum(n) FROM s');
SELECT same('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop HAVING count(*) > 3)
  SELECT shop FROM s WHERE total > (SELECT avg(total) FROM s) AND shop IN (SELECT shop + 1 FROM s WHERE total < 50000)');
SELECT same('WITH s AS (SELECT shop, day, sum(amount) AS total FROM sales GROUP BY 1, 2), m AS (SELECT shop, max(total) AS most FROM s GROUP BY 1)
  SELECT s.shop, s.day, m.most, n.most FROM s JOIN m USING (shop) JOIN m n ON n.shop = s.shop - 1 WHERE s.total = m.most');
SELECT same('WITH s AS (SELECT region, sum(amount) AS total FROM sales JOIN shops USING (shop) GROUP BY region)
  SELECT a.region FROM s a WHERE a.total >= ALL (SELECT total FROM s)');

-- Each reader has conditions: the CTE has the rows that some reader wants, and no more.
CREATE VIEW totals AS SELECT shop, day, sum(x) AS total FROM (SELECT shop, day, amount * 1.0 AS x FROM sales UNION SELECT shop, day, 1 FROM sales) u GROUP BY shop, day;
SELECT * FROM plan('WITH s AS (SELECT * FROM totals)
  SELECT a.total, b.total FROM s a JOIN s b USING (day) WHERE a.shop = 3 AND b.shop = 2 + 2 AND a.day < ''2024-02-01'' AND a.day > b.day - b.shop');
SELECT * FROM plan('WITH s AS (SELECT * FROM totals), t AS (SELECT day, max(total) AS most FROM s WHERE shop < 9 GROUP BY day)
  SELECT count(*) FROM t JOIN s USING (day) WHERE shop IN (4, 11)') p WHERE p ~ 'Filter|Having';
SELECT * FROM plan('WITH s AS (SELECT * FROM totals)
  SELECT count(*) FROM shops LEFT JOIN s a ON a.shop = shops.shop AND a.day = ''2024-02-01'' WHERE EXISTS (SELECT 1 FROM s WHERE s.shop = shops.shop AND s.day = ''2024-03-01'')') p
  WHERE p ~ 'Filter|Having';
SELECT same('WITH s AS (SELECT * FROM totals) SELECT a.shop, a.day, b.day FROM s a LEFT JOIN s b ON a.shop = b.shop AND b.day < a.day AND b.day < ''2024-01-09'' WHERE a.day < ''2024-01-05''');
SELECT same('WITH s AS (SELECT * FROM totals) SELECT a.shop, a.day, b.day FROM s a RIGHT JOIN s b ON a.shop = b.shop AND b.day < a.day AND a.shop < 9 WHERE b.shop < 13');
-- Of a reader below an outer join a condition above says nothing of its rows; a FULL JOIN keeps all of both sides.
SELECT * FROM plan('WITH s AS (SELECT * FROM totals) SELECT count(*) FROM s a LEFT JOIN s b ON a.day = b.day - 1 WHERE a.shop = 1 AND b.shop IS NULL') p
  WHERE p ~ 'Filter|Having';
SELECT same('WITH s AS (SELECT * FROM totals) SELECT a.shop, a.day FROM s a LEFT JOIN s b ON a.day = b.day - 87 WHERE a.shop = 1 AND b.shop IS NULL');
SELECT same('WITH s AS (SELECT * FROM totals WHERE day < ''2024-01-09'') SELECT a.shop, b.shop FROM s a FULL JOIN s b ON a.day = b.day - 1 AND a.shop = b.shop AND a.shop < 5 AND b.shop < 4');
-- A reader without a condition wants all rows. Conditions that can fail, that may tell equal values apart or that have
-- values of another query stay where they are.
SELECT * FROM plan('WITH s AS (SELECT * FROM totals) SELECT count(*) FROM s a JOIN s b USING (day) WHERE a.shop = 1') p WHERE p ~ 'Filter|Having';
SELECT * FROM plan('WITH s AS (SELECT * FROM totals) SELECT count(*) FROM s a JOIN s b USING (day) WHERE 10 / a.shop = 1 AND b.shop = 1') p WHERE p ~ 'Filter|Having';
SELECT same('WITH s AS (SELECT * FROM totals) SELECT a.day FROM s a JOIN s b USING (day) WHERE a.total::text LIKE ''%0'' AND b.total::text LIKE ''%.00''');
SELECT same('SELECT region, (WITH s AS (SELECT * FROM totals) SELECT count(*) FROM s a JOIN s b USING (day) WHERE a.shop = shops.shop AND b.shop = 1) FROM shops');
-- What a CTE limits or numbers it does before, and it calls volatile functions for all of its rows.
SELECT same('WITH s AS (SELECT *, rank() OVER (ORDER BY total) AS place FROM totals ORDER BY shop, day LIMIT 150) SELECT a.place, b.place FROM s a JOIN s b USING (day) WHERE a.shop = 1 AND b.shop = 11');
SELECT same('WITH s AS (SELECT shop, day, id FROM sales WHERE id < 90 FOR UPDATE) SELECT a.id, b.id FROM s a JOIN s b USING (day) WHERE a.shop = 1 AND b.shop = 1');
CREATE SEQUENCE numbers;
WITH s AS (SELECT shop, day, nextval('numbers') AS n FROM totals) SELECT count(*) FROM s a JOIN s b USING (day) WHERE a.shop = 1 AND b.shop = 11;
SELECT last_value = (SELECT count(*) FROM totals) AS all_rows FROM numbers;
-- Without a table that Penumbra has, the plan is PostgreSQL's own.
RESET penumbra.mode;
CREATE TABLE unknown AS SELECT * FROM shops;
SELECT * FROM plan('WITH s AS (SELECT region, count(*) FROM unknown GROUP BY region) SELECT * FROM s a JOIN s b USING (count) WHERE a.region = ''r1'' AND b.region = ''r2''') p
  WHERE p ~ 'Filter|Seq Scan';
SET penumbra.mode = prefer;

-- Equal subqueries in FROM, also those of views, are one CTE.
CREATE VIEW per_shop AS SELECT shop, sum(amount) AS total, count(*) AS n FROM sales GROUP BY shop;
SELECT * FROM plan('SELECT a.shop, b.total FROM per_shop a JOIN per_shop b ON b.shop = a.shop + 1 WHERE a.total > b.total');
SELECT same('SELECT a.shop, b.total FROM per_shop a JOIN per_shop b ON b.shop = a.shop + 1 WHERE a.total > b.total');
-- which of two plans is cheaper depends on PostgreSQL's version
SELECT split_part(same('SELECT shop, total FROM per_shop WHERE total = (SELECT max(total) FROM per_shop)'), ';', 1);
SELECT same('SELECT s.shop, s.n, t.n FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop) s,
  (SELECT max(n) AS n FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop) x) t WHERE s.n < t.n OR s.shop IN (SELECT shop + 1 FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop) y WHERE n % 2 = 0)');
SELECT same('WITH c AS MATERIALIZED (SELECT * FROM per_shop WHERE n > 3) SELECT c.shop, p.total FROM c JOIN per_shop p USING (shop) WHERE p.n > 5');
SELECT same('SELECT shop, total FROM per_shop WHERE shop < 5 UNION ALL SELECT shop, total FROM per_shop WHERE shop > 35 UNION SELECT -shop, total FROM (SELECT shop, sum(amount) AS total, count(*) AS n FROM sales GROUP BY shop) x');
SELECT same('SELECT a.shop, a.place, b.place AS other FROM (SELECT shop, id, rank() OVER (PARTITION BY shop ORDER BY day, id) AS place FROM sales) a JOIN (SELECT shop, id, rank() OVER (PARTITION BY shop ORDER BY day, id) AS place FROM sales) b ON b.id = a.id + 40 AND b.place = a.place + 1');
SELECT same('WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 9) SELECT r.k, a.n, b.n FROM r JOIN per_shop a ON a.shop = r.k JOIN per_shop b ON b.shop = a.shop + 1');
SELECT split_part(same('SELECT x.n, y.n AS m FROM (SELECT max(a.n) AS n FROM per_shop a JOIN per_shop b ON b.shop = a.shop + 1) x, (SELECT max(a.n) AS n FROM per_shop a JOIN per_shop b ON b.shop = a.shop + 1) y,
  (SELECT z.shop FROM (SELECT shop FROM per_shop WHERE n > 1) z WHERE z.shop = 3) c'), ';', 1);
-- Each for itself: what has values of the query around it, or is volatile; conditions of each that leave little.
SELECT same('SELECT shop, (SELECT x.n + y.n FROM (SELECT count(*) AS n FROM sales WHERE sales.shop = shops.shop) x, (SELECT count(*) AS n FROM sales WHERE sales.shop = shops.shop) y) FROM shops');
SELECT count(*) FROM (SELECT shop, count(*), random() AS x FROM sales GROUP BY shop) a JOIN (SELECT shop, count(*), random() AS x FROM sales GROUP BY shop) b USING (shop) WHERE a.x = b.x;
PREPARE shared_rows (int) AS SELECT count(*) FROM (SELECT shop FROM sales WHERE id > $1 GROUP BY shop) a JOIN (SELECT shop FROM sales WHERE id > $1 GROUP BY shop) b USING (shop);
EXECUTE shared_rows (0);
EXECUTE shared_rows (19990);
DEALLOCATE shared_rows;
-- a condition that joins bring to both readers
SELECT count(*) FROM plan('SELECT a.total, b.n FROM per_shop a JOIN per_shop b USING (shop) WHERE a.shop = 3') p WHERE p ~ '(Filter|Having).*shop = 3';
-- A view is read with the rights that its reference has.
CREATE ROLE shared_ctes_reader;
GRANT USAGE ON SCHEMA shared_ctes TO shared_ctes_reader;
SET ROLE shared_ctes_reader;
SELECT count(*) FROM per_shop a JOIN per_shop b USING (shop);
RESET ROLE;
GRANT SELECT ON per_shop TO shared_ctes_reader;
SET ROLE shared_ctes_reader;
SELECT count(*) FROM per_shop a JOIN per_shop b USING (shop);
RESET ROLE;
REVOKE SELECT ON per_shop FROM shared_ctes_reader;
GRANT SELECT (shop) ON per_shop TO shared_ctes_reader;
SET ROLE shared_ctes_reader;
SELECT count(a.total) FROM per_shop a JOIN per_shop b USING (shop);
SELECT count(*) FROM per_shop a JOIN per_shop b USING (shop);
RESET ROLE;
ALTER VIEW per_shop SET (security_barrier);
SELECT count(*) FROM plan('SELECT a.shop, b.total FROM per_shop a JOIN per_shop b ON b.shop = a.shop + 1') p WHERE p ~ 'computed once';
DROP OWNED BY shared_ctes_reader;
DROP ROLE shared_ctes_reader;

-- Windows whose values do not depend on the order of peers, and others.
SELECT same('WITH s AS (SELECT shop, day, sum(amount) AS total, rank() OVER (PARTITION BY shop ORDER BY day) AS r FROM sales GROUP BY 1, 2)
  SELECT a.shop, a.day, b.total, c.total FROM s a JOIN s b ON b.shop = a.shop AND b.r = a.r - 1 JOIN s c ON c.shop = a.shop AND c.r = a.r + 1');
SELECT same('WITH s AS (SELECT shop, id, row_number() OVER (PARTITION BY shop ORDER BY day) AS r FROM sales)
  SELECT count(*), count(b.id) FROM s a LEFT JOIN s b ON a.shop = b.shop AND a.r = b.r + 1');

-- What must not be computed twice: the first rows among peers, sums of floats, numerics written in several ways, MATERIALIZED.
SELECT same('WITH s AS (SELECT shop, day FROM sales ORDER BY day LIMIT 150)
  SELECT count(*) > 0, count(*) FILTER (WHERE a.shop IS NULL) FROM s a FULL JOIN (SELECT DISTINCT shop FROM s) b USING (shop)');
SELECT same('WITH s AS (SELECT shop, sum(weight) AS total FROM sales GROUP BY shop) SELECT count(*) FROM s a JOIN s b USING (shop) WHERE a.total = b.total');
SELECT same('WITH s AS (SELECT shop, sum(x) AS total FROM (SELECT shop, amount * 1.0 AS x FROM sales UNION SELECT shop, 1 FROM shops) u GROUP BY shop)
  SELECT a.shop FROM s a JOIN s b ON a.total = b.total');
SELECT same('WITH s AS MATERIALIZED (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT a.shop FROM s a JOIN s b USING (n, shop)');
-- A subquery that runs for each row would compute it each time, and a second node another time.
SELECT same('WITH s AS (SELECT shop, sum(weight) AS total FROM sales GROUP BY shop)
  SELECT count(*), count(x) FROM (SELECT g, (SELECT max(total) FROM s WHERE shop > g OR pg_backend_pid() = 0) AS x FROM generate_series(1, 20) g) q');
SELECT same('WITH s AS (SELECT shop, sum(weight) AS total FROM sales GROUP BY shop)
  SELECT count(*) > 0 FROM s a, (SELECT random() < 2 AS t, max(total) AS most FROM s) m WHERE a.total = m.most');

-- Below a node that goes over to its ordinary plan, where one side alone would compute it again.
CREATE FUNCTION halves() RETURNS text LANGUAGE sql AS $$SELECT 'WITH s AS (SELECT id, amount FROM sales ORDER BY day LIMIT 150)
  SELECT a.k, b.k FROM (SELECT id / 180 AS k, mode() WITHIN GROUP (ORDER BY CASE WHEN id / 90 % 2 = 0 THEN amount * 0 ELSE amount * 0.0 END) FROM s GROUP BY 1) a
  FULL JOIN (SELECT id / 180 AS k FROM s GROUP BY 1) b ON a.k = b.k WHERE a.k IS NULL OR b.k IS NULL OR mode <> 0'$$;
SELECT same(halves());
SELECT trim(p) FROM plan(halves(), 'ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF, COSTS OFF') p WHERE p ~ 'Ordinary Plan|CTE Scan';

-- A scalar subquery over a CTE is of the node that computes the CTE, if nothing in it can fail.
SELECT same('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop) SELECT shop FROM s WHERE total > (SELECT avg(total) FROM s)');
SELECT same('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop)
  SELECT shop, total * 100 / (SELECT sum(total) FROM s), (SELECT max(total) FROM s WHERE shop < 7) FROM s
  WHERE total IN ((SELECT min(total) FROM s), (SELECT max(total) FROM s WHERE shop < 7)) OR shop = 3');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT (SELECT count(*) FROM s), (SELECT max(n) FROM s WHERE shop > 99)');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT region, sum(n) FROM s JOIN shops USING (shop)
  WHERE n >= (SELECT min(n) FROM s JOIN shops USING (shop) WHERE region = ''r1'') GROUP BY region');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM shops LEFT JOIN s USING (shop) WHERE n IS NULL OR n = (SELECT max(n) FROM s)');
SELECT same('WITH s AS (SELECT shop, day, count(*) AS n FROM sales GROUP BY 1, 2), d AS (SELECT day, sum(n) AS n FROM s GROUP BY day HAVING sum(n) > 3)
  SELECT day FROM d WHERE n > (SELECT avg(n) FROM d) AND day > (SELECT min(day) FROM s WHERE shop = 3)');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM s WHERE n > 0 AND n > (SELECT max(n) FROM s WHERE shop > 99)');
-- Joined with what may be empty; a call of constants is computed when the query is planned.
SELECT same('WITH s AS (SELECT shop, sum(amount) AS total FROM sales WHERE day < date ''2024-01-01'' + interval ''1 month'' GROUP BY shop)
  SELECT region FROM shops JOIN s USING (shop) WHERE total = (SELECT max(total) FROM s)');
-- These stay where they are: what groups show, what can fail, what has values of the row, more than one row.
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop % 3, sum(n) FROM s GROUP BY 1 HAVING sum(n) > (SELECT max(n) FROM s)');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM s WHERE n < 0 AND n > (SELECT 1 / (count(*) - 40) FROM s)');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT count(*) FROM s WHERE n < 0 AND n > (SELECT 1 / (count(*) - 40) FROM s)');
SELECT same('SELECT sum(shop) FROM (WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM s WHERE n < 0 AND n > (SELECT 1 / (count(*) - 40) FROM s)) r');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM s WHERE n = (SELECT max(n) FROM s i WHERE i.shop % 2 = s.shop % 2)');
SELECT same('WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT shop FROM s WHERE n >= (SELECT max(n) FROM s GROUP BY shop % 1)');
SELECT * FROM plan('WITH s AS (SELECT shop, sum(amount) AS total FROM sales GROUP BY shop) SELECT shop FROM s WHERE total > (SELECT avg(total) FROM s) ORDER BY 1');

-- Cursors that go back, prepared statements, changes between executions.
BEGIN;
DECLARE c SCROLL CURSOR FOR WITH s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop) SELECT a.shop, a.n + b.n FROM s a JOIN s b USING (shop) ORDER BY 1;
FETCH 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 2 FROM c;
COMMIT;
PREPARE q (int) AS WITH s AS (SELECT shop, count(*) AS n FROM sales WHERE id > $1 GROUP BY shop) SELECT sum(a.n * b.n) FROM s a JOIN s b USING (shop);
EXECUTE q (0);
DELETE FROM sales WHERE shop = 7;
EXECUTE q (0);
EXECUTE q (19990);

-- What changes data runs, whoever reads it.
WITH gone AS (DELETE FROM shops WHERE region = 'r4' RETURNING shop), s AS (SELECT shop, count(*) AS n FROM sales GROUP BY shop)
  SELECT count(*) FROM s a JOIN s b USING (shop);
SELECT count(*) FROM shops;

-- Errors in a CTE are PostgreSQL's.
WITH s AS (SELECT shop, sum(10 / (shop - 3)) AS n FROM sales GROUP BY shop) SELECT count(*) FROM s a JOIN s b USING (shop);
-- The ordinary plan scans a CTE of which rows were read before.
CREATE TABLE odd AS SELECT i AS id, CASE WHEN i = 900 THEN ' 7' ELSE i::text END AS t FROM generate_series(1, 1000) i;
VACUUM ANALYZE odd;
SELECT penumbra.load('odd') > 0 AS loaded;
SET penumbra.mode = prefer;
WITH c AS MATERIALIZED (SELECT id FROM odd WHERE id < 5 UNION ALL SELECT id FROM odd WHERE id BETWEEN 10 AND 12)
  SELECT count(*), sum(o.t::int) FROM c JOIN odd o ON true;
WITH c AS MATERIALIZED (SELECT id FROM odd WHERE id < 5 UNION ALL SELECT id FROM odd WHERE id BETWEEN 10 AND 12)
  SELECT count(*) FROM odd o JOIN c ON true WHERE (SELECT p.id FROM odd p WHERE p.t > o.t AND p.id / 2 = o.id / 2 + 1) IS NOT NULL;
RESET penumbra.mode;
-- What gives rows to one of our nodes is a part of the plan of the CTE that the node computes.
CREATE TYPE place AS (shop int, name text);
CREATE TABLE visits WITH (autovacuum_enabled = off) AS SELECT i % 100 AS k, i % 7 AS g, 'n' || i % 12 AS name, ROW(i % 5, 'm' || i % 3)::place AS q, repeat('x', 300 + i % 9) AS tag FROM generate_series(1, 2000) i;
CREATE TABLE lengths WITH (autovacuum_enabled = off) AS SELECT i % 4 AS n, repeat('x', 300) AS filler FROM generate_series(1, 500) i;
VACUUM ANALYZE visits, lengths;
SELECT penumbra.load('visits', ARRAY['k', 'g', 'name', 'tag', '(q).name']) > 0 AND penumbra.load('lengths', ARRAY['n']) > 0 AS loaded;
SET penumbra.mode = prefer;
SELECT line FROM plan($$WITH c AS (SELECT (v.k, (v.r).name)::place AS p, v.g, 'one' AS t FROM (SELECT DISTINCT k, g, name, tag, (length(name), (q).name)::place AS r FROM visits) v LEFT JOIN lengths l ON length(v.name) = l.n)
  SELECT a.g, b.t, a.p, count(*) FROM (SELECT * FROM c WHERE g < 3) a FULL JOIN (SELECT p, max(t) AS t FROM c GROUP BY 1) b ON a.p = b.p GROUP BY 1, 2, 3$$) line WHERE line ~ 'Rows of|CTE';
WITH c AS (SELECT (v.k, (v.r).name)::place AS p, v.g, 'one' AS t FROM (SELECT DISTINCT k, g, name, tag, (length(name), (q).name)::place AS r FROM visits) v LEFT JOIN lengths l ON length(v.name) = l.n)
  SELECT a.g, b.t, a.p, count(*) FROM (SELECT * FROM c WHERE g < 3) a FULL JOIN (SELECT p, max(t) AS t FROM c GROUP BY 1) b ON a.p = b.p GROUP BY 1, 2, 3 ORDER BY 1, 3 LIMIT 5;
RESET penumbra.mode;
-- Spilled.
SET work_mem = '64kB';
SELECT same('WITH s AS (SELECT id / 2 AS k, sum(amount) AS total, string_agg(day::text, '','' ORDER BY id) AS days FROM sales GROUP BY 1)
  SELECT count(*), sum(length(b.days)), sum(a.total) FROM s a JOIN s b ON a.k = b.k + 1 JOIN s c ON c.k = b.k WHERE c.total > 10');
RESET work_mem;

DROP SCHEMA shared_ctes CASCADE;
