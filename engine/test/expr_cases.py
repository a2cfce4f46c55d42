"""SQL whose output is the golden file of the expression tests: goldens.py runs it.

A line is a call of one function on one set of values, tab-separated: zone, function, result type, result, then type
and value of each argument. Values are in PostgreSQL's binary send format in hex (numeric: text); as results, \\N is
null, !22012 an error, ~ what versions do not agree on. Lines "zone NAME" hold the offsets of a time zone.

--random COUNT adds that many random values per type, for runs against a live server (PENUMBRA_EXPR_CASES names the
file to engine_test):

    engine/test/expr_cases.py --random 20 --seed 7 | psql -XqAt -d postgres > cases.tsv
"""

import argparse
import itertools
import random

SEND = {
    "bool": "boolsend", "int2": "int2send", "int4": "int4send", "int8": "int8send", "float4": "float4send",
    "float8": "float8send", "date": "date_send", "timestamp": "timestamp_send",
    "timestamptz": "timestamptz_send", "interval": "interval_send", "text": "textsend",
    "bpchar": "bpcharsend", "uuid": "uuid_send",
}
# The engine's strings for ranges, see prologue().
RANGES = {"int4range": "int4multirange", "int8range": "int8multirange", "daterange": "datemultirange",
          "tsrange": "tsmultirange", "numrange": "nummultirange"}  # fmt: skip
IMAGES = dict.fromkeys([*RANGES, *RANGES.values()], "pg_temp.image")
SEND_RESULT = {**SEND, **IMAGES, "bytea": "byteasend"}

