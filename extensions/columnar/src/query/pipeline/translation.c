/*-------------------------------------------------------------------------
 *
 * translation.c
 *	  An engine plan under construction; what PostgreSQL evaluates for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "pg_compat.h"
#include "query/pipeline/time_zone.h"
#include "query/pipeline/translation.h"

PenumbraExpr
translation_refuse(Translation *translation, const char *reason)
{
	translation->reason = reason;
	return -1;
}

PenumbraExpr
translation_take_expr(Translation *translation, PenumbraExpr expr)
{
	if (expr < 0)
		translation->reason = pstrdup(penumbra_plan_reason(translation->plan));
	return expr;
}

bool
translation_keep_operator(Translation *translation, PenumbraOperator added)
{
	if (added < 0)
	{
		translation_take_expr(translation, -1);
		return false;
	}
	translation->current = translation->last = added;
	return true;
}

PenumbraExpr
translate_call(Translation *translation, PenumbraFunction function, PenumbraType result,
			   const PenumbraExpr *args, int arg_count)
{
	return translation_take_expr(translation, penumbra_plan_call(translation->plan, function, result,
														 args, arg_count));
}

bool
translation_finish(Translation *translation)
{
	if (penumbra_plan_finish(translation->plan, translation->current))
		return true;
	translation_take_expr(translation, -1);
	return false;
}

static void
destroy_plan(void *arg)
{
	penumbra_plan_destroy(((Translation *) arg)->plan);
}

/* Minor versions differ; 2.4 is where 16 of 20 buckets end, or is rounded to. */
static bool
width_bucket_divides_first(void)
{
	return DatumGetInt32(DirectFunctionCall4(width_bucket_float8, Float8GetDatum(2.4), Float8GetDatum(0),
											 Float8GetDatum(3), Int32GetDatum(20))) == 16;
}

Translation *
translation_begin(List *runtime_exprs, const RuntimeValue *values)
{
	MemoryContext owner = AllocSetContextCreate(CurrentMemoryContext, "Penumbra translation",
												ALLOCSET_SMALL_SIZES);
	Translation *translation = MemoryContextAllocZero(owner, sizeof(Translation));
	MemoryContextCallback *callback = MemoryContextAllocZero(owner,
															 sizeof(MemoryContextCallback));
	PenumbraPlanOptions options = {
		.encoding_is_utf8 = GetDatabaseEncoding() == PG_UTF8,
		.time_zone = time_zone_of_session(),
		.power_scale_by_result = COMPAT_INTEGER_POWER_SCALE_BY_RESULT,
		.width_bucket_divides_first = width_bucket_divides_first()
	};

	translation->owner = owner;
	translation->current = translation->last = -1;
	translation->build = -1;
	translation->runtime_exprs = list_copy(runtime_exprs);
	translation->runtime_values = values;
	translation->case_operand = -1;
	translation->plan = penumbra_plan_create(&options);
	if (translation->plan == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	/* The engine's plan is no palloc'd memory: it dies with the context, after an error too. */
	callback->func = destroy_plan;
	callback->arg = translation;
	MemoryContextRegisterResetCallback(owner, callback);
	return translation;
}

void
translation_end(Translation *translation)
{
	MemoryContextDelete(translation->owner);
}

static bool
needs_input_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_PlaceHolderVar:
		case T_NamedArgExpr:	/* a placeholder */
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_CaseTestExpr:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return true;
		case T_ArrayCoerceExpr: /* it gives its elements to their cast */
			return needs_input_walker((Node *) ((ArrayCoerceExpr *) node)->arg, context);
		default:
			return expression_tree_walker(node, needs_input_walker, context);
	}
}

bool
translation_is_runtime(Node *node)
{
	return !needs_input_walker(node, NULL) && !contain_volatile_functions(node) &&
		!expression_returns_set(node);
}

int
translation_runtime_index(Translation *translation, Node *node)
{
	ListCell   *lc;

	foreach(lc, translation->runtime_exprs)
	{
		if (equal(lfirst(lc), node))
			return foreach_current_index(lc);
	}
	if (translation->runtime_values != NULL)
		elog(ERROR, "expression of a Penumbra node was not planned");
	translation->runtime_exprs = lappend(translation->runtime_exprs, node);
	return list_length(translation->runtime_exprs) - 1;
}
