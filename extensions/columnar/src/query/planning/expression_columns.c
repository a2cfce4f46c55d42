/*-------------------------------------------------------------------------
 *
 * expression_columns.c
 *	  Columns of scans that are expressions of a table's columns.
 *
 * A query level's expressions are walked once, leaves first.  A Var whose values
 * have parts is open until the smallest expression around it that can be cached
 * closes it.  What is open at the end is read as it is: a range is a column like
 * any other then; what the engine cannot read makes the table PostgreSQL's.
 *
 * An expression whose own values have parts, as doc->'a', stays open as a whole: it is
 * a column if it is a key, as which it is compared with others, grouped by or ordered.  So is a column
 * of documents or arrays.
 *
 * Above an outer join the columns of its inner side are NULL, those of expressions
 * too.  So expressions that can be something else of NULLs are no columns there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/cached_expression.h"
#include "cache/list_image.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/returned_columns.h"

typedef struct ExpressionColumn
{
	AttrNumber	number;
	const PlannerInfo *root;
	Index		relid;
	Node	   *expr;			/* of the level */
	Var		   *var;
	Var		   *elements;		/* of a set-returning function: stands for it in target lists */
} ExpressionColumn;

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

/* ---------------------------------------------------------------- a level's expressions */

/* The call that the relation is, alone, of a function that gives rows of documents, open arrays or several columns. */
static FuncExpr *
elements_call(const PlannerInfo *root, Index relid)
{
	const RangeTblEntry *rte = root->simple_rte_array[relid];
	Node	   *call;

	if (rte == NULL || rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return NULL;
	call = linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) || list_image_column((FuncExpr *) call, 1) == NULL ||
		(list_image_has_matches(call) && !list_member_ptr(planning_current()->open_matches, rte)))
		return NULL;
	return (FuncExpr *) call;
}

