"""Joins that are made to be bad: endless ones, cancelled and terminated in each of their stages, keys that are all the
same, little memory and disk, large values as payload, deep conditions.
"""

import os
import re
import time

import pytest
from conftest import SLOWNESS, Memory, cache_table, connect, outcome, wait_until
from penumbra_lab.errors import LabError
from penumbra_lab.small_disk import SmallDisk
from test_exits import (
    EXITS,
    HARD_EXITS,
    Victim,
    assert_sound,
    do_meanwhile,
    load_threaded,
    make_attacked,
)
from test_expressions import check, deep

# Of 9e10 pairs, in the stage that the name says. `one` is the same in all rows.
ENDLESS = {
    "nested loop": "SELECT count(*) FROM threaded AS a JOIN threaded AS b ON a.a + b.a < 0",
    "matches of one key": "SELECT count(*) FROM threaded AS a JOIN threaded AS b ON a.one = b.one AND a.t > b.t",
    "no match": "SELECT count(*) FROM threaded AS a WHERE NOT EXISTS (SELECT FROM threaded AS b WHERE a.one = b.one AND a.a + b.a < 0)",
    "build": "SELECT count(*) FROM attacked AS c WHERE c.a NOT IN (SELECT a.a + b.a FROM threaded AS a JOIN threaded AS b ON a.one = b.one)",
    "result": "SELECT a.a, b.t FROM threaded AS a FULL JOIN threaded AS b ON a.one = b.one AND a.t > b.t || 'x'",
}
# Both sides go to disk, all with one key.
SPILLING = "SELECT count(*), max(a.t), max(b.t) FROM threaded AS a JOIN threaded AS b ON a.one = b.one AND a.a < b.a"
# Both sides go to disk, each key once.
SPILLING_KEYS = "SELECT count(*), max(a.t), max(b.t) FROM threaded AS a {} threaded AS b ON a.a = b.a AND a.t = b.t"
LITTLE_MEMORY = ("work_mem = '64kB'", "hash_mem_multiplier = 1")


def cpu_seconds(pid: int) -> float:
    """Of all threads of the process, in nanoseconds' resolution: the clock of clock_getcpuclockid()."""
    return time.clock_gettime((~pid << 3) | 2)


def wait_until_busy(pid: int) -> None:
    begin = cpu_seconds(pid)
    wait_until(lambda: cpu_seconds(pid) > begin + 0.2, "the query does not work")


def temporary_files(pid: int) -> int:
    """That the process has open; the engine's are without a name."""
    count = 0
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += "pgsql_tmp" in os.readlink(f"/proc/{pid}/fd/{number}")
        except FileNotFoundError:
            continue
    return count


@pytest.fixture()
def joined(server, database):
    make_attacked(server, database)
    load_threaded(server, database)
    with connect(server, database) as connection:
        connection.execute("ALTER TABLE threaded ADD one int DEFAULT 1")
        connection.execute("SELECT penumbra.load('threaded')")
    return database


def assert_joins(server, database: str, query: str, *settings: str) -> None:
    """The engine runs all of it."""
    with connect(server, database) as connection:
        for setting in ("penumbra.mode = prefer", *settings):
            connection.execute(f"SET {setting}")
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN {query}"))
    assert re.match(r"Custom Scan \(Penumbra (Join|Aggregate)\)", plan), plan


@pytest.mark.timeout(600 * SLOWNESS)
@pytest.mark.parametrize("stage", ENDLESS)
@pytest.mark.slow
def test_endless_joins_end(server, joined, stage, is_long):
    query = ENDLESS[stage]
    assert_joins(server, joined, query)
    for way in [way for way in EXITS if way != "lock_timeout"] if is_long else ["cancel", "terminate"]:
        settings, exit_by = EXITS[way]
        # Nobody fetches rows by a plain statement before the last one is there: a limit of rows that is never reached.
        # The rows themselves are counted: PostgreSQL does not run an aggregation whose result nobody reads.
        victim = Victim(server, joined, "temp_file_limit = '500MB'", *settings)
        victim.begin(f"SELECT count(endless) FROM ({query} OFFSET 0) AS endless")
        wait_until_busy(victim.pid)
        do_meanwhile(server, joined, "unload")
        if exit_by:
            exit_by(server, victim)
        assert victim.finish() in ("57014", "57P01", "53400", "gone"), way
    assert_sound(server, joined)


