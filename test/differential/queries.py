"""Random single-table queries: shapes over the expressions of expressions.py.

A query is kept in parts, so that a failing one can be shortened part by part.
"""

import dataclasses
import random
import re
from dataclasses import dataclass, field

from expressions import GROUPABLE, KINDS, WITHOUT_EXTREMES, ExpressionGenerator
from tables import COLUMNS

# How a column of two results is compared.
EXACT = "exact"
BY_VALUE = (
    "value"  # 1.0 and 1.00, 0 and -0: which of equal values is shown depends on the row order
)
ROUNDED = "rounded"  # floating-point sums depend on the row order
# Of columns whose equal values are written alike, rows are compared in vectors.
ROW_KINDS = ("i2", "i4", "i8", "d", "ts", "tz", "text", "bool", "num", "f8")
PAIR_AGGREGATES = ["corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2", "regr_avgx",
                   "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"]  # fmt: skip
ORDERLESS_KINDS = {"num", "f4", "f8", "bp"}


@dataclass(frozen=True)
class Output:
    sql: str
    comparison: str = EXACT


# What stands around subqueries with a number, a key, a document and an array.
AROUND = (
    "SELECT a.k, a.doc, b.doc, b.arr FROM ({query}) AS a LEFT JOIN j_cached AS b ON b.k = a.k",
    "WITH c AS MATERIALIZED ({query}) SELECT a.k, a.doc, b.doc, b.arr FROM c AS a LEFT JOIN c AS b ON a.k = b.k + 1",
    "WITH c AS ({query}) SELECT a.k, b.doc, a.arr, b.arr FROM c AS a JOIN c AS b ON a.f = b.f AND b.k <= a.k WHERE a.k % 9 = 1",
    "SELECT k, doc, arr, f FROM ({query}) AS s WHERE doc IS NOT NULL AND cardinality(arr) > 1",
    "SELECT k, doc, arr, f FROM ({query}) AS s UNION ALL SELECT k, doc, arr, i4_few FROM j_half WHERE k % 3 = 1",
    "SELECT s.k, (SELECT doc FROM j_cached AS t WHERE t.k = s.k ORDER BY i4, k LIMIT 1), s.doc, s.arr FROM ({query}) AS s",
    "SELECT s.k, s.doc, l.doc, l.k FROM ({query}) AS s LEFT JOIN LATERAL (SELECT doc, k FROM j_changed AS t WHERE t.i4_few = s.f"
    " ORDER BY i4 DESC, k LIMIT 2) AS l ON true",
    "SELECT o.k, inside.doc, inside.arr, inside.k FROM j_tiny AS o CROSS JOIN LATERAL (SELECT * FROM ({query}) AS s WHERE s.f = o.i4_few"
    " ORDER BY s.k LIMIT 3) AS inside",
    "SELECT doc ->> 's', count(*), max(k), count(arr) FROM ({query}) AS s GROUP BY 1",
    "SELECT k, doc, rank() OVER (ORDER BY k), arr FROM ({query}) AS s",
)
# Documents, arrays and composites as keys.
WHOLE_KEYS = [Output("arr"), Output("comp"), Output("(doc -> 'o')"), Output("(doc -> 'a')"), Output("(doc -> 's')"), Output("(doc -> 'n')", BY_VALUE)]


