"""What a finalist must pass before anybody is told to use it.

In this order, by what they cost: it builds as a whole and passes the project's tests; for
PostgreSQL, every extension of Penumbra builds against it and passes its own; workloads that it was
not tuned on cost no more; it is faster on the clock.
"""

import hashlib
import json
import shutil
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from penumbra_lab.analysis.comparison import Comparison, SeriesComparison, compare_runs
from penumbra_lab.analysis.document import make_run
from penumbra_lab.analysis.verdict import Outcome
from penumbra_lab.bench.pgbench import bench_pgbench
from penumbra_lab.errors import LabError
from penumbra_lab.reporting.wording import verdict_text
from penumbra_lab.run.document import RunDocument, Variant, read_run, write_run
from penumbra_lab.run.levels import LEVELS
from penumbra_lab.run.pgbench import WORKLOADS, Workload
from penumbra_lab.run.recording import MILLISECONDS, alternating, measurement, record
from penumbra_lab.run.sweep import LEVEL_TIME, THROUGHPUT
from penumbra_lab.server import give_to_server_user
from penumbra_lab.state import TREE
from penumbra_lab.tune import counters
from penumbra_lab.tune.callgrind import COST, Counts
from penumbra_lab.tune.evaluate import Evaluator
from penumbra_lab.tune.execute import Executor, Infeasible
from penumbra_lab.tune.postgresql import PostgreSQL
from penumbra_lab.tune.project import IGNORED, Command, digest_of
from penumbra_lab.tune.result import OtherCounts, described
from penumbra_lab.tune.space import Recipe
from penumbra_lab.tune.tuner import Findings

FINALISTS = 3
COUNTER_ROUNDS = 3
# A workload that it was not tuned on may lose this much.
LOSS_MAX = 0.01
LOOP_LEVEL = LEVELS[0].name
EXTENSION_SOURCES = ("common", "kernels", "engine", "extensions")


class GateFailed(Exception):
    """No finalist may be recommended."""


