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
 * A key may be a column of a subquery in FROM or of a CTE that makes it (made_columns.c), and a whole row, which is
 * made of its columns.
 *
 * In grouping sets the parts stand in the place of the key.  Where a set lacks it, it is NULL and not made of NULLs: it
 * is CASE WHEN GROUPING(part) = 0 THEN ARRAY[a, b] END.  A part must be no other key, nor stand elsewhere: in sets that
 * have the array, it would not be NULL there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_agg.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteManip.h"
#include "utils/typcache.h"

#include "query/paths/made_columns.h"
#include "query/paths/made_keys.h"
#include "query/paths/made_unions.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/made_values.h"
#include "query/planning/query_tree.h"

/* A column of a functional dependence may be a part, and is no key. */
static bool
has_other_sets(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL && query->groupingSets != NIL &&
		query->rowMarks == NIL && query->constraintDeps == NIL && !compat_has_group_entry(query);
}

/* Whether keys may be other expressions of the level than those that the query has. */
static bool
can_have_parts(const Query *query)
{
	return made_columns_can_be_parts(query) || has_other_sets(query);
}

/* ---------------------------------------------------------------- clauses */

/* What a clause compares. */
typedef struct Key
{
	Node	   *value;
	List	   *parts;
	const Node *marker;			/* the part that is NULL where the value is; NULL: that is never so */
	bool		is_descending;	/* where it orders */
} Key;

/* Whether the clause's value is made, and compares by default. */
static bool
can_take_apart(const QueryLevel *level, const SortGroupClause *clause, const List *targets, bool orders, Key *key)
{
	Node	   *expr = get_sortgroupclause_expr((SortGroupClause *) clause, (List *) targets);
	const TypeCacheEntry *type;
	MadeValue	made;

	if (!made_columns_take_apart(level, expr, &made, &key->marker) || made.parts == NIL ||
		(orders && !made.is_ordered) || expression_returns_set(expr) || checkExprHasSubLink(expr) ||
		contain_volatile_functions(expr))
		return false;
	type = lookup_type_cache(exprType(expr), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	key->value = expr;
	key->parts = made.parts;
	key->is_descending = made.is_ordered && OidIsValid(clause->sortop) && clause->sortop == type->gt_opr;
	return clause->eqop == type->eq_opr && (!orders || key->is_descending || clause->sortop == type->lt_opr);
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
clauses_of_parts(const QueryLevel *level, List *clauses, bool orders, List **targets)
{
	List	   *result = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Key			key;

		if (!can_take_apart(level, clause, *targets, orders, &key))
		{
			if (get_sortgroupref_clause_noerr(clause->tleSortGroupRef, result) == NULL)
				result = lappend(result, clause);
			continue;
		}
		foreach(lc2, key.parts)
		{
			SortGroupClause *of_part = clause_of_part(lfirst(lc2), targets, key.is_descending);

			if (lfirst(lc2) == key.marker)
				of_part->nulls_first = clause->nulls_first;
			if (get_sortgroupref_clause_noerr(of_part->tleSortGroupRef, result) == NULL)
				result = lappend(result, of_part);
		}
	}
	return result;
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
makes_any(const QueryLevel *level, List *clauses, bool orders)
{
	Key			key;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (can_take_apart(level, lfirst_node(SortGroupClause, lc), level->query->targetList, orders, &key))
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
replace_clauses(const QueryLevel *level)
{
	Query	   *query = level->query;
	List	  **targets = &query->targetList;
	ListCell   *lc;

	if (is_distinct_alone(query) && makes_any(level, query->distinctClause, false) &&
		!contain_volatile_functions((Node *) query->targetList) && !checkExprHasSubLink((Node *) query->targetList))
	{
		query->groupClause = query->distinctClause;
		query->distinctClause = NIL;
	}
	query->groupClause = clauses_of_parts(level, query->groupClause, false, targets);
	if (query->hasDistinctOn)
		query->distinctClause = clauses_of_parts(level, query->distinctClause, true, targets);
	/* DISTINCT and ORDER BY have the same keys as far as both go: the planner compares as many of the sort's. */
	if (query->distinctClause == NIL || query->hasDistinctOn)
		query->sortClause = clauses_of_parts(level, query->sortClause, true, targets);
	foreach(lc, query->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, lc);

		window->partitionClause = clauses_of_parts(level, window->partitionClause, false, targets);
		window->orderClause = clauses_of_parts(level, window->orderClause, true, targets);
	}
	*targets = read_targets(*targets, query_tree_clauses(query));
}

/* ---------------------------------------------------------------- grouping sets */

/* Whether a part stands anywhere but in the value and in what aggregates read. */
static bool
stands_elsewhere_walker(Node *node, void *context)
{
	const Key  *key = context;

	if (node == NULL || equal(node, key->value) || IsA(node, GroupingFunc))
		return false;
	if (IsA(node, Aggref))
		return stands_elsewhere_walker((Node *) ((Aggref *) node)->aggdirectargs, context);
	return list_member(key->parts, node) || expression_tree_walker(node, stands_elsewhere_walker, context);
}

/* The part's number in the place of the key's in what lists keys. */
static List *
with_numbers_of_parts(List *numbers, Index key, List *parts)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, numbers)
	{
		if (lfirst_int(lc) == (int) key)
			result = list_concat(result, list_copy(parts));
		else
			result = lappend_int(result, lfirst_int(lc));
	}
	return result;
}

