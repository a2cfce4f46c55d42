"""`penumbra tune project` on a tiny C program from end to end, and everything that may go wrong."""

import _thread
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from penumbra_lab.analysis.comparison import Comparison, compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.cli import commands
from penumbra_lab.commands import tune as command
from penumbra_lab.errors import LabError
from penumbra_lab.run import cpus
from penumbra_lab.run.document import RunDocument, Variant, read_run, utc_now
from penumbra_lab.run.pgbench import WORKLOADS, Workload
from penumbra_lab.run.sweep import LEVEL_TIME, THROUGHPUT
from penumbra_lab.server import process_directories, terminate_like_interrupt
from penumbra_lab.tune import callgrind, counters, project
from penumbra_lab.tune.callgrind import COST
from penumbra_lab.tune.evaluate import Evaluator
from penumbra_lab.tune.execute import Cancelled, Executor, Infeasible
from penumbra_lab.tune.gate import Gate, once
from penumbra_lab.tune.journal import Budget, Journal, OutOfBudget, entries_of
from penumbra_lab.tune.postgresql import PostgreSQL
from penumbra_lab.tune.project import Command, find_bolt
from penumbra_lab.tune.result import explain
from penumbra_lab.tune.space import Recipe
from penumbra_lab.tune.tuner import Findings, Plan, Step, Tuner

# Without optimisation it also waits: on a machine that does other work besides, the clock must tell
# -O0 from -O3, which a run of a few milliseconds does not let it do. Counts do not see the wait.
PROGRAM = """
#include <stdio.h>
#include <unistd.h>
static unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
static unsigned fold(const unsigned *v, int n)
{
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s += v[i] % 7 ? step(v[i]) : v[i] >> 3;
    return s;
}
int main(void)
{
    static unsigned v[4096];
    unsigned s = 1;
#ifndef __OPTIMIZE__
    usleep(200000);
#endif
    for (int i = 0; i < 4096; i++)
        v[i] = s = step(s);
    for (int i = 0; i < 400; i++)
        s += fold(v, 4096 - (int) (s % 2));
    printf("%u\\n", s);
    return 0;
}
"""
# Another run's do not look like it.
ENDLESS = f"sleep 1000.{os.getpid()}"
BUILD = '"$CC" $CFLAGS -c main.c && "$CC" $CFLAGS -o main main.o $LDFLAGS'


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("PENUMBRA_STATE", str(tmp_path / "state"))
    directory = tmp_path / "tiny"
    directory.mkdir()
    (directory / "main.c").write_text(PROGRAM)
    return directory


def _tune(source: Path, *arguments: str, build: str = BUILD):
    return CliRunner().invoke(
        commands,
        ["tune", "project", "--source", str(source), "--build", build, "--measure", "./main",
         "--compiler", "gcc", *arguments],
        standalone_mode=False, catch_exceptions=False,
    )  # fmt: skip


def _place(source: Path) -> Path:
    return next((source.parent / "state/tune").glob("tiny-*"))


