"""Random SQL expressions by type, over the columns of tables.py.

A template is SQL with {type} for a sub-expression, {=type} for a constant of the type, {*type} for a list of them,
{@type} for an array, {name} for a column. The lists name what the engine supports; whatever it refuses is still
compared, in auto mode, and counted.
"""

import random
import re

from tables import ALL_COLUMNS, COLUMNS

SQL_TYPES = {
    "bool": "boolean", "i2": "smallint", "i4": "integer", "i8": "bigint", "f4": "real",
    "f8": "double precision", "num": "numeric", "d": "date", "ts": "timestamp", "tz": "timestamptz",
    "iv": "interval", "text": "text", "bp": "char(6)", "uuid": "uuid", "en": "shade", "ton": "tone", "tod": "time", "ttz": "timetz",
    "by": "bytea", "oid": "oid", "mon": "money", "ip": "inet", "mac": "macaddr", "mac8": "macaddr8", "bits": "varbit",
    "chr": '"char"', "rng": "int4range", "span": "tsrange", "mr": "int4multirange", "lsn": "pg_lsn", "nm": "name",
    "ci": "citext", "hs": "hstore", "lt": "ltree", "cub": "cube", "sg": "seg", "ean": "ean13",
}  # fmt: skip
KINDS = tuple(SQL_TYPES)
COLUMN_NAMES = {column.name for column in COLUMNS}
NUMBERS = ("i2", "i4", "i8", "f4", "f8", "num")
GROUPABLE = tuple(kind for kind in KINDS if kind != "iv")
# Of types that the engine has images of: comparisons, and little else.
COMPARED = ("en", "ton", "tod", "ttz", "by", "oid", "mon", "ip", "mac", "mac8", "bits", "chr", "rng", "span", "mr", "lsn",
            "nm", "ci", "hs", "lt", "cub", "sg", "ean")
# PostgreSQL has no min() and max(), or not in all versions.
WITHOUT_EXTREMES = ("bool", "uuid", "by", "mac", "mac8", "bits", "chr", "rng", "span", "mr", "nm", "hs", "lt", "cub", "sg",
                    "ean")

CONSTANTS = {
    "bool": ["true", "false"],
    "i2": ["0", "1", "-1", "7", "-100", "32767", "100"],
    "i4": ["0", "1", "-1", "42", "3", "-10000", "2147483647", "1000", "99"],
    "i8": ["0", "1", "-7", "123456789000", "1000000007000", "9223372036854775807"],
    "f4": ["0", "1.5", "-2.25", "71.5", "3.1415927"],
    "f8": ["0", "1", "-1.5", "2.5e10", "'NaN'", "'Infinity'", "0.1", "1500.25"],
    "num": ["0", "1", "0.00", "-1.25", "500", "42.50", "9999.99", "0.001", "'NaN'", "12345678901234567890.5",
            "1e30"],
    "d": ["'1995-06-17'", "'2000-01-01'", "'2024-02-29'", "'infinity'", "'1992-01-01'", "'1998-12-01'"],
    "ts": ["'2020-06-01'", "'1999-12-31 23:59:59.5'", "'2021-12-24 18:30:00.123456'", "'infinity'",
           "'2022-01-01'"],
    "tz": ["'2021-06-01 12:00+02'", "'2022-10-30 02:30+01'", "'2021-03-28 01:00+00'", "'-infinity'"],
    "iv": ["'1 day'", "'1 month'", "'-3 days 04:05:06'", "'1 year 2 mons'", "'90 days'", "'00:00:00.5'"],
    "text": ["'red'", "''", "'Green'", "'v17'", "'special 7 requests'", "'short 3'", "'a%b'", "'zz'", "'A'"],
    "bp": ["'ab'", "'abc   '", "''", "'B'"],
    "uuid": ["'00000000-0000-0000-0000-000000000000'", "'80000000-0000-0000-0000-000000000000'",
             "'c4ca4238-a0b9-2382-0dcc-509a6f75849b'"],
    "en": ["'red'", "'blue'", "'a'", "'Z'"],
    "ton": ["'a'", "'b'", "'d'", "'e'"],
    "tod": ["'12:00'", "'00:00'", "'24:00'", "'23:59:59.999999'"],
    "ttz": ["'12:00+00'", "'13:00+01'", "'24:00-15:59'", "'12:00+05:30'"],
    "by": ["''", "'abc'", "'ab'", "'zz'"],
    "oid": ["'0'", "'4294967295'", "'2147483648'", "'1000000000'"],
    "mon": ["'0'", "'-1.50'", "'12.34'", "'92233720368547758.07'"],
    "ip": ["'10.1.0.0/16'", "'10.0.0.0/8'", "'10.1.2.1'", "'2001:db8::/32'", "'0.0.0.0/0'"],
    "mac": ["'00:00:00:00:00:00'", "'c4:ca:42:38:a0:b9'", "'ff:ff:ff:ff:ff:ff'"],
    "mac8": ["'00:00:00:00:00:00:00:00'", "'c4:ca:42:38:a0:b9:23:82'", "'80:00:00:00:00:00:00:00'"],
    "bits": ["''", "'0'", "'1'", "'000101'", "'00000000000000000000000000000000000000000000000000000000000000000'"],
    "chr": ["'a'", "'!'", "'Z'"],
    "rng": ["'empty'", "'[0,5)'", "'(,)'", "'[-3,4)'", "'[2,)'"],
    "span": ["'[2020-01-05,2020-03-01]'", "'(2020-01-05,2020-03-01)'", "'(,)'", "'empty'", "'[2020-01-05,)'"],
    "mr": ["'{}'", "'{[0,2)}'", "'{[0,2),[5,6)}'", "'{(,)}'"],
    "lsn": ["'0/0'", "'80000000/0'", "'FFFFFFFF/FFFFFFFF'", "'0/1C9C380'"],
    "nm": ["''", "'a1'", "'A7'", "'a12'"],
    "ci": ["'red'", "''", "'v17'", "'zz 1'"],
    "hs": ["''", "'a=>1'", "'a=>1, b=>NULL'", "'a=>0, b=>x'"],
    "lt": ["''", "'top.n1'", "'top.n2.leaf'", "'top'"],
    "cub": ["'(0, 0)'", "'(1, 2)'", "'(1, 2), (3, 4)'"],
    "sg": ["'1.5'", "'1 .. 3'", "'~4'", "'7'"],
    "ean": ["'9780393040029'", "'4006381333931'"],
}  # fmt: skip

