/*-------------------------------------------------------------------------
 *
 * query_tree.c
 *	  What queries that are not planned yet read and do, and how one is put around another.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "query/planning/query_tree.h"

typedef struct ReferenceVisit
{
	const CommonTableExpr *cte;
	Index		depth;			/* of the level in hand, below the one that has the CTE */
	int			count;			/* of references found */
	ReferenceVisitor visit;
	void	   *argument;
} ReferenceVisit;

static bool
references_walker(Node *node, void *context)
{
	ReferenceVisit *references = context;
	Query	   *query = (Query *) node;
	ListCell   *lc;
	bool		is_ended;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, references_walker, context);
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind != RTE_CTE || rte->ctelevelsup != references->depth ||
			strcmp(rte->ctename, references->cte->ctename) != 0)
			continue;
		references->count++;
		if (!references->visit(query, foreach_current_index(lc) + 1, references->argument))
			return true;
	}
	references->depth++;
	is_ended = query_tree_walker(query, references_walker, context, 0);
	references->depth--;
	return is_ended;
}

bool
query_tree_visit_references(Query *query, const CommonTableExpr *cte, ReferenceVisitor visit, void *argument)
{
	ReferenceVisit references = {.cte = cte,.visit = visit,.argument = argument};

	return !references_walker((Node *) query, &references) && references.count == cte->cterefcount;
}

bool
query_tree_has_subqueries(const Query *query)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList != NIL)
		return true;
	foreach(lc, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY)
			return true;
	}
	return false;
}

bool
query_tree_is_never_null(Node *jointree, Index rti)
{
	const JoinExpr *join = (const JoinExpr *) jointree;
	ListCell   *lc;

	if (IsA(jointree, RangeTblRef))
		return ((RangeTblRef *) jointree)->rtindex == (int) rti;
	if (IsA(jointree, JoinExpr))
		return ((join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT) &&
				query_tree_is_never_null(join->larg, rti)) ||
			((join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT) &&
			 query_tree_is_never_null(join->rarg, rti));
	foreach(lc, ((FromExpr *) jointree)->fromlist)
	{
		if (query_tree_is_never_null(lfirst(lc), rti))
			return true;
	}
	return false;
}

List *
query_tree_clauses(const Query *query)
{
	List	   *clauses = list_concat(list_concat_copy(query->groupClause, query->distinctClause), query->sortClause);
	ListCell   *lc;

	foreach(lc, query->windowClause)
		clauses = list_concat(list_concat(clauses, lfirst_node(WindowClause, lc)->partitionClause),
							  lfirst_node(WindowClause, lc)->orderClause);
	return clauses;
}

bool
query_tree_has_keys(const Query *query, const List *exprs)
{
	List	   *keys = NIL;
	ListCell   *lc;

	if (query->groupClause == NIL)
		return true;
	foreach(lc, query->groupClause)
		keys = lappend(keys, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList));
	foreach(lc, exprs)
	{
		if (!IsA(lfirst(lc), Aggref) && !list_member(keys, lfirst(lc)))
			return false;
	}
	return true;
}

/* *context: how many levels of the query are around the node, besides the topmost one. */
static bool
outer_values_walker(Node *node, void *context)
{
	Index	   *depth = context;
	bool		has_outer;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > *depth;
	if (!IsA(node, Query))
		return expression_tree_walker(node, outer_values_walker, context);
	++*depth;
	has_outer = query_tree_walker((Query *) node, outer_values_walker, context, 0);
	--*depth;
	return has_outer;
}

bool
query_tree_is_correlated(Query *query)
{
	Index		depth = 0;

	return query_tree_walker(query, outer_values_walker, &depth, 0);
}

/* *context: how many levels of the query are around the node. */
static bool
outer_ctes_walker(Node *node, void *context)
{
	Index	   *depth = context;
	Query	   *query = (Query *) node;
	bool		reads_outer;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, outer_ctes_walker, context);
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup > *depth)
			return true;
	}
	++*depth;
	reads_outer = query_tree_walker(query, outer_ctes_walker, context, 0);
	--*depth;
	return reads_outer;
}

