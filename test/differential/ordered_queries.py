"""Random queries with ordered-set aggregates, aggregates that collect values in an order, and aggregates of bits.

Which of equal values a sort brings to a place is not defined, so the engine refuses what PostgreSQL might show
otherwise: all its results are compared exactly. Where it refuses, two plans of PostgreSQL's may differ by such values.
Orders of what is collected end with the row's number, and only what has one spelling is collected by DISTINCT.
"""

import dataclasses
from dataclasses import dataclass

from expressions import CONSTANTS, SQL_TYPES
from queries import BY_VALUE, EXACT, ROUNDED, Output, Query, QueryGenerator

FRACTIONS = ("0", "1", "0.5", "0.5", "0.25", "0.9", "0.999", "1/3.0", "0.1::real", "NULL", "(SELECT 0.75)")
NOT_FRACTIONS = ("1.5", "-0.1", "'NaN'", "i4_few / 4.0")
NOT_ARRAYS = ("ARRAY[0.5, NULL]", "ARRAY[[0.5], [1]]", "'{}'::float8[]", "ARRAY[0.5, 2]", "ARRAY[(SELECT 0.75)]", "NULL::float8[]")
NUMBERS = ("i2", "i4", "i4", "i8", "f4", "f8", "f8", "num", "iv")
ORDERED = ("i2", "i4", "i4", "i8", "f8", "f4", "num", "num", "bool", "d", "ts", "tz", "iv", "text", "text", "bp", "uuid", "en", "ttz",
           "by", "ip", "bits")
ORDERS = ("i2", "i4", "i8", "f8", "f4", "num", "bool", "d", "ts", "tz", "iv", "text", "text", "bp", "uuid", "en", "tod", "by", "ip")
OF_ONE_SPELLING = ("i2", "i4", "i4", "i8", "bool", "d", "ts", "tz", "text", "text", "uuid")
DIRECTIONS = ("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST")
DELIMITERS = ("','", "', '", "''", "NULL", "low", "vc", "(SELECT '; ')", "i4_few::text")


@dataclass(frozen=True)
class OrderedQuery(Query):
    is_refused: bool = False

    def when_refused(self) -> "OrderedQuery":
        return dataclasses.replace(self, is_refused=True)

    @property
    def comparisons(self) -> list[str]:
        usual = super().comparisons
        return [comparison if comparison == ROUNDED else BY_VALUE for comparison in usual] if self.is_refused else usual


