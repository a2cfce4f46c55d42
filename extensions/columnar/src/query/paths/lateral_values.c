/*-------------------------------------------------------------------------
 *
 * lateral_values.c
 *	  LATERAL VALUES: columns as rows.
 *
 * Each row of VALUES is a projection of the other side's rows, and the join is
 * the union of these.  The other side is computed for each of them, so it must repeat.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "query/paths/lateral_values.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/planning/relation_numbers.h"

/* The other side is computed so many times. */
#define ROWS_MAX 16

static List *
names_of_columns(PlannerInfo *root, const RangeTblEntry *rte, Index relid)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, rte->coltypes)
	{
		int			place = foreach_current_index(lc);

		names = lappend(names, makeVar(relation_number_of(root, relid), place + 1, lfirst_oid(lc),
									   list_nth_int(rte->coltypmods, place),
									   list_nth_oid(rte->colcollations, place), 0));
	}
	return names;
}

bool
lateral_values_join(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, double rows)
{
	const RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	List	   *before = stage_outputs(planned->pipeline->top);
	List	   *names = list_concat_copy(before, names_of_columns(root, rte, rel->relid));
	RelPipeline *all = NULL;
	ListCell   *lc;

	if (list_length(rte->values_lists) > ROWS_MAX || !rel_pipeline_repeats(planned->pipeline->top) ||
		contain_volatile_functions((Node *) rte->values_lists) || contain_subplans((Node *) rte->values_lists))
		return false;
	foreach(lc, rte->values_lists)
	{
		RelPipeline *member = rel_pipeline_copy(planned);
		List	   *exprs = (List *) relation_numbers_normalize(root, lfirst(lc));

		pipeline_add_stage(member->pipeline, PIPELINE_PROJECTION, list_concat_copy(before, exprs))->names = names;
		if (all == NULL)
			all = member;
		else
			rel_pipeline_unite(all, member);
	}
	*planned = *all;
	planned->rows = rows;
	planned->pipeline->top->rows = rows;
	planned->before_sort = NULL;
	return true;
}
