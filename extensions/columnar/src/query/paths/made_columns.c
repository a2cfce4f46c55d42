/*-------------------------------------------------------------------------
 *
 * made_columns.c
 *	  Columns of subqueries and CTEs that these make of values, as what they are made of:
 *
 *		SELECT x, count(*) FROM (SELECT ARRAY[a, b] x FROM t) o GROUP BY x
 *
 * is
 *
 *		SELECT ARRAY[a, b], count(*) FROM (SELECT a, b FROM t) o GROUP BY ARRAY[a, b]
 *
 * The subquery, or the CTE with all its references, gets the parts as columns, and the query makes the value.
 *
 * Where an outer join can lack the subquery's row, the value would be made of parts that are NULL, and is none.  So the
 * subquery gets a column that is true, the marker, and the query has CASE WHEN marker THEN ARRAY[a, b] END.  Marker and
 * parts are NULL together there.  So two such values are equal where marker and parts are, and NULL, which is greater
 * than true, is the greatest.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "query/paths/made_columns.h"
#include "query/paths/whole_rows.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/query_tree.h"

bool
made_columns_can_be_parts(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL && query->groupingSets == NIL &&
		query->rowMarks == NIL;
}

/* ---------------------------------------------------------------- where columns are from */

/* The query of which an entry of a range table has the columns. */
typedef struct Source
{
	QueryLevel	level;
	RangeTblEntry *rte;
	Index		rti;
	CommonTableExpr *cte;		/* or NULL: a subquery in FROM */
} Source;

static CommonTableExpr *
find_cte(const Query *query, const char *name)
{
	ListCell   *lc;

	foreach(lc, query->cteList)
	{
		if (strcmp(lfirst_node(CommonTableExpr, lc)->ctename, name) == 0)
			return lfirst_node(CommonTableExpr, lc);
	}
	return NULL;
}

/* False: the entry is no subquery that is planned with the query, or nothing can be added to that. */
static bool
find_source(const QueryLevel *level, Index rti, Source *source)
{
	const Query *query;

	source->rti = rti;
	source->rte = rt_fetch(rti, level->query->rtable);
	source->cte = NULL;
	source->level = (QueryLevel) {.query = source->rte->subquery,.around = level};
	if (source->rte->rtekind == RTE_CTE)
	{
		for (Index i = 0; i < source->rte->ctelevelsup && level != NULL; i++)
			level = level->around;
		source->cte = level == NULL ? NULL : find_cte(level->query, source->rte->ctename);
		if (source->cte == NULL || source->cte->cterecursive)
			return false;
		source->level = (QueryLevel) {.query = castNode(Query, source->cte->ctequery),.around = level};
	}
	else if (source->rte->rtekind != RTE_SUBQUERY)
		return false;
	query = source->level.query;
	return made_columns_can_be_parts(query) && !source->rte->security_barrier &&
		(query->distinctClause == NIL || query->hasDistinctOn) && !query->hasTargetSRFs;
}

static bool
find_source_of_column(const QueryLevel *level, const Node *node, Source *source)
{
	const Var  *var = (const Var *) node;

	return IsA(node, Var) && var->varlevelsup == 0 && var->varattno > 0 && !IS_SPECIAL_VARNO(var->varno) &&
		find_source(level, var->varno, source);
}

static Node *
target_of_column(const Source *source, const Node *column)
{
	return (Node *) list_nth_node(TargetEntry, source->level.query->targetList,
								  ((const Var *) column)->varattno - 1)->expr;
}

/* Ends at a reference to the CTE whose whole row is read. */
static bool
read_by_columns_visitor(Query *query, Index rti, void *argument)
{
	Bitmapset  *read = NULL;

	return query_tree_find_read(query, rti, &read);
}

static bool
is_read_by_columns(const QueryLevel *level, const Source *source)
{
	return source->cte == NULL ? read_by_columns_visitor(level->query, source->rti, NULL)
		: query_tree_visit_references(source->level.around->query, source->cte, read_by_columns_visitor, NULL);
}

/* ---------------------------------------------------------------- new columns */

static bool
add_to_reference_visitor(Query *query, Index rti, void *argument)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	const TargetEntry *target = argument;
	Node	   *expr = (Node *) target->expr;

	rte->eref->colnames = lappend(rte->eref->colnames, makeString(target->resname));
	rte->coltypes = lappend_oid(rte->coltypes, exprType(expr));
	rte->coltypmods = lappend_int(rte->coltypmods, exprTypmod(expr));
	rte->colcollations = lappend_oid(rte->colcollations, exprCollation(expr));
	return true;
}

