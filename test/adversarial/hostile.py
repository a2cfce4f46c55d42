"""Hostile values of every type, as SQL expressions; the first of each list is harmless."""

import itertools
import random
from collections.abc import Iterator

MANY = 1_000_000  # bytes of a long string

# Relations that the fixture of test_objects.py makes; forged numbers.
RELATIONS = [
    "own_table", "others_table", "own_view", "others_view", "own_partitioned", "others_partitioned", "own_index",
    "own_keytree", "others_keytree", "own_sequence", "own_matview", "own_temporary", "own_unlogged", "own_empty",
    "pg_catalog.pg_class", "pg_catalog.pg_authid", "pg_catalog.pg_statistic", "pg_catalog.pg_class_oid_index",
    "penumbra.tables", "compression_dictionaries", "information_schema.tables", "own_composite",
]  # fmt: skip
OIDS = ["0", "1", "4294967295", "2147483648", "1259", "1260", "2619", "3", "dropped_oid()"]

TEXTS = [
    "'abc'", "''", "' '", "E'\\n\\t\\x01'", f"repeat('a', {MANY})", f"repeat('%_\\', {MANY // 20})", "'%'", "'\\'",
    "'\u00e4\U0001f600\u0301'", "'; DROP TABLE own_table; --'", "'\"'", "''''", "'%s%n%1$s%99999$s'", "'NaN'", "'-1'",
    "'../../../../etc/passwd'", "'zstd'", "'zstd,22'", "'zstd,-2147483649'", "'database'", "'signal'", "'ptrace'", "'heap'",
    "'random'", "'SELECT 1'", "'SELECT $1'", "'COMMIT'", "'a(b[c{2,3}'", "'id'", "'ctid'", "repeat('x', 64)", "'1e131072'",
]  # fmt: skip
NUMBERS = [
    "1", "0", "-1", "0.00", "'NaN'", "'Infinity'", "'-Infinity'", "1e131071", "-1e131071", "1e-16383", "0.1",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e1000", "repeat('9', 5000)",
    "'0.' || repeat('0', 1000) || '1'", "12345678901234567890.123456789",
]  # fmt: skip


def _cast(type_name: str, values: list[str]) -> list[str]:
    return [f"({value})::{type_name}" for value in values]


def _integers(type_name: str, bits: int) -> list[str]:
    limit = 1 << (bits - 1)
    values = [1, 0, -1, 2, 3, 1021, 16384, limit - 1, -limit, limit // 2]
    return [f"'{value}'::{type_name}" for value in values if -limit <= value < limit]


JSONS = ["'{\"a\": 1}'", "'{}'", "'[]'", "'null'", "'\"x\"'", "'[1, [2, {\"a\": null}]]'", "'1e1000'",
         "repeat('[', 6000) || repeat(']', 6000)", f"'\"' || repeat('j', {MANY}) || '\"'",
         "'{\"\": \"\\u0001\"}'", "'[' || repeat('1,', 50000) || '1]'"]  # fmt: skip

VALUES: dict[str, list[str]] = {
    "text": _cast("text", TEXTS),
    "name": _cast("name", TEXTS[:4]),
    "cstring": _cast("cstring", TEXTS) + _cast("cstring", ["'{1,2}'", "'\\x00ff'", "'{\"a\":1}'", "'zz'", "'\\xz'"]),
    "boolean": ["true", "false"],
    "smallint": _integers("smallint", 16),
    "integer": _integers("integer", 32),
    "bigint": _integers("bigint", 64),
    "oid": _cast("oid", OIDS),
    "regclass": [f"'{name}'::regclass" for name in RELATIONS] + [f"({value})::oid::regclass" for value in OIDS],
    "regtype": ["'integer'::regtype"] + [f"({value})::oid::regtype" for value in OIDS]
    + [f"'{name}'::regtype" for name in ("text", "uuid", "float8", "numeric", "record", "own_composite", "anyarray", "internal", "void")],
    "numeric": [f"({value})::numeric" for value in NUMBERS],
    "double precision": _cast("float8", ["1", "0", "'-0'", "'NaN'", "'Infinity'", "'-Infinity'", "1e308", "5e-324"]),
    "bytea": _cast("bytea", ["'\\x616263'", "''", "'\\x00'", "'\\xff'", "'\\xfffffffffffffffffffff0'"])
    + [f"convert_to(repeat('b', {MANY}), 'UTF8')", "decode(repeat('00', 40), 'hex')", "decode(repeat('ff', 40), 'hex')"],
    "jsonb": _cast("jsonb", JSONS),
    "jsonpath": _cast("jsonpath", ["'$.a'", "'$'", "'$[*] ? (@ > 1)'", "'strict $.x[9]'", "'$.**{1 to 100}'"]),
    "timestamp with time zone": _cast("timestamptz", ["'2020-01-01'", "'infinity'", "'-infinity'", "'4713-01-01 BC'"]),
    "tid": _cast("tid", ["'(0,1)'", "'(4294967295,65535)'"]),
    "uuid": _cast("uuid", ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]),
    "date": _cast("date", ["'2020-01-01'", "'infinity'", "'-infinity'", "'5874897-12-31'"]),
    "internal": ["NULL"],
    "record": ["ROW(1, 'a')", "ROW()", "ROW(NULL)"],
}  # fmt: skip
for compressed, plain in (("compressed_text", "text"), ("compressed_jsonb", "jsonb"), ("compressed_bytea", "bytea")):
    VALUES[compressed] = [f"({value})::{compressed}" for value in VALUES[plain]]
    VALUES[compressed] += [f"({VALUES[plain][0]})::{compressed}({modifier})" for modifier in ("none", "pglz", "brotli", "lz4, 12")]
