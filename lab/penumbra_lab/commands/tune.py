"""The commands `penumbra tune ...`."""

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

import click

from penumbra_lab.errors import LabError
from penumbra_lab.postgresql_source import source_tree
from penumbra_lab.run.document import RunDocument, Variant, write_run
from penumbra_lab.run.pgbench import WORKLOADS, Workload
from penumbra_lab.run.recording import one_line
from penumbra_lab.server import Installation
from penumbra_lab.show import console
from penumbra_lab.state import TREE, results_directory, state_directory
from penumbra_lab.tune import callgrind, catalog
from penumbra_lab.tune.evaluate import Evaluator
from penumbra_lab.tune.execute import Executor
from penumbra_lab.tune.gate import Gate, GateFailed
from penumbra_lab.tune.journal import Budget, Journal, entries_of
from penumbra_lab.tune.package import debian_package
from penumbra_lab.tune.postgresql import PostgreSQL
from penumbra_lab.tune.project import Command, Project, check_profiling
from penumbra_lab.tune.result import (
    count_rows,
    described,
    explain,
    fill_layers,
    fill_searches,
    flag_rows,
    layer_rows,
    layer_table,
    new_document,
    searcher_rows,
    write_recipe,
)
from penumbra_lab.tune.search import SEARCHERS
from penumbra_lab.tune.tuner import Findings, Plan, Tuner


@click.group()
def tune() -> None:
    """Finds the compiler options with which a program runs fastest on this machine."""
    # now, and not when hours of building are done
    missing = [name for name in ("optuna", "sklearn") if not find_spec(name)]
    if missing:
        raise LabError(f"{', '.join(missing)}: not installed, run `make tune` first")


def _common(function):
    for option in reversed((
        click.option("--hours", type=click.FloatRange(min=0, min_open=True), default=10.0,
                     show_default=True, help="For all of it, over all runs; resumed runs go on."),
        click.option("--disk", "disk_gb", type=click.FloatRange(min=0.1), default=20.0,
                     show_default=True, help="Gigabytes that finished builds may take."),
        click.option("--evaluations", type=click.IntRange(min=0), default=40, show_default=True,
                     help="Builds of each searcher, after the layers; 0: layers only."),
        click.option("--search", "searchers", multiple=True, type=click.Choice([*SEARCHERS]),
                     help="May be given again, to compare them.  [default: group]"),
        click.option("--compiler", "compilers", multiple=True,
                     help="May be given again; the first builds the baseline."
                     "  [default: every gcc and clang that is installed]"),
        click.option("--builders", type=click.IntRange(min=1), default=1, show_default=True,
                     help="Builds side by side; measurements are one at a time."),
        click.option("--jobs", type=click.IntRange(min=1), default=None,
                     help="Of make, for each build.  [default: as many as CPUs]"),
        click.option("--build-timeout", type=click.FloatRange(min=1), default=7200.0,
                     show_default=True, help="Seconds after which a build is infeasible."),
        click.option("--measure-timeout", type=click.FloatRange(min=1), default=900.0,
                     show_default=True, help="The same of a measurement: programs may hang."),
        click.option("--seed", type=int, default=1, show_default=True),
        click.option("--explain", "flag", metavar="FLAG",
                     help="Says what is known of a flag here, and does nothing else."),
        click.option("--output", type=click.Path(path_type=Path, dir_okay=False), default=None,
                     help="The document.  [default: in .penumbra/results]"),
    )):  # fmt: skip
        function = option(function)
    return function


@tune.command("postgresql")
@click.option("--source", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="A source tree.  [default: Debian's source package of the installed version]")
@click.option("--workload", "workload_name", type=click.Choice([*WORKLOADS]),
              default="select-only", show_default=True)  # fmt: skip
@click.option("--file", "script", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="A pgbench script of your own, in place of --workload.")  # fmt: skip
@click.option("--gate", "gates", multiple=True, type=click.Choice(["check", "extensions", "clock"]),
              help="What a finalist must pass, may be given again: `make check`, the tests of"
              " Penumbra's extensions, the clock.  [default: all three]")  # fmt: skip
@click.option("--no-gate", is_flag=True, help="Counts only: nothing is accepted.")
@click.option("--repetitions", type=click.IntRange(min=2), default=25, show_default=True,
              help="Blocks of the clock's comparison.")  # fmt: skip
