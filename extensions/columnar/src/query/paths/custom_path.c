/*-------------------------------------------------------------------------
 *
 * custom_path.c
 *	  Penumbra's CustomPath and the CustomScan made from it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/custom_path.h"
#include "query/paths/early_expressions.h"
#include "query/paths/external_rows_plan.h"
#include "query/paths/separate_readers.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/expression_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/* 0: of no kind that is copied. */
static Size
path_node_bytes(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_Path:
			return sizeof(Path);
		case T_IndexPath:
			return sizeof(IndexPath);
		case T_BitmapHeapPath:
			return sizeof(BitmapHeapPath);
		case T_TidPath:
			return sizeof(TidPath);
		case T_TidRangePath:
			return sizeof(TidRangePath);
		case T_AppendPath:
			return sizeof(AppendPath);
		case T_MergeAppendPath:
			return sizeof(MergeAppendPath);
		case T_GatherPath:
			return sizeof(GatherPath);
		case T_GatherMergePath:
			return sizeof(GatherMergePath);
		case T_ProjectionPath:
			return sizeof(ProjectionPath);
		case T_SortPath:
			return sizeof(SortPath);
		case T_IncrementalSortPath:
			return sizeof(IncrementalSortPath);
		case T_GroupPath:
			return sizeof(GroupPath);
		case T_GroupingSetsPath:
			return sizeof(GroupingSetsPath);
		case T_NestPath:
			return sizeof(NestPath);
		case T_MergePath:
			return sizeof(MergePath);
		case T_HashPath:
			return sizeof(HashPath);
		case T_SubqueryScanPath:
			return sizeof(SubqueryScanPath);
		case T_AggPath:
			return sizeof(AggPath);
		case COMPAT_T_UNIQUE_PATH:
			return sizeof(CompatUniquePath);
		case T_RecursiveUnionPath:
			return sizeof(RecursiveUnionPath);
		case T_SetOpPath:
			return sizeof(SetOpPath);
		case T_LimitPath:
			return sizeof(LimitPath);
		case T_WindowAggPath:
			return sizeof(WindowAggPath);
		default:
			return 0;
	}
}

Path *
custom_path_copy_node(const Path *path)
{
	Size		bytes = path_node_bytes(path);

	return bytes == 0 ? NULL : memcpy(palloc(bytes), path, bytes);
}

/* Of the rows that are wanted, all if the fraction is 0. */
static Path *
cheapest_of_fraction(RelOptInfo *rel, double fraction)
{
	Path	   *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info != NULL || path_is_ours(path) || path_node_bytes(path) == 0)
			continue;
		if (cheapest == NULL || (fraction > 0 ? compare_fractional_path_costs(path, cheapest, fraction) < 0
								 : path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest;
}

/*
 * Copied, because add_path() frees the node of a path that a new one dominates,
 * and ours shall dominate it.
 */
Path *
custom_path_cheapest_ordinary(RelOptInfo *rel, bool copy)
{
	Path	   *cheapest = cheapest_of_fraction(rel, 0);

	return cheapest != NULL && copy ? custom_path_copy_node(cheapest) : cheapest;
}

/*
 * Which share of the relation's rows, in this order, the level asks for, as
 * get_cheapest_fractional_path() takes it; 0: all.  A sort asks for all, and so
 * may what makes groups of tables' and joins' rows.
 */
static double
wanted_fraction(PlannerInfo *root, RelOptInfo *rel, List *pathkeys)
{
	const Query *parse = root->parse;

	if (!pathkeys_contained_in(root->sort_pathkeys, pathkeys) ||
		(!IS_UPPER_REL(rel) && (parse->hasAggs || parse->groupClause != NIL || parse->groupingSets != NIL ||
								parse->distinctClause != NIL || parse->hasWindowFuncs)))
		return 0;
	if (root->tuple_fraction < 1)
		return root->tuple_fraction;
	return root->tuple_fraction / clamp_row_est(custom_path_ordinary_rows(rel));
}

Path *
custom_path_ordinary(PlannerInfo *root, RelOptInfo *rel, List *pathkeys)
{
	Path	   *cheapest = cheapest_of_fraction(rel, wanted_fraction(root, rel, pathkeys));

	return cheapest == NULL ? NULL : custom_path_copy_node(cheapest);
}

double
custom_path_ordinary_rows(RelOptInfo *rel)
{
	Path	   *path = custom_path_cheapest_ordinary(rel, false);

	return path == NULL ? 1 : path->rows;
}

PenumbraPath *
custom_path_create(PlannerInfo *root, RelOptInfo *rel, PathTarget *target, NodeKind kind,
				   const RelPipeline *planned, Path *ordinary)
{
	PenumbraPath *path = palloc0(sizeof(PenumbraPath));

	NodeSetTag(path, T_CustomPath);
	path->custom.path.pathtype = T_CustomScan;
	path->custom.path.parent = rel;
	path->custom.path.pathtarget = target;
	if (ordinary != NULL)
		path->custom.custom_paths = list_concat(list_make1(ordinary), external_rows_plan_paths(planned->pipeline));
	if (node_kind_scans_backward(kind))
		path->custom.flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->pipeline = planned->pipeline;
	path->custom.methods = node_kind_path_methods(kind);
	cost_set(&path->custom.path, planned, planning_level_is_repeated(root));
	cost_add_fetches(root, &path->custom.path, planned);
	return path;
}

/*
 * The tuple we emit.  What needs no input is left to the projection above
 * it, as a dummy here: setrefs.c would otherwise also replace it inside
 * custom_exprs by a reference to our own output.
 */
static List *
scan_tlist(List *exprs)
{
	List	   *tlist = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Node	   *expr = lfirst(lc);
		int			i = foreach_current_index(lc);

		if (rel_pipeline_needs_no_input(expr))
			expr = (Node *) makeNullConst(exprType(expr), exprTypmod(expr), exprCollation(expr));
		else
			expr = copyObject(expr);
		tlist = lappend(tlist, makeTargetEntry((Expr *) expr, i + 1, NULL, false));
	}
	if (tlist == NIL)
		tlist = list_make1(makeTargetEntry((Expr *) makeNullConst(INT4OID, -1, InvalidOid), 1,
										   NULL, false));
	return tlist;
}

