"""Writes what the engine says that it takes (engine/test/print_tables.cc): docs/vectors.md for users, and a table for
`penumbra advise`, with the PostgreSQL functions that the adapter maps to the engine's. --check compares.
"""

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from subprocess import run
from textwrap import fill

from named_checks import run_checks

TREE = Path(__file__).resolve().parents[1]
PAGE = TREE / "docs/vectors.md"
TABLE = TREE / "lab/penumbra_lab/advise/engine.json"
PRINT_TABLES = TREE / "build/engine/print_tables"
COMPAT = TREE / "common/pg_compat.h"
FUNCTION_MAP = TREE / "extensions/columnar/src/query/pipeline/function_map.c"
VALUE_IMAGES = TREE / "extensions/columnar/src/cache/value_image.c"
CACHEABLE = TREE / "extensions/columnar/src/cache/cacheable.c"

# Types that the adapter has images of, and the engine not itself: their names in SQL, by the macros of their OIDs.
IMAGES = {
    "TIMEOID": "time", "TIMETZOID": "timetz", "BYTEAOID": "bytea", "OIDOID": "oid", "MONEYOID": "money",
    "INETOID": "inet", "CIDROID": "cidr", "MACADDROID": "macaddr", "MACADDR8OID": "macaddr8", "BITOID": "bit",
    "VARBITOID": "varbit", "CHAROID": '"char"', "PG_LSNOID": "pg_lsn", "XID8OID": "xid8", "NAMEOID": "name",
    "REGPROCOID": "regproc", "REGPROCEDUREOID": "regprocedure", "REGOPEROID": "regoper",
    "REGOPERATOROID": "regoperator", "REGCLASSOID": "regclass", "REGCOLLATIONOID": "regcollation",
    "REGTYPEOID": "regtype", "REGROLEOID": "regrole", "REGNAMESPACEOID": "regnamespace", "REGCONFIGOID": "regconfig",
    "REGDICTIONARYOID": "regdictionary",
    "INT4RANGEOID": "int4range", "INT8RANGEOID": "int8range", "DATERANGEOID": "daterange", "TSRANGEOID": "tsrange",
    "TSTZRANGEOID": "tstzrange", "INT4MULTIRANGEOID": "int4multirange", "INT8MULTIRANGEOID": "int8multirange",
    "DATEMULTIRANGEOID": "datemultirange", "TSMULTIRANGEOID": "tsmultirange", "TSTZMULTIRANGEOID": "tstzmultirange",
}  # fmt: skip
ENGINES_OWN = {"BOOLOID", "INT2OID", "INT4OID", "INT8OID", "FLOAT4OID", "FLOAT8OID", "NUMERICOID", "DATEOID",
               "TIMESTAMPOID", "TIMESTAMPTZOID", "INTERVALOID", "TEXTOID", "VARCHAROID", "BPCHAROID", "UUIDOID"}  # fmt: skip
ENUM = "enum"  # of any type
OTHER = "other"  # of extensions and users: what needs no order of them
ORDERING = re.compile("|".join(["min", "max", "mode", "percentile_disc", "GREATEST", "LEAST", "[LG][ET]"]))
# The engine does with an image what it does with a value that is only compared.
COMPARED = "uuid"
WITHOUT_EXTREMES = {"bytea", "macaddr", "macaddr8", "bit", "varbit", '"char"', "name",
                    *(name for name in IMAGES.values() if name.endswith("range") or name.startswith("reg"))}  # fmt: skip
# What PostgreSQL has of bytes, and the engine of text.
OF_BYTES = ("function\tOCTET_LENGTH\toctet_length\tinteger\tbytea", "function\tCONCAT\t||\tbytea\tbytea\tbytea",
            "aggregate\tstring_agg\tbytea\tbytea\tbytea", "function\tMD5\tmd5\ttext\tbytea")  # fmt: skip
OTHER_TYPES = ["bytea", "time", "bit"]
# The engine has bit strings as text.
OF_BITS = {"bit_and", "bit_or", "bit_xor"}
# Of more arguments than the tables have.
OF_MANY = tuple(f"function\tWIDTH_BUCKET\twidth_bucket\tinteger\t{t}\tconstant {t}\tconstant {t}\tconstant integer"
                for t in ("double precision", "numeric"))
OF_MANY += (*("\t".join(["function", "OVERLAPS", "overlaps", "boolean", *[t] * 4]) for t in ("timestamp", "timestamptz")),
            *("\t".join(["function", "MAKE_TIMESTAMP", "make_timestamp", t, *["integer"] * 5, "double precision"])
              for t in ("timestamp", "timestamptz")),
            "\t".join(["function", "MAKE_INTERVAL", "make_interval", "interval", *["integer"] * 6, "double precision"]))  # fmt: skip
