"""`penumbra advise`: any server and statement, nothing executed, nothing promised by guess."""

import csv
import json
import re

import psycopg
import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from test_page import CLIPPED, DESK, PHONE

from penumbra_lab.advise.advice import Adviser, memory_curve, recommended_mb
from penumbra_lab.advise.expressions import (
    ArrayTest,
    Call,
    Cast,
    Column,
    Constant,
    Form,
    Operation,
    Subquery,
    Unknown,
    parse,
)
from penumbra_lab.advise.model import measure_plan, read_costs
from penumbra_lab.advise.server import NotPlanned, Server
from penumbra_lab.advise.settings import find_settings
from penumbra_lab.advise.sizes import stored_form
from penumbra_lab.advise.statements import Statement, Workload, read_file, split
from penumbra_lab.cli import commands
from penumbra_lab.errors import LabError

HOSTILE = '<script>"x"</script>\x1b[31m\u202e größe 日本'
ROWS = 60_000


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SHOP = (
    "CREATE SCHEMA sales",
    "CREATE TABLE sales.orders (id bigint PRIMARY KEY, day date, kind text, amount numeric(10, 2),"
    " note varchar(80), doc jsonb, tags int[])",
    "INSERT INTO sales.orders SELECT i, date '2020-01-01' + (i / 60)::int, 'kind ' || i % 7,"
    " i % 1000 + 0.25, 'note ' || i, '{}', '{1}'"
    f" FROM generate_series(1, {ROWS}) i",
    f"CREATE TABLE {quoted(HOSTILE)} AS SELECT i AS {quoted(HOSTILE)} FROM"
    f" generate_series(1, {ROWS}) i",
    "CREATE UNLOGGED TABLE scratch AS SELECT i FROM generate_series(1, 1000) i",
    'CREATE TABLE words AS SELECT i, (i || \'x\') COLLATE "de-x-icu" AS word'
    " FROM generate_series(1, 20000) i",
    "CREATE EXTENSION citext",
    "CREATE EXTENSION hstore",
    "CREATE DOMAIN label AS citext",
    "CREATE TABLE kinds AS SELECT i, ('Kind ' || i % 9)::label AS kind, hstore('a', (i % 5)::text)"
    f" AS doc, pg_lsn '0/0' + i AS lsn, point(i, i) AS place FROM generate_series(1, {ROWS}) i",
    "CREATE SEQUENCE counted",
    "CREATE FUNCTION counting() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('counted')$$",
    "CREATE TABLE parted (id int, k int) PARTITION BY HASH (id)",
    *(f"CREATE TABLE parted_{n} PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER {n})"
      for n in range(2)),
    f"INSERT INTO parted SELECT i, i % 10 FROM generate_series(1, {ROWS}) i",
)  # fmt: skip


@pytest.fixture(scope="module")
def dsn(stock_server):
    with stock_server.connect() as connection:
        connection.execute("CREATE DATABASE advised")
        connection.execute("CREATE ROLE adviser LOGIN")
    with stock_server.connect("advised") as connection:
        for statement in SHOP:
            connection.execute(statement)
        connection.execute("VACUUM ANALYZE")
    return stock_server.conninfo("advised")


@pytest.fixture(scope="module")
def adviser(dsn):
    with Server(dsn) as server:
        yield Adviser(server)