class Gate:
    def __init__(self, project: PostgreSQL | Command, prefix: Path, kinds: tuple[str, ...],
                 repetitions: int):  # fmt: skip
        self.project = project
        self.prefix = prefix
        self.kinds = kinds
        self.repetitions = repetitions
        self.rows: list[dict] = []
        self.validation_rows: list[dict] = []
        self.counted: OtherCounts = {}

    def choose(self, findings: Findings, evaluator: Evaluator,
               say: Callable[[str], None]) -> Path | None:  # fmt: skip
        """The installation of the first finalist that passes; None where nothing was asked."""
        if not self.kinds:
            return None
        for label, recipe in findings.finalists(self.project.has_layout)[:FINALISTS]:
            if recipe == findings.baseline.recipe:
                break
            say(f"gate: {label}: {recipe.describe()}")
            try:
                self._pass(label, recipe, findings.baseline.recipe, evaluator, say)
            except Infeasible as error:
                self._note(label, "refused", str(error))
                continue
            findings.recipe = recipe
            return self.prefix
        raise GateFailed("no finalist passed the gate: the distribution's build stays the best")

    def _note(self, finalist: str, test: str, outcome: str) -> None:
        self.rows.append({"finalist": finalist, "test": test, "outcome": outcome})

    def _pass(self, label: str, recipe: Recipe, baseline: Recipe, evaluator: Evaluator,
              say: Callable[[str], None]) -> None:  # fmt: skip
        is_server = isinstance(self.project, PostgreSQL)
        build = evaluator.build(recipe)
        tested = self.project.finish(build, self.prefix) if is_server else build
        key, executor = evaluator.key(recipe), evaluator.executor
        if "check" in self.kinds:
            say("gate: the project's own tests")
            once(evaluator.place, f"check {key}", lambda: self.project.check(tested, executor))
            self._note(label, "the project's tests", "passed")
        if is_server:
            self._count_others(label, evaluator, say)
        self._count_cycles(label, build, evaluator.build(baseline), evaluator)
        if "extensions" in self.kinds:
            say("gate: Penumbra's extensions")
            sources = " ".join(digest_of(TREE / name) for name in EXTENSION_SOURCES)
            once(evaluator.place, f"extensions {key} {sources}",
                 lambda: check_extensions(self.prefix, evaluator.place, executor))  # fmt: skip
            self._note(label, "Penumbra's extensions", "built, and passed their tests")
        if "clock" in self.kinds:
            say("gate: the clock")
            comparison = (
                self._clock_servers(label, evaluator) if is_server
                else self._clock_programs(recipe, baseline, evaluator)
            )  # fmt: skip
            self._judge(label, comparison)
        if not is_server:
            shutil.rmtree(self.prefix, ignore_errors=True)
            shutil.copytree(build / "tree", self.prefix, symlinks=True)

    # -- counts of other workloads -----------------------------------------------------------------

    def _count_others(self, label: str, evaluator: Evaluator,
                      say: Callable[[str], None]) -> None:  # fmt: skip
        """Each workload on the tuned server, on the baseline's and on the distribution's."""
        sides = {"baseline": self.project.base / "bin", "tuned": self.prefix / "bin"}
        if package := self.project.distribution:
            sides["the distribution's package"] = package
        for workload in self.project.workloads:
            say(f"gate: counts of {workload.name}")
            counts = {side: self._count(bins, workload, evaluator) for side, bins in sides.items()}
            tuned = counts.pop("tuned")
            self.counted.setdefault(workload.name, {}).update({**counts, label: tuned})
            for side, base in counts.items():
                row = {"finalist": label, "workload": workload.name, "against": side,
                       "in training": "no" if workload in self.project.held_out else "yes"}
                self.validation_rows.append({**row, **{
                    name: f"{100 * (tuned[name] / base[name] - 1):+.1f} %"
                    for name in (COST, "instructions", "I1 misses", "D1 misses", "LL misses")
                }, "I1 and D1 misses": f"{100 * (_l1_misses(tuned) / _l1_misses(base) - 1):+.1f} %",
                })  # fmt: skip
            loss = max(tuned[COST] / base[COST] for base in counts.values()) - 1
            if loss > LOSS_MAX:
                raise Infeasible(f"{workload.name} costs {100 * loss:.1f} % more")
        self._note(label, "counts of every workload", f"none above {LOSS_MAX:.0%} more")

    def _count(self, binaries: Path, workload: Workload, evaluator: Evaluator) -> Counts:
        """Once for each server."""
        digest = hashlib.sha256((binaries / "postgres").read_bytes())
        if workload.script:
            digest.update(workload.script.read_bytes())
        kept = evaluator.place / "counted" / f"{workload.name}-{digest.hexdigest()[:16]}.json"
        if not kept.exists():
            counts = self.project.measure_workload(binaries, workload, evaluator.executor)
            kept.parent.mkdir(exist_ok=True)
            part = kept.with_suffix(".part")
            part.write_text(json.dumps(counts))
            part.rename(kept)
        return json.loads(kept.read_text())

    # -- the processor's counters ------------------------------------------------------------------

    def _count_cycles(self, label: str, tuned: Path, baseline: Path, evaluator: Evaluator) -> None:
        """Told, and no reason to refuse: the clock decides."""
        if not counters.are_there():
            self._note(label, "the processor's counters", "none here that perf may read")
            return
        found: dict[Path, list[Counts]] = {baseline: [], tuned: []}
        for _ in range(COUNTER_ROUNDS):
            for build, counted in found.items():
                counted.append(self.project.measure_counters(build, evaluator.executor))
        for name in found[baseline][0]:
            before, after = (statistics.median(c[name] for c in found[b]) for b in found)
            self._note(label, f"the processor's counters: {name}",
                       f"{100 * (after / before - 1):+.1f} % ({before:,.0f} to {after:,.0f})"
                       if before else "none")  # fmt: skip

    # -- the clock ---------------------------------------------------------------------------------

    def _clock_servers(self, label: str, evaluator: Evaluator) -> Comparison:
        """The lab's own pgbench benchmark, over all workloads, and the loops inside the server."""
        output = evaluator.place / f"clock-{label.replace(' ', '-')}.json"
        variants = {"baseline": self.project.base / "bin", "tuned": self.prefix / "bin"}
        if package := self.project.distribution:
            variants = {"distribution": package, **variants}
        for binaries in variants.values():
            make_extensions(("bench",), ("all", "install"), binaries, evaluator.place,
                            evaluator.executor)  # fmt: skip
        arguments = ["--levels", "--clients", "1", "--output", str(output),
                     "--repetitions", str(self.repetitions)]  # fmt: skip
        for name, binaries in variants.items():
            arguments += ["--variant", f"{name}:bin={binaries}"]
        for workload in self.project.workloads:
            named = next((n for n, w in WORKLOADS.items() if w == workload), None)
            arguments += ["-w", named] if named else ["-f", str(workload.script)]
        bench_pgbench.main(arguments, standalone_mode=False)
        return compare_runs([make_run(read_run(output), "clock", "this run")], next(iter(variants)))

    def _clock_programs(self, recipe: Recipe, baseline: Recipe,
                        evaluator: Evaluator) -> Comparison:  # fmt: skip
        """Baseline and finalist in turn, who goes first changing from block to block."""
        builds = {"baseline": evaluator.build(baseline), "tuned": evaluator.build(recipe)}
        variants = [Variant(name, name, {}) for name in builds]
        run = RunDocument(
            "tune-clock", f"{self.project.name}: the clock", described(self.project, recipe),
            alternating(self.repetitions), variants,
        )  # fmt: skip

        def work() -> None:
            with measurement(run, None) as samples:
                for block in range(-1, self.repetitions):  # the first warms up
                    for name in builds if block % 2 == 0 else reversed(builds):
                        began = time.perf_counter()
                        self.project.run_once(builds[name], evaluator.executor)
                        elapsed = time.perf_counter() - began
                        if block >= 0:
                            samples.add("measure command", name, MILLISECONDS, 1000 * elapsed,
                                        block)  # fmt: skip

        outcome = record(run, work)
        if outcome.raised:
            raise outcome.raised
        write_run(outcome.document, evaluator.place / "clock.json")
        return compare_runs([make_run(outcome.document, "clock", "this run")], "baseline")

    def _judge(self, label: str, comparison: Comparison) -> None:
        """Faster where it was tuned, and nowhere slower by more than the bound."""
        tuned = [entry for entry in comparison.series if entry.other.variant == "tuned"]
        for entry in tuned:
            series = entry.series
            self._note(label, f"clock: {series.workload}, {series.metric}",
                       verdict_text(entry.verdict, series.unit, series.better))  # fmt: skip
        if all(e.verdict.outcome is not Outcome.BETTER for e in tuned if self._is_tuned_for(e)):
            raise Infeasible("the clock does not show it to be faster")
        for entry in tuned:
            if entry.verdict.high < 1 - LOSS_MAX:
                raise Infeasible(f"the clock shows {entry.series.workload} to be slower")

    def _is_tuned_for(self, entry: SeriesComparison) -> bool:
        """Of select-only also its statement in a loop within the server: what a client sees of so
        short a statement is mostly the client and the scheduler."""
        if isinstance(self.project, Command):
            return True
        wanted = [(self.project.workload.name, THROUGHPUT.name)]
        if self.project.workload == WORKLOADS["select-only"]:
            wanted.append((LOOP_LEVEL, LEVEL_TIME.name))
        return (entry.series.workload, entry.series.metric) in wanted


