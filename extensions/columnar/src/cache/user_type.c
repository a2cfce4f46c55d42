/*-------------------------------------------------------------------------
 *
 * user_type.c
 *	  What the engine has in place of values of types without a form of their own: those that
 *	  extensions and users made, and some of PostgreSQL's.
 *
 * An image is a value's bytes, and nothing of the type's is called to make one: a
 * load may be a superuser's.  What is equal the image does not tell, unless the type
 * is compared by a function of PostgreSQL's own: queries compare other keys then,
 * in the user's name (comparison_key.h of the queries).  Operator classes may come and
 * go, so which image it is is part of the facts of what is cached (column_facts.c).
 *
 * Types, functions in C and operator classes are made by superusers alone, so
 * their names are trusted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "cache/user_type.h"
#include "pg_compat.h"

#define CITEXT_LIBRARY	"$libdir/citext"

/* ---------------------------------------------------------------- functions */

/* Of a function in the language: its name there, and its library; NULL: it is in another language. */
static char *
source_of(Oid function_oid, Oid language, char **library)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function_oid));
	char	   *name = NULL;
	bool		isnull = false;
	Datum		datum;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == language)
	{
		name = TextDatumGetCString(SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull));
		datum = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
		*library = isnull ? NULL : TextDatumGetCString(datum);
	}
	ReleaseSysCache(tuple);
	return name;
}

char *
user_type_citext_function(Oid function_oid)
{
	char	   *library = NULL;
	char	   *name;

	if (function_oid < FirstNormalObjectId)
		return NULL;
	name = source_of(function_oid, ClanguageId, &library);
	return name != NULL && library != NULL && strcmp(library, CITEXT_LIBRARY) == 0 ? name : NULL;
}

Oid
user_type_internal_function(Oid function_oid)
{
	char	   *library;
	char	   *name;

	if (function_oid < FirstNormalObjectId)
		return InvalidOid;
	name = source_of(function_oid, INTERNALlanguageId, &library);
	return name == NULL ? InvalidOid : fmgr_internal_function(name);
}

/* ---------------------------------------------------------------- values - */

static uint64
encode_word(Datum value, uint32 *length)
{
	return (uint64) value;
}

static Datum
decode_word(uint64 image, uint32 length)
{
	return (Datum) image;
}

static uint64
encode_bytes(Datum value, uint32 *length)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

	*length = VARSIZE_ANY_EXHDR(packed);
	return (uint64) (uintptr_t) VARDATA_ANY(packed);
}

/* Functions of the type may look at what is behind a long header without copying it. */
static Datum
decode_bytes(uint64 image, uint32 length)
{
	struct varlena *value = palloc(VARHDRSZ + (Size) length);

	SET_VARSIZE(value, VARHDRSZ + (Size) length);
	memcpy(VARDATA(value), (const void *) (uintptr_t) image, length);
	return PointerGetDatum(value);
}

static Datum
decode_fixed_bytes(uint64 image, uint32 length)
{
	void	   *value = palloc(length);

	memcpy(value, (const void *) (uintptr_t) image, length);
	return PointerGetDatum(value);
}

/* ---------------------------------------------------------------- types --- */

#define FIXED_BYTES_MAX	256

static const ValueImage integers = {PENUMBRA_INT8,.shape = 1};
static const ValueImage lowered = {PENUMBRA_TEXT,.equality = VALUE_EQUAL_IN_LOWER_CASE,.order = VALUE_ORDER_UNKNOWN,
.shape = 2};
static const ValueImage words = {PENUMBRA_INT8, encode_word, decode_word,.equality = VALUE_EQUAL_BY_TYPE,
.order = VALUE_ORDER_UNKNOWN,.shape = 3};
static const ValueImage strings = {PENUMBRA_TEXT, encode_bytes, decode_bytes,.equality = VALUE_EQUAL_BY_TYPE,
.order = VALUE_ORDER_UNKNOWN,.shape = 4};

static const ValueImage *
image_of_bytes(int16 length, bool is_by_value)
{
	static ValueImage fixed[FIXED_BYTES_MAX + 1];

	if (is_by_value)
		return &words;
	if (length < 0)
		return length == -1 ? &strings : NULL;
	if (length > FIXED_BYTES_MAX)
		return NULL;
	fixed[length] = (ValueImage) {PENUMBRA_TEXT,.decode = decode_fixed_bytes,.fixed_bytes = length,
		.equality = VALUE_EQUAL_BY_TYPE,.order = VALUE_ORDER_UNKNOWN,.shape = 5
	};
	return &fixed[length];
}

/* By the type's own order or, if it has none, by its own hash: one of a type with the same bytes is left. */
static bool
has_own_equality(Oid type_oid)
{
	int			wanted = TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC | TYPECACHE_BTREE_OPFAMILY |
		TYPECACHE_HASH_OPFAMILY;
	const TypeCacheEntry *type = lookup_type_cache(type_oid, wanted);

	if (!OidIsValid(type->eq_opr))
		return false;
	return OidIsValid(type->btree_opf) ? OidIsValid(type->cmp_proc) && type->btree_opintype == type_oid
		: OidIsValid(type->hash_proc) && type->hash_opintype == type_oid;
}

const ValueImage *
user_type_image(Oid type_oid)
{
	TypeCacheEntry *type;
	char	   *equality;

	if (get_typtype(type_oid) != TYPTYPE_BASE || !has_own_equality(type_oid))
		return NULL;
	type = lookup_type_cache(type_oid, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC);
	equality = user_type_citext_function(get_opcode(type->eq_opr));
	if (equality != NULL && strcmp(equality, "citext_eq") == 0)
		return &lowered;
	if (user_type_internal_function(type->cmp_proc) == F_BTINT8CMP && type->typbyval && type->typlen == sizeof(int64))
		return &integers;
	return image_of_bytes(type->typlen, type->typbyval);
}

uint64
user_type_shape(Oid type_oid)
{
	const ValueImage *image = type_oid < FirstNormalObjectId ? NULL : user_type_image(getBaseType(type_oid));

	return image == NULL ? 0 : image->shape;
}
