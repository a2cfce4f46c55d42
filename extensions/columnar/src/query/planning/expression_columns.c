/*-------------------------------------------------------------------------
 *
 * expression_columns.c
 *	  Columns of scans that are expressions of a table's columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/cached_expression.h"
#include "cache/list_image.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/table_expressions.h"

typedef struct ExpressionColumn
{
	AttrNumber	number;
	const PlannerInfo *root;
	Index		relid;
	Node	   *expr;			/* of the level */
	Var		   *var;
	Var		   *elements;		/* of a set-returning function: stands for it in target lists */
	AttrNumber	of_union;		/* of a member of UNION ALL: the number of the whole's column */
} ExpressionColumn;

/* Of lists the caller says what stands for their elements. */
static ExpressionColumn *
add_column(PlannerInfo *root, Node *expr)
{
	Planning   *planning = planning_current();
	ExpressionColumn *column = palloc0(sizeof(ExpressionColumn));
	bool		has_lists = list_image_is_set(expr);

	column->number = EXPRESSION_COLUMN_FIRST + planning->expression_count++;
	column->root = root;
	column->relid = table_expressions_relation(root, expr);
	column->expr = table_expressions_below_joins(expr);
	column->var = makeVar(relation_number_of(root, column->relid), column->number,
						  has_lists ? LIST_IMAGE_TYPE : exprType(expr), has_lists ? -1 : exprTypmod(expr),
						  has_lists ? InvalidOid : exprCollation(expr), 0);
	planning->expression_columns = lappend(planning->expression_columns, column);
	return column;
}

void
expression_columns_add(PlannerInfo *root, Node *node)
{
	Node	   *normalized = relation_numbers_normalize(root, node);
	Index		table;
	Node	   *expr = table_expressions_resolve(root, node, &table);
	ExpressionColumn *column;

	/* Another of the same expression has become its Var. */
	if (IsA(normalized, Var) && (!IsA(node, Var) || expression_column_is(((Var *) normalized)->varattno)))
		return;
	column = add_column(root, expr);
	if (list_image_is_set(expr))
	{
		const char *name = get_func_name(list_image_call(expr)->funcid);

		/* elements in FROM have the relation's number, and other columns than that has */
		if (expr != node)
			column->elements = makeVar(relation_number_of(root, table_expressions_relation(root, node)), column->number,
									   exprType(node), exprTypmod(node), exprCollation(node), 0);
		else
			column->elements = makeVar(relation_number_add(name, name), 1, exprType(node), exprTypmod(node),
									   exprCollation(node), 0);
	}
	relation_numbers_replace(root, normalized, column->elements != NULL ? column->elements : column->var);
}

void
expression_columns_add_elements(PlannerInfo *root, Node *expr, Var *elements)
{
	add_column(root, expr)->elements = elements;
}

void
expression_columns_add_source(PlannerInfo *root, Index relid, Node *expr)
{
	ExpressionColumn *column = add_column(root, expr);

	column->elements = makeVar(relation_number_of(root, relid), column->number, exprType(expr), exprTypmod(expr),
							   exprCollation(expr), 0);
}

Var *
expression_columns_elements(PlannerInfo *root, Index relid, Node *expr, AttrNumber number)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->elements != NULL &&
			column->elements->varno == (int) relation_number_of(root, relid) &&
			column->elements->varattno == (number == 0 ? column->number : number) &&
			equal(column->expr, table_expressions_below_joins(expr)))
			return column->elements;
	}
	return NULL;
}

bool
expression_columns_is_one(const PlannerInfo *root, Node *node)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && nodeTag(column->expr) == nodeTag(node) &&
			equal(column->expr, table_expressions_below_joins(node)))
			return true;
	}
	return false;
}

bool
expression_columns_is_cached(PlannerInfo *root, Index relid, Node *expr, ExpressionNeed need, ColumnKey *key)
{
	BlockNumber pages = root->simple_rel_array[relid]->pages;
	Oid			table_oid = root->simple_rte_array[relid]->relid;
	Relation	relation;
	bool		is_there;

	*key = (ColumnKey) {0};
	if (!cached_expression_find(table_oid, expr, need, key))
		return false;
	relation = table_open(table_oid, NoLock);
	is_there = cache_has_nearly(relation, *key, pages);
	table_close(relation, NoLock);
	return is_there;
}

