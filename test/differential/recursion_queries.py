"""Random queries with recursive CTEs: walks of a graph and of a tree, series, what is computed on the way, and readers.

Walks end by their depth, or because UNION drops rows that were there before; series may have no end where the reader
takes their first rows only. Rows are determined by construction: sorts are by all columns, limits without an order are
of series, and of rows that are equal all columns are written alike.
"""

import random
from dataclasses import dataclass

from clause_queries import ClauseQuery

TABLES = """
CREATE TABLE e (src integer, dst integer, w integer, tag text);
INSERT INTO e SELECT nullif(i * 7 % 61, 60), nullif(i * i % 67, 66), i % 13, nullif('t' || i % 5, 't4') FROM generate_series(1, 150) i;
CREATE TABLE tree (id integer, parent integer, name text, qty numeric(10,2), made date);
INSERT INTO tree SELECT i, nullif(i / 3, 0), 'name ' || i, (i % 5 + 1)::numeric(10,2) / 2, date '2024-01-01' + i % 90 FROM generate_series(1, 900) i;
CREATE TABLE h (id integer, parent integer, name text, qty numeric(10,2), made date);
INSERT INTO h SELECT * FROM tree WHERE id <= 60;
CREATE TABLE big (id bigint, n smallint, name text);
INSERT INTO big SELECT i % 700, i % 300, repeat('x', i % 40) FROM generate_series(1, 3000) i;
CREATE TABLE nothing (id integer, parent integer);
CREATE INDEX ON tree (id);
CREATE INDEX ON tree (parent);
CREATE SEQUENCE sq;
"""
CACHED = ("e", "tree", "big", "nothing")  # not h
CHANGES = """
UPDATE e SET w = 99 WHERE src % 10 = 0;
DELETE FROM tree WHERE id % 41 = 0;
INSERT INTO tree SELECT i + 5000, i, 'late ' || i, 1.25, NULL FROM generate_series(1, 40) i;
"""


@dataclass(frozen=True)
class Column:
    """What a walk carries from row to row."""

    name: str
    first: str
    steps: tuple[str, ...]  # NODE is the next row's number, NAME its text, QTY its numeric, ON a date or text


CARRIED = (
    Column("depth", "0", ("r.depth + 1",)),
    Column("path", "'a'::text", ("r.path || ',' || NODE", "coalesce(r.path || NAME, 'none')", "left(NAME, 3) || r.path")),
    Column("total", "1::numeric", ("r.total * QTY", "r.total + QTY", "round(r.total / 3, 4) + QTY")),
    Column("sum", "0::bigint", ("r.sum + coalesce(NODE, 0)", "r.sum * 2 % 1000", "CASE WHEN NODE % 2 = 0 THEN r.sum ELSE -r.sum + NODE END")),
    Column("day", "date '2024-02-01'", ("r.day + 1", "r.day + coalesce(NODE, 2)")),
    Column("nodes", "ARRAY[0]", ("r.nodes || NODE",)),
    Column("share", "0.5::float8", ("r.share / 2", "r.share * coalesce(NODE, 1) / 3")),
    Column("root", "NULL::integer", ("coalesce(r.root, NODE)", "r.root")),
)


