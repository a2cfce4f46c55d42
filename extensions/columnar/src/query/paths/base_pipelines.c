/*-------------------------------------------------------------------------
 *
 * base_pipelines.c
 *	  The pipeline of each base relation of the planner: a table, a subquery,
 *	  a CTE, UNION ALL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/sysattr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/external_rows_plan.h"
#include "query/paths/function_columns.h"
#include "query/paths/limits.h"
#include "query/paths/row_sample.h"
#include "query/paths/subplans.h"
#include "query/paths/tables.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/planning/expression_columns.h"
#include "query/planning/level_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/repeats.h"

/* A table that is not cached is joined in the engine if it is smaller than that. */
#define UNCACHED_PAGES_MAX 64

/* Columns of the child that hold the columns `attnums` of the parent. */
static List *
child_attnums(Oid parent_oid, Oid child_oid, List *attnums)
{
	List	   *mapped = NIL;
	ListCell   *lc;

	foreach(lc, attnums)
	{
		AttrNumber	attno = lfirst_int(lc);

		if (!expression_column_is(attno))
			attno = get_attnum(child_oid, get_attname(parent_oid, attno, false));
		mapped = lappend_int(mapped, attno);
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
		ServedTable *table;

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
		table = tables_find(root, child, root->simple_rte_array[appinfo->child_relid]);
		if (table == NULL)
			return false;
		*tables = lappend(*tables, table);
	}
	return true;
}

/* Columns of the relation that a table of it does not have in the cache: all tables' are fetched. */
static List *
fetched_columns(const PlannerInfo *root, List *tables)
{
	List	   *fetched = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		const ServedTable *table = lfirst(lc);
		Index		relid = table->rel->relid;

		fetched = list_union_int(fetched, expression_columns_of_parent(root, &relid, table->fetched));
	}
	return fetched;
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
apply_subplans(PlannerInfo *root, RelOptInfo *rel, RelPipeline *planned, List *with_subplans)
{
	ListCell   *lc;

	foreach(lc, with_subplans)
	{
		if (!subplans_apply(root, planned, lfirst(lc), rel->rows))
			return false;
	}
	return true;
}

/* By samples of their rows, as far as there are some. */
static double
rows_of_tables(const RelOptInfo *rel, List *tables)
{
	double		rows = 0;
	bool		is_sampled = false;
	ListCell   *lc;

	foreach(lc, tables)
	{
		const ServedTable *table = lfirst(lc);

		is_sampled |= table->sampled_share >= 0;
		rows += table->sampled_share >= 0 ? table->rel->tuples * table->sampled_share : table->rel->rows;
	}
	return is_sampled ? clamp_row_est(rows) : rel->rows;
}