# The engine has times as numbers.
OF_TIMES = {"EXTRACT", "DATE_PART", "TIME_OF_DAY", "TIMESTAMP_TYPMOD"}
BESIDE_TIMES = {"interval", "date", "timestamp"}
# The result's type and the arguments', where the engine has text for bytea.
SIGNATURES_OF_BYTES = {"SHA256": ["bytea", "bytea"], "ENCODE": ["text", "bytea", "constant text"],
                       "DECODE": ["bytea", "text", "constant text"], "BYTEA": ["bytea", "text"]}  # fmt: skip

FAMILIES = {
    frozenset({"smallint", "integer", "bigint"}): "int",
    frozenset({"real", "double precision"}): "float",
    frozenset({"smallint", "integer", "bigint", "real", "double precision"}): "int or float",
    frozenset({"timestamp", "timestamptz"}): "timestamp or timestamptz",
    frozenset({"text", "character"}): "text or char(n)",
}
# How SQL writes what is not called by its name, and other names for it.
WRITTEN = {
    "IN_LIST": "`IN (...)`, `= ANY (array)`", "NOT_IN_LIST": "`NOT IN (...)`, `<> ALL (array)`",
    "CASE": "`CASE WHEN ... THEN ... ELSE ... END`", "NEG": "`-` (of one)", "MOD": "`%`, `mod`", "ABS": "`abs`, `@`",
    "CEIL": "`ceil`, `ceiling`", "SQRT": "`sqrt`, `|/`", "POWER": "`power`, `pow`, `^`",
    "MAKE_TIMESTAMP": "`make_timestamp`, `make_timestamptz`, the latter also in a zone that has a name", "INTERVAL_TYPMOD": "cast to `interval(n)`, `interval day to minute` and the like",
    "TIME_OF_DAY": "cast to `time`", "TIMESTAMP_TYPMOD": "cast to `timestamp(n)`, `timestamptz(n)`, `time(n)`",
    "AT_ZONE": "`AT TIME ZONE` with the zone's name, also of a column whose values repeat, a fixed abbreviation or an interval",
    "DATE_TRUNC": "`date_trunc`, also in a zone", "WIDTH_BUCKET": "`width_bucket`, also of an array of up to 32 constants of any type",
    "OVERLAPS": "`(a, b) OVERLAPS (c, d)`, also with intervals in place of ends",
    "CAST": "`CAST`, `::`", "COMPARED_AS": "dates and timestamps compared with each other", "NUMERIC_TYPMOD": "cast to `numeric(p, s)`", "VARCHAR_TYPMOD": "cast to `varchar(n)`",
    "BPCHAR_TYPMOD": "cast to `char(n)`", "LENGTH": "`length`, `char_length`, `character_length`",
    "REGEX_MATCHES": "`~`, `~*`, `SIMILAR TO`, `regexp_like`", "REGEX_MATCHES_NOT": "`!~`, `!~*`, `NOT SIMILAR TO`",
    "REGEX_REPLACE": "`regexp_replace`, also with `'g'` and references to the match",
    "REGEX_SUBSTRING": "`substring(... FROM pattern)`, `regexp_substr`, `(regexp_match(...))[n]`",
    "CONCAT": "`||`, `concat`, `concat_ws`, `format` with `%s` (these also of int, numeric and uuid)",
    "TO_CHAR": "`to_char` of numbers, with `FM 9 0 . , D G S MI PL SG PR` and text; `D`, `G` and `S` if `lc_numeric` writes numbers as C does",
    "ENCODE": "`encode` as `hex`, `base64`, `escape`", "DECODE": "`decode` from `hex`, `base64`, `escape`", "BYTEA": "cast to `bytea`; `convert_to` the database's encoding", "IS_NULL": "`IS NULL`, `num_nulls`", "IS_NOT_NULL": "`IS NOT NULL`, `num_nonnulls`", "SUBSTRING": "`substring`, `substr`", "POSITION": "`position`, `strpos`",
}  # fmt: skip
ANY_NUMBER = {"AND", "OR", "COALESCE", "GREATEST", "LEAST", "IN_LIST", "NOT_IN_LIST"}
ALIASES = {"bool_and": ["every"], "stddev_samp": ["stddev"], "var_samp": ["variance"]}
# The engine could, PostgreSQL has none.
NOT_IN_SQL = {("min", ("uuid",)), ("max", ("uuid",))}
# Of types and fields, which the tables show.
SHOWN_ABOVE = re.compile(r" on \(|^field |^date_trunc to ")