# The n-th of many constants.
LIST_ELEMENTS = {
    "bool": "({n} > 0)", "i2": "{n}::smallint", "i4": "{n}", "i8": "{n}000000::bigint", "f4": "({n} / 4.0)::real",
    "f8": "({n} / 10.0)::float8", "num": "{n}.25", "d": "(date '2000-01-01' + {n})",
    "ts": "(timestamp '2021-01-01' + {n} * interval '1 h')", "tz": "to_timestamp({n}000000)", "text": "'v{n}'",
    "bp": "'a{n}'::char(6)", "uuid": "lpad(abs({n})::text, 32, '0')::uuid", "iv": "({n} * interval '1 h')",
    "en": "(enum_range(NULL::shade))[1 + abs({n}) % 5]", "ton": "(enum_range(NULL::tone))[1 + abs({n}) % 5]", "tod": "(time '00:00' + {n} * interval '1 min')",
    "ttz": "('12:00+0' || abs({n}) % 9)::timetz", "by": "convert_to('a{n}', 'UTF8')", "oid": "abs({n})::oid",
    "mon": "({n} / 100.0)::numeric::money", "ip": "('10.' || abs({n}) % 3 || '.0.0/' || abs({n}) % 33)::inet",
    "mac": "left(md5(abs({n})::text), 12)::macaddr", "mac8": "left(md5(abs({n})::text), 16)::macaddr8",
    "bits": "abs({n})::bit(12)::varbit", "chr": "chr(33 + abs({n}) % 90)::\"char\"",
    "rng": "int4range(abs({n}) % 6 - 3, abs({n}) % 9 + 4)", "span": "tsrange(NULL, timestamp '2020-03-01' + {n} * interval '1 us')",
    "mr": "int4multirange(int4range(0, abs({n})))",
    "lsn": "(pg_lsn '0/0' + abs({n})::numeric)", "nm": "('a' || {n})::name",
    "ci": "('v' || {n})::citext", "hs": "hstore('a', ({n})::text)", "lt": "('top.n' || abs({n}))::ltree",
    "cub": "cube(ARRAY[abs({n}) % 4, 1]::float8[])", "sg": "(abs({n}) % 9)::text::seg",
    "ean": "(ARRAY['9780393040029', '4006381333931'])[1 + abs({n}) % 2]::ean13",
}  # fmt: skip

PATTERNS = ["'%e%'", "'red%'", "'%s'", "'s%c_al%'", "'_____'", "'%'", "''", "'%special%requests%'",
            "'a\\%b'", "'a_b'", "'%1%2%'", "'short%'", "'%\\\\%'", "'v_1%'", "'%Ä%'", "'RED'", "'%  %'"]  # fmt: skip
NUMBERS = ["'FM999G990D00'", "'9,999,999.99S'", "'MI000.9'", "'FM99990.99'", "'0000000'", "'FM.09PR'", "'SG9 9 9\"x\"'", "'PL99.'"]
FORMATS = ["'YYYY-MM-DD'", "'Day, DD. Mon YY'", "'IYYY-IW'", "'HH24 h'", "'FMHH12 AM DD'", "'MI:SS.US'", "'Q J CC'",
           "'YYYY-MM-DD TZH'", "''"]  # fmt: skip
MORE_FORMATS = ["'FMDay FMMonth'", "'W WW D ID'", "'AD p.m. Y,YYY'", "'SSSS MS FF3'", "'RM DDth'", "'DDD IDDD'", "'YY IYY I CC'", "'\"q\" HH24MISS'"]
REGEXES = ["'^[a-m]'", "'e.*e'", "'(re|gr)'", "'^$'", "'\\d\\d'", "'RED'"]
FIELDS_D = ["year", "month", "day", "quarter", "dow", "isodow", "doy", "week", "isoyear", "century", "decade",
            "millennium", "epoch", "julian"]  # fmt: skip
FIELDS_TS = FIELDS_D + ["hour", "minute", "second", "milliseconds", "microseconds"]
ZONES = ["'Europe/Berlin'", "'America/New_York'", "'EST'", "(CASE WHEN {i2} > 0 THEN 'Australia/Lord_Howe' ELSE 'UTC' END)"]
TRUNC = ["microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year",
         "decade", "century", "millennium"]  # fmt: skip

COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
COMPARABLE_PAIRS = [(kind, kind) for kind in KINDS if kind != "iv"] + [
    ("i2", "i4"), ("i4", "i8"), ("i8", "i2"), ("f4", "f8"), ("num", "i4"), ("i4", "num"), ("f8", "i4"),
    ("d", "ts"), ("text", "bp"), ("ts", "tz"),
]  # fmt: skip

