"""What the benchmarks of workloads print and write."""

import re
import statistics

import pytest
from click.testing import CliRunner

from penumbra_lab import (
    bench_keytree_clients,
    bench_keytree_working_set,
    bench_numeric,
    bench_sort,
)
from penumbra_lab.bench_sort import Case
from penumbra_lab.cli import commands
from penumbra_lab.run.document import median_ratio, medians, read_run
from penumbra_lab.show import console, query_table
from penumbra_lab.state import results_directory


def _series(workload: str, variant: str, values: list[float]) -> dict:
    samples = [{"value": value, "block": block} for block, value in enumerate(values)]
    return {"workload": workload, "variant": variant, "metric": "time",
            "points": [{"x": None, "samples": samples}]}  # fmt: skip


def _document() -> dict:
    queries = {
        "q1": {"refusal": "", "differences": ""},
        "q2": {"refusal": "a reason", "differences": "row 0: a against b"},
        "q3": {"refusal": "a reason", "differences": ""},
    }
    times = {"q1": (2000.0, 100.0, 200.0), "q2": (500.0, 400.0, 20.0), "q3": (10.0, 10.0, 10.0)}
    systems = ("stock", "penumbra", "DuckDB")
    series = [_series(name, system, [ms, ms * 3, ms]) for name, row in times.items()
              for system, ms in zip(systems, row, strict=True)]  # fmt: skip
    return {"title": "tpch, scale 1", "series": series, "sections": {"queries": queries}}


def test_table_names_wrong_and_refused_answers():
    with console.capture() as capture:
        console.print(query_table(_document()), width=140)
    lines = [line for line in capture.get().splitlines() if "│" in line]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert cells[0] == ["q1", "2,000", "100", "200", "20.0 x", "2.00 x", "yes"]
    assert cells[1][-1] == "NO" and cells[2][-1] == "yes (not used)"
    mean = statistics.geometric_mean([20.0, 1.25, 1.0])
    assert cells[3][4] == f"{mean:.2f} x" and cells[3][-1] == "2 of 3"


def test_ratios_are_of_the_same_block():
    document = {"series": [_series("w", "a", [1, 2, 30]), _series("w", "b", [2, 1, 10])]}
    assert median_ratio(document, "w", "a", "b") == 2
    assert medians(document)["w", "time", None] == {"a": 2, "b": 2}


def _run(*arguments: str) -> dict:
    """The document that a command wrote."""
    result = CliRunner().invoke(commands, ["bench", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    newest = max(results_directory().glob("*.json"), key=lambda path: path.stat().st_mtime)
    try:
        return read_run(newest)
    finally:
        newest.unlink()


def test_a_workload_writes_plans_sizes_and_every_time():
    document = _run("tpch", "--scale", "0.01", "--runs", "2", "--no-keep")
    queries = document["sections"]["queries"]
    assert document["kind"] == "tpch" and document["status"] == "complete"
    assert set(medians(document)) == {(name, "time", None) for name in queries}
    assert all(set(row) == {"stock", "penumbra", "DuckDB"} for row in medians(document).values())
    assert all("SELECT" in query["sql"].upper() and query["plan"] for query in queries.values())
    assert {entry["table"] for entry in document["sections"]["tables"]} >= {"lineitem", "orders"}
    assert document["environment"]["client"]["duckdb"]


def test_loading_writes_seconds_and_bytes():
    document = _run("load", "--size", "0.01", "--runs", "2", "--no-keep")
    assert {metric for _, metric, _ in medians(document)} == {"time", "CPU time"}
    assert all(entry["cached_bytes"] > 0 for entry in document["sections"]["tables"])


def test_numeric_writes_pairs_and_targets(monkeypatch):
    chosen = bench_numeric.cases()[:1]
    monkeypatch.setattr(bench_numeric, "cases", lambda: chosen)
    document = _run("numeric", "--rows", "1000", "--runs", "3")
    (row,) = medians(document).values()
    assert set(row) == set(bench_numeric.SCHEMAS)
    (target,) = document["sections"]["targets"]
    assert target["ratio"] > 0 and target["at most"] == 0.6


def test_compression_writes_sizes_and_turns():
    document = _run("compress", "--scale", "0.001", "--rounds", "2",
                    "--case", "jsonb", "--case", "large")  # fmt: skip
    found = medians(document)
    jsonb, large = document["sections"]["cases"]
    assert set(found["jsonb copy in", "time", None]) == set(jsonb["columns"])
    expected = {f"{case['name']} {action}" for case in (jsonb, large)
                for action in ["size", *case["actions"]]}  # fmt: skip
    assert {workload for workload, _, _ in found} == expected
    sizes = found["large size", "size", None]
    assert sizes["zstd-3"] < sizes["pglz"] < large["raw_bytes"]


def test_sorting_writes_a_pair_for_each_rival(monkeypatch):
    chosen = [Case("integer", "random", 100, 1, bench_sort.INTARRAY),
              Case('text COLLATE "C"', "equal", 5, 10, bench_sort.ORDER_BY)]  # fmt: skip
    monkeypatch.setattr(bench_sort, "cases", lambda elements, major: chosen)
    document = _run("sort", "--elements", "100", "--rounds", "2")
    assert [re.sub(".* beside ", "", name) for name, _, _ in medians(document)] == [
        "intarray's sort", "ORDER BY"
    ]  # fmt: skip
    assert all(set(row) == {"stock", "penumbra"} for row in medians(document).values())


def test_keytree_clients_writes_throughput_of_both(monkeypatch):
    loads = [bench_keytree_clients.LOADS[1], bench_keytree_clients.LOADS[-1]]
    monkeypatch.setattr(bench_keytree_clients, "LOADS", loads)
    monkeypatch.setattr(bench_keytree_clients, "PGBENCH_SCALE", 1)
    document = _run("keytree-clients", "--rows", "1000", "--rounds", "1", "--seconds", "1")
    assert [name for name, _, _ in medians(document)] == [load.workload for load in loads]
    assert all(set(row) == {"btree", "keytree"} for row in medians(document).values())


def test_keytree_working_set_writes_a_curve_of_both(monkeypatch):
    monkeypatch.setattr(bench_keytree_working_set, "SIZES_MB", (1, 2))
    document = _run("keytree-working-set", "--rounds", "1")
    assert [size for _, _, size in medians(document)] == [1, 2]
    assert all(set(row) == {"btree", "keytree"} for row in medians(document).values())


@pytest.mark.parametrize("command", [[], ["demo"], ["bench"], ["bench", "wide"],
                                     ["bench", "pgbench"], ["bench", "keytree-clients"],
                                     ["compress", "advise"], ["report"], ["compare"],
                                     ["environment"]])  # fmt: skip
def test_help(command):
    result = CliRunner().invoke(commands, [*command, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output


def test_bad_input():
    result = CliRunner().invoke(commands, ["demo", "--scale", "-3"])
    assert result.exit_code == 2 and "--scale" in result.output
