/*-------------------------------------------------------------------------
 *
 * rel_pipelines.c
 *	  The pipeline of each relation of the planner.
 *
 * Pipelines are remembered by relation rather than found in its pathlist: a
 * full sort may have lost against another path there although the top-N made
 * from it wins, and the best order of joins is not known before all of them
 * are planned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "query/cost.h"
#include "query/custom_path.h"
#include "query/names.h"
#include "query/planned.h"
#include "query/planning.h"
#include "query/repeats.h"
#include "query/row_source.h"
#include "query/translate.h"

/* A table that is not cached is joined in the engine if it is smaller than that. */
#define UNCACHED_PAGES_MAX 64

/* add_path() takes a path for cheaper that costs 1 % less. */
#define WINNING_SHARE 0.98

/* ---------------------------------------------------------------- parts of pipelines */

static bool
has_barrier(const PlannerInfo *root)
{
	ListCell   *lc;

	for (; root != NULL; root = root->parent_root)
	{
		foreach(lc, root->parse->rtable)
		{
			RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

			if (rte->security_barrier || rte->securityQuals != NIL)
				return true;
		}
	}
	return false;
}

/*
 * Whether rows may be hidden from the user.  Leakproof quals of his are pushed
 * down past a barrier and then have the same security level as its own, so
 * the quals themselves do not tell.  Looked up once per query level: a table
 * of thousands of partitions would do it for each.
 */
static bool
is_below_barrier(const PlannerInfo *root)
{
	Planning   *planning = planning_current();

	if (planning->barrier_root != root)
	{
		planning->barrier_root = root;
		planning->is_below_barrier = has_barrier(root);
	}
	return planning->is_below_barrier;
}

Pipeline *
planned_begin_scan(PlannerInfo *root, Index relid, List *attnos)
{
	Pipeline   *pipeline = palloc0(sizeof(Pipeline));
	PipelineStage *scan = pipeline_add_stage(pipeline, PIPELINE_SCAN, NIL);
	Index		name = names_number(root, relid);
	ListCell   *lc;

	scan->relation_oid = root->simple_rte_array[relid]->relid;
	pipeline->has_barrier = is_below_barrier(root);
	foreach(lc, attnos)
	{
		AttrNumber	attno = lfirst_int(lc);
		Oid			type;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(scan->relation_oid, attno, &type, &typmod, &collation);
		scan->exprs = lappend(scan->exprs, makeVar(name, attno, type, typmod, collation, 0));
	}
	return pipeline;
}

static Cost
qual_cost(PlannerInfo *root, RestrictInfo *rinfo)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, (Node *) rinfo, root);
	return cost.per_tuple;
}

/* A leakproof qual may see every row. */
static Index
qual_level(const RestrictInfo *rinfo)
{
	return rinfo->leakproof ? 0 : rinfo->security_level;
}

/* By security level, then by cost, as PostgreSQL evaluates them; stable. */
static List *
sort_quals(PlannerInfo *root, List *restrictinfos)
{
	List	   *sorted = NIL;
	ListCell   *lc;

	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Cost		cost = qual_cost(root, rinfo);
		int			place = list_length(sorted);

		while (place > 0)
		{
			RestrictInfo *before = list_nth_node(RestrictInfo, sorted, place - 1);

			if (qual_level(before) < qual_level(rinfo) ||
				(qual_level(before) == qual_level(rinfo) &&
				 qual_cost(root, before) <= cost))
				break;
			place--;
		}
		sorted = list_insert_nth(sorted, place, rinfo);
	}
	return sorted;
}

/*
 * Adds the quals as filters, one per security level, so that no row reaches a
 * leaky qual before a barrier below it has passed it; nor does its zone map,
 * since EXPLAIN ANALYZE shows how many chunks were skipped.
 */
void
planned_add_filters(PlannerInfo *root, Pipeline *pipeline, List *restrictinfos)
{
	PipelineStage *stage = NULL;
	Index		level = 0;
	ListCell   *lc;

	foreach(lc, sort_quals(root, restrictinfos))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *clause = names_normalize(root, (Node *) rinfo->clause);

		if (stage == NULL || qual_level(rinfo) != level)
			stage = pipeline_add_stage(pipeline, PIPELINE_FILTER, NIL);
		level = qual_level(rinfo);
		stage->exprs = lappend(stage->exprs, clause);
	}
}

