/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  See catalog.h.
 *
 *-------------------------------------------------------------------------
 */
#include "catalog.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "pg_compat.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#define EXTENSION_NAME "penumbra_compress"

Oid
catalog_schema(void)
{
	Oid			extension = get_extension_oid(EXTENSION_NAME, false);
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			schema = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return schema;
}

/* The tables have a few rows, and what is found is kept: no index is needed. */
static int
scan_rows(const char *table, AttrNumber column, Datum key, Oid key_type, int limit,
		  catalog_row_callback callback, void *arg)
{
	Relation	rel = table_open(get_relname_relid(table, catalog_schema()), AccessShareLock);
	ScanKeyData scan_key;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			found = 0;

	ScanKeyEntryInitialize(&scan_key, 0, column, BTEqualStrategyNumber, InvalidOid,
						   C_COLLATION_OID, key_type == INT8OID ? F_INT8EQ : F_TEXTEQ, key);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &scan_key);
	while (found < limit && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		found++;
		if (callback != NULL)
			callback(tuple, RelationGetDescr(rel), arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

bool
catalog_find(const char *table, AttrNumber column, Datum key, Oid key_type,
			 catalog_row_callback callback, void *arg)
{
	return scan_rows(table, column, key, key_type, 1, callback, arg) > 0;
}

int
catalog_count(const char *table, AttrNumber column, Datum key, Oid key_type)
{
	return scan_rows(table, column, key, key_type, INT_MAX, NULL, NULL);
}
