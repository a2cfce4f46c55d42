"""DDL of every kind under open cursors, prepared plans and portals: rows and SQLSTATEs of mode off in every mode."""

import psycopg
import pytest
from conftest import SLOWNESS, connect

MAKE = """
CREATE TABLE d (id int PRIMARY KEY, grp int, amount numeric, words text);
CREATE INDEX d_grp ON d (grp);
INSERT INTO d SELECT g, g % 7, g / 8.0, 'words ' || g % 50 FROM generate_series(1, 6000) AS g;
CREATE TABLE parted (id int, grp int, amount numeric, words text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (3000);
CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (3000) TO (6001);
CREATE TABLE part3 (LIKE part1);
INSERT INTO parted SELECT * FROM d;
INSERT INTO part3 SELECT id + 6001, grp, amount, words FROM d;
"""
LOAD = "VACUUM ANALYZE {0}; SELECT penumbra.load('{0}')"
CHANGES = {
    "d": [
        "TRUNCATE d",
        "DROP TABLE d",
        "DROP TABLE d; CREATE TABLE d AS SELECT 1 AS id, 2 AS grp, 3.0 AS amount, 'new' AS words",
        "ALTER TABLE d RENAME TO e",
        "ALTER TABLE d RENAME grp TO other; ALTER TABLE d ADD grp int DEFAULT 9",
        "ALTER TABLE d ALTER amount TYPE float8",
        "ALTER TABLE d ALTER amount TYPE text",
        "ALTER TABLE d ALTER grp TYPE bigint",
        "ALTER TABLE d ALTER words TYPE varchar(20)",
        "ALTER TABLE d ALTER words TYPE text COLLATE \"POSIX\"",
        "ALTER TABLE d DROP COLUMN words",
        "ALTER TABLE d DROP COLUMN amount",
        "ALTER TABLE d DROP COLUMN grp; ALTER TABLE d ADD COLUMN grp text DEFAULT 'x'",
        "ALTER TABLE d ADD COLUMN extra int DEFAULT 7",
        "ALTER TABLE d ADD COLUMN extra boolean DEFAULT clock_timestamp() IS NULL",
        "CLUSTER d USING d_pkey",
        "VACUUM FULL d",
        "ALTER TABLE d SET ACCESS METHOD heap",
        "ALTER TABLE d SET ACCESS METHOD heap2",
        "REINDEX TABLE d",
        "DROP INDEX d_grp",
        "ALTER TABLE d SET UNLOGGED",
        "ALTER TABLE d ENABLE ROW LEVEL SECURITY; ALTER TABLE d FORCE ROW LEVEL SECURITY",
        "DELETE FROM d WHERE grp = 3; VACUUM d",
        "UPDATE d SET words = NULL, amount = -amount WHERE grp > 3",
        "ANALYZE d",
        "CREATE RULE r AS ON INSERT TO d DO ALSO NOTHING",
        "ALTER TABLE d INHERIT nobody",
        "CREATE TABLE child (extra int) INHERITS (d); INSERT INTO child SELECT *, 1 FROM part3",
    ],
    "parted": [
        "ALTER TABLE parted DETACH PARTITION part1",
        "ALTER TABLE parted DETACH PARTITION part2 CONCURRENTLY",
        "ALTER TABLE parted ATTACH PARTITION part3 FOR VALUES FROM (6001) TO (50000)",
        "TRUNCATE part1",
        "TRUNCATE parted",
        "DROP TABLE part2",
        "ALTER TABLE parted ALTER grp TYPE bigint",
        "ALTER TABLE parted ADD COLUMN extra int DEFAULT 3",
        "ALTER TABLE parted DROP COLUMN words",
        "CREATE TABLE part4 PARTITION OF parted DEFAULT; INSERT INTO parted VALUES (-1, 1, 1, 'default')",
        "VACUUM FULL parted",
    ],
}  # fmt: skip
QUERIES = {
    "scan": "SELECT id, grp, words FROM {} WHERE grp < 5",
    "aggregate": "SELECT grp, count(*), sum(amount), min(words) FROM {} GROUP BY grp ORDER BY grp",
    "sort": "SELECT words, id FROM {} ORDER BY words, id LIMIT 500",
    "everything": "SELECT * FROM {} WHERE id > 1500",
    "join": "SELECT a.id, b.words FROM {0} AS a LEFT JOIN (SELECT grp, min(words) AS words FROM {0} GROUP BY grp) AS b ON a.grp = b.grp WHERE a.id < 3000",
    "subquery": "SELECT id, amount FROM {0} AS a WHERE amount > (SELECT avg(amount) FROM {0} AS b WHERE b.grp = a.grp)",
}


class Session:
    """Notes what each statement gave: rows, however ordered, or the SQLSTATE."""

    def __init__(self, server, database: str, mode: str) -> None:
        self.connection = connect(server, database)
        self.connection.execute(f"SET penumbra.mode = {mode}")
        self.connection.execute("SET lock_timeout = '2s'")
        self.notes: list = []

    def run(self, sql: str) -> None:
        for statement in sql.split("; "):
            try:
                cursor = self.connection.execute(statement)
                self.notes.append(sorted(cursor.fetchall(), key=repr) if cursor.description else cursor.statusmessage)
            except psycopg.Error as error:
                self.notes.append(error.sqlstate)

    def close(self) -> list:
        self.connection.close()
        return self.notes


