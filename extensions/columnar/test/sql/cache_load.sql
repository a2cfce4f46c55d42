-- Loading by hand: columns, types, row shapes; what is refused; DDL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
SHOW penumbra.memory;
SELECT * FROM penumbra.tables;
-- nothing is kept on disk unless it is asked for
SET penumbra.disk_cache_size = '1GB';
SELECT state, is_pending, saved_chunks, restored_chunks, segments_read, bytes_written, write_errors FROM penumbra.disk;
SELECT size_class, pages, used_bytes FROM penumbra.memory;

-- every type that can be cached, NULLs, and types that cannot
CREATE TABLE all_types (
  id int, small smallint, big bigint, yes boolean, r real, d double precision, n numeric,
  money numeric(12,2), day date, ts timestamp, tz timestamptz, iv interval, t text,
  v varchar(20), c char(8), u uuid, j jsonb, a int[]);
INSERT INTO all_types
SELECT i, i % 100, i * 10000000000, i % 2 = 0, i / 3.0, i / 7.0, (i % 5) / 3.0, i / 100.0,
       '2000-01-01'::date + i % 500, '2000-01-01'::timestamp + i * interval '1 hour',
       '2000-01-01Z'::timestamptz + i * interval '1 minute', i * interval '1 day',
       'text ' || i, 'v' || i % 10, 'c' || i % 3, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid,
       jsonb_build_object('i', i), ARRAY[i]
FROM generate_series(1, 20000) i;
INSERT INTO all_types DEFAULT VALUES;
INSERT INTO all_types (id, n, d, day, ts)
VALUES (-1, 'NaN', 'NaN', 'infinity', '-infinity'), (-2, 1e100, 'infinity', '-infinity', 'infinity'),
       (-3, 1.2300, '-infinity', '0044-03-15 BC', '4713-01-01 BC');

-- never vacuumed, and cacheable all the same
SELECT penumbra.load('all_types') > 0 AS loaded;
SELECT column_name, type, rows, coverage_percent FROM penumbra.columns ORDER BY column_name COLLATE "C";
SELECT column_name, rows_checked, mismatches, problem FROM penumbra.verify('all_types')
ORDER BY column_name COLLATE "C";
SELECT rows_from_cache, pages_from_heap, heap_ranges FROM penumbra.explain_coverage('all_types');
SELECT penumbra.load('all_types') AS nothing_to_do;
SELECT relname, coverage_percent, valid_percent, changed_pages, rows FROM penumbra.tables;

-- some columns first, others later: the same chunks
SELECT penumbra.unload('all_types') > 0 AS dropped;
SELECT count(*) FROM penumbra.tables;
SELECT penumbra.load('all_types', '{id, t}') > 0 AS loaded;
SELECT column_name FROM penumbra.columns ORDER BY 1;
SELECT rows_from_cache, pages_from_cache FROM penumbra.explain_coverage('all_types', '{id, n}');
SELECT penumbra.load('all_types', '{n, n, id}') > 0 AS loaded;
SELECT column_name FROM penumbra.columns ORDER BY 1;
SELECT rows_from_cache, pages_from_heap FROM penumbra.explain_coverage('all_types', '{id, n}');
SELECT count(*) AS columns, sum(mismatches) FROM penumbra.verify('all_types');
SELECT penumbra.unload('all_types') > 0 AS dropped;
SELECT size_class, pages, used_bytes FROM penumbra.memory;

-- rows older than a column, dropped columns, generated columns, toasted values
CREATE TABLE shapes (gone int, id int, wide text);
INSERT INTO shapes SELECT i, i, 'w' FROM generate_series(1, 1000) i;
ALTER TABLE shapes DROP COLUMN gone;
ALTER TABLE shapes ADD COLUMN late int DEFAULT 42, ADD COLUMN late_text text DEFAULT 'late', ADD COLUMN late_null int;
ALTER TABLE shapes ADD COLUMN twice int GENERATED ALWAYS AS (id * 2) STORED;
ALTER TABLE shapes ADD COLUMN later numeric(10,2) DEFAULT 1.50;
INSERT INTO shapes (id, wide, late) SELECT i, repeat('compressible ', 1000), i FROM generate_series(1001, 1100) i;
ALTER TABLE shapes ALTER COLUMN wide SET STORAGE EXTERNAL;
INSERT INTO shapes (id, wide, late) SELECT i, string_agg(md5(i::text || j), ''), i
FROM generate_series(1101, 1150) i, generate_series(1, 200) j GROUP BY i;
SELECT penumbra.load('shapes') > 0 AS loaded;
SELECT column_name, rows_checked, mismatches, problem FROM penumbra.verify('shapes')
ORDER BY column_name COLLATE "C";
SELECT rows_from_cache, pages_from_heap FROM penumbra.explain_coverage('shapes');

