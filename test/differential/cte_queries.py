"""Random queries whose CTEs are read several times: each reader has its own conditions, columns, joins and limits.

Some readers have the CTE's body in its place. Bodies are aggregations, windows, DISTINCT, joins, set operations,
limits, recursion, volatile functions, and reads of CTEs before them; readers are in joins, members of set operations,
IN, EXISTS, scalar and LATERAL subqueries, below limits, and in branches that no row takes. Rows are determined by
construction: sorts are by all columns that are shown, so that rows which change places are equal, and equal values
are written alike.
"""

import random
from dataclasses import dataclass

from clause_queries import ClauseQuery

COLUMNS = "id integer, a integer, k integer, s text, n numeric(12,2), d date"
ROWS = """SELECT i, nullif(i * 7 % 9, 8), i * 13 % 211, nullif('s' || i * 11 % 60, 's5'), (i * 37 % 5000)::numeric(12,2) / 4,
  date '2024-01-01' + i % 400 FROM generate_series(1, {rows}) i"""
TABLES = f"""
CREATE TABLE f ({COLUMNS});
INSERT INTO f {ROWS.format(rows=1200)};
CREATE TABLE g ({COLUMNS});
INSERT INTO g {ROWS.format(rows=300)};
CREATE TABLE h ({COLUMNS});
INSERT INTO h {ROWS.format(rows=30)};
CREATE TABLE e ({COLUMNS});
CREATE TABLE p ({COLUMNS}) PARTITION BY RANGE (id);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (200);
CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM (200) TO (MAXVALUE);
INSERT INTO p {ROWS.format(rows=500)};
CREATE SEQUENCE sq;
"""
CACHED = ("f", "g", "e", "p_1", "p_2")  # not h
CHANGES = """
UPDATE g SET a = 3, s = 'new' WHERE id % 11 = 0;
DELETE FROM g WHERE id % 13 = 0;
INSERT INTO g SELECT id + 1000, a, k, s, n, d FROM h;
UPDATE p SET n = n + 1 WHERE id % 50 = 0;
"""
# Kinds of columns: integers that hardly repeat, few integers, texts, numerics of two digits, dates.
MANY, FEW, TEXT, NUMERIC, DATE = "many", "few", "text", "numeric", "date"
SQL_TYPES = {MANY: "bigint", FEW: "bigint", TEXT: "text", NUMERIC: "numeric(20,2)", DATE: "date"}
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "<>", ">", "<=", ">=")


@dataclass(frozen=True)
class Column:
    name: str
    kind: str


@dataclass(frozen=True)
class Relation:
    name: str
    columns: tuple[Column, ...]

    def of(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]


@dataclass(frozen=True)
class Body:
    sql: str
    kinds: tuple[str, ...]  # of its columns c1, c2, ...


TABLE_COLUMNS = tuple(map(Column, ("id", "a", "k", "s", "n", "d"), (MANY, FEW, MANY, TEXT, NUMERIC, DATE)))
BASE = tuple(Relation(name, TABLE_COLUMNS) for name in ("f", "f", "f", "f", "g", "g", "g", "g", "h", "h", "p", "p", "p", "e"))


