"""`penumbra bench working-set`: scans and look-ups of less and of more than fits memory.

The rows are in parts, each of a quarter of the memory for cached columns; a step reads so many of
them, and steps ascend: so memory has what a step uses and no more; look-ups follow its scans.
PostgreSQL, Penumbra with its disk cache and DuckDB take turns with the same memory in all, which a
control group limits, so that the system's cache of files hides nothing. Reads of the disk are
measured on the spot, past that cache, in turns with scans of what does not fit, for as long as the
scan before took: a virtual disk gives now more, now less.
"""

import contextlib
import mmap
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import psycopg

from penumbra_lab.bench.queries import DUCKDB_THREADS, server_settings
from penumbra_lab.dataset import step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.memory_group import MemoryGroup, forget_file_pages
from penumbra_lab.run.document import Axis, Metric, RunDocument, Variant, medians, utc_now
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.pgbench import find_pgbench, run_pgbench, throughput
from penumbra_lab.run.recording import Outcome, alternating, record
from penumbra_lab.server import PrivateServer
from penumbra_lab.show import console, number, plain_table
from penumbra_lab.state import state_directory
from penumbra_lab.system import DuckSystem, PostgresSystem

PARTS_OF_MEMORY = 4
COLUMNS = 6
# Of integers without any order, which no encoding makes smaller; and of the chunks' headers.
BYTES_PER_ROW = 4 * COLUMNS
HEADERS_SHARE = 0.03
ALL_COLUMNS = ", ".join(f"v{c}" for c in range(COLUMNS))
SUMS = ", ".join(f"sum(v{c})" for c in range(COLUMNS))
# Besides twice the memory for cached columns: what processes take however little they read.
BASE_MB = 96
CLIENTS = 4
# They bring into memory what will be there.
WARMING_SCANS = 2

SIZE = Axis("cached columns, of the memory for them", "%")
SCANNED = Metric("rows scanned", "1/s", "higher")
LOOKED_UP = Metric("look-ups", "1/s", "higher")
READ = Metric("read", "B/s", "higher")
SCAN, LOOK_UP, DISK = "scan", "look-up by key", "disk"
DISK_READERS, DISK_READ_BYTES = 8, 256 << 10
VARIANTS = [
    Variant("stock", "PostgreSQL", {}),
    Variant("memory", "Penumbra, memory only", {"penumbra.disk_cache_size": "0"}),
    Variant("penumbra", "Penumbra", {}),
    Variant("DuckDB", "DuckDB", {"threads": str(DUCKDB_THREADS)}),
]


@dataclass(frozen=True)
class Form:
    memory_mb: int  # for cached columns; everything has twice as much, and BASE_MB
    parts: tuple[int, ...]
    rounds: int
    look_up_seconds: int

    @property
    def part_rows(self) -> int:
        return int((self.memory_mb << 20) * (1 - HEADERS_SHARE) / PARTS_OF_MEMORY / BYTES_PER_ROW)

    @property
    def fitting_parts(self) -> list[int]:
        return [parts for parts in self.parts if parts <= PARTS_OF_MEMORY]

    @property
    def total_mb(self) -> int:
        return 2 * self.memory_mb + BASE_MB


FULL = Form(memory_mb=512, parts=(1, 2, 3, 4, 6, 8, 12, 16), rounds=5, look_up_seconds=2)
SHORT = Form(memory_mb=32, parts=(2, 4, 8, 16), rounds=3, look_up_seconds=1)


# -- the rows --------------------------------------------------------------------------------------


