/*-------------------------------------------------------------------------
 *
 * init_plans.c
 *	  Whether a subquery that is run once, an InitPlan, may be run when a node
 *	  of ours starts.
 *
 * PostgreSQL runs it when a row asks for it first.  That a node of ours runs
 * it when it starts must not be seen.  One with volatile functions waits: it
 * is PostgreSQL's.  One that can fail is tried, see runtime_values.c.  That
 * runs it apart, and with it the CTEs that it reads; so one that can fail and
 * reads a CTE of a query around it, or stands in a statement with WITH queries
 * that change data, is run in its place, and waits where it might not be asked
 * for.
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
subplan_has_second_row(const PlannerInfo *root, const SubPlan *subplan)
{
	return subplan->subLinkType != EXISTS_SUBLINK && subplan->subLinkType != ARRAY_SUBLINK &&
		subplan->subLinkType != CTE_SUBLINK && !is_single_row(planning_level_of(root->glob, subplan)->parse);
}

typedef struct OuterCtes
{
	const PlannerInfo *level;	/* of the subquery */
	const PlannerInfo *at;		/* of the planned query at hand, which is that or below it */
	int			depth;			/* of the query at hand, within that */
	List	   *levels;			/* where the CTEs were planned */
	bool		found;
} OuterCtes;

static bool
is_around(const PlannerInfo *outer, const PlannerInfo *level)
{
	while ((level = level->parent_root) != NULL && level != outer)
		;
	return level != NULL;
}

static bool outer_ctes_walker(Node *node, void *context);

/* An InitPlan need not be of the level in whose list it stands: plans of ours take those of their subqueries. */
static void
walk_level(OuterCtes *ctes, const PlannerInfo *level)
{
	OuterCtes	saved = *ctes;

	ctes->at = level;
	ctes->depth = 0;
	(void) query_tree_walker(level->parse, outer_ctes_walker, ctes, QTW_EXAMINE_RTES_BEFORE);
	(void) outer_ctes_walker((Node *) level->init_plans, ctes);
	ctes->at = saved.at;
	ctes->depth = saved.depth;
}

static bool
outer_ctes_walker(Node *node, void *context)
{
	OuterCtes  *ctes = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry rte = *(const RangeTblEntry *) node;
		const PlannerInfo *owner = ctes->at;
		PlannerInfo *planned;

		if (rte.rtekind != RTE_CTE || (int) rte.ctelevelsup <= ctes->depth)
			return false;
		rte.ctelevelsup -= ctes->depth;
		for (Index up = rte.ctelevelsup; up > 0; up--)
			owner = owner->parent_root;
		if (!is_around(owner, ctes->level))
			return false;
		ctes->found = true;
		if (planning_find_cte(ctes->at, &rte, &planned) != NULL)
			ctes->levels = list_append_unique_ptr(ctes->levels, planned);
		return false;
	}
	if (IsA(node, SubPlan))
	{
		walk_level(ctes, planning_level_of(ctes->level->glob, (SubPlan *) node));
		return false;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, outer_ctes_walker, context);
	ctes->depth++;
	(void) query_tree_walker((Query *) node, outer_ctes_walker, context, QTW_EXAMINE_RTES_BEFORE);
	ctes->depth--;
	return false;
}

/*
 * Whether a query around it has CTEs.  Levels can be many and are asked for from
 * the outer to the inner, so where one has none the next one's search ends.
 */
static bool
is_below_ctes(const PlannerInfo *level)
{
	Planning   *planning = planning_current();

	for (const PlannerInfo *at = level; at != planning->level_without_ctes && at->parent_root != NULL;)
	{
		at = at->parent_root;
		if (at->parse->cteList != NIL)
			return true;
	}
	planning->level_without_ctes = level;
	return false;
}

/* The CTEs of queries around it that a planned query reads. */
static OuterCtes
outer_ctes_of(const PlannerInfo *level)
{
	OuterCtes	ctes = {.level = level};

	if (is_below_ctes(level))
		walk_level(&ctes, level);
	return ctes;
}

/* Also by what its InitPlans do, of which its query has the Params only, and the CTEs that it reads. */
static bool
can_level_fail(const PlannerInfo *level)
{
	ListCell   *lc;

	foreach(lc, outer_ctes_of(level).levels)
	{
		if (can_level_fail(lfirst_node(PlannerInfo, lc)))
			return true;
	}
	foreach(lc, level->init_plans)
	{
		const SubPlan *inner = lfirst_node(SubPlan, lc);

		if (subplan_has_second_row(level, inner) || can_level_fail(planning_level_of(level->glob, inner)))
			return true;
	}
	return expr_can_fail((Node *) level->parse);
}

static bool
can_expr_of_init_plan_fail(const PlannerInfo *root, const SubPlan *subplan)
{
	return can_level_fail(planning_level_of(root->glob, subplan));
}