class CteQueryGenerator:
    def __init__(self, seed: int):
        self.random = random.Random(f"ctes {seed}")
        self.choose = self.random.choice
        self.ctes: list[Relation] = []
        self.bodies: dict[str, str] = {}  # of those that may be written out, with what their columns are called
        self.parameter = self.choose(("3", "40")) if self.random.random() < 0.12 else None
        self.draws_max = 1
        self.aliases = 0

    def query(self) -> ClauseQuery:
        definitions = [self._definition(f"c{number}") for number in range(1, self.choose((1, 1, 1, 2, 2, 3)) + 1)]
        is_ordered = False
        if self.random.random() < 0.08:
            sql = self._correlated()
        else:
            sql, is_ordered = self._readers()
        sql = f"WITH {self.choose(('', '', '', 'RECURSIVE '))}{', '.join(definitions)} {sql}"
        return ClauseQuery(sql, self.parameter if "$1" in sql else None, is_ordered, self.draws_max)

    def _definition(self, name: str) -> str:
        body = self._body()
        self.ctes.append(_named(name, body))
        is_volatile = any(name in body.sql for name in ("nextval", "random"))  # then it runs once, if it is asked
        hint = self.choose(("", "", "", "MATERIALIZED ", "" if is_volatile else "NOT MATERIALIZED "))
        if not is_volatile:
            self.bodies[name] = f"({body.sql}) AS ALIAS ({_names(body)})"
        return f"{name} ({_names(body)}) AS {hint}({body.sql})"

    # ------------------------------------------------------------ parts

    def _alias(self) -> str:
        self.aliases += 1
        return f"x{self.aliases}"

    def _relation(self) -> Relation:
        return self.choose(self.ctes) if self.ctes and self.random.random() < 0.6 else self.choose(BASE)

    def _source(self) -> tuple[str, Relation]:
        """What stands in FROM, and what its columns are called."""
        relation, alias = self._relation(), self._alias()
        columns = tuple(Column(f"{alias}.{column.name}", column.kind) for column in relation.columns)
        if self.random.random() < 0.15:
            return f"(SELECT * FROM {relation.name} AS {alias}{self._where(Relation(alias, columns))}) AS {alias}", Relation(alias, columns)
        return self._item(relation.name, alias), Relation(alias, columns)

    def _item(self, name: str, alias: str) -> str:
        """Of FROM; some are written out."""
        if name in self.bodies and self.random.random() < 0.2:
            return self.bodies[name].replace("ALIAS", alias, 1)
        return f"{name} AS {alias}"

    def _condition(self, relation: Relation) -> str:
        column, operator = self.choose(relation.columns), self.choose(OPERATORS)
        name = column.name
        number = "$1::integer" if self.parameter and self.random.random() < 0.5 else str(self.choose((1, 3, 5) if column.kind == FEW else (3, 8, 40, 150)))
        if self.random.random() < 0.1:
            return f"{name} IS {self.choose(('', 'NOT ', 'NOT '))}NULL"
        if column.kind in (MANY, FEW):
            return self.choose((f"{name} {operator} {number}", f"{name} % 3 <> 1", f"{name} IN (1, 2, 3, 5, 8, 13, {number})",
                                f"{name} BETWEEN 1 AND {number}", f"coalesce({name}, 4) {operator} {number}"))
        if column.kind == TEXT:
            return self.choose((f"{name} {operator} 's' || {number}", f"{name} LIKE 's1%'", f"{name} NOT IN ('s1', 's7', 's9', 'new')",
                                f"length({name}) = 3"))
        if column.kind == NUMERIC:
            return self.choose((f"{name} {operator} {number}", f"{name} * 2 > 700", f"{name} BETWEEN 10 AND 1000.25"))
        return self.choose((f"{name} {operator} date '2024-01-01' + {number}", f"extract(month FROM {name}) {operator} 6"))

    def _where(self, *relations: Relation, first: str = "") -> str:
        count = self.choose((0, 0, 0, 1, 1, 2))
        conditions = [first] * bool(first) + [self._condition(self.choose(relations)) for _ in range(count)]
        if self.random.random() < 0.12:
            conditions.append(self._membership(self.choose(relations)))
        if not conditions:
            return ""
        return " WHERE " + self.choose((" AND ", " OR ") if not first else (" AND ",)).join(conditions)

    def _membership(self, outer: Relation) -> str:
        """A condition by a subquery, over a CTE where there is one."""
        source, relation = self._source()
        pair = self._pair(outer, relation)
        if not pair:
            return self._condition(outer)
        left, right = pair
        where = self._where(relation) if self.random.random() < 0.7 else ""
        matched = f"{source} WHERE {right} {self.choose(('=', '=', '=', '<', '<>'))} {left}"
        return self.choose((
            f"{left} IN (SELECT {right} FROM {source}{where})", f"{left} NOT IN (SELECT {right} FROM {source}{where})",
            f"EXISTS (SELECT 1 FROM {matched})", f"NOT EXISTS (SELECT 1 FROM {matched})",
            f"{left} > ALL (SELECT {right} FROM {source}{where})", f"{left} = ANY (SELECT {right} FROM {source}{where})",
            f"{left} >= (SELECT max({right}) FROM {source}{where})", f"(SELECT count(*) FROM {matched}) > 2",
            f"(SELECT count({right}) FROM {source}{where}) > 5", f"{left} = (SELECT min({right}) FROM {source}{where})",
            f"({left} < (SELECT max({right}) FROM {source}) OR {left} IS NULL)",
        ))  # fmt: skip

    def _pair(self, left: Relation, right: Relation) -> tuple[str, str] | None:
        """Two columns that compare, of values that hardly repeat if there are some."""
        pairs = [(x.name, y.name) for kinds in ((MANY,), (MANY, FEW), (TEXT,), (DATE,), (NUMERIC,))
                 for x in left.of(*kinds) for y in right.of(*kinds) if FEW not in (x.kind, y.kind) or x.kind != y.kind]  # fmt: skip
        pairs = pairs or [(x.name, y.name) for x in left.of(FEW) for y in right.of(FEW)]
        return self.choose(pairs) if pairs else None

    def _shown(self, relation: Relation) -> list[Column]:
        """Some of the columns, and values made of them."""
        found = []
        for column in self.random.sample(relation.columns, self.random.randint(1, min(4, len(relation.columns)))):
            name = column.name
            if column.kind in (MANY, FEW) and self.random.random() < 0.2:
                found.append(Column(self.choose((f"{name} + 1", f"{name} % 7", f"CASE WHEN {name} > 4 THEN {name} END")), FEW))
            elif self.ctes and self.random.random() < 0.06:
                found.append(self._scalar())
            elif column.kind == TEXT and self.random.random() < 0.15:
                found.append(Column(self.choose((f"upper({name})", f"left({name}, 2)", f"{name} || 'x'")), TEXT))
            else:
                found.append(column)
        return found

    def _scalar(self) -> Column:
        """A value of a whole CTE."""
        read = self.choose(self.ctes)
        column = self.choose(read.columns)
        found = self.choose(("count(*)", f"count(DISTINCT {column.name})", f"max({column.name})", f"min({column.name})"))
        kind = FEW if found.startswith("count") else column.kind
        return Column(f"(SELECT {found} FROM {read.name}{self._where(read)})", kind)

    # ------------------------------------------------------------ bodies

    def _body(self, depth: int = 0) -> Body:
        shapes = [(self._aggregation, 30), (self._windows, 20), (self._distinct, 10), (self._join, 14), (self._plain, 10),
                  (self._limited, 8), (self._values, 2)]  # fmt: skip
        if depth == 0:
            shapes += [(self._set_operation, 14), (self._nested, 6), (self._recursive, 5), (self._effects, 4)]
        return self.random.choices([s for s, _ in shapes], [w for _, w in shapes])[0]()

    def _plain(self) -> Body:
        source, relation = self._source()
        return _body(self._shown(relation), f" FROM {source}{self._where(relation)}")

    def _aggregate(self, relation: Relation) -> Column:
        column = self.choose(relation.columns)
        name, kind = column.name, column.kind
        only = f" FILTER (WHERE {self._condition(relation)})" if self.random.random() < 0.12 else ""
        made = [Column(f"count(*){only}", FEW), Column(f"count({name}){only}", FEW), Column(f"count(DISTINCT {name}){only}", FEW),
                Column(f"min({name}){only}", kind), Column(f"max({name}){only}", kind)]  # fmt: skip
        if kind in (MANY, FEW):
            made += [Column(f"(sum({name}){only})::bigint", MANY), Column(f"round(avg({name}){only}, 2)", NUMERIC)]
        if kind == NUMERIC:
            made += [Column(f"(sum({name}){only})::numeric(20,2)", NUMERIC)] * 2
        if kind == TEXT:
            made.append(Column(f"left(string_agg(DISTINCT {name}, ',' ORDER BY {name}){only}, 40)", TEXT))
        if kind == FEW:
            made.append(Column(f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {name}){only}", FEW))
        return self.choose(made)

    def _aggregation(self) -> Body:
        source, relation = self._source()
        keys = list({column.name: column for column in self._shown(relation)[: self.choose((0, 1, 1, 1, 2))]}.values())
        found = [*keys, *(self._aggregate(relation) for _ in range(self.choose((1, 2, 2, 3))))]
        numbers = ", ".join(str(place + 1) for place in range(len(keys)))
        grouped = f" GROUP BY {self.choose((numbers, numbers, numbers, f'ROLLUP ({numbers})'))}" if keys else ""
        having = self.choose(("", "", " HAVING count(*) > 1", f" HAVING min({relation.columns[0].name}) IS NOT NULL"))
        return _body(found, f" FROM {source}{self._where(relation)}{grouped}{having}")

    def _window(self, relation: Relation) -> Column:
        names = ", ".join(column.name for column in relation.columns)
        partition = f"PARTITION BY {self.choose(relation.of(FEW, TEXT) or relation.columns).name} " if self.random.random() < 0.7 else ""
        places, key = f"OVER ({partition}ORDER BY {names})", self.choose(relation.columns)
        summed = self.choose(relation.of(MANY, FEW) or [Column("1", FEW)]).name
        frame = self.choose(("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW",
                             "RANGE UNBOUNDED PRECEDING", "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING"))
        return self.choose((
            Column(f"row_number() {places}", MANY), Column(f"rank() OVER ({partition}ORDER BY {key.name} DESC)", MANY),
            Column(f"dense_rank() OVER ({partition}ORDER BY {key.name})", MANY), Column(f"ntile(4) {places}", FEW),
            Column(f"lag({key.name}) {places}", key.kind), Column(f"first_value({key.name}) {places}", key.kind),
            Column(f"(sum({summed}) OVER ({partition}ORDER BY {names} {frame}))::bigint", MANY),
            Column(f"count(*) OVER ({partition.strip()})", FEW), Column(f"max({key.name}) OVER ({partition.strip()})", key.kind),
            Column(f"(sum({summed}) OVER ({partition.strip()}))::bigint", MANY),
        ))  # fmt: skip

    def _windows(self) -> Body:
        source, relation = self._source()
        found = [*self._shown(relation), *(self._window(relation) for _ in range(self.choose((1, 1, 2))))]
        where = self._where(relation)
        if self.random.random() < 0.2:
            body = _body(found, f" FROM {source}{where}")
            return Body(f"SELECT * FROM ({body.sql}) w WHERE c{len(found)} {self.choose(('<= 3', '= 1', '> 2'))}"
                        if body.kinds[-1] in (MANY, FEW) else body.sql, body.kinds)  # fmt: skip
        return _body(found, f" FROM {source}{where}")

    def _distinct(self) -> Body:
        source, relation = self._source()
        found = self._shown(relation)
        if self.random.random() < 0.3:
            order = ", ".join(str(place + 1) for place in range(len(found)))
            return _body(found, f" FROM {source}{self._where(relation)} ORDER BY {order}", f"DISTINCT ON ({found[0].name}) ")
        return _body(found, f" FROM {source}{self._where(relation)}", "DISTINCT ")

    def _limited(self) -> Body:
        source, relation = self._source()
        found = self._shown(relation)
        order = ", ".join(f"{place + 1}{self.choose(('', ' DESC', ' NULLS FIRST'))}" for place in range(len(found)))
        limit = self.choose(("LIMIT 1", "LIMIT 10", "LIMIT 100", "LIMIT 20 OFFSET 5", "OFFSET 7", "FETCH FIRST 5 ROWS WITH TIES", "LIMIT 0"))
        return _body(found, f" FROM {source}{self._where(relation)} ORDER BY {order} {limit}")

    def _values(self) -> Body:
        return self.choose((Body("VALUES (1, 's1'), (3, NULL), (NULL, 's7'), (8, 's8')", (FEW, TEXT)),
                            Body("SELECT i, i % 5 FROM generate_series(1, 60) i", (MANY, FEW))))

    def _joined(self) -> tuple[str, Relation, Relation]:
        source, left = self._source()
        other, right = self._source()
        pair = self._pair(left, right)
        kind = self.choose(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        if not pair:
            return f"{source} CROSS JOIN (SELECT * FROM {other} LIMIT 0) AS {right.name}", left, right
        more = f" AND {self._condition(self.choose((left, right)))}" if self.random.random() < 0.25 else ""
        return f"{source} {kind} {other} ON {pair[0]} = {pair[1]}{more}", left, right

    def _join(self) -> Body:
        joined, left, right = self._joined()
        return _body([*self._shown(left)[:2], *self._shown(right)[:2]], f" FROM {joined}{self._where(left, right)}")

    def _member(self, kinds: tuple[str, ...]) -> str:
        """A query with columns of these kinds."""
        source, relation = self._source()
        shown = [self.choose(relation.of(kind) or [Column(f"NULL::{SQL_TYPES[kind]}", kind)]) for kind in kinds]
        return f"SELECT {', '.join(column.name for column in shown)} FROM {source}{self._where(relation)}"

    def _set_operation(self) -> Body:
        kinds = tuple(self.random.sample((MANY, FEW, TEXT, NUMERIC, DATE), self.choose((1, 2, 2, 3))))
        operations = [self.choose(("UNION ALL", "UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"))
                      for _ in range(self.choose((1, 1, 2)))]  # fmt: skip
        sql = f"({self._member(kinds)})"
        for operation in operations:
            sql = f"({sql} {operation} ({self._member(kinds)}))"
        return Body(sql, kinds)

    def _nested(self) -> Body:
        """A CTE within a CTE, which hides the others at times."""
        outside = list(self.ctes)
        inner = self._body(1)
        name = self.choose(("inside", "inside", "c1"))
        self.ctes = [relation for relation in self.ctes if relation.name != name] + [_named(name, inner)] * 3
        body = self.choose((self._join, self._join, self._set_operation, self._aggregation, self._windows))()
        self.ctes = outside
        return Body(f"WITH {name} ({_names(inner)}) AS ({inner.sql}) {body.sql}", body.kinds)

    def _recursive(self) -> Body:
        step = self.choose(("SELECT r.x + 1, r.y * 2 % 97 FROM r WHERE r.x < 60", "SELECT r.x + 1, h.a FROM r JOIN h ON h.id = r.x + 1",
                            "SELECT r.x + 10, g.k FROM r JOIN g ON g.id = r.y + 1 WHERE r.x < 80"))
        start = self.choose(("SELECT 1, 1", "SELECT id, k FROM h WHERE id < 4"))
        if self.random.random() < 0.3:
            step = self.choose(("SELECT r.x * 3 % 70, h.a FROM r JOIN h ON h.id = r.x % 30 + 1", "SELECT y, x * 7 % 61 FROM r"))
            return Body(f"WITH RECURSIVE r (x, y) AS ({start} UNION {step}) SELECT x, y FROM r", (MANY, FEW))
        return Body(f"WITH RECURSIVE r (x, y) AS ({start} UNION ALL {step}) SELECT x, y FROM r", (MANY, FEW))

    def _effects(self) -> Body:
        """Volatile functions: how often they are called is seen in the sequence."""
        self.draws_max += 30
        return self.choose((
            Body("SELECT nextval('sq'), id FROM h", (MANY, MANY)), Body("SELECT k, a FROM g WHERE random() >= 0", (MANY, FEW)),
            Body("SELECT a, max(nextval('sq') * 0 + k) FROM h GROUP BY a", (FEW, MANY)),
            Body("SELECT DISTINCT a, (random() * 0)::integer FROM f", (FEW, FEW)),
        ))  # fmt: skip

    # ------------------------------------------------------------ what reads them

    def _reader(self, relation: Relation) -> tuple[str, Relation]:
        """One read, with columns and conditions of its own."""
        alias = self._alias()
        columns = tuple(Column(f"{alias}.{column.name}", column.kind) for column in relation.columns)
        if self.random.random() < 0.5:
            return self._item(relation.name, alias), Relation(alias, columns)
        inner = Relation(alias, columns)
        shown = self.random.choice((self._distinct_read, self._where_read, self._where_read, self._limited_read, self._grouped_read,
                                    self._first_read, self._window_read))
        sql, kinds = shown(relation.name, inner)
        outer = self._alias()
        return f"({sql}) AS {outer}", Relation(outer, tuple(Column(f"{outer}.c{i + 1}", kind) for i, kind in enumerate(kinds)))

    def _read(self, name: str, inner: Relation, rest: str, prefix: str = "") -> tuple[str, tuple[str, ...]]:
        shown = self._shown(inner)
        order = ", ".join(str(place + 1) for place in range(len(shown)))
        body = _body(shown, f" FROM {name} AS {inner.name}{self._where(inner)}{rest.format(order=order)}", prefix)
        return body.sql, body.kinds

    def _where_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        return self._read(name, inner, "")

    def _distinct_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        return self._read(name, inner, "", "DISTINCT ")

    def _limited_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        return self._read(name, inner, " ORDER BY {order} " + self.choose(("LIMIT 1", "LIMIT 7", "LIMIT 50 OFFSET 2", "FETCH FIRST 3 ROWS WITH TIES")))

    def _first_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        first = self.choose(inner.columns).name
        return self._read(name, inner, f" ORDER BY {first}, {{order}}", f"DISTINCT ON ({first}) ")

    def _window_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        body = _body([*self._shown(inner)[:2], self._window(inner)], f" FROM {name} AS {inner.name}{self._where(inner)}")
        return body.sql, body.kinds

    def _grouped_read(self, name: str, inner: Relation) -> tuple[str, tuple[str, ...]]:
        key = self.choose(inner.columns)
        body = _body([key, self._aggregate(inner)], f" FROM {name} AS {inner.name}{self._where(inner)} GROUP BY 1")
        return body.sql, body.kinds

    def _readers(self) -> tuple[str, bool]:
        """The query itself, and whether its rows have an order."""
        read = self.choose(self.ctes)
        shape = self.random.choices((self._read_by_join, self._read_by_union, self._read_by_subqueries, self._read_by_values,
                                     self._read_laterally, self._read_in_branches, self._read_in_part), (30, 20, 20, 12, 8, 8, 8))[0]
        body = shape(read)
        if self.random.random() < 0.06:
            body = self._with_what_fails(body)
        return self._finished(body)

    def _with_what_fails(self, body: Body) -> Body:
        """Beside it a CTE that fails, or draws a number, as soon as a row is asked of it, which no row does."""
        failing = self.choose(("SELECT id AS x, 10 / a AS y FROM f", "SELECT 10 / (a - 3) AS x, count(*) AS y FROM f GROUP BY a",
                               "SELECT nextval('sq') AS x, id AS y FROM h", "SELECT x, y FROM z, (SELECT DISTINCT 1 / a AS y FROM g) v"))
        names = f"z AS ({failing})" if "FROM z" not in failing else f"z AS (SELECT id AS x FROM h), zz AS ({failing})"
        reader = names.split(" AS ")[0] if "zz" not in names else "zz"
        value = self.choose((f"(SELECT count(*) FROM {reader} AS v JOIN {reader} AS w ON v.x = w.y)",
                             f"(SELECT max(x) FROM (SELECT x FROM {reader} WHERE y > 3 UNION ALL SELECT y FROM {reader}) v)"))
        columns = [Column(f"q.c{place + 1}", kind) for place, kind in enumerate(body.kinds)]
        first = columns[0].name
        columns.append(Column(f"CASE WHEN {first} < {first} THEN {value} ELSE {self.choose(('7', 'NULL'))} END", FEW))
        inside = _body(columns, f" FROM ({body.sql}) q")
        return Body(f"WITH {names} {inside.sql}", inside.kinds)

    def _finished(self, body: Body) -> tuple[str, bool]:
        """With an aggregation, windows, an order or a limit above."""
        kind, order = self.random.random(), ", ".join(str(place + 1) for place in range(len(body.kinds)))
        if kind < 0.35:
            return body.sql if not body.sql.startswith("WITH") else f"SELECT * FROM ({body.sql}) q", False
        if kind < 0.55:
            limit = self.choose(("", " LIMIT 5", " LIMIT 30 OFFSET 3", " FETCH FIRST 4 ROWS WITH TIES"))
            if self.random.random() < 0.25:
                limit = f" LIMIT {'$1::integer' if self.parameter else '(SELECT 9)'}"
            first = self.choose(("", "", "", "DISTINCT ON (1) ", "DISTINCT "))
            return f"SELECT {first}* FROM ({body.sql}) q ORDER BY {order}{limit}", True
        relation = _named("q", body)
        if kind < 0.85:
            key = self.choose(relation.columns).name
            made = ", ".join(self._aggregate(relation).name for _ in range(self.choose((1, 2))))
            return self.choose((f"SELECT {made} FROM ({body.sql}) q", f"SELECT {key}, {made} FROM ({body.sql}) q GROUP BY 1")), False
        return f"SELECT *, {self._window(relation).name} FROM ({body.sql}) q", False

    def _read_by_join(self, read: Relation) -> Body:
        readers = [self._reader(read), self._reader(self.choose((read, read, self.choose(self.ctes), self.choose(BASE))))]
        if self.random.random() < 0.25:
            readers.append(self._reader(self.choose((read, self.choose(BASE)))))
        sql, relation = readers[0]
        seen = [relation]
        for source, other in readers[1:]:
            pair = self._pair(self.choose(seen), other)
            kind = self.choose(("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
            if pair:
                more = f" AND {self._condition(other)}" if self.random.random() < 0.2 else ""
                more += f" AND {self._condition(self.choose(seen))}" if self.random.random() < 0.1 else ""
                sql += f" {kind} {source} ON {pair[0]} = {pair[1]}{more}"
            else:
                sql += f" CROSS JOIN (SELECT count(*) AS c1 FROM {source}) AS {other.name}"
                other = Relation(other.name, (Column(f"{other.name}.c1", FEW),))
            seen.append(other)
        shown = [column for relation in seen for column in self._shown(relation)[:2]]
        of_each = " AND ".join(map(self._condition, seen)) if self.random.random() < 0.3 else ""
        return _body(shown, f" FROM {sql}{self._where(*seen, first=of_each)}")

    def _read_by_union(self, read: Relation) -> Body:
        readers = [self._reader(self.choose((read, read, self.choose(self.ctes)))) for _ in range(self.choose((2, 2, 3)))]
        kinds = tuple(self.choose(read.columns).kind for _ in range(self.choose((1, 2))))
        members = []
        for source, relation in readers:
            shown = [self.choose(relation.of(kind) or [Column(f"NULL::{SQL_TYPES[kind]}", kind)]).name for kind in kinds]
            members.append(f"(SELECT {', '.join(shown)} FROM {source}{self._where(relation)})")
        operation = self.choose(("UNION ALL", "UNION ALL", "UNION ALL", "UNION ALL", "UNION", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"))
        sql = members[0]
        for member in members[1:]:
            sql = f"({sql} {operation} {member})"
        listed = ", ".join(f"c{place + 1}" for place in range(len(kinds)))
        return Body(f"SELECT * FROM {sql} AS u ({listed})", kinds)

    def _read_by_subqueries(self, read: Relation) -> Body:
        source, relation = self._reader(self.choose((read, read, self.choose(BASE))))
        saved, self.ctes = self.ctes, [read, read, self.choose(self.ctes)]
        conditions = [self._membership(relation) for _ in range(self.choose((1, 2, 2)))]
        self.ctes = saved
        return _body(self._shown(relation), f" FROM {source} WHERE {self.choose((' AND ', ' OR ')).join(conditions)}")

    def _value(self, read: Relation) -> str:
        source, relation = self._reader(read)
        return f"(SELECT {self._aggregate(relation).name} FROM {source}{self._where(relation)})"

    def _read_by_values(self, read: Relation) -> Body:
        """Scalar subqueries beside each other, for one row or for many."""
        values = [Column(f"{self._value(read)}::text", TEXT) for _ in range(self.choose((2, 2, 3)))]
        if self.random.random() < 0.4:
            return _body(values, "")
        source, relation = self._reader(self.choose((read, self.choose(BASE))))
        return _body([*self._shown(relation)[:2], *values], f" FROM {source}{self._where(relation)}")

    def _read_laterally(self, read: Relation) -> Body:
        source, outer = self._reader(self.choose((read, self.choose(BASE))))
        inner_source, inner = self._reader(read)
        pair = self._pair(outer, inner)
        match = f"{pair[1]} {self.choose(('=', '=', '<'))} {pair[0]}" if pair else "true"
        shown = [*self._shown(inner), *([self._window(inner)] if self.random.random() < 0.4 else [])]
        order = ", ".join(str(place + 1) for place in range(len(shown)))
        body = _body(shown, f" FROM {inner_source}{self._where(inner, first=match)} ORDER BY {order} LIMIT {self.choose((1, 2, 5))}")
        alias = self._alias()
        columns = [Column(f"{alias}.c{place + 1}", kind) for place, kind in enumerate(body.kinds)]
        kind = self.choose(("JOIN", "LEFT JOIN"))
        return _body([*self._shown(outer)[:2], *columns[:2]], f" FROM {source} {kind} LATERAL ({body.sql}) AS {alias} ON true")

    def _read_in_branches(self, read: Relation) -> Body:
        """Readers that no row, or not every row, asks."""
        source, outer = self._reader(self.choose((read, self.choose(BASE))))
        condition = self.choose((self._condition(outer), self._condition(outer), "false", f"{outer.columns[0].name} IS NULL"))
        value = f"CASE WHEN {condition} THEN {self._value(read)}::text ELSE {self.choose((self._value(read), 'NULL'))}::text END"
        return _body([*self._shown(outer)[:2], Column(value, TEXT)], f" FROM {source}{self._where(outer)}")

    def _read_in_part(self, read: Relation) -> Body:
        """How many rows there are of a read that ends early; which they are is open."""
        source, relation = self._reader(read)
        other, _ = self._reader(read)
        limit = self.choose((1, 5, 40))
        return _body([Column(f"(SELECT count(*) FROM (SELECT 1 FROM {source}{self._where(relation)} LIMIT {limit}) l)", FEW),
                      Column(f"(SELECT count(*) FROM {other})", FEW), Column(f"EXISTS (SELECT 1 FROM {other})::integer", FEW)], "")

    def _correlated(self) -> str:
        """A CTE that is another one for each row of the query around it."""
        table = self.choose(("h", "h", "(SELECT * FROM f WHERE id < 40)"))
        body = self.choose((
            "SELECT k, count(*) AS c, max(n) AS m FROM g WHERE g.a = o.a GROUP BY k",
            "SELECT k, a AS c, row_number() OVER (ORDER BY id) AS m FROM g WHERE g.k % 7 = o.k % 7",
            "SELECT DISTINCT k, a AS c, o.id AS m FROM f WHERE f.k < o.k", "SELECT k, c1 AS c, 1 AS m FROM (SELECT c1 FROM c1 ORDER BY 1 LIMIT 40) v CROSS JOIN (SELECT o.k) y",
        ))  # fmt: skip
        first = self.ctes[0].columns[0]
        if "FROM c1 " in body and first.kind not in (MANY, FEW):
            body = "SELECT k, a AS c, 2 AS m FROM g WHERE g.id < o.id"
        inner = self.choose((
            "SELECT sum(x.c) FROM i AS x JOIN i AS y ON x.k = y.k", "SELECT sum(x.c) FROM i AS x WHERE x.k IN (SELECT y.k + 1 FROM i AS y)",
            "SELECT sum(c) FROM (SELECT c FROM i WHERE k > 50 UNION ALL SELECT k FROM i WHERE k < 90) z",
            "SELECT (SELECT count(*) FROM i) - (SELECT max(k) FROM i WHERE k < 100)",
        ))  # fmt: skip
        query = f"WITH i AS {self.choose(('', '', 'MATERIALIZED '))}({body}) {inner}"
        return self.choose((f"SELECT o.id, z.* FROM {table} AS o, LATERAL ({query}) AS z", f"SELECT o.id, ({query}) FROM {table} AS o"))


def _named(name: str, body: Body) -> Relation:
    return Relation(name, tuple(Column(f"c{place + 1}", kind) for place, kind in enumerate(body.kinds)))


def _names(body: Body) -> str:
    return ", ".join(f"c{place + 1}" for place in range(len(body.kinds)))


def _body(columns: list[Column], rest: str, prefix: str = "") -> Body:
    listed = ", ".join(f"{column.name} AS c{place + 1}" for place, column in enumerate(columns))
    return Body(f"SELECT {prefix}{listed}{rest}", tuple(column.kind for column in columns))
