-- COPY (query) TO STDOUT: the rows of our plans are sent as PostgreSQL sends them.
\getenv directory PG_ABS_SRCDIR
\getenv results PG_ABS_BUILDDIR
\set copied :directory '/copied.sql'
\set ours :results '/results/copies.ours'
\set theirs :results '/results/copies.theirs'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE every (id int, flag bool, small int2, number positive, large int8, f4 float4, f8 float8, amount numeric(14, 3),
	any_number numeric, day date, moment timestamp, instant timestamptz, span interval, u uuid, words text, code varchar(30),
	padded char(12), list int[], doc jsonb, mood mood);
INSERT INTO every SELECT i, i % 3 = 0, i - 3500, i, i * 1000000007::int8, i / 7.0, i / 3.0, (i - 500) * 1.125, i::numeric ^ (i % 9),
	date '1999-12-28' + i, timestamp '1999-12-28' + i * interval '1 hour 1.5 second', timestamptz '2020-03-29 UTC' + i * interval '7 min',
	i * interval '1 day 2 hours', md5(i::text)::uuid,
	CASE i % 6 WHEN 0 THEN repeat(md5(i::text), i % 5) WHEN 1 THEN 'größe ' || i WHEN 2 THEN E'a\tb' || i || E'\n' WHEN 3 THEN '' END,
	left(md5(i::text), i % 30), 'p' || i % 50, ARRAY[i, NULL, -i], jsonb_build_object('a', i, 'b', E'\t"\\'),
	CASE i % 2 WHEN 0 THEN 'sad' ELSE 'glad' END::mood
FROM generate_series(1, 1500) i;
INSERT INTO every (id, small, large, f4, f8, amount, any_number, day, moment, instant) VALUES
	(-1, -32768, -9223372036854775808, 'NaN', '-Infinity', 0, 'NaN', '-infinity', 'infinity', '-infinity'),
	(-2, 32767, 9223372036854775807, '-0', 1e300, -0.001, 'Infinity', '4713-01-01 BC', '4713-01-01 BC', 'infinity'),
	(-3, 0, 0, 1e-30, 'NaN', 99999999999.999, -1e-200, '5874897-12-31', '0044-03-15 BC', '294276-01-01'),
	(-4, -1, -1, 1, 1, 1, '-Infinity', '-infinity', NULL, NULL), (-5, -10, 10, 0, 0, 10, 1e1000, 'infinity', NULL, NULL),
	(-6, 0, 0, 0, 0, 0.5, 12345678901234567890.00001, 'epoch', NULL, NULL), (-7, 0, 0, 0, 0, -12345.678, 1000000, 'epoch', NULL, NULL),
	(-8, 0, 0, 0, 0, 1, 0.00000, 'epoch', NULL, NULL), (-9, 0, 0, 0, 0, 1, -0.0100, 'epoch', NULL, NULL);
-- each byte that may be special, at each place of words of eight bytes, alone and in pairs
CREATE TABLE special AS
SELECT row_number() OVER () AS id, repeat('x', before) || middle || repeat('y', after) AS words, middle AS alone
FROM generate_series(0, 17) before, unnest('{0, 1, 5, 8}'::int[]) after,
	(SELECT chr(c) FROM generate_series(1, 126) c UNION ALL SELECT unnest('{"\\.", "\\N", "\\\\", ",,", "\"\"", "NULL", "\\r\\n", "é", "", "€|"}'::text[])) m (middle);
INSERT INTO special SELECT 100000 + i, NULL, NULL FROM generate_series(1, 5) i;
INSERT INTO special VALUES (100100, repeat(E'\\\t', 100000), repeat(md5('long'), 100000));
VACUUM ANALYZE every, special;
SELECT count(penumbra.load(c)) FROM unnest('{every, special}'::regclass[]) c;

