"""PostgreSQL's regression suite with keytree indexes in place of btree's.

The whole suite runs in two servers with penumbra_keytree preloaded and created. In the second one an event trigger
rebuilds each new btree index as a keytree index of the same name where keytree can take its place: not unique, one
column, ascending. Plans aside, the outputs must be the same; a count says how many indexes were replaced.
"""

from pathlib import Path

from penumbra_lab.server import PrivateServer
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed, test_names

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0", "max_connections": "60",
            "shared_preload_libraries": "penumbra_keytree"}  # fmt: skip

# Their outputs tell more of an index than what it finds.
NOT_COMPARED = {
    "tablespace": "describes indexes",
    "stats_import": "shows an index's pages",
    "namespace": "shows each call of an index's function",
    "indexing": "an index that is attached to a btree index of the parent must be one",
    "vacuum_parallel": "counts indexes that are larger than a threshold, which keytree's are not",
    "alter_table": "changes columns to types that have no keytree operator class",
    "tuplesort": "LIMIT among equals after CLUSTER",
    "event_trigger": "lists event triggers",
}

# Replacing within the command keeps the name; CREATE INDEX CONCURRENTLY fires no such trigger.
REPLACE = """
CREATE SEQUENCE penumbra_keytree.replaced;
GRANT USAGE ON SCHEMA penumbra_keytree TO PUBLIC;
GRANT USAGE ON SEQUENCE penumbra_keytree.replaced TO PUBLIC;
CREATE FUNCTION penumbra_keytree.replace_btree() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE found record;
BEGIN
    FOR found IN
        SELECT i.indexrelid, pg_get_indexdef(i.indexrelid) AS definition
        FROM pg_event_trigger_ddl_commands() c JOIN pg_index i ON i.indexrelid = c.objid JOIN pg_class k ON k.oid = c.objid
            JOIN pg_class t ON t.oid = i.indrelid JOIN pg_am a ON a.oid = k.relam JOIN pg_opclass o ON o.oid = i.indclass[0]
        WHERE c.classid = 'pg_class'::regclass AND k.relkind = 'i' AND a.amname = 'btree' AND NOT t.relispartition
            AND NOT i.indisunique AND i.indnatts = 1 AND i.indoption[0] = 0 AND i.indisvalid AND o.opcdefault
            AND o.opcintype IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'uuid'::regtype, 'date'::regtype,
                                'timestamp'::regtype, 'timestamptz'::regtype)
            AND k.reloptions IS NULL AND k.reltablespace = 0
    LOOP
        EXECUTE format('DROP INDEX %s', found.indexrelid::regclass);
        EXECUTE replace(found.definition, ' USING btree ', ' USING keytree ');
        PERFORM nextval('penumbra_keytree.replaced');
    END LOOP;
END $$;
CREATE EVENT TRIGGER replace_btree ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
    EXECUTE FUNCTION penumbra_keytree.replace_btree();
"""


def run_schedule(suite: Suite, name: str, script: str) -> tuple[Path, int]:
    server = PrivateServer(suite.place / f"server-{name}", SETTINGS, initdb_options=INITDB_OPTIONS)
    with server:
        with server.connect() as connection:
            connection.execute("CREATE DATABASE regression TEMPLATE template0")
        with server.connect("regression") as connection:
            connection.execute("CREATE EXTENSION penumbra_keytree")
            connection.execute(script)
        results = suite.run(name, server, ["--use-existing", "--dbname=regression", "--max-concurrent-tests=20",
                                           f"--schedule={suite.source}/parallel_schedule"])  # fmt: skip
        with server.connect("regression") as connection:
            found = connection.execute("SELECT to_regclass('penumbra_keytree.replaced')").fetchone()
            replaced = 0
            if found[0]:
                replaced = connection.execute(
                    "SELECT last_value FROM penumbra_keytree.replaced"
                ).fetchone()[0]
    return results, replaced


def compare(suite: Suite) -> int:
    stock, _ = run_schedule(suite, "btree", "")
    keytree, replaced = run_schedule(suite, "keytree", REPLACE)
    for output in keytree.glob("*.out"):  # what describes an index names its method
        text = output.read_text(errors="replace")
        output.write_text(text.replace("keytree (", "btree ("), errors="replace")
    print(f"  {replaced} indexes replaced")
    for name, reason in NOT_COMPARED.items():
        print(f"  not compared: {name}: {reason}")
    return sum(test_failed(name, name, stock, keytree)
               for name in test_names(suite) if name not in NOT_COMPARED)  # fmt: skip


if __name__ == "__main__":
    run_as_test(compare, "test-regression-keytree")
