/*-------------------------------------------------------------------------
 *
 * translate_aggregate.c
 *	  Calls of aggregates, by groups and by windows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "utils/regproc.h"

#include "query/pipeline/function_map.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/pipeline/translate_collation.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"

bool
translate_aggregate(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	PenumbraCollation *collation = NULL;
	ListCell   *lc;

	call->filter = -1;
	call->distinct = aggref->aggdistinct != NIL;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggorder != NIL || aggref->aggvariadic ||
		list_length(aggref->args) > PENUMBRA_AGGREGATE_ARGUMENTS_MAX ||
		!function_map_aggregate(aggref, &call->function))
	{
		translation->reason = psprintf("aggregate %s", format_procedure(aggref->aggfnoid));
		return false;
	}
	if (!translate_type_of(translation, (Node *) aggref, &call->result))
		return false;
	if ((call->function == PENUMBRA_AGG_MIN || call->function == PENUMBRA_AGG_MAX) &&
		!translate_collation(translation, PENUMBRA_FN_LT, aggref->inputcollid, &collation))
		return false;
	call->collation = collation;
	if (call->distinct && !translate_check_equality(translation, aggref->inputcollid))
		return false;
	/* Arguments are evaluated for rows that pass the FILTER. */
	translation->branch_depth += aggref->aggfilter != NULL;
	foreach(lc, aggref->args)
	{
		Node	   *node = (Node *) lfirst_node(TargetEntry, lc)->expr;
		PenumbraExpr argument = translate_has_collation(translation, aggref->inputcollid, node)
			? translate_expr(translation, node) : -1;

		if (argument < 0)
			return false;
		call->arguments[call->argument_count++] = argument;
	}
	translation->branch_depth -= aggref->aggfilter != NULL;
	if (aggref->aggfilter != NULL)
	{
		call->filter = translate_expr(translation, (Node *) aggref->aggfilter);
		if (call->filter < 0)
			return false;
	}
	return true;
}
