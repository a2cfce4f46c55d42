/*-------------------------------------------------------------------------
 *
 * made_keys.c
 *	  The query whose keys are what its arrays, rows and documents are made of:
 *
 *		SELECT ARRAY[a, b], count(*) FROM t GROUP BY ARRAY[a, b]
 *
 *	  is
 *
 *		SELECT ARRAY[a, b], count(*) FROM t GROUP BY a, b
 *
 * so that the engine groups by columns, and the array is made once for each group.  The same for DISTINCT, which is
 * GROUP BY where there is nothing else, ORDER BY, PARTITION BY, and ORDER BY in a call.  planning/made_values.h says
 * of which values the groups and the order are those of their parts.
 *
 * A key may be a column of a subquery in FROM that makes it.  Then the subquery has the parts as columns, and the query
 * makes the value, if no outer join can lack the subquery's row: of parts that are NULL a value is made that is none.
 * A CTE that PostgreSQL would put in the place of its only reference is such a subquery.  A whole row that is a key is
 * made of its columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/typcache.h"

#include "query/paths/made_keys.h"
#include "query/paths/made_unions.h"
#include "query/paths/whole_rows.h"
#include "query/planning/made_values.h"
#include "query/planning/query_tree.h"

/* Whether keys may be other expressions of the level than those that the query has. */
static bool
can_have_parts(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL && query->groupingSets == NIL &&
		query->rowMarks == NIL;
}

/* ---------------------------------------------------------------- clauses */

/* Whether the clause's value is made, and compares by default; *is_descending where it orders. */
static bool
can_take_apart(const SortGroupClause *clause, Node *expr, bool orders, MadeValue *made, bool *is_descending)
{
	const TypeCacheEntry *type;

	if (!made_value_may_be(expr) || !made_value_take_apart(expr, made) || made->parts == NIL ||
		(orders && !made->is_ordered) || expression_returns_set(expr) || checkExprHasSubLink(expr) ||
		contain_volatile_functions(expr))
		return false;
	type = lookup_type_cache(exprType(expr), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	*is_descending = made->is_ordered && OidIsValid(clause->sortop) && clause->sortop == type->gt_opr;
	return clause->eqop == type->eq_opr && (!orders || *is_descending || clause->sortop == type->lt_opr);
}

/* The target that is the part, perhaps a new one that nobody sees. */
static TargetEntry *
target_of_part(Node *part, List **targets)
{
	TargetEntry *target = tlist_member((Expr *) part, *targets);

	if (target != NULL)
		return target;
	target = makeTargetEntry(copyObject((Expr *) part), list_length(*targets) + 1, NULL, true);
	*targets = lappend(*targets, target);
	return target;
}

static SortGroupClause *
clause_of_part(Node *part, List **targets, bool is_descending)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	Oid			less;
	Oid			greater;

	clause->tleSortGroupRef = assignSortGroupRef(target_of_part(part, targets), *targets);
	get_sort_group_operators(exprType(part), false, false, false, &less, &clause->eqop, &greater, &clause->hashable);
	clause->sortop = is_descending ? greater : less;
	clause->nulls_first = is_descending;
	compat_clause_set_direction(clause, is_descending);
	return clause;
}

/* The clauses of the target list with parts in the place of made values; the list may get targets. */
static List *
clauses_of_parts(List *clauses, bool orders, List **targets)
{
	List	   *result = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, *targets);
		MadeValue	made;
		bool		is_descending;

		if (!can_take_apart(clause, expr, orders, &made, &is_descending))
		{
			if (get_sortgroupref_clause_noerr(clause->tleSortGroupRef, result) == NULL)
				result = lappend(result, clause);
			continue;
		}
		foreach(lc2, made.parts)
		{
			SortGroupClause *of_part = clause_of_part(lfirst(lc2), targets, is_descending);

			if (get_sortgroupref_clause_noerr(of_part->tleSortGroupRef, result) == NULL)
				result = lappend(result, of_part);
		}
	}
	return result;
}

/* ---------------------------------------------------------------- columns of subqueries */

typedef struct Column
{
	Index		rti;
	AttrNumber	number;
	Index		depth;			/* of the level in hand, below the column's */
	Node	   *value;			/* what makes it */
} Column;

