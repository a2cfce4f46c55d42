/*-------------------------------------------------------------------------
 *
 * own_elements.c
 *	  Subqueries over the elements of an array or document of the row around them.
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
#include "utils/lsyscache.h"

#include "cache/cache.h"
#include "cache/list_image.h"
#include "query/planning/own_elements.h"
#include "query/planning/planning.h"
#include "query/planning/quals.h"
#include "query/planning/record_columns.h"
#include "query/planning/table_expressions.h"

typedef struct FindContext
{
	PlannerInfo *subroot;
	List	   *params;
	List	   *values;
	Index		relid;			/* of the function in FROM */
	bool		has_others;		/* what is no expression of elements and of the row around */
} FindContext;

static FuncExpr *
call_in_from(const PlannerInfo *subroot, Index relid)
{
	FuncExpr   *call = table_expressions_elements_call(subroot, relid);

	return call != NULL ? call
		: (FuncExpr *) linitial_node(RangeTblFunction, subroot->simple_rte_array[relid]->functions)->funcexpr;
}

/* The column of the function in FROM, by its call in the place of the element; NULL: there is no such. */
static Node *
element_column(const FindContext *context, AttrNumber number)
{
	if (table_expressions_elements_call(context->subroot, context->relid) != NULL)
		return table_expressions_element_column(context->subroot, context->relid, number);
	return number == 1 ? (Node *) call_in_from(context->subroot, context->relid) : NULL;
}

/* Something small of an element, as an expression of the subquery's Params; NULL: there is none. */
static Node *
any_value(const FindContext *context, FuncExpr *call)
{
	Node	   *column = (Node *) call;
	Node	   *open = NULL;
	bool		is_in_from = context->subroot->simple_rte_array[context->relid]->rtekind == RTE_FUNCTION;

	for (AttrNumber i = 1; column != NULL; i++)
	{
		column = is_in_from ? element_column(context, i) : i == 1 ? (Node *) call : NULL;
		if (column != NULL && !cache_type_is_composed(exprType(column)))
			return column;
		if (open == NULL && column != NULL && !type_is_rowtype(exprType(column)))
			open = column;
	}
	return open == NULL ? NULL : table_expressions_any_of_element(open);
}

static Node *
around_mutator(Node *node, void *argument)
{
	FindContext *context = argument;
	const Var  *var = (const Var *) node;
	Node	   *column;
	Param	   *number;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	foreach(lc, IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC ? context->params : NIL)
	{
		if (((Param *) node)->paramid == lfirst_int(lc))
			return copyObject(list_nth(context->values, foreach_current_index(lc)));
	}
	context->has_others |= IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) || IsA(node, PlaceHolderVar);
	if (!IsA(node, Var))
		return expression_tree_mutator(node, around_mutator, argument);
	if (var->varattno == context->subroot->simple_rel_array[var->varno]->max_attr &&
		context->subroot->simple_rte_array[var->varno]->funcordinality)
	{
		number = makeNode(Param);
		number->paramkind = PARAM_EXEC;
		number->paramid = OWN_ELEMENTS_NUMBER_PARAM;
		number->paramtype = INT8OID;
		number->paramtypmod = -1;
		number->location = -1;
		return (Node *) number;
	}
	column = element_column(context, var->varattno);
	if (column != NULL)
		return expression_tree_mutator(column, around_mutator, argument);
	context->has_others = true;
	return copyObject(node);
}

/* A record's columns are computed whether they are read or not. */
static bool
gives_safe_records(const RangeTblFunction *function)
{
	for (AttrNumber i = 1; i <= record_columns_count(function); i++)
	{
		if (record_columns_can_fail(function, i))
			return false;
	}
	return !record_columns_is_one_row(function);
}

static bool
find_call_walker(Node *node, void *call)
{
	if (node == NULL)
		return false;
	if (!list_image_is_set(node))
		return expression_tree_walker(node, find_call_walker, call);
	*(FuncExpr **) call = list_image_call(node);
	return true;
}

/* The only set-returning function of SELECT unnest(x), without FROM; NULL: the level is another. */
static FuncExpr *
call_in_target(const PlannerInfo *subroot, Index relid, bool has_conditions)
{
	FuncExpr   *call = NULL;

	if (subroot->simple_rte_array[relid]->rtekind != RTE_RESULT || has_conditions || subroot->parse->hasAggs ||
		list_length(subroot->processed_tlist) != 1)
		return NULL;
	(void) find_call_walker((Node *) linitial_node(TargetEntry, subroot->processed_tlist)->expr, &call);
	return call;
}

