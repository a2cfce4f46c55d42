"""Makes a workload's rows as CSV files, and loads them into PostgreSQL and DuckDB."""

import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from string import Template

import duckdb
import psycopg
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from penumbra_lab.errors import LabError
from penumbra_lab.server import PrivateServer
from penumbra_lab.state import state_directory
from penumbra_lab.workload import Workload

COPY_BLOCK_BYTES = 1 << 20


def progress_bars(console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        console=console,
    )


def step_bars(console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


# -- rows as files ---------------------------------------------------------------------------------


def make_files(workload: Workload, size: float, progress: Progress) -> dict[str, Path]:
    """The CSV file of each table, generated on first use."""
    directory = state_directory() / "data" / f"{workload.name}-{workload.size_text(size)}"
    if not directory.exists():
        unfinished = directory.with_name(directory.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        task = progress.add_task(f"generate {workload.name}", total=len(workload.tables))
        try:
            for table in workload.tables:
                _generate(workload, table, size, unfinished)
                progress.advance(task)
            unfinished.rename(directory)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return {table: directory / f"{table}.csv" for table in workload.tables}


def _generate(workload: Workload, table: str, size: float, directory: Path) -> None:
    script = workload.directory / "generate.sql"
    if script.exists():
        with duckdb.connect() as connection:
            number = str(int(size)) if float(size).is_integer() else str(size)
            connection.execute((workload.directory.parent / "random.sql").read_text())
            connection.execute(script.read_text().replace("$size", number))
            target = str(directory / f"{table}.csv").replace("'", "''")
            connection.execute(f"COPY (SELECT * FROM {table}) TO '{target}' (HEADER)")
        return
    generator = Path(sys.executable).with_name("tpchgen-cli")
    if not generator.exists():
        raise LabError(f"{generator} is missing: run `make venv`")
    done = subprocess.run(
        [generator, "csv", "-s", f"{size:g}", "-o", directory, "--tables", table, "--quiet"],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise LabError(f"tpchgen-cli failed: {done.stderr.strip()}")


# -- PostgreSQL ------------------------------------------------------------------------------------


def load_postgresql(
    server: PrivateServer, workload: Workload, files: dict[str, Path], progress: Progress
) -> None:
    """Schema, COPY, indexes, VACUUM ANALYZE."""
    with server.connect() as connection:
        connection.execute(workload.schema_sql())
        for table, path in files.items():
            copy_rows(connection, table, path, progress)
        task = progress.add_task("index, vacuum, analyze", total=2)
        connection.execute(workload.index_sql() or "SELECT")
        progress.advance(task)
        # No page becomes all-visible while the record of an asynchronous commit is not on disk.
        connection.execute("CHECKPOINT")
        connection.execute(f"VACUUM (ANALYZE) {', '.join(workload.tables)}")
        connection.execute("CHECKPOINT")
        progress.advance(task)


def copy_rows(connection: psycopg.Connection, table: str, path: Path, progress: Progress) -> None:
    task = progress.add_task(f"copy {table}", total=path.stat().st_size)
    statement = f"COPY {table} FROM STDIN (FORMAT csv, HEADER)"
    with path.open("rb") as file, connection.cursor() as cursor, cursor.copy(statement) as copy:
        while block := file.read(COPY_BLOCK_BYTES):
            copy.write(block)
            progress.advance(task, len(block))


def load_cache(server: PrivateServer, workload: Workload, progress: Progress) -> None:
    """penumbra.load() of each table, with the progress that the server's own view shows."""
    for table in workload.tables:
        task = progress.add_task(f"cache {table}", total=1.0)
        failure: list[Exception] = []

        def load(table: str = table, failure: list[Exception] = failure) -> None:
            try:
                with server.connect() as connection:
                    connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
                    if expressions := workload.expressions.get(table):
                        connection.execute(
                            "SELECT penumbra.load(%s::regclass, %s)", (table, expressions)
                        )
            except psycopg.Error as error:
                failure.append(error)

        loader = threading.Thread(target=load, daemon=True)
        loader.start()
        with server.connect() as watcher:
            while loader.is_alive():
                loader.join(0.2)
                progress.update(task, completed=_share_loaded(watcher))
        if failure:
            raise LabError(f"penumbra.load({table!r}) failed: {failure[0]}")
        progress.update(task, completed=1.0)


def _share_loaded(watcher: psycopg.Connection) -> float:
    row = watcher.execute("SELECT avg(percent)::float8 / 100 FROM penumbra.progress").fetchone()
    return float(row[0] or 0.0)


# -- DuckDB ----------------------------------------------------------------------------------------


def load_duckdb(
    workload: Workload, size: float, files: dict[str, Path], threads: int, progress: Progress
) -> duckdb.DuckDBPyConnection:
    """A DuckDB database with the same rows, in a file that is kept."""
    path = state_directory() / "data" / f"{workload.name}-{workload.size_text(size)}.duckdb"
    if not path.exists():
        unfinished = path.with_name(path.name + ".unfinished")
        unfinished.unlink(missing_ok=True)
        task = progress.add_task("load DuckDB", total=len(files))
        try:
            with duckdb.connect(str(unfinished), config={"threads": threads}) as connection:
                sources = {table: str(file).replace("'", "''") for table, file in files.items()}
                if own := workload.duckdb_sql():
                    connection.execute(Template(own).substitute(sources))
                else:
                    _copy_into_duckdb(connection, workload, sources)
                progress.advance(task, len(files))
            unfinished.rename(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    connection = duckdb.connect(str(path), read_only=True, config={"threads": threads})
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _copy_into_duckdb(
    connection: duckdb.DuckDBPyConnection, workload: Workload, sources: dict[str, str]
) -> None:
    # DuckDB's numeric without precision has three decimals.
    connection.execute(re.sub(r"numeric(?!\()", "numeric(38,10)", workload.schema_sql()))
    for table, source in sources.items():
        connection.execute(f"COPY {table} FROM '{source}' (FORMAT csv, HEADER)")
