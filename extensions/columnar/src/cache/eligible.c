/*-------------------------------------------------------------------------
 *
 * eligible.c
 *	  Which relations and columns can be cached at all.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "mb/pg_wchar.h"
#include "utils/acl.h"

#include "cache/column_facts.h"
#include "cache/cache.h"
#include "pg_compat.h"
#include "cache/region.h"
#include "cache/value_image.h"

bool
cache_is_available(void)
{
	return region_is_reserved();
}

/*
 * A cached page is proven by LSNs and by the visibility map. So the cache refuses
 * tables whose changes are not logged. It also refuses files that this transaction
 * made: no other session sees them, and a rollback removes them.
 */
const char *
cache_refusal_of_relation(Relation rel)
{
	int			encoding = GetDatabaseEncoding();

	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_MATVIEW:
			break;
		case RELKIND_PARTITIONED_TABLE:
			return "partitioned table";
		case RELKIND_VIEW:
			return "view";
		case RELKIND_FOREIGN_TABLE:
			return "foreign table";
		default:
			return "not a table";
	}
	if (IsCatalogRelation(rel) || IsToastRelation(rel))
		return "system catalog";
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return "not a heap table";
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return "temporary table";
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		return "unlogged table";
	if (rel->rd_createSubid != InvalidSubTransactionId ||
		compat_rel_new_subid(rel) != InvalidSubTransactionId ||
		compat_rel_first_subid(rel) != InvalidSubTransactionId)
		return "created, truncated or rewritten in this transaction";
	if (!RelationNeedsWAL(rel))
		return "changes are not logged";
	if (compat_old_snapshots_expire())
		return "old_snapshot_threshold is set";
	if (encoding != PG_UTF8 && pg_encoding_max_length(encoding) > 1)
		return "multi-byte server encoding other than UTF8";
	return NULL;
}

bool
cache_type_of(Oid type_oid, PenumbraType *type)
{
	const ValueImage *image = value_image_of(type_oid);

	if (image != NULL)
		*type = image->type;
	return image != NULL;
}

bool
cache_type_has_parts(Oid type_oid)
{
	const ValueImage *image = value_image_of(type_oid);

	return image == NULL || image->composed != NULL;
}

bool
cache_type_is_composed(Oid type_oid)
{
	const ValueImage *image = value_image_of(type_oid);

	return image != NULL && image->composed != NULL;
}

bool
cache_type_of_column(ColumnKey column, TupleDesc desc, PenumbraType *type)
{
	Form_pg_attribute att;

	if (column_key_is_expression(column))
		return cache_type_of(column_key_facts(column, desc).type_oid, type);
	att = column_key_attribute(column, desc);
	return att != NULL && !compat_attribute_is_virtual(att) && !cache_type_is_composed(att->atttypid) &&
		cache_type_of(att->atttypid, type);
}

bool
cache_may_read(Oid user, Oid relid, AttrNumber attnum)
{
	if (pg_class_aclcheck(relid, user, ACL_SELECT) == ACLCHECK_OK)
		return true;
	if (attnum != 0)
		return pg_attribute_aclcheck(relid, attnum, user, ACL_SELECT) == ACLCHECK_OK;
	return pg_attribute_aclcheck_all(relid, user, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}
