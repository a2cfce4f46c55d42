"""Random queries with window functions.

Where a function's value depends on the places of peers, the order ends with the table's key, so that each row has one.
"""

import dataclasses

from queries import BY_VALUE, COLUMNS, EXACT, ORDERLESS_KINDS, Output, Query, QueryGenerator

BOUNDS = ("UNBOUNDED PRECEDING", "{} PRECEDING", "CURRENT ROW", "{} FOLLOWING", "UNBOUNDED FOLLOWING")
FLOATS = ("f4", "f8")
NUMBERS = ("i2", "i4", "i8", "f8", "num", "num", "i4", "f4")
# Keys that offsets can be added to, with offsets.
RANGE_KEYS = {
    "i2": ("0", "1", "100", "32767"), "i4": ("0", "3", "1000", "9000000000"), "i8": ("0", "10", "9223372036854775807"),
    "f4": ("0", "0.5", "1e3", "'Infinity'"), "f8": ("0", "1.25", "1e10", "'Infinity'", "1e-310"),
    "num": ("0", "0.01", "1000", "1e20", "'Infinity'"),
    "d": ("'0 days'", "'10 days'", "'1 month'"), "ts": ("'1 hour'", "'1 month 1 day'", "'100 years'"),
    "tz": ("'1 hour'", "'3 days'", "'1 month'"), "tod": ("'1 hour'", "'0'", "'1 day'"), "ttz": ("'90 minutes'", "'0'"),
}  # fmt: skip
# Parameters that are added to keys.
OFFSET_TYPES = {"i2": "int8", "i4": "int8", "i8": "int8", "f4": "float8", "f8": "float8", "num": "numeric", "d": "interval",
                "ts": "interval", "tz": "interval"}  # fmt: skip
# Offsets that are errors as soon as there is a row.
NOT_OFFSETS = {"rows": ("NULL", "-1", "(SELECT NULL::bigint)"), "f8": ("NULL", "'NaN'", "-0.5"), "num": ("NULL", "'NaN'", "-1")}
EXCLUSIONS = (" EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS")
RANKS = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")


def ordered(keys: list[str]) -> str:
    return "ORDER BY " + ", ".join(keys) if keys else ""