List *
planned_ordered_clauses(PlannerInfo *root, List *restrictinfos)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, sort_quals(root, restrictinfos))
		clauses = lappend(clauses, names_normalize(root, (Node *) lfirst_node(RestrictInfo, lc)->clause));
	return clauses;
}

bool
planned_check(Pipeline *pipeline)
{
	Translation *translation = translation_begin(NULL, NULL);
	bool		is_taken = translation_add_stages(translation, pipeline);

	if (is_taken)
	{
		pipeline->is_checked = true;
		pipeline->runtime_exprs = translation->runtime_exprs;
		pipeline->holds_rows = penumbra_plan_can_be_unsupported_late(translation->plan);
	}
	else
		planning_refuse(pstrdup(translation->reason));
	translation_end(translation);
	return is_taken;
}

/* ---------------------------------------------------------------- by relation */

/* Columns of the child that hold the columns `attnos` of the parent. */
static List *
child_attnos(Oid parent_oid, Oid child_oid, List *attnos)
{
	List	   *mapped = NIL;
	ListCell   *lc;

	foreach(lc, attnos)
	{
		char	   *name = get_attname(parent_oid, lfirst_int(lc), false);

		mapped = lappend_int(mapped, get_attnum(child_oid, name));
	}
	return mapped;
}

/* Collects the tables below an inheritance parent; false if one of them is not served. */
static bool
collect_children(PlannerInfo *root, Index parent, List **tables)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;
		PlannedTable *table;

		if (appinfo->parent_relid != parent)
			continue;
		child = root->simple_rel_array[appinfo->child_relid];
		if (child == NULL || IS_DUMMY_REL(child))
			continue;			/* pruned */
		if (root->simple_rte_array[appinfo->child_relid]->inh)
		{
			if (!collect_children(root, appinfo->child_relid, tables))
				return false;
			continue;
		}
		table = planned_table_of_rel(root, child, root->simple_rte_array[appinfo->child_relid]);
		if (table == NULL)
			return false;
		*tables = lappend(*tables, table);
	}
	return true;
}

/* The columns that `rel` outputs to the stages above, and what its quals need. */
static List *
attnos_of_rel(RelOptInfo *rel)
{
	Bitmapset  *used = NULL;
	List	   *attnos = NIL;
	int			member = -1;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
		attnos = lappend_int(attnos, member + FirstLowInvalidHeapAttributeNumber);
	return attnos;
}

/* The quals without subqueries; the others into *with_subplans. */
static List *
split_quals(RelOptInfo *rel, List **with_subplans)
{
	List	   *plain = NIL;
	ListCell   *lc;

	*with_subplans = NIL;
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (contain_subplans((Node *) rinfo->clause))
			*with_subplans = lappend(*with_subplans, rinfo);
		else
			plain = lappend(plain, rinfo);
	}
	return plain;
}

static bool
apply_subplans(PlannerInfo *root, RelOptInfo *rel, PlannedPipeline *planned, List *with_subplans)
{
	ListCell   *lc;

	foreach(lc, with_subplans)
	{
		if (!planned_apply_subplans(root, planned, lfirst(lc), rel->rows))
			return false;
	}
	return true;
}

