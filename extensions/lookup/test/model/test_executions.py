"""The same random history in two databases: each answer and each error must be the same with ready states as without.

A history executes prepared statements and functions of PL/pgSQL again and again. Between them it changes rows, tables,
indexes, functions, types, privileges, roles and settings, in and out of transactions and savepoints, with cursors open.
"""

import random

import psycopg
import pytest

SETUP = """
CREATE TABLE a (id int PRIMARY KEY, b int, name text, price numeric);
CREATE TABLE b (id int PRIMARY KEY, c bigint, at timestamptz);
CREATE TABLE c (id bigint PRIMARY KEY, tags text[], flag boolean);
CREATE INDEX a_b ON a (b, id);
CREATE INDEX b_c ON b (c);
INSERT INTO a SELECT i, i % 50, 'name ' || i, i / 3.0 FROM generate_series(1, 400) i;
INSERT INTO b SELECT i, i % 10, timestamptz '2026-01-01 UTC' + i * interval '1 hour' FROM generate_series(0, 45) i;
INSERT INTO c SELECT i, ARRAY['x', i::text], i % 2 = 0 FROM generate_series(0, 8) i;
ANALYZE;
CREATE FUNCTION label(text) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RETURN '<' || $1 || '>'; END$$;
CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql STABLE AS $$SELECT 2 * b FROM a WHERE id = $1 ORDER BY 1 LIMIT 1$$;
CREATE FUNCTION failing(int) RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 100 / ($1 % 7); END$$;
CREATE FUNCTION writing(int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN UPDATE a SET price = coalesce(price, 0) + 1 WHERE id = $1 + 1; RETURN $1; END$$;
CREATE TABLE log (number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry text);
CREATE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO log (entry) VALUES (concat_ws(' ', TG_NAME, TG_OP, TG_LEVEL, OLD.id, NEW.id, NEW.price));
    RETURN NULL;
END$$;
CREATE FUNCTION correct_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id % 5 = 0 THEN RETURN NULL; END IF;
    NEW.name := left(NEW.name, 12);
    RETURN NEW;
END$$;
CREATE FUNCTION adding(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text := ''; new_price numeric;
BEGIN
    FOR i IN wanted..wanted + 3 LOOP
        BEGIN
            UPDATE a SET price = price + i, b = failing(id) WHERE id = i RETURNING price INTO new_price;
            answer := answer || ' ' || coalesce(new_price::text, '-') || FOUND;
        EXCEPTION WHEN OTHERS THEN answer := answer || ' ' || SQLSTATE;
        END;
    END LOOP;
    RETURN answer;
END$$;
CREATE FUNCTION recursive(wanted int, depth int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
    SELECT name || CASE WHEN depth > 0 THEN recursive(b, depth - 1) ELSE '' END INTO found FROM a WHERE id = wanted;
    RETURN found;
END$$;
CREATE FUNCTION looping(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE item record; answer text := ''; number int;
BEGIN
    FOR item IN SELECT a.id, b.at FROM a JOIN b ON b.id = a.b WHERE a.b = wanted ORDER BY a.b, a.id LIMIT 4 LOOP
        BEGIN
            SELECT failing(id) INTO number FROM a WHERE id = item.id;
            PERFORM FROM c WHERE id = number;
            IF EXISTS (SELECT FROM b WHERE id = number) THEN answer := answer || '+'; END IF;
            answer := answer || ' ' || number || FOUND || item.at;
        EXCEPTION WHEN division_by_zero THEN answer := answer || ' -';
        END;
    END LOOP;
    RETURN answer;
END$$;
CREATE FUNCTION open_cursor(name refcursor, wanted int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN OPEN name SCROLL FOR SELECT id, 100 / (id % 11) FROM a WHERE b >= wanted ORDER BY b, id; RETURN name; END$$;
CREATE FUNCTION open_sorted(name refcursor, wanted int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN OPEN name FOR SELECT a.name FROM a WHERE b >= wanted ORDER BY a.name; RETURN name; END$$;
CREATE FUNCTION open_forward(name refcursor, wanted int) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN OPEN name NO SCROLL FOR SELECT a.name, b.c FROM a JOIN b ON b.id = a.b WHERE a.id = wanted; RETURN name; END$$;
GRANT ALL ON ALL TABLES IN SCHEMA public TO fuzz_user;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_hashagg = off;
"""