def advise(*arguments: str):
    result = CliRunner().invoke(commands, ["advise", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


# -- expressions as EXPLAIN writes them ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lineitem.l_quantity", Column("lineitem", "l_quantity")),
        ('t."Größe ""x"""', Column("t", 'Größe "x"')),
        ("'1998-12-01'::date", Constant("'1998-12-01'", "date")),
        ("5000000000", Constant("5000000000", "numeric")),
        ("(t.a)::numeric", Cast((Column("t", "a"),), "numeric")),
        ("(t.a)::character varying(10)", Cast((Column("t", "a"),), "character varying", "10")),
        ("'2020-01-01 00:00:00+00'::timestamp with time zone",
         Constant("'2020-01-01 00:00:00+00'", "timestamp with time zone")),
        ("(InitPlan 1).col1", Subquery("InitPlan 1", 0)),
        ("(NOT (hashed SubPlan 2))", Form((Subquery("SubPlan 2"),), "NOT")),
        ("EXISTS(SubPlan 3)", Subquery("SubPlan 3")),
        ("(ANY (t.a = (hashed SubPlan 1).col2))",
         Operation((Column("t", "a"), Subquery("SubPlan 1", 1)), "=")),
        ("(t.a = ANY ('{1,2}'::integer[]))",
         ArrayTest((Column("t", "a"), Constant("'{1,2}'", "integer[]")), "=", True)),
        ("count(*)", Call((), "", "count", "count(*)", is_star=True)),
        ("((a + 1) = b)", Operation((Operation((Column("", "a"), Constant("1", "integer")), "+"),
                                     Column("", "b")), "=")),
    ],
)  # fmt: skip
def test_an_expression_is_taken_apart(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["t.*", "ROW(1, 2)", "(t.a).field", "a[1]", "(a", "'open", "GROUPING(a)",
     "f(a => 1)", "(" * 400 + "1" + ")" * 400, "a b", ""],
)  # fmt: skip
def test_what_is_not_understood_is_not_judged(text):
    assert parse(text) == Unknown(text)


def test_what_the_engine_has_none_of_is_kept():
    assert parse("sum(a) OVER (PARTITION BY b ORDER BY c)").extra == "OVER"
    assert parse("string_agg(a, ','::text ORDER BY b)").extra == "ORDER BY in the call"
    call = parse("percentile_cont('0.5'::double precision) WITHIN GROUP (ORDER BY a DESC)")
    assert call.args == (Constant("'0.5'", "double precision"), Column("", "a"))
    assert call.direct == 1 and not call.extra
    assert parse("rank(1, 2) WITHIN GROUP (ORDER BY a, b)").extra == "WITHIN GROUP"
    call = parse("count(DISTINCT a) FILTER (WHERE (b > 1))")
    assert call.is_distinct and call.filter == Operation(
        (Column("", "b"), Constant("1", "integer")), ">"
    )


# -- statements ------------------------------------------------------------------------------------


def test_a_file_is_split_where_statements_end(tmp_path):
    text = ("-- name: first\n-- calls: 12\nSELECT ';' /* ; */, $$;$$, \";\" -- ;\n;;"
            "-- only a comment\n; SELECT $x$ ; $x$")  # fmt: skip
    assert len(list(split(text))) == 2
    path = tmp_path / "queries.sql"
    path.write_text(text)
    first, second = read_file(path).statements
    assert (first.name, first.calls) == ("first", 12) and second.name == "query 2"
    with pytest.raises(LabError, match="no statement"):
        (tmp_path / "none.sql").write_text("-- nothing\n")
        read_file(tmp_path / "none.sql")
    with pytest.raises(LabError, match="No such file"):
        read_file(tmp_path / "missing.sql")


def test_constants_that_became_parameters_are_put_back(adviser):
    for text in (
        "SELECT count(*) FROM sales.orders WHERE day < date $1 - interval $2",
        "SELECT extract($1 FROM day), count(*) FROM sales.orders GROUP BY 1",
        "SELECT count(*) FROM sales.orders WHERE day >= date $1 + interval $2 year",
        "SELECT substr(note, $1, $2), extract($3 FROM day), count(*) FROM sales.orders"
        " WHERE kind <> $4 GROUP BY substr(note, 1, 3), extract(year FROM day)",
        "SELECT sum(CASE WHEN kind = $1 THEN $2 ELSE $3 END) FROM sales.orders"
        " WHERE amount BETWEEN $4 - $5 AND $6 + $7",
    ):
        assert adviser.advise_statement(Statement("s", text)).verdict == "vectors", text


