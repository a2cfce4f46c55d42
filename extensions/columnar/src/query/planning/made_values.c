/*-------------------------------------------------------------------------
 *
 * made_values.c
 *	  Arrays, rows and documents that a query makes of values, as these values:
 *
 *		ARRAY[a, b]		ROW(a, b)		jsonb_build_object('a', a, 'b', b)
 *
 * What is made the same way differs in its parts alone.  So rows, and arrays, which have one length here, are equal
 * where their parts are, by the equality of each part's type.  They are ordered by the first part that differs, and
 * NULL is equal to NULL and the greatest.
 *
 * A document has a text, a number, true, false or null for a part.  It is taken apart where equal parts, and no others,
 * give equal ones: not intervals and characters, which may be equal and written differently; not floats, of which
 * extra_float_digits may show less than there is; not documents, whose null is a part's NULL, too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/planning/made_values.h"

static bool
is_deterministic(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

bool
made_values_are_equal_alike(Oid collation, Oid other)
{
	return collation == other || (is_deterministic(collation) && is_deterministic(other));
}

/* By the default operators of its type, as arrays and rows compare what is in them, by a collation. */
static bool
add_part(Node *node, Oid collation, MadeValue *made)
{
	Oid			less;
	Oid			equality;
	bool		can_hash;

	get_sort_group_operators(exprType(node), false, false, false, &less, &equality, NULL, &can_hash);
	if (!OidIsValid(equality))
		return false;
	if (!made_values_are_equal_alike(exprCollation(node), collation))
		return false;
	made->is_ordered &= exprCollation(node) == collation && OidIsValid(less);
	made->parts = list_append_unique(made->parts, node);
	return true;
}

static bool add_value(Node *node, Oid collation, MadeValue *made);

/* An array of arrays has what is in these; what is not made here may be of any length. */
static bool
add_array(const ArrayExpr *array, MadeValue *made)
{
	ListCell   *lc;

	foreach(lc, array->elements)
	{
		if ((array->multidims && !IsA(lfirst(lc), ArrayExpr)) || !add_value(lfirst(lc), array->array_collid, made))
			return false;
	}
	return true;
}

/* The collation by which rows of the type compare the column; of a row without a type it is the value's own. */
static Oid
collation_of_column(const RowExpr *row, int number)
{
	TupleDesc	desc;
	Oid			collation;

	if (row->row_typeid == RECORDOID)
		return exprCollation(list_nth(row->args, number));
	desc = lookup_rowtype_tupdesc_domain(row->row_typeid, -1, false);
	collation = number < desc->natts ? TupleDescAttr(desc, number)->attcollation : InvalidOid;
	ReleaseTupleDesc(desc);
	return collation;
}

static bool
add_row(const RowExpr *row, MadeValue *made)
{
	ListCell   *lc;

	foreach(lc, row->args)
	{
		if (!add_value(lfirst(lc), collation_of_column(row, foreach_current_index(lc)), made))
			return false;
	}
	return true;
}

/* Within an array or a row. */
static bool
add_value(Node *node, Oid collation, MadeValue *made)
{
	if (IsA(node, Const))
		return true;
	if (IsA(node, RowExpr))
		return add_row((RowExpr *) node, made);
	if (IsA(node, ArrayExpr))
		return add_array((ArrayExpr *) node, made);
	return add_part(node, collation, made);
}

/* ---------------------------------------------------------------- documents */

static bool
is_document_call(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) node;

	return IsA(node, FuncExpr) && !call->funcvariadic &&
		(call->funcid == F_TO_JSONB || call->funcid == F_JSONB_BUILD_ARRAY_ANY ||
		 call->funcid == F_JSONB_BUILD_OBJECT_ANY);
}

/* A cast of its own may make anything of a value. */
static bool
has_cast_to_json(Oid type)
{
	Oid			function;

	return find_coercion_pathway(JSONOID, type, COERCION_EXPLICIT, &function) == COERCION_PATH_FUNC;
}

/* Whether a document has equal values for equal ones, and for these alone. */
static bool
is_kept(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case NAMEOID:
		case UUIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return type_is_enum(type) && !has_cast_to_json(type);
	}
}

bool
made_value_is_kept_as_text(Oid type)
{
	return is_kept(type) && type != DATEOID && type != TIMEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID;
}

/* The names differ, or the last value of each would be the document's. */
static bool
have_distinct_names(const List *names)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		ListCell   *other;

		for_each_cell(other, names, lnext(names, lc))
		{
			if (equal(lfirst(lc), lfirst(other)))
				return false;
		}
	}
	return true;
}

/* The name that a constant gives a member; NULL: it is no name. */
static String *
name_of(const Node *node)
{
	const Const *name = (const Const *) node;

	if (!IsA(node, Const) || name->constisnull)
		return NULL;
	if (name->consttype == UNKNOWNOID)
		return makeString(DatumGetCString(name->constvalue));
	return name->consttype == TEXTOID ? makeString(TextDatumGetCString(name->constvalue)) : NULL;
}

static bool add_members(List *args, MadeValue *made);

static bool
add_object(List *args, MadeValue *made)
{
	List	   *names = NIL;
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, args)
	{
		if (foreach_current_index(lc) % 2 == 1)
		{
			values = lappend(values, lfirst(lc));
			continue;
		}
		names = lappend(names, name_of(lfirst(lc)));
		if (llast(names) == NULL)
			return false;
	}
	return list_length(names) == list_length(values) && have_distinct_names(names) && add_members(values, made);
}

/* Within a document. */
static bool
add_member(Node *node, MadeValue *made)
{
	const RowExpr *row = (const RowExpr *) node;

	if (IsA(node, Const))
		return true;
	if (IsA(node, ArrayExpr))
		return add_members(((ArrayExpr *) node)->elements, made);
	if (IsA(node, RowExpr))
		return (row->row_typeid != RECORDOID || have_distinct_names(row->colnames)) && add_members(row->args, made);
	if (is_document_call(node))
		return ((FuncExpr *) node)->funcid == F_JSONB_BUILD_OBJECT_ANY ? add_object(((FuncExpr *) node)->args, made)
			: add_members(((FuncExpr *) node)->args, made);
	return is_kept(getBaseType(exprType(node))) && is_deterministic(exprCollation(node)) &&
		add_part(node, exprCollation(node), made);
}

static bool
add_members(List *args, MadeValue *made)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!add_member(lfirst(lc), made))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- either */

bool
made_value_may_be(const Node *node)
{
	return IsA(node, RowExpr) || IsA(node, ArrayExpr) || is_document_call(node);
}

/* to_jsonb() of NULL is NULL. */
static bool
may_be_null(Node *node)
{
	return !made_value_may_be(node) ||
		(IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_TO_JSONB &&
		 may_be_null(linitial(((FuncExpr *) node)->args)));
}

bool
made_value_take_apart(Node *node, MadeValue *made)
{
	made->parts = NIL;
	made->is_ordered = !is_document_call(node);
	made->may_be_null = may_be_null(node);
	if (!made_value_may_be(node))
		return false;
	return made->is_ordered ? add_value(node, InvalidOid, made) : add_member(node, made);
}