STATEMENTS = {
    "by_key": "(int) AS SELECT name, price FROM a WHERE id = $1",
    "by_star": "(int) AS SELECT * FROM a WHERE id = $1",
    "by_other": "(int) AS SELECT id FROM a WHERE b = $1 ORDER BY b, id LIMIT 3",
    "last_of": "(int) AS SELECT id, b FROM a WHERE b = $1 % 50 ORDER BY b DESC, id DESC LIMIT $1 % 4 - 1 OFFSET $1 % 3",
    "constant_key": "(int) AS SELECT name || $1 FROM a WHERE id = 17",
    "joined": "(int) AS SELECT a.name, b.at, b.c FROM a JOIN b ON b.id = a.b WHERE a.id = $1",
    "left_joined": "(int) AS SELECT a.id, b.at, c.tags[2] FROM a LEFT JOIN b ON b.id = a.b LEFT JOIN c ON c.id = b.c WHERE a.id = $1",
    "three": "(int) AS SELECT a.id, b.at::date, c.flag FROM a JOIN b ON b.id = a.b JOIN c ON c.id = b.c WHERE a.id BETWEEN $1 AND $1 + 3 ORDER BY a.id",
    "semi": "(int) AS SELECT name FROM a WHERE id = $1 AND EXISTS (SELECT FROM b WHERE b.id = a.b AND at > '2026-01-01')",
    "anti": "(int) AS SELECT name FROM a WHERE id = $1 AND NOT EXISTS (SELECT FROM b WHERE b.id = a.b)",
    "in_list": "(int) AS SELECT id, name FROM a WHERE id = ANY (ARRAY[$1, $1 + 2, NULL, 5]) ORDER BY id",
    "labelled": "(int) AS SELECT label(name), twice(id), twice($1) FROM a WHERE id = $1",
    "fails": "(int) AS SELECT failing(id), 10 / (price::int % 5) FROM a WHERE id = $1",
    "writes": "(int) AS SELECT writing(id), price FROM a WHERE id = $1",
    "dated": "(int) AS SELECT at, at::text, date_trunc('day', at), CASE WHEN id > 20 THEN c ELSE -c END FROM b WHERE id = $1",
    "recursion": "(int) AS SELECT recursive($1, $1 % 5)",
    "loop": "(int) AS SELECT looping($1)",
    "filter": "(int) AS SELECT id FROM b WHERE id = $1 AND $1 % 2 = 0 AND current_setting('timezone') <> 'UTC'",
    "index_only": "(int) AS SELECT 1, id FROM b WHERE id = $1",
    "less": "(int) AS SELECT count(*) FROM a WHERE b = $1",
    "totals": "(int) AS SELECT count(*), sum(price), max(name), string_agg(name, ','), array_agg(id), avg(failing(id)) FROM a WHERE b = $1 % 50",
    "groups": "(int) AS SELECT b, min(name), count(*) FILTER (WHERE id % 2 = 0) FROM a WHERE b BETWEEN $1 % 50 AND $1 % 50 + 2 GROUP BY b",
    "sorted": "(int) AS SELECT name, price FROM a WHERE b = $1 % 50 ORDER BY price DESC, name LIMIT $1 % 5",
    "exist": "(int) AS SELECT EXISTS (SELECT FROM a WHERE id = $1), (SELECT name FROM a WHERE id = $1 + 1), (SELECT max(id) FROM a)",
    "related": "(int) AS SELECT id, EXISTS (SELECT FROM b WHERE b.id = a.b), (SELECT label(b.at::text) FROM b WHERE b.id = a.b) FROM a WHERE id = $1",
    "locked": "(int) AS SELECT id FROM a WHERE id = $1 FOR UPDATE",
    "update": "(int) AS UPDATE a SET b = b + 1 WHERE id = $1 RETURNING id, b",
    "update_price": "(int) AS UPDATE a SET price = price + 1 WHERE id = $1",
    "update_star": "(int) AS UPDATE a SET name = name || $1, price = -price WHERE id = $1 AND price > 0 RETURNING *, tableoid::regclass",
    "update_key": "(int) AS UPDATE b SET id = id + 1 WHERE id = $1 RETURNING id, at",
    "update_range": "(int) AS UPDATE a SET name = left(name || $1, 20) WHERE b = $1 % 50 AND id % 3 = 0 RETURNING id",
    "update_by_query": "(int) AS UPDATE a SET price = (SELECT c FROM b WHERE b.id = a.b), name = label(name) WHERE id = $1 RETURNING price",
    "update_fails": "(int) AS UPDATE a SET b = failing($1), price = writing(id) WHERE id = $1",
    "add": "(int) AS SELECT adding($1)",
    "delete": "(int) AS DELETE FROM c WHERE id = $1 RETURNING id",
}

