\echo Use "CREATE EXTENSION penumbra_test" to load this file. \quit

-- for everybody: the setting penumbra.stop_points is for superusers, a key alone does nothing
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

CREATE FUNCTION stop_point_key(name text) RETURNS bigint
AS '$libdir/penumbra', 'penumbra_sql_stop_point_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION stop_point_key(text) IS
'the advisory lock at which sessions with this name in penumbra.stop_points stop';

CREATE FUNCTION damage(relation regclass, attnum smallint, byte_offset integer) RETURNS boolean
AS '$libdir/penumbra', 'penumbra_sql_damage' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION damage(regclass, smallint, integer) IS
'inverts a byte of the column''s cached segment in the first chunk, for tests of verify(); superusers only';
REVOKE ALL ON FUNCTION damage(regclass, smallint, integer) FROM PUBLIC; -- and it checks itself, whatever is granted

CREATE FUNCTION add_new_pages(relation regclass, pages integer) RETURNS void
AS '$libdir/penumbra', 'penumbra_sql_add_new_pages' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION add_new_pages(regclass, integer) IS
'adds pages of zeros at the table''s end, as an extension in bulk leaves them; superusers only';
REVOKE ALL ON FUNCTION add_new_pages(regclass, integer) FROM PUBLIC; -- and it checks itself, whatever is granted

CREATE FUNCTION budget(OUT pid integer, OUT callers bigint, OUT tickets bigint, OUT waiting bigint,
	OUT memory_bytes bigint) RETURNS SETOF record
AS '$libdir/penumbra', 'penumbra_sql_get_budget' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION budget() IS
'what sessions use of the threads and memory that they share: the sum (pid NULL), and the processes'' parts of it; superusers only';
REVOKE ALL ON FUNCTION budget() FROM PUBLIC;