# -- verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "verdict", "reason", "piece"),
    [
        ("SELECT kind, sum(amount) FROM sales.orders GROUP BY kind", "vectors", "", ""),
        ("SELECT min(day), max(note) FROM sales.orders WHERE kind LIKE 'kind%'", "vectors", "", ""),
        ("SELECT kind, count(*) FROM sales.orders WHERE amount > $1 GROUP BY 1", "vectors", "", ""),
        ("SELECT count(*) FROM sales.orders WHERE id IN ($1, $2, $3)", "stays", "", ""),
        (f"SELECT count({quoted(HOSTILE)}) FROM {quoted(HOSTILE)}", "vectors", "", ""),
        ("SELECT k, count(*) FROM parted GROUP BY k", "vectors", "", ""),
        ("SELECT kind, String_Agg(note, ',') FROM sales.orders GROUP BY kind", "part",
         "aggregate string_agg", "String_Agg(note, ',')"),
        ("SELECT count(*) FROM sales.orders WHERE note @@ 'x' AND amount > 3", "part",
         "operator @@ of text, text", "note @@ 'x'"),
        ("SELECT rank() OVER (ORDER BY amount) FROM sales.orders", "vectors", "", ""),
        ("SELECT sum(amount) OVER (ORDER BY id), lag(kind, 2) OVER (ORDER BY id) FROM sales.orders",
         "vectors", "", ""),
        ("SELECT lag(kind, id::int) OVER (ORDER BY id) FROM sales.orders", "part",
         "window function lag", "lag(kind, id::int)"),
        ("SELECT kind, count(*), min(kind) FROM kinds GROUP BY ROLLUP (kind)", "vectors", "", ""),
        ("SELECT doc, count(*), max(lsn) FROM kinds WHERE kind > 'kind' GROUP BY doc", "vectors",
         "", ""),
        ("SELECT i FROM kinds ORDER BY kind LIMIT 3", "vectors", "", ""),
        ("SELECT i FROM kinds ORDER BY doc LIMIT 3", "part", "order of public.hstore",
         ""),
        ("SELECT place::text, count(*) FROM kinds GROUP BY 1", "no", "column of type point",
         "place"),
        ("SELECT doc, count(*) FROM sales.orders GROUP BY doc", "no", "column of type jsonb",
         "doc"),
        ("SELECT doc ->> 'kind', count(*) FROM sales.orders WHERE doc @> '{\"a\": 1}' GROUP BY 1",
         "vectors", "", ""),
        ("SELECT sum((doc #>> '{a,b}')::numeric) FROM sales.orders WHERE 3 = ANY (tags)",
         "vectors", "", ""),
        ("SELECT doc, md5(doc::text) FROM sales.orders ORDER BY amount LIMIT 9", "vectors", "", ""),
        ("SELECT to_char(amount, 'FM999G990D00'), md5(note), count(*) FROM sales.orders"
         " WHERE encode(sha256('a'), 'hex') <> kind GROUP BY 1, 2", "vectors", "", ""),
        ("SELECT DISTINCT doc FROM sales.orders", "no", "column of type jsonb", "doc"),
        ("SELECT count(*) FROM sales.orders WHERE doc = ANY (ARRAY[doc])", "no",
         "column of type jsonb", "doc"),
        ("SELECT count(*) FROM sales.orders WHERE note ~ kind", "part",
         "regular expression that is not constant", "note ~ kind"),
        ("SELECT count(*) FROM sales.orders WHERE note ~ '^n.*7$' AND note::date IS NULL",
         "vectors", "", ""),
        ("SELECT count(*) FROM scratch", "no", "unlogged table", "scratch"),
        ("SELECT count(*) FROM pg_class", "no", "system catalog", "pg_class"),
        ("SELECT sum(pg_column_size(note)) FROM sales.orders", "no", "function pg_column_size",
         "pg_column_size(note)"),
        ("SELECT amount FROM sales.orders FOR UPDATE", "no", "rows that are locked", ""),
        ("SELECT counting(), count(*) FROM sales.orders GROUP BY id", "vectors", "", ""),
        ("SELECT count(*) FROM sales.orders WHERE counting() > id", "part", "function nextval",
         "nextval"),
        ("SELECT o FROM sales.orders o", "no", "", ""),
        ("SELECT min(word) FROM words", "part", "ordering of text with an ICU collation", ""),
        ("SELECT w FROM (SELECT word AS w FROM words OFFSET 0) s ORDER BY w", "part",
         "ordering of text with an ICU collation", ""),
        ("SELECT count(DISTINCT word) FROM words WHERE word LIKE '%5'", "vectors", "", ""),
        ("SELECT upper(word) FROM words", "vectors", "", ""),
        ("SELECT count(*) FROM words WHERE upper(word) < 'A'", "part",
         "letter case with a collation that is not libc's, of other text than ASCII", ""),
        ("SELECT 1", "no", "no table is read", ""),
        ("SELECT count(*) FROM sales.orders TABLESAMPLE SYSTEM (10)", "no", "TABLESAMPLE",
         "orders"),
        ("SELECT id FROM sales.orders WHERE id = 7", "stays", "", ""),
        ("UPDATE sales.orders SET note = ''", "writes", "", ""),
        ("VACUUM", "other", "", ""),
    ],
)  # fmt: skip
def test_the_verdict_says_what_stands_in_the_way(adviser, sql, verdict, reason, piece):
    found = adviser.advise_statement(Statement("s", sql))
    assert found.problem == ""
    # Whether a part gains enough is a matter of costs.
    assert found.verdict == verdict or (verdict, found.verdict) == ("part", "stays")
    assert found.is_promised == (found.speedup > 1)
    reasons = {obstacle.reason: obstacle.piece for obstacle in found.obstacles}
    assert not reason or reason in reasons, reasons
    assert not piece or piece.lower() in reasons[reason].lower()


