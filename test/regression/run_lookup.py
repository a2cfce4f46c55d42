"""PostgreSQL's regression suite with executor states that are kept from one execution to the next.

The whole suite runs in two servers, the second one with penumbra_lookup preloaded. Generic plans are asked for in both, so
that every statement of a PL/pgSQL function has one plan. The outputs must be the same, and no resource owner may have
found a reference that nobody gave back.
"""

from pathlib import Path

from penumbra_lab.server import PrivateServer
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed, test_names

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0", "max_connections": "60",
            "plan_cache_mode": "force_generic_plan"}  # fmt: skip
LEAKS = ("WARNING:  buffer refcount leak", "reference leak", "resource was not closed", "TRAP:")


def run_schedule(suite: Suite, name: str, libraries: str) -> tuple[Path, int]:
    settings = SETTINGS | {"shared_preload_libraries": libraries}
    server = PrivateServer(suite.place / f"server-{name}", settings, initdb_options=INITDB_OPTIONS)
    with server:
        with server.connect() as connection:
            connection.execute("CREATE DATABASE regression TEMPLATE template0")
        results = suite.run(name, server, ["--use-existing", "--dbname=regression", "--max-concurrent-tests=20",
                                           f"--schedule={suite.source}/parallel_schedule"])  # fmt: skip
    return results, sum(
        any(leak in line for leak in LEAKS)
        for line in server.log.read_text(errors="replace").splitlines()
    )


def compare(suite: Suite) -> int:
    stock, _ = run_schedule(suite, "stock", "")
    lookup, leaks = run_schedule(suite, "lookup", "penumbra_lookup")
    print("FAILED: leaks" if leaks else "ok: no reference was left")
    return bool(leaks) + sum(test_failed(name, name, stock, lookup) for name in test_names(suite))


if __name__ == "__main__":
    run_as_test(compare, "test-regression-lookup")