static RelPipeline *
pipeline_of_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	RelPipeline *planned;
	PipelineStage *scan;
	List	   *tables = NIL;
	const char *reason = NULL;
	List	   *attnums;
	List	   *fetched;
	List	   *with_subplans;
	List	   *plain = split_quals(rel, &with_subplans);
	double		tuples = 0;
	double		rows = rel->rows;
	ListCell   *lc;

	function_columns_find(root);
	attnums = level_columns_of_rel(root, rel, &reason);
	if (reason != NULL)
		return NULL;
	if (!rte->inh)
	{
		/* A subquery's index scan for one Param says nothing of what a scan for all of them is worth. */
		ServedTable *table = bms_membership(root->all_baserels) == BMS_MULTIPLE ||
			root->parent_root != NULL
			? tables_find(root, rel, rte) : rel_pipeline_find_table(rel);

		if (table == NULL || (table->fetched != NIL && !table->is_fetched_last) ||
			!(MODE_IS_FORCED() || table->coverage.cached_pages > 0 || rel->pages < UNCACHED_PAGES_MAX))
			return NULL;
		if (bms_membership(root->all_baserels) == BMS_MULTIPLE)
			row_sample_take_joined(root, table);
		tables = list_make1(table);
	}
	else if (!collect_children(root, rel->relid, &tables) || tables == NIL)
		return NULL;
	fetched = fetched_columns(root, tables);
	attnums = list_difference_int(attnums, fetched);
	planned = palloc0(sizeof(RelPipeline));
	planned->pipeline = rel_pipeline_begin_scan(root, rel->relid, attnums);
	scan = planned->pipeline->top;
	foreach(lc, tables)
	{
		ServedTable *table = lfirst(lc);

		scan->table_oids = lappend_oid(scan->table_oids, table->oid);
		scan->table_attnums = lappend(scan->table_attnums,
									  child_attnums(rte->relid, table->oid, attnums));
		tuples += table->rel->tuples;
	}
	if (fetched != NIL && !stage_scan_add_positions(planned->pipeline, relation_number_of(root, rel->relid)))
		return NULL;
	rel_pipeline_add_filters(root, planned->pipeline, plain);
	if (with_subplans != NIL)
		rows = clamp_row_est(tuples * clauselist_selectivity(root, plain, 0, JOIN_INNER, NULL));
	else
		rows = rows_of_tables(rel, tables);
	cost_add_scan(planned, tables, rel_pipeline_count_columns(get_actual_clauses(rel->baserestrictinfo)),
				  rel_pipeline_count_columns(rel->reltarget->exprs), rows, tuples);
	planned->pipeline->top->rows = planned->rows;
	return apply_subplans(root, rel, planned, with_subplans) ? planned : NULL;
}

static bool
is_shared_level(PlannerInfo *level)
{
	const RelPipeline *planned = base_pipelines_find(level, fetch_upper_rel(level, UPPERREL_FINAL, NULL));

	return planned != NULL && pipeline_can_share(planned->pipeline->top);
}

/* Whether an InitPlan is PostgreSQL's way to a least or greatest value by an index.  The pipeline aggregates. */
static bool
is_of_extreme(PlannerInfo *level, const SubPlan *subplan)
{
	ListCell   *lc;

	foreach(lc, level->minmax_aggs)
	{
		if (list_member_int(subplan->setParam, lfirst_node(MinMaxAggInfo, lc)->param->paramid))
			return true;
	}
	return false;
}

static RelPipeline *
copy_of_level(PlannerInfo *subroot, UpperRelationKind stage, List **outputs)
{
	RelPipeline *planned = base_pipelines_copy(subroot, fetch_upper_rel(subroot, stage, NULL));
	ListCell   *lc;

	*outputs = NIL;

	/* Paths become plans at their own level only. */
	if (planned == NULL || external_rows_plan_paths(planned->pipeline) != NIL)
		return NULL;
	/* These go with the subquery's own plan, which does not run: the plan around it gets them. */
	foreach(lc, subroot->init_plans)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		if (is_of_extreme(subroot, subplan))
			continue;
		if (subplan->subLinkType == CTE_SUBLINK)
		{
			/* its rows are a pipeline of ours; what is shared has cost nothing yet */
			if (is_shared_level(planning_level_of(subroot->glob, subplan)))
				planned->startup_cost += subplan->startup_cost + subplan->per_call_cost;
			continue;
		}
		if (init_plan_must_wait(subroot, subplan, true, false))
		{
			planning_refuse("subquery that need not be evaluated", NULL);
			return NULL;
		}
		planned->pipeline->init_plans = lappend(list_copy(planned->pipeline->init_plans), subplan);
		planned->startup_cost += subplan->startup_cost + subplan->per_call_cost;
	}
	foreach(lc, subroot->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		/* They are translated at the level around, which does not know these InitPlans. */
		if (init_plans_must_wait_at(subroot, (Node *) entry->expr, true, true))
		{
			planning_refuse("subquery that need not be evaluated", NULL);
			return NULL;
		}
		if (!entry->resjunk)
			*outputs = lappend(*outputs, rel_pipeline_normalize(subroot, planned, (Node *) entry->expr));
	}
	/* What is known by the subquery's own clauses and expressions ends here. */
	planned->clauses = 0;
	planned->passing_rows = 0;
	planned->subplans = planned->subplan_values = NIL;
	planned->before_sort = NULL;
	return planned;
}