def test_nothing_is_executed_or_written(dsn, adviser, stock_server):
    for text in (
        "SELECT nextval('counted')",
        "SELECT counting() FROM sales.orders",
        "WITH gone AS (DELETE FROM sales.orders RETURNING 1) SELECT count(*) FROM gone",
        "SELECT 1; DROP TABLE sales.orders",
        "SELECT 1; COMMIT; DROP TABLE sales.orders",
        "SELECT count(*) FROM sales.orders) TO PROGRAM 'false'",
        "select 1 INTO made",
    ):
        adviser.advise_statement(Statement("s", text))
    with stock_server.connect("advised") as connection:
        assert connection.execute("SELECT is_called FROM counted").fetchone() == (False,)
        assert connection.execute("SELECT count(*) FROM sales.orders").fetchone() == (ROWS,)
        assert connection.execute("SELECT to_regclass('made')").fetchone() == (None,)


@pytest.mark.parametrize(
    "text",
    ["SELECT sum(amount FROM sales.ord", "SELECT * FROM missing", "SELECT 1; SELECT 2", "SELECT \0",
     "SELECT $1 + $2", "SELECT '\ud800'", "SELECT " + "(" * 100_000],
)  # fmt: skip
def test_what_is_not_planned_is_told(adviser, text):
    found = adviser.advise_statement(Statement("s", text))
    assert found.verdict in ("unknown", "no") and (found.problem or found.obstacles)
    # and the connection goes on
    sql = "SELECT sum(amount) FROM sales.orders"
    assert adviser.advise_statement(Statement("s", sql)).verdict == "vectors"


def test_a_table_that_is_locked_costs_a_statement(adviser, stock_server):
    with stock_server.connect("advised") as other, other.transaction():
        other.execute("LOCK TABLE sales.orders")
        found = adviser.advise_statement(Statement("s", "SELECT count(*) FROM sales.orders"))
    assert "lock timeout" in found.problem


