"""Other extensions in the same server: what docs/neighbours.md says of each, and answers in every mode."""

import re

import pytest
from conftest import assert_same, fill, is_in_vectors, needs_extension, plan, rows

# What has to be preloaded, where it is installed; pg_hint_plan after penumbra.
LIBRARIES = ("pg_stat_statements", "auto_explain", "pgaudit", "pg_qualstats", "timescaledb", "pg_plan_advice")
GROUPED = "SELECT name, count(*), sum(amount) FROM t JOIN u USING (grp) WHERE amount > 10 GROUP BY name ORDER BY name"
NOT_CACHED = "SELECT grp, sum(amount) FROM not_cached GROUP BY grp ORDER BY grp"
WINDOW = "SELECT id, sum(amount) OVER (PARTITION BY grp ORDER BY id) FROM t WHERE id < 100 ORDER BY id"


@pytest.fixture(scope="module", params=["penumbra first", "penumbra last"])
def server(request, make_server, installed_libraries):
    others = [name for name in LIBRARIES if name in installed_libraries]
    libraries = ["penumbra", *others] if request.param == "penumbra first" else [*others, "penumbra"]
    libraries += [name for name in ("pg_hint_plan",) if name in installed_libraries]
    server = make_server(request.param.replace(" ", "-"), {
        "shared_preload_libraries": ",".join(libraries), "timescaledb.telemetry_level": "off",
    })  # fmt: skip
    with server.connect() as connection:
        assert rows(connection, "SHOW shared_preload_libraries") == [(",".join(libraries),)]
        fill(connection)
        connection.execute("CREATE TABLE not_cached AS SELECT * FROM t")
        connection.execute("ANALYZE not_cached")
    return server


@pytest.fixture()
def connection(server):
    with server.connect() as connection:
        yield connection


def logged(server, since: int) -> str:
    return server.log.read_text(errors="replace")[since:]


def log_length(server) -> int:
    return len(server.log.read_text(errors="replace"))


def test_pg_stat_statements(connection):
    needs_extension(connection, "pg_stat_statements")
    connection.execute("SELECT pg_stat_statements_reset(), penumbra.reset_statistics()")
    assert_same(connection, GROUPED)
    connection.execute("RESET penumbra.mode")
    found = rows(connection, """
        SELECT s.calls, p.calls, p.calls_in_vectors, s.rows / s.calls FROM pg_stat_statements s
        JOIN penumbra.statements p USING (userid, dbid, queryid) WHERE query LIKE 'SELECT name, count%'""")  # fmt: skip
    ((calls, calls_seen, in_vectors, rows_each),) = found
    assert calls == calls_seen == 3 and in_vectors == 2 and rows_each == 20


def test_auto_explain(server, connection):
    connection.execute("SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on")
    for query, is_taken in ((GROUPED, True), (NOT_CACHED, False)):
        begin = log_length(server)
        connection.execute(query)
        text = logged(server, begin)
        assert query.split("FROM")[0] in text
        assert ("Custom Scan (Penumbra" in text) == is_taken
        if not is_taken:
            assert ("Penumbra: not used (not cached: not_cached (" in text) == (server.installation.major >= 18)
    assert_same(connection, GROUPED, NOT_CACHED)


def test_pgaudit(server, connection):
    needs_extension(connection, "pgaudit")
    connection.execute("SET pgaudit.log = 'read'; SET pgaudit.log_relation = on")
    entries = {}
    for mode in ("off", "auto", "prefer"):
        connection.execute(f"SET penumbra.mode = {mode}")
        begin = log_length(server)
        for query in (GROUPED, WINDOW):
            connection.execute(query)
        # SESSION,statement,substatement,class,command,object type,object,text
        entries[mode] = re.findall(r"AUDIT: SESSION,\d+,(\d+,READ,SELECT,TABLE,public\.\w+,.*)", logged(server, begin))
    assert [entry.split(",")[4] for entry in entries["off"]] in (
        ["public.t", "public.u", "public.t"], ["public.u", "public.t", "public.t"])  # fmt: skip
    assert entries["auto"] == entries["prefer"] == entries["off"]
    assert_same(connection, GROUPED, WINDOW)


