"""What is wrong with a server, what could be better, and what to do about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from penumbra_lab.watch.snapshot import Snapshot
from penumbra_lab.watch.wording import counted, duration, line, milliseconds, name, percent

SUPPORTED = (15, 16, 17, 18, 19)
# As docs/operating.md says what is worth an alert.
STALE_PERCENT = 5
STALE_TIME = LOADING_TIME = timedelta(hours=1)
FULL_SHARE = 0.95
NAMED = 3  # tables that have findings of their own


@dataclass(frozen=True)
class Finding:
    is_problem: bool  # or else a hint
    text: str
    remedy: str = ""  # a statement, or what to do in words


def find(snapshot: Snapshot) -> list[Finding]:
    """Problems first."""
    parts = (
        _installation,
        _disk,
        _worker,
        _loads,
        _stale_tables,
        _memory,
        _settings,
        _statements,
        _rights,
    )
    found = [finding for part in parts for finding in part(snapshot)]
    return sorted(found, key=lambda finding: not finding.is_problem)


def _installation(snapshot: Snapshot) -> Iterator[Finding]:
    server, installed = snapshot.server, snapshot.installed
    if server.major not in SUPPORTED:
        yield Finding(
            True,
            f"PostgreSQL {line(server.version)} is not supported",
            f"Penumbra is for {SUPPORTED[0]} to {SUPPORTED[-1]}",
        )
    if not installed.is_preloaded:
        yield Finding(
            True,
            "the library penumbra is not loaded at server start, so nothing is cached",
            "add penumbra to shared_preload_libraries in postgresql.conf and restart the server",
        )
    if installed.extension_version is None:
        yield Finding(
            True,
            f"the extension penumbra is not in database {line(server.database)}",
            "CREATE EXTENSION penumbra"
            if installed.default_version
            else "install the package of Penumbra for this server first",
        )
    elif installed.default_version not in (None, installed.extension_version):
        yield Finding(
            True,
            f"the database has penumbra {line(installed.extension_version)}, the files on the"
            f" server are of {line(installed.default_version)}",
            "ALTER EXTENSION penumbra UPDATE",
        )
    elif installed.is_preloaded and snapshot.setting("penumbra.memory") in ("0", "0MB"):
        yield Finding(
            True,
            "penumbra.memory is 0, so there is no cache",
            "ALTER SYSTEM RESET penumbra.memory, and restart the server",
        )


def _disk(snapshot: Snapshot) -> Iterator[Finding]:
    for disk in snapshot.disk.rows:
        if disk.state in ("refused", "stopped"):
            yield Finding(True, f"the disk cache is {disk.state}", "the server's log says why")
        failed = {
            "reads": disk.read_errors,
            "writes": disk.write_errors,
            "damaged columns": disk.damaged,
        }
        if any(failed.values()):
            what = ", ".join(f"{number} {kind}" for kind, number in failed.items() if number)
            yield Finding(
                True,
                f"the disk cache failed: {what}",
                "look at the disk and the server's log; then SELECT penumbra.reset_statistics()",
            )


def _worker(snapshot: Snapshot) -> Iterator[Finding]:
    for activity in snapshot.activity.rows:
        if activity.errors:
            yield Finding(
                True,
                f"the background worker failed {counted(activity.errors, 'time')}",
                "the server's log has the errors; then SELECT penumbra.reset_statistics()",
            )
        if not activity.wanted_columns:
            continue
        if snapshot.setting("penumbra.auto_load") == "off":
            yield Finding(
                False,
                f"queries want {activity.wanted_columns} columns that are not cached, and "
                "penumbra.auto_load is off",
                "SELECT penumbra.load('...')",
            )


def _loads(snapshot: Snapshot) -> Iterator[Finding]:
    for load in snapshot.progress.rows:
        if load.started_at and snapshot.server.read_at - load.started_at > LOADING_TIME:
            yield Finding(
                True,
                f"process {load.pid} loads {name(load.schemaname, load.relname)} since "
                f"{duration(snapshot.server.read_at - load.started_at)}",
            )


def _stale_tables(snapshot: Snapshot) -> Iterator[Finding]:
    stale = [row for row in snapshot.staleness.rows if (row.heap_percent or 0) > STALE_PERCENT]
    for row in stale[:NAMED]:
        since = snapshot.server.read_at - row.stale_at if row.stale_at else timedelta(0)
        lost = f", for {duration(since)}" if since else ""
        reason = f": {line(row.reason)}" if row.reason else ""
        yield Finding(
            since > STALE_TIME,
            f"{percent(row.heap_percent)} of {name(row.schemaname, row.relname)} is read "
            f"from the table{lost}{reason}",
            line(row.remedy) if row.remedy else "",
        )
    if len(stale) > NAMED:
        yield Finding(
            False,
            f"{counted(len(stale) - NAMED, 'more table')} stale",
            "SELECT * FROM penumbra.staleness",
        )


def _memory(snapshot: Snapshot) -> Iterator[Finding]:
    memory = snapshot.whole_memory
    if memory is None or not memory.budget_bytes:
        return
    is_full = memory.used_bytes >= FULL_SHARE * memory.budget_bytes
    if is_full and memory.evictions:
        times = counted(memory.evictions, "time")
        yield Finding(
            False,
            f"the memory for cached columns is full, and {times} a column of a chunk made room",
            "raise penumbra.memory, or keep tables out by labels"
            " (SECURITY LABEL FOR penumbra ON TABLE t IS 'never')",
        )
    if not snapshot.tables.problem and not snapshot.databases.rows:
        wanted = next((row.wanted_columns for row in snapshot.activity.rows), None)
        if not wanted:
            yield Finding(
                False,
                "nothing is cached yet",
                "run your reports, and the worker loads what they read; or "
                "SELECT penumbra.load('table')",
            )


def _settings(snapshot: Snapshot) -> Iterator[Finding]:
    waiting = [setting.name for setting in snapshot.settings.rows if setting.pending_restart]
    if waiting:
        yield Finding(
            False, f"a restart is waited for, to change {', '.join(waiting)}", "restart the server"
        )
    if snapshot.installed.extension_version and snapshot.setting("compute_query_id") == "off":
        yield Finding(
            False,
            "compute_query_id is off, so statements are not counted",
            "ALTER SYSTEM SET compute_query_id = auto; SELECT pg_reload_conf()",
        )


def _statements(snapshot: Snapshot) -> Iterator[Finding]:
    missed = [
        row
        for row in snapshot.statements.rows
        if row.reason and row.calls and row.calls_in_vectors == 0
    ]
    if missed:
        worst = missed[0]
        total = sum(row.total_exec_time or 0 for row in missed)
        yield Finding(
            False,
            f"{counted(len(missed), 'statement')} that could gain ran without Penumbra for "
            f"{milliseconds(total)}; the longest because of: {line(worst.reason)}",
            "docs/slow_query.md says what each reason means",
        )
    if snapshot.statements.rows and not snapshot.installed.has_query_texts:
        yield Finding(
            False,
            "the texts of statements are not known in this database",
            "CREATE EXTENSION pg_stat_statements (and preload it)",
        )


def _rights(snapshot: Snapshot) -> Iterator[Finding]:
    if not snapshot.server.is_monitor:
        role = '"' + line(snapshot.server.role).replace('"', '""') + '"'
        yield Finding(
            False,
            "what is of other roles and of the whole server is not shown",
            f"GRANT pg_monitor TO {role}",
        )
