/*-------------------------------------------------------------------------
 *
 * init_plans.c
 *	  Whether a subquery that is run once, an InitPlan, may be run when a node
 *	  of ours starts.
 *
 * PostgreSQL runs it when a row asks for it first.  That a node of ours runs
 * it when it starts must not be seen: by effects of volatile functions, or by
 * errors where there may be no row (a second row) or where the row may skip
 * it (any).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

#include "query/pipeline/can_fail.h"
#include "query/pipeline/init_plans.h"
#include "query/planning/planning.h"
#include "query/planning/repeats.h"

/* Whether a subquery has one row at most. */
static bool
is_single_row(const Query *query)
{
	const Const *limit = (const Const *) query->limitCount;
	const Node *from = list_length(query->jointree->fromlist) != 1 ? NULL : linitial(query->jointree->fromlist);

	if (from != NULL && IsA(from, RangeTblRef) && query->setOperations == NULL && !query->hasTargetSRFs)
	{
		const RangeTblEntry *rte = rt_fetch(((const RangeTblRef *) from)->rtindex, query->rtable);

		if (rte->rtekind == RTE_SUBQUERY && is_single_row(rte->subquery))
			return true;
	}
	if (limit != NULL && IsA(limit, Const) && !limit->constisnull && DatumGetInt64(limit->constvalue) == 1)
		return true;
	return query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL &&
		!query->hasTargetSRFs;
}

bool
init_plan_must_wait(PlannerInfo *root, const SubPlan *subplan, bool is_conditional, bool is_in_branch)
{
	Query	   *query = list_nth_node(PlannerInfo, root->glob->subroots, subplan->plan_id - 1)->parse;

	if (contains_volatile((Node *) query, root->glob))
		return true;
	if (is_conditional && subplan->subLinkType != EXISTS_SUBLINK && subplan->subLinkType != ARRAY_SUBLINK &&
		!is_single_row(query))
		return true;
	return is_in_branch && expr_can_fail((Node *) query);
}

typedef struct MustWait
{
	bool		is_conditional;
	bool		is_in_branch;
} MustWait;

static bool
must_param_wait(const Param *param, const MustWait *context)
{
	Planning   *planning = planning_current();
	ListCell   *lc;

	if (param->paramkind != PARAM_EXEC || planning == NULL)
		return false;
	for (PlannerInfo *root = planning->root; root != NULL; root = root->parent_root)
	{
		foreach(lc, root->init_plans)
		{
			const SubPlan *subplan = lfirst_node(SubPlan, lc);

			if (list_member_int(subplan->setParam, param->paramid))
				return init_plan_must_wait(root, subplan, context->is_conditional, context->is_in_branch);
		}
	}
	return false;
}

static bool
must_wait_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return must_param_wait((Param *) node, context);
	return expression_tree_walker(node, must_wait_walker, context);
}

bool
init_plans_must_wait(Node *node, bool is_conditional, bool is_in_branch)
{
	MustWait	context = {.is_conditional = is_conditional || is_in_branch,.is_in_branch = is_in_branch};

	return must_wait_walker(node, &context);
}