def test_rights_are_those_of_the_role(stock_server, dsn):
    connection = psycopg.conninfo.make_conninfo(dsn, user="adviser")
    with Server(connection) as server:
        found = Adviser(server).advise_statement(
            Statement("s", "SELECT count(*) FROM sales.orders")
        )
    assert found.verdict == "unknown" and "permission denied" in found.problem


# -- times and sizes -------------------------------------------------------------------------------


def test_more_work_takes_longer(adviser):
    def milliseconds(sql: str) -> tuple[float, float]:
        quantities = adviser.examine(Statement("s", sql)).quantities
        return quantities.postgresql_ms(read_costs()), quantities.penumbra_ms(read_costs())

    few = milliseconds("SELECT count(*) FROM sales.orders WHERE amount > 3")
    more = milliseconds("SELECT kind, sum(amount * 2) FROM sales.orders WHERE amount > 3 GROUP BY 1"
                        " ORDER BY 2")  # fmt: skip
    assert few[0] < more[0] and few[1] < more[1]


def test_quantities_have_costs(adviser):
    costs = read_costs()
    examined = adviser.examine(Statement("s", "SELECT DISTINCT kind FROM sales.orders ORDER BY 1"))
    quantities = measure_plan(examined.plan, examined.verdict)
    assert set(quantities.postgresql) <= set(costs.postgresql)
    assert set(quantities.penumbra) <= set(costs.penumbra)


def test_sizes_follow_the_values(adviser):
    table = adviser.catalog.table("sales", "orders")
    sizes = {name: stored_form(table, column, adviser.catalog) for name, column in
             table.columns.items() if name not in ("doc", "tags")}  # fmt: skip
    assert sizes["kind"].is_coded and sizes["kind"].cached_bytes < 2 * ROWS
    assert not sizes["note"].is_coded and sizes["note"].cached_bytes > 8 * ROWS
    assert sizes["day"].cached_bytes <= 2 * ROWS < sizes["amount"].cached_bytes


def test_the_curve_takes_first_what_pays_most(adviser):
    advised = [
        adviser.advise_statement(Statement("cheap", "SELECT sum(amount) FROM sales.orders", 100)),
        adviser.advise_statement(Statement("dear", "SELECT count(*) FROM sales.orders WHERE note"
                                           " LIKE '%x%' AND amount > 1", 1)),
    ]  # fmt: skip
    curve = memory_curve(advised)
    assert [[column.column for column in point.added] for point in curve] == [
        ["amount"],
        ["note"],
    ]
    assert curve[0].cached_bytes < curve[1].cached_bytes and curve[0].saved_ms < curve[1].saved_ms
    assert curve[1].saved_ms == pytest.approx(sum(one.saved_ms for one in advised))
    assert recommended_mb(curve) == 64 and recommended_mb(()) == 0


def test_settings_follow_the_workload(dsn):
    statements = tuple(
        Statement(f"s{number}", sql) for number, sql in enumerate((
            "SELECT note, sum(amount) FROM sales.orders GROUP BY note ORDER BY 2",
            "SELECT kind, sum(amount) FROM sales.orders GROUP BY kind",
        ))
    )  # fmt: skip

    def remedies(options: str, statements: tuple[Statement, ...]) -> str:
        with Server(f"{dsn} options='{options}'") as server:
            advice = Adviser(server).advise(Workload("test", statements, False))
            return " | ".join(finding.remedy for finding in find_settings(server, advice))

    assert "work_mem = '" in remedies("-cwork_mem=1MB", statements)
    assert "work_mem = '" not in remedies("-cwork_mem=64MB", statements)
    assert "work_mem = '" not in remedies("-cwork_mem=1MB", statements[1:])
    assert "random_page_cost = 1.1" in remedies("-crandom_page_cost=4", statements)
    assert "random_page_cost" not in remedies("-crandom_page_cost=1.5", statements)
    assert "threads" in remedies("-cmax_parallel_workers_per_gather=0", statements)
    assert "threads" not in remedies("-cmax_parallel_workers_per_gather=2", statements)


