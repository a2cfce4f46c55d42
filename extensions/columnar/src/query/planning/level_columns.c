/*-------------------------------------------------------------------------
 *
 * level_columns.c
 *	  Which columns of its relations a query level reads.
 *
 * A query level's expressions are walked once, leaves first.  A Var whose values
 * have parts is open until the smallest expression around it that can be cached
 * closes it.  What is open at the end is read as it is: a range is a column like
 * any other then; what the engine cannot read makes the table PostgreSQL's.
 *
 * An expression whose own values have parts, as doc->'a', stays open as a whole: it is
 * a column if it is a key, as which it is compared with others, grouped by or ordered.
 * So is a column of documents or arrays.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"

#include "cache/cache.h"
#include "cache/list_image.h"
#include "query/planning/expression_columns.h"
#include "query/planning/level_columns.h"
#include "query/planning/made_values.h"
#include "query/planning/own_elements.h"
#include "query/planning/planning.h"
#include "query/planning/record_columns.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/returned_columns.h"
#include "query/planning/table_expressions.h"

/* What a level reads directly of columns whose values have parts. */
typedef struct LevelColumns
{
	const PlannerInfo *root;
	bool		returns_rows;
	List	   *open;			/* of Var * */
	int			open_inside;	/* so many: the others PostgreSQL's projection of the result reads, below no clause */
} LevelColumns;

typedef struct FindContext
{
	PlannerInfo *root;
	List	   *open;			/* of Var *, and of expressions whose values have parts */
	List	   *keys;			/* those of which the engine can compare whole values, and more is not asked for */
	bool		is_returned;	/* what is walked is of the result's rows, and of no clause */
} FindContext;

static bool
is_better_fetched(PlannerInfo *root, Index relid, Node *node)
{
	ColumnKey	key;

	return !root->simple_rte_array[relid]->inh && returned_columns_are_few(root, relid) &&
		!expression_columns_is_cached(root, relid, node, EXPRESSION_KNOWN, &key);
}

/* Of a column that can be read as it is. */
static bool
is_of_whole_column(Node *node)
{
	Node	   *arg = IsA(node, NullTest) ? (Node *) ((NullTest *) node)->arg
		: IsA(node, RelabelType) ? (Node *) ((RelabelType *) node)->arg : NULL;
	PenumbraType type;

	return arg != NULL && IsA(arg, Var) && cache_type_of(exprType(arg), &type) &&
		!cache_type_is_composed(exprType(arg));
}

static bool
compares_whole_values(Oid function)
{
	switch (function)
	{
		case F_JSONB_EQ:
		case F_JSONB_NE:
		case F_JSONB_LT:
		case F_JSONB_LE:
		case F_JSONB_GT:
		case F_JSONB_GE:
		case F_RECORD_EQ:
		case F_RECORD_NE:
		case F_RECORD_LT:
		case F_RECORD_LE:
		case F_RECORD_GT:
		case F_RECORD_GE:
		case F_ARRAY_EQ:
		case F_ARRAY_NE:
		case F_ARRAY_LT:
		case F_ARRAY_LE:
		case F_ARRAY_GT:
		case F_ARRAY_GE:
		case F_RANGE_EQ:
		case F_RANGE_NE:
		case F_RANGE_LT:
		case F_RANGE_LE:
		case F_RANGE_GT:
		case F_RANGE_GE:
		case F_MULTIRANGE_EQ:
		case F_MULTIRANGE_NE:
		case F_MULTIRANGE_LT:
		case F_MULTIRANGE_LE:
		case F_MULTIRANGE_GT:
		case F_MULTIRANGE_GE:
			return true;
		default:
			return false;
	}
}

static bool
is_numeric_range(Node *node)
{
	Oid			type = getBaseType(exprType(node));

	return type == NUMRANGEOID || type == NUMMULTIRANGEOID;
}

/*
 * A test of ranges of numbers, which the engine does on their images: one column for all constants.  A value of a
 * column is tested with the ranges of a column.
 */