VALUES = {
    "bool": ["t", "f"],
    "int2": ["0", "1", "-1", "2", "-7", "100", "181", "32767", "-32768"],
    "int4": ["0", "1", "-1", "3", "-7", "46341", "100000", "2147483647", "-2147483648"],
    "int8": ["0", "1", "-1", "10", "-3", "3037000500", "2147483648", "9223372036854775807", "-9223372036854775808"],
    "float4": ["0", "-0", "1", "-1.5", "0.1", "2.5", "3.4e38", "1e-45", "NaN", "Infinity", "-Infinity", "2147483648"],
    "float8": ["0", "-0", "1", "-1.5", "0.1", "2.5", "-3.5", "1e308", "5e-324", "1e-200", "9223372036854775807",
               "1e39", "NaN", "Infinity", "-Infinity", "32767.5", "-2147483648.5"],
    "date": ["2000-01-01", "1999-12-31", "2000-02-29", "2023-12-31", "2024-12-30", "2021-01-03", "1970-01-01",
             "1900-03-01", "0001-01-01", "0001-12-31 BC", "0010-06-15 BC", "4714-11-24 BC", "294276-12-31",
             "5874897-12-31", "infinity", "-infinity"],
    "timestamp": ["2000-01-01", "1999-12-31 23:59:59.999999", "2000-02-29 12:34:56.789012", "2023-12-31 00:00:00.000001",
                  "2021-01-03 13:00:00", "1969-12-31 23:59:59.5", "0001-01-01", "0001-12-31 23:00:00 BC",
                  "2001-01-01", "1001-05-05 05:05:05.05", "4714-11-24 BC", "294246-06-01", "infinity", "-infinity"],
    "timestamptz": ["2000-01-01 00:00:00+00", "2024-03-10 06:59:59.999999+00", "2024-03-10 07:00:00+00",
                    "2024-11-03 05:30:00+00", "2024-11-03 06:30:00+00", "2023-07-04 12:34:56.789+00",
                    "1955-06-01 00:00:00+00", "2024-03-31 01:15:00+00", "2024-10-27 00:30:00+00",
                    "2024-10-27 01:30:00+00", "2024-04-06 15:10:00+00", "2024-10-05 15:40:00+00", "infinity",
                    "-infinity"],
    "interval": ["0", "1 day", "-1 day", "1 month", "-1 month", "1 year 2 mons 3 days 04:05:06.789012",
                 "-1 year -2 mons +3 days -04:05:06.789", "00:00:00.000001", "30 days", "720:00:00", "1 mon -30 days",
                 "178000000 years", "-13 mons", "3 mons 100:00:00", "2147483647 days"],
    "text": ["", "a", "abc", "ABC", "abcd", "ab  ", "  ab", "abcdefghijkl", "abcdefghijklm", "xyzabcabcdefabcxyz",
             "häß", "Éa日本語🎉x", "a%b_c\\d", "100%", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"],
    "bpchar": ["", "a", "a ", "ab   ", "abc", "häß  ", "abcdefghijklmnop    "],
    "uuid": ["00000000-0000-0000-0000-000000000000", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
             "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "numeric": ["0", "0.00", "1", "1.5", "1.50", "-2.345", "99999999999999999999.99", "NaN", "Infinity"],
}

NULL = None
INTEGERS, FLOATS = ["int2", "int4", "int8"], ["float4", "float8"]
FIELDS = ["microseconds", "milliseconds", "second", "minute", "hour", "day", "month", "quarter", "week", "year",
          "decade", "century", "millennium", "dow", "isodow", "doy", "isoyear", "julian", "epoch"]
TRUNC_FIELDS = FIELDS[:13]
ZONES = ["America/New_York", "Europe/London", "Asia/Kolkata", "Australia/Lord_Howe"]
PATTERNS = ["", "%", "%%", "abc", "abc%", "%abc", "%abc%", "a%c", "%a%b%", "_", "___", "a_c", "_%", "%_", "h_ß",
            "É%語_x", "%\\%%", "a\\%b\\_c\\\\d", "100\\%", "abc\\", "%\\", "\\a\\b\\c", "%c_d%", "_b%k_", "%🎉%", "%b",
            "A%", "%BC%", "__", "%a_", "%語%x", "a%a%a%a%b", "ab %"]

NUMBER_FORMATS = ["", "9", "0", "999", "FM999", "099", "9990.00", "FM9990.00", "FM9990.99", "999,999,990.00", "FM999G999G990D00",
                  "9.9", "FM9.9", "FM9.", "FM0.", ".99", "FM.09", "S999", "999S", "FMS999.9", "99.9S", "S9,999.99", "99S9",
                  "MI999", "999MI", "FM999.99MI", "PL999", "999PL", "FMPL99.9", "SG99.9", "99.9SG", "999.9PR", "FM999.9PR",
                  "9PRMI", "00000000000000000000.00", "99999999999999999999.99999999", "FM99999999999999999999.99999999",
                  "0.9999999999999999999", "000.000", "FM00.09", "FM90.90", "09.90", "$999.99 \"EUR 9\" x", "\\\"9\\\"", "fm999d9",
                  "9 9 9", "990-99", "9\"\\\"\"é9", "99,", ",,9,,9", ".", "FM", "FM.", "G", "S", "SG", "PR", "0,0,0"]
FORMATTED = {
    "int4": VALUES["int4"] + ["12", "999", "1000", "-999"],
    "int8": VALUES["int8"] + ["12345"],
    "float4": ["0", "-0", "1", "-1.5", "0.1", "9.5", "99.95", "999.995", "-0.001", "123456", "1234567", "3.4e38", "NaN", "Infinity", "-Infinity"],
    "float8": ["0", "-0", "1", "-1.5", "0.1", "9.5", "99.95", "0.5", "-0.001", "12345678901234", "999999999999999.5",
               "1234567890123456", "1e308", "5e-324", "NaN", "Infinity", "-Infinity"],
    "numeric": [*VALUES["numeric"], "-0.004", "-0.005", "0.995", "9.99", "9.995", "-99.5", "123.456", "1000000", "-Infinity",
                "0.000000000000000000000000000049", "0.00000000000000000005", "123456789012345678", "-92233720368547758.08"],
}
# Text that the casts take, and text that no version does.
NUMBERS = ["0", "-0", "7", "+7", "-7", " 42 ", "007", "32767", "32768", "-32768", "2147483647", "-2147483649",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "+-1", "--1", "1-", "12a", "1,000",
           "12345678", "-87654321", "1732206349001557", "-123456789012345678", "+1234567890123456789", "0000000000000000032767",
           "1234567:", "/2345678", "12345678 12345678", "123456781234567\u00b2", "99999999999999999999", "-+12345678"]
FRACTIONS = [*NUMBERS[:15], "1.5", "-1.50", ".5", "5.", "+.25", "0.1", "123456789012345678", "1234567890123456789",
             "-12345678901234567890.123456789", "0.000000000000000000001", "00.10", ".", "-.", "1.2.3"]
EXPONENTS = ["1e3", "-1.5E-3", "1e+10", "5e-5", "1e", "e5", "1e5.5", "1e400", "1e-400", "0e999", "9007199254740993",
             "3.4028235e38", "3.4028236e38", "1.17549435e-38", "1.7976931348623157e308", "2.2250738585072014e-308"]
DAYS = ["2024-02-29", "2023-02-29", "0001-01-01", "9999-12-31", "1999-12-31", " 2000-01-01 ", "2024-13-01",
        "2024-00-10", "2024-01-00", "2024-04-31", "0000-01-01"]
INSTANTS = [*DAYS, *(f"2024-03-10 {time}" for time in [
    "00:00", "12:34:56", "23:59:59.999999", "12:34:56.7", "12:34:56.000001", "25:00:00", "12:60:00",
    "12:34:56Z", "12:34:56.5+00", "12:34:56-05", "12:34:56+05:30", "12:34:56+0545", "01:02:03-15:59", "01:02:03+16"]),
    "2024-11-21T16:25:49.167Z", "2024-11-21T16:25:49", "0001-01-01T00:00:00+15"]
FROM_TEXT = {
    **{t: NUMBERS for t in INTEGERS}, "numeric": FRACTIONS, "float4": FRACTIONS + EXPONENTS, "float8": FRACTIONS + EXPONENTS,
    "bool": ["true", "t", "false", "f", "1", "0", "yes", "no", "y", "n", "on", "off", "o", " true ", "2", "truely"],
    "uuid": [*VALUES["uuid"], "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
             "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g", " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "date": INSTANTS, "timestamp": INSTANTS,
}


def random_values(rng, count):
    """More values per type, near the edges and in the middle."""
    def integer(bits):
        return str(rng.choice([rng.getrandbits(rng.randint(1, bits - 1)), -rng.getrandbits(rng.randint(1, bits - 1))]))

    words = ["a", "b", "c", "A", "é", "日", "🎉", " ", "%", "_", "abc", "z"]
    made = {
        "int2": lambda: integer(16), "int4": lambda: integer(32), "int8": lambda: integer(64),
        "float4": lambda: repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-37, 37)),
        "float8": lambda: repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300)),
        "date": lambda: f"{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}{rng.choice(['', ' BC']) if rng.random() < .2 else ''}",
        "timestamp": lambda: f"{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}.{rng.randint(0, 999999):06}",
        "timestamptz": lambda: f"{rng.randint(1930, 2090):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}.{rng.randint(0, 999999):06}+00",
        "interval": lambda: f"{rng.randint(-500, 500)} mons {rng.randint(-5000, 5000)} days {rng.randint(-10**12, 10**12)} us",
        "text": lambda: "".join(rng.choice(words) for _ in range(rng.randint(0, 20))),
        "bpchar": lambda: "".join(rng.choice(words) for _ in range(rng.randint(0, 8))) + " " * rng.randint(0, 3),
    }
    for type_name, make in made.items():
        VALUES[type_name] = VALUES[type_name] + [make() for _ in range(count)]


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


def literal(type_name, value):
    return f"NULL::{type_name}" if value is NULL else f"{quoted(value)}::{type_name}"


def array(values):
    return "ARRAY[" + ",".join("NULL" if v is NULL else quoted(v) for v in values) + "]::text[]"


