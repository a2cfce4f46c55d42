"""What Penumbra would bring to a workload: statement by statement, and for the memory it needs."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from penumbra_lab.advise.catalog import Catalog, Table, TableColumn
from penumbra_lab.advise.engine import read_engine
from penumbra_lab.advise.judge import Blocker
from penumbra_lab.advise.model import Quantities, measure_plan, read_costs
from penumbra_lab.advise.plans import Plan
from penumbra_lab.advise.server import Explained, NotPlanned, Server
from penumbra_lab.advise.sizes import stored_form
from penumbra_lab.advise.statements import Statement, Workload
from penumbra_lab.advise.verdict import Verdict, judge_plan
from penumbra_lab.watch.wording import line, shortened

# Less is within the error of the estimate: the planner may leave such a query as it is.
GAIN_MIN = 1.2
PIECE_CHARACTERS_MAX = 100
WORD = re.compile(r"\w+")
# penumbra.memory holds the columns that bring so much of the gain, and some for what comes.
GAIN_SHARE_WANTED = 0.98
MEMORY_RESERVE = 1.25
MEMORY_MB_MIN = 64
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Obstacle:
    """A reason, and the piece of the statement that it is about."""

    reason: str
    piece: str


@dataclass(frozen=True, order=True)
class CachedColumn:
    schema: str
    table: str
    column: str
    cached_bytes: int = field(compare=False)
    type: str = field(compare=False)


@dataclass(frozen=True)
class StatementAdvice:
    statement: Statement
    verdict: str  # "vectors", "part", "no", "stays", "writes", "other", "unknown"
    speedup: float
    time_ms: float  # of all calls: measured where the source has times, else predicted
    columns: tuple[CachedColumn, ...]
    obstacles: tuple[Obstacle, ...]
    kept_bytes: float = 0.0  # of the largest hash table or sort
    problem: str = ""  # why there is no plan

    @property
    def is_promised(self) -> bool:
        return self.verdict in ("vectors", "part")

    @property
    def saved_ms(self) -> float:
        return self.time_ms * (1 - 1 / self.speedup)


@dataclass(frozen=True)
class CurvePoint:
    """The gain with so much memory: columns that are taken one after the other."""

    cached_bytes: int
    saved_ms: float
    added: tuple[CachedColumn, ...]


@dataclass(frozen=True)
class Advice:
    source: str
    is_measured: bool
    note: str
    statements: tuple[StatementAdvice, ...]
    curve: tuple[CurvePoint, ...]
    memory_mb: int
    tables: tuple[Table, ...]  # those whose columns are worth a place

    @property
    def time_ms(self) -> float:
        return sum(one.time_ms for one in self.statements)

    @property
    def saved_ms(self) -> float:
        return sum(one.saved_ms for one in self.statements)


@dataclass(frozen=True)
class Examined:
    """A statement's plan, and what is thought of it."""

    plan: Plan
    verdict: Verdict
    quantities: Quantities


class Adviser:
    def __init__(self, server: Server):
        self._server = server
        self.catalog = Catalog(server, read_engine())
        self._refusal = _server_refusal(server)

    def advise(self, workload: Workload) -> Advice:
        advised = tuple(self.advise_statement(statement) for statement in workload.statements)
        curve = memory_curve(advised)
        names = {(column.schema, column.table) for point in curve for column in point.added}
        tables = (self.catalog.table(*name) for name in sorted(names))
        return Advice(
            workload.source, workload.is_measured, workload.note, advised, curve,
            recommended_mb(curve), tuple(table for table in tables if table),
        )  # fmt: skip

    def examine(self, statement: Statement) -> Examined:
        plan = self._plan(self._explain(statement))
        verdict = judge_plan(plan, self._refusal)
        return Examined(plan, verdict, measure_plan(plan, verdict))

    def advise_statement(self, statement: Statement) -> StatementAdvice:
        measured = (statement.mean_ms or 0.0) * statement.calls
        if not statement.reads:
            verdict = "writes" if statement.writes else "other"
            return StatementAdvice(statement, verdict, 1.0, measured, (), ())
        try:
            examined = self.examine(statement)
        except NotPlanned as error:
            return StatementAdvice(statement, "unknown", 1.0, measured, (), (),
                                   problem=str(error))  # fmt: skip
        costs = read_costs()
        speedup = examined.quantities.speedup(costs)
        verdict = examined.verdict
        kind = verdict.promise
        if kind != "no" and speedup < GAIN_MIN:
            kind, speedup = "stays", 1.0
        if statement.mean_ms is None:
            measured = examined.quantities.postgresql_ms(costs) * statement.calls
        columns = tuple(dict.fromkeys(
            self._cached(scan.table, column)
            for scan in verdict.served for column in scan.columns
        )) if kind in ("vectors", "part") else ()  # fmt: skip
        obstacles = tuple(
            Obstacle(blocker.reason, find_piece(statement.text, blocker))
            for blocker in verdict.blockers
        )
        kept = max(node.kept_bytes for node in examined.plan.nodes)
        return StatementAdvice(statement, kind, speedup, measured, columns, obstacles, kept)

    def _explain(self, statement: Statement) -> Explained:
        text = statement.text.replace("\0", " ").rstrip().rstrip(";")
        try:
            return self._server.explain(text)
        except NotPlanned:
            repaired = Statement("", text).repaired()
            if repaired == text:
                raise
            return self._server.explain(repaired)

    def _plan(self, explained: Explained) -> Plan:
        return Plan(explained.plan, explained.parameter_types, self.catalog)

    def cached_column_bytes(self, schema: str, name: str) -> list[int]:
        """Of each column that can be cached."""
        table = self.catalog.table(schema, name)
        return [
            self._cached(table, column).cached_bytes
            for column in (table.columns.values() if table else ())
            if self.catalog.type(column.type).engine
        ]

    def _cached(self, table: Table, column: TableColumn) -> CachedColumn:
        size = round(stored_form(table, column, self.catalog).cached_bytes)
        return CachedColumn(table.schema, table.name, column.name, size, column.type_name)


