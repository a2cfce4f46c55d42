/*-------------------------------------------------------------------------
 *
 * whole_rows.c
 *	  The query in which whole rows are their columns:
 *
 *		SELECT row_to_json(t) FROM t ORDER BY a LIMIT 10
 *
 *	  is
 *
 *		SELECT row_to_json(ROW(t.a, t.b)::t) FROM t ORDER BY a LIMIT 10
 *
 * Pipelines have columns, of which some are fetched for the rows that are left
 * (planning/returned_columns.h), and no rows.  Of a relation that an outer join may
 * have no row of, the row is NULL, and no row of NULLs; it stays.  To count such rows
 * is to count a column that no row has NULL in: one that the join's condition compares,
 * or one of the primary key.
 *
 * So do rows of subqueries that are no argument of a call, rows of tables outside
 * of target lists, and those by which the query groups or sorts (made_keys.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "query/paths/whole_rows.h"
#include "query/planning/query_tree.h"
#include "query/planning/record_columns.h"

/* A query level in hand, and the one around it. */
typedef struct Level
{
	Query	   *query;
	struct Level *outer;
} Level;

/* The entry whose whole row the Var is; NULL: it is none, or may be NULL. */
static RangeTblEntry *
entry_of_row(const Var *var, const Level *level)
{
	if (var->varattno != InvalidAttrNumber)
		return NULL;
	for (Index up = var->varlevelsup; up > 0 && level != NULL; up--)
		level = level->outer;
	return level != NULL && query_tree_is_never_null((Node *) level->query->jointree, var->varno)
		? rt_fetch(var->varno, level->query->rtable) : NULL;
}

Node *
whole_rows_of_columns(const Var *var, RangeTblEntry *entry)
{
	RowExpr    *row = makeNode(RowExpr);

	/* of a type of its own the row has its names */
	compat_expand_rte(entry, var->varno, var->vartype == RECORDOID ? &row->colnames : NULL, &row->args);
	IncrementVarSublevelsUp((Node *) row->args, var->varlevelsup, 0);
	row->row_typeid = var->vartype;
	row->row_format = COERCE_IMPLICIT_CAST;
	row->location = -1;
	return (Node *) row;
}

/* ---------------------------------------------------------------- counts */

/* What count(x) counts, without DISTINCT; NULL: the node is no such call. */
static Expr *
counted_argument(const Node *node)
{
	const Aggref *aggref = (const Aggref *) node;

	return IsA(node, Aggref) && aggref->aggfnoid == F_COUNT_ANY && aggref->aggdistinct == NIL
		? linitial_node(TargetEntry, aggref->args)->expr : NULL;
}

static void
count_every_row(Aggref *aggref)
{
	aggref->aggfnoid = F_COUNT_;
	aggref->aggstar = true;
	aggref->aggargtypes = aggref->args = NIL;
}

/* A column of the entry that is not NULL where the condition is true; NULL: none is seen. */
static const Var *
column_of_condition(Node *condition, Index rti)
{
	const Var  *found = NULL;
	ListCell   *lc;

	if (condition != NULL && is_andclause(condition))
	{
		foreach(lc, ((BoolExpr *) condition)->args)
		{
			if (found == NULL)
				found = column_of_condition(lfirst(lc), rti);
		}
	}
	else if (condition != NULL && IsA(condition, OpExpr) && op_strict(((OpExpr *) condition)->opno))
	{
		foreach(lc, ((OpExpr *) condition)->args)
		{
			Node	   *arg = lfirst(lc);

			while (IsA(arg, RelabelType))
				arg = (Node *) ((RelabelType *) arg)->arg;
			if (IsA(arg, Var) && ((Var *) arg)->varno == (int) rti && ((Var *) arg)->varlevelsup == 0 &&
				((Var *) arg)->varattno > 0)
				found = (Var *) arg;
		}
	}
	return found;
}

/*
 * The same of the conditions that every row of the entry in the query's result has passed: those of joins that drop
 * the entry's rows without a match.  *contains is set if the entry is below.
 */
static const Var *
column_of_joins(Node *jointree, Index rti, bool *contains)
{
	const JoinExpr *join = (const JoinExpr *) jointree;
	const Var  *found = NULL;
	bool		is_left = false;
	bool		is_right = false;
	ListCell   *lc;

	if (IsA(jointree, RangeTblRef))
		is_left = ((RangeTblRef *) jointree)->rtindex == (int) rti;
	else if (IsA(jointree, FromExpr))
	{
		foreach(lc, ((FromExpr *) jointree)->fromlist)
		{
			if (!is_left)
				found = column_of_joins(lfirst(lc), rti, &is_left);
		}
	}
	else
	{
		found = column_of_joins(join->larg, rti, &is_left);
		if (!is_left)
			found = column_of_joins(join->rarg, rti, &is_right);
		if (found == NULL && (join->jointype == JOIN_INNER || (join->jointype == JOIN_LEFT && is_right) ||
							  (join->jointype == JOIN_RIGHT && is_left)))
			found = column_of_condition(join->quals, rti);
	}
	*contains = is_left || is_right;
	return found;
}