def _load_postgresql(connection: psycopg.Connection, form: Form) -> None:
    values = ", ".join(["(random() * 4294967295 - 2147483648)::integer"] * COLUMNS)
    types = ", ".join(f"v{c} integer NOT NULL" for c in range(COLUMNS))
    connection.execute("CREATE EXTENSION IF NOT EXISTS penumbra")
    for part in range(form.parts[-1]):
        table, first = f"part_{part}", part * form.part_rows
        connection.execute(f"CREATE TABLE {table} (id integer NOT NULL, {types})")
        connection.execute(
            f"INSERT INTO {table} SELECT i, {values}"
            f" FROM generate_series({first + 1}, {first + form.part_rows}) i"
        )
        connection.execute(f"CREATE UNIQUE INDEX ON {table} (id)")
    for parts in form.parts:
        each = " UNION ALL ".join(f"SELECT {ALL_COLUMNS} FROM part_{p}" for p in range(parts))
        connection.execute(f"CREATE VIEW first_{parts} AS {each}")
    connection.execute("CHECKPOINT")
    connection.execute("VACUUM (ANALYZE)")


def _load_cache(connection: psycopg.Connection, parts: int) -> None:
    columns = [f"v{c}" for c in range(COLUMNS)]
    for part in range(parts):
        connection.execute("SELECT penumbra.load(%s::regclass, %s)", (f"part_{part}", columns))


def _await_disk_cache(connection: psycopg.Connection) -> None:
    """Until all is saved that was loaded, or found that was saved."""
    while not connection.execute(
        "SELECT state = 'open' AND NOT is_pending FROM penumbra.disk"
    ).fetchone()[0]:
        time.sleep(0.1)


def _scan_of(parts: int) -> str:
    return f"SELECT {SUMS} FROM first_{parts}"


def _look_up_script(form: Form, parts: int) -> str:
    return f"""\\set part random(0, {parts} - 1)
\\set id :part * {form.part_rows} + random(1, {form.part_rows})
SELECT {ALL_COLUMNS} FROM part_:part WHERE id = :id;
"""


# -- DuckDB, which is in a process of its own to have a limit --------------------------------------


def _load_duckdb(path: Path, form: Form) -> None:
    values = ", ".join(
        f"((hash(i * {COLUMNS} + {c}) % 4294967296)::bigint - 2147483648)::integer AS v{c}"
        for c in range(COLUMNS)
    )
    with duckdb.connect(str(path), config={"memory_limit": "2GB"}) as connection:
        for part in range(form.parts[-1]):
            first = part * form.part_rows + 1
            connection.execute(
                f"CREATE TABLE part_{part} AS SELECT i::integer AS id, {values}"
                f" FROM range({first}, {first + form.part_rows}) r(i)"
            )
        for parts in form.parts:
            each = " UNION ALL ".join(f"SELECT {ALL_COLUMNS} FROM part_{p}" for p in range(parts))
            connection.execute(f"CREATE VIEW first_{parts} AS {each}")


def _serve_duckdb(pipe: Connection, path: str, form: Form) -> None:
    """Answers (None, parts) with a scan's seconds and (seconds, parts) with look-ups per second."""
    config = {"memory_limit": f"{form.total_mb - BASE_MB}MB", "threads": DUCKDB_THREADS}
    with duckdb.connect(path, read_only=True, config=config) as connection:
        connection.execute("SET enable_progress_bar = false")
        system = DuckSystem(connection)
        while (asked := pipe.recv()) is not None:
            seconds, parts = asked
            if seconds is None:
                pipe.send(system.run(_scan_of(parts)).seconds)
                continue
            count, began = 0, time.perf_counter()
            while time.perf_counter() - began < seconds:
                part = random.randrange(parts)
                key = part * form.part_rows + random.randint(1, form.part_rows)
                connection.execute(
                    f"SELECT {ALL_COLUMNS} FROM part_{part} WHERE id = ?", [key]
                ).fetchall()
                count += 1
            pipe.send(count / (time.perf_counter() - began))


# -- the disk --------------------------------------------------------------------------------------


