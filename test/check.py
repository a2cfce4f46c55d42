"""The suites of one level, each with its own count, then 'N passed, N failed'.

`make check` is the level quick. A level runs what the levels before it leave out: `make check-full` is quick, then full.
Suites run in lanes, side by side, since most often wait for a server. Those of one lane run in turn: the extensions' own
tests install into the same place. The lane "beside" has a lower priority.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
PYTHON = str(TREE / ".venv/bin/python")
RUFF = str(TREE / ".venv/bin/ruff")
PYTEST = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10", "--durations-min=5"]
LEVELS = ("quick", "full", "long")
LANES = ("servers", "extensions", "beside")
# The files of the extensions' own tests that take more than some ten seconds: of level full. Others are quick.
SLOW_FILES = {
    "backtrace": ("t/001_crash.pl", "t/002_errors.pl", "t/003_live.pl"),
    "columnar": ("t/003_worker.pl", "t/005_limits.pl", "t/006_disk.pl", "t/007_wishes.pl", "t/008_workers.pl",
                 "t/011_table_options.pl", "t/012_pace.pl", "t/014_budget.pl", "t/020_slow_expressions.pl",
                 "sql/range_zones.sql"),
    "compress": ("t/003_dictionaries.pl", "t/006_drop_dictionary.pl"),
    "keytree": ("t/001_dump_upgrade.pl",),
    "numeric": ("sql/edges.sql", "sql/long.sql"),
    "sort": ("sql/large.sql",),
}


@dataclass(frozen=True)
class Count:
    passed: int
    failed: int


def count_gtest(output: str) -> Count:
    passed = sum(int(n) for n in re.findall(r"^\[  PASSED  \] (\d+) test", output, re.M))
    failed = sum(int(n) for n in re.findall(r"^\[  FAILED  \] (\d+) test", output, re.M))
    return Count(passed, failed)


def count_pytest(output: str) -> Count:
    last = next(
        (
            line
            for line in reversed(output.splitlines())
            if re.search(r"\d+ (passed|failed|error)", line)
        ),
        "",
    )
    number = {
        word: int(n)
        for n, word in re.findall(r"(\d+) (passed|failed|errors?|subtests passed)", last)
    }
    failed = number.get("failed", 0) + number.get("error", 0) + number.get("errors", 0)
    return Count(number.get("passed", 0) + number.get("subtests passed", 0), failed)


def count_regress(output: str) -> Count:
    """pg_regress, pg_isolation_regress (both of several versions) and prove."""
    passed = len(re.findall(r"^(?:test )?.*\.\.\. ok\b|^ok \d+ +[-+] ", output, re.M))
    failed = len(re.findall(r"^(?:test )?.*\.\.\. FAILED|^not ok \d+", output, re.M))
    for tests in re.findall(r"^Files=\d+, Tests=(\d+)", output, re.M):
        passed += int(tests)
    failed += len(re.findall(r"^#   Failed test|^Result: FAIL", output, re.M))
    return Count(passed, failed)


def count_lines(output: str) -> Count:
    """One 'ok: ...' or 'FAILED: ...' per check."""
    return Count(
        len(re.findall(r"^ok: ", output, re.M)), len(re.findall(r"^FAILED: ", output, re.M))
    )


@dataclass(frozen=True)
class Suite:
    """A command, and the arguments that it has at each level: None where it does not run."""

    name: str
    count: object
    command: list[str]
    quick: list[str] | None = None
    full: list[str] | None = None
    long: list[str] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    lane: str = "servers"


NOT_SLOW, SLOW = ["-m", "not slow"], ["-m", "slow"]


def extension_suite(name: str) -> Suite:
    tests = TREE / "extensions" / name / "test"
    slow = {tests / file for file in SLOW_FILES.get(name, ())}
    assert all(file.exists() for file in slow), slow

    def arguments(is_slow: bool) -> list[str]:
        chosen = [file for file in sorted([*tests.glob("sql/*.sql"), *tests.glob("t/*.pl")]) if (file in slow) == is_slow]
        sql = [file.stem for file in chosen if file.suffix == ".sql"]
        tap = [str(file.relative_to(tests.parent)) for file in chosen if file.suffix == ".pl"]
        return [f"SQL_TESTS={' '.join(sql)}", f"TAP_TESTS={' '.join(tap)}", *(["SPECS="] if is_slow else [])]

    return Suite(f"extension {name}", count_regress,
                 ["make", "--no-print-directory", "extension-check", f"EXTENSIONS={name}"],
                 quick=arguments(is_slow=False), full=arguments(is_slow=True) if slow else None,
                 lane="extensions")  # fmt: skip


# The engine's tests that take half of its time: of level full, where the sanitizers' build runs all.
SLOW_ENGINE = ":".join([
    "Aggregation.IntegerKeysInARange", "Aggregation.ManyGroupsOverflowTheDirectory", "Aggregation.SpillsPastTheBudget",
    "Aggregation/GroupingSets.*", "Join.BelowATopN", "Join.GroupsByRowsOfBuildSides", "OrderedAggregate.GivesWhatSortingGives",
    "OrderedAggregate.JoinsTextsInTheirOrder", "ScanPredicateTest.AgreesWithEvaluation",
    "SegmentTest.CheckProtectsReadersFromCorruptBytes", "Sort.ManyBuckets", "SpilledSort.KeepsToItsBudget",
    "SpilledSort.ManyRuns", "Window.AsTheStandardSays",
])  # fmt: skip
# Those that are about threads.
THREADS = "LastMorsel.*:ThreadTickets.*:MadeOnceTest.*:Join.ThreadsAgree:SharedMemory*"


def suites() -> list[Suite]:
    extensions = sorted(makefile.parent.name for makefile in TREE.glob("extensions/*/Makefile"))
    # gcc 14 does not align vectors of 64 bytes in the stack frames that it would keep to find later uses.
    sanitizer = {
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    return [
        Suite("style", count_lines, [PYTHON, "test/style.py"], quick=[]),
        Suite("wall", count_lines, [PYTHON, "test/wall.py"], quick=[]),
        Suite("machines", count_lines, [PYTHON, "test/machines.py"], quick=[]),
        Suite("kernels", count_gtest, ["build/kernels/kernels_test", "--gtest_brief=1"], quick=[], lane="beside"),
        Suite("engine", count_gtest, ["build/engine/engine_test", "--gtest_brief=1"],
              quick=[f"--gtest_filter=-{SLOW_ENGINE}"], lane="beside"),
        Suite("vectors page", count_lines, [PYTHON, "test/vectors_page.py", "--check"], quick=[]),
        Suite("lab", count_pytest, [*PYTEST, "lab/tests"], quick=NOT_SLOW, full=SLOW, lane="beside"),
        Suite("pages", count_pytest, [*PYTEST, "test/pages"], quick=NOT_SLOW, full=SLOW, lane="beside"),
        Suite("symbolize", count_pytest, [*PYTEST, "extensions/backtrace/symbolize/test"], quick=[], lane="beside"),
        *(extension_suite(name) for name in extensions),
        Suite("backtraces like gdb's", count_lines,
              [PYTHON, "extensions/backtrace/test/accuracy/check.py", "--few"], full=[]),
        Suite("disk cache's files", count_lines, [PYTHON, "extensions/columnar/test/unit/run.py"], quick=[],
              lane="beside"),
        Suite("fuzzing compress", count_lines, [PYTHON, "extensions/compress/test/fuzz/run.py"], full=[]),
        Suite("fuzzing columnar", count_lines, [PYTHON, "extensions/columnar/test/fuzz/run.py"], full=[]),
        Suite("differential", count_pytest, [*PYTEST, "test/differential"],
              quick=[*NOT_SLOW, "--queries=200", "--histories=500", "--seconds=60"],
              full=["-m", "slow or sized", "--seed=201", "--queries=1500"],
              long=["-k", "test_histories", "--histories=200000"]),
        Suite("crash", count_pytest, [*PYTEST, "test/crash"], quick=NOT_SLOW, full=SLOW,
              long=["-k", "test_kills or test_power_loss", "--kills=300", "--power-losses=200"]),
        Suite("coexistence", count_pytest, [*PYTEST, "test/coexistence"], quick=[], lane="extensions"),
        Suite("neighbours", count_pytest, [*PYTEST, "test/neighbours"], full=[], lane="beside"),
        Suite("adversarial", count_pytest, [*PYTEST, "test/adversarial"], quick=NOT_SLOW, full=SLOW, long=["--long"]),
        Suite("keytree, model and crashes", count_pytest, [*PYTEST, "extensions/keytree/test/model"],
              quick=NOT_SLOW, full=SLOW, lane="extensions"),
        Suite("lookup, histories", count_pytest, [*PYTEST, "extensions/lookup/test/model"], quick=[], lane="extensions"),
        Suite("regression", count_lines, [PYTHON, "test/regression/run.py"], full=[]),
        Suite("regression keytree", count_lines, [PYTHON, "test/regression/run_keytree.py"], full=[]),
        Suite("regression lookup", count_lines, [PYTHON, "test/regression/run_lookup.py"], full=[]),
        Suite("regression numeric", count_lines, [PYTHON, "test/regression/run_numeric.py"], full=[]),
        Suite("sanitizers, build", count_lines, ["bash", "-c",
              "cmake -G Ninja -B build-asan -S . -DPENUMBRA_TESTS=ON -DPENUMBRA_SANITIZE=address,undefined >/dev/null && ninja -C build-asan"
              " kernels_test engine_test penumbra-symbolize && echo 'ok: built'"], full=[], lane="beside"),
        Suite("sanitizers, kernels", count_gtest, ["build-asan/kernels/kernels_test", "--gtest_brief=1"], full=[],
              environment=sanitizer, lane="beside"),
        # In two halves at once, because it takes longest of what runs beside the others.
        Suite("sanitizers, engine", count_gtest, ["bash", "-c",
              'GTEST_SHARD_INDEX=0 "$@" & first=$!; GTEST_SHARD_INDEX=1 "$@"; second=$?; wait $first && exit $second', "bash",
              "build-asan/engine/engine_test", "--gtest_brief=1"], full=[],
              environment={**sanitizer, "GTEST_TOTAL_SHARDS": "2"}, lane="beside"),
        Suite("sanitizers, symbolize", count_pytest, [*PYTEST, "extensions/backtrace/symbolize/test/test_bad_input.py",
              "extensions/backtrace/symbolize/test/test_process.py"], full=[], lane="beside", environment={**sanitizer,
              "SYMBOLIZE": str(TREE / "build-asan/extensions/backtrace/symbolize/penumbra-symbolize")}),
        Suite("races, build", count_lines, ["bash", "-c",
              "cmake -G Ninja -B build-tsan -S . -DPENUMBRA_TESTS=ON -DPENUMBRA_SANITIZE=thread >/dev/null && ninja -C build-tsan engine_test"
              " && echo 'ok: built'"], full=[], lane="beside"),
        # Where it may, with addresses that are not randomised: older sanitizers do not find their place otherwise.
        Suite("races, engine", count_gtest, ["bash", "-c", 'exec $(setarch -R true && echo setarch -R) "$@"', "bash",
              "build-tsan/engine/engine_test", "--gtest_brief=1"], full=[f"--gtest_filter={THREADS}"],
              long=[f"--gtest_filter=-{THREADS}:*DeathTest*"], lane="beside"),
        Suite("sanitizers, extensions", count_lines, [PYTHON, "test/sanitized/run.py"], long=[]),
    ]  # fmt: skip


@dataclass(frozen=True)
class Result:
    count: Count
    seconds: float
    output: str


def run_suite(suite: Suite, level: str) -> Result:
    """Prints what the suite prints, if it is of the first lane."""
    is_shown = suite.lane == LANES[0]
    if is_shown:
        print(f"\n=== {suite.name}", flush=True)
    begin = time.monotonic()
    lines = []
    command = [*(["nice", "-n", "10"] if suite.lane == "beside" else []), *suite.command, *getattr(suite, level)]
    process = subprocess.Popen(
        command,
        cwd=TREE, env={**os.environ, **suite.environment}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with process:
        for line in process.stdout:
            if is_shown:
                print(line, end="", flush=True)
            lines.append(line)
    output = "".join(lines)
    count = suite.count(output)
    # A suite that dies or runs nothing has failed, whatever it printed before.
    if (process.returncode != 0 and count.failed == 0) or count.passed + count.failed == 0:
        count = Count(count.passed, count.failed + 1)
    return Result(count, time.monotonic() - begin, output)


def run_suites(chosen: list[Suite], level: str) -> dict[str, Result]:
    results = {}
    # A lane has one thread, and so its suites run in turn.
    lanes = {lane: ThreadPoolExecutor(1) for lane in LANES}
    running = {suite.name: lanes[suite.lane].submit(run_suite, suite, level) for suite in chosen}
    try:
        for suite in sorted(chosen, key=lambda suite: LANES.index(suite.lane)):
            results[suite.name] = running[suite.name].result()
            if suite.lane != LANES[0]:
                print(f"\n=== {suite.name}\n{results[suite.name].output}", end="", flush=True)
    except KeyboardInterrupt:
        for lane in lanes.values():
            lane.shutdown(cancel_futures=True)
        raise
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("level", choices=LEVELS)
    parser.add_argument("--only", help="comma-separated beginnings of suite names")
    parser.add_argument("--skip", help="the same, to leave out")
    arguments = parser.parse_args()
    chosen = suites()
    for beginning in filter(None, f"{arguments.only or ''},{arguments.skip or ''}".split(",")):
        if not any(suite.name.startswith(beginning) for suite in chosen):
            parser.error(f"no suite is called {beginning}: {', '.join(suite.name for suite in chosen)}")
    chosen = [suite for suite in chosen if getattr(suite, arguments.level) is not None]
    if arguments.only:
        chosen = [s for s in chosen if s.name.startswith(tuple(arguments.only.split(",")))]
    if arguments.skip:
        chosen = [s for s in chosen if not s.name.startswith(tuple(arguments.skip.split(",")))]
    begin = time.monotonic()
    try:
        results = run_suites(chosen, arguments.level)
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    print(f"\n{'suite':<22}{'passed':>9}{'failed':>9}{'seconds':>10}")
    for name, result in results.items():
        print(f"{name:<22}{result.count.passed:>9}{result.count.failed:>9}{result.seconds:>10.1f}")
    print(f"{arguments.level:<40}{time.monotonic() - begin:>10.1f}")
    failed = sum(result.count.failed for result in results.values())
    print(f"{sum(result.count.passed for result in results.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
