-- What is remembered of patterns: a repeat evaluates nothing, and answers as PostgreSQL does whatever was written between.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SET penumbra.threads_per_query = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE pages (id int, day date, url text, kind text) WITH (autovacuum_enabled = false);
INSERT INTO pages SELECT i, '2026-01-01'::date + i / 2000, CASE WHEN i % 101 > 0 THEN 'https://host' || i % 17 || '/' || md5(i::text) || CASE i % 5000 WHEN 7 THEN '?Rare' ELSE '' END END,
	'kind ' || i * 7919 % 3000
FROM generate_series(1, 60000) i;
VACUUM (ANALYZE, FREEZE) pages;
SELECT used_bytes AS used_before FROM penumbra.memory WHERE size_class = 'all' \gset
SELECT penumbra.load('pages') > 0 AS loaded;
\set VERBOSITY terse
-- rows that pass, whether PostgreSQL finds the same, and what of the filter was known
CREATE FUNCTION asked(condition text, mode text DEFAULT 'require', OUT rows bigint, OUT are_equal boolean, OUT known text)
LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT count(*), sum(id) FROM pages WHERE ' || condition;
	expected record;
	found record;
	line text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE query INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		known := coalesce(substring(line FROM 'Remembered Filters: (.*)'), known);
	END LOOP;
	-- knows at least what the one before has learned
	EXECUTE query INTO found;
	rows := found.count;
	are_equal := expected IS NOT DISTINCT FROM found;
	RESET penumbra.mode;
