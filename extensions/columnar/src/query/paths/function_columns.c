/*-------------------------------------------------------------------------
 *
 * function_columns.c
 *	  Functions that the engine lacks as columns of scans.
 *
 * A function of values that repeat is a host call (host_call.h).  One of values that
 * hardly do would be left to PostgreSQL, with all that follows.  So the largest
 * expressions around such functions are asked for as columns, and are columns
 * once they are cached.  So are those whose values repeat, but are many.
 *
 * Only expressions that are evaluated for each row of a table count: conditions,
 * arguments of aggregates, keys of groups and orders.  What only the rows of the
 * result show, or its groups, PostgreSQL computes of those.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "cache/cache.h"
#include "query/paths/function_columns.h"
#include "query/paths/wishes.h"
#include "query/pipeline/function_map.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/translate_expr.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/table_expressions.h"

/* Fewer take some milliseconds. */
#define CALLS_WISHED_MIN 20000

/* How the engine runs an expression that is no column yet. */
typedef enum
{
	RUN_NOT,
	RUN_BY_MANY_CALLS,			/* of PostgreSQL */
	RUN_WELL
} Run;

typedef struct WishedFunction
{
	const PlannerInfo *root;
	Index		relid;
	ColumnKey	key;
} WishedFunction;

typedef struct SearchContext
{
	PlannerInfo *root;
	bool		is_per_row;
} SearchContext;

/* Whether the engine may lack the function, and not only what is around it. */
static bool
may_be_lacking(Node *node)
{
	const FunctionMapping *mapping;

	if (IsA(node, SubscriptingRef))
		return IsA(((SubscriptingRef *) node)->refexpr, FuncExpr);
	if (IsA(node, FuncExpr))
		mapping = function_map_lookup(((FuncExpr *) node)->funcid);
	else if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		mapping = function_map_lookup(((OpExpr *) node)->opfuncid);
	}
	else
		return IsA(node, CoerceViaIO) || IsA(node, ArrayCoerceExpr);
	/* of patterns, the engine has those that have an automaton */
	return mapping == NULL || mapping->shape == SHAPE_REGEX || mapping->shape == SHAPE_REGEX_NO_CASE ||
		mapping->shape == SHAPE_REGEX_GROUP;
}

static bool
is_large_table(PlannerInfo *root, Index relid)
{
	const RangeTblEntry *rte = root->simple_rte_array[relid];
	RelOptInfo *rel = root->simple_rel_array[relid];

	return rel != NULL && !IS_DUMMY_REL(rel) && rel->pages >= WANTED_PAGES_MIN &&
		rte->rtekind == RTE_RELATION && !rte->inh &&
		(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW);
}

/* The relation, if it is a table that is large enough to be loaded; or those of its partitions that are. */
static List *
large_tables(PlannerInfo *root, Index relid)
{
	List	   *tables = NIL;
	ListCell   *lc;

	if (root->simple_rte_array[relid]->rtekind != RTE_RELATION)
		return NIL;
	if (!root->simple_rte_array[relid]->inh)
		return is_large_table(root, relid) ? list_make1_int(relid) : NIL;
	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		if (appinfo->parent_relid == relid)
			tables = list_concat(tables, large_tables(root, appinfo->child_relid));
	}
	return tables;
}

static bool
is_suitable(PlannerInfo *root, Index relid)
{
	return root->simple_rel_array[relid] != NULL && root->simple_rel_array[relid]->reloptkind == RELOPT_BASEREL &&
		large_tables(root, relid) != NIL;
}

/* Most queries that are planned often read small tables alone: their expressions are not walked. */
static bool
has_suitable(PlannerInfo *root)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (is_large_table(root, i))
			return true;
	}
	return false;
}

/* Others are of parts of values, and columns anyway. */
static bool
reads_whole_columns(Node *node)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, 0))
	{
		if (cache_type_has_parts(lfirst_node(Var, lc)->vartype))
			return false;
	}
	return true;
}

