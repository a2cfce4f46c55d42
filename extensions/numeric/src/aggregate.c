/*-------------------------------------------------------------------------
 *
 * aggregate.c
 *	  sum, avg, variance and stddev of numeric.
 *
 * The state holds the sum, and for variances the sum of squares, as 128-bit
 * integers times a power of 10^4: no allocation per row, no carries.  Once a
 * number does not fit, the state becomes the server's own (its functions
 * build it from the bytes in which its parallel workers pass one), and the
 * server's transition functions go on from there.  See README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "libpq/pqformat.h"

#include "number.h"

extern Datum penumbra_numeric_div(PG_FUNCTION_ARGS);

/* 10^(4 * 9) is the largest power by which anything is aligned. */
#define ALIGNMENT_MAX NUMBER_SHORT_DIGITS_MAX
/* Squares of numbers below this fit, with room for 10 of them even at that size. */
#define SQUARED_MAX (UINT64CONST(1) << 62)

typedef struct SumState
{
	int128		sum;			/* times 10^(4 * exponent) */
	int128		sum_of_squares; /* times 10^(8 * exponent); if is_squared */
	int64		count;			/* finite numbers */
	int64		max_dscale_count;	/* how many of them have max_dscale */
	int64		nan_count;
	int64		positive_infinity_count;
	int64		negative_infinity_count;
	int			exponent;
	int			max_dscale;
	bool		is_squared;
	void	   *server_state;	/* if not NULL, it alone counts */
} SumState;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

static SumState *
sum_state_create(FunctionCallInfo fcinfo, bool is_squared)
{
	SumState   *state = MemoryContextAllocZero(aggregate_context(fcinfo), sizeof(SumState));

	state->is_squared = is_squared;
	return state;
}

/* Calls the server's function in the aggregate's context; is_null tells what it returned. */
static Datum
call_server(FunctionCallInfo fcinfo, PGFunction function, int nargs, const NullableDatum *arguments,
			bool *is_null)
{
	LOCAL_FCINFO(call, 2);
	Datum		result;

	InitFunctionCallInfoData(*call, fcinfo->flinfo, nargs, fcinfo->fncollation, fcinfo->context,
							 NULL);
	for (int i = 0; i < nargs; i++)
		call->args[i] = arguments[i];
	result = function(call);
	*is_null = call->isnull;
	return result;
}

/*
 * As the server's numericvar_serialize().  Not by way of a stored numeric,
 * whose weight and scale are too narrow: a square has twice those of the
 * largest operand.
 */
static void
send_sum(StringInfo bytes, int128 sum, int exponent, int dscale)
{
	int16		digits[NUMBER_COEFFICIENT_DIGITS_MAX];
	int			end = NUMBER_COEFFICIENT_DIGITS_MAX;
	int			first = number_split_coefficient(sum < 0 ? -(uint128) sum : (uint128) sum, digits);

	while (first < end && digits[first] == 0)
		first++;
	pq_sendint32(bytes, end - first);
	pq_sendint32(bytes, exponent + end - first - 1);
	pq_sendint32(bytes, sum < 0 ? 0x4000 : 0);
	pq_sendint32(bytes, dscale);
	while (first < end)
		pq_sendint16(bytes, digits[first++]);
}

static Datum
encode_sum(int128 sum, int exponent, int dscale)
{
	return number_encode_coefficient(sum < 0, sum < 0 ? -(uint128) sum : (uint128) sum, exponent,
									 dscale);
}

/* The bytes of the server's numeric_avg_serialize() or numeric_serialize(). */
static bytea *
serialize_short(const SumState *state)
{
	StringInfoData bytes;

	pq_begintypsend(&bytes);
	pq_sendint64(&bytes, state->count);
	send_sum(&bytes, state->sum, state->exponent, state->max_dscale);
	if (state->is_squared)
		send_sum(&bytes, state->sum_of_squares, 2 * state->exponent, 2 * state->max_dscale);
	pq_sendint32(&bytes, state->max_dscale);
	pq_sendint64(&bytes, state->max_dscale_count);
	pq_sendint64(&bytes, state->nan_count);
	pq_sendint64(&bytes, state->positive_infinity_count);
	pq_sendint64(&bytes, state->negative_infinity_count);
	return pq_endtypsend(&bytes);
}

