/*
 * The functions and aggregates of the engine. A function is chosen by its name here, the types of
 * its arguments and its result type; the semantics are those of PostgreSQL's function or operator of
 * that name and those types, NULLs and errors included. This is the one list: the adapter maps
 * PostgreSQL's functions onto it, the engine's registry implements it, tests walk it.
 */
#ifndef PENUMBRA_FUNCTIONS_H
#define PENUMBRA_FUNCTIONS_H

/* PENUMBRA_FUNCTION_LIST(X): X(enumerator, name in EXPLAIN and errors) */
#define PENUMBRA_FUNCTION_LIST(X) \
  /* comparison: both arguments of one type, or any of int2/4/8, or float4/8 mixed */ \
  X(EQ, "=") X(NE, "<>") X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=") \
  X(IS_DISTINCT, "IS DISTINCT FROM") X(IS_NOT_DISTINCT, "IS NOT DISTINCT FROM") \
  /* IN_LIST(x, c1, c2, ...): x = ANY(array of constants); NULL elements follow SQL; NOT_IN_LIST: <> ALL */ \
  X(IN_LIST, "IN") X(NOT_IN_LIST, "NOT IN") \
  /* logic; AND and OR take any number of arguments and evaluate left to right, lazily */ \
  X(AND, "AND") X(OR, "OR") X(NOT, "NOT") \
  X(IS_NULL, "IS NULL") X(IS_NOT_NULL, "IS NOT NULL") \
  X(IS_TRUE, "IS TRUE") X(IS_NOT_TRUE, "IS NOT TRUE") X(IS_FALSE, "IS FALSE") X(IS_NOT_FALSE, "IS NOT FALSE") \
  /* CASE(cond1, value1, ..., else): lazy; COALESCE, GREATEST, LEAST: any number; NULLIF(a, b) */ \
  X(CASE, "CASE") X(COALESCE, "COALESCE") X(NULLIF, "NULLIF") X(GREATEST, "GREATEST") X(LEAST, "LEAST") \
  /* arithmetic on int2/4/8 (mixed), float4/8 (mixed), numeric, and dates, timestamps, intervals as PostgreSQL has it */ \
  X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%") X(NEG, "-") X(ABS, "abs") X(SIGN, "sign") \
  X(ROUND, "round") X(TRUNC, "trunc") X(FLOOR, "floor") X(CEIL, "ceil") \
  X(SQRT, "sqrt") X(POWER, "power") X(EXP, "exp") X(LN, "ln") \
  /* CAST(x): to the result type. *_TYPMOD: NUMERIC_TYPMOD(x, precision int4, scale int4); \
     VARCHAR_TYPMOD/BPCHAR_TYPMOD(x, max_chars int4, is_explicit bool); COMPARED_AS(date): the timestamp that stands \
     for it in comparisons, where a date beyond the timestamps is later than any */ \
  X(CAST, "cast") X(COMPARED_AS, "cast") X(NUMERIC_TYPMOD, "numeric()") X(VARCHAR_TYPMOD, "varchar()") X(BPCHAR_TYPMOD, "char()") \
  /* text; LIKE family: (text or bpchar, pattern text); the escape is backslash */ \
  X(LIKE, "LIKE") X(NOT_LIKE, "NOT LIKE") X(ILIKE, "ILIKE") X(NOT_ILIKE, "NOT ILIKE") \
  X(STARTS_WITH, "starts_with") X(LENGTH, "length") X(OCTET_LENGTH, "octet_length") \
  X(LOWER, "lower") X(UPPER, "upper") X(INITCAP, "initcap") X(SUBSTRING, "substring") X(LEFT, "left") X(RIGHT, "right") \
  X(CONCAT, "||") X(POSITION, "position") X(BTRIM, "btrim") X(LTRIM, "ltrim") X(RTRIM, "rtrim") \
  X(REPLACE, "replace") X(REVERSE, "reverse") \
  /* dates: EXTRACT(field text constant, x) -> numeric; DATE_PART -> float8; DATE_TRUNC(field, x) */ \
  X(EXTRACT, "extract") X(DATE_PART, "date_part") X(DATE_TRUNC, "date_trunc")

typedef enum PenumbraFunction {
#define PENUMBRA_FUNCTION_ENUM(id, name) PENUMBRA_FN_##id,
  PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_ENUM)
#undef PENUMBRA_FUNCTION_ENUM
  PENUMBRA_FN_COUNT_OF
} PenumbraFunction;

/*
 * PENUMBRA_AGGREGATE_LIST(X): X(enumerator, name in SQL, types, state, needs). The last three are the engine's
 * (aggregate_accumulator.h): the rule by which argument types give PostgreSQL's result type, whose state serves the
 * aggregate, and what it needs of its rows.
 */
#define PENUMBRA_AGGREGATE_LIST(X) \
  X(COUNT_STAR, "count(*)", Rows, Count, kCount) X(COUNT, "count", Any, Count, kCount) \
  X(SUM, "sum", Sum, Sum, kValues) X(AVG, "avg", Average, Average, kValues) \
  X(MIN, "min", Extreme, Least, kLeast) X(MAX, "max", Extreme, Greatest, kGreatest) \
  X(STDDEV_POP, "stddev_pop", Spread, Spread, kValues) X(STDDEV_SAMP, "stddev_samp", Spread, Spread, kValues) \
  X(VAR_POP, "var_pop", Spread, Spread, kValues) X(VAR_SAMP, "var_samp", Spread, Spread, kValues) \
  X(BOOL_AND, "bool_and", Boolean, Least, kLeast) X(BOOL_OR, "bool_or", Boolean, Greatest, kGreatest) \
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

#endif
