"""SQL that later versions brought: rows, errors and effects are those of mode off."""

import re
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest
from harness import cached_database
from psycopg import pq
from version_queries import CACHED, CHANGES, READS, SHOWN, TABLES, WRITES, of_version, statements

MODES = ("auto", "prefer", "require")
HAS_ORDER = re.compile(r"\bORDER BY [^()]*$")


@pytest.fixture(scope="module")
def connection(server) -> Iterator[psycopg.Connection]:
    major = server.installation.major
    cached = tuple(name for names in of_version(CACHED, major) for name in names)
    with cached_database(server, "versions", "".join(of_version(TABLES, major)), cached) as connection:
        for changes in of_version(CHANGES, major):
            connection.execute(changes)
        yield connection


def _execute(connection, sql: str) -> tuple:
    """Rows as PostgreSQL writes them, or an error."""
    result = connection.pgconn.exec_(sql.encode())
    if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
        rows = [tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples)]
        return rows if HAS_ORDER.search(sql) else sorted(rows, key=repr)
    fields = (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY)
    return tuple((result.error_field(field) or b"").decode() for field in fields)


def _was_refused(answer) -> bool:
    return isinstance(answer, tuple) and answer[0] == "0A000" and "penumbra" in answer[1].lower()


def _difference(expected, found) -> str | None:
    if expected == found:
        return None
    if isinstance(expected, tuple) or isinstance(found, tuple) or len(expected) != len(found):
        return f"expected {str(expected)[:300]}\n   found {str(found)[:300]}"
    return next(f"expected {a}\n   found {b}" for a, b in zip(expected, found, strict=True) if a != b)


def test_reads(server, connection, capsys):
    failures, errors, refused, total, in_vectors = [], [], Counter(), 0, 0
    for sql in statements(READS, server.installation.major):
        connection.execute("SET penumbra.mode = off")
        expected = _execute(connection, sql)
        for mode in MODES:
            connection.execute(f"SET penumbra.mode = {mode}")
            found = _execute(connection, sql)
            if mode == "require" and _was_refused(found):
                refused[f"{found[1]}: {sql[:150]}"] += 1
                continue
            in_vectors += mode == "require"
            if difference := _difference(expected, found):
                failures.append(f"{mode}: {sql}\n{difference}")
            explained = _execute(connection, f"EXPLAIN (VERBOSE) {sql}")
            if isinstance(explained, tuple) and explained[0] == "XX000":
                failures.append(f"{mode}: EXPLAIN {sql}\n{explained}")
        total += 1
        errors += [(expected, sql)] if isinstance(expected, tuple) else []
    with capsys.disabled():
        print(f"\n{in_vectors} of {total} reads in vectors; refused:", *refused, "errors:", *errors, sep="\n  ")
    assert not failures, "\n\n".join(failures)


def test_writes(server, connection, capsys):
    failures, errors, major = [], [], server.installation.major
    for sql in statements(WRITES, major):
        answers = {}
        for mode in ("off", "auto", "prefer"):
            connection.execute("BEGIN")
            connection.execute(f"SET LOCAL penumbra.mode = {mode}")
            answers[mode] = [_execute(connection, sql)]
            if isinstance(answers[mode][0], list):
                for shown in of_version(SHOWN, major):
                    answers[mode].append(_execute(connection, shown))
                    connection.execute("SET LOCAL penumbra.mode = off")
                    answers[mode].append(_execute(connection, shown))
                    connection.execute(f"SET LOCAL penumbra.mode = {mode}")
            else:
                errors.append((mode, sql, answers[mode]))
            connection.execute("ROLLBACK")
            differences = [_difference(*pair) for pair in zip(answers["off"], answers[mode], strict=False)]
            if any(differences):
                failures.append(f"{mode}: {sql}\n{next(filter(None, differences))}")
    with capsys.disabled():
        print("\n", *errors, sep="\n")
    assert not failures, "\n\n".join(failures)


def test_copies(server, connection):
    """In formats of later versions, too."""
    formats = ["text", "csv, HEADER", *(["json", "json, FORCE_ARRAY"] if server.installation.major >= 19 else [])]
    queries = ("SELECT id, k, v, n, t, at, j FROM events WHERE k < 9 ORDER BY id", "SELECT k, sum(v) AS s, max(t) FROM events GROUP BY k ORDER BY k")
    for copied in (f"COPY ({query}) TO STDOUT (FORMAT {form})" for query in queries for form in formats):
        answers = []
        for mode in ("off", *MODES):
            connection.execute(f"SET penumbra.mode = {mode}")
            with connection.cursor().copy(copied) as copy:
                answers.append([bytes(row) for row in copy])
        assert all(answer == answers[0] for answer in answers), copied


REWRITES = ("REPACK moved", "REPACK moved USING INDEX moved_pkey", "REPACK (CONCURRENTLY) moved", "VACUUM (FULL) moved")


def test_rewritten_tables(server, connection):
    """Before a rewrite and after it, with changes in between."""
    if server.installation.major < 19:
        pytest.skip("REPACK came with PostgreSQL 19")
    connection.execute("CREATE TABLE moved (id int PRIMARY KEY, k int, t text)")
    connection.execute("INSERT INTO moved SELECT g, g % 11, 'text ' || g % 90 FROM generate_series(1, 20000) g")
    query = "SELECT k, count(*), sum(id), min(t), max(t) FROM moved GROUP BY k ORDER BY k"
    for number, rewrite in enumerate(REWRITES):
        connection.execute("VACUUM moved")
        connection.execute("SELECT penumbra.load('moved')")
        connection.execute("UPDATE moved SET k = k + 1, t = t || 'x' WHERE id %% 50 = %s", (number,))
        for step in (rewrite, "DELETE FROM moved WHERE k = 3", "SELECT penumbra.load('moved')"):
            connection.execute(step)
            answers = {}
            for mode in ("off", "auto", "prefer"):
                connection.execute(f"SET penumbra.mode = {mode}")
                answers[mode] = connection.execute(query).fetchall()
            assert answers["off"] == answers["auto"] == answers["prefer"], (rewrite, step)
