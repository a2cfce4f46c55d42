-- Joins whose conditions compare the sides by their order give the rows and errors of PostgreSQL's executor, and search
-- their build rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE SCHEMA ranges;
SET search_path = ranges;

\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree
-- The table that the join has, and how many rows come out.
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := agree(query, 'prefer');
  line text;
  form text := 'PostgreSQL';
BEGIN
  IF result !~ '^\d+ rows$' THEN
    RETURN result;
  END IF;
  PERFORM set_config('penumbra.mode', 'prefer', true);
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    form := coalesce(substring(line FROM 'Vector Join Table: (.*) of \d+ rows'), form);
  END LOOP;
  RETURN form || ': ' || result;
END $$;

CREATE TABLE events (k int, ts timestamp, d date, f float8, n numeric(10,2), m numeric(10,3), i8 bigint);
INSERT INTO events SELECT i, timestamp '2024-01-01' + i * interval '7 hours', date '2024-01-01' + i % 90,
  (i % 100) / 4.0, i / 4.0, i / 8.0, i * 1000 FROM generate_series(1, 600) i;
INSERT INTO events VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL), (601, 'infinity', '-infinity', 'NaN', 'NaN', 0, 9223372036854775807),
  (602, '-infinity', 'infinity', '-0', -1, 'NaN', -9223372036854775808);
CREATE TABLE periods (id int, begins timestamp, ends timestamp, least float8, greatest float8, low numeric(10,2), high numeric(10,2), first bigint, last bigint);
INSERT INTO periods SELECT i, timestamp '2024-01-01' + i * interval '3 days', timestamp '2024-01-01' + i * interval '3 days' + i % 5 * interval '2 days',
  i / 2.0, i / 2.0 + i % 3, i * 3, i * 3 + 2, i * 5000, i * 5000 + 2500 FROM generate_series(1, 50) i;
INSERT INTO periods VALUES (51, '-infinity', 'infinity', '-Infinity', 'NaN', -100, 'NaN', -9223372036854775808, 9223372036854775807),
  (52, NULL, '2024-02-01', NULL, 3, NULL, 50, NULL, 7), (53, '2024-02-01', NULL, 0, NULL, 10, NULL, 5, NULL);
SELECT penumbra.load('events'), penumbra.load('periods');

