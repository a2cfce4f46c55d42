/*-------------------------------------------------------------------------
 *
 * window_paths.c
 *	  Window functions: the engine's, and PostgreSQL's over rows that the
 *	  engine has sorted.
 *
 *	  When the hook is called PostgreSQL's paths are made.  The cheapest says
 *	  which windows there are, in which order they are computed, and which
 *	  conditions of the query around are left to them.  If the engine refuses one
 *	  of them, a copy of the path, down to the lowest WindowAgg, gets our sorted
 *	  rows as input: what the functions cost is mostly the sort below them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/order_clauses.h"
#include "query/paths/partition_totals.h"
#include "query/paths/subplans.h"
#include "query/paths/window_paths.h"
#include "query/paths/window_reads.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stage_window.h"
#include "query/pipeline/stages.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/repeats.h"
#include "query/planning/returned_columns.h"

static WindowAggPath *
cheapest_of(RelOptInfo *rel)
{
	Path	   *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (IsA(path, WindowAggPath) && path->param_info == NULL &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return (WindowAggPath *) cheapest;
}

/* Between two WindowAggs there may be a sort and a projection. */
List *
window_paths_find(RelOptInfo *output_rel)
{
	WindowAggPath *top = cheapest_of(output_rel);
	List	   *windows;
	Path	   *path;

	if (top == NULL)
		return NIL;
	windows = list_make1(top);
	for (path = top->subpath;;)
	{
		switch (nodeTag(path))
		{
			case T_WindowAggPath:
				windows = lcons(path, windows);
				path = ((WindowAggPath *) path)->subpath;
				break;
			case T_SortPath:
			case T_IncrementalSortPath:
				path = ((SortPath *) path)->subpath;
				break;
			case T_ProjectionPath:
				path = ((ProjectionPath *) path)->subpath;
				break;
			default:
				return windows;
		}
	}
}

/* ---------------------------------------------------------------- the engine's functions */

bool
window_paths_are_of_all_rows(PlannerInfo *root, List *windows)
{
	ListCell   *lc;

	foreach(lc, windows)
	{
		const WindowClause *window = lfirst_node(WindowAggPath, lc)->winclause;

		if (order_clauses_have_keys(root, window->partitionClause) ||
			order_clauses_have_keys(root, window->orderClause))
			return false;
	}
	return true;
}

/* Whether values tell which of two peers of an order comes first. */
static bool
show_order_of_peers(PlannerInfo *root, List *windows)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, windows)
	{
		const WindowAggPath *path = lfirst_node(WindowAggPath, lc);

		if (!order_clauses_have_keys(root, path->winclause->orderClause))
			continue;
		foreach(lc2, window_reads_functions(root, path))
		{
			if (!window_function_repeats(lfirst_node(WindowFunc, lc2), path->winclause))
				return true;
		}
	}
	return false;
}

/* Of a window's key, which tells its partitions first. */
static int
sort_flags_of(const PipelineStage *stage, int key)
{
	int			place = key - (list_length(stage->exprs) - list_length(stage->sort_flags));

	return place < 0 ? 0 : list_nth_int(stage->sort_flags, place);
}

/* Without a key for partitions one thread would read them all. */
static bool
begins_with_keys_of(const PipelineStage *longer, const PipelineStage *stage)
{
	ListCell   *lc;

	if (list_length(longer->exprs) == list_length(longer->sort_flags) ||
		list_length(stage->exprs) == list_length(stage->sort_flags) ||
		list_length(stage->exprs) > list_length(longer->exprs))
		return false;
	foreach(lc, stage->exprs)
	{
		int			i = foreach_current_index(lc);

		if (!equal(lfirst(lc), list_nth(longer->exprs, i)) || sort_flags_of(stage, i) != sort_flags_of(longer, i))
			return false;
	}
	return true;
}

/* Whether the engine sorts the rows once for the stage and for windows below it (sorts_of_windows.cc). */
static bool
is_sorted_below(const PipelineStage *stage, const PipelineStage *below)
{
	for (; below->kind == PIPELINE_WINDOW && begins_with_keys_of(below, stage); below = linitial(below->inputs))
	{
		if (below->sort_flags != NIL)
			return true;
	}
	return false;
}

static PipelineStage *
copy_stage(const PipelineStage *stage)
{
	return memcpy(palloc(sizeof(PipelineStage)), stage, sizeof(PipelineStage));
}

