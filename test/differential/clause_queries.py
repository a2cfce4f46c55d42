"""Random queries about which clauses of a query are done, how often a part is computed, what is evaluated at all, how
values of two types compare, and how often volatile functions are called.

Nine shapes over tables of their own: subqueries in aggregates below LIMIT, OFFSET, DISTINCT and set operations; CTEs
whose rows are not a function of their input; members of UNION ALL that PostgreSQL computes; expressions that fail
unless CASE, COALESCE, OR, AND or FILTER guards them; conditions without columns that fail, of which no row may be
asked; volatile functions below subqueries; subqueries that are correlated by more than equalities; subqueries in
the target list of the rows that LIMIT leaves; and comparisons, memberships, quantifiers and joins of every pair of
types that PostgreSQL compares. PostgreSQL's answer has no error in most of them, and ours may have none then: unlike in join_queries.py nothing is left open by the order of evaluation.
"""

import random
from dataclasses import dataclass

TABLES = """
CREATE TABLE t (id integer, a integer, k integer, flag integer, s text, n numeric, f double precision);
INSERT INTO t SELECT i, CASE WHEN i > 11000 THEN 0 ELSE 1 + i % 7 END, CASE WHEN i > 11000 THEN 999 ELSE i % 900 END,
  (i <= 11000)::integer, CASE WHEN i > 11000 THEN 'abc' ELSE (i % 50)::text END,
  CASE WHEN i % 2 = 0 THEN (i % 20)::numeric ELSE (i % 20)::numeric(9, 2) END, i * 0.1 FROM generate_series(1, 12000) i;
CREATE TABLE w (k integer, b integer);
INSERT INTO w SELECT i, i FROM generate_series(0, 999) i;
INSERT INTO w VALUES (999, 5);
CREATE TABLE v (k integer, b integer);
INSERT INTO v SELECT i, 2 * i FROM generate_series(1, 2000) i;
CREATE TABLE u (x integer);
INSERT INTO u SELECT i % 10 FROM generate_series(1, 300) i;
CREATE TABLE small (k integer);
INSERT INTO small SELECT i FROM generate_series(1, 200) i;
CREATE TABLE few (k integer);
INSERT INTO few VALUES (3), (5), (7);
CREATE TABLE empty (k integer, b integer);
CREATE TABLE ua (k integer PRIMARY KEY, v integer);
INSERT INTO ua SELECT i, i FROM generate_series(1, 20000) i;
CREATE SEQUENCE sq;
SET timezone = 'America/New_York';
CREATE TABLE typed (id integer, k integer, d date, ts timestamp, tz timestamptz, i2 smallint, i4 integer, i8 bigint,
  f4 real, f8 double precision, n numeric, txt text, bp character(4), vc character varying(4));
INSERT INTO typed SELECT i, i % 5, d, ts, tz, i2, i4, i8, f4, f8, n, txt, txt, txt FROM (SELECT i,
  (ARRAY['2024-03-10', '2024-11-03', 'infinity', '-infinity', '5874897-12-31', NULL, '2024-03-10']::date[])[1 + i % 7] AS d,
  (ARRAY['2024-03-10', '2024-03-10 02:30', '2024-11-03 01:30', 'infinity', '-infinity', NULL]::timestamp[])[1 + i % 6] AS ts,
  (ARRAY['2024-03-10', '2024-03-10 07:00+00', '2024-11-03 05:30+00', '2024-11-03 06:30+00', 'infinity', NULL]::timestamptz[])
    [1 + i % 6] AS tz,
  (ARRAY[0, 1, -32768, 32767, NULL]::smallint[])[1 + i % 5] AS i2,
  (ARRAY[0, 1, 32767, 2147483647, 16777217, NULL]::integer[])[1 + i % 6] AS i4,
  (ARRAY[0, 1, 2147483647, 9223372036854775807, 9007199254740993, NULL]::bigint[])[1 + i % 6] AS i8,
  (ARRAY[0, '-0', 1, 16777216, 'NaN', 'infinity', NULL]::real[])[1 + i % 7] AS f4,
  (ARRAY[0, '-0', 1, 16777217, 9007199254740992, 'NaN', 'infinity', NULL]::double precision[])[1 + i % 8] AS f8,
  (ARRAY[0, 1.0, 1.00, 9223372036854775807, 'NaN', 0.1, NULL]::numeric[])[1 + i % 7] AS n,
  (ARRAY['', ' ', 'a', 'a ', 'A', 'ab', NULL])[1 + i % 7] AS txt FROM generate_series(1, 300) i) r;
"""
INDEXES = "CREATE INDEX ON w (k); CREATE INDEX ON w (b); CREATE INDEX ON v (k); CREATE INDEX ON t (k);"
CACHED = ("t", "w", "v", "u", "small", "few", "empty", "ua", "typed")
COMPARED = (("d", "ts", "tz"), ("i2", "i4", "i8", "f4", "f8", "n"), ("txt", "bp", "vc"))
SETTINGS = {"app.none": "", "app.seven": "7"}