def under_cursor(server, database: str, mode: str, table: str, query: str, change: str) -> list:
    """In the cursor's own session; before, between and after the rows it fetches."""
    session = Session(server, database, mode)
    session.run("BEGIN")
    session.run(f"DECLARE c CURSOR FOR {query}; FETCH 0 FROM c; SAVEPOINT s")
    session.run(change)
    session.run("ROLLBACK TO s; SAVEPOINT s")
    # How many rows a fetch gives is comparable, which ones they are is not, except to the end.
    session.run(f"FETCH ALL FROM c; {change}; ROLLBACK TO s; CLOSE c; {query}; COMMIT")
    return session.close()


def under_hold_cursor(server, database: str, mode: str, table: str, query: str, change: str) -> list:
    session = Session(server, database, mode)
    session.run(f"BEGIN; DECLARE c CURSOR WITH HOLD FOR {query}; COMMIT")
    session.run(change)
    session.run(f"FETCH ALL FROM c; CLOSE c; {query}")
    return session.close()


def under_late_cursor(server, database: str, mode: str, table: str, query: str, change: str) -> list:
    """What the transaction itself changed, then a cursor, then a change again under it."""
    session = Session(server, database, mode)
    session.run(f"BEGIN; {change}; DECLARE c CURSOR FOR {query}; FETCH ALL FROM c; CLOSE c; DECLARE k CURSOR FOR {query}; {change}; FETCH ALL FROM k; ROLLBACK; {query}")
    return session.close()


def under_prepared(server, database: str, mode: str, table: str, query: str, change: str) -> list:
    """Generic and custom plans of two sessions; the change is made by one of them."""
    session, other = Session(server, database, mode), Session(server, database, mode)
    for one in (session, other):
        one.run(f"SET plan_cache_mode = force_generic_plan; PREPARE p AS {query}; EXECUTE p; EXECUTE p")
    session.run(change)
    for one in (session, other):
        one.run("EXECUTE p; EXECUTE p; SET plan_cache_mode = force_custom_plan; EXECUTE p")
    return session.close() + other.close()


def under_function(server, database: str, mode: str, table: str, query: str, change: str) -> list:
    """A portal of PL/pgSQL: the change is made while the loop runs over the rows."""
    session = Session(server, database, mode)
    inside = "; ".join(f"EXECUTE $c${part}$c$" for part in change.split("; "))
    session.connection.execute("DROP FUNCTION IF EXISTS loop_over()")
    session.connection.execute(
        f"CREATE FUNCTION loop_over() RETURNS bigint LANGUAGE plpgsql AS $f$ DECLARE r record; n bigint := 0; BEGIN"
        f" FOR r IN {query} LOOP n := n + 1; IF n = 3 THEN {inside}; END IF; END LOOP; RETURN n; END $f$"
    )
    session.run(f"SELECT loop_over(); {query}")
    return session.close()


WAYS = [under_cursor, under_hold_cursor, under_late_cursor, under_prepared, under_function]


@pytest.mark.timeout(1800 * SLOWNESS)
@pytest.mark.parametrize("way", [under_cursor, *(pytest.param(way, marks=pytest.mark.slow) for way in WAYS[1:])])
@pytest.mark.parametrize("table", CHANGES)
def test_ddl_gives_what_postgresql_gives(server, database, table, way, is_long):
    with connect(server, database) as connection:
        # The short form makes a third of the changes in each way, another third in the next.
        changes = CHANGES[table] if is_long else CHANGES[table][WAYS.index(way) % 3 :: 3]
        for number, change in enumerate(changes):
            # An index is in use or not by the plan. test_indexes_of_the_ordinary_plan() is about those.
            for scan in ("indexscan", "indexonlyscan", "bitmapscan"):
                connection.execute(f"ALTER DATABASE {database} SET enable_{scan} = {'INDEX' not in change}")
            names = list(QUERIES) if is_long else [list(QUERIES)[(number + WAYS.index(way)) % len(QUERIES)]]
            for query in (QUERIES[name].format(table) for name in names):
                notes = {}
                for mode in ("off", "auto", "prefer") if is_long else ("off", "prefer"):
                    connection.execute("DROP TABLE IF EXISTS d, e, parted, part1, part2, part3, part4, child CASCADE")
                    for statement in (MAKE + LOAD.format("d") + ";" + LOAD.format("parted")).split(";"):
                        if statement.strip():
                            connection.execute(statement)
                    notes[mode] = way(server, database, mode, table, query, change)
                for mode, found in notes.items():
                    assert found == notes["off"], f"{mode}: {query}; {change}"


@pytest.mark.timeout(300 * SLOWNESS)
@pytest.mark.parametrize("change", ["DROP INDEX indexed_id", "REINDEX TABLE indexed", "DROP INDEX unread"])
def test_indexes_of_the_ordinary_plan(server, database, change):
    """An error of the engine has the ordinary plan run at the first fetch, over an index that was open from the start."""
    query = "SELECT count(*) FROM indexed WHERE id < 50 AND 1 / (id - 3) > 0"
    with connect(server, database) as connection:
        connection.execute("CREATE TABLE indexed AS SELECT g AS id FROM generate_series(1, 60000) AS g")
        connection.execute("CREATE INDEX indexed_id ON indexed (id)")
        connection.execute("CREATE INDEX unread ON indexed ((id % 2))")
        for statement in LOAD.format("indexed").split("; "):
            connection.execute(statement)
    notes = {}
    for mode in ("off", "prefer"):
        session = Session(server, database, mode)
        session.run(f"BEGIN; DECLARE c CURSOR FOR {query}; FETCH 0 FROM c; SAVEPOINT s; {change}")
        session.run("FETCH ALL FROM c; ROLLBACK")
        notes[mode] = session.close()
    assert notes["prefer"] == notes["off"]