class Writer:
    def __init__(self):
        self.zone = "-"

    def case(self, function, result, types, values, expression):
        """expression: SQL with {0}, {1} for the arguments. One of type zone is the session's."""
        literals = [quoted(self.zone) if t == "zone" else literal(t, v) for t, v in zip(types, values)]
        sql = expression.format(*literals)
        shown = f"({sql})::text" if result == "numeric" else f"encode({SEND_RESULT[result]}({sql}),'hex')"
        line = "', '".join([self.zone, function, result]) + f"', pg_temp.run({quoted(shown)})"
        for type_name, text in zip(types, literals):
            if type_name == "zone":
                line += ", 'zone', 'zone'"
                continue
            shown_argument = f"({text})::text" if type_name == "numeric" else f"encode({SEND_RESULT[type_name]}({text}),'hex')"
            line += f", '{type_name}', pg_temp.run({quoted(shown_argument)})"
        print(f"SELECT concat_ws(E'\\t', '{line});")

    def product(self, function, result, types, expression, values=None, nulls=False):
        columns = [["zone"] if t == "zone" else list((values or {}).get(i) or VALUES[t]) for i, t in enumerate(types)]
        if nulls:
            columns = [c + [NULL] for c in columns]
        for row in itertools.product(*columns):
            self.case(function, result, types, row, expression)


def comparisons(w):
    operators = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
    pairs = [(t, t) for t in SEND] + list(itertools.permutations(INTEGERS, 2)) + list(itertools.permutations(FLOATS, 2))
    for a, b in pairs:
        collation = ' COLLATE "C"' if a in ("text", "bpchar") else ""
        for name, operator in operators.items():
            some = {} if name in ("EQ", "LT") else {0: VALUES[a][:5], 1: VALUES[b][:5]}
            w.product(name, "bool", [a, b], "({0} " + operator + " {1}" + collation + ")", some)
    for type_name in ["int4", "float8", "text", "bpchar", "numeric", "interval", "bool"]:
        c = ' COLLATE "C"' if type_name in ("text", "bpchar") else ""
        both = [type_name, type_name]
        values = {i: VALUES[type_name][:6] for i in range(2)}
        w.product("IS_DISTINCT", "bool", both, "({0} IS DISTINCT FROM {1}" + c + ")", values, nulls=True)
        w.product("IS_NOT_DISTINCT", "bool", both, "({0} IS NOT DISTINCT FROM {1}" + c + ")", values, nulls=True)
        w.product("NULLIF", type_name, both, "NULLIF({0}, {1}" + c + ")", values, nulls=True)
        w.product("GREATEST", type_name, both, "GREATEST({0}, {1}" + c + ")", values, nulls=True)
        w.product("LEAST", type_name, both, "LEAST({0}, {1}" + c + ")", values, nulls=True)
        w.product("COALESCE", type_name, both, "COALESCE({0}, {1})", values, nulls=True)
    lists = {
        "int4": [["1"], ["1", "3", NULL], ["0", "-7", "46341", "2147483647", "5", "6", "7", "8", "9", "10"],
                 ["1000000", "-1000000", "1", "2", "3", "4", "5", "6", "7", "8", "2147483647"]],
        "int2": [["1", "100"]], "int8": [["1", "9223372036854775807", NULL]],
        "float8": [["0", "NaN"], ["-0", "2.5", NULL]], "float4": [["0.1", "NaN"]],
        "text": [["abc", ""], ["häß", "abcdefghijklm", NULL]], "bpchar": [["a", "abc  "]],
        "date": [["2000-01-01", "infinity"]], "timestamp": [["2000-01-01", "2021-01-03 13:00:00"]],
        "numeric": [["1.500", "0"], ["-2.345", "NaN", NULL]], "interval": [["30 days", "1 day"]],
        "uuid": [VALUES["uuid"][1:2]], "bool": [["t"]],
    }
    for type_name, choices in lists.items():
        for items in choices:
            for value in VALUES[type_name] + [NULL]:
                types, values = [type_name] * (1 + len(items)), [value] + items
                elements = ", ".join("{%d}" % i for i in range(1, len(types)))
                w.case("IN_LIST", "bool", types, values, "({0} IN (" + elements + "))")
                w.case("NOT_IN_LIST", "bool", types, values, "({0} NOT IN (" + elements + "))")


def logic(w):
    for count in (2, 3):
        for name in ("AND", "OR"):
            w.product(name, "bool", ["bool"] * count, "(" + f" {name} ".join("{%d}" % i for i in range(count)) + ")",
                      nulls=True)
    for name, sql in {"NOT": "NOT {0}", "IS_TRUE": "{0} IS TRUE", "IS_NOT_TRUE": "{0} IS NOT TRUE",
                      "IS_FALSE": "{0} IS FALSE", "IS_NOT_FALSE": "{0} IS NOT FALSE", "IS_NULL": "{0} IS NULL",
                      "IS_NOT_NULL": "{0} IS NOT NULL"}.items():
        w.product(name, "bool", ["bool"], f"({sql})", nulls=True)
    for type_name in SEND:
        w.product("IS_NULL", "bool", [type_name], "({0} IS NULL)", {0: VALUES[type_name][:2]}, nulls=True)
    for type_name in ["int4", "text", "numeric", "bpchar", "interval"]:
        values = {0: ["t", "f"], 1: VALUES[type_name][:3], 2: VALUES[type_name][3:6]}
        w.product("CASE", type_name, ["bool", type_name, type_name], "CASE WHEN {0} THEN {1} ELSE {2} END", values,
                  nulls=True)


def arithmetic(w):
    operators = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/"}
    for a, b in itertools.product(INTEGERS, INTEGERS):
        result = max(a, b)
        for name, operator in operators.items():
            w.product(name, result, [a, b], "({0} " + operator + " {1})")
        if a == b:
            w.product("MOD", result, [a, b], "({0} % {1})")
    for a, b in itertools.product(FLOATS, FLOATS):
        for name, operator in operators.items():
            w.product(name, max(a, b), [a, b], "({0} " + operator + " {1})")
    for type_name in INTEGERS + FLOATS:
        w.product("NEG", type_name, [type_name], "(- {0})")
        w.product("ABS", type_name, [type_name], "abs({0})")
    for name in ["SIGN", "ROUND", "TRUNC", "FLOOR", "CEIL", "SQRT", "EXP", "LN"]:
        w.product(name, "float8", ["float8"], name.lower() + "({0})")
    for name in ["CBRT", "LOG10", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH", "ASINH",
                 "ACOSH", "ATANH", "DEGREES", "RADIANS"]:
        values = [*VALUES["float8"], "0.5", "-1", "0.7853981633974483", "710.5", "-745.2"]
        w.product(name, "float8", ["float8"], name.lower() + "({0})", {0: values})
    w.product("POWER", "float8", ["float8", "float8"], "power({0}, {1})")
    w.product("ATAN2", "float8", ["float8", "float8"], "atan2({0}, {1})")
    for type_name in INTEGERS:
        for name, sign in {"BIT_AND": "&", "BIT_OR": "|", "BIT_XOR": "#"}.items():
            w.product(name, type_name, [type_name] * 2, "({0} %s {1})" % sign)
        w.product("BIT_NOT", type_name, [type_name], "(~ {0})")
        for name, sign in {"SHIFT_LEFT": "<<", "SHIFT_RIGHT": ">>"}.items():
            counts = {1: ["0", "1", "7", "15", "16", "31", "32", "33", "63", "64", "-1"]}
            w.product(name, type_name, [type_name, "int4"], "({0} %s {1})" % sign, counts)