static PlannedPipeline *
pipeline_of_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	PlannedPipeline *planned;
	PipelineStage *scan;
	List	   *tables = NIL;
	List	   *attnos = attnos_of_rel(rel);
	List	   *with_subplans;
	List	   *plain = split_quals(rel, &with_subplans);
	double		tuples = 0;
	double		rows = rel->rows;
	ListCell   *lc;

	if (rte->tablesample != NULL)
		return NULL;
	if (!rte->inh)
	{
		/* A subquery's index scan for one Param says nothing of what a scan for all of them is worth. */
		PlannedTable *table = bms_membership(root->all_baserels) == BMS_MULTIPLE ||
			root->parent_root != NULL
			? planned_table_of_rel(root, rel, rte) : planned_find_table(rel);

		if (table == NULL || !(MODE_IS_FORCED() || table->coverage.cached_pages > 0 ||
							   rel->pages < UNCACHED_PAGES_MAX))
			return NULL;
		tables = list_make1(table);
	}
	else if (!collect_children(root, rel->relid, &tables) || tables == NIL)
		return NULL;
	foreach(lc, attnos)
	{
		if (lfirst_int(lc) <= 0)
			return NULL;
	}
	planned = palloc0(sizeof(PlannedPipeline));
	planned->pipeline = planned_begin_scan(root, rel->relid, attnos);
	scan = planned->pipeline->top;
	foreach(lc, tables)
	{
		PlannedTable *table = lfirst(lc);

		scan->table_oids = lappend_oid(scan->table_oids, table->oid);
		scan->table_attnos = lappend(scan->table_attnos,
									 child_attnos(rte->relid, table->oid, attnos));
		tuples += table->rel->tuples;
	}
	planned_add_filters(root, planned->pipeline, plain);
	if (with_subplans != NIL)
		rows = clamp_row_est(tuples * clauselist_selectivity(root, plain, 0, JOIN_INNER, NULL));
	else if (!rte->inh && ((PlannedTable *) linitial(tables))->sampled_share >= 0)
		rows = clamp_row_est(tuples * ((PlannedTable *) linitial(tables))->sampled_share);
	cost_add_scan(planned, tables, planned_count_columns(get_actual_clauses(rel->baserestrictinfo)),
				  planned_count_columns(rel->reltarget->exprs), rows, tuples);
	planned->pipeline->top->rows = planned->rows;
	return apply_subplans(root, rel, planned, with_subplans) ? planned : NULL;
}

PlannedPipeline *
planned_copy_of_subquery(PlannerInfo *subroot, List **outputs)
{
	PlannedPipeline *planned = planned_copy_of_rel(subroot, fetch_upper_rel(subroot, UPPERREL_FINAL, NULL));
	ListCell   *lc;

	*outputs = NIL;

	/* Paths become plans at their own level only. */
	if (planned == NULL || row_source_paths(planned->pipeline) != NIL)
		return NULL;
	/* These go with the subquery's own plan, which does not run: the plan around it gets them. */
	foreach(lc, subroot->init_plans)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		if (subplan->subLinkType == CTE_SUBLINK)
			continue;			/* its rows are a pipeline of ours */
		if (planning_init_plan_must_wait(subroot, subplan, true, false))
		{
			planning_refuse("subquery that need not be evaluated");
			return NULL;
		}
		planned->pipeline->init_plans = lappend(list_copy(planned->pipeline->init_plans), subplan);
		planned->startup_cost += subplan->startup_cost + subplan->per_call_cost;
	}
	foreach(lc, subroot->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			*outputs = lappend(*outputs, planned_normalize(subroot, planned, (Node *) entry->expr));
	}
	/* What is known by the subquery's own clauses and expressions ends here. */
	planned->clauses = 0;
	planned->subplans = planned->subplan_values = NIL;
	planned->before_sort = NULL;
	return planned;
}

/* What the level calls the columns of `rel` in the expressions; expressions find them by equal(). */
static List *
vars_of_rel(RelOptInfo *rel, List *exprs)
{
	List	   *vars = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) exprs, PVC_RECURSE_PLACEHOLDERS))
	{
		if (lfirst_node(Var, lc)->varno == rel->relid)
			vars = list_append_unique(vars, lfirst(lc));
	}
	return vars;
}

/* Goes on with what is remembered of another level's last step, under the names of this level. */
static PlannedPipeline *
pipeline_of_level(PlannerInfo *root, RelOptInfo *rel, PlannerInfo *level)
{
	List	   *outputs;
	PlannedPipeline *planned = planned_copy_of_subquery(level, &outputs);
	PipelineStage *stage;
	List	   *vars = vars_of_rel(rel, list_concat_copy(rel->reltarget->exprs,
													 get_actual_clauses(rel->baserestrictinfo)));
	List	   *exprs = NIL;
	List	   *with_subplans;
	List	   *plain;
	ListCell   *lc;

	if (planned == NULL)
		return NULL;
	foreach(lc, vars)
	{
		AttrNumber	attno = lfirst_node(Var, lc)->varattno;

		if (attno <= 0 || attno > list_length(outputs))
			return NULL;
		exprs = lappend(exprs, list_nth(outputs, attno - 1));
	}
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs);
	stage->names = (List *) names_normalize(root, (Node *) vars);
	plain = split_quals(rel, &with_subplans);
	if (plain != NIL)
	{
		planned_add_filters(root, planned->pipeline, plain);
		cost_add_filter(planned, planned_count_columns(get_actual_clauses(plain)),
						with_subplans == NIL ? rel->rows
						: clamp_row_est(planned->rows * clauselist_selectivity(root, plain, 0, JOIN_INNER, NULL)));
	}
	return apply_subplans(root, rel, planned, with_subplans) ? planned : NULL;
}