@pytest.mark.timeout(600 * SLOWNESS)
@pytest.mark.parametrize("way", ["cancel", "terminate"])
def test_spilling_joins_end(server, joined, way):
    assert_joins(server, joined, SPILLING, *LITTLE_MEMORY)
    victim = Victim(server, joined, *LITTLE_MEMORY)
    victim.begin(SPILLING)
    wait_until(lambda: temporary_files(victim.pid) > 0, "nothing is written")
    EXITS[way][1](server, victim)
    assert victim.finish() in ("57014", "57P01", "gone")
    assert_sound(server, joined)


@pytest.mark.timeout(600 * SLOWNESS)
def test_a_cancel_ends_the_writing(server, joined):
    """The session's own thread goes to disk with 128 MB in one call of the engine. Its processor time is what counts:
    how long it waits for a processor is not its affair.
    """
    wide = f"(SELECT a, {' || '.join(['t'] * 16)} AS t FROM threaded)"  # whichever side is built
    query = f"SELECT a.a, b.t FROM {wide} AS a FULL JOIN {wide} AS b ON a.a = b.a AND a.t = b.t"
    settings = ("penumbra.threads_per_query = 0", "work_mem = '64MB'", "hash_mem_multiplier = 2")
    assert_joins(server, joined, query, *settings)
    victim = Victim(server, joined, *settings)
    victim.begin(query)
    wait_until(lambda: temporary_files(victim.pid) > 0, "nothing is written")
    begin = cpu_seconds(victim.pid)
    EXITS["cancel"][1](server, victim)
    victim.wait()
    seconds = cpu_seconds(victim.pid) - begin
    assert victim.finish() == "57014"
    assert seconds < 0.1 * SLOWNESS


@pytest.mark.kills
@pytest.mark.timeout(600 * SLOWNESS)
@pytest.mark.parametrize("way", HARD_EXITS)
@pytest.mark.slow
def test_the_server_ends_within_joins(server, joined, way):
    victim = Victim(server, joined, *LITTLE_MEMORY)
    victim.begin(SPILLING)
    wait_until(lambda: temporary_files(victim.pid) > 0, "nothing is written")
    HARD_EXITS[way](server, victim)
    victim.finish()
    assert_sound(server, joined)


@pytest.mark.timeout(600 * SLOWNESS)
@pytest.mark.slow
def test_temporary_files_are_limited(server, joined):
    """While the build side is written, while the probe side is, and not at all; nothing is left of it."""
    with connect(server, joined) as connection:
        # Each process has a limit of its own, and the ordinary plan, which the error leads to, may run in several.
        for setting in ("penumbra.mode = prefer", *LITTLE_MEMORY, "max_parallel_workers_per_gather = 0"):
            connection.execute(f"SET {setting}")
        for limit, expected in (("1MB", ("error", "53400")), ("30MB", ("error", "53400")), ("-1", None)):
            connection.execute(f"SET temp_file_limit = '{limit}'")
            for kind in ("JOIN", "FULL JOIN", "LEFT JOIN"):
                found = outcome(connection, SPILLING_KEYS.format(kind))
                assert found[0] == "rows" if expected is None else found == expected, (limit, kind)
                assert temporary_files(connection.info.backend_pid) == 0
    assert_sound(server, joined)


@pytest.fixture()
def disk(server, joined):
    """For temporary files, by tablespace `small`."""
    try:
        small = SmallDisk(server.directory / "disk", 1 << 20)
    except LabError as error:
        pytest.skip(str(error))
    with server.connect() as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{small.path}'")
    yield small
    with server.connect() as connection:
        connection.execute("DROP TABLESPACE small")
    small.remove()
    small.path.rmdir()


