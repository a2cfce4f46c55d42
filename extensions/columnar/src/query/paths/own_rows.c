/*-------------------------------------------------------------------------
 *
 * own_rows.c
 *	  The query whose subqueries join or group a row's own elements, as ones that
 *	  read that row again by its primary key:
 *
 *		(SELECT sum(p.price) FROM jsonb_array_elements(o.doc -> 'items') e JOIN p ON p.sku = e ->> 'sku')
 *
 *	  is
 *
 *		(SELECT sum(p.price)
 *		 FROM o again, jsonb_array_elements(again.doc -> 'items') e JOIN p ON p.sku = e ->> 'sku'
 *		 WHERE again.id = o.id)
 *
 * which is correlated by the key alone and can be joined (subplans.c).  The key finds the row itself and no
 * other one, so what is added to FROM has one row, whatever else stands there.  That needs a table's own row:
 * not the one that an outer join makes NULL, and no group, of which the key may not be known.  A condition of an outer
 * join must not read it, because it is no part of that join.
 *
 * What element_subqueries.c takes as it is stays as it is, and so does what PostgreSQL makes a part of
 * the level around it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cache/list_image.h"
#include "query/paths/own_rows.h"
#include "query/planning/query_tree.h"
#include "query/planning/record_columns.h"

typedef struct Level
{
	Query	   *query;
	struct Level *around;
	bool		has_groups;		/* in hand is an expression of groups */
} Level;

/* A row of a level around the subquery, of which it reads elements. */
typedef struct OwnRow
{
	Index		rti;
	Index		up;				/* levels from the subquery */
	Index		depth;			/* of the level in hand, below the subquery */
	Index		again;			/* its entry in the subquery; 0: not yet */
} OwnRow;

/* The first value of a level around the subquery. */
static bool
first_outer_walker(Node *node, void *context)
{
	OwnRow	   *row = context;
	const Var  *var = (Var *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return true;
	if (!IsA(node, Var) || var->varlevelsup <= row->depth)
		return expression_tree_walker(node, first_outer_walker, context);
	row->rti = var->varno;
	row->up = var->varlevelsup - row->depth;
	return true;
}

/* Whether the subquery, or a level within it, reads something of the row that the row read again does not give. */
static bool
reads_more_walker(Node *node, void *context)
{
	OwnRow	   *row = context;
	bool		reads_more;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == (int) row->rti && ((Var *) node)->varlevelsup == row->depth + row->up &&
			((Var *) node)->varattno <= 0;
	/* an aggregate of a level around may be so by these values alone */
	if ((IsA(node, Aggref) && ((Aggref *) node)->agglevelsup > row->depth) ||
		(IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup > row->depth))
		return true;
	if (!IsA(node, Query))
		return expression_tree_walker(node, reads_more_walker, context);
	row->depth++;
	reads_more = query_tree_walker((Query *) node, reads_more_walker, context, 0);
	row->depth--;
	return reads_more;
}

static bool
read_again_walker(Node *node, void *context)
{
	OwnRow	   *row = context;
	Var		   *var = (Var *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && var->varno == (int) row->rti && var->varlevelsup == row->depth + row->up)
	{
		var->varno = (int) row->again;
		var->varlevelsup = row->depth;
		var->varnosyn = row->again;
		var->varattnosyn = var->varattno;
		return false;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, read_again_walker, context);
	row->depth++;
	(void) query_tree_walker((Query *) node, read_again_walker, context, 0);
	row->depth--;
	return false;
}

/*
 * The conditions of joins that read the row, which is no part of them: those of inner joins move to `moved`, unless
 * that is NULL.  False: one is that of an outer join, or below it.
 */
static bool
move_conditions(Node *jointree, const OwnRow *row, bool is_inner, List **moved)
{
	JoinExpr   *join = (JoinExpr *) jointree;
	ListCell   *lc;

	if (IsA(jointree, FromExpr))
	{
		foreach(lc, ((FromExpr *) jointree)->fromlist)
		{
			if (!move_conditions(lfirst(lc), row, is_inner, moved))
				return false;
		}
	}
	if (!IsA(jointree, JoinExpr))
		return true;
	is_inner &= join->jointype == JOIN_INNER;
	if (join->quals != NULL && rangeTableEntry_used(join->quals, (int) row->rti, (int) row->up))
	{
		if (!is_inner)
			return false;
		if (moved != NULL)
		{
			*moved = lappend(*moved, join->quals);
			join->quals = NULL;
		}
	}
	return move_conditions(join->larg, row, is_inner, moved) && move_conditions(join->rarg, row, is_inner, moved);
}

static bool
gives_elements(const RangeTblEntry *rte)
{
	ListCell   *lc;

	foreach(lc, rte->rtekind == RTE_FUNCTION ? rte->functions : NIL)
	{
		const RangeTblFunction *function = lfirst_node(RangeTblFunction, lc);

		if (list_image_is_set(function->funcexpr) || record_columns_is_call(function))
			return true;
	}
	return false;
}

static bool
is_in_from(const Query *query, const Query *around)
{
	ListCell   *lc;

	foreach(lc, around->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->subquery == query)
			return true;
	}
	return false;
}