@pytest.mark.slow
def test_a_program_from_end_to_end(source):
    output = source.parent / "run.json"
    expected = "./main | grep -q '^[0-9]*$'"
    shown = _tune(
        source, "--flags", "-O0", "--evaluations", "5", "--search", "group", "--search", "random",
        "--repetitions", "5", "--check", expected, "--output", str(output),
    ).output  # fmt: skip
    document = read_run(output)
    assert document["status"] == "complete"
    steps = {step["layer"]: step for step in document["sections"]["layers"]}
    assert [*steps][:4] == ["baseline", "LTO", "profile", "level"]
    # -O3 saves more than half of the instructions of -O0, and says so.
    assert steps["level"]["kept"] == "yes"
    assert float(steps["level"]["instructions"].split()[0]) < -50
    drawn = {s["workload"]: s["points"][0]["samples"][0]["value"] for s in document["series"]
             if s["metric"] == "instructions"}  # fmt: skip
    counts = {row["build"]: int(row["instructions"].replace(",", ""))
              for row in document["sections"]["counts"]}  # fmt: skip
    assert drawn["level: -O3"] == pytest.approx(
        100 * counts["level: -O3"] / counts["baseline: the distribution's flags"], rel=1e-4
    )
    searchers = {row["searcher"]: row["evaluations"] for row in document["sections"]["searchers"]}
    assert searchers == {"group": 5, "random": 5}
    gate = {row["test"]: row["outcome"] for row in document["sections"]["gate"]}
    assert gate["the project's tests"] == "passed"
    assert "faster" in gate["clock: measure command, time"] or "times as fast" in gate[
        "clock: measure command, time"]  # fmt: skip
    recipe = json.loads((_place(source) / "recipe.json").read_text())
    assert "-O3" in recipe["flags"]
    assert all(text in recipe["steps"][-1] for text in ("CC=gcc", "-O3", "main.c"))
    assert "valgrind" in recipe["versions"]["valgrind"]
    assert (_place(source) / "tuned/main").exists()
    assert "Recipe: gcc -O0" in shown
    curve = read_run(output.with_stem("run-search"))
    assert {series["variant"] for series in curve["series"]} == {"group", "random"}
    values = [point["samples"][0]["value"] for point in curve["series"][0]["points"]]
    assert values == sorted(values, reverse=True)
    # The page of it can be drawn, and a flag explained.
    page = source.parent / "r.html"
    CliRunner().invoke(commands, ["report", str(output), "-o", str(page)], standalone_mode=False,
                       catch_exceptions=False)  # fmt: skip
    assert "I1 misses" in page.read_text()
    shown = _tune(source, "--flags", "-O0", "--explain", "-O3").output
    assert "added to the same flags" in shown
    assert "never tried here" in _tune(source, "--flags", "-O0", "--explain", "-fno-such").output
    # The source stays as it was; nothing half done is left.
    assert [path.name for path in source.iterdir()] == ["main.c"]
    assert not [*_place(source).glob("part-*"), *_place(source).glob("scratch-*")]


@pytest.mark.slow
def test_a_run_that_begins_again_builds_nothing_twice(source):
    arguments = ["--evaluations", "6", "--repetitions", "2", "--hours", "1"]
    log = source.parent / "builds"
    counting = f"echo build >>{log}; {BUILD}"
    builds = []
    for _ in range(2):
        try:
            _tune(source, *arguments, "--flags", "-O2", build=counting)
        except LabError as error:  # whether the clock tells them apart is not this test's affair
            assert re.search("no finalist|clock", str(error))
        builds.append(len(log.read_text().split()))
    keys = [entry.key for entry in entries_of(_place(source) / "journal.jsonl")]
    assert len(set(keys)) == len(keys)
    assert builds[0] == builds[1] > 1


