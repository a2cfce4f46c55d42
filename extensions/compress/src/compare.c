/*-------------------------------------------------------------------------
 *
 * compare.c
 *	  Equality by raw bytes, and comparisons of compressed_text and
 *	  compressed_bytea, also with text and bytea: a parameter of type text must
 *	  not turn a condition on an indexed column into one on a cast.
 *
 *	  Raw lengths that differ answer "equal?", so do hashes of raw bytes that
 *	  differ, and stored bytes that are the same.  What is left is mostly equal
 *	  values of different methods.
 *
 *-------------------------------------------------------------------------
 */
#include "compare.h"

#include "access/detoast.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "pg_compat.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"
#include "utils/varlena.h"
#include "value_cache.h"

PENUMBRA_SQL_FUNCTION(compressed_text_sortsupport);
PENUMBRA_SQL_FUNCTION(compressed_text_pattern_sortsupport);

/* Of the comparisons of this transaction */
static MemoryContext comparison_context = NULL;

static void
forget_context(void *arg)
{
	comparison_context = NULL;
}

MemoryContext
comparison_begin(void)
{
	if (comparison_context == NULL)
	{
		MemoryContextCallback *at_end = MemoryContextAlloc(TopTransactionContext, sizeof(*at_end));

		at_end->func = forget_context;
		MemoryContextRegisterResetCallback(TopTransactionContext, at_end);
		comparison_context = AllocSetContextCreate(TopTransactionContext,
												   "comparison of compressed values",
												   ALLOCSET_DEFAULT_SIZES);
	}
	/* one that raised an error, in a subtransaction, left it full */
	MemoryContextReset(comparison_context);
	return MemoryContextSwitchTo(comparison_context);
}

void
comparison_end(MemoryContext caller)
{
	MemoryContextSwitchTo(caller);
	MemoryContextReset(comparison_context);
}

static bool
same_bytes(const void *left, Size left_bytes, const void *right, Size right_bytes)
{
	return left_bytes == right_bytes && memcmp(left, right, left_bytes) == 0;
}

static bool
raw_alike(Datum left, Datum right)
{
	struct varlena *left_raw = cached_value(left);
	struct varlena *right_raw = cached_value(right);

	return same_bytes(VARDATA(left_raw), VARSIZE(left_raw) - VARHDRSZ,
					  VARDATA(right_raw), VARSIZE(right_raw) - VARHDRSZ);
}

/*
 * Three tests, the cheapest first. Lengths and hashes need the head of a compressed
 * value in TOAST alone. Then stored bytes are compared, and last raw bytes, since
 * equal values may be compressed in different ways.
 */
bool
compressed_equals_compressed(Datum left, Datum right)
{
	OpenValue	left_value;
	OpenValue	right_value;
	bool		differ;
	bool		alike;

	value_open_header(left, &left_value);
	value_open_header(right, &right_value);
	differ = left_value.header.raw_bytes != right_value.header.raw_bytes ||
		value_hash(&left_value) != value_hash(&right_value);
	value_close(&left_value);
	value_close(&right_value);
	if (differ)
		return false;

	value_open(left, &left_value);
	value_open(right, &right_value);
	alike = same_bytes(left_value.bytes, left_value.available,
					   right_value.bytes, right_value.available);
	value_close(&left_value);
	value_close(&right_value);
	return alike || raw_alike(left, right);
}

bool
compressed_equals_plain(Datum compressed, Datum plain)
{
	struct varlena *detoasted;
	struct varlena *raw;
	OpenValue	value;
	bool		differ;

	value_open_header(compressed, &value);
	differ = value.header.raw_bytes != toast_raw_datum_size(plain) - VARHDRSZ;
	detoasted = differ ? NULL : PG_DETOAST_DATUM_PACKED(plain);
	/* hashing costs little beside decompressing, but not beside a copy */
	if (!differ && !(value.header.flags & VALUE_IS_RAW))
		differ = value_hash(&value) != hash_raw(VARDATA_ANY(detoasted),
												VARSIZE_ANY_EXHDR(detoasted));
	value_close(&value);
	if (differ)
		return false;
	raw = cached_value(compressed);
	return same_bytes(VARDATA(raw), VARSIZE(raw) - VARHDRSZ, VARDATA_ANY(detoasted),
					  VARSIZE_ANY_EXHDR(detoasted));
}

/* Texts */

bool
is_deterministic(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for string comparison"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
	return collation == C_COLLATION_OID || collation == DEFAULT_COLLATION_OID ||
		get_collation_isdeterministic(collation);
}

