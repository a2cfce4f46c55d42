/*-------------------------------------------------------------------------
 *
 * train.c
 *	  Dictionaries are trained from a sample of a column.
 *
 *	  Rows of "compression_dictionaries" are only added, and dropped one by one with a proof
 *	  that nothing uses them (drop.c): a trigger of the table refuses the rest.
 *	  So the owner of a table may train, not everybody who can read it, and
 *	  has a quota.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "dictionary.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "storage/lmgr.h"
#include "train.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "zstd_training.h"

PENUMBRA_SQL_FUNCTION(train_dictionary);
PENUMBRA_SQL_FUNCTION(guard_dictionaries);

#define MIN_DICTIONARY_BYTES 256
#define MAX_DICTIONARY_BYTES (1024 * 1024)

/* zstd's advice; more samples only take longer. */
#define SAMPLE_BYTES_PER_BYTE 100
/* About 1.5 s of a processor. */
#define MAX_SAMPLE_BYTES (8 * 1024 * 1024)
#define MAX_SAMPLE_VALUES 100000

int			dictionaries_per_role = 100;
bool		dictionary_is_unused = false;

/* Where a zstd dictionary has its own id: RFC 8878, section 5. */
#define ZSTD_ID_OFFSET 4

Dictionary
dictionary_train(const Sample *sample, Size size)
{
	Dictionary	dictionary = {.content = palloc(size)};

	if (sample->values > 0)
		dictionary.bytes = zstd_train(sample, dictionary.content, size);
	return dictionary;
}

static void
copy_name(HeapTuple row, TupleDesc desc, void *arg)
{
	bool		is_null;

	*(char **) arg = TextDatumGetCString(heap_getattr(row, Anum_dictionaries_name, desc, &is_null));
}

/*
 * Gives the dictionary an id whose number is free, by changing the id that
 * zstd has put into the content, which nothing reads.
 */
static uint32
choose_id(Dictionary *dictionary)
{
	char	   *name;

	for (int attempt = 0; attempt <= DICTIONARY_NUMBER_MAX; attempt++)
	{
		uint32		id = dictionary_id(dictionary->content, dictionary->bytes);

		if (!catalog_find("compression_dictionaries", Anum_dictionaries_number,
						  Int64GetDatum(dictionary_number(id)), INT8OID, copy_name, &name))
			return id;
		dictionary->content[ZSTD_ID_OFFSET + attempt % 2]++;
	}
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("there is no free number for a compression dictionary"),
			 errdetail("A database can have %d of them.", DICTIONARY_NUMBER_MAX)));
}

/* The name that is asked for, or one after the column. */
static char *
choose_name(const SampledColumn *column, const char *wanted)
{
	if (wanted != NULL)
	{
		if (wanted[0] == '\0' || strspn(wanted, "-0123456789") > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_NAME),
					 errmsg("invalid name of a compression dictionary: \"%s\"", wanted),
					 errhint("A name does not begin with a digit.")));
		if (dictionary_id_by_name(wanted) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("compression dictionary \"%s\" already exists", wanted)));
		return pstrdup(wanted);
	}
	return dictionary_free_name(column);
}

char *
dictionary_free_name(const SampledColumn *column)
{
	char	   *base = psprintf("%s_%s", get_rel_name(column->relation), column->attribute_name);
	char	   *name = base;

	for (int i = 2; dictionary_id_by_name(name) != 0; i++)
		name = psprintf("%s_%d", base, i);
	return name;
}

static Oid
relation_owner(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * A dictionary belongs to the owner of its table, which may have so many; what
 * superusers train is not refused.  The lock makes the owner's sessions wait for
 * each other's new rows.
 */
static void
check_quota(Oid owner)
{
	if (superuser())
		return;
	LockSharedObject(AuthIdRelationId, owner, 0, ShareUpdateExclusiveLock);
	if (catalog_count("compression_dictionaries", Anum_dictionaries_owner,
					  CStringGetTextDatum(GetUserNameFromId(owner, false)), TEXTOID) >=
		dictionaries_per_role)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("role \"%s\" has as many compression dictionaries as it may",
						GetUserNameFromId(owner, false)),
				 errdetail("\"penumbra_compress.dictionaries_per_role\" is %d.",
						   dictionaries_per_role),
				 errhint("A superuser can set it for the role, or drop dictionaries that nothing uses.")));
}

