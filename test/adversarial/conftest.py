"""One private server with every extension, and what no test may do to it."""

import os
import re
import time
from pathlib import Path

import psycopg
import pytest
from penumbra_lab.server import PrivateServer, run_directory
from penumbra_lab.state import TREE

# Sanitizers and valgrind take this much longer; what a process may use is not measured then.
SLOWNESS = float(os.environ.get("ADVERSARIAL_SLOWNESS", "1"))
# Extensions of extensions/; those of them that servers preload.
EXTENSIONS = sorted(path.stem for path in TREE.glob("extensions/*/*.control"))
PRELOADED = [name for name in EXTENSIONS if name not in ("penumbra_bench", "penumbra_sort")]
SETTINGS = {
    "shared_preload_libraries": ",".join(PRELOADED),
    "shared_buffers": "64MB",
    "penumbra.memory": "1GB",
    "penumbra.auto_load": "off",
    "penumbra_backtrace.on_error": "off",
    "max_parallel_workers_per_gather": "2",
    "autovacuum": "off",
    "fsync": "off",
    "timezone": "UTC",
    "log_line_prefix": "%e ",
    "log_min_error_statement": "error",
}
# Log lines of a server that was attacked with success.
UNSOUND = re.compile(
    r"was terminated by signal|^XX000 (?!LOG|DETAIL|STATEMENT|CONTEXT)|PANIC|^TRAP:|Sanitizer|runtime error:|could not find .* pin",
    re.MULTILINE,
)
# Internal errors that are PostgreSQL's own, with the reason.
PERMITTED_INTERNAL_ERRORS = {
    "aggregate function called in non-aggregate context": "what PostgreSQL's own support functions say when called directly",
    r"could not open relation with OID \d+": "relation_open() of a forged OID; pg_prewarm and pgstattuple say so too",
    r"cache lookup failed for (type|function|relation|index|operator) \d+": "functions of pg_catalog with a forged OID",
    r"unsupported jsonb version number \d+": "jsonb_recv()",
    "failed to find conversion function from unknown to text": "coalesce() and nullif() of values that are cast to unknown",
    "cannot advance OID counter anymore": "pg_stop_making_pinned_objects(), which is for initdb",
    r"(invalid|unrecognized) (INTERVAL|interval) typmod": "interval(interval, integer) with a forged modifier",
}


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", default=bool(os.environ.get("ADVERSARIAL_LONG")),
                     help="the long form: minutes instead of seconds for each test")  # fmt: skip


@pytest.fixture(scope="session")
def is_long(pytestconfig) -> bool:
    return pytestconfig.getoption("--long")


class Log:
    """What the server has logged since this was made or read."""

    def __init__(self, server: PrivateServer) -> None:
        self._server = server
        self._size = server.log.stat().st_size

    def read(self) -> str:
        """The server begins its log anew when it is started."""
        size = self._server.log.stat().st_size
        with self._server.log.open("rb") as log:
            log.seek(self._size if size >= self._size else 0)
            text = log.read().decode(errors="replace")
        self._size = size
        return text

    def unsound_lines(self, is_crash_expected: bool = False) -> list[str]:
        lines = [line[:400] for line in self.read().splitlines() if UNSOUND.search(line)]
        return [
            line for line in lines
            if not is_permitted(line) and not (is_crash_expected and "was terminated by signal 9" in line)
        ]  # fmt: skip


def is_permitted(message: str) -> bool:
    return any(re.search(permitted, message) for permitted in PERMITTED_INTERNAL_ERRORS)


@pytest.fixture(scope="session")
def server():
    server = PrivateServer(run_directory("test-adversarial"), SETTINGS,
                           initdb_options=("--encoding=UTF8", "--no-locale"))  # fmt: skip
    try:
        with server:
            with server.connect("template1") as connection:
                connection.execute("CREATE ROLE stranger LOGIN")
                connection.execute("CREATE ROLE trusted LOGIN IN ROLE pg_monitor")
                for extension in EXTENSIONS:
                    connection.execute(f"CREATE EXTENSION {extension}")
                connection.execute("CREATE EXTENSION penumbra_test")
                for (schema,) in connection.execute(
                    "SELECT DISTINCT extnamespace::regnamespace FROM pg_extension WHERE extname = ANY (%s)",
                    (EXTENSIONS,),
                ).fetchall():
                    connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO trusted")
                    connection.execute(f"GRANT EXECUTE ON ALL ROUTINES IN SCHEMA {schema} TO trusted")
            yield server
    finally:
        server.remove()


@pytest.fixture(autouse=True)
def stays_sound(request, server):
    """No crash, no internal error, no failed assertion: in any test of this folder."""
    log = Log(server)
    yield
    wait_until_ready(server)
    lines = log.unsound_lines(request.node.get_closest_marker("kills") is not None)
    assert not lines, "\n".join(lines[:8])


@pytest.fixture()
def database(request, server):
    """A database of the test's own, with all extensions."""
    name = re.sub(r"\W+", "_", request.node.name)[:50].strip("_").lower()
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    yield name
    wait_until_ready(server)
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def pytest_configure(config):
    config.addinivalue_line("markers", "kills: the test kills server processes itself")


def cache_table(connection: psycopg.Connection, table: str) -> None:
    """Pages must be all-visible to be cached."""
    connection.execute(f"VACUUM ANALYZE {table}")
    connection.execute(f"SELECT penumbra.load('{table}')")


def connect(server, database: str, role: str = "postgres") -> psycopg.Connection:
    connection = psycopg.connect(
        server.conninfo(database).replace("user=postgres", f"user={role}"), autocommit=True
    )
    connection.prepare_threshold = None
    return connection


def wait_until(condition, failure: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds * SLOWNESS
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.01)


def wait_until_ready(server, ended: int | None = None) -> None:
    """Until the server takes connections; after the process `ended` crashed not before the recovery from that."""

    def is_ready() -> bool:
        if ended is not None and os.path.exists(f"/proc/{ended}"):
            return False
        log = server.log.read_text(errors="replace")
        if log.count("ready to accept connections") <= len(re.findall(r"terminated by signal|exited with exit code [3-9]", log)):
            return False
        try:
            server.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    wait_until(is_ready, "the server does not take connections")


def outcome(connection, sql: str, parameters=None) -> tuple:
    """Rows, or the SQLSTATE of the error."""
    try:
        cursor = connection.execute(sql, parameters)
        return ("rows", cursor.fetchall() if cursor.description else cursor.statusmessage)
    except psycopg.Error as error:
        if connection.broken:
            raise
        return ("error", error.sqlstate)


class Memory:
    """The memory of a backend: the most since reset(), shared memory that it touched included, and what it holds alone."""

    def __init__(self, connection) -> None:
        self._process = f"/proc/{connection.info.backend_pid}"

    def reset(self) -> None:
        with open(f"{self._process}/clear_refs", "w") as file:
            file.write("5")

    def peak_bytes(self) -> int:
        with open(f"{self._process}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024

    def private_bytes(self) -> int:
        """What it holds now, without shared memory and what the kernel may take."""
        rollup = Path(f"{self._process}/smaps_rollup").read_text()
        anonymous, free = (int(re.search(rf"{field}:\s+(\d+) kB", rollup).group(1)) for field in ("Anonymous", "LazyFree"))
        return (anonymous - free) * 1024