/* Whether a value depends on which peers come first, and the order can have another key. */
static bool
shows_order_of_peers(const PipelineStage *window)
{
	bool		shows = false;
	ListCell   *lc;

	foreach(lc, window->aggrefs)
	{
		const WindowFunc *function = lfirst_node(WindowFunc, lc);
		int			options = stage_window_frame_of(window, function->winref)->frameOptions;

		if ((options & FRAMEOPTION_RANGE) && (options & (FRAMEOPTION_START_OFFSET | FRAMEOPTION_END_OFFSET)))
			return false;
		shows |= stage_window_needs_order(function, options);
	}
	return shows && window->sort_flags != NIL;
}

/* Whether the keys of a sort, or a window with the same partitions, are the first of the lower window's order. */
static bool
have_order_of(const PipelineStage *stage, const List *keys, const PipelineStage *lower)
{
	int			partition_keys = list_length(lower->exprs) - list_length(lower->sort_flags);
	int			own_keys = list_length(stage->exprs) - list_length(stage->sort_flags);
	ListCell   *lc;

	if (list_length(keys) > list_length(lower->exprs) || list_length(keys) < partition_keys ||
		(stage->kind == PIPELINE_WINDOW && own_keys != partition_keys))
		return false;
	foreach(lc, keys)
	{
		int			i = foreach_current_index(lc);

		if (!equal(lfirst(lc), list_nth(lower->exprs, i)) || sort_flags_of(stage, i) != sort_flags_of(lower, i))
			return false;
	}
	return true;
}

/*
 * PostgreSQL sorts rows once for windows of several levels, and the result, that have the same order.  So all agree in
 * which peers come first: a sum above lag() that counts a user's sessions finds each row where lag() has seen it, and
 * row numbers ascend.  So where the window below shows that, the number of a row there is the last key of the stage.
 */
void
window_paths_keep_peers(PipelineStage *stage)
{
	PipelineStage *lower = linitial(stage->inputs);
	List	   *between = NIL;
	List	   *keys = list_copy(stage->exprs);
	bool		is_renamed = false;
	WindowFunc *number;
	Node	   *name;
	ListCell   *lc;

	for (; lower->kind == PIPELINE_PROJECTION || (lower->kind == PIPELINE_FILTER && lower->limit == NULL);
		 lower = linitial(lower->inputs))
	{
		between = lcons(lower, between);
		foreach(lc, lower->kind == PIPELINE_PROJECTION ? keys : NIL)
		{
			int			place = pipeline_find_expr(lower->names != NIL ? lower->names : lower->exprs, lfirst(lc));

			if (place < 0)
				return;
			lfirst(lc) = list_nth(lower->exprs, place);
		}
		is_renamed |= lower->kind == PIPELINE_PROJECTION;
	}
	/* Windows of one level, which have numbers of their own, share their sort in the engine. */
	if (lower->kind != PIPELINE_WINDOW || !shows_order_of_peers(lower) || !have_order_of(stage, keys, lower) ||
		(stage->kind == PIPELINE_WINDOW && (!is_renamed || !shows_order_of_peers(stage))))
		return;
	number = pipeline_row_number(linitial_node(WindowClause, lower->frames)->winref);
	lower = copy_stage(lower);
	if (pipeline_find_expr(lower->aggrefs, (Node *) number) < 0)
		lower->aggrefs = lappend(list_copy(lower->aggrefs), number);
	name = (Node *) number;
	foreach(lc, between)
	{
		PipelineStage *copy = copy_stage(lfirst(lc));

		copy->inputs = list_make1(lower);
		lower = copy;
		if (copy->kind != PIPELINE_PROJECTION)
			continue;
		copy->names = list_copy(copy->names != NIL ? copy->names : copy->exprs);
		copy->exprs = list_copy(copy->exprs);
		name = (Node *) relation_number_add_column(relation_number_add("ordered", NULL), name, &copy->exprs, &copy->names);
	}
	stage->inputs = list_make1(lower);
	stage->exprs = lappend(stage->exprs, name);
	stage->sort_flags = lappend_int(stage->sort_flags, PIPELINE_SORT_OF_PEERS);
}