HEAD = """# What runs in vectors

<!-- Written by test/vectors_page.py (make vectors-page) from the engine's tables; do not edit. -->

What the engine of `penumbra` computes itself, with PostgreSQL's results and errors. `varchar` counts as `text`, a
domain as the type below it, *int* stands for `smallint`, `integer` and `bigint`, *float* for `real` and `double
precision`.

What is not on this page is computed by PostgreSQL:

* A function whose arguments repeat, by the statistics in four rows on average, is evaluated once for each distinct
  arguments. All around it runs in vectors: conditions, keys, orders, arguments of aggregates. `EXPLAIN` shows it as
  `Evaluated By PostgreSQL`. Any function but a volatile one can be so, of yours too. `to_char` of an instant is
  evaluated for each day, or hour, if its format shows no more. A condition in HAVING is evaluated for each group.
* So is a regular expression with back references, or with lookaround of more than one character, as `(?=abc)`. `~` and
  `!~` are then evaluated only of texts that have the longest plain string of the pattern, as `host` of `host(?=abc)`.
* A condition in HAVING on `array_agg`, `json_agg` and the like, or with a volatile function or a correlated subquery,
  is the `Filter` of the node that groups, for the groups that the other conditions leave. ORDER BY, windows and LIMIT
  above are then PostgreSQL's.
* In the select list, PostgreSQL computes other functions from the rows or groups that the engine gives. All below runs
  in vectors, with ORDER BY and LIMIT: of a million texts that are ordered, `sha512` hashes as many as LIMIT lets out.
* An immutable function of PostgreSQL's own whose distinct arguments are many becomes a cached column, as soon as a
  second query evaluates it for each row: in a condition, a key or an aggregate's argument. `penumbra.load('t',
  ARRAY['sha512(photo)'])` loads it at once, `penumbra.columns` shows it. `to_char` of a `timestamp` without `TM` is as
  good. One that raises an error for some row is no column, and neither is one that a setting changes: the text of a
  `float` or `bytea`, `quote_ident`, `age` of two `timestamptz`, a zone by its abbreviation.
* Elsewhere such a function takes that step and what follows to PostgreSQL. `EXPLAIN` and the view `penumbra.refusals`
  say what it was.

## Types of columns

{types}

Values of these are compared, grouped, joined, ordered, counted and returned in vectors:

{images}

What is shown below for `uuid` holds for them, but for casts. `min` and `max` run in vectors where PostgreSQL has them
for the type, and of `bytea` also `length`, `octet_length`, `||` and `string_agg`. An enum is ordered in vectors, and
has `min` and `max` there; where a value of its type was added before another one (`ALTER TYPE ... ADD VALUE ...
BEFORE`), if it has at most 64 values, and not in `greatest`, `least`, `percentile_disc` and window functions.
`sum` adds `money`, too.

Columns of PostgreSQL's other types (`tsvector`, `tsquery`, `oidvector`, `tid`, `xid`, `cid`, `aclitem`), and of types
that extensions and users made, are cached as they are, if a type has a default order or, without one, a default hash:

* `citext` is compared, grouped, joined, ordered and counted in lower case, as its extension does it, by the database's
  default collation, and has `min` and `max`. Where that collation is ICU's or the builtin provider's, PostgreSQL runs
  the query as soon as a letter beyond ASCII is met.
* Other types (`tsvector`, `hstore`, `ltree`, `cube`, `seg`, your own) are grouped, joined and counted in vectors where
  values repeat, by the statistics in four rows on average: the type's comparison function, or its hash and equality,
  says once for each distinct value which are equal (`Evaluated By PostgreSQL`). So it tells their order for ORDER BY,
  windows, ordered aggregates, `mode`, `min` and `max`, as it does for text in an order of ICU and for enums that the
  engine does not order.
  A type whose comparison is that of `bigint`, as those of `isn`, is as good as it.
* Where values are equal and written differently, a group shows the least of them by its bytes, `min` and `max` any;
  PostgreSQL shows the one that it reads first.
* Left to PostgreSQL: `array_agg(DISTINCT ...)`, `percentile_disc`, and `min` and `max` in windows. Of arrays, ranges
  and composites [another page](documents.md#whole-values-as-keys) tells.

Columns of other types stay in the heap; queries that do not read them run in vectors all the same. Where the select
list of a query or subquery alone reads them, they are fetched for its rows (`Columns From Heap`). A scan with
conditions fetches them for the rows that it finds, where PostgreSQL does the rest of the query. So are columns that are
not cached, where few rows of a table are returned: `SELECT *` with `ORDER BY at DESC LIMIT 20` needs the column `at` in
memory.
What is inside of jsonb documents, arrays, ranges and composites is cached as [columns of its own](documents.md). So are
whole documents, arrays, ranges and composites [where they are keys](documents.md#whole-values-as-keys).

## Functions and operators

*x* stands for one of the types that are listed after it. A *constant* may also be a parameter or another expression
whose value is known when the query starts. A function that takes any number of arguments is shown with two.

| function | arguments → result |
|---|---|
"""

