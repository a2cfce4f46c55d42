/*-------------------------------------------------------------------------
 *
 * hypothetical_sets.c
 *	  rank() and the like WITHIN GROUP, as counts.
 *
 * PostgreSQL sorts the group's rows and the hypothetical one, and counts what comes before it.  Of one key and a
 * constant these are the rows that compare with it:
 *
 *	rank			1 + the rows before
 *	dense_rank		1 + their distinct values, of which NULL is one
 *	percent_rank	the rows before / all rows; 0 without rows
 *	cume_dist		(1 + the rows before and the peers) / (1 + all rows)
 *
 * What has several keys, or another argument, is left as it is, and the engine refuses it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths/hypothetical_sets.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_sort.h"

/* The key and the order of a hypothetical row. */
typedef struct HypotheticalRow
{
	Node	   *key;
	const Const *value;
	bool		is_descending;
	bool		nulls_first;
} HypotheticalRow;

static bool
find_row(const Aggref *aggref, HypotheticalRow *row)
{
	const SortGroupClause *clause;

	if (aggref->aggkind != AGGKIND_HYPOTHETICAL || list_length(aggref->aggorder) != 1 ||
		list_length(aggref->aggdirectargs) != 1 || aggref->aggsplit != AGGSPLIT_SIMPLE)
		return false;
	clause = linitial_node(SortGroupClause, aggref->aggorder);
	row->key = get_sortgroupclause_expr((SortGroupClause *) clause, aggref->args);
	row->value = linitial(aggref->aggdirectargs);
	row->nulls_first = clause->nulls_first;
	return IsA(row->value, Const) && !row->value->constisnull && row->value->consttype == exprType(row->key) &&
		stage_sort_direction(clause, row->key, &row->is_descending);
}

static Expr *
is_null(Node *key)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) key;
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return (Expr *) test;
}

/* Whether a row's key is before the hypothetical one, or a peer. */
static Expr *
comparison(const HypotheticalRow *row, bool has_peers)
{
	Oid			type = exprType(row->key);
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	int			strategy = row->is_descending ? (has_peers ? BTGreaterEqualStrategyNumber : BTGreaterStrategyNumber)
		: (has_peers ? BTLessEqualStrategyNumber : BTLessStrategyNumber);
	Oid			operator = OidIsValid(family) ? get_opfamily_member(family, type, type, strategy) : InvalidOid;
	Expr	   *compared;

	if (!OidIsValid(operator))
		return NULL;
	compared = make_opclause(operator, BOOLOID, false, (Expr *) row->key, (Expr *) row->value, InvalidOid,
							 exprCollation(row->key));
	set_opfuncid((OpExpr *) compared);
	return compared;
}

/* count(*) of the group's rows for which the condition is true, if there is one. */
static Aggref *
count_of(const Aggref *aggref, Expr *condition)
{
	Aggref	   *count = pipeline_aggref(F_COUNT_, INT8OID, NULL, InvalidOid);

	count->aggfilter = condition == NULL || aggref->aggfilter == NULL
		? (condition == NULL ? aggref->aggfilter : condition)
		: make_andclause(list_make2(aggref->aggfilter, condition));
	return count;
}

static Aggref *
count_of_distinct(const Aggref *aggref, Node *key, Expr *condition)
{
	Aggref	   *count = count_of(aggref, condition);

	count->aggfnoid = F_COUNT_ANY;
	count->aggargtypes = list_make1_oid(exprType(key));
	count->aggstar = false;
	count->inputcollid = exprCollation(key);
	count->args = aggref->args;
	count->aggdistinct = aggref->aggorder;
	return count;
}

static Node *
plus_one(Node *count)
{
	return (Node *) makeFuncExpr(F_INT8PL, INT8OID,
								 list_make2(count, makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1),
															 false, FLOAT8PASSBYVAL)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
as_float(Node *count)
{
	return (Node *) makeFuncExpr(F_FLOAT8_INT8, FLOAT8OID, list_make1(count), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CAST);
}

static Node *
ratio_of(Node *part, Node *whole)
{
	return (Node *) makeFuncExpr(F_FLOAT8DIV, FLOAT8OID, list_make2(as_float(part), as_float(whole)), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

static Node *
choose(Node *condition, Node *value, Node *other)
{
	CaseExpr   *either = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = (Expr *) condition;
	when->result = (Expr *) value;
	either->casetype = exprType(value);
	either->args = list_make1(when);
	either->defresult = (Expr *) other;
	return (Node *) either;
}

/* The value by counts, which are added to the list; NULL: it is none of these aggregates, or not of one constant. */
static Node *
value_of(const Aggref *aggref, List **counts)
{
	HypotheticalRow row;
	Expr	   *before;
	Aggref	   *count;
	Aggref	   *more;

	if (!find_row(aggref, &row) || (before = comparison(&row, aggref->aggfnoid == F_CUME_DIST_ANY)) == NULL)
		return NULL;
	if (aggref->aggfnoid == F_DENSE_RANK_ANY)
	{
		count = count_of_distinct(aggref, row.key, before);
		*counts = list_append_unique(*counts, count);
		if (!row.nulls_first)
			return plus_one((Node *) count);
		more = count_of(aggref, is_null(row.key));
		*counts = list_append_unique(*counts, more);
		return choose(pipeline_compare_int8(more, BTEqualStrategyNumber, 0), plus_one((Node *) count),
					  plus_one(plus_one((Node *) count)));
	}
	count = count_of(aggref, row.nulls_first ? make_orclause(list_make2(before, is_null(row.key))) : before);
	*counts = list_append_unique(*counts, count);
	if (aggref->aggfnoid == F_RANK_ANY)
		return plus_one((Node *) count);
	if (aggref->aggfnoid != F_PERCENT_RANK_ANY && aggref->aggfnoid != F_CUME_DIST_ANY)
		return NULL;
	more = count_of(aggref, NULL);
	*counts = list_append_unique(*counts, more);
	if (aggref->aggfnoid == F_CUME_DIST_ANY)
		return ratio_of(plus_one((Node *) count), plus_one((Node *) more));
	return choose(pipeline_compare_int8(more, BTEqualStrategyNumber, 0),
				  (Node *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(0), false,
									 FLOAT8PASSBYVAL),
				  ratio_of((Node *) count, (Node *) more));
}

List *
hypothetical_sets_replace(List *aggrefs, List **replaced, List **values)
{
	List	   *all = NIL;
	ListCell   *lc;

	*replaced = *values = NIL;
	foreach(lc, aggrefs)
	{
		Node	   *value = value_of(lfirst_node(Aggref, lc), &all);

		if (value == NULL)
		{
			all = list_append_unique(all, lfirst(lc));
			continue;
		}
		*replaced = lappend(*replaced, lfirst(lc));
		*values = lappend(*values, value);
	}
	return all;
}