RelPipeline *
base_pipelines_copy_of_subquery(PlannerInfo *subroot, List **outputs)
{
	return copy_of_level(subroot, UPPERREL_FINAL, outputs);
}

/* The stages with one more output: the number of each row in the sort's order; NULL: there is no sort. */
static PipelineStage *
number_rows(const PipelineStage *stage, Var *name)
{
	PipelineStage *copy = palloc(sizeof(PipelineStage));
	Pipeline	numbered;
	List	   *outputs;
	WindowFunc *number;

	*copy = *stage;
	if (stage->kind == PIPELINE_PROJECTION)
	{
		PipelineStage *below = number_rows(linitial(stage->inputs), name);

		if (below == NULL)
			return NULL;
		copy->inputs = list_make1(below);
		copy->exprs = lappend(list_copy(stage->exprs), name);
		copy->names = stage->names == NIL ? NIL : lappend(list_copy(stage->names), name);
		return copy;
	}
	if (stage->kind != PIPELINE_SORT)
		return NULL;
	numbered.top = stage->limit == NULL && stage->offset == NULL ? linitial(stage->inputs) : copy;
	outputs = stage_outputs(numbered.top);
	number = pipeline_add_row_number(&numbered, stage->exprs, stage->sort_flags);
	pipeline_add_stage(&numbered, PIPELINE_PROJECTION, lappend(list_copy(outputs), number))->names =
		lappend(list_copy(outputs), name);
	return numbered.top;
}