/* The subquery's target that is the expression, perhaps a new one, as a column of the entry. */
static Var *
column_of_part(RangeTblEntry *rte, Index rti, Node *part)
{
	List	  **targets = &rte->subquery->targetList;
	int			visible = 0;
	TargetEntry *target;
	ListCell   *lc;

	foreach(lc, *targets)
	{
		target = lfirst_node(TargetEntry, lc);
		if (target->resjunk)
			break;
		if (equal(target->expr, part))
			return makeVarFromTargetEntry(rti, target);
		visible++;
	}
	target = makeTargetEntry(copyObject((Expr *) part), visible + 1, psprintf("part%d", visible + 1), false);
	*targets = list_insert_nth(*targets, visible, target);
	for (int i = visible + 1; i < list_length(*targets); i++)
		list_nth_node(TargetEntry, *targets, i)->resno = i + 1;
	rte->eref->colnames = lappend(rte->eref->colnames, makeString(target->resname));
	return makeVarFromTargetEntry(rti, target);
}

typedef struct Parts
{
	RangeTblEntry *rte;
	Index		rti;
	List	   *parts;
} Parts;

/* What is made of the subquery's parts, of its columns. */
static Node *
parts_mutator(Node *node, void *context)
{
	const Parts *parts = context;

	if (node == NULL)
		return NULL;
	if (list_member(parts->parts, node))
		return (Node *) column_of_part(parts->rte, parts->rti, node);
	return expression_tree_mutator(node, parts_mutator, context);
}

static Node *
column_mutator(Node *node, void *context)
{
	Column	   *column = context;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && var->varno == (int) column->rti && var->varattno == column->number &&
		var->varlevelsup == column->depth)
	{
		Node	   *value = copyObject(column->value);

		IncrementVarSublevelsUp(value, column->depth, 0);
		return value;
	}
	if (IsA(node, Query))
	{
		Query	   *query;

		column->depth++;
		query = query_tree_mutator((Query *) node, column_mutator, context, 0);
		column->depth--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, column_mutator, context);
}

/* The subquery in FROM of which the Var is a column that may be made of others; NULL: it is of no such one. */
static RangeTblEntry *
subquery_of(const Query *query, const Node *node)
{
	const Var  *var = (const Var *) node;
	RangeTblEntry *rte;

	if (!IsA(node, Var) || var->varlevelsup != 0 || var->varattno <= 0)
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_SUBQUERY && can_have_parts(rte->subquery) && !rte->security_barrier &&
		(rte->subquery->distinctClause == NIL || rte->subquery->hasDistinctOn) && !rte->subquery->hasTargetSRFs
		? rte : NULL;
}

static Node *
target_of_column(const RangeTblEntry *rte, const Node *column)
{
	return (Node *) list_nth_node(TargetEntry, rte->subquery->targetList, ((const Var *) column)->varattno - 1)->expr;
}

/* The table or subquery in FROM whose whole row the Var is; NULL: it is none, or may be NULL. */
static RangeTblEntry *
entry_of_row(const Query *query, const Node *node)
{
	const Var  *var = (const Var *) node;
	RangeTblEntry *rte;

	if (!IsA(node, Var) || var->varlevelsup != 0 || var->varattno != InvalidAttrNumber || IS_SPECIAL_VARNO(var->varno))
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return (rte->rtekind == RTE_RELATION || rte->rtekind == RTE_SUBQUERY) &&
		query_tree_is_never_null((Node *) query->jointree, var->varno) ? rte : NULL;
}

/* Makes such a row here of its columns.  A column that was dropped is none of the row's, and its NULL would be. */
static void
take_row(Query *query, const Var *var, RangeTblEntry *rte)
{
	RowExpr    *row = castNode(RowExpr, whole_rows_of_columns(var, rte));
	Column		column = {.rti = var->varno,.number = var->varattno,.value = (Node *) row};
	ListCell   *lc;

	foreach(lc, row->args)
	{
		if (IsA(lfirst(lc), Const))
			return;
	}
	*query = *query_tree_mutator(query, column_mutator, &column, 0);
}