static bool
tests_numeric_ranges(Node *node)
{
	const OpExpr *op = (const OpExpr *) node;
	int			ranges = 0;
	int			range_columns = 0;
	bool		has_value_column = false;
	ListCell   *lc;

	if (!IsA(node, OpExpr) || op->opresulttype != BOOLOID || op->opno >= FirstGenbkiObjectId)
		return false;
	foreach(lc, op->args)
	{
		if (is_numeric_range(lfirst(lc)))
		{
			ranges++;
			range_columns += IsA(lfirst(lc), Var) ? 1 : 0;
		}
		else if (contain_var_clause(lfirst(lc)))
			has_value_column = true;
	}
	return has_value_column ? range_columns > 0 : ranges > 0;
}

static bool
aggregates_whole_values(const Aggref *aggref)
{
	return (aggref->aggfnoid == F_COUNT_ANY && aggref->aggdistinct != NIL) ||
		aggref->aggfnoid == F_MIN_ANYARRAY || aggref->aggfnoid == F_MAX_ANYARRAY;
}

/* An argument as it is. */
static void
note_key(FindContext *context, Node *node)
{
	if (cache_type_is_composed(exprType(node)))
		context->keys = lappend(context->keys, node);
}

static void
note_keys(FindContext *context, const List *nodes)
{
	ListCell   *lc;

	foreach(lc, nodes)
		note_key(context, lfirst(lc));
}

/* Of a made value it is what that is made of. */
static void
note_argument(FindContext *context, Node *node)
{
	MadeValue	made;

	if (!made_value_may_be(node) || !made_value_take_apart(node, &made))
		note_key(context, node);
	else
		note_keys(context, made.parts);
}

/* Functions of windows that give values of rows as they are. */
static bool
passes_whole_values(const WindowFunc *function)
{
	switch (function->winfnoid)
	{
		case F_LAG_ANYELEMENT:
		case F_LAG_ANYELEMENT_INT4:
		case F_LEAD_ANYELEMENT:
		case F_LEAD_ANYELEMENT_INT4:
		case F_FIRST_VALUE:
		case F_LAST_VALUE:
		case F_NTH_VALUE:
		case F_MIN_ANYARRAY:
		case F_MAX_ANYARRAY:
			return true;
		default:
			return false;
	}
}

/* Of an expression whose value is one of several as they are. */
static void
note_choices(FindContext *context, Node *node)
{
	const CaseExpr *choice = (const CaseExpr *) node;
	ListCell   *lc;

	switch (nodeTag(node))
	{
		case T_CaseExpr:
			if (choice->arg != NULL)
				note_key(context, (Node *) choice->arg);
			foreach(lc, choice->args)
				note_key(context, (Node *) lfirst_node(CaseWhen, lc)->result);
			if (choice->defresult != NULL)
				note_key(context, (Node *) choice->defresult);
			break;
		case T_CoalesceExpr:
			note_keys(context, ((CoalesceExpr *) node)->args);
			break;
		case T_MinMaxExpr:
			note_keys(context, ((MinMaxExpr *) node)->args);
			break;
		case T_NullIfExpr:
			note_keys(context, ((NullIfExpr *) node)->args);
			break;
		case T_WindowFunc:
			if (passes_whole_values((WindowFunc *) node))
				note_keys(context, ((WindowFunc *) node)->args);
			break;
		default:
			break;
	}
}

static void
note_keys_of(FindContext *context, Node *node)
{
	ListCell   *lc;

	note_choices(context, node);
	if ((IsA(node, OpExpr) || IsA(node, DistinctExpr)) && list_length(((OpExpr *) node)->args) == 2)
	{
		set_opfuncid((OpExpr *) node);
		if (!compares_whole_values(((OpExpr *) node)->opfuncid) && !tests_numeric_ranges(node))
			return;
		note_key(context, linitial(((OpExpr *) node)->args));
		note_key(context, lsecond(((OpExpr *) node)->args));
	}
	if (IsA(node, Aggref) && aggregates_whole_values((Aggref *) node))
	{
		foreach(lc, ((Aggref *) node)->args)
			note_argument(context, (Node *) lfirst_node(TargetEntry, lc)->expr);
	}
}