def casts(w):
    pairs = list(itertools.permutations(INTEGERS + FLOATS, 2))
    pairs += [("bool", "int4"), ("int4", "bool"), ("date", "timestamp"), ("timestamp", "date"), ("bpchar", "text"),
              ("text", "bpchar"), ("bool", "text"), ("uuid", "text")] + [(t, "text") for t in INTEGERS]
    for a, b in pairs:
        w.product("CAST", b, [a], "{0}::" + b)
    for target, values in FROM_TEXT.items():
        w.product("CAST", target, ["text"], "{0}::" + target, {0: [*values, "", " ", "-", "x", "1 2"]})
        if target != "uuid":  # whose blanks are an error
            w.product("CAST", target, ["bpchar"], "{0}::" + target, {0: [v for v in values if v.strip() == v]})
    for precision, scale in [(3, 0), (4, 2), (20, 1), (22, 5), (1000, 20), (2, -1), (2, 4)]:
        for value in VALUES["numeric"]:
            w.case("NUMERIC_TYPMOD", "numeric", ["numeric", "int4", "int4"], [value, str(precision), str(scale)],
                   '"numeric"({0}, ({1} << 16 | ({2} & 2047)) + 4)')
    for name, type_name, target in [("VARCHAR_TYPMOD", "text", "varchar"), ("BPCHAR_TYPMOD", "bpchar", "bpchar")]:
        for limit in (1, 3, 5, 20):
            for is_explicit in ("t", "f"):
                for value in VALUES[type_name]:
                    w.case(name, type_name, [type_name, "int4", "bool"], [value, str(limit), is_explicit],
                           f"{target}({{0}}::{target}, {{1}} + 4, {{2}})" if target == "bpchar"
                           else f'"varchar"({{0}}::varchar, {{1}} + 4, {{2}})::text')


def buckets(w):
    for type_name, values in {
        "float8": [*VALUES["float8"], "2.4", "0.245", "3", "1", "10"],
        "numeric": [*VALUES["numeric"], "2.4", "3", "10", "9.9999999999999999999999", "0.3333333333333333333333333333333333"],
    }.items():
        for low, high in [("0", "3"), ("0.1", "3"), ("10", "-2.5"), ("-1", "1")]:
            w.product("WIDTH_BUCKET", "int4", [type_name, type_name, type_name, "int4"], "width_bucket({0}, {1}, {2}, {3})",
                      {0: values, 1: [low], 2: [high], 3: ["1", "7", "20", "1000"]})


def texts(w):
    for name, operator in {"LIKE": "LIKE", "NOT_LIKE": "NOT LIKE", "ILIKE": "ILIKE", "NOT_ILIKE": "NOT ILIKE"}.items():
        values = {0: VALUES["text"], 1: PATTERNS}
        w.product(name, "bool", ["text", "text"], '({0} COLLATE "C" ' + operator + ' {1} COLLATE "C")', values)
    w.product("LIKE", "bool", ["bpchar", "text"], '({0} COLLATE "C" LIKE {1} COLLATE "C")', {1: PATTERNS})
    w.product("STARTS_WITH", "bool", ["text", "text"], "starts_with({0}, {1})", {1: ["", "a", "abc", "hä", "abcdefghijklmn"]})
    for name in ["LENGTH", "OCTET_LENGTH"]:
        for type_name in ["text", "bpchar"]:
            w.product(name, "int4", [type_name], name.lower() + "({0})")
    w.product("ASCII", "int4", ["text"], "ascii({0})")
    for name in ["LOWER", "UPPER", "INITCAP"]:
        w.product(name, "text", ["text"], name.lower() + '({0} COLLATE "C")')
    for name in ["REVERSE", "BTRIM", "LTRIM", "RTRIM"]:
        w.product(name, "text", ["text"], name.lower() + "({0})")
    for name in ["BTRIM", "LTRIM", "RTRIM"]:
        w.product(name, "text", ["text", "text"], name.lower() + "({0}, {1})", {1: ["", "a", "abxyz", "ß🎉É", " "]})
    counts = ["0", "1", "2", "3", "5", "-1", "-2", "100", "2147483647", "-2147483648"]
    w.product("SUBSTRING", "text", ["text", "int4"], "substring({0}, {1})", {1: counts})
    w.product("SUBSTRING", "text", ["text", "int4", "int4"], "substring({0}, {1}, {2})", {1: counts, 2: counts})
    for name in ["LEFT", "RIGHT"]:
        w.product(name, "text", ["text", "int4"], f'"{name.lower()}"({{0}}, {{1}})', {1: counts})
    w.product("CONCAT", "text", ["text", "text"], "({0} || {1})")
    needles = ["", "a", "b", "abc", "ß", "本語", "x", "zz", "aaaaaaaaaaaaaaaaaaaaaaaaab"]
    w.product("POSITION", "int4", ["text", "text"], "position({1} in {0})", {1: needles})
    w.product("REPLACE", "text", ["text", "text", "text"], "replace({0}, {1}, {2})", {1: needles, 2: ["", "X", "longer text"]})
    fields = ["0", "1", "2", "3", "-1", "-2", "-3", "100", "2147483647", "-2147483648"]
    w.product("SPLIT_PART", "text", ["text", "text", "int4"], "split_part({0}, {1}, {2})", {1: needles, 2: fields})
    for name in ["LPAD", "RPAD"]:
        w.product(name, "text", ["text", "int4", "text"], name.lower() + "({0}, {1}, {2})",
                  {1: ["0", "-5", "1", "4", "15", "40"], 2: ["", " ", "xyz", "ß🎉É"]})
    w.product("REPEAT", "text", ["text", "int4"], "repeat({0}, {1})", {1: ["0", "-2147483648", "1", "2", "7"]})
    w.product("TRANSLATE", "text", ["text", "text", "text"], "translate({0}, {1}, {2})",
              {1: ["", "a", "abc", "ßa本b", "aab"], 2: ["", "X", "XYZ", "🎉É", "longer text"]})
    for type_name, values in FORMATTED.items():
        w.product("TO_CHAR", "text", [type_name, "text"], "to_char({0}, {1})", {0: values, 1: NUMBER_FORMATS})
    messages = [*VALUES["text"], *("x" * length for length in (55, 56, 57, 58, 63, 64, 65, 114, 119, 120, 128, 300))]
    w.product("MD5", "text", ["text"], "md5({0})", {0: messages})
    # The engine has bytea as text.
    w.product("SHA256", "bytea", ["text"], "sha256(convert_to({0}, 'UTF8'))", {0: messages})
    w.product("ENCODE", "text", ["text", "text"], "encode(convert_to({0}, 'UTF8'), {1})",
              {0: [*messages, "\\\\"], 1: ["hex", "HEX", "base64", "escape"]})
    encoded = {
        "hex": ["", "00", "0aFF", " 0a\n fe\t", "0", "0 a", "zz", "0x00", "0123456789abcdefABCDEF" * 3, "00112233445566778899aabbccddeeff\n00",
                "00112233445566778899aabbccddeefg", "00112233445566778 899aabbccddeeff"],
        "base64": ["", "QQ==", "QUI=", "QUJD", "Q U\nJD", "QUJDRA==", "Q", "QQ", "QQ=", "QUI", "Q=", "QU-D", "QQ= =", "===",
                   "MDEyMzQ1Njc4OWFiY2RlZkFCQ0RFRisv", "MDEyMzQ1Njc4OWFiY2RlZkFCQ0RFRi+/\n+/+/MDEyMzQ1Njc4OWFiY2RlZkFCQ0RFRg==",
                   " M D E y M z Q 1 N j c 4 O W F i Y 2 R l Z k F C Q 0 R F R g = = ", "MDEyMzQ1Njc4OWFiY2RlZkFCQ0RFRi+-",
                   "QUI==", "QQ==\n \t", "=QUJ", "Q=UJ"],
        "escape": ["", "abc", "a\\\\b", "\\000\\377", "\\4", "\\400", "\\0", "\\", "é"],
    }
    for name, values in encoded.items():
        w.product("DECODE", "bytea", ["text", "text"], "decode({0}, {1})", {0: values, 1: [name]})
    w.product("BYTEA", "bytea", ["text"], "{0}::bytea",
              {0: [*VALUES["text"], *encoded["escape"], *("\\x" + value for value in encoded["hex"]), "\\X00"]})