/* rows: those below all windows. */
static bool
add_window(PlannerInfo *root, RelPipeline *planned, const RelPipeline *rows, bool in_row_order,
		   const WindowAggPath *path)
{
	const WindowClause *clause = path->winclause;
	List	   *functions = window_reads_functions(root, path);
	PipelineStage *below = planned->pipeline->top;
	PipelineStage *stage;
	WindowClause *frame = makeNode(WindowClause);
	List	   *keys = NIL;
	bool		is_sorted;

	functions = (List *) rel_pipeline_normalize(root, planned, (Node *) functions);
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_WINDOW, NIL);
	if (!order_clauses_keys(clause->partitionClause, root->processed_tlist, &keys))
		return false;
	stage->exprs = (List *) rel_pipeline_normalize(root, planned, (Node *) order_clauses_drop_constants(keys));
	if (!order_clauses_add(root, planned, clause->orderClause, stage))
		return false;
	is_sorted = is_sorted_below(stage, below);
	planned->pipeline->top = below;
	if (partition_totals_add(root, planned, rows, clause, functions, is_sorted, path->subpath->pathtarget->width))
		return true;
	planned->pipeline->top = stage;
	if (in_row_order)
	{
		Assert(stage->exprs == NIL);
		stage->exprs = list_make1(stage_scan_find_position(stage_outputs(below)));
		stage->sort_flags = list_make1_int(0);
	}
	frame->winref = clause->winref;
	frame->frameOptions = clause->frameOptions;
	frame->startOffset = clause->startOffset;
	frame->endOffset = clause->endOffset;
	/* Those that differ in their frames only are one stage. */
	if (below->kind == PIPELINE_WINDOW && equal(below->exprs, stage->exprs) &&
		equal(below->sort_flags, stage->sort_flags))
		planned->pipeline->top = stage = below;
	else if (!is_sorted && stage->sort_flags == NIL)
		cost_add_partitions(planned, list_length(stage->exprs), path->subpath->pathtarget->width);
	else if (!is_sorted)
		cost_add_sort(planned, list_length(stage->exprs), path->subpath->pathtarget->width, -1);
	stage->aggrefs = list_concat(stage->aggrefs, functions);
	stage->frames = lappend(stage->frames, frame);
	stage->rows = planned->rows;
	if (stage != below)
		window_paths_keep_peers(stage);
	cost_add_window(planned, list_length(functions));
	return true;
}

/* In which our partitions come, too: those of text come in any order, and those without an order in none. */
static List *
order_of(PlannerInfo *root, const WindowClause *clause)
{
	ListCell   *lc;

	if (clause->orderClause == NIL)
		return NIL;
	foreach(lc, clause->partitionClause)
	{
		SortGroupClause *key = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(key, root->processed_tlist);

		if (OidIsValid(exprCollation(expr)) || key->nulls_first ||
			key->sortop != lookup_type_cache(exprType(expr), TYPECACHE_LT_OPR)->lt_opr)
			return NIL;
	}
	return make_pathkeys_for_sortclauses(root, list_concat_copy(clause->partitionClause, clause->orderClause),
										 root->processed_tlist);
}

/* Whether the number of rows or buckets, which is evaluated for each row, can be an error. */
static bool
has_failing_count(const WindowFunc *function)
{
	switch (function->winfnoid)
	{
		case F_NTH_VALUE:
		case F_NTILE:
			return !IsA(llast(function->args), Const);
		case F_LAG_ANYELEMENT_INT4:
		case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_LEAD_ANYELEMENT_INT4:
		case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
			return expr_can_fail(lsecond(function->args));
		default:
			return false;
	}
}

static bool
failing_count_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc) && has_failing_count((WindowFunc *) node))
		return true;
	return expression_tree_walker(node, failing_count_walker, context);
}

bool
window_paths_add_stages(PlannerInfo *root, RelPipeline *planned, List *windows, bool in_row_order, List **pathkeys)
{
	const RelPipeline *rows = rel_pipeline_copy(planned);
	List	   *conditions = NIL;
	ListCell   *lc;

	/* "prefer" is not to show another order than PostgreSQL: its own tests do. */
	if (penumbra_mode == MODE_PREFER && show_order_of_peers(root, windows))
	{
		planning_refuse("window function that shows the order of peers", NULL);
		return false;
	}
	foreach(lc, windows)
	{
		const WindowAggPath *path = lfirst_node(WindowAggPath, lc);

		if (!add_window(root, planned, rows, in_row_order, path))
			return false;
		conditions = list_concat_unique(conditions, compat_run_conditions(path));
	}
	if (conditions != NIL)
	{
		/* PostgreSQL evaluates nothing for rows that a condition on a rank drops, so raises no error either. */
		if (failing_count_walker((Node *) root->processed_tlist, NULL))
		{
			planning_refuse("window function that can fail, below a condition on a rank", NULL);
			return false;
		}
		pipeline_add_stage(planned->pipeline, PIPELINE_FILTER,
						   (List *) rel_pipeline_normalize(root, planned, (Node *) conditions));
		planned->rows = llast_node(WindowAggPath, windows)->path.rows;
		planned->passing_rows = returned_columns_first_rows(root, planned->rows);
	}
	*pathkeys = order_of(root, llast_node(WindowAggPath, windows)->winclause);
	return true;
}

