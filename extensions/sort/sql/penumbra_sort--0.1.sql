/* extensions/sort/sql/penumbra_sort--0.1.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION penumbra_sort" to load this file. \quit

-- Whoever owns the schema, or creates in it, or did, could put other objects in place of those that this script names.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
        WHERE e.extname OPERATOR(pg_catalog.=) 'penumbra_sort'::pg_catalog.name
            AND ((n.nspowner OPERATOR(pg_catalog.<>) e.extowner AND NOT r.rolsuper)
                OR EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a
                    WHERE a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text
                        AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner
                        AND a.grantee OPERATOR(pg_catalog.<>) e.extowner)
                OR EXISTS (SELECT FROM pg_catalog.pg_depend d
                    JOIN pg_catalog.pg_shdepend s ON s.classid OPERATOR(pg_catalog.=) d.classid
                        AND s.objid OPERATOR(pg_catalog.=) d.objid
                    JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) s.dbid
                        AND b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
                    JOIN pg_catalog.pg_roles o ON o.oid OPERATOR(pg_catalog.=) s.refobjid
                    WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
                        AND d.refobjid OPERATOR(pg_catalog.=) n.oid
                        AND s.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass
                        AND s.deptype OPERATOR(pg_catalog.=) 'o'::pg_catalog."char"
                        AND o.oid OPERATOR(pg_catalog.<>) e.extowner AND NOT o.rolsuper))) THEN
        RAISE insufficient_privilege USING
            MESSAGE = 'schema "penumbra_sort" is not safe to install an extension in',
            DETAIL = 'Another role owns it, has objects in it, or may create some.',
            HINT = 'Drop the schema, or rename it.';
    END IF;
END
$$;

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

CREATE FUNCTION array_top(anyarray, n integer) RETURNS anyarray
AS 'MODULE_PATHNAME', 'penumbra_array_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_top(anyarray, integer) IS
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
