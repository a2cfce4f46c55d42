/*
 * The vectorised query engine, seen by an adapter: plain C, opaque handles.
 *
 * Life cycle:
 *   plan:     penumbra_plan_create -> add operators -> finish -> (immutable) -> penumbra_plan_destroy
 *   rows:     a columnar buffer that an adapter fills from its row store
 *   segment:  one column of a chunk of rows, encoded; bytes without pointers, immutable
 *   exec:     penumbra_exec_create -> add chunks -> start -> push chunks and rows / fetch -> destroy
 *
 * No function throws or longjmps, and none calls back but for functions of the host's (penumbra_plan_host_call()). A
 * function returning PenumbraStatus leaves its object
 * destroyable after an error. Handles are not thread-safe: one thread calls, the engine's own
 * threads are invisible. Callers keep the memory of chunks alive and unchanged until
 * penumbra_exec_destroy() has returned, or penumbra_exec_finished_chunks() says that a pushed one is finished.
 */
#ifndef PENUMBRA_ENGINE_H
#define PENUMBRA_ENGINE_H

#include <signal.h>

#include "penumbra/functions.h"
#include "penumbra/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- rows ---------------------- */

/* A growing columnar copy of rows: what a loader encodes, and how heap rows enter a query. */
typedef struct PenumbraRows PenumbraRows;

PenumbraRows *penumbra_rows_create(const PenumbraType *types, int column_count);
/* Copies row_count rows; columns[i] belongs to types[i]. */
PenumbraStatus penumbra_rows_append(PenumbraRows *rows, const PenumbraColumnInput *columns, uint32_t row_count);
/* Rows [begin, end) of segments that were encoded from such rows; segments[i] belongs to types[i]. */
PenumbraStatus penumbra_rows_append_segments(PenumbraRows *rows, const void *const *segments, uint32_t begin,
                                             uint32_t end);
uint32_t penumbra_rows_count(const PenumbraRows *rows);
size_t penumbra_rows_bytes(const PenumbraRows *rows);
void penumbra_rows_clear(PenumbraRows *rows); /* keeps memory for the next rows, but not of large values */
void penumbra_rows_destroy(PenumbraRows *rows);

/* ---------------------------------------------------------------- tuples -------------------- */

/*
 * Rows as a row store keeps them, for engine threads to take apart: a header with flags, a count of attributes, a
 * bitmap that says by attribute whether there is a value (bit 1), and where the values begin, as an offset of one
 * byte. A value is at the next multiple of its alignment, fixed or with a length header as PostgreSQL's; values that
 * are read must be stored as they are, neither compressed nor elsewhere.
 */
typedef struct PenumbraTupleAttribute {
  int16_t length;    /* in bytes; -1: in a header of 1 byte (then not aligned) or 4; -2: up to a zero byte */
  uint8_t alignment; /* 1, 2, 4 or 8 */
  int column;        /* that it is read for; -1: none */
} PenumbraTupleAttribute;

/* The value of a column in tuples that end before it. */
typedef struct PenumbraTupleMissing {
  bool is_null;
  uint64_t value;    /* as in PenumbraColumnInput, unless bytes are given */
  const void *bytes; /* copied */
  uint32_t length;
} PenumbraTupleMissing;

typedef struct PenumbraTupleLayout {
  int attribute_count; /* up to the last that is read */
  const PenumbraTupleAttribute *attributes;
  const PenumbraTupleMissing *missing; /* by column */
  uint16_t flags_at;                   /* uint16_t, from the tuple's begin, as the next */
  uint16_t has_nulls_flag;
  uint16_t attribute_count_at; /* uint16_t */
  uint16_t attribute_count_mask;
  uint16_t data_offset_at; /* uint8_t */
  uint16_t null_bits_at;
} PenumbraTupleLayout;

typedef struct PenumbraTuples PenumbraTuples;

PenumbraTuples *penumbra_tuples_create(const PenumbraTupleLayout *layout, const PenumbraType *types, int column_count);
/* Copies memory, of which tuples begin at the offsets; it must be aligned to 8 bytes if they are. */
PenumbraStatus penumbra_tuples_append(PenumbraTuples *tuples, const void *bytes, size_t byte_count,
                                      const uint32_t *offsets, uint32_t count);
uint32_t penumbra_tuples_count(const PenumbraTuples *tuples);
size_t penumbra_tuples_bytes(const PenumbraTuples *tuples);
void penumbra_tuples_clear(PenumbraTuples *tuples);
void penumbra_tuples_destroy(PenumbraTuples *tuples);

/* ---------------------------------------------------------------- segments ------------------ */

typedef struct PenumbraSegmentInfo {
  PenumbraType type;
  uint32_t rows;
  uint32_t nulls;
  const char *encoding; /* "constant", "for1", "dictionary", "plain", "lz4", ... (static string) */
  uint64_t encoded_bytes;
  uint64_t plain_bytes; /* the rows' bytes unencoded */
} PenumbraSegmentInfo;