class WindowQueryGenerator(QueryGenerator):
    treats_nulls = False  # PostgreSQL 19 has IGNORE NULLS

    def query(self) -> Query:
        shapes = [(self.of_rows, 50), (self.first_of_partitions, 15), (self.first_alone, 15), (self.of_groups, 10),
                  (self.below, 15), (self.first_rows, 10), (self.sets, 8), (self.for_each_row, 8),
                  (self.in_row_order, 10)]
        shape = self.choose.choices([s for s, _ in shapes], [w for _, w in shapes])[0]
        return self._finished(shape().projected(self.choose))

    # -- parts -------------------------------------------------------------------------------------

    def _partition(self) -> str:
        keys = [self._key().sql for _ in range(self.choose.choices([0, 1, 2], [20, 60, 20])[0])]
        return "PARTITION BY " + ", ".join(keys) if keys else ""

    def _order(self, last: str) -> str:
        return ordered(self._order_keys(last))

    def _order_keys(self, last: str) -> list[str]:
        keys = [self._key().sql for _ in range(self.choose.choices([0, 1, 2], [20, 60, 20])[0])]
        directions = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
        return [key + self.choose.choice(directions) for key in keys] + ([last] if last else [])

    def _frame(self, counts_rows: bool, offsets: tuple[str, ...] = ()) -> str:
        """`offsets`: what can be added to the only key of the order."""
        pick = self.choose.choice
        if self.choose.random() < (0.1 if offsets else 0.35):
            return ""
        start = self.choose.choices(range(4), [40, 30, 15, 15])[0]
        end = self.choose.choices(range(max(start, 1), 5), [20, 40, 20, 20][max(start, 1) - 1 :])[0]
        unit = self.choose.choices(["ROWS", "RANGE", "GROUPS"], [70, 10, 20] if counts_rows else [0, 50, 50])[0]
        if offsets:
            unit = "RANGE"
        elif unit == "RANGE":
            start, end = start // 2 * 2, 4 if end == 3 else max(end, start // 2 * 2, 2)
        known = offsets or ("0", "1", "3", "50", "2000", "9223372036854775807")
        bounds = [BOUNDS[start].format(self._offset(known, not offsets)), BOUNDS[end].format(self._offset(known, not offsets))]
        return f"{unit} BETWEEN {' AND '.join(bounds)}{pick(EXCLUSIONS) if self.choose.random() < 0.25 else ''}"

    def _offset(self, known: tuple[str, ...], counts_rows: bool) -> str:
        if self.choose.random() < 0.02:
            wrong = "rows" if counts_rows else "f8" if "1.25" in known else "num" if "1e20" in known else ""
            return self.choose.choice(NOT_OFFSETS.get(wrong, ("NULL",)))
        offset = self.choose.choice(known)
        kind = "int8" if counts_rows else next((OFFSET_TYPES.get(kind) for kind, keys in RANGE_KEYS.items() if keys is known), None)
        if kind and self.parameters is not None and self.choose.random() < 0.5:
            self.parameters.append((kind, offset.strip("'")))
            return f"${len(self.parameters)}::{kind}"
        return f"(SELECT {offset}::bigint)" if counts_rows and self.choose.random() < 0.05 else offset

    def _range_order(self) -> tuple[str, tuple[str, ...]]:
        """An order of one key, and offsets of its type."""
        column = self.choose.choice([column for column in COLUMNS if column.kind in RANGE_KEYS])
        direction = self.choose.choice(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
        return f"ORDER BY {column.name}{direction}", RANGE_KEYS[column.kind]

    def _window_aggregate(self, has_places: bool) -> Output:
        pick = self.choose.choice
        # Whether floats of peers overflow depends on the order in which they are added.
        number = pick(NUMBERS if has_places else [kind for kind in NUMBERS if kind not in FLOATS])
        amount = self.expressions.expression(number, pick([0, 0, 1]))
        ordered = pick(["i4", "i8", "num", "f8", "d", "ts", "text", "en", "tod", "ip", "tz"])
        bits = self.expressions.expression(pick(["i2", "i4", "i8"]), pick([0, 0, 1]))
        logical = self.expressions.expression("bool", 1)
        measured = self.expressions.expression(ordered, pick([0, 0, 1]))
        of_equals = BY_VALUE if ordered in ORDERLESS_KINDS and not has_places else EXACT
        made = pick([
            Output("count(*)"), Output(f"count({measured})"), Output(f"sum({amount})"), Output(f"avg({amount})"),
            Output(f"min({measured})", of_equals), Output(f"max({measured})", of_equals),
            Output(f"{pick(['stddev', 'variance', 'stddev_pop', 'var_pop'])}({amount})"),
            Output(f"{pick(['bool_and', 'bool_or'])}({logical})"), Output(f"{pick(['bit_and', 'bit_or', 'bit_xor'])}({bits})"),
        ])  # fmt: skip
        if self.choose.random() < 0.15:
            return Output(f"{made.sql} FILTER (WHERE {self.expressions.expression('bool', 1)})", made.comparison)
        return made

    def _row_count(self) -> str:
        """Of rows or buckets, seldom an error."""
        if self.parameters is not None:
            self.parameters.append(("int4", self.choose.choice(["1", "2", "7", "40"])))
            return f"${len(self.parameters)}::int4"
        return self.choose.choice(["nullif(abs(i4_few), 0)", "CASE WHEN i4_few > 2 THEN 3 WHEN i4_few < 1 THEN 1 END", "length(low)",
                                   "coalesce(nullif(i4_few, 0), 2)", "greatest(i4_few, 1)"])

    def _place_function(self) -> Output:
        pick = self.choose.choice
        value = self.expressions.expression(self._kind(), pick([0, 0, 1]))
        offset = pick(["", ", 2", ", 0", ", -1", ", 100", ", NULL", ", i4_few", ", i2", f", {self._row_count()}"])
        function = pick(["lag", "lead"])
        nulls = pick(["", " IGNORE NULLS", " IGNORE NULLS", " RESPECT NULLS"]) if self.treats_nulls else ""
        return Output(pick([
            "row_number()", f"ntile({pick([1, 3, 1000, 'NULL', 'i4_few + 1', self._row_count()])})", f"{function}({value}{offset}){nulls}",
            f"{function}({value}{offset or ', 1'}, {value}){nulls}", f"first_value({value}){nulls}", f"last_value({value}){nulls}",
            f"nth_value({value}, {pick([1, 2, 40, 'NULL', 'i4_few + 1', self._row_count()])}){nulls}",
        ]))  # fmt: skip

    def _collected(self) -> str:
        """What a few rows around each row have, or some of its partition's."""
        pick = self.choose.choice
        value = self.expressions.expression(pick(["i4", "num", "d", "text", "bool", "f8"]), pick([0, 0, 1]))
        if self.choose.random() < 0.3:  # of users
            return pick([f"logged(({value})::text)", "logged(low)", "inexact(f8)", f"last_of({value})", f"joined(({value})::text)", "half_sum(n_mixed)", "half_sum(i8)", "last_of(ip)", "last_of(tags)", "last_of(d)"])
        if self.choose.random() < 0.3:
            return pick([f"json_object_agg(k, {value})", f"jsonb_object_agg(k % 5, {value})", "json_agg((low, i4))", "jsonb_agg(json_build_array(d, f8))"])
        return pick([f"array_agg({value})", f"json_agg({value})", f"jsonb_agg({value})", f"string_agg(({value})::text, {pick(['low', chr(39) * 2, 'NULL'])})"])

    def _functions(self, key: str) -> list[Output]:
        """Some of one window; `key`: what tells its rows apart."""
        has_places = self.choose.random() < 0.75
        partition, keys = self._partition(), self._order_keys(key if has_places else "")
        order, offsets = ordered(keys), ()
        if not has_places and self.choose.random() < 0.5:
            order, offsets = self._range_order()
        found = self._of_window(partition, order, offsets, has_places)
        if has_places and self.choose.random() < 0.4:  # and of one that the same sort serves
            found += self._of_window(partition, ordered(keys[: self.choose.randrange(len(keys))]), (), False)
        if has_places and partition and self.choose.random() < 0.5:  # of shorter partitions, in the same order mostly
            count = self.choose.randint(1, len(keys))
            more = [key if self.choose.random() < 0.1 else key.partition(" DESC")[0].partition(" NULLS")[0] for key in keys[:count]]
            shorter = ", ".join([partition, *(key.partition(" DESC")[0].partition(" NULLS")[0] for key in more)])
            found += self._of_window(partition, ordered([*more, *keys[count:]]), (), True)
            found += self._of_window(shorter, ordered(keys[count:]), (), count < len(keys))
        return found

    def _of_window(self, partition: str, order: str, offsets: tuple[str, ...], has_places: bool) -> list[Output]:
        found = []
        for _ in range(self.choose.randint(1, 3)):
            kind = self.choose.choice(["rank", "aggregate", "aggregate", "place" if has_places else "aggregate"])
            frame = self._frame(has_places, offsets) if order else ""
            if kind == "rank":
                found.append(Output(f"{self.choose.choice(RANKS)} OVER ({partition} {order})"))
                continue
            if kind == "place" and self.choose.random() < 0.2:
                rows = self.choose.choice(["1 PRECEDING AND 2 FOLLOWING", "3 PRECEDING AND 1 PRECEDING", "CURRENT ROW AND 1 FOLLOWING"])
                excluded = self.choose.choice(["", *EXCLUSIONS])
                found.append(Output(f"{self._collected()} OVER ({partition} {order} ROWS BETWEEN {rows}{excluded})"))
                found.append(Output(f"{self._collected()} FILTER (WHERE k % 1999 = 3) OVER ({partition} {order})"))
                frame = self.choose.choice(["", "ROWS 9 PRECEDING", "ROWS BETWEEN 700 PRECEDING AND 20 PRECEDING", "GROUPS 40 PRECEDING",
                                            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                                            "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN UNBOUNDED PRECEDING AND 7 PRECEDING"])
                found.append(Output(f"{self._collected()} FILTER (WHERE k % 97 = 3) OVER ({partition} {order} {frame})"))
                continue
            made = self._place_function() if kind == "place" else self._window_aggregate(has_places)
            found.append(Output(f"{made.sql} OVER ({partition} {order} {frame})", made.comparison))
        return found

    # -- shapes ------------------------------------------------------------------------------------

    def of_rows(self) -> Query:
        outputs = [Output("k"), *self._functions("k")]
        if self.choose.random() < 0.3:
            outputs += self._functions("k")
        if self.choose.random() < 0.2:
            outputs.append(self._whole_value())
        if self.choose.random() < 0.3:
            return Query(self.table, tuple(outputs), self._where(), order_by=("k",), limit=self._limit())
        return Query(self.table, tuple(outputs), self._where())

    def in_row_order(self) -> Query:
        """Windows without an order that show the one in which rows are read: of all rows, and of partitions."""
        outputs = [Output("k"), Output("row_number() OVER ()")]
        partition = self.choose.choice(["", "", "", "PARTITION BY i4_few ", self._partition() + " "])
        for _ in range(self.choose.randint(1, 3)):
            made = self._place_function() if self.choose.random() < 0.6 else self._window_aggregate(True)
            frame = self._frame(True)
            if "UNBOUNDED" in frame or not frame.startswith("ROWS"):  # PostgreSQL adds a frame with a hole up for each row
                frame = frame.partition(" EXCLUDE")[0]
            outputs.append(Output(f"{made.sql} OVER ({partition}{frame})", made.comparison))
        if self.choose.random() < 0.3:
            outputs.append(Output(f"{self._collected()} FILTER (WHERE k % 1999 = 3) OVER ({partition})"))
        source = self.table if self.choose.random() < 0.8 else f"(SELECT * FROM {self.table} OFFSET {self._count([0, 3])}) AS passed"
        return Query(source, tuple(outputs), self._where() if self.choose.random() < 0.5 else ())

    def first_of_partitions(self) -> Query:
        """What PostgreSQL stops at, and what it cannot."""
        function = self.choose.choice(["row_number()", "rank()", "count(*)", "dense_rank()"])
        order = self._order("k" if function == "row_number()" or self.choose.random() < 0.5 else "")
        number = f"{function} OVER ({self._partition()} {order})"
        condition = self.choose.choice(["n <= 3", "n < 2", "n = 1", "n > 2", "n BETWEEN 2 AND 4", "4 >= n"])
        inner = Query(self.table, (Output("k"), Output(f"{number} AS n"), *self._functions("k")), self._where())
        names = [f"f{place}" for place in range(len(inner.outputs) - 2)]
        outputs = (*inner.outputs[:2], *(Output(f"{output.sql} AS {name}", output.comparison)
                                         for output, name in zip(inner.outputs[2:], names, strict=True)))  # fmt: skip
        shown = (Output("k"), Output("n"), *(Output(name, output.comparison)
                                             for output, name in zip(outputs[2:], names, strict=True)))  # fmt: skip
        listed = ", ".join(output.sql for output in shown)
        wrapper = f"SELECT {listed} FROM ({{query}}) AS inside WHERE {condition}"
        return dataclasses.replace(inner, outputs=outputs, wrapper=wrapper, wrapper_outputs=shown)

    def first_alone(self) -> Query:
        """Ranks alone, which the engine keeps the first rows of each partition for."""
        pick = self.choose.choice
        function = pick(["row_number()", "rank()", "dense_rank()"])
        order = self._order("k" if function == "row_number()" else pick(["", "k", "k DESC"])) or "ORDER BY k"
        window = f"OVER ({self._partition()} {order})"
        also = pick([[], ["rank()"], ["dense_rank()", "rank()"]])
        also = [f"{name} {window} AS f{place}" for place, name in enumerate(also)]
        outputs = [Output("k"), Output(f"{function} {window} AS n"), *map(Output, also)]
        key = self._key()
        inner = Query(self.table, (*outputs, Output(f"{key.sql} AS shown")), self._where())
        bound = pick([1, 1, 2, 3, 10, 500])
        condition = pick([f"n <= {bound}", f"n < {bound + 1}", f"n = {bound}", f"{bound} >= n", f"n <= {bound}::int2"])
        names = ["k", "n", *(f"f{place}" for place in range(len(also))), "shown"]
        wrapper = f"SELECT {', '.join(names)} FROM ({{query}}) AS inside WHERE {condition}"
        shown = (*map(Output, names[:-1]), Output("shown", key.comparison))
        return dataclasses.replace(inner, wrapper=wrapper, wrapper_outputs=shown)

    def of_groups(self) -> Query:
        keys = [key for key in self._keys() if key.comparison == EXACT] or [Output("i4_few")]
        order = ", ".join(key.sql for key in keys)
        functions = [
            "rank() OVER (ORDER BY count(*) DESC)",
            f"lag(count(*)) OVER (ORDER BY {order})",
            f"sum(count(*)) OVER (ORDER BY {order})",
            f"sum(sum(n2)) OVER (PARTITION BY {keys[0].sql})",
            f"max(max(k)) OVER (ORDER BY {order} ROWS 2 PRECEDING)",
        ]
        group_by = tuple(str(i + 1) for i in range(len(keys)))
        if self.choose.random() < 0.3:
            functions = [function.replace(f"ORDER BY {order}", f"ORDER BY {order}, GROUPING({order})") for function in functions]
            group_by = (self.choose.choice([f"ROLLUP ({', '.join(group_by)})", f"CUBE ({', '.join(group_by)})"]),)
        outputs = [*keys, Output(self.choose.choice(functions)), Output(self.choose.choice(functions))]
        return Query(self.table, tuple(outputs), self._where(), group_by)

    def below(self) -> Query:
        """Windows whose rows are grouped, joined or sorted again."""
        function = self._functions("k")[0]
        while function.comparison != EXACT:
            function = self._functions("k")[0]
        inner = Query(self.table, (Output("k"), Output("i4_few AS a"), Output(f"{function.sql} AS w")), self._where())
        shown = self.choose.choice([
            (Output("count(*)"), Output("count(w)"), Output("min(k)")),
            (Output("a"), Output("count(w)"), Output("count(DISTINCT w)")),
            (Output("DISTINCT ON (a) a"), Output("w"), Output("k")),
            (Output("DISTINCT a"), Output("w", BY_VALUE)),
        ])  # fmt: skip
        listed = ", ".join(output.sql for output in shown)
        grouped = " GROUP BY a" if shown[0].sql == "a" else " ORDER BY a, w DESC, inside.k" if "ON" in shown[0].sql else ""
        joined = self.choose.choice(["", " JOIN j_tiny AS t ON t.i4_few = inside.a"])
        listed = listed.replace("min(k)", "min(inside.k)").replace(", k", ", inside.k")
        wrapper = f"SELECT {listed} FROM ({{query}}) AS inside{joined}{grouped}"
        return dataclasses.replace(inner, wrapper=wrapper, wrapper_outputs=shown)

    def _number(self) -> str:
        """A window function of type bigint."""
        function, last = self.choose.choice([("row_number()", "k"), ("rank()", ""), ("dense_rank()", ""), ("count(*)", "k"), ("count(low)", "k")])
        return f"{function} OVER ({self._partition()} {self._order(last)})"

    def sets(self) -> Query:
        """Set operations of windows."""
        operation = self.choose.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"])
        where = self._where()[:1]  # with more, the one that is evaluated first may fail
        other = f"{operation} SELECT k, {self._number()} FROM {self.choose.choice(['cached', self.table])}"
        other += f" WHERE {' AND '.join(where)}" if where else ""
        is_ordered = self.choose.random() < 0.4
        return Query(self.table, (Output("k"), Output(self._number())), self._where(), operations=(other,),
                     order_by=("2", "1") if is_ordered else (), limit=self._limit() if is_ordered else "")  # fmt: skip

    def for_each_row(self) -> Query:
        """A LATERAL subquery with windows, and mostly a limit."""
        functions = self._functions("k")
        names = [f"f{place}" for place in range(len(functions))]
        outputs = (Output("k"), *(Output(f"{output.sql} AS {name}", output.comparison) for output, name in zip(functions, names, strict=True)))
        shown = (Output("o.k"), Output("inside.k"), *(Output(name, output.comparison) for output, name in zip(functions, names, strict=True)))
        matched = self.choose.choice(["i4_few = o.i4_few", "low = o.low", "k < o.k", "i4_run = o.k AND k > o.i4"])
        limit = f"LIMIT {self._count([1, 3, 40])}" if self.choose.random() < 0.7 else ""
        join = self.choose.choice(["CROSS JOIN LATERAL ({query}) AS inside", "LEFT JOIN LATERAL ({query}) AS inside ON true"])
        wrapper = f"SELECT {', '.join(output.sql for output in shown)} FROM j_tiny AS o {join}"
        return Query(self.table, outputs, (matched, *self._where()), order_by=("k",) if limit else (), limit=limit, wrapper=wrapper,
                     wrapper_outputs=shown)  # fmt: skip

    def first_rows(self) -> Query:
        """DISTINCT ON, which is row_number() = 1."""
        keys = [dataclasses.replace(key, comparison=EXACT) for key in self._keys()]
        outputs = [*keys, Output("k"), *(self._projected(self.choose.choice([0, 1])) for _ in range(2))]
        places = self.choose.sample(range(1, len(keys) + 1), len(keys))
        order = [f"{place}{self.choose.choice(['', ' DESC', ' NULLS FIRST'])}" for place in places]
        order += [self._key().sql] if self.choose.random() < 0.5 else []
        outputs += [self._whole_value()] if self.choose.random() < 0.3 else []
        return Query(
            self.table, tuple(outputs), self._where(), order_by=(*order, "k DESC" if self.choose.random() < 0.3 else "k"),
            distinct_on=tuple(map(str, sorted(places))), limit=self._limit() if self.choose.random() < 0.3 else "",
        )  # fmt: skip
