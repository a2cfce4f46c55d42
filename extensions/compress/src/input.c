/*-------------------------------------------------------------------------
 *
 * input.c
 *	  See input.h.
 *
 *	  Literals do not wait: the parser flattens what their input functions
 *	  return.  Where it converts one for a column of an INSERT or UPDATE whose
 *	  cast will compress it, the value is stored raw until then.  The parser is
 *	  known by its error context callback, which it sets while it converts a
 *	  literal.  Should it ever stop doing that, literals are compressed twice.
 *
 *	  Nor do parameters of a plan that is made for their values: planning
 *	  flattens them.  The planner hook looks where they stand: a value that is
 *	  only cast is flattened to raw bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "input.h"

#include "access/transam.h"
#include "compress.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/parse_node.h"
#include "pg_compat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "waiting.h"

/* A tuple keeps short values of expanded objects with a longer header than others. */
#define WAITING_MIN_BYTES 256
/* It is a copy: a longer value is rather compressed twice. */
#define WAITING_MAX_BYTES (64 * 1024 * 1024)

/* Parameters of a query */
typedef struct ParameterUses
{
	Bitmapset  *cast;			/* to a type modifier */
	Bitmapset  *other;			/* used otherwise */
} ParameterUses;

static planner_hook_type previous_planner = NULL;

/* Where the parser is, if it converts a literal at this moment; else NULL. */
static const ParseState *
parsed_literal(void)
{
	static void (*parser_callback) (void *arg) = NULL;

	if (parser_callback == NULL)
	{
		ParseCallbackState probe;

		setup_parser_errposition_callback(&probe, NULL, -1);
		parser_callback = probe.errcallback.callback;
		cancel_parser_errposition_callback(&probe);
	}
	if (error_context_stack == NULL || error_context_stack->callback != parser_callback)
		return NULL;
	return ((const ParseCallbackState *) error_context_stack->arg)->pstate;
}

/* Whether a value of the type that is assigned to the column, or a part of it, is cast to a modifier. */
static bool
column_casts(Form_pg_attribute column, Oid type)
{
	Oid			element;
	char		kind;

	if (column->atttypid == type)
		return column->atttypmod >= 0;
	if (column->attisdropped || column->atttypid < FirstNormalObjectId)
		return true;
	element = get_element_type(column->atttypid);
	if (!OidIsValid(element))
		element = column->atttypid;
	kind = get_typtype(element);
	return element != type && kind != TYPTYPE_DOMAIN && kind != TYPTYPE_COMPOSITE;
}

/* Whether the value is made of a literal for a column that will cast it to its modifier. */
static bool
cast_follows(Oid type)
{
	const ParseState *pstate = parsed_literal();
	TupleDesc	columns;

	if (pstate == NULL || pstate->p_target_relation == NULL ||
		(pstate->p_expr_kind != EXPR_KIND_INSERT_TARGET &&
		 pstate->p_expr_kind != EXPR_KIND_UPDATE_TARGET))
		return false;
	/* which of the columns it is for is not known */
	columns = RelationGetDescr(pstate->p_target_relation);
	for (int i = 0; i < columns->natts; i++)
		if (!column_casts(TupleDescAttr(columns, i), type))
			return false;
	return true;
}

Datum
input_value(FunctionCallInfo fcinfo, const char *raw, Size bytes, bool is_text)
{
	int32		typmod = PG_GETARG_INT32(2);

	if (typmod < 0 && bytes >= WAITING_MIN_BYTES && bytes <= WAITING_MAX_BYTES)
	{
		if (!cast_follows(PG_GETARG_OID(1)))
			return make_waiting_value(raw, bytes, is_text);
		typmod = raw_typmod();
	}
	return PointerGetDatum(value_compress(raw, bytes, typmod, is_text));
}

/* Parameters directly in a cast to their own type with a typmod go to uses->cast, all others to uses->other. */
static bool
find_parameters(Node *node, ParameterUses *uses)
{
	int32		typmod;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_parameters, uses, 0);
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN)
		uses->other = bms_add_member(uses->other, ((Param *) node)->paramid);
	if (exprIsLengthCoercion(node, &typmod) && typmod >= 0 && IsA(node, FuncExpr) &&
		IsA(linitial(((FuncExpr *) node)->args), Param))
	{
		Param	   *param = linitial(((FuncExpr *) node)->args);

		if (param->paramkind == PARAM_EXTERN && param->paramtype == exprType(node))
		{
			uses->cast = bms_add_member(uses->cast, param->paramid);
			return false;
		}
	}
	return expression_tree_walker(node, find_parameters, uses);
}

static bool
has_waiting_values(ParamListInfo params)
{
	const char *raw;
	Size		bytes;

	/* those of procedural languages are fetched one by one, and are flat */
	if (params == NULL || params->paramFetch != NULL)
		return false;
	for (int i = 0; i < params->numParams; i++)
		if (!params->params[i].isnull && get_typlen(params->params[i].ptype) == -1 &&
			value_waits(params->params[i].value, &raw, &bytes))
			return true;
	return false;
}

static void
choose_flat_forms(Query *query, ParamListInfo params)
{
	ParameterUses uses = {NULL, NULL};

	find_parameters((Node *) query, &uses);
	for (int i = 0; i < params->numParams; i++)
	{
		const ParamExternData *param = &params->params[i];

		if (!param->isnull && get_typlen(param->ptype) == -1)
			waiting_value_flatten_as(param->value, bms_is_member(i + 1, uses.cast) &&
									 !bms_is_member(i + 1, uses.other));
	}
}

static PlannedStmt *
input_planner(COMPAT_PLANNER_PARAMETERS)
{
	if (has_waiting_values(params))
		choose_flat_forms(query, params);
	return (previous_planner ? previous_planner : standard_planner) (COMPAT_PLANNER_ARGUMENTS);
}

void
input_init(void)
{
	previous_planner = planner_hook;
	planner_hook = input_planner;
}
