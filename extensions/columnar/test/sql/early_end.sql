-- LIMIT above groups, windows and subqueries: what PostgreSQL's plan may end before, and what ours does about it.
-- Few rows that ask a subquery's groups.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA early_end;
SET search_path = early_end, public;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE entries (doc integer, debit numeric, credit numeric, qty integer);
INSERT INTO entries SELECT i / 4, i % 1000, i % 1000, i % 9 FROM generate_series(1, 200000) i ORDER BY i % 77, i;
CREATE INDEX ON entries (doc);
CREATE TABLE visits (id integer PRIMARY KEY, cost integer, page text);
INSERT INTO visits SELECT i, i % 97, 'page ' || i % 50 FROM generate_series(1, 100000) i;
CREATE TABLE shops (k integer, a integer);
INSERT INTO shops SELECT i % 200, 1 FROM generate_series(1, 6300) i;
CREATE TABLE names (k integer, b integer);
INSERT INTO names SELECT i, i FROM generate_series(1, 2000) i;
INSERT INTO names VALUES (150, 7);
CREATE INDEX ON names (k);
VACUUM ANALYZE entries, visits, shops, names;
CHECKPOINT;
SELECT penumbra.load('entries') > 0 AND penumbra.load('visits') > 0 AND penumbra.load('shops') > 0 AND
	penumbra.load('names') > 0;