/* A column that no row of the entry has NULL in, as the Var of its whole row; NULL: none is known. */
static Var *
column_without_nulls(Var *row, const Level *level)
{
	const RangeTblEntry *entry = rt_fetch(row->varno, level->query->rtable);
	bool		contains;
	const Var  *compared = column_of_joins((Node *) level->query->jointree, row->varno, &contains);
	Var		   *column = copyObject(row);
	Bitmapset  *keys;
	Oid			constraint;

	if (compared != NULL)
	{
		column->varattno = compared->varattno;
		column->vartype = compared->vartype;
		column->vartypmod = compared->vartypmod;
		column->varcollid = compared->varcollid;
	}
	else
	{
		/* of an inherited table's children the key says nothing */
		if (entry->rtekind != RTE_RELATION ||
			(entry->inh && entry->relkind != RELKIND_PARTITIONED_TABLE && has_subclass(entry->relid)))
			return NULL;
		keys = get_primary_key_attnos(entry->relid, true, &constraint);
		if (bms_is_empty(keys))
			return NULL;
		column->varattno = bms_next_member(keys, -1) + FirstLowInvalidHeapAttributeNumber;
		get_atttypetypmodcoll(entry->relid, column->varattno, &column->vartype, &column->vartypmod,
							  &column->varcollid);
	}
	column->varattnosyn = column->varattno;
	return column;
}

/* Whether it is a table, or a function whose records are columns. */
static bool
has_columns(const RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION ||
		(entry->rtekind == RTE_FUNCTION && list_length(entry->functions) == 1 &&
		 record_columns_is_call(linitial(entry->functions)));
}

/* Whether the node counts rows of a table, a function, a subquery or a CTE of this level. */
static bool
counts_rows(const Node *node, const Level *level)
{
	const Var  *row = (const Var *) counted_argument(node);
	const RangeTblEntry *entry;

	if (level == NULL || row == NULL || !IsA(row, Var) || row->varattno != InvalidAttrNumber || row->varlevelsup != 0)
		return false;
	entry = rt_fetch(row->varno, level->query->rtable);
	return entry->rtekind == RTE_SUBQUERY || entry->rtekind == RTE_CTE || has_columns(entry);
}

static Node *
row_counts_mutator(Node *node, void *context)
{
	const Level *level = context;
	Aggref	   *aggref;
	Var		   *row;
	Var		   *column;

	if (node == NULL || IsA(node, Query))
		return node;
	if (!counts_rows(node, level))
		return expression_tree_mutator(node, row_counts_mutator, context);
	row = (Var *) counted_argument(node);
	aggref = (Aggref *) expression_tree_mutator(node, row_counts_mutator, context);
	if (query_tree_is_never_null((Node *) level->query->jointree, row->varno))
		count_every_row(aggref);
	else if ((column = column_without_nulls(row, level)) != NULL)
	{
		linitial_node(TargetEntry, aggref->args)->expr = (Expr *) column;
		aggref->aggargtypes = list_make1_oid(column->vartype);
		aggref->inputcollid = column->varcollid;
	}
	return (Node *) aggref;
}

/* ---------------------------------------------------------------- tables */

typedef struct TableRows
{
	Level		level;			/* a subquery's rows are its own */
	bool		is_within_aggregate;
} TableRows;

static RangeTblEntry *
table_of_row(const Var *var, const Level *level)
{
	RangeTblEntry *entry = entry_of_row(var, level);

	return entry != NULL && has_columns(entry) && get_typtype(var->vartype) != TYPTYPE_DOMAIN ? entry : NULL;
}

/* Of an expression of the target list. */
static Node *
table_rows_mutator(Node *node, void *context)
{
	TableRows  *rows = context;
	bool		was_within = rows->is_within_aggregate;
	RangeTblEntry *table;

	/* of a row's NULLs a dropped column is none */
	if (node == NULL || IsA(node, Query) || IsA(node, NullTest))
		return node;
	if (IsA(node, Var) && (rows->level.query->groupClause == NIL || was_within))
	{
		table = table_of_row((Var *) node, &rows->level);
		if (table != NULL)
			return whole_rows_of_columns((Var *) node, table);
	}
	rows->is_within_aggregate |= IsA(node, Aggref);
	node = expression_tree_mutator(node, table_rows_mutator, context);
	rows->is_within_aggregate = was_within;
	return node;
}