/*
 * Each reference to the CTE computes it for itself, and no more of it than
 * passes the reference's conditions and joins; that must not be seen.
 */
static PlannedPipeline *
pipeline_of_cte(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	PlannerInfo *level = root;
	int			plan_id = 0;
	ListCell   *lc;

	if (rte->self_reference)
		return NULL;
	for (Index up = rte->ctelevelsup; up > 0; up--)
		level = level->parent_root;
	foreach(lc, level->parse->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (strcmp(cte->ctename, rte->ctename) == 0)
		{
			if (cte->cterecursive || cte->ctematerialized == CTEMaterializeAlways ||
				!repeats_exactly(castNode(Query, cte->ctequery), NULL))
				return NULL;
			plan_id = list_nth_int(level->cte_plan_ids, foreach_current_index(lc));
		}
	}
	if (plan_id <= 0)
		return NULL;
	return pipeline_of_level(root, rel, list_nth(root->glob->subroots, plan_id - 1));
}

static PlannedPipeline *
pipeline_of_subquery(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->subroot == NULL || rel->subplan_params != NIL)
		return NULL;
	return pipeline_of_level(root, rel, rel->subroot);
}

/* Whether the path has no rows, as the planner knows: of a subquery whose conditions are never true. */
static bool
is_empty(Path *path)
{
	switch (nodeTag(path))
	{
		case T_AppendPath:
			return IS_DUMMY_APPEND(path);
		case T_ProjectionPath:
			return is_empty(((ProjectionPath *) path)->subpath);
		case T_SubqueryScanPath:
			return is_empty(((SubqueryScanPath *) path)->subpath);
		case T_SortPath:
			return is_empty(((SortPath *) path)->subpath);
		case T_GroupPath:
			return is_empty(((GroupPath *) path)->subpath);
		case T_AggPath:
			return ((AggPath *) path)->groupClause != NIL && is_empty(((AggPath *) path)->subpath);
		default:
			return false;
	}
}

bool
planned_is_empty(RelOptInfo *rel)
{
	return IS_DUMMY_REL(rel) || is_empty(rel->cheapest_total_path);
}

void
planned_unite(PlannedPipeline *all, const PlannedPipeline *member)
{
	PipelineStage *stage = all->pipeline->top;

	if (stage->kind != PIPELINE_UNION)
		stage = pipeline_add_stage(all->pipeline, PIPELINE_UNION, NIL);
	stage->inputs = lappend(stage->inputs, member->pipeline->top);
	pipeline_take(all->pipeline, member->pipeline);
	all->input_rows += member->input_rows;
	all->rows += member->rows;
	all->startup_cost += member->startup_cost;
	all->run_cost += member->run_cost;
	all->before_sort = NULL;
}

/* UNION ALL: the rows of all members, which pass the quals, under the names of the whole. */
static PlannedPipeline *
pipeline_of_union(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *vars = vars_of_rel(rel, rel->reltarget->exprs);
	PlannedPipeline *all = NULL;
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;
		PlannedPipeline *planned;
		List	   *exprs = NIL;
		ListCell   *lc2;

		if (appinfo->parent_relid != rel->relid)
			continue;
		child = root->simple_rel_array[appinfo->child_relid];
		if (planned_is_empty(child))
			continue;
		planned = planned_copy_of_rel(root, child);
		if (planned == NULL)
			return NULL;
		foreach(lc2, vars)
		{
			AttrNumber	attno = lfirst_node(Var, lc2)->varattno;
			Node	   *expr = attno <= 0 ? NULL : list_nth(appinfo->translated_vars, attno - 1);

			if (expr == NULL)
				return NULL;
			exprs = lappend(exprs, names_normalize(root, expr));
		}
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names =
			(List *) names_normalize(root, (Node *) vars);
		planned->before_sort = NULL;
		if (all == NULL)
			all = planned;
		else
			planned_unite(all, planned);
	}
	return all;
}

