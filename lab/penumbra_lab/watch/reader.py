"""Reads a snapshot of any server: with or without Penumbra, by any role.

Each snapshot is one read-only transaction that sets all it needs for itself, so that it also goes
through a pooler. Every view is read under a savepoint: what the role may not see, what an older
version does not have and what takes too long is said in its section, and the others are read.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types.numeric import FloatLoader
from psycopg.types.string import TextLoader

from penumbra_lab.watch.snapshot import (
    VIEWS,
    Database,
    Installed,
    Section,
    Server,
    Setting,
    Snapshot,
    View,
)

CONNECT_SECONDS_MAX = 10
VIEW_SECONDS_MAX = 5
QUERY_TEXT_CHARACTERS_MAX = 2000
# Where the server keeps texts in a file, each look costs it reading that file.
QUERY_TEXT_SECONDS = 60


class _AnyText(TextLoader):
    """Names and queries of databases of other encodings may hold bytes that are no UTF-8."""

    def load(self, data: bytes | memoryview) -> str:
        return bytes(data).decode("utf-8", "replace")


def connect(dsn: str, purpose: str) -> psycopg.Connection:
    """To any server, whatever its encoding is; without prepared statements, for poolers."""
    connection = psycopg.connect(
        dsn, autocommit=True, prepare_threshold=None, client_encoding="utf8",
        **{"connect_timeout": CONNECT_SECONDS_MAX, "tcp_user_timeout": 20_000,
           "fallback_application_name": f"penumbra {purpose}"}
        | psycopg.conninfo.conninfo_to_dict(dsn),
    )  # fmt: skip
    connection.adapters.register_loader("numeric", FloatLoader)
    for name in ("text", "name", "varchar"):
        connection.adapters.register_loader(name, _AnyText)
    return connection


class Reader:
    """Connects when it has to, and again after the server went away. For one thread."""

    def __init__(self, dsn: str, purpose: str, rows_max: int = 50):
        self._dsn = dsn
        self._purpose = purpose
        self._rows_max = rows_max
        self._connection: psycopg.Connection | None = None
        self._relations: dict[str, set[str]] = {}  # of the extension's schema, with their columns
        self._query_texts: dict[tuple, str] = {}
        self._texts_read_at = float("-inf")

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def read(self) -> Snapshot:
        """psycopg.Error: there is no connection, or the server ended it."""
        started = time.monotonic()
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._dsn, self._purpose)
        try:
            with self._connection.transaction():
                return self._read(started)
        except psycopg.Error:
            self.close()
            raise

    # -- one transaction ---------------------------------------------------------------------------

    def _read(self, started: float) -> Snapshot:
        self._execute("SET TRANSACTION READ ONLY")
        self._execute("SET LOCAL search_path = pg_catalog, pg_temp")
        self._execute(f"SET LOCAL statement_timeout = '{VIEW_SECONDS_MAX}s'")
        self._execute("SET LOCAL lock_timeout = '1s'")
        # The planner need not think about whether these queries gain.
        self._execute("SET LOCAL penumbra.mode = off")
        server = self._read_server()
        installed = self._read_installed(server)
        self._relations = self._read_relations()
        sections = {name: self._read_view(name, view, installed) for name, view in VIEWS.items()}
        sections["statements"] = self._with_names(sections["statements"], installed)
        return Snapshot(
            server=server,
            installed=installed,
            settings=self._read_settings(),
            databases=self._read_databases(installed),
            **sections,
            read_seconds=time.monotonic() - started,
        )

    def _execute(self, query: str | sql.Composable, parameters: Sequence = (), row=namedtuple_row):
        cursor = self._connection.cursor(row_factory=row)
        cursor.execute(query, parameters or None)
        return cursor.fetchall() if cursor.description else []

    def _attempt(self, query: str | sql.Composable, parameters: Sequence = (), row=namedtuple_row):
        """Under a savepoint, with what is not worth failing for: rows, and why there are none."""
        try:
            with self._connection.transaction():
                return self._execute(query, parameters, row), ""
        except psycopg.errors.InsufficientPrivilege:
            return [], "needs the rights of pg_monitor"
        except psycopg.errors.QueryCanceled:
            return [], f"took longer than {VIEW_SECONDS_MAX} s"
        except psycopg.Error as error:
            if self._connection.closed:
                raise
            return [], (error.diag.message_primary or str(error)).strip()

    def _read_server(self) -> Server:
        [row] = self._execute(
            "SELECT current_setting('server_version') AS version, current_database() AS database,"
            " current_setting('server_version_num')::int AS version_number, current_user AS role,"
            " pg_has_role('pg_read_all_stats', 'USAGE') AS is_monitor,"
            " pg_is_in_recovery() AS is_in_recovery, pg_postmaster_start_time() AS started_at,"
            " clock_timestamp() AS read_at"
        )
        info = self._connection.info
        return Server(host=info.host or "local", port=info.port,
                      **row._asdict() | {"version": row.version.split()[0]})  # fmt: skip

    def _read_installed(self, server: Server) -> Installed:
        [row] = self._execute(
            "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'penumbra.memory'"
            "   AND context = 'postmaster') AS is_preloaded,"
            " (SELECT extversion FROM pg_extension WHERE extname = 'penumbra')"
            "   AS extension_version,"
            " (SELECT default_version FROM pg_available_extensions WHERE name = 'penumbra')"
            "   AS default_version,"
            " (SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            "   WHERE extname = 'penumbra') AS schema,"
            " EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements')"
            "   AS has_query_texts"
        )
        library = []
        if server.major >= 18:
            library, _ = self._attempt(
                "SELECT version FROM pg_get_loaded_modules() WHERE module_name = 'penumbra'"
            )
        return Installed(library_version=library[0].version if library else None, **row._asdict())

    def _read_relations(self) -> dict[str, set[str]]:
        """The extension's own, found by an index also among very many."""
        rows = self._execute(
            "SELECT relname, array_agg(attname::text) AS columns"
            " FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0"
            " WHERE relkind = 'v' AND c.oid IN (SELECT objid FROM pg_depend"
            "   WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_extension'::regclass"
            "   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'penumbra'))"
            " GROUP BY relname"
        )
        return {row.relname: set(row.columns) for row in rows}

    def _read_view(self, name: str, view: View, installed: Installed) -> Section:
        if installed.schema is None:
            return Section(problem="the extension penumbra is not in this database")
        if name not in self._relations:
            version = installed.extension_version
            return Section(problem=f"penumbra {version} of this database has no view {name}")
        there = self._relations[name]
        columns = [column for column in view.columns() if column in there]
        sums = [column for column in view.sums if column in there]
        # What cannot be bounded in the view is bounded in its result, in one pass.
        query = sql.SQL("SELECT {columns}, count(*) OVER () AS all_rows {sums} FROM {view}").format(
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            sums=sql.SQL("").join(
                sql.SQL(", sum({}) OVER ()::float8 AS {}").format(
                    sql.Identifier(column), sql.Identifier(f"all {column}")
                )
                for column in sums
            ),
            view=sql.Identifier(installed.schema, name),
        )
        if view.where:
            query += sql.SQL(f" WHERE {view.where}")
        order = [sql.SQL("{} DESC NULLS LAST").format(sql.Identifier(column))
                 for column in view.order if column in there]  # fmt: skip
        if order:
            query += sql.SQL(" ORDER BY ") + sql.SQL(", ").join(order)
        query += sql.SQL(" LIMIT {}").format(sql.Literal(self._rows_max))
        rows, problem = self._attempt(query, row=dict_row)
        missing = dict.fromkeys(set(view.columns()) - set(columns))
        made = tuple(view.row(**missing | {c: row[c] for c in columns}) for row in rows)
        return Section(
            rows=made,
            count=rows[0]["all_rows"] if rows else 0,
            sums={}
            if problem
            else {column: (rows[0][f"all {column}"] or 0) if rows else 0 for column in sums},
            problem=problem,
        )

    # -- what stands in no view --------------------------------------------------------------------

    def _read_settings(self) -> Section[Setting]:
        rows = self._execute(
            "SELECT name, current_setting(name) AS value, source, pending_restart FROM pg_settings"
            " WHERE name LIKE 'penumbra.%' AND name <> 'penumbra.mode'"
            " OR name IN ('max_worker_processes', 'compute_query_id', 'shared_buffers', 'work_mem')"
            " ORDER BY name"
        )
        return Section(tuple(Setting(**row._asdict()) for row in rows), len(rows))

    def _read_databases(self, installed: Installed) -> Section[Database]:
        """Those that have something cached: other databases' tables have no view."""
        if installed.schema is None:
            return Section(problem="the extension penumbra is not in this database")
        rows, problem = self._attempt(
            sql.SQL(
                "SELECT datname, count(*) AS tables, sum(chunks)::bigint AS chunks,"
                " sum(memory_bytes)::bigint AS memory_bytes, sum(disk_bytes)::bigint AS disk_bytes,"
                " count(*) OVER () AS all_rows"
                " FROM {} t LEFT JOIN pg_database d ON d.oid = t.datid"
                " GROUP BY t.datid, datname ORDER BY memory_bytes DESC NULLS LAST LIMIT {}"
            ).format(
                sql.SQL("{}()").format(sql.Identifier(installed.schema, "get_tables")),
                sql.Literal(self._rows_max),
            ),
            row=dict_row,
        )
        count = rows[0].pop("all_rows") if rows else 0
        for row in rows[1:]:
            del row["all_rows"]
        return Section(tuple(Database(**row) for row in rows), count, {}, problem)

    def _with_names(self, statements: Section, installed: Installed) -> Section:
        """Roles, databases and, by pg_stat_statements, texts of the statements that are there."""
        rows = statements.rows
        if not rows:
            return statements
        names = {
            (row.kind, row.oid): row.name
            for row in self._execute(
                "SELECT 'r' AS kind, oid, rolname AS name FROM pg_roles WHERE oid = ANY(%s)"
                " UNION ALL SELECT 'd', oid, datname FROM pg_database WHERE oid = ANY(%s)",
                ([row.userid for row in rows], [row.dbid for row in rows]),
            )
        }
        if installed.has_query_texts:
            self._read_query_texts(rows)
        return replace(statements, rows=tuple(
            replace(row, rolname=names.get(("r", row.userid)), datname=names.get(("d", row.dbid)),
                      query=self._query_texts.get((row.userid, row.dbid, row.queryid)))
            for row in rows
        ))  # fmt: skip

    def _read_query_texts(self, rows: Sequence) -> None:
        wanted = {(row.userid, row.dbid, row.queryid) for row in rows}
        now = time.monotonic()
        if wanted <= self._query_texts.keys() or now < self._texts_read_at + QUERY_TEXT_SECONDS:
            return
        self._texts_read_at = now
        [schema] = self._execute(
            "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            " WHERE extname = 'pg_stat_statements'"
        )
        found, _ = self._attempt(
            sql.SQL("SELECT userid, dbid, queryid, left(query, {}) AS query FROM {}"
                    " WHERE queryid = ANY(%s) AND query <> '<insufficient privilege>'").format(
                sql.Literal(QUERY_TEXT_CHARACTERS_MAX),
                sql.Identifier(schema.nspname, "pg_stat_statements")),
            ([row.queryid for row in rows],),
        )  # fmt: skip
        self._query_texts = {(row.userid, row.dbid, row.queryid): row.query
                             for row in found}  # fmt: skip