/* What is remembered of the subquery's last step, with the number of each row in its order; NULL: it has none. */
static RelPipeline *
copy_in_order(PlannerInfo *subroot, List **outputs, Var *number)
{
	/* The last step is remembered without a sort that limits nothing. */
	RelPipeline *planned = copy_of_level(subroot, limit_needed(subroot->parse) ? UPPERREL_FINAL : UPPERREL_ORDERED,
										 outputs);

	if (planned == NULL)
		return NULL;
	planned->pipeline->top = number_rows(planned->pipeline->top, number);
	if (planned->pipeline->top == NULL)
		return NULL;
	cost_add_window(planned, 1);
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

/* The level's rows, under the names of this one.  single_cte: see PipelineStage, or 0.  number: of a row, or NULL. */
static RelPipeline *
pipeline_of_level(PlannerInfo *root, RelOptInfo *rel, PlannerInfo *level, int single_cte, Var *number)
{
	List	   *outputs;
	RelPipeline *planned = number != NULL ? copy_in_order(level, &outputs, number)
		: base_pipelines_copy_of_subquery(level, &outputs);
	List	   *vars = vars_of_rel(rel, list_concat_copy(rel->reltarget->exprs,
													 get_actual_clauses(rel->baserestrictinfo)));
	List	   *exprs = NIL;
	List	   *names = NIL;
	List	   *with_subplans;
	List	   *plain;
	ListCell   *lc;

	if (planned == NULL || limits_is_unknown(planned->pipeline->top))
		return NULL;
	if (rel->rtekind == RTE_CTE && pipeline_can_share(planned->pipeline->top))
		cost_add_shared(planned, list_length(vars));
	else if (single_cte > 0)
		return NULL;
	if (single_cte > 0)
	{
		planned->pipeline->top->single_cte = single_cte;
		planning_current()->has_single_ctes = true;
	}
	foreach(lc, vars)
	{
		AttrNumber	attno = lfirst_node(Var, lc)->varattno;
		Node	   *output;

		if (attno <= 0 || attno > list_length(outputs))
			return NULL;
		output = list_nth(outputs, attno - 1);
		if (stage_scan_is_position(output))
		{
			/* two references to a CTE would have one position for the columns of both */
			if (rel->rtekind == RTE_CTE || !level_columns_pass(root, rel, attno, (Var *) output))
				return NULL;
			if (pipeline_find_expr(exprs, output) >= 0)
				continue;
		}
		exprs = lappend(exprs, output);
		names = lappend(names, relation_numbers_normalize(root, lfirst(lc)));
	}
	if (number != NULL)
	{
		exprs = lappend(exprs, number);
		names = lappend(names, number);
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
	plain = split_quals(rel, &with_subplans);
	if (plain != NIL)
	{
		rel_pipeline_add_filters(root, planned->pipeline, plain);
		cost_add_filter(planned, rel_pipeline_count_columns(get_actual_clauses(plain)),
						with_subplans == NIL ? rel->rows
						: clamp_row_est(planned->rows * clauselist_selectivity(root, plain, 0, JOIN_INNER, NULL)));
	}
	return apply_subplans(root, rel, planned, with_subplans) ? planned : NULL;
}

/*
 * A recursion's reference to itself: all columns of the rows that came last.
 * The join that reads them probes, as they come in each iteration.
 */
static RelPipeline *
pipeline_of_working_table(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	RelPipeline *planned = palloc0(sizeof(RelPipeline));
	List	   *columns = NIL;
	List	   *with_subplans;
	List	   *plain = split_quals(rel, &with_subplans);
	ListCell   *lc;
	ListCell   *lc2;
	ListCell   *lc3;

	forthree(lc, rte->coltypes, lc2, rte->coltypmods, lc3, rte->colcollations)
		columns = lappend(columns, makeVar(rel->relid, foreach_current_index(lc) + 1, lfirst_oid(lc), lfirst_int(lc2),
										   lfirst_oid(lc3), 0));
	planned->pipeline = palloc0(sizeof(Pipeline));
	planned->pipeline->reads_working_table = true;
	planned->pipeline->has_barrier = rel_pipeline_is_below_barrier(root);
	(void) pipeline_add_stage(planned->pipeline, PIPELINE_WORKING_TABLE,
							  (List *) relation_numbers_normalize(root, (Node *) columns));
	cost_add_working_table(planned, rel->tuples, list_length(columns));
	if (plain != NIL)
	{
		rel_pipeline_add_filters(root, planned->pipeline, plain);
		cost_add_filter(planned, rel_pipeline_count_columns(get_actual_clauses(plain)), rel->rows);
	}
	return apply_subplans(root, rel, planned, with_subplans) ? planned : NULL;
}

/*
 * Whether a recursive CTE may be computed as a part of the level's node: the plan
 * of the CTE itself is ours from the first row on, and its rows are read to their end, which there may not be.
 */
static bool
may_take_recursion(PlannerInfo *root, PlannerInfo *subroot)
{
	const Plan *plan = list_nth(root->glob->subplans, planning_number_of_level(subroot) - 1);

	return plan_is_ours(plan) && pipeline_from_list(((const CustomScan *) plan)->custom_private)->ordinary_rows == 0 &&
		external_rows_plan_reads_all(root);
}

/*
 * The references that one node reads share what can be shared.  Of other CTEs each
 * computes what passes its conditions and joins; that must not be seen.  So a CTE
 * that is MATERIALIZED, or whose rows may differ, must be shared by all.
 */
static RelPipeline *
pipeline_of_cte(PlannerInfo *root, RelOptInfo *rel)
{
	const RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	CommonTableExpr *cte;
	PlannerInfo *subroot = NULL;
	int			single_cte = 0;

	if (rte->self_reference)
		return pipeline_of_working_table(root, rel);
	cte = planning_find_cte(root, rte, &subroot);
	if (cte == NULL || subroot == NULL || (cte->cterecursive && !may_take_recursion(root, subroot)))
		return NULL;
	if (cte->ctematerialized == CTEMaterializeAlways || !repeats_exactly(castNode(Query, cte->ctequery), NULL))
	{
		if (planning_current()->leaves_single_ctes || contains_volatile(cte->ctequery, root->glob))
			return NULL;
		single_cte = planning_number_of_level(subroot);
	}
	return pipeline_of_level(root, rel, subroot, single_cte, NULL);
}

static RelPipeline *
pipeline_of_subquery(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->subroot == NULL || rel->subplan_params != NIL)
		return NULL;
	return pipeline_of_level(root, rel, rel->subroot, 0, NULL);
}

/* Joins are translated only when a plan is made of them: their inputs must be right. */
static bool
is_taken(const PlannerInfo *root, const RelPipeline *planned)
{
	return bms_membership(root->all_baserels) != BMS_MULTIPLE || rel_pipeline_check(planned->pipeline);
}

RelPipeline *
base_pipelines_in_order(PlannerInfo *root, RelOptInfo *rel, Var *number)
{
	RelPipeline *planned;

	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_SUBQUERY || root->simple_rte_array[rel->relid]->inh ||
		rel->subroot == NULL || rel->subplan_params != NIL || rel->subroot->parse->sortClause == NIL ||
		rel->subroot->parse->setOperations != NULL)
		return NULL;
	planned = pipeline_of_level(root, rel, rel->subroot, 0, number);
	return planned != NULL && is_taken(root, planned) ? planned : NULL;
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
base_pipelines_is_empty(RelOptInfo *rel)
{
	return IS_DUMMY_REL(rel) || is_empty(rel->cheapest_total_path);
}

/* UNION ALL: the rows of all members, which pass the quals, under the names of the whole. */
static RelPipeline *
pipeline_of_union(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *vars = vars_of_rel(rel, rel->reltarget->exprs);
	RelPipeline *all = NULL;
	List	   *numbers;
	ListCell   *lc;

	/* instead of columns whose values have parts, what is read of them */
	foreach(lc, vars)
	{
		if (level_columns_hide(root, list_make1(lfirst(lc))))
			vars = foreach_delete_current(vars, lc);
	}
	numbers = expression_columns_numbers(root, rel->relid);
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;
		RelPipeline *planned;
		List	   *exprs = NIL;
		List	   *names;
		ListCell   *lc2;

		if (appinfo->parent_relid != rel->relid)
			continue;
		child = root->simple_rel_array[appinfo->child_relid];
		if (base_pipelines_is_empty(child))
			continue;
		planned = base_pipelines_copy(root, child);
		if (planned == NULL)
			return NULL;
		foreach(lc2, vars)
		{
			AttrNumber	attno = lfirst_node(Var, lc2)->varattno;
			Node	   *expr = attno <= 0 ? NULL : list_nth(appinfo->translated_vars, attno - 1);

			if (expr == NULL)
				return NULL;
			exprs = lappend(exprs, relation_numbers_normalize(root, expr));
		}
		names = (List *) relation_numbers_normalize(root, (Node *) vars);
		foreach(lc2, numbers)
		{
			exprs = lappend(exprs, expression_columns_of_member(root, child->relid, lfirst_int(lc2)));
			names = lappend(names, expression_columns_var(lfirst_int(lc2)));
		}
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
		planned->before_sort = NULL;
		if (all == NULL)
			all = planned;
		else
			rel_pipeline_unite(all, planned);
	}
	return all;
}

