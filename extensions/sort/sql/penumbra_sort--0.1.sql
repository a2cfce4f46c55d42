/* extensions/sort/sql/penumbra_sort--0.1.sql */

GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

CREATE FUNCTION sort(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort(anyarray) IS
'sorts a one-dimensional array in ascending order of its element type, nulls last';

CREATE FUNCTION sort_desc(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort_desc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_desc(anyarray) IS
'sorts a one-dimensional array in descending order of its element type, nulls last';

CREATE FUNCTION sort_unique(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort_unique' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_unique(anyarray) IS
'sorts a one-dimensional array in ascending order and keeps one of equal elements, nulls last';

CREATE FUNCTION argsort(anyarray) RETURNS integer[]
AS 'MODULE_PATHNAME', 'penumbra_array_argsort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION argsort(anyarray) IS
'subscripts of a one-dimensional array in ascending order of its elements, of equal ones and of nulls, which are last, in their own order';

CREATE FUNCTION sort_top(anyarray, n integer) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_top(anyarray, integer) IS
'the n greatest elements of a one-dimensional array, greatest first, nulls last';

CREATE FUNCTION sort_compare_methods(type regtype DEFAULT 'integer', elements integer DEFAULT 1000000,
    shape text DEFAULT 'random', seed bigint DEFAULT 1,
    OUT method text, OUT milliseconds float8, OUT ns_per_element float8, OUT speedup float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'penumbra_sort_compare_methods' LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 3;
COMMENT ON FUNCTION sort_compare_methods(regtype, integer, text, bigint) IS
'sorts made values (shape random, sorted, reversed, equal, few or saw-tooth) with PostgreSQL''s qsort, its sort template and vqsort; the least time of three rounds';
-- It takes memory for all elements, up to some GB, whatever work_mem is.
REVOKE ALL ON FUNCTION sort_compare_methods(regtype, integer, text, bigint) FROM PUBLIC;
