/* extensions/columnar/sql/penumbra--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra" to load this file. \quit

CREATE FUNCTION stop_point_key(name text) RETURNS bigint
AS 'MODULE_PATHNAME', 'penumbra_sql_stop_point_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION stop_point_key(text) IS
'the advisory lock at which sessions with this name in penumbra.stop_points stop (for tests)';
