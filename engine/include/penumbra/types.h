/*
 * Types, codes and plain data that cross the wall between an adapter and the engine.
 *
 * Plain C, no PostgreSQL header. Everything here may be read by any thread.
 */
#ifndef PENUMBRA_TYPES_H
#define PENUMBRA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Logical types. The numbers are stored in segments: append only. */
typedef enum PenumbraType {
  PENUMBRA_BOOL = 1,
  PENUMBRA_INT2 = 2,
  PENUMBRA_INT4 = 3,
  PENUMBRA_INT8 = 4,
  PENUMBRA_FLOAT4 = 5,
  PENUMBRA_FLOAT8 = 6,
  PENUMBRA_NUMERIC = 7,
  PENUMBRA_DATE = 8,         /* int32 days since 2000-01-01; INT32_MIN/MAX are -/+infinity */
  PENUMBRA_TIMESTAMP = 9,    /* int64 microseconds since 2000-01-01; INT64_MIN/MAX infinite */
  PENUMBRA_TIMESTAMPTZ = 10, /* the same, UTC */
  PENUMBRA_INTERVAL = 11,    /* PenumbraInterval */
  PENUMBRA_TEXT = 12,        /* text and varchar */
  PENUMBRA_BPCHAR = 13,      /* char(n): stored as given, trailing blanks do not compare, nor does a tail (below) */
  PENUMBRA_UUID = 14,        /* 16 bytes, memcmp order */
  PENUMBRA_ARRAY = 15,       /* PostgreSQL's array after the varlena header; only a result, never stored or compared */
} PenumbraType;

/*
 * A BPCHAR may end with a tail, which tells values apart that compare as equal: any bytes, the tail's length (4
 * bytes, the least first), a zero and a one.  No char(n) has a zero byte.  At least so many bytes stand before a tail:
 * more than a reference to them holds itself, so that it points to them and the tail.
 */
#define PENUMBRA_TAILED_BYTES_MIN 13
#define PENUMBRA_TAIL_END_BYTES 6

/* The length of a value's tail; 0: it has none. */
static inline uint32_t penumbra_tail_bytes(const char *value, uint32_t length) {
  const uint8_t *end = (const uint8_t *)value + length;
  uint32_t bytes;

  if (length < PENUMBRA_TAILED_BYTES_MIN + PENUMBRA_TAIL_END_BYTES || end[-1] != 1 || end[-2] != 0) return 0;
  bytes = end[-6] | (uint32_t)end[-5] << 8 | (uint32_t)end[-4] << 16 | (uint32_t)end[-3] << 24;
  return bytes >= PENUMBRA_TAIL_END_BYTES && bytes <= length - PENUMBRA_TAILED_BYTES_MIN ? bytes : 0;
}

/* The memory layout of PostgreSQL's interval. */
typedef struct PenumbraInterval {
  int64_t time_us;
  int32_t day;
  int32_t month;
} PenumbraInterval;

/*
 * Why something failed. The adapter maps each code to PostgreSQL's SQLSTATE and message text.
 * PENUMBRA_UNSUPPORTED means: run PostgreSQL's own plan instead.
 */