CHANGES = [
    "UPDATE a SET name = name || '.' WHERE id % 13 = {n} % 13",
    "DELETE FROM a WHERE id = {n}",
    "INSERT INTO a (id, b, name) VALUES ({n}, {n} % 50, 'new') ON CONFLICT (id) DO UPDATE SET b = {n} % 40",
    "DELETE FROM b WHERE id = {n} % 60",
    "INSERT INTO b VALUES ({n} % 60, {n} % 12, '2026-02-02 UTC') ON CONFLICT DO NOTHING",
    "INSERT INTO c VALUES ({n} % 20, '{{a,b}}', NULL) ON CONFLICT DO NOTHING",
    "ALTER TABLE a ADD COLUMN extra int DEFAULT {n}",
    "ALTER TABLE a DROP COLUMN IF EXISTS extra",
    "ALTER TABLE a ALTER COLUMN price TYPE numeric(12,{n1})",
    "ALTER TABLE b ALTER COLUMN c TYPE int",
    "ALTER TABLE b ALTER COLUMN c TYPE bigint",
    "DROP INDEX IF EXISTS a_b",
    "CREATE INDEX IF NOT EXISTS a_b ON a (b, id)",
    "CREATE INDEX IF NOT EXISTS a_name ON a (id) INCLUDE (name)",
    "DROP INDEX IF EXISTS a_name",
    "ALTER TABLE b DROP CONSTRAINT IF EXISTS b_pkey",
    "ALTER TABLE b ADD PRIMARY KEY (id)",
    "REINDEX TABLE a",
    "CLUSTER a USING a_pkey",
    "TRUNCATE c",
    "ANALYZE a",
    "CREATE OR REPLACE FUNCTION label(text) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RETURN '{n}' || $1; END$$",
    "CREATE OR REPLACE FUNCTION twice(int) RETURNS int LANGUAGE sql STABLE AS $$SELECT {n} * b FROM a WHERE id = $1 ORDER BY 1 LIMIT 1$$",
    "ALTER FUNCTION label(text) SET datestyle = 'German'",
    "ALTER FUNCTION label(text) RESET ALL",
    "REVOKE EXECUTE ON FUNCTION label(text) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION label(text) TO PUBLIC",
    "REVOKE SELECT ON a FROM fuzz_user",
    *["GRANT SELECT ON a TO fuzz_user"] * 3,
    "GRANT SELECT (id, name) ON a TO fuzz_user",
    "ALTER TABLE a ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE a DISABLE ROW LEVEL SECURITY",
    "CREATE POLICY odd ON a USING (id % 2 = 1)",
    "DROP POLICY IF EXISTS odd ON a",
    "CREATE POLICY checked ON a FOR UPDATE WITH CHECK (b < {n} % 60)",
    "DROP POLICY IF EXISTS checked ON a",
    "GRANT UPDATE (price, b) ON a TO fuzz_user",
    "REVOKE UPDATE ON a FROM fuzz_user",
    "CREATE OR REPLACE TRIGGER logs AFTER UPDATE ON a FOR EACH ROW EXECUTE FUNCTION log_change()",
    "CREATE OR REPLACE TRIGGER corrects BEFORE UPDATE ON a FOR EACH ROW EXECUTE FUNCTION correct_change()",
    "DROP TRIGGER IF EXISTS logs ON a",
    "DROP TRIGGER IF EXISTS corrects ON a",
    "ALTER TABLE a DISABLE TRIGGER ALL",
    "ALTER TABLE a ENABLE TRIGGER ALL",
    "ALTER TABLE a ADD CONSTRAINT limited CHECK (price < {n}) NOT VALID",
    "ALTER TABLE a DROP CONSTRAINT IF EXISTS limited",
    "ALTER TABLE a ADD CONSTRAINT refers FOREIGN KEY (b) REFERENCES b NOT VALID",
    "ALTER TABLE a DROP CONSTRAINT IF EXISTS refers",
    "CREATE INDEX IF NOT EXISTS a_price ON a (price)",
    "DROP INDEX IF EXISTS a_price",
    "CREATE UNIQUE INDEX IF NOT EXISTS a_expression ON a (lower(name), id) WHERE price > {n}",
    "DROP INDEX IF EXISTS a_expression",
    "CREATE TEMP TABLE IF NOT EXISTS passing (x int)",
    "DROP TABLE IF EXISTS passing",
]
SETTINGS = [
    "SET ROLE fuzz_user", "RESET ROLE", "RESET ROLE", "RESET ROLE", "SET datestyle = 'SQL, DMY'", "RESET datestyle", "SET timezone = 'Asia/Kolkata'",
    "RESET timezone", "SET track_functions = 'all'", "RESET track_functions", "SET plan_cache_mode = auto",
    "SET plan_cache_mode = force_generic_plan", "SET enable_indexonlyscan = off", "RESET enable_indexonlyscan",
    "SET search_path = pg_catalog, public", "RESET search_path", "SET LOCAL row_security = off",
    "SET enable_nestloop = off", "RESET enable_nestloop", "DISCARD PLANS",
]  # fmt: skip
TRANSACTIONS = [
    "BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "COMMIT", "COMMIT",
    "ROLLBACK", "SAVEPOINT s", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s",
]  # fmt: skip
CURSORS = [
    "SELECT open_cursor('{cursor}', {n} % 60)", "SELECT open_sorted('{cursor}', {n} % 50)", "SELECT open_forward('{cursor}', {n})", "FETCH {n1} FROM {cursor}",
    "FETCH {n1} FROM {cursor}", "FETCH BACKWARD {n1} FROM {cursor}", "FETCH LAST FROM {cursor}", "MOVE FIRST FROM {cursor}",
    "CLOSE {cursor}", "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE by_key({n})",
]  # fmt: skip


