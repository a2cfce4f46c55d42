"""What is read of a server at one moment.

Rows are named as the views of the schema `penumbra`, their fields as the columns
(docs/reference.md).
A field is None where the server's version has no such column, and where the role may not see it.
"""

from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Generic, TypeVar


@dataclass(frozen=True)
class Server:
    version: str
    version_number: int
    host: str
    port: int
    database: str
    role: str
    is_monitor: bool  # sees all roles' numbers: a member of pg_read_all_stats
    is_in_recovery: bool
    started_at: datetime | None
    read_at: datetime

    @property
    def major(self) -> int:
        return self.version_number // 10000


@dataclass(frozen=True)
class Installed:
    """How far Penumbra is installed."""

    is_preloaded: bool
    extension_version: str | None  # in this database
    default_version: str | None  # of the files on the server
    library_version: str | None  # from PostgreSQL 18 on
    schema: str | None
    has_query_texts: bool  # pg_stat_statements is in this database


@dataclass(frozen=True)
class Setting:
    name: str
    value: str  # with its unit
    source: str
    pending_restart: bool


@dataclass(frozen=True)
class Database:
    datname: str | None
    tables: int | None
    chunks: int | None
    memory_bytes: int | None
    disk_bytes: int | None


@dataclass(frozen=True)
class Memory:
    size_class: str
    pages: int | None
    used_bytes: int | None
    budget_bytes: int | None
    evictions: int | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Disk:
    state: str
    is_pending: bool | None
    budget_bytes: int | None
    file_bytes: int | None
    saved_chunks: int | None
    saved_segments: int | None
    saved_bytes: int | None
    restored_chunks: int | None
    restored_segments: int | None
    restored_bytes: int | None
    segments_read: int | None
    bytes_read: int | None
    read_errors: int | None
    damaged: int | None
    bytes_written: int | None
    write_errors: int | None
    bytes_read_back: int | None
    bytes_left: int | None
    time_left: timedelta | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Table:
    relid: int
    schemaname: str
    relname: str
    chunks: int | None
    table_pages: int | None
    cached_pages: int | None
    coverage_percent: float | None
    changed_pages: int | None
    valid_percent: float | None
    rows: int | None
    memory_bytes: int | None
    size_percent: float | None
    disk_bytes: int | None
    hits: int | None
    pages_from_cache: int | None
    pages_from_heap: int | None
    misses: int | None
    evictions: int | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Column:
    relid: int
    schemaname: str
    relname: str
    column_name: str
    type: str | None
    cached_pages: int | None
    coverage_percent: float | None
    rows: int | None
    memory_bytes: int | None
    disk_bytes: int | None
    unencoded_bytes: int | None
    encodings: str | None
    hits: int | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Staleness:
    relid: int
    schemaname: str
    relname: str
    heap_pages: int | None
    heap_percent: float | None
    lost_pages: int | None
    stale_at: datetime | None
    reason: str | None
    remedy: str | None


@dataclass(frozen=True)
class Progress:
    pid: int
    datname: str | None
    schemaname: str | None
    relname: str | None
    by_worker: bool | None
    started_at: datetime | None
    columns: int | None
    chunks_total: int | None
    chunks_done: int | None
    percent: float | None
    heap_bytes: int | None
    cached_bytes: int | None
    time_left: timedelta | None


@dataclass(frozen=True)
class Activity:
    loads: int | None
    chunks_loaded: int | None
    heap_bytes: int | None
    cached_bytes: int | None
    vacuums: int | None
    errors: int | None
    wanted_columns: int | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Refusal:
    reason: str
    count: int | None
    last_at: datetime | None
    stats_reset: datetime | None


@dataclass(frozen=True)
class Statement:
    userid: int
    dbid: int
    queryid: int
    calls: int | None
    calls_in_vectors: int | None
    calls_partly: int | None
    calls_not: int | None
    failed_calls: int | None
    restarts: int | None
    total_exec_time: float | None  # milliseconds
    rows_from_cache: int | None
    rows_from_heap: int | None
    cache_percent: float | None
    decoded_bytes: int | None
    spilled_bytes: int | None
    reason: str | None
    last_call_at: datetime | None
    stats_reset: datetime | None
    rolname: str | None = None
    datname: str | None = None
    query: str | None = None  # by pg_stat_statements


Row = TypeVar("Row")


@dataclass(frozen=True)
class Section(Generic[Row]):
    """Rows of a view, those first that matter most."""

    rows: tuple[Row, ...] = ()
    count: int = 0  # of the view's rows; more than are here where reading was bounded
    sums: dict[str, float] = field(default_factory=dict)  # over all rows of the view
    problem: str = ""  # why it could not be read

    @property
    def left_out(self) -> int:
        return self.count - len(self.rows)


@dataclass(frozen=True)
class Snapshot:
    server: Server
    installed: Installed
    settings: Section[Setting]
    databases: Section[Database]
    memory: Section[Memory]
    disk: Section[Disk]
    tables: Section[Table]
    columns: Section[Column]
    staleness: Section[Staleness]
    progress: Section[Progress]
    activity: Section[Activity]
    refusals: Section[Refusal]
    statements: Section[Statement]
    read_seconds: float

    def setting(self, name: str) -> str | None:
        return next((s.value for s in self.settings.rows if s.name == name), None)

    @property
    def whole_memory(self) -> Memory | None:
        return next((row for row in self.memory.rows if row.size_class == "all"), None)


@dataclass(frozen=True)
class View:
    """How a view is read."""

    row: type
    order: tuple[str, ...] = ()  # columns; the largest first
    sums: tuple[str, ...] = ()
    where: str = ""  # which rows are worth it

    def columns(self) -> list[str]:
        return [column.name for column in fields(self.row)]


VIEWS = {
    "memory": View(Memory),
    "disk": View(Disk),
    "tables": View(
        Table,
        order=("memory_bytes", "cached_pages"),
        sums=(
            "rows",
            "memory_bytes",
            "disk_bytes",
            "hits",
            "pages_from_cache",
            "pages_from_heap",
            "misses",
            "evictions",
            "table_pages",
            "cached_pages",
            "changed_pages",
        ),
    ),
    "columns": View(Column, order=("memory_bytes", "hits"), sums=("unencoded_bytes",)),
    "staleness": View(
        Staleness, order=("heap_pages",), sums=("heap_pages",), where="heap_pages > 0"
    ),
    "progress": View(Progress, order=("started_at",)),
    "activity": View(Activity),
    "refusals": View(Refusal, order=("count",), sums=("count",)),
    "statements": View(
        Statement,
        order=("total_exec_time",),
        sums=(
            "calls",
            "calls_in_vectors",
            "calls_partly",
            "calls_not",
            "failed_calls",
            "total_exec_time",
            "rows_from_cache",
            "rows_from_heap",
            "spilled_bytes",
        ),
        # Those of which no table could gain, such as the queries of this program, say nothing.
        where="calls_in_vectors + calls_partly > 0 OR reason IS NOT NULL",
    ),
}
