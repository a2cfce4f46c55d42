"""Random queries with joins and subqueries over the small tables of tables.py.

Every item of FROM has an alias and columns of known kinds, so expressions can be made over any of them.
"""

import dataclasses
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from expressions import COMPARED, KINDS, WITHOUT_EXTREMES, ExpressionGenerator
from queries import BY_VALUE, EXACT, ORDERLESS_KINDS, ROUNDED, Output, Query
from tables import ALL_COLUMNS, COLUMNS, JOIN_TABLES, REFUSED_CONDITION

ROWS = {**{table.name: table.rows for table in JOIN_TABLES}, "j_view": 300, "j_barrier": 300, "cached": 12000,
        REFUSED_CONDITION: 400}
# Rough numbers of values; the others have about as many as there are rows.
VALUES = {"b": 2, "b_const": 1, "i4_const": 1, "i4_null": 1, "i4_few": 5, "i4_run": 4, "i2_edge": 11, "low": 8,
          "bp": 5, "f8_edge": 40, "d_edge": 5, "ts_edge": 5, "n_edge": 100, "i2": 150}  # fmt: skip
PAIRS_MAX = 40_000
# Of the items of FROM, those of which a filter leaves few rows or none.
SPARSE_SHARE = 0.06
# What = finds an operator for, with other types than equal ones.
MIXED_PAIRS = (("i2", "i4"), ("i4", "i8"), ("i2", "i8"), ("f4", "f8"), ("num", "i4"), ("f8", "i4"), ("d", "ts"),
               ("ts", "tz"), ("d", "tz"), ("text", "bp"), ("f8", "num"))  # fmt: skip
# Rows of functions, by what they read; columns are those of their rows.
ELEMENTS = (
    ("arr", "unnest({arr}) AS {alias}(x)", (("i4", "x"),)),
    ("arr", "unnest({arr}) WITH ORDINALITY AS {alias}(x, o)", (("i4", "x"), ("i8", "o"))),
    ("arr", "unnest({arr}, {arr}) AS {alias}(x, y)", (("i4", "x"), ("i4", "y"))),
    ("doc", "jsonb_array_elements_text({doc} -> 'a') AS {alias}(x)", (("text", "x"),)),
    ("doc", "jsonb_array_elements({doc} -> 'a') WITH ORDINALITY AS {alias}(e, o)", (("i8", "o"),)),
    ("doc", "jsonb_array_elements({doc} -> 'a') AS {alias}(e)", (("text", "e #>> '{}'"), ("text", "e ->> 0"))),
)
# Without errors on any value of the columns.
SAFE = {
    "bool": ["({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})", "({i4} < {i4})", "({text} <> {text})",
             "({num} > {=num})", "({d} <= {=d})", "({text} LIKE {pattern})", "({i8} IS NULL)", "({f8} >= {f8})",
             "({i4_few} = {i4_few})", "({i4} IN ({=i4}, {=i4}))", "({bool} IS NOT TRUE)", "({bp} = {=bp})",
             "({uuid} IS NOT NULL)", *(f"({{{kind}}} <= {{={kind}}})" for kind in COMPARED), "({k} % 3 = 1)", "({i4_few} IS DISTINCT FROM {i4_few})", "({k} > {k})"],
    "i2": ["coalesce({i2}, {=i2})", "nullif({i2}, {=i2})"],
    "i4": ["({k} + 1)", "({k} % 10)", "length({text})", "coalesce({i4}, {=i4})", "nullif({i4_few}, {=i4})",
           "CASE WHEN {bool} THEN {i4} ELSE {i4_few} END", "{i2}::integer", "({i2} + {k})", "(- {k})"],
    "i8": ["({i2}::bigint + {i4})", "({i4}::bigint * 2)", "coalesce({i8}, 7)", "{i4}::bigint"],
    "f4": ["coalesce({f4}, {=f4})", "{i2}::real"],
    "f8": ["({f4}::double precision)", "coalesce({f8}, {=f8})", "{i4}::double precision", "({i2} * 1.5::float8)"],
    "num": ["({num} + {i4})", "coalesce({num}, 0)", "{i4}::numeric", "round({n2}, 1)", "(- {num})",
            "CASE WHEN {bool} THEN {num} ELSE 1.50 END", "({n2} * 1.0)"],
    "d": ["({=d}::date)", "coalesce({d}, {=d})"],
    "ts": ["coalesce({ts}, {=ts})", "CASE WHEN {bool} THEN {ts} END"],
    "tz": ["coalesce({tz}, {=tz})"],
    "iv": ["({=iv}::interval)"],
    "text": ["lower({text})", "upper({low})", "({text} || {low})", "left({text}, 2)", "coalesce({text}, {=text})",
             "{bp}::text", "substring({text} FROM 2 FOR 3)", "nullif({text}, {=text})", "{vc}::text"],
    "bp": ["coalesce({bp}, {=bp})", "{low}::char(6)"],
    "uuid": ["coalesce({uuid}, {=uuid})"],
    **{kind: [f"coalesce({{{kind}}}, {{={kind}}})", f"nullif({{{kind}}}, {{={kind}}})"] for kind in COMPARED},
}  # fmt: skip
EXACT_KINDS = tuple(kind for kind in KINDS if kind not in ORDERLESS_KINDS and kind != "iv")


@dataclass(frozen=True)
class ScopeColumn:
    sql: str
    kind: str
    name: str
    is_written_differently: bool = False

    @property
    def comparison(self) -> str:
        return BY_VALUE if self.is_written_differently or self.kind == "bp" else EXACT


@dataclass(frozen=True)
class Item:
    """An item of FROM."""

    sql: str
    columns: tuple[ScopeColumn, ...]
    rows: int
    alias: str

    @property
    def key_column(self) -> ScopeColumn:
        """One that is nearly unique, if there is one."""
        return next((c for c in self.columns if c.name == "k"), self.columns[0])

    @property
    def key(self) -> str:
        return self.key_column.sql


