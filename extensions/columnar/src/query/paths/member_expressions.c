/*-------------------------------------------------------------------------
 *
 * member_expressions.c
 *	  The query whose UNION ALLs have for columns what it reads of their documents.
 *
 * A member of UNION ALL that has conditions, joins or groups stays a subquery, whose
 * documents would be fetched for the expressions around.  Here each member computes these
 * itself, where they are columns of its table: doc->>'kind' of the whole is a column more.
 *
 * An expression is moved if it cannot fail, as the member computes it for rows that the query
 * may not ask for, and is NULL for NULLs, as outer joins have them in place of rows.
 *
 * A function in FROM whose rows are of the whole's columns becomes part of each member, too, if
 * there is nothing else in FROM, and the members are tables with conditions.  It may fail, but
 * only for rows that pass the conditions, which PostgreSQL evaluates in the table's scan, here and there.
 * Of a join it may be computed for rows that find no partner, so only functions that never fail are moved there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/list_image.h"
#include "query/paths/member_expressions.h"
#include "query/planning/query_tree.h"
#include "query/planning/record_columns.h"
#include "query/planning/table_expressions.h"

/* A UNION ALL in FROM of the query, and what becomes part of it. */
typedef struct Pushing
{
	Query	   *query;
	Index		relid;
	RangeTblEntry *rte;
	List	   *functions;		/* of numbers in the range table */
	List	   *exprs;			/* columns that are added, of Vars of the query */
	int			columns;		/* before them */
	int			open;			/* documents, while expressions are searched */
} Pushing;

/* ---------------------------------------------------------------- members */

static Query *
member_of(const Query *whole, const Node *node)
{
	return rt_fetch(((const RangeTblRef *) node)->rtindex, whole->rtable)->subquery;
}

/* PostgreSQL takes it for a part of the query around. */
static bool
is_flattened(const Query *member)
{
	return list_length(member->jointree->fromlist) == 1 && IsA(linitial(member->jointree->fromlist), RangeTblRef) &&
		member->jointree->quals == NULL && member->groupClause == NIL && member->groupingSets == NIL &&
		!member->hasAggs && !member->hasWindowFuncs && !member->hasTargetSRFs && member->havingQual == NULL &&
		member->distinctClause == NIL && member->sortClause == NIL && member->limitCount == NULL &&
		member->limitOffset == NULL && member->cteList == NIL;
}

/* Joins of tables, with conditions. */
static bool
is_of_joined_tables(const Query *member)
{
	ListCell   *lc;

	foreach(lc, member->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind != RTE_RELATION && rte->rtekind != RTE_JOIN)
			return false;
	}
	return member->jointree->fromlist != NIL && !member->hasSubLinks && member->groupClause == NIL &&
		member->groupingSets == NIL && !member->hasAggs && !member->hasWindowFuncs && !member->hasTargetSRFs &&
		member->havingQual == NULL && member->sortClause == NIL && member->limitCount == NULL &&
		member->limitOffset == NULL && member->cteList == NIL &&
		!contain_volatile_functions((Node *) member->jointree) &&
		!contain_volatile_functions((Node *) member->targetList);
}

/* A table's rows that pass conditions. */
static bool
is_of_table(const Query *member)
{
	return is_of_joined_tables(member) && list_length(member->jointree->fromlist) == 1 &&
		IsA(linitial(member->jointree->fromlist), RangeTblRef);
}

/* Has columns, each of which is a function of a row. */
static bool
can_take(const Query *member)
{
	return member->commandType == CMD_SELECT && member->setOperations == NULL && member->distinctClause == NIL &&
		member->groupingSets == NIL && member->rowMarks == NIL && !member->hasTargetSRFs &&
		!contain_volatile_functions((Node *) member->targetList);
}

typedef struct Members
{
	bool		can_take;
	bool		are_of_tables;
	bool		are_of_joins;	/* or of tables */
	bool		has_others;		/* those that are not flattened */
} Members;

/* All set operations are UNION ALL of columns of the same types, or the whole cannot take anything. */
static void
look_at_members(const Query *whole, const Node *node, const SetOperationStmt *top, Members *members)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
	{
		const Query *member = member_of(whole, node);

		members->can_take &= can_take(member) && tlist_same_datatypes(member->targetList, top->colTypes, true) &&
			tlist_same_collations(member->targetList, top->colCollations, true);
		members->are_of_tables &= is_of_table(member);
		members->are_of_joins &= is_of_joined_tables(member);
		members->has_others |= !is_flattened(member);
		return;
	}
	members->can_take &= operation->op == SETOP_UNION && operation->all;
	look_at_members(whole, operation->larg, top, members);
	look_at_members(whole, operation->rarg, top, members);
}

