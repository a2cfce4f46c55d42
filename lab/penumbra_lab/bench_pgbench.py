"""`penumbra bench pgbench`: what the library costs those who do not need it.

Four servers with the same pgbench database: stock, stock again, with the library preloaded, and
preloaded with the pgbench tables cached. Short runs alternate between them, so that the machine's
drift falls on all. The second stock server is the control: servers of the same settings differ too
(where their files and memory happen to lie), and less than that cannot be seen.
"""

import contextlib
import json
import re
import statistics

from penumbra_lab import machine
from penumbra_lab.dataset import step_bars
from penumbra_lab.result import start_document
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, number, plain_table
from penumbra_lab.state import state_directory

TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")
# and what the table calls them
VARIANTS = {"stock": "stock", "control": "stock again", "preloaded": "preloaded",
            "cached": "preloaded, cached"}  # fmt: skip
PRELOADED = ("preloaded", "cached")
LOOKUP = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711"
PLANNINGS = 2000


def _settings(variant: str) -> dict[str, str]:
    settings = {"shared_buffers": "1GB", "synchronous_commit": "off", "max_wal_size": "4GB",
                "checkpoint_timeout": "30min", "autovacuum": "off"}  # fmt: skip
    if variant in PRELOADED:
        settings |= {"shared_preload_libraries": "penumbra", "penumbra.memory": "512MB"}
    return settings


def bench_pgbench(scale: int, rounds: int, seconds: int) -> dict:
    with contextlib.ExitStack() as stack:
        servers = {}
        for variant in VARIANTS:
            server = PrivateServer(
                state_directory() / f"server-pgbench-{variant}", _settings(variant)
            )
            server.remove()
            stack.callback(server.remove)
            servers[variant] = stack.enter_context(server)
            with console.status(f"pgbench database, {variant}"):
                _prepare(server, variant, scale)
        document = start_document("pgbench", f"pgbench, scale {scale}", servers["cached"])
        document["size"] = {"scale": scale}
        document["rounds"], document["seconds"] = rounds, seconds
        document["settings"] = {variant: _settings(variant) for variant in VARIANTS}
        document["throughput"] = [
            _throughput(servers, label, options, rounds, seconds)
            for label, options in (("select-only", ["-S", "-M", "prepared"]),
                                   ("select-only, simple protocol", ["-S"]),
                                   ("TPC-B", []))
        ]  # fmt: skip
        document["planning"] = _planning(servers)
    return document


def _prepare(server: PrivateServer, variant: str, scale: int) -> None:
    server.run_client("pgbench", "-i", "-q", "-s", str(scale))
    with server.connect() as connection:
        if variant in PRELOADED:
            connection.execute("CREATE EXTENSION penumbra")
        connection.execute("VACUUM (ANALYZE)")
        if variant == "cached":
            for table in TABLES:
                connection.execute("SELECT penumbra.load(%s::regclass)", (table,))


def _throughput(servers: dict, label: str, options: list[str], rounds: int, seconds: int) -> dict:
    clients = str(machine.cpu_count())
    variants = list(servers)
    measured: dict[str, list[float]] = {variant: [] for variant in servers}
    with step_bars(console) as progress:
        task = progress.add_task(f"pgbench {label}", total=rounds * len(servers))
        for turn in range(rounds):
            # Each round starts with another server.
            first = turn % len(variants)
            for variant in variants[first:] + variants[:first]:
                output = servers[variant].run_client(
                    "pgbench", "-n", "-c", clients, "-j", clients, "-T", str(seconds),
                    "--random-seed", str(turn + 1), *options,
                )  # fmt: skip
                measured[variant].append(float(re.search(r"tps = ([0-9.]+)", output).group(1)))
                progress.advance(task)
    return {"label": label, "options": options, "tps": measured, **_paired_ratios(measured)}


def _paired_ratios(measured: dict[str, list[float]]) -> dict:
    """The median over rounds of each variant's share of stock's figure of the same round."""
    return {
        "ratio": {
            variant: statistics.median(
                value / stock for value, stock in zip(values, measured["stock"], strict=True)
            )
            for variant, values in measured.items()
        }
    }


def _planning(servers: dict) -> dict:
    """Planning time of a one-row lookup, in turns of a hundred."""
    times: dict[str, list[float]] = {variant: [] for variant in servers}
    with contextlib.ExitStack() as stack:
        connections = {v: stack.enter_context(server.connect()) for v, server in servers.items()}
        with console.status("planning time of a one-row lookup"):
            for _ in range(PLANNINGS // 100):
                for variant, connection in connections.items():
                    for _ in range(100):
                        row = connection.execute(
                            f"EXPLAIN (SUMMARY, FORMAT JSON) {LOOKUP}"
                        ).fetchone()
                        plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
                        times[variant].append(plan[0]["Planning Time"])
    medians = {variant: statistics.median(values) for variant, values in times.items()}
    return {"milliseconds": medians, "ratio": {v: m / medians["stock"] for v, m in medians.items()}}


def pgbench_table(document: dict):
    rows = []
    for entry in document["throughput"]:
        row = [entry["label"] + ", transactions/s"]
        for variant in VARIANTS:
            share = f" ({entry['ratio'][variant]:.1%})" if variant != "stock" else ""
            row.append(number(statistics.median(entry["tps"][variant])) + share)
        rows.append(row)
    planning = document["planning"]
    row = ["planning of a one-row lookup, ms"]
    for variant in VARIANTS:
        share = f" ({planning['ratio'][variant]:.1%})" if variant != "stock" else ""
        row.append(f"{planning['milliseconds'][variant]:.4f}{share}")
    rows.append(row)
    return plain_table(document["title"], ["", *VARIANTS.values()], rows)