/* A server's state in the current memory context. */
static void *
server_state_from_bytes(FunctionCallInfo fcinfo, bool is_squared, bytea *bytes)
{
	NullableDatum arguments[2] = {{PointerGetDatum(bytes), false}, {(Datum) 0, true}};
	bool		is_null;

	return DatumGetPointer(call_server(fcinfo,
									   is_squared ? numeric_deserialize : numeric_avg_deserialize,
									   2, arguments, &is_null));
}

/* The state as a server's one: its own, or one made for the moment. */
static void *
server_state_of(FunctionCallInfo fcinfo, const SumState *state)
{
	if (state->server_state != NULL)
		return state->server_state;
	return server_state_from_bytes(fcinfo, state->is_squared, serialize_short(state));
}

/*
 * For good: the server's transition functions then go on with it.  What was
 * deserialized is meant to be combined, and in some versions does not add up
 * squares; combined with nothing it becomes a full state in the aggregate's
 * context.
 */
static void
become_server_state(FunctionCallInfo fcinfo, SumState *state)
{
	NullableDatum arguments[2] = {{(Datum) 0, true}, {(Datum) 0, false}};
	bool		is_null;

	if (state->server_state != NULL)
		return;
	arguments[1].value = PointerGetDatum(server_state_of(fcinfo, state));
	state->server_state = DatumGetPointer(call_server(fcinfo,
													  state->is_squared ? numeric_combine
													  : numeric_avg_combine,
													  2, arguments, &is_null));
}

/* Lowers the exponent of the sums; false if they do not fit. */
static bool
lower_exponent(SumState *state, int exponent)
{
	int			difference = state->exponent - exponent;
	int128		sum = state->sum;
	int128		sum_of_squares = state->sum_of_squares;

	if (difference > ALIGNMENT_MAX ||
		__builtin_mul_overflow(sum, (int128) number_power_of_base(difference), &sum))
		return false;
	if (sum_of_squares != 0)
	{
		if (2 * difference > ALIGNMENT_MAX ||
			__builtin_mul_overflow(sum_of_squares, (int128) number_power_of_base(2 * difference),
								   &sum_of_squares))
			return false;
	}
	state->sum = sum;
	state->sum_of_squares = sum_of_squares;
	state->exponent = exponent;
	return true;
}

/* Brings the state and a coefficient of another exponent together; false if one does not fit. */
static pg_noinline bool
align_with_state(SumState *state, int exponent, uint128 *coefficient)
{
	int			difference = exponent - state->exponent;

	if (*coefficient == 0)
		return true;
	if (state->sum == 0 && state->sum_of_squares == 0)
	{
		state->exponent = exponent;
		return true;
	}
	if (difference < 0)
		return lower_exponent(state, exponent);
	return difference <= ALIGNMENT_MAX &&
		!__builtin_mul_overflow(*coefficient, number_power_of_base(difference), coefficient) &&
		(*coefficient >> 127) == 0;
}

/* The finite number as an integer times 10^(4 * state->exponent); false if the state cannot hold it. */
static inline bool
number_for_state(SumState *state, const NumberView *number, int128 *value)
{
	int			exponent = number_exponent(number);
	uint128		coefficient;

	if (unlikely(number->ndigits > NUMBER_SHORT_DIGITS_MAX))
		return false;
	coefficient = number_coefficient(number);
	if (exponent != state->exponent && !align_with_state(state, exponent, &coefficient))
		return false;
	*value = number->is_negative ? -(int128) coefficient : (int128) coefficient;
	return true;
}

