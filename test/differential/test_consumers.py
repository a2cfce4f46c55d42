"""What takes a query's rows: the client, tables, COPY, cursors, loops and nodes above ours, against PostgreSQL's own plans."""

import time
from collections.abc import Callable

import psycopg
import pytest
from harness import cached_database
from psycopg import pq

ROWS = 7000  # more than some batches of each consumer
TABLES = """
SET timezone = 'Europe/Berlin';
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE kinds (kind int PRIMARY KEY, name text, price numeric);
INSERT INTO kinds SELECT i, 'kind ' || i, CASE WHEN i % 7 > 0 THEN (i * 1.5)::numeric(10, 2) END FROM generate_series(0, 99) i;
CREATE TABLE every (id bigint, kind int, flag bool, small int2, number positive, large bigint, real4 real, real8 float8,
    amount numeric(14, 3), any_number numeric, day date, moment timestamp, instant timestamptz, span interval, uuid uuid,
    words text, code varchar(30), padded char(12));
INSERT INTO every SELECT i, i % 100, i % 3 = 0, i - 3500, i + 1, i * 1000000007::bigint, i / 7.0, i / 3.0,
    i * 1.125, i::numeric ^ (i % 9), date '1999-12-28' + i, timestamp '1999-12-28' + i * interval '1 hour 1.5 second',
    timestamptz '2020-03-29 00:00' + i * interval '7 minutes', i * interval '1 day 2 hours', md5(i::text)::uuid,
    CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 3000) WHEN i % 501 = 0 THEN
        (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 400) j) ELSE 'größe ' || i % 40 END,
    left(md5(i::text), i % 30), 'p' || i % 50 FROM generate_series(0, %(rows)s) i;
INSERT INTO every SELECT -i FROM generate_series(1, 50) i;
INSERT INTO every (id, small, number, large, real4, real8, any_number, day, moment, instant, words) VALUES
    (-100, -32768, 1, -9223372036854775808, 'NaN', '-Infinity', 'NaN', '-infinity', 'infinity', '-infinity', ''),
    (-101, 32767, 2147483647, 9223372036854775807, '-0', '1e300', -0.000, '4713-01-01 BC', '4713-01-01 BC', 'infinity', E'a\\tb\\n'),
    (-102, 0, 9, 0, '1e-30', 'NaN', 1e50, '5874897-12-31', '0044-03-15 BC', '294276-01-01', '\\N');
""".replace("%(rows)s", str(ROWS))  # fmt: skip

QUERIES = {
    "every type": "SELECT * FROM every",
    "join": "SELECT e.id, e.words, k.name, k.price, e.padded, e.day, e.large FROM every e JOIN kinds k USING (kind)",
    "outer join": "SELECT e.id, k.name, e.span, e.any_number * 2 FROM every e LEFT JOIN kinds k ON k.kind = e.small",
    "expressions": "SELECT id, upper(words), amount * 3, day + 1, small + 1, -real8 FROM every WHERE kind < 70",
    "sorted": "SELECT id, words, amount, moment FROM every ORDER BY words, id",
    "few rows": "SELECT id, words FROM every ORDER BY id DESC LIMIT 11",
    "groups": "SELECT kind AS id, count(*), sum(amount), max(padded), min(day) FROM every GROUP BY kind",
    "no rows": "SELECT id, words FROM every WHERE id > 1000000",
    "evaluated by PostgreSQL": "SELECT id, words, md5(words), repeat(code, 2) FROM every",
    "volatile": "SELECT id, words, random() < 2 FROM every",
    "subquery": "SELECT id, amount, (SELECT name FROM kinds k WHERE k.kind = e.kind) FROM every e",
}  # fmt: skip
BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
STYLES = ("ISO, MDY", "German", "SQL, DMY", "Postgres, MDY")

Rows = list[tuple]
Consumer = Callable[[psycopg.Connection, str], Rows]


def fetch(connection: psycopg.Connection, query: str, format: int = 0) -> Rows:
    """Bytes as they come, by the extended protocol."""
    result = connection.pgconn.exec_params(query.encode(), None, result_format=format)
    if result.status != pq.ExecStatus.TUPLES_OK:
        raise psycopg.DatabaseError(result.error_message.decode())
    return sorted(
        (tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples)),
        key=repr,
    )