/* Whether the whole column is cached for another query.  PostgreSQL computes of its values what the engine cannot. */
static bool
is_cached_whole(PlannerInfo *root, Node *node, Index relid)
{
	ColumnKey	key;

	return IsA(node, Var) && root->simple_rte_array[relid]->rtekind == RTE_RELATION &&
		!root->simple_rte_array[relid]->inh && expression_columns_is_cached(root, relid, node, EXPRESSION_KNOWN, &key);
}

/*
 * What is open and a key becomes a column, and all that is equal to it reads that.  Of other expressions the
 * Vars are left.
 */
static void
close_keys(PlannerInfo *root, FindContext *context)
{
	List	   *closed = NIL;
	List	   *left = NIL;
	Index		relid;
	ListCell   *lc;

	foreach(lc, context->open)
	{
		Node	   *node = lfirst(lc);

		if (!expression_columns_is_one(root, node) && table_expressions_may_be_column(root, node, &relid) &&
			(list_member_ptr(context->keys, node) || is_cached_whole(root, node, relid)))
			expression_columns_add(root, node);
		if (expression_columns_is_one(root, node))
			closed = lappend(closed, node);
	}
	foreach(lc, context->open)
	{
		if (!list_member(closed, lfirst(lc)))
			left = list_concat(left, pull_var_clause(lfirst(lc), 0));
	}
	context->open = left;
}

static bool find_walker(Node *node, void *argument);

/* expression_returns_set() does not look into aggregates. */
static bool
reads_set_walker(Node *node, void *context)
{
	return node != NULL && ((IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset) ||
							expression_tree_walker(node, reads_set_walker, context));
}

/* Whether an element is read otherwise than by an expression that lists can have. */
static bool
opens_element_walker(Node *node, void *root)
{
	Index		relid;

	if (node == NULL)
		return false;
	if (list_image_is_set(node) && !cache_type_is_composed(exprType(node)) &&
		table_expressions_may_be_column(root, node, &relid))
		return false;
	return (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset) ||
		expression_tree_walker(node, opens_element_walker, root);
}

/* Of a subquery over elements of the level's own arrays and documents.  False: it reads what no lists have. */
static bool
find_in_own_elements(FindContext *around, OwnElements *own, Node *test)
{
	FindContext context = {.root = around->root};
	List	   *exprs = list_concat(list_concat_copy(own->conditions, own->values), own->sort_exprs);

	/* what is read of the elements says how many there are */
	if (!reads_set_walker((Node *) exprs, NULL))
		exprs = lappend(exprs, own->any_value != NULL ? own->any_value : (Node *) own->call);
	if (opens_element_walker((Node *) exprs, around->root))
		return false;
	own->read = exprs;
	(void) find_walker((Node *) exprs, &context);
	(void) find_walker(test, &context);
	around->open = list_concat(around->open, context.open);
	around->keys = list_concat(around->keys, context.keys);
	own_elements_keep(own);
	return true;
}

static bool
find_in_subplan(FindContext *context, SubPlan *subplan)
{
	PlannerInfo *subroot = planning_level_of(context->root->glob, subplan);
	OwnElements *own;

	if (own_elements_find(subroot) != NULL)
		return true;
	own = own_elements_of(subroot, subplan->parParam, subplan->args);
	return own != NULL && find_in_own_elements(context, own, subplan->testexpr);
}

static void
find_in_lateral(FindContext *context, const RelOptInfo *rel)
{
	List	   *params = NIL;
	List	   *values = NIL;
	OwnElements *own;
	ListCell   *lc;

	foreach(lc, rel->subplan_params)
	{
		const PlannerParamItem *item = lfirst(lc);

		params = lappend_int(params, item->paramId);
		values = lappend(values, item->item);
	}
	own = own_elements_of(rel->subroot, params, values);
	if (own != NULL && (own->has_aggregates || own->is_first))
		(void) find_in_own_elements(context, own, NULL);
}

