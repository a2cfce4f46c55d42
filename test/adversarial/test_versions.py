"""Libraries and scripts of different versions: a C function declared with a column more or less than it returns."""

from conftest import cache_table, connect, outcome
from psycopg import sql

# C functions of extensions that return columns, with the types of their arguments.
FUNCTIONS = """
SELECT p.oid::regproc::text, p.probin, p.prosrc, p.proretset, p.proisstrict, p.proargtypes::regtype[]::text[],
    ARRAY(SELECT format('%%I %%s', 'column' || i, format_type(type, NULL))
          FROM unnest(p.proallargtypes, p.proargmodes) WITH ORDINALITY AS argument(type, mode, i)
          WHERE mode IN ('o', 't') ORDER BY i)
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'c'
WHERE p.prorettype = 'record'::regtype AND %(type)s::regtype <> ALL (p.proargtypes::oid[])
ORDER BY 1
"""
# An argument of each type with which most functions return rows.
ARGUMENTS = {
    "regclass": "'versions'",
    "integer": "pg_backend_pid()",
    "bigint": "1",
    "name": "'word'",
    "text": "'lz4'",
    "text[]": "NULL",
    "boolean": "false",
    "compressed_text": "'word'",
    "regtype": "'integer'",
}


def test_a_row_of_another_version_is_an_error(server, database):
    tested = []
    with connect(server, database) as connection:
        connection.execute("CREATE TABLE versions AS SELECT i AS id, 'a word ' || i AS word FROM generate_series(1, 5000) i")
        connection.execute("CREATE INDEX versions_key ON versions USING keytree (id)")
        cache_table(connection, "versions")
        for name, library, symbol, is_set, is_strict, types, columns in connection.execute(FUNCTIONS, {"type": "internal"}).fetchall():
            arguments = ", ".join(ARGUMENTS.get(type_name, "NULL") for type_name in types)
            if "keytree" in symbol:
                arguments = arguments.replace("'versions'", "'versions_key'")
            rows = outcome(connection, f"SELECT * FROM {name}({arguments})")
            if rows[0] == "error" or not any(value is not None for row in rows[1] for value in row):
                continue
            for declared in (columns[:-1], [*columns, "one_more integer"]):
                if len(declared) < 2:
                    continue
                connection.execute(
                    sql.SQL("CREATE FUNCTION twin({}) RETURNS {} AS {}, {} LANGUAGE C {}").format(
                        sql.SQL(", ".join(types)),
                        sql.SQL(f"TABLE ({', '.join(declared)})") if is_set else sql.SQL("record"),
                        library, symbol, sql.SQL("STRICT" if is_strict else ""),
                    )
                )  # fmt: skip
                definition = "" if is_set else f" AS row({', '.join(declared)})"
                assert outcome(connection, f"SELECT * FROM twin({arguments}){definition}") == ("error", "55000"), name
                connection.execute("DROP FUNCTION twin")
            tested.append(name)
    assert len(tested) >= 15, tested