ARRAYS = {
    "integer[]": ["'{3,1,2}'", "'{}'", "'{NULL}'", "'{NULL,NULL,1}'", "'{{1,2},{3,4}}'", "'[5:7]={3,2,1}'", "'[-2147483648:-2147483647]={1,2}'",
                  "array_fill(7, ARRAY[100000])", "array_fill(1, ARRAY[1,1,1,1,1,1])", "'[2147483646:2147483646]={1}'"],
    "text[]": ["'{b,a}'", "'{}'", "'{NULL,\"\"}'", "'{{a},{b}}'", f"ARRAY[repeat('t', {MANY}), 'x']", "array_fill('y'::text, ARRAY[30000])"],
    "cstring[]": ["'{zstd}'", "'{}'", "'{zstd,99}'", "'{zstd,3,none}'", "'{none,1,1,1}'", "'{NULL}'", "'{{zstd},{lz4}}'", "'{\"\"}'", "'{-1}'"],
    "numeric[]": ["'{3,1}'", "'{NaN,Infinity,NULL,-Infinity}'"],
    "float8[]": ["'{3,1}'", "'{NaN,Infinity,NULL,-0,0}'"],
    "uuid[]": ["ARRAY[gen_random_uuid(), NULL]"],
    "jsonb[]": ["ARRAY['{}'::jsonb, NULL, '1']"],
    "own_composite[]": ["ARRAY[ROW(1, 'a')::own_composite, NULL]"],
    "regclass[]": ["'{own_table,0}'"],
    "box[]": ["'{(1,1),(0,0)}'"],
    "varbit[]": ["'{1,0}'"],
    "timestamptz[]": ["'{infinity,-infinity,NULL}'"],
    "compressed_text[]": ["ARRAY['a'::compressed_text, NULL, repeat('z', 100000)::compressed_text]"],
}  # fmt: skip
for array, values in ARRAYS.items():
    VALUES[array] = _cast(array, values)
EVERY_ARRAY = [value for array in ARRAYS for value in VALUES[array]]
VALUES["anyarray"] = VALUES["anycompatiblearray"] = EVERY_ARRAY + ["'{1 2}'::int2vector", "'{1,2}'::unknown"]
VALUES["anyelement"] = VALUES["any"] = VALUES['"any"'] = [
    values[0] for values in VALUES.values()
] + [values[-1] for values in VALUES.values()]


def values_of(type_name: str) -> list[str]:
    """Types that have no list get the texts: most are refused by the type's input function."""
    known = VALUES.get(type_name)
    if known is None:
        known = [f"({value})::{type_name}" for value in TEXTS[:6]]
    return [*known, "NULL" if type_name in ("internal", "any", '"any"', "anyarray") else f"NULL::{type_name}"]


def argument_lists(types: list[str], count: int, seed: int) -> Iterator[list[str]]:
    """Each hostile value once beside harmless ones, then mixed ones; at most this many."""
    choices = [values_of(name) for name in types]
    single = [
        [value if i == position else choices[i][0] for i in range(len(types))]
        for position in range(len(types))
        for value in choices[position]
    ]
    generator = random.Random(seed)
    if len(single) > count:
        single = generator.sample(single, count)
    mixed = ([generator.choice(values) for values in choices] for _ in range(max(count - len(single), 0) if len(types) > 1 else 0))
    return itertools.chain([["NULL"] * len(types)], single, mixed)
