"""Who may do what with each object of every extension, against the written list of privileges.toml.

An object without an entry fails, and so does an entry without an object.
"""

import tomllib
from pathlib import Path

import pytest
from conftest import EXTENSIONS, connect, outcome

PLACE = Path(__file__).parent / "privileges.toml"

# What an extension has that carries privileges or changes whose they are: identity, and who may do what.
# Grants to the owner, a superuser, say nothing. Settings that pg_settings does not show are not seen here.
OBJECTS = """
WITH member AS (
    SELECT e.extname, d.classid, d.objid FROM pg_depend d JOIN pg_extension e
        ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    WHERE d.deptype = 'e' AND e.extname = ANY (%(extensions)s)
), object AS (
    SELECT m.extname, 'function ' || replace(o.oid::regprocedure::text, '"', '') AS object,  -- versions quote other names
           coalesce(o.proacl, acldefault('f', o.proowner)) AS acl, o.proowner AS owner,
           CASE WHEN o.prosecdef THEN ARRAY['security definer'] END || CASE WHEN o.proleakproof THEN ARRAY['leakproof'] END AS marks
    FROM member m JOIN pg_proc o ON m.classid = 'pg_proc'::regclass AND m.objid = o.oid
  UNION ALL
    SELECT m.extname, CASE WHEN o.relkind = 'v' THEN 'view ' ELSE 'table ' END || o.oid::regclass,
           coalesce(o.relacl, acldefault('r', o.relowner)), o.relowner,
           CASE WHEN o.relrowsecurity THEN (SELECT array_agg('row level security: ' || pg_get_expr(polqual, polrelid)) FROM pg_policy WHERE polrelid = o.oid) END
    FROM member m JOIN pg_class o ON m.classid = 'pg_class'::regclass AND m.objid = o.oid WHERE o.relkind <> 'i'
  UNION ALL
    SELECT m.extname, 'column ' || o.oid::regclass || '.' || a.attname, a.attacl, o.relowner, NULL
    FROM member m JOIN pg_class o ON m.classid = 'pg_class'::regclass AND m.objid = o.oid
    JOIN pg_attribute a ON a.attrelid = o.oid AND a.attacl IS NOT NULL
  UNION ALL
    SELECT m.extname, 'type ' || o.oid::regtype, coalesce(o.typacl, acldefault('T', o.typowner)), o.typowner, NULL
    FROM member m JOIN pg_type o ON m.classid = 'pg_type'::regclass AND m.objid = o.oid WHERE o.typelem = 0 AND o.typrelid = 0
  UNION ALL
    SELECT e.extname, 'schema ' || o.nspname, coalesce(o.nspacl, acldefault('n', o.nspowner)), o.nspowner, NULL
    FROM pg_extension e JOIN pg_namespace o ON o.oid = e.extnamespace WHERE e.extname = ANY (%(extensions)s) AND o.nspname <> 'public'
  UNION ALL
    SELECT m.extname, 'event trigger ' || o.evtname, NULL, o.evtowner, NULL
    FROM member m JOIN pg_event_trigger o ON m.classid = 'pg_event_trigger'::regclass AND m.objid = o.oid
  UNION ALL
    SELECT split_part(name, '.', 1), 'setting ' || name, NULL, 0, ARRAY['set by ' || CASE context
            WHEN 'user' THEN 'everybody' WHEN 'superuser' THEN 'superusers' WHEN 'sighup' THEN 'the configuration, on reload'
            WHEN 'postmaster' THEN 'the configuration, on restart' ELSE context END]
    FROM pg_settings WHERE split_part(name, '.', 1) = ANY (%(extensions)s)
  UNION ALL
    SELECT extname, 'extension ' || extname, NULL, extowner, (SELECT CASE WHEN v.superuser AND NOT v.trusted THEN ARRAY['created by superusers']
            WHEN v.trusted THEN ARRAY['created by whoever may create in the database'] ELSE ARRAY['created by everybody'] END
            FROM pg_available_extension_versions v WHERE v.name = extname AND v.version = extversion)
    FROM pg_extension WHERE extname = ANY (%(extensions)s)
)
SELECT extname, object, (SELECT coalesce(array_agg(a.grantee || ' ' || a.privileges ORDER BY a.grantee), '{}') FROM (
            SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee,
                   string_agg(lower(privilege_type) || CASE WHEN is_grantable THEN ' with grant option' ELSE '' END, ', ' ORDER BY privilege_type) AS privileges
            FROM aclexplode(acl) WHERE grantee <> owner GROUP BY 1) AS a) || coalesce(marks, '{}')
FROM object ORDER BY 1, 2
"""


