"""PostgreSQL's own regression suite on a server with Penumbra, every table eligible.

The suite runs twice against private servers of the installed PostgreSQL: without the library, and with
it preloaded and preferred wherever it can run a query. Each test's output must be the same: plans
aside, and the order of rows where the statement has no ORDER BY.
"""

from pathlib import Path

from penumbra_lab.server import PrivateServer
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed, test_names

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0",
            "max_connections": "60"}  # fmt: skip
# "prefer" takes the vector engine wherever it can run the query, whatever it costs.
PENUMBRA = {"shared_preload_libraries": "penumbra", "penumbra.memory": "256MB", "penumbra.mode": "prefer",
            "penumbra.auto_load": "off", "compute_query_id": "regress"}  # fmt: skip
# Expects the errors of a server without a provider of labels.
LEFT_OUT = {"security_label"}


def run_schedule(suite: Suite, name: str, settings: dict[str, str]) -> Path:
    """Runs the parallel schedule on a server of its own; the directory with the outputs."""
    server = PrivateServer(suite.place / f"server-{name}", SETTINGS | settings,
                           initdb_options=INITDB_OPTIONS)  # fmt: skip
    with server:
        print(f"  {name}", flush=True)
        return suite.run(name, server, [f"--schedule={suite.source}/parallel_schedule",
                                           "--max-concurrent-tests=20"])  # fmt: skip


def compare(suite: Suite) -> int:
    stock = run_schedule(suite, "stock", {})
    penumbra = run_schedule(suite, "penumbra", PENUMBRA)
    return sum(test_failed(name, name, stock, penumbra) for name in test_names(suite) if name not in LEFT_OUT)


if __name__ == "__main__":
    run_as_test(compare, "test-regression")
