/*
 * The functions and aggregates of the engine. A function is chosen by its name here, the types of
 * its arguments and its result type; the semantics are those of PostgreSQL's function or operator of
 * that name and those types, NULLs and errors included. This is the one list: the adapter maps
 * PostgreSQL's functions onto it, the engine's registry implements it, tests walk it.
 */
#ifndef PENUMBRA_FUNCTIONS_H
#define PENUMBRA_FUNCTIONS_H

/* What a function must know of the collation of its text. */
typedef enum PenumbraCollationUse {
  PENUMBRA_COLLATION_NONE,     /* any collation, nondeterministic ones too, gives the same */
  PENUMBRA_COLLATION_EQUALITY, /* that equality is bytewise; also where there is no text */
  PENUMBRA_COLLATION_ORDER,
  PENUMBRA_COLLATION_LETTERS /* which letters are lower and upper case */
} PenumbraCollationUse;

/*
 * PENUMBRA_FUNCTION_LIST(X): X(enumerator, name in EXPLAIN and errors, collation, scale). The last is the engine's
 * (numeric_traits.h): what is known of the display scale of a NUMERIC result. For which types there is a function, and
 * whether it can fail, the engine says when it is called (registry.h); docs/vectors.md shows the answers.
 */
/* clang-format off */
#define PENUMBRA_FUNCTION_LIST(X) \
  /* comparison: both arguments of one type, or any of int2/4/8, or float4/8 mixed */ \
  X(EQ, "=", EQUALITY, kUnknown) X(NE, "<>", EQUALITY, kUnknown) X(LT, "<", ORDER, kUnknown) \
  X(LE, "<=", ORDER, kUnknown) X(GT, ">", ORDER, kUnknown) X(GE, ">=", ORDER, kUnknown) \
  X(IS_DISTINCT, "IS DISTINCT FROM", EQUALITY, kUnknown) \
  X(IS_NOT_DISTINCT, "IS NOT DISTINCT FROM", EQUALITY, kUnknown) \
  /* IN_LIST(x, c1, c2, ...): x = ANY(constants, or lists of them); NULL elements follow SQL; NOT_IN_LIST: <> ALL */ \
  X(IN_LIST, "IN", EQUALITY, kUnknown) X(NOT_IN_LIST, "NOT IN", EQUALITY, kUnknown) \
  /* logic; AND and OR take any number of arguments and evaluate left to right, lazily */ \
  X(AND, "AND", EQUALITY, kUnknown) X(OR, "OR", EQUALITY, kUnknown) X(NOT, "NOT", EQUALITY, kUnknown) \
  X(IS_NULL, "IS NULL", EQUALITY, kUnknown) X(IS_NOT_NULL, "IS NOT NULL", EQUALITY, kUnknown) \
  X(IS_TRUE, "IS TRUE", EQUALITY, kUnknown) X(IS_NOT_TRUE, "IS NOT TRUE", EQUALITY, kUnknown) \
  X(IS_FALSE, "IS FALSE", EQUALITY, kUnknown) X(IS_NOT_FALSE, "IS NOT FALSE", EQUALITY, kUnknown) \
  /* CASE(cond1, value1, ..., else): lazy; COALESCE, GREATEST, LEAST: any number; NULLIF(a, b) */ \
  X(CASE, "CASE", EQUALITY, kChoice) X(COALESCE, "COALESCE", EQUALITY, kChoice) \
  X(NULLIF, "NULLIF", EQUALITY, kFirst) X(GREATEST, "GREATEST", ORDER, kUnknown) X(LEAST, "LEAST", ORDER, kUnknown) \
  /* arithmetic on int2/4/8 (mixed), float4/8 (mixed), numeric, and what PostgreSQL has on dates and times */ \
  X(ADD, "+", EQUALITY, kSum) X(SUB, "-", EQUALITY, kSum) X(MUL, "*", EQUALITY, kProduct) \
  X(DIV, "/", EQUALITY, kQuotient) X(MOD, "%", EQUALITY, kRemainder) X(NEG, "-", EQUALITY, kSame) \
  X(ABS, "abs", EQUALITY, kSame) X(SIGN, "sign", EQUALITY, kUnknown) X(ROUND, "round", EQUALITY, kRounded) \
  X(TRUNC, "trunc", EQUALITY, kRounded) X(FLOOR, "floor", EQUALITY, kRounded) X(CEIL, "ceil", EQUALITY, kRounded) \
  X(SQRT, "sqrt", EQUALITY, kUnknown) X(POWER, "power", EQUALITY, kUnknown) X(EXP, "exp", EQUALITY, kUnknown) \
  X(LN, "ln", EQUALITY, kUnknown) \
  /* float8 */ \
  X(CBRT, "cbrt", EQUALITY, kUnknown) X(LOG10, "log10", EQUALITY, kUnknown) X(SIN, "sin", EQUALITY, kUnknown) \
  X(COS, "cos", EQUALITY, kUnknown) X(TAN, "tan", EQUALITY, kUnknown) X(COT, "cot", EQUALITY, kUnknown) \
  X(ASIN, "asin", EQUALITY, kUnknown) X(ACOS, "acos", EQUALITY, kUnknown) X(ATAN, "atan", EQUALITY, kUnknown) \
  X(ATAN2, "atan2", EQUALITY, kUnknown) X(SINH, "sinh", EQUALITY, kUnknown) X(COSH, "cosh", EQUALITY, kUnknown) \
  X(TANH, "tanh", EQUALITY, kUnknown) X(ASINH, "asinh", EQUALITY, kUnknown) X(ACOSH, "acosh", EQUALITY, kUnknown) \
  X(ATANH, "atanh", EQUALITY, kUnknown) X(DEGREES, "degrees", EQUALITY, kUnknown) \
  X(RADIANS, "radians", EQUALITY, kUnknown) \
  /* integers of one type; a shift's second argument is int4 */ \
  X(BIT_AND, "&", EQUALITY, kUnknown) X(BIT_OR, "|", EQUALITY, kUnknown) X(BIT_XOR, "#", EQUALITY, kUnknown) \
  X(BIT_NOT, "~", EQUALITY, kUnknown) X(SHIFT_LEFT, "<<", EQUALITY, kUnknown) X(SHIFT_RIGHT, ">>", EQUALITY, kUnknown) \
  /* CAST(x): to the result type; of dates, instants and intervals to text in the DateStyle ISO and the IntervalStyle \
     postgres. *_TYPMOD: NUMERIC_TYPMOD(x, precision int4, scale int4); \
     VARCHAR_TYPMOD/BPCHAR_TYPMOD(x, max_chars int4, is_explicit bool); COMPARED_AS(x): the timestamp or \
     timestamptz that stands for x in comparisons, where what is beyond the timestamps is later (earlier) than any */ \
  X(CAST, "cast", EQUALITY, kInteger) X(COMPARED_AS, "cast", EQUALITY, kUnknown) \
  X(NUMERIC_TYPMOD, "numeric()", EQUALITY, kDeclared) \
  X(VARCHAR_TYPMOD, "varchar()", EQUALITY, kUnknown) X(BPCHAR_TYPMOD, "char()", EQUALITY, kUnknown) \
  /* text; LIKE family: (text or bpchar, pattern text); the escape is backslash */ \
  X(LIKE, "LIKE", EQUALITY, kUnknown) X(NOT_LIKE, "NOT LIKE", EQUALITY, kUnknown) \
  X(ILIKE, "ILIKE", LETTERS, kUnknown) X(NOT_ILIKE, "NOT ILIKE", LETTERS, kUnknown) \
  /* (text or bpchar, automata of a regular expression: penumbra/regex.h) */ \
  X(REGEX_MATCHES, "~", EQUALITY, kUnknown) X(REGEX_MATCHES_NOT, "!~", EQUALITY, kUnknown) \
  /* REGEX_REPLACE(text, automata, replacement, is_global bool constant) */ \
  X(REGEX_SUBSTRING, "regexp_substr", EQUALITY, kUnknown) X(REGEX_REPLACE, "regexp_replace", EQUALITY, kUnknown) \
  X(REGEX_COUNT, "regexp_count", EQUALITY, kUnknown) X(REGEX_INSTR, "regexp_instr", EQUALITY, kUnknown) \
  X(STARTS_WITH, "starts_with", EQUALITY, kUnknown) X(LENGTH, "length", NONE, kUnknown) \
  X(OCTET_LENGTH, "octet_length", EQUALITY, kUnknown) X(ASCII, "ascii", NONE, kUnknown) \
  X(LOWER, "lower", LETTERS, kUnknown) \
  X(UPPER, "upper", LETTERS, kUnknown) X(INITCAP, "initcap", LETTERS, kUnknown) \
  X(SUBSTRING, "substring", NONE, kUnknown) X(LEFT, "left", NONE, kUnknown) X(RIGHT, "right", NONE, kUnknown) \
  X(CONCAT, "||", NONE, kUnknown) X(POSITION, "position", EQUALITY, kUnknown) X(BTRIM, "btrim", EQUALITY, kUnknown) \
  X(LTRIM, "ltrim", EQUALITY, kUnknown) X(RTRIM, "rtrim", EQUALITY, kUnknown) \
  X(REPLACE, "replace", EQUALITY, kUnknown) X(REVERSE, "reverse", EQUALITY, kUnknown) \
  X(SPLIT_PART, "split_part", EQUALITY, kUnknown) X(LPAD, "lpad", NONE, kUnknown) X(RPAD, "rpad", NONE, kUnknown) \
  X(REPEAT, "repeat", NONE, kUnknown) X(TRANSLATE, "translate", NONE, kUnknown) \
  /* TO_CHAR(number, format text constant) */ \
  X(TO_CHAR, "to_char", NONE, kUnknown) \
  /* bytea is text here; BYTEA(text) is the cast; ENCODE and DECODE(x, format text constant) */ \
  X(MD5, "md5", NONE, kUnknown) X(SHA256, "sha256", NONE, kUnknown) X(ENCODE, "encode", NONE, kUnknown) \
  X(DECODE, "decode", NONE, kUnknown) X(BYTEA, "cast", NONE, kUnknown) \
  /* a time of day is int8, microseconds, and in the places of PostgreSQL's time */ \
  /* dates: EXTRACT(field text constant, x) -> numeric; DATE_PART -> float8; DATE_TRUNC(field, x) */ \
  X(EXTRACT, "extract", EQUALITY, kUnknown) X(DATE_PART, "date_part", EQUALITY, kUnknown) \
  X(DATE_TRUNC, "date_trunc", EQUALITY, kUnknown) \
  /* TIME_OF_DAY(timestamp or timestamptz) -> int8; TIMESTAMP_TYPMOD(x, digits of a second int4) */ \
  X(TIME_OF_DAY, "time", EQUALITY, kUnknown) X(TIMESTAMP_TYPMOD, "timestamp()", EQUALITY, kUnknown) \
  /* AT_ZONE(timestamp or timestamptz, zone text: PenumbraZoneHeader) -> the other; \
     DATE_TRUNC(field, timestamptz, zone) */ \
  X(AT_ZONE, "AT TIME ZONE", EQUALITY, kUnknown) \
  /* (seconds since 1970 float8) -> timestamptz */ \
  X(TO_TIMESTAMP, "to_timestamp", EQUALITY, kUnknown) \
  /* DATE_BIN(stride interval constant, x, origin); MAKE_DATE(year, month, day); MAKE_TIMESTAMP(these, hour, minute, \
     seconds float8); MAKE_INTERVAL(years, months, weeks, days, hours, minutes, seconds float8) */ \
  X(DATE_BIN, "date_bin", EQUALITY, kUnknown) X(MAKE_DATE, "make_date", EQUALITY, kUnknown) \
  X(MAKE_TIMESTAMP, "make_timestamp", EQUALITY, kUnknown) X(MAKE_INTERVAL, "make_interval", EQUALITY, kUnknown) \
  /* INTERVAL_TYPMOD(x, PostgreSQL's typmod int4 constant) */ \
  X(INTERVAL_TYPMOD, "interval()", EQUALITY, kUnknown) \
  X(AGE, "age", EQUALITY, kUnknown) \
  X(JUSTIFY_HOURS, "justify_hours", EQUALITY, kUnknown) X(JUSTIFY_DAYS, "justify_days", EQUALITY, kUnknown) \
  X(JUSTIFY_INTERVAL, "justify_interval", EQUALITY, kUnknown) \
  /* WIDTH_BUCKET(float8 or numeric, low constant, high constant, count int4 constant) -> int4 */ \
  X(WIDTH_BUCKET, "width_bucket", EQUALITY, kUnknown) \
  /* OVERLAPS(a, b, c, d) of one type, timestamp or timestamptz */ \
  X(OVERLAPS, "overlaps", EQUALITY, kUnknown) \
  /* of ranges and multiranges a, b, or values as those ranges have; the last argument is a PenumbraRangeForm, an \
     int4 constant; the last of these gives a range, and takes ranges of integers alone */ \
  X(RANGE_CONTAINS, "@>", NONE, kUnknown) X(RANGE_OVERLAPS, "&&", NONE, kUnknown) X(RANGE_BEFORE, "<<", NONE, kUnknown) \
  X(RANGE_OVERLEFT, "&<", NONE, kUnknown) X(RANGE_OVERRIGHT, "&>", NONE, kUnknown) \
  X(RANGE_ADJACENT, "-|-", NONE, kUnknown) X(RANGE_INTERSECT, "*", NONE, kUnknown) \
  /* of one, with its form; LOWER and UPPER are integers, of numerics and values of these as INT8 a number of the \
     bound's place: in their order, one number for some that differ, NULL of an empty range */ \
  X(RANGE_LOWER, "lower", NONE, kUnknown) X(RANGE_UPPER, "upper", NONE, kUnknown) \
  X(RANGE_IS_EMPTY, "isempty", NONE, kUnknown) \
  X(RANGE_LOWER_INC, "lower_inc", NONE, kUnknown) X(RANGE_UPPER_INC, "upper_inc", NONE, kUnknown) \
  X(RANGE_LOWER_INF, "lower_inf", NONE, kUnknown) X(RANGE_UPPER_INF, "upper_inf", NONE, kUnknown)

