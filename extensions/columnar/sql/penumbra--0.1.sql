/* extensions/columnar/sql/penumbra--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra" to load this file. \quit

CREATE FUNCTION stop_point_key(name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_stop_point_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION stop_point_key(text) IS
'the advisory lock at which sessions with this name in penumbra.stop_points stop (for tests)';

CREATE FUNCTION refusals(OUT reason text, OUT count bigint, OUT last_at timestamptz)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'penumbra_sql_refusals' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION refusals() IS
'why queries, or parts of them, were left to PostgreSQL since the server started';
CREATE VIEW refusals AS SELECT reason, count, last_at FROM @extschema@.refusals() ORDER BY count DESC;
COMMENT ON VIEW refusals IS
'why queries, or parts of them, were left to PostgreSQL since the server started';
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;
GRANT SELECT ON refusals TO PUBLIC;