FIELDS_HEAD = """
`power` of a column `numeric(p, s)`, or of an expression of such ones whose scale s is known, runs for a constant
exponent n from 0 to 4 where s × (n − 1) is at most 8.

A cast from text reads the plain form of a type: digits with a sign and a point, for floats an exponent; dates and times
as in ISO 8601, `2024-05-06 07:08:09.123456+01:00`, down to the date alone; `true`, `t`, `yes`, `y`, `on`, `1` and their
opposites; every form of a uuid; bytes in hexadecimal digits or escaped. A query that meets other text ends with
PostgreSQL's plan, which reads it or raises its error.

Dates, times, instants and intervals become text in vectors while `DateStyle` is `ISO` and `IntervalStyle` is
`postgres`, as they are by default. With another style PostgreSQL writes them, once for each value where these repeat.

### Ranges

`@>`, `<@`, `&&`, `<<`, `>>`, `&<`, `&>` and `-|-` run in vectors between ranges, multiranges and values, and so do
`lower`, `upper`, `isempty`, `lower_inc`, `upper_inc`, `lower_inf` and `upper_inf`, and `*` of two ranges: of
`int4range`, `int8range`, `daterange`, `tsrange`, `tstzrange` and their multiranges. Of `numrange` and `nummultirange`
the operators do. The values of a column in a constant range, as in
`day <@ daterange('2024-01-01', '2024-02-01')`, are compared with its bounds, which skips chunks; so it is with ranges
of your own types that compare values as their type does. `@>` and `&&` of a range that the query makes, as
`tsrange(begins, ends) && tsrange('2024-01-01', '2024-02-01')`, compare what it is made of with a value, a constant
range or another such one, with any bounds.

A condition that compares a column of ranges by such an operator with a constant, or `lower` or `upper` of it, skips the
chunks and vectors whose bounds exclude it. A join by such an operator, but `-|-`, searches the bounds of one side for
those of the other; so it does by `@>` and `&&` of ranges that the query makes. What else is asked of ranges is a cached
column ([documents](documents.md)).

### Fields of `extract`, `date_part` and `date_trunc`

| function | of | fields |
|---|---|---|
"""

AGGREGATES_HEAD = """
## Aggregates

With `FILTER`, `DISTINCT`, both or none. An `ORDER BY` inside the call is dropped where neither the result nor an error
depends on it; where one does, [PostgreSQL aggregates](#values-in-an-order) in that order. A *fraction* is a constant or
a parameter, or an array of some, without NULLs. Ordered-set aggregates end with PostgreSQL's plan when they meet equal
values that are written differently, as 0 and -0, 1.0 and 1.00, or a month and 30 days.

| aggregate | arguments → result |
|---|---|
"""

ORDERED_SET = {
    "percentile_cont": "`percentile_cont(fraction) WITHIN GROUP (ORDER BY ...)`",
    "percentile_disc": "`percentile_disc(fraction) WITHIN GROUP (ORDER BY ...)`",
    "mode": "`mode() WITHIN GROUP (ORDER BY ...)`",
}

COLLECTING = """
### Values in an order

`rank`, `dense_rank`, `percent_rank` and `cume_dist` `WITHIN GROUP (ORDER BY ...)` run in vectors, as counts of the rows
before: of one key and of several, of constants, parameters, NULL and, without grouping sets, keys of GROUP BY.
`dense_rank` of several keys counts rows, as `count(DISTINCT (a, b))` does. PostgreSQL computes those of a key that can
fail, unless it is the first and compared with a constant.

`string_agg(text, delimiter)` and `array_agg` run in vectors with an order inside: `ORDER BY` by any types and
directions, or `DISTINCT`. Without one the result shows the order in which rows are read. Over one table that
PostgreSQL would read from its first page to its last, the engine gives them that order, for as many rows as memory for
their positions holds (4 bytes each). PostgreSQL aggregates above joins and partitions, in grouping sets, and where it
would read by an index. It also does so where the engine would have to group, sort or compare arrays, and where one
result exceeds 1 GB. Rows that are equal in all keys have no order among each other, as in PostgreSQL.

`json_agg`, `jsonb_agg`, `json_object_agg`, `jsonb_object_agg` and their `_strict` and `_unique` forms of PostgreSQL 16
run under the same rules. The engine collects what their arguments read, and PostgreSQL evaluates the arguments and
writes each group's JSON. So arguments may be rows (`json_agg(t)`, `json_agg((a, b))`), `json_build_object`, arrays and
any expression of at most 64 columns that the engine can read. With `DISTINCT` they are values of the engine's types.
PostgreSQL aggregates rows that an outer join can have none of, and whole rows of a subquery with an order, a limit or
groups.

So does every other aggregate with `ORDER BY` or `DISTINCT` inside, your own too, and `array_agg` of arrays, rows, enums
and other values that the engine makes no arrays of: PostgreSQL's functions aggregate the rows that the engine has
filtered, grouped and sorted. Not those with functions that are `VOLATILE` or with VARIADIC arguments. `xmlagg` follows
the rules of `json_agg`. `range_agg` and `range_intersect_agg` need no order, but for ranges whose equal bounds can be
written differently (`numrange`).

### Keys that are made of values

Arrays, rows and documents that a query makes may be keys: `ARRAY[a, b]`, `(a, b)`, `jsonb_build_object('a', a, 'b',
b)`, `jsonb_build_array(a, b)`, `to_jsonb(a)`, also nested, `to_jsonb(t) - 'id'` of rows. The engine groups by what they
are made of, and PostgreSQL makes one value for each group.

| where | of what |
|---|---|
| `GROUP BY`, `DISTINCT`, `PARTITION BY`, `count(DISTINCT ...)`, set operations | arrays and rows of all types that are keys; documents of numbers but floats, text but `character`, booleans, dates, times, `uuid` and enums |
| `ORDER BY`, of the query, of windows and inside a call, `DISTINCT ON` | arrays and rows |
| `=` and `<>` with another one, or with a constant | arrays and rows |
| `<`, `<=`, `>` and `>=` the same | arrays |

The values of `=` are also the keys of joins, of `IN` and of `EXISTS`, where none of them can fail: `ARRAY[t.a, t.b] =
ARRAY[u.a, u.b]`.

A key may be a column of a subquery in `FROM` or of a CTE that makes it, also where an outer join can lack the
subquery's rows; so may whole rows of subqueries, and of tables where no outer join can lack them. Members of a set
operation must make a column alike.
In grouping sets, before PostgreSQL 18, a made value is such a key if what it is made of is no other key, and no
condition asks whether it `IS NULL`. PostgreSQL groups by the others, and by documents with names that are no constants.
"""