-- Kinds of join, of a value within two bounds and of a period around a value.
SELECT kind, same(format('SELECT k, id FROM events %s JOIN periods ON ts >= begins AND ts < ends', kind))
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT']) kind;
SELECT kind, same(format('SELECT k, id FROM periods %s JOIN events ON ts > begins AND ts <= ends', kind))
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT']) kind;
SELECT kind, same(format('SELECT k FROM events WHERE %s (SELECT FROM periods WHERE ts BETWEEN begins AND ends AND id < 40)', kind))
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) kind;
SELECT kind, same(format('SELECT id FROM periods WHERE %s (SELECT FROM events WHERE ts > begins AND ts < ends)', kind))
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) kind;
-- Types, with NaN, infinities, the greatest and least values, and a zero with a sign.
SELECT same('SELECT k, id FROM events JOIN periods ON f BETWEEN least AND greatest');
SELECT same('SELECT k, id FROM events JOIN periods ON f > least AND f < greatest');
SELECT same('SELECT k, id FROM events JOIN periods ON n >= low AND n <= high');
SELECT same('SELECT k, id FROM events JOIN periods ON i8 > first AND i8 < last');
SELECT same('SELECT k, id FROM events JOIN periods ON i8 >= first AND i8 <= last AND k % 2 = id % 2');
-- Many rows of a key are searched as well.
SELECT same('SELECT k, id FROM events LEFT JOIN periods ON k % 2 = id % 2 AND i8 >= first AND i8 < last');
SELECT same('SELECT k FROM events WHERE NOT EXISTS (SELECT FROM periods WHERE k % 2 = id % 2 AND i8 >= first AND i8 < last)');
SELECT same('SELECT k, id FROM events JOIN periods ON k % 2 = id % 2 AND n >= low AND n <= high AND id <> 5');
SELECT same('SELECT k, id FROM events JOIN periods ON k % 2 = id % 2 AND i8 >= first AND i8 < last / (id - 3)');
SELECT same('SELECT k, id FROM events JOIN periods ON k % 2 = id % 2 AND i8 / (k - 7) >= first AND i8 < last');
SELECT same('SELECT k, id FROM events JOIN periods ON k * 1000 >= first AND k < last');
-- Numerics of two scales, text, and a comparison of one side alone are looked at pair by pair.
SELECT same('SELECT k, id FROM events JOIN periods ON m >= low AND m <= high');
SELECT same('SELECT k, id FROM events JOIN periods ON k::text < id::text');
-- Periods that overlap, and a pair of conditions in two orders.
SELECT same('SELECT a.id, b.id FROM periods a JOIN periods b ON a.begins < b.ends AND b.begins < a.ends AND a.id < b.id');
SELECT same('SELECT a.k, b.k FROM events a JOIN events b ON a.k < b.k AND a.f > b.f AND a.k % 50 = 0');
-- OVERLAPS has such bounds, whichever end comes first, and comparisons of rows have one; of both sides together none.
SELECT same('SELECT a.id, b.id FROM periods a JOIN periods b ON (a.begins, a.ends) OVERLAPS (b.begins, b.ends)');
SELECT same('SELECT k, id FROM events LEFT JOIN periods ON (ts, interval ''1 day'') OVERLAPS (ends, begins)');
SELECT kind, same(format('SELECT id FROM periods a WHERE %s (SELECT FROM periods b WHERE (a.ends, a.begins) OVERLAPS (b.begins, b.ends) AND a.id <> b.id)', kind))
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) kind;
SELECT same('SELECT a.id, b.id FROM periods a JOIN periods b ON (a.begins, b.ends) OVERLAPS (b.begins, a.ends)');
SELECT same('SELECT a.k, b.k FROM events a JOIN events b ON (a.k, a.i8) < (b.k, b.i8) AND b.k < 30');
SELECT same('SELECT id, (begins, ends) OVERLAPS (timestamp ''2024-02-01'', timestamp ''2024-01-10''), (begins, NULL) OVERLAPS (ends, begins) FROM periods');
-- Nobody asks for a bound that cannot be computed.
SELECT same('SELECT k, id FROM events JOIN periods ON k > 0 AND k::bigint / (id - 7) > first / 2000 AND id > 7');
SELECT same('SELECT k, id FROM events JOIN periods ON id < k AND id <> 7 AND k > 100 / (id - 7)');
SELECT same('SELECT k, id FROM events JOIN periods ON id < k AND k > 100 / (id - 7)');
SELECT same('SELECT k, id FROM events JOIN periods ON (id > 50 OR id < 100 / (k - 9)) AND id < 100 / (k - 9)');
-- No rows, few rows, and one that all others match.
SELECT same('SELECT k, id FROM events JOIN (SELECT * FROM periods WHERE id > 100) p ON ts BETWEEN begins AND ends');
SELECT same('SELECT k, id FROM events JOIN (SELECT * FROM periods WHERE id < 4) p ON ts BETWEEN begins AND ends');
SELECT same('SELECT count(*) FROM events a JOIN events b ON a.k >= b.k');
-- Correlated subqueries: of the rows within bounds, and of the nearest row. Rows as near as others are alike.
CREATE TABLE quotes (symbol text COLLATE "C", venue int, at timestamp, price numeric(8,2));
INSERT INTO quotes SELECT 'S' || i % 7, i % 3, timestamp '2024-01-01' + i * interval '11 minutes', i % 500 / 4.0
FROM generate_series(1, 3000) i;
INSERT INTO quotes VALUES ('S1', 1, NULL, 1), ('S1', 1, 'infinity', 2), ('S2', 2, '-infinity', 3), (NULL, NULL, '2024-01-05', 4);
CREATE TABLE trades (id int, symbol text COLLATE "C", venue int, at timestamp);
INSERT INTO trades SELECT i, 'S' || i % 9, i % 4, timestamp '2023-12-31' + i * interval '29 minutes' FROM generate_series(1, 1200) i;
INSERT INTO trades VALUES (1201, NULL, 1, '2024-01-06'), (1202, 'S1', 1, NULL), (1203, 'S1', 1, 'infinity'), (1204, 'S2', 2, '-infinity');
ANALYZE quotes, trades;
SELECT penumbra.load('quotes'), penumbra.load('trades');
-- Whether the join chooses rows.
CREATE FUNCTION chooses(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  result text := same(query);
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    result := coalesce(substring(line FROM 'Vector As-Of Join|Vector Join Choice: .*|row_number\(\) <= .*') || ', ', '') || result;
  END LOOP;
  RETURN result;
END $$;
SELECT condition, ordered, chooses(format('SELECT id, price FROM trades t %s (SELECT price FROM quotes q WHERE q.symbol = t.symbol AND %s ORDER BY %s LIMIT 1) x ON true',
  joined, condition, ordered))
FROM (VALUES ('LEFT JOIN LATERAL', 'q.at <= t.at', 'q.at DESC'), ('JOIN LATERAL', 'q.at < t.at', 'q.at DESC'),
  ('LEFT JOIN LATERAL', 't.at <= q.at', 'q.at'), ('JOIN LATERAL', 'q.at > t.at', 'q.at NULLS FIRST'), ('JOIN LATERAL', 'q.at > t.at', 'q.at DESC'),
  ('JOIN LATERAL', 'q.at <= t.at AND q.venue = t.venue', 'q.at DESC'), ('JOIN LATERAL', 'q.at <= t.at AND price > 20', 'q.at DESC'),
  -- What is compared may fail, as it does for PostgreSQL.
  ('LEFT JOIN LATERAL', 'q.at <= t.at - interval ''1 day''', 'q.at DESC'), ('JOIN LATERAL', 'q.at <= (t.at AT TIME ZONE ''UTC'')::date', 'q.at DESC'),
  ('JOIN LATERAL', 'q.at <= timestamp ''2024-01-03'' + interval ''1 day'' / (t.id - 10)', 'q.at DESC'),
  ('LEFT JOIN LATERAL', 'q.at <= timestamp ''2024-01-03'' + interval ''1 day'' / (t.id - 7)', 'q.at DESC'),
  -- What the join cannot choose by.
  ('JOIN LATERAL', 'q.at <= t.at AND q.venue < t.venue', 'q.at DESC'), ('JOIN LATERAL', 'q.at <= t.at', 'q.at DESC, price'),
  ('JOIN LATERAL', 'q.at <= t.at', 'q.at - interval ''1 day'' DESC'), ('JOIN LATERAL', 'q.at + interval ''1 day'' <= t.at', 'q.at DESC')) v (joined, condition, ordered);
SELECT chooses('SELECT id, (SELECT price FROM quotes q WHERE q.symbol = t.symbol AND q.at <= t.at ORDER BY at DESC LIMIT 1) FROM trades t');
SELECT chooses('SELECT id, (SELECT price FROM quotes q WHERE q.at <= t.at ORDER BY at DESC LIMIT 1) FROM trades t');
SELECT chooses('SELECT id, (SELECT price FROM quotes q WHERE q.at >= t.at AND symbol = ''S3'' ORDER BY at LIMIT 1) FROM trades t');
SELECT chooses('SELECT id, (SELECT price FROM quotes q WHERE q.at <= t.at ORDER BY at DESC LIMIT 1 OFFSET 1) FROM trades t');
SELECT chooses('SELECT id, (SELECT count(*) FROM quotes q WHERE q.at BETWEEN t.at - interval ''2 hours'' AND t.at) FROM trades t');
SELECT chooses('SELECT id, (SELECT sum(price) FROM quotes q WHERE q.at > t.at AND q.venue <> t.venue) FROM trades t WHERE id % 10 = 1');
SELECT chooses('SELECT id FROM trades t WHERE (SELECT count(*) FROM quotes q WHERE q.at BETWEEN t.at - interval ''2 hours'' AND t.at) > 10');

-- Past the memory.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT same('SELECT count(*), sum(length(b.t)) FROM events a JOIN (SELECT k, f, repeat(''x'', 200) || k AS t FROM events) b ON a.k >= b.k AND a.k < b.k + 20');
SELECT same('SELECT id, price FROM trades t LEFT JOIN LATERAL (SELECT price FROM quotes q WHERE q.symbol = t.symbol AND q.at <= t.at ORDER BY q.at DESC LIMIT 1) x ON true');
RESET work_mem;
DROP SCHEMA ranges CASCADE;