-- Whether the rows or the error are PostgreSQL's in each mode; the statement's own level has the LIMIT.
CREATE FUNCTION answer(query text, mode text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE 'CREATE TEMP TABLE kept AS ' || query;
	SELECT count(*) || ' rows ' || md5(string_agg(k::text, ' ' ORDER BY ctid)) INTO rows FROM kept k;
	DROP TABLE kept;
	RETURN coalesce(rows, '0 rows');
EXCEPTION WHEN OTHERS THEN
	RETURN sqlerrm;
END $$;
CREATE FUNCTION same_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected text := answer(query, 'off');
BEGIN
	IF answer(query, 'auto') <> expected OR answer(query, 'prefer') <> expected THEN
		RETURN 'differs: ' || answer(query, 'auto') || ', ' || answer(query, 'prefer') || ' for ' || expected;
	END IF;
	RETURN regexp_replace(expected, 'rows .*', 'rows');
END $$;

SELECT query, same_answer(query) FROM (VALUES
	('SELECT doc, sum(debit) AS x, sum(credit) AS y FROM entries GROUP BY doc HAVING sum(debit) <> sum(credit) ORDER BY 1 LIMIT 50'),
	('SELECT doc, sum(debit) AS x, sum(credit) AS y FROM entries GROUP BY doc HAVING sum(debit) = sum(credit) ORDER BY 1 LIMIT 50'),
	('SELECT doc, count(*) FROM entries GROUP BY doc HAVING count(*) <> 4 ORDER BY 1 LIMIT 50'),
	('SELECT doc, count(*) FROM entries GROUP BY doc HAVING count(*) <> 4 ORDER BY 1 DESC OFFSET 1 LIMIT 1'),
	('SELECT doc + 1 AS x, avg(debit)::int, 100 / (count(*) - 3) FROM entries GROUP BY doc HAVING count(*) = 3 ORDER BY doc LIMIT 5'),
	('SELECT doc + 1 AS x, avg(debit)::int, 100 / (count(*) - 1) FROM entries GROUP BY doc HAVING count(*) < 4 ORDER BY doc LIMIT 5'),
	('SELECT doc, 1 / (max(qty) - 8) FROM entries WHERE qty <> 3 GROUP BY doc HAVING max(qty) > 7 ORDER BY doc LIMIT 5'),
	('SELECT doc, max(qty) FROM entries WHERE qty <> 3 GROUP BY doc HAVING max(qty) > 8 ORDER BY doc LIMIT 5'),
	('SELECT doc, qty, count(*) FROM entries GROUP BY doc, qty HAVING count(*) > 1 ORDER BY doc, qty LIMIT 5'),
	('SELECT *, row_number() OVER (ORDER BY id) FROM visits ORDER BY id LIMIT 500'),
	('SELECT id, sum(cost) OVER (ORDER BY id), lag(page, 2) OVER (ORDER BY id) FROM visits ORDER BY id LIMIT 500'),
	('SELECT id, avg(cost) OVER (), ntile(7) OVER (ORDER BY id) FROM visits ORDER BY id LIMIT 500'),
	('SELECT id, 1000 / (id - 600), lead(cost, 90) OVER (ORDER BY id) FROM visits ORDER BY id LIMIT 500'),
	('SELECT o.k, o.z, rank() OVER (ORDER BY o.k) FROM (SELECT c.*, (SELECT n.b FROM names n WHERE n.k = c.k) AS z FROM (SELECT k, sum(a) AS x FROM shops GROUP BY k) c) o WHERE o.z IS NOT NULL ORDER BY o.k FETCH FIRST 7 ROWS WITH TIES'),
	('SELECT o.k, o.z FROM (SELECT c.*, (SELECT n.b FROM names n WHERE n.k = c.k) AS z FROM (SELECT k, sum(a) AS x FROM shops GROUP BY k) c) o WHERE o.z IS NOT NULL ORDER BY o.k LIMIT 7'),
	('SELECT o.k, o.z FROM (SELECT c.*, (SELECT n.b FROM names n WHERE n.k = c.k) AS z FROM (SELECT k, sum(a) AS x FROM shops GROUP BY k) c) o WHERE o.z IS NOT NULL ORDER BY o.k LIMIT 170'),
	('SELECT n.k, w.* FROM names n JOIN LATERAL (SELECT r.page AS p, r.rank AS x FROM (SELECT page, dense_rank() OVER (PARTITION BY page ORDER BY page) AS rank FROM visits WHERE id < 400) r WHERE r.rank = n.b ORDER BY 1, 2 LIMIT 1) w ON true WHERE n.k < 20'),
	('SELECT k, (SELECT string_agg(page, '','' ORDER BY id DESC) FROM visits v WHERE v.cost = n.k) FROM names n WHERE k % 900 = 7 ORDER BY k'),
	('SELECT k, CASE WHEN k > 10 THEN (SELECT count(*) + 1 FROM visits v WHERE v.cost = n.k) END, (SELECT sum(a) FROM shops s WHERE s.k = n.b) FROM names n WHERE k BETWEEN 5 AND 50 ORDER BY k, b'),
	('SELECT k, (SELECT 1 / (97 - max(v.cost)) FROM visits v WHERE v.cost = n.k) FROM names n WHERE k BETWEEN 91 AND 130 ORDER BY k, b'),
	('SELECT k, (SELECT 1 / (max(v.cost) - 96) FROM visits v WHERE v.cost = n.k) FROM names n WHERE k < 96 ORDER BY k, b'),
	('SELECT k, (SELECT 1 / (max(v.cost) - 96) FROM visits v WHERE v.cost = n.k) FROM names n WHERE k < 97 ORDER BY k, b')
) q (query);

-- The plans: PostgreSQL's first, where HAVING may end it early; alone, where nothing is unknown; not where a window reads all.
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	nodes text := '';
BEGIN
	PERFORM set_config('penumbra.mode', 'auto', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		nodes := nodes || coalesce(' ' || substring(line FROM 'Penumbra [A-Z][-a-zA-Z]*|Ordinary Plan First.*|Index Scan|Vector Right Join|Vector Left Join'), '');
	END LOOP;
	RETURN nodes;
END $$;
SELECT query, plan_of(query) FROM (VALUES
	('SELECT doc, sum(debit) FROM entries GROUP BY doc HAVING sum(debit) <> sum(credit) ORDER BY 1 LIMIT 50'),
	('SELECT doc, sum(debit)::int FROM entries GROUP BY doc HAVING sum(debit) <> sum(credit) ORDER BY 1 LIMIT 50'),
	('SELECT doc, sum(debit) FROM entries GROUP BY doc ORDER BY 1 LIMIT 50'),
	('SELECT doc, sum(debit) FROM entries GROUP BY doc HAVING 1 / (count(*) - 5) > 0 ORDER BY 1 LIMIT 50'),
	('SELECT * FROM entries ORDER BY doc LIMIT 10'),
	('SELECT *, row_number() OVER (ORDER BY id) FROM visits ORDER BY id LIMIT 500'),
	('SELECT id, avg(cost) OVER () FROM visits ORDER BY id LIMIT 500'),
	('SELECT k, (SELECT string_agg(page, '','' ORDER BY id) FROM visits v WHERE v.cost = n.k) FROM names n WHERE b = 50')
) q (query);

-- A cursor and a subquery may stop before all rows, so nothing waits there.
BEGIN;
DECLARE c CURSOR FOR SELECT doc, count(*) FROM entries GROUP BY doc HAVING count(*) <> 4 ORDER BY 1 LIMIT 50;
FETCH ALL FROM c;
ROLLBACK;
-- What was read of the tried plan leaves no trace.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT doc, sum(debit) FROM entries GROUP BY doc HAVING sum(debit) < 0 ORDER BY 1 LIMIT 5
\g (format=unaligned tuples_only=on) | grep -c "Index Scan"

DROP SCHEMA early_end CASCADE;
