"""`penumbra advise --queries` of a server's log, in all formats that PostgreSQL writes."""

import json
import re
import time

import psycopg
import pytest
from click.testing import CliRunner

from penumbra_lab.advise.logs import Log, _of_stderr, with_values, without_constants
from penumbra_lab.cli import commands
from penumbra_lab.errors import LabError
from penumbra_lab.server import PrivateServer
from penumbra_lab.state import state_directory

SUFFIXES = ("log", "csv", "json")
COLLECTOR_SECONDS = 0.5
SETTINGS = {
    "fsync": "off", "logging_collector": "on", "log_destination": "stderr,csvlog,jsonlog",
    "log_directory": "written", "log_line_prefix": "%t|%u@%d %a [%p-%l] ",
}  # fmt: skip
MULTI_LINE = "SELECT kind,\n\tcount(*) -- 'each'\nFROM sold\nWHERE note <> 'a\n\tb' GROUP BY kind"


@pytest.fixture(scope="module")
def logging_server():
    server = PrivateServer(state_directory() / "test-advise-logs", SETTINGS)
    try:
        with server:
            with server.connect() as connection:
                for statement in (
                    "CREATE DATABASE logged",
                    "CREATE ROLE asking LOGIN IN ROLE pg_read_all_data",
                    "CREATE ROLE analyst LOGIN IN ROLE pg_read_all_data",
                ):
                    connection.execute(statement)
            with server.connect("logged") as connection:
                connection.execute("CREATE TABLE sold AS SELECT i, i % 7 AS kind, 'n' || i AS note"
                                   " FROM generate_series(1, 60000) i")  # fmt: skip
                connection.execute("VACUUM ANALYZE")
            yield server
    finally:
        server.remove()


def session(server, **settings: str) -> psycopg.Connection:
    """Of an ordinary role; a superuser says what is logged."""
    with server.connect("logged") as connection:
        connection.execute("ALTER ROLE analyst RESET ALL")
        for name, value in settings.items():
            connection.execute(f"ALTER ROLE analyst SET {name} = {value}")
    made = psycopg.connect(server.conninfo("logged"), user="analyst", autocommit=True)
    made.prepare_threshold = None
    return made


@pytest.fixture
def log(logging_server, tmp_path):
    """Copies what was logged since the test began, in each format."""
    written = logging_server.data / "written"
    before = {path: path.stat().st_size for path in written.iterdir()}

    def copy() -> dict:
        time.sleep(COLLECTOR_SECONDS)
        paths = {suffix: tmp_path / f"copied.{suffix}" for suffix in SUFFIXES}
        for suffix, path in paths.items():
            found = sorted(written.glob(f"*.{suffix}"))
            path.write_bytes(b"".join(one.read_bytes()[before.get(one, 0) :] for one in found))
        return paths

    return copy


def advise(server, path, user: str = "asking") -> dict:
    dsn = psycopg.conninfo.make_conninfo(server.conninfo("logged"), user=user)
    arguments = ["advise", "--dsn", dsn, "--queries", str(path), "--json"]
    result = CliRunner().invoke(commands, arguments)
    if result.exception:
        raise result.exception
    return json.loads(result.output)


def statements(document: dict) -> dict[str, dict]:
    return {one["statement"]["text"]: one["statement"] for one in document["statements"]}


def test_statements_with_their_times(logging_server, log):
    with session(logging_server, log_min_duration_statement="0") as connection:
        for number in (3, 4, 5):
            connection.execute(f"SELECT sum(i) FROM sold WHERE kind = {number}")
        connection.execute("select  SUM(i) from sold where kind=6")
        connection.execute("SELECT sum(i) FROM sold WHERE kind = %s", (2,))
        connection.execute(MULTI_LINE)
        connection.execute("SELECT max(i) FROM sold WHERE note = %s", ("it's $1; 'x'",))
        connection.execute("SET work_mem = '8MB'")
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT missing FROM sold")
    for path in log().values():
        document = advise(logging_server, path)
        found = statements(document)
        assert document["is_measured"] and document["note"] == ""
        # One has another case: this role may not compute query identifiers.
        assert len(found) == 4 and found[MULTI_LINE]["calls"] == 1
        assert "SELECT max(i) FROM sold WHERE note = 'it''s $1; ''x'''" in found
        sums = [one for text, one in found.items() if "sum(i)" in text.lower()]
        assert sorted(one["calls"] for one in sums) == [1, 4]
        assert all(one["mean_ms"] > 0 for one in found.values())
        assert {one["problem"] for one in document["statements"]} == {""}


