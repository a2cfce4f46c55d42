-- Scans of btree indexes that find their first page by themselves: every kind of key and range, beside max_plans = 0.
CREATE EXTENSION penumbra_lookup;
CREATE TABLE keys (i2 int2, i4 int4, i8 int8, o oid, d date, t timestamp, z timestamptz, u uuid, many int, gap int, filler text);
INSERT INTO keys
SELECT i % 30000, 2 * i, 3 * i::int8 - 5000, (i::int8 + 2147480000)::oid, date '2020-01-01' + i, timestamp '2026-01-01' + i * interval '1 minute',
	timestamptz '2026-01-01' + i * interval '1 hour', md5((i % 5000)::text)::uuid, i % 40,
	CASE WHEN i % 5 > 0 THEN i % 700 END, 'row ' || i
FROM generate_series(1, 6000) i;
CREATE UNIQUE INDEX ON keys (i4) INCLUDE (filler);
CREATE INDEX ON keys (i2);
CREATE INDEX ON keys (i8);
CREATE INDEX ON keys (o);
CREATE INDEX ON keys (d);
CREATE INDEX ON keys (t);
CREATE INDEX ON keys (z);
CREATE INDEX ON keys (u);
CREATE INDEX ON keys (many, i4);
CREATE INDEX ON keys (gap, i8);
CREATE INDEX ON keys (u, gap) WHERE i4 > 0;
CREATE INDEX ON keys (filler);
CREATE INDEX ON keys (gap DESC, i2);
DELETE FROM keys WHERE i4 BETWEEN 3000 AND 3900;
VACUUM ANALYZE keys;
CREATE TABLE nothing (k int PRIMARY KEY);

