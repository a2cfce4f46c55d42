/*-------------------------------------------------------------------------
 *
 * made_unions.c
 *	  Set operations of what arrays, rows and documents are made of:
 *
 *		SELECT ARRAY[a, b] FROM t UNION SELECT ARRAY[c, d] FROM u
 *
 *	  is
 *
 *		SELECT ARRAY[x, y] FROM (SELECT a, b FROM t UNION SELECT c, d FROM u) w (x, y)
 *
 * Where each member makes the column alike, of parts of the same types, its values are equal where the parts are.
 * ORDER BY and LIMIT are of the query around.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/made_unions.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/made_values.h"
#include "query/planning/query_tree.h"

/* A column of the set operation. */
typedef struct Column
{
	List	   *exprs;			/* what the first member has for it: the column, or what that is made of */
	Node	   *made;			/* of Vars of relation 1 with their places in these; NULL: it is not made */
	AttrNumber	first;			/* the new column that is the first of them */
} Column;

typedef struct Skeleton
{
	List	   *parts;
	AttrNumber	before;			/* the number of the first part, less 1 */
} Skeleton;

/* What is made of parts, with columns in their places. */
static Node *
skeleton_mutator(Node *node, void *context)
{
	const Skeleton *skeleton = context;
	int			place;

	if (node == NULL)
		return NULL;
	place = pipeline_find_expr(skeleton->parts, node);
	if (place >= 0)
		return (Node *) makeVar(1, skeleton->before + place + 1, exprType(node), exprTypmod(node), exprCollation(node),
								0);
	return expression_tree_mutator(node, skeleton_mutator, context);
}

/* The queries that the operation is of, the first one first. */
static List *
members_of(const Query *query, Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
		return list_make1(rt_fetch(((const RangeTblRef *) node)->rtindex, query->rtable));
	return list_concat(members_of(query, operation->larg), members_of(query, operation->rarg));
}

static bool
is_union_all(const Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;

	return IsA(node, RangeTblRef) || (operation->op == SETOP_UNION && operation->all && is_union_all(operation->larg) &&
									  is_union_all(operation->rarg));
}

bool
made_unions_may_be(const Query *query, bool is_read)
{
	const RangeTblEntry *first;
	ListCell   *lc;

	if (query->setOperations == NULL || (!is_read && is_union_all(query->setOperations)))
		return false;
	first = linitial(members_of(query, query->setOperations));
	foreach(lc, first->subquery->targetList)
	{
		if (made_value_may_be((Node *) lfirst_node(TargetEntry, lc)->expr))
			return true;
	}
	return false;
}

static bool
is_compared(const Query *member, const TargetEntry *target)
{
	return target->ressortgroupref != 0 &&
		get_sortgroupref_clause_noerr(target->ressortgroupref, query_tree_clauses(member)) != NULL;
}

/* The parts of which the member makes the column; NIL: it has it in another way. */
static List *
parts_of(const RangeTblEntry *member, int number)
{
	const Query *query = member->subquery;
	const TargetEntry *target = list_nth_node(TargetEntry, query->targetList, number);
	Node	   *value = (Node *) target->expr;
	MadeValue	made;

	if (query->setOperations != NULL || query->groupingSets != NIL || query->hasTargetSRFs || query->rowMarks != NIL ||
		(query->distinctClause != NIL && !query->hasDistinctOn) || !made_value_may_be(value) ||
		!made_value_take_apart(value, &made) || is_compared(query, target) ||
		!query_tree_has_keys(query, made.parts) || contain_volatile_functions(value) || checkExprHasSubLink(value))
		return NIL;
	return made.parts;
}

/* Whether all members make the column alike. */
static bool
is_made(const List *members, int number, Column *column)
{
	Skeleton	skeleton = {.before = column->first - 1};
	ListCell   *lc;

	foreach(lc, members)
	{
		const RangeTblEntry *member = lfirst_node(RangeTblEntry, lc);
		Node	   *made;

		skeleton.parts = parts_of(member, number);
		if (skeleton.parts == NIL)
			return false;
		made = skeleton_mutator((Node *) list_nth_node(TargetEntry, member->subquery->targetList, number)->expr,
								&skeleton);
		if (column->made == NULL)
		{
			column->made = made;
			column->exprs = skeleton.parts;
		}
		else if (!equal(column->made, made))
			return false;
	}
	return true;
}

/* The operation's columns, as they will be; false: none is made. */
static bool
find_columns(const Query *query, const List *members, Column *columns, int count)
{
	AttrNumber	next = 1;
	bool		is_any = false;

	for (int i = 0; i < count; i++)
	{
		columns[i] = (Column) {.first = next};
		if (is_made(members, i, &columns[i]))
			is_any = true;
		else
		{
			columns[i].made = NULL;
			columns[i].exprs = list_make1(list_nth_node(TargetEntry, query->targetList, i)->expr);
		}
		next += list_length(columns[i].exprs);
	}
	return is_any;
}

static char *
column_name(AttrNumber number)
{
	return psprintf("column%d", number);
}