# -- reports ---------------------------------------------------------------------------------------


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["queryid", "query", "calls", "mean_exec_time"])
        writer.writerow(["1", "SELECT kind, sum(amount) FROM sales.orders GROUP BY 1", 100, 20])
        writer.writerow(["2", "SELECT string_agg(note, '<script>[/b]') FROM sales.orders"
                         " WHERE amount > 1e9", 1, 50])  # fmt: skip
        writer.writerow(["3", f"SELECT sum({quoted(HOSTILE)}) FROM {quoted(HOSTILE)}", 5, 9])
        writer.writerow(["4", "SELECT sum(amount) FROM sales.ord", 1, 1])
    return str(path)


def test_the_terminal_shows_all_sections(dsn, queries):
    shown = advise("--dsn", dsn, "--queries", queries)
    for text in ("3 of 4", "[/b]", "in vectors", "in part", "not planned", "aggregate string_agg",
                 'relation "sales.ord" does not exist', "Gain with so much memory",
                 "penumbra.memory = '64MB'", "shared_preload_libraries"):  # fmt: skip
        assert text in shown, text
    assert "\x1b[31m" not in shown and "\u202e" not in shown


def test_statements_that_load_name_every_table(dsn, queries, stock_server):
    shown = advise("--dsn", dsn, "--queries", queries)
    loads = re.findall(r"penumbra\.load\((.*), ARRAY\[(.*)\]\);", shown)
    assert len(loads) == 2
    with stock_server.connect("advised") as connection:
        for relation, column in loads:
            first = column.split(", ")[0]
            sql = f"SELECT {relation}::regclass, attname = {first} FROM pg_attribute"
            found = connection.execute(f"{sql} WHERE attrelid = {relation}::regclass").fetchall()
            assert any(is_there for _, is_there in found)


def test_json_has_the_same(dsn, queries):
    document = json.loads(advise("--dsn", dsn, "--queries", queries, "--json"))
    assert [one["verdict"] for one in document["statements"]] == [
        "vectors", "part", "vectors", "unknown"]  # fmt: skip
    assert document["memory_mb"] == 64 and document["curve"]
    assert document["statements"][0]["time_ms"] == 2000


def test_pages_are_written_and_escaped(dsn, queries, tmp_path):
    for suffix in ("html", "md"):
        path = tmp_path / f"advice.{suffix}"
        advise("--dsn", dsn, "--queries", queries, "-o", str(path))
        text = path.read_text()
        assert "What Penumbra would bring to advised" in text
        assert "<script>" not in text.replace("```", "") or suffix == "md"
    assert "&lt;script&gt;" in (tmp_path / "advice.html").read_text()
    with pytest.raises(LabError, match="none of .html"):
        advise("--dsn", dsn, "--queries", queries, "-o", str(tmp_path / "advice.pdf"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESK, "light"), (DESK, "dark")]
)
def test_the_page_is_whole_in_a_browser(browser, dsn, queries, tmp_path, viewport, scheme):
    path = tmp_path / "advice.html"
    advise("--dsn", dsn, "--queries", queries, "-o", str(path))
    page = browser.new_page(viewport=viewport, color_scheme=scheme)
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert complaints == [] and requests == [path.as_uri()]
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.evaluate(CLIPPED) == []
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()


def test_without_the_view_it_says_how_to_get_it(dsn):
    with pytest.raises(LabError, match="CREATE EXTENSION pg_stat_statements"):
        advise("--dsn", dsn)