def dates(w):
    for type_name in ["date", "timestamp", "interval"]:
        fields = [f for f in FIELDS if type_name == "timestamp" or
                  (type_name == "date" and f not in FIELDS[:5]) or
                  (type_name == "interval" and (f in FIELDS[:13] and f != "week" or f == "epoch"))]
        for field in fields:
            w.product("EXTRACT", "numeric", ["text", type_name], f"extract({field} from {{1}})", {0: [field]})
            if type_name != "date":
                w.product("DATE_PART", "float8", ["text", type_name], "date_part({0}, {1})", {0: [field]})
    for type_name in ["timestamp", "interval"]:
        for field in TRUNC_FIELDS:
            if type_name == "timestamp" or field != "week":
                w.product("DATE_TRUNC", type_name, ["text", type_name], "date_trunc({0}, {1})", {0: [field]})
    w.product("TIMESTAMP_TYPMOD", "timestamp", ["timestamp", "int4"], 'pg_catalog."timestamp"({0}, {1})',
              {1: ["0", "1", "3", "5", "6"]})
    w.product("TIME_OF_DAY", "int8", ["timestamp"], "(extract(epoch from {0}::time) * 1000000)::bigint")
    time = "(time '00:00' + {} * interval '1 us')"
    as_number = "(extract(epoch from {}) * 1000000)::bigint"
    times = ["0", "1", "45296789012", "86399999999", "86399500000", "3600000000"]
    for field in [*FIELDS[:5], "epoch"]:
        w.product("EXTRACT", "numeric", ["text", "int8"], f"extract({field} from {time.format('{1}')})", {0: [field], 1: times})
        w.product("DATE_PART", "float8", ["text", "int8"], f"date_part({{0}}, {time.format('{1}')})", {0: [field], 1: times})
    w.product("TIMESTAMP_TYPMOD", "int8", ["int8", "int4"],
              as_number.format('pg_catalog."time"(' + time.format("{0}") + ", {1})"), {0: times, 1: ["0", "1", "3", "6"]})
    for name, operator in {"ADD": "+", "SUB": "-"}.items():
        w.product(name, "int8", ["int8", "interval"], as_number.format(f"({time.format('{0}')} {operator} {{1}})"), {0: times})
    w.product("ADD", "int8", ["interval", "int8"], as_number.format(f"({{0}} + {time.format('{1}')})"), {1: times})
    w.product("SUB", "interval", ["int8", "int8"], f"({time.format('{0}')} - {time.format('{1}')})", {0: times, 1: times})
    w.product("ADD", "timestamp", ["date", "int8"], f"({{0}} + {time.format('{1}')})", {1: times})
    w.product("CAST", "interval", ["int8"], f"{time.format('{0}')}::interval", {0: times})
    w.product("CAST", "int8", ["interval"], as_number.format("{0}::time"))
    for name in ["hours", "days", "interval"]:
        w.product(f"JUSTIFY_{name.upper()}", "interval", ["interval"], f"justify_{name}({{0}})",
                  {0: [*VALUES["interval"], "35 days -25:00:00", "-1 mon 31 days 25:00:00", "1 mon -1 days 01:00:00",
                       "2147483647 mons 30 days", "2147483647 days 24:00:00", "-1 mon 00:00:01", "1 mon -00:00:01"]})
    strides = ["15 minutes", "1 day", "7 days 00:00:00.000001", "00:00:00.3"]
    w.product("DATE_BIN", "timestamp", ["interval", "timestamp", "timestamp"], "date_bin({0}, {1}, {2})",
              {0: strides, 1: [v for v in VALUES["timestamp"] if not v.startswith("1") and "BC" not in v],
               2: ["1999-12-31 23:59:59.5", "0001-01-01"]})
    for type_name in ["date", "timestamp"]:
        w.product("CAST", "text", [type_name], "{0}::text",
                  {0: [*VALUES[type_name], "0044-03-15 BC", "0001-01-01", "10000-01-01", "2024-02-29"]})
    w.product("CAST", "text", ["timestamp"], "{0}::text",
              {0: ["2024-05-06 07:08:09.1", "2024-05-06 00:00:00.000010", "0044-03-15 12:00:00.5 BC", "294276-12-31 23:59:59.999999"]})
    w.product("CAST", "text", ["interval"], "{0}::text",
              {0: [*VALUES["interval"], "1 mon", "-1 mon", "1 year -1 mon", "-1 years 13 mons", "25 mons 1 day", "1 day -00:00:01",
                   "-1 day 00:00:01", "-1 day 1 mon", "-1 mon 1 day", "00:00:00.5", "-00:00:00.5", "100:00:00", "-1 days", "1 year 0.000001 seconds",
                   "-13 mons -2 days -03:04:05.06", "-2147483648 mons -2147483648 days -2562047788:00:54.775807"]})
    w.product("MAKE_DATE", "date", ["int4", "int4", "int4"], "make_date({0}, {1}, {2})",
              {0: ["1", "1900", "2000", "2024", "5874897"], 1: ["0", "1", "2", "12", "13"], 2: ["1", "28", "30"]})
    w.case("MAKE_DATE", "date", ["int4", "int4", "int4"], ["2024", "2", "29"], "make_date({0}, {1}, {2})")
    made = ["int4"] * 5 + ["float8"]
    for numbers in (["2024", "2", "29", "23", "59", "59.999999"], ["2024", "2", "29", "0", "0", "0.0000005"],
                    ["1", "1", "1", "0", "0", "0"], ["294276", "12", "31", "23", "59", "59.5"], ["2023", "2", "29", "0", "0", "0"],
                    ["2024", "12", "31", "7", "8", "1.0000015"], ["2024", NULL, "31", "7", "8", "1"], ["2024", "1", "1", "1", "1", NULL]):
        w.case("MAKE_TIMESTAMP", "timestamp", made, numbers, "make_timestamp({0}, {1}, {2}, {3}, {4}, {5})")
    for numbers in (["1", "2", "3", "4", "5", "6", "7.8"], ["-1", "13", "-3", "22", "-5", "600", "-0.0000015"], ["0"] * 7,
                    ["0", "0", "0", "0", "2147483647", "-2147483648", "1e6"], ["1", "2", "3", NULL, "5", "6", "7"]):
        w.case("MAKE_INTERVAL", "interval", ["int4"] * 6 + ["float8"], numbers,
               "make_interval({0}, {1}, {2}, {3}, {4}, {5}, {6})")
    fields = {"YEAR": 4, "MONTH": 2, "DAY": 8, "HOUR": 1024, "MINUTE": 2048, "SECOND": 4096}
    ranges = [4, 2, 6, 8, 1024, 2048, 4096, 8 | 1024, 8 | 1024 | 2048, 8 | 1024 | 2048 | 4096, 1024 | 2048, 1024 | 2048 | 4096,
              2048 | 4096]
    assert all(sum(fields.values()) & mask == mask for mask in ranges)
    typmods = [(mask << 16) | 0xFFFF for mask in ranges] + [(0x7FFF << 16) | digits for digits in range(7)] + [4096 << 16 | 1, -1]
    w.product("INTERVAL_TYPMOD", "interval", ["interval", "int4"], 'pg_catalog."interval"({0}, {1})',
              {0: [*VALUES["interval"], "1 year 2 mons 3 days 04:05:06.785", "-1 year -2 mons -3 days -04:05:06.785"],
               1: [str(typmod) for typmod in typmods]})
    days = {1: ["0", "1", "-1", "365", "-366", "3000000", "2147483647", "-2147483648"]}
    w.product("ADD", "date", ["date", "int4"], "({0} + {1})", days)
    w.product("SUB", "date", ["date", "int4"], "({0} - {1})", days)
    w.product("ADD", "date", ["int4", "date"], "({0} + {1})", {0: days[1]})
    w.product("SUB", "int4", ["date", "date"], "({0} - {1})")
    for type_name in ["date", "timestamp"]:
        w.product("ADD", "timestamp", [type_name, "interval"], "({0} + {1})")
        w.product("SUB", "timestamp", [type_name, "interval"], "({0} - {1})")
        w.product("ADD", "timestamp", ["interval", type_name], "({0} + {1})", {0: VALUES["interval"][:6]})
    w.product("SUB", "interval", ["timestamp", "timestamp"], "({0} - {1})")
    w.product("AGE", "interval", ["timestamp", "timestamp"], "age({0}, {1})")
    ends = ["2000-01-01", "2000-01-02", "2000-01-03", "2000-01-04", "-infinity"]
    w.product("OVERLAPS", "bool", ["timestamp"] * 4, "(({0}, {1}) OVERLAPS ({2}, {3}))", dict.fromkeys(range(4), ends), nulls=True)
    ends = ["2000-01-01 00:00:00+00", "2024-03-10 07:00:00+00", "infinity"]
    w.product("OVERLAPS", "bool", ["timestamptz"] * 4, "(({0}, {1}) OVERLAPS ({2}, {3}))", dict.fromkeys(range(4), ends), nulls=True)
    w.product("ADD", "interval", ["interval", "interval"], "({0} + {1})")
    w.product("SUB", "interval", ["interval", "interval"], "({0} - {1})")
    w.product("NEG", "interval", ["interval"], "(- {0})")
    factors = ["0", "1", "-1", "0.5", "1.5", "-2.7", "0.0001", "3", "7", "12", "1e10", "NaN", "Infinity"]
    w.product("MUL", "interval", ["interval", "float8"], "({0} * {1})", {1: factors})
    w.product("MUL", "interval", ["float8", "interval"], "({0} * {1})", {0: factors[:6]})
    w.product("DIV", "interval", ["interval", "float8"], "({0} / {1})", {1: factors})


