"""Every workload's queries: valid, deterministic, and the same in PostgreSQL and DuckDB."""

import pytest
from rich.console import Console

from penumbra_lab.answers import difference, value_difference
from penumbra_lab.dataset import load_duckdb, load_postgresql, make_files, progress_bars
from penumbra_lab.errors import LabError
from penumbra_lab.system import DuckSystem, PostgresSystem
from penumbra_lab.workload import read_workload, workload_names


@pytest.fixture(scope="session", params=workload_names())
def loaded(request, stock_server):
    workload = read_workload(request.param)
    size = workload.size_test
    with progress_bars(Console(quiet=True)) as progress:
        files = make_files(workload, size, progress)
        load_postgresql(stock_server, workload, files, progress)
        duck = load_duckdb(workload, size, files, 2, progress)
    with stock_server.connect() as connection:
        yield workload, PostgresSystem("stock", connection, {}), DuckSystem(duck)
        connection.execute(f"DROP TABLE {', '.join(workload.tables)}")
    duck.close()


@pytest.mark.slow
def test_queries_agree_with_duckdb(loaded, subtests):
    workload, stock, duck = loaded
    for query in workload.queries:
        with subtests.test(query.name):
            stock.set("max_parallel_workers_per_gather", "0")
            answer = stock.run(query.sql)
            is_empty = query.name in workload.may_be_empty
            assert answer.rows or is_empty, "a query without rows tests nothing"
            if not query.duckdb_sql:
                continue
            other = duck.run(query.duckdb_sql)
            assert value_difference(answer.rows, other.rows, query.is_ordered) is None


@pytest.mark.slow
def test_answers_do_not_depend_on_the_plan(loaded, subtests):
    workload, stock, _ = loaded
    for query in workload.queries:
        with subtests.test(query.name):
            stock.set("enable_hashagg", "on")
            hashed = stock.run(query.sql)
            stock.set("enable_hashagg", "off")
            sorted_ = stock.run(query.sql)
            assert difference(hashed.rows, sorted_.rows, query.is_ordered) is None


def test_the_wide_workload_is_wide():
    workload = read_workload("wide")
    assert len(workload.queries) >= 40
    assert sum("create table" not in line.lower() and line.startswith("    ")
               for line in workload.schema_sql().splitlines()) == 100  # fmt: skip


def test_an_unknown_workload_is_named():
    with pytest.raises(LabError, match="no workload 'none'"):
        read_workload("none")


def test_outermost_order_by_only():
    orders = {query.name: query.is_ordered for query in read_workload("wide").queries}
    assert orders["w11_group_user"]
    assert not orders["w01_count"]
    assert not orders["w13_group_event_id"]