static void
replace_in_member(RangeTblEntry *rte, const Column *columns, int count)
{
	Query	   *member = rte->subquery;
	List	   *targets = NIL;
	ListCell   *lc;

	rte->eref->colnames = NIL;
	for (int i = 0; i < count; i++)
	{
		TargetEntry *target = list_nth_node(TargetEntry, member->targetList, i);
		List	   *parts = columns[i].made == NULL ? list_make1(target) : parts_of(rte, i);

		foreach(lc, parts)
		{
			AttrNumber	number = (AttrNumber) (list_length(targets) + 1);

			if (columns[i].made != NULL)
				target = makeTargetEntry(copyObject(lfirst(lc)), number, column_name(number), false);
			targets = lappend(targets, target);
			rte->eref->colnames = lappend(rte->eref->colnames, makeString(column_name(number)));
		}
	}
	member->targetList = list_concat(targets, list_copy_tail(member->targetList, count));
	foreach(lc, member->targetList)
		lfirst_node(TargetEntry, lc)->resno = foreach_current_index(lc) + 1;
}

static SortGroupClause *
clause_of_type(Oid type)
{
	SortGroupClause *clause = makeNode(SortGroupClause);

	get_sort_group_operators(type, false, true, false, &clause->sortop, &clause->eqop, NULL, &clause->hashable);
	return clause;
}

/* The column lists of the operation and those within it. */
static void
replace_in_operation(Node *node, const Column *columns, int count)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;
	SetOperationStmt given;
	ListCell   *lc;

	if (IsA(node, RangeTblRef))
		return;
	given = *operation;
	operation->colTypes = operation->colTypmods = operation->colCollations = operation->groupClauses = NIL;
	for (int i = 0; i < count; i++)
	{
		foreach(lc, columns[i].exprs)
		{
			bool		is_made = columns[i].made != NULL;
			Oid			type = is_made ? exprType(lfirst(lc)) : list_nth_oid(given.colTypes, i);

			operation->colTypes = lappend_oid(operation->colTypes, type);
			operation->colTypmods = lappend_int(operation->colTypmods, is_made ? exprTypmod(lfirst(lc))
												: list_nth_int(given.colTypmods, i));
			operation->colCollations = lappend_oid(operation->colCollations, is_made ? exprCollation(lfirst(lc))
												   : list_nth_oid(given.colCollations, i));
			if (given.groupClauses != NIL)
				operation->groupClauses = lappend(operation->groupClauses, is_made ? clause_of_type(type)
												  : list_nth(given.groupClauses, i));
		}
	}
	replace_in_operation(operation->larg, columns, count);
	replace_in_operation(operation->rarg, columns, count);
}

/* The target list of the operation, whose columns are those of the first member. */
static List *
targets_of_columns(const Query *query, const Column *columns, int count)
{
	const SetOperationStmt *operation = castNode(SetOperationStmt, query->setOperations);
	const Node *first = query->setOperations;
	List	   *targets = NIL;

	while (IsA(first, SetOperationStmt))
		first = ((const SetOperationStmt *) first)->larg;
	for (int i = 0; i < list_length(operation->colTypes); i++)
		targets = lappend(targets, makeTargetEntry((Expr *) makeVar(((const RangeTblRef *) first)->rtindex, i + 1,
																	list_nth_oid(operation->colTypes, i),
																	list_nth_int(operation->colTypmods, i),
																	list_nth_oid(operation->colCollations, i), 0),
												   i + 1, column_name(i + 1), false));
	return targets;
}

/* SELECT the query's targets FROM the operation, in its order. */
static Query *
select_from(Query *whole, const Query *given, const Column *columns)
{
	List	   *names = NIL;
	List	   *targets = NIL;
	Query	   *query;
	ListCell   *lc;

	foreach(lc, whole->targetList)
		names = lappend(names, makeString(lfirst_node(TargetEntry, lc)->resname));
	query = query_tree_select_all(query_tree_make_subquery(whole, "whole", names), whole, NULL);
	foreach(lc, given->targetList)
	{
		const Column *column = &columns[foreach_current_index(lc)];
		TargetEntry *target = flatCopyTargetEntry(lfirst_node(TargetEntry, lc));

		target->expr = column->made != NULL ? (Expr *) column->made
			: (Expr *) makeVarFromTargetEntry(1, list_nth_node(TargetEntry, whole->targetList, column->first - 1));
		targets = lappend(targets, target);
	}
	query->targetList = targets;
	query->queryId = given->queryId;
	query->stmt_location = given->stmt_location;
	query->stmt_len = given->stmt_len;
	query->sortClause = given->sortClause;
	query->limitCount = given->limitCount;
	query->limitOffset = given->limitOffset;
	query->limitOption = given->limitOption;
	return query;
}

void
made_unions_make_above(Query *query)
{
	const Query given = *query;
	List	   *members = members_of(query, query->setOperations);
	int			count = list_length(query->targetList);
	Column	   *columns = palloc(sizeof(Column) * Max(count, 1));
	Query	   *whole = makeNode(Query);
	ListCell   *lc;

	/* CTEs, which these may read, are the operation's */
	if (checkExprHasSubLink(query->limitCount) || checkExprHasSubLink(query->limitOffset) || query->rowMarks != NIL ||
		!find_columns(query, members, columns, count))
		return;
	*whole = given;
	foreach(lc, members)
		replace_in_member(lfirst_node(RangeTblEntry, lc), columns, count);
	replace_in_operation(whole->setOperations, columns, count);
	whole->targetList = targets_of_columns(whole, columns, count);
	whole->sortClause = NIL;
	whole->limitCount = whole->limitOffset = NULL;
	whole->limitOption = LIMIT_OPTION_COUNT;
	IncrementVarSublevelsUp((Node *) whole, 1, 1);
	*query = *select_from(whole, &given, columns);
}
