"""Comparisons of documents: what is held against what, what is refused, what the command says."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from penumbra_lab.analysis.comparison import compare_runs
from penumbra_lab.analysis.document import load_runs, make_run
from penumbra_lab.analysis.environment import environment_differences, headline
from penumbra_lab.analysis.verdict import Outcome
from penumbra_lab.cli import commands
from penumbra_lab.commands.compare import EXIT_SLOWER, EXIT_UNCLEAR
from penumbra_lab.errors import LabError
from penumbra_lab.reporting.report import write_report
from penumbra_lab.reporting.wording import level_text, number, verdict_text
from penumbra_lab.run.document import validate_run

SEED = 5
EXAMPLE = Path(__file__).with_name("example.json")


def example() -> dict:
    return json.loads(EXAMPLE.read_text())


def document(throughput: dict[str, float], deviation: float = 0.005, starts: int = 4) -> dict:
    """A run of one curve and one series without, with these levels and this noise."""
    random = np.random.default_rng(SEED + sum(map(ord, "".join(throughput))))
    made = example()
    made["variants"] = [{"name": n, "label": f"label of {n}", "settings": {}} for n in throughput]
    made["series"] = []

    def samples(level: float) -> list[dict]:
        return [
            {"value": level * float(np.exp(random.normal(0, deviation))), "block": block,
             "order": block, "started_at": made["started_at"], "noise": [],
             "server_start": block // 3}
            for block in range(3 * starts)
        ]  # fmt: skip

    for name, level in throughput.items():
        points = [{"x": x, "samples": samples(level * x)} for x in (1, 2, 4, 8, 16, 32, 64)]
        common = {"variant": name, "workload": "select-only"}
        made["series"] += [
            {**common, "metric": "throughput", "unit": "transactions/s", "better": "higher",
             "x": {"name": "clients", "unit": "clients"}, "points": points},
            {**common, "metric": "latency", "unit": "ms", "better": "lower", "x": None,
             "points": [{"x": None, "samples": samples(1000 / level)}]},
        ]  # fmt: skip
    return validate_run(made, "made")


def run_of(throughput: dict[str, float], name: str = "a", **options):
    return make_run(document(throughput, **options), name, name)


def test_variants_of_a_run_are_held_against_its_first():
    comparison = compare_runs([run_of({"stock": 100, "same": 100, "fast": 105, "slow": 90})])
    outcomes = {(entry.other.variant, entry.series.metric): entry.verdict.outcome
                for entry in comparison.series}  # fmt: skip
    for metric in ("throughput", "latency"):
        assert outcomes["same", metric] is Outcome.SAME
        assert outcomes["fast", metric] is Outcome.BETTER
        assert outcomes["slow", metric] is Outcome.WORSE
    assert all(entry.is_paired for entry in comparison.series)
    curve = next(entry for entry in comparison.series if entry.other.variant == "fast")
    assert [point.x for point in curve.points] == [1, 2, 4, 8, 16, 32, 64]
    assert curve.points[0].superiority > 0.95


def test_another_baseline():
    comparison = compare_runs([run_of({"stock": 100, "fast": 110})], baseline="fast")
    assert {entry.verdict.outcome for entry in comparison.series} == {Outcome.WORSE}
    with pytest.raises(LabError, match="no variant 'x', but stock, fast"):
        compare_runs([run_of({"stock": 100, "fast": 110})], baseline="x")


def test_the_subject_of_a_run_is_held_against_each_other_variant():
    made = document({"stock": 100, "penumbra": 200, "duckdb": 150})
    made["design"]["subject"] = "penumbra"
    run = make_run(made, "a", "a")
    pairs = [(e.base.variant, e.other.variant) for e in compare_runs([run]).series]
    assert pairs == [("stock", "penumbra")] * 2 + [("duckdb", "penumbra")] * 2
    asked = {(e.base.variant, e.other.variant) for e in compare_runs([run], "duckdb").series}
    assert asked == {("duckdb", "stock"), ("duckdb", "penumbra")}


def test_runs_are_compared_by_variant_and_a_single_variant_by_itself():
    runs = [run_of({"x": 100, "y": 100}), run_of({"y": 130, "z": 1}, "b")]
    pairs = {(e.base.label, e.other.label) for e in compare_runs(runs).series}
    assert pairs == {("a, label of y", "b, label of y")}
    runs = [run_of({"arm": 100}), run_of({"x86": 130}, "b"), run_of({"x86": 70}, "c")]
    comparison = compare_runs(runs)
    assert [entry.other.label for entry in comparison.series] == ["b", "b", "c", "c"]
    outcomes = [entry.verdict.outcome for entry in comparison.series]
    assert outcomes == [Outcome.BETTER] * 2 + [Outcome.WORSE] * 2
    assert not any(entry.is_paired for entry in comparison.series)
    with pytest.raises(LabError, match="no variant in common"):
        compare_runs([run_of({"x": 1, "y": 1}), run_of({"z": 1, "w": 1}, "b")])


def test_no_two_sides_have_the_same_name(write):
    made = document({"a": 100, "b": 105})
    for variant in made["variants"]:
        variant["label"] = "same"
    path = Path(write("run", made))
    labels = [side.label for side in compare_runs(load_runs([path])).sides]
    assert labels == ["same (a)", "same (b)"]
    twice = [side.label for side in compare_runs(load_runs([path, path])).sides]
    assert len(set(twice)) == 4


def test_a_curve_of_seven_points_is_not_seven_chances():
    wide = compare_runs([run_of({"a": 100, "b": 100})]).series[0].points[0].verdict
    one = document({"a": 100, "b": 100})
    for series in one["series"]:
        series["points"] = series["points"][:1]
    alone = compare_runs([make_run(one, "a", "a")]).series[0].points[0].verdict
    assert wide.ratio == pytest.approx(alone.ratio) and wide.high > alone.high


def test_series_and_points_of_one_side_are_named_or_left_out():
    left, right = document({"a": 100}), document({"a": 100})
    right["series"].pop()
    right["series"][0]["points"] = right["series"][0]["points"][2:4]
    comparison = compare_runs([make_run(left, "l", "l"), make_run(right, "r", "r")])
    assert comparison.unmatched == ("select-only, latency: only in l",)
    assert [point.x for point in comparison.series[0].points] == [4, 8]
    right["series"].pop()
    with pytest.raises(LabError, match="no series in common"):
        compare_runs([make_run(left, "l", "l"), make_run(right, "r", "r")])


def test_an_interrupted_run_is_compared_as_far_as_it_got():
    made = document({"a": 100, "b": 110})
    made["series"][2]["points"][3]["samples"] = []
    made["series"][2]["points"][4]["samples"] = made["series"][2]["points"][4]["samples"][:1]
    curve = compare_runs([make_run(made, "a", "a")]).series[0]
    assert [point.x for point in curve.points] == [1, 2, 4, 16, 32, 64]
    assert curve.points[3].verdict.outcome is Outcome.UNCLEAR


def test_two_samples_of_many_series_give_intervals_of_any_width(tmp_path):
    made = document({"a": 100, "b": 100}, deviation=0.3, starts=1)
    flat = [series for series in made["series"] if series["x"] is None]
    for series in flat:
        series["points"][0]["samples"] = [
            sample | {"server_start": n} for n, sample in enumerate(series["points"][0]["samples"])
        ][:2]
    made["series"] = [series | {"workload": f"q{n}"} for n in range(60) for series in flat]
    comparison = compare_runs([make_run(made, "a", "a")])
    assert {entry.verdict.outcome for entry in comparison.series} == {Outcome.UNCLEAR}
    for suffix in ("html", "md", "png"):
        write_report(comparison, tmp_path / f"r.{suffix}")


def test_different_units_are_not_compared():
    left, right = document({"a": 100}), document({"a": 100})
    right["series"][1]["unit"] = "s"
    with pytest.raises(LabError, match="measures ms, r s"):
        compare_runs([make_run(left, "l", "l"), make_run(right, "r", "r")])


@pytest.mark.parametrize("value", [0, -1, 1e400])
def test_what_has_no_logarithm_is_refused(value):
    made = document({"a": 100, "b": 100})
    made["series"][0]["points"][0]["samples"][0]["value"] = value
    with pytest.raises(LabError, match="source: series 0 has a sample of"):
        make_run(made, "a", "source")


def test_differences_of_the_environment_come_first_what_matters_first():
    left, right = document({"a": 100}), document({"a": 100})
    assert headline(environment_differences([make_run(left, "l", "l")] * 2), 2).startswith(
        "These two were measured under the same conditions"
    )
    right["environment"]["server"]["settings"]["shared_buffers"] = "4GB"
    right["environment"]["server"]["settings"]["work_mem"] = "1GB"
    right["environment"]["machine"]["cpu"]["model"] = "Neoverse-N1"
    right["environment"]["machine"]["load_average"] = 17.0
    right["environment"]["machine"]["filesystem"]["free_bytes"] = 5
    right["environment"]["server"]["build"]["CFLAGS"] += " -O3"
    runs = [make_run(left, "l", "l"), make_run(right, "r", "r")]
    differences = environment_differences(runs)
    assert headline(differences, 2) == (
        "These two differ in: CPU, compiler flags, shared_buffers, work_mem."
    )
    by_name = {entry.name: entry.values for entry in differences}
    assert by_name["shared_buffers"] == ("1GB", "4GB") and by_name["work_mem"] == ("–", "1GB")


def _text(mean_ratio: float, unit: str, better: str, deviation: float = 0.001) -> str:
    made = document({"a": 100, "b": 100 * mean_ratio}, deviation)
    made["series"] = [s for s in made["series"] if s["metric"] == "throughput"]
    for series in made["series"]:
        series["unit"], series["better"] = unit, better
    verdict = compare_runs([make_run(made, "a", "a")]).series[0].verdict
    return verdict_text(verdict, unit, better)


def test_verdicts_in_words():
    assert re.fullmatch(r"faster by 5\.\d % \(3\.\d … 6\.\d\)", _text(1.05, "tps", "higher"))
    assert re.fullmatch(r"slower by 20\.\d % \(\d+\.\d … \d+\.\d\)", _text(0.8, "tps", "higher"))
    assert re.fullmatch(r"faster by 25\.\d % .*", _text(0.8, "ms", "lower"))
    assert re.fullmatch(r"smaller by 20\.\d % .*", _text(0.8, "bytes", "lower"))
    assert re.fullmatch(r"larger by 25\.\d % .*", _text(1.25, "rows", "higher"))
    assert re.fullmatch(r"10\.0 times as fast \(9\.\d+ … 10\.\d\)", _text(10, "tps", "higher"))
    assert re.fullmatch(r"no difference \(within ± \d\.\d %\)", _text(1, "tps", "higher"))
    noisy = _text(1, "tps", "higher", deviation=0.5)
    assert re.fullmatch(r"too noisy to tell: about \d+ more server starts", noisy)


def test_numbers_have_three_digits():
    shown = [number(value) for value in (0.0012345, 0.5, 12.345, 1234.5, 1234567.0, 0)]
    assert shown == ["0.00123", "0.500", "12.3", "1,230", "1,230,000", "0"]
    level = compare_runs([run_of({"a": 100, "b": 100})]).series[1].points[0].base
    assert re.fullmatch(r"\d+\.\d+ ± \d\.\d %", level_text(level))


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def write(tmp_path):
    def write_document(name: str, made: dict) -> str:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(made))
        return str(path)

    return write_document


def test_exit_status_for_continuous_integration(write):
    runner = CliRunner()
    slow = write("slow", document({"old": 100, "new": 90}))
    loud = write("loud", document({"old": 100, "new": 100}, deviation=0.5))
    same = write("same", document({"old": 100, "new": 100}))
    both = ["--fail-on-slower", "--fail-on-unclear"]
    assert runner.invoke(commands, ["compare", slow]).exit_code == 0
    assert runner.invoke(commands, ["compare", slow, *both]).exit_code == EXIT_SLOWER
    assert runner.invoke(commands, ["compare", loud, "--fail-on-slower"]).exit_code == 0
    assert runner.invoke(commands, ["compare", loud, *both]).exit_code == EXIT_UNCLEAR
    assert runner.invoke(commands, ["compare", same, *both]).exit_code == 0
    assert runner.invoke(commands, ["compare", slow, "--baseline", "new", *both]).exit_code == 0


def test_what_the_command_prints(write):
    left, right = document({"arm": 100}), document({"arm": 130})
    right["environment"]["machine"]["cpu"]["model"] = "another"
    right["warnings"] = [{"code": "steal", "message": "4 % stolen", "advice": "wait"}]
    result = CliRunner().invoke(commands, ["compare", write("one", left), write("two", right)])
    assert result.exit_code == 0
    for text in (
        "These two differ in: CPU.",
        "another",
        "faster by",
        "all together",
        "4 % stolen",
        "select-only: throughput, transactions/s (more is better): two against one",
    ):
        assert text in result.output


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1, 2]", b"null", b"\xff\xfe", b'{"schema": 1}', b'{"schema": "penumbra-run/2"}',
     b'{"schema": "penumbra-run/1"}', b"[" * 100_000, b'{"schema": "penumbra-run/1", "series": 5}'],
)  # fmt: skip
def test_foreign_json_is_one_clear_line(write, tmp_path, content):
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    good = write("good", document({"a": 100}))
    result = CliRunner().invoke(commands, ["compare", good, str(path)])
    assert isinstance(result.exception, LabError) and result.exit_code == 1
    message = str(result.exception)
    assert str(path) in message and "\n" not in message and len(message) < 500


def test_a_broken_document_is_refused(write):
    made = copy.deepcopy(document({"a": 100, "b": 100}))
    made["series"][0]["variant"] = "nobody"
    result = CliRunner().invoke(commands, ["compare", write("broken", made)])
    assert isinstance(result.exception, LabError) and "'nobody'" in str(result.exception)
