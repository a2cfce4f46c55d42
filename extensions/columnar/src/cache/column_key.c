/*-------------------------------------------------------------------------
 *
 * column_key.c
 *	  Which column of a relation a cached column is, and what of the catalog its
 *	  values depend on.
 *
 * A page's LSN ties a segment to the tuples.  What the catalog adds to them is
 * compared by content: the descriptor may be of this transaction's own,
 * uncommitted rows of the catalog, and whatever comes of these (ROLLBACK TO,
 * ROLLBACK PREPARED, a crash), a segment is used where the same facts hold.
 *
 * - type and typmod: how a value's bytes are read.  A domain's base type does
 *   not change, and its constraints add nothing to a value.
 * - the missing value: what rows have that are older than the column.
 * - collation: compared, although segments, dictionaries and zone maps are in
 *   the order of bytes; so versions of collations and operator classes matter
 *   to nothing that is cached.
 * - dropped columns: refused; a number is used again only after a rollback, and
 *   then rows that have the column are dead.
 * - generated columns: stored values are in the tuples, and another expression
 *   rewrites them; virtual ones are NULL there, and are not read.
 * - TOAST: values out of line are written with the tuple that refers to them.
 * - enums: what is kept are OIDs, which say what is equal; a value is never
 *   removed from a type, and its order is asked of the catalog by each query.
 *   Other types whose values depend on rows of the catalog are not cached.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/tupdesc_details.h"
#include "utils/datum.h"

#include "cache/column_key.h"

ColumnKey *
column_keys_of_attributes(const List *attributes)
{
	ColumnKey  *keys = palloc(sizeof(ColumnKey) * Max(list_length(attributes), 1));
	ListCell   *lc;

	foreach(lc, attributes)
		keys[foreach_current_index(lc)] = column_key_of_attribute(lfirst_int(lc));
	return keys;
}

Form_pg_attribute
column_key_attribute(ColumnKey key, TupleDesc desc)
{
	if (key.attribute <= 0 || key.attribute > desc->natts ||
		TupleDescAttr(desc, key.attribute - 1)->attisdropped)
		return NULL;
	return TupleDescAttr(desc, key.attribute - 1);
}

static uint64
missing_hash(TupleDesc desc, Form_pg_attribute att)
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

ColumnFacts
column_key_facts(ColumnKey key, TupleDesc desc)
{
	Form_pg_attribute att = column_key_attribute(key, desc);

	if (att == NULL)
		return (ColumnFacts) {0};
	return (ColumnFacts) {
		.type_oid = att->atttypid,
		.typmod = att->atttypmod,
		.collation = att->attcollation,
		.missing = missing_hash(desc, att),
	};
}
