/*-------------------------------------------------------------------------
 *
 * table_expressions.c
 *	  Expressions of a query level that can be columns of a scan.
 *
 * Above an outer join the columns of its inner side are NULL, those of expressions
 * too.  So expressions that can be something else of NULLs are no columns there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/list_image.h"
#include "query/planning/planning.h"
#include "query/planning/record_columns.h"
#include "query/planning/table_expressions.h"

FuncExpr *
table_expressions_elements_call(const PlannerInfo *root, Index relid)
{
	const RangeTblEntry *rte = root->simple_rte_array[relid];
	Node	   *call;

	if (rte == NULL || rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return NULL;
	if (record_columns_is_call(linitial(rte->functions)))
		return record_columns_is_one_row(linitial(rte->functions)) && rte->funcordinality ? NULL
			: record_columns_call(linitial(rte->functions));
	call = linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) || list_image_column((FuncExpr *) call, 1) == NULL ||
		(list_image_has_matches(call) && !list_member_ptr(planning_current()->open_matches, rte)))
		return NULL;
	return (FuncExpr *) call;
}

const RangeTblFunction *
table_expressions_records(const PlannerInfo *root, Index relid)
{
	const RangeTblFunction *function = linitial(root->simple_rte_array[relid]->functions);

	return record_columns_is_call(function) ? function : NULL;
}

Node *
table_expressions_element_column(const PlannerInfo *root, Index relid, AttrNumber number)
{
	const RangeTblFunction *function = table_expressions_records(root, relid);

	if (function != NULL)
		return record_columns_is_source(function, number) ? record_columns_source(function, number) : NULL;
	return list_image_column(table_expressions_elements_call(root, relid), number);
}

static bool
is_union(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_SUBQUERY && rte->inh;
}

/* Whether each member of the UNION ALL has a table's column in its place, or an expression of some. */
static bool
is_column_of_members(const PlannerInfo *root, const Var *var)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, var->varattno > 0 ? root->append_rel_list : NIL)
	{
		const AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		List	   *vars;

		if (appinfo->parent_relid != (Index) var->varno)
			continue;
		vars = pull_var_clause(list_nth(appinfo->translated_vars, var->varattno - 1), PVC_RECURSE_PLACEHOLDERS);
		if (vars == NIL)
			return false;
		foreach(lc2, vars)
		{
			if (!table_expressions_is_column(root, lfirst(lc2)))
				return false;
		}
	}
	return var->varattno > 0;
}

/* PostgreSQL has one around a member's column that is an expression. */
static Node *
without_placeholders_mutator(Node *node, void *context)
{
	if (node != NULL && IsA(node, PlaceHolderVar))
		return without_placeholders_mutator((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	return node == NULL ? NULL : expression_tree_mutator(node, without_placeholders_mutator, context);
}

static Node *
below_joins_mutator(Node *node, void *context)
{
	const Var  *var = (const Var *) node;

	if (node != NULL && IsA(node, Var))
		return (Node *) makeVar(var->varno, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
	return node == NULL ? NULL : expression_tree_mutator(node, below_joins_mutator, context);
}

Node *
table_expressions_below_joins(Node *expr)
{
	return below_joins_mutator(expr, NULL);
}

/* PostgreSQL refuses to say of an expression of a member that an outer join may lack it. */
Node *
table_expressions_of_child(PlannerInfo *root, Node *expr, AppendRelInfo *appinfo)
{
	return without_placeholders_mutator(adjust_appendrel_attrs(root, below_joins_mutator(expr, NULL), 1, &appinfo),
										NULL);
}

bool
table_expressions_is_column(const PlannerInfo *root, const Var *var)
{
	const RangeTblEntry *rte;

	if (var->varlevelsup != 0 || var->varno <= 0 || var->varno >= root->simple_rel_array_size)
		return false;
	rte = root->simple_rte_array[var->varno];
	return rte != NULL && (rte->rtekind == RTE_RELATION || table_expressions_elements_call(root, var->varno) != NULL ||
						   (is_union(rte) && is_column_of_members(root, var)));
}

/* On the inner side of an outer join. */
static bool
is_nullable(const PlannerInfo *root, int relid)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		const SpecialJoinInfo *join = lfirst_node(SpecialJoinInfo, lc);

		if (join->jointype != JOIN_SEMI &&
			(bms_is_member(relid, join->syn_righthand) ||
			 (join->jointype == JOIN_FULL && bms_is_member(relid, join->syn_lefthand))))
			return true;
	}
	return false;
}

/* Whether the relation is a function's whose elements are the other's. */
static bool
has_elements_of(const PlannerInfo *root, Index relid, Index of)
{
	FuncExpr   *call = table_expressions_elements_call(root, relid);

	return call != NULL && contain_var_clause((Node *) call) &&
		table_expressions_relation(root, (Node *) call) == of;
}

Index
table_expressions_relation(const PlannerInfo *root, Node *node)
{
	Index		relid = 0;
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, 0))
	{
		Index		other = lfirst_node(Var, lc)->varno;

		if (relid == 0 || other == relid)
			relid = other;
		else if (root != NULL && has_elements_of(root, other, relid))
			relid = other;
		else if (root == NULL || !has_elements_of(root, relid, other))
			return 0;
	}
	return relid;
}

typedef struct ColumnsContext
{
	const PlannerInfo *root;
	bool		has_others;		/* the rows' numbers */
} ColumnsContext;

static Node *
put_columns_mutator(Node *node, void *argument)
{
	ColumnsContext *context = argument;
	Node	   *column;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, put_columns_mutator, argument);
	/* beside elements, of the relation whose these are */
	if (table_expressions_elements_call(context->root, ((Var *) node)->varno) == NULL)
		return node;
	column = table_expressions_element_column(context->root, ((Var *) node)->varno, ((Var *) node)->varattno);
	context->has_others |= column == NULL;
	return column == NULL ? node : copyObject(column);
}

