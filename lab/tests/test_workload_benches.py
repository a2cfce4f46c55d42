"""What the benchmarks of workloads print and write."""

import json
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from penumbra_lab.advise import fit
from penumbra_lab.advise.model import PENUMBRA, POSTGRESQL, Costs
from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.bench import (
    htap,
    keytree_clients,
    keytree_working_set,
    lookups,
    numeric,
    sessions,
    sort,
    working_set,
    written,
)
from penumbra_lab.bench.query_table import query_table
from penumbra_lab.bench.sort import Case
from penumbra_lab.cli import commands
from penumbra_lab.commands import demo
from penumbra_lab.reporting.charts import not_dominated
from penumbra_lab.reporting.report import write_report
from penumbra_lab.run.document import median_ratio, medians, read_run
from penumbra_lab.run.recording import Outcome
from penumbra_lab.show import console
from penumbra_lab.state import results_directory
from penumbra_lab.workload import read_workload


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


def test_the_table_tells_refused_queries_and_missed_targets():
    document = _document()
    document["series"].append(_series("q1", "required", [100.0, 300.0, 100.0]))
    document["sections"]["target"] = {"mean": 0.5, "each": 1.0}
    with console.capture() as capture:
        console.print(query_table(document), width=160)
    text = " ".join(capture.get().split())
    assert [line.count("refused") for line in capture.get().splitlines()].count(1) == 2
    # The shares are 0.5, 20 and 1.
    assert "2.15 in the geometric mean (target 0.5: missed)" in text
    assert "at most 20.00, q2 (target 1: missed)" in text


def test_the_22_queries_of_the_standard_have_a_mean_of_their_own():
    names = [query.name for query in read_workload("tpch").queries]
    standard = [name for name in names if name.startswith("q")]
    assert [name[:3] for name in standard] == [f"q{number:02}" for number in range(1, 23)]
    queries = {name: {"refusal": "", "differences": ""} for name in names}
    series = [
        _series(name, system, [ms])
        for name in names
        for system, ms in (("stock", 40.0 if name in standard else 10.0), ("penumbra", 10.0))
    ]
    document = {"title": "tpch", "series": series, "sections": {"queries": queries}}
    with console.capture() as capture:
        console.print(query_table(document), width=140)
    lines = [line for line in capture.get().splitlines() if "│" in line]
    shown = [line.split("│")[1].strip() for line in lines]
    assert [name for name in shown if not name.startswith("geometric mean")] == names
    means = {name: line.split("│")[4].strip() for name, line in zip(shown, lines, strict=True)
             if name.startswith("geometric mean")}  # fmt: skip
    assert means["geometric mean, q"] == "4.00 x" and means["geometric mean, s"] == "1.00 x"


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


@pytest.mark.slow
def test_a_workload_writes_plans_sizes_and_every_time():
    document = _run("tpch", "--scale", "0.01", "--runs", "2", "--no-keep")
    queries = document["sections"]["queries"]
    assert document["kind"] == "tpch" and document["status"] == "complete"
    assert set(medians(document)) == {(name, "time", None) for name in queries}
    assert all(set(row) == {"stock", "penumbra", "DuckDB"} for row in medians(document).values())
    assert all("SELECT" in query["sql"].upper() and query["plan"] for query in queries.values())
    assert {entry["table"] for entry in document["sections"]["tables"]} >= {"lineitem", "orders"}
    assert document["environment"]["client"]["duckdb"]


def test_the_star_schema_is_measured_in_both_modes():
    document = _run("ssb", "--scale", "0.001", "--runs", "1", "--no-keep")
    queries = document["sections"]["queries"]
    assert len(queries) == 13 and not any(query["differences"] for query in queries.values())
    for (name, _, _), row in medians(document).items():
        assert {"stock", "penumbra", "DuckDB"} <= set(row)
        assert ("required" in row) != bool(queries[name]["require_refusal"])
    assert document["sections"]["target"] == {"mean": 0.5, "each": 1.0}