static void
add_to_entries(const Source *source, TargetEntry *target)
{
	CommonTableExpr *cte = source->cte;
	Node	   *expr = (Node *) target->expr;

	if (cte == NULL)
	{
		source->rte->eref->colnames = lappend(source->rte->eref->colnames, makeString(target->resname));
		return;
	}
	cte->ctecolnames = lappend(cte->ctecolnames, makeString(target->resname));
	cte->ctecoltypes = lappend_oid(cte->ctecoltypes, exprType(expr));
	cte->ctecoltypmods = lappend_int(cte->ctecoltypmods, exprTypmod(expr));
	cte->ctecolcollations = lappend_oid(cte->ctecolcollations, exprCollation(expr));
	(void) query_tree_visit_references(source->level.around->query, cte, add_to_reference_visitor, target);
}

/* The source's target that is the expression, perhaps a new one, as a column of the entry. */
static Var *
column_of_part(const Source *source, Node *part)
{
	List	  **targets = &source->level.query->targetList;
	int			visible = 0;
	TargetEntry *target;
	ListCell   *lc;

	foreach(lc, *targets)
	{
		target = lfirst_node(TargetEntry, lc);
		if (target->resjunk)
			break;
		if (equal(target->expr, part))
			return makeVarFromTargetEntry(source->rti, target);
		visible++;
	}
	target = makeTargetEntry(copyObject((Expr *) part), visible + 1, psprintf("part%d", visible + 1), false);
	*targets = list_insert_nth(*targets, visible, target);
	for (int i = visible + 1; i < list_length(*targets); i++)
		list_nth_node(TargetEntry, *targets, i)->resno = i + 1;
	add_to_entries(source, target);
	return makeVarFromTargetEntry(source->rti, target);
}

typedef struct Parts
{
	const Source *source;
	List	   *parts;
} Parts;

/* What is made of the source's parts, of its columns. */
static Node *
parts_mutator(Node *node, void *context)
{
	const Parts *parts = context;

	if (node == NULL)
		return NULL;
	if (list_member(parts->parts, node))
		return (Node *) column_of_part(parts->source, node);
	return expression_tree_mutator(node, parts_mutator, context);
}

static Node *
value_if_there(const Source *source, Node *value)
{
	CaseWhen   *when = pipeline_when(column_of_part(source, makeBoolConst(true, false)), value);

	return pipeline_case(exprType(value), exprCollation(value), list_make1(when),
						 makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)));
}

/* ---------------------------------------------------------------- columns in a query */

typedef struct Column
{
	Index		rti;
	AttrNumber	number;
	Index		depth;			/* of the level in hand, below the column's */
	Node	   *value;			/* what makes it */
} Column;

/* An outer join that makes the column NULL makes NULLs of what it is made of. */
static bool
nulling_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		compat_copy_nulling((Var *) node, context);
	return expression_tree_walker(node, nulling_walker, context);
}

static Node *
column_mutator(Node *node, void *context)
{
	Column	   *column = context;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && var->varno == (int) column->rti && var->varattno == column->number &&
		var->varlevelsup == column->depth)
	{
		Node	   *value = copyObject(column->value);

		(void) nulling_walker(value, var);
		IncrementVarSublevelsUp(value, column->depth, 0);
		return value;
	}
	if (IsA(node, Query))
	{
		Query	   *query;

		column->depth++;
		query = query_tree_mutator((Query *) node, column_mutator, column, 0);
		column->depth--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, column_mutator, context);
}

static void
replace_column(Query *query, const Var *var, Node *value)
{
	Column		column = {.rti = var->varno,.number = var->varattno,.value = value};

	*query = *query_tree_mutator(query, column_mutator, &column, 0);
}

static bool
is_never_null(const QueryLevel *level, Index rti)
{
	return query_tree_is_never_null((Node *) level->query->jointree, rti);
}

/* The table or subquery in FROM whose whole row the Var is; NULL: it is none, or may be NULL and not be told. */
static RangeTblEntry *
entry_of_row(const QueryLevel *level, const Node *node)
{
	const Var  *var = (const Var *) node;
	RangeTblEntry *rte;
	Source		source;

	if (!IsA(node, Var) || var->varlevelsup != 0 || var->varattno != InvalidAttrNumber || IS_SPECIAL_VARNO(var->varno))
		return NULL;
	rte = rt_fetch(var->varno, level->query->rtable);
	if (rte->rtekind != RTE_RELATION && rte->rtekind != RTE_SUBQUERY)
		return NULL;
	return is_never_null(level, var->varno) || find_source(level, var->varno, &source) ? rte : NULL;
}