/*
 * One that a lower relation should have had must not be computed above an outer join.  Where no relation can, as it
 * reads a column of which others have what is inside, they read these.
 */
bool
base_pipelines_add_placeholders(PlannerInfo *root, RelOptInfo *rel, const RelOptInfo *joined, RelPipeline *planned)
{
	List	   *outputs = stage_outputs(planned->pipeline->top);
	List	   *added = NIL;
	ListCell   *lc;

	foreach(lc, root->placeholder_list == NIL ? NIL : rel->reltarget->exprs)
	{
		Node	   *expr = lfirst(lc);
		const PlaceHolderInfo *info;
		bool		is_hidden;

		if (!IsA(expr, PlaceHolderVar))
			continue;
		is_hidden = level_columns_hide(root, list_make1(expr));
		info = relation_numbers_find_placeholder(root, (PlaceHolderVar *) expr);
		expr = relation_numbers_normalize(root, expr);
		if (pipeline_find_expr(outputs, expr) >= 0)
			continue;
		if (is_hidden && !pipeline_reads_only(outputs, expr))
		{
			/* a subquery's value is another one of what an outer join makes NULL */
			if (contain_subplans(expr))
				return false;
			continue;
		}
		if (info == NULL || !(bms_equal(info->ph_eval_at, rel->relids) ||
							  (joined != NULL && bms_equal(info->ph_eval_at, joined->relids))))
			return false;
		added = lappend(added, expr);
	}
	if (added != NIL)
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, list_concat_copy(outputs, added));
	return true;
}