WINDOWS = """
## Window functions

| function | where it runs in vectors |
|---|---|
| `row_number`, `ntile`, `lag`, `lead`, `first_value`, `last_value`, `nth_value` | with `ORDER BY`, or over all rows of a table that PostgreSQL reads from its first page to its last; rows, places and buckets may be values of the rows, those of `ntile` no expression that can fail |
| `rank`, `dense_rank`, `percent_rank`, `cume_dist` | always |
| `string_agg`, `array_agg` | as `row_number`, also with `FILTER`: all frames, with `EXCLUDE` those in `ROWS` of at most 128 rows; arguments that cannot fail, with a `FILTER` or a frame without the row |
| the aggregates above but those with `WITHIN GROUP` and those that make JSON, also with `FILTER`; not with `DISTINCT`, no `bit_and` and the like of bit strings, and no `sum` of `real` | frames in `ROWS` with `ORDER BY`, in `RANGE` and `GROUPS` always; aggregates other than `count`, `min` and `max` of floats, intervals and pairs where the frame begins with the partition, or is in `ROWS` and has at most 1,024 rows |
| every other aggregate, and these over other frames: `json_agg`, `jsonb_object_agg`, `sum` of `real`, floats over long frames, your own | with `ORDER BY`; PostgreSQL computes the values of the frames while the engine runs, row by row as in its own plan. Over frames that move with the aggregate's functions for these (`MSFUNC`, `MINVFUNC`). Not with functions that are `VOLATILE`, nor of whole rows of a table |

Offsets of frames are constants, parameters and stable expressions: of rows and groups, and in `RANGE` of integers,
`real`, `double precision`, `numeric`, `date`, `timestamp` and `timestamptz`. `EXCLUDE` runs in vectors.

`IGNORE NULLS` and `RESPECT NULLS` of PostgreSQL 19 run in vectors. PostgreSQL runs windows with arguments that can fail
for rows whose value nobody needs. If one window of a query is PostgreSQL's, all are; they get their rows sorted.

Without `ORDER BY` some values show in which order rows are read. Over one table it is the order of PostgreSQL's own
plan, which runs where the engine cannot tell: with `PARTITION BY` alone, beside a window with an order, where an index
could be read. Over joins and groups nobody promises an order, and PostgreSQL's functions get our rows as they come.

With a condition such as `row_number() <= 3` around it, also of `rank()` and `dense_rank()`, only the first rows of each
partition are kept and sorted. A window of aggregates without `ORDER BY` sorts nothing, and mostly keeps no rows either,
but reads the table twice.
"""