@dataclass(frozen=True)
class Joined:
    join: str
    item: str
    on: tuple[str, ...] = ()
    using: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        if self.using:
            return f"{self.join} {self.item} USING ({', '.join(self.using)})"
        needs_condition = self.join not in ("CROSS JOIN", ",", "") and not self.join.startswith("NATURAL")
        condition = f" ON {' AND '.join(self.on) or 'true'}" if needs_condition else ""
        return f"{self.join} {self.item}{condition}".strip()


@dataclass(frozen=True)
class JoinQuery(Query):
    joined: tuple[Joined, ...] = ()
    ctes: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return " ".join(joined.sql for joined in self.joined).replace(" , ", ", ")

    @property
    def is_joined(self) -> bool:
        return True

    @property
    def sql(self) -> str:
        with_ctes = f"WITH {', '.join(self.ctes)} " if self.ctes else ""
        return with_ctes + super().sql

    def shorter(self) -> list[Query]:
        """One that lacks what others refer to fails in both modes, so it is no candidate."""
        replace = dataclasses.replace
        found = [replace(self, joined=self.joined[:i] + self.joined[i + 1:]) for i in range(1, len(self.joined))]
        for i, joined in enumerate(self.joined):
            for j in range(len(joined.on)):
                less = replace(joined, on=joined.on[:j] + joined.on[j + 1:])
                found.append(replace(self, joined=(*self.joined[:i], less, *self.joined[i + 1:])))
            if joined.join in ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN"):
                inner = replace(joined, join="JOIN")
                found.append(replace(self, joined=(*self.joined[:i], inner, *self.joined[i + 1:])))
        found += [replace(self, ctes=self.ctes[:i] + self.ctes[i + 1:]) for i in range(len(self.ctes))]
        return found + super().shorter()


class ScopedExpressions(ExpressionGenerator):
    """Expressions over the columns in scope; `is_safe`: ones that cannot fail."""

    def __init__(self, choose: random.Random, parameters: list[tuple[str, str]] | None):
        super().__init__(choose, parameters)
        self.is_safe = True
        self.scope: list[ScopeColumn] = []

    def column_of(self, kind: str) -> ScopeColumn | None:
        found = [c for c in self.scope if c.kind == kind]
        return self.choose.choice(found) if found else None

    def plain_column(self, kind: str) -> str | None:
        found = self.column_of(kind)
        return found.sql if found else None

    def named(self, name: str) -> str:
        found = [c.sql for c in self.scope if c.name == name]
        if found:
            return self.choose.choice(found)
        kind = next(c.kind for c in COLUMNS if c.name == name)
        return self.column(kind) or self.constant(kind)

    def made(self, kind: str, depth: int) -> str:
        if self.is_safe:
            return self._fill(self.choose.choice(SAFE[kind]), depth)
        return super().made(kind, depth)


def _table_columns(alias: str) -> tuple[ScopeColumn, ...]:
    return tuple(ScopeColumn(f"{alias}.{c.name}", c.kind, c.name, c.is_written_differently) for c in ALL_COLUMNS)