static void
replace_in_sets(List *sets, Index key, List *parts)
{
	ListCell   *lc;

	foreach(lc, sets)
	{
		GroupingSet *set = lfirst_node(GroupingSet, lc);

		if (set->kind == GROUPING_SET_SIMPLE)
			set->content = with_numbers_of_parts(set->content, key, parts);
		else if (set->kind != GROUPING_SET_EMPTY)
			replace_in_sets(set->content, key, parts);
	}
}

/* A key of grouping sets that is being replaced. */
typedef struct SetKey
{
	Node	   *value;
	Index		number;
	List	   *parts;			/* their numbers */
	Node	   *first;			/* of them */
	bool		is_in_all;		/* of the sets */
} SetKey;

static bool
is_in_all(const Query *query, Index number)
{
	List	   *sets = expand_grouping_sets(copyObject(query->groupingSets), query->groupDistinct, -1);
	ListCell   *lc;

	foreach(lc, sets)
	{
		if (!list_member_int(lfirst(lc), (int) number))
			return false;
	}
	return sets != NIL;
}

/* GROUPING(first) = 0 */
static Node *
is_grouped(const SetKey *key)
{
	GroupingFunc *grouping = makeNode(GroupingFunc);
	OpExpr	   *test;

	grouping->args = list_make1(copyObject(key->first));
	grouping->refs = list_make1_int(linitial_int(key->parts));
	grouping->location = -1;
	test = (OpExpr *) make_opclause(Int4EqualOperator, BOOLOID, false, (Expr *) grouping,
									(Expr *) pipeline_constant(INT4OID, -1, InvalidOid, Int32GetDatum(0), false),
									InvalidOid, InvalidOid);
	set_opfuncid(test);
	return (Node *) test;
}

/* GROUPING() of the key is that of one of its parts, which are in the same sets. */
static Node *
grouping_of_parts(const GroupingFunc *given, const SetKey *key)
{
	GroupingFunc *grouping = copyObject((GroupingFunc *) given);
	ListCell   *lc;
	ListCell   *lc2;

	if (given->agglevelsup > 0)
		return (Node *) grouping;
	forboth(lc, grouping->args, lc2, grouping->refs)
	{
		if (lfirst_int(lc2) != (int) key->number)
			continue;
		lfirst(lc) = copyObject(key->first);
		lfirst_int(lc2) = linitial_int(key->parts);
	}
	return (Node *) grouping;
}

static Node *
set_key_mutator(Node *node, void *context)
{
	const SetKey *key = context;

	if (node == NULL)
		return NULL;
	if (equal(node, key->value))
		return key->is_in_all ? copyObject(node)
			: pipeline_case(exprType(node), exprCollation(node),
							list_make1(pipeline_when(is_grouped(key), copyObject(node))),
							makeNullConst(exprType(node), exprTypmod(node), exprCollation(node)));
	if (IsA(node, GroupingFunc))
		return grouping_of_parts((const GroupingFunc *) node, key);
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = copyObject((Aggref *) node);

		aggref->aggdirectargs = (List *) set_key_mutator((Node *) aggref->aggdirectargs, context);
		return (Node *) aggref;
	}
	return expression_tree_mutator(node, set_key_mutator, context);
}

static void
replace_set_key(Query *query, const SortGroupClause *clause, const Key *of_clause)
{
	SetKey		key = {.value = of_clause->value,.number = clause->tleSortGroupRef,.first = linitial(of_clause->parts)};
	List	   *clauses = NIL;
	ListCell   *lc;

	key.is_in_all = is_in_all(query, key.number);
	foreach(lc, of_clause->parts)
	{
		SortGroupClause *of_part = clause_of_part(lfirst(lc), &query->targetList, false);

		clauses = lappend(clauses, of_part);
		key.parts = lappend_int(key.parts, of_part->tleSortGroupRef);
	}
	query->groupClause = list_concat(list_delete_ptr(query->groupClause, (void *) clause), clauses);
	replace_in_sets(query->groupingSets, key.number, key.parts);
	query->targetList = (List *) set_key_mutator((Node *) query->targetList, &key);
	query->havingQual = set_key_mutator(query->havingQual, &key);
	query->hasAggs = true;
}

