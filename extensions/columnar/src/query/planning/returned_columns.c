/*-------------------------------------------------------------------------
 *
 * returned_columns.c
 *	  Columns that a query level does nothing with but return them.
 *
 * The level's own node can fetch such a column for its rows.  The query around
 * goes on with the level's pipeline if it only returns the column, too.  A
 * subquery in FROM is planned while its level is: the level's relations and
 * clauses are known then.  So a column can be followed upwards through the
 * target lists of both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "query/planning/planning.h"
#include "query/planning/returned_columns.h"
#include "pg_compat.h"

/* The rows of a table are few where they are no more than one of so many. */
#define FEW_SHARE_INVERSE 100

/* ---------------------------------------------------------------- the way up */

/* Subqueries are planned in the order of their relations, UNION ALL with its members. */
static bool
is_unplanned(const PlannerInfo *root, Index relid)
{
	const RelOptInfo *rel = root->simple_rel_array[relid];

	return rel != NULL && rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_SUBQUERY && rel->rows == 0 &&
		rel->pathlist == NIL;
}

/* The subquery in FROM, of the level around, that the level is; 0: it is another. */
static Index
relation_of_level(const PlannerInfo *level)
{
	const PlannerInfo *root = level->parent_root;
	Index		relid = 1;

	while (relid < (Index) root->simple_rel_array_size && !is_unplanned(root, relid) &&
		   (root->simple_rel_array[relid] == NULL || root->simple_rel_array[relid]->subroot != level))
		relid++;
	return relid < (Index) root->simple_rel_array_size && !root->simple_rte_array[relid]->inh ? relid : 0;
}

bool
returned_columns_are_rows(PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->rowMarks == NIL && root->rowMarks == NIL && !parse->hasAggs &&
		parse->groupClause == NIL && parse->groupingSets == NIL && parse->havingQual == NULL &&
		(parse->distinctClause == NIL || parse->hasDistinctOn) && parse->setOperations == NULL &&
		!parse->hasTargetSRFs && !contain_subplans((Node *) root->processed_tlist);
}

/* What is known of a relation of a level: of a partition's columns its parent is asked. */
typedef struct ReturnedColumns
{
	const PlannerInfo *root;
	Index		relid;
	List	   *vars;			/* as they are returned */
	Bitmapset  *passed_on;		/* those that the levels around only return, too */
	bool		is_counted;		/* the next is known */
	bool		are_few;
} ReturnedColumns;

static bool
is_passed_on(PlannerInfo *root, const TargetEntry *entry)
{
	Index		relid = root->parent_root == NULL ? 0 : relation_of_level(root);

	return root->parent_root == NULL ||
		(relid != 0 && returned_columns_pass(root->parent_root, relid, entry->resno));
}

static void
find_returned(PlannerInfo *root, Index relid, ReturnedColumns *columns)
{
	const RelOptInfo *rel = root->simple_rel_array[relid];
	Bitmapset  *read = NULL;
	Bitmapset  *stopped = NULL;
	List	   *vars = NIL;
	ListCell   *lc;

	if (!returned_columns_are_rows(root) || rel->reloptkind != RELOPT_BASEREL)
		return;
	pull_varattnos((Node *) get_actual_clauses(rel->baserestrictinfo), relid, &read);
	foreach(lc, root->processed_tlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!IsA(entry->expr, Var) || entry->ressortgroupref != 0)
			pull_varattnos((Node *) entry->expr, relid, &read);
		else if (((const Var *) entry->expr)->varno == (int) relid)
		{
			vars = lappend(vars, entry->expr);
			if (!is_passed_on(root, entry))
				pull_varattnos((Node *) entry->expr, relid, &stopped);
		}
	}
	foreach(lc, vars)
	{
		AttrNumber	attno = lfirst_node(Var, lc)->varattno;
		int			member = attno - FirstLowInvalidHeapAttributeNumber;

		/* by clauses of joins, too, if more than the target list needs it */
		if (bms_is_member(member, read) || bms_membership(rel->attr_needed[attno - rel->min_attr]) != BMS_SINGLETON)
			vars = foreach_delete_current(vars, lc);
		else if (!bms_is_member(member, stopped))
			columns->passed_on = bms_add_member(columns->passed_on, member);
	}
	columns->vars = vars;
}

static ReturnedColumns *
columns_of_rel(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	MemoryContext old;
	ReturnedColumns *columns;
	ListCell   *lc;

	foreach(lc, planning->returned_columns)
	{
		columns = lfirst(lc);
		if (columns->root == root && columns->relid == relid)
			return columns;
	}
	/* The genetic search for joins frees what it made for each order. */
	old = MemoryContextSwitchTo(root->planner_cxt);
	columns = palloc0(sizeof(ReturnedColumns));
	columns->root = root;
	columns->relid = relid;
	find_returned(root, relid, columns);
	planning->returned_columns = lappend(planning->returned_columns, columns);
	MemoryContextSwitchTo(old);
	return columns;
}