/* Encodes one column of `rows` with the smallest encoding that also scans fast.
 * *segment is malloc'ed; the caller frees it with free(). 64-byte alignment is wanted where it is stored. */
PenumbraStatus penumbra_segment_encode(const PenumbraRows *rows, int column, void **segment, size_t *segment_bytes);
/* Checks header, sizes and offsets so that no later read leaves the segment. */
PenumbraStatus penumbra_segment_check(const void *segment, size_t segment_bytes);
void penumbra_segment_describe(const void *segment, PenumbraSegmentInfo *info);
void penumbra_segment_get_zone_map(const void *segment, PenumbraZoneMap *zone_map);
/* Compares rows [segment_begin, segment_begin + count of rows) of the segment with all of `rows`, byte for
 * byte (numeric with its scale). Returns the index of the first row that differs, or -1. */
int64_t penumbra_segment_compare(const void *segment, uint32_t segment_begin, const PenumbraRows *rows, int column);

/* ---------------------------------------------------------------- values -------------------- */

/* Writes the text of a numeric in PostgreSQL's format, as PostgreSQL does, without a zero byte behind it; returns its
 * length. 0: it is NaN or infinite, or may need more than `room` bytes. */
uint32_t penumbra_numeric_text(const void *payload, uint32_t length, char *text, uint32_t room);

/* ---------------------------------------------------------------- plans --------------------- */

typedef struct PenumbraPlan PenumbraPlan;
typedef int32_t PenumbraExpr;     /* a node of one plan; negative: not supported, see penumbra_plan_reason */
typedef int32_t PenumbraOperator; /* a node of its graph; negative: refused, see penumbra_plan_reason */

typedef struct PenumbraPlanOptions {
  bool encoding_is_utf8;             /* false: a single-byte encoding */
  const PenumbraTimeZone *time_zone; /* copied; NULL: timestamptz functions that need it are refused */
  bool power_scale_by_result;        /* whole powers of numeric: 16 significant digits, not 16 decimals */
  bool width_bucket_divides_first;   /* count * ((x - low) / (high - low)), not (count * (x - low)) / (high - low) */
} PenumbraPlanOptions;

PenumbraPlan *penumbra_plan_create(const PenumbraPlanOptions *options);
void penumbra_plan_destroy(PenumbraPlan *plan);
/* Why the last call refused: a lower-case phrase such as "function lower with a non-C collation". */
const char *penumbra_plan_reason(const PenumbraPlan *plan);

typedef struct PenumbraScanColumn {
  PenumbraType type;
  int numeric_scale;     /* the declared scale of numeric(p,s), -1 if none */
  int numeric_precision; /* and the precision, 0 if none */
} PenumbraScanColumn;

/*
 * Operators are made from the scans up: each takes the rows of operators made before it, its inputs. An operator is
 * the input of one other at most; an aggregation, sort, window or recursion may be that of several, also with filters
 * and projections above it, and is computed once. A filter or sort passes its input's columns on; a projection produces
 * its expressions; an aggregation produces keys, then aggregates; a union the rows of all its inputs, which have
 * columns of the same types.
 */
PenumbraOperator penumbra_plan_add_scan(PenumbraPlan *plan, const PenumbraScanColumn *columns, int count);

/* Expressions: over the columns of the operator that will be the input of the one that uses them. */
PenumbraExpr penumbra_plan_column(PenumbraPlan *plan, PenumbraOperator input, int column);
PenumbraExpr penumbra_plan_constant(PenumbraPlan *plan, PenumbraType type, const PenumbraValue *value);
/* Many constants as one argument of IN or NOT IN; copied. */
PenumbraExpr penumbra_plan_list(PenumbraPlan *plan, PenumbraType type, const PenumbraColumnInput *values,
                                uint32_t count);
/* Text is compared, sorted, folded (lower, upper, initcap, ILIKE: ASCII only) as the C collation does it, and
 * = is bytewise: the adapter calls only where the collation makes that PostgreSQL's answer too. */
PenumbraExpr penumbra_plan_call(PenumbraPlan *plan, PenumbraFunction function, PenumbraType result,
                                const PenumbraExpr *arguments, int argument_count);
/* < <= > >= GREATEST LEAST order text, lower, upper, initcap and ILIKE fold it by the collation (NULL: C). */
PenumbraExpr penumbra_plan_call_collated(PenumbraPlan *plan, PenumbraFunction function, PenumbraType result,
                                         const PenumbraCollation *collation, const PenumbraExpr *arguments,
                                         int argument_count);
/*
 * A function that only the adapter has, `function` being the number that it gives it: PenumbraExecOptions.host_function
 * computes it, on the caller's thread, for arguments of which it was not asked yet (while there is memory to remember
 * them). It depends on nothing but the arguments while the execution lasts, and may fail for each. Arguments and result
 * are of any type but arrays.
 */
PenumbraExpr penumbra_plan_host_call(PenumbraPlan *plan, int function, PenumbraType result,
                                     const PenumbraExpr *arguments, int argument_count);