/* Whether PostgreSQL takes the value apart, and so reads what is in it where the sets make it NULL. */
static bool
is_simplified_walker(Node *node, void *value)
{
	if (node == NULL)
		return false;
	if ((IsA(node, NullTest) && equal(((NullTest *) node)->arg, value)) ||
		(IsA(node, FieldSelect) && equal(((FieldSelect *) node)->arg, value)))
		return true;
	return expression_tree_walker(node, is_simplified_walker, value);
}

static bool
stands_anywhere(const Query *query, bool (*walker) (Node *node, void *context), void *context)
{
	return walker((Node *) query->targetList, context) || walker(query->havingQual, context);
}

static bool
reads_value_walker(Node *node, void *value)
{
	return node != NULL && (equal(node, value) || expression_tree_walker(node, reads_value_walker, value));
}

/* Whether another key reads the value: keys are computed below the groups, where nothing tells which set it is. */
static bool
is_in_other_key(const Query *query, Index number, Node *value)
{
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		Index		other = lfirst_node(SortGroupClause, lc)->tleSortGroupRef;

		if (other != number &&
			reads_value_walker((Node *) get_sortgroupref_tle(other, query->targetList)->expr, value))
			return true;
	}
	return false;
}

static void
replace_set_keys(const QueryLevel *level)
{
	Query	   *query = level->query;
	List	   *numbers = NIL;
	ListCell   *lc;

	foreach(lc, query->groupClause)
		numbers = lappend_int(numbers, lfirst_node(SortGroupClause, lc)->tleSortGroupRef);
	foreach(lc, numbers)
	{
		Index		number = lfirst_int(lc);
		Node	   *value = (Node *) get_sortgroupref_tle(number, query->targetList)->expr;
		const SortGroupClause *clause;
		Key			key;

		if (stands_anywhere(query, is_simplified_walker, value))
			continue;
		made_columns_take(level, value);
		clause = get_sortgroupref_clause(number, query->groupClause);
		if (can_take_apart(level, clause, query->targetList, false, &key) &&
			!is_in_other_key(query, number, key.value) &&
			!stands_anywhere(query, stands_elsewhere_walker, &key))
			replace_set_key(query, clause, &key);
	}
	query->targetList = read_targets(query->targetList, query_tree_clauses(query));
}

/* ---------------------------------------------------------------- all levels */

/* context: the level around it. */
static bool
replace_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	QueryLevel	level = {.query = query,.around = context};
	Aggref	   *aggref = (Aggref *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && aggref->aggkind == AGGKIND_NORMAL && aggref->aggdistinct == NIL)
	{
		aggref->aggorder = clauses_of_parts(context, aggref->aggorder, true, &aggref->args);
		aggref->args = read_targets(aggref->args, aggref->aggorder);
	}
	/* a recursion stays a set operation */
	if (IsA(node, CommonTableExpr) && ((CommonTableExpr *) node)->cterecursive)
	{
		level.query = castNode(Query, ((CommonTableExpr *) node)->ctequery);
		return query_tree_walker(level.query, replace_walker, &level, 0);
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, replace_walker, context);
	/* a CTE and a subquery have their parts for columns before they are asked for them */
	(void) expression_tree_walker((Node *) query->cteList, replace_walker, &level);
	(void) query_tree_walker(query, replace_walker, &level, QTW_IGNORE_CTE_SUBQUERIES);
	if (made_unions_may_be(query, context != NULL))
		made_unions_make_above(query);
	if (!can_have_parts(query))
		return false;
	if (query->groupingSets != NIL)
	{
		replace_set_keys(&level);
		return false;
	}
	compat_flatten_groups(query);
	foreach(lc, query_tree_clauses(query))
		made_columns_take(&level, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList));
	replace_clauses(&level);
	return false;
}

/* Ends where a key is made, or a subquery's; context: the level around it. */
static bool
has_any_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	QueryLevel	level = {.query = query,.around = context};
	const Aggref *aggref = (const Aggref *) node;
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
	if (made_unions_may_be(query, context != NULL))
		return true;
	foreach(lc, can_have_parts(query) ? query_tree_clauses(query) : NIL)
	{
		if (made_columns_may_be(&level, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList)))
			return true;
	}
	return query_tree_walker(query, has_any_walker, &level, 0);
}

Query *
made_keys_take_apart(Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !has_any_walker((Node *) query, NULL))
		return NULL;
	query = copyObject(query);
	(void) replace_walker((Node *) query, NULL);
	return query;
}
