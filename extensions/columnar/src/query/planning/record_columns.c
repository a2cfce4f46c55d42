/*-------------------------------------------------------------------------
 *
 * record_columns.c
 *	  Documents as records: jsonb_to_record(), jsonb_to_recordset(), jsonb_populate_record[set]() in FROM.
 *
 * A record's column is the member of an object that has its name: NULL if there is none
 * or a JSON null, a document as it is, and of other types the value that the type's
 * input function makes of the member's text, which is that of the operator ->>.  So the
 * columns are expressions of elements, as those of jsonb_path_query().  Its paths are
 * those of which a list has objects alone, since PostgreSQL raises an error of other elements.
 *
 * PostgreSQL makes whole records: it raises the error of a column that no query reads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cache/list_image.h"
#include "query/planning/record_columns.h"

/* Of pg_operator: jsonb ->> text. */
#define MEMBER_TEXT_OPERATOR	3477

typedef struct RecordColumn
{
	const char *name;
	Oid			type;
	int32		typmod;
	Oid			collation;
} RecordColumn;

static const FuncExpr *
call_of(const RangeTblFunction *function)
{
	return IsA(function->funcexpr, FuncExpr) ? (const FuncExpr *) function->funcexpr : NULL;
}

static bool
populates(const FuncExpr *call)
{
	return call->funcid == F_JSONB_POPULATE_RECORD || call->funcid == F_JSONB_POPULATE_RECORDSET;
}

/* Of a row type, of which no values are given. */
static bool
has_empty_base(const FuncExpr *call)
{
	const Const *base = linitial(call->args);

	return IsA(base, Const) && base->constisnull && call->funcresulttype == base->consttype &&
		get_typtype(base->consttype) == TYPTYPE_COMPOSITE;
}

bool
record_columns_is_call(const RangeTblFunction *function)
{
	const FuncExpr *call = call_of(function);

	if (call == NULL)
		return false;
	if (populates(call))
		return has_empty_base(call);
	return (call->funcid == F_JSONB_TO_RECORD || call->funcid == F_JSONB_TO_RECORDSET) &&
		function->funccolnames != NIL;
}

bool
record_columns_is_one_row(const RangeTblFunction *function)
{
	return !call_of(function)->funcretset;
}

/* A constant, made once. */
static Const *
path_constant(bool of_one)
{
	static Datum paths[2];

	if (paths[of_one] == 0)
	{
		MemoryContext around = MemoryContextSwitchTo(TopMemoryContext);

		paths[of_one] = DirectFunctionCall1(jsonpath_in, CStringGetDatum(of_one ? LIST_IMAGE_PATH_OF_OBJECT
																		 : LIST_IMAGE_PATH_OF_OBJECTS));
		MemoryContextSwitchTo(around);
	}
	return makeConst(JSONPATHOID, -1, InvalidOid, -1, paths[of_one], false, false);
}

