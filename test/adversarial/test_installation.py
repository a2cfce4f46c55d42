"""Extensions installed where another role could make objects before: none of hers is ever used.

For every function and operator of pg_catalog that a script mentions, the role makes overloads of many argument types.
Those of equal arguments are left out: pg_catalog comes before them.
"""

import re

import psycopg
import pytest
from conftest import EXTENSIONS, connect
from penumbra_lab.state import TREE

# Where CREATE EXTENSION puts them.
SCHEMAS = {
    path.stem: match.group(1) if (match := re.search(r"^schema = (\w+)", path.read_text(), re.MULTILINE)) else "public"
    for path in TREE.glob("extensions/*/*.control")
}
OWN = [extension for extension in EXTENSIONS if SCHEMAS[extension] != "public"]
TYPES = ["int4", "int8", "numeric", "text", "name", "oid", "float8", "timestamptz", "int4[]"]
# Every function that finds what it names when it runs, in the caller's search_path, and how to run all of it.
CALLS = {
    "exec_query_in_plpgsql_loop(text,integer,anyarray)": "SELECT penumbra_bench.exec_query_in_plpgsql_loop('SELECT $1', 3, ARRAY[1, 2])",
    "exec_query_in_plpgsql_loop(text,integer)": "SELECT penumbra_bench.exec_query_in_plpgsql_loop('VALUES (1)', 3)",
    "substring(compressed_text,text,text)": "SELECT public.substring('abc'::public.compressed_text, 'a#\"b#\"c', '#')",
    "recompress(regclass,name,integer,boolean)": "CALL public.recompress('compressed', 'value', 1, true)",
    "recompress_table(regclass,name,integer,boolean)": "CALL public.recompress_table('compressed', 'value', 1, false)",
}

OVERLOADS = """
DO $do$
DECLARE
    types text[] := %(types)s;
    arguments text;
    item record;
BEGIN
    FOR item IN
        SELECT DISTINCT ON (proname) proname AS name, prorettype::regtype AS type FROM pg_proc
        WHERE proname::text = ANY (%(words)s) AND pronamespace = 'pg_catalog'::regnamespace
            AND NOT proretset AND prorettype::regtype::text !~ '^any|internal|cstring|trigger'
        ORDER BY proname, oid
    LOOP
        FOR arguments IN SELECT l FROM unnest(types) l UNION ALL
            SELECT l || ', ' || r FROM unnest(types) l, unnest(types) r
        LOOP
            CONTINUE WHEN to_regprocedure(format('pg_catalog.%%I(%%s)', item.name, arguments)) IS NOT NULL
                OR to_regprocedure(format('%%I.%%I(%%s)', %(schema)s, item.name, arguments)) IS NOT NULL;
            EXECUTE format('CREATE FUNCTION %%I.%%I(%%s) RETURNS %%s LANGUAGE plpgsql IMMUTABLE AS %%L',
                %(schema)s, item.name, arguments, item.type, 'BEGIN RAISE EXCEPTION ''a stranger''''s code''; END');
        END LOOP;
    END LOOP;
    FOR item IN
        SELECT o.oprname AS name, l AS l, r AS r, min(oprresult::regtype::text) AS type
        FROM pg_operator o, unnest(types) l, unnest(types) r
        WHERE oprname::text = ANY (%(symbols)s) AND oprleft <> 0 AND oprnamespace = 'pg_catalog'::regnamespace
            AND oprleft IN ('int8'::regtype, 'numeric'::regtype, 'text'::regtype)
        GROUP BY 1, 2, 3
    LOOP
        CONTINUE WHEN to_regoperator(format('pg_catalog.%%s(%%s, %%s)', item.name, item.l, item.r)) IS NOT NULL;
        EXECUTE format('CREATE FUNCTION %%I.%%I(%%s, %%s) RETURNS %%s LANGUAGE plpgsql IMMUTABLE AS %%L',
            %(schema)s, 'operator ' || item.name, item.l, item.r, item.type,
            'BEGIN RAISE EXCEPTION ''a stranger''''s code''; END');
        EXECUTE format('CREATE OPERATOR %%I.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = %%I.%%I)',
            %(schema)s, item.name, item.l, item.r, %(schema)s, 'operator ' || item.name);
    END LOOP;
END
$do$
"""

# What refers to one of the overloads.
REFERENCES = """
SELECT pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, 0)
FROM pg_depend d
LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
JOIN pg_proc f ON f.oid = CASE WHEN d.refclassid = 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode END
WHERE f.prosrc LIKE '%a stranger%' AND d.classid <> 'pg_operator'::regclass
"""


def install_script(extension: str) -> str:
    """As it is installed: with what the build puts before it (extensions/extension.mk)."""
    (source,) = TREE.glob(f"extensions/*/sql/{extension}--*.sql")
    built = source.parent.parent / source.name
    return (built if built.exists() else source).read_text()


def make_overloads(connection: psycopg.Connection, extension: str, schema: str) -> None:
    text = re.sub(r"--.*", "", install_script(extension))
    # utility statements take no parameters
    query = psycopg.ClientCursor(connection).mogrify(OVERLOADS, {
        "schema": schema, "types": TYPES,
        "words": sorted(set(re.findall(r"\b([a-z_0-9]+)\(", text))),
        "symbols": sorted(set(re.findall(r"[-+*/<>=~!@#%^&|]+", text))),
    })  # fmt: skip
    connection.execute("SET search_path = pg_catalog; SET ROLE stranger")
    connection.execute(query)
    connection.execute("RESET ROLE; RESET search_path")