def _server_refusal(server: Server) -> str:
    """Why no table of this server can be cached."""
    [row] = server.ask(
        "SELECT getdatabaseencoding() AS name, pg_encoding_max_length(encoding) AS bytes,"
        " (SELECT setting::int FROM pg_settings WHERE name = 'old_snapshot_threshold') AS threshold"
        " FROM pg_database WHERE datname = current_database()"
    )
    if row.bytes > 1 and row.name != "UTF8":
        return "multi-byte server encoding other than UTF8"
    return "old_snapshot_threshold is set" if (row.threshold or -1) >= 0 else ""


# -- what stands in the way ------------------------------------------------------------------------


def find_piece(text: str, blocker: Blocker) -> str:
    """Of the statement as it was written: the place that is most like what EXPLAIN writes. Where
    there is none, what EXPLAIN writes."""
    pieces = list(_pieces(text, blocker.name)) if blocker.name else []
    wanted = set(WORD.findall(blocker.text))
    best = max(pieces, key=lambda piece: len(wanted & set(WORD.findall(piece))),
               default=blocker.text)  # fmt: skip
    return shortened(line(best), PIECE_CHARACTERS_MAX) if best else ""


def _pieces(text: str, name: str) -> Iterator[str]:
    """Calls of a function with their arguments, columns with their tables, operators between their
    operands."""
    escaped = re.escape(name)
    if not WORD.fullmatch(name):
        yield from (match[0] for match in re.finditer(rf"\S+\s*{escaped}\s*\S+", text))
        return
    named = rf"(?:\w+\.)?(?<![\w$]){escaped}(?![\w$])(?P<call>\s*\()?"
    for match in re.finditer(named, text, re.I):
        yield _to_closing(text, match.start(), match.end()) if match["call"] else match[0]


def _to_closing(text: str, begin: int, place: int) -> str:
    depth = 1
    while place < len(text) and depth:
        depth += (text[place] == "(") - (text[place] == ")")
        place += 1
    return text[begin:place]


# -- gain against memory ---------------------------------------------------------------------------


def memory_curve(statements: Sequence[StatementAdvice]) -> tuple[CurvePoint, ...]:
    """A statement gains when all its columns are there. So columns are taken by statement, the one
    with the largest gain per missing byte first; each may complete others."""
    left = [one for one in statements if one.is_promised and one.columns and one.saved_ms > 0]
    taken: dict[CachedColumn, None] = {}
    points, saved = [], 0.0
    while left:
        best = max(left, key=lambda one: _density(one, left, taken))
        added = tuple(column for column in best.columns if column not in taken)
        taken |= dict.fromkeys(added)
        complete = [one for one in left if all(column in taken for column in one.columns)]
        left = [one for one in left if one not in complete]
        saved += sum(one.saved_ms for one in complete)
        size = sum(column.cached_bytes for column in taken)
        points.append(CurvePoint(size, saved, added))
    return tuple(points)


def _density(one: StatementAdvice, others: Iterable[StatementAdvice], taken: dict) -> float:
    """Saved time per byte, with all statements that the same columns complete."""
    there = taken.keys() | set(one.columns)
    saved = sum(other.saved_ms for other in others if there.issuperset(other.columns))
    missing = sum(column.cached_bytes for column in one.columns if column not in taken)
    return saved / max(missing, 1)


def recommended_mb(curve: Sequence[CurvePoint]) -> int:
    """In steps that a person would choose."""
    if not curve:
        return 0
    wanted = next(point for point in curve
                  if point.saved_ms >= GAIN_SHARE_WANTED * curve[-1].saved_ms)  # fmt: skip
    megabytes = max(wanted.cached_bytes * MEMORY_RESERVE / MEGABYTE, MEMORY_MB_MIN)
    step = 2 ** max(math.floor(math.log2(megabytes)) - 2, 0)
    return math.ceil(megabytes / step) * step


def column_gains(advice: Advice) -> dict[CachedColumn, float]:
    """The time that statements which read a column save, in the order of the curve."""
    gains: dict[CachedColumn, float] = defaultdict(float)
    for point in advice.curve:
        for column in point.added:
            gains[column] = 0.0
    for one in advice.statements:
        for column in one.columns:
            if column in gains:
                gains[column] += one.saved_ms
    return gains
