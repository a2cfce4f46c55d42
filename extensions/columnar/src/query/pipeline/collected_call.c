/*-------------------------------------------------------------------------
 *
 * collected_call.c
 *	  Aggregates whose rows the engine collects.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "query/pipeline/collected_call.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_expr.h"

static List *
arguments_of(const Aggref *aggref)
{
	List	   *args = NIL;
	ListCell   *lc;

	foreach(lc, aggref->args)
	{
		if (!lfirst_node(TargetEntry, lc)->resjunk)
			args = lappend(args, lfirst_node(TargetEntry, lc)->expr);
	}
	return args;
}

/* A row of a table as its columns, which the engine has. */
static RowExpr *
columns_of(const Var *whole)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(whole->vartype, whole->vartypmod);
	RowExpr    *row = makeNode(RowExpr);

	row->row_typeid = whole->vartype;
	row->row_format = COERCE_IMPLICIT_CAST;
	row->location = -1;
	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *attribute = TupleDescAttr(desc, i);

		row->args = lappend(row->args, attribute->attisdropped ? (void *) makeNullConst(INT4OID, -1, InvalidOid)
							: (void *) makeVar(whole->varno, attribute->attnum, attribute->atttypid,
											   attribute->atttypmod, attribute->attcollation, 0));
	}
	ReleaseTupleDesc(desc);
	return row;
}

static Node *
columns_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber && ((Var *) node)->vartype != RECORDOID)
		return (Node *) columns_of((Var *) node);
	return expression_tree_mutator(node, columns_mutator, context);
}

/* DISTINCT compares the arguments themselves. */
static bool
take_whole(Translation *translation, List *args, CollectedCall *collected, PenumbraExpr *inputs)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *arg = lfirst(lc);

		if (!translate_has_collation(translation, exprCollation(arg), arg))
			return false;
		if (comparison_key_is_other(arg))
			return translation_refuse(translation, psprintf("DISTINCT of %s", format_type_be(exprType(arg)))) >= 0;
		collected->args = lappend(collected->args, makeVar(OUTER_VAR, foreach_current_index(lc) + 1, exprType(arg),
														   exprTypmod(arg), exprCollation(arg), 0));
	}
	collected->inputs = args;
	return translate_args(translation, args, inputs);
}

static bool
take_parts(Translation *translation, List *args, CollectedCall *collected, PenumbraExpr *inputs)
{
	HostCall	parts = {0};

	args = (List *) columns_mutator((Node *) args, NULL);
	if (!host_call_can_evaluate((Node *) args))
		return translation_refuse(translation, "aggregate of volatile functions, sets or subqueries") >= 0;
	if (!host_call_find_inputs(translation, (Node *) args, PENUMBRA_AGGREGATE_ARGUMENTS_MAX, &parts, inputs))
		return false;
	collected->args = (List *) parts.expr;
	collected->inputs = parts.inputs;
	return true;
}

bool
collected_call_translate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	CollectedCall *collected = palloc0(sizeof(CollectedCall));
	List	   *args = arguments_of(aggref);

	if (!(aggref->aggdistinct != NIL ? take_whole : take_parts) (translation, args, collected, call->arguments))
		return false;
	collected->aggref = aggref;
	collected->types = palloc(sizeof(PenumbraType) * Max(list_length(collected->inputs), 1));
	call->argument_count = list_length(collected->inputs);
	for (int i = 0; i < call->argument_count; i++)
		collected->types[i] = penumbra_plan_expr_type(translation->plan, call->arguments[i]);
	call->label = list_length(translation->collected_calls);
	translation->collected_calls = lappend(translation->collected_calls, collected);
	return true;
}

bool
collected_call_filter(Translation *translation, PenumbraAggregateCall *call)
{
	const CollectedCall *collected = list_nth(translation->collected_calls, call->label);
	const Var  *key = linitial(collected->args);
	PenumbraExpr branches[3];
	PenumbraExpr conditions[2];

	if (list_length(collected->args) == 1 || !IsA(key, Var))
		return true;
	branches[0] = translate_call(translation, PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL,
								 &call->arguments[key->varattno - 1], 1);
	branches[1] = translate_datum(translation, BOOLOID, BoolGetDatum(true), false);
	branches[2] = translate_failure(translation, PENUMBRA_BOOL);
	conditions[0] = call->filter;
	conditions[1] = translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_BOOL, branches, lengthof(branches));
	call->filter = call->filter < 0 ? conditions[1]
		: translate_call(translation, PENUMBRA_FN_AND, PENUMBRA_BOOL, conditions, lengthof(conditions));
	return call->filter >= 0;
}