JOINS = """
## Joins and subqueries

Whole queries run in one plan of the engine, from the scans to the result:

| what | how |
|---|---|
| `INNER`, `LEFT`, `RIGHT`, `FULL`, `CROSS JOIN` | hash join by the equalities between the sides, of any types above: integers of all widths together, floats too; `IS NOT DISTINCT FROM` and `(a = b OR a IS NULL AND b IS NULL)` are as good; other conditions see the pairs that these found; without an equality, those that comparisons of the sides by `<`, `<=`, `>`, `>=`, `BETWEEN`, `OVERLAPS` and operators of ranges leave (of integers, floats, dates, times, numerics of one scale), else every pair |
| `EXISTS`, `IN (SELECT ...)`, `NOT EXISTS` | semi and anti joins |
| `NOT IN (SELECT ...)` | anti join that knows of NULL |
| `x < (SELECT agg(...) FROM ... WHERE column = outer.column)`, the same in the target list | aggregation by the columns, joined; without an aggregate a second row is an error |
| subqueries over the elements of the row's own arrays and documents, as `(SELECT max(x) FROM unnest(outer.list) x)`; [what these may be](documents.md#a-row-for-each-element) | aggregates of each row's list, without a join |
| subqueries in `FROM`, views, `WITH`; `UNION`, `INTERSECT`, `EXCEPT`, also with `ALL` | part of the plan |
| `SELECT DISTINCT ON (...)` whose `ORDER BY` goes on after the keys | the first row of each partition |
| `FETCH FIRST n ROWS WITH TIES` | the rows whose rank is up to n; n and an `OFFSET` are known when the query starts |
| `LATERAL (SELECT ... WHERE column = outer.column)`, also with `at <= outer.at` and the like, beside it or alone | aggregation by the columns, joined; with `LIMIT` the first rows of each partition, joined; with `ORDER BY at DESC LIMIT 1` an as-of join, which finds the nearest row |
| subqueries in the target list of a query with `LIMIT`, or of a view or subquery in `FROM` below it | joined with the rows that are left, if that costs less than running them for each one |
| `LATERAL (VALUES (a), (b))`, columns as rows | up to 16 projections of the same rows |
| `WITH` that is read several times, or `MATERIALIZED`, and ends in an aggregation, a window or `ORDER BY`; equal subqueries in `FROM`, also of views | computed once for all of its readers in the plan (`EXPLAIN`: "computed once, above"), without rows that no reader's conditions let through; for each reader where filters of its joins leave little to compute |
| `WITH RECURSIVE`, `UNION` and `UNION ALL`, whose recursive term joins its own rows with tables, subqueries and `VALUES`: graphs, hierarchies, bills of material, series, `SEARCH`, `CYCLE` | in iterations; what the rows are joined with is built once. What starts it may be PostgreSQL's, as the row that a key finds |
| `TABLESAMPLE BERNOULLI (p)` and `SYSTEM (p)`, also with `REPEATABLE`; p and the seed are constants or parameters of a plan that is made for them | a scan of PostgreSQL's sample, which hashes of the rows' places decide |
| `VALUES`, functions, other `WITH ... AS MATERIALIZED`, other `WITH RECURSIVE` whose rows are all read, subqueries with what is not on this page, tables that are not cached or cannot be | computed by PostgreSQL, joined in vectors; nothing volatile |

Beside an equality with a column of the outer query a subquery may have other conditions of such columns, as
`day < outer.day`. Subqueries that stay PostgreSQL's, as those without such an equality, run once for each value of the
query around them, below its `Memoize` node.

A recursion that begins with few rows looks cheap, however far it gets: PostgreSQL's planner knows neither its rows nor
its iterations. So where an index serves the recursive term, and all rows are read, PostgreSQL's plan runs first. When
its rows have cost about as much as the engine's work, the engine computes all anew (`EXPLAIN`: "Ordinary Plan First").
PostgreSQL computes recursive terms with set operations, window functions, `DISTINCT` or `GROUP BY`, with functions of
arrays that it carries along, and without a table in the query.

When `HAVING` is all that tells which groups `LIMIT` wants, and an index has them in the order of `ORDER BY`,
PostgreSQL's plan runs first likewise: the groups may be the first ones, or none.

The rows of the smaller side filter the scan of the larger one, before its columns are decoded. Which side is smaller is
estimated; a join that finds otherwise starts anew the other way round (`EXPLAIN ANALYZE`: "Sides Swapped"). Memory is
bounded by `work_mem` times `hash_mem_multiplier`, for each thread; past it both sides go to disk by partitions.
"""

REFUSED = """
## Known refusals

Reasons that functions give besides "(function) on (types)":

{reasons}

Reasons that depend on collations and on the shape of the query are in the [README](../README.md#limits-of-penumbra).
"""


def as_in_sql(line: str) -> str:
    """With the types of PostgreSQL that the engine has in other ones."""
    kind, *fields = line.split("\t")
    if kind == "aggregate" and fields[0] in OF_BITS:
        return line.replace("text", "bit")
    if kind in ("function", "field") and (fields[0] in OF_TIMES or BESIDE_TIMES & set(fields)):
        return line.replace("bigint", "time")
    if kind != "function" or fields[0] not in SIGNATURES_OF_BYTES:
        return line
    return "\t".join([kind, *fields[:2], *SIGNATURES_OF_BYTES[fields[0]]])


def of_another(line: str, name: str) -> str:
    """The line with the type in place of the one that is only compared."""
    return "\t".join(re.sub(f"^(constant )?{COMPARED}$", rf"\g<1>{name}", field) for field in line.split("\t"))