def answer(connection: psycopg.Connection, statement: str, is_extended: bool) -> object:
    try:
        if is_extended:
            name, _, argument = statement.removeprefix("EXECUTE ").rstrip(")").partition("(")
            query = STATEMENTS[name].partition(" AS ")[2].replace("$1", "%(n)s::int")
            query = query.replace("% ", "%% ").replace("%%(", "%(")
            cursor = connection.execute(query, {"n": int(argument)}, prepare=True)
        else:
            cursor = connection.execute(statement)
        result = cursor.pgresult  # as the server wrote it
        rows = [[result.get_value(row, column) for column in range(result.nfields)] for row in range(result.ntuples)]
        return cursor.statusmessage, rows
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary


def random_statements(rng: random.Random, steps: int):
    name = "by_key"
    for _ in range(steps):
        kind = rng.random()
        numbers = {"n": rng.randrange(420), "n1": rng.randrange(1, 6), "cursor": rng.choice("xyz")}
        if kind < 0.87:
            # A statement is executed some times before another one comes.
            name = name if rng.random() < 0.7 else rng.choice(list(STATEMENTS))
            yield f"EXECUTE {name}({numbers['n']})"
        elif kind < 0.90:
            yield rng.choice(CHANGES).format(**numbers)
        elif kind < 0.92:
            yield rng.choice(SETTINGS)
        elif kind < 0.95:
            yield rng.choice(TRANSACTIONS)
        elif kind < 0.995:
            yield rng.choice(CURSORS).format(**numbers)
        else:
            victim = rng.choice(list(STATEMENTS))
            yield f"DEALLOCATE {victim}"
            yield f"PREPARE {victim}{STATEMENTS[victim]}"


