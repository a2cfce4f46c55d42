-- Who sees and does what.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra;
CREATE EXTENSION IF NOT EXISTS penumbra_test;
CREATE ROLE regress_nobody;
CREATE ROLE regress_reader;
CREATE ROLE regress_stats IN ROLE pg_read_all_stats;
CREATE ROLE regress_monitor IN ROLE pg_monitor;
CREATE ROLE regress_owner;
CREATE TABLE open_table (a int, b text);
CREATE TABLE half_open (a int, b text);
CREATE TABLE by_row (a int, b text);
CREATE TABLE closed_table (a int, b text);
INSERT INTO open_table SELECT i, 'b' FROM generate_series(1, 1000) i;
INSERT INTO half_open SELECT i, 'b' FROM generate_series(1, 1000) i;
INSERT INTO by_row SELECT i, 'b' FROM generate_series(1, 1000) i;
INSERT INTO closed_table SELECT i, 'b' FROM generate_series(1, 1000) i;
VACUUM open_table, half_open, by_row, closed_table;
GRANT SELECT ON open_table, by_row TO regress_reader;
GRANT SELECT (b) ON half_open TO regress_reader;
ALTER TABLE by_row ENABLE ROW LEVEL SECURITY;
ALTER TABLE closed_table OWNER TO regress_owner;
SELECT count(penumbra.load(t)) FROM unnest('{open_table, half_open, by_row, closed_table}'::regclass[]) t;

-- tables and columns: those that the user may read, or maintain; no encodings below row-level security
CREATE VIEW what_is_seen AS
SELECT
	(SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C") FROM penumbra.tables
	 WHERE relname ~ '^(open_table|half_open|by_row|closed_table)$') AS tables,
	(SELECT string_agg(relname || '.' || column_name, ' ' ORDER BY relname || '.' || column_name COLLATE "C")
	 FROM penumbra.columns WHERE relname ~ '^(open_table|half_open|by_row|closed_table)$') AS columns,
	(SELECT count(*) FROM penumbra.get_tables()
	 WHERE datid <> (SELECT oid FROM pg_database WHERE datname = current_database())) AS elsewhere;
GRANT SELECT ON what_is_seen TO PUBLIC;
CREATE DATABASE regress_elsewhere;
SELECT current_database() AS here \gset
\c regress_elsewhere
SET client_min_messages = warning;
CREATE EXTENSION penumbra;
CREATE TABLE open_table AS SELECT 1 AS a;
VACUUM open_table;
GRANT SELECT ON open_table TO PUBLIC;
SELECT penumbra.load('open_table');
\c :here
SET client_min_messages = warning;
SELECT * FROM what_is_seen;
SET ROLE regress_stats;
SELECT * FROM what_is_seen;
SET ROLE regress_reader;
SELECT * FROM what_is_seen;
SET ROLE regress_owner;
SELECT * FROM what_is_seen;
SET ROLE regress_nobody;
SELECT * FROM what_is_seen;

-- numbers of the whole server are for pg_monitor
SELECT count(*) > 0 FROM penumbra.memory;
SELECT count(*) > 0 FROM penumbra.refusals;
SELECT count(*) FROM penumbra.get_refusals();
SELECT count(*) FROM penumbra.disk;
SELECT count(*) FROM penumbra.progress;
SELECT count(*) FROM penumbra.activity;
SET ROLE regress_monitor;
SELECT count(*) > 0 FROM penumbra.memory;
SELECT count(*) >= 0 FROM penumbra.refusals;
SELECT count(*) FROM penumbra.disk;
SELECT count(*) FROM penumbra.progress;
SELECT count(*) FROM penumbra.activity;

-- loading is maintenance
SET ROLE regress_reader;
SELECT penumbra.load('open_table');
SELECT penumbra.refresh('open_table');
SELECT penumbra.unload('open_table');
SELECT penumbra.explain_coverage('open_table');
SELECT penumbra.verify('open_table');
SET ROLE regress_owner;
SELECT penumbra.unload('closed_table'), penumbra.load('closed_table', '{a}');
-- of a partitioned table: the partitions that the user may maintain, as VACUUM does
RESET ROLE;
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE parted_own PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted_other PARTITION OF parted FOR VALUES FROM (10) TO (20);
INSERT INTO parted SELECT generate_series(0, 19);
VACUUM parted;
ALTER TABLE parted OWNER TO regress_owner;
ALTER TABLE parted_own OWNER TO regress_owner;
SET ROLE regress_owner;
SELECT penumbra.load('parted');
SELECT relname FROM penumbra.tables WHERE relname LIKE 'parted%';
RESET ROLE;
SELECT penumbra.load('parted');
SET ROLE regress_owner;
SELECT penumbra.refresh('parted'), penumbra.unload('parted');

-- for superusers alone, whatever is granted
SELECT penumbra.forget_dropped_databases();
SET penumbra.stop_points = 'scan-after-pin';
SELECT penumbra_test.damage('closed_table', 1::int2, 0);
RESET ROLE;
GRANT EXECUTE ON FUNCTION penumbra_test.damage(regclass, smallint, integer) TO regress_owner;
SET ROLE regress_owner;
SELECT penumbra_test.damage('closed_table', 1::int2, 0);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION penumbra_test.damage(regclass, smallint, integer) FROM regress_owner;
SELECT penumbra.forget_dropped_databases();
-- every function and view says who may use it
SELECT oid::regprocedure AS function, array_to_string(ARRAY(SELECT coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC')
	FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee <> proowner ORDER BY 1), ' ') AS callers
FROM pg_proc WHERE pronamespace = 'penumbra'::regnamespace ORDER BY oid::regprocedure::text COLLATE "C";
SELECT relname AS view, array_to_string(ARRAY(SELECT coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC')
	FROM aclexplode(relacl) WHERE grantee <> relowner ORDER BY 1), ' ') AS readers
FROM pg_class WHERE relnamespace = 'penumbra'::regnamespace AND relkind = 'v' ORDER BY relname COLLATE "C";
-- no view reads catalogs whose rows other extensions filter (Citus hides its shards in pg_class)
SELECT relname FROM pg_class WHERE relnamespace = 'penumbra'::regnamespace AND relkind = 'v'
	AND pg_get_viewdef(oid) ~ 'pg_(class|attribute|type)\M';

DROP DATABASE regress_elsewhere;
DROP VIEW what_is_seen;
DROP TABLE open_table, half_open, by_row, closed_table, parted;
DROP ROLE regress_nobody, regress_reader, regress_stats, regress_monitor, regress_owner;
