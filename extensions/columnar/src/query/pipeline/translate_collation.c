/*-------------------------------------------------------------------------
 *
 * translate_collation.c
 *	  What the engine is told of a collation.
 *
 * The engine has the C library's locales, so it orders and folds text as
 * PostgreSQL does with libc.  The order of ICU is not known to it, nor are
 * its and the builtin provider's tables of letters beyond ASCII.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "cache/value_image.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translation.h"

/* A collation, or the database's default, as the catalog describes it. */
typedef struct CollationEntry
{
	char		provider;
	char	   *collate;		/* of libc */
	char	   *ctype;
	char	   *locale;			/* of the other providers */
} CollationEntry;

static char *
text_attribute(int cache, HeapTuple tuple, AttrNumber attribute)
{
	bool		isnull;
	Datum		datum = SysCacheGetAttr(cache, tuple, attribute, &isnull);

	return isnull ? pstrdup("") : TextDatumGetCString(datum);
}

/* Returns the reason to refuse the collation, or NULL. */
static const char *
look_up(Oid collation, CollationEntry *entry)
{
	bool		is_default = collation == DEFAULT_COLLATION_OID;
	int			cache = is_default ? DATABASEOID : COLLOID;
	HeapTuple	tuple;

	if (!get_collation_isdeterministic(collation))
		return "nondeterministic collation";
	tuple = SearchSysCache1(cache, ObjectIdGetDatum(is_default ? MyDatabaseId : collation));
	if (!HeapTupleIsValid(tuple))
		return "unknown collation";
	if (is_default)
	{
		entry->provider = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider;
		entry->collate = text_attribute(cache, tuple, Anum_pg_database_datcollate);
		entry->ctype = text_attribute(cache, tuple, Anum_pg_database_datctype);
		entry->locale = text_attribute(cache, tuple, compat_anum_database_locale);
	}
	else
	{
		entry->provider = ((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
		entry->collate = text_attribute(cache, tuple, Anum_pg_collation_collcollate);
		entry->ctype = text_attribute(cache, tuple, Anum_pg_collation_collctype);
		entry->locale = text_attribute(cache, tuple, compat_anum_collation_locale);
	}
	ReleaseSysCache(tuple);
	return NULL;
}

/* Sets *order for the order of text; NULL stands for bytes.  Returns the reason to refuse. */
static const char *
order_of(Oid collation, PenumbraCollation *order)
{
	CollationEntry entry;
	const char *reason;

	/* The C collation and the builtin provider's, all of which are bytewise. */
	if (compat_collate_is_c(collation))
		return NULL;
	if ((reason = look_up(collation, &entry)) != NULL)
		return reason;
	if (entry.provider != COLLPROVIDER_LIBC)
		return "ordering of text with an ICU collation";
	/* Its order is that of code points, which UTF-8's bytes have too. */
	if (pg_strcasecmp(entry.collate, "C.UTF-8") != 0 && pg_strcasecmp(entry.collate, "C.utf8") != 0)
		order->order_locale = entry.collate;
	return NULL;
}

/* Whether ICU changes ASCII letters as everybody does: not so the dotless i of tr and az. */
static bool
is_turkic(const char *locale)
{
	static const char *const languages[] = {"tr", "tur", "az", "aze"};
	size_t		length = strcspn(locale, "-_@");

	for (int i = 0; i < (int) lengthof(languages); i++)
	{
		if (strlen(languages[i]) == length &&
			pg_strncasecmp(locale, languages[i], length) == 0)
			return true;
	}
	return false;
}

/* The same for letter case. */
static const char *
case_of(Oid collation, PenumbraCollation *letters)
{
	CollationEntry entry;
	const char *reason;

	if (compat_ctype_is_c(collation))
		return NULL;
	if ((reason = look_up(collation, &entry)) != NULL)
		return reason;
	if (entry.provider == COLLPROVIDER_LIBC)
	{
		letters->case_rule = collation == DEFAULT_COLLATION_OID ? PENUMBRA_CASE_LIBC_DEFAULT
			: PENUMBRA_CASE_LIBC;
		letters->case_locale = entry.ctype;
		return NULL;
	}
	if (entry.provider == COLLPROVIDER_ICU && is_turkic(entry.locale))
		return "letter case with a Turkic ICU collation";
	letters->case_rule = PENUMBRA_CASE_ASCII_ONLY;
	return NULL;
}

/* Everything bytewise is right for any deterministic one. */
bool
translate_collation(Translation *translation, PenumbraFunction function, Oid collation,
					PenumbraCollation **found)
{
	static const PenumbraCollationUse uses[] = {
#define COLLATION_USE(id, name, collation, scale) PENUMBRA_COLLATION_##collation,
		PENUMBRA_FUNCTION_LIST(COLLATION_USE)
#undef COLLATION_USE
	};
	PenumbraCollation description = {0};
	const char *refusal = NULL;

	*found = NULL;
	if (!OidIsValid(collation))
		return true;
	switch (uses[function])
	{
		case PENUMBRA_COLLATION_NONE:
			break;
		case PENUMBRA_COLLATION_EQUALITY:
			if (!get_collation_isdeterministic(collation))
				refusal = "nondeterministic collation";
			break;
		case PENUMBRA_COLLATION_ORDER:
			refusal = order_of(collation, &description);
			break;
		case PENUMBRA_COLLATION_LETTERS:
			refusal = case_of(collation, &description);
			break;
	}
	if (refusal != NULL)
	{
		translation->reason = refusal;
		return false;
	}
	if (description.order_locale != NULL || description.case_rule != PENUMBRA_CASE_C)
	{
		*found = palloc(sizeof(PenumbraCollation));
		**found = description;
	}
	return true;
}

bool
translate_lower_case_order(Translation *translation, Oid collation, PenumbraCollation **found)
{
	const char *refusal;

	*found = palloc0(sizeof(PenumbraCollation));
	(*found)->compares_lower_case = true;
	refusal = order_of(collation, *found);
	if (refusal == NULL)
		refusal = case_of(DEFAULT_COLLATION_OID, *found);
	translation->reason = refusal != NULL ? refusal : translation->reason;
	return refusal == NULL;
}

bool
translate_has_collation(Translation *translation, Oid collation, Node *expr)
{
	if (OidIsValid(collation) || !OidIsValid(get_typcollation(exprType(expr))))
		return true;
	translation->reason = "indeterminate collation";
	return false;
}

bool
translate_have_collation(Translation *translation, Oid collation, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!translate_has_collation(translation, collation, lfirst(lc)))
			return false;
	}
	return true;
}

bool
translate_order_is_known(Translation *translation, Node *expr)
{
	const ValueImage *image = value_image_of(exprType(expr));
	PenumbraCollation order = {0};
	const char *refusal = NULL;

	if (image == NULL || image->order == VALUE_ORDER_OF_IMAGE)
		return true;
	if (image->order == VALUE_ORDER_OF_COLLATION)
		refusal = order_of(OidIsValid(image->order_collation) ? image->order_collation : exprCollation(expr), &order);
	if (image->order == VALUE_ORDER_OF_COLLATION && refusal == NULL && order.order_locale == NULL)
		return true;
	return translation_refuse(translation, psprintf("order of %s", format_type_be(exprType(expr)))) >= 0;
}

bool
translate_check_equality(Translation *translation, Oid collation)
{
	PenumbraCollation *unused;

	return translate_collation(translation, PENUMBRA_FN_EQ, collation, &unused);
}