/* Or an element of a document, of which an expression can be a column of lists. */
static bool
is_of_table(const PlannerInfo *root, const Var *var)
{
	const RangeTblEntry *rte;

	if (var->varlevelsup != 0 || var->varno <= 0 || var->varno >= root->simple_rel_array_size)
		return false;
	rte = root->simple_rte_array[var->varno];
	return rte != NULL && (rte->rtekind == RTE_RELATION || elements_call(root, var->varno) != NULL);
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

/* The relation of which all Vars are; 0: they are of several.  From 16 on pull_varnos() counts outer joins, too. */
static Index
sole_relation(Node *node)
{
	List	   *vars = pull_var_clause(node, 0);
	ListCell   *lc;

	foreach(lc, vars)
	{
		if (lfirst_node(Var, lc)->varno != linitial_node(Var, vars)->varno)
			return 0;
	}
	return linitial_node(Var, vars)->varno;
}

typedef struct ColumnsContext
{
	FuncExpr   *call;
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
	column = list_image_column(context->call, ((Var *) node)->varattno);
	context->has_others |= column == NULL;
	return column == NULL ? node : copyObject(column);
}

/* The expression of a table's columns that gives the values of the node, which is of one relation; NULL: none does. */
static Node *
expression_of_table(PlannerInfo *root, Node *node)
{
	ColumnsContext context = {.call = elements_call(root, sole_relation(node))};
	Node	   *expr = context.call == NULL ? node : put_columns_mutator(node, &context);

	return context.has_others ? NULL : expr;
}

Node *
expression_columns_of_table(PlannerInfo *root, Node *node, Index *relid)
{
	Node	   *expr = expression_of_table(root, node);

	*relid = sole_relation(expr);
	return expr;
}

static bool
is_strict_if_nullable(const PlannerInfo *root, Node *node)
{
	return !is_nullable(root, sole_relation(node)) || !contain_nonstrict_functions(node);
}

bool
expression_columns_may_be(PlannerInfo *root, Node *node, Index *relid)
{
	Node	   *expr;

	*relid = cacheable_form(node) != NULL ? sole_relation(node) : 0;
	if (*relid == 0)
		return false;
	expr = expression_of_table(root, node);
	return expr != NULL && cacheable_form(expr) != NULL && sole_relation(expr) != 0 &&
		root->simple_rte_array[sole_relation(expr)]->rtekind == RTE_RELATION &&
		is_strict_if_nullable(root, node) && is_strict_if_nullable(root, expr);
}

/* Without what Vars say of outer joins above their relation. */
static Node *
below_joins_mutator(Node *node, void *context)
{
	const Var  *var = (const Var *) node;

	if (node != NULL && IsA(node, Var))
		return (Node *) makeVar(var->varno, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
	return node == NULL ? NULL : expression_tree_mutator(node, below_joins_mutator, context);
}

/* Of lists the caller says what stands for their elements. */
static ExpressionColumn *
add_column(PlannerInfo *root, Node *expr)
{
	Planning   *planning = planning_current();
	ExpressionColumn *column = palloc0(sizeof(ExpressionColumn));
	bool		has_lists = list_image_is_set(expr);

	column->number = EXPRESSION_COLUMN_FIRST + planning->expression_count++;
	column->root = root;
	column->relid = sole_relation(expr);
	column->expr = below_joins_mutator(expr, NULL);
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
	Node	   *expr = expression_of_table(root, node);
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
			column->elements = makeVar(relation_number_of(root, sole_relation(node)), column->number, exprType(node),
									   exprTypmod(node), exprCollation(node), 0);
		else
			column->elements = makeVar(relation_number_add(name, name), 1, exprType(node), exprTypmod(node),
									   exprCollation(node), 0);
	}
	relation_numbers_replace(root, normalized, column->elements != NULL ? column->elements : column->var);
}

bool
expression_columns_is_one(const PlannerInfo *root, Node *node)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && nodeTag(column->expr) == nodeTag(node) &&
			equal(column->expr, below_joins_mutator(node, NULL)))
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
note_keys_of(FindContext *context, Node *node)
{
	ListCell   *lc;

	if ((IsA(node, OpExpr) || IsA(node, DistinctExpr)) && list_length(((OpExpr *) node)->args) == 2)
	{
		set_opfuncid((OpExpr *) node);
		if (!compares_whole_values(((OpExpr *) node)->opfuncid))
			return;
		note_key(context, linitial(((OpExpr *) node)->args));
		note_key(context, lsecond(((OpExpr *) node)->args));
	}
	if (IsA(node, Aggref) && aggregates_whole_values((Aggref *) node))
	{
		foreach(lc, ((Aggref *) node)->args)
			note_key(context, (Node *) lfirst_node(TargetEntry, lc)->expr);
	}
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

		if (list_member_ptr(context->keys, node) && !expression_columns_is_one(root, node) &&
			expression_columns_may_be(root, node, &relid))
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

		if (is_of_table(context->root, var) && var->varattno > 0 && cache_type_has_parts(var->vartype))
			context->open = lappend(context->open, var);
		return false;
	}
	if (IsA(node, RestrictInfo))
		return find_walker((Node *) ((RestrictInfo *) node)->clause, argument);
	(void) expression_tree_walker(node, find_walker, argument);
	if (list_length(context->open) > open_before && !is_of_whole_column(node) &&
		expression_columns_may_be(context->root, node, &relid) &&
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
	Node	   *expr = list_image_column(elements_call(root, relid), number);

	if (cacheable_form(expr) == NULL || sole_relation(expr) == 0 ||
		root->simple_rte_array[sole_relation(expr)]->rtekind != RTE_RELATION || !is_strict_if_nullable(root, expr))
		return false;
	add_column(root, expr)->elements = makeVar(relation_number_of(root, relid), number, exprType(expr),
											   exprTypmod(expr), exprCollation(expr), 0);
	return true;
}

/* Something small of a document or array, the only column of the relation. */
static Node *
any_of_element(Index relid, const Node *elements)
{
	Var		   *element = makeVar(relid, 1, exprType(elements), -1, exprCollation(elements), 0);

	if (element->vartype == JSONBOID)
		return (Node *) makeFuncExpr(F_JSONB_TYPEOF, TEXTOID, list_make1(element), DEFAULT_COLLATION_OID, InvalidOid,
									 COERCE_EXPLICIT_CALL);
	return (Node *) makeFuncExpr(F_CARDINALITY, INT4OID, list_make1(element), InvalidOid, element->varcollid,
								 COERCE_EXPLICIT_CALL);
}

