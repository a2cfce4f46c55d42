"""The same lookup at every level: over the wire, in a C loop, in PL/pgSQL, in the index alone.

Over the wire a lookup costs more than in the server, and the difference between two machines is
then that between their system calls and schedulers: only side by side do the numbers say of what.
"""

import random
from dataclasses import dataclass
from pathlib import Path

import psycopg

from penumbra_lab.errors import LabError
from penumbra_lab.run.environment import read_text
from penumbra_lab.run.targets import EXTENSION

LOOKUP = "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
EXPLAIN = "EXPLAIN " + LOOKUP.replace("$1", "{}")
ACCOUNTS_PER_SCALE = 100_000
KEYS = 10_000
TRIAL_EXECUTIONS = 2_000
EXECUTIONS_MAX = 2_000_000_000


@dataclass(frozen=True)
class Level:
    """A loop in the server: a query that returns executions, rows and ns_per_execution."""

    name: str
    query: str


LEVELS = (
    Level("lookup, C loop",
          f"{EXTENSION}.exec_query_in_key_loop(%(lookup)s, %(n)s, %(keys)s::int[])"),
    Level("lookup, PL/pgSQL",
          f"{EXTENSION}.exec_query_in_plpgsql_loop(%(lookup)s, %(n)s, %(keys)s::int[])"),
    Level("lookup, index alone",
          f"{EXTENSION}.index_lookup_loop(%(index)s::regclass, %(n)s, %(keys)s::int[])"),
    Level("lookup, planning", f"{EXTENSION}.exec_query_in_loop(%(explain)s, %(n)s)"),
)  # fmt: skip


def random_keys(scale: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randint(1, scale * ACCOUNTS_PER_SCALE) for _ in range(KEYS)]


def run_level(
    connection: psycopg.Connection, level: Level, keys: list[int], seconds: float, is_local: bool
) -> tuple[float, float | None]:
    """Nanoseconds per execution, of a loop that takes about so many seconds, and those of CPU time
    where the backend is on this machine: the others count what other programs took, too."""
    parameters = {"lookup": LOOKUP, "keys": keys, "explain": EXPLAIN.format(keys[0])}
    if "%(index)s" in level.query:
        parameters |= _index_and_keys(connection, keys)
    trial = _run(connection, level, parameters | {"n": TRIAL_EXECUTIONS})
    n = min(max(int(seconds * 1e9 / trial), TRIAL_EXECUTIONS), EXECUTIONS_MAX)
    before = _cpu_ns(connection) if is_local else None
    ns = _run(connection, level, parameters | {"n": n})
    after = _cpu_ns(connection) if is_local else None
    return ns, (after - before) / n if before is not None and after is not None else None


def _cpu_ns(connection: psycopg.Connection) -> int | None:
    text = read_text(Path(f"/proc/{connection.info.backend_pid}/schedstat"))
    return int(text.split()[0]) if text else None


def _run(connection: psycopg.Connection, level: Level, parameters: dict) -> float:
    executions, rows, ns = connection.execute(
        f"SELECT executions, rows, ns_per_execution FROM {level.query}", parameters
    ).fetchone()
    if "%(keys)s" in level.query and rows < executions:
        raise LabError(f"{level.name}: {rows} rows in {executions} lookups of accounts: the pgbench"
                       " tables are incomplete")  # fmt: skip
    return ns


def _index_and_keys(connection: psycopg.Connection, keys: list[int]) -> dict:
    """The primary key's index; of partitioned accounts that of a partition, with its keys."""
    index, table = connection.execute(
        "SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text"
        " FROM pg_index i, pgbench_accounts a"
        " WHERE a.aid = %s AND i.indrelid = a.tableoid AND i.indisprimary",
        (keys[0],),
    ).fetchone()
    (held,) = connection.execute(
        "SELECT array_agg(key) FROM unnest(%s::int[]) key"
        f" WHERE EXISTS (SELECT FROM {table} WHERE aid = key)",
        (keys,),
    ).fetchone()
    return {"index": index, "keys": held}