/* ---------------------------------------------------------------- PostgreSQL's functions */

/* The path with another input below `lowest`; what is above a sort starts when all of that has come. */
static Path *
copy_above(const Path *path, const WindowAggPath *lowest, Path *input, Cost *startup_change)
{
	Path	   *copy = custom_path_copy_node(path);
	Cost		total_change = input->total_cost - lowest->subpath->total_cost;
	bool		is_sort = IsA(path, SortPath) || IsA(path, IncrementalSortPath);
	Path	  **subpath = IsA(path, WindowAggPath) ? &((WindowAggPath *) copy)->subpath
		: is_sort ? &((SortPath *) copy)->subpath : &((ProjectionPath *) copy)->subpath;

	if (path == (const Path *) lowest)
	{
		*subpath = input;
		*startup_change = input->startup_cost - lowest->subpath->startup_cost;
	}
	else
		*subpath = copy_above(*subpath, lowest, input, startup_change);
	if (is_sort)
		*startup_change = total_change;
	copy->startup_cost += *startup_change;
	copy->total_cost += total_change;
	return copy;
}

/* The target's expression that the pathkey sorts by; NULL: none, or not in a default btree order. */
static Node *
key_of(const PathKey *pathkey, const PathTarget *target)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, pathkey->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);
		Oid			type = exprType((Node *) member->em_expr);
		/* varchar is sorted as text */
		Node	   *expr = strip_implicit_coercions((Node *) member->em_expr);

		foreach(lc2, target->exprs)
		{
			if (equal(strip_implicit_coercions(lfirst(lc2)), expr) &&
				exprCollation(lfirst(lc2)) == pathkey->pk_eclass->ec_collation &&
				lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf == pathkey->pk_opfamily)
				return lfirst(lc2);
		}
	}
	return NULL;
}

/* Adds the sort below the lowest window; false: a key is constant, no column of its input, or of another order. */
static bool
add_sort(PlannerInfo *root, RelPipeline *planned, const Path *sorted)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_SORT, NIL);
	ListCell   *lc;

	foreach(lc, sorted->pathkeys)
	{
		const PathKey *pathkey = lfirst_node(PathKey, lc);
		Node	   *key = key_of(pathkey, sorted->pathtarget);

		if (key == NULL || rel_pipeline_needs_no_input(key))
			return false;
		stage->exprs = lappend(stage->exprs, relation_numbers_normalize(root, key));
		stage->sort_flags = lappend_int(stage->sort_flags,
										(compat_pathkey_is_descending(pathkey) ? PIPELINE_SORT_DESCENDING : 0) |
										(pathkey->pk_nulls_first ? PIPELINE_SORT_NULLS_FIRST : 0));
	}
	cost_add_sort(planned, list_length(stage->exprs), sorted->pathtarget->width, -1);
	return true;
}

void
window_paths_add_sorted(PlannerInfo *root, RelPipeline *planned, List *windows, RelOptInfo *output_rel)
{
	WindowAggPath *top = llast_node(WindowAggPath, windows);
	WindowAggPath *lowest = linitial_node(WindowAggPath, windows);
	PenumbraPath *input;
	Path	   *path;
	Cost		startup_change;

	if (penumbra_mode == MODE_PREFER || planned->pipeline->reads_working_table || lowest->subpath->pathkeys == NIL ||
		custom_path_copy_node(lowest->subpath) == NULL || !add_sort(root, planned, lowest->subpath))
		return;
	if (!rel_pipeline_set_target(root, planned, lowest->subpath->pathtarget) || !rel_pipeline_check(planned->pipeline))
		return;
	input = custom_path_create(root, output_rel, lowest->subpath->pathtarget, NODE_SORT, planned,
							   custom_path_copy_node(lowest->subpath));
	input->scan_exprs = lowest->subpath->pathtarget->exprs;
	input->custom.path.pathkeys = lowest->subpath->pathkeys;
	input->total_cost = input->custom.path.total_cost;
	path = copy_above((Path *) top, lowest, (Path *) input, &startup_change);
	if (MODE_IS_FORCED())
	{
		output_rel->pathlist = list_make1(path);
		output_rel->partial_pathlist = NIL;
		return;
	}
	core_path_outbid(root, path, &top->path);
	add_path(output_rel, path);
}
