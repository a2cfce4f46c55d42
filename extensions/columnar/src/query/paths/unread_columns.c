/*-------------------------------------------------------------------------
 *
 * unread_columns.c
 *	  The query without columns of UNION ALL and of CTEs that nothing reads.
 *
 * PostgreSQL computes no column of a subquery in FROM that is not read, other than of
 * a UNION ALL that it does not flatten, because the members have other types than
 * the whole, or an ORDER BY or LIMIT of their own.  Of a CTE that stays one it computes all.  Such
 * a column may be of a type that no scan of ours has, or be read for nothing: it is
 * a boolean NULL here, in each member.
 *
 * What is dropped can neither fail, nor show whether it is computed, nor change the
 * number of rows, and no other clause of its query speaks of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/unread_columns.h"
#include "query/pipeline/can_fail.h"
#include "query/planning/query_tree.h"

/* The references to a CTE. */
typedef struct References
{
	List	   *relations;		/* of RangeTblEntry * */
	Bitmapset  *numbers;		/* of columns that are read */
} References;

/* Not all columns of the reference are read. */
static bool
add_read(Query *query, Index rti, void *argument)
{
	References *references = argument;

	references->relations = lappend(references->relations, rt_fetch(rti, query->rtable));
	/* the columns of a member are those of the whole */
	return query->setOperations == NULL && query->rowMarks == NIL &&
		query_tree_find_read(query, rti, &references->numbers);
}

/* All set operations below the node are UNION ALL. */
static bool
keeps_all_rows(const Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return true;
	return operation->op == SETOP_UNION && operation->all && keeps_all_rows(operation->larg) &&
		keeps_all_rows(operation->rarg);
}

static Query *
member_of(const Query *query, const Node *node)
{
	return rt_fetch(((const RangeTblRef *) node)->rtindex, query->rtable)->subquery;
}

static bool
has_types(const Query *query, const Node *node, List *types)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return tlist_same_datatypes(member_of(query, node)->targetList, types, true);
	return has_types(query, operation->larg, types) && has_types(query, operation->rarg, types);
}

/* As is_simple_union_all() of the planner's. */
static bool
is_flattened(const Query *query)
{
	return query->sortClause == NIL && query->limitOffset == NULL && query->limitCount == NULL &&
		query->cteList == NIL &&
		has_types(query, query->setOperations, ((SetOperationStmt *) query->setOperations)->colTypes);
}

static bool
can_drop(const TargetEntry *entry)
{
	Node	   *expr = (Node *) entry->expr;

	return !entry->resjunk && entry->ressortgroupref == 0 && !expression_returns_set(expr) &&
		!contain_agg_clause(expr) && !contain_window_function(expr) && !checkExprHasSubLink(expr) &&
		!contain_volatile_functions(expr) && !expr_can_fail(expr);
}

static Bitmapset *columns_to_drop(const Query *query);

static Bitmapset *
columns_of_members(const Query *query, const Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return columns_to_drop(member_of(query, node));
	return bms_int_members(columns_of_members(query, operation->larg), columns_of_members(query, operation->rarg));
}

/* Those that can be, if nothing reads them. */
static Bitmapset *
columns_to_drop(const Query *query)
{
	Bitmapset  *columns = NULL;
	bool		has_members = query->setOperations != NULL;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->rowMarks != NIL || query->distinctClause != NIL ||
		query->groupingSets != NIL || (has_members && !keeps_all_rows(query->setOperations)))
		return NULL;
	foreach(lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (can_drop(entry) && (!has_members || IsA(entry->expr, Var)))
			columns = bms_add_member(columns, entry->resno);
	}
	return has_members ? bms_int_members(columns, columns_of_members(query, query->setOperations)) : columns;
}

static bool drop_columns(Query *query, const Bitmapset *columns);

