/*-------------------------------------------------------------------------
 *
 * subplan_memo.c
 *	  Results of correlated subqueries, kept by the values they are of.
 *
 * Where a correlated subquery does not become a join (subplans.c), PostgreSQL
 * runs it for each row of the query around it, also for values that it has
 * been run for.  Its own Memoize node knows these again; the planner uses it
 * below nested loops alone.  Here it becomes the top of the subquery's plan.
 *
 * Why the answer is the same: within a statement nothing but the Params
 * changes what a subquery without volatile functions, at any depth, finds.  Params of this
 * level's query are the key, bit by bit, since equal numerics may be written
 * differently; when another Param changes, as of a query further out, the node
 * forgets everything.  An execution that is left before its end is not kept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "query/paths/subplan_memo.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/repeats.h"

/* More than a look-up by a unique index (8.5), which takes five times as long as to find what is kept. */
#define MEMO_COST_MIN 10.0
/* pg_statistic.stadistinct of a column of which hardly a value stands twice. */
#define UNIQUE_STADISTINCT (-0.95)

/* What the query around it hands down, as Params; false: not all can be keys. */
static bool
find_keys(PlannerInfo *root, List **params, List **operators)
{
	ListCell   *lc;

	foreach(lc, root->parent_root->plan_params)
	{
		const PlannerParamItem *item = lfirst(lc);
		Param	   *param = makeNode(Param);
		TypeCacheEntry *type;

		param->paramkind = PARAM_EXEC;
		param->paramid = item->paramId;
		param->paramtype = exprType(item->item);
		param->paramtypmod = exprTypmod(item->item);
		param->paramcollid = exprCollation(item->item);
		param->location = -1;
		type = lookup_type_cache(param->paramtype, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);
		if (!OidIsValid(type->eq_opr) || !OidIsValid(type->hash_proc))
			return false;
		*params = lappend(*params, param);
		*operators = lappend_oid(*operators, type->eq_opr);
	}
	return *params != NIL;
}

/* Whether the subquery, its own subqueries or its InitPlans call a volatile function. */
static bool
is_volatile(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->init_plans)
	{
		if (contains_volatile((Node *) lfirst(lc), root->glob))
			return true;
	}
	return contains_volatile((Node *) root->parse, root->glob);
}

/* Whether a value comes once: from a column of unique values of the only table around the subquery. */
static bool
has_unique_key(const PlannerInfo *parent)
{
	const Query *query = parent->parse;
	ListCell   *lc;

	if (list_length(query->jointree->fromlist) != 1 || !IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return false;
	foreach(lc, parent->plan_params)
	{
		const Var  *var = (const Var *) ((const PlannerParamItem *) lfirst(lc))->item;
		const RangeTblEntry *rte = IsA(var, Var) ? rt_fetch(var->varno, query->rtable) : NULL;
		HeapTuple	statistics = rte == NULL || rte->rtekind != RTE_RELATION ? NULL
			: SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid), Int16GetDatum(var->varattno),
							  BoolGetDatum(rte->inh));
		bool		is_unique;

		if (!HeapTupleIsValid(statistics))
			continue;
		is_unique = ((Form_pg_statistic) GETSTRUCT(statistics))->stadistinct <= UNIQUE_STADISTINCT;
		ReleaseSysCache(statistics);
		if (is_unique)
			return true;
	}
	return false;
}

void
subplan_memo_add(PlannerInfo *root, RelOptInfo *final_rel)
{
	List	   *params = NIL;
	List	   *operators = NIL;
	ListCell   *lc;

	/* A subquery in FROM is planned when the relations around it are known; it is rescanned below nested loops. */
	if (!enable_memoize || root->parent_root == NULL ||
		root->parent_root->simple_rel_array != NULL ||
		is_volatile(root) || !find_keys(root, &params, &operators) || has_unique_key(root->parent_root))
		return;
	foreach(lc, final_rel->pathlist)
	{
		Path	   *path = lfirst(lc);
		/* Of EXISTS, or by its LIMIT; with ties there may be more. */
		bool		is_single_row = root->tuple_fraction == 1.0 && root->parse->limitOption != LIMIT_OPTION_WITH_TIES;
		MemoizePath *memo;

		/* What has nothing to do with Penumbra is planned as without it. */
		if (path->total_cost < MEMO_COST_MIN || (planning_current()->tables == NIL && !path_is_ours(path)))
			continue;
		memo = create_memoize_path(root, path->parent, path, params, operators, is_single_row, true, 1);
		memo->path.pathtarget = path->pathtarget;
		lfirst(lc) = memo;
	}
}