/* Groups, or windows, or fewer rows than it reads. */
static bool
has_groups(const Query *query)
{
	return query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != NULL ||
		query->distinctClause != NIL || query->hasWindowFuncs || query->limitOffset != NULL;
}

static bool
stays_level(const Query *query)
{
	return has_groups(query) || query->hasAggs || query->sortClause != NIL || query->limitCount != NULL;
}

static bool
is_plain(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL && query->cteList == NIL &&
		query->rowMarks == NIL && !query->hasTargetSRFs;
}

/* Whether a subquery in FROM is a part of its level: its rows are those of what it reads.  It joins without JOIN. */
static bool
is_part(const RangeTblEntry *rte)
{
	ListCell   *lc;

	if (rte->rtekind != RTE_SUBQUERY || !is_plain(rte->subquery) || stays_level(rte->subquery))
		return false;
	foreach(lc, rte->subquery->jointree->fromlist)
	{
		if (!IsA(lfirst(lc), RangeTblRef))
			return false;
	}
	return true;
}

/* Of FROM, with those of its parts. */
static int
count_entries(const Query *query)
{
	int			count = 0;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		count += is_part(rte) ? count_entries(rte->subquery) : 1;
	}
	return count;
}

/* Whether the subquery stays a level, and is more than aggregates, conditions or the first of some elements. */
static bool
is_more_than_elements(const Level *level, Index up)
{
	const Query *query = level->query;
	const bool	is_more = has_groups(query) || count_entries(query) > 1;

	if (!is_plain(query))
		return false;
	if (up > 1 || is_in_from(query, level->around->query))
		return stays_level(query) && (up > 1 || is_more);
	return is_more;
}

/* Whether the row is that of a table, which its primary key finds. */
static bool
can_be_found(const Level *level, Index rti, Bitmapset **keys)
{
	const Query *query = level->query;
	const RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Oid			constraint;

	if (level->has_groups || query->commandType != CMD_SELECT || query->rowMarks != NIL ||
		rte->rtekind != RTE_RELATION || rte->securityQuals != NIL || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE) ||
		(rte->relkind == RELKIND_RELATION && rte->inh && has_subclass(rte->relid)) ||
		!query_tree_is_never_null((Node *) query->jointree, rti))
		return false;
	*keys = get_primary_key_attnos(rte->relid, false, &constraint);
	return !bms_is_empty(*keys);
}

/* A column of the key, as an operand of the comparison. */
static Expr *
key_column(const RangeTblEntry *rte, Index rti, AttrNumber number, Index up, Oid operand)
{
	Oid			type;
	int32		typmod;
	Oid			collation;
	Var		   *column;

	get_atttypetypmodcoll(rte->relid, number, &type, &typmod, &collation);
	column = makeVar(rti, number, type, typmod, collation, up);
	if (operand == type || IsPolymorphicType(operand))
		return (Expr *) column;
	return (Expr *) makeRelabelType((Expr *) column, operand, -1, collation, COERCE_IMPLICIT_CAST);
}

/* NULL: there is no operator for a column of the key. */
static List *
equalities(const RangeTblEntry *rte, const OwnRow *row, const Bitmapset *keys)
{
	List	   *clauses = NIL;

	for (int i = -1; (i = bms_next_member(keys, i)) >= 0;)
	{
		AttrNumber	number = (AttrNumber) (i + FirstLowInvalidHeapAttributeNumber);
		Oid			equality = lookup_type_cache(get_atttype(rte->relid, number), TYPECACHE_EQ_OPR)->eq_opr;
		Oid			left;
		Oid			right;
		Expr	   *again;

		if (!OidIsValid(equality))
			return NIL;
		op_input_types(equality, &left, &right);
		again = key_column(rte, row->again, number, 0, left);
		clauses = lappend(clauses, make_opclause(equality, BOOLOID, false, again,
												 key_column(rte, row->rti, number, row->up, right), InvalidOid,
												 exprCollation((Node *) again)));
		set_opfuncid(llast_node(OpExpr, clauses));
	}
	return clauses;
}

/* What reads the row again, which stands before it in FROM. */
static void
mark_lateral(Query *query, Index again)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rte->lateral |= (rte->rtekind == RTE_FUNCTION && rangeTableEntry_used((Node *) rte->functions, again, 0)) ||
			(rte->rtekind == RTE_SUBQUERY && rangeTableEntry_used((Node *) rte->subquery, again, 1)) ||
			(rte->rtekind == RTE_VALUES && rangeTableEntry_used((Node *) rte->values_lists, again, 0)) ||
			(rte->rtekind == RTE_TABLEFUNC && rangeTableEntry_used((Node *) rte->tablefunc, again, 0));
	}
}

