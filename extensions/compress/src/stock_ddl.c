/*-------------------------------------------------------------------------
 *
 * stock_ddl.c
 *	  COMPRESSION in the server's own DDL, mapped to the compressed types.
 *
 * A statement is rewritten before the server sees it:
 *
 *	  CREATE TABLE t (c text COMPRESSION zstd)
 *		-> CREATE TABLE t (c compressed_text(zstd))
 *	  ALTER TABLE t ADD COLUMN c jsonb COMPRESSION zlib
 *		-> ALTER TABLE t ADD COLUMN c compressed_jsonb(zlib)
 *	  ALTER TABLE t ALTER COLUMN c SET COMPRESSION zstd
 *		-> ALTER TABLE t ALTER COLUMN c TYPE compressed_text(zstd)
 *
 * So views, defaults, indexes, partitions and permissions are the server's
 * business, with the server's messages.  What the server can do with a plain
 * column (pglz, lz4, default) stays as it is written.  A level follows the
 * method in one quoted name: COMPRESSION "zstd(9)".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog.h"
#include "catalog/namespace.h"
#include "commands/extension.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "stock_ddl.h"
#include "type_pair.h"

static ProcessUtility_hook_type previous_process_utility = NULL;

/* Does the server itself know this method, of a plain column? */
static bool
is_server_method(const char *compression)
{
	return strcmp(compression, "pglz") == 0 || strcmp(compression, "lz4") == 0 ||
		strcmp(compression, "default") == 0;
}

static A_Const *
string_constant(char *string)
{
	A_Const    *constant = makeNode(A_Const);

	constant->val.sval.type = T_String;
	constant->val.sval.sval = string;
	constant->location = -1;
	return constant;
}

static A_Const *
integer_constant(int number)
{
	A_Const    *constant = makeNode(A_Const);

	constant->val.ival.type = T_Integer;
	constant->val.ival.ival = number;
	constant->location = -1;
	return constant;
}

/* "zstd" or "zstd(9)" as the modifiers of the type; none for "default". */
static List *
type_modifiers(const char *compression)
{
	const char *parenthesis = strchr(compression, '(');
	char	   *rest;
	long		level;

	if (strcmp(compression, "default") == 0)
		return NIL;
	if (parenthesis == NULL)
		return list_make1(string_constant(pstrdup(compression)));

	errno = 0;
	level = strtol(parenthesis + 1, &rest, 10);
	if (errno != 0 || rest == parenthesis + 1 || strcmp(rest, ")") != 0 || level != (int) level)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid compression method \"%s\"", compression),
				 errhint("Write the method or the method with a level, as in \"zstd(9)\".")));
	return list_make2(string_constant(pnstrdup(compression, parenthesis - compression)),
					  integer_constant((int) level));
}

/*
 * The compressed type with the wanted method, for a column of this type.
 * NULL: the server's business.
 */
static TypeName *
map_type(const char *column, Oid type, bool has_modifiers, const char *compression)
{
	const char *compressed;
	bool		is_plain;
	TypeName   *mapped;
	Oid			schema;

	if (!OidIsValid(get_extension_oid("penumbra_compress", true)))
	{
		if (is_server_method(compression))
			return NULL;
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid compression method \"%s\"", compression),
				 errhint("Extension penumbra_compress, which is not installed in this database, may know it.")));
	}

	schema = catalog_schema();
	compressed = compressed_type_name(type, schema, &is_plain);
	if (is_server_method(compression) && (compressed == NULL || is_plain))
		return NULL;
	if (compressed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of type %s cannot use compression method \"%s\"",
						column, format_type_be(type), compression),
				 errhint("Columns of type text, jsonb and bytea can.")));
	if (has_modifiers)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting compression of column \"%s\"", column),
				 errhint("Name the method in the type or after COMPRESSION, not in both.")));

	mapped = makeTypeNameFromNameList(list_make2(makeString(get_namespace_name(schema)),
												 makeString(pstrdup(compressed))));
	mapped->typmods = type_modifiers(compression);
	return mapped;
}

static void
map_column(ColumnDef *column, const char *foreign_table)
{
	Oid			type;
	TypeName   *mapped;

	if (column->compression == NULL || column->typeName == NULL)
		return;
	type = LookupTypeNameOid(NULL, column->typeName, true);
	if (!OidIsValid(type))
		return;					/* the server says so */
	mapped = map_type(column->colname, type, column->typeName->typmods != NIL, column->compression);
	if (mapped == NULL)
		return;
	if (foreign_table != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("compression method \"%s\" cannot be used in foreign table \"%s\"",
						column->compression, foreign_table),
				 errhint("Compress the column where the data is stored.")));
	column->typeName = mapped;
	column->compression = NULL;
}

