"""`penumbra top`: a server, live in the terminal."""

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from penumbra_lab.watch import sheets
from penumbra_lab.watch.facts import find_facts
from penumbra_lab.watch.findings import find
from penumbra_lab.watch.sampler import Sampler, State, rates
from penumbra_lab.watch.sheets import Form, Head
from penumbra_lab.watch.snapshot import Section, Snapshot, Statement, Table
from penumbra_lab.watch.status import fact_view, finding_view, headline, sheet_view
from penumbra_lab.watch.wording import count, line, milliseconds, size

KEY_SECONDS = 0.2  # how soon a key is answered
# Lines that stand whatever is cached: head, facts, rates, titles.
OTHER_LINES = 22
RATES = (
    ("pages/s from cache", "pages_from_cache", count),
    ("from heap", "pages_from_heap", count),
    ("calls/s in vectors", "calls_in_vectors", count),
    ("in part", "calls_partly", count),
    ("not", "calls_not", count),
    ("loaded/s", "bytes_loaded", size),
    ("read from disk/s", "disk_bytes_read", size),
    ("evictions/s", "evictions", count),
)


@dataclass(frozen=True)
class Busy:
    """A row, and how much its counts grew per second."""

    row: Table | Statement
    per_second: dict[str, float]


def busy(rows: Section, before: Section, key: Callable, fields: tuple[str, ...],
         seconds: float) -> Section:  # fmt: skip
    """The busiest first by the first of the fields; a row that is new has no rates yet."""
    old = {key(row): row for row in before.rows}
    found = []
    for row in rows.rows:
        other = old.get(key(row))
        grown = {} if other is None or seconds <= 0 else {
            field: ((getattr(row, field) or 0) - (getattr(other, field) or 0)) / seconds
            for field in fields
        }  # fmt: skip
        # A count that went back was reset.
        found.append(Busy(row, {field: n for field, n in grown.items() if n >= 0}))
    found.sort(key=lambda one: -one.per_second.get(fields[0], 0))
    return Section(tuple(found), rows.count, {}, rows.problem)


def _rate(title: str, field: str, write: Callable[[float | None], str] = count) -> Head:
    return Head(title, lambda row, now: write(row.per_second.get(field)))


def _plain(head: Head) -> Head:
    """A column of the row itself."""
    return Head(head.title, lambda row, now: head.cell(row.row, now), head.is_text)


def _heads(form: Form, *titles: str) -> tuple[Head, ...]:
    return tuple(_plain(head) for head in form.heads if head.title in titles)


TABLE_FIELDS = ("pages_from_cache", "pages_from_heap", "hits")
TABLES = Form(
    "tables", "Tables", "",
    (*_heads(sheets.TABLES, "table"), _rate("pages/s from cache", "pages_from_cache"),
     _rate("from heap", "pages_from_heap"), _rate("scans/s", "hits"),
     *_heads(sheets.TABLES, "covered", "valid", "memory")),
    sheets.TABLES.empty,
)  # fmt: skip
STATEMENT_FIELDS = ("total_exec_time", "calls", "calls_in_vectors")
STATEMENTS = Form(
    "statements", "Statements", "",
    (*_heads(sheets.STATEMENTS, "statement"), _rate("time/s", "total_exec_time", milliseconds),
     _rate("calls/s", "calls"), _rate("in vectors", "calls_in_vectors"),
     *_heads(sheets.STATEMENTS, "in all", "reason")),
    sheets.STATEMENTS.empty,
)  # fmt: skip


def top_view(state: State, rows_max: int) -> RenderableType:
    if state.snapshot is None:
        return Text(line(state.error) if state.error else "connecting …")
    snapshot, before = state.snapshot, state.before or state.snapshot
    parts: list[RenderableType] = [headline(snapshot)]
    if state.error:
        parts.append(Text(f"no answer, what is shown is of {snapshot.server.read_at:%H:%M:%S}: "
                          f"{line(state.error)}", style="bold red"))  # fmt: skip
    if snapshot.installed.schema is None:
        return Group(*parts, "", finding_view(find(snapshot)))
    parts += ["", fact_view(find_facts(snapshot)), "", rate_view(snapshot, before)]
    seconds = (snapshot.server.read_at - before.server.read_at).total_seconds()
    tables = busy(snapshot.tables, before.tables, lambda row: row.relid, TABLE_FIELDS, seconds)
    statements = busy(snapshot.statements, before.statements,
                      lambda row: (row.userid, row.dbid, row.queryid),
                      STATEMENT_FIELDS, seconds)  # fmt: skip
    now = snapshot.server.read_at
    for form, section in ((TABLES, tables), (STATEMENTS, statements)):
        parts.append(sheet_view(sheets.sheet_of(form, section, now), rows_max, is_cut=True))
    parts.append(sheet_view(sheets.make_sheet(sheets.LOADS, snapshot), rows_max))
    problems = [finding for finding in find(snapshot) if finding.is_problem]
    return Group(*parts, *(["", finding_view(problems)] if problems else []))


def rate_view(snapshot: Snapshot, before: Snapshot) -> Text:
    found = rates(snapshot, before)
    text = Text()
    for label, name, write in RATES:
        text.append(f"{label} ", style="dim")
        text.append(f"{write(found.get(name))}   ", style="bold")
    return text


def watch(sampler: Sampler, console: Console, samples_max: int | None) -> None:
    """Until q, or that many samples; each on its own lines where there is no terminal."""
    if not console.is_terminal:
        for _ in _samples(sampler, samples_max):
            console.print(top_view(sampler.look(), 10), "")
        return
    with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
        shown = 0
        while samples_max is None or shown < samples_max:
            shown += sampler.wait(0)
            rows_max = max(3, (console.height - OTHER_LINES) // 2)
            footer = Text(f"\nevery {sampler.seconds:g} s; q to leave", style="dim")
            live.update(Group(top_view(sampler.look(), rows_max), footer), refresh=True)
            if pressed(KEY_SECONDS) in ("q", "Q", "\x1b"):
                return


def _samples(sampler: Sampler, samples_max: int | None) -> Iterator[int]:
    number = 0
    while samples_max is None or number < samples_max:
        if sampler.wait(KEY_SECONDS):
            number += 1
            yield number


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """A function that waits for a key."""
    if not sys.stdin.isatty():
        yield lambda seconds: select.select([], [], [], seconds) and ""
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def pressed(seconds: float) -> str:
        ready, _, _ = select.select([terminal], [], [], seconds)
        return os.read(terminal, 1).decode(errors="replace") if ready else ""

    try:
        tty.setcbreak(terminal)
        yield pressed
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
