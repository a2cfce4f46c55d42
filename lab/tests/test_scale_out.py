"""`penumbra bench scale-out`: where shards go, and all of it on an emulated Citus."""

import json
import random
from collections import Counter
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from penumbra_lab.bench import scale_out
from penumbra_lab.citus import (
    Cluster,
    Move,
    Node,
    check_is_usable,
    check_version,
    plan_moves,
    statements,
)
from penumbra_lab.cli import commands
from penumbra_lab.commands.bench import fail_on_differences
from penumbra_lab.errors import LabError
from penumbra_lab.run.document import RunDocument, read_run
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console
from penumbra_lab.state import results_directory, state_directory
from penumbra_lab.workload import Query, read_workload

NODES = [Node(f"node{number}", 5432) for number in range(2, 7)]


def _after(placements: dict[int, Node], moves: list[Move]) -> dict[int, Node]:
    placements = dict(placements)
    for move in moves:
        assert placements[move.shard] == move.source != move.target
        placements[move.shard] = move.target
    return placements


@pytest.mark.parametrize("seed", range(50))
def test_moves_spread_the_shards(seed):
    chance = random.Random(seed)
    placements = {shard: chance.choice(NODES) for shard in range(chance.randint(1, 40))}
    nodes = chance.sample(NODES, chance.randint(1, len(NODES)))
    moves = plan_moves(placements, nodes)
    counts = Counter(_after(placements, moves).values())
    assert set(counts) <= set(nodes)
    assert max(counts[node] for node in nodes) - min(counts[node] for node in nodes) <= 1
    assert plan_moves(_after(placements, moves), nodes) == []


def test_only_what_has_to_moves():
    placements = {shard: NODES[shard % 4] for shard in range(32)}
    moves = plan_moves(placements, NODES[:3])
    assert sorted(move.shard for move in moves) == list(range(3, 32, 4))


def test_statements_one_by_one():
    workload = read_workload("tpch")
    assert len(statements(workload.schema_sql())) == len(workload.tables)
    indexes = statements(workload.index_sql())
    assert len(indexes) == workload.index_sql().count(";")
    assert all(text.startswith(("ALTER TABLE", "CREATE INDEX")) for text in indexes)


@pytest.mark.parametrize(("check", "success", "result", "said"), [
    (check_version, False, "connection\nfailed", "node2:5432 does not answer: connection failed"),
    (check_version, True, "", "node2:5432 has no extension penumbra"),
    (check_is_usable, False, "ERROR: no cache", "ERROR: no cache; it needs shared_preload"),
])  # fmt: skip
def test_a_node_that_lacks_something(check, success, result, said):
    check(NODES[0], True, "0.1")
    with pytest.raises(LabError, match=said):
        check(NODES[0], success, result)


def test_counts_of_workers():
    assert scale_out.check_counts((), 4, 32) == [4, 3, 2, 1]
    assert scale_out.check_counts((1, 4, 1), 4, 32) == [4, 1]
    for counts, shards, said in (((5,), 32, "--workers 5: the cluster has 4"),
                                 ((4,), 3, "--shards 3 are fewer than 4")):  # fmt: skip
        with pytest.raises(LabError, match=said):
            scale_out.check_counts(counts, 4, shards)


@pytest.fixture(scope="module")
def citus():
    settings = {"shared_preload_libraries": "penumbra", "penumbra.memory": "64MB", "fsync": "off",
                "penumbra.auto_load": "off"}  # fmt: skip
    server = PrivateServer(state_directory() / "test-scale-out", settings)
    try:
        with server:
            with server.connect() as connection:
                connection.execute("CREATE EXTENSION penumbra")
                connection.execute("CREATE DATABASE plain")
                connection.execute(Path(__file__).with_name("emulated_citus.sql").read_text())
            yield server
    finally:
        server.remove()


@pytest.fixture()
def connection(citus):
    with citus.connect() as connection:
        yield connection


def _bench(citus: PrivateServer, *arguments: str, database: str = "postgres"):
    dsn = f"{citus.conninfo(database)}"
    return CliRunner().invoke(commands, ["bench", "scale-out", "--dsn", dsn, *arguments])


