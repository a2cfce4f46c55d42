/*-------------------------------------------------------------------------
 *
 * invalidation.c
 *	  Drops what DDL has made unreachable.
 *
 * P1 and P2 need none of this: the directory's key has the relation's file
 * number, which every rewrite changes, LSNs do not come back where a number is
 * used again, and each segment knows what of the catalog it was made for
 * (directory_segment_matches()).  P3 does: a rewrite copies xmins, so a chunk
 * must be gone before another file can have its key (rule W6 in README.md).
 *
 * A file is unlinked, and its number free, after the commit of a transaction
 * that dropped its relation or gave this another file: DROP, TRUNCATE, VACUUM
 * FULL, CLUSTER, REFRESH, ALTER TABLE with a rewrite or another tablespace.
 * All of them change the relation's row of pg_class under its
 * AccessExclusiveLock and make the change visible to the transaction's later
 * commands, which is when its own backend sees the relcache invalidation.
 * Catalogs cannot be read while one arrives; so it is noted, and looked at
 * just before the transaction commits or is prepared.  What is cached of a
 * relation under another key than its present one is dropped then, and of one
 * that is gone its expressions, too.  The lock
 * is held from before the invalidation to the end of the transaction, also of
 * a prepared one, so that no load comes between.  An error here aborts the
 * transaction, and the file stays.  A relation that moves with its database to
 * another tablespace and back has the tuples of its old key.  A crash empties
 * the cache; what comes back from disk may have missed a drop, so its rows are
 * proven under a further condition (row_proof.c).  What recovery replays needs
 * no care, since chunks loaded in recovery are not proven by P3.
 *
 * So with databases: DROP DATABASE calls the hook before it waits for the
 * database's sessions to end, and these may still load.  At commit they are
 * gone, and its lock keeps new ones out.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "cache/policy/database.h"
#include "cache/cached_expression.h"
#include "cache/directory.h"
#include "cache/invalidation.h"
#include "cache/stop_points.h"

#define SUSPECTS_MAX	1024

static object_access_hook_type previous_object_access_hook = NULL;
static Oid	suspects[SUSPECTS_MAX];
static int	suspect_count = 0;
static bool suspect_all = false;
static Oid	dropped_database = InvalidOid;

void
invalidation_check_relation(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	CacheKey	key = {.database = MyDatabaseId};

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		key.filenumber = form->relfilenode;
		key.tablespace = OidIsValid(form->reltablespace) ? form->reltablespace : MyDatabaseTableSpace;
		ReleaseSysCache(tuple);
	}
	else
		cached_expression_forget(MyDatabaseId, relid);
	directory_drop_relation_oid(MyDatabaseId, relid, &key);
}

uint64
invalidation_drop_lost_databases(void)
{
	RelationSummary *relations;
	int			count = directory_list_relations(InvalidOid, InvalidOid, &relations);
	uint64		dropped = 0;

	for (int i = 0; i < count; i++)
	{
		if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(relations[i].key.database)))
			dropped += directory_drop_relation(&relations[i].key);
	}
	return dropped;
}

/* What is cached of the relation (InvalidOid: of all). The list is a copy, so the directory's lock is not held. */
static void
check_cached(Oid relid)
{
	RelationSummary *relations;
	int			count = directory_list_relations(MyDatabaseId, relid, &relations);

	for (int i = 0; i < count; i++)
		invalidation_check_relation(relations[i].relid);
	if (relations != NULL)
		pfree(relations);
}

/*
 * Checks the relations that invalidation messages have named since the last call, or
 * all of them.  Who has changed a relation's file has a transaction number; messages
 * of others, who have looked themselves, are of use in recovery alone.
 */
static void
check_suspects(void)
{
	bool		is_mine = TransactionIdIsValid(GetTopTransactionIdIfAny());

	if (OidIsValid(MyDatabaseId) && (is_mine || RecoveryInProgress()))
	{
		for (int i = 0; i < suspect_count && !suspect_all; i++)
			check_cached(suspects[i]);
		if (suspect_all)
			check_cached(InvalidOid);
	}
	suspect_count = 0;
	suspect_all = false;
}

static void
check_before_commit(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
	{
		if (suspect_count > 0 || suspect_all)
			check_suspects();
		if (OidIsValid(dropped_database))
		{
			directory_drop_database(dropped_database);
			cached_expression_forget(dropped_database, InvalidOid);
		}
		database_check_drop();
	}
	dropped_database = InvalidOid;
	database_end_drop();
}

/* Only when there is something to do: the callback costs every transaction. */
static void
register_callback(void)
{
	static bool is_registered = false;

	if (!is_registered)
		RegisterXactCallback(check_before_commit, NULL);
	is_registered = true;
}

static void
note_suspect(Datum argument, Oid relid)
{
	if (directory_is_empty())
		return;
	register_callback();
	for (int i = 0; i < suspect_count; i++)
	{
		if (suspects[i] == relid)
			return;
	}
	/* all are named by messages that were lost, which are others' */
	if (OidIsValid(relid) ? suspect_count == SUSPECTS_MAX : RecoveryInProgress())
		suspect_all = true;
	else if (OidIsValid(relid))
		suspects[suspect_count++] = relid;
}

static void
note_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *argument)
{
	if (previous_object_access_hook)
		previous_object_access_hook(access, class_id, object_id, sub_id, argument);
	if (access == OAT_DROP && class_id == ExtensionRelationId)
	{
		database_note_drop(object_id);
		register_callback();
	}
	if (access == OAT_DROP && class_id == DatabaseRelationId)
	{
		dropped_database = object_id;
		register_callback();
		STOP_POINT("drop-database");
	}
}

void
invalidation_install_hooks(void)
{
	previous_object_access_hook = object_access_hook;
	object_access_hook = note_object_access;
	CacheRegisterRelcacheCallback(note_suspect, (Datum) 0);
}
