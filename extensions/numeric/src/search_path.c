/*-------------------------------------------------------------------------
 *
 * search_path.c
 *	  enable() and disable(): our schema before pg_catalog in search_path.
 *
 * pg_catalog is searched first only as long as search_path does not name it.
 * The path keeps what it has, in its order, followed by our schema and
 * pg_catalog; where it names pg_catalog already, our schema goes right before
 * it.  Our schema never comes first unless pg_catalog did: the first schema is
 * where CREATE puts things.  See README.md for what that means for security.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "takeover.h"

#define SCHEMA "penumbra_numeric"
#define BEFORE_SETTING "penumbra_numeric.search_path_before"

typedef enum Scope
{
	SCOPE_SESSION,
	SCOPE_ROLE,
	SCOPE_DATABASE
} Scope;

/*
 * What search_path was before enable(): a setting too, set with it in the same
 * scope, so that both roll back, are dumped and are undone together.  '=' and
 * the path, or '-' and the path where the scope had no setting of its own.
 */
static char *path_before = NULL;

void
search_path_define_settings(void)
{
	DefineCustomStringVariable(BEFORE_SETTING,
							   "What enable() found in search_path.", NULL, &path_before, "", PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, NULL,
							   NULL, NULL);
}

static Scope
scope_argument(FunctionCallInfo fcinfo)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (strcmp(name, "session") == 0)
		return SCOPE_SESSION;
	if (strcmp(name, "role") == 0)
		return SCOPE_ROLE;
	if (strcmp(name, "database") == 0)
		return SCOPE_DATABASE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid scope: \"%s\"", name),
			 errhint("Valid scopes are \"session\", \"role\" and \"database\".")));
}

static List *
split_path(const char *path)
{
	List	   *names;

	if (!SplitIdentifierString(pstrdup(path), ',', &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid list syntax in parameter \"%s\"", "search_path")));
	return names;
}

static bool
path_has(List *names, const char *name)
{
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	}
	return false;
}

static List *
path_with_us(List *names)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), "pg_catalog") == 0)
			result = lappend(result, SCHEMA);
		result = lappend(result, lfirst(cell));
	}
	if (!path_has(names, "pg_catalog"))
		result = lappend(lappend(result, SCHEMA), "pg_catalog");
	return result;
}

/* The path as a list of quoted names, as SET takes it. */
static char *
path_to_string(List *names)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, names)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", quote_identifier(lfirst(cell)));
	return text.data;
}

static Oid
database_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	owner = ((Form_pg_database) GETSTRUCT(tuple))->datdba;
	ReleaseSysCache(tuple);
	return owner;
}

/* Who can create objects in a schema; the later, the more. */
typedef enum SchemaState
{
	SCHEMA_CLOSED,				/* superusers only */
	SCHEMA_MISSING,				/* it is made by whoever may */
	SCHEMA_OPEN,				/* others, too */
} SchemaState;

/* The owner is a superuser, and nobody else may create things; so public, where a superuser owns the database. */
static bool
is_closed(HeapTuple tuple, TupleDesc desc)
{
	Oid			owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	bool		is_null;
	Datum		privileges = heap_getattr(tuple, Anum_pg_namespace_nspacl, desc, &is_null);
	Acl		   *acl;

	if (!superuser_arg(owner) && (owner != ROLE_PG_DATABASE_OWNER || !superuser_arg(database_owner())))
		return false;
	if (is_null)
		return true;
	acl = DatumGetAclP(privileges);
	for (int i = 0; i < ACL_NUM(acl); i++)
	{
		AclItem    *item = &ACL_DAT(acl)[i];

		if ((ACLITEM_GET_PRIVS(*item) & ACL_CREATE) != 0 && item->ai_grantee != owner &&
			(item->ai_grantee == ACL_ID_PUBLIC || !superuser_arg(item->ai_grantee)))
			return false;
	}
	return true;
}

/* As a snapshot sees the schema; NULL: as it is now. */
static SchemaState
schema_state(const char *name, Snapshot snapshot)
{
	Relation	catalog = table_open(NamespaceRelationId, AccessShareLock);
	SchemaState state = SCHEMA_MISSING;
	NameData	key_name;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	namestrcpy(&key_name, name);
	ScanKeyInit(&key, Anum_pg_namespace_nspname, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&key_name));
	scan = systable_beginscan(catalog, NamespaceNameIndexId, true, snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		state = is_closed(tuple, RelationGetDescr(catalog)) ? SCHEMA_CLOSED : SCHEMA_OPEN;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return state;
}