def test_predictions_are_written_beside_times_and_give_costs(tmp_path):
    document = _run("advise", "--workload", "ssb", "--size", "0.01", "--runs", "1", "--no-keep")
    advice = document["sections"]["advice"]
    assert set(advice) == set(document["sections"]["queries"]) and len(advice) == 13
    assert all(one["is_whole"] and one["speedup"] >= 1 for one in advice.values())
    assert document["sections"]["sizes"]["lineorder"]["predicted_bytes"] > 0
    path = tmp_path / "advise.json"
    path.write_text(json.dumps(document))
    samples = fit.read_samples(path)
    # Times as another machine would have them, on which Penumbra is twice as fast.
    machine = Costs(
        {name: 3 * cost for name, cost in fit.EXPECTED_NS["postgresql"].items()},
        {name: 1.5 * cost for name, cost in fit.EXPECTED_NS["penumbra"].items()},
    )
    made = [
        replace(sample, postgresql_ms=sample.quantities.postgresql_ms(machine),
                penumbra_ms=sample.quantities.penumbra_ms(machine))
        for sample in samples
    ]  # fmt: skip
    costs = fit.fit(made)
    assert set(costs.postgresql) == set(POSTGRESQL) and set(costs.penumbra) == set(PENUMBRA)
    for predicted, sample in zip(fit.predict(made, costs), made, strict=True):
        assert predicted == pytest.approx(max(sample.speedup, 1.0), rel=0.2)


@pytest.mark.slow
def test_sessions_are_measured_alone_and_beside_pgbench():
    document = _run("sessions", "--scale", "0.01", "--sessions", "1", "--sessions", "6",
                    "--seconds", "1", "--no-keep", "--set", "penumbra.max_threads=4")  # fmt: skip
    found = medians(document)
    for workload in ("1 sessions", "6 sessions", "6 sessions beside pgbench"):
        rates = found[workload, "queries", None]
        assert set(rates) >= {"stock", "penumbra"} and min(rates.values()) > 0
        assert found[workload, "short query, p99", None]["penumbra"] > 0
    assert "DuckDB" in found["6 sessions", "queries", None]
    assert found["6 sessions beside pgbench", "transactions", None]["penumbra"] > 0
    assert found["6 sessions", "runnable engine threads, most", None]["penumbra"] <= 4
    assert not any(entry["errors"] for entry in document["sections"]["measurements"])


def test_a_query_counts_by_its_part_before_the_end():
    assert [sessions.Asked(2, 4).share_before(moment) for moment in (1, 3, 5)] == [0, 0.5, 1]
    assert sessions.percentile([3, 1, 2], 50) == 2 and sessions.percentile([3, 1, 2], 99) == 3


@pytest.mark.slow
def test_written_tables_are_measured_at_every_step(monkeypatch):
    tiny = written.Form(scale=0.01, runs=1, stream_seconds=1, pause_seconds=0)
    monkeypatch.setattr("penumbra_lab.commands.bench.SHORT", tiny)
    document = _run("written", "--short", "--no-keep")
    steps, found = document["sections"]["steps"], medians(document)
    lines = [entry for entry in steps if entry["query"].startswith("q0")]
    assert len(lines) == 2 * (1 + 2 * 4 + 2 * 2) and len(steps) == len(lines) + 2 * (1 + 2 * 2)
    assert all(entry["refusal"] == "" for entry in lines)
    for entry in steps:
        assert all(set(row) == {"stock", "penumbra"} for (workload, _, _), row in found.items()
                   if workload in (entry["workload"], entry["base"]))  # fmt: skip
    reads = [entry["pages row by row"] + entry["pages of the heap"] for entry in lines[:10:2]]
    assert reads[0] == 0 < reads[1] and reads == sorted(reads)
    assert len(document["sections"]["refreshes"]) == 4
    streams = document["sections"]["streams"]
    assert len(streams) == 4 and all(entry["transactions/s"] > 0 for entry in streams)


