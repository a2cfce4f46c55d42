/*-------------------------------------------------------------------------
 *
 * element_type.c
 *	  How elements of a type are ordered.
 *
 *-------------------------------------------------------------------------
 */
#include "array_sort.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg_compat.h"

/* Sets order and kind of a base type whose values the kernels sort as they are; else order stays. */
void
lookup_key_kind(Oid element_type, ElementType *type)
{
	switch (element_type)
	{
		case INT2OID:
			type->kind = PENUMBRA_KEY_INT16;
			break;
		case INT4OID:
		case DATEOID:
		case FLOAT4OID:
			type->kind = PENUMBRA_KEY_INT32;
			break;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case CASHOID:
		case FLOAT8OID:
			type->kind = PENUMBRA_KEY_INT64;
			break;
		case UUIDOID:
			type->kind = PENUMBRA_KEY_UINT128;
			type->order = ORDER_BYTES16;
			return;
		default:
			return;
	}
	type->order = element_type == FLOAT4OID || element_type == FLOAT8OID
		? ORDER_FLOAT : ORDER_INTEGER;
}

int64
key_width(PenumbraKeyKind kind)
{
	switch (kind)
	{
		case PENUMBRA_KEY_INT16:
			return 2;
		case PENUMBRA_KEY_INT32:
			return 4;
		case PENUMBRA_KEY_INT64:
		case PENUMBRA_KEY_UINT64:
			return 8;
		case PENUMBRA_KEY_UINT128:
			break;
	}
	return 16;
}

/*
 * The type's sort support, with abbreviated keys where PostgreSQL trusts them
 * and their comparison is one of integers, so that the kernels can do it.
 */
static void
prepare_comparison(ElementType *type, Oid base_type)
{
	TypeCacheEntry *entry = lookup_type_cache(type->element_type, TYPECACHE_LT_OPR);
	SortSupport ssup = &type->sort_support;

	if (!OidIsValid(entry->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an ordering operator for type %s",
						format_type_be(type->element_type)),
				 errhint("Only arrays of types with a default btree operator class can be sorted.")));
	ssup->ssup_cxt = type->context;
	ssup->ssup_collation = type->collation;
	ssup->abbreviate = true;
	PrepareSortSupportFromOrderingOp(entry->lt_opr, ssup);

	type->order = ORDER_COMPARED;
	type->compare = ssup->comparator;
	if (ssup->abbrev_converter == NULL)
		return;
	type->compare = ssup->abbrev_full_comparator;
	if ((base_type == TEXTOID || base_type == VARCHAROID) && compat_collate_is_c(type->collation))
		type->order = ORDER_TEXT_C;
	else if (ssup->comparator == ssup_datum_unsigned_cmp)
	{
		type->order = ORDER_ABBREVIATED;
		type->key_flip = 0;
	}
	else if (base_type == NUMERICOID)
	{
		/* Signed, and in the opposite order. */
		type->order = ORDER_ABBREVIATED;
		type->key_flip = ~(UINT64CONST(1) << 63);
		type->keys_are_cheap = true;
	}
}

/*
 * Looked up once per call site, and again where the elements' type changes
 * (columns of type anyarray, as in pg_stats).  Without whole_values the caller adds a number to each key, so
 * that a key may have 64 bits.
 */
ElementType *
look_up_element_type(FunctionCallInfo fcinfo, Oid element_type, bool whole_values)
{
	ElementType *type = (ElementType *) fcinfo->flinfo->fn_extra;
	Oid			base_type;

	if (likely(type != NULL && type->element_type == element_type))
		return type;

	/* A look-up that fails leaves nothing half done behind. */
	fcinfo->flinfo->fn_extra = NULL;
	if (type != NULL)
	{
		if (type->context != NULL)
			MemoryContextDelete(type->context);
		pfree(type);
	}
	type = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ElementType));
	type->element_type = element_type;
	type->collation = PG_GET_COLLATION();
	get_typlenbyvalalign(element_type, &type->length, &type->by_value, &type->align);
	base_type = getBaseType(element_type);
	type->order = ORDER_COMPARED;
	lookup_key_kind(base_type, type);
	if (!ELEMENT_IS_FIXED_WIDTH(type) || (type->order == ORDER_BYTES16 && !whole_values))
	{
		type->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "penumbra_sort comparison",
											  ALLOCSET_SMALL_SIZES);
		prepare_comparison(type, base_type);
	}
	fcinfo->flinfo->fn_extra = type;
	return type;
}