static bool
find_walker(Node *node, void *argument)
{
	FindContext *context = argument;
	int			open_before = list_length(context->open);
	Index		relid;

	if (node == NULL)
		return false;
	if (expression_columns_is_one(context->root, node))
	{
		if (!context->is_returned && cache_type_is_composed(exprType(node)))
			context->open = lappend(context->open, node);
		return false;
	}
	note_keys_of(context, node);
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (table_expressions_is_column(context->root, var) && var->varattno > 0 && cache_type_has_parts(var->vartype))
			context->open = lappend(context->open, var);
		return false;
	}
	if (IsA(node, RestrictInfo))
		return find_walker((Node *) ((RestrictInfo *) node)->clause, argument);
	/* the alternatives are one subquery */
	if (IsA(node, AlternativeSubPlan))
		return find_walker(linitial(((AlternativeSubPlan *) node)->subplans), argument);
	if (IsA(node, SubPlan) && find_in_subplan(context, (SubPlan *) node))
		return false;
	(void) expression_tree_walker(node, find_walker, argument);
	if (list_length(context->open) > open_before && !is_of_whole_column(node) && !tests_numeric_ranges(node) &&
		table_expressions_may_be_column(context->root, node, &relid) &&
		!(context->is_returned && is_better_fetched(context->root, relid, node)))
	{
		bool		stays_open = cache_type_is_composed(exprType(node));

		if (stays_open && context->is_returned)
			return false;
		context->open = list_truncate(context->open, open_before);
		if (stays_open)
			context->open = lappend(context->open, node);
		else
			expression_columns_add(context->root, node);
	}
	return false;
}

/* Whether the level reads the column of the relation, other than in expressions that are columns of lists. */
static bool
is_read(PlannerInfo *root, Index relid, AttrNumber column)
{
	const RelOptInfo *rel = root->simple_rel_array[relid];
	Bitmapset  *restricted = NULL;
	ListCell   *lc;

	if (rel == NULL)
		return false;
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, relid, &restricted);
	return !bms_is_empty(rel->attr_needed[column - rel->min_attr]) ||
		bms_is_member(column - FirstLowInvalidHeapAttributeNumber, restricted);
}

/* A column of a call in FROM, which the engine can read.  False: it cannot be cached. */
static bool
add_plain_elements(PlannerInfo *root, Index relid, AttrNumber number)
{
	const RangeTblFunction *records = table_expressions_records(root, relid);
	Node	   *expr = records != NULL ? record_columns_source(records, number)
		: table_expressions_element_column(root, relid, number);
	bool		is_source = records != NULL && !record_columns_is_source(records, number);

	if (expr == NULL || !table_expressions_can_be_cached(root, expr))
		return false;
	if (expression_columns_elements(root, relid, expr, is_source ? 0 : number) != NULL)
		return true;
	if (is_source)
		expression_columns_add_source(root, relid, expr);
	else
		expression_columns_add_elements(root, expr,
										makeVar(relation_number_of(root, relid), number, exprType(expr),
												records != NULL ? record_columns_typmod(records, number)
												: exprTypmod(expr),
												records != NULL ? record_columns_collation(records, number)
												: exprCollation(expr), 0));
	return true;
}

/* Columns that the level reads as they are; those of which a document may be an error; or any one. */
static bool
finish_records(PlannerInfo *root, Index relid)
{
	const RangeTblFunction *records = table_expressions_records(root, relid);
	int			count = record_columns_count(records);

	record_columns_depend(root, records);
	if (is_read(root, relid, InvalidAttrNumber))
		return false;
	for (AttrNumber i = 1; i <= count; i++)
	{
		Node	   *expr = record_columns_source(records, i);

		/* what has parts is open, where it is read whole */
		bool		is_needed = record_columns_can_fail(records, i) ||
			(expr != NULL && !cache_type_has_parts(exprType(expr)) && is_read(root, relid, i));

		if (is_needed && !add_plain_elements(root, relid, i))
			return false;
	}
	/* any of them says how many there are */
	for (AttrNumber i = 1; i <= count && expression_columns_of_elements(root, relid) == NIL; i++)
		(void) add_plain_elements(root, relid, i);
	return expression_columns_of_elements(root, relid) != NIL;
}

