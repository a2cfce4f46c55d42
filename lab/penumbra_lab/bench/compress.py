"""`penumbra bench compress`: penumbra_compress beside the server's pglz and lz4, paired in one run.

Every column of a case gets the same values. One round does one thing (insert, COPY, ...) to each
column in turn, so a slow moment of the machine meets all of them.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from rich.console import Group
from rich.progress import Progress
from rich.table import Table

from penumbra_lab.dataset import step_bars
from penumbra_lab.errors import LabError
from penumbra_lab.generated_text import DocumentModel, TextModel
from penumbra_lab.run.document import Metric, RunDocument, Variant, median_ratio, medians
from penumbra_lab.run.environment import describe_private
from penumbra_lab.run.recording import MILLISECONDS, Outcome, alternating, measurement, record
from penumbra_lab.server import PrivateServer, give_to_server_user
from penumbra_lab.show import console, milliseconds, plain_table
from penumbra_lab.state import state_directory

SEED = 20_150_901
SETTINGS = {
    "shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "1h", "autovacuum": "off",
    "fsync": "off", "jit": "off", "max_parallel_workers_per_gather": "0", "work_mem": "256MB",
}  # fmt: skip
DICTIONARY_BYTES = 16384
TRAINING_VALUES_MIN = 500
STOCK = "pglz"
PREFIX_BYTES = 100
ON_DISK = Metric("size", "bytes", "lower")


@dataclass(frozen=True)
class Column:
    name: str
    type: str  # {dictionary} stands for the name of the trained one
    compression: str = ""


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    plain_type: str
    columns: tuple[Column, ...]
    make_values: Callable[[int], list[str]]
    values: int
    actions: tuple[str, ...]

    @property
    def is_trained(self) -> bool:
        return any("{dictionary}" in column.type for column in self.columns)


def _columns(plain: str, *compressed: tuple[str, str]) -> tuple[Column, ...]:
    return (
        Column("pglz", plain, "COMPRESSION pglz"),
        Column("lz4", plain, "COMPRESSION lz4"),
        *(Column(name, f"compressed_{plain}({modifier})") for name, modifier in compressed),
    )


def _documents(count: int) -> list[str]:
    model = DocumentModel(SEED)
    return [model.document() for _ in range(count)]


def _texts(count: int) -> list[str]:
    model = TextModel(SEED)
    sizes = random.Random(SEED)
    return [model.text(int(5000 * 10 ** sizes.random())) for _ in range(count)]


def _large_texts(count: int) -> list[str]:
    model = TextModel(SEED + 1)
    return [model.text(1_000_000) for _ in range(count)]


MOVED = ("rows", "insert", "copy in", "copy out", "use")
ROWS_MAX = 5000
DICTIONARY = ("zstd-3, dictionary", "zstd, 3, {dictionary}")


def cases(scale: float) -> list[Case]:
    def scaled(count: int) -> int:
        return max(int(count * scale), 20)

    return [
        Case("jsonb", "JSON documents of 0.8 kB, jsonb", "jsonb",
             _columns("jsonb", DICTIONARY, ("zstd-1, dictionary", "zstd, 1, {dictionary}"),
                      ("zstd-3", "zstd, 3"), ("lz4, dictionary", "lz4, {dictionary}")),
             _documents, scaled(20_000), MOVED),
        Case("json_text", "JSON documents of 0.8 kB, text", "text", _columns("text", DICTIONARY),
             _documents, scaled(20_000), MOVED),
        Case("text", "texts of 5 to 50 kB", "text",
             _columns("text", ("zstd-3", "zstd, 3"), ("zlib-4", "zlib, 4"), ("own lz4", "lz4")),
             _texts, scaled(1_500), MOVED),
        Case("large", "texts of 1 MB", "text",
             _columns("text", ("zstd-3", "zstd, 3"), ("zlib-4", "zlib, 4")),
             _large_texts, scaled(24), ("prefix", "middle", "use")),
    ]  # fmt: skip


def bench_compress(scale: float, rounds: int, only: tuple[str, ...] = ()) -> Outcome:
    """Runs the cases; `scale` multiplies the numbers of values."""
    server = PrivateServer(state_directory() / "server-compress", SETTINGS)
    server.remove()
    chosen = [case for case in cases(scale) if not only or case.name in only]
    names = dict.fromkeys(column.name for case in chosen for column in case.columns)
    try:
        with server, server.connect() as connection:
            connection.execute("CREATE EXTENSION penumbra_compress")
            run = RunDocument(
                "compress", "compressed columns beside pglz and lz4", describe_private(server),
                alternating(rounds, scale=scale), [Variant(name, name, {}) for name in names],
            )  # fmt: skip
            run.content["sections"] = {"cases": []}
            return record(run, lambda: _measure_cases(connection, server, run, chosen, rounds))
    finally:
        server.remove()


def _measure_cases(connection: psycopg.Connection, server: PrivateServer, run: RunDocument,
                   chosen: list[Case], rounds: int) -> None:  # fmt: skip
    with step_bars(console) as progress:
        for case in chosen:
            _CaseRun(connection, server, run, case, rounds, progress).run_all()


class _CaseRun:
    """One case: tables c0, c1, ... of one column v each, and source with the values as they are."""

    def __init__(self, connection: psycopg.Connection, server: PrivateServer, run: RunDocument,
                 case: Case, rounds: int, progress: Progress):  # fmt: skip
        self.connection = connection
        self.run = run
        self.case = case
        self.rounds = rounds
        self.progress = progress
        self.copy_file = server.directory / f"{case.name}.copy"
        steps = len(case.columns) * len(case.actions) * (rounds + 1)
        self.task = progress.add_task(case.title, total=steps)

    def run_all(self) -> None:
        raw_bytes = self._fill_source()
        dictionary = self._train()
        for index, column in enumerate(self.case.columns):
            type_name = column.type.format(dictionary=dictionary)
            self._execute(
                f"DROP TABLE IF EXISTS c{index};"
                f"CREATE TABLE c{index} (v {type_name} {column.compression});"
                f"INSERT INTO c{index} SELECT v FROM source; VACUUM ANALYZE c{index}"
            )
        self._check_equality()
        with measurement(self.run, self.connection) as samples:
            for index, column in enumerate(self.case.columns):
                size = self._number(f"SELECT pg_total_relation_size('c{index}')")
                samples.add(f"{self.case.name} size", column.name, ON_DISK, size, 0)
        for action in self.case.actions:
            self._measure(action)
        self.copy_file.unlink(missing_ok=True)
        self.run.content["sections"]["cases"].append(
            {"name": self.case.name, "title": self.case.title, "values": self.case.values,
             "raw_bytes": raw_bytes, "columns": [column.name for column in self.case.columns],
             "actions": list(self.case.actions)}
        )  # fmt: skip

    def _execute(self, sql: str) -> None:
        for statement in sql.split(";"):
            self.connection.execute(statement)

    def _number(self, sql: str) -> int:
        return self.connection.execute(sql).fetchone()[0]

    def _fill_source(self) -> int:
        """A table whose values cost nothing to read: neither compressed nor, if short, toasted."""
        self._execute(
            f"DROP TABLE IF EXISTS source; CREATE TABLE source (v {self.case.plain_type});"
            "ALTER TABLE source ALTER v SET STORAGE EXTERNAL"
        )
        self.values = self.case.make_values(self.case.values)
        with self.connection.cursor() as cursor, cursor.copy("COPY source FROM STDIN") as copy:
            for value in self.values:
                copy.write_row((value,))
        self.copy_file.touch()
        give_to_server_user(self.copy_file)
        self._execute(f"VACUUM ANALYZE source; COPY source TO '{self.copy_file}'")
        return sum(len(value.encode()) for value in self.values)

    def _train(self) -> str:
        if not self.case.is_trained:
            return ""
        # Other documents than those which are stored, as those of tomorrow will be.
        name = f"{self.case.name}_dictionary"
        self._execute("DROP TABLE IF EXISTS training;"
                      f"CREATE TABLE training (v {self.case.plain_type})")  # fmt: skip
        model = DocumentModel(SEED + 2)
        with self.connection.cursor() as cursor, cursor.copy("COPY training FROM STDIN") as copy:
            for _ in range(max(self.case.values // 2, TRAINING_VALUES_MIN)):
                copy.write_row((model.document(),))
        self.connection.execute(
            f"SELECT train_dictionary('training', 'v', {DICTIONARY_BYTES}, '{name}')"
        )
        return f"'{name}'"

    def _check_equality(self) -> None:
        for index, column in enumerate(self.case.columns):
            same = self._number(
                "SELECT (SELECT bit_xor(hashtextextended(v::text, 0)) FROM source) ="
                f" (SELECT bit_xor(hashtextextended(v::text, 0)) FROM c{index})"
                f" AND (SELECT count(*) FROM source) = (SELECT count(*) FROM c{index})"
            )
            if not same:
                raise LabError(f"{self.case.title}: {column.name} holds other values")

    def _measure(self, action: str) -> None:
        for round_number in range(self.rounds + 1):  # the first one warms up
            for index, column in enumerate(self.case.columns):
                self.progress.update(
                    self.task, description=f"{self.case.title}: {action}", advance=1
                )
                with measurement(self.run, self.connection) as samples:
                    seconds = self._time(action, f"c{index}")
                    if round_number > 0:
                        samples.add(f"{self.case.name} {action}", column.name, MILLISECONDS,
                                    seconds * 1000, round_number - 1)  # fmt: skip

    def _time(self, action: str, table: str) -> float:
        statement = {
            "rows": f"INSERT INTO {table} VALUES (%s)",
            "insert": f"INSERT INTO {table} SELECT v FROM source",
            "copy in": f"COPY {table} FROM '{self.copy_file}'",
            "copy out": f"COPY {table} TO '/dev/null'",
            "use": f"SELECT count({self._use()}) FROM {table}",
            "prefix": self._slices(table, "1"),
            "middle": self._slices(table, "500000"),
        }[action]
        if action in ("rows", "insert", "copy in"):
            self.connection.execute(f"TRUNCATE {table}")
        begin = time.perf_counter()
        if action == "rows":
            self._insert_rows(statement)
        else:
            self.connection.execute(statement)
        return time.perf_counter() - begin

    def _insert_rows(self, statement: str) -> None:
        """One row per statement, as applications do it, in one transaction."""
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(statement, [(value,) for value in self.values[:ROWS_MAX]])

    def _use(self) -> str:
        """Needs the whole plain value in memory, without the cost of output."""
        return "v -> 'type'" if self.case.plain_type == "jsonb" else "hashtextextended(v::text, 0)"

    def _slices(self, table: str, start: str) -> str:
        return (
            f"SELECT count(substr(v, {start} + i, {PREFIX_BYTES}))"
            f" FROM {table}, generate_series(0, 9) i"
        )


def compress_tables(document: dict) -> Group:
    """One table per case: sizes and times, and each as a share of pglz's."""
    return Group(*(_case_table(document, case) for case in document["sections"]["cases"]))


def _case_table(document: dict, case: dict) -> Table:
    found = {workload: row for (workload, _, _), row in medians(document).items()}
    sizes = found[f"{case['name']} size"]
    rows = []
    for column in case["columns"]:
        cells = [column, f"{sizes[column] / 1e6:.1f} MB ({sizes[column] / sizes[STOCK]:.2f})"]
        for action in case["actions"]:
            workload = f"{case['name']} {action}"
            share = median_ratio(document, workload, column, STOCK)
            cells.append(f"{milliseconds(found[workload][column] / 1000)} ms ({share:.3g})")
        rows.append(cells)
    title = (
        f"{case['title']}: {case['values']:,} values, {case['raw_bytes'] / 1e6:.1f} MB of text;"
        " in parentheses the share of pglz's"
    )
    return plain_table(title, ["column", "on disk", *case["actions"]], rows)
