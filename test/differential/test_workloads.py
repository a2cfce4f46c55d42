"""Every query of every workload, in the engine, at a small size, against PostgreSQL's own executor."""

import pytest
from harness import assert_verified
from penumbra_lab.advise.advice import Adviser
from penumbra_lab.advise.server import Server
from penumbra_lab.answers import difference
from penumbra_lab.dataset import load_cache, load_postgresql, make_files, progress_bars
from penumbra_lab.system import PostgresSystem
from penumbra_lab.workload import Query, Workload, read_workload, workload_names
from promises import NOTHING, WHOLE, planned, promised
from rich.console import Console

# Of the queries that are promised as a whole; the others in part.
WHOLE_SHARE_MIN = 0.85
# Of elements of arrays, and of functions that are cached as columns, less is promised than runs.
PROMISED_LESS = {"json": 0.6, "text": 0.8, "groupby": 0.8}
# PostgreSQL adds up what it takes out of arrays of percentiles.
RUN_IN_PART = {("groupby", "13_quartiles")}


@pytest.fixture(scope="module", params=workload_names())
def loaded(request, server):
    workload = read_workload(request.param)
    with progress_bars(Console(quiet=True)) as progress:
        with server.connect() as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra")
        files = make_files(workload, workload.size_test, progress)
        load_postgresql(server, workload, files, progress)
        load_cache(server, workload, progress)
    yield workload
    with server.connect() as connection:
        connection.execute(f"DROP TABLE {', '.join(workload.tables)}")


def mode_of(workload: Workload, query: Query) -> str:
    return "prefer" if (workload.name, query.name) in RUN_IN_PART else "require"


def test_workload_in_the_engine(server, loaded, subtests):
    with server.connect() as off, server.connect() as on:
        stock = PostgresSystem("off", off, {"penumbra.mode": "off"})
        for query in loaded.queries:
            mode = mode_of(loaded, query)
            engine = PostgresSystem(mode, on, {"penumbra.mode": mode})
            with subtests.test(query.name):
                expected = stock.run(query.sql)
                assert (
                    difference(expected.rows, engine.run(query.sql).rows, query.is_ordered) is None
                )


def test_what_is_promised_runs(server, loaded):
    """All of these queries run in the engine, so `penumbra advise` shall say so."""
    with server.connect() as connection, Server(server.conninfo()) as asked:
        adviser = Adviser(asked)
        promises = {query.name: promised(adviser, query.sql) for query in loaded.queries}
        plans = {}
        for query in loaded.queries:
            connection.execute(f"SET penumbra.mode = {mode_of(loaded, query)}")
            plans[query.name] = planned(connection, query.sql)
    assert NOTHING not in plans.values()
    assert loaded.name in PROMISED_LESS or NOTHING not in promises.values()
    assert None not in promises.values()
    assert [name for name in plans if promises[name] == WHOLE and plans[name] != WHOLE] == []
    share = PROMISED_LESS.get(loaded.name, WHOLE_SHARE_MIN)
    assert sum(promise == WHOLE for promise in promises.values()) >= share * len(promises)


def test_cached_tables_equal_the_heap(server, loaded):
    with server.connect() as connection:
        for table in loaded.tables:
            assert_verified(connection, table)