def test_pg_hint_plan(connection):
    needs_extension(connection, "pg_hint_plan")
    assert is_in_vectors(connection, GROUPED)
    assert is_in_vectors(connection, f"/*+ SeqScan(t) HashJoin(t u) */ {GROUPED}")
    hinted = f"/*+ Set(penumbra.mode off) SeqScan(t) MergeJoin(t u) */ {GROUPED}"
    assert not is_in_vectors(connection, hinted)
    assert "Seq Scan on t" in plan(connection, hinted) and "Merge Join" in plan(connection, hinted)
    assert_same(connection, GROUPED, hinted, f"/*+ NestLoop(t u) */ {GROUPED}")


def test_pg_plan_advice(connection, installed_libraries):
    if "pg_plan_advice" not in installed_libraries:
        pytest.skip("pg_plan_advice is a module of PostgreSQL 19")
    advice = "SEQ_SCAN(t) MERGE_JOIN_PLAIN(u)"
    for mode, is_taken in (("auto", True), ("off", False)):
        connection.execute(f"SET penumbra.mode = {mode}")
        connection.execute(f"SET pg_plan_advice.advice = '{advice}'")
        assert is_in_vectors(connection, GROUPED) == is_taken
        assert ("Merge Join" in plan(connection, GROUPED)) != is_taken
        connection.execute("RESET pg_plan_advice.advice")
        generated = rows(connection, f"EXPLAIN (PLAN_ADVICE) {GROUPED}")
        assert any("SEQ_SCAN(t u)" in line for (line,) in generated)
    connection.execute(f"SET pg_plan_advice.advice = '{advice}'")
    assert_same(connection, GROUPED, WINDOW)


def test_pg_qualstats(connection):
    needs_extension(connection, "pg_qualstats")
    connection.execute("SET pg_qualstats.sample_rate = 1")
    counts = {}
    for mode in ("prefer", "off"):
        connection.execute("SELECT pg_qualstats_reset()")
        connection.execute(f"SET penumbra.mode = {mode}")
        connection.execute(GROUPED)
        connection.execute("SET penumbra.mode = off")
        (counts[mode],) = rows(connection, "SELECT count(*) FROM pg_qualstats WHERE lrelid = 't'::regclass")[0]
    assert counts["off"] > 0 and counts["prefer"] == 0
    assert_same(connection, GROUPED)


def test_hypopg(connection):
    needs_extension(connection, "hypopg")
    one = "SELECT id FROM t WHERE amount = 12.5 AND note = 'note 0' ORDER BY id"
    connection.execute("SELECT hypopg_create_index('CREATE INDEX ON t (amount, note)')")
    for mode in ("off", "auto"):
        connection.execute(f"SET penumbra.mode = {mode}")
        assert re.search(r"Index Scan (using|on) \S*<\d+>btree_t_amount", plan(connection, one)), mode
    assert_same(connection, one, GROUPED)
    connection.execute("SELECT hypopg_reset()")


def cached_pages(connection, table: str) -> int:
    return rows(connection, f"SELECT coalesce(sum(cached_pages), 0)::int FROM penumbra.tables WHERE relid = '{table}'::regclass")[0][0]


def assert_begins_anew(connection, table: str) -> None:
    """After the table got a new file."""
    assert cached_pages(connection, table) == 0
    assert_same(connection, GROUPED.replace("FROM t", f"FROM {table}"))
    connection.execute(f"SELECT penumbra.load('{table}')")
    assert is_in_vectors(connection, GROUPED.replace("FROM t", f"FROM {table}"))
    assert_same(connection, GROUPED.replace("FROM t", f"FROM {table}"))


def copy_of_t(connection, name: str) -> None:
    connection.execute(f"CREATE TABLE {name} (LIKE t INCLUDING ALL)")
    connection.execute(f"INSERT INTO {name} SELECT * FROM t")
    connection.execute(f"DELETE FROM {name} WHERE id % 3 = 0")
    connection.execute(f"VACUUM ANALYZE {name}")
    connection.execute(f"SELECT penumbra.load('{name}')")
    assert cached_pages(connection, name) > 0


def test_pg_repack(server, connection):
    needs_extension(connection, "pg_repack")
    copy_of_t(connection, "repacked")
    server.run_client("pg_repack", "--table=repacked", "--no-order")
    assert_begins_anew(connection, "repacked")


