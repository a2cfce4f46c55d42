"""`penumbra bench keytree-clients`: concurrent clients on keytree and btree indexes, in turns."""

from dataclasses import dataclass, field

from penumbra_lab.bench.keytree import METHODS, SETTINGS, VARIANTS
from penumbra_lab.dataset import step_bars
from penumbra_lab.run.document import RunDocument, median_ratio, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import WORKLOADS, find_pgbench, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, alternating, measurement, record
from penumbra_lab.run.sweep import THROUGHPUT
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, plain_table
from penumbra_lab.state import state_directory

CLIENTS = 4
PGBENCH_SCALE = 10
# Of the inserts; random, so that they meet every leaf.
READ = "\\set id random(1, {rows}) * 7919\nSELECT id FROM filled WHERE id = :id;\n"
WRITE = "\\set id random(1, 9000000000000000000)\nINSERT INTO filled VALUES (:id);\n"


@dataclass(frozen=True)
class Load:
    """What pgbench does in a method's database; is_filled: in a table that is filled before."""

    workload: str
    is_filled: bool = True
    weights: dict[str, int] = field(default_factory=dict)
    options: tuple[str, ...] = ()


LOADS = [
    Load("reads", weights={"read": 1}),
    Load("90 % reads", weights={"read": 9, "write": 1}),
    Load("50 % reads", weights={"read": 1, "write": 1}),
    Load("writes", weights={"write": 1}),
    Load("pgbench -S -M prepared", is_filled=False, options=("-M", "prepared")),
    Load("pgbench -S", is_filled=False, options=("-M", "simple")),
]


def _create_databases(server: PrivateServer) -> None:
    """One for each method. In keytree's the index of the accounts' primary key is swapped for one
    of its kind, which is not unique before PostgreSQL 18."""
    unique = "UNIQUE" if server.installation.major >= 18 else ""
    with server.connect() as connection:
        for method in METHODS:
            connection.execute(f"CREATE DATABASE {method}")
    for method in METHODS:
        server.run_client("pgbench", "-i", "-q", "-s", str(PGBENCH_SCALE), method)
        with server.connect(method) as connection:
            connection.execute("CREATE EXTENSION penumbra_keytree")
            if method == "keytree":
                connection.execute(f"""
                    ALTER TABLE pgbench_accounts DROP CONSTRAINT pgbench_accounts_pkey;
                    CREATE {unique} INDEX ON pgbench_accounts USING keytree (aid)""")
            connection.execute("VACUUM ANALYZE")


def _fill(server: PrivateServer, method: str, rows: int) -> None:
    with server.connect(method) as connection:
        connection.execute(f"""
            DROP TABLE IF EXISTS filled;
            CREATE TABLE filled AS SELECT i::int8 * 7919 AS id FROM generate_series(1, {rows}) i;
            CREATE INDEX ON filled USING {method} (id)""")
        connection.execute("VACUUM ANALYZE filled")
        connection.execute("CHECKPOINT")


def _pgbench_options(server: PrivateServer, load: Load, rows: int) -> list[str]:
    if not load.is_filled:
        return [*load.options, *WORKLOADS["select-only"].options_at(PGBENCH_SCALE)]
    texts = {"read": READ.format(rows=rows), "write": WRITE}
    options = ["-M", "prepared"]
    for name, weight in load.weights.items():
        script = server.directory / f"{name}.sql"
        script.write_text(texts[name])
        options += ["-f", f"{script}@{weight}"]
    return options


def _measure(server: PrivateServer, run: RunDocument, rows: int, rounds: int, seconds: int) -> None:
    program = find_pgbench(server.installation.bin_directory)
    with step_bars(console) as progress:
        task = progress.add_task("clients", total=len(LOADS))
        for load in LOADS:
            progress.update(task, description=load.workload)
            options = [*_pgbench_options(server, load, rows), "-n", "-c", str(CLIENTS)]
            options += ["-j", "2", "-T", str(seconds)]
            with measurement(run, None) as samples:
                for block in range(rounds):
                    for method in METHODS if block % 2 == 0 else reversed(METHODS):
                        if load.is_filled:
                            _fill(server, method, rows)
                        environment = server.environment() | {"PGDATABASE": method}
                        tps = throughput(run_pgbench(program, options, environment))
                        samples.add(load.workload, method, THROUGHPUT, tps, block)
            progress.advance(task)


def bench_keytree_clients(rows: int, rounds: int, seconds: int) -> Outcome:
    settings = SETTINGS | {"synchronous_commit": "off"}  # the disk is not what is compared
    server = PrivateServer(state_directory() / "server-keytree", settings)
    server.remove()
    try:
        with server:
            _create_databases(server)
            title = f"keytree beside btree, {CLIENTS} clients"
            design = alternating(rounds, rows=rows, seconds=seconds)
            run = RunDocument("keytree", title, describe_private(server), design, VARIANTS)
            return record(run, lambda: _measure(server, run, rows, rounds, seconds))
    finally:
        server.remove()


def keytree_clients_table(document: dict):
    rows = []
    for (workload, _, _), row in medians(document).items():
        shown = [f"{row[method]:,.0f}" for method in METHODS]
        ratio = median_ratio(document, workload, "keytree", "btree")
        rows.append([workload, *shown, f"{ratio:.2f}"])
    return plain_table(document["title"], ["transactions/s", "btree", "keytree", "ratio"], rows)