/* Those of a path that are searched before pg_catalog, and that not only superusers can create objects in. */
static List *
others_schemas(List *names)
{
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, names)
	{
		const char *name = lfirst(cell);

		if (strcmp(name, "pg_catalog") == 0)
			return others;
		/* no functions are looked for in pg_temp, and nothing has the empty name */
		if (strcmp(name, "pg_temp") == 0 || name[0] == '\0')
			continue;
		if (schema_state(name, NULL) != SCHEMA_CLOSED)
			others = lappend(others, lfirst(cell));
	}
	/* pg_catalog is not named, and so comes first */
	return NIL;
}

/* What is searched before pg_catalog hides its functions and operators, for superusers too. */
static void
refuse_others_schemas(List *names)
{
	List	   *others = others_schemas(names);

	if (others != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("schema \"%s\" would be searched before pg_catalog, and not only superusers can create objects in it",
						(char *) linitial(others)),
				 errhint("Leave it out of \"search_path\", or use \"penumbra_numeric.rewrite\".")));
}

static void
execute(const char *command)
{
	if (SPI_execute(command, false, 0) < 0)
		elog(ERROR, "could not execute \"%s\"", command);
}

/* The first column of the only row, or NULL. */
static char *
select_text(const char *query)
{
	if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", query);
	return SPI_processed == 0 ? NULL : SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

/*
 * The condition on pg_db_role_setting that finds the scope's settings.  An
 * operator of the search path that took the operands as they are would win.
 */
static char *
scope_condition(Scope scope)
{
	return psprintf("setdatabase OPERATOR(pg_catalog.=) %u::pg_catalog.oid"
					" AND setrole OPERATOR(pg_catalog.=) %u::pg_catalog.oid",
					scope == SCOPE_DATABASE ? MyDatabaseId : InvalidOid,
					scope == SCOPE_DATABASE ? InvalidOid : GetUserId());
}

/* What the scope itself sets, or NULL. */
static char *
scope_setting(Scope scope, const char *name)
{
	return select_text(psprintf("SELECT pg_catalog.substr(s, %d) FROM (SELECT pg_catalog.unnest(setconfig) AS s"
								" FROM pg_catalog.pg_db_role_setting WHERE %s) settings"
								" WHERE pg_catalog.starts_with(s, %s)",
								(int) strlen(name) + 2, scope_condition(scope),
								quote_literal_cstr(psprintf("%s=", name))));
}

/* ALTER DATABASE or ROLE with what follows SET or RESET. */
static void
alter_scope(Scope scope, const char *change)
{
	execute(psprintf("ALTER %s %s %s", scope == SCOPE_DATABASE ? "DATABASE" : "ROLE",
					 quote_identifier(scope == SCOPE_DATABASE ? get_database_name(MyDatabaseId)
									  : GetUserNameFromId(GetUserId(), false)), change));
}

static void
alter_scope_search_path(Scope scope, List *names)
{
	StringInfoData change;
	ListCell   *cell;

	initStringInfo(&change);
	foreach(cell, names)
		appendStringInfo(&change, "%s%s", change.len > 0 ? ", " : "",
						 quote_literal_cstr(lfirst(cell)));
	alter_scope(scope, psprintf("SET search_path TO %s", names == NIL ? "''" : change.data));
}

static bool
enable_session(void)
{
	const char *before = GetConfigOption("search_path", false, false);
	List	   *names = split_path(before);

	if (path_has(names, SCHEMA))
		return false;
	names = path_with_us(names);
	refuse_others_schemas(names);
	SetConfigOption(BEFORE_SETTING, psprintf("=%s", before), PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("search_path", path_to_string(names), PGC_USERSET, PGC_S_SESSION);
	return true;
}

static bool
disable_session(void)
{
	List	   *names = split_path(GetConfigOption("search_path", false, false));

	if (!path_has(names, SCHEMA) || path_before[0] == '\0')
		return false;
	SetConfigOption("search_path", pstrdup(path_before + 1), PGC_USERSET, PGC_S_SESSION);
	SetConfigOption(BEFORE_SETTING, "", PGC_USERSET, PGC_S_SESSION);
	return true;
}

static bool
enable_stored(Scope scope)
{
	char	   *setting = scope_setting(scope, "search_path");
	/* A scope without a setting gets what a new session of ours does. */
	const char *before = setting != NULL ? setting : GetConfigOptionResetString("search_path");
	List	   *names = split_path(before);

	if (path_has(names, SCHEMA))
		return false;
	names = path_with_us(names);
	refuse_others_schemas(names);
	alter_scope(scope, psprintf("SET " BEFORE_SETTING " TO %s",
								quote_literal_cstr(psprintf("%c%s", setting != NULL ? '=' : '-',
															before))));
	alter_scope_search_path(scope, names);
	return true;
}

static bool
disable_stored(Scope scope)
{
	char	   *path = scope_setting(scope, "search_path");
	char	   *before = scope_setting(scope, BEFORE_SETTING);

	if (path == NULL || before == NULL || !path_has(split_path(path), SCHEMA))
		return false;
	if (before[0] == '=')
		alter_scope_search_path(scope, split_path(before + 1));
	else
		alter_scope(scope, "RESET search_path");
	alter_scope(scope, "RESET " BEFORE_SETTING);
	return true;
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_enable);
Datum
penumbra_numeric_enable(PG_FUNCTION_ARGS)
{
	Scope		scope = scope_argument(fcinfo);
	bool		is_changed;

	if (scope == SCOPE_SESSION)
		PG_RETURN_BOOL(enable_session());
	SPI_connect();
	is_changed = enable_stored(scope);
	SPI_finish();
	PG_RETURN_BOOL(is_changed);
}

PENUMBRA_SQL_FUNCTION(penumbra_numeric_disable);
Datum
penumbra_numeric_disable(PG_FUNCTION_ARGS)
{
	Scope		scope = scope_argument(fcinfo);
	bool		is_changed;

	if (scope == SCOPE_SESSION)
		PG_RETURN_BOOL(disable_session());
	SPI_connect();
	is_changed = disable_stored(scope);
	SPI_finish();
	PG_RETURN_BOOL(is_changed);
}

/* What others_schemas() names of a path that has our schema; NULL: it has not. */
PENUMBRA_SQL_FUNCTION(penumbra_numeric_open_schemas);
Datum
penumbra_numeric_open_schemas(PG_FUNCTION_ARGS)
{
	List	   *names = split_path(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	List	   *others;
	Datum	   *elements;
	int			count = 0;
	ListCell   *cell;

	if (!path_has(names, SCHEMA))
		PG_RETURN_NULL();
	others = others_schemas(names);
	elements = palloc(sizeof(Datum) * Max(list_length(others), 1));
	foreach(cell, others)
		elements[count++] = CStringGetTextDatum(lfirst(cell));
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Refuses what the command's transaction has opened; what was open before keeps nobody from other commands. */
static void
check_schema(const char *name, Snapshot before)
{
	if (schema_state(name, NULL) <= schema_state(name, before))
		ereport(WARNING,
				(errmsg("schema \"%s\" is searched before pg_catalog, and not only superusers can create objects in it", name),
				 errhint("See %s.stored_paths.", SCHEMA)));
	else
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("schema \"%s\" is searched before pg_catalog, and not only superusers could create objects in it",
						name),
				 errdetail("A \"search_path\" that is stored for this database or a superuser has it there for \"%s\".",
						   SCHEMA),
				 errhint("Call %s.disable() for that database or role first.", SCHEMA)));
}

/*
 * After a command that may have opened a schema that a path of stored_paths searches
 * before pg_catalog, if that is for this database or a superuser.  What other roles
 * store for themselves is not asked: they could keep everybody from such commands.
 */
PENUMBRA_SQL_FUNCTION(penumbra_numeric_guard_schemas);
Datum
penumbra_numeric_guard_schemas(PG_FUNCTION_ARGS)
{
	static const char query[] =
		"SELECT DISTINCT pg_catalog.unnest(open_schemas) FROM " SCHEMA ".stored_paths WHERE is_guarded ORDER BY 1";
	Snapshot	before;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an event trigger", "guard_schemas")));
	SPI_connect();
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", query);
	/* without what this transaction has done */
	before = RegisterSnapshot(GetLatestSnapshot());
	before->curcid = FirstCommandId;
	for (uint64 i = 0; i < SPI_processed; i++)
		check_schema(SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1), before);
	UnregisterSnapshot(before);
	SPI_finish();
	PG_RETURN_NULL();
}
