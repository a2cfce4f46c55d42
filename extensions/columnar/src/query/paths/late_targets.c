/*-------------------------------------------------------------------------
 *
 * late_targets.c
 *	  The query whose target list's subqueries are asked of the rows that LIMIT
 *	  leaves, as a query around the one with LIMIT:
 *
 *		SELECT a, (SELECT count(*) FROM u WHERE u.b = t.b)
 *		FROM t ORDER BY a LIMIT 100
 *
 *	  is
 *
 *		SELECT a, (SELECT count(*) FROM u WHERE u.b = l.b)
 *		FROM (SELECT a, b FROM t ORDER BY a LIMIT 100) l ORDER BY a
 *
 * In the first the subqueries are evaluated for each row that comes, or joined
 * with all of them.  In the second, a hundred rows are joined with the subquery.
 *
 * Only subqueries with values of the row move, and nothing may sort, group or
 * count by them.  PostgreSQL, too, evaluates them once for each row that LIMIT
 * leaves.  What else the target list has is computed below.  A CTE that both
 * queries read is the outer one's.
 *
 * A target of a subquery in FROM, as of a view, is one of the level around it
 * where PostgreSQL would make one of the two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/late_targets.h"
#include "query/planning/query_tree.h"

/* The expressions of a moved target, of which `limited` has the parts without subqueries as columns. */
typedef struct Move
{
	Query	   *limited;
	Index		varno;			/* of that query in FROM */
	Index		depth;			/* of the level in hand, below the target list's */
	bool		is_correlated;	/* a subquery has values of the row */
	bool		is_impossible;
} Move;

/* Whether the rows are groups, of which an expression that is no column is a key: a column below it is not known. */
static bool
has_computed_keys(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		if (!IsA(get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList), Var))
			return true;
	}
	return false;
}

/* Adds the target, as it is. */
static Var *
add_column(const Move *move, const TargetEntry *target)
{
	TargetEntry *entry = flatCopyTargetEntry((TargetEntry *) target);

	entry->resno = (AttrNumber) (list_length(move->limited->targetList) + 1);
	entry->resjunk = false;
	if (entry->resname == NULL)
		entry->resname = psprintf("col%d", entry->resno);
	move->limited->targetList = lappend(move->limited->targetList, entry);
	return makeVarFromTargetEntry(move->varno, entry);
}

/* The column of the subquery in FROM that has the expression, which is of its level and not volatile. */
static Var *
column_of(const Move *move, Node *expr)
{
	ListCell   *lc;

	foreach(lc, move->limited->targetList)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, expr))
			return makeVarFromTargetEntry(move->varno, lfirst_node(TargetEntry, lc));
	}
	return add_column(move, makeTargetEntry((Expr *) expr, 0, NULL, false));
}

static Node *
move_mutator(Node *node, void *context)
{
	Move	   *move = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == move->depth)
	{
		Var		   *var = copyObject((Var *) node);

		/* a whole row has no type of its own in FROM */
		move->is_impossible |= var->varattno == InvalidAttrNumber;
		move->is_correlated |= move->depth > 0;
		var->varlevelsup = 0;
		var = column_of(move, (Node *) var);
		var->varlevelsup = move->depth;
		return (Node *) var;
	}
	if ((IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == move->depth) ||
		(IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup == move->depth) ||
		(IsA(node, WindowFunc) && move->depth == 0))
	{
		move->is_impossible |= move->depth > 0;
		return (Node *) column_of(move, copyObject(node));
	}
	if (IsA(node, Query))
	{
		Query	   *query;

		move->depth++;
		query = query_tree_mutator((Query *) node, move_mutator, move, 0);
		move->depth--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, move_mutator, context);
}

/* Makes the level's CTEs those of a level around it.  *context: depth of the level in hand. */
static bool
raise_ctes_walker(Node *node, void *context)
{
	Index	   *depth = context;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, raise_ctes_walker, context);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup >= *depth)
			rte->ctelevelsup++;
	}
	++*depth;
	(void) query_tree_walker(query, raise_ctes_walker, context, 0);
	--*depth;
	return false;
}

/* SELECT the targets FROM the query, in its order. */
static Query *
select_from(Query *limited, const Query *given, List *targets)
{
	Query	   *query;
	List	   *column_names = NIL;
	Index		depth = 0;
	ListCell   *lc;

	foreach(lc, limited->targetList)
		column_names = lappend(column_names, makeString(lfirst_node(TargetEntry, lc)->resname));
	query = query_tree_select_all(query_tree_make_subquery(limited, "limited", column_names), limited, NULL);
	query->queryId = given->queryId;
	query->stmt_location = given->stmt_location;
	query->stmt_len = given->stmt_len;
	query->hasSubLinks = true;
	query->hasRecursive = given->hasRecursive;
	query->cteList = limited->cteList;
	query->targetList = targets;
	query->sortClause = copyObject(given->sortClause);
	limited->cteList = NIL;
	limited->hasRecursive = false;
	(void) raise_ctes_walker((Node *) limited, &depth);
	return query;
}

/* ---------------------------------------------------------------- subqueries in FROM */

