/*-------------------------------------------------------------------------
 *
 * compare_methods.c
 *	  sort_compare_methods(): the same values sorted by PostgreSQL's qsort with
 *	  a comparison function, by its sort template compiled for the type, and by
 *	  the kernels.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "pg_compat.h"
#include "result_rows.h"

PENUMBRA_SQL_FUNCTION(penumbra_sort_compare_methods);

/* Small inputs are sorted many times, so that there is something to measure. */
#define VALUES_MEASURED 200000
#define ROUNDS 3
#define FEW_VALUES 10
#define SAW_TOOTH 1000

typedef struct Bytes16
{
	unsigned char bytes[16];
} Bytes16;

/* How the values of a type are sorted by two of the methods. */
typedef void (*SortFunction) (void *values, size_t count);

typedef struct MethodInput
{
	ElementType type;
	SortFunction sort_by_qsort;
	SortFunction sort_by_template;
	int64		width;
	int64		count;			/* of one input */
	int64		repeats;
	char	   *values;
	char	   *sorted;			/* what is measured works here, on all repeats in turn */
} MethodInput;

#define COMPARE_NUMBERS(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define COMPARE_FLOAT4(a, b) (float4_lt(*(a), *(b)) ? -1 : float4_gt(*(a), *(b)))
#define COMPARE_FLOAT8(a, b) (float8_lt(*(a), *(b)) ? -1 : float8_gt(*(a), *(b)))
#define COMPARE_BYTES16(a, b) memcmp((a), (b), 16)

/* The comparison function and the two sorts of a C type. */
#define DEFINE_SORTS(name, ctype, compare) \
static int \
compare_##name(const void *a, const void *b, void *arg) \
{ \
	return compare((const ctype *) a, (const ctype *) b); \
} \
static void \
qsort_##name(void *values, size_t count) \
{ \
	qsort_interruptible(values, count, sizeof(ctype), compare_##name, NULL); \
} \
static void \
sort_template_##name(void *values, size_t count) \
{ \
	template_##name(values, count); \
}

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_int16
#define ST_ELEMENT_TYPE int16
#define ST_COMPARE(a, b) COMPARE_NUMBERS(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(int16, int16, COMPARE_NUMBERS)

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_int32
#define ST_ELEMENT_TYPE int32
#define ST_COMPARE(a, b) COMPARE_NUMBERS(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(int32, int32, COMPARE_NUMBERS)

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_int64
#define ST_ELEMENT_TYPE int64
#define ST_COMPARE(a, b) COMPARE_NUMBERS(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(int64, int64, COMPARE_NUMBERS)

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_float4
#define ST_ELEMENT_TYPE float4
#define ST_COMPARE(a, b) COMPARE_FLOAT4(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(float4, float4, COMPARE_FLOAT4)

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_float8
#define ST_ELEMENT_TYPE float8
#define ST_COMPARE(a, b) COMPARE_FLOAT8(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(float8, float8, COMPARE_FLOAT8)

#define ST_SCOPE static
#define ST_DEFINE
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SORT template_bytes16
#define ST_ELEMENT_TYPE Bytes16
#define ST_COMPARE(a, b) COMPARE_BYTES16(a, b)
#include "lib/sort_template.h"
DEFINE_SORTS(bytes16, Bytes16, COMPARE_BYTES16)

#define USE_SORTS(name) \
	do { \
		input->sort_by_qsort = qsort_##name; \
		input->sort_by_template = sort_template_##name; \
	} while (0)

static void
choose_sorts(MethodInput *input, Oid type_oid)
{
	input->type.order = ORDER_COMPARED;
	lookup_key_kind(getBaseType(type_oid), &input->type);
	if (!ELEMENT_IS_FIXED_WIDTH(&input->type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sort methods of type %s cannot be compared", format_type_be(type_oid)),
				 errhint("Types of fixed width can: smallint, integer, bigint, real, double precision, date, time, timestamp, money and uuid.")));
	input->width = key_width(input->type.kind);
	switch (input->type.kind)
	{
		case PENUMBRA_KEY_INT16:
			USE_SORTS(int16);
			break;
		case PENUMBRA_KEY_INT32:
			if (input->type.order == ORDER_FLOAT)
				USE_SORTS(float4);
			else
				USE_SORTS(int32);
			break;
		case PENUMBRA_KEY_UINT128:
			USE_SORTS(bytes16);
			break;
		default:
			if (input->type.order == ORDER_FLOAT)
				USE_SORTS(float8);
			else
				USE_SORTS(int64);
			break;
	}
}

/* One value; floats get numbers whose distribution has a centre and tails. */
static void
make_value(const MethodInput *input, pg_prng_state *prng, char *value)
{
	uint64		bits[2] = {pg_prng_uint64(prng), pg_prng_uint64(prng)};
	float8		number = tan((pg_prng_double(prng) - 0.5) * M_PI);
	float4		single = (float4) number;

	if (input->type.order != ORDER_FLOAT)
		memcpy(value, bits, input->width);
	else if (input->width == 4)
		memcpy(value, &single, 4);
	else
		memcpy(value, &number, 8);
}

static void
make_values(MethodInput *input, const char *shape, int64 seed)
{
	bool		is_few = strcmp(shape, "few") == 0;
	int64		width = input->width;
	int64		step = input->count;	/* whose beginnings are sorted */
	pg_prng_state prng;

	if (strcmp(shape, "saw-tooth") == 0)
		step = SAW_TOOTH;
	else if (strcmp(shape, "random") == 0 || is_few)
		step = 0;
	else if (strcmp(shape, "sorted") != 0 && strcmp(shape, "reversed") != 0 &&
			 strcmp(shape, "equal") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized shape \"%s\"", shape),
				 errhint("Shapes are random, sorted, reversed, equal, few and saw-tooth.")));
	pg_prng_seed(&prng, seed);
	for (int64 i = 0; i < input->count; i++)
	{
		int64		distinct = strcmp(shape, "equal") == 0 ? 1 : is_few ? FEW_VALUES : input->count;

		CHECK_IN_LOOP(i);
		if (i < distinct)
			make_value(input, &prng, input->values + i * width);
		else
			memcpy(input->values + i * width,
				   input->values + pg_prng_uint64_range(&prng, 0, distinct - 1) * width, width);
	}
	for (int64 begin = 0; step > 0 && begin < input->count; begin += step)
		input->sort_by_template(input->values + begin * width, Min(step, input->count - begin));
	if (strcmp(shape, "reversed") == 0)
		reverse_keys(input->type.kind, input->values, input->count);
}

