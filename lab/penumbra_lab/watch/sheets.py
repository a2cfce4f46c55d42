"""The tables that are shown of a snapshot, as text, which the terminal and the page only draw."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from penumbra_lab.watch.snapshot import Progress, Section, Setting, Snapshot, Statement
from penumbra_lab.watch.wording import (
    NONE,
    ago,
    count,
    duration,
    line,
    milliseconds,
    name,
    percent,
    shortened,
    size,
)


@dataclass(frozen=True)
class Cell:
    text: str
    share: float | None = None  # in percent, for a bar
    whole: str = ""  # of a text that was shortened


@dataclass(frozen=True)
class Head:
    title: str
    cell: Callable[[object, datetime], Cell | str]  # of a row, at the time of the snapshot
    is_text: bool = False
    is_extra: bool = False  # a terminal has no room for it


@dataclass(frozen=True)
class Sheet:
    key: str
    title: str
    meaning: str  # what a row is, and in which order they stand
    heads: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""  # why it is empty, or how much is left out


def make_sheet(form: "Form", snapshot: Snapshot) -> Sheet:
    return sheet_of(form, getattr(snapshot, form.section), snapshot.server.read_at)


def sheet_of(form: "Form", section: Section, now: datetime) -> Sheet:
    if section.rows and section.left_out:
        note = f"{count(section.left_out)} more are not shown"
    else:
        note = section.problem or ("" if section.rows else form.empty)
    rows = tuple(tuple(_cell(head.cell(row, now)) for head in form.heads) for row in section.rows)
    return Sheet(form.section, form.title, form.meaning, form.heads, rows, note)


def _cell(made: Cell | str) -> Cell:
    return made if isinstance(made, Cell) else Cell(made)


@dataclass(frozen=True)
class Form:
    """How a section of a snapshot is shown."""

    section: str
    title: str
    meaning: str
    heads: tuple[Head, ...]
    empty: str


def _of(write: Callable[[object], str]) -> Callable[..., Head]:
    """A column of one field."""

    def head(title: str, field: str, **options: bool) -> Head:
        return Head(title, lambda row, now: write(getattr(row, field)), **options)

    return head


def _bar(title: str, field: str) -> Head:
    return Head(title, lambda row, now: Cell(percent(getattr(row, field)), getattr(row, field)))


def _since(title: str, field: str, **options: bool) -> Head:
    return Head(title, lambda row, now: ago(getattr(row, field), now), **options)


def _long(title: str, field: str, characters: int, **options: bool) -> Head:
    """A text that may be of any length."""
    return Head(
        title, lambda row, now: _shortened(getattr(row, field), characters), is_text=True, **options
    )


def _shortened(text: str | None, characters: int) -> Cell:
    whole = line(text)
    short = shortened(whole, characters)
    return Cell(short, whole=whole if short != whole else "")


_size, _count, _percent, _line = _of(size), _of(count), _of(percent), _of(line)
_TABLE = Head("table", lambda row, now: name(row.schemaname, row.relname), is_text=True)


def _column(row: object, now: datetime) -> str:
    return f"{name(row.schemaname, row.relname)}.{line(row.column_name)}"


def loaded_table(row: Progress) -> str:
    """Tables of other databases have no name here."""
    if row.relname is None:
        return f"a table of {line(row.datname)}"
    return name(row.schemaname, row.relname)


def _process(row: Progress, now: datetime) -> str:
    return f"{row.pid}, worker" if row.by_worker else str(row.pid)


def _statement(row: Statement, now: datetime) -> Cell:
    return _shortened(row.query, 90) if row.query else Cell(f"queryid {row.queryid}")


def _mean(row: Statement, now: datetime) -> str:
    is_known = row.calls and row.total_exec_time is not None
    return milliseconds(row.total_exec_time / row.calls) if is_known else NONE


def _source(row: Setting, now: datetime) -> str:
    return f"{row.source}, waits for a restart" if row.pending_restart else row.source


TABLES = Form(
    "tables",
    "Tables",
    "What is cached of this database, the largest first. Valid is what no scan found changed.",
    (
        _TABLE,
        _bar("covered", "coverage_percent"),
        _bar("valid", "valid_percent"),
        _size("memory", "memory_bytes"),
        _percent("of its size", "size_percent"),
        _size("disk", "disk_bytes", is_extra=True),
        _count("scans", "hits"),
        _count("pages from cache", "pages_from_cache"),
        _count("from heap", "pages_from_heap"),
        _count("misses", "misses", is_extra=True),
        _count("evictions", "evictions", is_extra=True),
    ),
    "no table of this database is cached",
)
COLUMNS = Form(
    "columns",
    "Columns",
    "Cached columns, the largest first. Encodings stand with the number of chunks of each.",
    (
        Head("column", _column, is_text=True),
        _line("type", "type", is_text=True),
        _bar("covered", "coverage_percent"),
        _size("memory", "memory_bytes"),
        _size("unencoded", "unencoded_bytes"),
        _size("disk", "disk_bytes"),
        _count("scans", "hits"),
        _long("encodings", "encodings", 40),
    ),
    "no column is cached",
)
STALENESS = Form(
    "staleness",
    "Stale",
    "What scans read from tables although they are cached, why, and which statement helps.",
    (
        _TABLE,
        _bar("from heap", "heap_percent"),
        _count("pages", "heap_pages", is_extra=True),
        _since("since", "stale_at"),
        _line("reason", "reason", is_text=True),
        _line("remedy", "remedy", is_text=True),
    ),
    "all that is cached is served from the cache",
)
LOADS = Form(
    "progress",
    "Loads",
    "Time left is of this table, if its other chunks take as long as those before.",
    (
        Head("table", lambda row, now: loaded_table(row), is_text=True),
        _bar("done", "percent"),
        _count("columns", "columns"),
        _size("read", "heap_bytes"),
        _size("cached", "cached_bytes", is_extra=True),
        _since("since", "started_at"),
        _of(duration)("time left", "time_left"),
        Head("process", _process, is_extra=True),
    ),
    "nothing is being loaded",
)
STATEMENTS = Form(
    "statements",
    "Statements",
    "Of those that could gain, the ones that took most time. The reason says why the last call "
    "was not wholly in vectors.",
    (
        Head("statement", _statement, is_text=True),
        _count("calls", "calls"),
        _count("in vectors", "calls_in_vectors"),
        _count("in part", "calls_partly", is_extra=True),
        _count("not", "calls_not"),
        _count("failed", "failed_calls", is_extra=True),
        Head("mean", _mean, is_extra=True),
        _of(milliseconds)("in all", "total_exec_time"),
        _percent("rows from cache", "cache_percent", is_extra=True),
        _long("reason", "reason", 60),
        _line("role", "rolname", is_text=True, is_extra=True),
        _line("database", "datname", is_text=True, is_extra=True),
    ),
    "no statement that could gain was counted yet",
)
REFUSALS = Form(
    "refusals",
    "Refusals",
    "Why executions, or parts of them, stayed with PostgreSQL, the most frequent first.",
    (_long("reason", "reason", 120), _count("count", "count"), _since("last", "last_at")),
    "nothing was refused yet",
)
DATABASES = Form(
    "databases",
    "Databases",
    "What each has in the cache, as far as this role may see it.",
    (
        _line("database", "datname", is_text=True),
        _count("tables", "tables"),
        _count("chunks", "chunks"),
        _size("memory", "memory_bytes"),
        _size("disk", "disk_bytes"),
    ),
    "no database has anything cached",
)
SIZE_CLASSES = Form(
    "memory",
    "Memory by size class",
    "Pages of the cache take only the 4 kB units that they need.",
    (
        _line("size class", "size_class", is_text=True),
        _count("pages", "pages"),
        _size("used", "used_bytes"),
        _count("evictions", "evictions"),
    ),
    "the cache is empty",
)
DISK = Form(
    "disk",
    "Disk cache",
    "Saved is what the next start would find, restored what this one found.",
    (
        _line("state", "state", is_text=True),
        _size("files", "file_bytes"),
        _size("of", "budget_bytes"),
        _size("saved", "saved_bytes"),
        _size("restored", "restored_bytes"),
        _size("read", "bytes_read"),
        _size("written", "bytes_written"),
        _count("read errors", "read_errors"),
        _count("write errors", "write_errors"),
        _count("damaged", "damaged"),
    ),
    "",
)
SETTINGS = Form(
    "settings",
    "Settings",
    "As a new session of this role has them.",
    (
        _line("setting", "name", is_text=True),
        Head("value", lambda row, now: line(row.value) or "(empty)", is_text=True),
        Head("from", _source, is_text=True),
    ),
    "",
)
