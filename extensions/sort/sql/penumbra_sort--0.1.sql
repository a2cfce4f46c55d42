/* extensions/sort/sql/penumbra_sort--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra_sort" to load this file. \quit

GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

CREATE FUNCTION sort(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort(anyarray) IS
'sorts a one-dimensional array in ascending order of its element type, nulls last';

CREATE FUNCTION sort_desc(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort_desc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_desc(anyarray) IS
'sorts a one-dimensional array in descending order of its element type, nulls last';

-- With these, the place in search_path alone decides between contrib's intarray and this extension: their
-- sort(int4[]) would go before sort(anyarray) wherever it stands, and smallint[] would fit both as well.

CREATE FUNCTION sort(integer[]) RETURNS integer[]
AS 'MODULE_PATHNAME', 'penumbra_array_sort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort(integer[]) IS 'sort(anyarray), in the place of intarray''s';

CREATE FUNCTION sort(smallint[]) RETURNS smallint[]
AS 'MODULE_PATHNAME', 'penumbra_array_sort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort(smallint[]) IS 'sort(anyarray), beside sort(integer[])';

CREATE FUNCTION sort_desc(integer[]) RETURNS integer[]
AS 'MODULE_PATHNAME', 'penumbra_array_sort_desc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_desc(integer[]) IS 'sort_desc(anyarray), in the place of intarray''s';

CREATE FUNCTION sort_desc(smallint[]) RETURNS smallint[]
AS 'MODULE_PATHNAME', 'penumbra_array_sort_desc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_desc(smallint[]) IS 'sort_desc(anyarray), beside sort_desc(integer[])';

CREATE FUNCTION sort_unique(anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_sort_unique' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sort_unique(anyarray) IS
'sorts a one-dimensional array in ascending order and keeps one of equal elements, nulls last';

CREATE FUNCTION argsort(anyarray) RETURNS integer[]
AS 'MODULE_PATHNAME', 'penumbra_array_argsort' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION argsort(anyarray) IS
'subscripts of a one-dimensional array in ascending order of its elements, of equal ones and of nulls, which are last, in their own order';

CREATE FUNCTION array_top(anyarray, n integer) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_top(anyarray, integer) IS
'the n greatest elements of a one-dimensional array, greatest first, nulls last';
