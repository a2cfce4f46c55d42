-- Rows of the heap that the engine deforms: columns that cannot be compressed or stored elsewhere, among others that
-- are.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
\getenv directory PG_ABS_SRCDIR
\set agree :directory '/agree.sql'
\i :agree

CREATE TABLE tuples (
    b boolean, s smallint, gone_early text, i int, note text, l bigint, c char(1), n numeric(15,2), code varchar(3),
    d date, gone_late numeric, f4 real, f8 float8, u uuid, v interval, ts timestamptz, umlauts char(4),
    free numeric, wide numeric(26,5));
ALTER TABLE tuples ALTER note SET STORAGE EXTERNAL;
CREATE FUNCTION add_rows(first int, last int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO tuples (b, s, i, note, l, c, n, code, d, f4, f8, u, v, ts, umlauts, free, wide)
    SELECT i % 3 = 0, i % 1000, i, CASE i % 4 WHEN 0 THEN repeat('x', i % 150)
        WHEN 1 THEN repeat('compressed or not ', 150 + i % 10) WHEN 2 THEN repeat(md5(i::text), 100) END,
        i::bigint << 33, chr(65 + i % 26), (i % 2001 - 1000) * 12.34, left('abc', i % 4), date '2000-01-01' + i % 999,
        i / 3.0, i / 7.0, md5(i::text)::uuid, make_interval(hours => i),
        timestamptz '2000-01-01 UTC' + make_interval(hours => i),
        left('äöüß', i % 5), power(10::numeric, i % 40) / 3, (i - 500) * 1234567890123.45678
    FROM generate_series(first, last) i
$$;
SELECT add_rows(1, 400);
UPDATE tuples SET gone_early = repeat('g', i % 200), gone_late = i;
-- nulls of one column each, of all
INSERT INTO tuples (i) SELECT i FROM generate_series(401, 420) i;
UPDATE tuples SET s = NULL WHERE i % 11 = 0;
UPDATE tuples SET n = NULL, d = NULL WHERE i % 13 = 0;
UPDATE tuples SET gone_early = NULL, wide = NULL WHERE i % 17 = 0;
ALTER TABLE tuples DROP gone_early, DROP gone_late;
-- tuples that end before these
ALTER TABLE tuples ADD added int DEFAULT 7, ADD added_n numeric(10,3) DEFAULT 1.250, ADD added_c char(2) DEFAULT 'x',
    ADD added_null date, ADD added_u uuid DEFAULT '00112233-4455-6677-8899-aabbccddeeff';
SELECT add_rows(501, 700);
UPDATE tuples SET added = i, added_n = i / 8.0, added_c = 'yz', added_null = '2020-02-02' WHERE i % 5 = 0;
DELETE FROM tuples WHERE i % 29 = 0;
CREATE FUNCTION look() RETURNS TABLE (query text, answer text) LANGUAGE sql AS $$
    SELECT q, agree(q) FROM unnest(ARRAY[
        'SELECT b, s, i, l FROM tuples', 'SELECT n, c, code FROM tuples', 'SELECT d, f4, f8, u, v, ts FROM tuples',
        'SELECT umlauts FROM tuples', 'SELECT wide, i FROM tuples', 'SELECT free, i FROM tuples',
        'SELECT note, n FROM tuples', 'SELECT added, added_n, added_c, added_null, added_u FROM tuples',
        'SELECT c, count(*), sum(n), min(wide), max(d), sum(added_n) FROM tuples GROUP BY c',
        'SELECT sum(added), count(s), avg(n) FROM tuples WHERE d < date ''2001-01-01'' AND n > 10',
        'SELECT count(*) FROM tuples']) q
$$;
SELECT * FROM look();
-- the same where the cache has some of the rows
VACUUM tuples;
SELECT penumbra.load('tuples') > 0 AS loaded;
SELECT add_rows(801, 850);
UPDATE tuples SET n = n + 1, added_n = 2 WHERE i % 7 = 0;
SELECT answer, count(*) FROM look() GROUP BY answer;
SELECT sum(mismatches) AS wrong FROM penumbra.verify('tuples');
DROP TABLE tuples;

-- a parent and its child, whose columns are elsewhere and of another width
CREATE TABLE parent (i int, n numeric(12,2), c char(1));
CREATE TABLE child (t text, c char(1), n numeric(12,2), i int);
ALTER TABLE child INHERIT parent;
INSERT INTO parent SELECT i, i / 4.0, 'p' FROM generate_series(1, 3000) i;
INSERT INTO child SELECT repeat('t', i % 300), 'c', i / 8.0, i FROM generate_series(1, 3000) i;
SELECT agree('SELECT c, count(*), sum(n), sum(i) FROM parent GROUP BY c'),
    agree('SELECT i, n, c FROM parent WHERE n < 100');
DROP TABLE parent CASCADE;

-- threads take the heap's rows, also when the query ends before they did, and an error in them is PostgreSQL's
SET penumbra.threads_per_query = 2;
CREATE TABLE shared (id int, g int, n numeric(12,2)) WITH (fillfactor = 70);
INSERT INTO shared SELECT i, i % 100, i / 4.0 FROM generate_series(1, 300000) i;
VACUUM shared;
SELECT penumbra.load('shared') > 0 AS loaded;
UPDATE shared SET n = n + 1 WHERE id % 3 = 0;
SELECT agree('SELECT g, count(*), sum(n) FROM shared GROUP BY g'),
    agree('SELECT sum(n), min(id) FROM shared WHERE g < 50'),
    agree('SELECT g, n, id FROM shared ORDER BY n DESC, id LIMIT 100'),
    agree('SELECT a.g, count(*) FROM shared a JOIN shared b ON a.id = b.id GROUP BY a.g');
SET penumbra.mode = require;
UPDATE shared SET g = 1000 WHERE id = 300000;
-- a parallel worker may be the one who meets it
\set SHOW_CONTEXT never
SELECT sum(1 / (g - 1000)) FROM shared;
DROP TABLE shared;
RESET penumbra.mode;
DROP FUNCTION look();
DROP FUNCTION add_rows(int, int);
DROP FUNCTION agree, rows_of;
