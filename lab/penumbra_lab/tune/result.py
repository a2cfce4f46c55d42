"""What a tuning found, as documents, tables, a recipe and words."""

import json
import math
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rich.console import Group
from rich.table import Table

from penumbra_lab.run.document import Axis, Metric, RunDocument, Variant, utc_now
from penumbra_lab.run.environment import describe_client, describe_machine
from penumbra_lab.show import plain_table
from penumbra_lab.tune.callgrind import COST, METRICS, Counts
from penumbra_lab.tune.catalog import compiler_help, compiler_version, flag_space
from penumbra_lab.tune.journal import Entry
from penumbra_lab.tune.project import Project, find_bolt
from penumbra_lab.tune.search import best_so_far
from penumbra_lab.tune.space import Recipe
from penumbra_lab.tune.tuner import Findings

EVALUATIONS = Axis("evaluations", "evaluations")
BEST_COST = Metric("best estimated cycles so far", "cycles", "lower")
OtherCounts = dict[str, dict[str, Counts]]  # of each workload the gate counted: by server


def described(project: Project, recipe: Recipe) -> dict:
    """A program that was built has no server; its compiler stands where a server's would."""
    return {
        "machine": describe_machine(),
        "client_machine": None,
        "server": {
            "kind": "program", "version": f"{project.name}, {compiler_version(recipe.compiler)}",
            "version_number": 0, "build": {"CC": recipe.compiler, "CFLAGS": " ".join(recipe.flags)},
            "settings": {},
        },
        "client": describe_client(),
    }  # fmt: skip


def new_document(kind: str, title: str, environment: dict, variants: list[Variant],
                 **size: float | str) -> RunDocument:  # fmt: skip
    design = {"order": "in turn", "repetitions": 1, "server_starts": 1, "size": size}
    return RunDocument(kind, title, environment, design, variants)


def _counted(findings: Findings, others: OtherCounts) -> Iterator[tuple[str, Counts, Counts]]:
    """Each step of the layers and each workload's servers, with what they are compared with."""
    for step in findings.steps:
        if step.counts:
            yield f"{step.layer}: {step.label}", step.counts, findings.baseline.counts
    for workload, sides in others.items():
        for side, counts in sides.items():
            yield f"{workload}: {side}", counts, sides["baseline"]


def fill_layers(run: RunDocument, findings: Findings, others: OtherCounts) -> None:
    """In percent of the baseline: counts of workloads are orders of magnitude apart, and no chart
    of them would show a tenth."""
    for name, counts, base in _counted(findings, others):
        if counts is base and base is not findings.baseline.counts:
            continue  # the baselines of other workloads: 100 % each
        order = run.next_order()
        for metric, value in counts.items():
            if base[metric] > 0:
                run.add_sample(name, "build", Metric(metric, "% of the baseline", "lower"),
                               100 * value / base[metric], block=0, order=order,
                               started_at=utc_now(), server_start=0)  # fmt: skip


def count_rows(findings: Findings, others: OtherCounts) -> list[dict]:
    """What was counted, per unit of work."""
    return [{"build": name, **{metric: f"{value:,.{0 if value >= 100 else 1}f}"
                               for metric, value in counts.items()}}
            for name, counts, _ in _counted(findings, others)]  # fmt: skip


def fill_searches(run: RunDocument, findings: Findings) -> None:
    for name, trials in findings.trials.items():
        for number, cost in enumerate(best_so_far(trials), 1):
            if math.isfinite(cost):
                run.add_sample("search", name, BEST_COST, cost, block=0, order=run.next_order(),
                               started_at=utc_now(), axis=EVALUATIONS, x=number,
                               server_start=0)  # fmt: skip


def layer_rows(findings: Findings) -> list[dict]:
    """What each layer brought, against the step before it and against the baseline."""
    first = findings.baseline.counts
    rows, before = [], first
    for step in findings.steps:
        row = {"layer": step.layer, "option": step.label, "kept": "yes" if step.is_kept else "no"}
        if step.counts:
            row["against the step before"] = _percent(step.counts[COST] / before[COST])
            row |= {name: _percent(step.counts[name] / first[name])
                    for name in METRICS if first.get(name)}  # fmt: skip
        else:
            row["against the step before"] = f"infeasible: {step.reason[:120]}"
        rows.append(row)
        if step.is_kept:
            before = step.counts
    return rows


def flag_rows(findings: Findings) -> list[dict]:
    """The flags of the best point: what leaving each one out costs, and whether it was kept."""
    if findings.smallest is None:
        return []
    rows = []
    for number, loss in sorted(findings.smallest.losses.items(), key=lambda e: -(e[1] or math.inf)):
        parameter = findings.space.parameters[number]
        rows.append({
            "flag": parameter.values[findings.best.point[number]],
            "without it": "infeasible" if loss is None else f"{100 * loss:+.2f} %",
            "in the smallest set": "yes" if findings.smallest.point[number] else "no",
            "group": parameter.group, "what it does": parameter.about,
        })  # fmt: skip
    return rows


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.2f} %"