/* Whether lists of what the level reads of the elements say how many there are. */
static bool
finish_elements(PlannerInfo *root, Index relid, List *open)
{
	FuncExpr   *call = table_expressions_elements_call(root, relid);
	Node	   *first = list_image_column(call, 1);
	Node	   *any;
	Index		of;
	ListCell   *lc;

	foreach(lc, open)
	{
		const Var  *var = lfirst_node(Var, lc);

		if (var->varno == (int) relid && !add_plain_elements(root, relid, var->varattno))
			return false;
	}
	if (table_expressions_records(root, relid) != NULL)
		return finish_records(root, relid);
	for (AttrNumber i = 1; list_image_column(call, i) != NULL; i++)
	{
		if (!cache_type_has_parts(exprType(list_image_column(call, i))) && is_read(root, relid, i) &&
			!add_plain_elements(root, relid, i))
			return false;
	}
	if (expression_columns_of_elements(root, relid) != NIL)
		return true;
	if (!cache_type_has_parts(exprType(first)))
		return add_plain_elements(root, relid, 1);
	any = table_expressions_any_of_element((Node *) makeVar(relid, 1, exprType(first), -1, exprCollation(first), 0));
	if (!table_expressions_may_be_column(root, any, &of))
		return false;
	expression_columns_add(root, any);
	return true;
}

/*
 * Keys are what other clauses speak of, and what windows compute.  PostgreSQL's projection of the query's rows computes
 * the others; below other levels it may return plain columns.
 */
static bool
is_returned(const PlannerInfo *root, const TargetEntry *entry, bool returns_rows)
{
	return entry->ressortgroupref == 0 && !contain_window_function((Node *) entry->expr) &&
		(!returns_rows || root->parent_root == NULL || IsA(entry->expr, Var));
}

/* Whether UNION and the like compare the level's rows. */
static bool
is_compared(const PlannerInfo *root)
{
	return root->parent_root != NULL && root->parent_root->parse->setOperations != NULL;
}

static void
find_in_target(PlannerInfo *root, FindContext *context, bool returned, bool returns_rows)
{
	ListCell   *lc;

	foreach(lc, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if ((is_returned(root, entry, returns_rows) && !is_compared(root)) != returned)
			continue;
		if (entry->ressortgroupref != 0 || is_compared(root))
			note_key(context, (Node *) entry->expr);
		(void) find_walker((Node *) entry->expr, context);
	}
}

/* What is a column of the whole UNION ALL is found there. */
static void
find_in_member(PlannerInfo *root, const AppendRelInfo *appinfo, FindContext *context)
{
	ListCell   *lc;

	foreach(lc, appinfo->translated_vars)
	{
		Node	   *expr = lfirst(lc);
		Var		   *whole = expr == NULL ? NULL
			: makeVar(appinfo->parent_relid, foreach_current_index(lc) + 1, exprType(expr), exprTypmod(expr),
					  exprCollation(expr), 0);

		if (whole != NULL && !table_expressions_is_column(root, whole) &&
			is_read(root, appinfo->parent_relid, whole->varattno))
			(void) find_walker(expr, context);
	}
}

