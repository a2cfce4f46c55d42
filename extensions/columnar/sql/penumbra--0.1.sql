/* extensions/columnar/sql/penumbra--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra" to load this file. \quit

-- Who may do what is written down with each part: REVOKE where a function is not for everybody.
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

-- loading by hand: for PUBLIC, since the functions themselves demand what VACUUM demands of the table (its owner;
-- from 17 on MAINTAIN)

CREATE FUNCTION load(relation regclass, columns text[] DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_load' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION load(regclass, text[]) IS
'caches the columns (without names: all that can be) of a table or of a partitioned table''s partitions, and refreshes what is stale; returns the number of chunks loaded';

CREATE FUNCTION refresh(relation regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_refresh' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION refresh(regclass) IS
'loads again the cached columns of chunks that have pages which cannot be served, and new pages; returns the number of chunks loaded';

CREATE FUNCTION unload(relation regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_unload' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION unload(regclass) IS
'forgets what is cached of a table, or of a partitioned table''s partitions; returns the number of chunks dropped';

CREATE FUNCTION unload_dropped() RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_unload_dropped' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION unload_dropped() IS
'forgets what is cached of databases that do not exist any more; returns the number of chunks dropped';
REVOKE ALL ON FUNCTION unload_dropped() FROM PUBLIC; -- concerns more than this database

CREATE FUNCTION verify(relation regclass,
    OUT column_name name, OUT pages_checked bigint, OUT rows_checked bigint,
    OUT mismatches bigint, OUT first_bad_block bigint, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_verify' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION verify(regclass) IS
'compares the cached pages and rows that would be served with the table''s; one row per cached column';

CREATE FUNCTION served(relation regclass, columns text[] DEFAULT NULL,
    OUT chunks bigint, OUT pages_from_cache bigint, OUT rows_from_cache bigint, OUT pages_row_by_row bigint,
    OUT pages_from_heap bigint, OUT heap_ranges bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_served' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION served(regclass, text[]) IS
'validates the columns (without names: all that can be cached) as a scan would, and says what it would read from the cache and what from the table; of pages_row_by_row, which were written, only what was not is in the cache';

-- What is cached: for PUBLIC. The functions themselves leave out what is not for the user: tables that he may neither
-- read nor maintain; columns also where row-level security hides rows from him, since encodings tell of values; other
-- databases' tables for all but pg_read_all_stats. The views scan no catalog, whose rows other extensions may hide.

CREATE FUNCTION tables(
    OUT database oid, OUT relid oid, OUT filenumber oid, OUT chunks bigint, OUT pages bigint,
    OUT cached_pages bigint, OUT dead_pages bigint, OUT rows bigint, OUT bytes bigint,
    OUT scans bigint, OUT pages_from_cache bigint, OUT pages_from_heap bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_tables' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 50;
COMMENT ON FUNCTION tables() IS
'what is cached, per table that the user may read; of all databases for pg_read_all_stats; see the view tables';

CREATE FUNCTION columns(
    OUT relid oid, OUT attnum smallint, OUT column_name name, OUT type text,
    OUT chunks bigint, OUT pages bigint, OUT rows bigint,
    OUT bytes bigint, OUT plain_bytes bigint, OUT encodings text, OUT hits bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_columns' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 200;
COMMENT ON FUNCTION columns() IS
'what is cached in this database, per column that the user may read; see the view columns';

CREATE VIEW tables AS
SELECT t.relid::regclass AS relation,
       t.chunks,
       s.table_pages,
       t.cached_pages,
       round(100.0 * least(t.cached_pages, s.table_pages) / nullif(s.table_pages, 0), 1) AS coverage_percent,
       t.dead_pages,
       round(100.0 * (t.cached_pages - t.dead_pages) / nullif(t.cached_pages, 0), 1) AS valid_percent,
       t.rows,
       t.bytes,
       round(100.0 * t.bytes / nullif(s.table_pages * current_setting('block_size')::bigint, 0), 1)
           AS size_percent,
       t.scans, t.pages_from_cache, t.pages_from_heap
FROM tables() t
JOIN pg_catalog.pg_database d ON d.oid = t.database AND d.datname = current_database()
CROSS JOIN LATERAL (SELECT pg_relation_size(t.relid) / current_setting('block_size')::bigint AS table_pages) s
WHERE s.table_pages IS NOT NULL; -- it is where the table is gone
COMMENT ON VIEW tables IS 'tables of this database that are in the column cache';
COMMENT ON COLUMN tables.chunks IS 'parts of 1021 pages';
COMMENT ON COLUMN tables.coverage_percent IS 'share of the table''s pages that were cached';
COMMENT ON COLUMN tables.dead_pages IS 'cached pages found changed; what was written of them is read from the table until refreshed';
COMMENT ON COLUMN tables.valid_percent IS 'share of the cached pages not found changed';
COMMENT ON COLUMN tables.size_percent IS 'cached bytes in percent of the table''s bytes';
COMMENT ON COLUMN tables.pages_from_cache IS 'pages that scans served from the cache';
COMMENT ON COLUMN tables.pages_from_heap IS 'pages that the same scans read from the table';

CREATE VIEW columns AS
SELECT k.relid::regclass AS relation,
       k.column_name,
       k.type,
       k.chunks,
       k.pages,
       round(100.0 * least(k.pages, s.table_pages) / nullif(s.table_pages, 0), 1) AS coverage_percent,
       k.rows,
       k.bytes,
       k.plain_bytes,
       k.encodings,
       k.hits
FROM columns() k
CROSS JOIN LATERAL (SELECT pg_relation_size(k.relid) / current_setting('block_size')::bigint AS table_pages) s;
COMMENT ON VIEW columns IS 'columns of this database''s tables that are in the column cache';
COMMENT ON COLUMN columns.plain_bytes IS 'size of the same values unencoded';
COMMENT ON COLUMN columns.encodings IS 'encodings with the number of chunks that use each';
COMMENT ON COLUMN columns.hits IS 'scans that read the column from the cache';

CREATE FUNCTION memory(
    OUT page_bytes bigint, OUT pages bigint, OUT used_bytes bigint, OUT budget_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_memory' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 19;
COMMENT ON FUNCTION memory() IS 'memory of the column cache per size class; see the view memory';

CREATE VIEW memory AS
SELECT coalesce(pg_size_pretty(page_bytes), 'all') AS size_class,
       sum(pages)::bigint AS pages,
       sum(used_bytes)::bigint AS used_bytes,
       max(budget_bytes) AS budget_bytes
FROM memory()
GROUP BY ROLLUP (page_bytes)
HAVING sum(pages) > 0 OR page_bytes IS NULL
ORDER BY page_bytes NULLS LAST;
COMMENT ON VIEW memory IS 'memory of the column cache per size class, and in all';
COMMENT ON COLUMN memory.used_bytes IS 'physical memory: pages take only the 4 kB units they need';
COMMENT ON COLUMN memory.budget_bytes IS 'penumbra.memory, shared by all classes';

-- who loads

CREATE FUNCTION progress(
    OUT pid integer, OUT database oid, OUT relid oid, OUT by_worker boolean,
    OUT started timestamptz, OUT columns integer, OUT chunks_total bigint, OUT chunks_done bigint,
    OUT chunks_loaded bigint, OUT heap_bytes bigint, OUT cached_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_progress' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION progress() IS 'loads that are running; see the view progress';

CREATE VIEW progress AS
SELECT p.pid, d.datname,
       CASE WHEN d.datname = current_database() THEN p.relid::regclass::text ELSE p.relid::text END AS relation,
       p.by_worker, p.started, p.columns, p.chunks_total, p.chunks_done,
       round(100.0 * p.chunks_done / nullif(p.chunks_total, 0), 1) AS percent,
       p.chunks_loaded, p.heap_bytes, p.cached_bytes
FROM progress() p
LEFT JOIN pg_catalog.pg_database d ON d.oid = p.database;
COMMENT ON VIEW progress IS 'loads into the column cache that are running';

CREATE FUNCTION activity(
    OUT loads bigint, OUT chunks_loaded bigint, OUT heap_bytes bigint, OUT cached_bytes bigint,
    OUT vacuums bigint, OUT errors bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_activity' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION activity() IS 'what was loaded since the server started; see the view activity';

CREATE VIEW activity AS SELECT * FROM activity();
COMMENT ON VIEW activity IS
'loads since the server started, and what the background worker did: vacuums that made pages cacheable, errors';

GRANT SELECT ON tables, columns TO PUBLIC;

-- why queries were not run by the vector engine

CREATE FUNCTION refusals(OUT reason text, OUT count bigint, OUT last_at timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'penumbra_sql_refusals' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION refusals() IS
'why queries, or parts of them, were left to PostgreSQL since the server started';
CREATE VIEW refusals AS SELECT reason, count, last_at FROM @extschema@.refusals() ORDER BY count DESC;
COMMENT ON VIEW refusals IS
'why queries, or parts of them, were left to PostgreSQL since the server started';

-- numbers of the whole server, reasons with names of others' types and functions
REVOKE ALL ON FUNCTION memory(), progress(), activity(), refusals() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory(), progress(), activity(), refusals() TO pg_monitor;
GRANT SELECT ON memory, progress, activity, refusals TO pg_monitor;

-- tests: the setting penumbra.stop_points is for superusers, a key alone does nothing

CREATE FUNCTION stop_point_key(name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_stop_point_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION stop_point_key(text) IS
'the advisory lock at which sessions with this name in penumbra.stop_points stop';

CREATE FUNCTION damage(relation regclass, attnum smallint, byte_offset integer) RETURNS boolean
AS 'MODULE_PATHNAME', 'penumbra_sql_damage' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION damage(regclass, smallint, integer) IS
'inverts a byte of the column''s cached segment in the first chunk, for tests of verify(); superusers only';
REVOKE ALL ON FUNCTION damage(regclass, smallint, integer) FROM PUBLIC; -- and it checks itself, whatever is granted