# Pairs of a condition and an integer that fails, or must not be seen to be computed, unless the condition is true.
GUARDED = (
    ("t.a <> 0", "10 / t.a"),
    ("t.s ~ '^[0-9]+$'", "t.s::integer"),
    ("t.flag = 1", "length(repeat('x', 10 / t.a))"),
    ("current_setting('app.none', true) ~ '^[0-9]+$'", "current_setting('app.none', true)::integer"),
    ("current_setting('app.seven', true) ~ '^[0-9]+$'", "current_setting('app.seven', true)::integer"),
    ("t.a > 100", "(SELECT 1 / min(x) FROM u)"),
    ("t.a > 100", "(SELECT x FROM u)"),
    ("t.a > 100", "(SELECT nextval('sq')::integer FROM u LIMIT 1)"),
    ("t.a > 100", "(SELECT max(nextval('sq'))::integer FROM u)"),
    ("t.flag = 1", "(SELECT b FROM w WHERE w.k = t.k)"),
    ("t.a <> 0", "(SELECT max(b) FROM w WHERE w.k = 10 / t.a)"),
    ("t.a <> 0", "(EXISTS (SELECT 1 FROM w WHERE w.k = 10 / t.a))::integer"),
    ("t.a <> 0", "(10 / t.a IN (SELECT k FROM w))::integer"),
    ("t.a <> 0", "(10 / t.a NOT IN (SELECT k FROM w WHERE w.b = t.k))::integer"),
    ("t.a <> 0", "(10 / t.a < ALL (SELECT k FROM w WHERE w.b = t.k))::integer"),
    ("t.k < 900", "(SELECT (10 / count(*))::integer FROM w WHERE w.k = t.k AND w.b < 900)"),
    ("t.k < 900", "(SELECT sqrt(count(*) - 1)::integer FROM w WHERE w.k = t.k AND w.b < 900)"),
    ("t.k < 900", "(SELECT 10 / max(b - 950) FROM w WHERE w.k = t.k)"),
)
# Integers without columns: most fail for the first row that asks for them.
ONCE = (
    "(SELECT 1 / min(x) FROM u)", "(SELECT x FROM u)", "(10 / (SELECT count(*) FROM empty))::integer", "(SELECT k FROM few)",
    "(SELECT s::integer FROM t ORDER BY id DESC LIMIT 1)", "(SELECT 1 / (SELECT min(x) FROM u) FROM few WHERE k = 3)",
    "(SELECT w.k FROM w JOIN few ON few.k = w.k)", "(SELECT (10 / count(*))::integer FROM few WHERE few.k > (SELECT min(x) FROM u))",
    "(SELECT (SELECT nextval('sq')::integer) FROM few LIMIT 1)", "(SELECT k FROM few WHERE k = 5)", "(SELECT max(b) / 7 FROM w)", "(SELECT nextval('sq')::integer FROM few LIMIT 1)",
    "(WITH c AS MATERIALIZED (SELECT k FROM few) SELECT 1 / (min(c.k) - max(d.k)) FROM c JOIN c d USING (k))",
    "cardinality(ARRAY(SELECT 10 / x FROM u))", "(EXISTS (SELECT 1 FROM u WHERE 10 / x > 3))::integer",
)
# Sources with what stands before the condition that asks, and an integer column.
ASKERS = (
    ("empty e", "", "e.b"), ("t", "t.id < 0 AND ", "t.a"), ("t", "", "t.a"), ("t", "t.s = 'none' AND ", "t.k"),
    ("few JOIN empty e ON e.k = few.k", "", "e.b"), ("few LEFT JOIN empty e ON e.k = few.k", "e.b IS NOT NULL AND ", "few.k"),
    ("(SELECT a, count(*)::integer AS c FROM t WHERE id < 0 GROUP BY a) g", "", "g.c"),
    ("(SELECT a, count(*)::integer AS c FROM t GROUP BY a) g", "g.a > 100 AND ", "g.c"),
    ("t JOIN empty e ON e.k = t.k", "", "t.a"), ("few JOIN t ON t.k = few.k AND t.a > 100", "", "t.flag"),
    ("(SELECT k, b FROM empty UNION ALL SELECT k, b FROM v WHERE k < 0) z", "", "z.b"),
)
PARAMETERS = (
    ("length($1) < 5", "($1::integer)::smallint::integer", ("40000", "40")),
    ("$1 <> ''", "$1::integer", ("", "7")),
    ("$1 <> ''", "extract(year FROM $1::timestamp)::integer", ("", "2020-01-01")),
    ("$1 <> ''", "(t.k + length(to_char($1::numeric, '999')))", ("", "12")),
)