def _is_removed(connection: psycopg.Connection) -> bool:
    query = "SELECT count(*) FROM pg_namespace WHERE nspname = 'penumbra_scale_out'"
    return connection.execute(query).fetchone() == (0,)


@pytest.mark.slow
def test_all_of_it(citus, connection):
    result = _bench(citus, "--scale", "0.01", "--runs", "1", "--shards", "6",
                    "--workers", "1", "--workers", "3")  # fmt: skip
    assert result.exit_code == 0, result.output + str(result.exception)
    assert _is_removed(connection)
    asked = [what for (what,) in connection.execute("SELECT what FROM asked ORDER BY id")]
    everywhere = ("customer", "nation", "part", "partsupp", "region", "supplier")
    assert asked[0] == "lineitem by l_orderkey beside none"
    assert sorted(asked[1:8]) == [
        'orders by o_orderkey beside "penumbra_scale_out"."lineitem"',
        *(f"reference {table}" for table in everywhere),
    ]
    # from three workers, with two shards each, to the first one
    assert Counter(asked[8:]) == {"move from node3 to node2, block_writes": 2,
                                  "move from node4 to node2, block_writes": 2}  # fmt: skip
    (path,) = results_directory().glob("scale-out-*.json")
    document = read_run(path)
    path.unlink()
    assert document["status"] == "complete" and document["environment"]["machine"] is None
    assert document["sections"]["nodes"] == ["node2:5432", "node3:5432", "node4:5432"]
    queries = document["sections"]["queries"]
    assert len(queries) == 22 and not any(query["differences"] for query in queries.values())
    for series in document["series"]:
        assert {point["x"]: len(point["samples"]) for point in series["points"]} == {1: 1, 3: 1}
    assert {(series["workload"], series["variant"]) for series in document["series"]} == {
        (name, mode) for name in queries for mode in ("stock", "penumbra")}  # fmt: skip
    cached = {(entry["workers"], entry["table"]): entry for entry in document["sections"]["cached"]}
    assert all(entry["coverage_percent"] == 100 for entry in cached.values())
    assert cached[1, "lineitem"]["cached_bytes"] > cached[1, "nation"]["cached_bytes"] > 0


def test_modes_are_the_tasks_own(connection):
    for mode in ("off", "auto"):
        with scale_out.in_mode(connection, mode):
            assert connection.execute("SHOW penumbra.mode").fetchone() == (mode,)
            assert connection.execute("SHOW citus.propagate_set_commands").fetchone() == ("local",)
    assert connection.execute("SHOW penumbra.mode").fetchone() == ("auto",)


def _measured(connection, *texts: str) -> dict:
    """With two workers, then, when one thing more was asked for, with one."""
    run = scale_out.scale_out_document(Cluster(connection), 1, 4, 1)
    first_answers = {}
    for workers in (2, 1):
        for number, text in enumerate(texts):
            query = Query(f"q{number}", "", text, "")
            scale_out.measure_query(run, connection, query, workers, first_answers)
        connection.execute("INSERT INTO asked (what) VALUES ('more')")
    return run.content


def test_an_answer_that_differs_is_said(connection):
    by_mode = "SELECT current_setting('penumbra.mode')"
    by_workers = "SELECT count(*) FILTER (WHERE what = 'more') FROM asked"
    document = _measured(connection, by_mode, "SELECT 1", by_workers)
    assert [query["differences"] for query in document["sections"]["queries"].values()] == [
        "Penumbra, 2 workers: row 0: (off) against (auto)", "",
        "PostgreSQL, 1 workers: row 0: (0) against (1)"]  # fmt: skip
    assert [cells[-1] for cells in _cells(document)] == ["NO", "yes (not used)", "NO", ""]
    with pytest.raises(LabError, match="answers differ:\nq0: Penumbra, 2 workers"):
        fail_on_differences(document)


def test_what_citus_refuses_is_left_out(connection):
    # 0A000 as well
    document = _measured(connection, "SELECT count(*) FROM asked FOR UPDATE", "SELECT 1")
    assert list(document["sections"]["queries"]) == ["q1"]
    assert "FOR UPDATE" in document["sections"]["refused_by_citus"]["q0"]
    assert {series["workload"] for series in document["series"]} == {"q1"}
    assert _cells(document)[0] == ["q0", *[""] * 6, "refused"]
    with pytest.raises(psycopg.errors.UndefinedTable):
        _measured(connection, "SELECT * FROM nowhere")