@dataclass(frozen=True)
class Query:
    table: str
    outputs: tuple[Output, ...]
    where: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    having: str = ""
    operations: tuple[str, ...] = ()  # set operations, each with its other side
    order_by: tuple[str, ...] = ()
    limit: str = ""
    is_distinct: bool = False
    distinct_on: tuple[str, ...] = ()
    wrapper: str = "{query}"  # a sub-select or CTE around it
    wrapper_outputs: tuple[Output, ...] = ()
    parameters: tuple[tuple[str, str], ...] = field(default=())
    is_cursor: bool = False
    is_stored: bool = False  # as a table, whose rows are compared

    @property
    def statement(self) -> tuple[str, list[str]]:
        """The SQL with its parameters numbered without gaps, and their values."""
        used: list[int] = []

        def renumber(match: re.Match) -> str:
            number = int(match.group(1))
            if number not in used:
                used.append(number)
            return f"${used.index(number) + 1}::"

        sql = re.sub(r"\$(\d+)::", renumber, self.sql)
        return sql, [self.parameters[number - 1][1] for number in used]

    @property
    def source(self) -> str:
        return self.table

    @property
    def is_joined(self) -> bool:
        return False

    @property
    def sql(self) -> str:
        distinct_on = f"DISTINCT ON ({', '.join(self.distinct_on)}) " if self.distinct_on else ""
        parts = ["SELECT " + distinct_on + ("DISTINCT " if self.is_distinct else "")
                 + ", ".join(output.sql for output in self.outputs), f"FROM {self.source}"]  # fmt: skip
        if self.where:
            parts.append("WHERE " + " AND ".join(self.where))
        if self.group_by:
            parts.append("GROUP BY " + ", ".join(self.group_by))
        if self.having:
            parts.append("HAVING " + self.having)
        parts += self.operations
        if self.order_by:
            parts.append("ORDER BY " + ", ".join(self.order_by))
        if self.limit:
            parts.append(self.limit)
        return self.wrapper.format(query=" ".join(parts))

    @property
    def stored(self) -> str:
        """The statement that makes a table of the rows."""
        names = ", ".join(f"c{place}" for place in range(len(self.comparisons)))
        return f"CREATE TEMP TABLE stored ({names}) AS {self.sql}"

    @property
    def comparisons(self) -> list[str]:
        return [output.comparison for output in self.wrapper_outputs or self.outputs]

    def when_refused(self) -> "Query":
        """The same where two plans of PostgreSQL's are compared."""
        return self

    @property
    def is_ordered(self) -> bool:
        return bool(self.order_by) and self.wrapper == "{query}"

    def taken(self, choose: random.Random) -> "Query":
        """At times by a cursor, or by a table."""
        share = 1 if self.parameters else choose.random()
        return dataclasses.replace(self, is_cursor=share < 0.05, is_stored=0.05 <= share < 0.1)

    def projected(self, choose: random.Random) -> "Query":
        """At times the same with a function above an output that only PostgreSQL knows."""
        exact = [i for i, output in enumerate(self.outputs) if output.comparison == EXACT]
        is_plain = not (self.is_distinct or self.distinct_on or self.operations) and self.wrapper == "{query}"
        if choose.random() > 0.08 or not exact or not is_plain:
            return self
        outputs = list(self.outputs)
        place = choose.choice(exact)
        outputs[place] = Output(f"md5(({outputs[place].sql})::text)")
        return dataclasses.replace(self, outputs=tuple(outputs))

    def shorter(self) -> list["Query"]:
        """The queries that lack one part of this one."""
        replace = dataclasses.replace
        found = [replace(self, is_cursor=False, is_stored=False)] if self.is_cursor or self.is_stored else []
        found += [
            replace(self, where=self.where[:i] + self.where[i + 1 :])
            for i in range(len(self.where))
        ]
        if self.wrapper != "{query}":
            found.append(replace(self, wrapper="{query}", wrapper_outputs=()))
        if self.having:
            found.append(replace(self, having=""))
        found += [
            replace(self, operations=self.operations[:i] + self.operations[i + 1 :])
            for i in range(len(self.operations))
        ]
        if self.limit:
            found.append(replace(self, limit=""))
        if self.order_by and not self.limit:
            found.append(replace(self, order_by=()))
        if (
            len(self.outputs) > 1
            and not self.group_by
            and not self.is_distinct
            and not self.wrapper_outputs
        ):
            found += [replace(self, outputs=self.outputs[:i] + self.outputs[i + 1:], order_by=())
                      for i in range(len(self.outputs)) if not self.limit]  # fmt: skip
        if self.group_by and not self.order_by:
            keys = len(self.group_by)
            found += [replace(self, outputs=self.outputs[:i] + self.outputs[i + 1:])
                      for i in range(keys, len(self.outputs)) if len(self.outputs) > keys + 1]  # fmt: skip
        return found