PenumbraType penumbra_plan_expr_type(const PenumbraPlan *plan, PenumbraExpr expr);
/* Whether evaluating it can end the execution with an error. */
bool penumbra_plan_expr_can_fail(const PenumbraPlan *plan, PenumbraExpr expr);

PenumbraOperator penumbra_plan_add_filter(PenumbraPlan *plan, PenumbraOperator input, const PenumbraExpr *conjuncts,
                                          int count);
PenumbraOperator penumbra_plan_add_projection(PenumbraPlan *plan, PenumbraOperator input, const PenumbraExpr *exprs,
                                              int count);
PenumbraOperator penumbra_plan_add_union(PenumbraPlan *plan, const PenumbraOperator *inputs, int count);

/*
 * WITH RECURSIVE: the rows of `first`, then what the recursive term makes of them, and of these, and so on. The term
 * begins with the working table, which has the columns of `first`, and is made of filters, projections, unnestings and
 * joins that it probes, so that what becomes of a row depends on no other. It is computed while the rows are read,
 * those of one iteration after the other: who fetches no more rows ends it. With is_distinct (UNION) rows that were
 * there before are dropped, and all stay in memory; with gives_late none comes out before the last is computed.
 */
PenumbraOperator penumbra_plan_add_working_table(PenumbraPlan *plan, const PenumbraType *types, int count);
PenumbraOperator penumbra_plan_add_recursion(PenumbraPlan *plan, PenumbraOperator first, PenumbraOperator term,
                                             bool is_distinct, bool gives_late);

/* A column of lists, texts as PenumbraListHead describes them. */
typedef struct PenumbraUnnestList {
  int column;           /* of the input */
  PenumbraType element; /* any but ARRAY */
  bool may_be_refused;  /* some are PENUMBRA_LIST_REFUSED, which end the execution with PENUMBRA_INVALID_ARGUMENT:
                           rows are kept back as for penumbra_plan_can_be_unsupported_late() */
} PenumbraUnnestList;

/*
 * Rows become as many as the longest of their lists has elements; shorter lists, and null, are filled up with NULLs.
 * Output: the input's columns, a column of elements for each list, and the element's number, INT8, from 1 on.
 * Without lists a column of the input, INT8, says how often its row comes out, if at all.
 */
typedef struct PenumbraUnnest {
  const PenumbraUnnestList *lists;
  int list_count;
  int times;        /* without lists: that column */
  bool keeps_empty; /* a row without elements comes out once, with NULLs */
  bool has_ordinality;
} PenumbraUnnest;

PenumbraOperator penumbra_plan_add_unnest(PenumbraPlan *plan, PenumbraOperator input, const PenumbraUnnest *unnest);

#define PENUMBRA_AGGREGATE_ARGUMENTS_MAX 64

typedef struct PenumbraSortKey {
  PenumbraExpr expr;
  bool descending;
  bool nulls_first;
  const PenumbraCollation *collation; /* of text; NULL: C; copied */
  bool orders_peers;                  /* of a window, as all keys after it: rows that differ in it alone are peers */
} PenumbraSortKey;

typedef struct PenumbraAggregateCall {
  PenumbraAggregate function;
  PenumbraType result;
  PenumbraExpr arguments[PENUMBRA_AGGREGATE_ARGUMENTS_MAX];
  int argument_count;
  PenumbraExpr filter;                /* -1 for none */
  bool distinct;                      /* of count(*) with arguments: rows of these, also where they are null */
  const PenumbraCollation *collation; /* of what orders text; NULL: C; copied */
  /* Of ordered-set aggregates: ORDER BY ... DESC, and the fractions of a percentile, 0 to 1, copied. None: NULL, which
   * makes the result NULL. With `result` PENUMBRA_ARRAY an array of as many percentiles. */
  bool descending;
  const double *fractions;
  int fraction_count;
  /* Of string_agg(text, delimiter), which passes over rows without a text, array_agg and json_agg: ORDER BY inside the
   * call, of at least one key. Of DISTINCT each key is an argument. */
  const PenumbraSortKey *order;
  int order_count;
  uint32_t label;  /* of array_agg: what the array's header says of its elements' type; of json_agg see below */
  bool takes_away; /* of json_agg in a window: the caller's states can lose their first rows */
} PenumbraAggregateCall;

/*
 * What json_agg, of any number of arguments, makes of a group: a payload of type ARRAY with the group's rows in their
 * order. Behind the head come the arguments as in PenumbraResultColumn, one after the other: `rows` bytes of nulls,
 * then values of the type's width, or of TEXT, BPCHAR and NUMERIC `rows` lengths (4 bytes) and the payloads. Values and
 * lengths begin at a multiple of 8, counted with the 4 bytes of the header that PostgreSQL's varlenas have. The slot
 * of a null is zero. A group without rows has them, too.
 */
#define PENUMBRA_GROUP_ROWS UINT32_C(0x80000000)

