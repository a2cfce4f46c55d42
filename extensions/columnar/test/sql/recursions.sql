-- Recursive CTEs in the engine: rows, order of iterations, laziness, errors, plans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA recursions;
SET search_path = recursions, public;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE edges (src integer, dst integer, w numeric);
INSERT INTO edges SELECT i, i * 7 % 3000, (i % 5)::numeric / 2 FROM generate_series(1, 3000) i;
INSERT INTO edges SELECT i, i * 11 % 3000, 1.50 FROM generate_series(1, 3000) i;
INSERT INTO edges VALUES (NULL, 1, 1), (1, NULL, 1), (1, 7, 1.0), (1, 7, 1.00);
CREATE TABLE parts (id integer, parent integer, name text, qty numeric(10,2));
INSERT INTO parts SELECT i, nullif(i / 3, 0), 'part ' || i, (i % 4 + 1)::numeric / 2 FROM generate_series(1, 20000) i;
CREATE TABLE walked (n integer);
VACUUM ANALYZE edges, parts;
CHECKPOINT;
SELECT penumbra.load('edges') > 0 AND penumbra.load('parts') > 0;

-- Whether the rows are PostgreSQL's in each mode, and how many there are.
CREATE FUNCTION same_rows(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected text;
	found text;
	counted bigint;
BEGIN
	PERFORM set_config('penumbra.mode', 'off', true);
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")), count(*) FROM (%s) q', query) INTO expected, counted;
	FOREACH found IN ARRAY ARRAY['auto', 'prefer'] LOOP
		PERFORM set_config('penumbra.mode', found, true);
		EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s) q', query) INTO found;
		IF found IS DISTINCT FROM expected THEN
			RETURN 'differs';
		END IF;
	END LOOP;
	RETURN counted || ' rows';
END $$;

SELECT query, same_rows(query) FROM (VALUES
	('WITH RECURSIVE r (n, depth) AS (SELECT 1, 0 UNION ALL SELECT e.dst, depth + 1 FROM r JOIN edges e ON e.src = r.n WHERE depth < 6) SELECT depth, count(*), sum(n) FROM r GROUP BY 1'),
	('WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) SELECT n FROM r'),
	('WITH RECURSIVE r (n, w) AS (VALUES (1, 1.0) UNION SELECT e.dst, e.w + 1 FROM r JOIN edges e ON e.src = r.n WHERE n < 900) SELECT n, w::float8 FROM r'),
	('WITH RECURSIVE r (id, path, total) AS (SELECT id, name, qty::numeric FROM parts WHERE parent IS NULL UNION ALL SELECT p.id, path || ''/'' || p.name, total * p.qty FROM r JOIN parts p ON p.parent = r.id) SELECT max(length(path)), sum(total), count(*) FROM r'),
	('WITH RECURSIVE r (id, qty) AS (SELECT id, qty FROM parts WHERE id = 1 UNION ALL SELECT p.id, p.qty FROM r JOIN parts p ON p.parent = r.id) SELECT * FROM r'),
	('WITH RECURSIVE r (id, parent) AS (SELECT id, parent FROM parts WHERE id > 19990 UNION SELECT p.id, p.parent FROM r JOIN parts p ON p.id = r.parent) SELECT a.id, b.id FROM r a JOIN r b ON a.parent = b.id'),
	('WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5000) SELECT t.n, p.name FROM t JOIN parts p ON p.id = t.n'),
	('WITH RECURSIVE t (d) AS (SELECT date ''2024-01-01'' UNION ALL SELECT d + 1 FROM t WHERE d < date ''2025-01-01'') SELECT d, (SELECT count(*) FROM parts WHERE id = extract(day FROM d)) FROM t'),
	('WITH RECURSIVE r (n, depth) AS (SELECT 5, 0 UNION ALL SELECT e.dst, depth + 1 FROM r LEFT JOIN edges e ON e.src = r.n AND e.w > 0.5 WHERE depth < 3) SELECT * FROM r'),
	('WITH RECURSIVE r (n) AS (SELECT 5 UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n WHERE NOT EXISTS (SELECT 1 FROM parts p WHERE p.id = e.dst AND p.qty = 2)) SELECT count(*) FROM r'),
	('WITH RECURSIVE r (n) AS (SELECT 7 UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) SELECT count(*) FROM parts WHERE id IN (SELECT n FROM r)'),
	('WITH RECURSIVE a (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 20), b (n, m) AS (SELECT n, 0 FROM a UNION ALL SELECT e.dst, m + 1 FROM b JOIN edges e ON e.src = b.n WHERE m < 2) SELECT m, count(*) FROM b GROUP BY 1'),
	('SELECT p.id, (WITH RECURSIVE r (n) AS (SELECT p.id UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n WHERE e.dst < p.id) SELECT count(*) FROM r) FROM parts p WHERE p.id < 9'),
	('WITH RECURSIVE r (n, path) AS (SELECT 1, ARRAY[1] UNION ALL SELECT e.dst, path || e.dst FROM r JOIN edges e ON e.src = r.n WHERE NOT e.dst = ANY (path) AND cardinality(path) < 5) SELECT * FROM r')
) queries (query);