/* Makes the value of such a column here if the subquery, or one below it, makes it; the queries are changed. */
static void
take_value(Query *query, const Node *node)
{
	RangeTblEntry *rte = subquery_of(query, node);
	const Var  *var = (const Var *) node;
	Bitmapset  *read = NULL;
	Node	   *value;
	MadeValue	made;
	Parts		parts;
	Column		column;

	if (entry_of_row(query, node) != NULL)
		take_row(query, var, entry_of_row(query, node));
	if (rte == NULL || !query_tree_is_never_null((Node *) query->jointree, var->varno) ||
		!query_tree_find_read(query, var->varno, &read))
		return;
	take_value(rte->subquery, target_of_column(rte, node));
	value = target_of_column(rte, node);
	if (!made_value_may_be(value) || !made_value_take_apart(value, &made) || made.parts == NIL ||
		contain_volatile_functions(value) || checkExprHasSubLink(value) ||
		!query_tree_has_keys(rte->subquery, made.parts))
		return;
	parts = (Parts) {.rte = rte,.rti = var->varno,.parts = made.parts};
	column = (Column) {.rti = var->varno,.number = var->varattno,.value = parts_mutator(value, &parts)};
	*query = *query_tree_mutator(query, column_mutator, &column, 0);
}

/* ---------------------------------------------------------------- CTEs */

static bool
makes_value(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		if (made_value_may_be((Node *) lfirst_node(TargetEntry, lc)->expr))
			return true;
	}
	return false;
}

/* Whether PostgreSQL puts the CTE in the place of its reference. */
static bool
is_inlined(const CommonTableExpr *cte)
{
	const Query *query = castNode(Query, cte->ctequery);

	return cte->cterefcount == 1 && !cte->cterecursive && cte->ctematerialized != CTEMaterializeAlways &&
		query->commandType == CMD_SELECT && query->rowMarks == NIL && !contain_volatile_functions(cte->ctequery);
}

/* As PostgreSQL does it. */
static bool
inline_visitor(Query *query, Index rti, void *argument)
{
	const CommonTableExpr *cte = argument;
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);

	IncrementVarSublevelsUp(cte->ctequery, rte->ctelevelsup, 1);
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = castNode(Query, cte->ctequery);
	rte->ctename = NULL;
	rte->ctelevelsup = 0;
	rte->coltypes = rte->coltypmods = rte->colcollations = NIL;
	return true;
}

static bool
inline_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, inline_walker, context);
	foreach(lc, query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (is_inlined(cte) && query_tree_visit_references(query, cte, inline_visitor, cte))
			query->cteList = foreach_delete_current(query->cteList, lc);
	}
	return query_tree_walker(query, inline_walker, context, 0);
}

/* ---------------------------------------------------------------- query levels */

/* DISTINCT of rows that are not made of others yet. */
static bool
is_distinct_alone(const Query *query)
{
	return query->distinctClause != NIL && !query->hasDistinctOn && !query->hasAggs && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		query->setOperations == NULL;
}

static bool
makes_any(Query *query, List *clauses, bool orders)
{
	MadeValue	made;
	bool		is_descending;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		if (can_take_apart(clause, get_sortgroupclause_expr(clause, query->targetList), orders, &made, &is_descending))
			return true;
	}
	return false;
}

/* Without targets that nobody sees any more. */
static List *
read_targets(List *targets, List *clauses)
{
	List	   *read = NIL;
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (target->resjunk && get_sortgroupref_clause_noerr(target->ressortgroupref, clauses) == NULL)
			continue;
		read = lappend(read, target);
		target->resno = list_length(read);
	}
	return read;
}

static void
replace_clauses(Query *query)
{
	List	  **targets = &query->targetList;
	ListCell   *lc;

	if (is_distinct_alone(query) && makes_any(query, query->distinctClause, false) &&
		!contain_volatile_functions((Node *) query->targetList) && !checkExprHasSubLink((Node *) query->targetList))
	{
		query->groupClause = query->distinctClause;
		query->distinctClause = NIL;
	}
	query->groupClause = clauses_of_parts(query->groupClause, false, targets);
	if (query->hasDistinctOn)
		query->distinctClause = clauses_of_parts(query->distinctClause, true, targets);
	query->sortClause = clauses_of_parts(query->sortClause, true, targets);
	foreach(lc, query->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, lc);

		window->partitionClause = clauses_of_parts(window->partitionClause, false, targets);
		window->orderClause = clauses_of_parts(window->orderClause, true, targets);
	}
	*targets = read_targets(*targets, query_tree_clauses(query));
}