-- the statements: $1 is a number from 1 to 6000
CREATE TABLE statements (name text PRIMARY KEY, query text);
INSERT INTO statements VALUES
('i2', 'SELECT i2, i4 FROM keys WHERE i2 = $1 ORDER BY i2'),
('i2 by int8', 'SELECT i2, i4 FROM keys WHERE i2 = $1::int8 * 17 ORDER BY i2'),
('i4', 'SELECT i4, i8 FROM keys WHERE i4 = $1'),
('i4 only', 'SELECT i4, filler FROM keys WHERE i4 = $1'),
('i4 by int8', 'SELECT i4, i8 FROM keys WHERE i4 = $1::int8 * 1000000000'),
('i4 null', 'SELECT i4, i8 FROM keys WHERE i4 = nullif($1, $1 / 7 * 7)'),
('i4 range', 'SELECT i4, d FROM keys WHERE i4 >= $1 ORDER BY i4 LIMIT 10'),
('i4 open range', 'SELECT i4, d FROM keys WHERE i4 > $1 ORDER BY i4 LIMIT 400'),
('i4 between', 'SELECT i4, d FROM keys WHERE i4 > $1 - 200 AND i4 < $1 + 300 ORDER BY i4'),
('i4 between, backward', 'SELECT i4, d FROM keys WHERE i4 >= $1 - 200 AND i4 <= $1 + 300 ORDER BY i4 DESC'),
('i4 latest', 'SELECT i4, d FROM keys WHERE i4 <= $1 ORDER BY i4 DESC LIMIT 3'),
('i4 latest of less', 'SELECT i4, d FROM keys WHERE i4 < $1 ORDER BY i4 DESC LIMIT 500'),
('i4 first', 'SELECT i4, d + $1 FROM keys ORDER BY i4 LIMIT 3'),
('i4 last', 'SELECT i4, d + $1 FROM keys ORDER BY i4 DESC LIMIT 3'),
('i4 none', 'SELECT i4 FROM keys WHERE i4 > $1 AND i4 < $1 - 5'),
('i4 twice', 'SELECT i4 FROM keys WHERE i4 >= $1 AND i4 >= $1 + 9 AND i4 <= $1 + 30 ORDER BY i4'),
('i8 by int4', 'SELECT i8 FROM keys WHERE i8 = $1 - 4997 ORDER BY i8'),
('i8', 'SELECT i8, i2 FROM keys WHERE i8 >= 3::int8 * $1 - 5000 ORDER BY i8 LIMIT 4'),
('oid', 'SELECT o, i4 FROM keys WHERE o >= ($1::int8 + 2147480000)::oid ORDER BY o LIMIT 3'),
('date', 'SELECT d, i4 FROM keys WHERE d = date ''2020-01-01'' + $1'),
('date by timestamp', 'SELECT d, i4 FROM keys WHERE d = timestamp ''2020-01-01'' + $1 * interval ''1 day'''),
('timestamp', 'SELECT t, i4 FROM keys WHERE t > timestamp ''2026-01-01'' + $1 * interval ''1 minute'' ORDER BY t LIMIT 2'),
('many, last', 'SELECT many, i4, i8, d FROM keys WHERE d <= date ''2020-01-01'' + $1 ORDER BY d DESC LIMIT 5'),
('timestamptz', 'SELECT z, i4 FROM keys WHERE z < timestamptz ''2026-01-01'' + $1 * interval ''1 hour'' ORDER BY z DESC LIMIT 2'),
('uuid', 'SELECT u, i4 FROM keys WHERE u = md5($1::text)::uuid ORDER BY u'),
('uuid range', 'SELECT u FROM keys WHERE u >= md5($1::text)::uuid ORDER BY u LIMIT 5'),
('uuid and number', 'SELECT u, gap FROM keys WHERE u = md5($1::text)::uuid AND gap > 5 AND i4 > 0 ORDER BY gap'),
('many', 'SELECT many, count(*) OVER () FROM keys WHERE many = $1 % 45'),
('many, i4', 'SELECT many, i4 FROM keys WHERE many = $1 % 45 AND i4 = $1 * 2'),
('many, backward', 'SELECT many, i4 FROM keys WHERE many = $1 % 45 AND i4 < $1 ORDER BY many DESC, i4 DESC LIMIT 7'),
('many, from', 'SELECT many, i4 FROM keys WHERE many = $1 % 45 AND i4 >= $1 ORDER BY many, i4 LIMIT 7'),
('second column', 'SELECT many, i4, d FROM keys WHERE many >= $1 % 45 AND i4 = $1 ORDER BY many, i4'),
('gap', 'SELECT gap, i8 FROM keys WHERE gap = $1 % 720 ORDER BY i8'),
('gap up', 'SELECT gap, i8 FROM keys WHERE gap > $1 % 720 ORDER BY gap, i8 LIMIT 20'),
('gap down', 'SELECT gap, i8 FROM keys WHERE gap >= $1 % 720 ORDER BY gap DESC, i8 DESC LIMIT 20'),
('gap less', 'SELECT gap, i8 FROM keys WHERE gap < $1 % 720 ORDER BY gap, i8 LIMIT 20'),
('gap most', 'SELECT max(gap), min(gap), $1 FROM keys WHERE i4 <> $1'),
('gap most of many', 'SELECT max(i4), min(i4), count(*) FROM keys WHERE many = $1 % 45'),
('gap null', 'SELECT gap, i8 FROM keys WHERE gap IS NULL AND i8 > $1 ORDER BY gap, i8 LIMIT 20'),
('descending', 'SELECT gap, i2 FROM keys WHERE gap = $1 % 720 ORDER BY gap DESC, i2 LIMIT 9'),
('text', 'SELECT filler, i4 FROM keys WHERE filler = ''row '' || $1'),
('array', 'SELECT i4 FROM keys WHERE i4 = ANY (ARRAY[$1, $1 + 2, 7]) ORDER BY i4'),
('row', 'SELECT many, i4 FROM keys WHERE (many, i4) > ($1 % 45, $1) ORDER BY many, i4 LIMIT 5'),
('join', 'SELECT a.i4, b.i4, c.u FROM keys a JOIN keys b ON b.i4 = 2 * a.many JOIN keys c ON c.i8 = b.i8 WHERE a.i4 = $1'),
('nothing', 'SELECT k FROM nothing WHERE k = $1'),
('nothing from', 'SELECT k FROM nothing WHERE k >= $1 ORDER BY k LIMIT 3');