/*
 * Whether PostgreSQL may compute the rows: of what is not ours, of a CTE that
 * we would compute for each reference, of a table where an index finds few rows,
 * and the first rows of no order, for which it need not read all.  One
 * relation alone is left to PostgreSQL, and so is a join of tables of which no
 * cache serves any.
 */
static bool
may_be_rows(PlannerInfo *root, RelOptInfo *rel, const RelPipeline *ours)
{
	if (bms_membership(root->all_baserels) != BMS_MULTIPLE)
		return false;
	if (rel->rtekind == RTE_RELATION)
		/* A subquery with such rows would not go on in the query around it, so there a table of ours stays ours. */
		return (ours == NULL ? penumbra_mode != MODE_REQUIRE : !MODE_IS_FORCED() && root->parent_root == NULL) &&
			planning_current()->tables != NIL && !tables_is_target_or_locked(root, rel);
	if (ours == NULL)
		return true;
	return rel->rtekind == RTE_CTE ? !pipeline_can_share(ours->pipeline->top)
		: rel->subroot != NULL && limits_have_no_order(rel->subroot->parse);
}

static RelPipeline *
rows_or_ours(PlannerInfo *root, RelOptInfo *rel, RelPipeline *ours)
{
	RelPipeline *rows = may_be_rows(root, rel, ours) ? external_rows_plan_scan(root, rel) : NULL;

	if (rows == NULL)
		return ours;
	/* If more rows pass than PostgreSQL expects, its look-ups cost the more. */
	if (ours != NULL && ours->startup_cost + ours->run_cost <=
		(rows->startup_cost + rows->run_cost) * Max(ours->rows / rows->rows, 1.0))
		return ours;
	rows->pipeline->has_barrier = rel_pipeline_is_below_barrier(root);
	return rows;
}

/* NULL: the relation is not ours. */
static RelPipeline *
pipeline_of_base_rel(PlannerInfo *root, RelOptInfo *rel)
{
	RelPipeline *planned = NULL;
	RelPipeline *rows;
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
	return base_pipelines_add_placeholders(root, rel, NULL, rows) && is_taken(root, rows) ? rows : NULL;
}

const RelPipeline *
base_pipelines_find(PlannerInfo *root, RelOptInfo *rel)
{
	const RelPipeline *planned = rel_pipeline_find(rel);

	if (planned == NULL)
	{
		if (!IS_SIMPLE_REL(rel))
			return NULL;
		planned = rel_pipeline_remember(rel, pipeline_of_base_rel(root, rel));
	}
	return planned->pipeline == NULL ? NULL : planned;
}

RelPipeline *
base_pipelines_copy(PlannerInfo *root, RelOptInfo *rel)
{
	const RelPipeline *planned = base_pipelines_find(root, rel);

	return planned == NULL || planned->is_below_projection ? NULL : rel_pipeline_copy(planned);
}

RelPipeline *
base_pipelines_copy_below_projection(PlannerInfo *root, RelOptInfo *rel)
{
	const RelPipeline *planned = base_pipelines_find(root, rel);

	return planned == NULL ? NULL : rel_pipeline_copy(planned);
}