static int
compare_texts(struct varlena *left, struct varlena *right, Oid collation)
{
	return varstr_cmp(VARDATA_ANY(left), VARSIZE_ANY_EXHDR(left),
					  VARDATA_ANY(right), VARSIZE_ANY_EXHDR(right), collation);
}

static int
text_compare(FunctionCallInfo fcinfo)
{
	return compare_texts(cached_value(PG_GETARG_DATUM(0)), cached_value(PG_GETARG_DATUM(1)),
						 PG_GET_COLLATION());
}

static int
text_compare_plain(FunctionCallInfo fcinfo)
{
	return compare_texts(cached_value(PG_GETARG_DATUM(0)), PG_GETARG_TEXT_PP(1),
						 PG_GET_COLLATION());
}

static int
plain_compare_text(FunctionCallInfo fcinfo)
{
	return compare_texts(PG_GETARG_TEXT_PP(0), cached_value(PG_GETARG_DATUM(1)),
						 PG_GET_COLLATION());
}

static bool
text_equal(FunctionCallInfo fcinfo)
{
	if (is_deterministic(PG_GET_COLLATION()))
		return compressed_equals_compressed(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	return text_compare(fcinfo) == 0;
}

static bool
text_equal_plain(FunctionCallInfo fcinfo)
{
	if (is_deterministic(PG_GET_COLLATION()))
		return compressed_equals_plain(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
	return text_compare_plain(fcinfo) == 0;
}

static bool
plain_equal_text(FunctionCallInfo fcinfo)
{
	if (is_deterministic(PG_GET_COLLATION()))
		return compressed_equals_plain(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
	return plain_compare_text(fcinfo) == 0;
}

COMPARISON_FUNCTIONS(compressed_text, text_compare, text_equal)
COMPARISON_FUNCTIONS(compressed_text_text, text_compare_plain, text_equal_plain)
COMPARISON_FUNCTIONS(text_compressed_text, plain_compare_text, plain_equal_text)

/* Byte strings */

static int
compare_bytes(struct varlena *left, struct varlena *right)
{
	Size		left_bytes = VARSIZE_ANY_EXHDR(left);
	Size		right_bytes = VARSIZE_ANY_EXHDR(right);
	int			result = memcmp(VARDATA_ANY(left), VARDATA_ANY(right),
								Min(left_bytes, right_bytes));

	return result != 0 ? result : (left_bytes > right_bytes) - (left_bytes < right_bytes);
}

static int
bytea_compare(FunctionCallInfo fcinfo)
{
	return compare_bytes(cached_value(PG_GETARG_DATUM(0)), cached_value(PG_GETARG_DATUM(1)));
}

static int
bytea_compare_plain(FunctionCallInfo fcinfo)
{
	return compare_bytes(cached_value(PG_GETARG_DATUM(0)), PG_GETARG_BYTEA_PP(1));
}

static int
plain_compare_bytea(FunctionCallInfo fcinfo)
{
	return compare_bytes(PG_GETARG_BYTEA_PP(0), cached_value(PG_GETARG_DATUM(1)));
}

static bool
bytea_equal(FunctionCallInfo fcinfo)
{
	return compressed_equals_compressed(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

static bool
bytea_equal_plain(FunctionCallInfo fcinfo)
{
	return compressed_equals_plain(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

static bool
plain_equal_bytea(FunctionCallInfo fcinfo)
{
	return compressed_equals_plain(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
}

COMPARISON_FUNCTIONS(compressed_bytea, bytea_compare, bytea_equal)
COMPARISON_FUNCTIONS(compressed_bytea_bytea, bytea_compare_plain, bytea_equal_plain)
COMPARISON_FUNCTIONS(bytea_compressed_bytea, plain_compare_bytea, plain_equal_bytea)

/* Sorting: what sorts texts, on decompressed ones; abbreviated keys spare most comparisons. */

static int
sort_compare(Datum left, Datum right, SortSupport ssup)
{
	SortSupport text = ssup->ssup_extra;
	MemoryContext caller = comparison_begin();
	Datum		left_text = PointerGetDatum(cached_value(left));
	Datum		right_text = PointerGetDatum(cached_value(right));
	int			result;

	/* what sorts texts keeps its buffers in the caller's context */
	MemoryContextSwitchTo(caller);
	result = text->abbrev_converter != NULL ?
		text->abbrev_full_comparator(left_text, right_text, text) :
		text->comparator(left_text, right_text, text);
	comparison_end(caller);
	return result;
}

static Datum
sort_abbreviate(Datum original, SortSupport ssup)
{
	SortSupport text = ssup->ssup_extra;
	MemoryContext caller = comparison_begin();
	Datum		value = PointerGetDatum(cached_value(original));
	Datum		result;

	MemoryContextSwitchTo(caller);
	result = text->abbrev_converter(value, text);
	comparison_end(caller);
	return result;
}

static bool
sort_abort(int memtupcount, SortSupport ssup)
{
	SortSupport text = ssup->ssup_extra;

	return text->abbrev_abort(memtupcount, text);
}

static void
prepare_sort(SortSupport ssup, Oid collation)
{
	MemoryContext caller = MemoryContextSwitchTo(ssup->ssup_cxt);
	SortSupport text = palloc0(sizeof(SortSupportData));

	*text = *ssup;
	varstr_sortsupport(text, TEXTOID, collation);
	ssup->ssup_extra = text;
	ssup->comparator = sort_compare;
	if (text->abbrev_converter != NULL)
	{
		ssup->comparator = text->comparator;
		ssup->abbrev_converter = sort_abbreviate;
		ssup->abbrev_abort = sort_abort;
		ssup->abbrev_full_comparator = sort_compare;
	}
	MemoryContextSwitchTo(caller);
}

Datum
compressed_text_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	prepare_sort(ssup, ssup->ssup_collation);
	PG_RETURN_VOID();
}

Datum
compressed_text_pattern_sortsupport(PG_FUNCTION_ARGS)
{
	prepare_sort((SortSupport) PG_GETARG_POINTER(0), C_COLLATION_OID);
	PG_RETURN_VOID();
}

/* Hashes: of what is equal to equal bytes.  Both sides have the same function. */

static uint32
compressed_raw_hash(FunctionCallInfo fcinfo)
{
	OpenValue	value;

	value_open_header(PG_GETARG_DATUM(0), &value);
	return value_hash(&value);
}

static uint32
plain_raw_hash(FunctionCallInfo fcinfo)
{
	struct varlena *raw = PG_GETARG_VARLENA_PP(0);

	return hash_raw(VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw));
}

/* Under a collation that finds different bytes equal, the server hashes the text. */
static bool
hash_by_collation(FunctionCallInfo fcinfo)
{
	return OidIsValid(PG_GET_COLLATION()) && !is_deterministic(PG_GET_COLLATION());
}

static Datum
hash_compressed(FunctionCallInfo fcinfo)
{
	if (hash_by_collation(fcinfo))
		return DirectFunctionCall1Coll(hashtext, PG_GET_COLLATION(),
									   PointerGetDatum(cached_value(PG_GETARG_DATUM(0))));
	return hash_uint32(compressed_raw_hash(fcinfo));
}

static Datum
hash_compressed_extended(FunctionCallInfo fcinfo)
{
	if (hash_by_collation(fcinfo))
		return DirectFunctionCall2Coll(hashtextextended, PG_GET_COLLATION(),
									   PointerGetDatum(cached_value(PG_GETARG_DATUM(0))),
									   PG_GETARG_DATUM(1));
	return hash_uint32_extended(compressed_raw_hash(fcinfo), PG_GETARG_INT64(1));
}

static Datum
hash_plain(FunctionCallInfo fcinfo)
{
	if (hash_by_collation(fcinfo))
		return DirectFunctionCall1Coll(hashtext, PG_GET_COLLATION(), PG_GETARG_DATUM(0));
	return hash_uint32(plain_raw_hash(fcinfo));
}

static Datum
hash_plain_extended(FunctionCallInfo fcinfo)
{
	if (hash_by_collation(fcinfo))
		return DirectFunctionCall2Coll(hashtextextended, PG_GET_COLLATION(), PG_GETARG_DATUM(0),
									   PG_GETARG_DATUM(1));
	return hash_uint32_extended(plain_raw_hash(fcinfo), PG_GETARG_INT64(1));
}

COMPARISON_FUNCTION(compressed_hash, , Datum, hash_compressed(fcinfo))
COMPARISON_FUNCTION(compressed_hash_extended, , Datum, hash_compressed_extended(fcinfo))
COMPARISON_FUNCTION(plain_hash, , Datum, hash_plain(fcinfo))
COMPARISON_FUNCTION(plain_hash_extended, , Datum, hash_plain_extended(fcinfo))