def test_statements_and_times_in_messages_of_their_own(logging_server, log):
    logged = {"log_statement": "'all'", "log_duration": "on"}
    with session(logging_server, **logged) as one, session(logging_server, **logged) as other:
        with one.transaction():
            one.execute("SELECT sum(i) FROM sold WHERE kind = 1")
            other.execute("SELECT min(i) FROM sold")
        other.execute("SELECT max(i) FROM sold WHERE kind = %s", (3,))
    for path in log().values():
        found = statements(advise(logging_server, path))
        assert {text.split()[1]: one["calls"] for text, one in found.items()} == {
            "sum(i)": 1, "min(i)": 1, "max(i)": 1}  # fmt: skip
        assert all(one["mean_ms"] > 0 for one in found.values())
        assert any("kind = '3'" in text for text in found)


def test_statements_without_times(logging_server, log):
    with session(logging_server, log_statement="'all'") as connection:
        connection.execute("SELECT sum(i) FROM sold WHERE kind = 1")
        connection.execute("SELECT sum(i) FROM sold WHERE kind = 2")
    document = advise(logging_server, log()["log"])
    [one] = statements(document).values()
    assert one["calls"] == 2 and one["mean_ms"] is None and not document["is_measured"]


def test_the_server_says_what_one_statement_is(logging_server, log):
    """By query identifiers, which a role may compute that was granted it."""
    with session(logging_server, log_min_duration_statement="0") as connection:
        connection.execute("SELECT sum(i) FROM sold WHERE kind = 3")
        connection.execute("SELECT sum(sold.i) FROM public.sold WHERE ((kind) = 3) -- again")
    path = log()["log"]
    assert len(statements(advise(logging_server, path))) == 2
    with logging_server.connect() as connection:
        connection.execute("GRANT SET ON PARAMETER compute_query_id TO asking")
        [one] = statements(advise(logging_server, path)).values()
        connection.execute("REVOKE SET ON PARAMETER compute_query_id FROM asking")
    assert one["calls"] == 2


def test_a_superuser_plans_no_statements_of_others(logging_server, log):
    with session(logging_server, log_min_duration_statement="0") as connection:
        connection.execute("SELECT sum(i) FROM sold WHERE kind = 3")
    for path in log().values():
        with pytest.raises(LabError, match="Ask as a role that is none"):
            advise(logging_server, path, "postgres")
    with logging_server.connect("logged") as connection:
        connection.execute("SET log_min_duration_statement = 0")
        connection.execute("SELECT max(i) FROM sold")
    paths = log()
    for path in (paths["csv"], paths["json"]):
        document = advise(logging_server, path, "postgres")
        assert list(statements(document)) == ["SELECT max(i) FROM sold"]
        assert "of roles that are no superusers" in document["note"]


def test_other_databases_are_left_out(logging_server, log):
    with session(logging_server, log_min_duration_statement="0") as connection:
        connection.execute("SELECT sum(i) FROM sold")
    with logging_server.connect() as connection:
        connection.execute("SET log_min_duration_statement = 0")
        connection.execute("SELECT count(*) FROM pg_class")
    document = advise(logging_server, log()["csv"])
    assert list(statements(document)) == ["SELECT sum(i) FROM sold"]
    assert "of other databases" in document["note"]