# Values inside of documents, arrays, ranges and composites: the columns go by their kinds.
PATHS = {
    "text": ["({doc} ->> 's')", "({doc} ->> 'n')", "({doc} -> 'o' ->> 'q')", "({doc} #>> '{o,p}')", "({doc} ->> 0)",
             "jsonb_typeof({doc} -> 'n')", "jsonb_typeof({doc})", "({doc} -> 'a' ->> -1)", "({doc} #>> '{a,1}')",
             "jsonb_extract_path_text({doc}, 'o', 'q')", "({comp}).t", "({doc} -> 'o')::text", "({doc} ->> 'l')", "({doc} ->> 'none')",
             "({doc})['o']['q'] #>> '{}'", "({doc})['a'][0]::text", "jsonb_path_query_first({doc}, '$.o.q') #>> '{}'",
             "jsonb_path_query_array({doc}, '$.a[*]')::text", "jsonb_extract_path({doc}, 'a', '0')::text", "({doc} - 'l')::text",
             "({doc} #- '{a,1}')::text", "jsonb_set({doc} -> 'o', '{p}', '7')::text", "jsonb_strip_nulls({doc} -> 'o')::text",
             "jsonb_path_query_first({doc}, '$.a[*] ? (@ > 0)')::text", "({doc} -> 'a' || '[5]')::text", "jsonb_typeof({doc} #> '{a,0}')",
             "(SELECT string_agg(e, ',' ORDER BY e) FROM jsonb_array_elements_text({doc} -> 'a') e)",
             "(SELECT max(e.key) FROM jsonb_each_text({doc} -> 'o') e)", "array_to_string({arr}, ',', '*')", "({arr})[1:2]::text",
             "({arr})[2:]::text", "({arr})[:1][1:1]::text", "array_dims({arr})", "({arr} || 5)::text", "array_prepend(NULL, {tags})::text",
             "(CASE array_ndims({arr}) WHEN 1 THEN array_remove({arr}, 3) END)::text", "array_replace({tags}, 'red', 'x')::text", "({tags})[1]",
             "array_to_string({tags}, '|')", "({tags})[1:2]::text", "(SELECT max(e) FROM unnest({tags}) e)", "{rng}::text", "{mr}::text",
             "{span}::text", "({comp})::text", "({doc} -> 'o' ->> 'p')::varchar(3)"],
    "bool": ["({doc} ? 's')", """({doc} @> '{"o": {"p": 3}}')""", "({doc} -> 'n' = '7')", "(3 = ANY ({arr}))",
             "({arr} @> ARRAY[1, 2])", "({arr} && ARRAY[0])", "(5 <> ALL ({arr}))", "({doc} -> 'n' IS NULL)",
             "({doc} ?| ARRAY['s', 'zz'])", "({doc} IS NULL)", "({arr} <@ ARRAY[0, 1, 2, 3, 4])",
             "({rng} @> 2)", "({rng} && '[7,9)')", "isempty({rng})", "({span} @> timestamp '2020-01-15')", "upper_inc({span})",
             "({rng} <@ '[-1,10)'::int4range)", "({mr} @> 5)", "(({comp}).n > 4)", "upper_inf({span})",
             "({doc} @? '$.a[*] ? (@ > 1)')", "({doc} @@ '$.o.p > 3')", "jsonb_path_exists({doc}, '$.n ? (@ > 100)')",
             "jsonb_path_match({doc}, 'exists($.s)')", "({doc} ?& ARRAY['s', 'o'])", "({doc} <@ '{}')", "(({doc})['n'] = '3')",
             "({doc} -> 'o' = '{}')", "({doc} @> '[1]')", "({arr} = ARRAY[1, 2, 1])", "({arr} > ARRAY[2])", "(({arr})[1:2] = ARRAY[0, 3])",
             "(3 >= ALL ({arr}))", "(NULL = ANY ({arr}))", "({tags} && ARRAY['red', 'b'])", "({tags} @> ARRAY['a'])", "('red' = ANY ({tags}))",
             "({tags} <@ '{red,a,b}')", "({tags} < ARRAY['b'])", "({arr} IS NULL)", "({rng} << '[7,9)')", "({rng} -|- '[9,12)')",
             "({rng} &< '[1,6)')", "({mr} && '{[2,4)}')", "({mr} << '{[6,9)}')", "({span} && '[2020-01-20,2020-01-21)')", "lower_inc({rng})",
             "lower_inf({mr})", "({rng} <> 'empty')", "(range_merge({rng}, '[1,2)') @> 3)", "({comp} = ROW(3, 'red')::pair)", "({comp} IS NULL)",
             "({comp} < ROW(5, NULL)::pair)", "(({comp}).t IS NOT NULL)"],
    "num": ["CASE WHEN jsonb_typeof({doc} -> 'n') = 'number' THEN ({doc} ->> 'n')::numeric END",
            "CASE WHEN ({doc} ->> 's') ~ '^[0-9]{1,9}$' THEN ({doc} ->> 's')::numeric(12, 2) END"],
    "i4": ["cardinality({arr})", "({arr})[1]", "array_length({arr}, 1)", "array_lower({arr}, 1)", "({arr})[2][1]",
           "lower({rng})", "upper({rng})", "upper({mr})", "({comp}).n", "(upper({rng}) - lower({rng}))",
           "jsonb_array_length(CASE jsonb_typeof({doc} -> 'a') WHEN 'array' THEN {doc} -> 'a' END)", "array_upper({arr}, 1)", "array_ndims({arr})",
           "(CASE array_ndims({arr}) WHEN 1 THEN array_position({arr}, 3) END)", "array_length({arr}, 2)", "cardinality(({arr})[2:3])", "cardinality({tags})", "(CASE array_ndims({tags}) WHEN 1 THEN array_position({tags}, 'a') END)",
           "(CASE array_ndims({arr}) WHEN 1 THEN cardinality(array_positions({arr}, 1)) END)", "({doc} -> 'o' ->> 'p')::integer", "({doc} -> 'o' -> 'p')::integer", "(({doc})['o']['p'])::integer",
           "(SELECT sum(e)::integer FROM unnest({arr}) e)", "(SELECT count(*)::integer FROM jsonb_object_keys(CASE jsonb_typeof({doc}) WHEN 'object' THEN {doc} END) e)",
           "lower(range_merge({mr}))"],
    "i8": ["(SELECT count(*) FROM unnest({arr}) e WHERE e > 1)", "(SELECT sum(e * o) FROM unnest({arr}) WITH ORDINALITY u (e, o))",
           "hashint4(cardinality({arr}))::bigint"],
    "by": ["convert_to({doc} ->> 's', 'UTF8')"],
    "d": ["lower({span})::date"],
    "ts": ["lower({span})", "upper({span})"],
    "rng": ["({rng} * '[1,8)'::int4range)", "range_merge({mr})", "range_merge({rng}, '[2,4)')"],
    "span": ["({span} * '[2020-01-10,2020-02-20)'::tsrange)"],
    "mr": ["({mr} + '{[3,6)}')", "({mr} - '{[1,2)}')", "({mr} * '{[0,6)}')", "int4multirange({rng})"],
}  # fmt: skip