/* Adds, or takes away, value and its square. */
static inline bool
add_to_sums(SumState *state, int128 value, bool is_inverse)
{
	int128		sum;
	int128		sum_of_squares = 0;

	if (is_inverse ? __builtin_sub_overflow(state->sum, value, &sum)
		: __builtin_add_overflow(state->sum, value, &sum))
		return false;
	if (state->is_squared)
	{
		int128		magnitude = value < 0 ? -value : value;
		int128		square;

		if (magnitude >= (int128) SQUARED_MAX)
			return false;
		square = magnitude * magnitude;
		if (is_inverse ? __builtin_sub_overflow(state->sum_of_squares, square, &sum_of_squares)
			: __builtin_add_overflow(state->sum_of_squares, square, &sum_of_squares))
			return false;
	}
	state->sum = sum;
	state->sum_of_squares = sum_of_squares;
	return true;
}

static int64 *
special_counter(SumState *state, uint16 special)
{
	switch (special)
	{
		case NUMBER_POSITIVE_INFINITY:
			return &state->positive_infinity_count;
		case NUMBER_NEGATIVE_INFINITY:
			return &state->negative_infinity_count;
		default:
			return &state->nan_count;
	}
}

/* A state has short sums until a number does not fit into them. From then on it is the server's. */
static void
accumulate(FunctionCallInfo fcinfo, SumState *state, Datum datum)
{
	NumberView	number;
	int128		value;

	if (unlikely(state->server_state != NULL))
	{
		NullableDatum arguments[2] = {{PointerGetDatum(state->server_state), false}, {datum, false}};
		bool		is_null;

		call_server(fcinfo, state->is_squared ? numeric_accum : numeric_avg_accum, 2, arguments,
					&is_null);
		return;
	}
	number_view(datum, &number);
	if (unlikely(number.special != 0))
	{
		(*special_counter(state, number.special))++;
		return;
	}
	if (unlikely(!number_for_state(state, &number, &value) || !add_to_sums(state, value, false)))
	{
		become_server_state(fcinfo, state);
		accumulate(fcinfo, state, datum);
		return;
	}
	state->count++;
	if (number.dscale > state->max_dscale)
	{
		state->max_dscale = number.dscale;
		state->max_dscale_count = 1;
	}
	else if (number.dscale == state->max_dscale)
		state->max_dscale_count++;
}

static inline Datum
transition(FunctionCallInfo fcinfo, bool is_squared)
{
	SumState   *state = PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);

	if (unlikely(state == NULL))
		state = sum_state_create(fcinfo, is_squared);
	if (!PG_ARGISNULL(1))
		accumulate(fcinfo, state, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(state);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_avg_accum);
Datum
penumbra_numeric_avg_accum(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, false);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_accum);
Datum
penumbra_numeric_accum(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, true);
}

/*
 * Whether a number of this scale can leave: the sum's display scale is the
 * largest of the numbers that remain, which is unknown once the last one of
 * the largest scale goes.  The server's rule, since answers show it.
 */