def with_images(lines: list[str]) -> list[str]:
    """With the types that the adapter has images of, of which the page has a list."""
    rows = set(re.findall(r"^\t\{(\w+OID), \{PENUMBRA_\w+", VALUE_IMAGES.read_text(), re.M))
    if rows != ENGINES_OWN | set(IMAGES):
        raise SystemExit(f"{VALUE_IMAGES.name} has other types than {Path(__file__).name}: {rows ^ (ENGINES_OWN | set(IMAGES))}")
    made: list[str] = []
    for line in lines:
        made.append(line)
        kind, *fields = line.split("\t")
        is_cast = kind == "function" and fields[0] == "CAST"
        if kind == "refused" or is_cast or not {COMPARED, f"constant {COMPARED}"} & set(fields):
            continue
        for name in [*IMAGES.values(), ENUM]:
            if not (kind == "aggregate" and fields[0] in ("min", "max") and name in WITHOUT_EXTREMES):
                made.append(of_another(line, name))
        if not ORDERING.fullmatch(fields[0]):
            made.append(of_another(line, OTHER))
    return made + list(OF_BYTES)


def family(types: frozenset[str], all_types: list[str]) -> str:
    if types == frozenset(all_types):
        return "any type"
    for members in sorted(FAMILIES, key=len, reverse=True):
        if members == types:
            return FAMILIES[members]
    names, rest = [], set(types)
    for members in sorted(FAMILIES, key=len, reverse=True):
        if members < rest and FAMILIES[members] in ("int", "float"):
            names.append(FAMILIES[members])
            rest -= members
    known = [*all_types, *(f"constant {t}" for t in all_types), *OTHER_TYPES]
    return " or ".join(names + [t for t in known if t in rest])


def products(signatures: list[tuple[str, ...]]) -> list[tuple[frozenset[str], ...]]:
    """The signatures as products of sets of types, position by position."""
    merged = [tuple(frozenset({t}) for t in signature) for signature in signatures]
    for position in reversed(range(len(signatures[0]))):
        by_rest = defaultdict(frozenset)
        for product in merged:
            by_rest[(product[:position], product[position + 1 :])] |= product[position]
        merged = [(*before, types, *after) for (before, after), types in by_rest.items()]
    return merged


def shown_signatures(by_result: dict[str, list[tuple[str, ...]]], all_types: list[str]) -> str:
    """Signatures that differ only in the type of the result become one, with x for that type."""
    patterns = defaultdict(list)
    for result, signatures in by_result.items():
        for signature in signatures:
            patterns[tuple("x" if t == result else t for t in signature)].append(result)
    shared = {pattern for pattern, results in patterns.items() if len(results) > 1 and "x" in pattern}
    parts = []
    for pattern in shared:
        of = family(frozenset(patterns[pattern]), all_types)
        parts.append(f"(x) → x: {of}" if pattern == ("x",) else f"({', '.join(pattern)}) → x, x: {of}")
    for result, signatures in by_result.items():
        by_count = defaultdict(list)
        for signature in signatures:
            if tuple("x" if t == result else t for t in signature) not in shared:
                by_count[len(signature)].append(signature)
        for listed in by_count.values():
            merged = products(listed) if listed[0] else [()]
            singles = [p for p in merged if len(p) > 1 and len(set(p)) == 1 and len(p[0]) == 1]
            if len(singles) > 1:
                of = family(frozenset(t for p in singles for t in p[0]), all_types)
                parts.append(f"({', '.join('x' * len(singles[0]))}) → {result}, x: {of}")
                merged = [p for p in merged if p not in singles]
            for product in merged:
                arguments = ", ".join(family(types, all_types) for types in product)
                parts.append(f"({arguments}) → {result}")
    return "; ".join(sorted(parts, key=lambda part: (part.count(","), part)))