/* context: the query around it. */
static bool
replace_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	Aggref	   *aggref = (Aggref *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && aggref->aggkind == AGGKIND_NORMAL && aggref->aggdistinct == NIL)
	{
		aggref->aggorder = clauses_of_parts(aggref->aggorder, true, &aggref->args);
		aggref->args = read_targets(aggref->args, aggref->aggorder);
	}
	/* a recursion stays a set operation */
	if (IsA(node, CommonTableExpr) && ((CommonTableExpr *) node)->cterecursive)
		return query_tree_walker(castNode(Query, ((CommonTableExpr *) node)->ctequery), replace_walker, context, 0);
	if (!IsA(node, Query))
		return expression_tree_walker(node, replace_walker, context);
	/* a subquery has its parts for columns before it is asked for them */
	(void) query_tree_walker(query, replace_walker, query, 0);
	if (made_unions_may_be(query, context != NULL))
		made_unions_make_above(query);
	if (can_have_parts(query))
	{
		compat_flatten_groups(query);
		foreach(lc, query_tree_clauses(query))
			take_value(query, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList));
		replace_clauses(query);
	}
	return false;
}

/* ---------------------------------------------------------------- whether there is anything to do */

/* Whether the expression, or what it is in a subquery, may be a made value. */
static bool
may_be_made(const Query *query, Node *expr)
{
	const RangeTblEntry *rte;

	expr = compat_key_of_groups(query, expr);
	if (made_value_may_be(expr) || entry_of_row(query, expr) != NULL)
		return true;
	rte = subquery_of(query, expr);
	return rte != NULL && may_be_made(rte->subquery, target_of_column(rte, expr));
}

/* Of a CTE, or of a subquery that reads it. */
static bool
is_of_cte(const Query *query, Node *expr)
{
	const Var  *var = (const Var *) compat_key_of_groups(query, expr);
	const RangeTblEntry *rte = subquery_of(query, (const Node *) var);

	if (rte != NULL)
		return is_of_cte(rte->subquery, target_of_column(rte, (const Node *) var));
	return IsA(var, Var) && var->varlevelsup == 0 && var->varno > 0 &&
		rt_fetch(var->varno, query->rtable)->rtekind == RTE_CTE;
}

static bool
is_any_key(const Query *query, bool (*test) (const Query *query, Node *expr))
{
	ListCell   *lc;

	foreach(lc, query_tree_clauses(query))
	{
		if (test(query, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList)))
			return true;
	}
	return false;
}

typedef struct Search
{
	bool		makes_in_ctes;
	bool		reads_ctes;		/* by keys */
	int			depth;			/* queries around the node */
} Search;

/* Ends where a key is made, or a subquery's; *context says of CTEs. */
static bool
has_any_walker(Node *node, void *context)
{
	Search	   *search = context;
	const Aggref *aggref = (const Aggref *) node;
	bool		is_any;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && aggref->aggorder != NIL)
	{
		foreach(lc, aggref->args)
		{
			if (made_value_may_be((Node *) lfirst_node(TargetEntry, lc)->expr))
				return true;
		}
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, has_any_walker, context);
	if (made_unions_may_be((Query *) node, search->depth > 0))
		return true;
	foreach(lc, ((Query *) node)->cteList)
	{
		const CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		search->makes_in_ctes |= is_inlined(cte) && makes_value(castNode(Query, cte->ctequery));
	}
	if (can_have_parts((Query *) node))
	{
		if (is_any_key((Query *) node, may_be_made))
			return true;
		search->reads_ctes |= is_any_key((Query *) node, is_of_cte);
	}
	search->depth++;
	is_any = query_tree_walker((Query *) node, has_any_walker, context, 0);
	search->depth--;
	return is_any;
}

Query *
made_keys_take_apart(Query *query)
{
	Search		search = {0};

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE ||
		(!has_any_walker((Node *) query, &search) && !(search.makes_in_ctes && search.reads_ctes)))
		return NULL;
	query = copyObject(query);
	(void) inline_walker((Node *) query, NULL);
	(void) replace_walker((Node *) query, NULL);
	return query;
}