/* One that a lower relation should have had must not be computed above an outer join. */
bool
planned_add_placeholders(PlannerInfo *root, RelOptInfo *rel, PlannedPipeline *planned)
{
	List	   *outputs = pipeline_outputs(planned->pipeline->top);
	List	   *added = NIL;
	ListCell   *lc;

	foreach(lc, root->placeholder_list == NIL ? NIL : rel->reltarget->exprs)
	{
		Node	   *expr = lfirst(lc);
		const PlaceHolderInfo *info;

		if (!IsA(expr, PlaceHolderVar))
			continue;
		info = names_find_placeholder(root, (PlaceHolderVar *) expr);
		expr = names_normalize(root, expr);
		if (pipeline_find_expr(outputs, expr) >= 0)
			continue;
		if (info == NULL || !bms_equal(info->ph_eval_at, rel->relids))
			return false;
		added = lappend(added, expr);
	}
	if (added != NIL)
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat_copy(outputs, added));
	return true;
}

/*
 * Whether PostgreSQL may compute the rows: of what is not ours, of a CTE, which
 * is then computed once, and of a table where an index finds few rows.  One
 * relation alone is left to PostgreSQL, and so is a join of tables of which no
 * cache serves any.
 */
static bool
may_be_rows(PlannerInfo *root, RelOptInfo *rel, const PlannedPipeline *ours)
{
	if (bms_membership(root->all_baserels) != BMS_MULTIPLE)
		return false;
	if (rel->rtekind == RTE_RELATION)
		/* A subquery with such rows would not go on in the query around it, so there a table of ours stays ours. */
		return (ours == NULL ? penumbra_mode != MODE_REQUIRE : !MODE_IS_FORCED() && root->parent_root == NULL) &&
			planning_current()->tables != NIL && !planned_is_target_or_locked(root, rel);
	return ours == NULL || rel->rtekind == RTE_CTE;
}

static PlannedPipeline *
rows_or_ours(PlannerInfo *root, RelOptInfo *rel, PlannedPipeline *ours)
{
	PlannedPipeline *rows = may_be_rows(root, rel, ours) ? row_source_plan(root, rel) : NULL;

	if (rows == NULL)
		return ours;
	/* If more rows pass than PostgreSQL expects, its look-ups cost the more. */
	if (ours != NULL && ours->startup_cost + ours->run_cost <=
		(rows->startup_cost + rows->run_cost) * Max(ours->rows / rows->rows, 1.0))
		return ours;
	rows->pipeline->has_barrier = is_below_barrier(root);
	return rows;
}

/* Joins are translated only when a plan is made of them: their inputs must be right. */
static bool
is_taken(const PlannerInfo *root, const PlannedPipeline *planned)
{
	return bms_membership(root->all_baserels) != BMS_MULTIPLE || planned_check(planned->pipeline);
}

/* NULL: the relation is not ours. */
static PlannedPipeline *
pipeline_of_base_rel(PlannerInfo *root, RelOptInfo *rel)
{
	PlannedPipeline *planned = NULL;
	PlannedPipeline *rows;
	ListCell   *lc;

	if (!bms_is_empty(rel->lateral_relids) || IS_DUMMY_REL(rel))
		return NULL;
	foreach(lc, rel->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return NULL;
	}
	if (rel->rtekind == RTE_RELATION)
		planned = pipeline_of_table(root, rel);
	else if (rel->rtekind == RTE_SUBQUERY && root->simple_rte_array[rel->relid]->inh)
		planned = pipeline_of_union(root, rel);
	else if (rel->rtekind == RTE_SUBQUERY)
		planned = pipeline_of_subquery(root, rel);
	else if (rel->rtekind == RTE_CTE)
		planned = pipeline_of_cte(root, rel);
	if (planned != NULL && !is_taken(root, planned))
		planned = NULL;
	rows = rows_or_ours(root, rel, planned);
	if (rows == NULL || (rows == planned && root->placeholder_list == NIL))
		return rows;
	return planned_add_placeholders(root, rel, rows) && is_taken(root, rows) ? rows : NULL;
}