def _read_bandwidth(path: Path, seconds: float) -> float:
    """Bytes per second of reads anywhere in the file, past the system's cache."""
    blocks = path.stat().st_size // DISK_READ_BYTES
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    until = time.perf_counter() + seconds

    def read(_: int) -> int:
        buffer, done = mmap.mmap(-1, DISK_READ_BYTES), 0
        while time.perf_counter() < until:
            done += os.preadv(file, [buffer], random.randrange(blocks) * DISK_READ_BYTES)
        return done

    try:
        with ThreadPoolExecutor(DISK_READERS) as pool:
            return sum(pool.map(read, range(DISK_READERS))) / seconds
    finally:
        os.close(file)


# -- measuring -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    run: RunDocument
    server: PrivateServer
    duckdb_path: Path
    form: Form
    group: MemoryGroup | None
    advance: Callable[[str], None]

    def measure(self) -> None:
        self._load()
        for variant in VARIANTS:
            measure = {"DuckDB": self._measure_duckdb, "memory": self._measure_memory}
            measure.get(variant.name, self._measure_server)(variant.name)

    def _load(self) -> None:
        self.advance("load")
        with self.server, self.server.connect() as connection:
            _load_postgresql(connection, self.form)
            _load_cache(connection, self.form.parts[-1])
            _await_disk_cache(connection)
            (cached,) = connection.execute(
                "SELECT sum(memory_bytes) FROM penumbra.columns"
            ).fetchone()
            (heap,) = connection.execute(
                "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^part_[0-9]+$'"
            ).fetchone()
        self.advance("load DuckDB")
        _load_duckdb(self.duckdb_path, self.form)
        self.run.content["sections"]["sizes"] = {
            "parts": self.form.parts[-1],
            "rows of a part": self.form.part_rows,
            "cached bytes": int(cached),
            "heap bytes": int(heap),
            "DuckDB's bytes": self.duckdb_path.stat().st_size,
        }

    @contextlib.contextmanager
    def _limited_server(self, variant: str) -> Iterator[psycopg.Connection]:
        """Started anew with nothing of its files in memory."""
        memory_mb = self.form.memory_mb
        self.server.settings.update({
            "shared_preload_libraries": "" if variant == "stock" else "penumbra",
            "shared_buffers": f"{memory_mb // 2}MB",
            "effective_cache_size": f"{memory_mb}MB",
            "penumbra.memory": f"{memory_mb}MB",
            "penumbra.disk_cache_size": f"{_disk_mb(self.form) if variant == 'penumbra' else 0}MB",
        })  # fmt: skip
        forget_file_pages(self.server.data)
        with self.server:
            if self.group:
                self.group.add(self.server.postmaster_pid())
            with self.server.connect() as connection:
                yield connection

    def _measure_server(self, variant: str) -> None:
        with self._limited_server(variant) as connection:
            system = PostgresSystem(variant, connection, {})
            if variant == "penumbra":
                _await_disk_cache(connection)
                self._measure_restart(system)
            for parts in self.form.parts:
                self._measure_scans(variant, parts, lambda p: system.run(_scan_of(p)).seconds)
            if variant == "penumbra":
                self._describe_reads(connection)
        with self._limited_server(variant) as connection:
            system = PostgresSystem(variant, connection, {})
            if variant == "penumbra":
                _await_disk_cache(connection)
            for parts in self.form.parts:
                for _ in range(WARMING_SCANS):
                    system.run(_scan_of(parts))
                self._measure_look_ups(variant, parts)

    def _measure_memory(self, variant: str) -> None:
        """What fits, without the disk cache."""
        with self._limited_server(variant) as connection:
            system = PostgresSystem(variant, connection, {})
            _load_cache(connection, max(self.form.fitting_parts))
            for parts in self.form.fitting_parts:
                self._measure_scans(variant, parts, lambda p: system.run(_scan_of(p)).seconds)

    def _measure_disk(self, parts: int, seconds: float, block: int) -> None:
        largest = max(self.server.data.glob("base/*/*"), key=lambda path: path.stat().st_size)
        try:
            rate = _read_bandwidth(largest, seconds)
        except OSError as error:
            raise LabError(f"{largest} cannot be read past the system's cache: {error}") from error
        self._add(DISK, "penumbra", READ, rate, block, parts)

    def _measure_restart(self, system: PostgresSystem) -> None:
        """The first scan of what fits, whose columns are all on disk, beside the same again."""
        sql = _scan_of(max(self.form.fitting_parts))
        seconds = [system.run(sql).seconds for _ in range(1 + max(self.form.rounds, 3))]
        self.run.content["sections"]["restart"] = {
            "first scan, s": round(seconds[0], 4),
            "hot scan, s": round(statistics.median(seconds[1:]), 4),
        }

    def _describe_reads(self, connection: psycopg.Connection) -> None:
        row = connection.execute(
            "SELECT segments_read, bytes_read, read_errors, damaged FROM penumbra.disk"
        ).fetchone()
        names = ("segments read", "bytes read", "read errors", "damaged")
        self.run.content["sections"]["disk"].update(zip(names, map(int, row), strict=True))

    def _measure_duckdb(self, variant: str) -> None:
        forget_file_pages(self.duckdb_path.parent)
        ours, theirs = multiprocessing.Pipe()
        # Not a copy of this process, whose threads a copy would not have.
        process = multiprocessing.get_context("spawn").Process(
            target=_serve_duckdb, args=(theirs, str(self.duckdb_path), self.form), daemon=True
        )
        process.start()
        theirs.close()
        try:
            if self.group:
                self.group.add(process.pid)

            def ask(seconds: float | None, parts: int) -> float:
                ours.send((seconds, parts))
                return ours.recv()

            for parts in self.form.parts:
                self._measure_scans(variant, parts, lambda p: ask(None, p))
            for parts in self.form.parts:
                for block in range(self.form.rounds):
                    rate = ask(self.form.look_up_seconds, parts)
                    self._add(LOOK_UP, variant, LOOKED_UP, rate, block, parts)
            ours.send(None)
            process.join()
        except (EOFError, ConnectionResetError, BrokenPipeError):
            self.run.warn("duckdb_ended", "DuckDB's process ended within the memory for all",
                          "its curve ends there")  # fmt: skip
        finally:
            process.kill()
            process.join()

    def _measure_scans(self, variant: str, parts: int, scan: Callable[[int], float]) -> None:
        """Of one after the other."""
        self.advance(f"{variant}: scans of {_percent(parts):g} %")
        for _ in range(WARMING_SCANS):
            scan(parts)
        for block in range(self.form.rounds):
            seconds = scan(parts)
            self._add(SCAN, variant, SCANNED, parts * self.form.part_rows / seconds, block, parts)
            if variant == "penumbra" and parts > PARTS_OF_MEMORY:
                self._measure_disk(parts, seconds, block)

    def _measure_look_ups(self, variant: str, parts: int) -> None:
        self.advance(f"{variant}: look-ups in {_percent(parts):g} %")
        script = self.server.directory / "look_up.sql"
        script.write_text(_look_up_script(self.form, parts))
        program = find_pgbench(self.server.installation.bin_directory)
        arguments = ["-n", "-c", str(CLIENTS), "-j", "2", "-T", str(self.form.look_up_seconds),
                     "-f", str(script)]  # fmt: skip
        for block in range(-1, self.form.rounds):
            rate = throughput(run_pgbench(program, arguments, self.server.environment()))
            if block >= 0:
                self._add(LOOK_UP, variant, LOOKED_UP, rate, block, parts)

    def _add(self, workload: str, variant: str, metric: Metric, value: float, block: int,
             parts: int) -> None:  # fmt: skip
        self.run.add_sample(workload, variant, metric, value, block=block,
                            order=self.run.next_order(), started_at=utc_now(), axis=SIZE,
                            x=_percent(parts), server_start=0)  # fmt: skip