typedef struct PenumbraGroupRows {
  uint32_t label; /* the call's, with this bit, which the first word of an array has not */
  uint32_t rows;
} PenumbraGroupRows;

/*
 * Makes the unnesting, which nothing takes yet, one whose rows are the input's, with the aggregates of each row's
 * elements after its columns. Arguments and filters are of the columns that the unnesting had.
 * `single`: the call, a count(*), that is at most 1 for each row, or else the execution ends with
 * PENUMBRA_CARDINALITY_VIOLATION; -1: none. False: refused.
 */
bool penumbra_plan_aggregate_lists(PenumbraPlan *plan, PenumbraOperator unnest, const PenumbraAggregateCall *calls,
                                   int call_count, int single);

/* key_count 0: one group, a row even without input. DISTINCT is an aggregation without calls. */
PenumbraOperator penumbra_plan_add_aggregation(PenumbraPlan *plan, PenumbraOperator input, const PenumbraExpr *keys,
                                               int key_count, const PenumbraAggregateCall *calls, int call_count);

/* GROUPING SETS, at most 64 keys: bit k of a set says that it groups by key k. Each row is in a group of every set,
 * with NULL for the other keys; a set without keys has a group even without input. Output: keys, the set's number
 * (INT4), aggregates. */
PenumbraOperator penumbra_plan_add_grouping_sets(PenumbraPlan *plan, PenumbraOperator input, const PenumbraExpr *keys,
                                                 int key_count, const uint64_t *sets, int set_count,
                                                 const PenumbraAggregateCall *calls, int call_count);

/* limit -1: no limit. With a limit this is a top-N. */
PenumbraOperator penumbra_plan_add_sort(PenumbraPlan *plan, PenumbraOperator input, const PenumbraSortKey *keys,
                                        int count, int64_t limit, int64_t offset);

/* Where a frame begins or ends, from the row in hand. */
typedef enum PenumbraFrameBoundKind {
  PENUMBRA_FRAME_UNBOUNDED_PRECEDING,
  PENUMBRA_FRAME_PRECEDING, /* with an offset, as FOLLOWING */
  PENUMBRA_FRAME_CURRENT_ROW,
  PENUMBRA_FRAME_FOLLOWING,
  PENUMBRA_FRAME_UNBOUNDED_FOLLOWING
} PenumbraFrameBoundKind;

/* What CURRENT ROW is: one row, or all rows that are equal in the order's keys; and what offsets count. */
typedef enum PenumbraFrameMode { PENUMBRA_FRAME_ROWS, PENUMBRA_FRAME_RANGE, PENUMBRA_FRAME_GROUPS } PenumbraFrameMode;

typedef enum PenumbraFrameExclusion {
  PENUMBRA_EXCLUDE_NO_OTHERS,
  PENUMBRA_EXCLUDE_CURRENT_ROW,
  PENUMBRA_EXCLUDE_GROUP,
  PENUMBRA_EXCLUDE_TIES
} PenumbraFrameExclusion;

typedef struct PenumbraFrameBound {
  PenumbraFrameBoundKind kind;
  int64_t offset;    /* of rows or groups, not negative */
  PenumbraExpr edge; /* of RANGE with an offset: the last value of `range_key` within the frame; NULL where that is */
} PenumbraFrameBound;

/* Those of SQL; LAG to NTH_VALUE give `value` of another row. */
typedef enum PenumbraWindowFunction {
  PENUMBRA_WINDOW_ROW_NUMBER,
  PENUMBRA_WINDOW_RANK,
  PENUMBRA_WINDOW_DENSE_RANK,
  PENUMBRA_WINDOW_PERCENT_RANK,
  PENUMBRA_WINDOW_CUME_DIST,
  PENUMBRA_WINDOW_NTILE,
  PENUMBRA_WINDOW_LAG,
  PENUMBRA_WINDOW_LEAD,
  PENUMBRA_WINDOW_FIRST_VALUE,
  PENUMBRA_WINDOW_LAST_VALUE,
  PENUMBRA_WINDOW_NTH_VALUE,
  PENUMBRA_WINDOW_AGGREGATE
} PenumbraWindowFunction;

/* In a window PENUMBRA_AGG_JSON_AGG, of a result of any type, is an aggregate of the caller's: `label` says which, and
 * PenumbraExecOptions.host_frames computes it. */
typedef struct PenumbraWindowCall {
  PenumbraWindowFunction function;
  PenumbraExpr value;         /* of LAG to NTH_VALUE */
  PenumbraExpr default_value; /* of LAG and LEAD, of the value's type; -1: NULL */
  int64_t count;              /* LAG, LEAD: rows; NTH_VALUE: the n-th; NTILE: buckets */
  PenumbraExpr count_value;   /* int4, in place of `count`: NTILE's of the first row with one; -1: none */
  bool ignores_nulls;         /* LAG to NTH_VALUE: rows whose value is NULL are not there, but LAG's and LEAD's own */
  PenumbraAggregateCall aggregate; /* of AGGREGATE; not DISTINCT */
  /* The frame, of FIRST_VALUE to AGGREGATE. */
  PenumbraFrameMode mode;
  PenumbraFrameExclusion exclusion;
  PenumbraFrameBound start;
  PenumbraFrameBound end;
  PenumbraExpr range_key; /* of RANGE with an offset: the only order key, in the type of edges, in the same order */
} PenumbraWindowCall;