static bool
discard_scale(SumState *state, int dscale)
{
	if (dscale != state->max_dscale)
		return true;
	if (state->max_dscale_count > 1 || state->max_dscale == 0)
		state->max_dscale_count--;
	else if (state->count == 1)
	{
		state->max_dscale = 0;
		state->max_dscale_count = 0;
	}
	else
		return false;
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_accum_inv);
Datum
penumbra_numeric_accum_inv(PG_FUNCTION_ARGS)
{
	SumState   *state = PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);
	NullableDatum arguments[2] = {{(Datum) 0, false}, {(Datum) 0, false}};
	NumberView	number;
	int128		value;
	bool		is_null;

	if (state == NULL)
		elog(ERROR, "numeric_accum_inv called with NULL state");
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	if (state->server_state == NULL)
	{
		number_view(PG_GETARG_DATUM(1), &number);
		if (number.special != 0)
		{
			(*special_counter(state, number.special))--;
			PG_RETURN_POINTER(state);
		}
		/* It was added, so it fits, unless cancelling sums moved the exponent away from it. */
		if (number_for_state(state, &number, &value))
		{
			if (!discard_scale(state, number.dscale))
				PG_RETURN_NULL();
			if (add_to_sums(state, value, true))
			{
				state->count--;
				PG_RETURN_POINTER(state);
			}
			PG_RETURN_NULL();
		}
		become_server_state(fcinfo, state);
	}
	arguments[0].value = PointerGetDatum(state->server_state);
	arguments[1].value = PG_GETARG_DATUM(1);
	call_server(fcinfo, numeric_accum_inv, 2, arguments, &is_null);
	if (is_null)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

/* Adds up two short states; false, and nothing changed, if the sums do not fit. */
static bool
combine_short(SumState *into, const SumState *from)
{
	SumState	sum = *into;
	SumState	other = *from;

	if (sum.sum == 0 && sum.sum_of_squares == 0)
		sum.exponent = other.exponent;
	else if (other.sum == 0 && other.sum_of_squares == 0)
		other.exponent = sum.exponent;
	else if (sum.exponent > other.exponent ? !lower_exponent(&sum, other.exponent)
			 : !lower_exponent(&other, sum.exponent))
		return false;
	if (__builtin_add_overflow(sum.sum, other.sum, &sum.sum) ||
		__builtin_add_overflow(sum.sum_of_squares, other.sum_of_squares, &sum.sum_of_squares))
		return false;
	sum.count += other.count;
	sum.nan_count += other.nan_count;
	sum.positive_infinity_count += other.positive_infinity_count;
	sum.negative_infinity_count += other.negative_infinity_count;
	if (other.max_dscale > sum.max_dscale)
	{
		sum.max_dscale = other.max_dscale;
		sum.max_dscale_count = other.max_dscale_count;
	}
	else if (other.max_dscale == sum.max_dscale)
		sum.max_dscale_count += other.max_dscale_count;
	*into = sum;
	return true;
}

/* Short states are added up as they are. If the sums do not fit, both states become the server's. */
static Datum
combine(FunctionCallInfo fcinfo, bool is_squared)
{
	SumState   *into = PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);
	SumState   *from = PG_ARGISNULL(1) ? NULL : (SumState *) PG_GETARG_POINTER(1);
	NullableDatum arguments[2] = {{(Datum) 0, false}, {(Datum) 0, false}};
	bool		is_null;

	if (from == NULL)
	{
		if (into == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(into);
	}
	if (into == NULL)
		into = sum_state_create(fcinfo, is_squared);
	if (into->server_state == NULL && from->server_state == NULL && combine_short(into, from))
		PG_RETURN_POINTER(into);
	become_server_state(fcinfo, into);
	arguments[0].value = PointerGetDatum(into->server_state);
	arguments[1].value = PointerGetDatum(server_state_of(fcinfo, from));
	call_server(fcinfo, is_squared ? numeric_combine : numeric_avg_combine, 2, arguments, &is_null);
	PG_RETURN_POINTER(into);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_avg_combine);
Datum
penumbra_numeric_avg_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, false);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_combine);
Datum
penumbra_numeric_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, true);
}