/*
 * create_plan() hands the level's InitPlans to its plan when that is made,
 * after this.  What a source's plan needs of them is not known before.
 */
static void
add_init_plans(PlannerInfo *root, const Pipeline *pipeline)
{
	bool		has_source = false;
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
		has_source |= ((PipelineStage *) lfirst(lc))->source != NULL;
	foreach(lc, pipeline->init_plans)
	{
		SubPlan    *subplan = lfirst_node(SubPlan, lc);

		if (has_source || rel_pipeline_has_param(pipeline->runtime_exprs, subplan->setParam))
			root->init_plans = list_append_unique_ptr(root->init_plans, subplan);
	}
}

static List *
expression_columns_of(const Pipeline *pipeline)
{
	List	   *expressions = NIL;
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
	{
		const PipelineStage *scan = lfirst(lc);

		if (scan->source == NULL)
			expressions = expression_columns_of_scan(expressions, scan->exprs);
	}
	return expressions;
}

Plan *
custom_path_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				 List *clauses, List *custom_plans)
{
	PenumbraPath *path = (PenumbraPath *) best_path;
	CustomScan *scan = makeNode(CustomScan);
	List	   *kept = NIL;
	ListCell   *lc;

	/* In the order of `clauses`: order_qual_clauses() made it. */
	foreach(lc, clauses)
	{
		if (list_member_ptr(path->kept_quals, lfirst(lc)))
			kept = lappend(kept, lfirst(lc));
	}
	separate_readers(path->pipeline);
	/* Joins are remembered by the hundred and translated when one is the plan; see start() if this refuses. */
	planning_current()->root = root;
	early_expressions(path->pipeline);
	if (!path->pipeline->is_checked)
		(void) rel_pipeline_check(path->pipeline);
	if (!external_rows_plan_find_plans(root, path->pipeline, custom_plans))
		path->pipeline->is_checked = false;
	add_init_plans(root, path->pipeline);
	path->pipeline->tried_params = init_plans_tried(root, path->pipeline);
	path->pipeline->expression_columns = expression_columns_of(path->pipeline);
	path->pipeline->names = relation_numbers_to_list(pipeline_numbers(path->pipeline));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = list_concat(extract_actual_clauses(kept, false), path->kept_having);
	scan->scan.scanrelid = best_path->methods == node_kind_path_methods(NODE_SCAN) ? rel->relid : 0;
	scan->flags = best_path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_exprs = copyObject(path->pipeline->runtime_exprs);
	scan->custom_private = pipeline_to_list(path->pipeline);
	scan->custom_scan_tlist = scan_tlist(path->scan_exprs);
	if (contain_windowfuncs((Node *) scan->custom_scan_tlist))
		planning_current()->window_scans = lappend(planning_current()->window_scans, scan);
	if (bms_is_member(0, pull_varnos(root, (Node *) scan->custom_scan_tlist)))
		planning_current()->set_operation_scans = lappend(planning_current()->set_operation_scans,
														  list_make2(scan, relation_numbers_set_operation(root)));
	scan->methods = node_kind_scan_methods(best_path);
	return &scan->scan.plan;
}

/* Gives Vars of relation 0, which the node outputs, an entry of the plan: EXPLAIN looks for their names. */
static void
name_set_operation(PlannedStmt *stmt, RangeTblEntry *entry, List *scan_tlist)
{
	ListCell   *lc;
	Index		number = 1;

	stmt->rtable = list_append_unique_ptr(stmt->rtable, entry);
	while (list_nth(stmt->rtable, number - 1) != entry)
		number++;
	foreach(lc, scan_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		if (IsA(expr, Var))
			((Var *) expr)->varno = number;
	}
}

/* setrefs.c has found what is output by then. */
void
custom_path_finish(Planning *planning, PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, planning->window_scans)
	{
		CustomScan *scan = lfirst_node(CustomScan, lc);

		scan->custom_scan_tlist = (List *) pipeline_without_windows((Node *) scan->custom_scan_tlist);
	}
	foreach(lc, planning->set_operation_scans)
	{
		CustomScan *scan = linitial_node(CustomScan, (List *) lfirst(lc));

		name_set_operation(stmt, lsecond_node(RangeTblEntry, (List *) lfirst(lc)), scan->custom_scan_tlist);
	}
}