/* The functions of one PARTITION BY (equality as of grouping) and ORDER BY. Output: the input's columns, then a column
 * for each call, in the order of partition keys, then order keys; with `any_partition_order` partitions may come in any
 * order. */
PenumbraOperator penumbra_plan_add_window(PenumbraPlan *plan, PenumbraOperator input,
                                          const PenumbraExpr *partition_keys, int partition_key_count,
                                          const PenumbraSortKey *order_keys, int order_key_count,
                                          const PenumbraWindowCall *calls, int call_count, int any_partition_order);
/* Whether it would take the call beside an order of so many keys. */
bool penumbra_plan_takes_window_call(PenumbraPlan *plan, PenumbraOperator input, const PenumbraWindowCall *call,
                                     int order_key_count);

/*
 * A join of two inputs: the build input's rows are kept, by their keys; then each row of the probe input looks up its
 * matches, the pairs that all keys and all conditions hold for. Equality is that of grouping: numeric by value, char(n)
 * without trailing blanks or a tail, -0 = 0 and NaN = NaN, intervals by their span; a NULL key matches nothing unless
 * nulls_are_equal. What is equal but written differently comes out as each side has it. The order of rows is not kept.
 */
typedef enum PenumbraJoinKind {
  PENUMBRA_JOIN_INNER,
  PENUMBRA_JOIN_LEFT,   /* every probe row, build columns NULL where nothing matches */
  PENUMBRA_JOIN_SEMI,   /* probe rows that match; output: probe columns only */
  PENUMBRA_JOIN_ANTI,   /* probe rows that do not; probe columns only */
  PENUMBRA_JOIN_MARK,   /* every probe row, its columns and a boolean: whether it matches */
  PENUMBRA_JOIN_SINGLE, /* as LEFT; a second match of a probe row is an error: PENUMBRA_CARDINALITY_VIOLATION */
  PENUMBRA_JOIN_RIGHT,  /* every build row, probe columns NULL where nothing matches */
  PENUMBRA_JOIN_FULL,
  PENUMBRA_JOIN_RIGHT_SEMI, /* build rows that match, each once; build columns only */
  PENUMBRA_JOIN_RIGHT_ANTI  /* build rows that do not; build columns only */
} PenumbraJoinKind;

typedef struct PenumbraJoinKey {
  PenumbraExpr probe;   /* over the probe input's columns */
  PenumbraExpr build;   /* over the build input's, of the same PenumbraType */
  bool nulls_are_equal; /* IS NOT DISTINCT FROM */
} PenumbraJoinKey;

/* Of the build rows that match a probe row. */
typedef enum PenumbraJoinChoice {
  PENUMBRA_JOIN_ALL,
  /* One: its value in the only condition, of which penumbra_plan_is_range() is true, is the least or the greatest; any
   * of several such. INNER and LEFT joins. Where a partition of the build rows does not fit into memory:
   * PENUMBRA_UNSUPPORTED. */
  PENUMBRA_JOIN_LEAST,
  PENUMBRA_JOIN_GREATEST
} PenumbraJoinChoice;

typedef struct PenumbraJoin {
  PenumbraJoinKind kind;
  bool is_null_aware; /* ANTI: x NOT IN (...), MARK: the value of x IN (...), which can be NULL. One key alone */
  const PenumbraJoinKey *keys;
  int key_count; /* 0: every pair is looked at, but see penumbra_plan_is_range */
  /* Boolean, over pairs (penumbra_plan_pair_column): they see those that passed the keys and the conditions before. */
  const PenumbraExpr *conditions;
  int condition_count;
  /* 0, or with more rows of the build input the execution ends with PENUMBRA_BUILD_TOO_LARGE, so that the sides can be
   * planned the other way round. Of a union, rows of earlier inputs may have been returned by then. */
  uint64_t build_rows_max;
  PenumbraJoinChoice choice;
} PenumbraJoin;

/* Whether a join without keys searches its build rows by such a condition, of one argument over each side, instead of
 * looking at every pair: a comparison by <, <=, > or >= of integers, floats, dates, timestamps, or numerics of one
 * scale. */
bool penumbra_plan_is_range(const PenumbraPlan *plan, PenumbraExpr condition);
/* A column of the pairs that a join's conditions see: the probe input's columns, then the build input's. */
PenumbraExpr penumbra_plan_pair_column(PenumbraPlan *plan, PenumbraOperator probe, PenumbraOperator build, int column);
/* Output: probe columns, then build columns, unless the kind says otherwise. */
PenumbraOperator penumbra_plan_add_join(PenumbraPlan *plan, PenumbraOperator probe, PenumbraOperator build,
                                        const PenumbraJoin *join);

