/*-------------------------------------------------------------------------
 *
 * table_options.c
 *	  What the owner of a table says of caching it.
 *
 * Options are security labels: pg_dump has them, they are gone with the table,
 * rolled back with the transaction, and need no column of ours in a catalog.  A
 * column's label goes before its table's, and a partition's before those of the
 * tables that it is a partition of, whose columns it has by name.
 *
 * Labels have no system cache and send no invalidation.  They are read where
 * something is wanted or loaded, which costs more; what they change of what is
 * cached is done before the commit that changes them.  A load that goes on
 * meanwhile reads them at its end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_seclabel.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cache/cached_expression.h"
#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/policy/table_options.h"

#define PROVIDER	"penumbra"

/* Labels that this transaction changed are looked at before its commit. */
static bool is_relabelled = false;
static Oid	relabelled = InvalidOid;	/* the table; InvalidOid: several */

/* ---------------------------------------------------------------- labels - */

/* What labels say of a table and its columns, as far as they were read. */
typedef struct Labels
{
	bool		has_table;		/* one of the table was read */
	TableOptions options;
	Bitmapset  *never;			/* columns */
	Bitmapset  *allowed;
} Labels;

/* "priority=N"; 0: it is something else. */
static uint32
parse_priority(const char *label)
{
	static const char prefix[] = "priority=";
	const char *number = label + strlen(prefix);
	char	   *end;
	long		priority;

	if (strncmp(label, prefix, strlen(prefix)) != 0 || *number < '0' || *number > '9')
		return 0;
	priority = strtol(number, &end, 10);
	return *end == '\0' && priority >= 1 && priority <= PRIORITY_MAX ? (uint32) priority : 0;
}

/* False: it is no label of a table. */
static bool
parse_table_label(const char *label, TableOptions *options)
{
	*options = (TableOptions) {.is_never = strcmp(label, "never") == 0,.priority = 1};
	if (strcmp(label, "pin") == 0)
		options->priority = PRIORITY_PINNED;
	else if (!options->is_never)
		options->priority = parse_priority(label);
	return options->priority > 0;
}

static void
note_label(Labels *labels, Oid relid, Oid object, AttrNumber attnum, const char *label)
{
	if (attnum == 0)
	{
		labels->has_table = labels->has_table || parse_table_label(label, &labels->options);
		return;
	}
	if (object != relid)
	{
		char	   *name = get_attname(object, attnum, true);

		attnum = name != NULL ? get_attnum(relid, name) : InvalidAttrNumber;
	}
	if (attnum <= 0 || bms_is_member(attnum, labels->never) || bms_is_member(attnum, labels->allowed))
		return;
	if (strcmp(label, "never") == 0)
		labels->never = bms_add_member(labels->never, attnum);
	else
		labels->allowed = bms_add_member(labels->allowed, attnum);
}

/* Of a table and its columns, without those that are known from its partition. */
static void
read_labels(Relation catalog, Oid relid, Oid object, Labels *labels)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		had_table = labels->has_table;

	ScanKeyInit(&keys[0], Anum_pg_seclabel_objoid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	ScanKeyInit(&keys[1], Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	scan = systable_beginscan(catalog, SecLabelObjectIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TupleDesc	desc = RelationGetDescr(catalog);
		AttrNumber	attnum = (AttrNumber) ((FormData_pg_seclabel *) GETSTRUCT(tuple))->objsubid;
		bool		is_null;
		Datum		provider = heap_getattr(tuple, Anum_pg_seclabel_provider, desc, &is_null);
		Datum		label = heap_getattr(tuple, Anum_pg_seclabel_label, desc, &is_null);

		if (strcmp(TextDatumGetCString(provider), PROVIDER) == 0 && !(had_table && attnum == 0))
			note_label(labels, relid, object, attnum, TextDatumGetCString(label));
	}
	systable_endscan(scan);
}

TableOptions
table_options_read(Oid relid)
{
	Relation	catalog = table_open(SecLabelRelationId, AccessShareLock);
	Labels		labels = {.options = {.priority = 1}};
	List	   *ancestors = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;
	ListCell   *lc;

	read_labels(catalog, relid, relid, &labels);
	foreach(lc, ancestors)
		read_labels(catalog, relid, lfirst_oid(lc), &labels);
	table_close(catalog, AccessShareLock);
	labels.options.exceptions = labels.options.is_never ? labels.allowed : labels.never;
	return labels.options;
}

/* ---------------------------------------------------------------- uses --- */

bool
table_options_permit(const TableOptions *options, ColumnKey column)
{
	Bitmapset  *attributes;

	if (!column_key_is_expression(column))
		return bms_is_member(column_key_number(column), options->exceptions) == options->is_never;
	attributes = cached_expression_attributes(column);
	if (options->is_never)
		return attributes != NULL && bms_is_subset(attributes, options->exceptions);
	return attributes != NULL && !bms_overlap(attributes, options->exceptions);
}

bool
table_options_refuse(const TableOptions *options)
{
	return options->is_never && bms_is_empty(options->exceptions);
}

int
table_options_filter(const TableOptions *options, ColumnKey *columns, int ncolumns)
{
	int			count = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		if (table_options_permit(options, columns[i]))
			columns[count++] = columns[i];
	}
	return count;
}