def _percent(parts: int) -> float:
    return 100 * parts / PARTS_OF_MEMORY


def _disk_mb(form: Form) -> int:
    return form.memory_mb * form.parts[-1] // PARTS_OF_MEMORY * 2


def bench_working_set(form: Form) -> Outcome:
    memory_mb = form.memory_mb * (form.parts[-1] // PARTS_OF_MEMORY + 1)
    settings = server_settings() | {
        "penumbra.memory": f"{memory_mb}MB",
        "penumbra.disk_cache_size": f"{_disk_mb(form)}MB",
        "work_mem": "16MB",
        "maintenance_work_mem": "64MB",
        # A snapshot of its own would keep pages from being all-visible when they are loaded.
        "autovacuum": "off",
    }
    server = PrivateServer(state_directory() / "server-working-set", settings)
    server.remove()
    group = MemoryGroup.create(form.total_mb << 20)
    try:
        with server:
            environment = describe_private(server, duckdb=duckdb.__version__)
        design = alternating(form.rounds, megabytes=form.memory_mb)
        run = RunDocument(
            "working-set", f"working sets, {form.memory_mb} MB for cached columns", environment,
            design, VARIANTS, "Scans and look-ups of less and of more than fits memory",
        )  # fmt: skip
        limit = "control group" if group else "none: control groups cannot be made here"
        run.content["sections"] = {
            "disk": {"memory in all, MB": form.total_mb, "memory is limited by": limit},
        }
        if not group:
            run.warn("no_limit", "the system's cache of files is not limited",
                     "run it where control groups of memory can be made")  # fmt: skip

        def work() -> None:
            with step_bars(console) as progress:
                steps = 2 + 5 * len(form.parts) + len(form.fitting_parts)
                task = progress.add_task("", total=steps)

                def advance(text: str) -> None:
                    progress.update(task, description=text)
                    progress.advance(task)

                Bench(run, server, server.directory / "duckdb" / "data.duckdb", form, group,
                      advance).measure()  # fmt: skip

        (server.directory / "duckdb").mkdir()
        return record(run, work)
    finally:
        server.remove()
        if group:
            group.remove()


# -- what it says ----------------------------------------------------------------------------------


def allowed_rates(document: dict) -> dict[float, float]:
    """
    Rows per second by size that memory and disk allow Penumbra: what memory has not is read while
    the rest is computed, so a scan takes as long as the longer of both.
    """
    sizes, rates = document["sections"]["sizes"], medians(document)
    measured = {workload: {size: row["penumbra"] for (name, _, size), row in rates.items()
                           if name == workload and "penumbra" in row}
                for workload in (SCAN, DISK)}  # fmt: skip
    hot = max((rate for size, rate in measured[SCAN].items() if size <= 100), default=0)
    part_rows, part_bytes = sizes["rows of a part"], sizes["cached bytes"] / sizes["parts"]
    allowed = {}
    for size in measured[SCAN] if hot else ():
        parts = size / 100 * PARTS_OF_MEMORY
        rows = parts * part_rows
        seconds = rows / hot
        if size in measured[DISK]:
            read = (parts - PARTS_OF_MEMORY) * part_bytes
            seconds = max(seconds, read / measured[DISK][size])
        allowed[size] = rows / seconds
    return allowed


def working_set_table(document: dict):
    allowed = allowed_rates(document)
    names = [variant.name for variant in VARIANTS]
    rows = []
    for (workload, _, size), row in medians(document).items():
        share = ""
        if workload == SCAN and "penumbra" in row and size in allowed:
            share = f"{row['penumbra'] / allowed[size]:.2f}"
        unit = 1 if workload == LOOK_UP else 1e6
        shown = [number(row[name] / unit) if name in row else "" for name in names]
        rows.append([workload, f"{size:g} %", *shown, share])
    columns = ["", "size", *(variant.label for variant in VARIANTS), "of what disk allows"]
    title = f"{document['title']}: million rows/s, look-ups/s, MB/s"
    return plain_table(title, columns, rows)