/* ---------------------------------------------------------------- expressions */

static bool
is_of_whole(const Pushing *pushing, const Var *var)
{
	return var->varlevelsup == 0 && var->varattno > 0 &&
		(var->varno == (int) pushing->relid || list_member_int(pushing->functions, var->varno));
}

static bool
is_function_column(const Pushing *pushing, const Node *node)
{
	return IsA(node, Var) && ((const Var *) node)->varlevelsup == 0 &&
		list_member_int(pushing->functions, ((const Var *) node)->varno);
}

/* Of the columns of one relation alone, which are there. */
static bool
can_be_pushed(const Pushing *pushing, Node *node)
{
	Index		relid;

	if (cacheable_form(node) == NULL || cacheable_can_fail(node) || contain_nonstrict_functions(node) ||
		cache_type_is_composed(exprType(node)) || expression_returns_set(node))
		return false;
	relid = table_expressions_relation(NULL, node);
	return relid == pushing->relid || list_member_int(pushing->functions, relid);
}

/* The smallest ones around columns whose values have parts; of functions, columns themselves. */
static bool
find_walker(Node *node, void *argument)
{
	Pushing    *pushing = argument;
	int			open_before = pushing->open;

	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, Var))
	{
		if (is_of_whole(pushing, (Var *) node) && cache_type_has_parts(((Var *) node)->vartype))
			pushing->open++;
		return false;
	}
	(void) expression_tree_walker(node, find_walker, argument);
	if (pushing->open > open_before && can_be_pushed(pushing, node))
	{
		pushing->exprs = list_append_unique(pushing->exprs, node);
		pushing->open = open_before;
	}
	return false;
}

static bool
find_columns_walker(Node *node, void *argument)
{
	Pushing    *pushing = argument;

	if (node == NULL || list_member(pushing->exprs, node))
		return false;
	if (is_function_column(pushing, node))
		pushing->exprs = lappend(pushing->exprs, node);
	return IsA(node, Query) ? false : expression_tree_walker(node, find_columns_walker, argument);
}

/* The query's expressions with the new columns. */
static Node *
put_columns_mutator(Node *node, void *argument)
{
	const Pushing *pushing = argument;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return copyObject(node);
	foreach(lc, pushing->exprs)
	{
		const Node *expr = lfirst(lc);
		Var		   *var;

		if (nodeTag(expr) != nodeTag(node) || !equal(expr, node))
			continue;
		/* with what it says of outer joins */
		var = copyObject(linitial_node(Var, pull_var_clause(node, 0)));
		var->varno = pushing->relid;
		var->varattno = pushing->columns + foreach_current_index(lc) + 1;
		var->vartype = exprType(node);
		var->vartypmod = exprTypmod(node);
		var->varcollid = exprCollation(node);
		var->varnosyn = 0;
		var->varattnosyn = 0;
		var->location = -1;
		return (Node *) var;
	}
	return expression_tree_mutator(node, put_columns_mutator, argument);
}

/* ---------------------------------------------------------------- the whole */

typedef struct OfMember
{
	const Pushing *pushing;
	const Query *member;
	Index		first_function; /* in its range table */
} OfMember;

static Node *
of_member_mutator(Node *node, void *argument)
{
	const OfMember *context = argument;
	const Pushing *pushing = context->pushing;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, of_member_mutator, argument);
	if (var->varno == (int) pushing->relid)
		return copyObject((Node *) list_nth_node(TargetEntry, context->member->targetList, var->varattno - 1)->expr);
	for (int i = 0; i < list_length(pushing->functions); i++)
	{
		if (list_nth_int(pushing->functions, i) == var->varno)
			return (Node *) makeVar(context->first_function + i, var->varattno, var->vartype, var->vartypmod,
									var->varcollid, 0);
	}
	return node;
}

static char *
column_name(int number)
{
	return psprintf("column%d", number);
}

/* Before those that nobody sees. */
static void
add_target(Query *query, int number, Node *expr)
{
	TargetEntry *entry = makeTargetEntry((Expr *) expr, number, column_name(number), false);

	query->targetList = list_insert_nth(query->targetList, number - 1, entry);
	for (int i = number; i < list_length(query->targetList); i++)
		list_nth_node(TargetEntry, query->targetList, i)->resno = i + 1;
}