/* Chunks are dropped as a whole: the columns that may stay are wanted again. */
static void
apply_to(const RelationSummary *relation)
{
	TableOptions options = table_options_read(relation->relid);
	ColumnSummary *columns;
	int			count = directory_list_columns(&relation->key, &columns);

	for (int i = 0; i < count; i++)
	{
		ColumnKey	column = columns[i].column;

		if (column_key_is_expression(column))
			column = cached_expression_key(relation->relid, column_key_number(column));
		if (table_options_permit(&options, column))
			continue;
		(void) directory_drop_relation(&relation->key);
		break;
	}
	pfree(columns);
	directory_set_priority(&relation->key, options.priority);
}

/* InvalidOid: to all relations of the database. */
void
table_options_apply(Oid relid)
{
	RelationSummary *relations;
	int			count = directory_list_relations(MyDatabaseId, relid, &relations);

	for (int i = 0; i < count; i++)
		apply_to(&relations[i]);
}

/* ---------------------------------------------------------------- SECURITY LABEL - */

static void
apply_before_commit(XactEvent event, void *argument)
{
	if ((event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) && is_relabelled &&
		cache_is_available())
		table_options_apply(relabelled);
	is_relabelled = false;
}

/*
 * SECURITY LABEL has checked that the user owns the table.  To pin it, or to raise
 * its priority, takes memory of other tables: that is the database owner's to decide.
 */
static void
check_label(const ObjectAddress *object, const char *label)
{
	static bool is_registered = false;
	TableOptions options;
	bool		is_column = object->objectSubId != 0;
	char		kind = object->classId == RelationRelationId ? get_rel_relkind(object->objectId) : '\0';

	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("only tables, materialized views and their columns have labels for penumbra")));
	if (label != NULL &&
		!(is_column ? strcmp(label, "never") == 0 || strcmp(label, "allow") == 0 :
		  parse_table_label(label, &options)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid label for penumbra: \"%s\"", label),
				 is_column ? errhint("A column's is \"never\" or \"allow\".") :
				 errhint("A table's is \"never\", \"pin\" or \"priority=N\" with N from 1 to %d.", PRIORITY_MAX)));
	if (label != NULL && !is_column && options.priority > 1 &&
		!has_privs_of_role(GetUserId(), ROLE_PG_DATABASE_OWNER))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set label \"%s\" for penumbra", label),
				 errdetail("It takes memory of other tables, which the owner of the database decides about.")));
	/* a partitioned table's hold for its partitions */
	if (kind == RELKIND_PARTITIONED_TABLE || (is_relabelled && relabelled != object->objectId))
		relabelled = InvalidOid;
	else
		relabelled = object->objectId;
	is_relabelled = true;
	if (!is_registered)
		RegisterXactCallback(apply_before_commit, NULL);
	is_registered = true;
}

void
table_options_install(void)
{
	register_label_provider(PROVIDER, check_label);
}
