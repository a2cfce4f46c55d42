/* extensions/columnar/sql/penumbra--0.1.sql */

-- Who may do what is written down with each part: REVOKE where a function is not for everybody.
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

-- The setting is there since the server's start, or not at all.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) 'penumbra.memory'::pg_catalog.text) THEN
        RAISE WARNING USING
            MESSAGE = 'penumbra was not loaded at server start, so it caches nothing',
            HINT = 'Add penumbra to shared_preload_libraries in postgresql.conf and restart the server.';
    END IF;
END
$$;

-- loading by hand: for PUBLIC, since the functions themselves demand what VACUUM demands of the table (its owner;
-- from 17 on MAINTAIN)

CREATE FUNCTION load(relation regclass, columns text[] DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_load' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION load(regclass, text[]) IS
'caches the columns (without names: all that can be) of a table or of a partitioned table''s partitions, and refreshes what is stale; returns the number of chunks loaded';

CREATE PROCEDURE load_in_parts(relation regclass, columns text[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'penumbra_sql_load_in_parts' LANGUAGE C;
COMMENT ON PROCEDURE load_in_parts(regclass, text[]) IS
'as load(), but commits after each 256 MB of the table: no snapshot and no lock is held for longer';

CREATE FUNCTION refresh(relation regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_refresh' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION refresh(regclass) IS
'gives chunks whose pages cannot all be served a patch, or loads their cached columns again, and new pages; returns the number of these chunks';

CREATE FUNCTION unload(relation regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_unload' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION unload(regclass) IS
'forgets what is cached of a table, or of a partitioned table''s partitions; returns the number of chunks dropped';

CREATE FUNCTION forget_dropped_databases() RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_forget_dropped_databases' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION forget_dropped_databases() IS
'forgets what is cached of databases that do not exist any more; returns the number of chunks dropped';
REVOKE ALL ON FUNCTION forget_dropped_databases() FROM PUBLIC; -- concerns more than this database

CREATE FUNCTION verify(relation regclass,
    OUT column_name name, OUT pages_checked bigint, OUT rows_checked bigint,
    OUT mismatches bigint, OUT first_bad_block bigint, OUT problem text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_verify' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION verify(regclass) IS
'compares the cached pages and rows that would be served with the table''s; one row per cached column';

CREATE FUNCTION explain_coverage(relation regclass, columns text[] DEFAULT NULL,
    OUT chunks bigint, OUT pages_from_cache bigint, OUT rows_from_cache bigint, OUT pages_row_by_row bigint,
    OUT pages_from_heap bigint, OUT heap_ranges bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_explain_coverage' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION explain_coverage(regclass, text[]) IS
'validates the columns (without names: all that can be cached) as a scan would, and says what it would read from the cache and what from the table; of pages_row_by_row, which were written, only what was not is in the cache';

-- counters

CREATE FUNCTION get_statistics_reset_at() RETURNS timestamptz
AS 'MODULE_PATHNAME', 'penumbra_sql_get_statistics_reset_at' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION get_statistics_reset_at() IS 'internal: since when all views count, their column stats_reset';

CREATE FUNCTION reset_statistics() RETURNS void
AS 'MODULE_PATHNAME', 'penumbra_sql_reset_statistics' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION reset_statistics() IS 'counts from zero on in all views that have stats_reset, for all databases';
REVOKE ALL ON FUNCTION reset_statistics() FROM PUBLIC; -- as pg_stat_statements_reset()

-- What is cached: for PUBLIC. The functions themselves leave out what is not for the user: tables that he may neither
-- read nor maintain; columns also where row-level security hides rows from him, since encodings tell of values; other
-- databases' tables for all but pg_read_all_stats. The views scan no catalog, whose rows other extensions may hide.

CREATE FUNCTION get_tables(
    OUT datid oid, OUT relid oid, OUT schemaname name, OUT relname name, OUT filenumber oid, OUT chunks bigint, OUT pages bigint,
    OUT cached_pages bigint, OUT changed_pages bigint, OUT rows bigint, OUT memory_bytes bigint, OUT disk_bytes bigint,
    OUT hits bigint, OUT pages_from_cache bigint, OUT pages_from_heap bigint,
    OUT misses bigint, OUT evictions bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_tables' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 50;
COMMENT ON FUNCTION get_tables() IS
'what is cached, per table that the user may read; of all databases for pg_read_all_stats; see the view tables';

CREATE FUNCTION get_columns(
    OUT relid oid, OUT schemaname name, OUT relname name, OUT attnum smallint, OUT column_name name, OUT type text,
    OUT chunks bigint, OUT cached_pages bigint, OUT rows bigint,
    OUT memory_bytes bigint, OUT disk_bytes bigint, OUT unencoded_bytes bigint, OUT encodings text, OUT hits bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_columns' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 200;
COMMENT ON FUNCTION get_columns() IS
'what is cached in this database, per column that the user may read; see the view columns';

CREATE VIEW tables AS
SELECT t.relid, t.schemaname, t.relname,
       t.chunks,
       s.table_pages,
       t.cached_pages,
       pg_catalog.round(100.0 * least(t.cached_pages, s.table_pages)::numeric / nullif(s.table_pages, 0)::numeric, 1) AS coverage_percent,
       t.changed_pages,
       pg_catalog.round(100.0 * (t.cached_pages - t.changed_pages)::numeric / nullif(t.cached_pages, 0)::numeric, 1) AS valid_percent,
       t.rows,
       t.memory_bytes,
       pg_catalog.round(100.0 * t.memory_bytes::numeric / nullif(s.table_pages * pg_catalog.current_setting('block_size')::bigint, 0)::numeric, 1)
           AS size_percent,
       t.disk_bytes,
       t.hits, t.pages_from_cache, t.pages_from_heap, t.misses, t.evictions,
       @extschema@.get_statistics_reset_at() AS stats_reset
FROM @extschema@.get_tables() t
JOIN pg_catalog.pg_database d ON d.oid = t.datid AND d.datname = pg_catalog.current_database()
CROSS JOIN LATERAL (SELECT pg_catalog.pg_relation_size(t.relid::regclass) / pg_catalog.current_setting('block_size')::bigint AS table_pages
                    OFFSET 0) s -- looked up once, not for each use
WHERE s.table_pages IS NOT NULL; -- it is where the table is gone
COMMENT ON VIEW tables IS 'tables of this database that are in the column cache';
COMMENT ON COLUMN tables.chunks IS 'parts of 1021 pages';
COMMENT ON COLUMN tables.coverage_percent IS 'share of the table''s pages that were cached';
COMMENT ON COLUMN tables.changed_pages IS 'cached pages found changed; what was written of them is read from the table until refreshed';
COMMENT ON COLUMN tables.valid_percent IS 'share of the cached pages not found changed';
COMMENT ON COLUMN tables.memory_bytes IS 'in memory';
COMMENT ON COLUMN tables.size_percent IS 'cached bytes in percent of the table''s bytes';
COMMENT ON COLUMN tables.disk_bytes IS 'on disk, of which some may be in memory too';
COMMENT ON COLUMN tables.pages_from_cache IS 'pages that scans served from the cache';
COMMENT ON COLUMN tables.pages_from_heap IS 'pages that the same scans read from the table';
COMMENT ON COLUMN tables.misses IS 'chunks that scans wanted and that had to be read from disk';
COMMENT ON COLUMN tables.evictions IS 'columns of chunks that had to make room in memory';

-- Why pages are read from the table, and what would help. Who holds back the horizon is looked up where the user may see
-- it: a load leaves out pages with rows that some snapshots see and others do not, and would find them, and what was
-- written since, so again while a transaction is open that is older than the load.

CREATE FUNCTION get_staleness(
    OUT relid oid, OUT schemaname name, OUT relname name, OUT cached_pages bigint, OUT unproven_pages bigint, OUT lost_pages bigint,
    OUT stale_at timestamptz, OUT unsettled_pages bigint, OUT unsettled_xid xid, OUT is_autovacuumed boolean,
    OUT obstacle text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_staleness' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 50;
COMMENT ON FUNCTION get_staleness() IS
'what of this database''s cached tables is read from the tables all the same; see the view staleness';

CREATE VIEW staleness AS
WITH holders(xmin, what, remedy) AS (
    SELECT CASE WHEN pg_catalog.age(backend_xid) > pg_catalog.age(backend_xmin) OR backend_xmin IS NULL THEN backend_xid ELSE backend_xmin END,
           pg_catalog.format('a transaction of process %s is open since %s', pid, xact_start::timestamp(0)),
           pg_catalog.format('SELECT * FROM pg_stat_activity WHERE pid = %s', pid)
    FROM pg_catalog.pg_stat_activity
    WHERE coalesce(backend_xmin, backend_xid) IS NOT NULL AND (datname = pg_catalog.current_database() OR datname IS NULL)
        AND pid <> pg_catalog.pg_backend_pid() AND backend_type NOT IN ('autovacuum worker', 'penumbra worker')
    UNION ALL
    SELECT transaction, pg_catalog.format('transaction %L is prepared since %s', gid, prepared::timestamp(0)),
           pg_catalog.format('SELECT * FROM pg_prepared_xacts WHERE gid = %L', gid)
    FROM pg_catalog.pg_prepared_xacts WHERE database = pg_catalog.current_database()
    UNION ALL
    SELECT xmin, pg_catalog.format('replication slot %L holds rows for a standby', slot_name),
           CASE WHEN active THEN 'SET hot_standby_feedback = off on the standby, or end its long queries'
                ELSE pg_catalog.format('SELECT * FROM pg_replication_slots WHERE slot_name = %L', slot_name) END
    FROM pg_catalog.pg_replication_slots WHERE xmin IS NOT NULL)
SELECT s.relid, s.schemaname, s.relname,
       p.heap_pages,
       pg_catalog.round(100.0 * p.heap_pages::numeric / nullif(p.table_pages, 0)::numeric, 1) AS heap_percent,
       s.lost_pages,
       s.stale_at,
       CASE WHEN p.heap_pages = 0 THEN NULL
            WHEN s.obstacle = 'loading' THEN 'it is being loaded'
            WHEN s.obstacle = 'memory' AND pg_catalog.current_setting('penumbra.database_memory') = '0' THEN 'penumbra.memory is full'
            WHEN s.obstacle = 'memory' THEN 'penumbra.database_memory, or penumbra.memory, is full'
            WHEN h.what IS NOT NULL THEN h.what
            WHEN s.obstacle = 'off' THEN 'penumbra.auto_load is off'
            WHEN s.unsettled_pages > 0 AND NOT s.is_autovacuumed THEN 'autovacuum is off for the table or the server'
            WHEN s.unsettled_pages > 0 THEN 'rows that were updated or deleted are not vacuumed yet'
            WHEN s.obstacle = 'busy' THEN 'the worker loads another table'
            ELSE 'scans have not lost as much as loading costs' END AS reason,
       CASE WHEN p.heap_pages = 0 OR s.obstacle = 'loading' THEN NULL
            WHEN s.obstacle = 'memory' AND pg_catalog.current_setting('penumbra.database_memory') = '0'
                THEN 'ALTER SYSTEM SET penumbra.memory = ...'
            WHEN s.obstacle = 'memory'
                THEN pg_catalog.format('ALTER DATABASE %I SET penumbra.database_memory = ...', pg_catalog.current_database())
            WHEN h.what IS NOT NULL THEN h.remedy
            WHEN s.unsettled_pages = 0 THEN pg_catalog.format('SELECT penumbra.refresh(%L)', s.relid::regclass)
            WHEN s.obstacle = 'off' THEN pg_catalog.format('VACUUM %1$s; SELECT penumbra.refresh(%1$L)', s.relid::regclass)
            ELSE pg_catalog.format('VACUUM %s', s.relid::regclass) END AS remedy
FROM @extschema@.get_staleness() s
CROSS JOIN LATERAL (
    SELECT b.table_pages, greatest(b.table_pages - s.cached_pages, 0) + s.unproven_pages AS heap_pages
    FROM (SELECT pg_catalog.pg_relation_size(s.relid::regclass) / pg_catalog.current_setting('block_size')::bigint AS table_pages
          OFFSET 0) b) p
LEFT JOIN LATERAL (
    SELECT holders.what, holders.remedy FROM holders
    WHERE s.unsettled_xid IS NOT NULL AND pg_catalog.age(holders.xmin) >= pg_catalog.age(s.unsettled_xid)
    ORDER BY pg_catalog.age(holders.xmin) DESC LIMIT 1) h ON true
WHERE p.table_pages IS NOT NULL; -- it is where the table is gone
COMMENT ON VIEW staleness IS
'what of cached tables a scan would read from the table, since when, why it is not refreshed and what would help';
COMMENT ON COLUMN staleness.heap_pages IS
'pages not cached, or not served from the cache by the last scan; six whose rows were proven one by one count as one';
COMMENT ON COLUMN staleness.heap_percent IS 'of the table''s pages';
COMMENT ON COLUMN staleness.lost_pages IS 'pages that scans have read from the table in place of loaded chunks, since their load or patch';
COMMENT ON COLUMN staleness.stale_at IS 'when a scan had to do so first';
COMMENT ON COLUMN staleness.reason IS 'why the worker does not refresh it; transactions are named to those who see them in pg_stat_activity';
COMMENT ON COLUMN staleness.remedy IS 'a statement that would help, or one that shows who must end first';

CREATE VIEW columns AS
SELECT k.relid, k.schemaname, k.relname,
       k.column_name,
       k.type,
       k.chunks,
       k.cached_pages,
       pg_catalog.round(100.0 * least(k.cached_pages, s.table_pages)::numeric / nullif(s.table_pages, 0)::numeric, 1) AS coverage_percent,
       k.rows,
       k.memory_bytes,
       k.disk_bytes,
       k.unencoded_bytes,
       k.encodings,
       k.hits,
       @extschema@.get_statistics_reset_at() AS stats_reset
FROM @extschema@.get_columns() k
CROSS JOIN LATERAL (SELECT pg_catalog.pg_relation_size(k.relid::regclass) / pg_catalog.current_setting('block_size')::bigint AS table_pages
                    OFFSET 0) s;
COMMENT ON VIEW columns IS 'columns of this database''s tables that are in the column cache';
COMMENT ON COLUMN columns.memory_bytes IS 'in memory';
COMMENT ON COLUMN columns.disk_bytes IS 'on disk, of which some may be in memory too';
COMMENT ON COLUMN columns.unencoded_bytes IS 'size unencoded of the values that are in memory';
COMMENT ON COLUMN columns.encodings IS 'encodings with the number of chunks that use each';
COMMENT ON COLUMN columns.hits IS 'scans that read the column from the cache';

CREATE FUNCTION get_memory(
    OUT page_bytes bigint, OUT pages bigint, OUT used_bytes bigint, OUT budget_bytes bigint, OUT evictions bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_memory' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 19;
COMMENT ON FUNCTION get_memory() IS 'memory of the column cache per size class; see the view memory';

CREATE VIEW memory AS
SELECT coalesce(pg_catalog.pg_size_pretty(page_bytes), 'all') AS size_class,
       pg_catalog.sum(pages)::bigint AS pages,
       pg_catalog.sum(used_bytes)::bigint AS used_bytes,
       pg_catalog.max(budget_bytes) AS budget_bytes,
       pg_catalog.sum(evictions)::bigint AS evictions,
       @extschema@.get_statistics_reset_at() AS stats_reset
FROM @extschema@.get_memory()
GROUP BY ROLLUP (page_bytes)
HAVING pg_catalog.sum(pages) > 0::numeric OR page_bytes IS NULL
ORDER BY page_bytes NULLS LAST;
COMMENT ON VIEW memory IS 'memory of the column cache per size class, and in all';
COMMENT ON COLUMN memory.used_bytes IS 'physical memory: pages take only the 4 kB units they need';
COMMENT ON COLUMN memory.budget_bytes IS 'penumbra.memory, or what of it penumbra.memory_target leaves; shared by all classes';
COMMENT ON COLUMN memory.evictions IS 'columns of chunks that had to make room';

CREATE FUNCTION get_disk(
    OUT state text, OUT is_pending boolean, OUT budget_bytes bigint, OUT file_bytes bigint,
    OUT saved_chunks bigint, OUT saved_segments bigint, OUT saved_bytes bigint, OUT restored_chunks bigint,
    OUT restored_segments bigint, OUT restored_bytes bigint,
    OUT segments_read bigint, OUT bytes_read bigint, OUT read_errors bigint, OUT damaged bigint,
    OUT bytes_written bigint, OUT write_errors bigint,
    OUT read_back_started_at timestamptz, OUT bytes_read_back bigint, OUT bytes_left bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_disk' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION get_disk() IS 'cached columns on disk; see the view disk';

CREATE VIEW disk AS
SELECT d.*, pg_catalog.make_interval(secs => pg_catalog.round(extract(epoch FROM pg_catalog.clock_timestamp() - d.read_back_started_at) *
           d.bytes_left::numeric / nullif(d.bytes_read_back, 0)::numeric)) AS time_left,
       @extschema@.get_statistics_reset_at() AS stats_reset
FROM @extschema@.get_disk() d;
COMMENT ON VIEW disk IS 'cached columns on disk, and what was read and written';
COMMENT ON COLUMN disk.state IS 'off, opening (what was saved is being found), open, stopped (its process is not there), or refused: the server''s log says why';
COMMENT ON COLUMN disk.is_pending IS 'something was loaded that has not been saved yet';
COMMENT ON COLUMN disk.budget_bytes IS 'penumbra.disk_cache_size';
COMMENT ON COLUMN disk.file_bytes IS 'of all files, with what nobody needs any more';
COMMENT ON COLUMN disk.saved_chunks IS 'that the next start of the server would find, if nothing changed';
COMMENT ON COLUMN disk.saved_segments IS 'columns of these chunks';
COMMENT ON COLUMN disk.restored_chunks IS 'that this start of the server found';
COMMENT ON COLUMN disk.restored_segments IS 'columns of these chunks: read when a query wants them';
COMMENT ON COLUMN disk.read_back_started_at IS 'what the start found is brought back into memory, until there is no room; null: it is not';
COMMENT ON COLUMN disk.bytes_read_back IS 'by this, and not by queries';
COMMENT ON COLUMN disk.bytes_left IS 'of the columns that are not yet in memory; of them queries may have read some';
COMMENT ON COLUMN disk.time_left IS 'if these take as long as those before';
COMMENT ON COLUMN disk.damaged IS 'read, but not what was written: dropped';

-- who loads

CREATE FUNCTION get_progress(
    OUT pid integer, OUT datid oid, OUT relid oid, OUT schemaname name, OUT relname name, OUT by_worker boolean,
    OUT started_at timestamptz, OUT columns integer, OUT chunks_total bigint, OUT chunks_done bigint,
    OUT chunks_loaded bigint, OUT heap_bytes bigint, OUT cached_bytes bigint, OUT first_chunk bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_progress' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION get_progress() IS 'loads that are running; see the view progress';

CREATE VIEW progress AS
SELECT p.pid, p.datid, d.datname, p.relid, p.schemaname, p.relname,
       p.by_worker, p.started_at, p.columns, p.chunks_total, p.chunks_done,
       pg_catalog.round(100.0 * p.chunks_done::numeric / nullif(p.chunks_total, 0)::numeric, 1) AS percent,
       p.chunks_loaded, p.heap_bytes, p.cached_bytes,
       pg_catalog.make_interval(secs => pg_catalog.round(extract(epoch FROM pg_catalog.clock_timestamp() - p.started_at) *
           (p.chunks_total - p.chunks_done)::numeric / nullif(p.chunks_done - p.first_chunk, 0)::numeric)) AS time_left
FROM @extschema@.get_progress() p
LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;
COMMENT ON VIEW progress IS 'loads into the column cache that are running';
COMMENT ON COLUMN progress.relname IS 'null, as schemaname, of a table of another database';
COMMENT ON COLUMN progress.started_at IS 'a worker begins anew after each 32 chunks';
COMMENT ON COLUMN progress.time_left IS 'if the other chunks take as long as those since then';

CREATE FUNCTION get_activity(
    OUT loads bigint, OUT chunks_loaded bigint, OUT heap_bytes bigint, OUT cached_bytes bigint,
    OUT vacuums bigint, OUT errors bigint, OUT wanted_columns bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_activity' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION get_activity() IS 'what was loaded; see the view activity';

CREATE VIEW activity AS SELECT a.*, @extschema@.get_statistics_reset_at() AS stats_reset FROM @extschema@.get_activity() a;
COMMENT ON VIEW activity IS
'loads, and what the background worker did: vacuums that made pages cacheable, errors';
COMMENT ON COLUMN activity.wanted_columns IS 'that the worker is to load, with those that it loads now';

GRANT SELECT ON tables, staleness, columns TO PUBLIC;

-- why queries were not run by the vector engine

CREATE FUNCTION get_refusals(OUT reason text, OUT count bigint, OUT last_at timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'penumbra_sql_get_refusals' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION get_refusals() IS 'why statements, or parts of them, were left to PostgreSQL; see the view refusals';
CREATE VIEW refusals AS
SELECT reason, count, last_at, @extschema@.get_statistics_reset_at() AS stats_reset FROM @extschema@.get_refusals() ORDER BY count DESC;
COMMENT ON VIEW refusals IS 'why statements, or parts of them, were left to PostgreSQL';
COMMENT ON COLUMN refusals.count IS 'executions; EXPLAIN without ANALYZE and plans that never ran are not counted';

-- what was executed, and how

CREATE FUNCTION get_statements(
    OUT userid oid, OUT dbid oid, OUT queryid bigint, OUT calls_in_vectors bigint, OUT calls_partly bigint,
    OUT calls_not bigint, OUT failed_calls bigint, OUT restarts bigint, OUT total_exec_time double precision,
    OUT rows_from_cache bigint, OUT rows_from_heap bigint, OUT decoded_bytes bigint, OUT spilled_bytes bigint,
    OUT reason text, OUT last_call_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sql_get_statements' LANGUAGE C VOLATILE PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION get_statements() IS 'internal: the view statements';

CREATE VIEW statements AS
SELECT s.userid, s.dbid, s.queryid,
       s.calls_in_vectors + s.calls_partly + s.calls_not AS calls,
       s.calls_in_vectors, s.calls_partly, s.calls_not, s.failed_calls, s.restarts, s.total_exec_time,
       s.rows_from_cache, s.rows_from_heap,
       pg_catalog.round(100.0 * s.rows_from_cache::numeric / nullif(s.rows_from_cache + s.rows_from_heap, 0)::numeric, 1) AS cache_percent,
       s.decoded_bytes, s.spilled_bytes, s.reason, s.last_call_at,
       @extschema@.get_statistics_reset_at() AS stats_reset
FROM @extschema@.get_statements() s;
COMMENT ON VIEW statements IS
'executions of statements of all databases, by the keys of pg_stat_statements: one''s own, all for pg_read_all_stats';
COMMENT ON COLUMN statements.calls IS 'executions, also those that ended with an error';
COMMENT ON COLUMN statements.calls_in_vectors IS 'of these, run by Penumbra from the tables to the result';
COMMENT ON COLUMN statements.calls_partly IS 'of these, run by Penumbra in part';
COMMENT ON COLUMN statements.calls_not IS 'of these, run by PostgreSQL alone';
COMMENT ON COLUMN statements.failed_calls IS 'of these, ended with an error or a cancel';
COMMENT ON COLUMN statements.restarts IS 'how often the engine gave up and PostgreSQL''s plan ran instead';
COMMENT ON COLUMN statements.total_exec_time IS 'in milliseconds, with that of statements inside';
COMMENT ON COLUMN statements.rows_from_cache IS 'rows that Penumbra read from the cache';
COMMENT ON COLUMN statements.rows_from_heap IS 'rows that Penumbra read from the tables; what PostgreSQL''s scans read is not counted';
COMMENT ON COLUMN statements.cache_percent IS 'share of the rows that Penumbra read';
COMMENT ON COLUMN statements.decoded_bytes IS 'cached values that were decoded, without the bytes of strings';
COMMENT ON COLUMN statements.spilled_bytes IS 'written to temporary files by the engine';
COMMENT ON COLUMN statements.reason IS
'why the last call that was not in vectors was not, and of which table or columns; null: Penumbra had nothing to offer';
GRANT SELECT ON statements TO PUBLIC;

-- numbers of the whole server, reasons with names of others' types and functions
REVOKE ALL ON FUNCTION get_memory(), get_disk(), get_progress(), get_activity(), get_refusals() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION get_memory(), get_disk(), get_progress(), get_activity(), get_refusals() TO pg_monitor;
GRANT SELECT ON memory, disk, progress, activity, refusals TO pg_monitor;

-- what would help: from what was counted since stats_reset and from settings, no estimates. The body is parsed here, so
-- it names what is in this schema and in pg_catalog; search_path is for names of tables in its results.

CREATE FUNCTION advice(
    OUT kind text, OUT object text, OUT total_exec_time double precision, OUT advice text, OUT remedy text, OUT reason text)
RETURNS SETOF record LANGUAGE sql VOLATILE PARALLEL SAFE ROWS 20 SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
WITH setting AS MATERIALIZED (
    SELECT pg_catalog.max(setting::bigint) FILTER (WHERE name = 'penumbra.memory') AS memory_mb,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'penumbra.memory_target') AS target_mb,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'penumbra.database_memory') AS database_mb,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'penumbra.threads_per_query') AS threads,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'penumbra.max_threads') AS max_threads,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'max_parallel_workers_per_gather') AS workers,
           pg_catalog.max(setting::bigint) FILTER (WHERE name = 'work_mem') AS work_mem_kb
    FROM pg_catalog.pg_settings
    WHERE name IN ('penumbra.memory', 'penumbra.memory_target', 'penumbra.database_memory', 'penumbra.threads_per_query',
                   'penumbra.max_threads', 'max_parallel_workers_per_gather', 'work_mem')),
statement AS MATERIALIZED (
    SELECT s.* FROM @extschema@.statements s
    JOIN pg_catalog.pg_database d ON d.oid = s.dbid AND d.datname = pg_catalog.current_database()),
missed AS MATERIALIZED ( -- as the planner wrote it: the table's name without schema, quoted, and columns that were not cached
    SELECT s.total_exec_time, s.reason, p.part[1] AS name, pg_catalog.concat(', ', p.part[4], ', ') AS list
    FROM statement s
    CROSS JOIN LATERAL pg_catalog.regexp_match(s.reason, '^not cached: ("([^"]|"")*"|[^" ]+)( \((.*?)\)?)?$') AS p(part)),
found AS ( -- the table, if one only has that name
    SELECT pg_catalog.quote_ident(c.relname) AS name, pg_catalog.min(c.oid) AS relid
    FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'm') AND pg_catalog.quote_ident(c.relname) IN (SELECT m.name FROM missed m)
    GROUP BY 1 HAVING pg_catalog.count(*) = 1),
wanted AS (
    SELECT f.relid, a.attname, a.attnum, m.total_exec_time, m.reason
    FROM missed m
    JOIN found f ON f.name = m.name
    JOIN pg_catalog.pg_attribute a ON a.attrelid = f.relid AND a.attnum > 0
        AND pg_catalog.strpos(m.list, pg_catalog.concat(', ', pg_catalog.quote_ident(a.attname), ', ')) > 0
    LEFT JOIN @extschema@.get_columns() k ON k.relid = f.relid AND k.column_name = a.attname AND k.cached_pages > 0
    WHERE k.relid IS NULL),
memory AS MATERIALIZED (
    SELECT m.evictions, m.stats_reset,
           m.evictions > 0 AND m.used_bytes::numeric >= 0.95 * m.budget_bytes::numeric
               OR EXISTS (SELECT FROM @extschema@.get_staleness() s WHERE s.obstacle = 'memory') AS is_short
    FROM @extschema@.memory m WHERE m.size_class = 'all')
SELECT * FROM (
    SELECT 'not cached'::text, c.relid::regclass::text, c.total_exec_time,
           pg_catalog.format('cache %s', pg_catalog.array_to_string(c.columns, ', ')),
           pg_catalog.format('SELECT penumbra.load(%L, %L)', c.relid::regclass, c.columns), c.reason
    FROM (SELECT w.relid, pg_catalog.array_agg(DISTINCT w.attname) AS columns,
                 (SELECT pg_catalog.sum(o.total_exec_time) FROM missed o JOIN found f ON f.name = o.name AND f.relid = w.relid)
                     AS total_exec_time,
                 pg_catalog.min(w.reason) AS reason
          FROM wanted w GROUP BY w.relid) c
    UNION ALL
    SELECT 'stale', v.relid::regclass::text, NULL,
           pg_catalog.format('end what keeps %s %% of the table from being served from the cache', v.heap_percent), v.remedy, v.reason
    FROM @extschema@.staleness v
    JOIN @extschema@.get_staleness() g ON g.relid = v.relid AND g.obstacle IS DISTINCT FROM 'memory' AND g.obstacle IS DISTINCT FROM 'loading'
    WHERE v.heap_pages > 0 AND v.lost_pages > 0
    UNION ALL
    SELECT 'left to PostgreSQL', NULL, pg_catalog.sum(s.total_exec_time),
           'write it with types and functions that the engine has: docs/vectors.md',
           pg_catalog.format('SELECT userid, queryid, calls, total_exec_time FROM penumbra.statements WHERE reason = %L', s.reason), s.reason
    FROM statement s
    WHERE s.calls_not + s.calls_partly > 0 AND s.reason <> 'no path was cheaper' AND NOT pg_catalog.starts_with(s.reason, 'not cached')
    GROUP BY s.reason
    UNION ALL
    SELECT 'spilled', r.rolname, pg_catalog.sum(s.total_exec_time), 'give the role that much more memory for each query',
           pg_catalog.format('ALTER ROLE %I SET work_mem = %L', r.rolname, pg_catalog.concat(g.work_mem_kb +
               pg_catalog.max(s.spilled_bytes / s.calls) / 1024 + 1, 'kB')),
           pg_catalog.format('%s statements wrote %s to temporary files', pg_catalog.count(*), pg_catalog.pg_size_pretty(pg_catalog.sum(s.spilled_bytes)))
    FROM statement s JOIN pg_catalog.pg_roles r ON r.oid = s.userid CROSS JOIN setting g
    WHERE s.spilled_bytes > 0 GROUP BY r.rolname, g.work_mem_kb
    UNION ALL
    SELECT 'one thread', NULL, pg_catalog.sum(s.total_exec_time), 'let queries have threads besides their session''s own',
           CASE WHEN g.threads = 0 THEN 'ALTER SYSTEM SET penumbra.threads_per_query = -1; SELECT pg_reload_conf()'
                ELSE pg_catalog.format('ALTER SYSTEM SET max_parallel_workers_per_gather = %s; SELECT pg_reload_conf()',
                                       least(g.max_threads - 1, 2)) END,
           CASE WHEN g.threads = 0 THEN 'penumbra.threads_per_query is 0' ELSE 'max_parallel_workers_per_gather is 0' END
    FROM statement s CROSS JOIN setting g
    WHERE (g.threads = 0 OR g.threads < 0 AND g.workers = 0) AND g.max_threads > 1 AND s.calls_in_vectors + s.calls_partly > 0
    GROUP BY g.threads, g.max_threads
    UNION ALL
    SELECT 'memory', NULL, NULL, CASE WHEN g.target_mb BETWEEN 1 AND g.memory_mb - 1 THEN 'use all of penumbra.memory'
                WHEN g.database_mb > 0 THEN 'give the database more of it' ELSE 'reserve twice as much, and restart the server' END,
           CASE WHEN g.target_mb BETWEEN 1 AND g.memory_mb - 1 THEN 'ALTER SYSTEM SET penumbra.memory_target = 0; SELECT pg_reload_conf()'
                WHEN g.database_mb > 0 THEN pg_catalog.format('ALTER DATABASE %I SET penumbra.database_memory = %L',
                    pg_catalog.current_database(), pg_catalog.concat(2 * g.database_mb, 'MB'))
                ELSE pg_catalog.format('ALTER SYSTEM SET penumbra.memory = %L', pg_catalog.concat(2 * g.memory_mb, 'MB')) END,
           pg_catalog.format('the memory for cached columns is full, and %s columns of chunks made room since %s',
                             m.evictions, m.stats_reset::timestamptz(0))
    FROM memory m CROSS JOIN setting g WHERE m.is_short
    UNION ALL
    SELECT 'disk cache', NULL, NULL, 'keep on disk what finds no room in memory, and restart the server',
           pg_catalog.format('ALTER SYSTEM SET penumbra.disk_cache_size = %L', pg_catalog.concat(
               (SELECT pg_catalog.sum(t.table_pages) FROM @extschema@.tables t)::bigint
                   * pg_catalog.current_setting('block_size')::bigint / 1048576 + 1, 'MB')),
           pg_catalog.format('%s columns of chunks made room since %s and must be loaded from their tables again', m.evictions, m.stats_reset::timestamptz(0))
    FROM memory m CROSS JOIN @extschema@.get_disk() d
    WHERE m.is_short AND m.evictions > 0 AND d.state = 'off'
    UNION ALL
    SELECT 'memory target', NULL, NULL, 'set it below penumbra.memory, or to 0',
           'ALTER SYSTEM SET penumbra.memory_target = 0; SELECT pg_reload_conf()',
           pg_catalog.format('penumbra.memory_target is %s MB, and penumbra.memory %s MB', g.target_mb, g.memory_mb)
    FROM setting g WHERE g.target_mb > g.memory_mb
    UNION ALL
    SELECT 'no worker', NULL, pg_catalog.sum(m.total_exec_time), 'let a worker load what queries ask for',
           'ALTER SYSTEM SET penumbra.auto_load = on; SELECT pg_reload_conf()', 'penumbra.auto_load is off'
    FROM missed m
    WHERE pg_catalog.current_setting('penumbra.auto_load') = 'off' AND EXISTS (SELECT FROM wanted)
    HAVING pg_catalog.count(*) > 0
    UNION ALL
    SELECT 'not counted', NULL, NULL, 'have statements counted',
           pg_catalog.format('ALTER SYSTEM SET %s = %s; SELECT pg_reload_conf()', o.name, o.value), pg_catalog.format('%s is off', o.name)
    FROM (VALUES ('compute_query_id', 'auto'), ('penumbra.track_statements', 'on')) o(name, value)
    WHERE pg_catalog.current_setting(o.name) = 'off') a(kind, object, total_exec_time, advice, remedy, reason)
ORDER BY a.total_exec_time DESC NULLS LAST, a.kind, a.object, a.reason;
END;
COMMENT ON FUNCTION advice() IS
'what would help this database, from what was counted since the counts began: kind, the table or role, the time of the statements concerned, what to do, a statement that does it, and why';
REVOKE ALL ON FUNCTION advice() FROM PUBLIC; -- reads what is for pg_monitor
GRANT EXECUTE ON FUNCTION advice() TO pg_monitor;
