"""Every function, operator, cast, type, operator class, trigger function and view of every extension, called with hostile arguments.

The objects are read from the catalog, so that new ones are covered. Nothing may crash the server, end with an internal
error, ignore the statement timeout or take memory without bound.
"""

import random
import time
import zlib

import psycopg
import pytest
from conftest import EXTENSIONS, SLOWNESS, Memory, connect, is_permitted, outcome, wait_until_ready
from hostile import MANY, argument_lists, values_of

TIMEOUT_SECONDS = 1
GRACE_SECONDS = 1.5  # from the cancel to the end of the statement, on a busy machine
# shared_buffers, the executable and its libraries, and a few copies of a long value.
MEMORY_BYTES_MAX = 400 << 20
# What the reference says they take: the conformance kit's values of 1 GB, three times.
MEMORY_BYTES_DOCUMENTED = {"check_compression_method(text, boolean)": 3 << 30}

OBJECTS = """
SELECT {columns}
FROM {catalog} o
JOIN pg_depend d ON d.classid = '{catalog}'::regclass AND d.objid = o.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = ANY (%s) AND {condition} ORDER BY e.extname, o.oid
"""
TYPE_NAMES = "ARRAY(SELECT format_type(t, NULL) FROM unnest({types}) WITH ORDINALITY AS u(t, n) ORDER BY n)"

SETUP = """
CREATE SCHEMA mine AUTHORIZATION stranger;
CREATE SCHEMA others;
GRANT USAGE ON SCHEMA others TO PUBLIC;
CREATE TABLE others.others_table AS SELECT g AS id, 'secret ' || g AS words FROM generate_series(1, 3000) AS g;
CREATE INDEX others_keytree ON others.others_table USING keytree (id);
CREATE VIEW others.others_view AS SELECT * FROM others.others_table;
CREATE TABLE others.others_partitioned (id int, words text) PARTITION BY RANGE (id);
CREATE TABLE others.others_partition PARTITION OF others.others_partitioned FOR VALUES FROM (0) TO (10);
CREATE TABLE others.gone (id int);
CREATE FUNCTION public.dropped_oid() RETURNS text IMMUTABLE LANGUAGE sql RETURN '{dropped}';
DROP TABLE others.gone;
SELECT penumbra.load('others.others_table');
SET SESSION AUTHORIZATION stranger;
SET search_path = mine, others, public;
CREATE TYPE own_composite AS (id int, words text);
CREATE TABLE own_table AS SELECT g AS id, 'words ' || g AS words FROM generate_series(1, 3000) AS g;
CREATE INDEX own_index ON own_table (words);
CREATE INDEX own_keytree ON own_table USING keytree (id);
CREATE VIEW own_view AS SELECT * FROM own_table;
CREATE TABLE own_partitioned (id int, words text) PARTITION BY RANGE (id);
CREATE TABLE own_partition PARTITION OF own_partitioned FOR VALUES FROM (0) TO (10);
CREATE SEQUENCE own_sequence;
CREATE MATERIALIZED VIEW own_matview AS SELECT 1 AS id;
CREATE UNLOGGED TABLE own_unlogged (id int);
CREATE TABLE own_empty ();
"""
TEMPORARY = "CREATE TEMPORARY TABLE IF NOT EXISTS own_temporary (id int)"


@pytest.fixture(scope="module")
def objects_database(server):
    with server.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS objects WITH (FORCE)")
        connection.execute("CREATE DATABASE objects")
        connection.execute("ALTER DATABASE objects SET search_path = mine, others, public")
        connection.execute("ALTER DATABASE objects SET jit = off")
    with server.connect("objects") as connection:
        connection.execute("SET search_path = mine, others, public")
        connection.execute("GRANT TEMPORARY ON DATABASE objects TO PUBLIC")
        setup = SETUP.replace("{dropped}", str(1 << 20))
        for statement in setup.split(";\n"):
            if statement.strip():
                connection.execute(statement)
    yield "objects"
    with server.connect() as connection:
        connection.execute("DROP DATABASE objects WITH (FORCE)")