@pytest.mark.timeout(600 * SLOWNESS)
def test_full_disk(server, joined, disk):
    """As where temporary files are limited, of joins and groups."""
    queries = {
        **{kind: SPILLING_KEYS.format(kind) for kind in ("JOIN", "FULL JOIN", "LEFT JOIN")},
        "groups": "SELECT count(*) FROM (SELECT t || t || t, count(*) FROM threaded GROUP BY 1 OFFSET 0) AS s",
    }
    with connect(server, joined) as connection:
        for setting in ("penumbra.mode = prefer", *LITTLE_MEMORY, "temp_tablespaces = small"):
            connection.execute(f"SET {setting}")
        for megabytes, expected in ((1, ("error", "53100")), (30, ("error", "53100")), (500, None)):
            disk.resize(megabytes << 20)
            for name, query in queries.items():
                found = outcome(connection, query)
                assert found[0] == "rows" if expected is None else found == expected, (megabytes, name)
                assert temporary_files(connection.info.backend_pid) == 0
                assert os.statvfs(disk.path).f_bfree == os.statvfs(disk.path).f_blocks, (megabytes, name)
    assert_sound(server, joined)


@pytest.fixture(scope="module")
def tables(server):
    with server.connect() as connection:
        connection.execute("CREATE DATABASE joins")
    with connect(server, "joins") as connection:
        connection.execute("CREATE TABLE many AS SELECT g AS id, g % 10 AS k, 1 AS one, 'text ' || g AS t, g / 8.0 AS n FROM generate_series(1, 3000) AS g")
        connection.execute("CREATE TABLE large (id int, k int, one int, v text)")
        connection.execute("ALTER TABLE large ALTER v SET STORAGE EXTERNAL")
        connection.execute("INSERT INTO large SELECT g, g % 10, 1, CASE WHEN g <= 2000 THEN 'small' ELSE repeat(md5(g::text), 8192) END FROM generate_series(1, 2008) AS g")
        for table in ("many", "large"):
            cache_table(connection, table)
    yield "joins"
    with server.connect() as connection:
        connection.execute("DROP DATABASE joins WITH (FORCE)")


# Eight values of 256 kB have 300 matches each: a batch of pairs would have half a GB.
LARGE_PAYLOADS = {
    "copied": "SELECT a.id, length(a.v), md5(a.v) FROM large AS a JOIN many AS b ON a.k = b.k WHERE b.id < 200 AND a.id > 1990",
    "computed": "SELECT sum(length(a.v || b.id)) FROM large AS a JOIN many AS b ON a.k = b.k AND a.id > 1990",
    "in a condition": "SELECT count(*) FROM large AS a JOIN many AS b ON a.k = b.k AND a.v || b.id LIKE '%7' AND a.id > 1990",
    "as a key": "SELECT count(*), min(length(a.v)) FROM large AS a JOIN large AS b ON a.v = b.v WHERE a.id > 1990",
    "of the outer side": "SELECT max(length(a.v || b.t)) FROM large AS a LEFT JOIN many AS b ON a.k = b.k AND b.id < 1000 AND b.one = a.one WHERE a.id > 1990",
    "on both sides": "SELECT sum(length(a.v || b.v)) FROM large AS a FULL JOIN large AS b ON a.k = b.k AND a.id <> b.id WHERE a.id > 2000 AND b.id > 2000",
    "grouped": "SELECT b.k, max(a.v) < 'zzz', count(*) FROM large AS a JOIN many AS b ON a.k = b.k AND a.id > 1990 GROUP BY b.k",
    "streamed after small ones": "SELECT length(v), count(*) FROM (SELECT a.v, b.id FROM large AS a JOIN many AS b ON a.one = b.one AND b.id <= 100 OFFSET 0) AS s GROUP BY 1",
}


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("what", LARGE_PAYLOADS)
@pytest.mark.slow
def test_large_payloads(server, tables, what):
    check(server, tables, LARGE_PAYLOADS[what], 1 << 18)