/* With the privileges of the owner of the extension's table. */
static void
insert_row(uint32 id, const char *name, const Dictionary *dictionary, const SampledColumn *column)
{
	Oid			schema = catalog_schema();
	Oid			table = get_relname_relid("compression_dictionaries", schema);
	Oid			types[] = {INT8OID, INT8OID, TEXTOID, BYTEAOID, TEXTOID, TEXTOID};
	bytea	   *content = palloc(VARHDRSZ + dictionary->bytes);
	Oid			user;
	int			security;
	Datum		values[] = {
		Int64GetDatum(id), Int64GetDatum(dictionary_number(id)), CStringGetTextDatum(name),
		PointerGetDatum(content),
		CStringGetTextDatum(psprintf("%s.%s", column->relation_name,
									 quote_identifier(column->attribute_name))),
		CStringGetTextDatum(GetUserNameFromId(relation_owner(column->relation), false))
	};

	SET_VARSIZE(content, VARHDRSZ + dictionary->bytes);
	memcpy(VARDATA(content), dictionary->content, dictionary->bytes);
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(relation_owner(table), security | SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
	SPI_execute_with_args(psprintf("INSERT INTO %s (id, number, name, content, trained_on, owner)"
								   " VALUES ($1, $2, $3, $4, $5, $6)",
								   quote_qualified_identifier(get_namespace_name(schema),
															  "compression_dictionaries")),
						  lengthof(types), types, values, NULL, false, 0);
	SPI_finish();
	SetUserIdAndSecContext(user, security);
}

/* All that can be refused without the sample is checked before it is taken, since sampling and training take long. */
Datum
train_dictionary(PG_FUNCTION_ARGS)
{
	SampledColumn column;
	int32		size;
	Dictionary	dictionary;
	Sample		sample;
	char	   *name;

	for (int i = 0; i < 3; i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	column = sample_column(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	size = PG_GETARG_INT32(2);
	if (!compat_class_ownercheck(column.relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(column.relation));
	if (size < MIN_DICTIONARY_BYTES || size > MAX_DICTIONARY_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("size of a compression dictionary must be from %d to %d bytes",
						MIN_DICTIONARY_BYTES, MAX_DICTIONARY_BYTES)));
	check_quota(relation_owner(column.relation));
	name = choose_name(&column, PG_ARGISNULL(3) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(3)));

	sample = sample_values(&column, MAX_SAMPLE_VALUES,
						   Min((Size) size * SAMPLE_BYTES_PER_BYTE, MAX_SAMPLE_BYTES));
	dictionary = dictionary_train(&sample, size);
	if (dictionary.bytes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" has too few values to train a compression dictionary",
						column.attribute_name),
				 errdetail("The sample has %u values and %zu bytes.", sample.values,
						   sample.total_bytes),
				 errhint("About %d times the size of the dictionary is best.",
						 SAMPLE_BYTES_PER_BYTE)));
	insert_row(choose_id(&dictionary), name, &dictionary, &column);
	PG_RETURN_TEXT_P(cstring_to_text(name));
}

/*
 * Trigger of "compression_dictionaries": an insert must have the id of its content, which
 * a restored dump has; nothing else is allowed but what drop_dictionary() does.
 */
Datum
guard_dictionaries(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	HeapTuple	row;
	TupleDesc	desc;
	Datum		values[Anum_dictionaries_content];
	bool		nulls[Anum_dictionaries_content];
	bytea	   *content;
	uint32		id;

	/* The columns are taken by number: those of another table could be anything. */
	if (!CALLED_AS_TRIGGER(fcinfo) || RelationGetRelid(trigger->tg_relation) !=
		get_relname_relid("compression_dictionaries", catalog_schema()))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"guard_dictionaries\" is a trigger of table \"compression_dictionaries\" only")));
	if (dictionary_is_unused && TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
		return PointerGetDatum(trigger->tg_trigtuple);
	if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("compression dictionaries cannot be changed or removed"),
				 errdetail("Values that were compressed with one could not be read any more."),
				 errhint("drop_dictionary() removes one that nothing uses.")));

	row = trigger->tg_trigtuple;
	desc = RelationGetDescr(trigger->tg_relation);
	for (int i = 0; i < lengthof(values); i++)
	{
		values[i] = heap_getattr(row, i + 1, desc, &nulls[i]);
		/* the constraint's error follows */
		if (nulls[i])
			return PointerGetDatum(row);
	}
	content = DatumGetByteaPP(values[Anum_dictionaries_content - 1]);
	id = dictionary_id(VARDATA_ANY(content), VARSIZE_ANY_EXHDR(content));
	if (DatumGetInt64(values[Anum_dictionaries_id - 1]) != id ||
		DatumGetInt64(values[Anum_dictionaries_number - 1]) != dictionary_number(id))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("compression dictionary does not have the id of its content")));
	return PointerGetDatum(row);
}