static void
sort_by_kernels(const MethodInput *input, char *values, PenumbraWideKey *keys)
{
	PenumbraKeyKind kind = input->type.kind;

	if (input->type.order == ORDER_BYTES16)
	{
		penumbra_encode_bytes16(values, input->count, keys);
		sort_keys_in_place(kind, keys, input->count, false);
		penumbra_decode_bytes16(keys, input->count, values);
	}
	else if (input->type.order == ORDER_INTEGER)
		sort_keys_in_place(kind, values, input->count, false);
	else
	{
		encode_floats(kind, values, input->count);	/* made values are no NaNs */
		sort_keys_in_place(kind, values, input->count, false);
		decode_floats(kind, values, input->count);
	}
}

/* The least time of some rounds, for one input. */
static double
measure_method(MethodInput *input, SortFunction sort)
{
	int64		bytes = input->count * input->width;
	PenumbraWideKey *keys = alloc_keys(PENUMBRA_KEY_UINT128,
									   input->type.order == ORDER_BYTES16 ? input->count : 0);
	double		least = 0;

	for (int round = 0; round < ROUNDS; round++)
	{
		instr_time	begin;
		instr_time	end;

		for (int64 i = 0; i < input->repeats; i++)
			copy_in_pieces(input->sorted + i * bytes, input->values, bytes);
		INSTR_TIME_SET_CURRENT(begin);
		for (int64 i = 0; i < input->repeats; i++)
		{
			if (sort != NULL)
				sort(input->sorted + i * bytes, input->count);
			else
				sort_by_kernels(input, input->sorted + i * bytes, keys);
		}
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, begin);
		if (round == 0 || INSTR_TIME_GET_DOUBLE(end) < least)
			least = INSTR_TIME_GET_DOUBLE(end);
	}
	free_keys(keys);
	return least / input->repeats;
}

static void
report_method(ReturnSetInfo *rsinfo, const MethodInput *input, const char *method,
			  double seconds, double qsort_seconds)
{
	Datum		values[4];
	bool		nulls[4] = {false};

	values[0] = CStringGetTextDatum(method);
	values[1] = Float8GetDatum(seconds * 1e3);
	values[2] = Float8GetDatum(seconds * 1e9 / input->count);
	values[3] = Float8GetDatum(seconds > 0 ? qsort_seconds / seconds : 1);
	put_row(rsinfo, values, nulls);
}

Datum
penumbra_sort_compare_methods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MethodInput input = {0};
	char	   *shape = text_to_cstring(PG_GETARG_TEXT_PP(2));
	char	   *expected;
	double		seconds[3];
	int64		bytes;

	InitMaterializedSRF(fcinfo, 0);
	choose_sorts(&input, PG_GETARG_OID(0));
	input.count = PG_GETARG_INT32(1);
	if (input.count < 1 || input.count > (int64) MaxArraySize)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of elements must be between 1 and %d", (int) MaxArraySize)));
	input.repeats = Max(VALUES_MEASURED / input.count, 1);
	bytes = input.count * input.width;
	input.values = alloc_keys(input.type.kind, input.count);
	input.sorted = alloc_keys(input.type.kind, input.count * input.repeats);
	expected = alloc_keys(input.type.kind, input.count);
	make_values(&input, shape, PG_GETARG_INT64(3));

	seconds[0] = measure_method(&input, input.sort_by_qsort);
	memcpy(expected, input.sorted, bytes);
	seconds[1] = measure_method(&input, input.sort_by_template);
	if (memcmp(input.sorted, expected, bytes) != 0)
		elog(ERROR, "the sort template and qsort disagree");
	seconds[2] = measure_method(&input, NULL);
	if (memcmp(input.sorted, expected, bytes) != 0)
		elog(ERROR, "vqsort and qsort disagree");

	report_method(rsinfo, &input, "qsort", seconds[0], seconds[0]);
	report_method(rsinfo, &input, "template", seconds[1], seconds[0]);
	report_method(rsinfo, &input, "vqsort", seconds[2], seconds[0]);
	free_keys(expected);
	free_keys(input.sorted);
	free_keys(input.values);
	return (Datum) 0;
}
