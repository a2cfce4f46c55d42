/*-------------------------------------------------------------------------
 *
 * database.c
 *	  Whether this database has the extension: the cache serves no other one.
 *
 * Every planning asks, so a backend remembers the answer.  pg_extension has no
 * system cache, but whoever creates or drops an extension creates or drops its
 * functions; so the answer holds until a message about pg_proc comes.
 *
 * A load holds a share lock on the extension to the end of its transaction, and
 * DROP EXTENSION an exclusive one.  So when the drop is about to commit nobody
 * loads, and who loads later finds no extension: what is cached and wanted of
 * the database is forgotten then, and nothing comes after.  A standby replays no
 * such lock, and a server may have run without the library; there the first
 * backend that finds no extension forgets what is cached.  It may do so before a
 * load ends; so on a standby a load looks again after each chunk that it cached.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "cache/cached_expression.h"
#include "cache/cache.h"
#include "cache/policy/database.h"
#include "cache/directory.h"
#include "cache/wanted.h"

#define EXTENSION_NAME	"penumbra"

static uint64 function_changes = 1;
static uint64 known_as_of = 0;
static bool is_served;
static bool is_dropping = false;

static void
note_function_change(Datum argument, int id, uint32 hash)
{
	function_changes++;
}

void
database_install_callback(void)
{
	CacheRegisterSyscacheCallback(PROCOID, note_function_change, (Datum) 0);
}

static void
forget_database(void)
{
	if (!cache_is_available())
		return;
	directory_drop_database(MyDatabaseId);
	wanted_forget_database(MyDatabaseId);
	cached_expression_forget(MyDatabaseId, InvalidOid);
}

/* The drop of this transaction, which may be rolled back, is left to its commit. */
bool
cache_serves_database(void)
{
	while (known_as_of != function_changes)
	{
		uint64		as_of = function_changes;

		is_served = OidIsValid(get_extension_oid(EXTENSION_NAME, true));
		known_as_of = as_of;
		if (!is_served && !is_dropping)
			forget_database();
	}
	return is_served;
}

/* Whoever waited for the lock may find another extension of this name behind it, or none. */
bool
database_lock_extension(bool wait)
{
	Oid			locked = InvalidOid;
	Oid			extension;

	while ((extension = get_extension_oid(EXTENSION_NAME, true)) != locked)
	{
		LOCKTAG		tag;

		if (OidIsValid(locked))
			UnlockDatabaseObject(ExtensionRelationId, locked, 0, AccessShareLock);
		if (!OidIsValid(extension))
			break;
		SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, extension, 0);
		if (LockAcquire(&tag, AccessShareLock, false, !wait) == LOCKACQUIRE_NOT_AVAIL)
			return false;
		AcceptInvalidationMessages();
		locked = extension;
	}
	return OidIsValid(extension);
}

void
database_check_in_recovery(void)
{
	if (!RecoveryInProgress())
		return;
	AcceptInvalidationMessages();
	if (cache_serves_database())
		return;
	forget_database();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("extension \"%s\" was dropped while columns were loaded", EXTENSION_NAME)));
}

/* The generic plans of all sessions, which may have nodes of ours, are made anew after the commit. */
void
database_note_drop(Oid extension)
{
	char	   *name = get_extension_name(extension);

	if (name == NULL || strcmp(name, EXTENSION_NAME) != 0)
		return;
	is_dropping = true;
	CacheInvalidateRelcacheAll();
}

/* The drop may have been rolled back to a savepoint, or the extension be there again. */
void
database_check_drop(void)
{
	if (is_dropping && !cache_serves_database())
		forget_database();
}

void
database_end_drop(void)
{
	is_dropping = false;
}