static void
set_type(List *types, List *typmods, List *collations, int column)
{
	lfirst_oid(list_nth_cell(types, column - 1)) = BOOLOID;
	lfirst_int(list_nth_cell(typmods, column - 1)) = -1;
	lfirst_oid(list_nth_cell(collations, column - 1)) = InvalidOid;
}

static bool
drop_of_members(Query *query, Node *node, const Bitmapset *columns)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;
	bool		is_changed;
	int			column = -1;

	if (IsA(node, RangeTblRef))
		return drop_columns(member_of(query, node), columns);
	while ((column = bms_next_member(columns, column)) >= 0)
		set_type(operation->colTypes, operation->colTypmods, operation->colCollations, column);
	is_changed = drop_of_members(query, operation->larg, columns);
	return drop_of_members(query, operation->rarg, columns) || is_changed;
}

/* Of a type that the engine has.  False: they were constants all along. */
static bool
drop_columns(Query *query, const Bitmapset *columns)
{
	bool		is_changed = false;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resjunk || !bms_is_member(entry->resno, columns))
			continue;
		is_changed |= query->setOperations == NULL && !IsA(entry->expr, Const);
		entry->expr = query->setOperations == NULL ? (Expr *) makeBoolConst(false, true)
			: (Expr *) makeVar(((Var *) entry->expr)->varno, entry->resno, BOOLOID, -1, InvalidOid, 0);
	}
	return query->setOperations == NULL ? is_changed : drop_of_members(query, query->setOperations, columns);
}

/* PostgreSQL makes a subquery in FROM of it, and computes what is read. */
static bool
becomes_subquery(const CommonTableExpr *cte)
{
	return castNode(Query, cte->ctequery)->setOperations == NULL &&
		(cte->ctematerialized == CTEMaterializeNever ||
		 (cte->ctematerialized == CTEMaterializeDefault && cte->cterefcount == 1));
}

/* False also where PostgreSQL would have dropped them; what is left tells what is read of other CTEs. */
static bool
drop_of_cte(Query *query, CommonTableExpr *cte)
{
	References	references = {0};
	Query	   *inner = castNode(Query, cte->ctequery);
	Bitmapset  *columns;
	int			column = -1;
	ListCell   *lc;

	if (cte->cterefcount == 0 || cte->cterecursive || cte->search_clause != NULL || cte->cycle_clause != NULL ||
		!query_tree_visit_references(query, cte, add_read, &references))
		return false;
	columns = bms_difference(columns_to_drop(inner), references.numbers);
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		set_type(cte->ctecoltypes, cte->ctecoltypmods, cte->ctecolcollations, column);
		foreach(lc, references.relations)
		{
			RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

			set_type(rte->coltypes, rte->coltypmods, rte->colcollations, column);
		}
	}
	return drop_columns(inner, columns) && !becomes_subquery(cte);
}

/* From above: what is dropped of a query reads nothing of those within it. */
static bool
drop_walker(Node *node, void *context)
{
	bool	   *is_changed = context;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, drop_walker, context);
	foreach(lc, query->setOperations == NULL && query->rowMarks == NIL ? query->rtable : NIL)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Bitmapset  *read = NULL;

		if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations != NULL &&
			keeps_all_rows(rte->subquery->setOperations) && !is_flattened(rte->subquery) &&
			query_tree_find_read(query, foreach_current_index(lc) + 1, &read))
			*is_changed |= drop_columns(rte->subquery, bms_difference(columns_to_drop(rte->subquery), read));
	}
	/* one may read those before it */
	for (int i = list_length(query->cteList) - 1; i >= 0; i--)
		*is_changed |= drop_of_cte(query, list_nth_node(CommonTableExpr, query->cteList, i));
	return query_tree_walker(query, drop_walker, context, 0);
}

Query *
unread_columns_drop(Query *query)
{
	bool		is_changed = false;
	Query	   *copy;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !query_tree_has_unions_or_ctes(query))
		return NULL;
	copy = copyObject(query);
	(void) drop_walker((Node *) copy, &is_changed);
	return is_changed ? copy : NULL;
}
