"""How long a plan takes PostgreSQL, and how long with Penumbra: quantities of the plan times a
cost of each, which `fit.py` takes from measured workloads."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from penumbra_lab.advise.expressions import (
    ArrayTest,
    Call,
    Cast,
    Column,
    Expression,
    Form,
    Operation,
    walk,
)
from penumbra_lab.advise.judge import Judge
from penumbra_lab.advise.plans import INDEX_SCANS, JOINS, Plan, PlanNode
from penumbra_lab.advise.verdict import Verdict

COSTS = Path(__file__).with_name("costs.json")
# What is not on a node's own account.
POSTGRESQL = ("start", "pages", "rows", "operations", "numbers", "texts", "index_rows",
              "index_searches", "joined_rows", "aggregated_values", "groups", "sorted_rows",
              "returned_rows")  # fmt: skip
PENUMBRA = ("start", "tables", "scanned_rows", "values", "operations", "numbers", "texts",
            "built_rows", "joined_rows", "aggregated_values", "groups", "sorted_rows",
            "returned_rows")  # fmt: skip
TEXT_TYPES = {"text", "character"}


@dataclass(frozen=True)
class Costs:
    """Nanoseconds each."""

    postgresql: Mapping[str, float]
    penumbra: Mapping[str, float]


@cache
def read_costs() -> Costs:
    read = json.loads(COSTS.read_text())
    return Costs(read["postgresql_ns"], read["penumbra_ns"])


@dataclass(frozen=True)
class Quantities:
    postgresql: Counter  # of the whole plan
    left: Counter  # what PostgreSQL does of it beside Penumbra
    penumbra: Counter

    def postgresql_ms(self, costs: Costs) -> float:
        return _milliseconds(self.postgresql, costs.postgresql)

    def penumbra_ms(self, costs: Costs) -> float:
        return _milliseconds(self.left, costs.postgresql) + _milliseconds(
            self.penumbra, costs.penumbra
        )

    def speedup(self, costs: Costs) -> float:
        """1 where the planner would leave the query with PostgreSQL."""
        if not self.penumbra:
            return 1.0
        return max(self.postgresql_ms(costs) / self.penumbra_ms(costs), 1.0)


def _milliseconds(quantities: Counter, costs: Mapping[str, float]) -> float:
    return sum(costs[name] * number for name, number in quantities.items()) / 1e6


def measure_plan(plan: Plan, verdict: Verdict) -> Quantities:
    """What a plan does, on both sides."""
    measured = _PlanMeasure(plan, verdict)
    whole, left, vectors = Counter(start=1), Counter(start=1), Counter()
    served = {scan.node for scan in verdict.served}
    for node in plan.nodes:
        own = measured.of_postgresql(node)
        whole += own
        if node in verdict.taken:
            vectors += measured.of_penumbra(node)
        elif node in served:
            vectors += measured.of_scan(node)
            left["rows"] += node.rows
        else:
            left += own
        if _leaves(node, verdict):
            vectors["returned_rows"] += node.rows
    whole["returned_rows"] += plan.root.rows
    if plan.root not in verdict.taken:
        left["returned_rows"] += plan.root.rows
    if vectors:
        vectors["start"] += 1
    return Quantities(whole, left, vectors)


def _leaves(node: PlanNode, verdict: Verdict) -> bool:
    """Its rows come out of the engine."""
    served = any(scan.node is node for scan in verdict.served)
    above = node.parent is not None and node.parent in verdict.taken
    return (node in verdict.taken or served) and not above


class _PlanMeasure:
    def __init__(self, plan: Plan, verdict: Verdict):
        self._judge: Judge = plan.judge
        self._scans = {scan.node: scan for scan in plan.scans}

    def _operations(self, expressions: list[Expression], rows: float) -> Counter:
        """By what they work on."""
        made = Counter()
        for part in (part for expression in expressions for part in walk(expression)):
            if isinstance(part, Operation | Call | ArrayTest | Form | Cast):
                made[self._kind(part)] += rows
        return made

    def _kind(self, part: Expression) -> str:
        engine = set().union(*map(self._judge.engine_types, (part, *part.parts())))
        if engine & TEXT_TYPES:
            return "texts"
        return "numbers" if "numeric" in engine else "operations"

    def of_postgresql(self, node: PlanNode) -> Counter:
        made = Counter()
        scan = self._scans.get(node)
        inputs = sum(child.rows for child in node.inputs)
        if node.kind in INDEX_SCANS:
            made["index_rows"] += node.rows
            made["index_searches"] += node.loops
            made += self._operations(node.conditions, node.rows)
        elif scan is not None:
            rows = max(scan.table.rows, node.raw["Plan Rows"]) * node.loops
            made["pages"] += scan.table.pages * node.loops
            made["rows"] += rows
            made += self._operations(node.conditions, rows)
        elif node.kind in JOINS:
            made["joined_rows"] += inputs + node.rows
            made += self._operations(node.conditions, node.rows)
        elif node.is_aggregation or node.kind in ("WindowAgg", "Unique", "SetOp"):
            made["aggregated_values"] += inputs * (len(node.group_keys) + self._calls(node))
            made["groups"] += node.rows
        elif node.kind in ("Sort", "Incremental Sort"):
            made["sorted_rows"] += _sorted(node, inputs)
        elif not node.inputs:
            made["rows"] += node.rows
        return made + self._outputs(node)

    def _outputs(self, node: PlanNode) -> Counter:
        """Expressions that a node computes: those of an aggregate's arguments for each input."""
        rows = sum(child.rows for child in node.inputs) if node.is_aggregation else node.rows
        below = {one for child in node.inputs for one in child.output}
        own = [one for one in node.output if one not in below and not isinstance(one, Column)]
        return self._operations(own, rows)

    @staticmethod
    def _calls(node: PlanNode) -> int:
        return sum(isinstance(part, Call) for one in node.output for part in walk(one)) or 1

    def of_penumbra(self, node: PlanNode) -> Counter:
        if node in self._scans:
            return self.of_scan(node) + self._outputs(node)
        made = Counter()
        inputs = [child.rows for child in node.inputs]
        if node.kind in JOINS:
            made["built_rows"] += min(inputs)
            made["joined_rows"] += max(inputs) + node.rows
            made += self._operations(node.conditions, node.rows)
        elif node.is_aggregation or node.kind in ("Unique", "SetOp"):
            made["aggregated_values"] += sum(inputs) * (
                2 * len(node.group_keys) + self._calls(node)
            )
            made["groups"] += node.rows
        elif node.kind in ("Sort", "Incremental Sort"):
            made["sorted_rows"] += _sorted(node, sum(inputs))
        return made + self._outputs(node)

    def of_scan(self, node: PlanNode) -> Counter:
        """The engine reads a whole table, however often PostgreSQL's plan looks rows up in it."""
        scan = self._scans[node]
        rows = max(scan.table.rows, node.raw["Plan Rows"])
        others = len(set(scan.columns) - set(scan.filter_columns))
        made = Counter(tables=1)
        made["scanned_rows"] += rows
        made["values"] += rows * len(scan.filter_columns) + min(node.rows, rows) * others
        return made + self._operations(node.conditions, rows)


def _sorted(node: PlanNode, rows: float) -> float:
    """Comparisons; below LIMIT only the first ones are kept in order."""
    kept = rows
    above = node.parent
    if above is not None and above.kind == "Limit":
        kept = min(above.rows, rows)
    return rows * math.log2(max(kept, 2))