/* Columns of children are those of their parents. */
static const LevelColumns *
examine_level(PlannerInfo *root)
{
	Planning   *planning = planning_current();
	MemoryContext old;
	LevelColumns *level;
	FindContext context = {.root = root};
	FindContext returned = {.root = root,.is_returned = returned_columns_are_rows(root)};
	ListCell   *lc;

	foreach(lc, planning->expression_levels)
	{
		level = lfirst(lc);
		if (level->root == root)
			return level;
	}
	/* The genetic search for joins frees what it made for each order. */
	old = MemoryContextSwitchTo(root->planner_cxt);
	level = palloc0(sizeof(LevelColumns));
	level->root = root;
	planning->expression_levels = lappend(planning->expression_levels, level);
	find_in_target(root, &context, false, returned.is_returned);
	(void) find_walker((Node *) root->parse->jointree, &context);
	(void) find_walker(root->parse->havingQual, &context);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (root->simple_rte_array[i] != NULL && root->simple_rte_array[i]->rtekind == RTE_FUNCTION &&
			table_expressions_elements_call(root, i) == NULL)
			(void) find_walker((Node *) root->simple_rte_array[i]->functions, &context);

		/* conditions of row-level security, too, and of equivalences */
		if (rel != NULL && rel->reloptkind == RELOPT_BASEREL)
		{
			(void) find_walker((Node *) rel->baserestrictinfo, &context);
			(void) find_walker((Node *) rel->joininfo, &context);
			if (rel->subplan_params != NIL)
				find_in_lateral(&context, rel);
		}
	}
	foreach(lc, root->placeholder_list)
		(void) find_walker((Node *) lfirst_node(PlaceHolderInfo, lc)->ph_var->phexpr, &context);
	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		/* of UNION ALL; tables' are plain columns */
		if (!OidIsValid(appinfo->parent_reloid))
			find_in_member(root, appinfo, &context);
	}
	find_in_target(root, &returned, true, returned.is_returned);
	if (!returned.is_returned)
	{
		context.open = list_concat(context.open, returned.open);
		context.keys = list_concat(context.keys, returned.keys);
		returned.open = NIL;
	}
	close_keys(root, &context);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (table_expressions_elements_call(root, i) == NULL ||
			finish_elements(root, i, list_concat_copy(context.open, returned.open)))
			continue;
		(void) find_walker((Node *) root->simple_rte_array[i]->functions, &context);
		close_keys(root, &context);
	}
	level->open = list_concat_copy(context.open, returned.open);
	level->returns_rows = returned.is_returned;
	level->open_inside = list_length(level->returns_rows ? context.open : level->open);
	MemoryContextSwitchTo(old);
	return level;
}

/* Whether the column of the relation is, or with 0 one of them. */
static bool
is_open(const LevelColumns *level, Index relid, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, level->open)
	{
		const Var  *open = lfirst_node(Var, lc);

		if (open->varno == (int) relid && (attno == 0 || open->varattno == attno))
			return true;
	}
	return false;
}

/* Whether the column, whose values have parts, is read by expressions alone that are columns. */
static bool
is_hidden(PlannerInfo *root, const Var *var)
{
	const LevelColumns *level;
	const AppendRelInfo *appinfo;
	Index		relid = var->varno;

	if (!table_expressions_is_column(root, var) || var->varattno <= 0 || !cache_type_has_parts(var->vartype))
		return false;
	level = examine_level(root);
	if (is_open(level, relid, var->varattno))
		return false;
	/* a child's columns may have other numbers: whatever is open of a parent is taken for it */
	while ((appinfo = root->append_rel_array == NULL ? NULL : root->append_rel_array[relid]) != NULL)
	{
		relid = appinfo->parent_relid;
		if (is_open(level, relid, 0))
			return false;
	}
	return true;
}

bool
level_columns_hide(PlannerInfo *root, List *exprs)
{
	List	   *vars;
	ListCell   *lc;

	/* each join relation asks */
	if (planning_current()->expression_columns == NIL)
		return false;
	vars = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
						   PVC_RECURSE_PLACEHOLDERS);
	foreach(lc, vars)
	{
		if (is_hidden(root, lfirst_node(Var, lc)))
			return true;
	}
	return false;
}

/* Aggregates take rows as their columns.  Where an outer join has no row, that is not a row of NULLs. */
static bool
may_read_rows(const PlannerInfo *root, const RelOptInfo *rel)
{
	return root->parse->hasAggs && !compat_is_nullable(root, rel);
}

static List *
live_columns(const PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *numbers = NIL;

	for (AttrNumber attno = 1; attno <= rel->max_attr; attno++)
	{
		if (!get_rte_attribute_is_dropped(root->simple_rte_array[rel->relid], attno))
			numbers = lappend_int(numbers, attno);
	}
	return numbers;
}