def test_killed_in_mid_build_it_leaves_nothing_and_goes_on(source):
    marker = source.parent / "second"
    slow = f"test -e {marker} && {ENDLESS}; touch {marker}; {BUILD}"
    command = [sys.executable, "-c", "from penumbra_lab.cli import main; main()", "tune", "project",
               "--source", str(source), "--build", slow, "--measure", "./main", "--compiler", "gcc",
               "--evaluations", "0", "--repetitions", "2"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if line.startswith("LTO:"):  # the second build
            break
    deadline = time.monotonic() + 30
    while not list(_place(source).glob("scratch-0/tree/main.c")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130, output
    assert _ends(ENDLESS)
    assert not [*_place(source).glob("part-*"), *_place(source).glob("scratch-*")]
    document = read_run(next((source.parent / "state/results").glob("tiny-*.json")))
    assert document["status"] == "interrupted"
    entries = list(entries_of(_place(source) / "journal.jsonl"))
    assert [entry.phase for entry in entries] == ["baseline"]


def _running(text: str) -> list[str]:
    found = []
    for process in process_directories():
        try:
            words = (process / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
        except OSError:
            continue
        if words == text:
            found.append(words)
    return found


def _ends(text: str) -> bool:
    """Soon: what is killed below the program that was waited for takes a moment to be gone."""
    deadline = time.monotonic() + 30
    while _running(text) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not _running(text)


# -- evaluating ------------------------------------------------------------------------------------


class Tree(Command):
    """The tiny program with a compiler of our own, which fails as it is told."""

    def __init__(self, source: Path, tmp_path: Path):
        self.compiler = tmp_path / "cc"
        self.log = tmp_path / "cc.log"
        self.compiler.write_text(f"""#!/bin/sh
echo "$@" >>{self.log}
case "$*" in
(*-fweb*) echo "internal compiler error: in web" >&2; exit 1;;
(*-ftracer*) {ENDLESS};;
(*-fgcse-las*) printf '#!/bin/sh\\nkill -SEGV $$\\n' >main; chmod +x main; touch main.o; exit 0;;
esac
exec gcc "$@"
""")
        self.compiler.chmod(0o755)
        super().__init__("tree", source, BUILD, "./main", None, ("-O2",))

    def recipe(self, *flags: str) -> Recipe:
        return Recipe(str(self.compiler), ("-O2", *flags))


def _evaluator(project, place: Path, journal: Journal, seconds=3600.0, disk=10**9, builders=1,
               timeout=60.0) -> Evaluator:  # fmt: skip
    return Evaluator(project, place, journal, Budget(seconds, disk), Executor(timeout, timeout),
                     builders)  # fmt: skip


@pytest.mark.slow
def test_what_does_not_work_is_infeasible_and_remembered(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    recipes = [project.recipe(), project.recipe("-fweb"), project.recipe("-fgcse-las"),
               project.recipe("-ftracer")]  # fmt: skip
    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(project, place, journal, timeout=10.0)
        counts = evaluator.counts(recipes, "flags")
    assert counts[0]["instructions"] > 100_000
    assert counts[1:] == [None] * 3
    reasons = [entry.reason for entry in entries_of(place / "journal.jsonl")]
    assert "internal compiler error: in web" in reasons[1]
    assert "ended by signal 11" in reasons[2] or "no totals" in reasons[2] or "failed" in reasons[2]
    assert "did not end within 10 seconds" in reasons[3]
    assert _ends(ENDLESS)
    asked = project.log.read_text()
    with Journal(place / "journal.jsonl") as journal:
        assert _evaluator(project, place, journal).counts(recipes, "flags") == counts
    assert project.log.read_text() == asked
    lines = "\n".join(explain("-fweb", "gcc", list(entries_of(place / "journal.jsonl"))))
    assert "in 1 of 4 builds, 1 of them infeasible" in lines
    assert "internal compiler error" in lines


def test_counts_repeat(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(project, place, journal)
        build = evaluator.build(project.recipe())
        first, *others = (project.measure(build, evaluator.executor)[COST] for _ in range(3))
    assert all(abs(other / first - 1) < 1e-4 for other in others)


def test_fewer_calls_are_counted_where_more_is_inlined(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(project, place, journal)
        inlined, apart = evaluator.counts([project.recipe(), project.recipe("-fno-inline")], "x")
    # step() is called for 4,096 values, fold() 400 times.
    assert apart["calls"] - inlined["calls"] > 4000


def test_tests_run_where_the_program_was_built(source, tmp_path):
    """A build keeps the path of its source: of files that tests read, of a build system's cache."""
    build = f"{BUILD} && pwd >where"
    project = Command("tiny", source, build, "./main", 'test "$(cat where)" = "$PWD"', ("-O2",))
    place = tmp_path / "place"
    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(project, place, journal)
        built = evaluator.build(project.baseline("gcc"))
        project.check(built, evaluator.executor)
        project.check_command = "false"
        with pytest.raises(Infeasible):
            project.check(built, evaluator.executor)
    assert (built / "tree/main").exists()
    assert not list(place.glob("scratch-*"))


def test_builds_side_by_side_are_those_one_by_one(source, tmp_path):
    project = Tree(source, tmp_path)
    recipes = [project.recipe(), project.recipe("-O3"), project.recipe("-fno-gcse"),
               project.recipe("-fweb")]  # fmt: skip
    found = []
    for builders in (1, 3):
        place = tmp_path / f"place{builders}"
        with Journal(place / "journal.jsonl") as journal:
            counts = _evaluator(project, place, journal, builders=builders).counts(recipes, "x")
            found.append([c and round(c["instructions"], -3) for c in counts])
    assert found[0] == found[1]


def test_a_cut_line_of_the_journal_is_dropped(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for number in range(3):
            journal.add(f"k{number}", Recipe("gcc"), "flags", {COST: 1.0}, "", 2.0)
    whole = path.read_text()
    path.write_text(whole[: -len(whole) // 6])
    with Journal(path) as journal:
        assert list(journal.entries) == ["k0", "k1"]
        assert journal.seconds == 4.0
        journal.add("k3", Recipe("gcc"), "flags", None, "broken", 1.0)
        with pytest.raises(LabError, match="another run writes"), Journal(path):
            pass
    assert [entry.key for entry in entries_of(path)] == ["k0", "k1", "k3"]


def test_time_that_is_used_up_ends_the_search_with_what_it_has(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    project.base_flags = ("-O1",)
    with Journal(place / "journal.jsonl") as journal:
        journal.add("before", Recipe("gcc"), "flags", None, "", 68.0)
        evaluator = _evaluator(project, place, journal, seconds=100.0)
        evaluator.budget.check_time(journal)
        tuner = Tuner(evaluator, Plan(("gcc",), ("group",), 50, 1, 1), lambda text: None)
        journal.add("after", Recipe("gcc", ("-O3",)), "flags", {COST: 1.0}, "", 3.0)
        with pytest.raises(OutOfBudget):
            evaluator.budget.check_time(journal)
        tuner.run()
        assert tuner.findings.steps == []
        assert "time" in tuner.findings.stopped


def test_the_best_is_the_first_finalist():
    counts = {COST: 1.0}
    base, best = Recipe("gcc", ("-O2",)), Recipe("gcc", ("-O2", "-O3"))
    steps = [
        Step("baseline", "", base, counts, "", True),
        Step("level", "", best, counts, "", True),
    ]
    found = Findings(steps, recipe=best).finalists(False)
    assert [label for label, _ in found] == ["tuned", "text aligned to 2 MB", "baseline"]


def test_the_gate_counts_a_workload_once_for_each_server(tmp_path):
    asked = []

    class Server:
        def measure_workload(self, binaries, workload, executor):
            asked.append((binaries.name, workload.name))
            return {COST: float(len(asked))}

    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "postgres").write_text(name)
    gate = Gate(Server(), tmp_path / "tuned", (), 2)
    evaluator = SimpleNamespace(place=tmp_path, executor=None)
    found = [gate._count(tmp_path / name, WORKLOADS[workload], evaluator)[COST]
             for name, workload in (("one", "tpcb"), ("other", "tpcb"), ("one", "tpcb"),
                                    ("one", "aggregates"))]  # fmt: skip
    assert found == [1.0, 2.0, 1.0, 3.0]
    assert asked == [("one", "TPC-B"), ("other", "TPC-B"), ("one", "aggregates")]
    # Another server in the same place is counted anew.
    (tmp_path / "one/postgres").write_text("changed")
    assert gate._count(tmp_path / "one", WORKLOADS["tpcb"], evaluator)[COST] == 4.0


def test_a_finalist_is_counted_beside_the_distributions_package(tmp_path):
    """What costs less than the baseline may cost more than the package; workloads of which no
    profile was made are told apart."""
    own, other, held_out = (Workload(name) for name in ("own", "other", "held out"))
    cost = {("base", "own"): 100.0, ("package", "own"): 90.0, ("tuned", "own"): 80.0}

    class Server:
        workloads, base = (own, other, held_out), tmp_path / "base"
        distribution = tmp_path / "package/bin"

    Server.held_out = (held_out,)
    gate = Gate(Server(), tmp_path / "tuned", (), 2)
    gate._count = lambda binaries, workload, evaluator: dict.fromkeys(
        callgrind.METRICS, cost.get((binaries.parent.name, workload.name), 50.0)
    )
    gate._count_others("best", None, lambda text: None)
    found = {(r["workload"], r["against"]): r for r in gate.validation_rows}
    assert found["own", "baseline"]["instructions"] == "-20.0 %"
    assert found["own", "the distribution's package"]["instructions"] == "-11.1 %"
    assert {side: counts["instructions"] for side, counts in gate.counted["own"].items()} == {
        "baseline": 100.0, "the distribution's package": 90.0, "best": 80.0,
    }  # fmt: skip
    assert {name: r["in training"] for (name, _), r in found.items()} == {
        "own": "yes", "other": "yes", "held out": "no",
    }  # fmt: skip
    cost["tuned", "held out"] = 50.4
    gate._count_others("best", None, lambda text: None)
    cost["package", "held out"] = 49.0
    with pytest.raises(Infeasible, match=r"held out costs 2\.9 % more"):
        gate._count_others("best", None, lambda text: None)


def _fake_perf(directory: Path, counts: str) -> None:
    """Says `counts`, one of them a line, in perf's own form, and runs the program."""
    directory.mkdir(exist_ok=True)
    script = directory / "perf"
    script.write_text(f"""#!/bin/sh
output=/dev/stderr
while [ "$1" != -- ] && [ "$1" != true ]; do [ "$1" = -o ] && output=$2; shift; done
[ "$1" = -- ] && shift
"$@"
printf '{counts}' >$output
""")
    script.chmod(0o755)


@pytest.fixture
def fake_perf(tmp_path, monkeypatch):
    counters.are_there.cache_clear()
    monkeypatch.setenv("PATH", f"{tmp_path / 'perf-bin'}:{os.environ['PATH']}")
    yield lambda counts: _fake_perf(tmp_path / "perf-bin", counts)
    counters.are_there.cache_clear()


def test_the_processors_counters_are_told_where_there_are_any(source, tmp_path, fake_perf):
    fake_perf("5000;;cycles:u;1;100.00;;\\n7000;;instructions:u;1;100.00;1.40;insn per cycle\\n"
              "<not supported>;;cache-misses:u;0;100.00;;\\n")  # fmt: skip
    assert counters.are_there()
    tree, place = Tree(source, tmp_path), tmp_path / "place"
    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(tree, place, journal)
        build = evaluator.build(tree.recipe())
        assert tree.measure_counters(build, evaluator.executor) == {
            "cycles": 5000.0, "instructions": 7000.0,
        }  # fmt: skip
        gate = Gate(tree, tmp_path / "tuned", ("clock",), 2)
        gate._count_cycles("best", build, evaluator.build(tree.recipe("-O3")), evaluator)
    assert [(row["test"], row["outcome"]) for row in gate.rows] == [
        ("the processor's counters: cycles", "+0.0 % (5,000 to 5,000)"),
        ("the processor's counters: instructions", "+0.0 % (7,000 to 7,000)"),
    ]


def test_a_machine_without_counters_says_so(tmp_path, fake_perf):
    fake_perf("<not supported>;;cycles:u;0;100.00;;\\n")
    assert not counters.are_there()
    gate = Gate(None, tmp_path, ("clock",), 2)
    gate._count_cycles("best", tmp_path, tmp_path, None)
    assert gate.rows[0]["outcome"] == "none here that perf may read"
    (tmp_path / "counts").write_text("<not supported>;;cycles:u;0;100.00;;\n")
    with pytest.raises(Infeasible, match="no cycles"):
        counters.read_counts(tmp_path / "counts")


def test_what_passed_is_not_asked_again(tmp_path):
    asked = []

    def work():
        asked.append(len(asked))
        if len(asked) == 1:
            raise Infeasible("one test failed")

    with pytest.raises(Infeasible):
        once(tmp_path, "check a", work)
    for what in ("check a", "check a", "check b", "check a"):
        once(tmp_path, what, work)
    assert len(asked) == 3


def test_a_backend_is_counted_where_others_do_least(monkeypatch):
    ticks = iter(({0: 100, 1: 900, 2: 5}, {0: 150, 1: 910, 2: 55}))
    monkeypatch.setattr(cpus, "_busy_ticks", lambda: next(ticks))
    monkeypatch.setattr(cpus.os, "sched_getaffinity", lambda pid: {0, 1, 2})
    assert cpus.idlest_cpu(0.0) == 1


def test_disk_is_kept_within_its_bound(tmp_path):
    builds = tmp_path / "builds"
    for number, name in enumerate(("old", "base", "new")):
        (builds / name).mkdir(parents=True)
        (builds / name / "program").write_bytes(b"x" * 1000)
        os.utime(builds / name, (number, number))
    Budget(1.0, 2500).make_room(builds, {"base"})
    assert {path.name for path in builds.iterdir()} == {"base", "new"}
    Budget(1.0, 100).make_room(builds, {"base"})
    assert {path.name for path in builds.iterdir()} == {"base"}


def test_little_room_is_said(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    project.build_bytes = 1 << 60
    with Journal(place / "journal.jsonl") as journal, pytest.raises(LabError, match="GB free"):
        _evaluator(project, place, journal).counts([project.recipe()], "x")


def test_a_thread_that_is_cancelled_ends_its_program(tmp_path):
    executor = Executor(60, 60)
    executor.cancelled.set()  # by the thread that got Ctrl-C
    with pytest.raises(Cancelled):
        executor.run(ENDLESS.split(), tmp_path / "log", 60)
    assert _ends(ENDLESS)


def test_an_interrupt_while_a_thread_starts_ends_its_program(source, tmp_path, monkeypatch):
    project, place = Tree(source, tmp_path), tmp_path / "place"
    started = []

    def start(thread, real=threading.Thread.start):
        real(thread)
        started.append(thread)
        while thread.is_alive() and not _running(ENDLESS):
            time.sleep(0.05)
        raise KeyboardInterrupt

    with Journal(place / "journal.jsonl") as journal:
        evaluator = _evaluator(project, place, journal)
        monkeypatch.setattr(threading.Thread, "start", start)
        with pytest.raises(KeyboardInterrupt):
            evaluator.counts([project.recipe("-ftracer")], "flags")
        started[0].join(timeout=30)
        assert not started[0].is_alive()
    assert _ends(ENDLESS)


def test_a_signal_that_does_not_wake_the_thread_is_seen(source, tmp_path):
    project, place = Tree(source, tmp_path), tmp_path / "place"

    def interrupt():
        while not _running(ENDLESS):
            time.sleep(0.05)
        _thread.interrupt_main(signal.SIGTERM)  # as if it had come just before the thread slept

    with Journal(place / "journal.jsonl") as journal, terminate_like_interrupt():
        evaluator = _evaluator(project, place, journal, timeout=20.0)
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            evaluator.counts([project.recipe("-ftracer")], "flags")
        thread.join()
    assert not journal.entries  # the build was ended, not given up after its time
    assert _ends(ENDLESS)


def test_a_program_that_fails_says_why(tmp_path):
    executor = Executor(60, 60)
    with pytest.raises(Infeasible, match="failed: x: error: no such thing"):
        executor.run(["sh", "-c", "echo fine; echo 'x: error: no such thing'; exit 3"],
                     tmp_path / "log", 60)  # fmt: skip


# -- what is missing -------------------------------------------------------------------------------


def test_missing_programs_name_their_packages(source, monkeypatch, tmp_path):
    with pytest.raises(LabError, match="install the package gcc-99"):
        _tune(source, "--compiler", "gcc-99")
    monkeypatch.setattr(callgrind.shutil, "which", lambda name: None)
    with pytest.raises(LabError, match="install the package valgrind"):
        callgrind.valgrind()
    assert find_bolt() is None


@pytest.mark.skipif(not shutil.which("llvm-profdata"), reason="needs the package llvm")
def test_processes_that_a_program_forks_are_in_clangs_profile(tmp_path):
    (tmp_path / "main.c").write_text("""
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) int work(int n) { return n + 1; }
        int main(void)
        {
            for (int i = 0; i < 5; i++)
                if (fork() == 0)
                    return work(-1);
            while (wait(NULL) > 0)
                ;
            return 0;
        }
    """)
    flags = project.profile_flags("clang", tmp_path, True)
    subprocess.run(["clang", "-O2", *flags, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)
    project.finish_profile("clang", tmp_path, tmp_path / "log", Executor(60, 60))
    shown = subprocess.run(
        [project.profile_merger("clang"), "show", "--function=work", "merged.profdata"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert "Function count: 5" in shown


def test_what_profiles_of_clang_need_is_missed_before_anything_is_built(monkeypatch, tmp_path):
    """Not after an hour, when the first profile is trained."""
    programs = tmp_path / "programs"
    programs.mkdir()

    def program(name: str, text: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)

    missing = "/usr/bin/ld: cannot find /usr/lib/llvm-77/lib/libclang_rt.profile-x86_64.a"
    program("clang-77", f"""[ "$1" = --version ] && echo 'clang version 77.1.0' && exit
echo '{missing}' >&2; exit 1""")
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(LabError, match="llvm-profdata is missing: install the package llvm-77"):
        command._compilers({"compilers": ("clang-77",)})
    program("llvm-profdata-77", "exit")
    with pytest.raises(LabError, match="install the package libclang-rt-77-dev"):
        command._compilers({"compilers": ("clang-77",)})


@pytest.mark.parametrize(
    ("compiler", "installed", "expected"),
    [
        # The plain ar cannot read what a compiler leaves for the linker to optimise.
        ("gcc-77", ("gcc-ar-77", "gcc-ar", "ar"), "gcc-ar-77"),
        ("gcc-77", ("gcc-ar", "ar"), "ar"),
        ("gcc", ("gcc-ar", "llvm-ar", "ar"), "gcc-ar"),
        ("clang-77", ("llvm-ar-77", "llvm-ar", "gcc-ar"), "llvm-ar-77"),
        ("clang-77", ("llvm-ar-76", "llvm-ar"), "llvm-ar"),
        ("clang-77", ("gcc-ar", "ar"), "ar"),
        ("cc", ("cc", "ar"), "ar"),
    ],
)
def test_archives_are_made_by_the_compilers_own_program(monkeypatch, tmp_path, compiler, installed,
                                                        expected):  # fmt: skip
    for name in installed:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(project, "compiler_version", lambda clang: "clang version 77.1.0")
    assert Path(project.archiver_of(compiler)).name == expected


def test_a_source_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PENUMBRA_STATE", str(tmp_path / "state"))
    arguments = ["tune", "postgresql", "--source", str(tmp_path), "--compiler", "gcc"]
    with pytest.raises(LabError, match="no source tree of PostgreSQL"):
        CliRunner().invoke(commands, arguments, standalone_mode=False, catch_exceptions=False)


def test_a_baseline_that_fails_ends_it(source):
    with pytest.raises(LabError, match="the baseline does not work"):
        _tune(source, "--evaluations", "0", build="exit 1")


def test_a_forbidden_baseline_is_refused(source):
    with pytest.raises(LabError, match="never tried"):
        _tune(source, "--flags", "-O2 -ffast-math")


@pytest.mark.slow
def test_a_program_that_breaks_its_tests_is_refused(source):
    with pytest.raises(LabError, match="no finalist passed"):
        _tune(source, "--flags", "-O0", "--evaluations", "0", "--repetitions", "2",
              "--check", "echo wrong answer; exit 1")  # fmt: skip
    document = read_run(next((source.parent / "state/results").glob("tiny-*.json")))
    assert document["status"] == "failed"
    assert all("wrong answer" in row["outcome"] for row in document["sections"]["gate"])


def test_a_file_without_totals_is_infeasible(tmp_path):
    (tmp_path / "1").write_text("events: Ir\n")
    with pytest.raises(Infeasible, match="no totals"):
        callgrind.read_counts(tmp_path / "1")


# -- the clock -------------------------------------------------------------------------------------


def _clock(costs: dict[str, float]) -> Comparison:
    """Two servers that took turns; `costs` are those of the tuned one beside 100 of the other."""
    run = RunDocument("pgbench", "", {}, {"order": "ABBA", "server_starts": 5}, [
        Variant(name, name, {}) for name in ("distribution", "tuned")
    ])  # fmt: skip
    for workload, cost in costs.items():
        is_time = workload.startswith("lookup")
        metric = LEVEL_TIME if is_time else THROUGHPUT
        for block in range(20):
            for name, value in (("distribution", 100.0), ("tuned", cost)):
                time = value + block % 3 / 10
                run.add_sample(workload, name, metric, time if is_time else 1e5 / time,
                               block=block, order=run.next_order(), started_at=utc_now(),
                               server_start=block // 4)  # fmt: skip
    return compare_runs([make_run(run.finish("complete"), "clock", "this run")], "distribution")


@pytest.mark.parametrize(
    ("costs", "refused"),
    [
        ({"own": 90, "other": 100}, None),
        ({"own": 90, "other": 100.5}, None),
        ({"own": 90, "other": 103}, "other to be slower"),
        ({"own": 100, "other": 90}, "does not show it to be faster"),
        ({"own": 103, "other": 90}, "does not show it to be faster"),
        # Over the wire nothing is seen, in the server it is; of another workload that says nothing.
        ({"select-only": 100, "lookup, C loop": 85}, None),
        ({"select-only": 100, "lookup, PL/pgSQL": 85}, "does not show it to be faster"),
        ({"own": 100, "lookup, C loop": 85}, "does not show it to be faster"),
    ],
)
def test_the_clock_decides(tmp_path, costs, refused):
    project = PostgreSQL.__new__(PostgreSQL)
    project.workload = WORKLOADS["select-only"] if "select-only" in costs else Workload("own")
    gate = Gate(project, tmp_path, ("clock",), 2)
    with pytest.raises(Infeasible, match=refused) if refused else nullcontext():
        gate._judge("best", _clock(costs))
    assert [row["test"].split(", ")[0] for row in gate.rows] == [
        f"clock: {name.split(', ')[0]}" for name in costs
    ]  # fmt: skip