def prepare(connection: psycopg.Connection, is_first: bool) -> None:
    connection.autocommit = True
    connection.prepared_max = 1000
    if is_first:
        connection.execute("CREATE ROLE fuzz_user")
    connection.execute(SETUP)
    for name, statement in STATEMENTS.items():
        connection.execute(f"PREPARE {name}{statement}")


@pytest.mark.timeout(600)
def test_histories(server, seed, steps):
    rng = random.Random(seed)
    with server.connect("stock") as stock, server.connect("ready") as ready:
        prepare(stock, is_first=True)
        prepare(ready, is_first=False)
        ready.execute("CREATE EXTENSION penumbra_lookup")
        for number, statement in enumerate(random_statements(rng, steps)):
            is_extended = statement.startswith("EXECUTE ") and rng.random() < 0.3
            answers = [answer(connection, statement, is_extended) for connection in (stock, ready)]
            assert answers[0] == answers[1], (seed, number, statement, is_extended)
            if answers[0][0] == "26000":  # its PREPARE was in a transaction that had failed
                name = statement.removeprefix("EXECUTE ").partition("(")[0]
                for connection in (stock, ready):
                    answer(connection, f"PREPARE {name}{STATEMENTS.get(name, '')}", False)
            if ready.info.transaction_status == psycopg.pq.TransactionStatus.INERROR and rng.random() < 0.5:
                end = rng.choice(("ROLLBACK TO s", "ROLLBACK"))
                assert answer(stock, end, False) == answer(ready, end, False), (seed, number, end)
        ready.execute("ROLLBACK")
        ready.execute("RESET ROLE")
        outcomes = dict(ready.execute("SELECT outcome, executions FROM penumbra_lookup.executions").fetchall())
        assert outcomes["ready"] > steps / 10


MANY = """
CREATE FUNCTION prepare_many(number int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 0..number - 1 LOOP
        EXECUTE format('PREPARE s%s(int) AS SELECT k, %s FROM t WHERE k = $1', i, i);
    END LOOP;
END$$;
CREATE FUNCTION count_wrong(number int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE found record; wrong int := 0;
BEGIN
    FOR i IN 0..number - 1 LOOP
        EXECUTE format('EXECUTE s%s(%s)', i, i % 1000 + 1) INTO found;
        IF found IS DISTINCT FROM (i % 1000 + 1, i) THEN wrong := wrong + 1; END IF;
    END LOOP;
    RETURN wrong;
END$$;
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", ["DEALLOCATE ALL", "DISCARD ALL"])
def test_many_statements(server, command):
    """What is kept is bounded, and goes with its plans."""
    number = 10_000
    with server.connect("ready") as connection:
        connection.autocommit = True
        connection.execute("CREATE EXTENSION penumbra_lookup")
        connection.execute("CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 1000) i")
        connection.execute("ALTER TABLE t ADD PRIMARY KEY (k)")
        connection.execute(MANY)
        connection.execute(f"SELECT prepare_many({number})")
        kept = "SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'penumbra_lookup functions'"
        for _ in range(3):
            assert connection.execute(f"SELECT count_wrong({number})").fetchone()[0] == 0
            assert connection.execute(kept).fetchone()[0] <= 64
        assert connection.execute(kept).fetchone()[0] == 64
        connection.execute(command)
        assert connection.execute(kept).fetchone()[0] == 0
