"""Random queries over tables that are large beside their indexes' look-ups: where a plan's cost decides most.

Outer rows from none to many, subqueries that an index answers and ones that it does not, in every place where one can
stand, guarded or not; LATERAL, limits, memberships and joins by keys.
"""

import random

# lines: `order_id` in the order of the rows, `part` scattered. Indexes on all but `size` and `day`.
TABLES = """
CREATE TABLE customers (id integer PRIMARY KEY, region integer, balance numeric(9, 2));
INSERT INTO customers SELECT i, i * 7 % 25, i % 997 FROM generate_series(1, 5000) i;
CREATE TABLE orders (id integer PRIMARY KEY, customer integer, status integer, day date, total numeric(9, 2));
INSERT INTO orders SELECT i, 1 + i * 7919 % 5000, CASE WHEN i % 20000 = 5 THEN 9 ELSE i % 3 END, date '2020-01-01' + i % 900, i % 1013
  FROM generate_series(1, 60000) i;
CREATE TABLE lines (id integer PRIMARY KEY, order_id integer, part integer, size integer, price numeric(9, 2), day date, note text);
INSERT INTO lines SELECT i, 1 + i / 5, 1 + (i * 104729::bigint % 20000)::integer, i % 50, i % 1009, date '2020-01-01' + i % 900,
  'note ' || i % 1000 FROM generate_series(0, 299999) i;
CREATE TABLE few (id integer, customer integer, part integer);
INSERT INTO few SELECT i, i * 100, i * 331 FROM generate_series(1, 40) i;
CREATE TABLE none (id integer, customer integer, part integer);
CREATE INDEX ON orders (customer);
CREATE INDEX ON orders (day);
CREATE INDEX ON lines (order_id);
CREATE INDEX ON lines (part);
"""
CACHED = ("customers", "orders", "lines", "few", "none")

# A relation, its alias, columns by what they refer to, and conditions from few rows to many.
OUTER = (
    ("few", "o", {"order": "id * 1000", "part": "part", "customer": "customer"}, ("o.id < 5",)),
    ("none", "o", {"order": "id", "part": "part", "customer": "customer"}, ("o.id < 5",)),
    ("customers", "o", {"order": "id", "part": "id", "customer": "id"}, ("o.region = 3", "o.balance < 20", "o.id < 50")),
    ("orders", "o", {"order": "id", "part": "id % 20000", "customer": "customer"},
     ("o.status = 9", "o.day = '2020-05-05'", "o.customer = 77", "o.id < 200", "o.total < 3")),
)
# Tables of a subquery: FROM, condition by which it refers to the row around it, a value, a condition.
INNER = (
    ("lines i", "i.order_id = {order}", "price", "i.size < 5"),
    ("lines i", "i.part = {part}", "price", "i.size < 5"),
    ("lines i", "i.id = {part}", "price", "i.size < 25"),
    ("lines i", "i.size = {part} % 50 AND i.part = {part}", "price", "i.day < '2020-03-01'"),
    ("lines i", "i.size = {part} % 50", "price", "i.id < 20000"),
    ("lines i", "i.part = {part} AND i.day > date '2020-01-01' + {order} % 900", "size", "i.size < 5"),
    ("orders i", "i.customer = {customer}", "total", "i.status = 1"),
    ("orders i", "i.id = {order}", "total", "i.status <> 1"),
    ("orders i", "i.id < {order}", "total", "i.customer = 78"),
    ("customers i", "i.id = {customer}", "balance", "i.region < 5"),
    ("orders i JOIN lines j ON j.order_id = i.id", "i.customer = {customer}", "total", "j.size < 9"),
    ("orders i JOIN lines j ON j.order_id = i.id", "j.part = {part}", "total", "i.status = 1"),
    ("lines i JOIN orders j ON j.id = i.order_id", "j.id = {order}", "size", "j.status <> 1"),
    ("lines i LEFT JOIN customers j ON j.id = i.part", "i.order_id = {order}", "size", "i.size > 3"),
)
# Conditions that few, some, or most rows of `orders` and of the others pass.
GUARDS = ("o.id = 7", "o.id % 1000 = 5", "o.id % 2 = 0", "o.id > 3", "o.id < 30")