class Attacker:
    """Runs statements as a role, each in a transaction that is rolled back, and notes what must not happen."""

    def __init__(self, server, database: str, role: str, is_long: bool) -> None:
        self._server, self._database, self.role = server, database, role
        self.is_long = is_long
        self.problems: list[str] = []
        self.calls = 0
        self.states: set[str] = set()
        self.connection = None
        self._connect()

    def _connect(self) -> None:
        self.connection = connect(self._server, self._database, self.role)
        self.connection.execute(f"SET statement_timeout = '{TIMEOUT_SECONDS * SLOWNESS}s'")
        self.connection.execute(TEMPORARY)
        self._pid = self.connection.info.backend_pid
        self._memory = Memory(self.connection)

    def __enter__(self) -> "Attacker":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def run(self, sql: str, parameters=(), types=(), formats=(), is_transaction: bool = True) -> str:
        """The SQLSTATE; '00000' without an error."""
        self.calls += 1
        shown = sql[:300] + (f" -- {parameters!r:.100}" if parameters else "")
        raw = self.connection.pgconn
        begin = time.monotonic()
        try:
            if is_transaction:
                raw.exec_(b"BEGIN")
            if parameters:
                result = raw.exec_params(sql.encode(), parameters, types, formats, 1 if formats else 0)
            else:
                result = raw.exec_(sql.encode())
            error = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
            message = result.error_message.decode(errors="replace")
            raw.exec_(b"ROLLBACK")
        except psycopg.Error as gone:
            error, message = None, str(gone)
        took = time.monotonic() - begin
        if raw.status != psycopg.pq.ConnStatus.OK:
            self.problems.append(f"the session ended: {shown}: {message[:300]}")
            self.connection.close()
            wait_until_ready(self._server, self._pid)
            self._connect()
            return "gone"
        state = (error or b"00000").decode()
        self.states.add(state)
        if state == "XX000" and not is_permitted(message):
            self.problems.append(f"internal error: {shown}: {message.strip()[:200]}")
        if took > (TIMEOUT_SECONDS + GRACE_SECONDS) * SLOWNESS:
            self.problems.append(f"took {took:.1f} s in spite of the timeout: {shown}")
        return state

    def run_all(self, name: str, statements, seconds: float, is_transaction: bool = True) -> None:
        """Statements of one object: for so long at most, in so much memory."""
        if SLOWNESS == 1:
            self._memory.reset()
        deadline = time.monotonic() + seconds * (20 if self.is_long else 1) * SLOWNESS
        for statement in statements:
            self.run(statement, is_transaction=is_transaction)
            if time.monotonic() > deadline:
                break
        bytes_max = MEMORY_BYTES_DOCUMENTED.get(name, MEMORY_BYTES_MAX)
        if SLOWNESS == 1 and (peak := self._memory.peak_bytes()) > bytes_max:
            self.problems.append(f"{name} took {peak >> 20} MB")
            self.connection.close()
            self._connect()

    def finish(self) -> None:
        assert self.calls > 0 and "00000" in self.states
        assert not self.problems, f"{len(self.problems)} problems in {self.calls} calls:\n" + "\n".join(self.problems[:12])


@pytest.fixture(params=["stranger", "trusted", "postgres"])
def attacker(request, server, objects_database, is_long):
    """Nobody in particular; who was granted every function and pg_monitor; a superuser."""
    with Attacker(server, objects_database, request.param, is_long) as attacker:
        yield attacker


@pytest.fixture()
def stranger(server, objects_database, is_long):
    with Attacker(server, objects_database, "stranger", is_long) as attacker:
        yield attacker


def objects(server, database: str, catalog: str, columns: str, condition: str = "true") -> list[tuple]:
    with server.connect(database) as connection:
        sql = OBJECTS.format(catalog=catalog, columns=columns, condition=condition)
        return connection.execute(sql, (EXTENSIONS,)).fetchall()


def seed_of(name: str) -> int:
    return zlib.crc32(name.encode())


def calls_each(attacker: Attacker) -> int:
    return 1000 if attacker.is_long else 25


def function_calls(schema: str, name: str, kind: str, types: list[str], count: int):
    function = f'"{schema}"."{name}"'
    for arguments in argument_lists(types, count, seed_of(name + str(types))):
        call = f"{function}({', '.join(arguments)})"
        if kind == "p":
            yield f"CALL {call}"
        elif kind == "a":
            yield f"SELECT {call} FROM generate_series(1, 3)"
            yield f"SELECT {call} OVER (ORDER BY g ROWS 1 PRECEDING) FROM generate_series(1, 4) AS g"
        else:
            yield f"SELECT {call}"


@pytest.mark.timeout(3600 * SLOWNESS)
def test_functions(attacker, server, objects_database):
    columns = "o.pronamespace::regnamespace::text, o.proname, o.prokind, " + TYPE_NAMES.format(types="o.proargtypes")
    # What everybody may call is called by nobody in particular; the long form has others call it, too.
    is_for_everybody = "has_function_privilege('stranger', o.oid, 'EXECUTE')"
    condition = "true" if attacker.is_long or attacker.role == "stranger" else f"NOT {is_for_everybody}"
    functions = objects(server, objects_database, "pg_proc", columns, condition)
    assert len(functions) > 10
    for schema, name, kind, types in functions:
        statements = function_calls(schema, name, kind, types, calls_each(attacker))
        attacker.run_all(f"{name}({', '.join(types)})", statements, 1.0, is_transaction=kind != "p")
    attacker.finish()


