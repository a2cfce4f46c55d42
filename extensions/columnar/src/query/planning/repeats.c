/*-------------------------------------------------------------------------
 *
 * repeats.c
 *	  Whether a query's rows are a function of its input.
 *
 * They are not, if they depend on the order in which rows are read or on when
 * they are: LIMIT and DISTINCT ON choose among ties, some window functions number
 * them; sums of floating-point numbers and most aggregates of other types
 * depend on the order; of equal values that are written differently, as 1.0
 * and 1.00, the first one becomes the group's; volatile functions and samples
 * differ by themselves.  What is not known is taken for one of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "cache/value_image.h"
#include "query/planning/planning.h"
#include "query/planning/repeats.h"

/* Whether equal values are the same bytes. */
static bool
has_one_form(Oid type, int32 typmod, Oid collation)
{
	const ValueImage *image;

	switch (type)
	{
		case BOOLOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case PG_LSNOID:
		case XID8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
		case BYTEAOID:
		case TIMEOID:
		case TIMETZOID:
		case MONEYOID:
		case INETOID:
		case CIDROID:
		case MACADDROID:
		case MACADDR8OID:
		case BITOID:
		case VARBITOID:
		case INT4RANGEOID:
		case INT8RANGEOID:
		case DATERANGEOID:
		case TSRANGEOID:
		case TSTZRANGEOID:
		case INT4MULTIRANGEOID:
		case INT8MULTIRANGEOID:
		case DATEMULTIRANGEOID:
		case TSMULTIRANGEOID:
		case TSTZMULTIRANGEOID:
			return true;
		case NUMERICOID:
			return typmod >= 0;
		case BPCHAROID:
			return typmod >= 0 && get_collation_isdeterministic(collation);
		case TEXTOID:
		case VARCHAROID:
		case NAMEOID:
			return OidIsValid(collation) && get_collation_isdeterministic(collation);
		default:
			image = value_image_of(type);
			if (image != NULL && image->composed != NULL)
				return !value_image_has_forms(image) && image->equality == VALUE_EQUAL_IMAGES &&
					(!OidIsValid(collation) || get_collation_isdeterministic(collation));
			return type >= FirstGenbkiObjectId && get_typtype(type) == TYPTYPE_ENUM;
	}
}

bool
repeats_has_one_form(Node *expr)
{
	return has_one_form(exprType(expr), exprTypmod(expr), exprCollation(expr));
}

/*
 * A sum of floats depends on the order, and min() and max() return whichever of
 * the equal values comes first, so their type must have one form for each value.
 */
static bool
values_repeat(Oid aggregate, Oid result_type, Node *argument)
{
	if (aggregate >= FirstUnpinnedObjectId)
		return false;
	switch (aggregate)
	{
		case F_MIN_NUMERIC:
		case F_MAX_NUMERIC:
		case F_MIN_TEXT:
		case F_MAX_TEXT:
		case F_MIN_BPCHAR:
		case F_MAX_BPCHAR:
		case F_MIN_ANYARRAY:
		case F_MAX_ANYARRAY:
			return repeats_has_one_form(argument);
		default:
			break;
	}
	switch (result_type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case BOOLOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case TIMETZOID:
		case OIDOID:
		case PG_LSNOID:
		case XID8OID:
		case MONEYOID:
		case INETOID:
			return true;
		default:
			return false;
	}
}

bool
aggregate_repeats(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL &&
		values_repeat(aggref->aggfnoid, aggref->aggtype,
					  aggref->args == NIL ? NULL : (Node *) linitial_node(TargetEntry, aggref->args)->expr);
}

bool
window_function_repeats(const WindowFunc *function, const WindowClause *window)
{
	const int	whole = FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_UNBOUNDED_FOLLOWING;

	switch (function->winfnoid)
	{
		case F_RANK_:
		case F_DENSE_RANK_:
		case F_PERCENT_RANK_:
		case F_CUME_DIST_:
			return true;
		default:
			return function->winagg &&
				values_repeat(function->winfnoid, function->wintype,
							  function->args == NIL ? NULL : linitial(function->args)) &&
				((window->frameOptions & FRAMEOPTION_ROWS) == 0 || (window->frameOptions & whole) == whole);
	}
}