@pytest.fixture(scope="module")
def privileges(server) -> dict[tuple[str, str], list[str]]:
    """As the extensions' scripts leave them: in a database without the grants of this folder's tests."""
    with server.connect() as connection:
        connection.execute("CREATE DATABASE privileges TEMPLATE template0")
    with connect(server, "privileges") as connection:
        for extension in EXTENSIONS:
            connection.execute(f"CREATE EXTENSION {extension}")
        found = connection.execute(OBJECTS, {"extensions": EXTENSIONS}).fetchall()
    with server.connect() as connection:
        connection.execute("DROP DATABASE privileges")
    return {(extension, name): sorted(who) for extension, name, who in found}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_object_has_the_privileges_that_are_written_down(privileges, extension):
    written = {}
    for group in tomllib.loads(PLACE.read_text()).get(extension, []):
        assert len(group["reason"]) > 20, group
        for name in group["objects"]:
            assert name not in written, f"{name} stands twice in {PLACE.name}"
            written[name] = sorted(group["who"])
    found = {name: who for (of, name), who in privileges.items() if of == extension}
    assert found, extension
    differences = [
        f"{name}: is {found.get(name, 'no object')}, written is {written.get(name, 'nothing')}"
        for name in sorted(found.keys() | written.keys())
        if found.get(name) != written.get(name)
    ]
    assert not differences, "\n".join(differences)


# What the list says that functions check themselves: another's table, which the caller may not even read.
REFUSED = [
    "SELECT penumbra.load('others_own')",
    "SELECT penumbra.refresh('others_own')",
    "SELECT penumbra.unload('others_own')",
    "SELECT * FROM penumbra.verify('others_own')",
    "SELECT * FROM penumbra.explain_coverage('others_own')",
    "SELECT penumbra_test.damage('others_own', 1::smallint, 0)",
    "SELECT penumbra_test.add_new_pages('others_own', 1)",
    "SET penumbra.stop_points = 'x'",
    "SET penumbra.database_memory = 0",
    "SELECT check_compression_method('zstd')",
    "SELECT train_dictionary('others_own', 'words')",
    "SELECT * FROM compression_advice('others_own', 'words')",
    "CALL recompress('others_own', 'words')",
    "SELECT content FROM compression_dictionaries",
    "INSERT INTO compression_dictionaries DEFAULT VALUES",
    "SELECT * FROM backtrace_errors",
    "SELECT backtrace(pg_backend_pid())",
    "SELECT * FROM penumbra.activity",
    "SELECT penumbra_keytree.keytree_check('others_own_id_idx')",
    "SELECT penumbra_bench.exec_query_in_loop('SELECT 1', 1)",
    "SELECT penumbra_numeric.enable('database')",
]


def test_what_is_not_everybodys_is_refused(server, database):
    with connect(server, database) as connection:
        connection.execute("CREATE TABLE others_own (id int, words compressed_text)")
        connection.execute("CREATE INDEX ON others_own USING keytree (id)")
        connection.execute("INSERT INTO others_own SELECT g, 'secret ' || g FROM generate_series(1, 1000) AS g")
        connection.execute("SELECT penumbra.load('others_own')")
    with connect(server, database, "stranger") as connection:
        for statement in REFUSED:
            assert outcome(connection, statement) == ("error", "42501"), statement
        assert outcome(connection, "SELECT create_compression_method('mine', 'handler')") == ("error", "55000")
        assert outcome(connection, "SELECT * FROM recompressions") == ("rows", [])
        assert outcome(connection, "SELECT penumbra_keytree.keytree_leaf_reads()")[0] == "rows"