class OrderedQueryGenerator(QueryGenerator):
    def query(self) -> Query:
        shapes = [(self.plain, 20), (self.by_keys, 45), (self.by_sets, 15), (self.below, 10), (self.sorted_rows, 10), (self.correlated, 10)]
        shape = self.choose.choices([s for s, _ in shapes], [w for _, w in shapes])[0]
        return self._finished(shape().projected(self.choose))

    # -- parts -------------------------------------------------------------------------------------

    def _fraction(self) -> str:
        if self.choose.random() < 0.04:
            return self.choose.choice(NOT_FRACTIONS)
        if self.parameters is not None and self.choose.random() < 0.5:
            self.parameters.append(("float8", self.choose.choice(["0.5", "0.05", "1"])))
            return f"${len(self.parameters)}::float8"
        return self.choose.choice(FRACTIONS)

    def _fractions(self) -> str:
        """One, or an array of some."""
        if self.choose.random() < 0.7:
            return self._fraction()
        if self.choose.random() < 0.04:
            return self.choose.choice(NOT_ARRAYS)
        if self.parameters is not None and self.choose.random() < 0.5:
            self.parameters.append(("float8[]", self.choose.choice(["{0.5}", "{0.9,0.1}"])))
            return f"${len(self.parameters)}::float8[]"
        return f"ARRAY[{', '.join(self.choose.choices(FRACTIONS[:-2], k=self.choose.choice([1, 2, 3, 9])))}]::float8[]"

    def _value(self, kinds: tuple[str, ...]) -> str:
        return self.expressions.expression(self.choose.choice(kinds), self.choose.choice([0, 0, 0, 1, 2]))

    def _ordered(self) -> Output:
        pick = self.choose.choice
        direction = pick(["", "", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST"])
        made = pick([
            f"percentile_cont({self._fractions()}) WITHIN GROUP (ORDER BY {self._value(NUMBERS)}{direction})",
            f"percentile_disc({self._fractions()}) WITHIN GROUP (ORDER BY {self._value(ORDERED)}{direction})",
            f"mode() WITHIN GROUP (ORDER BY {self._value(ORDERED)}{direction})",
            f"{pick(['bit_and', 'bit_or', 'bit_xor'])}({self._value(('i2', 'i4', 'i8'))})",
            self._hypothetical(direction),
        ])  # fmt: skip
        if self.choose.random() < 0.5:
            made = self._collected()
        if self.choose.random() < 0.2:
            made += f" FILTER (WHERE {self.expressions.expression('bool', 1)})"
        return Output(made)

    def _hypothetical(self, direction: str) -> str:
        kind = self.choose.choice(("i2", "i4", "i8", "f8", "num", "d", "ts", "tz", "text", "bool", "en", "uuid"))
        value = f"{self.choose.choice(CONSTANTS[kind])}::{SQL_TYPES[kind]}" if self.choose.random() < 0.9 else "NULL"
        name = self.choose.choice(("rank", "dense_rank", "percent_rank", "cume_dist"))
        return f"{name}({value}) WITHIN GROUP (ORDER BY {self._value((kind,))}{direction})"

    def _collected(self) -> str:
        pick = self.choose.choice
        if self.choose.random() < 0.35:
            return self._json()
        joins_text, is_distinct = self.choose.random() < 0.5, self.choose.random() < 0.3
        kinds = ("text",) if joins_text else OF_ONE_SPELLING if is_distinct else ORDERS
        value = f"({self._value(kinds)}){'::text' if joins_text else ''}"
        if not joins_text and not is_distinct and self.choose.random() < 0.3:
            return self._of_postgresql()
        delimiter = f", {pick(DELIMITERS)}" if joins_text else ""
        name = "string_agg" if joins_text else pick(["array_agg", "array_agg", "json_agg", "jsonb_agg"])
        if is_distinct:
            order = f" ORDER BY {value}{pick(DIRECTIONS)}" if self.choose.random() < 0.6 else ""
            return f"{name}(DISTINCT {value}{delimiter}{order})"
        keys = [f"{self._value(ORDERS)}{pick(DIRECTIONS)}" for _ in range(pick([0, 1, 1, 2]))]
        return f"{name}({value}{delimiter} ORDER BY {', '.join([*keys, 'k' + pick(DIRECTIONS)])})"

    def _json(self) -> str:
        """Of rows, of what is made of several values, and objects; some rows have no key, which is an error."""
        pick = self.choose.choice
        values = [self._value(ORDERS) for _ in range(pick([1, 2, 3]))]
        row = f"ROW({', '.join(values)})"
        fields = ", ".join(f"'{pick('abc')}', {value}" for value in values)
        made = f"json_build_object({fields})"
        order = f" ORDER BY {self._value(ORDERS)}{pick(DIRECTIONS)}, k"
        if self.choose.random() < 0.5:
            return f"{pick(['json_agg', 'jsonb_agg'])}({pick([row, made, f'to_jsonb({row})', *values])}{order})"
        name = pick(["json_object_agg", "jsonb_object_agg"])
        key = pick(["k", "k", f"k::text || ({self._value(('text',))})", self._value(("i4", "text", "d")), "coalesce(low, 'none')"])
        return f"{name}({key}, {pick([row, made, *values])}{order})"

    def _of_postgresql(self) -> str:
        """Aggregates of values that the engine collects and has no function for, some without an order."""
        pick = self.choose.choice
        if self.choose.random() < 0.2:
            return f"{pick(['range_agg', 'range_agg', 'range_intersect_agg'])}({self._value(('rng', 'rng', 'span'))})"
        number, name = self._value(("i4", "i8")), pick(["array_agg", "array_agg", "last_of", "last_of", "joined", "half_sum", "xmlagg"])
        value = {
            "array_agg": lambda: pick([self._value(("en", "ip", "ttz", "bits", "oid", "lsn", "rng")), f"ROW({number}, k)", f"ARRAY[{number}, k]"]),
            "last_of": lambda: self._value(ORDERS), "joined": lambda: f"({self._value(('text',))})::text", "half_sum": lambda: self._value(("num", "num", "i8")),
            "xmlagg": lambda: f"xmlelement(name x, {number})",
        }[name]()  # fmt: skip
        return f"{name}({value} ORDER BY {self._value(ORDERS)}{pick(DIRECTIONS)}, k)"

    def _several(self) -> list[Output]:
        """Some of one argument, which share their values, and an aggregate of another kind."""
        found = [self._ordered() for _ in range(self.choose.randint(1, 3))]
        if self.choose.random() < 0.3:
            value = self._value(("i4", "f8", "num"))
            found += [Output(f"percentile_cont({f}) WITHIN GROUP (ORDER BY {value})") for f in (0.5, 0.9, 0.99)]
        if self.choose.random() < 0.3:
            found.append(self._aggregate())
        return found

    def _exact_keys(self) -> list[Output]:
        return [key for key in self._keys() if key.comparison == EXACT] or [Output("i4_few")]

    def _having(self) -> str:
        """Conditions of the engine's, and others, of which some are errors for some groups."""
        pick = self.choose.choice
        greater = f"SELECT min(i4_few) + 2 FROM j_tiny AS h WHERE h.k < max({self.table}.k)"
        conditions = ["percentile_cont(0.5) WITHIN GROUP (ORDER BY k) > 3000", "mode() WITHIN GROUP (ORDER BY low) = 'red'",
                      "count(*) > 3", "100 / (count(*) - 4) < 60", "max(k) % 7 > 2",
                      "array_agg(k ORDER BY k) && '{7,77,778,3001}'", "(array_agg(k ORDER BY k DESC))[2] > 3000",
                      "(string_agg(low, '' ORDER BY k))::bit varying IS NULL", "json_agg(k ORDER BY k) ->> 1 LIKE '%1%'",
                      f"count(*) > ({greater})", f"({self._collected()})::text > 'k'"]  # fmt: skip
        return pick([" AND ", " AND ", " OR "]).join(pick(conditions) for _ in range(pick([1, 1, 2, 3])))

    # -- shapes ------------------------------------------------------------------------------------

    def plain(self) -> Query:
        return OrderedQuery(self.table, tuple(self._several()), self._where())

    def by_keys(self) -> Query:
        keys = self._keys()
        having = self._having() if self.choose.random() < 0.3 else ""
        order_by, limit = (), ""
        if self.choose.random() < 0.2 and all(key.comparison == EXACT for key in keys):
            order_by, limit = tuple(str(i + 1) for i in range(len(keys))), self._limit()
        group_by = tuple(str(i + 1) for i in range(len(keys)))
        return OrderedQuery(self.table, (*keys, *self._several()), self._where(), group_by, having, order_by, limit)

    def by_sets(self) -> Query:
        keys = self._exact_keys()
        numbers = ", ".join(str(i + 1) for i in range(len(keys)))
        sets = self.choose.choice([f"ROLLUP ({numbers})", f"CUBE ({numbers})", "GROUPING SETS ((1), ())", "GROUPING SETS ((1))"])
        keys = keys if "SETS" not in sets else keys[:1]
        having = self._having() if self.choose.random() < 0.2 else ""
        return OrderedQuery(self.table, (*keys, *self._several()), self._where(), (sets,), having)

    def below(self) -> Query:
        """Rows that were grouped or joined before."""
        inner = OrderedQuery(self.table, (Output("i4_few AS a"), Output("low AS b"), Output("k"), Output("f8 AS x"), Output("vc AS y")),
                      self._where())  # fmt: skip
        shown = (Output("b"), Output("percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
                 Output(f"percentile_disc({self._fraction()}) WITHIN GROUP (ORDER BY y)"),
                 Output("mode() WITHIN GROUP (ORDER BY a DESC)"), Output("bit_xor(inside.k)"))  # fmt: skip
        joined = self.choose.choice(["", " JOIN j_tiny AS t ON t.i4_few = inside.a"])
        listed = ", ".join(output.sql for output in shown).replace("i4_few", "inside.a").replace("BY a ", "BY inside.a ")
        listed = f"inside.{listed}" if joined else listed
        wrapper = f"SELECT {listed} FROM ({{query}}) AS inside{joined} GROUP BY inside.b"
        return dataclasses.replace(inner, wrapper=wrapper, wrapper_outputs=shown)

    def sorted_rows(self) -> Query:
        """In the order of a subquery, or of one for each row; groups first by their key, as PostgreSQL may sort them."""
        pick = self.choose.choice
        collected = (Output(pick(["json_agg(s)", "jsonb_agg(s)", "json_agg(s.a)"])), Output("array_agg(s.k)"), Output("string_agg(s.b, ',')"),
                     Output(f"count(*) FILTER (WHERE {pick(['s.a > 3', 's IS NULL', 's IS NOT NULL'])})"))  # fmt: skip
        listed = ", ".join(output.sql for output in collected)
        limit = pick(["", "", " LIMIT 5", " LIMIT 3 OFFSET 2", " OFFSET 1"])
        if pick([True, False]):
            order = pick(["t.k", "t.k DESC", "t.i4 DESC, t.k", "t.low NULLS FIRST, t.k"])
            rows = f"SELECT t.k, t.i4_few AS a, t.vc AS b FROM j_tiny AS t WHERE t.i4_few = o.i4_few ORDER BY {order}{limit}"
            if self.choose.random() < 0.3:
                rows = rows.replace("t.k, t.i4_few AS a, t.vc AS b", pick(["t.k", "t.vc", "t.i4 / 3.0", "t.low", "t.f8"]))
                return OrderedQuery(f"{self.table} AS o", (Output("k"), Output(f"ARRAY({pick([rows, rows.partition(' ORDER')[0]])})")), self._where())
            target = pick(["json_agg(s)", "array_agg(s.k)", "string_agg(s.b, ',')", "max(s.r)", "coalesce(json_agg(s), '[]')",
                           "coalesce(array_agg(s.b), '{none}')", "coalesce(sum(s.a), -1)"])  # fmt: skip
            if target == "max(s.r)":
                rows = rows.replace("t.k,", f"{pick(['rank()', 'sum(t.i4)', 'row_number()'])} OVER (ORDER BY t.k) AS r, t.k,", 1)
            return OrderedQuery(f"{self.table} AS o", (Output("k"), Output(f"(SELECT {target} FROM ({rows}) AS s)")), self._where())
        inner = OrderedQuery(self.table, (Output("i4_few AS a"), Output("low AS b"), Output("k")), self._where())
        key = pick(["", "s.a"])
        order = "1, 3" if key else pick(["3", "3 DESC", "2 NULLS FIRST, 3"])
        shown = (Output(key), *collected) if key else collected
        wrapper = f"SELECT {key}{', ' if key else ''}{listed} FROM ({{query}} ORDER BY {order}{limit}) AS s{' GROUP BY s.a' if key else ''}"
        return dataclasses.replace(inner, wrapper=wrapper, wrapper_outputs=shown)

    def correlated(self) -> Query:
        value = self.choose.choice(["k", "n2", "f8", "i4"])
        ordered = self.choose.choice([f"percentile_cont({self._fraction()}) WITHIN GROUP (ORDER BY t.{value})",
                                      f"mode() WITHIN GROUP (ORDER BY t.{value})", f"bit_or(t.{self.choose.choice(['i4', 'k'])})"])  # fmt: skip
        subquery = f"(SELECT {ordered} FROM j_tiny AS t WHERE t.i4_few = o.i4_few)".replace("i4_few /", "t.i4_few /")
        return OrderedQuery(f"{self.table} AS o", (Output("k"), Output(subquery)), self._where())