List *
level_columns_of_rel(PlannerInfo *root, RelOptInfo *rel, const char **reason)
{
	List	   *exprs = list_copy(rel->reltarget->exprs);
	List	   *numbers = NIL;
	Bitmapset  *used = NULL;
	int			member = -1;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		exprs = lappend(exprs, lfirst_node(RestrictInfo, lc)->clause);
	pull_varattnos((Node *) exprs, rel->relid, &used);
	foreach(lc, pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								PVC_RECURSE_PLACEHOLDERS))
	{
		const Var  *var = lfirst_node(Var, lc);

		if (is_hidden(root, var))
			used = bms_del_member(used, var->varattno - FirstLowInvalidHeapAttributeNumber);
	}
	while ((member = bms_next_member(used, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno < 0 || (attno == 0 && !may_read_rows(root, rel)))
		{
			*reason = attno == 0 ? "whole-row reference" : "system column";
			return NIL;
		}
		if (attno == 0)
			numbers = live_columns(root, rel);
		else
			numbers = list_append_unique_int(numbers, attno);
	}
	return list_concat(numbers, expression_columns_numbers(root, rel->relid));
}

bool
level_columns_is_not_null(PlannerInfo *root, Node *expr)
{
	const Var  *var = (const Var *) strip_implicit_coercions(expr);
	const RangeTblEntry *rte;
	ListCell   *lc;

	if (!IsA(var, Var) || var->varlevelsup != 0 || var->varattno <= 0)
		return false;
	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, lc);

		if ((join->jointype != JOIN_SEMI && bms_is_member(var->varno, join->syn_righthand)) ||
			(join->jointype == JOIN_FULL && bms_is_member(var->varno, join->syn_lefthand)))
			return false;
	}
	rte = root->simple_rte_array[var->varno];
	return rte->rtekind == RTE_RELATION &&
		compat_column_is_not_null(root->simple_rel_array[var->varno], rte, var->varattno);
}

bool
level_columns_is_spared(PlannerInfo *root, const RelOptInfo *rel, AttrNumber attno)
{
	bool		is_alone = bms_membership(root->all_baserels) == BMS_SINGLETON;
	Index		relid = rel->relid;
	AttrNumber	number = linitial_int(expression_columns_of_parent(root, &relid, list_make1_int(attno)));

	rel = root->simple_rel_array[relid];
	/* of a table's first rows PostgreSQL reads no more */
	if (is_alone && rel->baserestrictinfo == NIL && root->parse->sortClause == NIL && !root->parse->hasWindowFuncs)
		return false;
	return returned_columns_are_few(root, relid) && returned_columns_pass(root, relid, number);
}

/* The column, if the level does nothing with it but return it, or what PostgreSQL computes of it. */
static Var *
find_returned(PlannerInfo *root, const LevelColumns *level, Index relid, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, level->open)
	{
		Var		   *var = lfirst(lc);

		if (var->varno != (int) relid || var->varattno != attno)
			continue;
		if (foreach_current_index(lc) < level->open_inside)
			return NULL;
		if (root->parent_root == NULL)
			return var;
	}
	return returned_columns_find(root, relid, attno);
}

static void
replace_by_position(PlannerInfo *root, Var *var, Var *position)
{
	Node	   *normalized = relation_numbers_normalize(root, (Node *) var);

	/* not yet, as of another path */
	if (!equal(normalized, position))
		relation_numbers_replace(root, normalized, position);
}

bool
level_columns_return(PlannerInfo *root, const RelOptInfo *rel, List *attnums, Var *position)
{
	Index		relid = rel->relid;
	const LevelColumns *level;
	List	   *vars = NIL;
	ListCell   *lc;

	attnums = expression_columns_of_parent(root, &relid, attnums);
	if (root->simple_rel_array[relid]->reloptkind != RELOPT_BASEREL)
		return false;
	level = examine_level(root);
	foreach(lc, attnums)
	{
		vars = lappend(vars, find_returned(root, level, relid, lfirst_int(lc)));
		if (llast(vars) == NULL)
			return false;
	}
	foreach(lc, vars)
		replace_by_position(root, lfirst(lc), position);
	return true;
}

bool
level_columns_pass(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno, Var *position)
{
	Var		   *var = returned_columns_find(root, rel->relid, attno);

	if (var == NULL)
		return false;
	replace_by_position(root, var, position);
	return true;
}