/* The expression of a table's columns that gives the values of the node, which is of one relation; NULL: none does. */
static Node *
expression_of_table(PlannerInfo *root, Node *node)
{
	ColumnsContext context = {.root = root};
	Index		relid = table_expressions_relation(root, node);
	Node	   *expr = table_expressions_elements_call(root, relid) == NULL ? node
		: put_columns_mutator(node, &context);

	return context.has_others ? NULL : expr;
}

Node *
table_expressions_resolve(PlannerInfo *root, Node *node, Index *relid)
{
	Node	   *expr = expression_of_table(root, node);

	*relid = table_expressions_relation(root, expr);
	return expr;
}

static bool
is_strict_if_nullable(const PlannerInfo *root, Node *node)
{
	return !is_nullable(root, table_expressions_relation(root, node)) || !contain_nonstrict_functions(node);
}

static bool
members_can_be_cached(PlannerInfo *root, Node *expr, Index relid)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, 0))
	{
		if (!table_expressions_is_column(root, lfirst(lc)))
			return false;
	}
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		if (appinfo->parent_relid == relid &&
			!table_expressions_can_be_cached(root, table_expressions_of_child(root, expr, appinfo)))
			return false;
	}
	return true;
}

bool
table_expressions_can_be_cached(PlannerInfo *root, Node *expr)
{
	Index		relid = cacheable_form(expr) == NULL ? 0 : table_expressions_relation(root, expr);

	return relid != 0 && is_strict_if_nullable(root, expr) &&
		(root->simple_rte_array[relid]->rtekind == RTE_RELATION ||
		 (is_union(root->simple_rte_array[relid]) && members_can_be_cached(root, expr, relid)));
}

bool
table_expressions_may_be_column(PlannerInfo *root, Node *node, Index *relid)
{
	Node	   *expr;

	*relid = cacheable_form(node) != NULL ? table_expressions_relation(root, node) : 0;
	if (*relid == 0)
		return false;
	expr = expression_of_table(root, node);
	return expr != NULL && table_expressions_can_be_cached(root, expr) && is_strict_if_nullable(root, node);
}

Node *
table_expressions_any_of_element(Node *element)
{
	if (exprType(element) == JSONBOID)
		return (Node *) makeFuncExpr(F_JSONB_TYPEOF, TEXTOID, list_make1(element), DEFAULT_COLLATION_OID, InvalidOid,
									 COERCE_EXPLICIT_CALL);
	return (Node *) makeFuncExpr(F_CARDINALITY, INT4OID, list_make1(element), InvalidOid, exprCollation(element),
								 COERCE_EXPLICIT_CALL);
}

typedef struct ReadMatches
{
	PlannerInfo *root;
	Index		relid;
	List	   *exprs;
	int			open;			/* arrays that are in none of these */
} ReadMatches;

static bool
read_matches_walker(Node *node, void *argument)
{
	ReadMatches *read = argument;
	const Var  *var = (const Var *) node;
	int			open_before = read->open;
	Index		relid;

	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return read_matches_walker((Node *) ((RestrictInfo *) node)->clause, argument);
	if (IsA(node, Var))
	{
		/* the other column is the number of the row */
		read->open += var->varlevelsup == 0 && var->varno == (int) read->relid && var->varattno <= 1;
		return false;
	}
	(void) expression_tree_walker(node, read_matches_walker, argument);
	if (read->open > open_before && table_expressions_may_be_column(read->root, node, &relid) && relid == read->relid &&
		!cache_type_is_composed(exprType(node)))
	{
		read->exprs = list_append_unique(read->exprs, node);
		read->open = open_before;
	}
	return false;
}

List *
table_expressions_open_matches(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	RangeTblEntry *rte = root->simple_rte_array[relid];
	ReadMatches read = {.root = root,.relid = relid};
	FuncExpr   *call;
	ListCell   *lc;

	if (rte->rtekind != RTE_FUNCTION || root->simple_rel_array[relid] == NULL)
		return NIL;
	planning->open_matches = lappend(planning->open_matches, rte);
	call = table_expressions_elements_call(root, relid);
	if (call == NULL || !list_image_has_matches((Node *) call))
	{
		table_expressions_close_matches(root, relid);
		return NIL;
	}
	(void) read_matches_walker((Node *) root->processed_tlist, &read);
	(void) read_matches_walker((Node *) root->parse->jointree, &read);
	(void) read_matches_walker(root->parse->havingQual, &read);
	(void) read_matches_walker((Node *) root->simple_rel_array[relid]->baserestrictinfo, &read);
	(void) read_matches_walker((Node *) root->simple_rel_array[relid]->joininfo, &read);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rte_array[i] != NULL && root->simple_rte_array[i]->rtekind == RTE_FUNCTION)
			(void) read_matches_walker((Node *) root->simple_rte_array[i]->functions, &read);
	}
	foreach(lc, root->placeholder_list)
		(void) read_matches_walker((Node *) lfirst_node(PlaceHolderInfo, lc)->ph_var->phexpr, &read);
	if (read.open > 0)
	{
		table_expressions_close_matches(root, relid);
		return NIL;
	}
	return read.exprs != NIL ? read.exprs : list_make1(table_expressions_any_of_element(
		(Node *) makeVar(relid, 1, exprType((Node *) call), -1, exprCollation((Node *) call), 0)));
}

void
table_expressions_close_matches(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();

	planning->open_matches = list_delete_ptr(planning->open_matches, root->simple_rte_array[relid]);
}