def fetch_simple(connection: psycopg.Connection, query: str) -> Rows:
    """The last result of statements sent by the simple protocol."""
    connection.pgconn.send_query(query.encode())
    rows: Rows = []
    error = ""
    while (result := connection.pgconn.get_result()) is not None:
        error = error or result.error_message.decode()
        rows += [
            tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples)
        ]
    if error:
        raise psycopg.DatabaseError(error)
    return sorted(rows, key=repr)


def copied(connection: psycopg.Connection, query: str, options: str = "") -> Rows:
    with connection.cursor().copy(f"COPY ({query}) TO STDOUT {options}") as copy:
        rows = [bytes(row) for row in copy]
    if "binary" in options:
        rows[0] = rows[0].removeprefix(BINARY_HEADER)  # it comes with the first row, which may be any
    return sorted((row,) for row in rows)


def stored(connection: psycopg.Connection, query: str, *statements: str, kind: str = "TABLE") -> Rows:
    """The rows of a table that statements made of the query, read by PostgreSQL's plan."""
    mode = connection.execute("SHOW penumbra.mode").fetchone()[0]
    columns = connection.execute(f"SELECT * FROM ({query}) q LIMIT 0").description
    name = f"stored ({', '.join(f'c{i}' for i in range(len(columns)))})"
    for statement in statements:
        connection.execute(statement.format(name=name, query=query))
    connection.execute("SET penumbra.mode = off")
    rows = fetch(connection, "SELECT * FROM stored")
    connection.execute(f"DROP {kind} stored")
    connection.execute(f"SET penumbra.mode = {mode}")
    return rows


def scrolled(connection: psycopg.Connection, query: str, options: str, is_held: bool = False) -> Rows:
    """Forward, back to the begin, and forward again in other steps: each time the same rows."""
    connection.execute("BEGIN")
    connection.execute(f"DECLARE c {options} FOR {query}")
    if is_held:
        connection.execute("COMMIT")
    first = fetch_simple(connection, "FETCH 13 FROM c; FETCH 1 FROM c; FETCH ALL FROM c")
    if "NO SCROLL" not in options:
        back = fetch_simple(connection, "FETCH BACKWARD ALL FROM c")
        again = fetch_simple(connection, "FETCH 100 FROM c; FETCH BACKWARD 40 FROM c; MOVE 40 FROM c; FETCH ALL FROM c")
        assert back == first
        assert {row for row in again} == {row for row in first}
    connection.execute("CLOSE c")
    if not is_held:
        connection.execute("COMMIT")
    return first


def looped(connection: psycopg.Connection, query: str) -> Rows:
    """Rows that a PL/pgSQL loop holds while the next ones come."""
    connection.execute(f"""
        CREATE FUNCTION pg_temp.looped() RETURNS SETOF text LANGUAGE plpgsql AS $$
        DECLARE r record; kept text;
        BEGIN
            FOR r IN {query} LOOP
                IF kept IS NOT NULL THEN RETURN NEXT kept; END IF;
                kept := r::text;
            END LOOP;
            RETURN NEXT kept;
        END $$""")
    rows = fetch(connection, "SELECT * FROM pg_temp.looped()")
    connection.execute("DROP FUNCTION pg_temp.looped()")
    return rows