/* The operator whose rows are the result. Nothing can be added after; what follows asks finished plans. False:
 * refused. */
bool penumbra_plan_finish(PenumbraPlan *plan, PenumbraOperator output);
int penumbra_plan_output_count(const PenumbraPlan *plan);
/* Whether the execution can end with PENUMBRA_UNSUPPORTED after it returned rows: who then wants to run
 * something else must keep the rows back until PENUMBRA_FETCH_DONE. */
bool penumbra_plan_can_be_unsupported_late(const PenumbraPlan *plan);
PenumbraType penumbra_plan_output_type(const PenumbraPlan *plan, int output);

/*
 * A condition right above a scan that depends on the values of one column alone, cannot fail, and costs enough to
 * remember for which rows of a segment it is true: a pattern, a function of strings.
 */
typedef struct PenumbraRememberedFilter {
  int column;
  const void *key; /* conditions with the same key, in whatever plan of this server, are true of the same values */
  size_t key_bytes;
} PenumbraRememberedFilter;

/* Of a finished plan, whose memory the key is. The numbers of a scan's filters begin at 0; false: past the last. */
bool penumbra_plan_remembered_filter(const PenumbraPlan *plan, PenumbraOperator scan, int number,
                                     PenumbraRememberedFilter *filter);

/* ---------------------------------------------------------------- execution ----------------- */

typedef struct PenumbraExec PenumbraExec;

/* What the spill files of several executions may take together, and take now. Threads of the engine change
 * used_bytes; it is what it was before when the last of the executions is destroyed. */
typedef struct PenumbraTemporarySpace {
  uint64_t limit_bytes; /* UINT64_MAX: none */
  uint64_t used_bytes;
} PenumbraTemporarySpace;

/*
 * What executions of several processes use of a machine that they share, in memory of all of them. Zero at first;
 * threads of the engine change it by atomic operations, and it is what it was when the last execution is destroyed.
 */
#define PENUMBRA_WORK_LEVELS 3
typedef struct PenumbraUsage {
  uint32_t callers;                       /* threads that are in a call of the engine: these run in any case */
  uint32_t tickets;                       /* other threads that run */
  uint32_t waiting[PENUMBRA_WORK_LEVELS]; /* executions with work for another thread, by how long they have worked */
  uint32_t holders;                       /* executions that hold much memory */
  uint64_t memory_bytes;                  /* of all executions */
} PenumbraUsage;

/* A column of a result. */
typedef struct PenumbraResultColumn {
  PenumbraType type;
  /*
   * Flat values of the type's width (BOOL 1 byte, INT2 2, INT4/DATE/FLOAT4 4, INT8/TIMESTAMP/FLOAT8 8,
   * UUID/INTERVAL 16). TEXT, BPCHAR: `payloads`. NUMERIC: `payloads` of PostgreSQL's format.
   * Neither: every row is null.
   */
  const void *values;
  const char *const *payloads;
  const uint32_t *payload_lengths;
  const uint8_t *nulls; /* 1 = null; NULL = none */
} PenumbraResultColumn;

typedef struct PenumbraResult {
  uint32_t rows;
  const PenumbraResultColumn *columns;
} PenumbraResult;

/* Computes a function for arguments->rows rows. *results is read until the next call. False: it failed for one
 * of them, and the execution ends with PENUMBRA_HOST_ERROR. It must not throw or longjmp, nor use the execution. */
typedef bool (*PenumbraHostFunction)(void *host, int function, const PenumbraResult *arguments,
                                     PenumbraColumnInput *results);

/*
 * What frames give of an aggregate of the caller's: rows of its arguments, and steps. Each adds the next rows to a
 * state, or takes them away from it. States with other numbers are other partitions, computed side by side.
 */
typedef struct PenumbraFrameStep {
  uint32_t rows;
  bool restarts;    /* before these the state becomes that of no rows, as a state is at first */
  bool is_finished; /* after these the state's value is the next result */
  bool takes_away;  /* these, in the order in which they were added */
} PenumbraFrameStep;

/* In place of 1 in the nulls of a result: the state could not lose a row. The frame, and those after it, come again,
 * and it restarts. */
#define PENUMBRA_FRAME_AGAIN 2

typedef struct PenumbraFrames {
  uint32_t label; /* the call's */
  uint32_t state; /* from 0, numbers are used again */
  PenumbraResult rows;
  const PenumbraFrameStep *steps;
  uint32_t step_count;
  uint32_t result_count;
} PenumbraFrames;

/* As PenumbraHostFunction. */
typedef bool (*PenumbraHostFrames)(void *host, const PenumbraFrames *frames, PenumbraColumnInput *results);