@pytest.mark.timeout(3600 * SLOWNESS)
def test_operators(stranger, server, objects_database):
    columns = "o.oprnamespace::regnamespace::text, o.oprname, " + TYPE_NAMES.format(types="ARRAY[o.oprleft, o.oprright]")
    operators = objects(server, objects_database, "pg_operator", columns)
    assert len(operators) > 50
    for schema, name, (left, right) in operators:
        types = [right] if left == "-" else [left, right]
        statements = (
            "SELECT " + " ".join([*(f"({argument})" for argument in arguments[:-1]), f"OPERATOR({schema}.{name})", f"({arguments[-1]})"])
            for arguments in argument_lists(types, calls_each(stranger), seed_of(name + str(types)))
        )
        stranger.run_all(f"{left} {name} {right}", statements, 1.0)
    stranger.finish()


MODIFIERS = ["", "()", "(0)", "(-1)", "(zstd)", "(zstd, 99)", "(zstd, 2147483648)", "(none, 1, 2, 3)", "('')", "(lz4, 'x')", "(9, 9)",
             "(zstd, 3, 4294967296)", "(NULL)", "(pglz, none)"]  # fmt: skip


@pytest.mark.timeout(3600 * SLOWNESS)
def test_casts_and_type_modifiers(stranger, server, objects_database):
    casts = objects(server, objects_database, "pg_cast", "format_type(o.castsource, NULL), format_type(o.casttarget, NULL)")
    types = objects(server, objects_database, "pg_type", "format_type(o.oid, NULL)", "o.typtype = 'b'")
    assert casts and types
    for source, target in casts:
        statements = (f"SELECT ({value})::{target}{modifier}" for modifier in MODIFIERS for value in values_of(source))
        stranger.run_all(f"{source}::{target}", statements, 3.0)
    for (name,) in types:
        plain = name.removesuffix("[]")
        statements = (f"SELECT ({value})::{plain}{modifier}" for value in values_of("cstring") for modifier in MODIFIERS)
        stranger.run_all(name, statements, 3.0)
    stranger.finish()


def damaged(good: list[bytes], generator: random.Random, count: int):
    """Bytes for receive functions: none, short, long, and good ones with bits changed, cut off or added to."""
    yield from (b"", b"\0", b"\xff" * 3, b"\xff" * 40, b"\0" * 40, b"\x01" + b"\xff" * 30, b"\xc3\x28 invalid UTF-8", b"a\0b",
                b"\x7f\xff\xff\xff" * 4, b"x" * MANY)  # fmt: skip
    for _ in range(count):
        data = bytearray(generator.choice(good) or b"\0")
        for _ in range(generator.randint(1, 4)):
            kind = generator.randrange(3)
            place = generator.randrange(len(data)) if data else 0
            if kind == 0 and data:
                data[place] ^= 1 << generator.randrange(8)
            elif kind == 1:
                data = data[:place]
            else:
                data[place:place] = generator.randbytes(generator.randint(1, 8))
        yield bytes(data)


@pytest.mark.timeout(3600 * SLOWNESS)
def test_types_receive_damaged_bytes(stranger, server, objects_database):
    types = objects(server, objects_database, "pg_type", "o.oid, format_type(o.oid, NULL)", "o.typreceive <> 0 AND o.typtype <> 'c'")
    for oid, name in types:
        good = []
        for value in values_of(name)[:8]:
            try:
                good.append(bytes(stranger.connection.pgconn.exec_params(f"SELECT {value}".encode(), [], result_format=1).get_value(0, 0) or b""))
            except (psycopg.Error, TypeError):
                continue
        for data in damaged(good or [b"abc"], random.Random(seed_of(name)), 5000 if stranger.is_long else 200):
            stranger.run("SELECT $1, $1 IS NULL, ($1)::text, ARRAY[$1, $1]", [data], [oid], [1])
    if types:
        stranger.finish()


TABLES_WITH_TRIGGERS = ["own_table", "own_partitioned", "own_empty", "own_unlogged", "own_temporary", "own_view"]
EVENTS = {
    "INSERT": "INSERT INTO {} DEFAULT VALUES",
    "UPDATE": "UPDATE {0} SET ctid = ctid",
    "DELETE": "DELETE FROM {}",
    "TRUNCATE": "TRUNCATE {}",
}