/* Of a child of a table; NULL: the relation is none. */
static AppendRelInfo *
child_info(const PlannerInfo *root, Index relid)
{
	AppendRelInfo *appinfo = root->append_rel_array == NULL ? NULL : root->append_rel_array[relid];

	return appinfo != NULL && OidIsValid(appinfo->parent_reloid) ? appinfo : NULL;
}

List *
expression_columns_of_parent(const PlannerInfo *root, Index *relid, List *attnums)
{
	const AppendRelInfo *appinfo;

	while ((appinfo = child_info(root, *relid)) != NULL)
	{
		List	   *mapped = NIL;
		ListCell   *lc;

		foreach(lc, attnums)
			mapped = lappend_int(mapped, appinfo->parent_colnos[lfirst_int(lc) - 1]);
		attnums = mapped;
		*relid = appinfo->parent_relid;
	}
	return attnums;
}

/* What the child has in place of its parent's column; NULL: nothing yet. */
static const ExpressionColumn *
column_of_child(const PlannerInfo *root, Index relid, AttrNumber parents_number)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->relid == relid &&
			(column->of_union == parents_number || column->number == parents_number))
			return column;
	}
	return NULL;
}

/*
 * A column of the child's own columns.  Children of a table have their parent's number: they are one relation of
 * pipelines.  Members of UNION ALL have other columns, and may have the expression for themselves.
 */
static ExpressionColumn *
make_column_of_child(PlannerInfo *root, AppendRelInfo *appinfo, const ExpressionColumn *parent)
{
	ExpressionColumn *own = palloc(sizeof(ExpressionColumn));
	Node	   *normalized;

	*own = *parent;
	own->relid = appinfo->child_relid;
	own->expr = table_expressions_of_child(root, parent->expr, appinfo);
	own->var = copyObject(parent->var);
	own->var->varno = relation_number_of(root, own->relid);
	/* of sets the query speaks by the parent's */
	own->elements = NULL;
	normalized = relation_numbers_normalize(root, own->expr);
	if (!OidIsValid(appinfo->parent_reloid))
	{
		own->of_union = parent->number;
		if (IsA(normalized, Var) && expression_column_is(((Var *) normalized)->varattno))
			own->var = (Var *) normalized;
		else
			own->var->varattno = EXPRESSION_COLUMN_FIRST + planning_current()->expression_count++;
		own->number = own->var->varattno;
	}
	if (parent->elements == NULL && !equal(normalized, own->var))
		relation_numbers_replace(root, normalized, own->var);
	return own;
}

/* The columns of a child are its parent's. */
static void
add_columns_of_child(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	AppendRelInfo *appinfo = root->append_rel_array == NULL ? NULL : root->append_rel_array[relid];
	MemoryContext old;
	ListCell   *lc;

	if (appinfo == NULL)
		return;
	add_columns_of_child(root, appinfo->parent_relid);
	old = MemoryContextSwitchTo(root->planner_cxt);
	foreach(lc, list_copy(planning->expression_columns))
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->relid == appinfo->parent_relid &&
			column_of_child(root, relid, column->number) == NULL)
			planning->expression_columns = lappend(planning->expression_columns,
												   make_column_of_child(root, appinfo, column));
	}
	MemoryContextSwitchTo(old);
}

Var *
expression_columns_of_member(PlannerInfo *root, Index relid, AttrNumber number)
{
	add_columns_of_child(root, relid);
	return column_of_child(root, relid, number)->var;
}

List *
expression_columns_numbers(PlannerInfo *root, Index relid)
{
	List	   *numbers = NIL;
	ListCell   *lc;

	add_columns_of_child(root, relid);
	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->relid == relid)
			numbers = list_append_unique_int(numbers, column->number);
	}
	return numbers;
}

Var *
expression_columns_of_set(PlannerInfo *root, Node *call, Var **elements)
{
	Node	   *normalized = relation_numbers_normalize(root, call);
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->elements != NULL && equal(column->elements, normalized))
		{
			*elements = column->elements;
			return column->var;
		}
	}
	return NULL;
}