typedef struct PenumbraExecOptions {
  size_t memory_budget_bytes;   /* for hashing and sorting; past it aggregation spills */
  int threads;                  /* engine threads besides the caller; with 0 one is started for long finishes only */
  const char *temporary_prefix; /* of the paths of spill files, which are unlinked at once */
  PenumbraTemporarySpace *temporary_space; /* NULL: no limit; outlives the execution */
  /* NULL, or what a signal handler of the caller sets: a call that is not done then ends with PENUMBRA_CANCELLED. */
  const volatile sig_atomic_t *interrupts[2];
  bool is_timed; /* time_ns of operators is measured, which costs short scans 5 %; else it is that of what finishes */
  PenumbraUsage *all_usage; /* NULL: it shares with nobody; outlives the execution */
  PenumbraUsage *own_usage; /* of this, the calling process's part; NULL with all_usage */
  uint32_t max_threads;     /* that run, of all executions, callers included */
  /* Past it those that hold more than an equal share spill, before memory_budget_bytes; 0: no limit. */
  uint64_t max_memory_bytes;
  PenumbraHostFunction host_function; /* NULL: the plan has no calls of the host's functions */
  PenumbraHostFrames host_frames;     /* NULL: the plan has no aggregates of the host's in windows */
  void *host;                         /* their first argument */
} PenumbraExecOptions;

/* A chunk of a scan: one segment per column (all of the same row count), of which `ranges` are to be read. */
typedef struct PenumbraChunk {
  uint32_t rows;
  /* By column; the array is copied, the segments are not. NULL: the column, an INT8 without a condition, has the rows'
   * positions: first_position, first_position + 1 and so on. */
  const void *const *segments;
  const PenumbraRowRange *ranges; /* sorted, disjoint, copied; the valid rows */
  uint32_t range_count;
  const uint64_t
      *row_bits; /* NULL, or a bit for each row of the chunk, copied: rows of the ranges without it are not valid */
  int64_t first_position;
  /*
   * By number of the scan's remembered filters: what penumbra_exec_next_learned() gave of that filter's segment, with
   * the same key, aligned to 8 bytes, not copied; NULL: nothing is known. The array is copied. NULL: nothing is known,
   * and nothing is learned of the chunk.
   */
  const void *const *remembered;
  void *owner; /* handed back with what is learned of the chunk */
} PenumbraChunk;

/* Of a finished plan; NULL: out of memory. */
PenumbraExec *penumbra_exec_create(const PenumbraPlan *plan, const PenumbraExecOptions *options);
/* True when the zone maps of a chunk, by column, prove that no row of it can pass the filter right above the scan. */
bool penumbra_plan_chunk_is_skipped(const PenumbraPlan *plan, PenumbraOperator scan, const PenumbraZoneMap *zone_maps);
PenumbraStatus penumbra_exec_add_chunk(PenumbraExec *exec, PenumbraOperator scan, const PenumbraChunk *chunk);
/* Chunks of so many rows will be pushed, to which the number of threads goes. Others cannot be. */
PenumbraStatus penumbra_exec_expect_chunks(PenumbraExec *exec, PenumbraOperator scan, uint64_t rows);
/* Whether it pays to push the scan's rows before the start if they are few, and to end them there: a grouping above it
 * then knows which groups are complete. */
bool penumbra_exec_takes_rows_first(const PenumbraExec *exec, PenumbraOperator scan);
/* Starts the threads. No chunk can be added after, but pushed. */
PenumbraStatus penumbra_exec_start(PenumbraExec *exec);
/* The scan whose rows are needed and may still be pushed; negative: none at the moment. To be asked before each push:
 * a join wants rows of its probe side until one may pass, then all of its build side, then the rest. Of a scan whose
 * rows nobody needs none are ever wanted. */
PenumbraOperator penumbra_exec_wanted_scan(const PenumbraExec *exec);
/* The scan that comes after the one whose pipeline runs, if what it reads does not depend on what comes before it;
 * negative: none such. Its chunks may be begun to be read, but not pushed yet; they are dropped when a scan is wanted
 * that is another, and it is not the next any more: nobody needs them then. */
PenumbraOperator penumbra_exec_next_scan(const PenumbraExec *exec);
/* Runs the wanted scan's pipeline over rows (types as its columns) on the calling thread, or leaves a copy to engine
 * threads that have little to do: an error may come with a later call. `rows` can be cleared after. Before the start it
 * leaves a copy to whoever comes to it. */
PenumbraStatus penumbra_exec_push_rows(PenumbraExec *exec, PenumbraOperator scan, const PenumbraRows *rows);
/* The same of tuples, which are empty after. */
PenumbraStatus penumbra_exec_push_tuples(PenumbraExec *exec, PenumbraOperator scan, PenumbraTuples *tuples);
/* True when the zone maps of a chunk of the wanted scan, or of the next, prove that no row of it passes the filter or
 * finds a match in the joins that are built. It counts as skipped then, and is not pushed: so nobody has to read it. */
