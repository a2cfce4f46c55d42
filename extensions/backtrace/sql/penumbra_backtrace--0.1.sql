/* extensions/backtrace/sql/penumbra_backtrace--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra_backtrace" to load this file. \quit

CREATE FUNCTION backtrace(
	pid integer,
	method text DEFAULT 'signal',
	OUT frame integer,
	OUT address text,
	OUT function text,
	OUT location text,
	OUT inlined boolean)
RETURNS SETOF record
LANGUAGE c STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'penumbra_backtrace_sql_live';
COMMENT ON FUNCTION backtrace(integer, text) IS
	'the stack of a server process, by a signal or by ptrace';

CREATE FUNCTION backtrace_errors(
	OUT sqlstate text,
	OUT stack_hash text,
	OUT count bigint,
	OUT first_at timestamptz,
	OUT last_at timestamptz,
	OUT symbolised boolean,
	OUT frames text)
RETURNS SETOF record
LANGUAGE c STRICT VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'penumbra_backtrace_sql_errors';
COMMENT ON FUNCTION backtrace_errors() IS 'what the view backtrace_errors shows';

CREATE VIEW backtrace_errors AS SELECT * FROM backtrace_errors();
COMMENT ON VIEW backtrace_errors IS 'different stacks of logged errors since server start, and how often each was seen';

CREATE FUNCTION backtrace_errors_reset() RETURNS void
LANGUAGE c STRICT VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'penumbra_backtrace_sql_errors_reset';
COMMENT ON FUNCTION backtrace_errors_reset() IS 'forgets the stacks of backtrace_errors: each is logged again';

REVOKE ALL ON FUNCTION backtrace(integer, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION backtrace_errors() FROM PUBLIC;
REVOKE ALL ON FUNCTION backtrace_errors_reset() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION backtrace_errors() TO pg_monitor;
GRANT SELECT ON backtrace_errors TO pg_monitor;