/* Whether PostgreSQL makes the subquery and the level around it one. */
static bool
is_pulled_up(const RangeTblEntry *rte)
{
	const Query *query = rte->subquery;

	return rte->rtekind == RTE_SUBQUERY && !rte->lateral && !rte->security_barrier && query->setOperations == NULL &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && query->sortClause == NIL &&
		query->distinctClause == NIL && query->limitCount == NULL && query->limitOffset == NULL &&
		query->rowMarks == NIL && query->cteList == NIL && query->jointree->fromlist != NIL &&
		!contain_volatile_functions((Node *) query->targetList);
}

static bool
has_subqueries_below(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && (rte->subquery->hasSubLinks || has_subqueries_below(rte->subquery)))
			return true;
	}
	return false;
}

typedef struct Entry
{
	Index		rti;
	Index		depth;			/* of the level in hand, below the entry's */
} Entry;

static bool
whole_row_walker(Node *node, void *context)
{
	Entry	   *entry = context;
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == entry->rti && ((Var *) node)->varlevelsup == entry->depth &&
			((Var *) node)->varattno == InvalidAttrNumber;
	if (!IsA(node, Query))
		return expression_tree_walker(node, whole_row_walker, context);
	entry->depth++;
	found = query_tree_walker((Query *) node, whole_row_walker, context, 0);
	entry->depth--;
	return found;
}

/* A column that is a subquery becomes this; the entry gets the columns that it reads. */
static Node *
raise_mutator(Node *node, void *context)
{
	Move	   *move = context;
	const Var  *var = (const Var *) node;
	Node	   *target;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || var->varno != move->varno || var->varlevelsup > 0)
		return expression_tree_mutator(node, raise_mutator, context);
	target = (Node *) list_nth_node(TargetEntry, move->limited->targetList, var->varattno - 1)->expr;
	return checkExprHasSubLink(target) ? move_mutator(target, move) : copyObject(node);
}

static void raise_targets(Query *query);

static void
raise_targets_of(Query *query, Index rti)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Move		move = {.limited = rte->subquery,.varno = rti};
	Entry		entry = {rti};
	ListCell   *lc;

	if (!is_pulled_up(rte) || query_tree_reads_outer_ctes(rte->subquery))
		return;
	raise_targets(rte->subquery);
	if (!rte->subquery->hasSubLinks || query_tree_walker(query, whole_row_walker, &entry, 0))
		return;
	foreach(lc, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (target->ressortgroupref == 0)
			target->expr = (Expr *) raise_mutator((Node *) target->expr, &move);
	}
	query->hasSubLinks = true;
	for (int i = list_length(rte->eref->colnames); i < list_length(move.limited->targetList); i++)
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(list_nth_node(TargetEntry, move.limited->targetList, i)->resname));
}

/* Of the entries whose rows a join never lacks. */
static void
raise_targets_below(Query *query, Node *jointree)
{
	ListCell   *lc;

	if (IsA(jointree, RangeTblRef))
		raise_targets_of(query, ((RangeTblRef *) jointree)->rtindex);
	else if (IsA(jointree, JoinExpr) && ((JoinExpr *) jointree)->jointype == JOIN_INNER)
	{
		raise_targets_below(query, ((JoinExpr *) jointree)->larg);
		raise_targets_below(query, ((JoinExpr *) jointree)->rarg);
	}
	else if (IsA(jointree, FromExpr))
	{
		foreach(lc, ((FromExpr *) jointree)->fromlist)
			raise_targets_below(query, lfirst(lc));
	}
}

/* Makes subqueries that are targets of the query's entries in FROM, where these are its columns, its own. */
static void
raise_targets(Query *query)
{
	if (!query->hasAggs && query->groupClause == NIL)
		raise_targets_below(query, (Node *) query->jointree);
}

static bool
can_be_limited_first(const Query *query)
{
	return query->commandType == CMD_SELECT && (query->limitCount != NULL || query->limitOffset != NULL) &&
		!query->hasTargetSRFs && !query->hasModifyingCTE && query->setOperations == NULL &&
		query->rowMarks == NIL && query->distinctClause == NIL && query->groupingSets == NIL &&
		!has_computed_keys(query);
}

Query *
late_targets(Query *query)
{
	Move		move = {.varno = 1};
	List	   *targets = NIL;
	ListCell   *lc;

	if (!can_be_limited_first(query))
		return NULL;
	if (has_subqueries_below(query))
	{
		query = copyObject(query);
		raise_targets(query);
	}
	if (!query->hasSubLinks)
		return NULL;
	move.limited = copyObject(query);
	move.limited->targetList = NIL;
	/* What is ordered by keeps its number, so it comes before parts of others that equal it. */
	foreach(lc, query->targetList)
	{
		TargetEntry *target = copyObject(lfirst_node(TargetEntry, lc));

		targets = lappend(targets, target);
		if (target->ressortgroupref != 0 || !checkExprHasSubLink((Node *) target->expr) ||
			contain_volatile_functions((Node *) target->expr))
			target->expr = (Expr *) add_column(&move, target);
	}
	foreach(lc, targets)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (checkExprHasSubLink((Node *) target->expr))
			target->expr = (Expr *) move_mutator((Node *) target->expr, &move);
	}
	if (move.is_impossible || !move.is_correlated)
		return NULL;
	return select_from(move.limited, query, targets);
}