typedef enum PenumbraCode {
  PENUMBRA_OK = 0,
  PENUMBRA_DIVISION_BY_ZERO,       /* 22012 "division by zero" */
  PENUMBRA_INT2_OUT_OF_RANGE,      /* 22003 "smallint out of range" */
  PENUMBRA_INT4_OUT_OF_RANGE,      /* 22003 "integer out of range" */
  PENUMBRA_INT8_OUT_OF_RANGE,      /* 22003 "bigint out of range" */
  PENUMBRA_FLOAT_OVERFLOW,         /* 22003 "value out of range: overflow" */
  PENUMBRA_FLOAT_UNDERFLOW,        /* 22003 "value out of range: underflow" */
  PENUMBRA_NUMERIC_OVERFLOW,       /* 22003 "value overflows numeric format" */
  PENUMBRA_NUMERIC_FIELD_OVERFLOW, /* 22003 "numeric field overflow"; message is the detail */
  PENUMBRA_CANNOT_CONVERT,         /* 0A000; message says what ("cannot convert NaN to integer") */
  PENUMBRA_DATE_OUT_OF_RANGE,      /* 22008 "date out of range" */
  PENUMBRA_TIMESTAMP_OUT_OF_RANGE, /* 22008 "timestamp out of range" */
  PENUMBRA_INTERVAL_OUT_OF_RANGE,  /* 22008 "interval out of range" */
  PENUMBRA_INVALID_ARGUMENT,       /* 22023; message says what */
  PENUMBRA_INVALID_POWER_ARGUMENT, /* 2201F; message says what */
  PENUMBRA_INVALID_LOG_ARGUMENT,   /* 2201E; message says what */
  PENUMBRA_INVALID_NTILE,          /* 22014 "argument of ntile must be greater than zero" */
  PENUMBRA_INVALID_NTH_VALUE,      /* 22016 "argument of nth_value must be greater than zero" */
  PENUMBRA_SUBSTRING_ERROR,        /* 22011 "negative substring length not allowed" */
  PENUMBRA_BITS_OF_OTHER_LENGTH,   /* 22026; message says what */
  PENUMBRA_INVALID_ESCAPE,         /* 22025 "LIKE pattern must not end with escape character" */
  PENUMBRA_STRING_TOO_LONG,        /* 22001 */
  PENUMBRA_CARDINALITY_VIOLATION,  /* 21000 "more than one row returned by a subquery used as an expression" */
  PENUMBRA_VALUE_TOO_LARGE,        /* 54000: more than 1 GB; message is the detail */
  PENUMBRA_OUT_OF_MEMORY,          /* 53200 */
  PENUMBRA_DISK_FULL,              /* 53100 */
  PENUMBRA_TEMPORARY_SPACE_LIMIT,  /* 53400: spill files may not take more, see PenumbraTemporarySpace */
  PENUMBRA_IO_ERROR,               /* 58030 */
  PENUMBRA_CANCELLED,              /* the caller asked for it */
  PENUMBRA_HOST_ERROR,             /* a function of the host failed, which knows why */
  PENUMBRA_CORRUPT,                /* XX001: a segment does not decode */
  PENUMBRA_UNSUPPORTED,            /* this value or shape is not for the engine */
  PENUMBRA_BUILD_TOO_LARGE,        /* a join's build side has more rows than PenumbraJoin.build_rows_max */
  PENUMBRA_INTERNAL,               /* XX000: a bug */
} PenumbraCode;

typedef struct PenumbraStatus {
  PenumbraCode code;
  char message[240]; /* empty, or a detail; never needed to understand the code */
} PenumbraStatus;

/*
 * One value handed in: a constant or a parameter.
 * BOOL, INT*, DATE, TIMESTAMP*: `integer`. FLOAT*: `real`. TEXT, BPCHAR: bytes.
 * NUMERIC: bytes of PostgreSQL's numeric after the varlena header (n_header and digits).
 * UUID: 16 bytes. INTERVAL: `interval`.
 */
typedef struct PenumbraValue {
  bool is_null;
  int64_t integer;
  double real;
  PenumbraInterval interval;
  const void *bytes; /* copied by the callee */
  uint32_t bytes_length;
} PenumbraValue;

/*
 * One column of a batch of rows in PostgreSQL's in-memory form.
 * values[i] is the value itself (BOOL, INT*, DATE, TIMESTAMP*, FLOAT4 and FLOAT8 as their bits, in
 * the low bytes) or a pointer to the payload (TEXT, BPCHAR, NUMERIC: after the varlena header, with
 * lengths[i] bytes, any alignment; UUID, INTERVAL: 16 bytes, lengths ignored).
 * values[i] of a null row is not read.
 */
typedef struct PenumbraColumnInput {
  const uint64_t *values;
  const uint32_t *lengths; /* may be NULL for types without a payload length */
  const uint8_t *nulls;    /* 1 = null; NULL = no nulls */
} PenumbraColumnInput;

/*
 * A list of values of one type as bytes, which may be stored as TEXT: the head, a uint32_t of flags and the number of
 * elements; if there are nulls a bit for each element, that it is none; the elements. Those that are no strings stand
 * there as in a flat vector, a BOOL as a byte. Of strings, and of NUMERIC in PostgreSQL's format, first come the places
 * where they end, numbers of as many bytes as the head says, then all bytes. Nothing is aligned.
 */
typedef enum PenumbraListHead {
  PENUMBRA_LIST_HAS_NULLS = 1,
  PENUMBRA_LIST_ENDS_OF_2_BYTES = 2, /* none of the two: of one */
  PENUMBRA_LIST_ENDS_OF_4_BYTES = 4,
  PENUMBRA_LIST_COUNT_SHIFT = 3,
  PENUMBRA_LIST_COUNT_MAX = (1 << 28) - 1
} PenumbraListHead;

/*
 * A string of bits as TEXT: groups of eight bytes, the last one filled up with zeros, each followed by how many of its
 * bits the string has, or by PENUMBRA_BITS_GO_ON if a group follows. There is at least one group.
 */