static void
map_create(CreateStmt *create, const char *foreign_table)
{
	ListCell   *cell;

	foreach(cell, create->tableElts)
	{
		if (IsA(lfirst(cell), ColumnDef))
			map_column(lfirst_node(ColumnDef, cell), foreign_table);
	}
}

/* ALTER COLUMN SET COMPRESSION becomes ALTER COLUMN TYPE. */
static void
map_set_compression(AlterTableCmd *command, Relation rel)
{
	const char *compression = strVal(command->def);
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), command->name);
	Form_pg_attribute attribute;
	TypeName   *mapped;
	ColumnDef  *column;

	if (attnum <= 0)
		return;					/* the server says so */
	attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	mapped = map_type(command->name, attribute->atttypid, false, compression);
	if (mapped == NULL)
		return;
	if (attribute->attinhcount > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
				 errmsg("cannot change compression of inherited column \"%s\"", command->name),
				 errdetail("A column has one compressed type in a table and its children or partitions."),
				 errhint("Change the column of the parent table.")));

	column = makeNode(ColumnDef);
	column->colname = command->name;
	column->typeName = mapped;
	column->is_local = true;
	column->location = -1;
	command->subtype = AT_AlterColumnType;
	command->def = (Node *) column;
}

static void
map_alter(AlterTableStmt *alter)
{
	Relation	rel;
	Oid			relid;
	ListCell   *cell;
	const char *foreign_table;

	/* The lock that the statement takes anyway, before anything is decided from the columns. */
	relid = RangeVarGetRelidExtended(alter->relation, AccessExclusiveLock,
									 alter->missing_ok ? RVR_MISSING_OK : 0,
									 RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(relid))
		return;
	rel = relation_open(relid, NoLock);
	foreign_table = rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE ? RelationGetRelationName(rel) : NULL;
	foreach(cell, alter->cmds)
	{
		AlterTableCmd *command = lfirst_node(AlterTableCmd, cell);

		if (command->subtype == AT_AddColumn)
			map_column(castNode(ColumnDef, command->def), foreign_table);
		else if (command->subtype == AT_SetCompression && foreign_table == NULL)
			map_set_compression(command, rel);
	}
	relation_close(rel, NoLock);
}

/* Does the statement say COMPRESSION anywhere?  Nearly none does. */
static bool
says_compression(Node *statement)
{
	ListCell   *cell;

	if (IsA(statement, CreateStmt) || IsA(statement, CreateForeignTableStmt))
	{
		foreach(cell, ((CreateStmt *) statement)->tableElts)
		{
			if (IsA(lfirst(cell), ColumnDef) && lfirst_node(ColumnDef, cell)->compression != NULL)
				return true;
		}
	}
	else if (IsA(statement, AlterTableStmt))
	{
		foreach(cell, ((AlterTableStmt *) statement)->cmds)
		{
			AlterTableCmd *command = lfirst_node(AlterTableCmd, cell);

			if (command->subtype == AT_SetCompression ||
				(command->subtype == AT_AddColumn &&
				 castNode(ColumnDef, command->def)->compression != NULL))
				return true;
		}
	}
	return false;
}

/* Changes a copy, since the statement may be in a cached plan. */
static void
stock_ddl_process_utility(PlannedStmt *statement, const char *query, bool read_only_tree,
						  ProcessUtilityContext context, ParamListInfo params,
						  QueryEnvironment *environment, DestReceiver *receiver,
						  QueryCompletion *completion)
{
	if (says_compression(statement->utilityStmt))
	{
		statement = copyObject(statement);
		read_only_tree = false;
		if (IsA(statement->utilityStmt, AlterTableStmt))
			map_alter(castNode(AlterTableStmt, statement->utilityStmt));
		else
		{
			CreateStmt *create = (CreateStmt *) statement->utilityStmt;

			map_create(create, IsA(create, CreateStmt) ? NULL : create->relation->relname);
		}
	}
	if (previous_process_utility)
		previous_process_utility(statement, query, read_only_tree, context, params, environment,
								 receiver, completion);
	else
		standard_ProcessUtility(statement, query, read_only_tree, context, params, environment,
								receiver, completion);
}

void
stock_ddl_init(void)
{
	previous_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = stock_ddl_process_utility;
}
