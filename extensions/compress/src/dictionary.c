/*-------------------------------------------------------------------------
 *
 * dictionary.c
 *	  See dictionary.h.
 *
 *	  A backend remembers which id a number has, as dictionaries are not changed,
 *	  and dropped only when no other backend is there, until a transaction is
 *	  rolled back: it may have made the dictionary, and no value must need one
 *	  that is not there.  That a
 *	  number has none is remembered until the end of the transaction, as a
 *	  restore may look for it once per row.
 *
 *-------------------------------------------------------------------------
 */
#include "dictionary.h"

#include <xxhash.h>

#include "access/xact.h"
#include "catalog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

typedef struct NumberEntry
{
	uint32		number;			/* key */
	uint32		id;				/* 0: there was none */
	LocalTransactionId looked_in;	/* then: the transaction */
} NumberEntry;

static HTAB *ids_by_number = NULL;

uint32
dictionary_id(const char *content, Size bytes)
{
	uint32		id = XXH3_64bits(content, bytes);

	return dictionary_number(id) != 0 ? id : id | 1;
}

static void
copy_content(HeapTuple row, TupleDesc desc, void *arg)
{
	bool		is_null;
	Datum		content = heap_getattr(row, Anum_dictionaries_content, desc, &is_null);

	*(bytea **) arg = DatumGetByteaPCopy(content);
}

bytea *
dictionary_content(uint32 id)
{
	bytea	   *content;

	if (!catalog_find("compression_dictionaries", Anum_dictionaries_id, Int64GetDatum(id), INT8OID,
					  copy_content, &content))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("compression dictionary %u does not exist", id)));
	return content;
}

static void
copy_id(HeapTuple row, TupleDesc desc, void *arg)
{
	bool		is_null;

	*(uint32 *) arg = DatumGetInt64(heap_getattr(row, Anum_dictionaries_id, desc, &is_null));
}

void
dictionary_forget_numbers(void)
{
	if (ids_by_number != NULL)
		hash_destroy(ids_by_number);
	ids_by_number = NULL;
}

static void
forget_at_abort(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		dictionary_forget_numbers();
}

static void
forget_at_subabort(SubXactEvent event, SubTransactionId self, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		dictionary_forget_numbers();
}

void
dictionary_init(void)
{
	RegisterXactCallback(forget_at_abort, NULL);
	RegisterSubXactCallback(forget_at_subabort, NULL);
}

/*
 * Returns 0 if there is no such dictionary. That is remembered for this transaction
 * only: while a dump is restored, the row may come after the values.
 */
uint32
dictionary_id_by_number(uint32 number)
{
	NumberEntry *entry;
	bool		found;

	if (ids_by_number == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(NumberEntry)};

		ids_by_number = hash_create("compression dictionaries", 16, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(ids_by_number, &number, HASH_ENTER, &found);
	if (!found)
	{
		entry->id = 0;
		entry->looked_in = InvalidLocalTransactionId;
	}
	if (entry->id != 0 || entry->looked_in == compat_local_xid())
		return entry->id;
	if (!catalog_find("compression_dictionaries", Anum_dictionaries_number, Int64GetDatum(number), INT8OID,
					  copy_id, &entry->id))
	{
		entry->looked_in = compat_local_xid();
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("compression dictionary number %u does not exist", number),
				 errdetail("Values are compressed without it."),
				 errhint("If a dump is being restored, call recompress() on the column when all of it is there.")));
	}
	return entry->id;
}

uint32
dictionary_id_by_name(const char *name)
{
	uint32		id;

	return catalog_find("compression_dictionaries", Anum_dictionaries_name, CStringGetTextDatum(name), TEXTOID,
						copy_id, &id) ? id : 0;
}

typedef struct NameAndOwner
{
	char	   *name;
	char	   *owner;
} NameAndOwner;

static void
copy_names(HeapTuple row, TupleDesc desc, void *arg)
{
	NameAndOwner *names = arg;
	bool		is_null;

	names->name = TextDatumGetCString(heap_getattr(row, Anum_dictionaries_name, desc, &is_null));
	names->owner = TextDatumGetCString(heap_getattr(row, Anum_dictionaries_owner, desc, &is_null));
}

/* Owners are names, as a dump may restore them before the role. */
void
dictionary_check_use(uint32 number)
{
	NameAndOwner names;

	if (superuser() || !catalog_find("compression_dictionaries", Anum_dictionaries_number,
									 Int64GetDatum(number), INT8OID, copy_names, &names))
		return;
	if (!has_privs_of_role(GetUserId(), get_role_oid(names.owner, true)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for compression dictionary \"%s\"", names.name),
				 errdetail("It was trained on values of role \"%s\", which sizes of compressed values tell about.",
						   names.owner)));
}