static bool
read_again(Query *query, const Query *around, OwnRow *row, const Bitmapset *keys)
{
	RangeTblEntry *own = rt_fetch(row->rti, around->rtable);
	RangeTblEntry *rte = copyObject(own);
	RangeTblRef *reference = makeNode(RangeTblRef);
	List	   *clauses;
	List	   *moved = NIL;

	row->again = list_length(query->rtable) + 1;
	clauses = equalities(own, row, keys);
	if (clauses == NIL)
		return false;
	(void) move_conditions((Node *) query->jointree, row, true, &moved);
	if (moved != NIL)
		query->jointree->quals = (Node *) make_and_qual((Node *) make_ands_explicit(moved), query->jointree->quals);
	(void) query_tree_walker(query, read_again_walker, row, 0);
	compat_copy_permissions(query, rte, around);
	rte->lateral = false;
	rte->inFromCl = true;
	query->rtable = lappend(query->rtable, rte);
	reference->rtindex = row->again;
	query->jointree->fromlist = lcons(reference, query->jointree->fromlist);
	if (query->jointree->quals != NULL)
		clauses = lappend(clauses, query->jointree->quals);
	query->jointree->quals = (Node *) make_ands_explicit(clauses);
	mark_lateral(query, row->again);
	return true;
}

/*
 * The rows whose elements the query reads: that of the level, or its part so many levels below.  False, if it changes
 * nothing: there is none.
 */
static bool
level_reads_again(const Level *level, const Query *query, Index depth, bool changes)
{
	bool		has_read = false;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		OwnRow		row = {.depth = depth};
		const Level *around = level;
		Bitmapset  *keys;

		if (has_read && !changes)
			break;
		if (is_part(rte))
			has_read |= level_reads_again(level, rte->subquery, depth + 1, changes);
		if (!gives_elements(rte) || !expression_tree_walker((Node *) rte->functions, first_outer_walker, &row))
			continue;
		row.depth = 0;
		for (Index up = 0; up < row.up && around != NULL; up++)
			around = around->around;
		if (row.up == 0 || around == NULL || !is_more_than_elements(level, row.up) ||
			!can_be_found(around, row.rti, &keys) ||
			!move_conditions((Node *) level->query->jointree, &row, true, NULL) ||
			query_tree_walker(level->query, reads_more_walker, &row, 0))
			continue;
		has_read |= !changes || read_again(level->query, around->query, &row, keys);
	}
	return has_read;
}

typedef struct Walk
{
	Level	   *level;			/* around the node */
	bool		changes;
} Walk;

static bool levels_walker(Node *node, void *context);

/* Of a level with groups: what it gives of them, of which aggregates' arguments and keys are made of its rows. */
static bool
walk_groups(Walk *walk, const Query *query)
{
	bool		found = false;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		walk->level->has_groups = get_sortgroupref_clause_noerr(entry->ressortgroupref, query->groupClause) == NULL;
		found = found || levels_walker((Node *) entry->expr, walk);
	}
	walk->level->has_groups = true;
	found = found || levels_walker(query->havingQual, walk);
	walk->level->has_groups = false;
	return found;
}

static bool
levels_walker(Node *node, void *context)
{
	Walk	   *walk = context;
	Level		level = {(Query *) node, walk->level};
	bool		had_groups;
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && walk->level->has_groups)
	{
		had_groups = walk->level->has_groups;
		walk->level->has_groups = false;
		found = expression_tree_walker(node, levels_walker, context);
		walk->level->has_groups = had_groups;
		return found;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, levels_walker, context);
	CHECK_FOR_INTERRUPTS();
	if (level.around != NULL && level_reads_again(&level, level.query, 0, walk->changes) && !walk->changes)
		return true;
	walk->level = &level;
	if (level.query->hasAggs || level.query->groupClause != NIL || level.query->groupingSets != NIL ||
		level.query->havingQual != NULL)
		found = walk_groups(walk, level.query);
	else
		found = levels_walker((Node *) level.query->targetList, context);
	found = found || levels_walker((Node *) level.query->jointree, context) ||
		range_table_walker(level.query->rtable, levels_walker, context, 0) ||
		levels_walker((Node *) level.query->cteList, context);
	walk->level = level.around;
	return found;
}

Query *
own_rows_read_again(Query *query)
{
	Walk		walk = {.changes = false};

	if (query->commandType != CMD_SELECT || !levels_walker((Node *) query, &walk))
		return NULL;
	query = copyObject(query);
	walk.changes = true;
	walk.level = NULL;
	(void) levels_walker((Node *) query, &walk);
	return query;
}