class CostQueryGenerator:
    def __init__(self, seed: int):
        self.random = random.Random(f"costs {seed}")

    def _is(self, share: float) -> bool:
        return self.random.random() < share

    def query(self) -> str:
        self.table, alias, self.columns, self.conditions = self.random.choices(OUTER, (2, 1, 4, 4))[0]
        self.source = f"{self.table} {alias}"
        shape = self.random.choice((self._outputs, self._outputs, self._where, self._where, self._aggregates, self._lateral,
                                    self._joined, self._limited, self._nested))  # fmt: skip
        return shape()

    def _inner(self) -> tuple[str, str, str]:
        """FROM, WHERE and a value."""
        source, reference, value, condition = self.random.choice(INNER)
        names = {name: f"({' '.join(('o.' + column).split())})" for name, column in self.columns.items()}
        where = reference.format(**names)
        if self._is(0.4):
            where += f" AND {condition}"
        if self._is(0.15):
            where += f" AND i.id IN (SELECT id FROM {self.random.choice(('few', 'customers WHERE region = 4', 'orders WHERE status = 9'))})"
        return source, where, f"i.{value}"

    def _scalar(self) -> str:
        source, where, value = self._inner()
        select = self.random.choice((f"max({value})", f"sum({value})", "count(*)", f"avg({value})"))
        if self._is(0.2):
            return f"(SELECT {value} FROM {source} WHERE {where} ORDER BY i.id DESC LIMIT 1)"
        return f"(SELECT {select} FROM {source} WHERE {where})"

    def _test(self) -> str:
        source, where, value = self._inner()
        return self.random.choice((f"EXISTS (SELECT 1 FROM {source} WHERE {where})", f"NOT EXISTS (SELECT 1 FROM {source} WHERE {where})",
                                   f"o.id IN (SELECT i.id FROM {source} WHERE {where})", f"o.id NOT IN (SELECT i.id FROM {source} WHERE {where})",
                                   f"{self._scalar()} > 500", f"500 > ALL (SELECT {value} FROM {source} WHERE {where})"))  # fmt: skip

    def _value(self) -> str:
        value = self._scalar() if self._is(0.7) else f"({self._test()})::integer"
        guard = self.random.choice(GUARDS)
        return self.random.choice((value, value, f"CASE WHEN {guard} THEN {value} END", f"CASE WHEN {guard} THEN 0 ELSE {value} END",
                                   f"coalesce(CASE WHEN {guard} THEN 1 END, {value})"))  # fmt: skip

    def _condition(self) -> str:
        test, guard = self._test(), self.random.choice(GUARDS)
        return self.random.choice((test, test, f"({guard} OR {test})", f"({guard} AND ({test} OR o.id = 3))",
                                   f"CASE WHEN {guard} THEN {test} ELSE false END"))  # fmt: skip

    def _of_outer(self, *conditions: str) -> str:
        """FROM and WHERE, sometimes of few of its rows only."""
        conditions += (self.random.choice(self.conditions),) if self._is(0.5) else ()
        self.random.shuffle(conditions := list(conditions))
        return self.source + (f" WHERE {' AND '.join(conditions)}" if conditions else "")

    def _outputs(self) -> str:
        values = [self._value() for _ in range(self.random.choice((1, 1, 1, 2)))]
        return f"SELECT o.id, {', '.join(values)} FROM {self._of_outer()}"

    def _where(self) -> str:
        return f"SELECT {self.random.choice(('count(*)', 'o.id'))} FROM {self._of_outer(self._condition())}"

    def _aggregates(self) -> str:
        aggregate = self.random.choice((f"count(*) FILTER (WHERE {self._condition()})", f"sum({self._value()})"))
        if self._is(0.5):
            return f"SELECT {aggregate} FROM {self._of_outer()}"
        return f"SELECT o.id % 7, {aggregate} FROM {self._of_outer()} GROUP BY 1"

    def _lateral(self) -> str:
        source, where, value = self._inner()
        body = self.random.choice((f"SELECT sum({value}) AS z FROM {source} WHERE {where}", f"SELECT {value} AS z FROM {source} WHERE {where}",
                                   f"SELECT {value} AS z FROM {source} WHERE {where} ORDER BY i.id DESC LIMIT 2",
                                   f"SELECT {value} AS z, count(*) FROM {source} WHERE {where} GROUP BY 1"))  # fmt: skip
        join = self.random.choice(("JOIN", "LEFT JOIN"))
        return (f"SELECT {self.random.choice(('count(*), sum(z)', 'o.id, z'))} FROM (SELECT * FROM {self._of_outer()}) o"
                f" {join} LATERAL ({body}) l ON true")  # fmt: skip

    def _joined(self) -> str:
        source, where, value = self._inner()
        join = self.random.choice(("JOIN", "JOIN", "LEFT JOIN"))
        output = self.random.choice((f"count(*), sum({value})", f"o.id, {value}", f"o.id % 5, count({value})"))
        group = " GROUP BY 1" if "% 5" in output else ""
        more = f" WHERE {self.random.choice(self.conditions)}" if self._is(0.7) else ""
        source = f"({source})" if " JOIN " in source else source
        return f"SELECT {output} FROM {self.source} {join} {source} ON {where}{more}{group}"

    def _limited(self) -> str:
        order = self.random.choice(("o.id", "o.id DESC", "2, o.id", "o.customer, o.id" if self.table == "orders" else "o.id"))
        where = self._of_outer(self._condition()) if self._is(0.5) else self._of_outer()
        return f"SELECT o.id, {self._value()} FROM {where} ORDER BY {order} LIMIT {self.random.choice((1, 10, 1000))}"

    def _nested(self) -> str:
        """Subqueries in a subquery, CTEs that refer to the rows around them, unions."""
        source, where, value = self._inner()
        inner_test = self.random.choice(("EXISTS (SELECT 1 FROM lines d WHERE d.order_id = i.id AND d.size < 7)",
                                         "(SELECT max(d.total) FROM orders d WHERE d.customer = i.id) > 900",
                                         "i.id IN (SELECT d.part FROM lines d WHERE d.order_id = i.id)"))  # fmt: skip
        body = self.random.choice((
            f"SELECT count(*) FROM {source} WHERE {where} AND {inner_test}",
            f"WITH c AS (SELECT i.id, {value} AS z FROM {source} WHERE {where}) SELECT count(*) FROM c a JOIN c b USING (id)",
            f"SELECT sum(z) FROM (SELECT {value} AS z FROM {source} WHERE {where} UNION ALL SELECT id FROM few WHERE few.id = o.id) u",
            f"SELECT max(z) FROM (SELECT {value} AS z, row_number() OVER (ORDER BY i.id) AS r FROM {source} WHERE {where}) w WHERE r < 3",
        ))  # fmt: skip
        return self.random.choice((f"SELECT o.id, ({body}) FROM {self._of_outer()}", f"SELECT count(*) FROM {self._of_outer(f'({body}) > 3')}",
                                   f"SELECT count(*) FROM {self.source}, LATERAL ({body}) l"))  # fmt: skip