def once(place: Path, what: str, work: Callable[[], None]) -> None:
    """What was passed stays passed: a gate that was interrupted goes on where it was."""
    mark = place / "passed" / hashlib.sha256(what.encode()).hexdigest()[:16]
    if not mark.exists():
        work()
        mark.parent.mkdir(exist_ok=True)
        mark.write_text(what + "\n")


def _l1_misses(counts: Counts) -> float:
    return counts["I1 misses"] + counts["D1 misses"]


def check_extensions(prefix: Path, place: Path, executor: Executor) -> None:
    if not (TREE / "build/engine").is_dir():
        raise LabError("the engine is not built: run `make build`")
    names = [path.parent.name for path in sorted(TREE.glob("extensions/*/Makefile"))]
    make_extensions(names, ("all", "install", "test"), prefix / "bin", place, executor)


def make_extensions(names: Iterable[str], targets: tuple[str, ...], binaries: Path, place: Path,
                    executor: Executor) -> None:  # fmt: skip
    """In a copy of the tree: PGXS compiles beside the sources."""
    tree = place / "extensions"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(TREE, tree, symlinks=True,
                    ignore=shutil.ignore_patterns(*IGNORED, "*.o", "*.so", "*.bc"))  # fmt: skip
    tests = place / "extension-tests"
    for name in names:
        directory = tests / name
        directory.mkdir(parents=True, exist_ok=True)
        give_to_server_user(directory)
        for target in targets:
            executor.run(
                ["make", "--no-print-directory", "-C", str(tree / "extensions" / name), target,
                 f"PG_CONFIG={binaries}/pg_config", f"ENGINE_BUILD={TREE / 'build'}",
                 f"TEST_DIR={directory}"],
                place / "extensions.log", executor.build_seconds,
            )  # fmt: skip
    shutil.rmtree(tree)
    shutil.rmtree(tests)