bool
query_tree_reads_outer_ctes(Query *query)
{
	Index		depth = 0;

	return outer_ctes_walker((Node *) query, &depth);
}

/* Locks of rows, and samples that are others each time. */
static bool
effects_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, TableSampleClause) && ((TableSampleClause *) node)->repeatable == NULL)
		return true;
	if (!IsA(node, Query))
		return expression_tree_walker(node, effects_walker, context);
	return ((Query *) node)->rowMarks != NIL || query_tree_walker((Query *) node, effects_walker, context, 0);
}

bool
query_tree_has_effects(Query *query)
{
	return contain_volatile_functions((Node *) query) || effects_walker((Node *) query, NULL);
}

RangeTblEntry *
query_tree_make_subquery(Query *subquery, const char *name, List *column_names)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = subquery;
	rte->alias = makeAlias(name, NIL);
	rte->eref = makeAlias(name, column_names);
	rte->inFromCl = true;
	return rte;
}

Query *
query_tree_select_all(RangeTblEntry *rte, const Query *columns, Node *condition)
{
	Query	   *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc;

	ref->rtindex = 1;
	query->commandType = CMD_SELECT;
	query->querySource = columns->querySource;
	query->canSetTag = columns->canSetTag;
	query->hasRowSecurity = columns->hasRowSecurity;
	query->rtable = list_make1(rte);
	query->jointree = makeFromExpr(list_make1(ref), condition);
	foreach(lc, columns->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			query->targetList = lappend(query->targetList,
										makeTargetEntry((Expr *) makeVarFromTargetEntry(1, entry), entry->resno,
														entry->resname, false));
	}
	return query;
}

/* The columns of a relation that a query and those within it read. */
typedef struct ReadColumns
{
	const List *rtable;			/* of the query */
	Index		relid;
	Index		depth;			/* of the level in hand, below the query */
	Bitmapset  *numbers;
	bool		has_whole_rows;
} ReadColumns;

static bool
read_walker(Node *node, void *context)
{
	ReadColumns *read = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const Var  *var = (Var *) node;
		const RangeTblEntry *rte;

		if (var->varlevelsup != read->depth)
			return false;
		rte = list_nth_node(RangeTblEntry, read->rtable, var->varno - 1);
		if (rte->rtekind == RTE_JOIN)
		{
			Index		depth = read->depth;

			read->depth = 0;
			(void) read_walker(var->varattno > 0 ? list_nth(rte->joinaliasvars, var->varattno - 1)
							   : (Node *) rte->joinaliasvars, context);
			read->depth = depth;
		}
		else if (var->varno == (int) read->relid)
		{
			read->has_whole_rows |= var->varattno <= 0;
			if (var->varattno > 0)
				read->numbers = bms_add_member(read->numbers, var->varattno);
		}
		return false;
	}
	if (IsA(node, Query))
	{
		read->depth++;
		(void) query_tree_walker((Query *) node, read_walker, context, QTW_IGNORE_JOINALIASES);
		read->depth--;
		return false;
	}
	return expression_tree_walker(node, read_walker, context);
}

bool
query_tree_find_read(Query *query, Index relid, Bitmapset **numbers)
{
	ReadColumns read = {.rtable = query->rtable,.relid = relid,.numbers = *numbers};

	(void) query_tree_walker(query, read_walker, &read, QTW_IGNORE_JOINALIASES);
	*numbers = read.numbers;
	return !read.has_whole_rows;
}

static bool
unions_or_ctes_walker(Node *node, void *context)
{
	const Query *query = (const Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, unions_or_ctes_walker, context);
	if (query->cteList != NIL)
		return true;
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations != NULL)
			return true;
	}
	return query_tree_walker((Query *) query, unions_or_ctes_walker, context, 0);
}

bool
query_tree_has_unions_or_ctes(Query *query)
{
	return unions_or_ctes_walker((Node *) query, NULL);
}
