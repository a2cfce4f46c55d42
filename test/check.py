"""`make check`: every suite, each with its own count, then 'N passed, N failed'.

Suites run in turn. Those of the sanitizers keep a processor busy for a quarter of an hour and start no server: they run
beside the others, which often wait for one, at a lower priority.
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
PYTEST = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


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
    name: str
    command: list[str]
    count: object
    environment: dict[str, str] = field(default_factory=dict)
    is_beside: bool = False  # runs beside the suites that do not


def suites(is_long: bool) -> list[Suite]:
    extensions = sorted(makefile.parent.name for makefile in TREE.glob("extensions/*/Makefile"))
    # gcc 14 does not align vectors of 64 bytes in the stack frames that it would keep to find later uses.
    sanitizer = {
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    return [
        Suite("style", [PYTHON, "test/style.py"], count_lines),
        Suite("wall", [PYTHON, "test/wall.py"], count_lines),
        Suite("kernels", ["build/kernels/kernels_test", "--gtest_brief=1"], count_gtest),
        Suite("engine", ["build/engine/engine_test", "--gtest_brief=1"], count_gtest),
        Suite("vectors page", [PYTHON, "test/vectors_page.py", "--check"], count_lines),
        Suite("lab", [*PYTEST, "lab/tests"], count_pytest),
        Suite("symbolize", [*PYTEST, "extensions/backtrace/symbolize/test"], count_pytest),
        *(
            Suite(f"extension {name}", ["make", "--no-print-directory", "extension-check", f"EXTENSIONS={name}"],
                  count_regress)
            for name in extensions
        ),
        Suite("backtraces like gdb's", [PYTHON, "extensions/backtrace/test/accuracy/check.py", "--few"], count_lines),
        Suite("disk cache's files", [PYTHON, "extensions/columnar/test/unit/run.py"], count_lines),
        Suite("fuzzing compress", [PYTHON, "extensions/compress/test/fuzz/run.py"], count_lines),
        Suite("differential", [*PYTEST, "test/differential", *(["--histories=200000"] if is_long else [])], count_pytest),
        Suite("crash", [*PYTEST, "test/crash", *(["--kills=300", "--power-losses=200"] if is_long else [])], count_pytest),
        Suite("coexistence", [*PYTEST, "test/coexistence"], count_pytest),
        Suite("adversarial", [*PYTEST, "test/adversarial", *(["--long"] if is_long else [])], count_pytest),
        Suite("keytree, model and crashes", [*PYTEST, "extensions/keytree/test/model"], count_pytest),
        Suite("regression", [PYTHON, "test/regression/run.py"], count_lines),
        Suite("regression keytree", [PYTHON, "test/regression/run_keytree.py"], count_lines),
        Suite("regression numeric", [PYTHON, "test/regression/run_numeric.py"], count_lines),
        Suite("sanitizers, build", ["bash", "-c",
              "cmake -G Ninja -B build-asan -S . -DPENUMBRA_SANITIZE=address,undefined >/dev/null && ninja -C build-asan"
              " kernels_test engine_test penumbra-symbolize && echo 'ok: built'"], count_lines, is_beside=True),
        Suite("sanitizers, kernels", ["build-asan/kernels/kernels_test", "--gtest_brief=1"], count_gtest, sanitizer,
              is_beside=True),
        Suite("sanitizers, engine", ["build-asan/engine/engine_test", "--gtest_brief=1"], count_gtest, sanitizer,
              is_beside=True),
        Suite("sanitizers, symbolize", [*PYTEST, "extensions/backtrace/symbolize/test/test_bad_input.py",
              "extensions/backtrace/symbolize/test/test_process.py"], count_pytest,
              {**sanitizer, "SYMBOLIZE": str(TREE / "build-asan/extensions/backtrace/symbolize/penumbra-symbolize")},
              is_beside=True),
        *([Suite("sanitizers, extensions", [PYTHON, "test/sanitized/run.py"], count_lines)] if is_long else []),
    ]  # fmt: skip


@dataclass(frozen=True)
class Result:
    count: Count
    seconds: float
    output: str


def run_suite(suite: Suite) -> Result:
    """Prints what the suite prints, unless it runs beside others."""
    if not suite.is_beside:
        print(f"\n=== {suite.name}", flush=True)
    begin = time.monotonic()
    lines = []
    process = subprocess.Popen(
        ["nice", "-n", "10", *suite.command] if suite.is_beside else suite.command,
        cwd=TREE, env={**os.environ, **suite.environment}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with process:
        for line in process.stdout:
            if not suite.is_beside:
                print(line, end="", flush=True)
            lines.append(line)
    output = "".join(lines)
    count = suite.count(output)
    # A suite that dies or runs nothing has failed, whatever it printed before.
    if (process.returncode != 0 and count.failed == 0) or count.passed + count.failed == 0:
        count = Count(count.passed, count.failed + 1)
    return Result(count, time.monotonic() - begin, output)


def run_suites(chosen: list[Suite]) -> dict[str, Result]:
    results = {}
    with ThreadPoolExecutor(1) as beside:
        try:
            running = {suite.name: beside.submit(run_suite, suite) for suite in chosen if suite.is_beside}
            for suite in chosen:
                if not suite.is_beside:
                    results[suite.name] = run_suite(suite)
            for name, future in running.items():
                results[name] = future.result()
                print(f"\n=== {name}\n{results[name].output}", end="", flush=True)
        except KeyboardInterrupt:
            beside.shutdown(cancel_futures=True)
            raise
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="comma-separated beginnings of suite names")
    parser.add_argument("--skip", help="the same, to leave out")
    parser.add_argument("--long", action="store_true", help="with what takes hours")
    arguments = parser.parse_args()
    chosen = suites(arguments.long)
    if arguments.only:
        chosen = [s for s in chosen if s.name.startswith(tuple(arguments.only.split(",")))]
    if arguments.skip:
        chosen = [s for s in chosen if not s.name.startswith(tuple(arguments.skip.split(",")))]
    try:
        results = run_suites(chosen)
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    print(f"\n{'suite':<22}{'passed':>9}{'failed':>9}{'seconds':>10}")
    for name, result in results.items():
        print(f"{name:<22}{result.count.passed:>9}{result.count.failed:>9}{result.seconds:>10.1f}")
    failed = sum(result.count.failed for result in results.values())
    print(f"{sum(result.count.passed for result in results.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