CONSUMERS: dict[str, Consumer] = {
    "text": fetch,
    "binary": lambda connection, query: fetch(connection, query, 1),
    "simple protocol": fetch_simple,
    "EXECUTE": lambda connection, query: fetch_simple(
        connection, f"PREPARE p AS {query}; EXECUTE p; EXECUTE p; DEALLOCATE p"
    ),
    "temporary table": lambda connection, query: stored(connection, query, "CREATE TEMP TABLE {name} AS {query}"),
    "table": lambda connection, query: stored(connection, query, "CREATE TABLE {name} WITH (fillfactor = 40) AS {query}"),
    "unlogged table": lambda connection, query: stored(connection, query, "CREATE UNLOGGED TABLE {name} AS {query}"),
    "EXPLAIN ANALYZE": lambda connection, query: stored(
        connection, query, "EXPLAIN ANALYZE CREATE TABLE {name} AS {query}"
    ),
    "no data": lambda connection, query: stored(connection, query, "CREATE TABLE {name} AS {query} WITH NO DATA"),
    "materialized view": lambda connection, query: stored(
        connection, query, "CREATE MATERIALIZED VIEW {name} AS {query}", kind="MATERIALIZED VIEW"
    ),
    "refreshed view": lambda connection, query: stored(
        connection, query, "CREATE MATERIALIZED VIEW {name} AS {query} WITH NO DATA", "REFRESH MATERIALIZED VIEW stored",
        kind="MATERIALIZED VIEW",
    ),
    "INSERT": lambda connection, query: stored(
        connection, query, "CREATE TEMP TABLE {name} AS {query} WITH NO DATA", "INSERT INTO stored {query}"
    ),
    "COPY": copied,
    "COPY csv": lambda connection, query: copied(connection, query, "(FORMAT csv)"),
    "COPY binary": lambda connection, query: copied(connection, query, "(FORMAT binary)"),
    "cursor": lambda connection, query: scrolled(connection, query, "NO SCROLL CURSOR"),
    "SCROLL": lambda connection, query: scrolled(connection, query, "SCROLL CURSOR"),
    "binary cursor": lambda connection, query: scrolled(connection, query, "BINARY SCROLL CURSOR"),
    "WITH HOLD": lambda connection, query: scrolled(connection, query, "SCROLL CURSOR WITH HOLD", True),
    "loop": looped,
    "sort above": lambda connection, query: fetch(
        connection, f"SELECT q::text, n, count(*) OVER () FROM ({query} OFFSET 0) q, generate_series(1, 2) n ORDER BY 1, 2"
    ),
    "rescans": lambda connection, query: fetch(
        connection, f"SELECT n, r FROM generate_series(1, 2) n, LATERAL (SELECT q::text AS r FROM ({query}) q WHERE q.id % 3 = n - 1) q"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def connection(server):
    with cached_database(server, "consumers", TABLES, ("every", "kinds")) as connection:
        # rows of the heap, too
        connection.execute("UPDATE every SET words = words || '!' WHERE id % 1000 = 1")
        yield connection


def outcome(connection: psycopg.Connection, consume: Callable[[], Rows], mode: str) -> Rows | str:
    connection.execute(f"SET penumbra.mode = {mode}")
    try:
        return consume()
    except psycopg.Error as error:
        connection.pgconn.exec_(b"ROLLBACK")
        return str(error)


def agree(connection: psycopg.Connection, consumer: Consumer, query: str) -> Rows | str:
    expected = outcome(connection, lambda: consumer(connection, query), "off")
    found = outcome(connection, lambda: consumer(connection, query), "prefer")
    assert found == expected
    return expected


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("query", QUERIES)
def test_consumer(connection, query, consumer):
    rows = agree(connection, CONSUMERS[consumer], QUERIES[query])
    assert isinstance(rows, list), rows
    assert len(rows) > 0 or query == "no rows" or consumer == "no data"


@pytest.mark.parametrize("query", [query for query in QUERIES if query not in ("volatile",)])
def test_engine_runs_it(connection, query):
    """Otherwise the comparison would be of PostgreSQL with itself."""
    connection.execute("SET penumbra.mode = require")
    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {QUERIES[query]}"))
    assert "Custom Scan (Penumbra" in plan


@pytest.mark.parametrize("style", STYLES)
def test_date_styles(connection, style):
    connection.execute(f"SET datestyle = '{style}'")
    agree(connection, fetch, "SELECT id, day, moment, instant FROM every")
    connection.execute("RESET datestyle")


def test_client_encodings(connection):
    query = "SELECT id, words, padded FROM every"
    connection.execute("SET client_encoding = 'LATIN1'")
    rows = agree(connection, fetch, query)
    assert any("größe".encode("latin1") in row[1] for row in rows if row[1] is not None)
    assert rows == agree(connection, CONSUMERS["binary"], query.replace("id,", "id::text AS id,"))
    connection.execute("SET client_encoding = 'SJIS'")
    error = agree(connection, fetch, query)
    assert isinstance(error, str) and "has no equivalent in encoding" in error
    connection.execute("RESET client_encoding")


@pytest.mark.parametrize("code", (7, -1))
def test_formats_that_cannot_be_sent(connection, code):
    """PostgreSQL finds out with the first row."""

    def consume(connection: psycopg.Connection, query: str) -> Rows:
        return fetch(connection, query, code)

    assert agree(connection, consume, QUERIES["no rows"]) == []
    assert "unsupported format code" in agree(connection, consume, QUERIES["join"])


def test_error_among_rows(connection):
    """It ends the statement with nothing left of the table."""
    query = "SELECT id, words, 100 / (id - 6500) FROM every WHERE id >= 0"
    for name in ("text", "binary", "table", "temporary table", "COPY"):
        error = agree(connection, CONSUMERS[name], query)
        assert isinstance(error, str) and "division by zero" in error
    assert connection.execute("SELECT to_regclass('stored')").fetchone() == (None,)
    agree(connection, CONSUMERS["table"], QUERIES["join"])


def test_copy_by_messages(connection):
    """Header and rows, each a message of its own, and the tag; also as a prepared statement."""
    for options in ("", "(HEADER)", "(FORMAT csv, HEADER, DELIMITER ';')", "(NULL 'none')"):

        def consume(options: str = options) -> Rows:
            statement = f"COPY (SELECT id, words, any_number, day FROM every ORDER BY id) TO STDOUT {options}"
            rows = []
            for prepare in (False, True):
                if prepare:
                    connection.pgconn.prepare(b"copy", statement.encode())
                    connection.pgconn.send_query_prepared(b"copy", None)
                else:
                    connection.pgconn.send_query(statement.encode())
                result = connection.pgconn.get_result()
                assert result.status == pq.ExecStatus.COPY_OUT, result.error_message
                while (message := connection.pgconn.get_copy_data(0))[0] > 0:
                    rows.append((bytes(message[1]),))
                rows.append((connection.pgconn.get_result().command_status,))
                assert connection.pgconn.get_result() is None
            connection.execute("DEALLOCATE copy")
            return rows

        expected = outcome(connection, consume, "off")
        assert outcome(connection, consume, "require") == expected
        assert (f"COPY {ROWS + 54}".encode(),) in expected


@pytest.mark.parametrize("mode", ("off", "require"))
def test_copy_progress(connection, mode):
    """Of a command that waits for its client: rows and their bytes, with the header's."""
    query = "SELECT a.id, b.words, a.day FROM every a JOIN every b USING (kind) WHERE a.id >= 0"
    connection.execute(f"SET penumbra.mode = {mode}")
    with (
        psycopg.connect(connection.info.dsn, autocommit=True) as other,
        connection.cursor().copy(f"COPY ({query}) TO STDOUT (HEADER)") as copy,
    ):
        rows = [bytes(copy.read())]
        while True:
            shown = other.execute(
                "SELECT tuples_processed, bytes_processed, pg_sleep(0.1) FROM pg_stat_progress_copy WHERE pid = %s",
                (connection.info.backend_pid,),
            ).fetchone()
            if shown[0] > 0:
                break
        # it waits: what is shown stands still
        time.sleep(1)
        tuples, size = other.execute(
            "SELECT tuples_processed, bytes_processed FROM pg_stat_progress_copy WHERE pid = %s",
            (connection.info.backend_pid,),
        ).fetchone()
        while len(rows) <= tuples:
            rows.append(bytes(copy.read()))
        assert rows[0] == b"id\twords\tday\n"
        assert size == sum(len(row) for row in rows)
        connection.cancel_safe(timeout=10)
        with pytest.raises(psycopg.errors.QueryCanceled):
            while copy.read():
                pass


def test_volatile_function_sees_the_rows_before(connection):
    """Each row in the table before the next is computed: a batch would hide some."""
    connection.execute("""
        CREATE FUNCTION seen(bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS
        'BEGIN RETURN count(*) FROM stored; END'""")
    query = "SELECT id, seen(id) FROM every WHERE id BETWEEN 1 AND 30"
    rows = agree(connection, CONSUMERS["table"], query)
    assert sorted(int(row[1]) for row in rows) == list(range(30))
    connection.execute("DROP FUNCTION seen")


def test_batches_write_less_wal(connection):
    """A record for each page and not for each row, which shows that rows are inserted in batches."""
    written = {}
    for mode in ("off", "require"):
        connection.execute(f"SET penumbra.mode = {mode}")
        begin = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]
        connection.execute("CREATE TABLE narrow AS SELECT e.id, e.small, k.kind FROM every e JOIN kinds k USING (kind)")
        written[mode] = connection.execute("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", (begin,)).fetchone()[0]
        connection.execute("DROP TABLE narrow")
    assert written["require"] < 0.7 * float(written["off"])


def test_savepoints(connection):
    connection.execute("SET penumbra.mode = require")
    with connection.transaction():
        connection.execute("SAVEPOINT s")
        connection.execute(f"CREATE TABLE undone AS {QUERIES['join']}")
        connection.execute("ROLLBACK TO s")
        connection.execute(f"CREATE TABLE done AS {QUERIES['join']}")
    assert connection.execute("SELECT to_regclass('undone')").fetchone() == (None,)
    assert connection.execute("SELECT count(*) FROM done").fetchone() == (ROWS + 1,)
    connection.execute("DROP TABLE done")
