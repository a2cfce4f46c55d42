/*-------------------------------------------------------------------------
 *
 * whole_rows.c
 *	  The query whose target lists have rows of tables as their columns:
 *
 *		SELECT row_to_json(t) FROM t ORDER BY a LIMIT 10
 *
 *	  is
 *
 *		SELECT row_to_json(ROW(t.a, t.b)::t) FROM t ORDER BY a LIMIT 10
 *
 * A scan of ours has columns, of which some are fetched for the rows that are left
 * (planning/returned_columns.h), and no rows.  Of a relation that an outer join may
 * have no row of, the row is NULL, and no row of NULLs; it stays.  So does a row by
 * which the query groups or sorts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"

#include "query/paths/whole_rows.h"

typedef struct RowsContext
{
	const Query *query;
	Bitmapset  *nullable;		/* relations of which there may be no row */
	bool		is_within_aggregate;
	bool		is_changed;
} RowsContext;

static Bitmapset *
relations_below(Node *node)
{
	Bitmapset  *relations = NULL;
	ListCell   *lc;

	if (IsA(node, RangeTblRef))
		return bms_make_singleton(((RangeTblRef *) node)->rtindex);
	if (IsA(node, JoinExpr))
		return bms_union(relations_below(((JoinExpr *) node)->larg), relations_below(((JoinExpr *) node)->rarg));
	foreach(lc, castNode(FromExpr, node)->fromlist)
		relations = bms_add_members(relations, relations_below(lfirst(lc)));
	return relations;
}

static Bitmapset *
nullable_below(Node *node)
{
	const JoinExpr *join = (JoinExpr *) node;
	Bitmapset  *nullable = NULL;
	ListCell   *lc;

	if (IsA(node, RangeTblRef))
		return NULL;
	if (IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
			nullable = bms_add_members(nullable, nullable_below(lfirst(lc)));
		return nullable;
	}
	nullable = bms_union(nullable_below(join->larg), nullable_below(join->rarg));
	if (join->jointype != JOIN_INNER && join->jointype != JOIN_RIGHT)
		nullable = bms_add_members(nullable, relations_below(join->rarg));
	if (join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL)
		nullable = bms_add_members(nullable, relations_below(join->larg));
	return nullable;
}

static bool
is_row(const RowsContext *context, const Var *var)
{
	return var->varlevelsup == 0 && var->varattno == 0 && !bms_is_member(var->varno, context->nullable) &&
		rt_fetch(var->varno, context->query->rtable)->rtekind == RTE_RELATION &&
		(context->query->groupClause == NIL || context->is_within_aggregate);
}

static Node *
rows_mutator(Node *node, void *argument)
{
	RowsContext *context = argument;
	bool		was_within = context->is_within_aggregate;
	Var		   *var = (Var *) node;
	RowExpr    *row;

	/* a subquery's rows are its own; of a row's NULLs a dropped column is none */
	if (node == NULL || IsA(node, Query) || IsA(node, NullTest))
		return node;
	if (IsA(node, Var) && is_row(context, var))
	{
		row = makeNode(RowExpr);
		compat_expand_rte(rt_fetch(var->varno, context->query->rtable), var->varno, NULL, &row->args);
		row->row_typeid = var->vartype;
		row->row_format = COERCE_IMPLICIT_CAST;
		row->location = -1;
		context->is_changed = true;
		return (Node *) row;
	}
	context->is_within_aggregate |= IsA(node, Aggref);
	node = expression_tree_mutator(node, rows_mutator, argument);
	context->is_within_aggregate = was_within;
	return node;
}

static bool
rows_walker(Node *node, void *argument)
{
	bool	   *is_changed = argument;
	Query	   *query = (Query *) node;
	RowsContext context = {.query = query};
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, rows_walker, argument);
	if (query->commandType == CMD_SELECT && query->rowMarks == NIL && query->setOperations == NULL &&
		query->groupingSets == NIL)
	{
		context.nullable = nullable_below((Node *) query->jointree);
		foreach(lc, query->targetList)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc);

			if (entry->ressortgroupref == 0)
				entry->expr = (Expr *) rows_mutator((Node *) entry->expr, &context);
		}
		*is_changed |= context.is_changed;
	}
	return query_tree_walker(query, rows_walker, argument, 0);
}

/* Most queries have none. */
static bool
has_rows_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno == 0;
	return IsA(node, Query) ? query_tree_walker((Query *) node, has_rows_walker, context, 0)
		: expression_tree_walker(node, has_rows_walker, context);
}

Query *
whole_rows(Query *query)
{
	bool		is_changed = false;
	Query	   *copy;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !has_rows_walker((Node *) query, NULL))
		return NULL;
	copy = copyObject(query);
	(void) rows_walker((Node *) copy, &is_changed);
	return is_changed ? copy : NULL;
}