def page(lines: list[str]) -> str:
    functions: dict[str, tuple[str, dict]] = {}
    aggregates: dict[str, dict] = {}
    fields: dict[tuple[str, str], list[str]] = defaultdict(list)
    reasons: dict[str, None] = {}
    types: dict[str, None] = {}
    for line in lines:
        kind, *rest = line.split("\t")
        if kind == "type":
            types[rest[0]] = None
        elif kind == "function":
            identifier, name, result, *arguments = rest
            if identifier in ANY_NUMBER and len(arguments) != 2 or identifier == "CASE" and len(arguments) < 2:
                continue
            signatures = functions.setdefault(identifier, (name, defaultdict(list)))[1]
            signatures[result].append(tuple(arguments))
        elif kind == "aggregate":
            name, result, *arguments = rest
            if (name, tuple(arguments)) in NOT_IN_SQL:
                continue
            aggregates.setdefault(name, defaultdict(list))[result].append(tuple(arguments))
        elif kind == "field":
            identifier, of, field = rest
            if of != "text" and field not in fields[(identifier, of)]:
                fields[(identifier, of)].append(field)
        elif kind == "refused" and not SHOWN_ABOVE.search(rest[1]):
            reasons[rest[1]] = None
    all_types = list(types)
    images = [f"`{t}`" for t in IMAGES.values()]
    text = HEAD.format(types=fill(", ".join(f"`{t}`" for t in all_types), 120),
                       images=fill(", ".join([*images, "enums"]), 120))  # fmt: skip
    for identifier, (name, by_result) in functions.items():
        written = WRITTEN.get(identifier, f"`{name}`").replace("|", "\\|")
        text += f"| {written} | {shown_signatures(by_result, all_types)} |\n"
    text += FIELDS_HEAD
    for (identifier, of), listed in fields.items():
        text += f"| `{functions[identifier][0]}` | {of} | {', '.join(listed)} |\n"
    text += AGGREGATES_HEAD
    for name, by_result in aggregates.items():
        names = ", ".join(f"`{n}`" for n in [name, *ALIASES.get(name, [])])
        names = ORDERED_SET.get(name, names)
        text += f"| {names} | {shown_signatures(by_result, all_types)} |\n"
    return text + COLLECTING + WINDOWS + JOINS + REFUSED.format(reasons="\n".join(f"* {reason}" for reason in sorted(reasons)))


def function_oids() -> dict[str, int]:
    """Of the macros of utils/fmgroids.h, and of those that have another name there: an OID is the same in all versions."""
    pg_config = os.environ.get("PG_CONFIG") or f"/usr/lib/postgresql/{os.environ['PG_MAJOR']}/bin/pg_config"
    directory = run([pg_config, "--includedir-server"], check=True, capture_output=True, text=True).stdout.strip()
    header = (Path(directory) / "utils/fmgroids.h").read_text()
    oids = {name: int(oid) for name, oid in re.findall(r"^#define (F_\w+) (\d+)$", header, re.M)}
    renamed = re.findall(r"^#define (F_\w+) (F_\w+)$", COMPAT.read_text(), re.M)
    return {name: oids[other] for name, other in renamed if other in oids} | oids


def table(lines: list[str]) -> str:
    types: list[str] = []
    collations: dict[str, str] = {}
    functions: dict[str, list[str]] = defaultdict(list)
    fields: dict[str, list[str]] = defaultdict(list)
    aggregates: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        kind, *rest = line.split("\t")
        if kind == "type":
            types += rest
        elif kind == "collation" and rest[1] != "NONE":
            collations[rest[0]] = rest[1]
        elif kind == "function":
            functions[rest[0]].append(", ".join((*rest[3:], rest[2])))
        elif kind == "field" and rest[1] != "text" and rest[2] not in fields[f"{rest[0]} {rest[1]}"]:
            fields[f"{rest[0]} {rest[1]}"].append(rest[2])
        elif kind == "aggregate" and (rest[0], tuple(rest[2:])) not in NOT_IN_SQL:
            aggregates[rest[0]].append(", ".join((*rest[2:], rest[1])))
    oids = function_oids()
    rows = re.findall(r"^\t\{(F_\w+), PENUMBRA_FN_(\w+), SHAPE_(\w+)\},$", FUNCTION_MAP.read_text(), re.M)
    aliases = {other: name for name, others in ALIASES.items() for other in others}
    # those that the file lets in, not those that it keeps out
    lets_in = re.sub(r"^looks_at_setting\(.*?^}", "", CACHEABLE.read_text(), flags=re.M | re.S)
    inside = re.findall(r"^\t\tcase (F_\w+):$", lets_in, re.M)
    made = {
        "types": types, "collations": collations, "functions": functions, "fields": fields, "aggregates": aggregates,
        "aliases": aliases, "oids": {str(oids[name]): [function, shape] for name, function, shape in rows},
        "inside": [oids[name] for name in inside],
    }  # fmt: skip
    entries = (f"{json.dumps(key)}: {_lines(value)}" for key, value in made.items())
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _lines(value: list | dict) -> str:
    """A line for each entry, so that changes show."""
    if isinstance(value, list):
        return json.dumps(value)
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {json.dumps(entry)}" for key, entry in value.items()) + "\n}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="fail if what is in the tree is another")
    options = parser.parse_args()
    lines = [as_in_sql(line) for line in run([PRINT_TABLES], check=True, capture_output=True, text=True).stdout.splitlines()]
    lines += OF_MANY
    made = {PAGE: page(lines), TABLE: table(with_images(lines))}
    if not options.check:
        for path, text in made.items():
            path.write_text(text)
        return 0

    def differences(path: Path) -> list[str]:
        is_same = path.exists() and path.read_text() == made[path]
        return [] if is_same else [f"{path.relative_to(TREE)}: run make vectors-page"]

    return run_checks({f"{path.relative_to(TREE)} is what the engine takes": lambda path=path: differences(path)
                       for path in made})  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
