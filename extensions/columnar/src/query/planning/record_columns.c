/*-------------------------------------------------------------------------
 *
 * record_columns.c
 *	  Functions in FROM whose rows are records: jsonb_to_record(), jsonb_to_recordset(), jsonb_populate_record[set](),
 *	  and unnest() of arrays of composites.
 *
 * A document's column is the member of an object that has its name: NULL if there is none
 * or a JSON null, a document as it is, arrays and composites as json_conversion.h has them, and of other types the
 * value that the type's input function makes of the member's text, which is that of the operator ->>.  So the
 * columns are expressions of elements, as those of jsonb_path_query().  Its paths are
 * those of which a list has objects alone, since PostgreSQL raises an error of other elements.
 *
 * What a text is as a date or an enum depends on settings, the time and the catalog, and constraints of domains are
 * a user's functions.  So lists have what these are made of, and the query computes the column of that: of arrays of
 * such types they have arrays of texts, which PostgreSQL reads of documents as those.
 *
 * PostgreSQL makes whole records: it raises the error of a column that no query reads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cache/json_conversion.h"
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

static bool
unnests_composites(const FuncExpr *call)
{
	return call->funcid == F_UNNEST_ANYARRAY && get_typtype(getBaseType(call->funcresulttype)) == TYPTYPE_COMPOSITE;
}

bool
record_columns_is_call(const RangeTblFunction *function)
{
	const FuncExpr *call = call_of(function);

	if (call == NULL)
		return false;
	if (unnests_composites(call))
		return true;
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
	FuncExpr   *array;
	FuncExpr   *elements;

	if (unnests_composites(call))
		return (FuncExpr *) function->funcexpr;
	array = makeFuncExpr(F_JSONB_PATH_QUERY_ARRAY, JSONBOID,
						 list_make4(llast(call->args), path_constant(!call->funcretset), no_variables(),
									makeBoolConst(false, false)),
						 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	elements = makeFuncExpr(F_JSONB_ARRAY_ELEMENTS, JSONBOID, list_make1(array), InvalidOid, InvalidOid,
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

	if (function->funccolnames != NIL)
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
	desc = lookup_rowtype_tupdesc(getBaseType(call_of(function)->funcresulttype), -1);
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

void
record_columns_depend(PlannerInfo *root, const RangeTblFunction *function)
{
	Oid			relid = function->funccolnames != NIL ? InvalidOid
		: get_typ_typrelid(getBaseType(call_of(function)->funcresulttype));

	if (OidIsValid(relid))
		root->glob->relationOids = list_append_unique_oid(root->glob->relationOids, relid);
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

/* As PostgreSQL does for an assignment: too long a text is an error. */
static Node *
with_typmod(Oid type, int32 typmod, Node *value)
{
	Oid			function;
	List	   *args;

	if (typmod < 0 || find_typmod_coercion_function(type, &function) != COERCION_PATH_FUNC)
		return value;
	args = list_make2(value, makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(typmod), false, true));
	if (get_func_nargs(function) == 3)
		args = lappend(args, makeBoolConst(false, false));
	return (Node *) makeFuncExpr(function, type, args, get_typcollation(type), get_typcollation(type),
								 COERCE_EXPLICIT_CALL);
}

static Node *
through_input(Oid type, Node *text)
{
	CoerceViaIO *cast = makeNode(CoerceViaIO);

	cast->arg = (Expr *) text;
	cast->resulttype = type;
	cast->resultcollid = get_typcollation(type);
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Node *) cast;
}

/* The value that the column's type makes of a text, below domains. */
static Node *
value_of_text(Oid type, int32 typmod, Node *text)
{
	if (type == VARCHAROID)
		text = (Node *) makeRelabelType((Expr *) text, VARCHAROID, -1, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CAST);
	else if (type != TEXTOID)
		text = through_input(type, text);
	return with_typmod(type, typmod, text);
}

/* Whether the input function looks at the text alone. */
static bool
has_fixed_input(Oid type)
{
	Oid			input;
	Oid			io_param;

	getTypeInputInfo(type, &input, &io_param);
	return type < FirstGenbkiObjectId && func_volatile(input) == PROVOLATILE_IMMUTABLE;
}

/* Whether it is made of the member's text, whatever that is: not of its elements or members. */
static bool
is_scalar(Oid type)
{
	return type != JSONBOID && type != JSONOID && get_typtype(type) != TYPTYPE_PSEUDO &&
		get_typtype(type) != TYPTYPE_COMPOSITE && !OidIsValid(get_element_type(type));
}

/* What becomes of a column of a document. */
typedef struct Member
{
	Oid			type;			/* below domains, with its typmod */
	int32		typmod;
	bool		is_composed;	/* an array or composite */
	bool		is_text;		/* the list has texts, of which the query makes the values */
	bool		has_texts;		/* or arrays of these */
	bool		is_checked;		/* the query looks at the constraints of a domain */
} Member;