class RecursionQueryGenerator:
    def __init__(self, seed: int):
        self.random = random.Random(f"recursions {seed}")
        self.choose = self.random.choice
        self.parameter = self.choose(("3", "40")) if self.random.random() < 0.15 else None

    def query(self) -> ClauseQuery:
        if self.random.random() < 0.2:
            sql, is_ordered = self._series()
        else:
            sql, is_ordered = self._walk()
        return ClauseQuery(sql, self.parameter if "$1" in sql else None, is_ordered, 1)

    def _number(self, *numbers: int) -> str:
        return "$1::integer" if self.parameter and self.random.random() < 0.5 else str(self.choose(numbers))

    # ------------------------------------------------------------ series

    def _series(self) -> tuple[str, bool]:
        start = self.choose(("SELECT 1", "VALUES (1)", "SELECT min(id) FROM tree", "SELECT id FROM tree WHERE id = 1", "SELECT 1 WHERE false"))
        step = self.choose(("n + 1", "n + 1", "n * 2", "n * 7 + 1", "n + 100 / (40 - n)", "n + n / 3 + 1", "nullif(n + 1, 30)", "(n * 3)::smallint::integer"))
        end = self.choose(("n < 50", "n < 3000", "n BETWEEN 0 AND 20", f"n < {self._number(5, 90)}", "n IN (1, 2, 3, 4)"))
        kind = self.choose(("UNION ALL", "UNION ALL", "UNION"))
        if self.random.random() < 0.35:
            limit = self.choose((1, 3, 20))
            condition = self.choose(("", " WHERE n >= 0", f" WHERE {end}"))
            sql = f"WITH RECURSIVE t (n) AS ({start} {kind} SELECT {step} FROM t{condition}) "
            return sql + self.choose((f"SELECT n FROM t LIMIT {limit}", f"SELECT n * 2 FROM t LIMIT {limit} OFFSET 1",
                                      f"SELECT count(*) FROM (SELECT n FROM t LIMIT {limit}) q", "SELECT EXISTS (SELECT FROM t)")), True  # fmt: skip
        sql = f"WITH RECURSIVE t (n) AS ({start} {kind} SELECT {step} FROM t WHERE {end}) "
        return sql + self.choose((
            "SELECT * FROM t", "SELECT count(*), sum(n), min(n), max(n) FROM t", "SELECT t.n, tree.name FROM t JOIN tree ON tree.id = t.n",
            "SELECT t.n, count(tree.id) FROM t LEFT JOIN tree ON tree.made = date '2024-01-01' + t.n % 100 GROUP BY 1",
            "SELECT a.n, b.n FROM t a JOIN t b ON b.n = a.n + 1", "SELECT n FROM t ORDER BY 1 DESC LIMIT 7", "SELECT n % 5, count(*) FROM t GROUP BY 1",
            "SELECT count(*) FROM tree WHERE id IN (SELECT n FROM t)", "SELECT id FROM tree WHERE id NOT IN (SELECT n FROM t WHERE n IS NOT NULL) AND id < 60",
            "SELECT n, lag(n) OVER (ORDER BY n) FROM t", "SELECT (SELECT max(n) FROM t), (SELECT count(*) FROM t WHERE n > 3), count(*) FROM e",
        )), False  # fmt: skip

    # ------------------------------------------------------------ walks

    def _start(self, columns: list[Column]) -> str:
        carried = "".join(f", {column.first}" for column in columns)
        tables = (f"SELECT id{carried} FROM tree WHERE {self.choose(('parent IS NULL', 'id = 5', 'id < 4', f'id = {self._number(2, 7)}', 'qty > 2.5 AND id < 30'))}",
                  f"SELECT src{carried} FROM e WHERE w = {self.choose((1, 5, 99))}", f"SELECT DISTINCT dst{carried} FROM e WHERE tag = 't1'",
                  f"SELECT max(id){carried} FROM h", f"SELECT id{carried} FROM nothing", f"SELECT (SELECT min(src) FROM e){carried}")  # fmt: skip
        plain = (f"SELECT 1{carried}", f"SELECT 7{carried}", f"SELECT 3{carried} UNION ALL SELECT 4{carried}", f"SELECT n{carried} FROM generate_series(1, 3) n",
                 f"SELECT v{carried} FROM (VALUES (1), (2), (NULL)) x (v)", f"SELECT {self._number(1, 9)}{carried}")  # fmt: skip
        return self.choose(tables if self.random.random() < 0.6 else plain)

    def _source(self) -> tuple[str, str, str, str, str]:
        """FROM and WHERE of a step, and what is next: its number, text and numeric."""
        tree = ("FROM r {join} {table} x ON x.parent = r.n{more}", "x.id", "x.name", "x.qty")
        up = ("FROM r {join} {table} x ON x.id = r.n{more}", "x.parent", "x.name", "x.qty")
        graph = ("FROM r {join} e x ON x.src = r.n{more}", "x.dst", "x.tag", "x.w")
        sql, node, name, qty = self.choose((tree, tree, up, graph, graph, graph))
        kind = self.random.random()
        if kind < 0.08:
            sql, node = "FROM e x JOIN r ON x.src = r.n JOIN tree y ON y.id = x.dst{more}", "y.id"
        elif kind < 0.14:
            sql, node, qty = "FROM r JOIN (SELECT src, max(dst) AS dst, count(*) AS c, min(tag) AS tag FROM e GROUP BY src) x ON x.src = r.n{more}", "x.dst", "x.c"
            name = "x.tag"
        elif kind < 0.18:
            sql, node, name, qty = "FROM r, e x WHERE x.src = r.n AND x.w > 2{more}", "x.dst", "x.tag", "x.w"
        elif kind < 0.21:
            sql, node, name, qty = "FROM r CROSS JOIN (VALUES (1, 'one'), (2, 'two')) x (v, t) WHERE r.n < 40{more}", "r.n * 2 + x.v", "x.t", "x.v"
        elif kind < 0.24:
            sql, node, name, qty = "FROM r JOIN e x ON x.src > r.n AND x.src < r.n + 3{more}", "x.dst", "x.tag", "x.w"
        elif kind < 0.27:
            sql, node, name, qty = "FROM r JOIN big x ON x.id = r.n AND x.n < 40{more}", "x.n::integer", "x.name", "x.n"
        elif kind < 0.29:
            sql, node, name, qty = "FROM r CROSS JOIN LATERAL generate_series(r.n, r.n + 1) x (v) WHERE r.n < 30{more}", "x.v + 1", "'g'", "2"
        join, table = self.choose(("JOIN", "JOIN", "JOIN", "JOIN", "LEFT JOIN")), self.choose(("tree", "tree", "tree", "h"))
        return sql.replace("{join}", join).replace("{table}", table), node, name, qty, "WHERE" if "WHERE" not in sql else "AND"

    def _condition(self, node: str) -> str:
        return self.choose((
            "r.n <> 3", f"{node} IS NOT NULL", f"{node} % 7 <> 2", f"{node} > r.n", f"{node} NOT IN (5, 9, 11)", f"r.n < {self._number(20, 400)}",
            f"NOT EXISTS (SELECT 1 FROM e z WHERE z.src = {node} AND z.w = 1)", f"EXISTS (SELECT 1 FROM e z WHERE z.dst = {node})",
            f"{node} NOT IN (SELECT id FROM nothing)", f"{node} IN (SELECT src FROM e WHERE w < 9)", f"{node} < (SELECT max(id) FROM h)",
        ))  # fmt: skip

    def _walk(self) -> tuple[str, bool]:
        kind = self.choose(("UNION ALL", "UNION"))
        columns = self.random.sample(CARRIED[1:], self.choose((0, 0, 1, 1, 2)))
        has_depth = kind == "UNION ALL" or bool(columns) or self.random.random() < 0.3
        if has_depth:
            columns.insert(0, CARRIED[0])
        source, node, name, qty, word = self._source()
        conditions = [f"r.depth < {self.choose((1, 2, 2, 3))}"] if has_depth else []
        conditions += [self._condition(node) for _ in range(self.choose((0, 0, 1, 1, 2)))]
        if any(column.name == "nodes" for column in columns):
            conditions.append(self.choose((f"NOT {node} = ANY (r.nodes)", f"{node} <> ALL (r.nodes)", "true")))
        if not has_depth and "r.n" in node:
            conditions.append(f"{node} < 200")
        more = f" {word} {' AND '.join(conditions)}" if conditions else ""
        carried = "".join(f", {self.choose(column.steps)}" for column in columns).replace("NODE", node).replace("NAME", name).replace("QTY", qty)
        shown = self.choose((node, node, node, f"{node}")) if has_depth else node
        names = ", ".join(["n", *(column.name for column in columns)])
        clause = ""
        if self.random.random() < 0.06:
            clause = self.choose((" SEARCH DEPTH FIRST BY n SET place", " SEARCH BREADTH FIRST BY n SET place", " CYCLE n SET is_cycle USING visited"))
        hint = self.choose(("", "", "", "MATERIALIZED ", "NOT MATERIALIZED "))
        step = f"SELECT {shown}{carried} {source.replace('{more}', more)}"
        sql = f"WITH RECURSIVE r ({names}) AS {hint}({self._start(columns)} {kind} {step}){clause}"
        return self._read(sql, names)

    def _read(self, sql: str, names: str) -> tuple[str, bool]:
        last = names.split(", ")[-1]
        order = ", ".join(str(place + 1) for place in range(len(names.split(", "))))
        kind = self.random.random()
        if kind < 0.25:
            return f"{sql} SELECT {names} FROM r", False
        if kind < 0.35:
            return f"{sql} SELECT {names} FROM r ORDER BY {order}{self.choose(('', ' LIMIT 5', ' LIMIT 40 OFFSET 2'))}", True
        if kind < 0.42:  # a second recursion, over the first
            second = f"q (m, k) AS (SELECT n, 0 FROM r WHERE n < 30 UNION {self.choose(('ALL ', ''))}SELECT x.dst, k + 1 FROM q JOIN e x ON x.src = q.m WHERE k < 1)"
            return f"{sql}, {second} SELECT k, count(*), min(m) FROM q GROUP BY 1", False
        if kind < 0.5:  # one for each row of another table
            inner = f"{sql.replace('WITH RECURSIVE r', 'WITH RECURSIVE r')} SELECT count(*), max(n) FROM r WHERE n <> o.id"
            value = f"({inner.replace('count(*), max(n)', 'count(*)')})"
            return self.choose((f"SELECT o.id, {value} FROM h o WHERE o.id < 20", f"SELECT o.id, z.* FROM h o, LATERAL ({inner}) z WHERE o.id < 15")), False
        return f"{sql} " + self.choose((
            "SELECT count(*), min(n), max(n) FROM r", "SELECT n, count(*) FROM r GROUP BY 1", f"SELECT {last}, count(*), count(n) FROM r GROUP BY 1",
            "SELECT DISTINCT n FROM r", "SELECT r.n, t.name FROM r JOIN tree t ON t.id = r.n", "SELECT t.name, count(r.n) FROM tree t LEFT JOIN r ON r.n = t.id WHERE t.id < 90 GROUP BY 1",
            "SELECT count(*) FROM r a JOIN r b ON a.n = b.n", f"SELECT a.n, b.{last} FROM r a JOIN r b ON a.n = b.n + 1", "SELECT id FROM tree WHERE id IN (SELECT n FROM r)",
            "SELECT id FROM tree WHERE EXISTS (SELECT 1 FROM r WHERE r.n = tree.id) AND id < 500", "SELECT count(*) FROM tree WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.n = tree.parent)",
            "SELECT n FROM r WHERE n > 4 UNION ALL SELECT -n FROM r WHERE n < 100", "SELECT n FROM r EXCEPT SELECT dst FROM e", "SELECT n FROM r INTERSECT SELECT id FROM tree",
            "SELECT n, row_number() OVER (PARTITION BY n % 3 ORDER BY n) FROM (SELECT DISTINCT n FROM r) q", "SELECT count(*) FROM (SELECT n FROM r LIMIT 3) q",
            "SELECT (SELECT count(*) FROM r), (SELECT max(n) FROM r), EXISTS (SELECT FROM r WHERE n = 11)", "SELECT n % 4, sum(n), count(DISTINCT n) FROM r WHERE n IS NOT NULL GROUP BY 1 HAVING count(*) > 1",
            "SELECT t.id, (SELECT count(*) FROM r WHERE r.n = t.id) FROM tree t WHERE t.id < 40", "SELECT t.id, z.n FROM h t JOIN LATERAL (SELECT n FROM r WHERE r.n > t.id ORDER BY n LIMIT 1) z ON true",
        )), False  # fmt: skip