typedef enum PenumbraFunction {
#define PENUMBRA_FUNCTION_ENUM(id, name, collation, scale) PENUMBRA_FN_##id,
  PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_ENUM)
#undef PENUMBRA_FUNCTION_ENUM
  PENUMBRA_FN_COUNT_OF
} PenumbraFunction;
/* clang-format on */

/*
 * PENUMBRA_AGGREGATE_LIST(X): X(enumerator, name in SQL, types, state, needs). The last three are the engine's
 * (aggregate_accumulator.h): the rule by which argument types give PostgreSQL's result type, whose state serves the
 * aggregate, and what it needs of its rows.
 */
/* clang-format off */
#define PENUMBRA_AGGREGATE_LIST(X) \
  X(COUNT_STAR, "count(*)", Rows, Count, kCount) X(COUNT, "count", Any, Count, kCount) \
  X(SUM, "sum", Sum, Sum, kValues) X(AVG, "avg", Average, Average, kValues) \
  X(MIN, "min", Extreme, Least, kLeast) X(MAX, "max", Extreme, Greatest, kGreatest) \
  X(STDDEV_POP, "stddev_pop", Spread, Spread, kValues) X(STDDEV_SAMP, "stddev_samp", Spread, Spread, kValues) \
  X(VAR_POP, "var_pop", Spread, Spread, kValues) X(VAR_SAMP, "var_samp", Spread, Spread, kValues) \
  X(BOOL_AND, "bool_and", Boolean, Least, kLeast) X(BOOL_OR, "bool_or", Boolean, Greatest, kGreatest) \
  X(BIT_AND, "bit_and", Bits, BitAnd, kValues) X(BIT_OR, "bit_or", Bits, BitOr, kValues) \
  X(BIT_XOR, "bit_xor", Bits, BitXor, kValues) \
  /* of the values in order: PenumbraAggregateCall.fractions, .descending */ \
  X(PERCENTILE_CONT, "percentile_cont", Continuous, Ordered, kValues) \
  X(PERCENTILE_DISC, "percentile_disc", Ordered, Ordered, kValues) X(MODE, "mode", Ordered, Ordered, kValues) \
  /* of rows in order: PenumbraAggregateCall.order */ \
  X(STRING_AGG, "string_agg", JoinedText, JoinedText, kRows) X(ARRAY_AGG, "array_agg", Array, Array, kRows) \
  X(JSON_AGG, "json_agg", GroupRows, Array, kRows) /* PenumbraGroupRows, of which the caller makes the value */ \
  X(FIRST, "first", First, Array, kRows) /* the argument of the first row, also if it is null; no aggregate of SQL */ \
  /* of (y, x), as in the standard */ \
  X(CORR, "corr", Pair, Regression, kValues) \
  X(COVAR_POP, "covar_pop", Pair, Regression, kValues) X(COVAR_SAMP, "covar_samp", Pair, Regression, kValues) \
  X(REGR_COUNT, "regr_count", PairCount, Count, kCount) \
  X(REGR_SLOPE, "regr_slope", Pair, Regression, kValues) \
  X(REGR_INTERCEPT, "regr_intercept", Pair, Regression, kValues) X(REGR_R2, "regr_r2", Pair, Regression, kValues) \
  X(REGR_AVGX, "regr_avgx", Pair, Regression, kValues) X(REGR_AVGY, "regr_avgy", Pair, Regression, kValues) \
  X(REGR_SXX, "regr_sxx", Pair, Regression, kValues) X(REGR_SYY, "regr_syy", Pair, Regression, kValues) \
  X(REGR_SXY, "regr_sxy", Pair, Regression, kValues)

typedef enum PenumbraAggregate {
#define PENUMBRA_AGGREGATE_ENUM(id, name, types, state, needs) PENUMBRA_AGG_##id,
  PENUMBRA_AGGREGATE_LIST(PENUMBRA_AGGREGATE_ENUM)
#undef PENUMBRA_AGGREGATE_ENUM
  PENUMBRA_AGG_COUNT_OF
} PenumbraAggregate;
/* clang-format on */

#endif