def test_what_is_left_of_the_speed_is_of_the_untouched_table():
    times = {"q, nothing written": (100.0, 10.0), "q, 1 % updated": (100.0, 40.0)}
    series = [_series(name, variant, [ms]) for name, row in times.items()
              for variant, ms in zip(("stock", "penumbra"), row, strict=True)]  # fmt: skip
    steps = [{"query": "q", "step": name[3:], "workload": name, "base": "q, nothing written",
              "refusal": ""} for name in times]  # fmt: skip
    document = {"title": "written", "series": series, "sections": {"steps": steps}}
    with console.capture() as capture:
        console.print(written.written_table(document), width=140)
    lines = [line for line in capture.get().splitlines() if "│" in line]
    cells = [[cell.strip() for cell in line.strip("│").split("│")][2:] for line in lines]
    assert cells == [["100", "10.0", "10.0 x", "100%", "yes"],
                     ["100", "40.0", "2.50 x", "25%", "yes"]]  # fmt: skip


@pytest.mark.slow
def test_htap_writes_both_rates_and_freshness(tmp_path, monkeypatch):
    whole = read_workload("ch")
    few = tuple(query for query in whole.queries if query.name[:3] in ("q01", "q06", "q12"))
    monkeypatch.setattr(htap, "read_workload", lambda name: replace(whole, queries=few))
    mixes = [htap.Mix(1, 0), htap.Mix(1, 1)]
    monkeypatch.setattr(htap, "grid", lambda writers, analysts: mixes)
    document = _run("htap", "--warehouses", "0.02", "--writers", "1", "--analysts", "1",
                    "--seconds", "1", "--rate", "20")  # fmt: skip
    found, frontier = medians(document), document["sections"]["frontier"]
    assert {workload for workload, _, _ in found} == {str(mix) for mix in mixes}
    assert all(set(row) == {"stock", "penumbra"} and min(row.values()) > 0
               for row in found.values())  # fmt: skip
    assert len(document["sections"]["queries"]) == 3 and len(frontier) == 4
    assert sum(point["asked"] for point in frontier) > 0 == sum(p["stale"] for p in frontier)
    write_report(compare_runs([make_run(document, "htap", "htap")]), tmp_path / "page.html")
    times = document["sections"]["query_times"]
    assert [entry["query"] for entry in times] == [query.name for query in few]
    assert any(entry["penumbra, median ms"] for entry in times)
    page = (tmp_path / "page.html").read_text()
    assert 'aria-label="frontier"' in page
    assert "Penumbra against PostgreSQL" in page
    assert "transactions, geometric mean of 2" in page


def test_the_mix_is_tpcs_and_the_grid_has_its_edges():
    assert sum(htap.MIX.values()) == 100 and htap.MIX["payment"] == 43
    assert [str(mix) for mix in htap.grid(1, 2)] == [
        "0 writers, 1 analyst", "0 writers, 2 analysts",
        "1 writer, 0 analysts", "1 writer, 1 analyst", "1 writer, 2 analysts",
    ]  # fmt: skip


def test_a_query_is_as_stale_as_the_first_transaction_that_it_missed(tmp_path):
    log = tmp_path / "log.1"
    # Client 0: numbered at 10.5 and 12, and one that only reads; client 1: at 11.
    log.write_text("0 0 5 0 10 500000\n0 1 5 2 11 0\n0 2 5 3 12 0\n1 0 5 1 11 0\n")
    committed = htap.read_commits([log])
    assert committed == {1: [10.5, 12.0], 2: [11.0]}
    assert htap.staleness(htap.Seen(15, {1: 2, 2: 1}), committed) == 0
    assert htap.staleness(htap.Seen(11.5, {1: 1, 2: 1}), committed) == 0
    assert htap.staleness(htap.Seen(15, {1: 1, 2: 0}), committed) == 4


