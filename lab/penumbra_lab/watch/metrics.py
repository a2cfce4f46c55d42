"""A snapshot as metrics for Prometheus, by OpenMetrics' rules: counters end in `_total`, a unit
stands in the name, and times are seconds.

GROUPS says each metric once. The collector fills them from a snapshot, and `exporter_queries`
writes the queries with which postgres_exporter makes metrics of the same names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import CollectorRegistry

from penumbra_lab.watch.snapshot import VIEWS, Snapshot

PREFIX = "penumbra"
UNITS = ("bytes", "seconds")


@dataclass(frozen=True)
class Value:
    """A metric, from a column of a view."""

    name: str
    column: str  # none: it is 1
    help: str
    is_counter: bool = False

    @property
    def exported_name(self) -> str:
        return f"{self.name}_total" if self.is_counter else self.name

    @property
    def sql(self) -> str:
        column = f"extract(epoch FROM {self.column})" if self.is_time else self.column or "1"
        return column if column == self.exported_name else f"{column} AS {self.exported_name}"

    @property
    def is_time(self) -> bool:
        return self.name.endswith("_timestamp_seconds")

    def of(self, row: object) -> float | None:
        value = getattr(row, self.column) if self.column else 1
        return value.timestamp() if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Group:
    """A view: the metrics of each of its rows."""

    name: str
    view: str
    labels: dict[str, str]  # from columns
    values: tuple[Value, ...]
    only: tuple[str, str] | None = None  # a column and its text

    @property
    def prefix(self) -> str:
        return f"{PREFIX}_{self.name}"

    def rows(self, snapshot: Snapshot) -> list:
        rows = getattr(snapshot, self.view).rows
        if self.only:
            column, text = self.only
            rows = [row for row in rows if getattr(row, column) == text]
        return list(rows)

    def label_values(self, row: object) -> list[str]:
        return [str(getattr(row, column) or "") for column in self.labels.values()]

    @property
    def sql(self) -> str:
        labels = [column if column == label else f"{column} AS {label}"
                  for label, column in self.labels.items()]  # fmt: skip
        query = f"SELECT {', '.join([*labels, *(value.sql for value in self.values)])}"
        query += f" FROM penumbra.{self.view}"
        if self.only:
            column, text = self.only
            query += f" WHERE {column} = '{text}'"
        elif VIEWS[self.view].where:
            query += f" WHERE {VIEWS[self.view].where}"
        return query


def _count(name: str, column: str, help: str) -> Value:
    return Value(name, column, help, is_counter=True)


TABLE = {"schema": "schemaname", "table": "relname"}
GROUPS = (
    Group("memory", "memory", {}, (
        Value("used_bytes", "used_bytes", "Physical memory of cached columns"),
        Value("budget_bytes", "budget_bytes", "Memory that cached columns may take"),
        _count("evictions", "evictions", "Columns of chunks that had to make room"),
    ), only=("size_class", "all")),
    # Not a label of the disk's counters, which would begin anew with each state.
    Group("disk_state", "disk", {"state": "state"}, (
        Value("current", "", "1: the state that the disk cache is in"),
    )),
    Group("disk", "disk", {}, (
        Value("budget_bytes", "budget_bytes", "Size that the disk cache may have"),
        Value("file_bytes", "file_bytes", "Size of the disk cache's files"),
        Value("saved_bytes", "saved_bytes", "What the next start of the server would find"),
        _count("read_bytes", "bytes_read", "Read from the disk cache"),
        _count("written_bytes", "bytes_written", "Written to the disk cache"),
        _count("read_errors", "read_errors", "Reads that failed"),
        _count("write_errors", "write_errors", "Writes that failed"),
        _count("damaged_columns", "damaged", "Read, but not what was written: dropped"),
    )),
    Group("table", "tables", TABLE, (
        Value("pages", "table_pages", "Pages of the table"),
        Value("cached_pages", "cached_pages", "Pages of the table that were cached"),
        Value("changed_pages", "changed_pages", "Cached pages that a scan found changed"),
        Value("rows", "rows", "Cached rows"),
        Value("memory_bytes", "memory_bytes", "Cached columns in memory"),
        Value("disk_bytes", "disk_bytes", "Cached columns on disk"),
        _count("scans", "hits", "Scans that read the table from the cache"),
        _count("pages_from_cache", "pages_from_cache", "Pages that scans read from the cache"),
        _count("pages_from_heap", "pages_from_heap", "Pages that they read from the table"),
        _count("misses", "misses", "Chunks that scans had to read from disk"),
        _count("evictions", "evictions", "Columns of chunks that had to make room"),
    )),
    Group("column", "columns", TABLE | {"column": "column_name"}, (
        Value("memory_bytes", "memory_bytes", "The column in memory"),
        Value("unencoded_bytes", "unencoded_bytes", "The same values without encoding"),
        Value("cached_pages", "cached_pages", "Pages of which the column is cached"),
        _count("scans", "hits", "Scans that read the column from the cache"),
    )),
    Group("stale", "staleness", TABLE, (
        Value("heap_pages", "heap_pages", "Pages that a scan would read from the table"),
        Value("since_timestamp_seconds", "stale_at", "When a scan had to do so first"),
    )),
    Group("load", "progress", {"pid": "pid"} | TABLE, (
        Value("chunks", "chunks_total", "Chunks of the table that is being loaded"),
        Value("done_chunks", "chunks_done", "Of these, done"),
        Value("start_timestamp_seconds", "started_at", "When the load began"),
    )),
    Group("activity", "activity", {}, (
        _count("loads", "loads", "Loads that ended"),
        _count("loaded_chunks", "chunks_loaded", "Chunks that were loaded"),
        _count("heap_bytes", "heap_bytes", "Read from tables to load them"),
        _count("cached_bytes", "cached_bytes", "What these loads cached"),
        _count("vacuums", "vacuums", "Tables that the background worker vacuumed"),
        _count("errors", "errors", "Errors of the background worker"),
        Value("wanted_columns", "wanted_columns", "Columns that the worker is to load"),
    )),
    Group("refusal", "refusals", {"reason": "reason"}, (
        _count("executions", "count", "Executions, or parts of them, that stayed with PostgreSQL"),
    )),
)  # fmt: skip
# What Penumbra keeps of a statement goes with it when the table of statements is full, so sums over
# all of them may fall: they are no counters.
STATEMENT_SUMS = (
    Value("calls_in_vectors", "calls_in_vectors", "Calls that ran in vectors throughout"),
    Value("calls_partly", "calls_partly", "Calls that ran in vectors in part"),
    Value("calls_not", "calls_not", "Calls that could gain and ran without Penumbra"),
    Value("failed_calls", "failed_calls", "Of all these calls, those that failed"),
    Value("spilled_bytes", "spilled_bytes", "Written to temporary files by the engine"),
)
STATEMENTS = f"{PREFIX}_statements"


class SnapshotCollector:
    """Of no snapshot, what is known then: the server does not answer."""

    def __init__(self, snapshot: Snapshot | None):
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(f"{PREFIX}_up", "Whether the server answered",
                                value=float(self._snapshot is not None))  # fmt: skip
        if self._snapshot is not None:
            yield from _about(self._snapshot)
            yield from (_family(group, value, self._snapshot)
                        for group in GROUPS for value in group.values)  # fmt: skip
            yield from _statement_sums(self._snapshot)


def _about(snapshot: Snapshot) -> Iterable[Metric]:
    installed = snapshot.installed
    yield InfoMetricFamily(PREFIX, "The server and what is installed there", value={
        "postgresql": snapshot.server.version,
        "extension": installed.extension_version or "",
        "library": installed.library_version or "",
        "preloaded": "yes" if installed.is_preloaded else "no",
        "database": snapshot.server.database,
    })  # fmt: skip
    yield GaugeMetricFamily(f"{PREFIX}_read_seconds", "How long reading these numbers took",
                            value=snapshot.read_seconds, unit="seconds")  # fmt: skip


def _family(group: Group, value: Value, snapshot: Snapshot) -> Metric:
    kind = CounterMetricFamily if value.is_counter else GaugeMetricFamily
    family = kind(f"{group.prefix}_{value.name}", value.help, labels=list(group.labels),
                  unit=_unit(value))  # fmt: skip
    for row in group.rows(snapshot):
        number = value.of(row)
        if number is not None:
            family.add_metric(group.label_values(row), number)
    return family


def _unit(value: Value) -> str:
    return next((unit for unit in UNITS if value.name.endswith(f"_{unit}")), "")


def _statement_sums(snapshot: Snapshot) -> Iterable[Metric]:
    for value in STATEMENT_SUMS:
        if value.column in snapshot.statements.sums:
            yield GaugeMetricFamily(f"{STATEMENTS}_{value.name}", value.help, unit=_unit(value),
                                    value=snapshot.statements.sums[value.column])  # fmt: skip


def metrics_text(snapshot: Snapshot) -> str:
    return generate_latest(_registry(snapshot)).decode()


def metrics_answer(snapshot: Snapshot | None, accepted: str) -> tuple[bytes, str]:
    """In the format that a scraper asks for, with its content type."""
    encode, content_type = choose_encoder(accepted)
    return encode(_registry(snapshot)), content_type


def _registry(snapshot: Snapshot | None) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SnapshotCollector(snapshot))
    return registry


# -- postgres_exporter -----------------------------------------------------------------------------


def exporter_queries() -> str:
    """A file for postgres_exporter's --extend.query-path."""
    where = VIEWS["statements"].where
    sums = ", ".join(f"sum({value.column}) AS {value.name}" for value in STATEMENT_SUMS)
    parts = [
        "# Metrics of Penumbra for postgres_exporter (--extend.query-path), of the database that\n"
        "# it is connected to, which has the extension.\n"
        "# Written by `penumbra metrics --postgres-exporter`."
    ]
    parts += [
        _exporter_query(group.prefix, group.sql, group.labels, group.values) for group in GROUPS
    ]
    statements = f"SELECT {sums} FROM penumbra.statements WHERE {where}"
    parts.append(_exporter_query(STATEMENTS, statements, {}, STATEMENT_SUMS))
    return "\n\n".join(parts) + "\n"


def _exporter_query(name: str, query: str, labels: Iterable[str], values: Iterable[Value]) -> str:
    lines = [f"{name}:", f'  query: "{query}"', "  metrics:"]
    columns = [(label, "LABEL", f"The {label}") for label in labels]
    columns += [
        (value.exported_name, "COUNTER" if value.is_counter else "GAUGE", value.help)
        for value in values
    ]
    for column, usage, help in columns:
        lines += [f"    - {column}:", f'        usage: "{usage}"', f'        description: "{help}"']
    return "\n".join(lines)