def deep_conditions(count: int) -> list[str]:
    """Expressions of tables `tall`, as conditions on two of them."""
    conditions = [expression.removeprefix("count(*) FILTER (WHERE ").removesuffix(")")
                  for expression in deep(count).values() if expression.startswith("count(*)")]  # fmt: skip
    of_pair = {"f": "b.n::float8", "b": "(a.k + b.k)", "n": "(a.n - b.n)", "p": "(a.id < b.id)", "t": "b.t"}
    return [re.sub(r"\b(f|b|n|p|t)\b", lambda found: of_pair[found.group()], condition.replace("'text ", "'TEXT ")) for condition in conditions]


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.slow
def test_deep_conditions(server, tables, is_long):
    for count in (1, 300, 1000, 5000) if is_long else (1000,):
        for condition in deep_conditions(count):
            for kind in ("JOIN", "LEFT JOIN", "FULL JOIN") if is_long else ("LEFT JOIN",):
                check(server, tables, f"SELECT count(*), count(a.id) FROM many AS a {kind} many AS b ON a.id = b.id + 1 AND ({condition})")
    terms = " + ".join(["b.k"] * 1500)
    check(server, tables, f"SELECT count(*) FROM many AS a JOIN many AS b ON a.id = {terms}")


@pytest.mark.timeout(1800 * SLOWNESS)
def test_many_joins(server, tables, is_long):
    for count in (2, 11, 30) if is_long else (11,):
        aliases = [f"t{i}" for i in range(count)]
        joins = " ".join(f"JOIN many AS {alias} ON {alias}.id = t0.id + {i}" for i, alias in enumerate(aliases[1:], 1))
        check(server, tables, f"SELECT count(*), {', '.join(f'sum({alias}.n)' for alias in aliases)} FROM many AS t0 {joins}", 4096)
        subqueries = " AND ".join(f"EXISTS (SELECT FROM many AS {alias} WHERE {alias}.id = t.id + {i} AND {alias}.t <> t.t)" for i, alias in enumerate(aliases))
        check(server, tables, f"SELECT count(*), min(t.t) FROM many AS t WHERE {subqueries}")
        nested = "SELECT id FROM many"
        for _ in range(count):
            nested = f"SELECT id FROM many WHERE id + 1 IN ({nested})"
        check(server, tables, f"SELECT count(*) FROM ({nested}) AS s")


LARGE = {
    "join": "SELECT count(*) FROM trimmed AS a JOIN trimmed AS b USING (word)",
    "groups": "SELECT word, count(*) FROM trimmed GROUP BY word ORDER BY 2 DESC, 1 LIMIT 3",
    "distinct": "SELECT count(*), count(DISTINCT word) FROM trimmed",
    "sort": "SELECT count(*) FROM (SELECT id, word FROM trimmed ORDER BY word OFFSET 5) AS sorted",
}
# What an idle session may keep of them: parts of those that held less than 64 MB. Of all it would keep 99 MB.
KEPT_BYTES_MAX = 80 << 20


@pytest.mark.slow
@pytest.mark.skipif(SLOWNESS > 1, reason="sanitizers keep what is freed")
@pytest.mark.parametrize("work_mem", ["512MB", "16MB"])
def test_memory_goes_back_to_the_system(server, database, work_mem):
    with connect(server, database) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS trimmed AS SELECT g AS id, md5(g::text) AS word FROM generate_series(1, 1500000) AS g")
        cache_table(connection, "trimmed")
        connection.execute(f"SET work_mem = '{work_mem}'")
        connection.execute("SET penumbra.mode = prefer")
        before = Memory(connection).private_bytes()
        for name, query in LARGE.items():
            connection.execute(query)
            kept = Memory(connection).private_bytes() - before
            assert kept < KEPT_BYTES_MAX, f"{name}: {kept >> 20} MB"
