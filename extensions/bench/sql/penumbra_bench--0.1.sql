/* extensions/bench/sql/penumbra_bench--0.1.sql */

CREATE FUNCTION exec_query_in_loop(query text, n bigint, VARIADIC parameters "any",
    OUT executions bigint, OUT rows bigint, OUT checksum bigint, OUT ns_per_execution float8,
    OUT read_only boolean)
AS 'MODULE_PATHNAME', 'penumbra_bench_query_loop' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION exec_query_in_loop(text, bigint, "any") IS
'prepares a statement and executes it n times with these parameters, in the server';

CREATE FUNCTION exec_query_in_loop(query text, n bigint,
    OUT executions bigint, OUT rows bigint, OUT checksum bigint, OUT ns_per_execution float8,
    OUT read_only boolean)
AS 'MODULE_PATHNAME', 'penumbra_bench_query_loop' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION exec_query_in_loop(text, bigint) IS
'prepares a statement and executes it n times, in the server';

CREATE FUNCTION exec_query_in_key_loop(query text, n bigint, keys anyarray,
    OUT executions bigint, OUT rows bigint, OUT checksum bigint, OUT ns_per_execution float8,
    OUT read_only boolean)
AS 'MODULE_PATHNAME', 'penumbra_bench_query_key_loop' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION exec_query_in_key_loop(text, bigint, anyarray) IS
'prepares a statement and executes it n times, in the server, with $1 from the keys in turn';

CREATE FUNCTION index_lookup_loop(index regclass, n bigint, keys anyarray, fetched text DEFAULT 'tid',
    OUT executions bigint, OUT rows bigint, OUT checksum bigint, OUT ns_per_execution float8,
    OUT read_only boolean)
AS 'MODULE_PATHNAME', 'penumbra_bench_index_lookup_loop' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION index_lookup_loop(regclass, bigint, anyarray, text) IS
'looks up keys in an index n times through its access method; fetches tid, tuple (what the index stores) or heap (the row)';

CREATE FUNCTION index_random_lookup_loop(index regclass, n bigint, key_count integer DEFAULT 100000,
    fetched text DEFAULT 'tid', seed bigint DEFAULT 1,
    OUT executions bigint, OUT rows bigint, OUT checksum bigint, OUT ns_per_execution float8,
    OUT read_only boolean)
AS 'MODULE_PATHNAME', 'penumbra_bench_index_random_lookup_loop' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION index_random_lookup_loop(regclass, bigint, integer, text, bigint) IS
'the same with random keys that the index has';

-- The loop as a PL/pgSQL function for this statement and type of key, to which $1 refers.
CREATE FUNCTION plpgsql_loop_source(query text, key_type text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $sql$
SELECT format($source$
CREATE FUNCTION pg_temp.penumbra_bench_loop(penumbra_key %1$s, penumbra_keys %1$s[], penumbra_n integer,
    OUT penumbra_rows bigint, OUT penumbra_ns float8)
LANGUAGE plpgsql AS %2$L
$source$, key_type, format($body$
#variable_conflict use_column
DECLARE
  penumbra_count int := pg_catalog.array_length(penumbra_keys, 1);
  penumbra_found bigint;
  penumbra_began timestamptz := pg_catalog.clock_timestamp();
BEGIN
  penumbra_rows := 0;
  FOR penumbra_i IN 0 .. penumbra_n - 1 LOOP
    penumbra_key := penumbra_keys[1 + penumbra_i %% penumbra_count];
    %s;
    GET DIAGNOSTICS penumbra_found = ROW_COUNT;
    penumbra_rows := penumbra_rows + penumbra_found;
  END LOOP;
  penumbra_ns := extract(epoch FROM pg_catalog.clock_timestamp() - penumbra_began) * 1e9 / penumbra_n::pg_catalog.numeric;
END
$body$,
  CASE
    WHEN query ~* '^\s*select\M' THEN regexp_replace(query, '^\s*select\M', 'PERFORM', 'i')
    WHEN query ~* '^\s*(with|values|table)\M' THEN format('PERFORM * FROM (%s) AS penumbra_query', query)
    ELSE query
  END))
$sql$;
COMMENT ON FUNCTION plpgsql_loop_source(text, text) IS
'internal: the function that exec_query_in_plpgsql_loop() makes';

CREATE FUNCTION exec_query_in_plpgsql_loop(query text, n integer, keys anyarray,
    OUT executions bigint, OUT rows bigint, OUT ns_per_execution float8)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user) THEN
    RAISE insufficient_privilege USING MESSAGE = 'permission denied to run loops',
      DETAIL = 'Only superusers may run statements and index lookups in loops.';
  END IF;
  IF query IS NULL THEN
    RAISE null_value_not_allowed USING MESSAGE = 'query must not be null';
  END IF;
  IF n IS NULL OR n <= 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'number of executions must be greater than zero';
  END IF;
  IF pg_catalog.cardinality(keys) IS NULL OR pg_catalog.cardinality(keys) = 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'keys must not be empty';
  END IF;
  -- one dimension that begins with 1
  keys := ARRAY(SELECT pg_catalog.unnest(keys));
  EXECUTE @extschema@.plpgsql_loop_source(query, pg_catalog.pg_typeof(keys[1])::text);
  executions := n;
  SELECT * INTO rows, ns_per_execution FROM pg_temp.penumbra_bench_loop(keys[1], keys, n);
  DROP FUNCTION pg_temp.penumbra_bench_loop;
END
$$;
COMMENT ON FUNCTION exec_query_in_plpgsql_loop(text, integer, anyarray) IS
'executes a statement n times as a PL/pgSQL function would, with $1 from the keys in turn';

CREATE FUNCTION exec_query_in_plpgsql_loop(query text, n integer,
    OUT executions bigint, OUT rows bigint, OUT ns_per_execution float8)
LANGUAGE sql VOLATILE AS
'SELECT * FROM @extschema@.exec_query_in_plpgsql_loop(query, n, ARRAY[1::pg_catalog.int4])';
COMMENT ON FUNCTION exec_query_in_plpgsql_loop(text, integer) IS
'executes a statement n times as a PL/pgSQL function would';

REVOKE ALL ON FUNCTION exec_query_in_loop(text, bigint, "any"), exec_query_in_loop(text, bigint),
    exec_query_in_key_loop(text, bigint, anyarray), index_lookup_loop(regclass, bigint, anyarray, text),
    index_random_lookup_loop(regclass, bigint, integer, text, bigint), plpgsql_loop_source(text, text),
    exec_query_in_plpgsql_loop(text, integer, anyarray), exec_query_in_plpgsql_loop(text, integer) FROM PUBLIC;
