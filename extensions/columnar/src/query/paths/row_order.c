/*-------------------------------------------------------------------------
 *
 * row_order.c
 *	  Query levels whose answer shows in which order a table's rows are read:
 *	  row_number() OVER (), array_agg() without ORDER BY.
 *
 *	  A scan of ours gives rows of pages that have changed after those of the
 *	  cache.  So such a level of one table has none below what PostgreSQL
 *	  evaluates: either the engine runs all of it in the order of the table, or
 *	  PostgreSQL does.  The order of what joins and groups give is no more
 *	  PostgreSQL's promise than ours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "query/paths/order_clauses.h"
#include "query/paths/row_order.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stage_window.h"
#include "query/planning/node_kinds.h"
#include "query/planning/relation_numbers.h"

/* A row's position in the table, encoded: of a chunk's pages and their offsets. */
#define POSITION_BYTES 4

/* Of what is made of all rows, one after the other; of other types only a sum's last digits tell. */
static bool
is_made_in_order(Oid aggregate, Oid type)
{
	switch (aggregate)
	{
		case F_MIN_TEXT:
		case F_MAX_TEXT:
		case F_MIN_ANYARRAY:
		case F_MAX_ANYARRAY:
			return false;
		default:
			break;
	}
	return type == TEXTOID || type == BYTEAOID || type == JSONOID || type == JSONBOID || type == XMLOID ||
		OidIsValid(get_element_type(type));
}

static bool
is_shown_by_aggregate(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && aggref->aggorder == NIL && aggref->aggdistinct == NIL &&
		is_made_in_order(aggref->aggfnoid, aggref->aggtype);
}

static bool
aggregate_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && is_shown_by_aggregate((Aggref *) node))
		return true;
	return expression_tree_walker(node, aggregate_walker, context);
}

static bool
window_walker(Node *node, void *context)
{
	const PlannerInfo *root = context;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, WindowFunc))
		return expression_tree_walker(node, window_walker, context);
	foreach(lc, root->parse->windowClause)
	{
		const WindowFunc *function = (const WindowFunc *) node;
		const WindowClause *window = lfirst_node(WindowClause, lc);

		if (window->winref == function->winref &&
			(stage_window_needs_order(function, window->frameOptions) ||
			 (function->winagg && is_made_in_order(function->winfnoid, function->wintype))))
			return !order_clauses_have_keys(root, window->orderClause);
	}
	return false;
}

bool
row_order_is_of_windows(PlannerInfo *root)
{
	return root->parse->hasWindowFuncs && window_walker((Node *) root->processed_tlist, root);
}

/* Whether rows of the level's relation come out of it one by one. */
static bool
passes_rows(const Query *parse)
{
	return !parse->hasAggs && !parse->hasWindowFuncs && parse->groupClause == NIL && parse->groupingSets == NIL &&
		parse->distinctClause == NIL && parse->sortClause == NIL && parse->setOperations == NULL;
}

bool
row_order_is_shown(PlannerInfo *root)
{
	for (; root != NULL && bms_membership(root->all_baserels) == BMS_SINGLETON; root = root->parent_root)
	{
		const Query *parse = root->parse;

		if (parse->hasAggs && (aggregate_walker((Node *) root->processed_tlist, NULL) ||
							   aggregate_walker(parse->havingQual, NULL)))
			return true;
		/* Above groups it is theirs. */
		if (!parse->hasAggs && parse->groupClause == NIL && row_order_is_of_windows(root))
			return true;
		if (!passes_rows(parse))
			return false;
	}
	return false;
}

/* Whether the index scan's rows are all of one key: rows of a btree's equal keys come in the order of the table. */
static bool
is_of_one_key(const IndexPath *path)
{
	const IndexOptInfo *index = path->indexinfo;
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, index->relam == BTREE_AM_OID ? path->indexclauses : NIL)
	{
		const IndexClause *clause = lfirst_node(IndexClause, lc);
		const OpExpr *equality = (const OpExpr *) clause->rinfo->clause;

		if (IsA(equality, OpExpr) && clause->indexcols == NIL && list_length(clause->indexquals) == 1 &&
			get_op_opfamily_strategy(equality->opno, index->opfamily[clause->indexcol]) == BTEqualStrategyNumber)
			columns = bms_add_member(columns, clause->indexcol);
	}
	return bms_num_members(columns) == index->nkeycolumns && path->indexscandir == ForwardScanDirection;
}

/*
 * Whether PostgreSQL reads the relation from its first page to its last, if it
 * is not in several processes.  Above windows, whose rows keep their order,
 * LIMIT and ORDER BY may choose an index that costs more.
 */
static bool
is_read_in_order(const RelOptInfo *rel, bool is_of_windows)
{
	Cost		in_order = -1;
	Cost		by_index = -1;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);
		Cost	   *cost;

		if (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (path_is_ours(path) && ((CustomPath *) path)->custom_paths != NIL)
			path = linitial(((CustomPath *) path)->custom_paths);
		cost = path->pathtype == T_SeqScan || path->pathtype == T_BitmapHeapScan ||
			(IsA(path, IndexPath) && is_of_one_key((IndexPath *) path)) ? &in_order
			: path->pathtype == T_IndexScan || path->pathtype == T_IndexOnlyScan ? &by_index : NULL;

		if (cost != NULL && path->param_info == NULL && (*cost < 0 || path->total_cost < *cost))
			*cost = path->total_cost;
	}
	return in_order >= 0 && (by_index < 0 || (in_order < by_index && !is_of_windows));
}

bool
row_order_add(PlannerInfo *root, RelOptInfo *input_rel, RelPipeline *planned, bool is_of_windows)
{
	int			threads = cost_threads(planned->input_rows, planned->is_rescanned);

	return input_rel->reloptkind == RELOPT_BASEREL && is_read_in_order(input_rel, is_of_windows) &&
		planned->input_rows * POSITION_BYTES <= cost_memory_bytes(threads) &&
		stage_scan_add_positions(planned->pipeline, relation_number_of(root, input_rel->relid));
}
