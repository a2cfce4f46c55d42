-- What the install script of an extension with a schema of its own begins with; see extension.mk.

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION @extension@" to load this file. \quit

-- Whoever owns the schema, or creates in it, or did, could put other objects in place of those that this script names.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
        JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
        WHERE e.extname OPERATOR(pg_catalog.=) '@extension@'::pg_catalog.name
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
            MESSAGE = 'schema "@extension@" is not safe to install an extension in',
            DETAIL = 'Another role owns it, has objects in it, or may create some.',
            HINT = 'Drop the schema, or rename it.';
    END IF;
END
$$;