bool penumbra_exec_skip_chunk(PenumbraExec *exec, PenumbraOperator scan, const PenumbraZoneMap *zone_maps);
/* Leaves a chunk to the wanted scan: whichever thread comes to it, the caller's in penumbra_exec_fetch() included. */
PenumbraStatus penumbra_exec_push_chunk(PenumbraExec *exec, PenumbraOperator scan, const PenumbraChunk *chunk);
/*
 * How many of the scan's pushed chunks, from the first on, nothing reads any more. The next penumbra_exec_fetch()
 * works, or waits, until `awaited` of them are finished, not longer than it does anyhow; 0: for none.
 */
uint64_t penumbra_exec_finished_chunks(PenumbraExec *exec, PenumbraOperator scan, uint64_t awaited);
/* No more rows or chunks will be pushed to this scan, wanted or not. Also before the start. */
PenumbraStatus penumbra_exec_end_rows(PenumbraExec *exec, PenumbraOperator scan);

typedef enum PenumbraFetch {
  PENUMBRA_FETCH_ROWS, /* *result is valid until the next call */
  PENUMBRA_FETCH_WAIT, /* nothing yet: check for interrupts and call again */
  PENUMBRA_FETCH_DONE,
  PENUMBRA_FETCH_ERROR /* see *status */
} PenumbraFetch;

/*
 * Does a bounded piece of work on the calling thread or waits, at most about 20 ms, and returns.
 * May be called before penumbra_exec_end_rows: streaming plans then return what is ready.
 */
PenumbraFetch penumbra_exec_fetch(PenumbraExec *exec, PenumbraResult *result, PenumbraStatus *status);
/* What EXPLAIN ANALYZE shows. */
typedef struct PenumbraOperatorStats {
  PenumbraOperator id;
  const char *name; /* "Vector Scan", "Vector Filter", "Vector Hash Aggregate", "Vector Top-N", ... */
  uint64_t rows_in;
  uint64_t rows_out;
  uint64_t time_ns; /* summed over threads */
  uint64_t spilled_bytes;
  uint64_t groups;         /* of an aggregation */
  uint64_t iterations;     /* of a recursion */
  uint64_t dropped_groups; /* of these: complete at once, and not of HAVING */
  const char *
      join_table; /* of a join: "bitmap", "direct array", "hash table", "range index", "nested loop"; NULL: not built */
  uint64_t build_rows;     /* of a join; rows_in are the probe's */
  bool is_build_too_large; /* of a join: it ended the execution with PENUMBRA_BUILD_TOO_LARGE */
  uint64_t filtered_rows;  /* of a join: rows that the scans of its probe side dropped by its runtime filters */
} PenumbraOperatorStats;

typedef struct PenumbraExecStats {
  int threads;
  uint32_t chunks;
  uint32_t chunks_skipped; /* by zone maps */
  uint64_t cached_rows;
  uint64_t pushed_rows;
  uint64_t recalled_rows;     /* for which a remembered filter was not evaluated, summed over filters */
  uint64_t recalled_vectors;  /* up to 2,048 rows each, of which remembered filters left none */
  uint64_t summarized_rows;   /* of cached_rows: answered from metadata, not decoded */
  uint64_t decoded_bytes;     /* of the vectors that scans made, without the bytes of strings */
  uint64_t memory_peak_bytes; /* of all operators together, which share a budget */
  int operator_count;
  const PenumbraOperatorStats *operators; /* inputs before those that read them */
  int temporary_file_count;
  const uint64_t *temporary_file_bytes; /* of each spill file so far, also of those that are closed */
} PenumbraExecStats;

void penumbra_exec_get_stats(PenumbraExec *exec, PenumbraExecStats *stats);
/* Operator names without running, for EXPLAIN; returns NULL past the end. Details such as the filter's
 * text are the adapter's to print. */
const char *penumbra_plan_operator_name(const PenumbraPlan *plan, int index);

/* What an execution found of a remembered filter and a segment, together with what was known before. */
typedef struct PenumbraLearned {
  int number;  /* of the filter */
  void *owner; /* of the chunk, which was added before the start */
  const void *image;
  size_t image_bytes;
} PenumbraLearned;

/* Stops the execution, finished or not, and gives what it learned of the scan's chunks, one by one. False: that was
 * all. The image is read until the next call. */
bool penumbra_exec_next_learned(PenumbraExec *exec, PenumbraOperator scan, PenumbraLearned *learned);
/* Ends the threads, which notice within milliseconds: nothing reads chunks after it. What may follow is
 * penumbra_exec_next_learned, penumbra_exec_get_stats and penumbra_exec_destroy. Safe at any time and again, also with
 * NULL. */
void penumbra_exec_stop(PenumbraExec *exec);
/* Stops it and frees everything. Safe at any time, also with NULL. */
void penumbra_exec_destroy(PenumbraExec *exec);
/* How much of the large blocks that executions free the process keeps for the next ones; none before the first call.
 * The kernel may take their pages. */
void penumbra_keep_memory(size_t bytes_max);

#ifdef __cplusplus
}
#endif
#endif