def ranges(w):
    four, eight, numeric = "4", "8", "0"  # PenumbraRangeForm
    edges = {
        "int4range": (four, ["-2147483648", "-1", "0", "5", "2147483647"]), "int8range": (eight, ["-9223372036854775808", "0", "7"]),
        "daterange": (four, ["-infinity", "2000-01-01", "2024-02-29", "infinity"]),
        "tsrange": (eight, ["-infinity", "2000-01-01", "2000-01-01 00:00:00.000001", "infinity"]),
        "numrange": (numeric, ["-Infinity", "-10000.5", "-1", "0", "0.0001", "12345678", "Infinity", "NaN"]),
    }  # fmt: skip
    operators = {"CONTAINS": "@>", "OVERLAPS": "&&", "BEFORE": "<<", "OVERLEFT": "&<", "OVERRIGHT": "&>", "ADJACENT": "-|-"}
    ones = {"IS_EMPTY": "isempty", "LOWER_INC": "lower_inc", "UPPER_INC": "upper_inc", "LOWER_INF": "lower_inf", "UPPER_INF": "upper_inf"}
    for range_type, (form, values) in edges.items():
        pairs = [(a, b) for i, a in enumerate(values) for b in values[i + 1:]][::3]
        some = [NULL, "empty", "(,)", f"(,{values[1]})", f"[{values[1]},)", f"[{values[1]},{values[1]}]",
                *("%s%s,%s%s" % ("[("[n % 2], a, b, ")]"[n % 3 == 0 and range_type in ("tsrange", "numrange")]) for n, (a, b) in enumerate(pairs))]
        several = ["{}", "{%s}" % some[3], "{%s,%s}" % (some[5], some[-1]), "{(,%s),(%s,%s)}" % (values[0], values[1], values[2]),
                   "{[%s,%s),[%s,)}" % (values[0], values[1], values[2])]  # fmt: skip
        multirange_type = RANGES[range_type]
        for name, operator in operators.items():
            for types in itertools.product([range_type, multirange_type], repeat=2):
                w.product(f"RANGE_{name}", "bool", [*types, "int4"], "({0} " + operator + " {1})",
                          {**{i: some if t == range_type else several for i, t in enumerate(types)}, 2: [form]})
        for name, function in ones.items():
            for t, choice in ((range_type, some), (multirange_type, several)):
                w.product(f"RANGE_{name}", "bool", [t, "int4"], f"{function}({{0}})", {0: choice, 1: [form]})
        value_type = {"int4range": "int4", "int8range": "int8", "daterange": "date", "tsrange": "timestamp", "numrange": "numeric"}[range_type]
        points = [*values, *(["1.10", "1e30", "-0.00012345", "10000"] if value_type == "numeric" else []), NULL]
        w.product("RANGE_CONTAINS", "bool", [range_type, value_type, "int4"], "({0} @> {1})", {0: some, 1: points, 2: [form]})
        w.product("RANGE_CONTAINS", "bool", [multirange_type, value_type, "int4"], "({0} @> {1})", {0: several, 1: points[:-1], 2: [form]})
        if value_type == "numeric":
            continue
        for t, choice in ((range_type, some), (multirange_type, several)):
            w.product("RANGE_LOWER", value_type, [t, "int4"], "lower({0})", {0: choice, 1: [form]})
            w.product("RANGE_UPPER", value_type, [t, "int4"], "upper({0})", {0: choice, 1: [form]})
        w.product("RANGE_INTERSECT", range_type, [range_type, range_type, "int4"], "({0} * {1})", {0: some, 1: some, 2: [form]})