# result kind -> (weight, template)
TEMPLATES: dict[str, list[tuple[int, str]]] = {kind: [] for kind in KINDS}


def _add(kind: str, weight: int, *templates: str) -> None:
    TEMPLATES[kind] += [(weight, template) for template in templates]


def _fill_templates() -> None:
    for kind in KINDS:
        _add(kind, 2, f"CASE WHEN {{bool}} THEN {{{kind}}} ELSE {{{kind}}} END",
             f"CASE WHEN {{bool}} THEN {{{kind}}} WHEN {{bool}} THEN {{={kind}}} END",
             f"coalesce({{{kind}}}, {{{kind}}})", f"coalesce({{{kind}}}, {{={kind}}})",
             f"nullif({{{kind}}}, {{={kind}}})")  # fmt: skip
        if kind not in ("bool", "iv", "bp", "ton"):
            _add(kind, 1, f"greatest({{{kind}}}, {{{kind}}})", f"least({{{kind}}}, {{={kind}}}, {{{kind}}})",
                 f"CASE {{{kind}}} WHEN {{={kind}}} THEN {{={kind}}} ELSE {{{kind}}} END")  # fmt: skip
    for left, right in COMPARABLE_PAIRS:
        for operator in COMPARISONS:
            _add("bool", 2 if left == right else 1, f"{{{left}}} {operator} {{={right}}}")
            _add("bool", 1, f"{{{left}}} {operator} {{{right}}}")
    for kind in GROUPABLE:
        _add(
            "bool",
            3,
            f"{{{kind}}} IS NULL",
            f"{{{kind}}} IS NOT NULL",
            f"{{{kind}}} IN ({{={kind}}}, {{={kind}}}, {{={kind}}})",
            f"{{{kind}}} NOT IN ({{={kind}}}, {{={kind}}})",
            f"{{{kind}}} IS DISTINCT FROM {{={kind}}}",
            f"{{{kind}}} IS NOT DISTINCT FROM {{{kind}}}",
        )
        if kind != "bool":
            _add("bool", 3, f"{{{kind}}} BETWEEN {{={kind}}} AND {{={kind}}}",
                 f"{{{kind}}} = ANY (ARRAY[{{={kind}}}, {{={kind}}}, NULL])",
                 f"{{{kind}}} NOT IN ({{={kind}}}, NULL)",
                 f"{{{kind}}} IN ({{*{kind}}})", f"{{{kind}}} NOT IN ({{*{kind}}})")  # fmt: skip
    for left, right in [*COMPARABLE_PAIRS, ("iv", "iv")]:
        _add("bool", 3 if left == right else 1, f"{{{left}}} = ANY ({{@{right}}})", f"{{{left}}} <> ALL ({{@{right}}})")
        _add("bool", 1, f"{{{left}}} <> ANY ({{@{right}}})", f"{{{left}}} >= ALL ({{@{right}}})")
    _add("bool", 30, "({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})")
    _add("bool", 10, "({bool} AND {bool} AND {bool})", "({bool} OR {bool} OR {bool})")
    _add(
        "bool",
        4,
        "{bool} IS TRUE",
        "{bool} IS NOT TRUE",
        "{bool} IS FALSE",
        "{bool} IS NOT FALSE",
        "{bool} IS UNKNOWN",
        "starts_with({text}, {=text})",
        "({i4}, {text}) < ({=i4}, {=text})",
        "({d}, {num}, {i8}) >= ({d}, {=num}, {i4})",
        "({text}, {ts}) > ({text}, NULL)",
        "({bp}, {f8}) <= ({=bp}, {f4})",
    )
    _add(
        "bool",
        12,
        "{text} LIKE {pattern}",
        "{text} NOT LIKE {pattern}",
        "{text} ILIKE {pattern}",
        "{bp} LIKE {pattern}",
        "{text} NOT ILIKE {pattern}",
    )
    for kind in ("i2", "i4", "i8", "f4", "f8", "num"):
        _add(kind, 3, f"({{{kind}}} + {{{kind}}})", f"({{{kind}}} - {{={kind}}})", f"({{{kind}}} * {{={kind}}})",
             f"(- {{{kind}}})", f"abs({{{kind}}})", f"({{={kind}}} - {{{kind}}})")  # fmt: skip
        _add(kind, 2, f"({{{kind}}} / {{={kind}}})", f"({{{kind}}} * {{{kind}}})",
             f"({{{kind}}} / nullif({{{kind}}}, 0))")  # fmt: skip
        if kind not in ("f4", "f8"):
            _add(kind, 2, f"({{{kind}}} % {{={kind}}})")
    _add(
        "i4",
        2,
        "({i2} + {i4})",
        "({i4} * {i2})",
        "length({text})",
        "octet_length({text})",
        "ascii({text})",
        "length({bp})",
        "position({=text} in {text})",
        "({d} - {d})",
        "({d} - {=d})",
        "{i2}::integer",
        "{num}::integer",
        "{f8}::integer",
        "{bool}::integer",
    )
    _add("i2", 1, "{i4}::smallint", "{num}::smallint")
    _add(
        "i8",
        2,
        "({i4} + {i8})",
        "({i8} - {i2})",
        "{i4}::bigint",
        "({i4}::bigint * {i4})",
        "{num}::bigint",
        "{f8}::bigint",
    )
    _add("f4", 1, "{f8}::real", "{i4}::real", "{i2}::real", "{num}::real")
    _add(
        "f8",
        2,
        "({f4} + {f8})",
        "({f8} * {f4})",
        "{i4}::double precision",
        "{num}::double precision",
        "{f4}::double precision",
        "round({f8})",
        "floor({f8})",
        "ceil({f8})",
        "trunc({f8})",
        "sign({f8})",
        "sqrt(abs({f8}))",
        "{i8}::double precision",
        "date_part({field_ts}, {ts})",
        "date_part({field_d}, {d})",
    )
    _add("f8", 1, "exp({f8} / 1000)", "ln(abs({f8}) + 1)", "power(abs({f8}), 0.5)", "log(abs({f8}) + 1)", "cbrt({f8})",
         "sin({i4}::double precision)", "acos(cos(radians({i2}::double precision)))", "atan2({f8}, {f4})",
         "tanh({f8})", "degrees(atan({f8}))")  # fmt: skip
    _add(
        "num",
        2,
        "round({num}, {digits})",
        "round({num})",
        "round({num} / nullif({num}, 0), {digits})",
        "round({num} / {=num}, {digits})",
        "round({f8}::numeric, {digits})",
        "floor({num} / {=num})",
        "ceil({n2} * 100 / {=num})",
        "trunc({n2} / {=num}, {digits})",
        "floor({i4} / {=num})",
        "round({n2} * 100 / nullif({n_wide}, 0), 2)",
        "power({n2}, 2)",
        "power(({n2} - 50), {exponent})",
        "trunc({num}, {digits})",
        "floor({num})",
        "ceil({num})",
        "sign({num})",
        "({num} + {i4})",
        "({i4} * {num})",
        "{i4}::numeric",
        "{i8}::numeric",
        "{num}::numeric(20,3)",
        "extract({field_ts_bare} FROM {ts})",
        "extract({field_d_bare} FROM {d})",
        "({num} * (1 - {num}))",
        "({num} % 7)",
        "{f8}::numeric",
        "coalesce({num}, 0)",
        "({num} - coalesce({num}, 0))",
        "({n2} * (1 - coalesce({n0}, 0)))",
        "(coalesce({n2}, 0) + coalesce({n_wide}, 0))",
        "({n_wide} - CASE WHEN {bool} THEN {n2} ELSE 0 END)",
        "CASE WHEN {bool} THEN {n2} * 2.5 WHEN {bool} THEN 1 ELSE 0.0 END",
        "extract({field_ts_bare} FROM {tz})",
        "extract({field_iv_bare} FROM {iv})",
    )
    _add(
        "num",
        1,
        "sqrt(abs({num}))",
        "exp(({num} % 10))",
        "ln(abs({num}) + 1)",
        "power(abs({num}), 2)",
    )
    _add("d", 3, "({d} + {small})", "({d} - {small})", "{ts}::date", "({d} + ({i4} % 100))")
    _add("d", 1, "{tz}::date")
    _add(
        "ts",
        3,
        "({ts} + {=iv})",
        "({ts} - {=iv})",
        "date_trunc({trunc}, {ts})",
        "{d}::timestamp",
        "({d} + {=iv})",
        "({d} - {=iv})",
        "({ts} + {iv})",
    )
    _add("ts", 1, "{tz}::timestamp", "{ts}::timestamp(0)", "(date '2024-01-01' + {ts}::time)", "(date '2024-01-01' + {tz}::time)")
    for kind in ("i2", "i4", "i8"):
        _add(kind, 1, f"({{{kind}}} & {{={kind}}})", f"({{{kind}}} | {{{kind}}})", f"({{{kind}}} # {{={kind}}})",
             f"(~ {{{kind}}})", f"({{{kind}}} << ({{i2}} & 31))", f"({{{kind}}} >> {{i4}})")  # fmt: skip
    _add(
        "tz",
        3,
        "({tz} + {=iv})",
        "({tz} - {=iv})",
        "date_trunc({trunc}, {tz})",
        "{ts}::timestamptz",
    )
    _add("tz", 1, "{d}::timestamptz", "date_trunc({trunc}, {d})")
    _add(
        "iv",
        4,
        "({ts} - {ts})",
        "({tz} - {tz})",
        "age({ts}, {ts})",
        "age({tz}, {=tz})",
        "age({d}, {ts})",
        "({=iv} + {=iv})",
        "({iv} * 2)",
        "(- {iv})",
        "({iv} + {=iv})",
        "date_trunc({trunc}, {iv})",
    )
    _add(
        "text",
        3,
        "substring({text} FROM {small} FOR {small})",
        "substring({text} FROM {small})",
        "lower({text})",
        "upper({text})",
        "({text} || {text})",
        "({text} || {=text})",
        "({=text} || {text})",
        "concat({text}, {i4}, {=text})",
        "concat({num}, '-', {i8}, NULL, {text})",
        "left({text}, {small})",
        "right({text}, {small})",
        "left({text}, -2)",
        "btrim({text})",
        "ltrim({text})",
        "rtrim({text})",
        "replace({text}, {=text}, {=text})",
        "reverse({text})",
        "split_part({text}, ' ', {small})",
        "split_part({text}, {=text}, -1)",
        "lpad({text}, {small}, {=text})",
        "rpad({text}, 7)",
        "repeat({text}, {small} % 4)",
        "translate({text}, 'aeiouÄ', 'AE-')",
        "translate({text}, 'aeiou 1', 'äE-')",
        "concat_ws({=text}, {num}, {text}, NULL, {i2})",
        "format('%s%%|%s', {text}, {num})",
        "to_char({i4}, {numbers})",
        "to_char({i8}, {numbers})",
        "to_char({num}, {numbers})",
        "to_char({f8}, {numbers})",
        "md5({text})",
        "encode(sha256({by}), 'hex')",
        "encode({by}, 'base64')",
        "encode(decode(encode({by}, 'base64'), 'base64'), 'hex')",
        "encode(decode(encode({by}, 'hex'), 'hex'), 'base64')",
        "encode(convert_to({text}, 'UTF8'), 'escape')",
        "{bp}::text",
        "btrim({text}, 'aeiou')",
        "{text}::varchar(5)",
        "{text}::varchar",
    )
    _add("text", 1, "{i4}::text", "{num}::text", "{d}::text", "{bool}::text", "upper({bp})")
    _add("bp", 1, "{text}::char(6)", "{bp}::char(3)::char(6)")
    _add("bool", 1, "{i4}::boolean", "({bool}::text)::boolean")
    for kind, written in {"i2": "{i2}", "i4": "{i2}", "i8": "{i8}", "f4": "{i4}", "f8": "{num}", "num": "{num}",
                          "uuid": "{uuid}", "d": "{d}", "ts": "{d}", "tz": "{ts}"}.items():
        _add(kind, 1, f"({written}::text)::{SQL_TYPES[kind]}")
    # What PostgreSQL evaluates for the engine.
    _add("text", 2, "to_char({d}, {format})", "to_char({ts}, {format})", "to_char({tz}, {format})",
         "to_char({i4}, 'FM9999RN')", "regexp_replace({text}, '[aeiou]+', '-', 'g')", "(string_to_array({text}, ' '))[{small}]",
         "quote_nullable({text})", "quote_literal({text})", "{ts}::text", "format('%2$s %1$s', {text}, {i2})")  # fmt: skip
    _add("bool", 6, "{text} ~ {regex}", "{text} !~* {regex}", "({i4}, {text}) < (7, {text})")
    _add("i4", 1, "width_bucket({num}, 0, 500, 7)", "hashtext({text})")
    _add("i4", 1, "num_nulls({text}, {num}, {f8}, {d})", "num_nonnulls({ts}, {i2})")
    _add("d", 1, "make_date(2020, {i2}, {small})", "to_date(to_char({d}, 'YYYY-MM'), 'YYYY-MM')")
    _add("text", 1, "{d}::text", "{tz}::text", "{iv}::text", "left({ts}::text, 7)", "{tod}::text", "concat({d}, ' ', {iv})")
    _add("iv", 1, "make_interval({small}, {i2}, 1, {small}, {i2}, {small}, {f8})", "make_interval(days => {i4})", "{iv}::interval(2)",
         "{iv}::interval day to minute", "{iv}::interval year to month")
    _add("ts", 1, "make_timestamp(2000 + {small}, 2, 1 + {small}, {small}, 5, 59.5)", "date_bin('7 hours', {ts}, {=ts})")
    _add("tz", 1, "make_timestamptz(2000 + {small}, 2, 1 + {small}, {small}, 5, 59.5)")
    _add("ts", 1, "date_bin('15 minutes', {ts}, timestamp '2000-01-01')", "({ts}::text)::timestamp")
    _add("num", 1, "div({num}, {=num})", "to_number(to_char({i4}, '99999999999'), '99999999999')")
    _add("text", 1, "regexp_substr({text}, {regex})", "(regexp_match({text}, '([a-z]+) ?(\\d*)'))[2]", "substring({text} FROM {regex})",
         "substring({text} SIMILAR '%#\"e_#\"%' ESCAPE '#')", "overlay({text} PLACING 'xyz' FROM 2 FOR {small})", "initcap({text})",
         "chr(65 + abs({i4} % 26))", "to_hex({i4})", "quote_ident({text})", "format('%I %L', {text}, {num})", "trim(BOTH 'xe' FROM {text})",
         "to_char({iv}, 'DD HH24:MI')", "regexp_replace({text}, '(\\w)(\\w)', '\\2\\1', 'g')", "(regexp_split_to_array({text}, '[ e]'))[2]",
         "to_char({num}, '9.99EEEE')", "to_char({f8}, 'FM999.0099')", "to_char({i2}, '99V9')", "to_char({i4}, 'FM9999th')",
         "host({ip})", "abbrev({ip})", "{ip}::text", "{mac}::text", "{bits}::text", "{mon}::text", "{tod}::text", "{ttz}::text", "{uuid}::text",
         "{en}::text", "{by}::text", "{oid}::text", "to_char({ts}, {more_format})", "to_char({d}, {more_format})", "to_char({tz}, {more_format})", "split_part({text}, 'e', -2)")  # fmt: skip
    _add("bool", 3, "({ts}, {ts}) OVERLAPS ({=ts}, {=ts})", "({tz}, {=tz}) OVERLAPS ({tz}, {=iv})", "({d}, {=iv}) OVERLAPS ({=d}, {d})")
    _add("bool", 1, "{text} SIMILAR TO '(red|gr)%'", "{text} NOT SIMILAR TO '%[0-9]+'", "regexp_like({text}, {regex}, 'i')",
         "{ip} << '10.0.0.0/8'::inet", "{ip} >>= '10.1.2.0/24'::inet", "{ip} && {ip}", "inet_same_family({ip}, {=ip})", "{by} LIKE '%a_'::bytea",
         "({tod}, {i2}) < ({=tod}, 3)", "{ts} BETWEEN {d} AND {=ts}", "({ts}, {=iv}) OVERLAPS ({=ts}, {=ts})", "{text} ^@ 'sh'",
         "{oid} > 5", "{ci} = 'RED'", "{ci} IN ('V7', 'A', 'Zz 1')", "{ci} < 'V5'", "isfinite({ts})", "isfinite({d})", "{chr} = 'a'", "isfinite({tz})")
    _add("i4", 1, "regexp_count({text}, {regex})", "regexp_instr({text}, {regex})", "masklen({ip})", "family({ip})", "bit_length({text})",
         "length({by})", "length({bits})", "octet_length({bits})", "position(B'1' IN {bits})", "strpos({text}, {=text})",
         "cardinality(string_to_array({text}, ' '))", "cardinality(regexp_split_to_array({text}, '\\s'))", "bit_count({by})::integer",
         "array_position(ARRAY['red', 'green'], {text})", "extract(hour FROM {tod})::integer", "extract(minute FROM {ttz})::integer",
         "({i4} & {i4})", "({i4} | 5)", "({i4} # {i2})", "(~ {i4})", "({i4} << {small})", "({i4} >> 2)", "gcd({i4}, 12)", "ascii({chr}::text)",
         "width_bucket({f8}, 0, 100, 5)", "hashtext({text})")
    _add("i8", 1, "({i8} & 255)", "({i8} >> {small})", "lcm({i4}::bigint, 6)", "div({i8}, 7)::bigint", "factorial(abs({i2} % 10))::bigint",
         "bit_count({bits})", "octet_length({text})::bigint")
    _add("num", 1, "scale({num})", "min_scale({num})", "trim_scale({num})", "mod({num}, 7)", "gcd({num}, 12)", "extract(epoch FROM {tod})",
         "{mon}::numeric", "log(abs({num}) + 1)", "width_bucket({num}, 0, 10, 3)::numeric", "date_part('epoch', {iv})::numeric")
    _add("f8", 1, "cbrt({f8})", "degrees({f8})", "sin({f8})", "atan2({f8}, {f8})", "log(abs({f8}) + 1)", "({mon} / nullif({mon}, '0'))", "tanh({f8})")
    _add("tod", 1, "({tod} + {=iv})", "{ts}::time", "({tod} - {=iv})", "make_time({small}, {small}, 1.5)", "{ttz}::time")
    _add("tod", 2, "{tod}::time(0)", "{ts}::time(3)", "{iv}::time", "({=iv} + {tod})")
    _add("iv", 1, "justify_days({iv})", "justify_interval({iv})", "({tod} - {=tod})")
    _add("ts", 1, "({d} + {tod})", "({tod} + {d})", "({tz} AT TIME ZONE {zone})", "(({ts} AT TIME ZONE interval '-05:30') AT TIME ZONE {zone})")
    _add("tz", 1, "({ts} AT TIME ZONE {zone})", "date_trunc({trunc}, {tz}, {zone})")
    _add("num", 1, "extract(epoch FROM {tod})", "extract(second FROM {tod})", "extract(hour FROM {tz} AT TIME ZONE {zone})")
    _add("i4", 2, "width_bucket({f8}, 10, -2.5, {small} + 1)", "width_bucket({num}, -10, 500, 12)", "width_bucket({i4}, 0, 1000, 20)",
         "width_bucket({num}, ARRAY[0, 1.5, 100])", "width_bucket({f8}, ARRAY[-1, 0, 7.5])", "width_bucket({ts}, ARRAY[{=ts}, 'infinity'])",
         "width_bucket({d}, ARRAY['1995-01-01'::date, '2000-01-01'])", "extract(minute FROM {tod})::integer")
    _add("bool", 1, "isfinite({d})", "isfinite({tz})", "{tod} + '8 hours' < {=tod}")
    _add("ttz", 1, "({ttz} + {=iv})", "({ttz} AT TIME ZONE 'UTC')")
    _add("iv", 1, "({tod} - {tod})", "{tod}::interval", "justify_days({iv})", "make_interval(hours => {i2})")
    _add("mon", 1, "({mon} + '1.00')", "({mon} * 2)", "({mon} / 3)", "{i4}::money", "{n2}::money")
    _add("ip", 1, "set_masklen({ip}, {small})", "network({ip})::inet", "broadcast({ip})", "netmask({ip})", "({ip} + {small})", "(~ {ip})",
         "inet_merge({ip}, {ip})::inet")
    _add("mac", 1, "trunc({mac})", "(~ {mac})", "({mac} & 'ff:ff:00:00:00:ff')")
    _add("bits", 1, "(~ {bits})", "({bits} || B'01')", "substring({bits} FROM 2 FOR {small})", "({bits} << {small})", "(bit6 & B'010101')",
         "(bit6 # {i2}::integer::bit(6))", "{i4}::bit(12)::varbit")
    _add("by", 1, "substring({by} FROM 1 FOR {small})", "({by} || {=by})", "btrim({by}, '\\x61')", "overlay({by} PLACING 'q' FROM 1)")
    _add("rng", 1, "int4range({i2}, {i2} + 5)", "({rng} * {rng})")
    _add("i4", 1, "lower({rng})", "upper({rng})", "lower({mr})", "upper({rng} * {=rng})")
    _add("ts", 1, "lower({span})", "upper({span})")
    _add("bool", 1, "{rng} @> {i4}", "{i4} <@ {=rng}", "{=rng} @> {i4}", "{span} @> {=ts}", "{ts} <@ {span}", "{mr} @> {i4}", "{i4} <@ {=mr}",
         "isempty({rng})", "lower_inc({rng})", "upper_inc({span})", "lower_inf({mr})", "upper_inf({span})")
    for operator in ("@>", "<@", "&&", "<<", ">>", "&<", "&>", "-|-"):
        _add("bool", 1, f"{{rng}} {operator} {{=rng}}", f"{{rng}} {operator} {{rng}}", f"{{span}} {operator} {{span}}", f"{{rng}} {operator} {{mr}}",
             f"{{mr}} {operator} {{=rng}}", f"{{=rng}} {operator} {{rng}}", f"{{span}} {operator} {{=span}}", f"{{=span}} {operator} {{span}}")
    for operator in ("<", "<=", "=", ">=", ">"):
        _add("bool", 1, f"(lower({{rng}}) {operator} {{=i4}})", f"({{=i4}} {operator} upper({{rng}}))", f"(upper({{span}}) {operator} {{=ts}})")
    _add("bool", 1, *(f"int4range({{i2}}, {{i2}} + 5, '{flags}') @> {{i2}}::integer" for flags in ("[]", "(]", "()")),
         "int8range({i2}, {i2} + 7, '(]') && int8range({i2} - 3, {i2} + 2, '[]')")
    _add("mr", 1, "int4multirange({rng}, '[3,4)')")
    _add("uuid", 1, "(md5({i4}::text))::uuid")
    _add("ts", 1, "make_timestamp(2020, 1 + {small} % 3, 5, {small}, 0, 1.5)", "({tz} AT TIME ZONE 'Asia/Tokyo')")
    _add("tz", 1, "({ts} AT TIME ZONE 'America/New_York')", "date_trunc({trunc}, {tz}, 'Australia/Sydney')", "to_timestamp({i4})", "date_bin('7 minutes', {tz}, 'epoch')")
    _add("d", 1, "make_date(2000 + {small}, 1, 1 + {small})", "date(date_trunc('month', {ts}))")
    _add("iv", 2, "age({ts}, {ts})", "justify_hours({iv})")
    _add("uuid", 1, "md5({text})::uuid")
    _add("by", 1, "decode(md5({text}), 'hex')", "sha256({by})", "convert_to({text}, 'UTF8')", "{text}::bytea")