def test_with_the_extension_it_says_what_really_ran(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE advised")
        connection.execute("CREATE ROLE plain LOGIN")
    with watched_server.connect("advised") as connection:
        for statement in (
            "CREATE EXTENSION penumbra",
            "CREATE EXTENSION pg_stat_statements",
            "CREATE TABLE t AS SELECT i, i % 5 AS k FROM generate_series(1, 80000) i",
            "VACUUM ANALYZE",
            "SELECT penumbra.load('t')",
            "SELECT k, sum(i) FROM t WHERE i > 5 GROUP BY k",
            "CREATE TABLE missed AS SELECT i FROM generate_series(1, 80000) i",
            "ANALYZE missed",
            "SELECT sum(i), min(i), max(i), avg(i), stddev(i), variance(i), bit_or(i) FROM missed",
        ):
            connection.execute(statement)
    dsn = watched_server.conninfo("advised")
    shown = advise("--dsn", dsn, "--rows", "100")
    ran = " ".join(shown.partition("What really ran")[2].split())
    assert "GROUP BY k" in ran
    assert "statement calls in vectors not in all reason" in ran  # a long statement wraps
    document = json.loads(advise("--dsn", dsn, "--json"))
    advised = {one["statement"]["text"]: one for one in document["statements"]}
    [text] = [text for text in advised if "GROUP BY k" in text]
    assert "$1" in text and advised[text]["verdict"] == "vectors"
    assert "the library is not loaded" not in shown
    assert ("not cached", "public.missed") in {
        (row["kind"], row["object"]) for row in document["counted_advice"]}  # fmt: skip
    assert "SELECT penumbra.load('public.missed', '{i}')" in " ".join(shown.split())
    plain = psycopg.conninfo.make_conninfo(dsn, user="plain")
    assert "pg_monitor" in advise("--dsn", plain)
    assert json.loads(advise("--dsn", plain, "--json"))["counted_advice"] == []


def test_functions_of_others_are_not_called_by_a_superuser(watched_server):
    with watched_server.connect() as connection:
        connection.execute("CREATE DATABASE lured")
        connection.execute("CREATE ROLE hostile LOGIN")
        connection.execute("CREATE ROLE asking LOGIN IN ROLE pg_monitor, pg_read_all_data")
    with watched_server.connect("lured") as connection:
        for statement in (
            "CREATE EXTENSION pg_stat_statements",
            "CREATE TABLE t AS SELECT 1 AS i",
            "GRANT SELECT ON t TO PUBLIC",
            "CREATE SCHEMA hostile AUTHORIZATION hostile",
            "GRANT USAGE ON SCHEMA hostile TO PUBLIC",
            "SELECT sum(i) FROM t",
        ):
            connection.execute(statement)
    dsn = watched_server.conninfo("lured")
    with psycopg.connect(dsn, user="hostile", autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION hostile.lure() RETURNS int IMMUTABLE LANGUAGE plpgsql"
            " AS $$ BEGIN RAISE LOG 'lured: %', current_user; RETURN 1; END $$"
        )
        connection.execute("SELECT i FROM t WHERE i = hostile.lure()")
    shown = advise("--dsn", dsn, "--json")
    assert "statements of other roles are left out" in shown
    assert "lure()" not in shown and "sum(i)" in shown
    assert "lure()" in advise("--dsn", psycopg.conninfo.make_conninfo(dsn, user="asking"), "--json")
    log = watched_server.log.read_text()
    assert "lured: asking" in log and "lured: postgres" not in log


def test_the_server_that_goes_away_is_told(dsn):
    with Server(dsn) as server, Server(dsn) as other:
        adviser = Adviser(server)
        [row] = server.ask("SELECT pg_backend_pid() AS pid")
        other.ask("SELECT pg_terminate_backend(%s)", (row.pid,))
        with pytest.raises((psycopg.OperationalError, NotPlanned)):
            while True:
                adviser.examine(Statement("s", "SELECT count(*) FROM sales.orders"))