/* Makes such a row here of its columns.  A column that was dropped is none of the row's, and its NULL would be. */
static void
take_row(const QueryLevel *level, const Var *var, RangeTblEntry *rte)
{
	RowExpr    *row = castNode(RowExpr, whole_rows_of_columns(var, rte));
	Node	   *value = (Node *) row;
	Source		source;
	ListCell   *lc;

	foreach(lc, row->args)
	{
		if (IsA(lfirst(lc), Const))
			return;
	}
	if (!is_never_null(level, var->varno) && find_source(level, var->varno, &source))
		value = value_if_there(&source, value);
	replace_column(level->query, var, value);
}

void
made_columns_take(const QueryLevel *level, const Node *expr)
{
	const Var  *var = (const Var *) expr;
	const Node *marker;
	Source		source;
	Node	   *value;
	MadeValue	made;
	Parts		parts = {.source = &source};

	if (entry_of_row(level, expr) != NULL)
		take_row(level, var, entry_of_row(level, expr));
	if (!find_source_of_column(level, expr, &source) || !is_read_by_columns(level, &source))
		return;
	made_columns_take(&source.level, target_of_column(&source, expr));
	value = target_of_column(&source, expr);
	if (!made_columns_take_apart(&source.level, value, &made, &marker) || made.parts == NIL ||
		contain_volatile_functions(value) || checkExprHasSubLink(value) ||
		!query_tree_has_keys(source.level.query, made.parts))
		return;
	parts.parts = made.parts;
	value = parts_mutator(value, &parts);
	if (marker == NULL && !is_never_null(level, var->varno))
		value = value_if_there(&source, value);
	replace_column(level->query, var, value);
}

/* ---------------------------------------------------------------- what there is */

/* Whether the marker is true where the other expressions are of a row that is there, and all are NULL elsewhere. */
static bool
are_null_together(const QueryLevel *level, Node *marker, const List *parts)
{
	List	   *targets = NIL;
	Source		source;
	ListCell   *lc;

	if (IsA(marker, Const))
		return !((const Const *) marker)->constisnull && DatumGetBool(((const Const *) marker)->constvalue);
	if (!find_source_of_column(level, marker, &source))
		return false;
	foreach(lc, parts)
	{
		const Var  *part = lfirst(lc);

		if (!IsA(part, Var) || part->varlevelsup != 0 || part->varattno <= 0 || part->varno != (int) source.rti)
			return false;
		targets = lappend(targets, target_of_column(&source, (const Node *) part));
	}
	return are_null_together(&source.level, target_of_column(&source, marker), targets);
}

/* CASE WHEN marker THEN value END */
static bool
is_value_if(const CaseExpr *choice)
{
	return IsA(choice, CaseExpr) && choice->arg == NULL && list_length(choice->args) == 1 &&
		IsA(linitial_node(CaseWhen, choice->args)->expr, Var) &&
		(choice->defresult == NULL || (IsA(choice->defresult, Const) && ((Const *) choice->defresult)->constisnull));
}

bool
made_columns_take_apart(const QueryLevel *level, Node *expr, MadeValue *made, const Node **marker)
{
	const CaseWhen *when;

	*marker = NULL;
	if (!is_value_if((const CaseExpr *) expr))
		return made_value_may_be(expr) && made_value_take_apart(expr, made);
	when = linitial_node(CaseWhen, ((const CaseExpr *) expr)->args);
	*marker = (const Node *) when->expr;
	if (!made_value_may_be((Node *) when->result) || !made_value_take_apart((Node *) when->result, made) ||
		!are_null_together(level, (Node *) when->expr, made->parts))
		return false;
	made->parts = lcons(when->expr, made->parts);
	return true;
}

bool
made_columns_may_be(const QueryLevel *level, Node *expr)
{
	Source		source;

	expr = compat_key_of_groups(level->query, expr);
	return made_value_may_be(expr) || entry_of_row(level, expr) != NULL ||
		(find_source_of_column(level, expr, &source) &&
		 made_columns_may_be(&source.level, target_of_column(&source, expr)));
}