static bool
windows_repeat(const Query *query)
{
	WindowFuncLists *functions = find_window_functions((Node *) query->targetList, list_length(query->windowClause));
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, query->windowClause)
	{
		const WindowClause *window = lfirst_node(WindowClause, lc);

		foreach(lc2, functions->windowFuncs[window->winref])
		{
			if (!window_function_repeats(lfirst_node(WindowFunc, lc2), window))
				return false;
		}
	}
	return true;
}

/* Whether each group's values are the same bytes. */
static bool
keys_have_one_form(const Query *query, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!repeats_has_one_form(get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), query->targetList)))
			return false;
	}
	return true;
}

static bool
set_operation_has_one_form(Node *node)
{
	const SetOperationStmt *operation = (const SetOperationStmt *) node;
	ListCell   *lc;

	if (node == NULL || !IsA(node, SetOperationStmt))
		return true;
	foreach(lc, operation->all ? NIL : operation->colTypes)
	{
		int			place = foreach_current_index(lc);

		if (!has_one_form(lfirst_oid(lc), list_nth_int(operation->colTypmods, place),
						  list_nth_oid(operation->colCollations, place)))
			return false;
	}
	return set_operation_has_one_form(operation->larg) && set_operation_has_one_form(operation->rarg);
}

static bool
clauses_repeat(const Query *query)
{
	return query->commandType == CMD_SELECT && query->limitCount == NULL && query->limitOffset == NULL &&
		!query->hasDistinctOn && !query->hasTargetSRFs && query->rowMarks == NIL &&
		(!query->hasWindowFuncs || windows_repeat(query)) &&
		keys_have_one_form(query, query->groupClause) && keys_have_one_form(query, query->distinctClause) &&
		set_operation_has_one_form(query->setOperations);
}

static bool
differs_walker(Node *node, void *context)
{
	PlannerGlobal *glob = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && !aggregate_repeats((Aggref *) node))
		return true;
	if (IsA(node, SubPlan) &&
		(glob == NULL ||
		 !repeats_exactly(planning_level_of(glob, (SubPlan *) node)->parse, glob)))
		return true;
	if (IsA(node, TableSampleClause))
		return true;
	if (IsA(node, Query))
		return !clauses_repeat((Query *) node) ||
			query_tree_walker((Query *) node, differs_walker, context, 0);
	return expression_tree_walker(node, differs_walker, context);
}

static bool
volatile_walker(Node *node, void *context)
{
	PlannerGlobal *glob = context;

	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
	{
		Planning   *planning = planning_current();
		int			plan_id = ((SubPlan *) node)->plan_id;

		/* A subquery is asked for by each level around it, which can be many. */
		if (!bms_is_member(plan_id, planning->subplans_without_volatile))
		{
			PlannerInfo *subroot = planning_level_of(glob, (SubPlan *) node);
			MemoryContext old;

			if (contains_volatile((Node *) subroot->parse, glob) ||
				contains_volatile((Node *) subroot->init_plans, glob))
				return true;
			/* The genetic search's memory ends earlier. */
			old = MemoryContextSwitchTo(subroot->planner_cxt);
			planning->subplans_without_volatile = bms_add_member(planning->subplans_without_volatile, plan_id);
			MemoryContextSwitchTo(old);
		}
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, volatile_walker, context, 0);
	return expression_tree_walker(node, volatile_walker, context);
}

bool
contains_volatile(Node *node, PlannerGlobal *glob)
{
	return contain_volatile_functions(node) || volatile_walker(node, glob);
}

bool
repeats_exactly(Query *query, PlannerGlobal *glob)
{
	return !contains_volatile((Node *) query, glob) && !differs_walker((Node *) query, glob);
}