/* What is remembered of a relation: a search of twelve tables has thousands, and asks a million times. */
typedef struct RememberedPipeline
{
	RelOptInfo *rel;			/* key */
	PlannedPipeline *planned;	/* NULL: nothing is known yet */
	List	   *skipped;		/* of a join: what is to be looked at first */
} RememberedPipeline;

static RememberedPipeline *
remembered(RelOptInfo *rel)
{
	Planning   *planning = planning_current();
	RememberedPipeline *entry;
	bool		is_found;

	if (planning->pipelines == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(RelOptInfo *),.entrysize = sizeof(RememberedPipeline),
		.hcxt = CurrentMemoryContext};

		planning->pipelines = hash_create("Penumbra pipelines by relation", 64, &ctl,
										  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(planning->pipelines, &rel, HASH_ENTER, &is_found);
	if (!is_found)
	{
		entry->planned = NULL;
		entry->skipped = NIL;
	}
	return entry;
}

static RememberedPipeline *
find_remembered(RelOptInfo *rel)
{
	Planning   *planning = planning_current();

	return planning->pipelines == NULL ? NULL : hash_search(planning->pipelines, &rel, HASH_FIND, NULL);
}

void
planned_remember(RelOptInfo *rel, PlannedPipeline *planned)
{
	remembered(rel)->planned = planned;
}

/* The clauses that are done in rows of the stage's relation, for any plan. */
static int
clauses_of_stage(PlannerInfo *root, UpperRelationKind stage)
{
	const Query *parse = root->parse;
	int			clauses = 0;

	if (parse->setOperations != NULL)
		clauses |= PLANNED_SET_OPERATION;
	else if (parse->groupClause != NIL || parse->groupingSets != NIL || parse->hasAggs || root->hasHavingQual)
		clauses |= PLANNED_GROUPS;
	if (stage == UPPERREL_SETOP || stage == UPPERREL_GROUP_AGG)
		return clauses;
	if (parse->hasWindowFuncs)
		clauses |= PLANNED_WINDOWS;
	if (stage == UPPERREL_WINDOW)
		return clauses;
	if (parse->distinctClause != NIL)
		clauses |= PLANNED_DISTINCT;
	if (stage == UPPERREL_DISTINCT)
		return clauses;
	if (parse->sortClause != NIL)
		clauses |= PLANNED_ORDER;
	if (stage == UPPERREL_ORDERED)
		return clauses;
	Assert(stage == UPPERREL_FINAL);
	if (parse->limitCount != NULL || parse->limitOffset != NULL)
		clauses |= PLANNED_LIMIT;
	return clauses;
}

bool
planned_remember_stage(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel, PlannedPipeline *planned)
{
	int			missing = clauses_of_stage(root, stage) ^ planned->clauses;

	/* The order of a subquery's or a set operation's rows does not matter to what goes on with them without LIMIT. */
	if ((root->parent_root != NULL || root->parse->setOperations != NULL) && !(planned->clauses & PLANNED_LIMIT))
		missing &= ~PLANNED_ORDER;
	if (missing != 0)
		return false;
	planned_remember(rel, planned);
	return true;
}

bool
planned_is_known(RelOptInfo *rel)
{
	return find_remembered(rel) != NULL;
}

void
planned_skip(RelOptInfo *joinrel, void *pair)
{
	RememberedPipeline *entry = remembered(joinrel);

	entry->skipped = lappend(entry->skipped, pair);
}

List *
planned_take_skipped(RelOptInfo *joinrel)
{
	RememberedPipeline *entry = find_remembered(joinrel);
	List	   *skipped = entry == NULL ? NIL : entry->skipped;

	if (skipped != NIL)
		entry->skipped = NIL;
	return skipped;
}

const PlannedPipeline *
planned_of_rel(PlannerInfo *root, RelOptInfo *rel)
{
	RememberedPipeline *entry = find_remembered(rel);
	PlannedPipeline *planned;

	if (entry != NULL && entry->planned != NULL)
		planned = entry->planned;
	else if (!IS_SIMPLE_REL(rel))
		return NULL;
	else
	{
		planned = pipeline_of_base_rel(root, rel);
		if (planned == NULL)
			planned = palloc0(sizeof(PlannedPipeline));
		planned_remember(rel, planned);
	}
	return planned->pipeline == NULL ? NULL : planned;
}

PlannedPipeline *
planned_copy(const PlannedPipeline *planned)
{
	PlannedPipeline *copy = palloc(sizeof(PlannedPipeline));

	*copy = *planned;
	copy->pipeline = pipeline_copy(planned->pipeline);
	return copy;
}

PlannedPipeline *
planned_copy_of_rel(PlannerInfo *root, RelOptInfo *rel)
{
	const PlannedPipeline *planned = planned_of_rel(root, rel);

	return planned == NULL ? NULL : planned_copy(planned);
}

/* ---------------------------------------------------------------- paths */

bool
planned_needs_no_input(Node *expr)
{
	return !contain_var_clause(expr) && !contain_agg_clause(expr);
}

static bool
has_param_walker(Node *node, void *params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		list_member_int((List *) params, ((Param *) node)->paramid))
		return true;
	return expression_tree_walker(node, has_param_walker, params);
}