_fill_templates()


class ExpressionGenerator:
    def __init__(self, choose: random.Random, parameters: list[tuple[str, str]] | None = None):
        self.choose = choose
        self.parameters = parameters  # constants as $n, when given
        self.path_share = 0.1
        self.columns = {kind: [c for c in ALL_COLUMNS if c.kind == kind] for kind in (*KINDS, "doc", "arr", "tags", "comp")}

    def constant(self, kind: str) -> str:
        literal = self.choose.choice(CONSTANTS[kind])
        if self.choose.random() < 0.03:
            literal = "NULL"
        if self.parameters is not None and literal != "NULL":
            self.parameters.append((SQL_TYPES[kind], literal.strip("'")))
            return f"${len(self.parameters)}::{SQL_TYPES[kind]}"
        if kind in ("i4", "bool", "num") and literal[0] not in "'-N":
            return literal if kind != "num" or "." in literal else f"{literal}::numeric"
        return f"({literal})::{SQL_TYPES[kind]}"

    def constants(self, kind: str) -> str:
        """A list: a few, or rarely so many that they are looked up, not compared one by one."""
        elements = [self.constant(kind) for _ in range(self.choose.randint(1, 12))]
        many = self.choose.choice((100, 1000, 3000)) if self.choose.random() < 0.1 else 0
        for n in self.choose.choices(range(-many, many), k=many):
            elements.append(LIST_ELEMENTS[kind].format(n=n))
        return ", ".join(elements)

    def array(self, kind: str) -> str:
        """An array: known to the planner, or to the executor; with NULLs, without elements, or NULL."""
        cast = f"::{SQL_TYPES[kind]}[]"
        if self.parameters is not None and self.choose.random() < 0.5:
            literals = [literal.strip("'") for literal in self.choose.choices(CONSTANTS[kind], k=3)]
            self.parameters.append((cast[2:], "{NULL," + ",".join(f'"{literal}"' for literal in literals) + "}"))
            return f"${len(self.parameters)}{cast}"
        return self.choose.choices(
            [f"ARRAY[{self.constants(kind)}]", f"ARRAY[NULL, {self.constants(kind)}]", f"'{{}}'{cast}", f"NULL{cast}",
             f"ARRAY[[{self.constant(kind)}, NULL], [{self.constant(kind)}, {self.constant(kind)}]]{cast}",
             f"(SELECT array_agg(e) FROM unnest(ARRAY[{self.constants(kind)}]) e){cast}"],
            [8, 4, 1, 1, 2, 2],
        )[0]  # fmt: skip

    def column(self, kind: str) -> str | None:
        path = self.path(kind)
        return path or self.plain_column(kind)

    def plain_column(self, kind: str) -> str | None:
        found = self.columns[kind]
        return self.choose.choice(found).name if found else None

    def path(self, kind: str) -> str | None:
        """A value inside a document, an array, a range or a composite, at times."""
        if kind not in PATHS or self.choose.random() >= self.path_share:
            return None
        path = self.choose.choice(PATHS[kind])
        inner = re.search(r"\{([a-z]+)\}", path).group(1)
        column = self.plain_column(inner)
        return path.replace(f"{{{inner}}}", column) if column else None

    def named(self, name: str) -> str:
        return name

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.choose.random() < 0.35:
            column = self.column(kind)
            if column and self.choose.random() < 0.93:
                return column
            if kind == "iv" and depth > 0:
                return self._fill(self.choose.choice(["({ts} - {ts})", "({tz} - {tz})"]), depth)
            return self.constant(kind)
        return self.made(kind, depth)

    def made(self, kind: str, depth: int) -> str:
        """An expression that is more than a column or a constant."""
        weights, templates = zip(*TEMPLATES[kind], strict=True)
        filled = self._fill(self.choose.choices(templates, [float(w) for w in weights])[0], depth)
        return f"({filled})" if kind == "bool" else filled

    def alike(self, kind: str, count: int) -> list[str]:
        """Of one template and the same columns: constants may differ."""
        all_columns = self.columns
        self.columns = {of: [self.choose.choice(columns)] if columns else [] for of, columns in all_columns.items()}
        weights, templates = zip(*TEMPLATES[kind], strict=True)
        template = self.choose.choices(templates, [float(w) for w in weights])[0]
        made = [f"({self._fill(template, 1)})" for _ in range(count)]
        self.columns = all_columns
        return made

    def _fill(self, template: str, depth: int) -> str:
        return re.sub(r"\{([=*@]?\w+)\}", lambda match: self._part(match.group(1), depth), template)

    def _part(self, name: str, depth: int) -> str:
        if name.startswith("="):
            return self.constant(name[1:])
        if name.startswith("*"):
            return self.constants(name[1:])
        if name.startswith("@"):
            return self.array(name[1:])
        if name in KINDS:
            return self.expression(name, depth - 1)
        if name in COLUMN_NAMES:
            return self.named(name)
        pick = self.choose.choice
        return {
            "pattern": lambda: pick(PATTERNS),
            "format": lambda: pick(FORMATS),
            "more_format": lambda: pick(MORE_FORMATS),
            "numbers": lambda: pick(NUMBERS),
            "regex": lambda: pick(REGEXES),
            "small": lambda: str(self.choose.randint(0, 9)),
            "digits": lambda: str(self.choose.randint(-2, 6)),
            "exponent": lambda: pick(["0", "1", "2", "2.0", "3", "4", "5", "-1", "0.5"]),
            "trunc": lambda: f"'{pick(TRUNC)}'",
            "zone": lambda: self._fill(pick(ZONES), depth),
            "field_ts": lambda: f"'{pick(FIELDS_TS)}'",
            "field_d": lambda: f"'{pick(FIELDS_D)}'",
            "field_ts_bare": lambda: pick(FIELDS_TS),
            "field_d_bare": lambda: pick(FIELDS_D),
            "field_iv_bare": lambda: pick(["epoch", "day", "hour", "year", "second"]),
        }[name]()