-- DDL without a rewrite: the column must be loaded anew; with a rewrite: everything
ALTER TABLE shapes ALTER COLUMN late_text TYPE varchar;
SELECT rows_from_cache FROM penumbra.explain_coverage('shapes', '{late_text}');
SELECT rows_from_cache FROM penumbra.explain_coverage('shapes', '{id}');
SELECT penumbra.load('shapes', '{late_text}') > 0 AS loaded;
SELECT rows_from_cache FROM penumbra.explain_coverage('shapes', '{late_text, id}');
ALTER TABLE shapes ALTER COLUMN late TYPE bigint;
SELECT count(*) FROM penumbra.tables;
SELECT penumbra.load('shapes') > 0 AS loaded;
BEGIN;
TRUNCATE shapes;
SELECT rows_from_cache FROM penumbra.explain_coverage('shapes', '{id}');
SELECT penumbra.load('shapes');
ROLLBACK;
SELECT rows_from_cache FROM penumbra.explain_coverage('shapes', '{id}');
SELECT sum(mismatches) FROM penumbra.verify('shapes');
VACUUM FULL shapes;
SELECT count(*) FROM penumbra.tables;
SELECT penumbra.load('shapes') > 0 AS loaded;
DROP TABLE shapes;
SELECT size_class, pages, used_bytes FROM penumbra.memory;

-- partitions and inheritance: each table by itself
CREATE TABLE parts (k int, v text) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_2 (v text, k int);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (1000) TO (2000);
INSERT INTO parts SELECT i, 'v' || i FROM generate_series(0, 1999) i;
SELECT penumbra.load('parts', '{k}');
SELECT relname, column_name, rows FROM penumbra.columns ORDER BY 1, 2;
SELECT penumbra.unload('parts');
DROP TABLE parts;

-- materialised views are tables
CREATE MATERIALIZED VIEW mv AS SELECT i AS a FROM generate_series(1, 100) i;
SELECT penumbra.load('mv');
DROP MATERIALIZED VIEW mv;

-- refused
CREATE VIEW a_view AS SELECT 1 AS a;
CREATE TEMP TABLE a_temp (a int);
CREATE UNLOGGED TABLE an_unlogged (a int);
CREATE SEQUENCE a_sequence;
CREATE INDEX an_index ON all_types (id);
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE a_foreign (a int) SERVER nowhere;
SELECT penumbra.load('no_such_table');
SELECT penumbra.load('a_view');
SELECT penumbra.load('a_temp');
SELECT penumbra.load('an_unlogged');
SELECT penumbra.load('a_sequence');
SELECT penumbra.load('an_index');
SELECT penumbra.load('a_foreign');
SELECT penumbra.load('pg_class');
SELECT penumbra.load('all_types', '{id, nope}');
SELECT penumbra.load('all_types', '{ctid}');
SELECT penumbra.load('all_types', '{j}');
SELECT penumbra.load('all_types', ARRAY[NULL]);
SELECT penumbra.load('all_types', '{}');
SELECT penumbra.load(NULL);
BEGIN;
CREATE TABLE created_here AS SELECT 1 AS a;
SELECT penumbra.load('created_here');
ROLLBACK;