def test_the_frontier_is_of_what_nothing_dominates():
    points = [(0.0, 5.0), (10.0, 4.0), (9.0, 3.0), (20.0, 0.0), (10.0, 0.0)]
    assert not_dominated(points) == {(0.0, 5.0), (10.0, 4.0), (20.0, 0.0)}


def test_loading_writes_seconds_and_bytes():
    document = _run("load", "--size", "0.01", "--runs", "2", "--no-keep")
    assert {metric for _, metric, _ in medians(document)} == {"time", "CPU time"}
    assert all(entry["cached_bytes"] > 0 for entry in document["sections"]["tables"])


def test_numeric_writes_pairs_and_targets(monkeypatch):
    chosen = numeric.cases()[:1]
    monkeypatch.setattr(numeric, "cases", lambda: chosen)
    document = _run("numeric", "--rows", "1000", "--runs", "3")
    (row,) = medians(document).values()
    assert set(row) == set(numeric.SCHEMAS)
    (target,) = document["sections"]["targets"]
    assert target["ratio"] > 0 and target["at most"] == 0.6


@pytest.mark.slow
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
    chosen = [Case("integer", "random", 100, 1, sort.INTARRAY),
              Case('text COLLATE "C"', "equal", 5, 10, sort.ORDER_BY)]  # fmt: skip
    monkeypatch.setattr(sort, "cases", lambda elements, major: chosen)
    document = _run("sort", "--elements", "100", "--rounds", "2")
    assert [re.sub(".* beside ", "", name) for name, _, _ in medians(document)] == [
        "intarray's sort", "ORDER BY"
    ]  # fmt: skip
    assert all(set(row) == {"stock", "penumbra"} for row in medians(document).values())


@pytest.mark.slow
def test_keytree_clients_writes_throughput_of_both(monkeypatch):
    loads = [keytree_clients.LOADS[1], keytree_clients.LOADS[-1]]
    monkeypatch.setattr(keytree_clients, "LOADS", loads)
    monkeypatch.setattr(keytree_clients, "PGBENCH_SCALE", 1)
    document = _run("keytree-clients", "--rows", "1000", "--rounds", "1", "--seconds", "1")
    assert [name for name, _, _ in medians(document)] == [load.workload for load in loads]
    assert all(set(row) == {"btree", "keytree"} for row in medians(document).values())


def test_keytree_working_set_writes_a_curve_of_both(monkeypatch):
    monkeypatch.setattr(keytree_working_set, "SIZES_MB", (1, 2))
    document = _run("keytree-working-set", "--rounds", "1")
    assert [size for _, _, size in medians(document)] == [1, 2]
    assert all(set(row) == {"btree", "keytree"} for row in medians(document).values())


@pytest.mark.slow
def test_lookups_measure_both_sides(monkeypatch):
    monkeypatch.setattr(lookups, "KEYS", 500)
    document = _run("lookups", "--scale", "1", "--executions", "400", "--rounds", "1",
                    "--seconds", "1")  # fmt: skip
    names = [case.workload for case in lookups.cases(1)]
    assert [name for name, _, _ in medians(document)][: len(names)] == names
    assert [case["workload"] for case in document["sections"]["cases"]][: len(names)] == names
    assert len(document["sections"]["cases"]) == len(names) + 2
    assert all(set(row) == {"stock", "lookup"} for row in medians(document).values())


def test_the_demos_report_shows_short_statements(monkeypatch, tmp_path):
    document = read_run(Path(__file__).parent / "example.json")
    document["sections"] = {"queries": {"q01": {"plan": "Seq Scan"}}}
    cases = [{"workload": "by key", "target": 0.4, "ratio": 0.25}]
    loops = {"sections": {"cases": cases}, "series": []}
    found = {("by key", "time", None): {"stock": 4000, "lookup": 1000}}
    monkeypatch.setattr(lookups, "medians", lambda document: found)
    monkeypatch.setattr(demo, "bench_lookups", lambda **size: Outcome(loops, None))
    monkeypatch.setattr(demo, "bench_workload", lambda *size, **options: Outcome(document, None))
    monkeypatch.setattr(demo, "conclude", lambda outcome, table: None)
    monkeypatch.setattr(demo, "fail_on_differences", lambda document: None)
    monkeypatch.setattr(demo, "report_path", lambda: tmp_path / "report.html")
    done = CliRunner().invoke(commands, ["demo"])
    assert done.exit_code == 0, done.output
    text = re.sub("<[^>]*>", " ", (tmp_path / "report.html").read_text())
    assert re.search(r"Short statements in a loop.*by key +4,000 ns +1,000 ns +0.25", text)


