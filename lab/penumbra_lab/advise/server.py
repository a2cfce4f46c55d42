"""Asks a server: catalogs, and plans of foreign statements. Nothing is executed or written.

Every question is a short read-only transaction, so that no snapshot is held for long and a pooler
may stand between.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import pq, sql
from psycopg.rows import namedtuple_row

from penumbra_lab.errors import LabError
from penumbra_lab.watch.reader import connect
from penumbra_lab.watch.wording import line

STATEMENT_SECONDS_MAX = 10
PREPARED = "penumbra_advise"
# The plan as one process would run it, for any values of the parameters.
PLANNING = {
    "plan_cache_mode": "force_generic_plan",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "penumbra.mode": "off",
}


class NotPlanned(LabError):
    """The server does not plan a statement; why not."""


@dataclass(frozen=True)
class Explained:
    plan: dict  # of EXPLAIN (VERBOSE, FORMAT JSON)
    parameter_types: tuple[int, ...]
    query_id: int | None  # where the server computes it, or lets this role switch that on


class Server:
    """One connection. `search_path` is the role's own, for its statements."""

    def __init__(self, dsn: str):
        self._connection = connect(dsn, "advise")
        [row] = self.ask(
            "SELECT current_setting('server_version_num')::int AS number,"
            " current_setting('is_superuser')::bool AS is_superuser"
        )
        self.major: int = row.number // 10_000
        self.is_superuser: bool = row.is_superuser
        if self.major < 15:
            raise LabError("penumbra advise needs PostgreSQL 15 or later")
        [row] = self.ask("SELECT has_parameter_privilege('compute_query_id', 'SET') AS may_set")
        self._planning = PLANNING | ({"compute_query_id": "on"} if row.may_set else {})

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _transaction(self, settings: dict[str, str]) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.execute("SET TRANSACTION READ ONLY")
            limits = {"statement_timeout": f"{STATEMENT_SECONDS_MAX}s", "lock_timeout": "1s"}
            for name, value in (limits | settings).items():
                self._connection.execute(
                    "SELECT pg_catalog.set_config(%s, %s, true)", (name, value)
                )
            yield

    def ask(self, query: str | sql.Composable, parameters: Sequence = ()) -> list:
        """Of catalogs: nothing that another role made is called."""
        with self._transaction({"search_path": "pg_catalog, pg_temp", "penumbra.mode": "off"}):
            cursor = self._connection.cursor(row_factory=namedtuple_row)
            return cursor.execute(query, parameters or None).fetchall()

    def ask_extension(self) -> list:
        """What penumbra.advice() says: nothing without the extension, or the right to ask."""
        found = self.ask(
            "SELECT n.nspname FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace"
            " JOIN pg_depend d ON classid = 'pg_proc'::regclass AND objid = p.oid"
            " JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND e.oid = refobjid"
            " WHERE extname = 'penumbra' AND proname = 'advice'"
            " AND has_function_privilege(p.oid, 'EXECUTE')"
        )
        if not found:
            return []
        function = sql.Identifier(found[0].nspname, "advice")
        try:
            return self.ask(sql.SQL("SELECT * FROM {}()").format(function))
        except psycopg.errors.ObjectNotInPrerequisiteState:  # the library is not preloaded
            return []

    def type_oids(self, names: Sequence[str]) -> list[int | None]:
        """By the names that EXPLAIN gives, which depend on the search path."""
        with self._transaction({}):
            rows = self._connection.execute(
                "SELECT pg_catalog.to_regtype(name)::pg_catalog.oid"
                " FROM pg_catalog.unnest(%s::pg_catalog.text[]) WITH ORDINALITY AS u (name, place)"
                " ORDER BY place",
                (list(names),),
            ).fetchall()
        return [row[0] for row in rows]

    def explain(self, statement: str) -> Explained:
        """The generic plan. PREPARE takes one statement that reads or writes tables and nothing
        else, the extended protocol takes one command, and EXPLAIN EXECUTE runs nothing."""
        with self._transaction(self._planning):
            try:
                self._run(f"PREPARE {PREPARED} AS {statement}")
            except psycopg.Error as error:
                raise NotPlanned(_reason(error)) from None
            try:
                with self._connection.transaction():
                    return self._explain_prepared()
            except psycopg.Error as error:
                if self._connection.closed:
                    raise
                raise NotPlanned(_reason(error)) from None
            finally:
                if not self._connection.closed:
                    self._run(f"DEALLOCATE {PREPARED}")

    def _explain_prepared(self) -> Explained:
        [row] = self._connection.execute(
            "SELECT parameter_types::pg_catalog.oid[] FROM pg_catalog.pg_prepared_statements"
            " WHERE name OPERATOR(pg_catalog.=) %s",
            (PREPARED,),
        ).fetchall()
        values = f"({', '.join(['NULL'] * len(row[0]))})" if row[0] else ""
        text = self._run(f"EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE {PREPARED}{values}")
        explained = json.loads(text)[0]
        return Explained(explained["Plan"], tuple(row[0]), explained.get("Query Identifier"))

    def _run(self, command: str) -> str:
        """By the extended protocol, which takes one command only."""
        connection = self._connection.pgconn
        result = connection.exec_params(command.encode("utf-8", "replace"), None)
        if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            raise psycopg.errors.error_from_result(result, encoding="utf-8")
        return "\n".join(
            (result.get_value(row, 0) or b"").decode("utf-8", "replace")
            for row in range(result.ntuples)
        )


def _reason(error: psycopg.Error) -> str:
    return line(error.diag.message_primary or str(error))