@pytest.fixture()
def empty(server):
    with server.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS prepared WITH (FORCE)")
        connection.execute("CREATE DATABASE prepared TEMPLATE template0")
    with connect(server, "prepared") as connection:
        connection.execute("GRANT CREATE ON DATABASE prepared TO stranger")
        yield connection
    with server.connect() as connection:
        connection.execute("DROP DATABASE prepared WITH (FORCE)")


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
def test_overloads(empty, extension, is_before):
    """The schema is safe again when the script runs, but has what the stranger made; or it gets that later."""
    schema = SCHEMAS[extension]
    if is_before and schema != "public":
        empty.execute(f"CREATE SCHEMA {schema}")
    if not is_before:
        empty.execute(f"CREATE EXTENSION {extension}")
    empty.execute(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO stranger")
    make_overloads(empty, extension, schema)
    assert empty.execute("SELECT count(*) > 100 FROM pg_proc WHERE proowner = 'stranger'::regrole").fetchone()[0]
    empty.execute(f"REVOKE CREATE ON SCHEMA {schema} FROM stranger")
    if is_before:
        if schema != "public":
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not safe"):
                empty.execute(f"CREATE EXTENSION {extension}")
            empty.execute("REVOKE CREATE ON DATABASE prepared FROM stranger; REASSIGN OWNED BY stranger TO postgres")
        empty.execute(f"CREATE EXTENSION {extension}")
    assert empty.execute(REFERENCES).fetchall() == []
    empty.execute(f"SET search_path = {schema}, public")
    for (view,) in empty.execute(
        "SELECT objid::regclass::text FROM pg_depend JOIN pg_class c ON c.oid = objid AND relkind = 'v'"
        " WHERE deptype = 'e' AND classid = 'pg_class'::regclass AND relnamespace = %s::regnamespace", (schema,)
    ).fetchall():  # fmt: skip
        empty.execute(f"SELECT * FROM {view}")


@pytest.mark.parametrize("extension", OWN)
def test_schema_of_another(empty, extension):
    schema = SCHEMAS[extension]
    for preparation in (
        f"CREATE SCHEMA {schema} AUTHORIZATION stranger",
        f"CREATE SCHEMA {schema}; GRANT CREATE ON SCHEMA {schema} TO stranger",
        f"CREATE SCHEMA {schema}; GRANT CREATE ON SCHEMA {schema} TO PUBLIC",
    ):
        empty.execute(preparation)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not safe"):
            empty.execute(f"CREATE EXTENSION {extension}")
        empty.execute(f"DROP SCHEMA {schema}")
    empty.execute(f"CREATE SCHEMA {schema}")
    empty.execute(f"CREATE EXTENSION {extension}")


@pytest.mark.parametrize("extension", OWN)
def test_objects_of_another(empty, extension):
    schema = SCHEMAS[extension]
    empty.execute("CREATE FUNCTION public.strange(text, numeric) RETURNS bool LANGUAGE sql RETURN true")
    for kind in (
        "FUNCTION {}.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "OPERATOR {}.<< (LEFTARG = text, RIGHTARG = numeric, FUNCTION = public.strange)",
        "DOMAIN {}.d AS int",
        "TABLE {}.t ()",
        'COLLATION {}.c FROM "C"',
    ):
        empty.execute(f"CREATE SCHEMA {schema}; GRANT CREATE, USAGE ON SCHEMA {schema} TO stranger; SET ROLE stranger")
        empty.execute("CREATE " + kind.format(schema))
        empty.execute(f"RESET ROLE; REVOKE CREATE ON SCHEMA {schema} FROM stranger")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not safe"):
            empty.execute(f"CREATE EXTENSION {extension}")
        empty.execute(f"DROP SCHEMA {schema} CASCADE")
    empty.execute(f"CREATE SCHEMA {schema}; CREATE FUNCTION {schema}.own() RETURNS int LANGUAGE sql RETURN 1")
    empty.execute(f"CREATE EXTENSION {extension}")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_calls(empty, extension):
    """The stranger's overloads are in the caller's search_path when functions run."""
    empty.execute(f"CREATE EXTENSION {extension}")
    found = [name for (name,) in empty.execute(
        "SELECT p.oid::regprocedure::text FROM pg_depend JOIN pg_proc p ON p.oid = objid JOIN pg_language l ON l.oid = prolang"
        " WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND classid = 'pg_proc'::regclass"
        " AND lanname IN ('sql', 'plpgsql') AND prosqlbody IS NULL AND proconfig IS NULL"
    ).fetchall()]  # fmt: skip
    if extension == "penumbra_compress":
        empty.execute("CREATE TABLE compressed AS SELECT 'abc'::public.compressed_text AS value")
    empty.execute("GRANT CREATE ON SCHEMA public TO stranger")
    make_overloads(empty, extension, "public")
    for name in found:
        empty.execute(CALLS[re.sub(r'"|^\w+\.', "", name)])


UNCOMMENTED = """
SELECT o.type || ' ' || o.identity
FROM pg_depend d
JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) o
WHERE e.extname = %s AND coalesce(obj_description(d.objid, d.classid::regclass::name), '') = ''
    AND (d.classid = 'pg_proc'::regclass OR c.relkind IN ('r', 'v') OR (t.typtype = 'b' AND t.typelem = 0))
"""


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_object_has_a_comment(empty, extension):
    empty.execute(f"CREATE EXTENSION {extension}")
    assert empty.execute(UNCOMMENTED, (extension,)).fetchall() == []