enum { PENUMBRA_BITS_GROUP_BYTES = 8, PENUMBRA_BITS_GO_ON = 0xFF };

/*
 * A range or multirange as a string: its ranges, one behind the other. A range is a byte 0, or a byte 1 and its bounds
 * if it is not empty. A bound is a byte 0 before all values, or 2 behind all; or 1, a value whose bytes are in the
 * order of the values, and 1 if the range begins or ends behind that value, 0 if before it. Values of 4 and 8 bytes
 * have the sign bit inverted and the byte that counts most first; before the ranges is then a byte that says nothing to
 * the engine. A numeric begins with a byte: 0 and 4 for infinities, 5 for NaN, 2 for zero, 1 and 3 if two bytes and
 * digits of two bytes each follow, the last of which is zero, or all ones where the first byte is 1.
 */
typedef enum PenumbraRangeForm {
  PENUMBRA_RANGE_OF_NUMERIC = 0,
  PENUMBRA_RANGE_OF_INT4 = 4,
  PENUMBRA_RANGE_OF_INT8 = 8
} PenumbraRangeForm;

/* In place of a head: the value has no list. */
#define PENUMBRA_LIST_REFUSED UINT32_MAX

/* How letters change between lower and upper case. */
typedef enum PenumbraCaseRule {
  PENUMBRA_CASE_C,            /* ASCII letters; other bytes stay */
  PENUMBRA_CASE_LIBC,         /* each character as towlower_l and towupper_l of case_locale say; tolower_l and
                                 toupper_l in single-byte encodings */
  PENUMBRA_CASE_LIBC_DEFAULT, /* the same, but ASCII as in C in single-byte encodings: a default collation's */
  PENUMBRA_CASE_ASCII_ONLY,   /* as C; text beyond ASCII ends the query with PENUMBRA_UNSUPPORTED */
} PenumbraCaseRule;

/* A collation other than C. Locales are the C library's, by name. */
typedef struct PenumbraCollation {
  const char *order_locale; /* strcoll_l's; what it finds equal is compared bytewise. NULL: bytewise */
  PenumbraCaseRule case_rule;
  const char *case_locale;
  bool compares_lower_case; /* of min and max: texts are equal that are in lower case */
} PenumbraCollation;

/* A span of rows [begin, end). */
/*
 * What is known of several ranges and multiranges in their form as strings (above). A multirange is one range from its
 * begin to its end. The key of a bound is in the order of bounds, and may stand for several: of integers it is the
 * value, and the least and greatest one where there is none; of numerics the first eight bytes of the bound.
 */
typedef struct PenumbraRangeZone {
  int64_t begin_least; /* of those that are not empty; least > greatest: there are none */
  int64_t begin_greatest;
  int64_t end_least;
  int64_t end_greatest;
  uint32_t empty_count;
  uint8_t form;  /* PenumbraRangeForm */
  uint8_t flags; /* 0: nothing is known; else as in segment_format.h */
  uint8_t zero[2];
} PenumbraRangeZone;

/*
 * What a whole segment's zone map says, so that an adapter can keep it without the segment: see
 * penumbra_segment_get_zone_map(). Bytes of the engine's, which mean the same as long as segments do.
 */
typedef struct PenumbraZoneMap {
  int64_t least; /* order keys of the valid rows, as in segment_format.h */
  int64_t greatest;
  uint32_t rows;
  uint32_t null_count;
  int16_t scale;
  uint8_t type;
  uint8_t numeric_form;
  uint8_t flags;
  uint8_t zero[3];
  PenumbraRangeZone ranges; /* of strings that are ranges */
} PenumbraZoneMap;

typedef struct PenumbraRowRange {
  uint32_t begin;
  uint32_t end;
} PenumbraRowRange;

/*
 * Offsets of a time zone, sorted: from instants utc_from_us[i] (PostgreSQL epoch) the
 * local time is UTC + offset_seconds[i]. Valid for instants in [utc_from_us[0], valid_until_us).
 * A query that meets an instant outside ends with PENUMBRA_UNSUPPORTED.
 */
typedef struct PenumbraTimeZone {
  uint32_t count;
  const int64_t *utc_from_us;
  const int32_t *offset_seconds;
  int64_t valid_until_us;
} PenumbraTimeZone;

/*
 * Another zone, as a value of type text: this, then the `count` instants of such a table and the `count` offsets. Text
 * that is empty is a zone that nobody knows: rows that need it are unsupported.
 */
typedef struct PenumbraZoneHeader {
  int64_t valid_until_us;
  uint64_t count;
} PenumbraZoneHeader;

#ifdef __cplusplus
}
#endif
#endif