static Run
how_it_runs(PlannerInfo *root, Index relid, Node *node)
{
	Translation *translation = translation_begin(NULL, NULL);
	List	   *attnums = NIL;
	Bitmapset  *used = NULL;
	int			member = -1;
	Run			run = RUN_NOT;

	pull_varattnos(node, relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
		attnums = lappend_int(attnums, member + FirstLowInvalidHeapAttributeNumber);
	translation->weighs_calls = true;
	if (stage_scan_add_to_plan(translation, rel_pipeline_begin_scan(root, relid, attnums)->top) &&
		translate_expr(translation, relation_numbers_normalize(root, node)) >= 0)
		run = host_call_evaluations(translation) >= CALLS_WISHED_MIN ? RUN_BY_MANY_CALLS : RUN_WELL;
	translation_end(translation);
	return run;
}

/* The relation's expression, of the columns of its partition. */
static Node *
expression_of_table(PlannerInfo *root, Index relid, Index table, Node *node)
{
	AppendRelInfo *appinfo;

	if (table == relid)
		return node;
	appinfo = root->append_rel_array[table];
	return adjust_appendrel_attrs(root, expression_of_table(root, relid, appinfo->parent_relid, node), 1, &appinfo);
}

/* Whether it is cached of each table; asks for that where it is not, other than of what runs well. */
static bool
is_cached(PlannerInfo *root, Index relid, Node *node, Run run)
{
	Planning   *planning = planning_current();
	List	   *wishes = NIL;
	ListCell   *lc;

	foreach(lc, large_tables(root, relid))
	{
		Index		table = lfirst_int(lc);
		WishedFunction *wished;
		ColumnKey	key;

		if (expression_columns_is_cached(root, table, expression_of_table(root, relid, table, node),
										 run == RUN_WELL ? EXPRESSION_KNOWN : EXPRESSION_USEFUL, &key))
			continue;
		if (run == RUN_WELL || !column_key_is_expression(key))
			return false;
		wished = palloc(sizeof(WishedFunction));
		*wished = (WishedFunction) {root, table, key};
		wishes = lappend(wishes, wished);
	}
	planning->wished_functions = list_concat(planning->wished_functions, wishes);
	return wishes == NIL;
}

/* Makes it a column, or asks for that; what runs well becomes one only if it is cached already. */
static bool
take(PlannerInfo *root, Index relid, Node *node)
{
	Run			run = how_it_runs(root, relid, node);
	bool		is_taken = is_cached(root, relid, node, run);

	if (is_taken)
		expression_columns_add(root, node);
	return is_taken || run == RUN_NOT;
}

/* All that the level reads of matches in FROM becomes columns, or nothing. */
static void
take_matches(PlannerInfo *root, Index relid)
{
	List	   *exprs = table_expressions_open_matches(root, relid);
	bool		are_cached = true;
	ListCell   *lc;

	if (exprs == NIL)
		return;
	foreach(lc, exprs)
	{
		Index		table;
		Node	   *expr = table_expressions_resolve(root, lfirst(lc), &table);

		are_cached &= table != 0 && is_suitable(root, table) && reads_whole_columns(expr) &&
			is_cached(root, table, expr, RUN_NOT);
	}
	if (!are_cached)
	{
		table_expressions_close_matches(root, relid);
		return;
	}
	foreach(lc, exprs)
		expression_columns_add(root, lfirst(lc));
}

static bool
search_walker(Node *node, void *argument)
{
	SearchContext *context = argument;
	SearchContext inner = *context;
	Index		relid;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) || IsA(node, WindowFunc))
		inner.is_per_row = true;
	if (context->is_per_row && may_be_lacking(node) && table_expressions_may_be_column(context->root, node, &relid) &&
		is_suitable(context->root, relid) && reads_whole_columns(node) && take(context->root, relid, node))
		return false;
	return expression_tree_walker(node, search_walker, &inner);
}

/* Of a query with groups, other entries than their keys are of groups.  A subquery returns all rows of its sets. */
static bool
is_of_rows(const PlannerInfo *root, const TargetEntry *entry)
{
	const Query *parse = root->parse;

	if (parse->groupClause != NIL || parse->hasAggs || parse->groupingSets != NIL || parse->havingQual != NULL)
		return entry->ressortgroupref != 0 &&
			get_sortgroupref_clause_noerr(entry->ressortgroupref, parse->groupClause) != NULL;
	return entry->ressortgroupref != 0 ||
		(parse->hasTargetSRFs && root->parent_root != NULL && parse->limitCount == NULL);
}

static void
search_level(PlannerInfo *root)
{
	SearchContext context = {.root = root};
	ListCell   *lc;

	foreach(lc, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		context.is_per_row = is_of_rows(root, entry);
		(void) search_walker((Node *) entry->expr, &context);
	}
	context.is_per_row = false;
	(void) search_walker(root->parse->havingQual, &context);
	context.is_per_row = true;
	(void) search_walker((Node *) root->parse->jointree, &context);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RangeTblEntry *rte = root->simple_rte_array[i];

		if (rte == NULL || rte->rtekind != RTE_FUNCTION)
			continue;
		(void) search_walker((Node *) rte->functions, &context);
		take_matches(root, i);
	}
}

void
function_columns_find(PlannerInfo *root)
{
	Planning   *planning = planning_current();
	MemoryContext old;

	if (list_member_ptr(planning->searched_levels, root))
		return;
	/* The genetic search for joins frees what it made for each order. */
	old = MemoryContextSwitchTo(root->planner_cxt);
	planning->searched_levels = lappend(planning->searched_levels, root);
	if (has_suitable(root))
		search_level(root);
	MemoryContextSwitchTo(old);
}

ServedTable *
function_columns_wished(PlannerInfo *root, ServedTable *table)
{
	int			count = list_length(table->attnums);
	ServedTable *wished = NULL;
	ListCell   *lc;

	foreach(lc, planning_current()->wished_functions)
	{
		const WishedFunction *function = lfirst(lc);

		if (function->root != root || function->relid != table->rel->relid)
			continue;
		if (wished == NULL)
		{
			wished = palloc(sizeof(ServedTable));
			*wished = *table;
			wished->attnums = list_copy(table->attnums);
			wished->columns = palloc(sizeof(ColumnKey) * (count + list_length(planning_current()->wished_functions)));
			memcpy(wished->columns, table->columns, sizeof(ColumnKey) * count);
		}
		wished->columns[list_length(wished->attnums)] = function->key;
		wished->attnums = lappend_int(wished->attnums, function->key.number);
	}
	return wished;
}