/* An array written as a text is cut at commas, whatever its elements are. */
static bool
is_made_of_texts(const Member *array)
{
	Oid			declared = get_element_type(array->type);
	Oid			element = OidIsValid(declared) ? getBaseType(declared) : InvalidOid;
	int16		length;
	bool		is_by_value;
	char		alignment;
	char		delimiter;
	Oid			io_param;
	Oid			output;

	if (!OidIsValid(element) || !is_scalar(element))
		return false;
	get_type_io_data(declared, IOFunc_output, &length, &is_by_value, &alignment, &delimiter, &io_param, &output);
	return delimiter == ',' && (element != declared || array->typmod >= 0 || !has_fixed_input(element));
}

static Member
member_of(const RecordColumn *column)
{
	Member		member = {.typmod = column->typmod};

	member.type = getBaseTypeAndTypmod(column->type, &member.typmod);
	member.is_checked = member.type != column->type;
	member.is_composed = OidIsValid(get_element_type(member.type)) || get_typtype(member.type) == TYPTYPE_COMPOSITE;
	member.is_text = !member.is_composed && member.type != JSONBOID && !has_fixed_input(member.type);
	member.has_texts = is_made_of_texts(&member);
	return member;
}

/* Of fields of intervals the text may mean something else by itself. */
static bool
is_known(const Member *member)
{
	return member->type != JSONOID && get_typtype(member->type) != TYPTYPE_PSEUDO &&
		(member->typmod < 0 || !member->is_composed || member->has_texts) &&
		(member->typmod < 0 || (member->type != INTERVALOID && get_element_type(member->type) != INTERVALOID));
}

static Node *
through_domain(Oid type, Oid collation, Node *value)
{
	CoerceToDomain *domain = makeNode(CoerceToDomain);

	domain->arg = (Expr *) value;
	domain->resulttype = type;
	domain->resulttypmod = -1;
	domain->resultcollid = collation;
	domain->coercionformat = COERCE_EXPLICIT_CAST;
	domain->location = -1;
	return (Node *) domain;
}

static Node *
array_of_texts(const Member *array, Node *texts)
{
	Oid			declared = get_element_type(array->type);
	int32		typmod = array->typmod;
	Oid			element = getBaseTypeAndTypmod(declared, &typmod);
	CaseTestExpr *text = makeNode(CaseTestExpr);
	ArrayCoerceExpr *cast = makeNode(ArrayCoerceExpr);
	Node	   *value;

	text->typeId = TEXTOID;
	text->typeMod = -1;
	text->collation = DEFAULT_COLLATION_OID;
	value = value_of_text(element, typmod, (Node *) text);
	cast->arg = (Expr *) texts;
	if (element != declared)
		value = through_domain(declared, get_typcollation(declared), value);
	cast->elemexpr = (Expr *) value;
	cast->resulttype = array->type;
	cast->resulttypmod = array->typmod;
	cast->resultcollid = get_typcollation(array->type);
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Node *) cast;
}

Node *
record_columns_source(const RangeTblFunction *function, AttrNumber number)
{
	FuncExpr   *element = record_columns_call(function);
	RecordColumn column;
	Member		member;

	if (!find_column(function, number, &column))
		return NULL;
	if (unnests_composites(element))
	{
		FieldSelect *select = makeNode(FieldSelect);

		select->arg = (Expr *) element;
		select->fieldnum = number;
		select->resulttype = column.type;
		select->resulttypmod = column.typmod;
		select->resultcollid = column.collation;
		return (Node *) select;
	}
	member = member_of(&column);
	if (!is_known(&member))
		return NULL;
	if (member.type == JSONBOID)
		return member_as_document(element, column.name);
	if (member.is_composed)
		return json_conversion_make((Node *) element, column.name, member.has_texts ? TEXTARRAYOID : member.type);
	return member.is_text ? member_as_text(element, column.name)
		: value_of_text(member.type, member.typmod, member_as_text(element, column.name));
}

/* Whether it is what the list has. */
static bool
is_value(const Member *member)
{
	return !member->is_text && !member->has_texts && !member->is_checked;
}

Node *
record_columns_value(PlannerInfo *root, const RangeTblFunction *function, AttrNumber number, Node *source)
{
	RecordColumn column;
	Member		member;

	if (unnests_composites(call_of(function)) || !find_column(function, number, &column))
		return NULL;
	member = member_of(&column);
	if (is_value(&member))
		return NULL;
	if (member.is_text)
		source = value_of_text(member.type, member.typmod, source);
	else if (member.has_texts)
		source = array_of_texts(&member, source);
	if (member.is_checked)
		source = through_domain(column.type, column.collation, source);
	/* domains without constraints are none, and the plan depends on that */
	return eval_const_expressions(root, source);
}

bool
record_columns_is_source(const RangeTblFunction *function, AttrNumber number)
{
	RecordColumn column;
	Member		member;

	if (!find_column(function, number, &column) || unnests_composites(call_of(function)))
		return true;
	member = member_of(&column);
	return is_value(&member);
}

bool
record_columns_can_fail(const RangeTblFunction *function, AttrNumber number)
{
	RecordColumn column;

	return find_column(function, number, &column) && !unnests_composites(call_of(function)) && column.type != TEXTOID &&
		column.type != JSONBOID && !(column.type == VARCHAROID && column.typmod < 0);
}
