"""Documents of random and of extreme shape: what is cached of them, and they themselves as keys, against PostgreSQL."""

import json
from collections import Counter

import psycopg
import pytest
from document_queries import NUMBERS, PLAIN_NUMBERS, TABLE, TYPES, DocumentQueryGenerator, Documents
from harness import assert_verified, cached_database, search
from penumbra_lab.server import PrivateServer, run_directory
from psycopg import pq

ROWS = 1500
DEPTH = 10_000
# Of a generated table, and queries of each.
GENERATED_ROWS, GENERATED_QUERIES = 300, 40
REFUSED_SHARE_MAX = 0.45


def nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + "1" + closing * depth


def extremes() -> list[str]:
    return [
        nested("[", "]", DEPTH), nested('{"a":', "}", DEPTH), nested('[{"a":', "}]", DEPTH // 2),
        json.dumps({f"path {i}": i for i in range(1000)}), json.dumps({"a": {f"p{i}": [i] * 20 for i in range(1000)}}),
        json.dumps({"a": "x" * 2_000_000, "list": ["y" * 1000] * 300}), json.dumps({"a": list(range(20_000))}),
        '{"a": 1, "a": 2, "a": {"b": 3, "b": [4]}}', "[]", "{}", '""', "null", '{"": {"": [[], {}, ""]}}',
        json.dumps({"k" * 60_000: 1}),
    ]  # fmt: skip


# Of the table: what is cached of the column, and what a query reads of it.
PATHS = ["doc->>'a'", "doc->>'b'", "doc#>>'{a,b}'", "doc#>>'{list,0}'", "doc#>>'{list,-1,a}'", "doc->'a'->>'b'", "doc->>''", "doc#>>'{a,1}'",
         "doc->>'ключ'", "jsonb_typeof(doc->'a')", "jsonb_typeof(doc)", "doc ? 'b'", "doc ?| ARRAY['a', '1']", """doc @> '{"a": 1}'""",
         "doc @> '[]'", "doc @? '$.a.b'", "doc['list'][0]->>'a'", "doc->>'path 999'", "doc#>>'{a,p7,3}'", "doc IS NULL"]  # fmt: skip
LISTS = ["jsonb_array_elements_text(CASE jsonb_typeof(doc->'a') WHEN 'array' THEN doc->'a' END)", "jsonb_array_elements_text(doc->'list')",
         "jsonb_object_keys(doc)"]  # fmt: skip
QUERIES = [
    *(f"SELECT {path} AS v, count(*), min(id) FROM TABLE GROUP BY 1" for path in PATHS),
    *(f"SELECT id FROM TABLE WHERE {path} IS NULL OR length(({path})::text) % 3 = 1" for path in PATHS),
    *(f"SELECT v, count(*) FROM TABLE, {function} AS v GROUP BY 1" for function in LISTS),
    "SELECT sum((doc->>'b')::numeric) FROM TABLE WHERE jsonb_typeof(doc->'b') = 'number'",
    "SELECT max((doc->>'b')::float8) FROM TABLE WHERE jsonb_typeof(doc->'b') = 'number'",
    "SELECT count((doc->'b')::bool) FROM TABLE",
    "SELECT count((doc->>'b')::int) FROM TABLE",
    "SELECT md5(doc::text) FROM TABLE GROUP BY doc",
    "SELECT count(DISTINCT doc), count(DISTINCT doc->'a') FROM TABLE",
    "SELECT md5((doc->'b')::text), count(*) FROM TABLE GROUP BY doc->'b'",
    "SELECT id, row_number() OVER (ORDER BY doc, id) FROM TABLE",
    "SELECT id FROM TABLE ORDER BY doc DESC, id LIMIT 20",
    "SELECT count(*), sum(b.id) FROM TABLE a JOIN TABLE b ON a.doc->'a' = b.doc->'a' AND a.id < b.id",
]


def answer(connection: psycopg.Connection, query: str, mode: str) -> Counter | str:
    """The rows, as they are written, or the error."""
    connection.execute(f"SET penumbra.mode = {mode}")
    result = connection.pgconn.exec_(query.encode())
    if result.status != pq.ExecStatus.TUPLES_OK:
        texts = (result.error_field(field) or b"" for field in (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY))
        return "error " + ": ".join(text.decode() for text in texts)
    return Counter(tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples))


def load(connection: psycopg.Connection, table: str, expressions: list[str]) -> None:
    """What cannot be cached for some row of the table is PostgreSQL's."""
    for expression in expressions:
        try:
            connection.execute("SELECT penumbra.load(%s::regclass, ARRAY[%s])", (table, expression))
        except psycopg.Error as error:
            assert error.sqlstate is not None and error.sqlstate[:2] not in ("XX", "57"), error


