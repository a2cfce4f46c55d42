"""SQL whose output is the golden file of the aggregates: goldens.py runs it.

A line is one aggregate over one table, tab-separated: aggregate, how it is called, result type, result, then type and
values of each column. How: "all" or "distinct"; of ordered-set aggregates "asc" or "desc" and the fraction. Values and results are written as those of expr_cases.py, values separated by commas.
"""

from expr_cases import FLOATS, INTEGERS, SEND, VALUES, prologue, quoted

NULL = None
# Sums of these do not depend on the order.
NUMBERS = {
    "int2": [["32767", "32767", "1"], ["-7", NULL, "100"]],
    "int4": [["2147483647", "2147483647", "-3"], ["1", "1", "0"]],
    "int8": [["9223372036854775807", "9223372036854775807", "1"], ["-9223372036854775808", NULL, "10"]],
    "numeric": [["1.5", "2.25", NULL, "3"], ["1.50", "-1.5"], ["0.00001", "99999999999999999999.99"], ["NaN", "1"],
                ["Infinity", "1"], ["Infinity", "-Infinity"], ["9" * 38, "9" * 38, "9" * 38, "0.5"]],
    "float4": [["1.5", "2", "-0.25"], ["NaN", "1"], ["Infinity", "1"], ["3e38", "3e38"]],
    "float8": [["1.5", "2", "-0.25", NULL], ["NaN", "1"], ["Infinity", "1"], ["Infinity", "-Infinity"],
               ["1e308", "1e308"], ["1e200", "-1e200"]],
}  # fmt: skip
INTERVALS = [["1 mon 2 days 00:00:03", "4 mons -5 days", NULL], ["1 day", "0"], ["2147483647 mons", "1 mon"]]
PAIRS = [
    [("1", "2"), ("2", "3"), ("4", "5.5"), ("7", "11")],
    [("0.1", "3"), ("0.7", "-2"), ("1e-3", "0.25"), ("12345.678", "9"), ("-3.3", "1e5")],
    [("1", "2")], [(NULL, "2")], [("1", NULL), ("2", "3"), (NULL, NULL), ("4", "9"), (NULL, "1"), ("3", "7.5")],
    [("5", "1"), ("5", "2"), ("5", "3")], [("1", "5"), ("2", "5"), ("3", "5")], [("5", "5"), ("5", "5")],
    [("0.1", "1"), ("0.1", "2"), ("0.1", "3"), ("0.1", "4")],
    [("NaN", "1"), ("2", "2")], [("1", "1"), ("2", "NaN"), ("3", "3")], [("Infinity", "1"), ("1", "2")],
    [("1", "2"), ("Infinity", "1")], [("1", "-Infinity"), ("2", "1")], [("1", "1"), ("2", "Infinity"), ("3", "1")],
    [("1", "Infinity"), ("1", "-Infinity")], [("Infinity", "NaN")], [("1e200", "1"), ("-1e200", "2")],
    [("1", "1e200"), ("2", "-1e200")], [("1e308", "1"), ("1e308", "2"), ("1e308", "3")],
    [("1e160", "1e160"), ("-1e160", "-1e160")], [("1e100", "1e100"), ("-1e100", "-1e100")],
    [("1e-170", "1e-170"), ("-1e-170", "3e-170")], [("1e-100", "1e-100"), ("3e-100", "-1e-100"), ("2e-100", "0")],
    [("1e15", "1e-15"), ("1e15", "2e-15"), ("1000000000000001", "0")],
]  # fmt: skip
PAIR_AGGREGATES = ["CORR", "COVAR_POP", "COVAR_SAMP", "REGR_COUNT", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2",
                   "REGR_AVGX", "REGR_AVGY", "REGR_SXX", "REGR_SYY", "REGR_SXY"]  # fmt: skip
# Equal values are written alike, as the engine wants it.
ORDERED = {
    "bool": [["t", "f", "t", NULL], ["f", "t"]],
    "int2": [["3", "-7", NULL, "3", "32767", "1"], ["5"]],
    "int4": [["2", "9", "2", "-2147483648", "7", "9", NULL], ["1", "1", "1", "2"]],
    "int8": [["9223372036854775807", "-9223372036854775808", "0", "0"], ["4", "3", "2", "1"]],
    "float4": [["1.5", "NaN", "-Infinity", "1.5", "Infinity"], ["-0", "0.1", NULL]],
    "float8": [["0.1", "0.7", "1e-3", "12345.678", "-3.3"], ["-0", "5"], ["0", "-1e308", "1e308"], ["NaN", "1", "NaN"],
               ["-Infinity", "1", "Infinity"], ["1", "3"], ["-Infinity", "-Infinity"], ["4.9e-324", "0", "0.3", NULL]],
    "numeric": [["1.50", "-1.50", "1.50", NULL, "99999999999999999999999999999999999.25"], ["NaN", "0.1", "Infinity"],
                ["7", "9" * 45, "-" + "9" * 20, "9" * 45]],
    "date": [["2024-02-29", "infinity", "1999-12-31", "2024-02-29"]],
    "timestamp": [["2024-02-29 12:00:00.000001", "-infinity", "2000-01-01", NULL]],
    "timestamptz": [["2024-02-29 12:00:00+00", "2000-01-01 00:00:00+00", "2000-01-01 00:00:00+00"]],
    "interval": [["1 mon 2 days 00:00:03", "4 mons 5 days", NULL, "-1 mon"], ["01:00:00", "99:00:00.000001"],
                 ["45 days 03:00:00", "-2 days", "1 day 01:01:01.5"], ["2147483647 mons", "-2147483647 mons"]],
    "text": [["b", "abc", "", "b", NULL, "a somewhat longer text", "a somewhat longer one"], ["é", "z", "Z"]],
    "bpchar": [["ab ", "cd ", "ab "]],
    "uuid": [["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "00000000-0000-0000-0000-000000000000",
              "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"]],
}  # fmt: skip
FRACTIONS = ["0", "0.25", "0.5", "0.9", "0.1", "1", "NULL"]
SPREADS = ["STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP"]