Var *
returned_columns_find(PlannerInfo *root, Index relid, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, columns_of_rel(root, relid)->vars)
	{
		if (lfirst_node(Var, lc)->varattno == attno)
			return lfirst(lc);
	}
	return NULL;
}

bool
returned_columns_pass(PlannerInfo *root, Index relid, AttrNumber attno)
{
	return bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, columns_of_rel(root, relid)->passed_on);
}

/* ---------------------------------------------------------------- how many rows */

/* Of LIMIT; one that planning does not know is small. */
static double
rows_of_limit(const Query *parse)
{
	const Const *limit = (const Const *) parse->limitCount;

	if (limit == NULL)
		return INFINITY;
	if (!IsA(limit, Const))
		return 0;
	return limit->constisnull ? INFINITY : (double) DatumGetInt64(limit->constvalue);
}

/* What a condition lets the function's value be at most; one that planning does not know is small. */
static double
bound_of_function(PlannerInfo *root, const WindowFunc *function)
{
	double		bound = INFINITY;
	ListCell   *lc;

	if (function->winfnoid != F_ROW_NUMBER && function->winfnoid != F_RANK_ && function->winfnoid != F_DENSE_RANK_)
		return bound;
	foreach(lc, compat_run_bounds(function, root->parse->windowClause))
	{
		const Const *value = (const Const *) estimate_expression_value(root, lfirst(lc));
		Oid			type = exprType((const Node *) value);

		if (!IsA(value, Const))
			bound = 1;
		else if (!value->constisnull && (type == INT8OID || type == INT4OID))
			bound = Min(bound, type == INT8OID ? (double) DatumGetInt64(value->constvalue)
						: DatumGetInt32(value->constvalue));
	}
	return Max(bound, 1);
}

static double
rows_of_groups(PlannerInfo *root, List *clauses, double rows, double rows_of_each)
{
	List	   *keys = get_sortgrouplist_exprs(clauses, root->processed_tlist);

	return rows_of_each == INFINITY ? rows
		: Min(rows, rows_of_each * (keys == NIL ? 1 : estimate_num_groups(root, keys, rows, NULL, NULL)));
}

double
returned_columns_first_rows(PlannerInfo *root, double rows)
{
	const Query *parse = root->parse;
	double		first = rows;
	ListCell   *lc;
	ListCell   *lc2;

	if (parse->hasDistinctOn)
		first = rows_of_groups(root, parse->distinctClause, rows, 1);
	foreach(lc, parse->hasWindowFuncs ? pull_var_clause((Node *) root->processed_tlist, PVC_INCLUDE_WINDOWFUNCS |
														 PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS) : NIL)
	{
		const WindowFunc *function = lfirst(lc);

		if (!IsA(function, WindowFunc))
			continue;
		foreach(lc2, parse->windowClause)
		{
			const WindowClause *window = lfirst_node(WindowClause, lc2);

			if (window->winref == function->winref)
				first = Min(first, rows_of_groups(root, window->partitionClause, rows,
												  bound_of_function(root, function)));
		}
	}
	return first;
}

/* Of the table, or of all below a parent: its own number is that of rows which pass the conditions. */
static double
tuples_of(const PlannerInfo *root, Index relid)
{
	double		tuples = 0;
	ListCell   *lc;

	if (!root->simple_rte_array[relid]->inh)
		return root->simple_rel_array[relid]->tuples;
	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *child = lfirst_node(AppendRelInfo, lc);

		if (child->parent_relid == relid && root->simple_rel_array[child->child_relid] != NULL)
			tuples += tuples_of(root, child->child_relid);
	}
	return tuples;
}

/* Whether the level, or one around it, is a LATERAL subquery: its rows are of one execution of many. */
static bool
is_repeated(const PlannerInfo *level)
{
	Index		relid = level->parent_root == NULL ? 0 : relation_of_level(level);

	return relid != 0 && (!bms_is_empty(level->parent_root->simple_rel_array[relid]->lateral_relids) ||
						  is_repeated(level->parent_root));
}

static bool
are_few(PlannerInfo *root, const RelOptInfo *rel)
{
	double		rows = rel->rows;

	if (is_repeated(root))
		return false;
	/* of a join that is not planned yet there is no number of rows */
	if (bms_membership(root->all_baserels) == BMS_SINGLETON)
		rows = returned_columns_first_rows(root, rows);
	return Min(rows_of_limit(root->parse), rows) < tuples_of(root, rel->relid) / FEW_SHARE_INVERSE;
}

bool
returned_columns_are_few(PlannerInfo *root, Index relid)
{
	const RelOptInfo *rel = root->simple_rel_array[relid];
	ReturnedColumns *columns;

	if (rel == NULL || rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION)
		return false;
	columns = columns_of_rel(root, relid);
	if (!columns->is_counted)
		columns->are_few = are_few(root, rel);
	columns->is_counted = true;
	return columns->are_few;
}