static Const *
no_variables(void)
{
	return makeConst(JSONBOID, -1, InvalidOid, -1, DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")), false, false);
}

FuncExpr *
record_columns_call(const RangeTblFunction *function)
{
	const FuncExpr *call = call_of(function);
	FuncExpr   *array = makeFuncExpr(F_JSONB_PATH_QUERY_ARRAY, JSONBOID,
									 list_make4(llast(call->args), path_constant(!call->funcretset), no_variables(),
												makeBoolConst(false, false)),
									 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	FuncExpr   *elements = makeFuncExpr(F_JSONB_ARRAY_ELEMENTS, JSONBOID, list_make1(array), InvalidOid, InvalidOid,
										COERCE_EXPLICIT_CALL);

	elements->funcretset = true;
	return elements;
}

/* False: there is none of the number. */
static bool
find_column(const RangeTblFunction *function, AttrNumber number, RecordColumn *column)
{
	TupleDesc	desc;
	bool		is_there;

	if (!populates(call_of(function)))
	{
		is_there = number >= 1 && number <= list_length(function->funccolnames);
		if (is_there)
			*column = (RecordColumn) {
				.name = strVal(list_nth(function->funccolnames, number - 1)),
				.type = list_nth_oid(function->funccoltypes, number - 1),
				.typmod = list_nth_int(function->funccoltypmods, number - 1),
				.collation = list_nth_oid(function->funccolcollations, number - 1)
			};
		return is_there;
	}
	desc = lookup_rowtype_tupdesc(call_of(function)->funcresulttype, -1);
	is_there = number >= 1 && number <= desc->natts && !TupleDescAttr(desc, number - 1)->attisdropped;
	if (is_there)
		*column = (RecordColumn) {
			.name = pstrdup(NameStr(TupleDescAttr(desc, number - 1)->attname)),
			.type = TupleDescAttr(desc, number - 1)->atttypid,
			.typmod = TupleDescAttr(desc, number - 1)->atttypmod,
			.collation = TupleDescAttr(desc, number - 1)->attcollation
		};
	ReleaseTupleDesc(desc);
	return is_there;
}

int
record_columns_count(const RangeTblFunction *function)
{
	return function->funccolcount;
}

int32
record_columns_typmod(const RangeTblFunction *function, AttrNumber number)
{
	RecordColumn column;

	return find_column(function, number, &column) ? column.typmod : -1;
}

Oid
record_columns_collation(const RangeTblFunction *function, AttrNumber number)
{
	RecordColumn column;

	return find_column(function, number, &column) ? column.collation : InvalidOid;
}

/* A JSON null is none. */
static Node *
member_as_document(FuncExpr *element, const char *name)
{
	StringInfoData path;
	Datum		made;

	initStringInfo(&path);
	appendStringInfoString(&path, "strict $.");
	escape_json(&path, name);
	appendStringInfoString(&path, " ? (@ != null)");
	made = DirectFunctionCall1(jsonpath_in, CStringGetDatum(path.data));
	return (Node *) makeFuncExpr(F_JSONB_PATH_QUERY_FIRST, JSONBOID,
								 list_make4(element, makeConst(JSONPATHOID, -1, InvalidOid, -1, made, false, false),
											no_variables(), makeBoolConst(true, false)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
member_as_text(FuncExpr *element, const char *name)
{
	Const	   *key = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false, false);
	Expr	   *text = make_opclause(MEMBER_TEXT_OPERATOR, TEXTOID, false, (Expr *) element, (Expr *) key,
									 DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID);

	set_opfuncid((OpExpr *) text);
	return (Node *) text;
}

static Node *
call_with_typmod(Oid function, Oid type, Node *value, int32 typmod)
{
	List	   *args = list_make2(value, makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(typmod), false,
												   true));

	/* as of an assignment: too long a text is an error */
	if (type == VARCHAROID)
		args = lappend(args, makeBoolConst(false, false));
	return (Node *) makeFuncExpr(function, type, args, get_typcollation(type), get_typcollation(type),
								 COERCE_EXPLICIT_CALL);
}

Node *
record_columns_expr(const RangeTblFunction *function, AttrNumber number)
{
	FuncExpr   *element = record_columns_call(function);
	RecordColumn column;
	Node	   *text;
	CoerceViaIO *cast;

	if (!find_column(function, number, &column))
		return NULL;
	if (column.type == JSONBOID)
		return member_as_document(element, column.name);
	text = member_as_text(element, column.name);
	switch (column.type)
	{
		case TEXTOID:
			return text;
		case VARCHAROID:
			text = (Node *) makeRelabelType((Expr *) text, VARCHAROID, -1, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CAST);
			return column.typmod < 0 ? text
				: call_with_typmod(F_VARCHAR_VARCHAR_INT4_BOOL, VARCHAROID, text, column.typmod);
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case UUIDOID:
			break;
		default:
			return NULL;
	}
	cast = makeNode(CoerceViaIO);
	cast->arg = (Expr *) text;
	cast->resulttype = column.type;
	cast->resultcollid = InvalidOid;
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return column.typmod < 0 ? (Node *) cast
		: call_with_typmod(F_NUMERIC_NUMERIC_INT4, NUMERICOID, (Node *) cast, column.typmod);
}

bool
record_columns_can_fail(const RangeTblFunction *function, AttrNumber number)
{
	RecordColumn column;

	return find_column(function, number, &column) && column.type != TEXTOID && column.type != JSONBOID &&
		!(column.type == VARCHAROID && column.typmod < 0);
}
