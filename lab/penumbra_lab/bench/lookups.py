"""`penumbra bench lookups`: short keyed queries with penumbra_lookup and without, in turns."""

from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from penumbra_lab.dataset import step_bars
from penumbra_lab.run.document import (
    Axis,
    Metric,
    RunDocument,
    Variant,
    median_ratio,
    medians,
)
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import WORKLOADS, find_pgbench, jobs_for, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, alternating, measurement, record
from penumbra_lab.run.sweep import THROUGHPUT
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, plain_table
from penumbra_lab.state import state_directory

SETTINGS = {
    "max_wal_size": "8GB",
    "autovacuum": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "synchronous_commit": "off",  # the disk is not what is compared
    "plan_cache_mode": "force_generic_plan",
    # Joins by keys, also where a table is small.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
SIDES = ("stock", "lookup")
VARIANTS = [
    Variant("stock", "stock", {}),
    Variant("lookup", "penumbra_lookup", {"session_preload_libraries": "penumbra_lookup"}),
]
ACCOUNTS = 100_000  # of one unit of pgbench's scale
NANOSECONDS = Metric("time", "ns", "lower")
SHARE = Axis("table and index looked at", "% of shared_buffers")
SHARES = (1, 5, 20, 50, 100, 200, 400)
BYTES_PER_ACCOUNT = 150  # of the table and its index
KEYS = 20_000


@dataclass(frozen=True)
class Case:
    """measure(connection, keys) runs a loop and returns nanoseconds per execution."""

    workload: str
    target: float  # of the time with the library divided by the time without
    measure: Callable[[psycopg.Connection, str], float]


def _keys(accounts: int, first: int = 1, count: int | None = None) -> str:
    last = first + (KEYS if count is None else count) - 1
    return (
        f"ARRAY(SELECT (1 + mod(i * 7919::int8, {accounts}))::int4"
        f" FROM generate_series({first}, {last}) i)"
    )


def _read_all(connection: psycopg.Connection, accounts: int) -> None:
    """Into shared_buffers, as far as it has room: by the index, for other scans keep out of it."""
    connection.execute(f"SELECT sum(abalance) FROM pgbench_accounts WHERE aid <= {accounts}")


def _spi(query: str, executions: int):
    def measure(connection: psycopg.Connection, keys: str) -> float:
        loop = f"penumbra_bench.exec_query_in_key_loop(%s, {executions}, {keys})"
        return connection.execute(f"SELECT ns_per_execution FROM {loop}", (query,)).fetchone()[0]

    return measure


def _plpgsql(query: str, executions: int):
    def measure(connection: psycopg.Connection, keys: str) -> float:
        loop = f"penumbra_bench.exec_query_in_plpgsql_loop(%s, {executions}, {keys})"
        return connection.execute(f"SELECT ns_per_execution FROM {loop}", (query,)).fetchone()[0]

    return measure


def cases(executions: int) -> list[Case]:
    by_key = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
    two = ("SELECT a.abalance, b.bbalance FROM pgbench_accounts a"
           " JOIN pgbench_branches b ON b.bid = a.bid WHERE a.aid = $1")  # fmt: skip
    first = "SELECT aid, abalance FROM pgbench_accounts WHERE aid >= $1 ORDER BY aid LIMIT 10"
    tree = "SELECT abalance FROM tree_accounts WHERE aid = $1"
    latest = "SELECT aid, abalance FROM pgbench_accounts WHERE aid <= $1 ORDER BY aid DESC LIMIT 1"
    total = "SELECT count(*), sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN $1 AND $1 + 9"
    exists = "SELECT EXISTS (SELECT FROM pgbench_accounts WHERE aid = $1)"
    update = "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = $1"
    return [
        Case("by key, SPI", 0.40, _spi(by_key, executions)),
        Case("by key, PL/pgSQL", 0.40, _plpgsql(by_key, executions)),
        Case("by key of a keytree index (stock: btree), SPI", 0.33, _spi(tree, executions)),
        Case("two tables by keys, SPI", 0.45, _spi(two, executions)),
        Case("first 10 of a range, SPI", 0.60, _spi(first, executions)),
        Case("last one of a range, SPI", 0.60, _spi(latest, executions)),
        Case("totals of 10 rows, SPI", 0.80, _spi(total, executions)),
        Case("EXISTS by key, PL/pgSQL", 0.60, _plpgsql(exists, executions)),
        Case("UPDATE by key, PL/pgSQL", 0.85, _plpgsql(update, executions // 4)),
    ]


def _create_databases(server: PrivateServer, scale: int) -> None:
    """One for each side; only sessions of one load the library."""
    for side in SIDES:
        with server.connect() as connection:
            connection.execute(f"CREATE DATABASE {side}")
        server.run_client("pgbench", "-i", "-q", "-s", str(scale), side)
        with server.connect(side) as connection:
            connection.execute("CREATE EXTENSION penumbra_bench")
            connection.execute("VACUUM ANALYZE")
    with server.connect() as connection:
        connection.execute(
            "ALTER DATABASE lookup SET session_preload_libraries = 'penumbra_lookup'"
        )


def _create_tree_accounts(server: PrivateServer) -> None:
    """Unlogged: logged keytree indexes want their library in every process of the server."""
    for side, method in zip(SIDES, ("btree", "keytree"), strict=True):
        with server.connect(side) as connection:
            connection.execute("CREATE EXTENSION penumbra_keytree")
            connection.execute("CREATE UNLOGGED TABLE tree_accounts AS TABLE pgbench_accounts")
            connection.execute(f"CREATE INDEX ON tree_accounts USING {method} (aid)")
            connection.execute("VACUUM ANALYZE tree_accounts")


def _in_turns(block: int) -> tuple[str, ...]:
    return SIDES if block % 2 == 0 else SIDES[::-1]


def _measure_loops(
    server: PrivateServer, run: RunDocument, chosen: list[Case], scale: int, rounds: int
) -> None:
    keys = _keys(scale * ACCOUNTS)
    with server.connect("stock") as stock, server.connect("lookup") as lookup, \
            step_bars(console) as progress:  # fmt: skip
        connections = {"stock": stock, "lookup": lookup}
        task = progress.add_task("loops", total=len(chosen))
        for case in chosen:
            progress.update(task, description=case.workload)
            with measurement(run, stock) as samples:
                for block in range(rounds):
                    for side in _in_turns(block):
                        ns = case.measure(connections[side], keys)
                        samples.add(case.workload, side, NANOSECONDS, ns, block)
            _note_target(run, case.workload, case.target)
            progress.advance(task)


def _note_target(run: RunDocument, workload: str, target: float) -> None:
    ratio = round(median_ratio(run.content, workload, "lookup", "stock"), 3)
    run.content["sections"]["cases"].append(
        {"workload": workload, "target": target, "ratio": ratio}
    )


def _measure_clients(server: PrivateServer, run: RunDocument, rounds: int, seconds: int) -> None:
    """Times of pgbench; with no seconds there are none."""
    if seconds == 0:
        return
    program = find_pgbench(server.installation.bin_directory)
    with step_bars(console) as progress:
        task = progress.add_task("clients", total=2)
        for clients in (1, 4):
            workload = f"pgbench -S -M prepared, {clients} client{'s'[: clients - 1]}"
            progress.update(task, description=workload)
            options = [*WORKLOADS["select-only"].options_at(1), "-n", "-M", "prepared"]
            options += ["-c", str(clients), "-j", str(jobs_for(clients, 2)), "-T", str(seconds)]
            with measurement(run, None) as samples:
                for block in range(rounds):
                    for side in _in_turns(block):
                        environment = server.environment() | {"PGDATABASE": side}
                        tps = throughput(run_pgbench(program, options, environment))
                        samples.add(workload, side, THROUGHPUT, tps, block)
            _note_target(run, workload, 1.15)
            progress.advance(task)


def bench_lookups(scale: int, executions: int, rounds: int, seconds: int) -> Outcome:
    server = PrivateServer(
        state_directory() / "server-lookups", SETTINGS | {"shared_buffers": "1GB"}
    )
    server.remove()
    try:
        with server:
            _create_databases(server, scale)
            _create_tree_accounts(server)
            design = alternating(rounds, scale=scale, executions=executions, seconds=seconds)
            title = f"penumbra_lookup beside stock, pgbench's tables at scale {scale}"
            run = RunDocument("lookups", title, describe_private(server), design, VARIANTS)
            run.content["sections"] = {"cases": []}

            def work() -> None:
                _measure_loops(server, run, cases(executions), scale, rounds)
                _measure_clients(server, run, rounds, seconds)

            return record(run, work)
    finally:
        server.remove()


def lookups_rows(document: dict) -> list[dict[str, str]]:
    by_workload = {case["workload"]: case for case in document["sections"]["cases"]}
    rows = []
    for (workload, metric, _), row in medians(document).items():
        case = by_workload.get(workload)
        if case is None or set(row) != set(SIDES):  # it was interrupted
            continue
        is_rate = metric == THROUGHPUT.name
        unit = THROUGHPUT.unit if is_rate else "ns"
        rows.append({
            "statement": workload,
            **{side: f"{row[side]:,.0f} {unit}" for side in SIDES},
            "ratio": f"{case['ratio']:.2f}",
            "wanted": f"{'at least' if is_rate else 'at most'} {case['target']:.2f}",
        })  # fmt: skip
    return rows


def lookups_table(document: dict):
    names = ["statement", *SIDES, "ratio", "wanted"]
    rows = [[row[name] for name in names] for row in lookups_rows(document)]
    return plain_table(document["title"], names, rows)


def _measure_shares(
    server: PrivateServer, run: RunDocument, buffers_mb: int, executions: int, rounds: int
) -> None:
    accounts = [int(share / 100 * (buffers_mb << 20) / BYTES_PER_ACCOUNT) for share in SHARES]
    case = cases(executions)[0]
    with server.connect("stock") as stock, server.connect("lookup") as lookup, \
            step_bars(console) as progress:  # fmt: skip
        connections = {"stock": stock, "lookup": lookup}
        task = progress.add_task("working set", total=rounds * len(SHARES))
        for block in range(rounds):
            for share, count in zip(SHARES, accounts, strict=True):
                with measurement(run, stock) as samples:
                    for side in _in_turns(block):
                        # Each key once: what was read for a key shall not serve it again.
                        keys = _keys(count, 1 + block * executions, executions)
                        _read_all(connections[side], count)
                        ns = case.measure(connections[side], keys)
                        run.add_sample(
                            case.workload, side, NANOSECONDS, ns, block=block,
                            order=samples.order, started_at=samples.started_at,
                            axis=SHARE, x=share, server_start=0,
                        )  # fmt: skip
                progress.advance(task)


def bench_lookups_working_set(buffers_mb: int, executions: int, rounds: int) -> Outcome:
    """The curve: look-ups by key of 1 % to 400 % of shared_buffers."""
    settings = SETTINGS | {"shared_buffers": f"{buffers_mb}MB"}
    server = PrivateServer(state_directory() / "server-lookups", settings)
    server.remove()
    scale = -(-SHARES[-1] * (buffers_mb << 20) // (100 * BYTES_PER_ACCOUNT * ACCOUNTS))
    try:
        with server:
            _create_databases(server, scale)
            title = f"penumbra_lookup beside stock, shared_buffers {buffers_mb} MB"
            design = alternating(rounds, scale=scale, executions=executions, megabytes=buffers_mb)
            run = RunDocument("lookups", title, describe_private(server), design, VARIANTS)
            return record(run, lambda: _measure_shares(server, run, buffers_mb, executions, rounds))
    finally:
        server.remove()


def lookups_working_set_table(document: dict):
    rows = [
        [f"{share:g} %", *(f"{row[side]:,.0f}" for side in SIDES),
         f"{row['lookup'] / row['stock']:.2f}"]
        for (_, _, share), row in medians(document).items() if set(row) == set(SIDES)
    ]  # fmt: skip
    return plain_table(document["title"], ["ns per look-up", "stock", "lookup", "ratio"], rows)