class JoinQueryGenerator:
    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.parameters: list[tuple[str, str]] | None = [] if self.choose.random() < 0.1 else None
        self.expressions = ScopedExpressions(self.choose, self.parameters)
        self.expressions.is_safe = self.choose.random() < 0.85
        self.aliases = 0
        self.ctes: list[str] = []
        self.cte_items: list[tuple[str, Item]] = []

    # -- helpers -----------------------------------------------------------------------------------

    def _is(self, share: float) -> bool:
        return self.choose.random() < share

    def _alias(self, letter: str = "t") -> str:
        self.aliases += 1
        return f"{letter}{self.aliases}"

    @contextmanager
    def _scope(self, columns: list[ScopeColumn]) -> Iterator[None]:
        before, self.expressions.scope = self.expressions.scope, columns
        try:
            yield
        finally:
            self.expressions.scope = before

    def _made(self, kind: str, depth: int = 1) -> str:
        return self.expressions.expression(kind, depth)

    def _conditions(self, weights: tuple[int, ...]) -> list[str]:
        count = self.choose.choices(range(len(weights)), weights)[0]
        return [self._of_columns(lambda: self.expressions.made("bool", 2)) for _ in range(count)]

    def _of_columns(self, make: Callable[[], str]) -> str:
        """Mostly one that is not constant: the scope may lack the kinds that were picked."""
        made = make()
        for _ in range(5):
            if any(column.sql in made for column in self.expressions.scope):
                break
            made = make()
        return made

    # -- items of FROM -----------------------------------------------------------------------------

    def _table_name(self) -> str:
        names = ["j_cached", "j_changed", "j_half", "j_plain", "j_parted", "j_hidden", "j_tiny", "j_empty",
                 "j_barrier", "j_view", "cached", "j_unlogged", REFUSED_CONDITION]  # fmt: skip
        return self.choose.choices(names, [20, 14, 8, 8, 8, 6, 14, 3, 4, 4, 3, 2, 2])[0]

    def table(self, name: str = "") -> Item:
        name, alias = name or self._table_name(), self._alias()
        return Item(f"{name} AS {alias}", _table_columns(alias), ROWS[name], alias)

    def _sparse(self) -> Item:
        """No row of a table, or few: by its zone maps, by encoded values, by decoded ones, or as it is empty."""
        table = self.table(self.choose.choice(["", "", "", "j_empty"]))
        condition = self.choose.choice([
            "k < -1000", "k > 1000000", "k % 7 = 9", "low = 'no value'", "i4_few = 77", "length(low) > 99",
            f"k = {self.choose.randint(1, 300)}", f"k % 97 = {self.choose.randint(0, 96)}",
        ])  # fmt: skip
        rows = table.rows if table.rows == 0 else max(1, table.rows // 97)
        return dataclasses.replace(self._renamed(f"(SELECT * FROM {table.sql} WHERE {condition})", table), rows=rows)

    def item(self, depth: int) -> Item:
        if self._is(SPARSE_SHARE):
            return self._sparse()
        if depth <= 0 or self._is(0.72):
            return self.table()
        if self.cte_items and self._is(0.3):
            name, item = self.choose.choice(self.cte_items)
            return self._renamed(name, item)
        if self._is(0.1):
            return self._series()
        return self.subquery(depth)

    def _series(self) -> Item:
        """Rows of a function, or of VALUES with NULLs."""
        columns = tuple(ScopeColumn(name, "i4", name) for name in ("k", "i4"))
        rows = self.choose.choice([5, 300])
        if rows == 300:
            return self._renamed("(SELECT g AS k, g % 9 AS i4 FROM generate_series(0, 299) g)", Item("", columns, rows, ""))
        return self._renamed("(SELECT * FROM (VALUES (1, 3), (2, NULL), (2, 5), (NULL, 3), (7, 7)) v (k, i4))",
                             Item("", columns, rows, ""))  # fmt: skip

    def _renamed(self, sql: str, item: Item) -> Item:
        alias = self._alias("s")
        columns = tuple(dataclasses.replace(c, sql=f"{alias}.{c.sql.split('.')[-1]}") for c in item.columns)
        return Item(f"{sql} AS {alias}", columns, item.rows, alias)

    def subquery(self, depth: int, outer: Item | None = None) -> Item:
        """(SELECT ...); with `outer` a LATERAL one, whose conditions are about its columns."""
        body, item = self._subquery_body(depth, outer)
        return self._renamed(f"{'LATERAL ' if outer else ''}({body})", item)

    def _subquery_body(self, depth: int, outer: Item | None) -> tuple[str, Item]:
        shape = self.choose.choices(["grouped", "plain", "distinct", "limited", "one_row", "set", "elements"],
                                    [30, 30, 8, 12, 40 if outer else 6, 14, 0 if outer else 6])[0]  # fmt: skip
        if shape == "one_row":
            return self._one_row(depth, outer)
        if shape == "elements":
            return self._elements_body()
        query, items = self._joined(self.choose.choices([1, 2], [75, 25])[0], depth - 1)
        scope = [c for item in items for c in item.columns]
        rows = min(500, max(item.rows for item in items))
        with self._scope(scope):
            where = self._conditions((50, 40, 10))
            if outer:
                where.append(self._equality([outer], items, is_plain=self._is(0.5)))
            if depth > 0 and self._is(0.12):
                where.append(self._subquery_condition(items))
            outputs = self._group_outputs() if shape == "grouped" else self._plain_outputs(shape)
            if shape == "plain" and self._is(0.15):  # a window is PostgreSQL's, and so are the subquery's rows
                window = f"count(*) OVER (PARTITION BY {self._made(self.choose.choice(KINDS), 0)})"
                outputs.append((window, ScopeColumn("a1", "i8", "a1")))
        select = ", ".join(f"{sql} AS {column.name}" for sql, column in outputs)
        body = f"SELECT {'DISTINCT ' if shape == 'distinct' else ''}{select} FROM {query.source}"
        if where:
            body += " WHERE " + " AND ".join(where)
        if shape == "grouped":
            keys = sum(1 for _, column in outputs if column.name not in ("a1", "a2"))
            body += " GROUP BY " + ", ".join(str(i + 1) for i in range(keys))
            if self._is(0.2):
                body += f" HAVING count(*) > {self.choose.choice(['1', '1', '(SELECT count(*) FROM j_tiny) / 6'])}"
        elif shape == "limited":
            body += f" ORDER BY {', '.join(str(i + 1) for i in range(len(outputs)))}"
            body += f" LIMIT {self.choose.choice([0, 1, 3, 20, 100])}" if self._is(0.85) else ""
            body += f" OFFSET {self.choose.choice([1, 5])}" if self._is(0.2) else ""
        columns = tuple(column for _, column in outputs)
        if shape == "set":
            body = self._set_operation(body, columns)
        return body, Item("", columns, rows, "")

    def _elements_body(self) -> tuple[str, Item]:
        """Functions that return sets in the target list."""
        table = self.table()
        arr, doc = (next(c.sql for c in table.columns if c.kind == kind) for kind in ("arr", "doc"))
        outputs = [(f"{table.alias}.k", ScopeColumn("k", "i4", "k"))]
        for number, (sql, kind) in enumerate(self.choose.sample([
            (f"unnest({arr})", "i4"), (f"unnest({arr}) + 1", "i4"), (f"jsonb_array_elements_text({doc} -> 'a')", "text"),
            (f"jsonb_array_elements({doc} -> 'a') #>> '{{}}'", "text"),
        ], self.choose.choice([1, 1, 2]))):  # fmt: skip
            outputs.append((sql, ScopeColumn(f"x{number}", kind, f"x{number}")))
        select = ", ".join(f"{sql} AS {column.name}" for sql, column in outputs)
        columns = tuple(column for _, column in outputs)
        if self._is(0.3):
            body = f"SELECT {'DISTINCT ' if self._is(0.5) else ''}{select} FROM {table.sql} WHERE {table.alias}.k % 3 = 1"
        else:
            body = f"SELECT {select} FROM {table.sql}"
        return body, Item("", columns, 3 * table.rows, "")

    def _set_operation(self, body: str, columns: tuple[ScopeColumn, ...]) -> str:
        """Of the body and of one or two tables."""
        for _ in range(self.choose.choices([1, 2], [75, 25])[0]):
            operation, other = self._member(columns)
            body = f"({body}) {operation} ({other})" if self._is(0.7) else f"({other}) {operation} ({body})"
        return body

    def _member(self, columns: tuple[ScopeColumn, ...]) -> tuple[str, str]:
        """A set operation and its other side, of a table; mostly with columns of the same types."""
        table = self.table()
        with self._scope(list(table.columns)):
            select = ", ".join(f"{self._alike(column.kind)} AS {column.name}" for column in columns)
            where = self._conditions((30, 60, 10))
        operation = self.choose.choices(["UNION", "INTERSECT", "EXCEPT", "UNION ALL", "INTERSECT ALL", "EXCEPT ALL"],
                                        [26, 18, 18, 20, 9, 9])[0]  # fmt: skip
        return operation, f"SELECT {select} FROM {table.sql}" + (f" WHERE {' AND '.join(where)}" if where else "")

    def _alike(self, kind: str) -> str:
        """An expression of the kind, or one that a set operation gives the same type."""
        if kind in ("i2", "i4", "i8"):
            kind = self.choose.choice([kind, kind, "i2", "i4", "i8"])
        column = self.expressions.column(kind)
        return column if column and self._is(0.8) else self._made(kind, 1)

    def _one_row(self, depth: int, outer: Item | None) -> tuple[str, Item]:
        """An aggregation without keys: a row in any case."""
        inner = self.table()
        with self._scope(list(inner.columns)):
            outputs = [(self._exact_aggregate(), ScopeColumn(name, "i8", name)) for name in ("a1", "a2")]
            where = self._conditions((50, 50))
            if outer:
                where.append(self._equality([outer], [inner], is_plain=True))
        select = ", ".join(f"{sql} AS {column.name}" for sql, column in outputs)
        body = f"SELECT {select} FROM {inner.sql}" + (f" WHERE {' AND '.join(where)}" if where else "")
        if outer and self._is(0.3):
            body += " HAVING " + self.choose.choice(["count(*) > 0", "count(*) > 2", "count(*) = 0", "sum(k) > 30"])
        return body, Item("", tuple(column for _, column in outputs), 1, "")

    def _exact_aggregate(self) -> str:
        return self.choose.choice([
            "count(*)", f"count({self._made(self.choose.choice(KINDS), 0)})", f"sum({self._made('i4', 0)})",
            f"max({self._made('i8', 0)})", f"min({self.expressions.named('k')})",
            f"coalesce(sum({self._made('i4', 0)}), 0)", "count(*) + 1",
            f"count(DISTINCT {self._made('i4', 0)})",
        ])  # fmt: skip

    def _named_output(self, kinds: tuple[str, ...], taken: set[str]) -> tuple[str, ScopeColumn]:
        """A column under its own name, so that what joins by names finds it, or an expression."""
        kind = self.choose.choice(kinds)
        column = self.expressions.column_of(kind)
        if column and column.name not in taken and self._is(0.6):
            sql, name, is_written_differently = column.sql, column.name, column.is_written_differently
        else:
            name = next(f"c{i}" for i in range(1, 99) if f"c{i}" not in taken)
            is_written_differently = kind in ORDERLESS_KINDS
            sql = self.expressions.constant(kind) if self._is(0.2) else self._made(kind, 1)
        taken.add(name)
        return sql, ScopeColumn(name, kind, name, is_written_differently)

    def _group_outputs(self) -> list[tuple[str, ScopeColumn]]:
        """Keys, then at most two aggregates, which are called a1 and a2."""
        taken: set[str] = set()
        outputs = [self._named_output(EXACT_KINDS, taken) for _ in range(self.choose.choices([1, 2], [60, 40])[0])]
        for i in range(self.choose.randint(0, 2)):
            outputs.append((self._exact_aggregate(), ScopeColumn(f"a{i + 1}", "i8", f"a{i + 1}")))
        return outputs

    def _plain_outputs(self, shape: str) -> list[tuple[str, ScopeColumn]]:
        taken: set[str] = set()
        outputs = []
        if shape != "distinct" and self._is(0.9):
            taken.add("k")
            outputs.append((self.expressions.named("k"), ScopeColumn("k", "i4", "k")))
        # Which of equal values DISTINCT or UNION shows depends on the order, so does a limit.
        kinds = EXACT_KINDS if shape in ("distinct", "limited", "set") else KINDS
        return outputs + [self._named_output(kinds, taken) for _ in range(self.choose.randint(1, 5))]

    # -- conditions of joins -----------------------------------------------------------------------

    def _operands(self, left: list[Item], right: list[Item], is_plain: bool) -> tuple[str, str, int]:
        """Two comparable expressions and a rough number of their values."""
        left_columns = [c for item in left for c in item.columns]
        right_columns = [c for item in right for c in item.columns]
        if is_plain or self._is(0.4):
            common = [(a, b) for a in left_columns for b in right_columns
                      if a.name == b.name and a.kind == b.kind and a.kind in KINDS and a.kind != "iv"]  # fmt: skip
            if common:
                a, b = self.choose.choice(common)
                return a.sql, b.sql, VALUES.get(a.name, 200)
        pairs = [(kind, kind) for kind in KINDS if kind != "iv"]
        if self._is(0.3):
            pairs = [*MIXED_PAIRS, *(pair[::-1] for pair in MIXED_PAIRS)]
        left_kinds, right_kinds = {c.kind for c in left_columns}, {c.kind for c in right_columns}
        known = [pair for pair in pairs if pair[0] in left_kinds and pair[1] in right_kinds]
        left_kind, right_kind = self.choose.choice(known or pairs)
        depths = (0, 0) if self._is(0.6) else (1, self.choose.choice([0, 1]))
        with self._scope(left_columns):
            a = self._of_columns(lambda: self._made(left_kind, depths[0]))
        with self._scope(right_columns):
            b = self._of_columns(lambda: self._made(right_kind, depths[1]))
        return a, b, 5

    def _equality(self, left: list[Item], right: list[Item], is_plain: bool = False) -> str:
        a, b, _ = self._operands(left, right, is_plain)
        if self._is(0.08):
            c, d, _ = self._operands(left, right, is_plain=True)
            a, b = f"ARRAY[({a})::text, ({c})::text]", f"ARRAY[({b})::text, ({d})::text]"
        return f"{a} = {b}" if self._is(0.5) else f"{b} = {a}"

    def _range(self, left: list[Item], right: list[Item]) -> list[str]:
        """Comparisons of both sides by their order, some of one value with two others."""
        a, b, _ = self._operands(left, right, is_plain=self._is(0.5))
        ranges = [(c.sql, d.sql) for item in left for c in item.columns for other in right for d in other.columns
                  if c.kind == d.kind and c.kind in ("rng", "span", "mr")]  # fmt: skip
        if ranges and self._is(0.3):
            c, d = self.choose.choice(ranges)
            return [f"{c} {self.choose.choice(['&&', '@>', '<@', '<<', '>>', '&<', '&>', '-|-'])} {d}"]
        found = [f"{a} {self._order()} {b}"]
        if self._is(0.6):
            c, d, _ = self._operands(left, right, is_plain=self._is(0.5))
            found.append(f"{c} {self._order()} {d}" if self._is(0.5) else f"{b} {self._order()} {a}")
        if self._is(0.15):
            a, b, _ = self._operands(right, left, is_plain=True)
            found.append(f"{a} BETWEEN {b} AND {b}")
        return found

    def _order(self) -> str:
        return self.choose.choice(["<", "<=", ">", ">="])

    @staticmethod
    def _selective_equality(left: list[Item], right: Item) -> str:
        """Of the columns with the most values; what does not fit together is not joined."""
        pairs = [(a, b) for item in left for a in item.columns for b in right.columns
                 if a.kind == b.kind and a.kind in KINDS and a.kind != "iv"]  # fmt: skip
        if not pairs:
            return "1 = 2"
        a, b = max(pairs, key=lambda pair: (pair[0].name == pair[1].name) * VALUES.get(pair[0].name, 200))
        return f"{a.sql} = {b.sql}"

    def _join_conditions(self, left: list[Item], right: Item, pairs: float) -> tuple[list[str], float]:
        conditions = []
        is_range = pairs <= PAIRS_MAX and self._is(0.15)
        if is_range:
            conditions += self._range(left, [right])
            pairs /= 2
        for _ in range(0 if is_range else self.choose.choices([0, 1, 2, 3], [6, 66, 20, 8])[0]):
            a, b, values = self._operands(left, [right], is_plain=self._is(0.6))
            operator = "=" if self._is(0.95) else self.choose.choice(["<", ">="])
            condition = f"{a} {operator} {b}"
            if operator == "=" and self._is(0.2):
                condition = self.choose.choice([f"{a} IS NOT DISTINCT FROM {b}", f"({condition} OR ({a} IS NULL AND {b} IS NULL))"])
                values /= 2
            conditions.append(condition)
            pairs /= values if operator == "=" else 2
        if pairs > PAIRS_MAX:
            conditions.append(self._selective_equality(left, right))
            pairs = min(pairs, PAIRS_MAX)
        with self._scope([c for item in (*left, right) for c in item.columns]):
            conditions += self._conditions((65, 30, 5))
        if self._is(0.02):
            conditions.append(self.choose.choice(["true", "false", "NULL", "1 = 2"]))
        if self._is(0.05):
            conditions.append(self._asking_condition(left, right))
        self.choose.shuffle(conditions)
        return conditions, pairs

    def _joined(self, count: int, depth: int) -> tuple[JoinQuery, list[Item]]:
        """FROM of `count` items, with a query to hold it."""
        items = [self.item(depth)]
        joined = [Joined("", items[0].sql)]
        pairs = float(max(items[0].rows, 1))
        for number in range(count):
            if self._is(0.05) and pairs <= PAIRS_MAX:
                pairs *= 3
                self._add_elements(items, joined)
            if number == count - 1:
                break
            join = self.choose.choices(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","],
                                       [45, 30, 10, 8, 4, 3])[0]  # fmt: skip
            if join in ("JOIN", "LEFT JOIN", "CROSS JOIN") and self._is(0.07):
                item = self.subquery(depth, outer=self.choose.choice(items))
            else:
                item = self.item(depth)
            new_pairs = pairs * max(item.rows, 1)
            on: list[str] = []
            using: tuple[str, ...] = ()
            if join in ("CROSS JOIN", ",") and new_pairs > PAIRS_MAX:
                join = "JOIN"
            if join == "JOIN" and self._is(0.06) and self._share_name(items, item, "k"):
                using = ("k",)
                new_pairs = pairs
            elif join in ("JOIN", "LEFT JOIN") and "LATERAL" in item.sql and self._is(0.6):
                on, new_pairs = ["true"], pairs * 10
            elif join not in ("CROSS JOIN", ","):
                on, new_pairs = self._join_conditions(items, item, new_pairs)
            if join == "FULL JOIN":  # PostgreSQL has it for equalities only
                on = [condition for condition in on if " = " in condition and condition[0] not in "(N"][:2]
                on = on or [self._selective_equality(items, item)]
            pairs = max(pairs, new_pairs)
            items.append(item)
            joined.append(Joined(join, item.sql, tuple(on), using))
        return JoinQuery("", (), joined=tuple(joined)), items

    def _add_elements(self, items: list[Item], joined: list[Joined]) -> None:
        """A row for each element of an array or document of an item."""
        kind, sql, columns = self.choose.choice(ELEMENTS)
        found = [c.sql for item in items for c in item.columns if c.kind == kind]
        if not found:
            return
        alias = self._alias("u")
        function = sql.replace("{arr}", found[-1]).replace("{doc}", found[-1]).replace("{alias}", alias)
        join = self.choose.choice(["CROSS JOIN", "JOIN", "LEFT JOIN"])
        joined.append(Joined(join, f"LATERAL {function}", ("true",) if join != "CROSS JOIN" else ()))
        named = tuple(ScopeColumn(f"({alias}.{name})", kind, name) for kind, name in columns)
        items.append(Item("", named, 3 * max(item.rows for item in items), alias))

    @staticmethod
    def _share_name(left: list[Item], right: Item, name: str) -> bool:
        """Whether USING finds the name once on each side."""
        count = sum(1 for item in left for c in item.columns if c.name == name)
        return count == 1 and any(c.name == name for c in right.columns)

    # -- subqueries in expressions -----------------------------------------------------------------

    def _inner(self, outer: list[Item], share_correlated: float) -> tuple[Item, str, list[str]]:
        """A table of a subquery, its FROM and its conditions."""
        if self._is(0.2):
            query, items = self._joined(2, 0)
            inner, source = items[0], query.source
        else:
            items = [self.item(1) if self._is(0.15) else self._sparse() if self._is(SPARSE_SHARE) else self.table()]
            inner, source = items[0], items[0].sql
        where = []
        if self._is(share_correlated):
            for _ in range(self.choose.choices([1, 2], [85, 15])[0]):
                where += [self._equality(outer, [inner], is_plain=self._is(0.7))] if self._is(0.9) else self._range(outer, [inner])
            if self._is(0.1):
                with self._scope([c for item in (*outer, inner) for c in item.columns]):
                    where += self._conditions((0, 1))
        with self._scope(list(inner.columns)):
            where += self._conditions((60, 40))
            if self._is(0.06):
                where.append(f"{inner.key} > (SELECT {self.choose.choice(['avg', 'min'])}(k) FROM j_tiny)")
            elif self._is(0.04):
                where.append(self._exists([*outer, inner]))
        return inner, source, where

    def _exists(self, outer: list[Item]) -> str:
        inner, source, where = self._inner(outer, 0.9)
        where_sql = f" WHERE {' AND '.join(where)}" if where else ""
        return f"{'NOT ' if self._is(0.5) else ''}EXISTS (SELECT {self.choose.choice(['1', '*', 'NULL'])} FROM {source}{where_sql})"

    def _membership(self, outer: list[Item]) -> str:
        inner, source, where = self._inner(outer, 0.25)
        a, b, _ = self._operands(outer, [inner], is_plain=self._is(0.6))
        where_sql = f" WHERE {' AND '.join(where)}" if where else ""
        if self._is(0.12):
            c, d, _ = self._operands(outer, [inner], is_plain=self._is(0.6))
            return f"({a}, {c}) {self.choose.choice(['IN', 'NOT IN'])} (SELECT {b}, {d} FROM {source}{where_sql})"
        operator = self.choose.choices(["IN", "NOT IN", "= ANY", "<> ALL", "> ALL", "< ANY", "<> ANY", "= ALL"],
                                       [40, 30, 5, 5, 5, 5, 3, 3])[0]  # fmt: skip
        return f"{a} {operator} (SELECT {b} FROM {source}{where_sql})"

    def _scalar(self, outer: list[Item]) -> tuple[str, str]:
        """A scalar subquery and its kind."""
        is_correlated = self._is(0.9)
        inner, source, where = self._inner(outer, 1.0 if is_correlated else 0.0)
        with self._scope(list(inner.columns)):
            number = self.choose.choice(["i4", "i8", "num", "i2", "n2"])
            amount = self.expressions.named("n2") if number == "n2" else self._made(number, 0)
            kind, select = self.choose.choice([
                ("num", f"avg({amount})"), ("num", f"sum({amount})::numeric"), ("num", f"0.2 * avg({amount})"),
                ("num", f"min({amount})::numeric"), ("num", f"max({amount})::numeric"),
                ("i8", "count(*)"), ("i8", "count(*) + 1"), ("i8", f"count({amount})"),
                ("num", f"coalesce(sum({amount}), 0)::numeric"), ("i8", f"count(DISTINCT {amount})"),
                ("text", f"coalesce(max({self._made('text', 0)}), 'none')"), ("bool", "count(*) > 3"),
                # One without Params runs before the engine, which asks for its value even if no row does.
                *([("i4", self.expressions.named("k")), ("text", self._made("text", 1))] if is_correlated else []),
                ("d", f"max({self._made('d', 0)})"), ("bool", f"bool_or({self._made('bool', 1)})"),
            ])  # fmt: skip
        where_sql = f" WHERE {' AND '.join(where)}" if where else ""
        tail = ""
        if "(" in select and self._is(0.06):
            tail = " HAVING " + self.choose.choice(["count(*) > 0", "count(*) > 2", "count(*) = 0"])
        elif self._is(0.05):
            tail = " ORDER BY 1 LIMIT 1"
        return f"(SELECT {select} FROM {source}{where_sql}{tail})", kind

    def _scalar_comparison(self, outer: list[Item]) -> str:
        sql, kind = self._scalar(outer)
        if kind == "bool" and self._is(0.5):
            return sql
        if self._is(0.12):
            return f"{sql} IS {self.choose.choice(['NULL', 'NOT NULL'])}"
        with self._scope([c for item in outer for c in item.columns]):
            other = self._made(self.choose.choice([kind, "i4"]) if kind in ("num", "i8") else kind, 0)
        operator = self.choose.choice(["=", "<", ">", ">=", "<>"])
        return f"{other} {operator} {sql}" if self._is(0.7) else f"{sql} {operator} {other}"

    def _asking_condition(self, left: list[Item], right: Item) -> str:
        """A condition of a join that asks a subquery of one side, or of both."""
        asking, other = self.choose.choice([(left, [right]), ([right], left)])
        if self._is(0.5):
            sql, kind = self._scalar(asking)
            with self._scope([c for item in other for c in item.columns]):
                return f"{self._made(kind, 0)} = {sql}"
        return self._subquery_condition(self.choose.choice([asking, asking, [*left, right]]))

    def _subquery_condition(self, outer: list[Item]) -> str:
        made = self.choose.choices([self._exists, self._membership, self._scalar_comparison], [35, 30, 35])[0](outer)
        if self._is(0.75):
            return f"({made})"
        with self._scope([c for item in outer for c in item.columns]):
            other = self.expressions.made("bool", 1)
        return self.choose.choice([
            f"({made} OR {other})", f"(NOT ({made}))", f"(CASE WHEN {other} THEN {made} ELSE {other} END)",
            f"(({made}) IS NOT TRUE)", f"(({made}) OR ({self._exists(outer)}))", f"(coalesce({made}, true))",
        ])  # fmt: skip

    # -- queries -----------------------------------------------------------------------------------

    def _add_cte(self) -> None:
        body, item = self._subquery_body(1, None)
        name = f"w{len(self.ctes) + 1}"
        kind = self.choose.choice(["AS", "AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"])
        self.ctes.append(f"{name} {kind} ({body})")
        self.cte_items.append((name, item))

    def _item_count(self) -> int:
        return self.choose.choices([1, 2, 3, 4, 5], [8, 47, 28, 11, 6])[0]

    def query(self) -> JoinQuery:
        if self._is(0.12):
            self._add_cte()
            if self._is(0.3):
                self._add_cte()
        count = self._item_count()
        base, items = self._joined(count, 2)
        if self.cte_items and self._is(0.8) and count < 4:
            name, cte = self.choose.choice(self.cte_items)
            item = self._renamed(name, cte)
            on, _ = self._join_conditions(items, item, 100_000)
            items.append(item)
            base = dataclasses.replace(base, joined=(*base.joined, Joined("JOIN", item.sql, tuple(on))))
        scope = [c for item in items for c in item.columns]
        with self._scope(scope):
            where = self._conditions((45, 35, 15, 5))
            where += self._without_matches(base.joined)
            share_of_subqueries = 0.75 if count == 1 else 0.25
            while self._is(share_of_subqueries) and len(where) < 4:
                where.append(self._subquery_condition(items))
                share_of_subqueries = 0.2
            shape = self.choose.choices([self._projected, self._aggregated, self._grouped, self._distinct, self._top, self._set],
                                        [27, 17, 29, 7, 12, 8])[0]  # fmt: skip
            query = shape(base, items).projected(self.choose)
        return dataclasses.replace(
            query, where=tuple(where), ctes=tuple(self.ctes), parameters=tuple(self.parameters or ()),
        ).taken(self.choose)  # fmt: skip

    def _without_matches(self, joined: tuple[Joined, ...]) -> list[str]:
        """Conditions that make LEFT JOINs anti joins, of which the other side's columns may be asked for, too."""
        keys = [(join.item.split(" AS ")[-1], on) for join in joined if join.join == "LEFT JOIN" for on in join.on]
        operands = [side for alias, on in keys for side in on.split(" = ") if re.fullmatch(rf"{alias}\.\w+", side)]
        return [f"{self.choose.choice(operands)} IS NULL"] if operands and self._is(0.2) else []

    def _output(self, kind: str, depth: int) -> Output:
        if depth == 0:
            column = self.expressions.column_of(kind)
            if column:
                return Output(column.sql, column.comparison)
        return Output(self._made(kind, depth), BY_VALUE if kind in ORDERLESS_KINDS else EXACT)

    def _projected(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        keys = [item.key_column for item in items if self._is(0.7)] or [items[0].key_column]
        outputs = [Output(key.sql, key.comparison) for key in keys]
        outputs += [self._output(self.choose.choice(KINDS), self.choose.choice([0, 0, 1, 2]))
                    for _ in range(self.choose.randint(0, 3))]  # fmt: skip
        if self._is(0.12):
            outputs.append(Output(self._scalar(items)[0], BY_VALUE))
        if self._is(0.06):
            outputs.append(Output(self._subquery_condition(items)))
        order_by = tuple(str(i + 1) for i in range(len(outputs))) if self._is(0.15) and all(
            output.comparison == EXACT for output in outputs) else ()  # fmt: skip
        outputs += [] if order_by else self._whole_values(items)
        return dataclasses.replace(base, outputs=tuple(outputs), order_by=order_by)

    def _aggregate(self) -> Output:
        pick = self.choose.choice
        number = pick(("i2", "i4", "i8", "f4", "f8", "num", "num", "i4"))
        of_floats = ROUNDED if number in ("f4", "f8") else EXACT
        amount = self._made(number, pick([0, 0, 1]))
        if number == "f4":  # a sum of reals loses a digit of its six with each factor of ten in rows
            amount = f"({amount})::double precision"
        ordered = pick([k for k in KINDS if k not in (*WITHOUT_EXTREMES, "iv")])
        of_equals = BY_VALUE if ordered in ORDERLESS_KINDS else EXACT
        made = pick([
            Output("count(*)"), Output("count(*)"), Output(f"count({self._made(pick(KINDS), 1)})"),
            Output(f"sum({amount})", of_floats), Output(f"avg({amount})", of_floats),
            Output(f"sum({amount})", of_floats),
            Output(f"min({self._made(ordered, 1)})", of_equals), Output(f"max({self._made(ordered, 1)})", of_equals),
            Output(f"count(DISTINCT {self._made(pick(KINDS), 0)})"), Output(f"bool_or({self._made('bool', 1)})"),
            Output(f"var_pop({self.expressions.named('i2')})", EXACT),
        ])  # fmt: skip
        if self._is(0.12):
            made = Output(f"{made.sql} FILTER (WHERE {self.expressions.made('bool', 1)})", made.comparison)
        return made

    def _aggregate_of_subquery(self, items: list[Item]) -> Output:
        if self._is(0.4):
            return Output(f"count(*) FILTER (WHERE {self._subquery_condition(items)})")
        value, kind = self._scalar(items)
        aggregate = "bool_or" if kind == "bool" else self.choose.choice(["min", "max"])
        return Output(f"{aggregate}({value})", BY_VALUE)

    def _aggregated(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        outputs = [self._aggregate() for _ in range(self.choose.randint(1, 4))]
        if self._is(0.08):
            outputs.append(self._aggregate_of_subquery(items))
        having = "count(*) > 5" if self._is(0.08) else ""
        return dataclasses.replace(base, outputs=tuple(outputs), having=having)

    def _keys(self) -> list[Output]:
        keys = [self._output(self.choose.choice([k for k in KINDS if k != "iv"]), self.choose.choice([0, 0, 1]))
                for _ in range(self.choose.choices([1, 2, 3], [55, 30, 15])[0])]  # fmt: skip
        return list({key.sql: key for key in keys}.values())

    def _grouped(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        keys = self._keys()
        keys = [Output(key.sql, EXACT if key.comparison == EXACT else BY_VALUE) for key in keys]
        keys = [Output(f"ROW({key.sql})", EXACT) if key.comparison == EXACT and self._is(0.06) else key for key in keys]
        outputs = keys + [self._aggregate() for _ in range(self.choose.randint(0, 3))]
        if self._is(0.08):
            outputs.append(self._aggregate_of_subquery(items))
        having, order_by, limit = "", (), ""
        if self._is(0.2):
            having = self.choose.choice(["count(*) > 2", f"max({items[0].key}) IS NOT NULL", "count(*) < 10",
                                         f"count(*) >= (SELECT count(*) / 20 FROM {self.table().sql})"])  # fmt: skip
        if self._is(0.4) and all(key.comparison == EXACT for key in keys):
            order_by = (*(["count(*) DESC"] if self._is(0.5) else []), *(str(i + 1) for i in range(len(keys))))
            limit = f"LIMIT {self.choose.choice([0, 1, 5, 40])}" if self._is(0.5) else ""
        group_by = tuple(str(i + 1) for i in range(len(keys)))
        if self._is(0.15):
            # The groups of two sets may be equal in all that they are ordered by.
            group_by, order_by, limit = (self._grouping_sets(group_by),), (), ""
            outputs += [Output(f"GROUPING({key.sql})") for key in keys[:1] if "$" not in key.sql]
        return dataclasses.replace(base, outputs=tuple(outputs), group_by=group_by, having=having, order_by=order_by,
                                   limit=limit)  # fmt: skip

    def _grouping_sets(self, keys: tuple[str, ...]) -> str:
        kind = self.choose.choice(["ROLLUP", "CUBE", "GROUPING SETS"])
        if kind != "GROUPING SETS":
            return f"{kind} ({', '.join(keys)})"
        sets = [", ".join(key for key in keys if self._is(0.6)) for _ in range(self.choose.randint(1, 4))]
        every = f"({', '.join(keys)})"
        return f"GROUPING SETS ({', '.join(f'({one})' for one in sets)}, {every})"

    def _distinct(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        return dataclasses.replace(base, outputs=tuple(self._keys()), is_distinct=True)

    def _set(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        """Set operations at the top, where ORDER BY and LIMIT are those of their result."""
        outputs = self._plain_outputs("set")
        columns = tuple(column for _, column in outputs)
        operations = [self._member(columns) for _ in range(self.choose.choices([1, 2], [65, 35])[0])]
        order = [f"{i + 1}{self.choose.choice(['', ' DESC', ' NULLS FIRST'])}" for i in range(len(outputs))]
        limit = f"LIMIT {self.choose.choice([0, 1, 10, 300])}" + (" OFFSET 4" if self._is(0.3) else "")
        is_ordered = self._is(0.6)
        return dataclasses.replace(
            base, outputs=tuple(Output(sql) for sql, _ in outputs),
            operations=tuple(f"{operation} ({other})" for operation, other in operations),
            order_by=tuple(order) if is_ordered else (), limit=limit if is_ordered and self._is(0.5) else "",
        )  # fmt: skip

    def _top(self, base: JoinQuery, items: list[Item]) -> JoinQuery:
        """Ordered by all that it shows, so that only equal rows can change places."""
        outputs = [Output(item.key_column.sql, item.key_column.comparison) for item in items]
        outputs += [Output(self._made(self.choose.choice(EXACT_KINDS), self.choose.choice([0, 1])))
                    for _ in range(self.choose.randint(0, 2))]  # fmt: skip
        order = [f"{i + 1}{self.choose.choice(['', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}"
                 for i in range(len(outputs))]  # fmt: skip
        limit = f"LIMIT {self.choose.choice([0, 1, 5, 10, 100, 3000])}"
        limit += f" OFFSET {self.choose.choice([1, 7, 500])}" if self._is(0.3) else ""
        outputs += self._whole_values(items)
        return dataclasses.replace(base, outputs=tuple(outputs), order_by=tuple(order), limit=limit)

    def _whole_values(self, items: list[Item]) -> list[Output]:
        """Documents and arrays, or what PostgreSQL makes of them, of rows that their keys determine."""
        values = [c.sql for item in items for c in item.columns if c.kind in ("doc", "arr")]
        return [Output(self.choose.choice(["{}", "{}", "{}::text", "md5({}::text)"]).format(value))
                for value in values if self._is(0.12)]  # fmt: skip
