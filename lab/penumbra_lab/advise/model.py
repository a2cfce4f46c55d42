"""How long a plan takes PostgreSQL, and how long with Penumbra: quantities of the plan times a
cost of each, which `fit.py` takes from measured workloads."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from pathlib import Path

from penumbra_lab.advise.expressions import (
    ArrayTest,
    Call,
    Cast,
    Column,
    Constant,
    Expression,
    Form,
    Operation,
    walk,
)
from penumbra_lab.advise.judge import Judge
from penumbra_lab.advise.plans import INDEX_SCANS, JOINS, PASSING, Plan, PlanNode
from penumbra_lab.advise.sizes import Stored, distinct_values, stored_form
from penumbra_lab.advise.verdict import Verdict

COSTS = Path(__file__).with_name("costs.json")
POSTGRESQL = ("start", "pages", "rows", "deformed_values", "operations", "numbers", "texts",
              "index_rows", "index_searches", "joined_rows", "looped_rows", "aggregated_values",
              "groups", "sorted_rows", "top_rows", "returned_values")  # fmt: skip
PENUMBRA = ("start", "tables", "columns", "scanned_rows", "scanned_bytes", "operations",
            "numbers", "texts", "built_rows", "joined_rows", "aggregated_values", "groups",
            "text_groups", "sorted_rows", "top_rows", "returned_values")  # fmt: skip
TEXT_TYPES = {"text", "character"}
# Values of a key that the planner takes for as many as its column has.
FIELD_VALUES, PERIOD_VALUES = 60, 400
# Of rows, after each clause of a condition.
UNDECIDED_SHARE = 0.5
# The engine knows these of a whole column without reading it.
KNOWN_OF_COLUMNS = {"count", "min", "max"}


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
            left["rows"] += measured.rows[node]
        else:
            left += own
        if _leaves(node, verdict):
            vectors["returned_values"] += measured.values(node)
    whole["returned_values"] += measured.values(plan.root)
    if plan.root not in verdict.taken:
        left["returned_values"] += measured.values(plan.root)
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
        self._plan = plan
        self.rows: dict[PlanNode, float] = {}
        self._count_rows(plan.root)

    def _count_rows(self, node: PlanNode) -> None:
        """As the planner has them, but for groups of which it knows too little, and for what is
        made of these."""
        for child in node.children:
            self._count_rows(child)
        self.rows[node] = node.rows
        if node.is_aggregation:
            values = math.prod(map(self._key_values, node.group_keys)) if node.group_keys else 1.0
            self.rows[node] = min(node.rows, values * node.loops)
        elif node.kind in PASSING and node.inputs:
            self.rows[node] = min(node.rows, self._inputs(node))

    def _form(self, column: Column) -> Stored | None:
        found = self._plan.table_column(column)
        return stored_form(*found, self._plan.catalog) if found else None

    # -- expressions -------------------------------------------------------------------------------

    def _operations(self, expressions: list[Expression], rows: float, is_coded: bool) -> Counter:
        """By what they work on. A text of few values is looked at once for each, if coded."""
        made = Counter()
        for part in (part for expression in expressions for part in walk(expression)):
            if isinstance(part, Operation | Call | ArrayTest | Form | Cast):
                kind = self._kind(part)
                if not (is_coded and kind == "texts" and self._is_coded(part)):
                    made[kind] += rows
        return made

    def _conditions(self, node: PlanNode, rows: float, is_coded: bool) -> Counter:
        """Each clause is asked of the rows that those before it did not decide."""
        made = Counter()
        for place, clause in enumerate(_clauses(node.conditions)):
            made += self._operations([clause], rows * UNDECIDED_SHARE**place, is_coded)
        return made

    def _kind(self, part: Expression) -> str:
        engine = set().union(*map(self._judge.engine_types, (part, *part.parts())))
        if engine & TEXT_TYPES:
            return "texts"
        return "numbers" if "numeric" in engine else "operations"

    def _is_coded(self, expression: Expression) -> bool:
        forms = [self._form(part) for part in walk(expression) if isinstance(part, Column)]
        return all(form is not None and form.is_coded for form in forms)

    def _outputs(self, node: PlanNode, is_coded: bool) -> Counter:
        """Expressions that a node computes: those of an aggregate's arguments for each input."""
        rows = self._inputs(node) if node.is_aggregation else self.rows[node]
        below = {one for child in node.inputs for one in child.output}
        own = [one for one in node.output if one not in below and not isinstance(one, Column)]
        return self._operations(own, rows, is_coded)

    def values(self, node: PlanNode) -> float:
        """That come out of it."""
        return self.rows[node] * max(len(node.output), 1)

    # -- nodes -------------------------------------------------------------------------------------

    def of_postgresql(self, node: PlanNode) -> Counter:
        made = Counter()
        scan = self._scans.get(node)
        if node.kind in INDEX_SCANS:
            made["index_rows"] += self.rows[node]
            made["index_searches"] += node.loops
            made += self._conditions(node, self.rows[node], False)
        elif scan is not None:
            rows = max(scan.table.rows, node.raw["Plan Rows"]) * node.loops
            last = max((column.number for column in scan.columns), default=0)
            made["pages"] += scan.table.pages * node.loops
            made["rows"] += rows
            made["deformed_values"] += rows * last
            made += self._conditions(node, rows, False)
        elif node.kind in JOINS:
            kind = "looped_rows" if node.kind == "Nested Loop" else "joined_rows"
            made[kind] += self._inputs(node) + self.rows[node]
            made += self._conditions(node, self.rows[node], False)
        elif node.is_aggregation or node.kind in ("WindowAgg", "Unique", "SetOp"):
            made += self._aggregation(node)
            made["sorted_rows"] += len(_distinct_calls(node)) * _comparisons(self._inputs(node))
        elif not node.inputs:
            made["rows"] += self.rows[node]
        return made + self._sort(node) + self._outputs(node, False)

    def _aggregation(self, node: PlanNode) -> Counter:
        calls = sum(isinstance(part, Call) for one in node.output for part in walk(one))
        values = self._inputs(node) * (len(node.group_keys) + calls or 1)
        return Counter(aggregated_values=values, groups=self.rows[node])

    def _key_values(self, key: Expression) -> float:
        match key:
            case Call(name="extract" | "date_part"):
                return FIELD_VALUES
            case Call(name="date_trunc"):
                return PERIOD_VALUES
            case Operation(name="%", args=(_, Constant(text=text))) if text.isdigit():
                return max(float(text), 1.0)
            case Form(name="CASE"):
                results = key.args[1::2] + key.args[-1:]
                if all(isinstance(one, Constant) for one in results):
                    return len(results)
        return 3.0 if self._judge.engine_types(key) == {"boolean"} else math.inf

    def _distinct_values(self, call: Call, node: PlanNode) -> float:
        """That count(DISTINCT x) keeps: of each group as many as there are, or as many as rows."""
        known = 1.0
        for part in walk(call):
            if isinstance(part, Column):
                found = self._plan.table_column(part)
                known *= (found and distinct_values(*found)) or math.inf
        return min(self._inputs(node), known * self.rows[node])

    def _is_known_of_columns(self, node: PlanNode) -> bool:
        [below] = node.inputs if len(node.inputs) == 1 else [None]
        return (
            below in self._scans
            and not node.group_keys
            and not below.conditions
            and all(
                isinstance(one, Call) and one.name in KNOWN_OF_COLUMNS and not one.is_distinct
                and one.filter is None and all(isinstance(arg, Column) for arg in one.args)
                for one in node.output
            )
        )  # fmt: skip

    def of_penumbra(self, node: PlanNode) -> Counter:
        if node in self._scans:
            return self.of_scan(node) + self._outputs(node, True)
        made = Counter()
        if self._is_known_of_columns(node):
            return made
        if node.kind in JOINS:
            inputs = [self.rows[child] for child in node.inputs]
            made["built_rows"] += min(inputs)
            # Rows without a match are dropped by the join's filter, in the scan.
            made["scanned_rows"] += max(inputs)
            made["joined_rows"] += self.rows[node]
            made += self._conditions(node, self.rows[node], True)
        elif node.is_aggregation or node.kind in ("Unique", "SetOp"):
            made += self._aggregation(node)
            made["groups"] += sum(map(self._distinct_values, _distinct_calls(node), repeat(node)))
            for key in node.group_keys:
                if self._judge.engine_types(key) & TEXT_TYPES and not self._is_coded(key):
                    made["texts"] += self._inputs(node)
                    made["text_groups"] += self.rows[node]
        elif node.parent is None or not _groups_or_merges(node.parent):
            made += self._sort(node)
        return made + self._outputs(node, True)

    def of_scan(self, node: PlanNode) -> Counter:
        """The engine reads a whole table, however often PostgreSQL's plan looks rows up in it."""
        scan = self._scans[node]
        rows = max(scan.table.rows, node.raw["Plan Rows"])
        share = min(self.rows[node] / max(rows, 1.0), 1.0)
        made = Counter(tables=1, columns=len(scan.columns))
        if node.parent is not None and self._is_known_of_columns(node.parent):
            return made
        made["scanned_rows"] += rows
        for column in scan.columns:
            read = 1.0 if column in scan.filter_columns else share
            made["scanned_bytes"] += (
                read * stored_form(scan.table, column, self._plan.catalog).cached_bytes
            )
        return made + self._conditions(node, rows, True)

    def _inputs(self, node: PlanNode) -> float:
        return sum(self.rows[child] for child in node.inputs)

    def _sort(self, node: PlanNode) -> Counter:
        """Below LIMIT only the first rows are kept in order."""
        if node.kind not in ("Sort", "Incremental Sort"):
            return Counter()
        above, rows = node.parent, self._inputs(node)
        if above is not None and above.kind == "Limit" and above.rows < rows:
            return Counter(top_rows=rows)
        return Counter(sorted_rows=_comparisons(rows))


def _groups_or_merges(node: PlanNode) -> bool:
    """What PostgreSQL sorts for and the engine hashes."""
    return node.is_aggregation or node.kind in ("Unique", "Merge Join", "SetOp")


def _clauses(conditions: Sequence[Expression]) -> Iterator[Expression]:
    for condition in conditions:
        if isinstance(condition, Form) and condition.name in ("AND", "OR"):
            yield from _clauses(condition.args)
        else:
            yield condition


def _distinct_calls(node: PlanNode) -> list[Call]:
    return [part for one in node.output for part in walk(one)
            if isinstance(part, Call) and part.is_distinct]  # fmt: skip


def _comparisons(rows: float) -> float:
    return rows * math.log2(max(rows, 2))
