-- Functions that show how a value is stored see the heap's values, wherever in the query they stand.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE long_texts (id int, x text COLLATE "C");
CREATE TABLE other (id int, y text COLLATE "C");
INSERT INTO long_texts SELECT i, repeat('penumbra ' || i || ' ', 300) FROM generate_series(1, 500) i;
INSERT INTO other SELECT i, 'short ' || i FROM generate_series(1, 20000) i;
VACUUM ANALYZE long_texts, other;
SELECT penumbra.load('long_texts') + penumbra.load('other') > 0 AS loaded;
SELECT count(DISTINCT pg_column_size(x)) > 1 AS is_compressed, max(pg_column_size(x)) < 1000 AS is_small FROM long_texts;

-- Runs the query without a trace.
CREATE FUNCTION answer(mode text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE 'WITH q AS MATERIALIZED (' || query || ') SELECT array_agg(q::text ORDER BY q::text) FROM q' INTO answer;
	RAISE EXCEPTION USING ERRCODE = 'ZZ001';
EXCEPTION
	WHEN SQLSTATE 'ZZ001' THEN RETURN answer;
	WHEN feature_not_supported THEN
		GET STACKED DIAGNOSTICS answer = PG_EXCEPTION_DETAIL;
		RETURN answer;
END
$$;
CREATE VIEW sizes AS SELECT id, pg_column_size(x) AS bytes FROM long_texts;
CREATE FUNCTION size_of(text) RETURNS int LANGUAGE sql AS 'SELECT pg_column_size($1)';
CREATE TABLE target (id int, x text, n int);
CREATE UNIQUE INDEX ON target (id);
INSERT INTO target SELECT id, x, 0 FROM long_texts WHERE id <= 10;
VACUUM ANALYZE target;

CREATE TABLE tries (place int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO tries (query) VALUES
	('SELECT id, length(x) FROM long_texts'),
	('SELECT pg_column_size(x) FROM long_texts'),
	('SELECT pg_column_compression(x) FROM long_texts'),
	('SELECT id FROM long_texts WHERE pg_column_size(x) < 100'),
	('SELECT count(*) FROM long_texts GROUP BY pg_column_size(x)'),
	('SELECT id FROM long_texts GROUP BY id HAVING max(pg_column_size(x)) > 0'),
	('SELECT id FROM long_texts ORDER BY pg_column_size(x) LIMIT 3'),
	('SELECT sum(pg_column_size(x)) OVER (ORDER BY id) FROM long_texts'),
	('SELECT min(pg_column_size(x)) FROM long_texts'),
	-- subqueries: pulled up, kept, aggregated
	('SELECT pg_column_size(x) FROM (SELECT x FROM long_texts) s'),
	('SELECT pg_column_size(x) FROM (SELECT x FROM long_texts OFFSET 0) s'),
	('SELECT n FROM (SELECT pg_column_size(x) n FROM long_texts) s'),
	('SELECT n FROM (SELECT pg_column_size(x) n FROM long_texts OFFSET 0) s'),
	('SELECT bytes FROM sizes WHERE id < 50'),
	('SELECT pg_column_size(m) FROM (SELECT max(x) m FROM long_texts GROUP BY id % 3) s'),
	-- CTEs: inlined, materialised, of one another, recursive
	('WITH c AS (SELECT x FROM long_texts) SELECT pg_column_size(x) FROM c'),
	('WITH c AS MATERIALIZED (SELECT x FROM long_texts) SELECT pg_column_size(x) FROM c'),
	('WITH c AS MATERIALIZED (SELECT x FROM long_texts), d AS MATERIALIZED (SELECT pg_column_size(x) n FROM c) SELECT n FROM d'),
	('WITH RECURSIVE r AS (SELECT x, 1 AS n FROM long_texts UNION ALL SELECT x, pg_column_size(x) + n FROM r WHERE n < 2) SELECT n FROM r'),
	-- sublinks: correlated, not, pulled up
	('SELECT (SELECT pg_column_size(t.x)) FROM long_texts t'),
	('SELECT (SELECT max(pg_column_size(t.x) + o.id) FROM other o WHERE o.id = t.id) FROM long_texts t'),
	('SELECT pg_column_size((SELECT x FROM long_texts WHERE id = 3))'),
	('SELECT pg_column_size((SELECT max(x) FROM long_texts t WHERE t.id = o.id)) FROM other o WHERE id < 600'),
	('SELECT id FROM other o WHERE EXISTS (SELECT FROM long_texts t WHERE t.id = o.id AND pg_column_size(x) < 100)'),
	('SELECT id FROM other o WHERE id IN (SELECT pg_column_size(x) FROM long_texts)'),
	('SELECT id FROM other o WHERE id NOT IN (SELECT pg_column_size(x) FROM long_texts)'),
	('SELECT ARRAY(SELECT pg_column_size(x) FROM long_texts)'),
	-- LATERAL
	('SELECT s.n FROM long_texts t, LATERAL (SELECT pg_column_size(t.x) n OFFSET 0) s'),
	('SELECT s.n FROM long_texts t, LATERAL pg_column_size(t.x) s (n)'),
	('SELECT s.n FROM long_texts t LEFT JOIN LATERAL (SELECT pg_column_size(t.x) n) s ON true'),
	('SELECT s.n FROM long_texts t, LATERAL (SELECT pg_column_size(t.x) UNION ALL SELECT t.id) s (n)'),
	('SELECT s.n FROM long_texts t, LATERAL (SELECT pg_column_size(t.x) UNION SELECT t.id) s (n)'),
	('SELECT s.n FROM long_texts t, LATERAL (VALUES (pg_column_size(t.x))) s (n)'),
	-- set operations; a call in an arm that was planned before
	('SELECT n FROM (SELECT pg_column_size(x) n FROM long_texts UNION ALL SELECT id FROM other) s'),
	('SELECT pg_column_size(n) FROM (SELECT x n FROM long_texts UNION ALL SELECT y FROM other) s'),
	('SELECT pg_column_size(n) FROM (SELECT x n FROM long_texts UNION SELECT y FROM other) s'),
	('SELECT length(y) FROM other UNION SELECT pg_column_size(x) FROM long_texts'),
	('SELECT (SELECT count(*) FROM (SELECT n FROM (SELECT pg_column_size(t.x) n UNION ALL SELECT 1) u WHERE n > 90 UNION SELECT t.id) w) FROM long_texts t'),
	('SELECT (SELECT n FROM (SELECT pg_column_size(t.x) n UNION ALL SELECT 1) u WHERE n > 1 EXCEPT SELECT -1) FROM long_texts t'),
	-- joins
	('SELECT pg_column_size(t.x) FROM long_texts t JOIN other o ON t.id = o.id'),
	('SELECT t.id FROM long_texts t FULL JOIN other o ON t.id = o.id AND o.id < 9 WHERE pg_column_size(coalesce(t.x, '''')) > 20'),
	('SELECT pg_column_size(u.v) FROM other o LEFT JOIN (SELECT id, coalesce(x, ''-'') v FROM long_texts) u USING (id)'),
	-- statements that write
	('INSERT INTO target SELECT id + 1000, x, pg_column_size(x) FROM long_texts RETURNING n'),
	('INSERT INTO target SELECT id + 1000, x, 0 FROM long_texts RETURNING pg_column_size(x)'),
	('INSERT INTO target SELECT id, x, 0 FROM long_texts ON CONFLICT (id) DO UPDATE SET n = pg_column_size(excluded.x) RETURNING n'),
	('UPDATE target SET n = pg_column_size(t.x) FROM long_texts t WHERE t.id = target.id RETURNING n'),
	('UPDATE target SET n = 1 FROM long_texts t WHERE t.id = target.id RETURNING pg_column_size(t.x)'),
	('DELETE FROM target USING long_texts t WHERE t.id = target.id RETURNING pg_column_size(t.x)'),
	-- in a function that is inlined
	('SELECT size_of(x) FROM long_texts');
SELECT query, answer('off', query) = answer('prefer', query) AS same,
	coalesce(substring(answer('require', query) from '^Table .*: (.*)'), 'runs') AS required
FROM tries ORDER BY place;
-- statements that return nothing
SET penumbra.mode = prefer;
MERGE INTO target USING long_texts t ON t.id = target.id WHEN MATCHED THEN UPDATE SET n = pg_column_size(t.x);
SELECT count(*) FROM target WHERE n <> (SELECT pg_column_size(x) FROM long_texts t WHERE t.id = target.id) OR n > 1000;
-- in auto as well: the costs favour the cache here
SET penumbra.mode = auto;
EXPLAIN (COSTS OFF) SELECT sum(length(y)) FROM other;
EXPLAIN (COSTS OFF) SELECT sum(pg_column_size(y)) FROM other;
EXPLAIN (COSTS OFF) WITH c AS MATERIALIZED (SELECT y FROM other) SELECT pg_column_size(y) FROM c;
RESET penumbra.mode;
DROP TABLE long_texts, other, target, tries CASCADE;
DROP FUNCTION answer, size_of;
