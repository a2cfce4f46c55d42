/*-------------------------------------------------------------------------
 *
 * column_facts.c
 *	  What of the catalog the values of a cached column depend on.
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
 * - composites: the attributes that the type has, as their keys are made of these.  A
 *   composite is locked before its attributes are looked at (composed_image.c).
 * - types that are not PostgreSQL's own: in which form they are kept (user_type.c).
 *   Other types whose values depend on rows of the catalog are not cached.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "cache/cached_expression.h"
#include "cache/column_facts.h"
#include "cache/user_type.h"

ColumnKey
column_key_now(ColumnKey key, TupleDesc desc)
{
	return column_key_is_expression(key) ? cached_expression_key(cached_expression_relid(desc), key.number) : key;
}

ColumnKey *
column_keys_now(TupleDesc desc)
{
	int			places = column_key_places(desc);
	ColumnKey  *keys = palloc(sizeof(ColumnKey) * places);

	cached_expression_keys(cached_expression_relid(desc), keys);
	for (int i = COLUMN_KEY_EXPRESSIONS; i < places; i++)
		keys[i] = column_key_of_place(i);
	return keys;
}

ColumnFacts
column_key_facts(ColumnKey key, TupleDesc desc)
{
	Form_pg_attribute att;
	uint64		shape;

	if (column_key_is_expression(key))
		return cached_expression_facts(key, desc);
	att = column_key_attribute(key, desc);
	if (att == NULL)
		return (ColumnFacts) {0};
	shape = user_type_shape(att->atttypid);
	return (ColumnFacts) {
		.type_oid = att->atttypid,
		.typmod = att->atttypmod,
		.collation = att->attcollation,
		.content = shape == 0 ? column_key_missing(desc, att) : hash_combine64(column_key_missing(desc, att), shape),
	};
}

bool
column_key_name(ColumnKey key, Relation rel, NameData *name)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute att = column_key_attribute(key, desc);
	const char *text = column_key_is_expression(key) ? cached_expression_text(column_key_now(key, desc), rel)
		: att == NULL ? NULL : NameStr(att->attname);

	if (text != NULL)
		namestrcpy(name, text);
	return text != NULL;
}