/* Between processes of one server a short state travels as it is, a server's state in its bytes. */
PENUMBRA_SQL_FUNCTION(penumbra_numeric_serialize);
Datum
penumbra_numeric_serialize(PG_FUNCTION_ARGS)
{
	SumState   *state = (SumState *) PG_GETARG_POINTER(0);
	Size		server_bytes = 0;
	bytea	   *server_state = NULL;
	bytea	   *result;

	aggregate_context(fcinfo);
	if (state->server_state != NULL)
	{
		NullableDatum argument = {PointerGetDatum(state->server_state), false};
		bool		is_null;
		Datum		bytes = call_server(fcinfo,
										state->is_squared ? numeric_serialize : numeric_avg_serialize,
										1, &argument, &is_null);

		server_state = DatumGetByteaP(bytes);
		server_bytes = VARSIZE(server_state);
	}
	result = palloc(VARHDRSZ + sizeof(SumState) + server_bytes);
	SET_VARSIZE(result, VARHDRSZ + sizeof(SumState) + server_bytes);
	memcpy(VARDATA(result), state, sizeof(SumState));
	if (server_bytes > 0)
		memcpy(VARDATA(result) + sizeof(SumState), server_state, server_bytes);
	PG_RETURN_BYTEA_P(result);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_deserialize);
Datum
penumbra_numeric_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Size		server_bytes = VARSIZE_ANY_EXHDR(bytes) - sizeof(SumState);
	SumState   *state;

	if (VARSIZE_ANY_EXHDR(bytes) < sizeof(SumState))
		elog(ERROR, "invalid state of a numeric aggregate");
	aggregate_context(fcinfo);
	state = palloc(sizeof(SumState));
	memcpy(state, VARDATA_ANY(bytes), sizeof(SumState));
	state->server_state = NULL;
	if (server_bytes > 0)
	{
		bytea	   *server_state = palloc(server_bytes);

		memcpy(server_state, VARDATA_ANY(bytes) + sizeof(SumState), server_bytes);
		state->server_state = server_state_from_bytes(fcinfo, state->is_squared, server_state);
	}
	PG_RETURN_POINTER(state);
}

static inline SumState *
final_state(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : (SumState *) PG_GETARG_POINTER(0);
}

static bool
is_sum_of_finite(const SumState *state)
{
	return state->server_state == NULL && state->count > 0 && state->nan_count == 0 &&
		state->positive_infinity_count == 0 && state->negative_infinity_count == 0;
}

/* The server's final function, on a server's state made for it. */
static Datum
server_final(FunctionCallInfo fcinfo, PGFunction function)
{
	SumState   *state = final_state(fcinfo);
	NullableDatum argument = {(Datum) 0, true};
	bool		is_null;
	Datum		result;

	if (state != NULL)
	{
		/* In a window the state lives on, and stays short. */
		argument.value = PointerGetDatum(server_state_of(fcinfo, state));
		argument.isnull = false;
	}
	result = call_server(fcinfo, function, 1, &argument, &is_null);
	if (is_null)
		PG_RETURN_NULL();
	return result;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_sum);
Datum
penumbra_numeric_sum(PG_FUNCTION_ARGS)
{
	SumState   *state = final_state(fcinfo);

	if (state != NULL && is_sum_of_finite(state))
		return encode_sum(state->sum, state->exponent, state->max_dscale);
	return server_final(fcinfo, numeric_sum);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_avg);
Datum
penumbra_numeric_avg(PG_FUNCTION_ARGS)
{
	SumState   *state = final_state(fcinfo);

	if (state != NULL && is_sum_of_finite(state))
		return DirectFunctionCall2(penumbra_numeric_div,
								   encode_sum(state->sum, state->exponent, state->max_dscale),
								   number_from_int64(state->count));
	return server_final(fcinfo, numeric_avg);
}

#define VARIANCE_FUNCTION(name, server_function) \
PENUMBRA_SQL_FUNCTION(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	return server_final(fcinfo, server_function); \
}

VARIANCE_FUNCTION(penumbra_numeric_var_samp, numeric_var_samp)
VARIANCE_FUNCTION(penumbra_numeric_var_pop, numeric_var_pop)
VARIANCE_FUNCTION(penumbra_numeric_stddev_samp, numeric_stddev_samp)
VARIANCE_FUNCTION(penumbra_numeric_stddev_pop, numeric_stddev_pop)
