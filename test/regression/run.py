"""PostgreSQL's own regression suite on a server with Penumbra, every table eligible.

The suite runs twice against private servers of the installed PostgreSQL: without the library, and with
it preloaded and preferred wherever it can run a query. Each test's output must be the same: plans
aside, and the order of rows where the statement has no ORDER BY.
"""

import re
from pathlib import Path

from penumbra_lab.server import PrivateServer
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0",
            "max_connections": "60"}  # fmt: skip
# "prefer" takes the vector engine wherever it can run the query, whatever it costs.
PENUMBRA = {"shared_preload_libraries": "penumbra", "penumbra.memory": "256MB", "penumbra.mode": "prefer",
            "penumbra.auto": "off"}  # fmt: skip


def run_schedule(suite: Suite, name: str, settings: dict[str, str]) -> Path:
    """Runs the parallel schedule on a server of its own; the directory with the outputs."""
    server = PrivateServer(suite.place / f"server-{name}", SETTINGS | settings,
                           initdb_options=INITDB_OPTIONS)  # fmt: skip
    with server:
        print(f"  {name}", flush=True)
        results = suite.run(name, server, [f"--schedule={suite.source}/parallel_schedule",
                                           "--max-concurrent-tests=20"])  # fmt: skip
    crashes = [line for line in server.log.read_text(errors="replace").splitlines()
               if "was terminated by signal" in line]  # fmt: skip
    if crashes:
        print(f"FAILED: {name}: the server crashed: {crashes[0]}")
    return results


def names(suite: Suite) -> list[str]:
    listed = re.findall(r"^test:(.*)$", (suite.source / "parallel_schedule").read_text(), re.M)
    return [name for group in listed for name in group.split()]


def compare(suite: Suite) -> int:
    stock = run_schedule(suite, "stock", {})
    penumbra = run_schedule(suite, "penumbra", PENUMBRA)
    return sum(test_failed(name, name, stock, penumbra) for name in names(suite))


if __name__ == "__main__":
    run_as_test(compare, "test-regression")