@pytest.mark.slow
def test_lookups_write_a_curve_of_working_sets(monkeypatch):
    monkeypatch.setattr(lookups, "SHARES", (1, 50))
    monkeypatch.setattr(lookups, "KEYS", 500)
    document = _run("lookups", "--working-set", "16", "--executions", "400", "--rounds", "1")
    assert [share for _, _, share in medians(document)] == [1, 50]
    assert all(set(row) == {"stock", "lookup"} for row in medians(document).values())


@pytest.mark.slow
def test_working_sets_of_less_and_of_more_than_memory(monkeypatch):
    tiny = working_set.Form(memory_mb=16, parts=(2, 12), rounds=1, look_up_seconds=1)
    monkeypatch.setattr(working_set, "SHORT", tiny)
    document = _run("working-set", "--short")
    found, sections = medians(document), document["sections"]
    assert {(workload, size) for workload, _, size in found} == {
        (workload, size) for workload in ("scan", "look-up by key") for size in (50, 300)
    } | {("disk", 300)}
    for (workload, _, size), row in found.items():
        expected = {"penumbra"} if workload == "disk" else {"stock", "penumbra", "DuckDB"}
        in_memory = workload == "scan" and size <= 100
        assert set(row) == expected | ({"memory"} if in_memory else set())
        assert min(row.values()) > 0
    assert sections["sizes"]["cached bytes"] > 2 * 16 << 20
    # Three times the memory: two of the three are read in each of three scans.
    assert sections["disk"]["bytes read"] > 3 * sections["sizes"]["cached bytes"] / 2
    assert sections["disk"]["read errors"] == sections["disk"]["damaged"] == 0
    assert sections["restart"]["hot scan, s"] > 0
    with console.capture() as capture:
        console.print(working_set.working_set_table(document), width=140)
    assert capture.get().count(" % ") == 5


def test_a_disk_allows_as_much_as_the_slower_of_both():
    series = []
    for workload, rates in (("scan", {100.0: 100.0, 300.0: 50.0}), ("disk", {300.0: 500.0})):
        entry = _series(workload, "penumbra", []) | {"metric": workload, "points": []}
        for size, rate in rates.items():
            entry["points"] += _series("", "", [rate])["points"]
            entry["points"][-1]["x"] = size
        series.append(entry)
    sections = {"sizes": {"rows of a part": 100, "cached bytes": 8000, "parts": 8}}
    document = {"series": series, "sections": sections}
    # 1,200 rows in 12 s hot, of which two thirds are 8,000 bytes: 16 s at 500 a second.
    assert working_set.allowed_rates(document) == {100.0: 100.0, 300.0: 75.0}


@pytest.mark.parametrize("command", [[], ["demo"], ["bench"], ["bench", "wide"],
                                     ["bench", "ssb"], ["bench", "written"], ["bench", "htap"],
                                     ["bench", "working-set"],
                                     ["bench", "pgbench"], ["bench", "keytree-clients"],
                                     ["compress", "advise"], ["advise"], ["report"], ["compare"],
                                     ["environment"]])  # fmt: skip
def test_help(command):
    result = CliRunner().invoke(commands, [*command, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output


def test_bad_input():
    result = CliRunner().invoke(commands, ["demo", "--scale", "-3"])
    assert result.exit_code == 2 and "--scale" in result.output