END $$;
SELECT * FROM asked($$url LIKE '%Rare%'$$);
SELECT * FROM asked($$url LIKE '%Rare%'$$);
SELECT * FROM asked($$url LIKE '%nowhere%'$$);
SELECT * FROM asked($$url LIKE '%nowhere%'$$);
-- another condition is another, of another column too
SELECT * FROM asked($$url NOT LIKE '%Rare%'$$);
SELECT * FROM asked($$url ILIKE '%Rare%'$$);
SELECT * FROM asked($$url LIKE '%rare%'$$);
SELECT * FROM asked($$kind LIKE '%Rare%'$$);
SELECT * FROM asked($$kind COLLATE "C" ILIKE '%KIND 1%'$$);
SELECT * FROM asked($$kind COLLATE "C" ILIKE '%KIND 1%'$$);
-- regular expressions, functions, nulls, several at once
SELECT * FROM asked($$url ~ 'host1[0-2]/.*ff\d'$$);
SELECT * FROM asked($$url ~ 'host1[0-2]/.*ff\d'$$);
SELECT * FROM asked($$length(url) > 46 OR url LIKE '%ffff%' OR url IS NULL$$);
SELECT * FROM asked($$length(url) > 46 OR url LIKE '%ffff%' OR url IS NULL$$);
SELECT rows, are_equal, known IS NOT NULL AS is_known FROM asked($$url ~ 'host1[0-2]/.*ff\d' AND kind LIKE '%7' AND url NOT LIKE '%Rare%'$$);
SELECT rows, are_equal, known IS NOT NULL AS is_known FROM asked($$url ~ 'host1[0-2]/.*ff\d' AND kind LIKE '%7' AND url NOT LIKE '%Rare%'$$);
-- only rows that were evaluated are known: those that another condition dropped are not
SELECT * FROM asked($$id % 3 = 0 AND id < 20000 AND url LIKE '%cafe%'$$);
SELECT rows, are_equal, known ~ '^(19999|20\d{3}) ' AS is_known FROM asked($$url LIKE '%cafe%'$$);
SELECT * FROM asked($$url LIKE '%cafe%'$$);
SET penumbra.mode = require;
SELECT url LIKE '%babe%' AS found FROM pages WHERE url LIKE '%babe%' LIMIT 1;
SELECT EXISTS (SELECT FROM pages WHERE url LIKE '%babe%');
RESET penumbra.mode;
SELECT rows, are_equal FROM asked($$url LIKE '%babe%'$$);
SELECT * FROM asked($$url LIKE '%babe%'$$);
-- what can fail, what is cheap, and what is no engine's is not remembered
SELECT * FROM asked($$length(url) - 5 > 41$$);
SELECT * FROM asked($$length(url) - 5 > 41$$);
SELECT * FROM asked($$kind = 'kind 7'$$);
SELECT * FROM asked($$kind = 'kind 7'$$);
CREATE FUNCTION is_wanted(text) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$BEGIN RETURN $1 LIKE '%7'; END$$;
SELECT * FROM asked($$is_wanted(kind)$$, 'auto');
CREATE OR REPLACE FUNCTION is_wanted(text) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$BEGIN RETURN $1 LIKE '%77'; END$$;
SELECT * FROM asked($$is_wanted(kind)$$, 'auto');
-- parameters by value
PREPARE found(text) AS SELECT count(*) FROM pages WHERE url LIKE $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE found('%Rare%');
EXECUTE found('%rare%');
EXECUTE found('%Rare');
RESET plan_cache_mode;
-- a rescan with other values each time
SELECT p, (SELECT count(*) FROM pages WHERE url LIKE p) FROM unnest(ARRAY['%Rare%', '%nowhere%', '%dada%', NULL, '%Rare%']) p;
-- a table that is written: rows that are gone, or new, or not there yet for this snapshot
BEGIN;
DELETE FROM pages WHERE id % 10 = 7;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
SAVEPOINT written;
UPDATE pages SET url = 'Rare' WHERE id < 100;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
ROLLBACK TO written;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
ROLLBACK;
SELECT * FROM asked($$url LIKE '%Rare%'$$, 'auto');
DELETE FROM pages WHERE id % 10 = 7 AND id < 30000;
UPDATE pages SET url = 'Rare ' || id WHERE id BETWEEN 40000 AND 40003;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
SELECT rows, are_equal FROM asked($$url LIKE '%cafe%'$$, 'auto');
VACUUM pages;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
INSERT INTO pages SELECT 100000 + i, '2026-01-01', 'Rare ' || i, 'new' FROM generate_series(1, 50) i;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
SELECT penumbra.refresh('pages') > 0 AS refreshed;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
-- another version of a chunk knows nothing
SELECT penumbra.unload('pages') > 0 AS unloaded, penumbra.load('pages') > 0 AS loaded;
SELECT * FROM asked($$url LIKE '%Rare%'$$);
SELECT rows, are_equal, known IS NOT NULL AS is_known FROM asked($$url LIKE '%Rare%'$$);
-- nor does another file, or another type
ALTER TABLE pages ALTER url TYPE varchar(60);
SELECT penumbra.load('pages') > 0 AS loaded;
SELECT * FROM asked($$url LIKE '%Rare%'$$);
ALTER TABLE pages DROP COLUMN kind, ADD kind text DEFAULT 'Rare kind of all rows, which is as long as a url is';
SELECT penumbra.load('pages') > 0 AS loaded;
SELECT * FROM asked($$kind LIKE '%Rare%'$$);
SELECT * FROM asked($$kind LIKE '%of all%' AND url LIKE '%Rare%'$$);
BEGIN;
TRUNCATE pages;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
ROLLBACK;
SELECT rows, are_equal, known IS NOT NULL AS is_known FROM asked($$url LIKE '%Rare%'$$);
SELECT sum(mismatches) AS mismatches FROM penumbra.verify('pages');
-- it is counted with the table's memory, bounded by a part of the column's, and goes with it
SELECT memory_bytes AS before FROM penumbra.tables WHERE relname = 'pages' \gset
SELECT count(*) AS patterns FROM generate_series(1, 60) i, LATERAL asked(format('url LIKE %L', '%' || to_hex(i) || '%')) a WHERE a.are_equal;
SELECT memory_bytes > :before AS is_counted, memory_bytes < :before * 1.1 AS is_bounded FROM penumbra.tables WHERE relname = 'pages';
-- others' columns take the place of the column and of what is remembered of it
CREATE TABLE others AS SELECT md5(i::text) a, md5(i || 'b') b, md5(i || 'c') c, md5(i || 'd') d FROM generate_series(1, 300000) i;
VACUUM (FREEZE) others;
SET client_min_messages = error;
SELECT penumbra.load('others') > 0 AS loaded;
SET client_min_messages = warning;
SELECT coalesce(sum(evictions), 1) > 0 AS are_evicted FROM penumbra.tables WHERE relname = 'pages';
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$, 'auto');
SELECT penumbra.unload('others') > 0 AS unloaded;
SELECT penumbra.load('pages') > 0 AS loaded;
SELECT rows, are_equal FROM asked($$url LIKE '%Rare%'$$);
SELECT penumbra.unload('pages') > 0 AS unloaded;
-- what tests before had left may have gone meanwhile
SELECT used_bytes <= :used_before AS nothing_left FROM penumbra.memory WHERE size_class = 'all';
DROP TABLE pages, others;
DROP FUNCTION is_wanted, asked;
