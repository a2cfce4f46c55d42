"""The extensions with AddressSanitizer and UndefinedBehaviorSanitizer, and a little with valgrind, in PostgreSQL with assertions.

PostgreSQL of the installed major version is built for it once. A report of a sanitizer that names a file of this tree
fails the suite during which it was written, whatever the suite itself says.
"""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import build
from build import ADDRESS, TREE, VALGRIND, Kind, place
from penumbra_lab.server import give_to_server_user

sys.path.insert(0, str(TREE / "test"))

import check  # noqa: E402
from check import PYTEST, Count, Suite, count_lines, count_pytest, count_regress  # noqa: E402

# Wrong under sanitizers: they take part in a crash, and their own frames stand in stacks.
NOT_WITH_SANITIZERS = ("backtrace",)
# A regression test that asks how much memory a process takes, which is the sanitizers' then.
MEASURES_MEMORY = "memory"
OURS = re.compile(r"/(kernels|engine|common|extensions)/|penumbra")
# Regression tests with little data, of columnar some; valgrind takes 50 times as long.
WITH_VALGRIND = {"sort": "", "compress": "", "columnar": "SQL_TESTS=agreement cache_load joins row_proof stored_form",
                 "lookup": "SQL_TESTS=changes errors ready update"}  # fmt: skip


def reports() -> Path:
    return place() / "reports"


def environment(kind: Kind, bin_directory: Path) -> dict[str, str]:
    log = f"log_path={reports() / 'report'}"
    return {
        # A backend leaks what its memory contexts hold when it exits.
        "ASAN_OPTIONS": f"detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:disable_coredump=1:{log}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=0:{log}",
        "PG_BIN": str(bin_directory),
        "PENUMBRA_STATE": str(place() / f"{kind.name}-servers"),
        "ADVERSARIAL_SLOWNESS": "8",
        "PATH": f"{bin_directory}:{os.environ['PATH']}",
    }


def report_heads() -> list[str]:
    """What each report of this tree's code says first, and the frames of this tree; they are removed."""
    heads = set()
    for path in sorted(reports().iterdir()):
        text = path.read_text(errors="replace")
        for report in re.split(r"(?m)^(?==+$|\S+: runtime error|==\d+== (?:Invalid|Conditional|Use of|Syscall|VALGRINDERROR))", text):
            frames = [line.strip() for line in report.splitlines() if re.match(r"\s+#\d+ |==\d+==\s+(?:at|by) ", line)]
            said = re.search(r"(?m)^.*(?:ERROR: AddressSanitizer|runtime error|Invalid|uninitiali).*$", report)
            if said and OURS.search(said.group() + " ".join(frames[:12])):
                ours = [frame for frame in frames if OURS.search(frame)]
                heads.add("\n    ".join([re.sub(r"==\d+==|0x[0-9a-f]+", "", said.group()), *(ours or frames)[:5]]))
        path.unlink()
    return sorted(heads)


def suite(name: str, count: Callable[[str], Count], command: list[str], variables: dict[str, str]) -> Suite:
    return Suite(name, count, command, long=[], environment=variables, lane=check.LANES[0])


def run_suite(suite: Suite) -> tuple[Count, float]:
    result = check.run_suite(suite, "long")
    count, seconds = result.count, result.seconds
    heads = report_heads()
    for head in heads:
        print(f"REPORT: {head}")
    return Count(count.passed, count.failed + len(heads)), seconds


def sql_tests(extension: Path) -> str:
    names = sorted(path.stem for path in extension.glob("test/sql/*.sql"))
    return "SQL_TESTS=" + " ".join(name for name in names if name != MEASURES_MEMORY)


def sanitizer_suites(bin_directory: Path) -> list[Suite]:
    tree = build.tree(ADDRESS)
    variables = environment(ADDRESS, bin_directory)
    names = [path.parent.name for path in sorted((tree / "extensions").glob("*/Makefile"))]
    installs = [shlex.join(build.make_command(ADDRESS, bin_directory, name, "install")) for name in names]
    return [
        suite("install", count_lines, ["bash", "-c", f"{' && '.join(installs)} && echo 'ok: installed'"], variables),
        *(
            suite(f"extension {name}", count_regress,
                  build.make_command(ADDRESS, bin_directory, name, "install", "test", sql_tests(tree / "extensions" / name)),
                  variables)
            for name in names
            if name not in NOT_WITH_SANITIZERS
        ),
        suite("adversarial", count_pytest, [*PYTEST, "test/adversarial"], variables),
        suite("differential", count_pytest, [*PYTEST, "test/differential", "--queries", "300", "--seconds", "300"], variables),
    ]  # fmt: skip


def valgrind_suites(bin_directory: Path) -> list[Suite]:
    """The server is a script that runs the real one under valgrind, with PostgreSQL's suppressions."""
    tree = build.tree(VALGRIND)
    real = bin_directory / "postgres.real"
    if not real.exists():
        (bin_directory / "postgres").rename(real)
    for name in WITH_VALGRIND:
        build.run(build.make_command(VALGRIND, bin_directory, name, "install"), tree)
    suppressions = build.source_tree(build.Installation.find().major) / "src/tools/valgrind.supp"
    script = bin_directory / "postgres"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$1" in -V|--version|-C|--check|--boot|--single|--describe-config) exec {real} "$@";; esac\n'
        f"exec valgrind --quiet --trace-children=yes --track-origins=yes --leak-check=no --error-markers=VALGRINDERROR-BEGIN,VALGRINDERROR-END"
        f' --suppressions={suppressions} --log-file={reports()}/report.%p {real} "$@"\n'
    )
    script.chmod(0o755)
    return [
        suite(f"valgrind, extension {name}", count_regress,
              build.make_command(VALGRIND, bin_directory, name, "test-regress", *filter(None, [tests])),
              {"PGCTLTIMEOUT": "600"})
        for name, tests in WITH_VALGRIND.items()
    ]  # fmt: skip


KINDS: dict[str, tuple[Kind, Callable[[Path], list[Suite]]]] = {
    "address": (ADDRESS, sanitizer_suites),
    "valgrind": (VALGRIND, valgrind_suites),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS), help="of address, valgrind")
    parser.add_argument("--only", default="", help="comma-separated beginnings of suite names")
    arguments = parser.parse_args()
    shutil.rmtree(reports(), ignore_errors=True)
    reports().mkdir()
    give_to_server_user(reports())
    results = []
    for kind, suites in (KINDS[name] for name in arguments.kinds.split(",")):
        for suite in suites(build.postgresql(kind)):
            if suite.name.startswith(tuple(arguments.only.split(","))):
                results.append((suite.name, *run_suite(suite)))
                sys.stdout.flush()
    for name, count, seconds in results:
        word = "FAILED" if count.failed else "ok"
        print(f"{word}: {name} with sanitizers: {count.passed} passed, {count.failed} failed, {seconds:.0f} s")
    return 1 if any(count.failed for _, count, _ in results) or not results else 0


if __name__ == "__main__":
    sys.exit(main())
