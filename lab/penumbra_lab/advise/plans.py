"""A plan of EXPLAIN as a tree: how often each node runs, its expressions, the columns it needs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from penumbra_lab.advise.catalog import Catalog, Table, TableColumn
from penumbra_lab.advise.expressions import (
    Column,
    Expression,
    Parameter,
    Subquery,
    Unknown,
    parse,
    parse_sort_key,
    walk,
)
from penumbra_lab.advise.judge import NO_TYPES, Judge, Scope, Types

SCANS = {"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Sample Scan",
         "Tid Scan", "Tid Range Scan"}  # fmt: skip
# What may stand between the top of a query and the rows that its select list shows.
ORDERS = {"Sort", "Incremental Sort", "Limit"}
INDEX_SCANS = {"Index Scan", "Index Only Scan", "Bitmap Heap Scan"}
JOINS = {"Hash Join", "Merge Join", "Nested Loop"}
# These give what they get, and may be asked for more columns than anybody needs.
PASSING = {"Sort", "Incremental Sort", "Materialize", "Memoize", "Hash", "Limit", "Unique",
           "LockRows", "Append", "Merge Append", "SetOp", "Gather", "Gather Merge"}  # fmt: skip
MEMBERS_EXACT = {"Append", "Merge Append", "SetOp", "Recursive Union", "Subquery Scan"}
CONDITIONS = ("Filter", "Join Filter", "Hash Cond", "Merge Cond", "Index Cond", "Recheck Cond",
              "One-Time Filter", "Order By", "TID Cond")  # fmt: skip
# What a row takes in a hash table or a sort beside its columns.
ROW_BYTES = 32
# What the engine does not know PostgreSQL evaluates for it, if so many rows have the same arguments
# (host_call.c).
ROWS_PER_INPUT_MIN = 4
RETURNED = re.compile(r"\(returns (?P<list>\$\d+(?:,\s*\$\d+)*)\)")


@dataclass(eq=False)
class PlanNode:
    raw: dict
    parent: "PlanNode | None"
    children: list["PlanNode"] = field(default_factory=list)
    loops: float = 1.0

    @property
    def kind(self) -> str:
        return self.raw["Node Type"]

    @property
    def alias(self) -> str:
        return self.raw.get("Alias", "")

    @property
    def rows(self) -> float:
        """Of all its executions."""
        return max(self.raw["Plan Rows"], 1) * self.loops

    @property
    def width(self) -> int:
        return self.raw["Plan Width"]

    @property
    def kept_bytes(self) -> float:
        """What it hashes or sorts at a time."""
        if self.kind in ("Hash", "Sort") or self.raw.get("Strategy") == "Hashed":
            return max(self.raw["Plan Rows"], 1) * (self.width + ROW_BYTES)
        return 0.0

    @property
    def total_cost(self) -> float:
        return self.raw["Total Cost"]

    @property
    def subplan_name(self) -> str:
        return self.raw.get("Subplan Name", "")

    @property
    def inputs(self) -> list["PlanNode"]:
        return [child for child in self.children if not child.subplan_name]

    @property
    def subplans(self) -> list["PlanNode"]:
        return [child for child in self.children if child.subplan_name]

    @property
    def is_aggregation(self) -> bool:
        return self.kind in ("Aggregate", "Group")

    @cached_property
    def output(self) -> list[Expression]:
        return [parse(text) for text in self.raw.get("Output", [])]

    @cached_property
    def conditions(self) -> list[Expression]:
        found = []
        for key in CONDITIONS:
            value = self.raw.get(key)
            found += [parse(text) for text in (value if isinstance(value, list) else [value])
                      if text]  # fmt: skip
        return found

    @cached_property
    def sort_keys(self) -> list[Expression]:
        return [parse_sort_key(text) for text in self.raw.get("Sort Key", [])]

    @cached_property
    def group_keys(self) -> list[Expression]:
        texts = list(self.raw.get("Group Key", []))
        for grouping in self.raw.get("Grouping Sets", []):
            for key in ("Group Keys", "Hash Keys"):
                for listed in grouping.get(key, []):
                    texts += listed if isinstance(listed, list) else [listed]
        return [parse(text) for text in dict.fromkeys(texts)]

    def walk(self) -> Iterator["PlanNode"]:
        yield self
        for child in self.children:
            yield from child.walk()

    def walk_inputs(self) -> Iterator["PlanNode"]:
        """Without subqueries of expressions."""
        yield self
        for child in self.inputs:
            yield from child.walk_inputs()


@dataclass(frozen=True)
class Scan:
    """A table in a plan, with the columns that the query needs of it."""

    node: PlanNode
    table: Table
    columns: tuple[TableColumn, ...]
    filter_columns: tuple[TableColumn, ...]
    whole_columns: tuple[TableColumn, ...]  # those of which not only what is inside is read
    is_exact: bool  # False where a name of the plan is no column: a whole row, a system column


class Plan:
    def __init__(self, raw: dict, parameter_types: tuple[int, ...], catalog: Catalog):
        self.root = _tree(raw, None)
        _set_loops(self.root)
        self.catalog = catalog
        self._parameter_types = parameter_types
        self._by_alias: dict[str, list[PlanNode]] = defaultdict(list)
        self._subplans: dict[str, PlanNode] = {}
        self._returned: dict[int, tuple[PlanNode, int]] = {}
        for node in self.nodes:
            if node.alias:
                self._by_alias[node.alias].append(node)
            self._name_subplan(node)

    @property
    def nodes(self) -> Iterator[PlanNode]:
        return self.root.walk()

    @cached_property
    def judge(self) -> Judge:
        scope = Scope(self._column_types, self._collation, self._types_of_parameter,
                      self._types_of_subquery, self._repeats)  # fmt: skip
        return Judge(self.catalog, scope)

    def _name_subplan(self, node: PlanNode) -> None:
        name = node.subplan_name
        if not name:
            return
        self._subplans[name.split(" (")[0]] = node
        returned = RETURNED.search(name)
        if returned:
            for place, parameter in enumerate(re.findall(r"\d+", returned["list"])):
                self._returned[int(parameter)] = (node, place)

    def is_of_initplan(self, part: Expression) -> bool:
        return (isinstance(part, Subquery) and part.name.startswith("InitPlan")) or (
            isinstance(part, Parameter) and part.number in self._returned
        )

    # -- names -------------------------------------------------------------------------------------

    def table(self, node: PlanNode) -> Table | None:
        if "Relation Name" not in node.raw:
            return None
        return self.catalog.table(node.raw.get("Schema", ""), node.raw["Relation Name"])

    def _nodes_called(self, alias: str) -> list[PlanNode]:
        """Of a partitioned table, its partitions' scans, whose names have numbers."""
        found = self._by_alias.get(alias)
        if found:
            return found
        pattern = re.compile(re.escape(alias) + r"_\d+$")
        return [node for name, nodes in self._by_alias.items() if pattern.match(name)
                for node in nodes]  # fmt: skip

    def table_column(self, column: Column) -> tuple[Table, TableColumn] | None:
        return next(self._table_columns(column), None)

    def _table_columns(self, column: Column) -> Iterator[tuple[Table, TableColumn]]:
        nodes = self._nodes_called(column.table) if column.table else [
            node for node in self.nodes if node.alias]  # fmt: skip
        for node in nodes:
            table = self.table(node)
            if table and column.name in table.columns:
                yield table, table.columns[column.name]

    def _repeats(self, columns: Sequence[Column]) -> bool:
        distinct, rows = 1.0, 0.0
        for column in columns:
            found = self.table_column(column)
            if found is None or not found[1].distinct:
                return False
            table, stored = found
            rows = max(rows, table.rows)
            distinct *= stored.distinct if stored.distinct > 0 else -stored.distinct * table.rows
        return bool(columns) and distinct * ROWS_PER_INPUT_MIN <= rows

    def _column_types(self, column: Column) -> Types:
        types = {found.type for _, found in self._table_columns(column)}
        for node in self._nodes_called(column.table) if column.table else ():
            source = self._rows_source(node)
            if source is not None:
                types |= self._types_of_output(source, column.name)
        return frozenset(types)

    def _rows_source(self, node: PlanNode) -> PlanNode | None:
        """Whose output a subquery's or a CTE's columns are."""
        if node.kind == "Subquery Scan" and node.inputs:
            return node.inputs[0]
        if node.kind == "CTE Scan":
            return self._subplans.get(f"CTE {node.raw.get('CTE Name')}")
        return None

    def _types_of_output(self, node: PlanNode, name: str) -> Types:
        """Of the outputs with that name; else of any of them."""
        named = [one for one in node.output if isinstance(one, Column) and one.name == name]
        types = NO_TYPES
        for expression in named or node.output:
            found = self.judge.judge(expression).types
            if not found:
                return NO_TYPES
            types |= found
        return types

    def _collation(self, column: Column) -> int:
        """Of a subquery's column, any that one of its outputs has and the database has not."""
        found = self.table_column(column)
        if found:
            return found[1].collation
        for node in self._nodes_called(column.table) if column.table else ():
            source = self._rows_source(node)
            for part in _columns(source.output if source else []):
                collation = self._collation(part)
                if collation not in (0, self.catalog.default_collation):
                    return collation
        return 0

    def _types_of_parameter(self, parameter: Parameter) -> Types:
        types = NO_TYPES
        if 0 < parameter.number <= len(self._parameter_types):
            types |= {self._parameter_types[parameter.number - 1]}
        if parameter.number in self._returned:
            node, place = self._returned[parameter.number]
            types |= self._types_at(node, place)
        return types

    def _types_of_subquery(self, subquery: Subquery) -> Types:
        node = self._subplans.get(subquery.name)
        types = self._types_at(node, subquery.column or 0) if node else NO_TYPES
        boolean = self.catalog.type_named("boolean")
        # EXISTS and IN are written as the value of a subquery is.
        return types | {boolean.oid} if types and subquery.column is None and boolean else types

    def _types_at(self, node: PlanNode, place: int) -> Types:
        output = node.output
        return self.judge.judge(output[place]).types if place < len(output) else NO_TYPES

    # -- columns -----------------------------------------------------------------------------------

    @cached_property
    def shown(self) -> frozenset[Expression]:
        """The select list, which EXPLAIN has below an order, too: PostgreSQL computes it."""
        return frozenset(self.root.output)

    @cached_property
    def shows_rows(self) -> bool:
        """Whether rows of tables are joined and ordered only: what is only shown is fetched."""
        kinds = SCANS | JOINS | ORDERS | {"Hash", "Materialize", "Memoize"}
        return all(node.kind in kinds for node in self.root.walk_inputs())

    def is_fetched(self, expression: Expression) -> bool:
        is_column = isinstance(expression, Column)
        return self.shows_rows and is_column and self.table_column(expression) is not None

    @cached_property
    def scans(self) -> list[Scan]:
        needed: dict[str, dict[str, None]] = defaultdict(dict)
        whole: dict[str, dict[str, None]] = defaultdict(dict)
        unknown = []
        for node in self.nodes:
            is_root = node.parent is None or bool(node.subplan_name)
            for expression in self._needed_expressions(node):
                is_shown = self.shows_rows and expression in self.shown.intersection(node.output)
                unknown += (part.text for part in walk(expression) if isinstance(part, Unknown))
                for column in _columns([expression]):
                    needed[column.table][column.name] = None
                if not is_shown and (
                    is_root or not isinstance(expression, Column) or expression not in node.output
                ):
                    for column in self._read_whole(expression):
                        whole[column.table][column.name] = None
        found = []
        for node in self.nodes:
            table = self.table(node)
            if table is None or node.kind not in SCANS:
                continue
            own = needed[node.alias]
            # A partition's columns have the name of its table, or that of the whole.
            aliases = (node.alias, re.sub(r"_\d+$", "", node.alias), "")
            names = dict.fromkeys(name for alias in aliases for name in needed[alias])
            whole_names = {name for alias in aliases for name in whole[alias]}
            # What is not understood may read every column that it seems to name.
            for text in unknown:
                names |= dict.fromkeys(name for name in table.columns if name in text)
            filters = {column.name for column in _columns(node.conditions)}
            is_whole_row = any(f"{node.alias}.*" in text for text in unknown)
            found.append(Scan(
                node, table,
                tuple(table.columns[name] for name in names if name in table.columns),
                tuple(column for name, column in table.columns.items() if name in filters),
                tuple(column for name, column in table.columns.items() if name in whole_names),
                not is_whole_row and all(name in table.columns for name in own),
            ))  # fmt: skip
        return found

    def _read_whole(self, expression: Expression) -> Iterator[Column]:
        if isinstance(expression, Column):
            yield expression
        elif not self.judge.is_cached(expression):
            for part in expression.parts():
                yield from self._read_whole(part)

    def _needed_expressions(self, node: PlanNode) -> list[Expression]:
        expressions = [*node.conditions, *node.sort_keys, *node.group_keys]
        is_root = node.parent is None or bool(node.subplan_name)
        is_member = node.parent is not None and node.parent.kind in MEMBERS_EXACT
        if is_root or is_member or (node.kind not in PASSING and node.kind not in SCANS):
            expressions += node.output
        elif node.kind in SCANS:
            expressions += [one for one in node.output if not isinstance(one, Column)]
        return expressions


