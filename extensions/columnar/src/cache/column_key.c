/*-------------------------------------------------------------------------
 *
 * column_key.c
 *	  Which column of a relation a cached column is.
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/tupdesc_details.h"
#include "utils/datum.h"

#include "cache/column_key.h"

Form_pg_attribute
column_key_attribute(ColumnKey key, TupleDesc desc)
{
	if (key.number <= 0 || key.number > desc->natts || TupleDescAttr(desc, key.number - 1)->attisdropped)
		return NULL;
	return TupleDescAttr(desc, key.number - 1);
}

uint64
column_key_missing(TupleDesc desc, Form_pg_attribute att)
{
	const AttrMissing *missing;

	if (!att->atthasmissing || desc->constr == NULL || desc->constr->missing == NULL)
		return 0;
	missing = &desc->constr->missing[att->attnum - 1];
	if (!missing->am_present)
		return 0;
	if (att->attbyval)
		return XXH3_64bits(&missing->am_value, sizeof(Datum)) | 1;
	return XXH3_64bits(DatumGetPointer(missing->am_value),
					   datumGetSize(missing->am_value, false, att->attlen)) | 1;
}