-- a statement's answers, and how often it ran on a ready state
CREATE FUNCTION run(query text, OUT answers text, OUT ready bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM penumbra_lookup.reset_executions();
	EXECUTE 'CREATE FUNCTION pg_temp.loop() RETURNS text LANGUAGE plpgsql AS ' || quote_literal(
		'DECLARE found record; hash bigint := 0; rows int := 0; key int; BEGIN '
		'FOR n IN 1..25 LOOP key := CASE n WHEN 1 THEN -1 WHEN 2 THEN 0 WHEN 3 THEN 20000 ELSE n * 1871 % 6000 END; '
		'FOR found IN ' || regexp_replace(query, '\$1', '(key)', 'g') || ' LOOP hash := hashtextextended(found::text, hash); rows := rows + 1; END LOOP; '
		'END LOOP; RETURN hash || '' '' || rows; END');
	answers := pg_temp.loop();
	DROP FUNCTION pg_temp.loop();
	SELECT executions INTO ready FROM penumbra_lookup.executions WHERE outcome = 'ready';
END $$;

CREATE FUNCTION compare() RETURNS TABLE (name text, is_same boolean, ready bigint) LANGUAGE plpgsql AS $$
DECLARE
	statement statements;
	stock text;
	answers text;
BEGIN
	FOR statement IN SELECT * FROM statements s ORDER BY s.name COLLATE "C" LOOP
		SET LOCAL penumbra_lookup.max_plans = 0;
		SELECT r.answers INTO stock FROM run(statement.query) r;
		SET LOCAL penumbra_lookup.max_plans = 64;
		SELECT r.answers, r.ready INTO answers, ready FROM run(statement.query) r;
		name := statement.name;
		is_same := stock = answers;
		RETURN NEXT;
	END LOOP;
END $$;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT * FROM compare();

-- splits, dead entries, entries that are marked dead, pages that go and come again
CREATE TABLE copies AS SELECT * FROM keys;
INSERT INTO keys SELECT i2, i4 + 1, i8, o, d, t, z, u, many, gap, filler FROM copies;
SELECT * FROM compare() WHERE NOT is_same;
DELETE FROM keys WHERE i4 % 3 = 0 OR i4 BETWEEN 5000 AND 9000;
SELECT * FROM compare() WHERE NOT is_same;
VACUUM keys;
SELECT * FROM compare() WHERE NOT is_same;
INSERT INTO keys SELECT i2, 20000 + i4, i8, o, d, t, z, u, many, gap, filler FROM copies;
INSERT INTO nothing SELECT i * 5 FROM generate_series(1, 1000) i;
UPDATE keys SET gap = gap + 1, i2 = i2 - 1 WHERE i4 % 7 = 0;
SELECT * FROM compare() WHERE NOT is_same;

-- pages of the index that are looked up in the buffer pool: the leaf, and no inner page but now and then
CREATE FUNCTION pages() RETURNS TABLE (scans bigint, entries bigint, blocks bigint) LANGUAGE sql AS $$
	SELECT idx_scan, idx_tup_read, idx_blks_read + idx_blks_hit
	FROM pg_stat_user_indexes JOIN pg_statio_user_indexes USING (indexrelid) WHERE indexrelid = 'nothing_pkey'::regclass
$$;
VACUUM ANALYZE nothing;
CREATE FUNCTION lookups() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	total bigint := 0;
	found_key int;
BEGIN
	FOR i IN 1..2000 LOOP
		SELECT k INTO found_key FROM nothing WHERE k = i * 5 % 5000;
		total := total + coalesce(found_key, 0);
	END LOOP;
	PERFORM pg_stat_force_next_flush();
	RETURN total;
END $$;
SELECT pg_stat_force_next_flush();
SELECT * FROM pages() \gset before_
SET penumbra_lookup.max_plans = 0;
SELECT lookups();
SELECT * FROM pages() \gset stock_
RESET penumbra_lookup.max_plans;
SELECT lookups();
SELECT * FROM pages() \gset ready_
SELECT :stock_scans - :before_scans AS stock_scans, :ready_scans - :stock_scans AS ready_scans,
	:stock_entries - :before_entries AS stock_entries, :ready_entries - :stock_entries AS ready_entries,
	:stock_blocks - :before_blocks >= 4000 AS stock_reads_inner_pages, :ready_blocks - :stock_blocks < 3000 AS ready_does_not;

-- a cursor goes to and fro over the ends of pages
CREATE FUNCTION open_range(name refcursor, low int, high int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN OPEN name SCROLL FOR SELECT i4, i8 FROM keys WHERE i4 >= low AND i4 < high ORDER BY i4; RETURN name; END $$;
CREATE FUNCTION walk() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	range refcursor := 'range';
	row record;
	answer text := '';
BEGIN
	PERFORM open_range(range, 100, 2300);
	FOR i IN 1..40 LOOP
		MOVE FORWARD 47 IN range;
		FETCH NEXT FROM range INTO row;
		answer := answer || ' ' || coalesce(row::text, '-');
		MOVE BACKWARD 11 IN range;
		FETCH PRIOR FROM range INTO row;
		answer := answer || ' ' || coalesce(row::text, '-');
	END LOOP;
	FETCH LAST FROM range INTO row;
	answer := answer || ' ' || coalesce(row::text, '-');
	FETCH FIRST FROM range INTO row;
	answer := answer || ' ' || coalesce(row::text, '-');
	CLOSE range;
	RETURN md5(answer);
END $$;
SET penumbra_lookup.max_plans = 0;
SELECT walk() AS stock \gset
RESET penumbra_lookup.max_plans;
SELECT penumbra_lookup.reset_executions();
SELECT walk() = :'stock', walk() = :'stock', walk() = :'stock', walk() = :'stock';
SELECT executions FROM penumbra_lookup.executions WHERE outcome = 'ready';

DROP TABLE keys, copies, nothing, statements;
DROP FUNCTION run(text), compare(), pages(), lookups(), open_range(refcursor, int, int), walk();
DROP EXTENSION penumbra_lookup;