static void
add_to_member(const Pushing *pushing, Query *member)
{
	OfMember	context = {pushing, member, list_length(member->rtable) + 1};
	ListCell   *lc;

	foreach(lc, pushing->functions)
	{
		RangeTblEntry *rte = copyObject(rt_fetch(lfirst_int(lc), pushing->query->rtable));
		RangeTblRef *reference = makeNode(RangeTblRef);

		rte->functions = (List *) of_member_mutator((Node *) rte->functions, &context);
		rte->lateral = true;
		member->rtable = lappend(member->rtable, rte);
		reference->rtindex = list_length(member->rtable);
		member->jointree->fromlist = lappend(member->jointree->fromlist, reference);
	}
	foreach(lc, pushing->exprs)
		add_target(member, pushing->columns + foreach_current_index(lc) + 1, of_member_mutator(lfirst(lc), &context));
}

static void
add_to_members(const Pushing *pushing, Node *node)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;
	ListCell   *lc;

	if (IsA(node, RangeTblRef))
	{
		RangeTblEntry *rte = rt_fetch(((RangeTblRef *) node)->rtindex, pushing->rte->subquery->rtable);

		add_to_member(pushing, rte->subquery);
		for (int i = 1; i <= list_length(pushing->exprs); i++)
			rte->eref->colnames = lappend(rte->eref->colnames, makeString(column_name(pushing->columns + i)));
		return;
	}
	foreach(lc, pushing->exprs)
	{
		operation->colTypes = lappend_oid(operation->colTypes, exprType(lfirst(lc)));
		operation->colTypmods = lappend_int(operation->colTypmods, exprTypmod(lfirst(lc)));
		operation->colCollations = lappend_oid(operation->colCollations, exprCollation(lfirst(lc)));
	}
	add_to_members(pushing, operation->larg);
	add_to_members(pushing, operation->rarg);
}

static void
add_to_whole(const Pushing *pushing)
{
	Query	   *whole = pushing->rte->subquery;
	const Node *first = whole->setOperations;
	ListCell   *lc;

	while (IsA(first, SetOperationStmt))
		first = ((const SetOperationStmt *) first)->larg;
	add_to_members(pushing, whole->setOperations);
	foreach(lc, pushing->exprs)
	{
		int			number = pushing->columns + foreach_current_index(lc) + 1;

		add_target(whole, number, (Node *) makeVar(((const RangeTblRef *) first)->rtindex, number, exprType(lfirst(lc)),
												   exprTypmod(lfirst(lc)), exprCollation(lfirst(lc)), 0));
		pushing->rte->eref->colnames = lappend(pushing->rte->eref->colnames, makeString(column_name(number)));
	}
}

/* ---------------------------------------------------------------- the query */

/* Whether a list may have what each function gives. */
static bool
give_elements(const RangeTblEntry *rte)
{
	ListCell   *lc;

	foreach(lc, rte->functions)
	{
		const RangeTblFunction *function = lfirst_node(RangeTblFunction, lc);
		Node	   *call = function->funcexpr;

		if (!record_columns_is_call(function) && !list_image_is_set(call) &&
			!(IsA(call, FuncExpr) && list_image_column((FuncExpr *) call, 1) != NULL))
			return false;
	}
	return true;
}

/* Inner joins of the whole and functions of its columns, and nothing else. */
static bool
take_from(Pushing *pushing, Node *node, List **quals)
{
	JoinExpr   *join = (JoinExpr *) node;
	RangeTblEntry *rte;
	Bitmapset  *columns = NULL;
	Index		rti;

	if (IsA(node, JoinExpr))
	{
		*quals = lappend(*quals, join->quals);
		return join->jointype == JOIN_INNER && join->alias == NULL && join->usingClause == NIL &&
			take_from(pushing, join->larg, quals) && take_from(pushing, join->rarg, quals);
	}
	if (!IsA(node, RangeTblRef))
		return false;
	rti = ((RangeTblRef *) node)->rtindex;
	if (rti == pushing->relid)
		return true;
	rte = rt_fetch(rti, pushing->query->rtable);
	pushing->functions = lappend_int(pushing->functions, rti);
	return rte->rtekind == RTE_FUNCTION && give_elements(rte) && !contain_volatile_functions((Node *) rte->functions) &&
		!checkExprHasSubLink((Node *) rte->functions) && query_tree_find_read(pushing->query, rti, &columns);
}