/* Whether lists of what the level reads of the elements say how many there are. */
static bool
finish_elements(PlannerInfo *root, Index relid, List *open)
{
	FuncExpr   *call = elements_call(root, relid);
	Node	   *first = list_image_column(call, 1);
	Node	   *any;
	Index		of;
	ListCell   *lc;

	foreach(lc, open)
	{
		if (lfirst_node(Var, lc)->varno == (int) relid)
			return false;
	}
	for (AttrNumber i = 1; list_image_column(call, i) != NULL; i++)
	{
		if (exprType(list_image_column(call, i)) == TEXTOID && is_read(root, relid, i) &&
			!add_plain_elements(root, relid, i))
			return false;
	}
	if (expression_columns_of_elements(root, relid) != NIL)
		return true;
	if (exprType(first) == TEXTOID)
		return add_plain_elements(root, relid, 1);
	any = any_of_element(relid, first);
	if (!expression_columns_may_be(root, any, &of))
		return false;
	expression_columns_add(root, any);
	return true;
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
	if (read->open > open_before && expression_columns_may_be(read->root, node, &relid) && relid == read->relid &&
		!cache_type_is_composed(exprType(node)))
	{
		read->exprs = list_append_unique(read->exprs, node);
		read->open = open_before;
	}
	return false;
}

List *
expression_columns_open_matches(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	RangeTblEntry *rte = root->simple_rte_array[relid];
	ReadMatches read = {.root = root,.relid = relid};
	FuncExpr   *call;
	ListCell   *lc;

	if (rte->rtekind != RTE_FUNCTION || root->simple_rel_array[relid] == NULL)
		return NIL;
	planning->open_matches = lappend(planning->open_matches, rte);
	call = elements_call(root, relid);
	if (call == NULL || !list_image_has_matches((Node *) call))
	{
		expression_columns_close_matches(root, relid);
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
		expression_columns_close_matches(root, relid);
		return NIL;
	}
	return read.exprs != NIL ? read.exprs : list_make1(any_of_element(relid, (Node *) call));
}

void
expression_columns_close_matches(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();

	planning->open_matches = list_delete_ptr(planning->open_matches, root->simple_rte_array[relid]);
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

static void
find_in_target(PlannerInfo *root, FindContext *context, bool returned, bool returns_rows)
{
	ListCell   *lc;

	foreach(lc, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (is_returned(root, entry, returns_rows) != returned)
			continue;
		if (entry->ressortgroupref != 0)
			note_key(context, (Node *) entry->expr);
		(void) find_walker((Node *) entry->expr, context);
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
			elements_call(root, i) == NULL)
			(void) find_walker((Node *) root->simple_rte_array[i]->functions, &context);

		/* conditions of row-level security, too, and of equivalences */
		if (rel != NULL && rel->reloptkind == RELOPT_BASEREL)
		{
			(void) find_walker((Node *) rel->baserestrictinfo, &context);
			(void) find_walker((Node *) rel->joininfo, &context);
		}
	}
	foreach(lc, root->placeholder_list)
		(void) find_walker((Node *) lfirst_node(PlaceHolderInfo, lc)->ph_var->phexpr, &context);
	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		/* of UNION ALL; tables' are plain columns */
		if (!OidIsValid(appinfo->parent_reloid))
			(void) find_walker((Node *) appinfo->translated_vars, &context);
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
		if (elements_call(root, i) != NULL &&
			!finish_elements(root, i, list_concat_copy(context.open, returned.open)))
			(void) find_walker((Node *) root->simple_rte_array[i]->functions, &context);
	}
	level->open = list_concat_copy(context.open, returned.open);
	level->returns_rows = returned.is_returned;
	level->open_inside = list_length(level->returns_rows ? context.open : level->open);
	MemoryContextSwitchTo(old);
	return level;
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

/* The columns of a table's child are its parent's, of its own columns. */
static void
add_columns_of_child(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	AppendRelInfo *appinfo = child_info(root, relid);
	MemoryContext old;
	ListCell   *lc;

	if (appinfo == NULL)
		return;
	foreach(lc, planning->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->relid == relid)
			return;
	}
	add_columns_of_child(root, appinfo->parent_relid);
	old = MemoryContextSwitchTo(root->planner_cxt);
	foreach(lc, list_copy(planning->expression_columns))
	{
		const ExpressionColumn *column = lfirst(lc);
		ExpressionColumn *own;

		if (column->root != root || column->relid != appinfo->parent_relid)
			continue;
		own = palloc(sizeof(ExpressionColumn));
		*own = *column;
		own->relid = relid;
		own->expr = adjust_appendrel_attrs(root, column->expr, 1, &appinfo);
		own->var = copyObject(column->var);
		own->var->varno = relation_number_of(root, relid);
		/* of sets the query speaks by the parent's */
		own->elements = NULL;
		if (column->elements == NULL)
			relation_numbers_replace(root, relation_numbers_normalize(root, own->expr), own->var);
		planning->expression_columns = lappend(planning->expression_columns, own);
	}
	MemoryContextSwitchTo(old);
}