/* Whether the function's rows are elements, and none is there for a NULL. */
static bool
gives_elements(PlannerInfo *subroot, Index relid)
{
	const RangeTblEntry *rte = subroot->simple_rte_array[relid];
	const RangeTblFunction *function;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return false;
	function = linitial_node(RangeTblFunction, rte->functions);
	if (record_columns_is_call(function))
	{
		record_columns_depend(subroot, function);
		return gives_safe_records(function);
	}
	return table_expressions_elements_call(subroot, relid) != NULL ||
		(list_image_is_set(function->funcexpr) && !type_is_rowtype(exprType(function->funcexpr)));
}

/* The only relation of the level; 0: there are several.  *has_conditions: in WHERE. */
static Index
only_relation(const Node *jointree, bool *has_conditions)
{
	const FromExpr *from = (const FromExpr *) jointree;

	if (IsA(jointree, RangeTblRef))
		return ((const RangeTblRef *) jointree)->rtindex;
	if (!IsA(jointree, FromExpr) || list_length(from->fromlist) != 1)
		return 0;
	*has_conditions |= from->quals != NULL;
	return only_relation(linitial(from->fromlist), has_conditions);
}

/*
 * The conditions in PostgreSQL's order, by which one that fails is reached or not: those of the row around first, which
 * no element is needed for.
 */
static List *
ordered_conditions(PlannerInfo *subroot, Index relid)
{
	List	   *of_row = NIL;
	List	   *of_elements = NIL;
	ListCell   *lc;

	foreach(lc, quals_sort(subroot, subroot->simple_rel_array[relid]->baserestrictinfo))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			of_row = lappend(of_row, rinfo->clause);
		else
			of_elements = lappend(of_elements, rinfo->clause);
	}
	return list_concat(of_row, of_elements);
}

static bool
is_one(const Node *count)
{
	const Const *constant = (const Const *) count;

	return IsA(count, Const) && !constant->constisnull && DatumGetInt64(constant->constvalue) == 1;
}

static bool
is_simple(const PlannerInfo *subroot)
{
	const Query *query = subroot->parse;

	return query->commandType == CMD_SELECT && query->setOperations == NULL && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && !query->hasWindowFuncs &&
		query->distinctClause == NIL && query->limitOffset == NULL &&
		(query->limitCount == NULL || is_one(query->limitCount)) &&
		query->rowMarks == NIL && query->cteList == NIL && subroot->init_plans == NIL;
}

OwnElements *
own_elements_of(PlannerInfo *subroot, List *params, List *values)
{
	FindContext context = {.subroot = subroot,.params = params,.values = values};
	OwnElements *own;
	FuncExpr   *call;
	bool		has_conditions = false;
	ListCell   *lc;

	/* aggregates of the level around are none of elements */
	if (params == NIL || !is_simple(subroot) || contain_agg_clause((Node *) values))
		return NULL;
	context.relid = only_relation((Node *) subroot->parse->jointree, &has_conditions);
	if (context.relid == 0)
		return NULL;
	call = subroot->parse->hasTargetSRFs ? call_in_target(subroot, context.relid, has_conditions)
		: gives_elements(subroot, context.relid) ? call_in_from(subroot, context.relid) : NULL;
	if (call == NULL)
		return NULL;
	own = palloc0(sizeof(OwnElements));
	own->subroot = subroot;
	own->has_aggregates = subroot->parse->hasAggs;
	own->conditions = (List *) around_mutator((Node *) ordered_conditions(subroot, context.relid), &context);
	foreach(lc, subroot->processed_tlist)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			own->values = lappend(own->values, around_mutator((Node *) entry->expr, &context));
	}
	own->is_first = subroot->parse->limitCount != NULL && !own->has_aggregates;
	own->sort_clauses = own->is_first ? subroot->parse->sortClause : NIL;
	own->sort_exprs = (List *) around_mutator((Node *) get_sortgrouplist_exprs(own->sort_clauses,
																			   subroot->processed_tlist), &context);
	own->call = (FuncExpr *) around_mutator((Node *) call, &context);
	own->any_value = around_mutator(any_value(&context, call), &context);
	if (context.has_others || contain_volatile_functions((Node *) own->conditions) ||
		contain_volatile_functions((Node *) own->values) || contain_volatile_functions((Node *) own->sort_exprs) ||
		!contain_var_clause((Node *) own->call))
		return NULL;
	return own;
}

void
own_elements_keep(OwnElements *own)
{
	Planning   *planning = planning_current();

	planning->own_elements = lappend(planning->own_elements, own);
}

const OwnElements *
own_elements_find(const PlannerInfo *subroot)
{
	ListCell   *lc;

	foreach(lc, planning_current()->own_elements)
	{
		const OwnElements *own = lfirst(lc);

		if (own->subroot == subroot)
			return own;
	}
	return NULL;
}