@dataclass(frozen=True)
class ClauseQuery:
    sql: str
    parameter: str | None = None  # of type text; then it is prepared, with a generic plan
    is_ordered: bool = False
    draws_max: int | None = None  # from the sequence; None: as many as PostgreSQL
    may_succeed: bool = False  # where PostgreSQL has an error: plans of PostgreSQL differ in what rows they ask for


class ClauseQueryGenerator:
    def __init__(self, seed: int):
        self.random = random.Random(f"clauses {seed}")

    def query(self) -> ClauseQuery:
        return self.random.choice((self._clauses, self._repeated, self._sources, self._guarded, self._guarded,
                                   self._typed, self._volatile, self._asked, self._correlated, self._limited, self._grouped))()

    # ------------------------------------------------------------ clauses

    def _aggregate(self) -> str:
        subquery = self.random.choice((
            "EXISTS (SELECT 1 FROM w WHERE w.k = t.k AND w.b < 500)", "(SELECT max(b) FROM w WHERE w.k = t.k) > 400",
            "t.k IN (SELECT k FROM w WHERE w.b < 300)", "t.k NOT IN (SELECT k FROM w WHERE w.b < 300)"))
        value = self.random.choice(("(SELECT count(*) FROM w WHERE w.k = t.k)", "(SELECT min(b) FROM w WHERE w.k = t.k)"))
        return self.random.choice((f"count(*) FILTER (WHERE {subquery})", f"sum({value})", f"max({value})",
                                   f"count(DISTINCT {value})", f"sum(CASE WHEN {subquery} THEN t.a ELSE 1 END)"))

    def _level(self) -> tuple[str, bool]:
        """A query with an integer column z, and whether its rows are determined."""
        kind = self.random.randrange(5)
        aggregate = self._aggregate()
        if kind == 0:
            sql, keys = f"SELECT {aggregate}::integer AS z FROM t", ""
        elif kind == 1:
            having = self.random.choice(("", f" HAVING {self._aggregate()} > 3"))
            sql, keys = f"SELECT t.k AS z, {aggregate} FROM t GROUP BY t.k{having}", f"{aggregate}, t.k"
            sql = f"SELECT z FROM ({sql}) g" if self.random.random() < 0.3 else sql.replace(f", {aggregate} FROM", " FROM")
            keys = "1" if " g" in sql[-3:] else keys
        elif kind == 2:
            sql = ("SELECT (SELECT count(*) FROM w WHERE w.k = t.k AND w.b < 500)::integer AS z FROM t "
                   "GROUP BY (SELECT count(*) FROM w WHERE w.k = t.k AND w.b < 500)")
            keys = "1"
        elif kind == 3:
            sql, keys = "SELECT DISTINCT t.k + (SELECT count(*) FROM w WHERE w.k = t.k)::integer AS z FROM t", "1"
        else:
            sql, keys = "SELECT (SELECT max(b) FROM w WHERE w.k = t.k) AS z FROM t", "1, t.id"
        order = f" ORDER BY {keys}" if keys and self.random.random() < 0.6 else ""
        limit = self.random.choice(("", "", " LIMIT 5", " OFFSET 1", " LIMIT 5 OFFSET 3", " LIMIT 0", " OFFSET 100000",
                                    " LIMIT NULL OFFSET 2", " FETCH FIRST 3 ROWS WITH TIES" if order else " LIMIT 2"))
        return sql + order + limit, bool(order) or not limit

    def _clauses(self) -> ClauseQuery:
        sql, is_determined = self._level()
        kind = self.random.randrange(6)
        output = "count(*), sum(z)" if is_determined else "count(*)"
        if kind == 0 and is_determined:
            return ClauseQuery(sql, is_ordered=" ORDER BY " in sql)
        if kind == 1 and is_determined:
            return ClauseQuery(f"SELECT count(*) FROM v WHERE k {self.random.choice(('IN', 'NOT IN'))} "
                               f"(SELECT z FROM ({sql}) y WHERE z IS NOT NULL)")
        if kind == 2:
            return ClauseQuery(f"WITH c AS ({sql}) SELECT {output} FROM c")
        if kind == 3 and is_determined:
            operation = self.random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
            limit = self.random.choice(("", " OFFSET 3"))
            return ClauseQuery(f"SELECT count(*) FROM ((SELECT z FROM ({sql}) y) {operation} "
                               f"SELECT k FROM v WHERE k < 50{limit}) o")
        if kind == 4:
            return ClauseQuery(f"SELECT count(*) FROM ({sql}) y RIGHT JOIN few ON true")
        return ClauseQuery(f"SELECT {output} FROM ({sql}) y")

    # ------------------------------------------------------------ parts that are computed more than once

    def _repeated(self) -> ClauseQuery:
        body, key = self.random.choice((
            (f"SELECT id, a FROM t ORDER BY a LIMIT {self.random.choice((10, 3000))}", "id"),
            ("SELECT id, a FROM t LIMIT 5000", "id"), ("SELECT id, a FROM t ORDER BY a FETCH FIRST 10 ROWS WITH TIES", "id"),
            ("SELECT DISTINCT ON (a) a, id FROM t", "id"), ("SELECT id, row_number() OVER (ORDER BY a) AS r FROM t", "r"),
            ("SELECT n, count(*) AS c FROM t GROUP BY n", "n::text"), ("SELECT DISTINCT n FROM t", "n::text"),
            ("SELECT a, max(n) AS m FROM t GROUP BY a", "m::text"), ("SELECT n FROM t UNION SELECT n + 0.00 FROM t", "n::text"),
            ("SELECT a, sum(f) AS f FROM t GROUP BY a", "f::text"), ("SELECT a, count(*) AS c FROM t GROUP BY a", "c"),
            ("SELECT id, random() AS r FROM t", "r"), ("SELECT id FROM t TABLESAMPLE bernoulli (30)", "id"),
        ))
        if self.random.random() < 0.5:
            return ClauseQuery(f"WITH s AS ({body}) SELECT (SELECT count(*) FROM s WHERE {key} IS NOT NULL AND "
                               f"{key} NOT IN (SELECT {key} FROM s WHERE {key} IS NOT NULL))")
        return ClauseQuery(f"WITH s AS (SELECT {key} AS key FROM ({body}) b) SELECT count(*) FROM s x FULL JOIN s y "
                           f"ON x.key = y.key WHERE x.key IS NULL OR y.key IS NULL")

    # ------------------------------------------------------------ rows that PostgreSQL computes

    def _sources(self) -> ClauseQuery:
        members = ["SELECT k, v::bigint AS v FROM ua", "SELECT k, b::bigint FROM v",
                   "SELECT k, row_number() OVER (ORDER BY k) FROM small", "SELECT DISTINCT ON (k) k, k::bigint FROM small",
                   "SELECT k, length(string_agg(k::text, ',' ORDER BY k))::bigint FROM small GROUP BY k",
                   "SELECT i, i::bigint FROM generate_series(1, 300) i", "SELECT * FROM (VALUES (3, 30::bigint), (7, 7)) x"]
        chosen = self.random.sample(members, self.random.choice((2, 2, 3)))
        union = " UNION ALL ".join(f"SELECT * FROM ({member}) m{i}" for i, member in enumerate(chosen))
        outer = self.random.choice(("few", "few", "small", "(SELECT k FROM v WHERE k < 9)"))
        join = self.random.choice(("JOIN", "LEFT JOIN"))
        if self.random.random() < 0.25:
            return ClauseQuery("WITH RECURSIVE r (k, n) AS (SELECT 1, 1 UNION ALL SELECT k + 1, n * 2 % 97 FROM r WHERE k < 300) "
                               f"SELECT r.n, count(*), sum(z.v) FROM r {join} ({union}) z ON z.k = r.k GROUP BY 1")
        more = self.random.choice(("", " JOIN ua big ON big.k = o.k", " LEFT JOIN v big ON big.k = o.k"))
        return ClauseQuery(f"SELECT o.k, z.v FROM {outer} o {join} ({union}) z ON z.k = o.k{more}")

    # ------------------------------------------------------------ what may be left unevaluated

    def value(self, guard: str, value: str) -> str:
        return self.random.choice((
            f"CASE WHEN {guard} THEN {value} ELSE 0 END", f"CASE WHEN NOT ({guard}) THEN 0 ELSE {value} END",
            f"coalesce(CASE WHEN NOT ({guard}) THEN 1 END, {value})",
            f"CASE ({guard})::integer WHEN 1 THEN {value} ELSE 2 END",
            f"CASE WHEN t.id < 0 THEN 5 WHEN {guard} THEN coalesce({value}, 4) END"))

    def _condition(self, guard: str, value: str) -> str:
        return self.random.choice((
            f"(NOT ({guard}) OR {value} > 3)", f"(t.id = 7 OR (({guard}) AND {value} > 2))",
            f"CASE WHEN {guard} THEN {value} > 3 ELSE true END", f"{self.value(guard, value)} > 1"))

    def _guarded(self) -> ClauseQuery:
        parameter = None
        if self.random.random() < 0.2:
            guard, value, parameters = self.random.choice(PARAMETERS)
            parameter = self.random.choice(parameters)
        else:
            guard, value = self.random.choice(GUARDED)
        source = self.random.choice(("t", "t", "t JOIN v ON v.k = t.k", "t LEFT JOIN v ON v.k = t.k"))
        kind = self.random.randrange(7)
        if kind == 0:
            sql = f"SELECT count(*) FROM {source} WHERE {self._condition(guard, value)}"
        elif kind == 1:
            sql = f"SELECT sum({self.value(guard, value)}) FROM {source}"
        elif kind == 2:
            sql = f"SELECT sum({value}) FILTER (WHERE {guard}) FROM {source}"
        elif kind == 3:
            sql = f"SELECT {self.value(guard, value)} AS q, count(*) FROM {source} GROUP BY 1"
        elif kind == 4:
            sql = f"SELECT count(*) FROM t JOIN v ON v.k = t.k AND {self._condition(guard, value)}"
        elif kind == 5:
            sql = f"SELECT t.id FROM {source} WHERE {self._condition(guard, value)}"
        else:
            sql = f"SELECT t.id, {self.value(guard, value)} AS q FROM {source}"
        return ClauseQuery(sql, parameter)

    # ------------------------------------------------------------ what no row may ask for

    def _asked(self) -> ClauseQuery:
        value = self.random.choice(ONCE)
        condition = f"{self.random.choice(('=', '>', '<>'))} {value}"
        # calls of nextval() are counted: these do not depend on the order of conditions and joins
        has_effect = "nextval" in value
        source, before, column = self.random.choice(ASKERS[:3] if has_effect else ASKERS)
        kind = self.random.randrange(4, 7) if has_effect else self.random.randrange(7)
        if kind == 0:
            join = self.random.choice(("LEFT JOIN", "JOIN", "FULL JOIN"))
            table = self.random.choice(("empty", "v"))
            sql = f"SELECT count(*), sum(few.k), sum(e.b) FROM few {join} {table} e ON e.k = few.k AND e.b {condition}"
        elif kind == 1:
            sql = (f"SELECT a, count(*) FROM t WHERE id {self.random.choice(('<', '>'))} 0 GROUP BY a "
                   f"HAVING a < 100 AND sum(k) {condition}")
        elif kind == 2:
            sql = f"SELECT {column} + {value} AS q FROM {source} WHERE {before}{column} IS NOT NULL"
        elif kind == 3:
            sql = (f"SELECT count(*) FROM small WHERE {self.random.choice(('', 'NOT '))}EXISTS "
                   f"(SELECT 1 FROM {source} WHERE {before}small.k = {column} AND {column} {condition})")
        else:
            output = self.random.choice(("count(*)", f"sum({column})", column))
            sql = f"SELECT {output} FROM {source} WHERE {before}{column} {condition}"
        return ClauseQuery(sql, may_succeed=kind in (0, 3) or before != "" or "JOIN" in source)

    # ------------------------------------------------------------ values of two types

    def _typed_condition(self) -> str:
        a, b = self.random.sample(self.random.choice(COMPARED), 2)
        x, y = f"x.{a}", f"y.{b}"
        operator = self.random.choice(("=", "<>", "<", "<=", ">", ">="))
        where = self.random.choice((" WHERE y.k = x.k", f" WHERE {y} IS NOT NULL", "", " WHERE y.id < 0", " WHERE y.id = 5"))
        subquery = f"SELECT {y} FROM typed y{where}"
        literals = f"(SELECT array_agg(y.{b}) FROM typed y WHERE y.id < 5)"
        return self.random.choice((
            f"{x} IN ({subquery})", f"{x} NOT IN ({subquery})", f"{x} {operator} ANY ({subquery})",
            f"{x} {operator} ALL ({subquery})", f"({x}, x.k) IN (SELECT {y}, y.k FROM typed y{where})",
            f"({x}, x.k) NOT IN (SELECT {y}, y.k FROM typed y{where})",
            f"{x} {operator} ANY ({literals})", f"{x} {operator} ALL ({literals})", f"{x} {operator} x.{b}",
            f"{x} IS DISTINCT FROM x.{b}", f"{x} BETWEEN x.{b} AND x.{a}",
            f"{x} {operator} (SELECT max({y}) FROM typed y{where})",
            f"EXISTS (SELECT 1 FROM typed y WHERE {y} {operator} {x} AND y.k = x.k)",
            f"EXISTS (SELECT 1 FROM typed y WHERE {y} = {x})", f"NOT EXISTS (SELECT 1 FROM typed y WHERE {y} = {x})"))

    def _typed(self) -> ClauseQuery:
        condition = self._typed_condition()
        a, b = self.random.sample(self.random.choice(COMPARED), 2)
        join = self.random.choice(("JOIN", "LEFT JOIN", "FULL JOIN"))
        return ClauseQuery(self.random.choice((
            f"SELECT count(*) FROM typed x WHERE {condition}", f"SELECT count(*) FROM typed x WHERE NOT ({condition})",
            f"SELECT count(*) FILTER (WHERE {condition}), count(*) FILTER (WHERE ({condition}) IS NULL) FROM typed x",
            f"SELECT count(*) FROM typed x WHERE x.id = 7 OR {condition}", f"SELECT x.id, x.{a} FROM typed x WHERE {condition}",
            f"SELECT x.id FROM (SELECT * FROM typed ORDER BY id LIMIT 900) x WHERE {condition}",
            f"SELECT sum(CASE WHEN {condition} THEN 1 ELSE 10 END) FROM typed x", f"SELECT x.id, {condition} FROM typed x",
            f"SELECT count(*), count(x.id), count(y.id) FROM typed x {join} typed y ON x.{a} = y.{b}",
            f"SELECT count(*) FROM typed x JOIN typed y ON x.{a} = y.{b} AND x.{b} <= y.{a} WHERE {condition}")))

    # ------------------------------------------------------------ subqueries correlated by more than equalities

    def _correlated(self) -> ClauseQuery:
        choose = self.random.choice
        outer, inner, own, other = choice = choose((
            ("v o", "w i", "o.b", "i.b"), ("w o", "v i", "o.b", "i.b"), ("t o", "w i", "o.a", "i.b % 9"), ("few o", "t i", "o.k", "i.a"),
            ("(SELECT k, nullif(b % 50, 7) AS b FROM v) o", "v i", "o.b", "i.b % 60"), ("small o JOIN v j ON j.k = o.k", "w i", "j.b", "i.b"),
            *(("typed o", "typed i", f"o.{x}", f"i.{y}") for x, y in (("d", "ts"), ("i4", "i8"), ("f8", "i8"), ("n", "i4"), ("txt", "vc")))))
        equality = choose(("i.k = o.k", "i.k = o.k", "i.k % 40 = o.k % 40 AND i.k < 80", f"i.k = o.k AND {other} IS NOT NULL"))
        condition = choose((f"{other} < {own}", f"{other} >= {own}", f"{other} <> {own}", f"{other} BETWEEN {own} AND {own}",
                            f"({other} < {own} OR o.k > 500)", f"{other} IS DISTINCT FROM {own}", f"{other} > coalesce({own}, NULL)",
                            f"({other}, i.k) < ({own}, o.k)", f"{other} < {own} AND {other} <> nullif({own}, NULL)"))
        where = f"FROM {inner} WHERE {equality} AND {condition}"
        if choice[0].startswith("typed"):
            picked = f"(SELECT {other} {where} ORDER BY i.id LIMIT 1)"
        else:
            picked = f"(SELECT {other} {where} ORDER BY {other} DESC LIMIT 1)"
        value = choose((f"(SELECT count(*) {where})", f"(SELECT max({other}) {where})", f"(SELECT sum(i.k) {where})", picked,
                        f"EXISTS (SELECT {where})", f"{own} IN (SELECT {other} {where})", f"{own} NOT IN (SELECT {other} {where})",
                        f"{own} > ALL (SELECT {other} {where})", f"{own} <= ANY (SELECT {other} {where})",
                        f"(SELECT count(*) + o.k {where})", f"(SELECT count(*) {where} HAVING count(*) > 1)", f"(SELECT i.k {where})",
                        f"(SELECT o.k {where} LIMIT 1)", f"(SELECT 7 {where} LIMIT 1 OFFSET 1)"))
        # without an order all rows that LIMIT may take are alike
        if self.random.random() < 0.2:
            lateral = choose((f"SELECT count(*) AS z {where}", f"SELECT o.k - 1 AS z {where} LIMIT {choose(('1', '3', 'NULL OFFSET 1'))}",
                              f"SELECT i.k AS z {where} ORDER BY {other}, i.k LIMIT 2",
                              f"SELECT i.k + o.k AS z {where}", f"SELECT z FROM (VALUES ({own}), (NULL), ({own})) x (z)", f"SELECT {other} AS z {where} GROUP BY 1"))
            return ClauseQuery(f"SELECT o.k, l.z FROM {outer} {choose(('LEFT', 'INNER'))} JOIN LATERAL ({lateral}) l ON true")
        return ClauseQuery(choose((f"SELECT o.k, {value} FROM {outer}", f"SELECT count(*) FROM {outer} WHERE {value} IS NOT NULL",
                                   f"SELECT {value} AS q, count(*) FROM {outer} GROUP BY 1",
                                   f"SELECT o.k FROM {outer} WHERE ({value})::text > '1'", f"SELECT o.* FROM {outer} WHERE {value} IS NULL",
                                   f"SELECT count(*) FROM {outer} WHERE o.k < 3 OR ({value})::text > '1'")))

    def _limited(self) -> ClauseQuery:
        """Subqueries in the target list of the rows that LIMIT leaves."""
        choose = self.random.choice
        source, keys, order = choose((
            ("t o", "o.k, o.a", "o.id"), ("t o JOIN v j ON j.k = o.k", "o.k, j.b", "o.id"), ("w o", "o.k, o.b", "o.b, o.k"),
            ("t o GROUP BY o.k, o.a", "o.k, o.a", "o.k, o.a"), ("t o GROUP BY o.k, o.a HAVING sum(o.n) > 9", "o.k, o.a, count(*)", "sum(o.id), o.k, o.a"),
            ("c o", "o.k, o.x AS a", "o.k")))
        targets = [choose(("(SELECT count(*) FROM w i WHERE i.k = o.k)", "(SELECT min(i.b) + o.k FROM v i WHERE i.k = o.k)", "o.k IN (SELECT b FROM w)",
                           "EXISTS (SELECT FROM v i WHERE i.k = o.k AND i.b > 90)", "(SELECT i.b FROM v i WHERE i.k = o.k)",
                           "CASE WHEN o.k > 20 THEN (SELECT max(i.b) FROM w i WHERE i.k = o.k) ELSE o.k END", "(SELECT max(b) FROM v)",
                           "(SELECT count(*) FROM c i WHERE i.k = o.k)", "(SELECT i.b FROM w i WHERE i.k = o.k)",
                           "(SELECT sum(i.b) FROM w i WHERE i.k = o.k AND EXISTS (SELECT FROM v x WHERE x.k = i.k AND x.b > o.k))"))
                   for _ in range(self.random.randrange(1, 4))]
        if "GROUP" not in source and self.random.random() < 0.4:
            relation, _, rest = source.partition(" o")
            below = f"(SELECT o.*, {targets[0]} AS z, {targets[-1]} AS y FROM {relation} o) o"
            if self.random.random() < 0.2:
                below = f"(SELECT u.*, z IS NULL AS x FROM {below[:-1]}u) o".replace(" AS x", " AS other")
            source, targets = below + rest, choose((["o.z"], ["o.y", "o.z"], ["(o.z::text || 'a')", "o.y IS NULL"], ["o.z", targets[-1]]))
            if self.random.random() < 0.2:
                source, keys, order = f"w p LEFT JOIN {below} ON o.k = p.b", "p.k, p.b, o.k", "p.b, p.k, o.k"
            source += choose(("", "", " WHERE o.z IS NOT NULL"))
        if "GROUP" not in source and self.random.random() < 0.3:
            targets.append(choose(("rank() OVER (ORDER BY o.k)", "count(*) OVER () + (SELECT count(*) FROM w i WHERE i.k = o.k)")))
        limit = choose(("LIMIT 5", "LIMIT 40 OFFSET 3", "OFFSET 890", "LIMIT 0", "FETCH FIRST 7 ROWS WITH TIES", "LIMIT (SELECT min(k) FROM few)"))
        ctes = "WITH c AS (SELECT k, sum(a) AS x FROM t GROUP BY k) "
        return ClauseQuery(f"{ctes}SELECT {keys}, {', '.join(targets)} FROM {source} ORDER BY {order} {limit}", is_ordered=True)

    def _grouped(self) -> ClauseQuery:
        """Subqueries of groups, in the target list and HAVING, and keys that the planner writes in another way there."""
        choose = self.random.choice
        source, keys = choose((
            ("t o", ["o.k"]), ("t o", ["o.k", "o.a"]), ("t o JOIN v j ON j.k = o.k", ["o.k"]), ("w o", ["o.k", "o.b"]), ("few o", ["o.k"]),
            ("(SELECT k % 7 AS k, a < 20 AS b, a FROM t) o", ["o.k", "o.b"]), ("(SELECT k % 7 + 1 AS k, k > 30 AS b, b AS a FROM v) o", ["o.b", "o.k"]),
            ("(SELECT id AS k, nullif(a, 5) IS NULL AS b FROM t) o", ["o.b"])))
        column = choose(keys)
        aggregate = choose(("count(*)", "max(o.k)", "min(o.k) + 1"))
        of = "max(o.k)" if column == "o.b" and "o.a" not in keys and len(keys) == 1 else "o.k"
        where = choose((f"i.k = {of}", f"i.k = {of}", f"i.k % 9 = {of} % 9", f"i.k = {of} AND i.b < {aggregate}", f"i.k = {aggregate}"))
        subqueries = [choose((f"(SELECT count(*) FROM w i WHERE {where})", f"(SELECT max(i.b) FROM v i WHERE {where})", f"EXISTS (SELECT FROM v i WHERE {where})",
                              f"{aggregate} IN (SELECT i.b FROM w i WHERE {where})", f"(SELECT i.b FROM v i WHERE {where} AND i.b > 95)",
                              f"(SELECT min(i.b) + {aggregate} FROM w i WHERE {where})",
                              f"CASE WHEN {aggregate} > 20 THEN (SELECT max(i.b) FROM w i WHERE {where}) ELSE {of} END"))
                      for _ in range(2)]
        targets = [*keys, choose(("sum(o.k)", "count(*)", aggregate)), choose((subqueries[0], aggregate))]
        if "o.b" in keys and source.startswith("(SELECT"):
            targets += choose((["NOT o.b"], [f"NOT o.b OR {aggregate} > 5"], ["CASE WHEN NOT o.b THEN 1 ELSE 2 END"], []))
        having = choose(("", f" HAVING ({subqueries[1]})::text > '1'", f" HAVING count(*) > 2 OR ({subqueries[0]}) IS NULL"))
        if self.random.random() < 0.2:
            targets.append(f"rank() OVER (ORDER BY {aggregate})")
        sql = f"SELECT {choose(('', '', 'DISTINCT '))}{', '.join(targets)} FROM {source} GROUP BY {', '.join(keys)}{having}"
        if self.random.random() < 0.3:
            # in the order of all columns, so that LIMIT takes the same rows
            return ClauseQuery(f"{sql} ORDER BY {', '.join(str(i + 1) for i in range(len(targets)))} LIMIT {choose(('5', '30 OFFSET 2'))}")
        return ClauseQuery(sql)

    # ------------------------------------------------------------ volatile functions

    def _volatile(self) -> ClauseQuery:
        call = self.random.choice(("nextval('sq')", "(random() * 1e9)::bigint", "nextval('sq') + (clock_timestamp() IS NULL)::integer"))
        inner = self.random.choice((f"(SELECT {call} FROM v WHERE v.k = w.k LIMIT 1)", f"(SELECT max({call}) FROM u WHERE x = w.k % 10)",
                                    f"(SELECT {call})", call))
        subquery = self.random.choice((
            f"(SELECT max(w.b * 0 + {inner}) FROM w WHERE w.b <= few.k * 0 + 20)",
            f"(SELECT {inner} FROM w WHERE w.k = few.k * 0 + 3)", f"(SELECT count(*) FROM w WHERE w.b < 9 AND {inner} > few.k * 0)",
            f"(SELECT max(z) FROM (SELECT {inner} AS z FROM w WHERE w.b < 4 + few.k * 0) y)"))
        outer = self.random.choice(("few", "few JOIN small s ON s.k < 4", "(SELECT k FROM few UNION ALL SELECT k FROM few) few"))
        return ClauseQuery(f"SELECT count(DISTINCT r) FROM (SELECT {subquery} AS r FROM {outer} OFFSET 0) z")
