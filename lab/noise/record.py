"""Records what the same configuration measures, again and again: the noise of a real machine.

Two servers of the same settings, both started anew each round, take turns of one second. Everything
that differs between "a" and "b" is noise, by construction. README.md says what it is for.

    python lab/noise/record.py lab/noise/NAME.json [ROUNDS [BLOCKS [CLIENTS]]]
"""

import contextlib
import json
import re
import sys
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.run.document import Metric, RunDocument, Variant, utc_now, validate_run
from penumbra_lab.run.environment import describe_client, describe_machine, describe_server
from penumbra_lab.server import PrivateServer
from penumbra_lab.state import state_directory

SETTINGS = {"shared_buffers": "512MB", "synchronous_commit": "off", "max_wal_size": "4GB",
            "checkpoint_timeout": "30min", "autovacuum": "off"}  # fmt: skip
WORKLOADS = {"select-only": ["-S", "-M", "prepared"], "simple-update": ["-N", "-M", "prepared"]}
VARIANTS = ("a", "b")
THROUGHPUT = Metric("throughput", "transactions/s", "higher")
SCALE, SECONDS = 10, 1
DEFAULTS = ["6", "10", "1"]  # rounds, blocks, clients


def transactions_per_second(server: PrivateServer, options: list[str], clients: int) -> float:
    output = server.run_client("pgbench", "-n", "-c", str(clients), "-j", str(clients),
                               "-T", str(SECONDS), *options)  # fmt: skip
    found = re.search(r"tps = ([0-9.]+)", output)
    if not found:
        raise LabError(f"pgbench printed no throughput: {output}")
    return round(float(found.group(1)), 1)


def start_anew(server: PrivateServer) -> None:
    server.restart()
    with server.connect() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        for table in ("pgbench_accounts", "pgbench_accounts_pkey"):
            connection.execute("SELECT pg_prewarm(%s::regclass)", (table,))
        connection.execute("CHECKPOINT")


def empty_document(server: PrivateServer, rounds: int, blocks: int, clients: int) -> RunDocument:
    with server.connect() as connection:
        environment = {
            "machine": describe_machine(server.data), "client_machine": None,
            "server": describe_server(connection, "private"), "client": describe_client(),
        }  # fmt: skip
    design = {"order": "ABBA", "repetitions": rounds * blocks, "seconds": SECONDS,
              "server_starts": rounds, "size": {"scale": SCALE, "clients": clients}}  # fmt: skip
    return RunDocument(
        "noise", f"the same configuration twice, clients: {clients}", environment, design,
        [Variant(name, name, SETTINGS) for name in VARIANTS],
    )  # fmt: skip


def record(rounds: int, blocks: int, clients: int) -> dict:
    with contextlib.ExitStack() as stack:
        servers = {}
        for variant in VARIANTS:
            server = PrivateServer(state_directory() / f"noise-{variant}", SETTINGS)
            server.remove()
            stack.callback(server.remove)
            server.start()
            server.run_client("pgbench", "-i", "-q", "-s", str(SCALE))
            servers[variant] = server
        document = empty_document(servers["a"], rounds, blocks, clients)
        for start in range(rounds):
            for server in servers.values():
                start_anew(server)
            for workload, options in WORKLOADS.items():
                for block in range(start * blocks, (start + 1) * blocks):
                    for variant in VARIANTS if block % 2 == 0 else reversed(VARIANTS):
                        document.add_sample(
                            workload, variant, THROUGHPUT,
                            transactions_per_second(servers[variant], options, clients),
                            block=block, order=document.next_order(), started_at=utc_now(),
                            server_start=start,
                        )  # fmt: skip
        return document.finish("complete")


def main() -> None:
    rounds, blocks, clients = (int(text) for text in sys.argv[2:] + DEFAULTS[len(sys.argv) - 2 :])
    document = validate_run(record(rounds, blocks, clients), "the recording")
    Path(sys.argv[1]).write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
