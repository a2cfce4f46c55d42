"""The statements that a server ran: from pg_stat_statements, or from a file."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from penumbra_lab.advise.server import Server
from penumbra_lab.errors import LabError

STATEMENT_CHARACTERS_MAX = 1 << 20
# As many rows of the view are read for each statement that is wanted.
OTHERS_FACTOR = 5
# What ends or hides parts of a statement: strings, names, comments, dollar quotes, semicolons.
PIECE = re.compile(
    r"""[Ee]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/"""
    r"""|\$(?P<tag>[^\W\d]\w*)?\$.*?\$(?P=tag)\$|\$\$.*?\$\$|;""",
    re.DOTALL,
)
NOTE = re.compile(r"--\s*(calls|mean_ms|name)\s*[:=]\s*(\S+)")
LEADING_COMMENTS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
READS = re.compile(r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|values|table)\b", re.I | re.DOTALL)
WRITES = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(insert|update|delete|merge)\b", re.I | re.DOTALL)
# pg_stat_statements puts $1 where only a constant may stand.
TYPED_CONSTANT = re.compile(
    r"\b(date|time|timestamp|timestamptz|timetz|interval|numeric|text)\s+(\$\d+)"
    r"(?:\s+(?:year|month|day|hour|minute|second)s?\b(?:\s+to\s+(?:month|hour|minute|second)\b)?)?",
    re.I,
)
# What lost its type with its value.
COMPUTED = re.compile(r"(\$\d+)(\s*[-+*/]\s*)(\$\d+)\b(?!::)")
CHOSEN = re.compile(r"(\bthen\s+)(\$\d+)(\s+else\s+)(\$\d+)\b(?!::)", re.I)
PARAMETER = re.compile(r"\$\d+")
CONSTANT = r"(?:'(?:[^']|'')*'|\w+)"
CALL = re.compile(r"\b\w+\s*\((?:[^()]|\([^()]*\))*\)")
FIELD = re.compile(r"\bextract\s*\(\s*\$\d+\s+from\b", re.I)
NO_VIEW = (
    "the view pg_stat_statements is not in this database: add it to shared_preload_libraries,"
    " restart, CREATE EXTENSION pg_stat_statements, and ask again after a day; or give a file of"
    " queries: --queries FILE"
)


@dataclass(frozen=True)
class Statement:
    name: str
    text: str
    calls: float = 1.0
    mean_ms: float | None = None  # as it ran; None if only the text is known
    role: str = ""

    @property
    def reads(self) -> bool:
        return READS.match(self.text) is not None

    @property
    def writes(self) -> bool:
        return WRITES.match(self.text) is not None

    @property
    def shown(self) -> str:
        """Without the comments before it."""
        return self.text[LEADING_COMMENTS.match(self.text).end() :]

    def repaired(self) -> str:
        """As it may have been before its constants became parameters. A field of extract() is
        taken for `year`: the engine knows all of them."""
        text = TYPED_CONSTANT.sub(r"\2::\1", self.text)
        text = CALL.sub(lambda call: _as_elsewhere(call[0], text), text)
        text = FIELD.sub("extract(year FROM", text)
        text = COMPUTED.sub(r"\1::numeric\2\3::numeric", text)
        text = CHOSEN.sub(r"\1\2::integer\3\4::integer", text)
        numbers: dict[str, int] = {}
        return PARAMETER.sub(
            lambda match: f"${numbers.setdefault(match[0], len(numbers) + 1)}", text
        )


def _as_elsewhere(call: str, text: str) -> str:
    """GROUP BY keeps the constants of a call that the target list has, too."""
    if not PARAMETER.search(call):
        return call
    pieces = (re.escape(piece) for piece in PARAMETER.split(call))
    found = re.search(CONSTANT.join(pieces), text, re.I)
    return found[0] if found else call


@dataclass(frozen=True)
class Workload:
    source: str
    statements: tuple[Statement, ...]
    is_measured: bool  # times are of this server
    note: str = ""


def read_statement_view(server: Server, count_max: int) -> Workload:
    """Those of this database that took most time, without what neither reads nor writes tables."""
    rows = server.ask(
        "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'pg_stat_statements'"
    )
    if not rows:
        raise LabError(NO_VIEW)
    query = sql.SQL(
        "SELECT queryid, query, sum(calls)::float8 AS calls, sum(total_exec_time) AS total_ms,"
        " min(rolname)::text AS role, bool_and(coalesce(rolsuper, false)) AS is_superusers"
        " FROM {} s LEFT JOIN pg_roles r ON r.oid = userid"
        " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
        " AND calls > 0 GROUP BY queryid, query ORDER BY total_ms DESC LIMIT %s"
    ).format(sql.Identifier(rows[0].nspname, "pg_stat_statements"))
    try:
        found = server.ask(query, (count_max * OTHERS_FACTOR,))
    except psycopg.Error as error:
        raise LabError(
            f"pg_stat_statements cannot be read: {error.diag.message_primary or error}"
        ) from None
    hidden = sum(row.queryid is None for row in found)
    # PostgreSQL calls immutable functions while it plans, as the role that asks.
    safe = [row for row in found if row.is_superusers or not server.is_superuser]
    statements = (
        Statement(str(row.queryid), row.query[:STATEMENT_CHARACTERS_MAX], row.calls,
                  row.total_ms / row.calls, row.role or "")
        for row in safe if row.queryid is not None and row.query
    )  # fmt: skip
    kept = [statement for statement in statements if statement.reads or statement.writes]
    note = ""
    if hidden:
        note = f"{hidden} statements of other roles are hidden: GRANT pg_monitor to this role"
    elif len(safe) < len(found):
        note = (
            f"{len(found) - len(safe)} statements of other roles are left out: to plan one may call"
            " functions of theirs, here as superuser. Ask as a role that is none, with pg_monitor"
            " and pg_read_all_data"
        )
    return Workload("pg_stat_statements", tuple(kept[:count_max]), True, note)


def read_file(path: Path) -> Workload:
    """Statements that end with a semicolon, each perhaps after a comment `-- calls: 100`,
    `-- mean_ms: 12.5`, `-- name: report`; or CSV with the columns of pg_stat_statements."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    made = _of_csv(path) if path.suffix == ".csv" else _of_sql(text)
    statements = tuple(made)
    if not statements:
        raise LabError(f"{path}: no statement in it")
    return Workload(
        path.name, statements, any(statement.mean_ms is not None for statement in statements)
    )


def _of_sql(text: str) -> Iterator[Statement]:
    for number, piece in enumerate(split(text), 1):
        notes = dict(NOTE.findall(piece))
        yield Statement(
            notes.get("name", f"query {number}"), piece,
            _number(notes.get("calls")) or 1.0, _number(notes.get("mean_ms")),
        )  # fmt: skip


def split(text: str) -> Iterator[str]:
    begin = 0
    for match in PIECE.finditer(text):
        if match[0] == ";":
            yield from _kept(text[begin : match.start()])
            begin = match.end()
    yield from _kept(text[begin:])


def _kept(text: str) -> Iterator[str]:
    if PIECE.sub(lambda match: "" if match[0][:2] in ("--", "/*") else match[0], text).strip():
        yield text.strip()


def _of_csv(path: Path) -> Iterator[Statement]:
    csv.field_size_limit(STATEMENT_CHARACTERS_MAX * 4)
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            if not row.get("query"):
                continue
            mean = _number(row.get("mean_exec_time"))
            yield Statement(row.get("queryid") or f"query {number}", row["query"],
                            _number(row.get("calls")) or 1.0, mean)  # fmt: skip


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