def shown(type_name, expression):
    return f"({expression})::text" if type_name == "numeric" else f"encode({SEND[type_name]}({expression}),'hex')"


def case(function, result, types, columns, distinct=False, order=""):
    """columns: values by type; of no rows all are empty. order: the direction and the fraction."""
    names = [f"c{i}" for i in range(len(types))]
    rows = list(zip(*columns, strict=True)) or [(NULL,) * len(types)]
    values = ", ".join(
        "(" + ", ".join(f"{'NULL' if v is NULL else quoted(v)}::{t}" for v, t in zip(row, types, strict=True)) + ")"
        for row in rows
    )
    table = f"(SELECT * FROM (VALUES {values}) v({', '.join(names)}) WHERE {'true' if columns[0] else 'false'}) t"
    collated = [n + (' COLLATE "C"' if t in ("text", "bpchar") else "") for n, t in zip(names, types, strict=True)]
    call = f"{function.lower()}({'DISTINCT ' if distinct else ''}{', '.join(collated)})"
    if function == "COUNT_STAR":
        call = "count(*)"
    if order:
        direction, *fraction = order.split()
        call = f"{function.lower()}({'::float8'.join([*fraction, ''])}) WITHIN GROUP (ORDER BY {collated[0]} {direction})"
    line = f"'{function}', '{order or ('distinct' if distinct else 'all')}', '{result}', "
    line += f"pg_temp.run({quoted(shown(result, call) + ' FROM ' + table)})"
    for name, type_name in zip(names, types, strict=True):
        texts = f"string_agg(coalesce({shown(type_name, name)}, '\\N'), ',')"
        line += f", '{type_name}', (SELECT coalesce({texts}, '') FROM {table})"
    print(f"SELECT concat_ws(E'\\t', {line});")


def main():
    prologue()
    for values in (VALUES["int4"], ["1", NULL, NULL], []):
        case("COUNT_STAR", "int8", ["int4"], [values])
    for type_name, values in VALUES.items():
        case("COUNT", "int8", [type_name], [[*values, NULL]])
        case("COUNT", "int8", [type_name], [[*values[:4], NULL, *values[:3]]], distinct=True)
        if type_name not in ("bool", "uuid"):  # PostgreSQL has none
            for function in ("MIN", "MAX"):
                for some in (values, values[::-1], [NULL, *values[:3]], [NULL], []):
                    case(function, type_name, [type_name], [some])
    for type_name, tables in {**NUMBERS, "interval": INTERVALS}.items():
        is_exact = type_name in INTEGERS or type_name == "numeric"
        total = type_name if type_name not in INTEGERS else "numeric" if type_name == "int8" else "int8"
        average = "numeric" if is_exact else "float8" if type_name in FLOATS else type_name
        for values in [*tables, tables[0][:1], [NULL], []]:
            case("SUM", total, [type_name], [values])
            case("SUM", total, [type_name], [values * 2], distinct=True)
            case("AVG", average, [type_name], [values])
            for function in SPREADS if type_name != "interval" else []:
                case(function, "numeric" if is_exact else "float8", [type_name], [values])
    for values in (["t", "t"], ["t", "f", NULL], [NULL, "f"], [NULL], []):
        for function in ("BOOL_AND", "BOOL_OR"):
            case(function, "bool", ["bool"], [values])
    for pairs in [*PAIRS, []]:
        columns = [list(column) for column in zip(*pairs, strict=True)] or [[], []]
        for function in PAIR_AGGREGATES:
            case(function, "int8" if function == "REGR_COUNT" else "float8", ["float8", "float8"], columns)
    for type_name in INTEGERS:
        for values in (["5", "3", NULL], ["-7", "12", "12"], [NULL], []):
            for function in ("BIT_AND", "BIT_OR", "BIT_XOR"):
                case(function, type_name, [type_name], [values])
                case(function, type_name, [type_name], [values], distinct=True)
    for type_name, tables in ORDERED.items():
        for values in [*tables, tables[0][:1], [NULL], []]:
            for direction in ("asc", "desc"):
                case("MODE", type_name, [type_name], [values], order=direction)
                case("MODE", type_name, [type_name], [values * 9], order=direction)
                for fraction in FRACTIONS:
                    case("PERCENTILE_DISC", type_name, [type_name], [values], order=f"{direction} {fraction}")
                    if type_name in ("float8", "interval"):
                        case("PERCENTILE_CONT", type_name, [type_name], [values], order=f"{direction} {fraction}")
    # Exact whatever the order, which DISTINCT changes.
    columns = [["1", "3", "1", "3", "5", NULL, "1"], ["2", "4", "2", "4", "6", "7", NULL]]
    for function in PAIR_AGGREGATES:
        case(function, "int8" if function == "REGR_COUNT" else "float8", ["float8", "float8"], columns, distinct=True)
    print("ROLLBACK;")


if __name__ == "__main__":
    main()
