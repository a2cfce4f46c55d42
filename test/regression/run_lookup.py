"""PostgreSQL's own tests with executor states that are kept from one execution to the next.

The regression suite, PL/pgSQL's tests and the isolation suite run in two servers at once, one with penumbra_lookup
preloaded. Generic plans are asked for in both, so that every statement of a PL/pgSQL function has one plan. The
outputs must be the same, and no resource owner may have found a reference that nobody gave back.
"""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from penumbra_lab.server import PrivateServer, give_to_server_user
from prepared_spec import prepared_spec
from suite import INITDB_OPTIONS, Suite, run_as_test, test_failed, test_names

SETTINGS = {"fsync": "off", "shared_buffers": "128MB", "max_prepared_transactions": "0", "max_connections": "60",
            "plan_cache_mode": "force_generic_plan"}  # fmt: skip
SIDES = {"stock": "", "lookup": "penumbra_lookup"}
LEAKS = ("WARNING:  buffer refcount leak", "reference leak", "resource was not closed", "TRAP:")
ISOLATION = "src/test/isolation"
READY_STEPS = 500


class Tests:
    """What runs, and the names of its tests."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.specs = suite.place / "specs"
        shutil.copytree(suite.tree / ISOLATION, self.specs)
        for path in self.specs.glob("specs/*.spec"):
            path.write_text(prepared_spec(path.read_text()))
        give_to_server_user(self.specs)
        self.plpgsql = suite.tree / "src/pl/plpgsql/src"
        self.names = {
            "regression": test_names(suite),
            "plpgsql": sorted(path.stem for path in self.plpgsql.glob("sql/*.sql")),
            "isolation": test_names(suite, f"{ISOLATION}/isolation_schedule"),
        }

    def run(self, side: str, server: PrivateServer) -> dict[str, Path]:
        """The outputs' directories."""
        return {
            "regression": self.suite.run(f"regression-{side}", server, [
                f"--schedule={self.suite.source}/parallel_schedule", "--max-concurrent-tests=20"]),
            "plpgsql": self.suite.run(f"plpgsql-{side}", server, self.names["plpgsql"], self.plpgsql),
            "isolation": self.suite.run(f"isolation-{side}", server, [
                "--load-extension=penumbra_lookup", *self.names["isolation"]], self.specs,
                "isolation/pg_isolation_regress"),
        }  # fmt: skip


def private_server(suite: Suite, side: str) -> PrivateServer:
    settings = SETTINGS | {"shared_preload_libraries": SIDES[side]}
    return PrivateServer(suite.place / f"server-{side}", settings, initdb_options=INITDB_OPTIONS)


def compare(suite: Suite) -> int:
    tests = Tests(suite)
    servers = [private_server(suite, side) for side in SIDES]
    # An interrupt stops the servers first, so that nobody waits for the tests.
    with ThreadPoolExecutor() as threads, servers[0], servers[1]:
        stock, lookup = threads.map(tests.run, SIDES, servers)
    log = servers[1].log.read_text(errors="replace")
    has_leaks = any(leak in log for leak in LEAKS)
    print("FAILED: leaks" if has_leaks else "ok: no reference was left")
    ready = sum(int(count) for count in re.findall(r"executions on ready states: (\d+)", log))
    has_few = ready < READY_STEPS
    print(f"{'FAILED' if has_few else 'ok'}: {ready} steps of specs on ready states")
    return has_leaks + has_few + sum(test_failed(f"{kind}, {name}", name, stock[kind], lookup[kind])
                                     for kind, names in tests.names.items() for name in names)  # fmt: skip


if __name__ == "__main__":
    run_as_test(compare, "test-regression-lookup")
