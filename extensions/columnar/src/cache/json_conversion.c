/*-------------------------------------------------------------------------
 *
 * json_conversion.c
 *	  Members of documents as arrays and composites.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cache/json_conversion.h"
#include "cache/value_image.h"

/* Of pg_operator: jsonb -> text. */
#define MEMBER_OPERATOR	3211

/* What PostgreSQL makes of a text, whatever the settings and the time are. */
static bool
is_fixed_input(Oid type)
{
	Oid			input;
	Oid			io_param;

	if (type >= FirstGenbkiObjectId || type == JSONOID || get_typtype(type) != TYPTYPE_BASE)
		return false;
	getTypeInputInfo(type, &input, &io_param);
	return func_volatile(input) == PROVOLATILE_IMMUTABLE;
}

/* Locked, where it is composed. */
static bool
is_fixed_conversion(Oid type)
{
	Oid			element = get_element_type(type);
	const ValueImage *image;
	TupleDesc	desc;
	bool		is_fixed = true;

	if (OidIsValid(element))
		return is_fixed_conversion(element);
	if (get_typtype(type) != TYPTYPE_COMPOSITE)
		return is_fixed_input(type);
	image = value_image_of(type);
	if (image == NULL || image->composed == NULL)
		return false;
	desc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; is_fixed && i < desc->natts; i++)
		is_fixed = TupleDescAttr(desc, i)->attisdropped || is_fixed_conversion(TupleDescAttr(desc, i)->atttypid);
	ReleaseTupleDesc(desc);
	return is_fixed;
}

Node *
json_conversion_make(Node *object, const char *member, Oid type)
{
	Const	   *key = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(member), false, false);
	OpExpr	   *value = (OpExpr *) make_opclause(MEMBER_OPERATOR, JSONBOID, false, (Expr *) object, (Expr *) key,
												 InvalidOid, DEFAULT_COLLATION_OID);
	CoerceViaIO *cast = makeNode(CoerceViaIO);

	value->opfuncid = F_JSONB_OBJECT_FIELD;
	cast->arg = (Expr *) value;
	cast->resulttype = type;
	cast->resultcollid = get_typcollation(type);
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return json_conversion_is_fixed(cast) ? (Node *) cast : NULL;
}

bool
json_conversion_is(const CoerceViaIO *cast)
{
	const OpExpr *value = (const OpExpr *) cast->arg;

	return IsA(value, OpExpr) && value->opno == MEMBER_OPERATOR && IsA(lsecond(value->args), Const) &&
		!lsecond_node(Const, value->args)->constisnull &&
		(OidIsValid(get_element_type(cast->resulttype)) || get_typtype(cast->resulttype) == TYPTYPE_COMPOSITE);
}

bool
json_conversion_is_fixed(const CoerceViaIO *cast)
{
	return is_fixed_conversion(cast->resulttype);
}

static void
add_shape(Oid type, uint64 *shape)
{
	Oid			element = get_element_type(type);
	TupleDesc	desc;

	if (OidIsValid(element))
		add_shape(element, shape);
	if (OidIsValid(element) || get_typtype(type) != TYPTYPE_COMPOSITE)
		return;
	desc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *name = NameStr(att->attname);

		*shape = hash_combine64(*shape, att->attisdropped ? 0
								: hash_bytes_extended((const unsigned char *) name, strlen(name), att->atttypmod));
		add_shape(att->atttypid, shape);
	}
	ReleaseTupleDesc(desc);
}

static bool
shape_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceViaIO) && json_conversion_is((CoerceViaIO *) node) &&
		json_conversion_is_fixed((CoerceViaIO *) node))
		add_shape(((CoerceViaIO *) node)->resulttype, context);
	return expression_tree_walker(node, shape_walker, context);
}

uint64
json_conversion_shape(Node *expr)
{
	uint64		shape = 0;

	(void) shape_walker(expr, &shape);
	return shape;
}

/* (jsonb_populate_record(ROW(NULL::type) AS (member), object)).member */
static Node *
populate_column(const CoerceViaIO *cast)
{
	const OpExpr *value = (const OpExpr *) cast->arg;
	char	   *member = TextDatumGetCString(lsecond_node(Const, value->args)->constvalue);
	RowExpr    *row = makeNode(RowExpr);
	FieldSelect *column = makeNode(FieldSelect);

	row->args = list_make1(makeNullConst(cast->resulttype, -1, cast->resultcollid));
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->colnames = list_make1(makeString(member));
	row->location = -1;
	column->arg = (Expr *) makeFuncExpr(F_JSONB_POPULATE_RECORD, RECORDOID, list_make2(row, linitial(value->args)),
										InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	column->fieldnum = 1;
	column->resulttype = cast->resulttype;
	column->resulttypmod = -1;
	column->resultcollid = cast->resultcollid;
	return (Node *) column;
}

static Node *
expand_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, expand_mutator, context);
	return IsA(node, CoerceViaIO) && json_conversion_is((CoerceViaIO *) node) ? populate_column((CoerceViaIO *) node)
		: node;
}

Node *
json_conversion_expand(Node *expr)
{
	return expand_mutator(expr, NULL);
}
