"""What the server's catalogs say of the types, functions, tables and columns of statements.

Each is looked up when a plan names it, so that a database of very many relations costs no more.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

from penumbra_lab.advise.engine import Engine
from penumbra_lab.advise.server import Server

HEAP = "heap"
FIRST_USER_OID = 16384
FIXED_BYTES_MAX = 256  # of a value of a type of extensions and users; others have any length
TEXTS = ("text", "character")
ENUM = "enum"  # as the engine's table calls every enum
OTHER = "other"  # and every type of extensions and users that has an equality of its own
CITEXT = "citext"


@dataclass(frozen=True)
class Type:
    oid: int
    name: str
    engine: str | None  # the engine's name of it, or of what a domain is made of
    element: int
    is_domain: bool
    collation: int
    is_citext: bool = False

    @property
    def is_text(self) -> bool:
        return self.engine in TEXTS


@dataclass(frozen=True)
class Function:
    oid: int
    schema: str
    name: str
    args: tuple[int, ...]
    result: int
    kind: str
    is_volatile: bool
    returns_set: bool


@dataclass(frozen=True)
class Operator:
    left: int
    right: int
    result: int
    function: int


@dataclass(frozen=True)
class TableColumn:
    name: str
    number: int
    type: int
    type_name: str
    typmod: int
    collation: int
    is_generated: bool  # not stored
    # Of the statistics; None where the role may not see them or ANALYZE was never run.
    null_share: float | None = None
    width: int | None = None
    distinct: float | None = None
    correlation: float | None = None
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class Table:
    oid: int
    schema: str
    name: str
    kind: str
    persistence: str
    method: str | None
    pages: int
    rows: float
    visible_pages: int
    columns: dict[str, TableColumn] = field(hash=False)

    @property
    def refusal(self) -> str:
        """Why no cache holds it; empty if one may."""
        if self.kind not in "rm":
            return {"f": "foreign table", "p": "partitioned table"}.get(self.kind, "no table")
        if self.oid < FIRST_USER_OID:
            return "system catalog"
        if self.method != HEAP:
            return "not a heap table"
        return {"t": "temporary table", "u": "unlogged table"}.get(self.persistence, "")


class Catalog:
    def __init__(self, server: Server, engine: Engine):
        self._server = server
        self.engine = engine
        self._names: dict[str, int | None] = {}

    # -- types -------------------------------------------------------------------------------------

    def types_named(self, names: Iterable[str]) -> None:
        """Asks for all of them at once."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._names]
        if wanted:
            self._names |= zip(wanted, self._server.type_oids(wanted), strict=True)

    def type_named(self, name: str) -> Type | None:
        self.types_named([name])
        oid = self._names[name]
        return None if oid is None else self.type(oid)

    @cached_property
    def _engine_types(self) -> dict[int, str]:
        names = [name for name in self.engine.types if name not in (ENUM, OTHER)]
        rows = self._server.ask(
            "SELECT to_regtype(name)::oid AS oid FROM unnest(%s::text[]) WITH ORDINALITY"
            " AS u (name, place) ORDER BY place",
            ([*names, "varchar"],),
        )
        return {row.oid: name for row, name in zip(rows, [*names, "text"], strict=True)}

    @cache  # noqa: B019
    def type(self, oid: int) -> Type:
        rows = self._server.ask(
            "WITH RECURSIVE t AS (SELECT oid AS base, typbasetype AS next FROM pg_type"
            "   WHERE oid = %s"
            "   UNION ALL SELECT p.oid, p.typbasetype FROM t JOIN pg_type p ON p.oid = t.next)"
            " SELECT format_type(%s, NULL) AS name, typtype = 'd' AS is_domain, typelem AS element,"
            " typcollation AS collation, (SELECT base FROM t WHERE next = 0) AS base,"
            " (SELECT typtype = 'e' FROM t JOIN pg_type b ON b.oid = base WHERE next = 0)"
            " AS is_enum,"
            " (SELECT b.oid >= %s AND typtype = 'b' AND typelem = 0 AND typlen BETWEEN -1 AND %s"
            "    AND EXISTS (SELECT FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod"
            "                WHERE opcintype = b.oid AND opcdefault"
            "                AND amname IN ('btree', 'hash'))"
            "  FROM t JOIN pg_type b ON b.oid = base WHERE next = 0) AS is_other,"
            " (SELECT typname FROM t JOIN pg_type b ON b.oid = base WHERE next = 0) AS base_name"
            " FROM pg_type WHERE oid = %s",
            (oid, oid, FIRST_USER_OID, FIXED_BYTES_MAX, oid),
        )
        if not rows:
            return Type(oid, "?", None, 0, False, 0)
        [row] = rows
        own = ENUM if row.is_enum else OTHER if row.is_other else None
        engine = own or self._engine_types.get(row.base)
        is_citext = row.is_other and row.base_name == CITEXT
        return Type(oid, row.name, engine, row.element, row.is_domain, row.collation, is_citext)

    @cached_property
    def casts(self) -> dict[tuple[int, int], tuple[int, str]]:
        """The function and the method of each."""
        rows = self._server.ask("SELECT castsource, casttarget, castfunc, castmethod::text"
                                " FROM pg_cast")  # fmt: skip
        return {(row.castsource, row.casttarget): (row.castfunc, row.castmethod) for row in rows}

    # -- functions and operators -------------------------------------------------------------------

    @cache  # noqa: B019
    def functions(self, schema: str, name: str) -> tuple[Function, ...]:
        rows = self._server.ask(
            "SELECT p.oid, nspname, proname, string_to_array(proargtypes::text, ' ')::oid[]"
            " AS args, prorettype, prokind::text, provolatile = 'v' AS is_volatile, proretset"
            " FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace"
            " WHERE proname = %s AND (%s = '' OR nspname = %s)",
            (name, schema, schema),
        )
        return tuple(Function(row.oid, row.nspname, row.proname, tuple(row.args), row.prorettype,
                              row.prokind, row.is_volatile, row.proretset)
                     for row in rows)  # fmt: skip

    @cache  # noqa: B019
    def operators(self, name: str) -> tuple[Operator, ...]:
        rows = self._server.ask(
            "SELECT oprleft, oprright, oprresult, oprcode::oid AS function FROM pg_operator"
            " WHERE oprname = %s",
            (name,),
        )
        return tuple(Operator(row.oprleft, row.oprright, row.oprresult, row.function)
                     for row in rows)  # fmt: skip

    # -- collations --------------------------------------------------------------------------------

    @cached_property
    def default_collation(self) -> int:
        [row] = self._server.ask("SELECT oid FROM pg_collation WHERE collname = 'default'")
        return row.oid

    @cache  # noqa: B019
    def collation_named(self, name: str) -> int:
        rows = self._server.ask("SELECT oid FROM pg_collation WHERE collname = %s", (name,))
        return rows[0].oid if len(rows) == 1 else 0

    @cache  # noqa: B019
    def collation_refusal(self, oid: int, use: str) -> str:
        """Why the engine does not do with it what the use needs; empty if it does."""
        query = (
            "SELECT datlocprovider::text AS provider, true AS is_deterministic, datctype AS ctype"
            " FROM pg_database WHERE datname = current_database() AND %s::oid IS NOT NULL"
            if oid == self.default_collation
            else "SELECT collprovider::text AS provider, collisdeterministic AS is_deterministic,"
            " collctype AS ctype FROM pg_collation WHERE oid = %s"
        )
        rows = self._server.ask(query, (oid,))
        if not rows:
            return "unknown collation"
        [row] = rows
        if not row.is_deterministic:
            return "nondeterministic collation"
        if use == "ORDER" and row.provider == "i":
            return "ordering of text with an ICU collation"
        if use == "LETTERS" and row.provider not in ("c", "d"):
            return "letter case with a collation that is not libc's, of other text than ASCII"
        return ""

    # -- tables ------------------------------------------------------------------------------------

    @cache  # noqa: B019
    def table(self, schema: str, name: str) -> Table | None:
        rows = self._server.ask(
            "SELECT c.oid, relkind::text, relpersistence::text, amname, relpages, reltuples,"
            " relallvisible"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " LEFT JOIN pg_am a ON a.oid = relam WHERE nspname = %s AND relname = %s",
            (schema, name),
        )
        if not rows:
            return None
        [row] = rows
        columns = self._server.ask(
            "SELECT a.attname, a.attnum, atttypid, format_type(atttypid, atttypmod) AS type_name,"
            " atttypmod, attcollation, attgenerated = 'v' AS is_generated, null_frac, avg_width,"
            " n_distinct, correlation, bounds[1] AS low,"
            " bounds[array_upper(bounds, 1)] AS high"
            " FROM pg_attribute a LEFT JOIN pg_stats s ON schemaname = %s AND tablename = %s"
            "   AND s.attname = a.attname AND (NOT inherited OR %s = 'p')"
            " CROSS JOIN LATERAL (SELECT coalesce(histogram_bounds, most_common_vals)::text::text[]"
            "   AS bounds) b"
            " WHERE attrelid = %s AND a.attnum > 0 AND NOT attisdropped ORDER BY a.attnum",
            (schema, name, row.relkind, row.oid),
        )
        return Table(
            row.oid, schema, name, row.relkind, row.relpersistence, row.amname, row.relpages,
            max(row.reltuples, 0), row.relallvisible,
            {c.attname: TableColumn(
                c.attname, c.attnum, c.atttypid, c.type_name, c.atttypmod, c.attcollation,
                c.is_generated, c.null_frac, c.avg_width, c.n_distinct, c.correlation, c.low,
                c.high) for c in columns},
        )  # fmt: skip