class QueryGenerator:
    def __init__(self, seed: int, tables: list[str]):
        self.choose = random.Random(seed)
        self.parameters: list[tuple[str, str]] | None = [] if self.choose.random() < 0.12 else None
        self.expressions = ExpressionGenerator(self.choose, self.parameters)
        if seed % 4 == 0:
            self.expressions.path_share = 0.5
        self.table = self.choose.choice(tables)

    def query(self) -> Query:
        shapes = [(self.projection, 20), (self.top, 15), (self.plain_aggregation, 20), (self.grouped, 35),
                  (self.distinct, 8), (self.nested, 10), (self.whole_rows, 4), (self.metadata, 8),
                  (self.distinct_counts, 8), (self.groups_in_order, 8), (self.ties, 4), (self.grouping_sets, 10), (self.alike, 10), (self.whole_below, 8),
                  (self.made_keys, 12)]  # fmt: skip
        shape = self.choose.choices([s for s, _ in shapes], [w for _, w in shapes])[0]
        return self._finished(shape().projected(self.choose))

    def _finished(self, query: Query) -> Query:
        return dataclasses.replace(query, parameters=tuple(self.parameters or ())).taken(self.choose)

    # -- parts -------------------------------------------------------------------------------------

    def _where(self) -> tuple[str, ...]:
        count = self.choose.choices([0, 1, 2, 3], [25, 45, 20, 10])[0]
        return tuple(self.expressions.made("bool", 2) for _ in range(count))

    def _kind(self) -> str:
        return self.choose.choice(KINDS)

    def _projected(self, depth: int) -> Output:
        return Output(self.expressions.expression(self._kind(), depth))

    def _limit(self) -> str:
        if self.choose.random() < 0.1:
            count = self._count([1, 5, 100, 3000])
            return self.choose.choice(["", "OFFSET 3 "]) + f"FETCH FIRST {count} ROWS WITH TIES"
        limit = f"LIMIT {self._count([0, 1, 5, 10, 100, 3000])}"
        return limit + (
            f" OFFSET {self._count([1, 7, 500])}" if self.choose.random() < 0.3 else ""
        )

    def _count(self, known: list[int]) -> str:
        """Of rows: a constant, a parameter, or a subquery."""
        count = str(self.choose.choice(known))
        if self.parameters is not None and self.choose.random() < 0.5:
            self.parameters.append(("int8", count))
            return f"(${len(self.parameters)}::int8)"
        return f"(SELECT {count})" if self.choose.random() < 0.05 else count

    def _key(self) -> Output:
        if self.expressions.path_share > 0 and self.choose.random() < 0.07:
            return self.choose.choice(WHOLE_KEYS)
        kind = self.choose.choice(GROUPABLE)
        columns = [c for c in COLUMNS if c.kind == kind]
        if self.choose.random() < 0.7 and columns:
            few = [
                c
                for c in columns
                if c.name in ("i4_few", "low", "b", "i4_const", "i4_null", "i2_edge", "bp")
            ]
            sql = self.choose.choice(few if few and self.choose.random() < 0.6 else columns).name
        else:
            sql = self.expressions.expression(kind, 1)
        return Output(sql, BY_VALUE if kind in ORDERLESS_KINDS else EXACT)

    def _keys(self) -> list[Output]:
        keys = [self._key() for _ in range(self.choose.choices([1, 2, 3, 5], [50, 30, 15, 5])[0])]
        return list({key.sql: key for key in keys}.values())

    def _aggregate(self) -> Output:
        pick = self.choose.choice
        kind = self._kind()
        argument = self.expressions.expression(kind, self.choose.choice([0, 1, 2]))
        number = pick(("i2", "i4", "i8", "f4", "f8", "num", "num", "i4"))
        amount = self.expressions.expression(number, self.choose.choice([0, 1, 2]))
        if number == "f4" and amount != "f4":  # a sum of reals of both signs may lose all digits
            amount = f"({amount})::double precision"
        of_floats = ROUNDED if number in ("f4", "f8") else EXACT
        ordered = pick([k for k in KINDS if k not in (*WITHOUT_EXTREMES, "iv", "text", "bp")])
        measured = self.expressions.expression(ordered, 1)
        of_equals = BY_VALUE if ordered in ORDERLESS_KINDS else EXACT
        logical = self.expressions.expression("bool", 1)
        text = self.expressions.expression("text", 1)
        spread = pick(["stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"])
        # Of small numbers, and far from 0, so that the last digits of what cancels out do not count.
        pair = ", ".join(f"{self.expressions.column(pick(['i2', 'i4'])) or 7} % 100" for _ in range(2))
        of_pairs = pick(PAIR_AGGREGATES)
        distinct = self.expressions.column(number) or "1"
        row = ", ".join(self.expressions.column(pick(ROW_KINDS)) or "NULL::date" for _ in range(pick([1, 2, 2, 3])))
        # Of equal numerics of several scales one is summed: which, depends on the order.
        is_one_of_equals = number == "num" and any(
            c.name == distinct and c.is_written_differently for c in COLUMNS
        )
        of_distinct = BY_VALUE if is_one_of_equals else of_floats
        made = pick([
            Output("count(*)"), Output("count(*)"), Output(f"count({argument})"),
            Output(f"count(DISTINCT {argument})"), Output(f"count(DISTINCT {pick(WHOLE_KEYS).sql if self.expressions.path_share > 0 else argument})"),
            Output(f"count(DISTINCT ROW({row}))"),
            Output(f"sum({amount})", of_floats), Output(f"sum({amount})", of_floats),
            Output(f"avg({amount})", of_floats), Output(f"avg({amount})", of_floats),
            Output(f"min({measured})", of_equals), Output(f"max({measured})", of_equals),
            Output(f"min({text})"), Output(f"max({text})"),
            Output(f"{spread}({amount})", of_floats),
            Output(f"bool_and({logical})"), Output(f"bool_or({logical})"), Output(f"every({logical})"),
            Output(f"sum(DISTINCT {distinct})", of_distinct),
            Output("sum(CASE WHEN mon BETWEEN '-1000' AND '1000' THEN mon END)"),
            Output(f"{of_pairs}({pair})", ROUNDED), Output(f"regr_count({pair})"),
            Output(f"{of_pairs}(DISTINCT {pair})", ROUNDED),
        ])  # fmt: skip
        if self.choose.random() < 0.15:
            condition = self.expressions.expression("bool", 1)
            made = Output(f"{made.sql} FILTER (WHERE {condition})", made.comparison)
        if made.sql.startswith(of_pairs):
            made = Output(f"{made.sql} + 1000", made.comparison)
        return made

    def _aggregates(self, least: int) -> list[Output]:
        return [self._aggregate() for _ in range(self.choose.randint(least, 4))]

    # -- shapes ------------------------------------------------------------------------------------

    def projection(self) -> Query:
        outputs = [Output("k")] + [self._projected(3) for _ in range(self.choose.randint(1, 4))]
        where = self._where()
        if where and self.choose.random() < 0.2:
            outputs.insert(self.choose.randint(0, 2), self._whole_value())
        return Query(self.table, tuple(outputs), where)

    def _whole_value(self) -> Output:
        return Output(self.choose.choice(["doc", "arr", "doc::text", "md5(arr::text)", "doc -> 'n'"]))

    def top(self) -> Query:
        outputs = [Output("k")] + [self._projected(1) for _ in range(self.choose.randint(1, 3))]
        keys = []
        for output in self.choose.sample(outputs, self.choose.randint(1, len(outputs))):
            direction = self.choose.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
            keys.append(f"{outputs.index(output) + 1}{direction}")
        limit = self._limit() if self.choose.random() < 0.8 else ""
        if self.choose.random() < 0.3:
            outputs.append(self._whole_value())
        return Query(self.table, tuple(outputs), self._where(), order_by=(*keys, "k"), limit=limit)

    def ties(self) -> Query:
        """Which rows they are is determined, but not their order."""
        keys = [self._key().sql + self.choose.choice(["", " DESC", " NULLS FIRST"]) for _ in range(self.choose.choice([1, 1, 2]))]
        outputs = (Output("count(*)"), Output("sum(k)"), Output("min(k)"))
        wrapper = f"SELECT {', '.join(output.sql for output in outputs)} FROM ({{query}}) AS inside"
        limit = f"FETCH FIRST {self.choose.choice([1, 10, 500])} ROWS WITH TIES"
        return Query(self.table, (Output("k"),), self._where(), order_by=tuple(keys), limit=limit, wrapper=wrapper,
                     wrapper_outputs=outputs)  # fmt: skip

    def whole_rows(self) -> Query:
        outputs = tuple(Output(column.name) for column in COLUMNS)
        return Query(self.table, outputs, self._where(), order_by=("k",), limit=self._limit())

    def plain_aggregation(self) -> Query:
        return Query(self.table, tuple(self._aggregates(1)), self._where())

    def metadata(self) -> Query:
        """What bounds and counts can answer, where the conditions let whole chunks or vectors pass."""
        outputs = [Output("count(*)")]
        for _ in range(self.choose.randint(1, 5)):
            column = self.choose.choice(COLUMNS)
            functions = ["bool_and", "bool_or"] if column.kind == "bool" else ["min", "max"]
            function = self.choose.choice(["count", *functions])
            has_order = column.kind != "uuid" or function == "count"
            comparison = (
                BY_VALUE if column.is_written_differently and function != "count" else EXACT
            )
            outputs.append(
                Output(f"{function}({column.name})" if has_order else "count(u)", comparison)
            )
        where = self.choose.choice(
            [
                (),
                (),
                ("k > 0",),
                ("k <= 100000", "b_const"),
                (f"k >= {self.choose.randint(1, 9000)}",),
                ("i4_const = 42",),
                (f"i4_run < {self.choose.randint(1, 120)}",),
                ("i4_run / i4_const >= 0",),
            ]
        )
        return Query(self.table, tuple(outputs), where)

    def distinct_counts(self) -> Query:
        """DISTINCT of plain columns, with no or one key."""
        keys = [
            Output(self.choose.choice(["b", "i4_few", "low", "i4_run", "bp", "i2", "vc", "d_edge"]))
        ]
        keys = keys if self.choose.random() < 0.6 else []
        outputs = []
        for _ in range(self.choose.randint(1, 3)):
            column = self.choose.choice(COLUMNS)
            function = "count"
            if column.kind in ("i2", "i4", "i8") and self.choose.random() < 0.4:
                function = self.choose.choice(["sum", "avg"])
            condition = " FILTER (WHERE i2 > 0)" if self.choose.random() < 0.2 else ""
            outputs.append(Output(f"{function}(DISTINCT {column.name}){condition}"))
        outputs += self._aggregates(0) if self.choose.random() < 0.3 else []
        group_by = ("1",) if keys else ()
        return Query(self.table, tuple(keys + outputs), self._where(), group_by)

    def grouped(self) -> Query:
        keys, aggregates = self._keys(), self._aggregates(0)
        having = ""
        if self.choose.random() < 0.2:
            having = self.choose.choice(["count(*) > 2", "max(k) < 4000", "sum(i4_few) IS NOT NULL",
                                         "avg(k) > 100 AND count(*) < 500"])  # fmt: skip
        order_by, limit = (), ""
        if self.choose.random() < 0.4 and all(key.comparison == EXACT for key in keys):
            order_by = (*(["count(*) DESC"] if self.choose.random() < 0.5 else []),
                        *(str(i + 1) for i in range(len(keys))))  # fmt: skip
            limit = self._limit() if self.choose.random() < 0.6 else ""
        group_by = tuple(str(i + 1) for i in range(len(keys)))
        return Query(
            self.table, tuple(keys + aggregates), self._where(), group_by, having, order_by, limit
        )

    def grouping_sets(self) -> Query:
        """Ordered, if they are, by all that tells groups apart."""
        keys, aggregates = self._keys()[:4], self._aggregates(0)
        numbers = [str(place + 1) for place in range(len(keys))]
        every, first, last = ", ".join(numbers), numbers[0], numbers[-1]
        sets = self.choose.choice([
            f"ROLLUP ({every})", f"CUBE ({every})", f"{first}, ROLLUP ({every})", f"GROUPING SETS (({every}), ({first}), ())",
            f"GROUPING SETS (({first}), ({last}))", f"GROUPING SETS (ROLLUP ({every}), ({last}), ())", f"ROLLUP ({every}), CUBE ({first}, {last})",
            f"DISTINCT ROLLUP ({every}), ROLLUP ({last})", f"GROUPING SETS (({every}), ({every}))", "GROUPING SETS ((), ())",
        ])  # fmt: skip
        keys = keys if every in sets else list({number: keys[int(number) - 1] for number in (first, last) if number in sets}.values())
        number = len(keys) + 1
        sets = sets if every in sets or last == first else sets.replace(f"({last})", f"({len(keys)})")
        grouping = [Output(f"GROUPING({', '.join(key.sql for key in keys)})")] if keys else []
        having = self.choose.choice(["", "", "", "count(*) > 2", *(f"{output.sql} <> 1" for output in grouping)])
        order_by, limit = (), ""
        if self.choose.random() < 0.3 and all(key.comparison == EXACT for key in keys):
            order_by = tuple(str(place) for place in range(1, number + len(grouping)))
            limit = self._limit() if order_by and self.choose.random() < 0.5 else ""
        outputs = (*keys, *grouping, *aggregates, Output("count(*)"))
        return Query(self.table, outputs, self._where(), (sets,), having, order_by, limit)

    def whole_below(self) -> Query:
        """Documents and arrays that come out of a subquery with a limit."""
        keys = [self._key().sql + self.choose.choice(["", " DESC", " NULLS FIRST"]) for _ in range(self.choose.choice([0, 1, 2]))]
        limit = f"LIMIT {self._count([0, 1, 20, 500])}" + (" OFFSET 2" if self.choose.random() < 0.2 else "")
        outputs = (Output("k"), Output("i4_few AS f"), Output("doc"), Output("arr"))
        return Query(self.table, outputs, self._where(), order_by=(*keys, "k"), limit=limit, wrapper=self.choose.choice(AROUND),
                     wrapper_outputs=(Output("a"), Output("b"), Output("c"), Output("d")))  # fmt: skip

    def alike(self) -> Query:
        """Aggregates, and their filters, of expressions that differ in constants only, if at all."""
        kind = self._kind()
        outputs = []
        for made in self.expressions.alike(kind, self.choose.choice([2, 3])):
            outputs.append(Output(f"count(*) FILTER (WHERE {made}{'' if kind == 'bool' else ' IS NOT NULL'})"))
            if kind == "bool":
                outputs.append(Output(f"bool_or({made})"))
            elif kind in WITHOUT_EXTREMES or kind == "iv":
                outputs.append(Output(f"count(DISTINCT {made})"))
            else:
                outputs.append(Output(f"max({made})", BY_VALUE if kind in ORDERLESS_KINDS else EXACT))
        keys = self._keys()[:1] if self.choose.random() < 0.4 else []
        self.choose.shuffle(outputs)
        return Query(self.table, (*keys, *outputs), self._where(), group_by=("1",) if keys else ())

    def groups_in_order(self) -> Query:
        """By a column in whose order the table lies, mostly: what HAVING may drop before all is read."""
        keys = [Output(self.choose.choice(["i4_run", "i4_run", "k"]))]
        if self.choose.random() < 0.6:
            name = self.choose.choice(["low", "lower(low)", "bp", "n_mixed", "b", "i4_few", "f8_edge", "u", "vc"])
            keys.append(Output(name, BY_VALUE if name in ("bp", "n_mixed", "f8_edge") else EXACT))
        having = self.choose.choice([f"count(*) > {self.choose.choice([1, 2, 10, 20, 60])}", "max(n2) > 9000",
                                     "sum(i4_few) > 30 AND count(*) > 3", "min(low) = 'blue'"])  # fmt: skip
        group_by = tuple(str(i + 1) for i in range(len(keys)))
        return Query(self.table, (*keys, *self._aggregates(0)), self._where(), group_by, having)

    def made_keys(self) -> Query:
        """Keys that are made of values, of which no form is shown."""
        keys = [key.sql for key in self._keys()[:3]]
        texts = [f"({key})::text" for key in keys]
        ordered = self.choose.choice([f"ROW({', '.join(keys)})", f"ARRAY[{', '.join(texts)}]",
                                      f"ROW({keys[0]}, ROW({', '.join(keys)}), ARRAY[{texts[-1]}, 'x'])"])  # fmt: skip
        named = ", ".join(f"'{place}', {key}" for place, key in enumerate(keys))
        made = self.choose.choice([ordered, ordered, f"jsonb_build_object({named})", f"to_jsonb({keys[0]})",
                                   f"jsonb_build_array({', '.join(keys)}, NULL)"])  # fmt: skip
        outputs = (Output("count(*)"), Output("min(k)"), Output("max(k)"), Output(f"count(DISTINCT {ordered})"))
        around = (Output("count(*)"), Output("sum(n)"))
        counted = ", ".join(output.sql for output in around)
        rows = f"SELECT {made} AS a, k FROM {self.table}"
        match self.choose.choice(["groups", "subquery", "distinct", "window", "order", "cte"]):
            case "groups":
                return Query(self.table, outputs, self._where(), group_by=(made,))
            case "subquery":
                return Query(f"({rows}) AS inside", outputs[:3], group_by=("a",))
            case "distinct":
                return Query(self.table, (Output(f"{made} AS a"), Output("b AS n")), self._where(), is_distinct=True,
                             wrapper="SELECT count(*), count(n) FROM ({query}) AS inside", wrapper_outputs=around)
            case "window":
                window = f"PARTITION BY {made} ORDER BY {ordered}, k"
                return Query(self.table, (Output("k"), Output(f"row_number() OVER ({window})")), self._where())
            case "order":
                return Query(self.table, (Output("k"),), self._where(), limit=self._limit(),
                             order_by=(ordered + self.choose.choice(["", " DESC"]), "k"))  # fmt: skip
            case _:
                return Query(self.table, (Output(f"{made} AS a"), Output("k AS n")), self._where(), wrapper_outputs=around,
                             wrapper=f"WITH inside AS ({{query}}) SELECT {counted} FROM inside GROUP BY a")  # fmt: skip

    def distinct(self) -> Query:
        return Query(self.table, tuple(self._keys()), self._where(), is_distinct=True)

    def nested(self) -> Query:
        """An aggregation over an aggregation, as a sub-select or a CTE."""
        key, inner = self._key(), Output("count(*)")
        inner_query = Query(self.table, (Output(f"{key.sql} AS a", key.comparison), Output("count(*) AS n"),
                                         Output("max(k) AS m"), Output("sum(n2) AS s")),
                            self._where(), group_by=("1",))  # fmt: skip
        outputs = (inner, Output("sum(n)"), Output("max(m)"), Output("sum(s)"), Output("avg(n)"))
        listed = ", ".join(output.sql for output in outputs)
        wrapper = self.choose.choice([
            f"SELECT {listed} FROM ({{query}}) AS inside",
            f"WITH inside AS ({{query}}) SELECT {listed} FROM inside WHERE n > 1",
            f"WITH inside AS MATERIALIZED ({{query}}) SELECT {listed} FROM inside",
        ])  # fmt: skip
        return dataclasses.replace(inner_query, wrapper=wrapper, wrapper_outputs=outputs)
