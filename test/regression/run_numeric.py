"""PostgreSQL's tests of numeric with penumbra_numeric in its place.

In one server, the tests run in three databases: as they are, with the operators taken over by search_path
(enable('database')), and with plans rewritten. Plans aside, each output must be the same.
"""

from pathlib import Path

from penumbra_lab.server import PrivateServer
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed

TESTS = ("test_setup", "numeric", "numeric_big", "aggregates", "window", "create_aggregate", "groupingsets", "merge",
         "update", "with")  # fmt: skip
# The tests' tables come from test_setup; what later tests read of others' is missing on all sides alike.
TAKE_OVER = {
    "stock": (),
    "search_path": (
        "ALTER DATABASE {} SET search_path = public",
        "SELECT penumbra_numeric.enable('database')",
        # test_setup lets everybody create in public
        "ALTER EVENT TRIGGER penumbra_numeric_guard_schemas DISABLE",
    ),
    "rewrite": (
        "ALTER DATABASE {} SET session_preload_libraries = 'penumbra_numeric'",
        "ALTER DATABASE {} SET penumbra_numeric.rewrite = on",
    ),
}


def run_tests(suite: Suite, server: PrivateServer, database: str) -> Path:
    with server.connect() as connection:
        # Of all databases; test_setup makes it in each one's turn.
        connection.execute("DROP TABLESPACE IF EXISTS regress_tblspace")
        connection.execute(
            f"CREATE DATABASE {database} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    with server.connect(database) as connection:
        connection.execute("CREATE EXTENSION penumbra_numeric")
        for statement in TAKE_OVER[database]:
            connection.execute(statement.format(database))
    return suite.run(database, server, ["--use-existing", f"--dbname={database}", *TESTS])


def compare(suite: Suite) -> int:
    with PrivateServer(
        suite.place / "server", {"fsync": "off"}, initdb_options=INITDB_OPTIONS
    ) as server:
        results = {database: run_tests(suite, server, database) for database in TAKE_OVER}
    return sum(test_failed(f"{name}, {side}", name, results["stock"], results[side])
               for side in ("search_path", "rewrite") for name in TESTS)  # fmt: skip


if __name__ == "__main__":
    run_as_test(compare, "test-regression-numeric")