/* Whether none of the functions raises an error, whatever each member has for the columns that it reads. */
static bool
never_fail(const Pushing *pushing, Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;
	OfMember	context = {pushing};
	ListCell   *lc;
	ListCell   *lc2;

	if (!IsA(node, RangeTblRef))
		return never_fail(pushing, operation->larg) && never_fail(pushing, operation->rarg);
	context.member = member_of(pushing->rte->subquery, node);
	foreach(lc, pushing->functions)
	{
		foreach(lc2, rt_fetch(lfirst_int(lc), pushing->query->rtable)->functions)
		{
			Node	   *call = of_member_mutator(lfirst_node(RangeTblFunction, lc2)->funcexpr, &context);

			if (!list_image_is_set(call) || list_image_may_be_refused(call) || cacheable_can_fail(call))
				return false;
		}
	}
	return true;
}

/* The functions of a query whose FROM they are, beside the whole. */
static void
take_functions(Pushing *pushing, bool may_fail)
{
	Query	   *query = pushing->query;
	List	   *quals = list_make1(query->jointree->quals);
	ListCell   *lc;
	RangeTblRef *reference;
	bool		is_possible = !query->hasSubLinks && !contain_volatile_functions((Node *) query->jointree);

	foreach(lc, query->jointree->fromlist)
		is_possible = is_possible && take_from(pushing, lfirst(lc), &quals);
	if (!is_possible || pushing->functions == NIL ||
		!(may_fail || never_fail(pushing, pushing->rte->subquery->setOperations)))
	{
		pushing->functions = NIL;
		return;
	}
	reference = makeNode(RangeTblRef);
	reference->rtindex = pushing->relid;
	query->jointree->fromlist = list_make1(reference);
	query->jointree->quals = NULL;
	foreach(lc, quals)
		query->jointree->quals = make_and_qual(query->jointree->quals, lfirst(lc));
}

/* Entries of the range table keep their numbers. */
static void
remove_functions(const Pushing *pushing)
{
	ListCell   *lc;

	foreach(lc, pushing->functions)
	{
		RangeTblEntry *rte = rt_fetch(lfirst_int(lc), pushing->query->rtable);

		rte->rtekind = RTE_RESULT;
		rte->functions = NIL;
		rte->funcordinality = false;
		rte->lateral = false;
	}
}

static bool
push_into(Query *query, Index relid)
{
	Pushing		pushing = {.query = query,.relid = relid,.rte = rt_fetch(relid, query->rtable)};
	Query	   *whole = pushing.rte->subquery;
	Members		members = {.can_take = true,.are_of_tables = true,.are_of_joins = true};
	Bitmapset  *read = NULL;
	Query	   *changed;

	if (whole->sortClause != NIL || whole->limitCount != NULL || whole->limitOffset != NULL || whole->cteList != NIL ||
		whole->rowMarks != NIL || pushing.rte->security_barrier || pushing.rte->lateral)
		return false;
	look_at_members(whole, whole->setOperations, (SetOperationStmt *) whole->setOperations, &members);
	if (!members.can_take || !members.has_others || !query_tree_find_read(query, relid, &read))
		return false;
	pushing.columns = list_length(whole->targetList);
	if (members.are_of_joins)
		take_functions(&pushing, members.are_of_tables);
	(void) query_tree_walker(query, find_walker, &pushing, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	if (pushing.functions != NIL)
		(void) query_tree_walker(query, find_columns_walker, &pushing,
								 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	if (pushing.exprs == NIL && pushing.functions == NIL)
		return false;
	add_to_whole(&pushing);
	remove_functions(&pushing);
	changed = query_tree_mutator(query, put_columns_mutator, &pushing,
								 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	*query = *changed;
	return true;
}

static bool
push_walker(Node *node, void *context)
{
	bool	   *is_changed = context;
	Query	   *query = (Query *) node;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, push_walker, context);
	for (Index i = 1; i <= (Index) list_length(query->rtable) && query->setOperations == NULL; i++)
	{
		const RangeTblEntry *rte = rt_fetch(i, query->rtable);

		if (rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations != NULL)
			*is_changed |= push_into(query, i);
	}
	return query_tree_walker(query, push_walker, context, 0);
}

Query *
member_expressions_push(Query *query)
{
	bool		is_changed = false;
	Query	   *copy;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !query_tree_has_unions_or_ctes(query))
		return NULL;
	copy = copyObject(query);
	(void) push_walker((Node *) copy, &is_changed);
	return is_changed ? copy : NULL;
}