def _cells(document: dict) -> list[list[str]]:
    with console.capture() as capture:
        console.print(scale_out.scale_out_table(document), width=200)
    lines = [line for line in capture.get().splitlines() if "│" in line]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_the_table():
    run = RunDocument("scale-out", "TPC-H", {}, {}, scale_out.STOCK_AND_PENUMBRA)
    times = {"q1": {1: (8000, 400), 2: (4000, 100)}, "q2": {1: (1000, 500), 2: (900, 900)},
             "q3": {1: (5, 5)}}  # fmt: skip
    queries = {name: {"refusal": "", "differences": ""} for name in times}
    for name, by_count in times.items():
        for count, both in by_count.items():
            for mode, value in zip(("stock", "penumbra"), both, strict=True):
                run.add_sample(name, mode, scale_out.MILLISECONDS, value, block=0, order=0,
                               started_at="", axis=scale_out.WORKERS, x=count)  # fmt: skip
    queries["q2"]["refusal"] = "not cached"
    run.content["sections"] = {"queries": queries, "refused_by_citus": {"q4": "complex joins"}}
    assert _cells(json.loads(json.dumps(run.content))) == [
        ["q1", "8,000", "400", "4,000", "100", "40.0 x", "4.00 x", "yes"],
        ["q2", "1,000", "500", "900", "900", "1.00 x", "0.56 x", "yes (not used)"],
        ["q3", "", "", "", "", "", "", "not finished"],
        ["q4", "", "", "", "", "", "", "refused"],
        ["geometric mean", "", "6.32 x", "", "6.32 x", "6.32 x", "1.49 x", ""],
    ]


def test_what_the_cluster_lacks(citus, connection):
    for statement, said in (
        ("UPDATE pg_dist_node SET isactive = false WHERE nodeid = 3", "node3:5432 is not active"),
        ("UPDATE pg_dist_node SET shouldhaveshards = false", "no node of pg_dist_node may have"),
        ("SET LOCAL emulation.down = 4", "node node4:5432 does not answer"),
        ("DROP EXTENSION penumbra", "has no extension penumbra"),
        ("CREATE ROLE other; SET LOCAL ROLE other", 'role "other" may not create a schema'),
        ("CREATE SCHEMA penumbra_scale_out", 'schema "penumbra_scale_out" exists'),
    ):
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            with pytest.raises(LabError, match=said):
                scale_out.OwnSchema(Cluster(connection), "penumbra_scale_out")
    assert "has no Citus" in str(_bench(citus, database="plain").exception)


@pytest.mark.parametrize("where", ["load_tables", "measure_counts"])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, LabError("the server went away")])
def test_nothing_is_left(citus, connection, monkeypatch, where, raised):
    def fail(first, *_arguments):
        assert not _is_removed(connection)
        raise raised

    monkeypatch.setattr(scale_out, "load_tables", lambda *_: None)
    monkeypatch.setattr(scale_out, where, fail)
    result = _bench(citus, "--scale", "0.001")
    assert result.exit_code != 0
    assert _is_removed(connection)


def test_what_is_left_is_said(citus, connection, monkeypatch):
    """Beside what ended the run, and what it has measured."""
    monkeypatch.setattr(scale_out, "load_tables", lambda *_: None)
    monkeypatch.setattr(scale_out, "measure_counts", lambda *_: None)
    statement = "DROP SCHEMA IF EXISTS \"penumbra_scale_out\" CASCADE failed"
    with citus.connect() as other, other.transaction():
        make = scale_out.OwnSchema.__init__

        def make_and_hold(self, *arguments) -> None:
            make(self, *arguments)
            other.execute("LOCK pg_namespace IN SHARE MODE")

        monkeypatch.setattr(scale_out.OwnSchema, "__init__", make_and_hold)
        monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=500ms")
        result = _bench(citus)
    assert result.exit_code != 0 and statement in str(result.exception)
    connection.execute("DROP SCHEMA penumbra_scale_out CASCADE")
