-- COMPRESSION in the server's DDL. session_preload_libraries loads the library.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;

-- CREATE TABLE
CREATE TABLE mapped (
    id integer,
    t text COMPRESSION zlib,
    j jsonb COMPRESSION "zstd(9)",
    b bytea COMPRESSION snappy,
    s text COMPRESSION pglz,
    l text COMPRESSION lz4,
    d text COMPRESSION default,
    c compressed_text COMPRESSION lz4
);
SELECT attname, format_type(atttypid, atttypmod), attcompression FROM pg_attribute
WHERE attrelid = 'mapped'::regclass AND attnum > 0 ORDER BY attnum;
INSERT INTO mapped (id, t, j, b)
SELECT i, repeat(md5(i::text), 20), jsonb_build_object('key', repeat(md5(i::text), 20)),
    convert_to(repeat(md5(i::text), 20), 'UTF8')
FROM generate_series(1, 300) i;
SELECT (compression_info(t)).method, (compression_info(j)).method, (compression_info(b)).method, count(*)
FROM mapped GROUP BY 1, 2, 3;

-- prepared and repeated, in a function
CREATE FUNCTION make_table() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE made (t text COMPRESSION brotli);
    DROP TABLE made;
    CREATE TABLE made (t text COMPRESSION zlib);
END $$;
SELECT make_table();
DROP TABLE made;
SELECT make_table();
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made'::regclass AND attname = 't';

-- ADD COLUMN
ALTER TABLE mapped ADD COLUMN added text COMPRESSION zstd DEFAULT repeat('x', 100), ADD COLUMN plain integer;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'mapped'::regclass AND attname = 'added';
SELECT count(*) FROM mapped WHERE added = repeat('x', 100);

-- SET COMPRESSION of a column that is compressed: no rewrite, old values stay readable
SELECT pg_relation_filenode('mapped') AS filenode_before \gset
ALTER TABLE mapped ALTER COLUMN t SET COMPRESSION zstd;
SELECT pg_relation_filenode('mapped') = :filenode_before AS not_rewritten;
INSERT INTO mapped (id, t) SELECT i, repeat(md5(i::text), 20) FROM generate_series(301, 400) i;
SELECT (compression_info(t)).method, count(*), bool_and(t = repeat(md5(id::text), 20)) FROM mapped GROUP BY 1 ORDER BY 1;
ALTER TABLE mapped ALTER COLUMN t SET COMPRESSION lz4;
ALTER TABLE mapped ALTER COLUMN t SET COMPRESSION default;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'mapped'::regclass AND attname = 't';

-- SET COMPRESSION of a plain column: pglz, lz4 and default are the server's
ALTER TABLE mapped ALTER COLUMN s SET COMPRESSION lz4;
ALTER TABLE mapped ALTER COLUMN l SET COMPRESSION default;
SELECT attname, format_type(atttypid, atttypmod), attcompression FROM pg_attribute
WHERE attrelid = 'mapped'::regclass AND attname IN ('s', 'l') ORDER BY 1;
UPDATE mapped SET s = repeat(md5(id::text), 20);
ALTER TABLE mapped ALTER COLUMN s SET COMPRESSION "zstd(1)";
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'mapped'::regclass AND attname = 's';
SELECT (compression_info(s)).method, count(*), bool_and(s = repeat(md5(id::text), 20)) FROM mapped GROUP BY 1 ORDER BY 1;

-- several commands in one statement
ALTER TABLE mapped ALTER COLUMN d SET COMPRESSION zlib, ALTER COLUMN l SET NOT NULL;
UPDATE mapped SET l = 'x';
ALTER TABLE mapped ALTER COLUMN d SET COMPRESSION zlib, ALTER COLUMN l SET NOT NULL;
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute
WHERE attrelid = 'mapped'::regclass AND attname IN ('d', 'l') ORDER BY 1;

-- partitions: the parent is changed, its partitions with it
CREATE TABLE parent (id integer, t text COMPRESSION zlib) PARTITION BY RANGE (id);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (100);
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'child'::regclass AND attname = 't';
ALTER TABLE child ALTER COLUMN t SET COMPRESSION zstd;
ALTER TABLE parent ALTER COLUMN t SET COMPRESSION zstd;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'child'::regclass AND attname = 't';

-- what cannot be
CREATE TABLE refused (i integer COMPRESSION zlib);
CREATE TABLE refused (a text[] COMPRESSION zlib);
CREATE TABLE refused (t text COMPRESSION "zlib(99)");
CREATE TABLE refused (t text COMPRESSION "zlib(x)");
CREATE TABLE refused (t text COMPRESSION unheard_of);
CREATE TABLE refused (t compressed_text(zlib) COMPRESSION zstd);
CREATE TABLE refused (t no_such_type COMPRESSION zstd);
ALTER TABLE mapped ALTER COLUMN id SET COMPRESSION zstd;
ALTER TABLE mapped ALTER COLUMN missing SET COMPRESSION zstd;
ALTER TABLE no_such_table ALTER COLUMN t SET COMPRESSION zstd;
ALTER TABLE IF EXISTS no_such_table ALTER COLUMN t SET COMPRESSION zstd;
CREATE VIEW user_of_t AS SELECT t FROM mapped;
\set VERBOSITY terse
ALTER TABLE mapped ALTER COLUMN t SET COMPRESSION zstd;
\set VERBOSITY default
DROP VIEW user_of_t;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE elsewhere (t text COMPRESSION zlib) SERVER nowhere;
CREATE FOREIGN TABLE elsewhere (t text) SERVER nowhere;
ALTER FOREIGN TABLE elsewhere ADD COLUMN u text COMPRESSION zlib;
ALTER TABLE elsewhere ALTER COLUMN t SET COMPRESSION zstd;
CREATE ROLE regress_somebody;
SET ROLE regress_somebody;
ALTER TABLE mapped ALTER COLUMN t SET COMPRESSION zstd;
RESET ROLE;
DROP ROLE regress_somebody;
DROP FOREIGN DATA WRAPPER nothing CASCADE;

-- a database without the extension
CREATE DATABASE regress_without;
\set database :DBNAME
\c regress_without
CREATE TABLE refused (t text COMPRESSION zstd);
CREATE TABLE taken (t text COMPRESSION pglz);
\c :database
DROP DATABASE regress_without;
DROP TABLE mapped, made, parent;
DROP FUNCTION make_table;