/* Also of the CTEs that it reads, and of those that they read. */
static bool
reads_volatile(const PlannerInfo *level)
{
	ListCell   *lc;

	foreach(lc, outer_ctes_of(level).levels)
	{
		const PlannerInfo *cte = lfirst_node(PlannerInfo, lc);

		if (contains_volatile((Node *) cte->parse, cte->glob) ||
			contains_volatile((Node *) cte->init_plans, cte->glob) || reads_volatile(cte))
			return true;
	}
	return false;
}

/*
 * An executor of its own would compute such a CTE a second time; and it would
 * run all WITH queries that change data, wherever they stand, to their end.
 */
static bool
can_run_apart(const PlannerInfo *root, const SubPlan *subplan)
{
	for (const PlannerInfo *level = root; level != NULL; level = level->parent_root)
	{
		if (level->parse->hasModifyingCTE)
			return false;
	}
	return !outer_ctes_of(planning_level_of(root->glob, subplan)).found;
}

bool
init_plan_must_wait(PlannerInfo *root, const SubPlan *subplan, bool is_conditional, bool is_in_branch)
{
	if (contains_volatile((Node *) subplan, root->glob) || reads_volatile(planning_level_of(root->glob, subplan)))
		return true;
	if (is_conditional && subplan_has_second_row(root, subplan) && !can_run_apart(root, subplan))
		return true;
	return is_in_branch && can_expr_of_init_plan_fail(root, subplan) && !can_run_apart(root, subplan);
}

static bool
must_be_tried(const PlannerInfo *root, const SubPlan *subplan)
{
	return (subplan_has_second_row(root, subplan) || can_expr_of_init_plan_fail(root, subplan)) &&
		can_run_apart(root, subplan);
}

static const SubPlan *
find_init_plan(List *init_plans, const Param *param)
{
	ListCell   *lc;

	foreach(lc, init_plans)
	{
		if (list_member_int(lfirst_node(SubPlan, lc)->setParam, param->paramid))
			return lfirst_node(SubPlan, lc);
	}
	return NULL;
}

typedef struct MustWait
{
	PlannerInfo *root;
	List	   *taken;			/* InitPlans of levels below */
	bool		is_conditional;
	bool		is_in_branch;
} MustWait;

static bool
must_wait_walker(Node *node, void *context)
{
	const MustWait *must_wait = context;
	PlannerInfo *root = must_wait->root;
	const SubPlan *subplan;

	if (node == NULL)
		return false;
	if (!IsA(node, Param))
		return expression_tree_walker(node, must_wait_walker, context);
	if (((Param *) node)->paramkind != PARAM_EXEC)
		return false;
	subplan = find_init_plan(must_wait->taken, (Param *) node);
	for (PlannerInfo *level = root; subplan == NULL && level != NULL; level = level->parent_root)
	{
		root = level;
		subplan = find_init_plan(root->init_plans, (Param *) node);
	}
	return subplan != NULL && init_plan_must_wait(root, subplan, must_wait->is_conditional, must_wait->is_in_branch);
}

static bool
must_wait(PlannerInfo *root, List *taken, Node *node, bool is_conditional, bool is_in_branch)
{
	MustWait	context = {root, taken, is_conditional || is_in_branch, is_in_branch};

	return must_wait_walker(node, &context);
}

bool
init_plans_must_wait_at(PlannerInfo *root, Node *node, bool is_conditional, bool is_in_branch)
{
	return must_wait(root, NIL, node, is_conditional, is_in_branch);
}

bool
init_plans_must_wait(Node *node, bool is_conditional, bool is_in_branch)
{
	Planning   *planning = planning_current();

	return planning != NULL &&
		must_wait(planning->root, planning->taken_init_plans, node, is_conditional, is_in_branch);
}

typedef struct Tried
{
	PlannerInfo *root;
	const Pipeline *pipeline;
	List	   *params;
} Tried;

static bool
tried_walker(Node *node, void *context)
{
	Tried	   *tried = context;
	const SubPlan *subplan;

	if (node == NULL)
		return false;
	if (!IsA(node, Param))
		return expression_tree_walker(node, tried_walker, context);
	if (((Param *) node)->paramkind != PARAM_EXEC)
		return false;
	subplan = find_init_plan(tried->pipeline->init_plans, (Param *) node);
	for (PlannerInfo *root = tried->root; root != NULL && subplan == NULL; root = root->parent_root)
		subplan = find_init_plan(root->init_plans, (Param *) node);
	if (subplan != NULL && must_be_tried(tried->root, subplan))
		tried->params = list_append_unique_int(tried->params, ((Param *) node)->paramid);
	return false;
}

List *
init_plans_tried(PlannerInfo *root, const Pipeline *pipeline)
{
	Tried		context = {root, pipeline, NIL};

	(void) tried_walker((Node *) pipeline->runtime_exprs, &context);
	return context.params;
}