@click.option("--package", is_flag=True, help="Makes a Debian package of what was accepted.")
@_common
def tune_postgresql(source: Path | None, workload_name: str, script: Path | None,
                    gates: tuple[str, ...], no_gate: bool, repetitions: int, package: bool,
                    **options) -> None:  # fmt: skip
    """PostgreSQL for a workload, select-only pgbench if no other is named.

    The result is an installation under .penumbra; the system's PostgreSQL is not touched.
    """
    workload = Workload(script.stem, script=script) if script else WORKLOADS[workload_name]
    compilers = _compilers(options)
    source = source or source_tree(Installation.find().major)
    others = tuple(w for w in WORKLOADS.values() if w.name != workload.name)
    place = _place("postgresql", f"{source.resolve()} {workload.name}")
    project = PostgreSQL(source, workload, place, compilers[0], _jobs(options), others)
    if _explained(project, compilers[0], place, options["flag"]):
        return
    if not project.has_layout:
        console.print("BOLT is not installed, so its layer is left out: it is in the package"
                      " bolt-16 or later", style="yellow")  # fmt: skip
    chosen = () if no_gate else gates or ("check", "extensions", "clock")
    if chosen and not project.distribution:
        console.print(f"the distribution's archive has no package of PostgreSQL {project.version},"
                      " which the source is: it is compared with the baseline alone",
                      style="yellow")  # fmt: skip
    gate = Gate(project, place / "tuned", chosen, repetitions)
    prefix = _run(project, place, compilers, options, gate)
    if package and prefix:
        console.print(f"Package: {debian_package(project, prefix, place)}", soft_wrap=True)


@tune.command("project")
@click.option("--source", type=click.Path(path_type=Path, exists=True, file_okay=False),
              required=True, help="It is copied for each build, and never changed.")  # fmt: skip
@click.option("--build", required=True, metavar="COMMAND",
              help="Gets CC, CXX, AR, CFLAGS, CXXFLAGS, LDFLAGS in its environment.")  # fmt: skip
@click.option("--measure", required=True, metavar="COMMAND", help="What shall be fast.")
@click.option("--check", metavar="COMMAND", help="The project's tests: a finalist passes them.")
@click.option("--flags", default="-O2", show_default=True, help="The baseline's.")
@click.option("--repetitions", type=click.IntRange(min=2), default=15, show_default=True,
              help="Blocks of the clock's comparison.")  # fmt: skip
@_common
def tune_project(source: Path, build: str, measure: str, check: str | None, flags: str,
                 repetitions: int, **options) -> None:  # fmt: skip
    """Any project that one command builds and another one runs."""
    project = Command(source.resolve().name, source.resolve(), build, measure, check,
                      tuple(flags.split()))  # fmt: skip
    _tune_command(project, repetitions, options)


ENGINE_BUILD = (
    "cmake -G Ninja -B built -S . -DCMAKE_BUILD_TYPE=None -DPENUMBRA_TESTS=ON >/dev/null"
    " && ninja -C built engine_bench engine_test kernels_test"
)
# Queries and joins on one thread: half a minute of callgrind; all benchmarks take more than ten.
ENGINE_MEASURE = (
    "built/engine/engine_bench --benchmark_min_time=0"
    " '--benchmark_filter=RunBenchmark/.*/0/|RunJoin'"
)


@tune.command("engine")
@click.option("--repetitions", type=click.IntRange(min=2), default=15, show_default=True,
              help="Blocks of the clock's comparison.")  # fmt: skip
@_common
def tune_engine(repetitions: int, **options) -> None:
    """Penumbra's own engine and kernels, for the engine's benchmarks."""
    project = Command(
        "engine", TREE, ENGINE_BUILD, ENGINE_MEASURE,
        "built/kernels/kernels_test --gtest_brief=1 && built/engine/engine_test --gtest_brief=1",
        ("-O2",),
    )  # fmt: skip
    _tune_command(project, repetitions, options)


def _tune_command(project: Command, repetitions: int, options: dict) -> None:
    compilers = _compilers(options)
    place = _place(project.name, project.identity)
    if _explained(project, compilers[0], place, options["flag"]):
        return
    gate = Gate(project, place / "tuned", ("check", "clock"), repetitions)
    _run(project, place, compilers, options, gate)