/* Whether the column, whose values have parts, is read by expressions alone that are columns. */
static bool
is_hidden(PlannerInfo *root, const Var *var)
{
	const LevelColumns *level;
	Index		relid;
	ListCell   *lc;

	if (!is_of_table(root, var) || var->varattno <= 0 || !cache_type_has_parts(var->vartype))
		return false;
	level = examine_level(root);
	relid = var->varno;
	(void) expression_columns_of_parent(root, &relid, NIL);
	foreach(lc, level->open)
	{
		const Var  *open = lfirst(lc);

		/* a child's columns may have other numbers: whatever is open of the parent is taken for it */
		if (open->varno == (int) relid && (relid != (Index) var->varno || open->varattno == var->varattno))
			return false;
	}
	return true;
}

bool
expression_columns_hide(PlannerInfo *root, List *exprs)
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
expression_columns_of_rel(PlannerInfo *root, RelOptInfo *rel, const char **reason)
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
	add_columns_of_child(root, rel->relid);
	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->root == root && column->relid == rel->relid)
			numbers = lappend_int(numbers, column->number);
	}
	return numbers;
}

bool
expression_columns_is_spared(PlannerInfo *root, const RelOptInfo *rel, AttrNumber attno)
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
expression_columns_return(PlannerInfo *root, const RelOptInfo *rel, List *attnums, Var *position)
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
expression_columns_pass(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno, Var *position)
{
	Var		   *var = returned_columns_find(root, rel->relid, attno);

	if (var == NULL)
		return false;
	replace_by_position(root, var, position);
	return true;
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

	if (elements_call(root, relid) == NULL)
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

/* ---------------------------------------------------------------- in pipelines */

/* relid 0: of the relation that has no parent. */
static const ExpressionColumn *
column_of_number(AttrNumber number, Index relid)
{
	ListCell   *lc;

	foreach(lc, planning_current()->expression_columns)
	{
		const ExpressionColumn *column = lfirst(lc);

		if (column->number == number && (relid == 0 || column->relid == relid))
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

List *
expression_columns_list(List *numbers, Index relid)
{
	List	   *expressions = NIL;
	ListCell   *lc;

	foreach(lc, numbers)
	{
		const ExpressionColumn *column;
		Node	   *expr;

		if (!expression_column_is(lfirst_int(lc)))
			continue;
		column = column_of_number(lfirst_int(lc), relid);
		expr = copyObject(column->expr);
		ChangeVarNodes(expr, column->relid, 1, 0);
		expressions = lappend(expressions, list_make3(makeInteger(lfirst_int(lc)), expr,
													  makeInteger(column->var->varno)));
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

static bool
find_key(Oid relation, Oid table, int number, List *expressions, ColumnKey *key)
{
	MapContext	context = {relation, table};
	ListCell   *lc;

	foreach(lc, expressions)
	{
		List	   *expression = lfirst(lc);

		if (intVal(linitial(expression)) == number)
			return cached_expression_find(table, relation == table ? lsecond(expression)
										  : map_mutator(lsecond(expression), &context), EXPRESSION_NEEDED, key);
	}
	return false;
}

ColumnKey *
expression_columns_keys(Oid relation, Oid table, List *numbers, List *expressions)
{
	ColumnKey  *keys = palloc(sizeof(ColumnKey) * Max(list_length(numbers), 1));
	ListCell   *lc;

	foreach(lc, numbers)
	{
		int			number = lfirst_int(lc);
		ColumnKey  *key = &keys[foreach_current_index(lc)];

		if (!expression_column_is(number))
			*key = column_key_of_attribute(number);
		else if (!find_key(relation, table, number, expressions, key))
			return NULL;
	}
	return keys;
}
