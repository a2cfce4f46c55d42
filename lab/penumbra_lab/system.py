"""The systems that a benchmark compares: run a query, give rows and seconds."""

import time
from dataclasses import dataclass

import duckdb
import psycopg
from psycopg import pq

from penumbra_lab.errors import LabError

Row = tuple


@dataclass(frozen=True)
class Answer:
    seconds: float
    rows: list[Row]  # PostgreSQL: the bytes of its text output; DuckDB: Python values


class PostgresSystem:
    """One session of a server with its own settings; results stay in PostgreSQL's text form."""

    def __init__(self, name: str, connection: psycopg.Connection, settings: dict[str, str]):
        self.name = name
        self.connection = connection
        for setting, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (setting, value))

    def set(self, setting: str, value: str) -> None:
        self.connection.execute("SELECT set_config(%s, %s, false)", (setting, value))

    def run(self, sql: str) -> Answer:
        """The time ends when the last byte of the result has arrived."""
        begin = time.perf_counter()
        result = self.connection.pgconn.exec_(sql.encode())
        seconds = time.perf_counter() - begin
        if result.status != pq.ExecStatus.TUPLES_OK:
            raise LabError(f"{self.name}: {result.error_message.decode(errors='replace').strip()}")
        columns = range(result.nfields)
        rows = [tuple(result.get_value(row, column) for column in columns)
                for row in range(result.ntuples)]  # fmt: skip
        return Answer(seconds, rows)

    def explain(self, sql: str, options: str = "ANALYZE, COSTS OFF, TIMING OFF") -> str:
        answer = self.run(f"EXPLAIN ({options}) {sql}")
        return "\n".join(row[0].decode() for row in answer.rows)


class DuckSystem:
    name = "DuckDB"

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self.connection = connection

    def run(self, sql: str) -> Answer:
        begin = time.perf_counter()
        rows = self.connection.execute(sql).fetchall()
        return Answer(time.perf_counter() - begin, rows)