static bool
table_rows_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	TableRows	rows = {.level = {query}};
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, table_rows_walker, context);
	if (query->commandType == CMD_SELECT && query->rowMarks == NIL && query->hasAggs)
	{
		query->targetList = (List *) row_counts_mutator((Node *) query->targetList, &rows.level);
		query->havingQual = row_counts_mutator(query->havingQual, &rows.level);
	}
	if (query->commandType == CMD_SELECT && query->rowMarks == NIL && query->setOperations == NULL &&
		query->groupingSets == NIL)
	{
		foreach(lc, query->targetList)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc);

			if (entry->ressortgroupref == 0)
				entry->expr = (Expr *) table_rows_mutator((Node *) entry->expr, &rows);
		}
	}
	return query_tree_walker(query, table_rows_walker, context, 0);
}

static bool
has_table_rows_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return table_of_row((Var *) node, context) != NULL;
	if (counts_rows(node, context))
		return true;
	if (IsA(node, Query))
	{
		Level		level = {(Query *) node};

		return query_tree_walker((Query *) node, has_table_rows_walker, &level, 0);
	}
	return expression_tree_walker(node, has_table_rows_walker, context);
}

Query *
whole_rows_replace_of_tables(Query *query)
{
	Query	   *copy;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || !has_table_rows_walker((Node *) query, NULL))
		return NULL;
	copy = copyObject(query);
	(void) table_rows_walker((Node *) copy, NULL);
	return copy;
}

/* ---------------------------------------------------------------- subqueries and CTEs */

/* Of a call's argument that is the whole row of a subquery or CTE, and no key, its entry; else NULL. */
static RangeTblEntry *
entry_of_argument(const Node *arg, const Level *level)
{
	RangeTblEntry *entry;

	if (IsA(arg, TargetEntry) && ((const TargetEntry *) arg)->ressortgroupref == 0)
		arg = (const Node *) ((const TargetEntry *) arg)->expr;
	entry = IsA(arg, Var) && ((const Var *) arg)->vartype == RECORDOID ? entry_of_row((const Var *) arg, level) : NULL;
	return entry != NULL && (entry->rtekind == RTE_SUBQUERY || (entry->rtekind == RTE_CTE && !entry->self_reference))
		? entry : NULL;
}

static List *
args_of(const Node *call)
{
	return IsA(call, Aggref) ? ((const Aggref *) call)->args
		: IsA(call, FuncExpr) ? ((const FuncExpr *) call)->args : NIL;
}

static bool
has_any_walker(Node *node, void *context)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	foreach(lc, args_of(node))
	{
		if (entry_of_argument(lfirst(lc), context) != NULL)
			return true;
	}
	if (IsA(node, Query))
	{
		Level		level = {(Query *) node, context};

		return query_tree_walker((Query *) node, has_any_walker, &level, 0);
	}
	return expression_tree_walker(node, has_any_walker, context);
}

static Node *replace_mutator(Node *node, void *context);

/* Of a call's list of arguments, or of one. */
static Node *
argument_mutator(Node *node, void *context)
{
	RangeTblEntry *entry;

	if (node == NULL)
		return NULL;
	entry = entry_of_argument(node, context);
	if (entry != NULL && IsA(node, Var))
		return whole_rows_of_columns((Var *) node, entry);
	if (entry != NULL || IsA(node, List))
		return expression_tree_mutator(node, argument_mutator, context);
	return replace_mutator(node, context);
}

static Node *
replace_mutator(Node *node, void *context)
{
	Aggref	   *aggref = (Aggref *) node;

	if (node == NULL)
		return NULL;
	if (counted_argument(node) != NULL && entry_of_argument(linitial(aggref->args), context) != NULL)
	{
		aggref = (Aggref *) expression_tree_mutator(node, replace_mutator, context);
		count_every_row(aggref);
		return (Node *) aggref;
	}
	if (args_of(node) != NIL)
		return expression_tree_mutator(node, argument_mutator, context);
	if (IsA(node, Query))
	{
		Level		level = {(Query *) node, context};

		return (Node *) query_tree_mutator((Query *) node, replace_mutator, &level, 0);
	}
	return expression_tree_mutator(node, replace_mutator, context);
}

Query *
whole_rows_replace(Query *query)
{
	return query->commandType == CMD_SELECT && has_any_walker((Node *) query, NULL)
		? castNode(Query, replace_mutator((Node *) query, NULL)) : NULL;
}
