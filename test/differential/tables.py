"""The tables of the differential tests: every type and encoding, each table in another state.

All have the same columns, so that one generated query can run on any of them.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    name: str
    kind: str  # the generator's name of the type
    definition: str
    value: str  # SQL over generate_series(...) AS g(k)
    # numeric without a declared scale, floats with -0: equal values may be written differently
    is_written_differently: bool = False


def _share(percent: float, value: str) -> str:
    """NULL for `percent` of the rows."""
    return f"CASE WHEN h(k, 99) % 1000 < {int(percent * 10)} THEN NULL ELSE {value} END"


# h(k, n): a bigint hash of the row's number, the same in every run.
COLUMNS = (
    Column("k", "i4", "integer NOT NULL", "k"),
    Column("b", "bool", "boolean", _share(10, "h(k, 1) % 3 = 0")),
    Column("b_const", "bool", "boolean", "true"),
    Column("i2", "i2", "smallint", _share(5, "(h(k, 2) % 200 - 100)::smallint")),
    Column("i2_edge", "i2", "smallint NOT NULL",
           "CASE h(k, 3) % 40 WHEN 0 THEN -32768 WHEN 1 THEN 32767 ELSE h(k, 3) % 11 END::smallint"),
    Column("i4", "i4", "integer", _share(5, "(h(k, 4) % 20000 - 10000)::integer")),
    Column("i4_edge", "i4", "integer",
           "CASE h(k, 5) % 60 WHEN 0 THEN -2147483648 WHEN 1 THEN 2147483647"
           " ELSE h(k, 5) % 100000 END::integer"),
    Column("i4_const", "i4", "integer NOT NULL", "42"),
    Column("i4_null", "i4", "integer", "NULL::integer"),
    Column("i4_few", "i4", "integer", _share(20, "(h(k, 6) % 5)::integer")),
    Column("i4_run", "i4", "integer NOT NULL", "k / 100"),
    Column("i8", "i8", "bigint", _share(5, "h(k, 7) % 1000000007 * 1000")),
    Column("i8_edge", "i8", "bigint NOT NULL",
           "CASE h(k, 8) % 70 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807"
           " ELSE h(k, 8) END::bigint"),
    Column("f4", "f4", "real", _share(5, "(h(k, 9) % 1000)::real / 7"), True),
    Column("f8", "f8", "double precision",
           _share(5, "(h(k, 10) % 1000000)::double precision / 333"), True),
    Column("f8_edge", "f8", "double precision",
           "CASE h(k, 11) % 30 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity'"
           " WHEN 3 THEN '-0' WHEN 4 THEN '0' WHEN 5 THEN '1e-300' WHEN 6 THEN '1e300'"
           " ELSE (h(k, 11) % 50)::text END::double precision", True),
    Column("n2", "num", "numeric(12,2)", _share(5, "(h(k, 12) % 1000000)::numeric / 100")),
    Column("n0", "num", "numeric(6) NOT NULL", "(h(k, 13) % 1000)::numeric - 500"),
    Column("n_wide", "num", "numeric(38,10)",
           _share(5, "(h(k, 14)::numeric * 1000000007) / 10000000000 + (h(k, 15) % 100)")),
    Column("n_mixed", "num", "numeric",
           _share(5, "CASE h(k, 16) % 6 WHEN 0 THEN (h(k, 16) % 100)::numeric"
                     " WHEN 1 THEN (h(k, 16) % 100)::numeric + 0.0 WHEN 2 THEN 0.00"
                     " WHEN 3 THEN (h(k, 16) % 1000)::numeric / 1000"
                     " WHEN 4 THEN (h(k, 16) % 100)::numeric + 0.50 ELSE -1.250 END"), True),
    Column("n_edge", "num", "numeric",
           "CASE h(k, 17) % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity'"
           " WHEN 3 THEN '1e100' WHEN 4 THEN '1e-100' WHEN 5 THEN '-99999999999999999999999999999999999999999'"
           " WHEN 6 THEN '0' WHEN 7 THEN '123456789012345678901234567890.123456789'"
           " ELSE (h(k, 17) % 1000)::text || '.5' END::numeric", True),
    Column("d", "date", "date", _share(5, "date '1992-01-01' + (h(k, 18) % 4000)::integer")),
    Column("d_edge", "date", "date NOT NULL",
           "CASE h(k, 19) % 40 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN '0044-03-15 BC'"
           " WHEN 3 THEN '2024-02-29' WHEN 4 THEN '5874897-12-31' ELSE '2000-01-01' END::date"),
    Column("ts", "ts", "timestamp",
           _share(5, "timestamp '2020-01-01' + (h(k, 20) % 100000000) * interval '1 second'"
                     " + (h(k, 21) % 1000000) * interval '1 microsecond'")),
    Column("ts_edge", "ts", "timestamp",
           "CASE h(k, 22) % 40 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity'"
           " WHEN 2 THEN '4713-01-01 00:00:00 BC' WHEN 3 THEN '294276-12-31 23:59:59.999999'"
           " ELSE '1999-12-31 23:59:59.5' END::timestamp"),
    Column("tz", "tz", "timestamptz",
           _share(5, "timestamptz '2021-03-01 00:00+00' + (h(k, 23) % 60000000) * interval '1 second'")),
    Column("low", "text", "text",
           _share(10, "(array['red', 'green', 'blue', '', 'Green', 'a%b', 'a_b', 'red '])[1 + h(k, 24) % 8]")),
    Column("high", "text", "text", _share(5, "md5(h(k, 25)::text)")),
    Column("words", "text", "text",
           _share(5, "(array['special', 'quick', 'Ärger', 'naïve', '日本'])[1 + h(k, 26) % 5]"
                     " || ' ' || (h(k, 27) % 50) || ' '"
                     " || (array['requests', 'packages', 'ÄÖÜ', 'x'])[1 + h(k, 28) % 4]")),
    Column("long", "text", "text",
           "CASE WHEN h(k, 29) % 20 = 0 THEN repeat(md5(k::text), (h(k, 30) % 300)::integer)"
           " WHEN h(k, 29) % 97 = 1 THEN"
           " (SELECT string_agg(md5((k * 1000 + s)::text), '') FROM generate_series(1, 120) AS s)"
           " WHEN h(k, 29) % 20 = 2 THEN NULL ELSE 'short ' || (h(k, 30) % 30) END"),
    Column("vc", "text", "varchar(12)", _share(5, "'v' || (h(k, 31) % 700)")),
    Column("bp", "bp", "char(6)", _share(5, "(array['a', 'ab ', 'abc', '', 'B', 'ab'])[1 + h(k, 32) % 6]")),
    Column("u", "uuid", "uuid", _share(5, "md5((h(k, 33) % 3000)::text)::uuid")),
    Column("en", "en", "shade", _share(10, "(enum_range(NULL::shade))[1 + h(k, 34) % 5]")),
    Column("ton", "ton", "tone", _share(10, "(enum_range(NULL::tone))[1 + h(k, 81) % 5]")),
    Column("tod", "tod", "time", _share(5, "CASE h(k, 35) % 40 WHEN 0 THEN '24:00' ELSE '00:00' END::time"
                                           " + h(k, 36) % 86400 * interval '1.000001 second'")),
    Column("ttz", "ttz", "timetz",
           _share(5, "(array['12:00+00', '13:00+01', '11:00-01', '24:00+00', '00:00-15:59', '12:00:00.5+05:30'])"
                     "[1 + h(k, 37) % 6]::timetz + h(k, 38) % 3 * interval '1 hour'")),
    Column("by", "by", "bytea",
           _share(5, "CASE h(k, 39) % 3 WHEN 0 THEN decode(md5(h(k, 40)::text), 'hex')"
                     " WHEN 1 THEN decode(repeat('00', (h(k, 40) % 20)::integer), 'hex')"
                     " ELSE convert_to((array['abc', '', 'ab', 'zz', 'a'])[1 + h(k, 40) % 5], 'UTF8') END")),
    Column("oi", "oid", "oid", _share(5, "(h(k, 41) % 4294967296)::oid")),
    Column("mon", "mon", "money",
           _share(5, "CASE h(k, 42) % 50 WHEN 0 THEN '-92233720368547758.08' WHEN 1 THEN '92233720368547758.07'"
                     " ELSE ((h(k, 42) % 5000 - 2500)::numeric / 100)::text END::money")),
    Column("ip", "ip", "inet",
           _share(5, "CASE h(k, 43) % 5 WHEN 0 THEN '2001:db8::' || h(k, 44) % 9 || '/' || h(k, 45) % 129"
                     " ELSE '10.' || h(k, 43) % 3 || '.' || h(k, 44) % 40 || '.' || h(k, 45) % 2 || '/'"
                     " || h(k, 46) % 33 END::inet")),
    Column("net", "ip", "cidr", _share(5, "network(('10.' || h(k, 47) % 8 || '.0.0/' || h(k, 48) % 17)::inet)")),
    Column("mac", "mac", "macaddr", _share(5, "left(md5((h(k, 49) % 500)::text), 12)::macaddr")),
    Column("mac8", "mac8", "macaddr8", _share(5, "left(md5((h(k, 50) % 500)::text), 16)::macaddr8")),
    Column("lsn", "lsn", "pg_lsn", _share(5, "pg_lsn '80000000/0' + (h(k, 90) % 500 - 250)::numeric * 10000000")),
    Column("nm", "nm", "name", _share(5, "(chr(65 + (h(k, 91) % 40)::integer) || h(k, 92) % 30)::name")),
    Column("bits", "bits", "varbit",
           _share(5, "substring(h(k, 51)::bit(64) || (h(k, 52) % 4)::bit(66), 60, (h(k, 53) % 71)::integer)::varbit")),
    Column("bit6", "bits", "bit(6)", _share(5, "(h(k, 54) % 64)::integer::bit(6)")),
    Column("rng", "rng", "int4range",
           _share(5, "CASE h(k, 56) % 12 WHEN 0 THEN 'empty' WHEN 1 THEN '(,)' WHEN 2 THEN '(,3)' WHEN 3 THEN '[2,)'"
                     " ELSE int4range((h(k, 57) % 6 - 3)::integer, (4 + h(k, 58) % 9)::integer)::text END::int4range")),
    Column("span", "span", "tsrange",
           _share(5, "tsrange(timestamp '2020-01-01' + h(k, 59) % 1000 * interval '1 hour',"
                     " CASE WHEN h(k, 73) % 20 > 0 THEN timestamp '2020-03-01' + h(k, 74) % 9 * interval '1 us' END,"
                     " (array['[]', '[)', '(]', '()'])[1 + h(k, 75) % 4])")),
    Column("mr", "mr", "int4multirange",
           _share(5, "int4multirange(int4range(0, (h(k, 76) % 4)::integer), int4range(5, (5 + h(k, 77) % 3)::integer))")),
    Column("dom", "i4", "small_number", _share(10, "(h(k, 85) % 12)::integer")),
    Column("word", "text", "short_word", _share(10, "(array['red', 'a', '', 'Zz'])[1 + h(k, 86) % 4]")),
    Column("chr", "chr", '"char"', _share(5, "chr((33 + h(k, 55) % 90)::integer)::\"char\"")),
    # Equal values are written alike: which of them a group shows is not said (docs/vectors.md).
    Column("ci", "ci", "citext", _share(5, "(array['red', 'a', '', 'zz 1'])[1 + h(k, 93) % 4]::citext")),
    Column("ci_many", "ci", "citext", _share(5, "('v' || h(k, 94) % 900)::citext")),
    Column("hs", "hs", "hstore",
           _share(5, "hstore(ARRAY['a', (h(k, 95) % 4)::text, 'b', (array['x', NULL])[1 + h(k, 95) % 2]])")),
    Column("lt", "lt", "ltree",
           _share(5, "('top.n' || h(k, 96) % 6 || (array['', '.leaf'])[1 + h(k, 97) % 2])::ltree")),
    Column("cub", "cub", "cube", _share(5, "cube(ARRAY[h(k, 98) % 4, h(k, 99) % 3]::float8[])")),
    Column("sg", "sg", "seg", _share(5, "(array['1.5', '1 .. 3', '<2', '5 .. ', '~4'])[1 + h(k, 100) % 5]::seg")),
    Column("ean", "ean", "ean13",
           _share(5, "(array['9780393040029', '4006381333931', '0000000000000'])[1 + h(k, 101) % 3]::ean13")),
)  # fmt: skip

# Of no kind that the generators know: their expressions read what is inside (PATHS of expressions.py).
DOCUMENTS = (
    Column("doc", "doc", "jsonb",
           "CASE h(k, 60) % 14 WHEN 0 THEN NULL WHEN 1 THEN '[1, \"z\", null]' WHEN 2 THEN '\"root\"' WHEN 3 THEN 'null'"
           " ELSE jsonb_build_object('s', (array['red', 'green', '', 'short 3', NULL])[1 + h(k, 61) % 5],"
           " 'n', CASE h(k, 62) % 5 WHEN 0 THEN to_jsonb((h(k, 63) % 100)::numeric / 4) WHEN 1 THEN '\"7\"'"
           " WHEN 2 THEN 'null' ELSE to_jsonb(h(k, 63) % 1000) END,"
           " 'o', jsonb_build_object('p', h(k, 64) % 7, 'q', 'v' || h(k, 65) % 700),"
           " 'a', jsonb_build_array(h(k, 66) % 3, 'z', h(k, 67) % 2 = 0),"
           " 'l', CASE WHEN h(k, 68) % 50 = 0 THEN repeat(md5(k::text), 200) END)"
           " - CASE WHEN h(k, 69) % 4 = 0 THEN 'n' ELSE 's ' END END::jsonb"),
    Column("arr", "arr", "integer[]",
           "CASE h(k, 70) % 12 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN ARRAY[NULL, 3] WHEN 3 THEN '{{1, 2}, {3, 4}}'"
           " WHEN 4 THEN '[0:1]={7, 8}' ELSE ARRAY[h(k, 71) % 5, h(k, 72) % 7, h(k, 73) % 3] END::integer[]"),
    Column("tags", "tags", "text[]",
           "CASE h(k, 82) % 9 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{a,NULL}' WHEN 3 THEN '{{red,b},{c,a}}'"
           " ELSE string_to_array((array['red', 'a', 'b c', '', 'green'])[1 + h(k, 83) % 5] || ',' || h(k, 84) % 4, ',') END::text[]"),
    Column("comp", "comp", "pair",
           "CASE WHEN h(k, 78) % 12 > 0 THEN ROW(nullif(h(k, 79) % 9, 8), (array['red', '', 'zz'])[1 + h(k, 80) % 3])::pair END"),
)  # fmt: skip
ALL_COLUMNS = COLUMNS + DOCUMENTS

OBJECTS = """
CREATE EXTENSION citext;
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE EXTENSION cube;
CREATE EXTENSION seg;
CREATE EXTENSION isn;
CREATE TYPE shade AS ENUM ('red', 'green', 'blue', 'a', 'Z');
CREATE TYPE tone AS ENUM ('e', 'c', 'a');
ALTER TYPE tone ADD VALUE 'd' BEFORE 'c';
ALTER TYPE tone ADD VALUE 'b' BEFORE 'a';
CREATE TYPE pair AS (n integer, t text);
CREATE DOMAIN small_number AS integer CHECK (VALUE < 100);
CREATE DOMAIN short_word AS varchar(4) CHECK (VALUE <> 'none');
CREATE FUNCTION h(k integer, n integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT hashint8extended(k, n) & 4611686018427387903 $$;
CREATE FUNCTION later(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($2, $1) $$;
CREATE AGGREGATE last_of(anyelement) (SFUNC = later, STYPE = anyelement);
CREATE AGGREGATE joined(text) (SFUNC = textcat, STYPE = text);
CREATE FUNCTION halved(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT $1 / 2 $$;
CREATE AGGREGATE half_sum(numeric) (SFUNC = numeric_add, STYPE = numeric, FINALFUNC = halved, INITCOND = '0.0');
CREATE FUNCTION added(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, '') || '*' || coalesce($2, '') $$;
CREATE FUNCTION moved(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT right(coalesce($1, '') || '+' || coalesce($2, ''), 50) $$;
CREATE FUNCTION lost(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN hashtext($2) % 4 <> 0 THEN right($1 || '-' || $2, 50) END $$;
CREATE AGGREGATE logged(text) (SFUNC = added, STYPE = text, MSFUNC = moved, MINVFUNC = lost, MSTYPE = text, INITCOND = 'plain');
CREATE AGGREGATE inexact(float8) (SFUNC = float8pl, STYPE = float8, MSFUNC = float8pl, MINVFUNC = float8mi, MSTYPE = float8);
"""

SINGLE_BYTE_TEXT = {"Ärger": "Ärger", "日本": "Ýñ"}  # what LATIN1 cannot hold is replaced


@dataclass(frozen=True)
class Table:
    """A table and the state it is tested in."""

    name: str
    state: str
    rows: int
    prepare: tuple[str, ...]  # after the rows are inserted
    is_partitioned: bool = False


LOAD = "SELECT penumbra.load('{name}')"
HALF_OF_THE_COLUMNS = "ARRAY[" + ", ".join(f"'{c.name}'" for c in COLUMNS[::2]) + "]"

# Functions that only PostgreSQL has, as the templates write them (expressions.py), of values that hardly repeat.
FUNCTIONS = [
    *(f"{function}({column})" for function in ("quote_literal", "hashtext", "quote_nullable") for column in ("high", "long")),
    "date_bin('15 minutes', ts, timestamp '2000-01-01')", "to_char(ts, 'MI:SS.US')",
]
LOAD_FUNCTIONS = "SELECT penumbra.load('{name}', ARRAY[" + ", ".join(f"$${f}$$" for f in FUNCTIONS) + "])"

# k stays unique.
COPY_ROWS = ("INSERT INTO {target} SELECT k + 100000, " + ", ".join(c.name for c in ALL_COLUMNS[1:])
             + " FROM cached WHERE {condition}")  # fmt: skip

TABLES = (
    Table("cached", "fully cached and vacuumed", 12000, ("VACUUM (FREEZE, ANALYZE) cached", LOAD, LOAD_FUNCTIONS)),
    Table("changed", "a few rows changed after it was loaded", 8000, (
        "VACUUM ANALYZE changed", LOAD, LOAD_FUNCTIONS,
        "UPDATE changed SET i4 = i4 + 1, low = 'new' WHERE k % 211 = 0",
        "DELETE FROM changed WHERE k % 307 = 0",
        COPY_ROWS.format(target="changed", condition="k % 501 = 0"),
        "BEGIN", "UPDATE changed SET n2 = -n2 WHERE k % 103 = 0", "ROLLBACK",
    )),
    Table("revived", "changed, vacuumed and not loaded again", 8000, (
        "VACUUM ANALYZE revived", LOAD, LOAD_FUNCTIONS,
        "UPDATE revived SET f8 = -f8, words = NULL WHERE k BETWEEN {rows} * 3 / 8 AND {rows} * 17 / 40",
        "DELETE FROM revived WHERE k < 50", "VACUUM revived",
    )),
    Table("half", "half of the columns cached, rows added after", 6000, (
        "VACUUM ANALYZE half", "SELECT penumbra.load('half', " + HALF_OF_THE_COLUMNS + ")",
        COPY_ROWS.format(target="half", condition="k > 0.75 * (SELECT max(k) FROM cached)"),
    )),
    Table("plain", "not cached", 5000, ("ANALYZE plain",)),
    Table("altered", "columns dropped, added and retyped before it was loaded", 5000, (
        "ALTER TABLE altered ADD COLUMN extra integer DEFAULT 7",
        "ALTER TABLE altered DROP COLUMN extra",
        "ALTER TABLE altered ALTER COLUMN i4_run TYPE bigint",
            "ALTER TABLE altered ALTER COLUMN i4_run TYPE integer",
        "ALTER TABLE altered DROP COLUMN i4_const",
        "ALTER TABLE altered ADD COLUMN i4_const integer DEFAULT 42",
        "VACUUM ANALYZE altered", LOAD,
    )),
    Table("empty", "no rows", 0, ("VACUUM ANALYZE empty", LOAD)),
    Table("parted", "partitions: cached, changed and not cached", 9000, (
        "VACUUM ANALYZE parted", "SELECT penumbra.load('parted_0')", "SELECT penumbra.load('parted_1')",
        "UPDATE parted SET i4 = 5 WHERE k % 400 = 0",
    ), is_partitioned=True),
)  # fmt: skip

# Small, since joins of columns with few values multiply.  j_hidden hides rows from READER.
READER = "differential_reader"
JOIN_TABLES = (
    Table("j_cached", "fully cached and vacuumed", 400, ("VACUUM (FREEZE, ANALYZE) j_cached", LOAD)),
    Table("j_changed", "a few rows changed after it was loaded", 300, (
        "VACUUM ANALYZE j_changed", LOAD,
        "UPDATE j_changed SET i4 = i4 + 1, low = 'new' WHERE k % 7 = 0",
        "DELETE FROM j_changed WHERE k % 11 = 0",
        COPY_ROWS.format(target="j_changed", condition="k % 501 = 0"),
    )),
    Table("j_half", "half of the columns cached, rows added after", 250, (
        "VACUUM ANALYZE j_half", "SELECT penumbra.load('j_half', " + HALF_OF_THE_COLUMNS + ")",
        COPY_ROWS.format(target="j_half", condition="k < 30"),
    )),
    Table("j_plain", "not cached", 200, ("ANALYZE j_plain",)),
    Table("j_parted", "partitions: cached, changed and not cached", 300, (
        "VACUUM ANALYZE j_parted", "SELECT penumbra.load('j_parted_0')", "SELECT penumbra.load('j_parted_1')",
        "UPDATE j_parted SET i4 = 5 WHERE k % 40 = 0",
    ), is_partitioned=True),
    Table("j_hidden", "row-level security", 300, (
        "VACUUM ANALYZE j_hidden", LOAD,
        "CREATE POLICY hides ON j_hidden USING (i4_few <> 3 AND k % 10 <> 4)",
        "ALTER TABLE j_hidden ENABLE ROW LEVEL SECURITY",
    )),
    Table("j_tiny", "a dozen rows", 12, ("VACUUM ANALYZE j_tiny", LOAD)),
    Table("j_empty", "no rows", 0, ("VACUUM ANALYZE j_empty", LOAD)),
    Table("j_unlogged", "never cached", 150, ("ALTER TABLE j_unlogged SET UNLOGGED", "ANALYZE j_unlogged")),
)  # fmt: skip
# As a table, with a condition that the engine does not evaluate.
REFUSED_CONDITION = "(SELECT * FROM j_cached WHERE to_jsonb(k) <> '5')"
# What PostgreSQL reads for our joins; mode require refuses it.
NOT_SERVED = re.compile("j_unlogged|to_jsonb")
JOIN_VIEWS = (
    "CREATE VIEW j_barrier WITH (security_barrier) AS SELECT * FROM j_cached WHERE i4_few <> 2",
    "CREATE VIEW j_view AS SELECT a.*, b.low AS other FROM j_changed AS a LEFT JOIN j_plain AS b ON a.k = b.k",
    f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}",
)


def table_sql(table: Table, is_single_byte: bool, divisor: int = 1) -> list[str]:
    """The statements that make the table in its state, large ones with a divisor of their rows."""
    rows = table.rows // divisor if table in TABLES else table.rows
    columns = ", ".join(f"{column.name} {column.definition}" for column in ALL_COLUMNS)
    if table.is_partitioned:
        statements = [f"CREATE TABLE {table.name} ({columns}) PARTITION BY HASH (k)"]
        statements += [f"CREATE TABLE {table.name}_{part} PARTITION OF {table.name}"
                       f" FOR VALUES WITH (MODULUS 3, REMAINDER {part})" for part in range(3)]  # fmt: skip
    else:
        statements = [f"CREATE TABLE {table.name} ({columns}) WITH (autovacuum_enabled = off)"]
    if table.rows:
        values = ", ".join(column.value for column in ALL_COLUMNS)
        if is_single_byte:
            for text, replacement in SINGLE_BYTE_TEXT.items():
                values = values.replace(text, replacement)
        statements.append(
            f"INSERT INTO {table.name} SELECT {values} FROM generate_series(1, {rows}) AS g(k)"
        )
    return statements + [step.format(name=table.name, rows=rows) for step in table.prepare]