def _columns(expressions: list[Expression]) -> Iterator[Column]:
    for expression in expressions:
        for part in walk(expression):
            if isinstance(part, Column):
                yield part


def _tree(raw: dict, parent: PlanNode | None) -> PlanNode:
    node = PlanNode(raw, parent)
    node.children = [_tree(child, node) for child in raw.get("Plans", [])]
    return node


def _set_loops(node: PlanNode) -> None:
    """How often each node runs, by costs: a nested loop's cost has all executions of its inner
    side, Limit's has the share of its input that is read."""
    for child in node.inputs:
        child.loops = node.loops
    if node.kind == "Limit" and node.inputs:
        child = node.inputs[0]
        child.loops *= min(node.total_cost / max(child.total_cost, 1e-9), 1.0)
    if node.kind == "Nested Loop" and len(node.inputs) == 2:
        outer, inner = node.inputs
        if inner.kind != "Materialize":
            spent = max(node.total_cost - outer.total_cost, 0)
            executions = spent / max(inner.total_cost, 1e-9)
            inner.loops *= min(max(executions, 1.0), max(outer.raw["Plan Rows"], 1))
    for child in node.subplans:
        child.loops = node.loops
        if child.subplan_name.startswith("SubPlan"):
            below = sum(other.total_cost for other in node.inputs)
            spent = max(node.total_cost - below, 0)
            child.loops *= max(spent / max(child.total_cost, 1e-9), 1.0)
    for child in node.children:
        _set_loops(child)