@pytest.mark.timeout(1200 * SLOWNESS)
def test_trigger_functions(attacker, server, objects_database):
    """On tables of any other shape than the one that they are made for."""
    columns = "format('%%I.%%I', o.pronamespace::regnamespace, o.proname), o.prorettype::regtype::text"
    functions = objects(server, objects_database, "pg_proc", columns, "o.prorettype IN ('trigger'::regtype, 'event_trigger'::regtype)")
    for function, kind in functions:
        attacker.run(f"SELECT {function}()")
        if kind == "event_trigger":
            for event in ("ddl_command_start", "ddl_command_end", "sql_drop", "table_rewrite"):
                trigger = f"CREATE EVENT TRIGGER hostile ON {event} EXECUTE FUNCTION {function}()"
                for ddl in ("CREATE TABLE one_more (a int)", "DROP TABLE own_table", "ALTER TABLE own_table ALTER id TYPE bigint", "DO ''",
                            "CREATE VIEW w AS SELECT 1", "COMMENT ON TABLE own_table IS NULL", "REINDEX TABLE own_table"):  # fmt: skip
                    attacker.run(f"{trigger}; {ddl}; DROP EVENT TRIGGER hostile")
            continue
        for table in TABLES_WITH_TRIGGERS:
            if table == "own_view":
                timings = ["INSTEAD OF {} ON {} FOR EACH ROW"]
            else:
                timings = [f"{when} {{}} ON {{}} FOR EACH {level}" for when in ("BEFORE", "AFTER") for level in ("ROW", "STATEMENT")]
            for timing in timings:
                for event, statement in EVENTS.items():
                    if event == "UPDATE":
                        statement = "UPDATE {0} SET id = id"
                    for arguments in ("", "'', 'x', NULL", "'id'"):
                        attacker.run(f"CREATE TRIGGER hostile {timing.format(event, table)} EXECUTE FUNCTION {function}({arguments});"
                                     f" {statement.format(table)}")  # fmt: skip
    # Those that are for nobody else may well be refused each time.
    attacker.run("SELECT 1")
    if functions:
        attacker.finish()


@pytest.mark.timeout(600 * SLOWNESS)
def test_views_and_tables(attacker, server, objects_database):
    relations = objects(server, objects_database, "pg_class", "o.oid::regclass::text", "o.relkind IN ('r', 'v', 'm')")
    assert relations
    for (relation,) in relations:
        for statement in ("SELECT * FROM {}", "SELECT count(*), max(t::text) FROM {} t", "EXPLAIN ANALYZE SELECT * FROM {}",
                          "INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {}", "LOCK {}", "ALTER TABLE {} ADD hostile int",
                          "SELECT * FROM {} FOR UPDATE", "CREATE INDEX ON {} ((1))", "SELECT penumbra.load('{}')"):  # fmt: skip
            attacker.run(statement.format(relation))
    attacker.finish()


@pytest.mark.timeout(1200 * SLOWNESS)
def test_operator_classes(server, objects_database):
    """An index over all hostile values of its type says the same as no index."""
    columns = ("format('%%I.%%I', o.opcnamespace::regnamespace, o.opcname), format_type(o.opcintype, NULL), (SELECT amname FROM pg_am"
               " WHERE oid = o.opcmethod)")  # fmt: skip
    classes = objects(server, objects_database, "pg_opclass", columns)
    assert classes
    with connect(server, objects_database) as connection:
        for name, type_name, method in classes:
            connection.execute(f"CREATE TEMPORARY TABLE indexed (v {type_name})")
            connection.execute(f"CREATE INDEX ON indexed USING {method} (v {name})")
            for value in values_of(type_name) * 3:
                state = outcome(connection, f"INSERT INTO indexed VALUES ({value})")
                assert state[1] != "XX000", value
            connection.execute("REINDEX TABLE indexed")
            connection.execute("ANALYZE indexed")
            counts = []
            for setting in ("on", "off"):
                connection.execute(f"SET enable_seqscan = {setting}")
                counts.append([
                    connection.execute(f"SELECT count(*) FROM indexed WHERE v {operator} (SELECT v FROM indexed ORDER BY ctid LIMIT 1 OFFSET {row})").fetchone()
                    for operator in (("=", "<", ">=") if method in ("btree", "keytree") else ("=",))
                    for row in range(0, 12, 2)
                ])  # fmt: skip
            assert counts[0] == counts[1], name
            connection.execute("DROP TABLE indexed")
            connection.execute("RESET enable_seqscan")