def zoned(w):
    locals_ = {0: ["2024-03-10 02:30:00", "2024-03-10 01:59:59.999999", "2024-03-10 03:00:00", "2024-11-03 01:30:00",
                   "2024-11-03 00:59:59", "2024-11-03 02:00:00", "2024-03-31 01:30:00", "2024-10-27 01:30:00",
                   "2024-04-07 01:45:00", "2024-10-06 02:15:00", "1950-01-01 12:00:00", "infinity", "-infinity"]}
    local_dates = {0: ["2024-03-10", "2024-11-03", "2000-01-01", "1960-06-15", "infinity"]}
    for w.zone in ZONES:
        print(f"SET timezone = '{w.zone}';")
        w.product("CAST", "timestamptz", ["timestamp"], "{0}::timestamptz", locals_)
        w.product("CAST", "timestamptz", ["date"], "{0}::timestamptz", local_dates)
        w.product("CAST", "timestamp", ["timestamptz"], "{0}::timestamp")
        w.product("CAST", "text", ["timestamptz"], "{0}::text")
        w.product("AT_ZONE", "timestamptz", ["timestamp", "zone"], "({0} AT TIME ZONE {1})", locals_)
        w.product("AT_ZONE", "timestamp", ["timestamptz", "zone"], "({0} AT TIME ZONE {1})")
        for field in ["second", "hour", "day", "week", "year"]:
            w.product("DATE_TRUNC", "timestamptz", ["text", "timestamptz", "zone"], "date_trunc({0}, {1}, {2})", {0: [field]})
        # The years at the ends are outside of the table.
        w.product("CAST", "timestamptz", ["text"], "{0}::timestamptz",
                  {0: [text for text in INSTANTS if text not in ("0001-01-01", "9999-12-31")]})
        w.product("TO_TIMESTAMP", "timestamptz", ["float8"], "to_timestamp({0})", {0: [
            *VALUES["float8"], "1732206349.000167", "-210866803200", "-210866803200.1", "9224318016000",
            "9224318015999.9999", "0.0000005", "1e12"]})
        w.product("CAST", "date", ["timestamptz"], "{0}::date")
        w.product("TIME_OF_DAY", "int8", ["timestamptz"], "(extract(epoch from {0}::time) * 1000000)::bigint")
        for field in FIELDS + ["timezone", "timezone_hour", "timezone_minute"]:
            w.product("EXTRACT", "numeric", ["text", "timestamptz"], f"extract({field} from {{1}})", {0: [field]})
            w.product("DATE_PART", "float8", ["text", "timestamptz"], "date_part({0}, {1})", {0: [field]})
        for field in TRUNC_FIELDS[:12]:
            values = [v for v in VALUES["timestamptz"] if field not in ("century",) or "infinity" in v]
            w.product("DATE_TRUNC", "timestamptz", ["text", "timestamptz"], "date_trunc({0}, {1})",
                      {0: [field], 1: values})
        spans = {1: ["1 day", "-1 day", "1 month", "-5 mons", "24:00:00", "1 mon 1 day 01:00:00", "-00:30:00", "7 days"]}
        w.product("ADD", "timestamptz", ["timestamptz", "interval"], "({0} + {1})", spans)
        w.product("SUB", "timestamptz", ["timestamptz", "interval"], "({0} - {1})", spans)
        w.product("SUB", "interval", ["timestamptz", "timestamptz"], "({0} - {1})", {1: VALUES["timestamptz"][:4]})
        turns = ["2024-03-10 09:59:59+00", "2024-03-10 10:00:01+00", "2024-03-31 00:59:00+00", "2024-11-03 09:30:00+00"]
        w.product("AGE", "interval", ["timestamptz", "timestamptz"], "age({0}, {1})",
                  {0: [*VALUES["timestamptz"], *turns], 1: [*VALUES["timestamptz"][:4], *turns]})
        print(f"""
          SELECT 'zone {w.zone}' || E'\\t' || string_agg(at_us || E'\\t' || seconds, E'\\t' ORDER BY at_us)
          FROM (SELECT (extract(epoch from t) - 946684800)::int8 * 1000000 AS at_us,
                       extract(timezone from t)::int AS seconds,
                       lag(extract(timezone from t)::int) OVER (ORDER BY t) AS before
                FROM generate_series('1920-01-01 00:00+00'::timestamptz, '2100-01-01 00:00+00', '30 min') t) x
          WHERE seconds IS DISTINCT FROM before;""")
    w.zone = "-"