@pytest.fixture(scope="module")
def own_server():
    """Whose cache no other test has filled."""
    settings = {"shared_preload_libraries": "penumbra", "shared_buffers": "256MB", "penumbra.memory": "512MB",
                "penumbra.auto_load": "off", "fsync": "off", "autovacuum": "off", "statement_timeout": "60s", "jit": "off"}  # fmt: skip
    server = PrivateServer(run_directory("test-documents"), settings, initdb_options=("--encoding=UTF8", "--no-locale"))
    try:
        with server:
            yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def documents(own_server):
    tables = "CREATE TABLE any_shape (id int, doc jsonb); CREATE TABLE plain (id int, doc jsonb); CREATE TABLE extreme (id int, doc jsonb)"
    with cached_database(own_server, "documents", tables, ()) as connection:
        filled = {
            "any_shape": [made.document() for made in [Documents(1, NUMBERS)] for _ in range(ROWS)],
            "plain": [made.document() for made in [Documents(2, PLAIN_NUMBERS)] for _ in range(ROWS)],
            "extreme": [*extremes(), *['{"a": {"b": 1}, "list": ["x"]}'] * ROWS],
        }
        with connection.cursor() as cursor:
            for table, rows in filled.items():
                cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", list(enumerate(rows)))
                cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", [(-1, None), (-2, "{}")])
        connection.execute("CHECKPOINT")
        connection.execute("VACUUM (ANALYZE)")
        for table in filled:
            connection.execute("SELECT penumbra.load(%s::regclass)", (table,))
            load(connection, table, [*PATHS, *LISTS, "doc", "doc->'a'", "doc->'b'", "doc->>'b'"])
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("table", ["any_shape", "plain", "extreme"])
def test_documents_are_postgresqls(documents, table):
    in_vectors, differences = 0, []
    for query in (query.replace("TABLE", table) for query in QUERIES):
        expected, found = answer(documents, query, "off"), answer(documents, query, "prefer")
        if expected != found:
            differences.append(f"{query}\n  {str(expected)[:300]}\n  {str(found)[:300]}")
        plan = "".join(line for (line,) in documents.execute(f"EXPLAIN {query}"))
        in_vectors += "Custom Scan" in plan
    assert not differences, "\n".join(differences)
    assert in_vectors > len(QUERIES) // 2


@pytest.mark.slow
def test_a_zero_character_is_refused(documents):
    with pytest.raises(psycopg.errors.UntranslatableCharacter):
        documents.execute("""INSERT INTO plain VALUES (0, '{"a": "\\u0000"}')""")


@pytest.mark.slow
@pytest.mark.parametrize("table", ["any_shape", "plain", "extreme"])
def test_all_is_as_it_was_loaded(documents, table):
    assert_verified(documents, table)


def make_table(connection: psycopg.Connection, name: str, generator: DocumentQueryGenerator) -> None:
    """Loaded whole or in parts, with some rows changed since."""
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(TABLE.format(name=name))
    with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
        for row in generator.rows(GENERATED_ROWS):
            copy.write_row(row)
    connection.execute(f"VACUUM ANALYZE {name}")
    if generator.choose.random() < 0.9:
        connection.execute("SELECT penumbra.load(%s::regclass)", (name,))
    load(connection, name, generator.expressions())
    if generator.choose.random() < 0.5:
        connection.execute(f"UPDATE {name} SET doc = doc -> 'a', ints = ARRAY[id, 3], spots[1].k = id % 9, spot.part.n = id WHERE id % 37 = 5")


@pytest.mark.timeout(36000)
@pytest.mark.sized
def test_generated_documents(own_server, request, capsys):
    tally = Counter()

    def check(seed: int) -> str | None:
        generator = DocumentQueryGenerator(seed)
        make_table(connection, "generated", generator)
        for query in (generator.query("generated") for _ in range(GENERATED_QUERIES)):
            expected = answer(connection, query, "off")
            tally["queries"] += 1
            tally["errors"] += isinstance(expected, str)
            for mode in ("prefer", "require"):
                found = answer(connection, query, mode)
                if mode == "require" and isinstance(found, str) and found.startswith("error 0A000"):
                    tally["refused"] += 1
                elif found != expected and not (isinstance(expected, str) and isinstance(found, str)):
                    return f"{mode}: {query}\n  {str(expected)[:300]}\n  {str(found)[:300]}"
        return None

    with cached_database(own_server, "generated_documents", TYPES, ()) as connection:
        seeds, failures = search(request.config, check, queries_divisor=GENERATED_QUERIES, seconds_divisor=4)
    with capsys.disabled():
        print(f"\ndocuments: seeds {seeds.start} to {seeds.stop - 1}: {dict(tally)}")
    assert not failures, "\n\n".join(failures)
    assert tally["refused"] <= REFUSED_SHARE_MAX * tally["queries"]
