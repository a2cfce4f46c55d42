"""Which nodes of a plan would run in vectors, and what keeps the others with PostgreSQL.

It follows docs/vectors.md and the limits in README.md. What is not known to run is not promised.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from penumbra_lab.advise.catalog import Table
from penumbra_lab.advise.expressions import (
    Call,
    Column,
    Expression,
    Form,
    Operation,
    Subquery,
    walk,
)
from penumbra_lab.advise.judge import Blocker, Judge
from penumbra_lab.advise.plans import ORDERS, Plan, PlanNode, Scan

# Of PostgreSQL's nodes, those whose work the engine has an operator for.
TAKEN = {
    "Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Bitmap Index Scan",
    "BitmapAnd", "BitmapOr", "Hash Join", "Merge Join", "Nested Loop", "Hash", "Materialize",
    "Memoize", "Sort", "Incremental Sort", "Aggregate", "Group", "Unique", "Limit", "Result",
    "Append", "Merge Append", "Subquery Scan", "CTE Scan", "Values Scan", "Function Scan", "SetOp",
    "WindowAgg",
}  # fmt: skip
NOT_TAKEN = {
    "ProjectSet": "function that returns rows",
    "LockRows": "rows that are locked",
    "ModifyTable": "statement that writes",
    "Recursive Union": "recursive WITH",
    "WorkTable Scan": "recursive WITH",
    "Sample Scan": "TABLESAMPLE",
    "Tid Scan": "system column",
    "Tid Range Scan": "system column",
    "Foreign Scan": "foreign table",
}
WRITES = {"ModifyTable", "LockRows"}
OUTER_JOINS = {"Left", "Right", "Full"}
POINTS_IN_TIME = {"date", "timestamp", "timestamptz"}
STORED_FORM = {"pg_column_size", "pg_column_compression", "pg_column_toast_chunk_id"}


@dataclass(frozen=True)
class Verdict:
    """Of a statement."""

    taken: frozenset[PlanNode]  # nodes that would run in vectors with all below them
    served: tuple[Scan, ...]  # tables that would be read from the cache
    blockers: tuple[Blocker, ...]
    is_whole: bool

    @property
    def is_partial(self) -> bool:
        return bool(self.served) and not self.is_whole

    @property
    def promise(self) -> str:
        return "vectors" if self.is_whole else "part" if self.is_partial else "no"


def judge_plan(plan: Plan, server_refusal: str = "") -> Verdict:
    return _PlanJudge(plan, server_refusal).verdict()


class _PlanJudge:
    def __init__(self, plan: Plan, server_refusal: str):
        self._plan = plan
        self._judge: Judge = plan.judge
        self._scans = {scan.node: scan for scan in plan.scans}
        self._taken: set[PlanNode] = set()
        self._blockers: dict[Blocker, None] = {}
        self._notes: dict[Blocker, None] = {}
        self._server_refusal = server_refusal

    def verdict(self) -> Verdict:
        general = self._of_all()
        if general:
            return Verdict(frozenset(), (), general, False)
        self._visit(self._plan.root)
        served = tuple(scan for scan in self._scans.values() if not self._scan_blockers(scan))
        is_whole = bool(served) and self._plan.root in self._taken and not self._notes
        if not served:
            self._taken.clear()
            if not self._blockers:
                self._blockers[Blocker("no table is read")] = None
        blockers = tuple(self._blockers | self._notes)
        return Verdict(frozenset(self._taken), served, blockers, is_whole)

    def _of_all(self) -> tuple[Blocker, ...]:
        """What refuses every table of the statement."""
        found = [Blocker(self._server_refusal)] if self._server_refusal else []
        for node in self._plan.nodes:
            if node.kind in WRITES:
                found.append(Blocker(NOT_TAKEN[node.kind]))
            for expression in _expressions(node):
                found += (Blocker(f"function {part.name}", part.text, part.name)
                          for part in walk(expression)
                          if isinstance(part, Call) and part.name in STORED_FORM)  # fmt: skip
        return tuple(dict.fromkeys(found))

    def _visit(self, node: PlanNode) -> bool:
        """Whether it runs in vectors with all below it."""
        below = [self._visit(child) for child in node.children]
        found = list(self._node_blockers(node))
        self._blockers.update(dict.fromkeys(found))
        self._notes.update(dict.fromkeys(self._node_notes(node)))
        is_taken = all(below) and not found
        if is_taken:
            self._taken.add(node)
        return is_taken

    def _node_blockers(self, node: PlanNode) -> Iterator[Blocker]:
        if node.kind not in TAKEN:
            yield Blocker(NOT_TAKEN.get(node.kind, f"plan node {node.kind}"))
        if node in self._scans:
            yield from self._scan_blockers(self._scans[node])
        for expression in self._needed(node):
            yield from self._judge.judge(expression).blockers
            if self._judge.calls_volatile(expression):
                yield Blocker("volatile function")
        if _is_order_seen(node):
            for key in node.sort_keys:
                yield from self._judge.order_blockers(key)
        for key in node.group_keys:
            yield from self._judge.collation_blockers("EQUALITY", [key])
        if node.subplan_name.startswith("SubPlan") and not _can_be_joined(node):
            yield Blocker("correlated subquery by other conditions than equalities")
        if node.kind == "Unique" and _is_distinct_on(node):
            yield Blocker("DISTINCT ON")

    def _needed(self, node: PlanNode) -> Iterator[Expression]:
        """But for columns that are only passed on, and what PostgreSQL computes of the result."""
        yield from node.conditions
        yield from node.sort_keys
        yield from node.group_keys
        is_last = node.parent is None or node.subplan_name
        for one in node.output:
            if one in self._plan.shown and _is_top(node):
                inputs = self._judge.inputs_of_shown(one)
                yield from (part for part in inputs if not self._plan.is_fetched(part))
            elif is_last or not isinstance(one, Column):
                yield one

    def _node_notes(self, node: PlanNode) -> Iterator[Blocker]:
        """What PostgreSQL may do of the node, at little cost: the engine gets its rows."""
        if node.kind == "CTE Scan":
            yield Blocker("WITH that is computed once")
        if "One-Time Filter" in node.raw:
            yield Blocker("condition without columns", node.raw["One-Time Filter"])
        if node.subplan_name.startswith("SubPlan") and self._is_entangled(node):
            yield Blocker("subquery beside outer joins or around other subqueries")
        if node.subplan_name.startswith("SubPlan") and self._is_compared_otherwise(node):
            yield Blocker("subquery of several columns, or of dates")
        if node.kind == "Nested Loop" and _is_lateral(node.inputs[-1]):
            yield Blocker("LATERAL")
        if node.subplan_name.startswith("SubPlan") and self._is_beside_limit(node):
            yield Blocker("subquery beside LIMIT")
        if any(
            self._plan.is_of_initplan(part)
            for one in node.output if node.parent is None for part in walk(one)
        ):  # fmt: skip
            yield Blocker("subquery in the target list")
        if node.kind in ("Append", "Merge Append") and _is_top(node):
            yield Blocker("partitions or members at the top of the query")
        if node.kind == "SetOp" and node.raw.get("Command", "").endswith("All"):
            yield Blocker(f"{node.raw['Command'].upper()}")

    def _is_beside_limit(self, subplan: PlanNode) -> bool:
        """In the target list of a query with LIMIT, which wants it for few rows."""
        name = subplan.subplan_name
        shown = any(
            isinstance(part, Subquery) and part.name == name
            for one in (subplan.parent.output if subplan.parent else ()) for part in walk(one)
        )  # fmt: skip
        return shown and any(node.kind == "Limit" for node in self._plan.nodes)

    def _is_compared_otherwise(self, subplan: PlanNode) -> bool:
        """By IN, whose types plans before PostgreSQL 17 do not show."""
        types = set().union(*map(self._judge.engine_types, subplan.output))
        return len(subplan.output) > 1 or bool(types & POINTS_IN_TIME)

    def _is_entangled(self, subplan: PlanNode) -> bool:
        return any(node is not subplan and node.subplan_name for node in subplan.walk()) or any(
            node.raw.get("Join Type") in OUTER_JOINS for node in self._plan.nodes
        )

    def _scan_blockers(self, scan: Scan) -> list[Blocker]:
        table: Table = scan.table
        found = []
        if scan.node.kind in NOT_TAKEN:
            found.append(Blocker(NOT_TAKEN[scan.node.kind], scan.node.alias))
        if table.refusal:
            found.append(Blocker(table.refusal, table.name, table.name))
        if not scan.is_exact:
            found.append(Blocker("whole row or system column", scan.node.alias))
        for column in scan.columns:
            if self._plan.catalog.type(column.type).engine is None:
                if column not in scan.whole_columns:
                    continue
                found.append(Blocker(f"column of type {column.type_name}",
                                     f"{table.name}.{column.name}", column.name))  # fmt: skip
            elif column.is_generated:
                found.append(Blocker("virtual generated column", f"{table.name}.{column.name}",
                                     column.name))  # fmt: skip
        return found


def _is_top(node: PlanNode) -> bool:
    above = node.parent
    while above is not None and above.kind in ORDERS:
        above = above.parent
    return above is None


def _is_order_seen(sort: PlanNode) -> bool:
    """Not of the rows of one group: from PostgreSQL 16 on they are sorted for DISTINCT."""
    above = sort.parent
    return above is None or not above.is_aggregation or bool(above.group_keys)


def _expressions(node: PlanNode) -> list[Expression]:
    return [*node.output, *node.conditions, *node.sort_keys, *node.group_keys]


def _is_distinct_on(node: PlanNode) -> bool:
    """DISTINCT compares all that comes out."""
    below = node.inputs[0] if node.inputs else None
    if below is None or not below.sort_keys:
        return True
    return not set(node.output) <= set(below.sort_keys)


def _can_be_joined(subplan: PlanNode) -> bool:
    """A subquery that is correlated by equalities only, and reads all rows that they find."""
    own = {node.alias for node in subplan.walk() if node.alias}
    for node in subplan.walk():
        if node.kind == "Limit":
            return False
        for clause in _clauses(node.conditions):
            if _is_outer(clause, own) and not (
                isinstance(clause, Operation)
                and clause.name == "="
                and len(clause.args) == 2
                and any(not _is_outer(side, own) for side in clause.args)
            ):
                return False
        keys = [*node.output, *node.sort_keys, *node.group_keys]
        if any(_is_outer(one, own) for one in keys):
            return False
    return True


def _is_lateral(inner: PlanNode) -> bool:
    """A subquery that PostgreSQL computes for each row of the other side."""
    nodes = list(inner.walk_inputs())
    own = {node.alias for node in inner.walk() if node.alias}
    computes = any(node.is_aggregation or node.kind in ("Limit", "Subquery Scan") for node in nodes)
    return computes and any(_is_outer(one, own) for node in nodes for one in _expressions(node))


def _is_outer(expression: Expression, own: set[str]) -> bool:
    return any(
        isinstance(part, Column) and part.table and part.table not in own
        for part in walk(expression)
    )


def _clauses(conditions: list[Expression]) -> Iterator[Expression]:
    for condition in conditions:
        if isinstance(condition, Form) and condition.name == "AND":
            yield from _clauses(list(condition.args))
        else:
            yield condition