-- More memory than there is: rows, tables of joins, what was there before.
SET work_mem = '64kB';
SELECT same_rows('WITH RECURSIVE r (id, path) AS (SELECT id, name FROM parts WHERE parent IS NULL UNION ALL SELECT p.id, path || ''/'' || p.name FROM r JOIN parts p ON p.parent = r.id) SELECT id, path FROM r');
SELECT same_rows('WITH RECURSIVE t (n, s) AS (SELECT n, repeat(''x'', n % 50) FROM generate_series(1, 3000) n UNION ALL SELECT n + 3000, s || ''y'' FROM t WHERE n < 60000) SELECT n, length(s) FROM t');
RESET work_mem;

-- The row that was there first stays as it is written.
SET penumbra.mode = prefer;
WITH RECURSIVE r (w, step) AS (SELECT 1.0, 1 UNION SELECT r.w * 1.00, 1 FROM r JOIN edges e ON e.src = 1) SELECT w FROM r;
-- Of the rows that PostgreSQL computes 19 has another name, 18 counts in decimals and says how they are stored.
CREATE FUNCTION plan_of(query text, options text = 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    line := regexp_replace(line, '"\*SELECT\* (\d)"|\*SELECT\* (\d)|unnamed_subquery', 'first', 'g');
    IF line !~ 'Storage:' THEN
      RETURN NEXT regexp_replace(line, '(rows=\d+)\.00', '\1');
    END IF;
  END LOOP;
END $$;
SELECT plan_of('WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t LIMIT 3');
-- Who asks for the first rows gets them, whatever comes after.
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t LIMIT 3;
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n + 100 / (50 - n) FROM t) SELECT count(*) FROM (SELECT n FROM t LIMIT 10) q;
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION SELECT n + 1 FROM t) SELECT EXISTS (SELECT FROM t WHERE n = 5000);
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n + 1 FROM t), u (n) AS (SELECT n FROM t UNION ALL SELECT n FROM u) SELECT n FROM u LIMIT 2;
BEGIN;
DECLARE c CURSOR FOR WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n + 1 FROM t) SELECT n * 2 FROM t WHERE n > 1;
FETCH 2 FROM c;
ROLLBACK;
-- Errors are PostgreSQL's, and so are those that no row asks for.
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 10 UNION ALL SELECT n - 1 + 0 / n FROM t) SELECT count(*) FROM t;
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n * 1000 FROM t) SELECT count(*) FROM t;
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT CASE WHEN n < 0 THEN 1 / (n - n) ELSE n + 1 END FROM t) SELECT n FROM t LIMIT 2;
-- A cancel ends a recursion that has no end.
SET statement_timeout = '200ms';
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT n % 100 + 1 FROM t) SELECT count(*) FROM t;
WITH RECURSIVE t (n) AS (SELECT id FROM parts WHERE id = 1 UNION ALL SELECT t.n FROM t, edges a, edges b, edges c WHERE a.dst + b.dst + c.dst + t.n < 0) SELECT count(*) FROM t;
RESET statement_timeout;

-- Plans: one node with its reader, a node of its own, PostgreSQL's plan first.
SELECT plan_of('WITH RECURSIVE r (n, depth) AS (SELECT 1, 0 UNION ALL SELECT e.dst, depth + 1 FROM r JOIN edges e ON e.src = r.n WHERE depth < 6) SELECT depth, count(*) FROM r GROUP BY 1');
SELECT plan_of('WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT e.dst FROM r JOIN edges e ON e.src = r.n) SELECT n FROM r LIMIT 3',
  'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF');
CREATE TABLE many AS SELECT i AS id, i / 3 AS parent FROM generate_series(1, 100000) i;
CREATE INDEX ON many (parent);
VACUUM ANALYZE many;
SELECT penumbra.load('many') > 0;
SET penumbra.mode = auto;
SELECT plan_of('WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(id) FROM r');
WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(id) FROM r;
WITH RECURSIVE r (id) AS (SELECT 9000 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(id) FROM r;
WITH RECURSIVE r (id) AS (SELECT 2 UNION SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(a.id) FROM r a JOIN r b USING (id);
-- It would be seen that rows wait.
SELECT plan_of('WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT id FROM r LIMIT 5');
INSERT INTO walked WITH RECURSIVE r (id) AS (SELECT 2 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT id FROM r;
SET penumbra.mode = off;
WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(id) FROM r;
WITH RECURSIVE r (id) AS (SELECT 9000 UNION ALL SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(id) FROM r;
WITH RECURSIVE r (id) AS (SELECT 2 UNION SELECT m.id FROM r JOIN many m ON m.parent = r.id) SELECT count(*), sum(a.id) FROM r a JOIN r b USING (id);
SELECT count(*), sum(n) FROM walked;
-- Of a subquery's value that was known when the engine gave up.
SET penumbra.mode = prefer;
SELECT count(*) FROM edges a JOIN (SELECT dst, 100 / (src - 4) AS x FROM edges WHERE dst < (SELECT max(id) FROM parts) GROUP BY 1, 2) q ON q.dst = a.src;
DROP SCHEMA recursions CASCADE;