List *
expression_columns_of_elements(PlannerInfo *root, Index relid)
{
	List	   *pairs = NIL;
	ListCell   *lc;

	if (table_expressions_elements_call(root, relid) == NULL)
		return NIL;
	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->elements != NULL &&
			column->elements->varno == (int) relation_number_of(root, relid))
			pairs = lappend(pairs, list_make2(column->var, column->elements));
	}
	return pairs;
}

/* Of the relation of that number, which may be a child; 0: of the one that has no parent. */
static const ExpressionColumn *
column_of_number(AttrNumber number, Index relation)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->number == number && (relation == 0 || (Index) column->var->varno == relation))
			return column;
	}
	elog(ERROR, "expression column %d does not exist", number);
}

Var *
expression_columns_var(AttrNumber number)
{
	return column_of_number(number, 0)->var;
}

bool
expression_columns_can_fail(List *numbers)
{
	ListCell   *lc;

	foreach(lc, numbers)
	{
		if (expression_column_is(lfirst_int(lc)) &&
			cacheable_can_fail(column_of_number(lfirst_int(lc), 0)->expr))
			return true;
	}
	return false;
}

/* As plans have it. */
static List *
planned_column(const ExpressionColumn *column)
{
	Node	   *expr = copyObject(column->expr);

	ChangeVarNodes(expr, column->relid, 1, 0);
	return list_make3(makeInteger(column->number), expr, makeInteger(column->var->varno));
}

List *
expression_columns_list(List *numbers, Index relation)
{
	List	   *expressions = NIL;
	ListCell   *lc;

	foreach(lc, numbers)
	{
		if (expression_column_is(lfirst_int(lc)))
			expressions = lappend(expressions, planned_column(column_of_number(lfirst_int(lc), relation)));
	}
	return expressions;
}

/* NULL: it is none of them. */
static Node *
find_planned(const List *expressions, AttrNumber number, Index relation)
{
	ListCell   *lc;

	foreach(lc, expressions)
	{
		const List *column = lfirst(lc);

		if (intVal(linitial(column)) == number && intVal(lthird(column)) == (int) relation)
			return lsecond(column);
	}
	return NULL;
}

/* Each once, and behind a member of UNION ALL what the whole has in its place. */
static List *
add_planned(List *expressions, const ExpressionColumn *column)
{
	ListCell   *lc;

	if (find_planned(expressions, column->number, column->var->varno) != NULL)
		return expressions;
	expressions = lappend(expressions, planned_column(column));
	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *other = lfirst(lc);

		if (other->number == column->number && other->of_union != 0)
			expressions = add_planned(expressions, column_of_number(other->of_union, 0));
	}
	return expressions;
}

List *
expression_columns_of_scan(List *expressions, List *vars)
{
	ListCell   *lc;

	foreach(lc, vars)
	{
		const Var  *var = lfirst_node(Var, lc);

		if (expression_column_is(var->varattno))
			expressions = add_planned(expressions, column_of_number(var->varattno, var->varno));
	}
	return expressions;
}

typedef struct MapContext
{
	Oid			relation;
	Oid			table;
} MapContext;

/* A child's columns have the names of its parent's. */
static Node *
map_mutator(Node *node, void *argument)
{
	const MapContext *context = argument;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);

		var->varattno = get_attnum(context->table, get_attname(context->relation, var->varattno, false));
		return (Node *) var;
	}
	return expression_tree_mutator(node, map_mutator, argument);
}

ColumnKey *
expression_columns_keys(Oid relation, Oid table, Index name, List *numbers, List *expressions)
{
	ColumnKey  *keys = palloc(sizeof(ColumnKey) * Max(list_length(numbers), 1));
	MapContext	context = {relation, table};
	ListCell   *lc;

	foreach(lc, numbers)
	{
		int			number = lfirst_int(lc);
		ColumnKey  *key = &keys[foreach_current_index(lc)];
		Node	   *expr;

		if (!expression_column_is(number))
		{
			*key = column_key_of_attribute(number);
			continue;
		}
		expr = find_planned(expressions, number, name);
		if (relation != table)
			expr = map_mutator(expr, &context);
		if (!cached_expression_find(table, expr, EXPRESSION_NEEDED, key))
			return NULL;
	}
	return keys;
}