def layer_table(document: dict) -> Group:
    """For the terminal."""
    sections, parts = document["sections"], []
    shown = ["layer", "option", "kept", "against the step before", COST, "instructions",
             "I1 misses", "D1 misses"]  # fmt: skip
    parts.append(_table("Against the baseline, per unit of work", shown, sections["layers"]))
    for name in ("flags", "validation", "searchers", "gate"):
        if rows := sections.get(name):
            parts.append(_table(name.capitalize(), list(rows[0]), rows))
    return Group(*parts)


def _table(title: str, columns: list[str], rows: list[dict]) -> Table:
    return plain_table(title, columns, [[str(row.get(c, "")) for c in columns] for row in rows])


def searcher_rows(findings: Findings) -> list[dict]:
    rows = []
    for name, trials in findings.trials.items():
        feasible = [trial.cost for trial in trials if trial.cost is not None]
        start = findings.kept()[-1].counts[COST]
        rows.append({
            "searcher": name, "evaluations": len(trials),
            "infeasible": len(trials) - len(feasible),
            "best against the layers": _percent(min(feasible) / start) if feasible else "none",
        })  # fmt: skip
    return rows


def write_recipe(path: Path, project: Project, recipe: Recipe, gate: list[dict]) -> None:
    """All that is needed to build it again; files of a profile are with the installation."""
    path.write_text(json.dumps({
        "project": project.name, "compiler": compiler_version(recipe.compiler),
        "CC": recipe.compiler, "flags": list(recipe.flags), "profile": recipe.profile,
        "BOLT": recipe.layout, "versions": tool_versions(recipe),
        "steps": project.steps(recipe), "identity": project.identity.splitlines(), "gate": gate,
    }, indent=1) + "\n")  # fmt: skip


def tool_versions(recipe: Recipe) -> dict[str, str]:
    """The first line that each tool says of itself which has a number in it."""
    tools = {"linker": "ld", "valgrind": "valgrind"}
    if recipe.layout:
        tools["BOLT"] = find_bolt()
    found = {}
    for name, program in tools.items():
        if not shutil.which(program):
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        lines = [line.strip() for line in said.splitlines() if re.search(r"\d\.\d", line)]
        found[name] = lines[0] if lines else "unknown"
    return found


def explain(flag: str, compiler: str, entries: list[Entry]) -> list[str]:
    """What a flag is, and what this project's runs say of it."""
    parameter = flag_space(compiler).parameter_of(flag)
    lines = [flag]
    if parameter:
        lines.append(f"  group {parameter.group}: {parameter.about}; choices: "
                     + ", ".join(parameter.choices))  # fmt: skip
    if said := compiler_help(compiler, flag):
        lines.append(f"  {compiler}: {said}")
    tried = [e for e in entries if flag in e.recipe["flags"]]
    if not tried:
        return [*lines, "  never tried here"]
    broken = [e for e in tried if e.counts is None]
    lines.append(f"  in {len(tried)} of {len(entries)} builds, {len(broken)} of them infeasible")
    pairs = _pairs(flag, entries)
    if pairs:
        change = statistics.median(with_it / without - 1 for with_it, without in pairs)
        lines.append(f"  added to the same flags ({len(pairs)} pairs of builds): median"
                     f" {100 * change:+.2f} % {COST}")  # fmt: skip
    working = [e for e in entries if e.counts]
    having = [e.counts[COST] for e in working if flag in e.recipe["flags"]]
    lacking = [e.counts[COST] for e in working if flag not in e.recipe["flags"]]
    if having and lacking:
        best = f"best with it {min(having):,.0f}, best without it {min(lacking):,.0f}"
        lines.append(f"  {best} {COST}")
    for entry in broken[:1]:
        lines.append(f"  infeasible with it, once: {entry.reason[:200]}")
    return lines


def _pairs(flag: str, entries: list[Entry]) -> list[tuple[float, float]]:
    """Costs of builds that differ in this flag only: with it, without it."""
    def identity(entry: Entry, flags: list[str]) -> str:
        return json.dumps([entry.recipe | {"flags": flags}])

    costs = {identity(e, e.recipe["flags"]): e.counts[COST] for e in entries if e.counts}
    pairs = []
    for entry in entries:
        if entry.counts and flag in entry.recipe["flags"]:
            without = identity(entry, [f for f in entry.recipe["flags"] if f != flag])
            if without in costs:
                pairs.append((entry.counts[COST], costs[without]))
    return pairs
