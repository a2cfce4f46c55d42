"""`penumbra bench keytree-working-set`: lookups per second against what they are spread over."""

import psycopg

from penumbra_lab.bench.keytree import METHODS, SETTINGS, VARIANTS
from penumbra_lab.dataset import step_bars
from penumbra_lab.run.document import Axis, Metric, RunDocument, medians, utc_now
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import Outcome, alternating, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, plain_table
from penumbra_lab.state import state_directory

SHARED_BUFFERS_MB = 64
# From a second-level cache to four times shared_buffers, as btree stores the keys.
SIZES_MB = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SIZE = Axis("btree pages looked at", "MB")
RATE = Metric("lookups", "1/s", "higher")
WORKLOAD = "lookup of bigint in the index"
KEYS = 200_000


def _load(connection: psycopg.Connection) -> float:
    """A table with both indexes; returns how many keys a MB of btree's has."""
    bytes_per_key = 21
    rows = (SIZES_MB[-1] << 20) // bytes_per_key
    connection.execute(f"""
        CREATE EXTENSION penumbra_keytree; CREATE EXTENSION penumbra_bench;
        CREATE UNLOGGED TABLE numbers AS SELECT i::int8 AS id FROM generate_series(1, {rows}) i""")
    for method in METHODS:
        connection.execute(f"CREATE INDEX numbers_{method} ON numbers USING {method} (id)")
    connection.execute("CHECKPOINT")
    (size,) = connection.execute("SELECT pg_relation_size('numbers_btree')").fetchone()
    return rows / size * (1 << 20)


def _lookups_per_second(
    connection: psycopg.Connection, method: str, keys_count: int, block: int
) -> float:
    """Of keys in a part of the index; the first half of the time warms the buffers."""
    connection.execute(f"SELECT setseed({(block % 100) / 100})")
    connection.execute(f"""
        CREATE TEMP TABLE keys AS SELECT array_agg(1 + floor(random() * {keys_count})::int8) AS keys
        FROM generate_series(1, {KEYS})""")
    loop = f"penumbra_bench.index_lookup_loop('numbers_{method}', {KEYS}, keys)"
    for _ in range(2):
        ns, rows = connection.execute(f"SELECT ns_per_execution, rows FROM keys, {loop}").fetchone()
    connection.execute("DROP TABLE keys")
    assert rows == KEYS
    return 1e9 / ns


def _measure(
    connection: psycopg.Connection, run: RunDocument, keys_per_mb: float, rounds: int
) -> None:
    with step_bars(console) as progress:
        task = progress.add_task("working set", total=rounds * len(SIZES_MB))
        for block in range(rounds):
            for size in SIZES_MB:
                order, began = run.next_order(), utc_now()
                for method in METHODS if block % 2 == 0 else reversed(METHODS):
                    rate = _lookups_per_second(connection, method, int(size * keys_per_mb), block)
                    run.add_sample(WORKLOAD, method, RATE, rate, block=block, order=order,
                                   started_at=began, axis=SIZE, x=size, server_start=0)  # fmt: skip
                progress.advance(task)


def bench_keytree_working_set(rounds: int) -> Outcome:
    settings = SETTINGS | {"shared_buffers": f"{SHARED_BUFFERS_MB}MB"}
    server = PrivateServer(state_directory() / "server-keytree", settings)
    server.remove()
    try:
        with server, server.connect() as connection:
            keys_per_mb = _load(connection)
            title = f"keytree beside btree, shared_buffers {SHARED_BUFFERS_MB} MB"
            design = alternating(rounds, megabytes=SIZES_MB[-1])
            run = RunDocument("keytree", title, describe_private(server), design, VARIANTS)
            return record(run, lambda: _measure(connection, run, keys_per_mb, rounds))
    finally:
        server.remove()


def keytree_working_set_table(document: dict):
    rows = [
        [f"{size:g} MB", *(f"{row[method]:,.0f}" for method in METHODS),
         f"{row['keytree'] / row['btree']:.2f}"]
        for (_, _, size), row in medians(document).items()
    ]  # fmt: skip
    return plain_table(document["title"], ["lookups/s", "btree", "keytree", "ratio"], rows)