-- Whether the rows are ours to send: PostgreSQL evaluates this while they are.
CREATE FUNCTION is_ours() RETURNS text LANGUAGE plpgsql STABLE AS
'BEGIN RETURN (SELECT CASE WHEN count(*) > 0 THEN ''ours'' ELSE ''theirs'' END FROM pg_backend_memory_contexts WHERE name = ''Penumbra output''); END';
\set whose 'SELECT is_ours() FROM special WHERE id = 1'
COPY (:whose) TO STDOUT;
COPY (:whose) TO STDOUT (FORMAT csv, HEADER);
COPY (:whose) TO STDOUT (FORMAT csv, FORCE_QUOTE *);
COPY (:whose) TO STDOUT (FORMAT binary) \g /dev/null
COPY (:whose) TO STDOUT (ENCODING 'LATIN1');
COPY (:whose) TO STDOUT (ENCODING 'SQL_ASCII');
COPY (SELECT is_ours()) TO STDOUT;

-- types
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (FORMAT csv, HEADER)'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (FORMAT csv, NULL ''0'', FORCE_QUOTE (id, words))'
\i :copied
-- delimiters, also such as numbers and dates have
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (DELIMITER ''-'')'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (DELIMITER '':'', NULL ''none'', HEADER)'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (DELIMITER ''B'')'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (FORMAT csv, DELIMITER ''1'', QUOTE ''2'', ESCAPE ''3'')'
\i :copied
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT (FORMAT csv, QUOTE ''-'')'
\i :copied
SET datestyle = 'German';
SET extra_float_digits = 0;
SET intervalstyle = 'iso_8601';
SET timezone = 'Asia/Kolkata';
\set copy 'COPY (SELECT * FROM every ORDER BY id) TO STDOUT'
\i :copied
SET datestyle = 'SQL, DMY';
\i :copied
RESET datestyle;
RESET extra_float_digits;
RESET intervalstyle;
RESET timezone;
-- bytes
\set copy 'COPY (SELECT id, words, alone FROM special ORDER BY id) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT alone FROM special ORDER BY id) TO STDOUT (DELIMITER E''\\x01'', NULL '''')'
\i :copied
\set copy 'COPY (SELECT id, words, alone FROM special ORDER BY id) TO STDOUT (DELIMITER ''|'', NULL E''\\\\\\\\'')'
\i :copied
\set copy 'COPY (SELECT words, id, alone FROM special ORDER BY id) TO STDOUT (DELIMITER ''X'')'
\i :copied
\set copy 'COPY (SELECT id, words, alone FROM special ORDER BY id) TO STDOUT (FORMAT csv)'
\i :copied
\set copy 'COPY (SELECT alone FROM special ORDER BY id) TO STDOUT (FORMAT csv, HEADER)'
\i :copied
\set copy 'COPY (SELECT words, alone FROM special ORDER BY id) TO STDOUT (FORMAT csv, DELIMITER E''\\t'', QUOTE '''''''', ESCAPE E''\\\\'', NULL ''NULL'')'
\i :copied
\set copy 'COPY (SELECT alone, words FROM special ORDER BY id) TO STDOUT (FORMAT csv, QUOTE ''x'', ESCAPE ''y'', NULL ''z'')'
\i :copied
\set copy 'COPY (SELECT words FROM special ORDER BY id) TO STDOUT (ENCODING ''SQL_ASCII'')'
\i :copied
\set copy 'COPY (SELECT words FROM special WHERE id < 100 ORDER BY id) TO STDOUT (ENCODING ''SJIS'')'
\i :copied
\set copy 'COPY (SELECT id, words FROM every ORDER BY id) TO STDOUT (ENCODING ''LATIN1'')'
\i :copied
SET client_encoding = 'LATIN1';
\set copy 'COPY (SELECT id, words FROM every ORDER BY id) TO STDOUT (DELIMITER ''|'')'
\i :copied
\set copy 'COPY (SELECT id, words FROM every ORDER BY id) TO STDOUT (ENCODING ''UTF8'')'
\i :copied
RESET client_encoding;
-- numbers of rows and columns
\set copy 'COPY (SELECT FROM every) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT FROM every WHERE id > 0) TO STDOUT (FORMAT csv, HEADER)'
\i :copied
\set copy 'COPY (SELECT id FROM every WHERE id > 10000) TO STDOUT (HEADER)'
\i :copied
\set copy 'COPY (SELECT id FROM every ORDER BY id LIMIT 1) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT id FROM every ORDER BY id LIMIT 2) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT id FROM every ORDER BY id LIMIT 3 OFFSET 4) TO STDOUT'
\i :copied
\set copy 'COPY (SELECT id % 10, count(*), sum(any_number), min(day), max(words) FROM every WHERE id > 0 GROUP BY 1 ORDER BY 1) TO STDOUT (FORMAT csv)'
\i :copied
\set copy 'COPY (SELECT a.id, b.words, a.amount * 3, upper(a.code) FROM every a JOIN every b USING (id) WHERE a.id > 0 ORDER BY 1) TO STDOUT'
\i :copied

-- the commands around: the tag, errors, what is not allowed
\set QUIET off
COPY (SELECT id, words FROM special WHERE id < 8 AND alone > '') TO STDOUT \g /dev/null
COPY (SELECT id FROM special WHERE id < 3) TO STDOUT \g /dev/null
SET penumbra.mode = require;
COPY (SELECT id FROM special WHERE id < 3) TO STDOUT \g /dev/null
COPY (SELECT id FROM special) TO STDOUT \g /dev/null
\set QUIET on
COPY (SELECT id FROM special) TO STDOUT (FORMAT csv, DELIMITER 'ab');
COPY (SELECT id FROM special) TO STDOUT (FORMAT csv, FORCE_QUOTE (no_column));
COPY (SELECT 10 / (id - 600), id FROM special WHERE id BETWEEN 595 AND 605) TO STDOUT;
COPY (SELECT 10 / (id - 9000), id FROM special) TO STDOUT \g /dev/null
COPY (SELECT words, alone FROM special WHERE words = alone AND alone IN (E'\t', '\', '\.', '\N', '\\', '', 'é') ORDER BY id) TO STDOUT;
COPY (SELECT words, alone FROM special WHERE words = alone AND alone IN ('"', ',', '\.', '""', '', 'NULL') ORDER BY id) TO STDOUT (FORMAT csv, NULL 'NULL');
SET statement_timeout = 50;
\set VERBOSITY terse
COPY (SELECT a.words, b.words FROM special a, special b) TO STDOUT \g /dev/null
RESET statement_timeout;
COPY (SELECT count(*) FROM special) TO STDOUT;
DO $$ BEGIN COPY (SELECT id FROM special) TO STDOUT; END $$;
DO $$ BEGIN EXECUTE 'COPY (SELECT id FROM special) TO STDOUT'; END $$;
-- within its query, a copy to a file with options of its own
\set inner :results '/results/copies.inner'
CREATE FUNCTION copied_inside(file text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
	EXECUTE format('COPY (SELECT id, small FROM every WHERE id BETWEEN 1 AND 5 ORDER BY id) TO %L (DELIMITER ''|'')', file);
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END $$;
RESET penumbra.mode;
SET penumbra.mode = prefer;
SELECT format('COPY (SELECT id, copied_inside(%L), is_ours() FROM special WHERE id <= 5 ORDER BY id) TO STDOUT (DELIMITER ''!'')', :'inner') AS copy \gset
:copy;
SELECT pg_read_file(:'inner') AS inner_copy;
-- security
CREATE ROLE copies_reader;
GRANT SELECT ON every TO copies_reader;
ALTER TABLE every ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON every FOR SELECT TO copies_reader USING (id BETWEEN 3 AND 6);
SET ROLE copies_reader;
COPY (SELECT id, words FROM every ORDER BY id) TO STDOUT;
COPY every (id, day) TO STDOUT;
COPY (SELECT id FROM special) TO STDOUT;
RESET ROLE;
DROP POLICY few ON every;
DROP FUNCTION copied_inside(text);
DROP TABLE every, special;
DROP FUNCTION is_ours();
DROP DOMAIN positive;
DROP TYPE mood;
DROP ROLE copies_reader;
