-- string_agg() and array_agg() without ORDER BY: in the order of the table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 2;
SET max_parallel_workers_per_gather = 0;
SET enable_sort = off;
CREATE TABLE entry (id int, kind text, amount numeric(8, 2), at date, filler text) WITH (fillfactor = 70);
INSERT INTO entry SELECT i, CASE WHEN i % 19 > 0 THEN 'kind ' || i * 7 % 13 END, i % 977 / 4.0, date '2024-01-01' + i % 365, repeat('x', i % 50)
FROM generate_series(1, 80000) i;
VACUUM ANALYZE entry;
SELECT penumbra.load('entry') > 0 AS loaded;
-- whether one node computes it, and whether the answer is PostgreSQL's
CREATE FUNCTION ordered(query text, mode text DEFAULT 'prefer', OUT nodes text, OUT are_equal boolean) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s) q', query) INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s) q', query) INTO found;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '^\S|->  (?!Vector)' THEN
			nodes := concat_ws(', ', nodes, substring(line FROM '(?:-> +)?(\S.*?)(?: on .*)?$'));
		END IF;
	END LOOP;
	are_equal := expected IS NOT DISTINCT FROM found;
	RESET penumbra.mode;
END $$;
CREATE TABLE question (query text);
INSERT INTO question VALUES
('SELECT array_agg(id) FROM entry'),
('SELECT kind, array_agg(id) FROM entry GROUP BY kind'),
('SELECT kind, string_agg(id::text, '', '') FROM entry WHERE amount > 100 GROUP BY kind'),
('SELECT at, array_agg(amount), array_agg(kind), count(*) FROM entry GROUP BY at'),
('SELECT kind, string_agg(filler, amount::text) FILTER (WHERE id % 3 = 0), sum(amount) FROM entry GROUP BY kind'),
('SELECT date_trunc(''month'', at), array_agg(id + 1), array_agg(kind) FROM entry WHERE md5(kind) > ''4'' GROUP BY 1'),
('SELECT kind, array_agg(id) FROM (SELECT kind, id FROM entry WHERE amount < 50) e GROUP BY kind HAVING count(*) > 10'),
('SELECT kind, array_agg(a) FROM (SELECT kind, amount * 2 AS a FROM entry) e GROUP BY kind');
SELECT (ordered(query)).* FROM question;
-- rows of the heap, of pages that are proven by row, of patches
UPDATE entry SET amount = amount + 1 WHERE id % 503 = 0;
DELETE FROM entry WHERE id % 701 = 0;
INSERT INTO entry SELECT i, 'kind 1', 1, date '2024-06-01', '' FROM generate_series(80001, 80300) i;
SELECT bool_and((ordered(query)).are_equal) FROM question;
SELECT penumbra.refresh('entry') IS NOT NULL AS refreshed;
SELECT bool_and((ordered(query)).are_equal) FROM question;
UPDATE entry SET filler = filler || 'y' WHERE id BETWEEN 30000 AND 30100;
SELECT bool_and((ordered(query)).are_equal) FROM question;
VACUUM entry;
INSERT INTO entry SELECT i, 'kind 2', 1, date '2024-06-01', '' FROM generate_series(80301, 80400) i;
SELECT bool_and((ordered(query)).are_equal) FROM question;
-- what EXPLAIN says
EXPLAIN (COSTS OFF) SELECT kind, array_agg(id) FROM entry GROUP BY kind;
-- PostgreSQL's: joins, an index, an order below, several tables, more positions than memory for them
SELECT nodes FROM ordered('SELECT a.kind, array_agg(a.id) FROM entry a JOIN entry b ON a.id = b.id GROUP BY a.kind');
SELECT nodes FROM ordered('SELECT kind, at, array_agg(id) FROM entry WHERE id < 5000 GROUP BY ROLLUP (kind, at)');
SELECT * FROM ordered('SELECT kind, array_agg(id) FROM (SELECT kind, id FROM entry ORDER BY amount, id) e GROUP BY kind');
CREATE INDEX ON entry (amount);
SELECT * FROM ordered('SELECT array_agg(id) FROM entry WHERE amount = 3');
CREATE TABLE part (id int, kind text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (100) TO (20000);
INSERT INTO part SELECT i, 'k' || i % 3 FROM generate_series(0, 9999) i;
VACUUM ANALYZE part;
SELECT penumbra.load('part') > 0 AS loaded;
SELECT nodes FROM ordered('SELECT kind, array_agg(id) FROM part GROUP BY kind');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT nodes FROM ordered('SELECT kind, array_agg(id) FROM entry GROUP BY kind');
RESET work_mem;
RESET hash_mem_multiplier;
-- limits: 1 GB of a value, a cancel
SET statement_timeout = 100;
SELECT length(string_agg(filler, repeat('-', 10000))) FROM entry, generate_series(1, 1000);
RESET statement_timeout;
DO $$
BEGIN
	PERFORM length(string_agg(left(kind, 0) || repeat('-', 20000), '')) FROM entry;
EXCEPTION WHEN program_limit_exceeded THEN
	RAISE WARNING 'more than 1 GB';
END $$;
DROP FUNCTION ordered;
DROP TABLE entry, question, part;
