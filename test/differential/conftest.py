"""One server with Penumbra; a database for each encoding and collation, with all tables."""

import os

import pytest
from penumbra_lab.server import PrivateServer, run_directory
from tables import JOIN_TABLES, JOIN_VIEWS, OBJECTS, READER, TABLES, table_sql

DATABASES = {
    "utf8_c": "ENCODING 'UTF8' LOCALE 'C'",
    "utf8_en": "ENCODING 'UTF8' LOCALE 'en_US.UTF-8'",
    "latin1": "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
}


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, default=int(os.environ.get("DIFFERENTIAL_SEED", "1")),
                     help="the first seed of the generated queries")  # fmt: skip
    parser.addoption("--queries", type=int, default=int(os.environ.get("DIFFERENTIAL_QUERIES", "3000")),
                     help="generated queries in the first database; the others get a fourth")  # fmt: skip
    parser.addoption("--seconds", type=float, default=float(os.environ.get("DIFFERENTIAL_SECONDS", "420")),
                     help="the longest time for the generated queries of one database")  # fmt: skip
    parser.addoption("--rows-divisor", type=int, default=1, help="so many times fewer rows in the tables of generated queries")
    parser.addoption("--patterns", type=int, default=0, help="regular expressions of each database; 0: for some seconds")
    parser.addoption("--slower", action="store_true", help="every query that is slower with Penumbra, not only those much slower")
    parser.addoption("--histories", type=int, default=2500, help="steps of the random history of a table's tuples")


@pytest.fixture(scope="session")
def server():
    settings = {
        "shared_preload_libraries": "penumbra",
        "shared_buffers": "256MB",
        "penumbra.memory": "512MB",
        "penumbra.auto_load": "off",
        "fsync": "off",
        "autovacuum": "off",
        "timezone": "UTC",
        "max_parallel_workers_per_gather": "1",
        "max_prepared_transactions": "10",
        "statement_timeout": "60s",
        "jit": "off",
    }
    server = PrivateServer(
        run_directory("test-differential"),
        settings,
        # Bytewise: what databases of other locales do is in test_collations.py.
        initdb_options=("--encoding=UTF8", "--no-locale"),
    )
    try:
        with server:
            with server.connect() as connection:
                connection.execute(f"CREATE ROLE {READER}")
            yield server
    finally:
        crashed = server.exists() and "was terminated by signal" in server.log.read_text(
            errors="replace"
        )
        if crashed:
            print("\n" + server.log_tail(40))
        server.remove()


@pytest.fixture(scope="session", params=DATABASES)
def database(request, server):
    """The name of a database with all tables in their states."""
    name = request.param
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 {DATABASES[name]}")
    with server.connect(name, penumbra__mode="off") as connection:
        connection.execute("CREATE EXTENSION penumbra")
        connection.execute(OBJECTS)
        for table in (*TABLES, *JOIN_TABLES):
            for statement in table_sql(table, name == "latin1", request.config.getoption("--rows-divisor")):
                connection.execute(statement)
        for statement in JOIN_VIEWS:
            connection.execute(statement)
    yield name
    # The expressions that its queries wanted would leave no room for the next one's.
    with server.connect() as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