def prologue():
    print("SET client_min_messages = error; SET timezone = 'UTC'; BEGIN;")
    print(r"""
      CREATE FUNCTION pg_temp.run(sql text) RETURNS text LANGUAGE plpgsql AS $$
      DECLARE r text;
      BEGIN
        EXECUTE 'SELECT ' || sql INTO r;
        RETURN coalesce(r, '\N');
      EXCEPTION WHEN OTHERS THEN RETURN '!' || SQLSTATE;
      END $$;
      -- Values and ranges as penumbra/types.h has them.
      CREATE FUNCTION pg_temp.with_sign_inverted(sent bytea) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT set_byte(sent, 0, get_byte(sent, 0) # 128) $$;
      CREATE FUNCTION pg_temp.ordered(int4) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT pg_temp.with_sign_inverted(int4send($1)) $$;
      CREATE FUNCTION pg_temp.ordered(int8) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT pg_temp.with_sign_inverted(int8send($1)) $$;
      CREATE FUNCTION pg_temp.ordered(date) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT pg_temp.with_sign_inverted(date_send($1)) $$;
      CREATE FUNCTION pg_temp.ordered(timestamp) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT pg_temp.with_sign_inverted(timestamp_send($1)) $$;
      CREATE FUNCTION pg_temp.ordered(n numeric) RETURNS bytea LANGUAGE plpgsql STRICT AS $$
      DECLARE
        sent bytea := numeric_send(n);
        digits bytea := substring(sent FROM 3 FOR 2);
        other bytea := '';
      BEGIN
        IF n IN ('-Infinity', 0, 'Infinity', 'NaN') THEN
          RETURN CASE n WHEN '-Infinity' THEN '\x00' WHEN 0 THEN '\x02' WHEN 'Infinity' THEN '\x04' ELSE '\x05' END::bytea;
        END IF;
        digits := pg_temp.with_sign_inverted(digits);
        FOR i IN 0 .. get_byte(sent, 1) - 1 LOOP
          digits := digits || int2send((get_byte(sent, 8 + 2 * i) * 256 + get_byte(sent, 9 + 2 * i) + 1)::int2);
        END LOOP;
        digits := digits || '\x0000';
        FOR i IN 0 .. length(digits) - 1 LOOP
          digits := set_byte(digits, i, CASE WHEN n < 0 THEN 255 - get_byte(digits, i) ELSE get_byte(digits, i) END);
        END LOOP;
        RETURN CASE WHEN n < 0 THEN '\x01' ELSE '\x03' END::bytea || digits;
      END $$;
      CREATE FUNCTION pg_temp.image_of_one(r anyrange) RETURNS bytea LANGUAGE sql STRICT AS $$
        SELECT CASE WHEN isempty(r) THEN '\x00'::bytea ELSE '\x01'
          || CASE WHEN lower_inf(r) THEN '\x00'::bytea ELSE '\x01' || pg_temp.ordered(lower(r)) || CASE WHEN lower_inc(r) THEN '\x00' ELSE '\x01' END::bytea END
          || CASE WHEN upper_inf(r) THEN '\x02'::bytea ELSE '\x01' || pg_temp.ordered(upper(r)) || CASE WHEN upper_inc(r) THEN '\x01' ELSE '\x00' END::bytea END END $$;
      CREATE FUNCTION pg_temp.head(regtype) RETURNS bytea LANGUAGE sql AS $$ SELECT CASE WHEN $1::text LIKE 'num%' THEN '' ELSE '\x07' END::bytea $$;
      CREATE FUNCTION pg_temp.image(r anyrange) RETURNS bytea LANGUAGE sql STRICT AS $$ SELECT pg_temp.head(pg_typeof(r)) || pg_temp.image_of_one(r) $$;
      CREATE FUNCTION pg_temp.image(m anymultirange) RETURNS bytea LANGUAGE sql STRICT AS $$
        SELECT pg_temp.head(pg_typeof(m)) || coalesce((SELECT string_agg(pg_temp.image_of_one(r), '') FROM unnest(m) r), '') $$;
      """)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.random > 0:
        random_values(random.Random(options.seed), options.random)
    prologue()
    w = Writer()
    for topic in (comparisons, logic, arithmetic, buckets, casts, texts, dates, ranges, zoned):
        topic(w)
    print("ROLLBACK;")


if __name__ == "__main__":
    main()