bool
planned_has_param(void *expr, List *params)
{
	return has_param_walker(expr, params);
}

bool
planned_set_target(PlannerInfo *root, PlannedPipeline *planned, const PathTarget *target)
{
	Pipeline   *pipeline = planned->pipeline;
	List	   *outputs = NIL;
	ListCell   *lc;

	if (target == NULL)
		return false;
	pipeline->output_map = NIL;
	foreach(lc, target->exprs)
	{
		int			place = -1;

		if (!planned_needs_no_input(lfirst(lc)))
		{
			place = list_length(outputs);
			outputs = lappend(outputs, planned_normalize(root, planned, lfirst(lc)));
		}
		pipeline->output_map = lappend_int(pipeline->output_map, place);
	}
	if (!equal(outputs, pipeline_outputs(pipeline->top)))
		pipeline_add_stage(pipeline, PIPELINE_PROJECTION, outputs);
	return true;
}

/*
 * Drops paths that are kept for their order, though by our estimates of rows
 * ours costs less even with a sort above it, and starts earlier.
 */
static void
drop_worse_orders(PlannerInfo *root, RelOptInfo *rel, const Path *ours)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);
		Path		sorted;

		if (custom_path_is_ours(path) || path->param_info != NULL || path->pathkeys == NIL ||
			path->startup_cost < ours->startup_cost)
			continue;
		compat_cost_sort(&sorted, root, path->pathkeys, ours);
		if (planned_cost_of_rival(root, path) > sorted.total_cost)
			rel->pathlist = foreach_delete_current(rel->pathlist, lc);
	}
}

void
planned_outbid(PlannerInfo *root, Path *ours, const Path *rival)
{
	Cost		total_cost = WINNING_SHARE * rival->total_cost;

	if (ours->total_cost <= total_cost || planned_cost_of_rival(root, rival) <= ours->total_cost)
		return;
	ours->startup_cost *= total_cost / ours->total_cost;
	ours->total_cost = total_cost;
}

/* Where Penumbra is forced there is no choice. */
void
planned_offer(PlannerInfo *root, RelOptInfo *rel, PenumbraPath *path, const Path *rival)
{
	Path	   *ours = &path->custom.path;

	path->total_cost = ours->total_cost;
	if (MODE_IS_FORCED())
	{
		rel->pathlist = list_make1(path);
		rel->partial_pathlist = NIL;
		return;
	}
	if (rival != NULL)
		planned_outbid(root, ours, rival);
	add_path(rel, ours);
	if (list_member_ptr(rel->pathlist, path))
		drop_worse_orders(root, rel, ours);
}

int
planned_count_columns(List *exprs)
{
	List	   *vars = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES |
									   PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	Bitmapset  *attnos = NULL;
	ListCell   *lc;

	foreach(lc, vars)
		attnos = bms_add_member(attnos, lfirst_node(Var, lc)->varattno -
								FirstLowInvalidHeapAttributeNumber);
	return bms_num_members(attnos);
}