@pytest.mark.parametrize("concurrently", ["", "(CONCURRENTLY)"])
def test_repack(server, connection, concurrently):
    if server.installation.major < 19:
        pytest.skip("REPACK is a command of PostgreSQL 19")
    name = "repacked_concurrently" if concurrently else "repacked_alone"
    copy_of_t(connection, name)
    connection.execute(f"REPACK {concurrently} {name}")
    assert_begins_anew(connection, name)


def test_pgvector(connection):
    needs_extension(connection, "vector")
    connection.execute("""
        CREATE TABLE points AS SELECT g AS id, g % 7 AS grp, ARRAY[g % 100, g % 31, 1]::vector(3) AS place
        FROM generate_series(1, 40000) g""")
    connection.execute("VACUUM ANALYZE points")
    connection.execute("SELECT penumbra.load('points')")
    nearest = "SELECT id, place <-> '[5,6,1]' FROM points ORDER BY place <-> '[5,6,1]', id LIMIT 5"
    both = "SELECT grp, avg(place) FROM points GROUP BY grp ORDER BY grp"
    assert_columns_of_types(connection, "points", "place", nearest, both)


def test_postgis(connection):
    needs_extension(connection, "postgis")
    connection.execute("""
        CREATE TABLE points AS SELECT g AS id, g % 7 AS grp, ST_SetSRID(ST_MakePoint(g % 100, g % 31), 4326) AS place
        FROM generate_series(1, 40000) g""")
    connection.execute("CREATE INDEX ON points USING gist (place)")
    connection.execute("VACUUM ANALYZE points")
    connection.execute("SELECT penumbra.load('points')")
    within = "SELECT count(*) FROM points WHERE ST_DWithin(place, ST_SetSRID(ST_MakePoint(5, 6), 4326), 3)"
    both = "SELECT grp, ST_AsText(ST_Extent(place)) FROM points GROUP BY grp ORDER BY grp"
    assert "points_place_idx" in plan(connection, within)
    assert_columns_of_types(connection, "points", "place", within, both)


def assert_columns_of_types(connection, table: str, column: str, *queries_of_column: str) -> None:
    """The column is not cached, and queries that read it are PostgreSQL's; the others are not."""
    others = f"SELECT grp, count(*), sum(id) FROM {table} GROUP BY grp ORDER BY grp"
    cached = rows(connection, f"SELECT column_name FROM penumbra.columns WHERE relid = '{table}'::regclass ORDER BY 1")
    assert cached == [("grp",), ("id",)]
    assert is_in_vectors(connection, others)
    for query in queries_of_column:
        assert f"{column}" in query and "Penumbra Aggregate" not in plan(connection, query)
    assert_same(connection, others, *queries_of_column)
    connection.execute(f"DROP TABLE {table}")




def test_timescaledb(connection):
    needs_extension(connection, "timescaledb")
    connection.execute("CREATE TABLE readings (at timestamptz NOT NULL, device int, value numeric)")
    connection.execute("SELECT create_hypertable('readings', 'at', chunk_time_interval => interval '1 day')")
    connection.execute("""
        INSERT INTO readings SELECT timestamptz '2024-01-01' + g * interval '20 s', g % 20, g % 1000
        FROM generate_series(0, 39999) g""")
    connection.execute("VACUUM ANALYZE readings")
    connection.execute("SELECT penumbra.load(chunk) FROM show_chunks('readings') chunk")
    by_device = "SELECT device, count(*), sum(value) FROM readings GROUP BY device ORDER BY device"
    one_day = "SELECT sum(value) FROM readings WHERE at >= '2024-01-05' AND at < '2024-01-06'"
    buckets = "SELECT time_bucket('1 day', at) AS day, sum(value) FROM readings GROUP BY day ORDER BY day"
    for query in (by_device, one_day):
        assert is_in_vectors(connection, query)
    assert not is_in_vectors(connection, buckets)
    assert_same(connection, by_device, one_day, buckets)
    connection.execute("UPDATE readings SET value = value + 1 WHERE device = 3")
    connection.execute("SELECT drop_chunks('readings', older_than => timestamptz '2024-01-03')")
    assert_same(connection, by_device, one_day, buckets)
    connection.execute("DROP TABLE readings")