def _compilers(options: dict) -> tuple[str, ...]:
    chosen = options["compilers"] or catalog.compilers()
    if not chosen:
        raise LabError("no compiler is installed: install the package gcc or clang")
    for compiler in chosen:
        catalog.compiler_version(compiler)
        if catalog.is_clang(compiler):
            check_profiling(compiler)  # now, and not when hours of building are done
    return tuple(chosen)


def _jobs(options: dict) -> int:
    """Half of a build is on one CPU: linking, BOLT, training. So builds side by side share all."""
    return options["jobs"] or os.cpu_count() or 1


def _place(name: str, identity: str) -> Path:
    """A run that is given the same again goes on where it was."""
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    place = state_directory() / "tune" / f"{name}-{digest}"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _explained(project: Project, compiler: str, place: Path, flag: str | None) -> bool:
    if flag:
        entries = list(entries_of(place / "journal.jsonl"))
        for line in explain(flag, compiler, entries):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return bool(flag)


def _say(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _run(project: Project, place: Path, compilers: tuple[str, ...], options: dict,
         gate: Gate) -> Path | None:  # fmt: skip
    """Searches, puts the finalists through the gate, writes whatever was found."""
    callgrind.valgrind()
    executor = Executor(options["build_timeout"], options["measure_timeout"])
    budget = Budget(options["hours"] * 3600, int(options["disk_gb"] * 1e9))
    plan = Plan(compilers, options["searchers"] or ("group",), options["evaluations"],
                options["seed"], options["builders"])  # fmt: skip
    recipe = project.baseline(compilers[0])
    run = new_document("tune", f"{project.name}: compiler options", described(project, recipe),
                       [Variant("build", "build", {})], hours=options["hours"])  # fmt: skip
    with Journal(place / "journal.jsonl") as journal:
        evaluator = Evaluator(project, place, journal, budget, executor, options["builders"], _say)
        tuner = Tuner(evaluator, plan, _say)
        status, raised, accepted = "complete", None, None
        try:
            prepare = getattr(project, "prepare", None)
            if prepare:
                _say("the whole of it, as the distribution builds it, once")
                prepare(executor)
            tuner.run()
            accepted = gate.choose(tuner.findings, evaluator, _say)
        except KeyboardInterrupt as interrupt:
            status, raised = "interrupted", interrupt
        except (LabError, GateFailed) as error:
            status, raised = "failed", LabError(one_line(error))
        _conclude(run, tuner.findings, gate, status, raised, project, place, options)
    return accepted


def _conclude(run: RunDocument, findings: Findings, gate: Gate, status: str,
              raised: BaseException | None, project: Project, place: Path,
              options: dict) -> None:  # fmt: skip
    if findings.steps:
        fill_layers(run, findings, gate.counted)
        run.content["sections"] = {
            "layers": layer_rows(findings), "flags": flag_rows(findings),
            "counts": count_rows(findings, gate.counted),
            "searchers": searcher_rows(findings), "validation": gate.validation_rows,
            "gate": gate.rows, "recipe": findings.recipe.describe(), "stopped": findings.stopped,
        }  # fmt: skip
        document = run.finish(status, str(raised) if status == "failed" else None)
        path = options["output"] or results_directory() / f"{place.name}.json"
        write_run(document, path)
        console.print(layer_table(document))
        if any(findings.trials.values()):
            _write_searches(project, findings, path)
        write_recipe(place / "recipe.json", project, findings.recipe, gate.rows)
        _say(f"Recipe: {findings.recipe.describe()}")
        _say(f"Result ({status}): {path}; `penumbra report {path} -o r.html` draws it")
    if raised:
        raise raised


def _write_searches(project: Project, findings: Findings, path: Path) -> None:
    variants = [Variant(name, name, {}) for name in findings.trials]
    run = new_document("tune-search", f"{project.name}: searchers beside each other",
                       described(project, findings.recipe), variants)  # fmt: skip
    fill_searches(run, findings)
    if run.content["series"]:
        write_run(run.finish("complete"), path.with_stem(path.stem + "-search"))