-- what a load leaves out is said once, and is not silent: columns, partitions and pages
SET client_min_messages = notice;
CREATE TABLE left_out (k int, j jsonb, v text, p point[], gone int) PARTITION BY RANGE (k);
ALTER TABLE left_out DROP COLUMN gone;
CREATE TABLE left_out_1 PARTITION OF left_out FOR VALUES FROM (0) TO (1000);
CREATE UNLOGGED TABLE left_out_2 PARTITION OF left_out FOR VALUES FROM (1000) TO (2000);
CREATE FOREIGN TABLE left_out_3 PARTITION OF left_out FOR VALUES FROM (2000) TO (3000) SERVER nowhere;
CREATE TABLE left_out_4 PARTITION OF left_out FOR VALUES FROM (3000) TO (5000) PARTITION BY RANGE (k);
CREATE TABLE left_out_5 PARTITION OF left_out_4 FOR VALUES FROM (3000) TO (4000);
INSERT INTO left_out SELECT i, '{}', 'v' || i FROM generate_series(0, 1999) i;
INSERT INTO left_out SELECT i, '{}', 'v' || i FROM generate_series(3000, 3999) i;
SELECT penumbra.load('left_out');
SELECT relname, column_name, rows FROM penumbra.columns ORDER BY 1, 2;
SELECT penumbra.load('left_out', '{k}');
SELECT penumbra.load('left_out', '{j}');
SELECT penumbra.refresh('left_out');
SELECT penumbra.load('left_out_2');
SET client_min_messages = warning;
SELECT penumbra.load('left_out');
SET client_min_messages = notice;
SELECT penumbra.unload('left_out');
BEGIN;
DELETE FROM left_out WHERE k IN (10, 3010, 3990);
SELECT penumbra.load('left_out', '{k}');
ROLLBACK;
SELECT penumbra.unload('left_out');
DROP TABLE left_out;
DO $$ BEGIN EXECUTE 'CREATE TABLE left_out (' ||
	(SELECT string_agg('c' || i || ' json', ', ') FROM generate_series(1, 25) i) || ')'; END $$;
SELECT penumbra.load('left_out');
DROP TABLE left_out;
SET client_min_messages = warning;

-- who may
CREATE ROLE somebody;
CREATE ROLE an_owner;
CREATE TABLE owned (a int);
ALTER TABLE owned OWNER TO an_owner;
INSERT INTO owned VALUES (1);
SET ROLE somebody;
SELECT penumbra.load('owned');
SELECT penumbra.unload('owned');
SELECT penumbra.refresh('owned');
SELECT * FROM penumbra.verify('owned');
SELECT count(*) FROM penumbra.tables;
SELECT * FROM penumbra.progress;
SET penumbra.stop_points = 'x';
RESET ROLE;
SET ROLE an_owner;
SELECT penumbra.load('owned');
SELECT penumbra.unload('owned');
RESET ROLE;
GRANT pg_monitor TO somebody;
SET ROLE somebody;
SELECT count(*) FROM penumbra.progress;
SELECT errors FROM penumbra.activity;
RESET ROLE;

-- the cache is full: the least used goes, what does not fit stays in the table
CREATE TABLE big AS SELECT i AS a, md5(i::text)::uuid AS u, md5((i + 1)::text)::uuid AS w
FROM generate_series(1, 1000000) i;
SELECT penumbra.load('all_types') > 0 AS loaded;
SELECT count(*) FROM penumbra.tables;
SET client_min_messages = error;
SELECT penumbra.load('big') > 0 AS loaded;
RESET client_min_messages;
SELECT relname, coverage_percent BETWEEN 30 AND 95 AS in_part FROM penumbra.tables;
SELECT heap_pages > 0 AS some_pages, reason FROM penumbra.staleness;
SELECT used_bytes <= budget_bytes AND used_bytes > budget_bytes / 2 AS full FROM penumbra.memory WHERE size_class = 'all';
SELECT sum(mismatches) FROM penumbra.verify('big');
SELECT chunks > 0 AS some, rows_from_cache > 0 AS some_rows, pages_from_heap > 0 AS some_pages FROM penumbra.explain_coverage('big');
SELECT penumbra.load('all_types') > 0 AS loaded;
SELECT relname FROM penumbra.tables ORDER BY 1;
SELECT sum(mismatches) FROM penumbra.verify('all_types');
DROP TABLE big, all_types, owned, an_unlogged;
SELECT size_class, pages, used_bytes FROM penumbra.memory;

-- cancel
CREATE TABLE slow AS SELECT i AS a, 't' || i AS t FROM generate_series(1, 1000000) i;
SET statement_timeout = '20ms';
SELECT penumbra.load('slow');
RESET statement_timeout;
SELECT count(*) FROM penumbra.progress;
SELECT penumbra.load('slow') > 0 AS loaded;
SELECT sum(mismatches) FROM penumbra.verify('slow');
DROP TABLE slow;
SELECT size_class, pages, used_bytes FROM penumbra.memory;
DROP SERVER nowhere CASCADE;
DROP FOREIGN DATA WRAPPER nothing;
DROP VIEW a_view;
DROP SEQUENCE a_sequence;
DROP ROLE an_owner;
REVOKE pg_monitor FROM somebody;
DROP ROLE somebody;