def test_damage_is_counted(logging_server, log):
    with session(logging_server, log_min_duration_statement="0") as connection:
        for number in range(5):
            connection.execute(f"SELECT sum(i) FROM sold WHERE kind = {number}")
    damage = {"csv": b"one,two\n\xff\x00\n", "json": b'"pid": \xff\x00\n{"message"\n[1]\nnull\n',
              "log": b"\xff\x00\n\tof nothing\n"}  # fmt: skip
    for suffix, path in log().items():
        whole = path.read_bytes()
        path.write_bytes(whole + damage[suffix] + whole[: len(whole) // 2])
        document = advise(logging_server, path)
        [one] = statements(document).values()
        assert 5 < one["calls"] < 10
        assert suffix == "log" or re.match("[2-6] lines could not be read", document["note"])


def test_a_log_without_statements_is_told(logging_server, tmp_path):
    path = tmp_path / "server.log"
    path.write_text("2026-01-01 00:00:00 UTC [1] LOG:  checkpoint starting: time\n"
                    "2026-01-01 00:00:00 UTC [1] LOG:  duration: 3.000 ms\n")  # fmt: skip
    with pytest.raises(LabError, match="no statement in it: 1 duration of no statement"):
        advise(logging_server, path)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("SELECT 'a''b', 1.5e3, $1 FROM t1 WHERE x IN (1, 2,3)",
         "SELECT  'c', 2, $2 FROM t1 WHERE x IN (9)"),
        ("SELECT E'a\\'b' -- note\n FROM t", "SELECT $x$;$x$ FROM t;"),
    ],
)  # fmt: skip
def test_texts_that_differ_in_constants(text, other):
    assert without_constants(text) == without_constants(other)


def test_texts_that_differ_in_more():
    texts = ["SELECT a1 FROM t", "SELECT a2 FROM t", 'SELECT "1" FROM t', 'SELECT "2" FROM t',
             "SELECT -a1 FROM t"]  # fmt: skip
    assert len({without_constants(text) for text in texts}) == len(texts)


def test_values_take_the_places_of_parameters():
    detail = "Parameters: $1 = 'it''s $2', $2 = NULL, $10 = 'cut'..., $3 = '5'"
    text = "SELECT '$1', $1, $2, $3, $10, \"$1\" -- $1"
    assert with_values(text, detail) == "SELECT '$1', 'it''s $2', NULL, '5', $10, \"$1\" -- $1"


def of_lines(lines: list[str]) -> Log:
    log = Log()
    for entry in _of_stderr(lines, log):
        log.take(entry)
    log.finish()
    return log


def test_what_a_portal_gives_later_is_of_the_same_call():
    calls = ("1.000 ms  execute C_1", "2.000 ms  execute fetch from C_1")
    log = of_lines([f"[1] LOG:  duration: {call}: SELECT a FROM t\n" for call in calls])
    [one] = log.gathered.values()
    assert (one.calls, one.mean_ms) == (1, 3.0)


def test_a_prefix_may_be_anything():
    for prefix in ("", "<%> ", "2026-01-01 00:00:00.000 CET ", "1793000000.123 app|"):
        log = of_lines([f"{prefix}LOG:  statement: SELECT a\n", "\tFROM t\n",
                        f"{prefix}LOG:  duration: 2.000 ms\n"])  # fmt: skip
        [one] = log.gathered.values()
        assert (one.text, one.calls, one.mean_ms) == ("SELECT a\nFROM t", 1, 2.0)


def test_only_the_server_begins_a_message():
    log = of_lines(["[1] ERROR:  LOG:  duration: 1.000 ms  statement: SELECT a FROM t\n",
                    "\t[1] LOG:  duration: 1.000 ms  statement: SELECT b FROM t\n",
                    "[1] LOG:  statement: SELECT c\n",
                    "\t[2] LOG:  duration: 1.000 ms  statement: SELECT d FROM t\n"])  # fmt: skip
    [one] = log.gathered.values()
    assert one.text.startswith("SELECT c\n")


def test_many_texts_are_bounded(monkeypatch):
    monkeypatch.setattr("penumbra_lab.advise.logs.TEXTS_MAX", 10)
    lines = [f"LOG:  duration: 1.000 ms  statement: SELECT a{n} FROM t\n" for n in range(30)]
    log = of_lines(lines)
    assert len(log.gathered) == 10 and log.left_out == 20
