/*-------------------------------------------------------------------------
 *
 * hypothetical_sets.c
 *	  rank() and the like WITHIN GROUP, as counts.
 *
 * PostgreSQL sorts the group's rows and the hypothetical one, and counts what comes before it.  These are the rows
 * whose keys compare so with the hypothetical ones, the first that differs deciding:
 *
 *	rank			1 + the rows before
 *	dense_rank		1 + their distinct keys; a NULL is as good as a value
 *	percent_rank	the rows before / all rows; 0 without rows
 *	cume_dist		(1 + the rows before and the peers) / (1 + all rows)
 *
 * PostgreSQL evaluates the hypothetical keys once for a group, and all keys of each row.  The comparisons do so for
 * each row, and read a key only where those before it are equal.  So what is not evaluated alike must not fail.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths/hypothetical_sets.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_sort.h"

/* A key of the rows and the hypothetical one. */
typedef struct HypotheticalKey
{
	Node	   *key;
	Node	   *value;
	bool		is_descending;
	bool		nulls_first;
} HypotheticalKey;

/* Whether each row of a group gives the value that the group has. */
static bool
is_of_group(Node *value, bool has_sets)
{
	return !expr_can_fail(value) && !contain_volatile_functions(value) && !contain_subplans(value) &&
		bms_is_empty(pull_paramids((Expr *) value)) && !(has_sets && contain_var_clause(value));
}

static bool
find_key(const Aggref *aggref, int number, bool has_sets, HypotheticalKey *found)
{
	const SortGroupClause *clause = list_nth_node(SortGroupClause, aggref->aggorder, number);
	bool		is_known;

	found->key = get_sortgroupclause_expr((SortGroupClause *) clause, aggref->args);
	found->value = list_nth(aggref->aggdirectargs, number);
	found->nulls_first = clause->nulls_first;
	is_known = IsA(found->value, Const) && !((const Const *) found->value)->constisnull;
	return exprType(found->value) == exprType(found->key) && (is_known || is_of_group(found->value, has_sets)) &&
		((number == 0 && is_known) || !expr_can_fail(found->key)) &&
		stage_sort_direction(clause, found->key, &found->is_descending);
}

/* The keys; NIL: the aggregate is none of these. */
static List *
find_keys(const Aggref *aggref, bool has_sets)
{
	List	   *keys = NIL;

	if (aggref->aggkind != AGGKIND_HYPOTHETICAL || aggref->aggvariadic || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		list_length(aggref->aggdirectargs) != list_length(aggref->aggorder))
		return NIL;
	for (int i = 0; i < list_length(aggref->aggorder); i++)
	{
		HypotheticalKey *key = palloc(sizeof(HypotheticalKey));

		if (!find_key(aggref, i, has_sets, key))
			return NIL;
		keys = lappend(keys, key);
	}
	return keys;
}

static Expr *
is_null(Node *key)
{
	return (Expr *) pipeline_null_test(key, IS_NULL);
}

/* key <strategy> value; NULL: the type has no such operator. */
static Expr *
comparison(const HypotheticalKey *key, int strategy)
{
	Oid			type = exprType(key->key);
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			operator = OidIsValid(family) ? get_opfamily_member(family, type, type, strategy) : InvalidOid;
	Expr	   *compared;

	if (!OidIsValid(operator))
		return NULL;
	compared = make_opclause(operator, BOOLOID, false, (Expr *) key->key, (Expr *) key->value, InvalidOid,
							 exprCollation(key->key));
	set_opfuncid((OpExpr *) compared);
	return compared;
}

static Expr *
both(Expr *left, Expr *right)
{
	return make_andclause(list_make2(left, right));
}

static Expr *
either(Expr *left, Expr *right)
{
	return left == NULL ? NULL : make_orclause(list_make2(left, right));
}

/* Whether a row comes before the hypothetical one by the key alone. */
static Expr *
is_before(const HypotheticalKey *key)
{
	Node	   *last = key->nulls_first ? key->key : key->value;
	Node	   *first = key->nulls_first ? key->value : key->key;

	return either(comparison(key, key->is_descending ? BTGreaterStrategyNumber : BTLessStrategyNumber),
				  both(is_null(last), make_notclause(is_null(first))));
}

static Expr *
is_before_or_peer(const HypotheticalKey *key)
{
	return either(comparison(key, key->is_descending ? BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber),
				  is_null(key->nulls_first ? key->key : key->value));
}

static Expr *
is_peer(const HypotheticalKey *key)
{
	return either(comparison(key, BTEqualStrategyNumber), both(is_null(key->key), is_null(key->value)));
}

/* Whether a row's keys are before the hypothetical ones, or peers, too; NULL: not known.  Not true may be NULL. */
static Expr *
rows_before(List *keys, bool has_peers)
{
	List	   *ways = NIL;
	List	   *peers = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		const HypotheticalKey *key = lfirst(lc);
		Expr	   *before = has_peers && lnext(keys, lc) == NULL ? is_before_or_peer(key) : is_before(key);
		Expr	   *peer = is_peer(key);

		if (before == NULL || peer == NULL)
			return NULL;
		ways = lappend(ways, make_ands_explicit(lappend(list_copy(peers), before)));
		peers = lappend(peers, peer);
	}
	return (Expr *) eval_const_expressions(NULL, (Node *) (list_length(ways) == 1 ? linitial(ways)
														   : (void *) make_orclause(ways)));
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

/* count(DISTINCT key), or of rows of several keys. */
static Aggref *
count_of_distinct(const Aggref *aggref, List *keys, Expr *condition)
{
	Aggref	   *count = count_of(aggref, condition);
	const HypotheticalKey *first = linitial(keys);

	count->aggfnoid = F_COUNT_ANY;
	count->aggstar = false;
	if (list_length(keys) == 1)
	{
		count->aggargtypes = list_make1_oid(exprType(first->key));
		count->inputcollid = exprCollation(first->key);
		count->args = aggref->args;
		count->aggdistinct = aggref->aggorder;
	}
	else
	{
		RowExpr    *row = makeNode(RowExpr);
		SortGroupClause *clause = makeNode(SortGroupClause);
		TargetEntry *entry = makeTargetEntry((Expr *) row, 1, NULL, false);
		ListCell   *lc;

		row->row_typeid = RECORDOID;
		row->row_format = COERCE_EXPLICIT_CALL;
		row->location = -1;
		foreach(lc, keys)
			row->args = lappend(row->args, ((const HypotheticalKey *) lfirst(lc))->key);
		get_sort_group_operators(RECORDOID, true, true, false, &clause->sortop, &clause->eqop, NULL, NULL);
		entry->ressortgroupref = clause->tleSortGroupRef = 1;
		count->aggargtypes = list_make1_oid(RECORDOID);
		count->args = list_make1(entry);
		count->aggdistinct = list_make1(clause);
	}
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
	return pipeline_case(exprType(value), InvalidOid, list_make1(pipeline_when(condition, value)), other);
}

/* Of one key count(DISTINCT) leaves NULL out, which is before the others or nowhere. */
static Node *
dense_rank_of(const Aggref *aggref, List *keys, Expr *before, List **counts)
{
	const HypotheticalKey *key = linitial(keys);
	Aggref	   *count = count_of_distinct(aggref, keys, before);
	Aggref	   *nulls;

	*counts = list_append_unique(*counts, count);
	if (list_length(keys) > 1 || !key->nulls_first)
		return plus_one((Node *) count);
	nulls = count_of(aggref, (Expr *) eval_const_expressions(NULL, (Node *) both(is_null(key->key),
																				make_notclause(is_null(key->value)))));
	*counts = list_append_unique(*counts, nulls);
	return choose(pipeline_compare_int8(nulls, BTEqualStrategyNumber, 0), plus_one((Node *) count),
				  plus_one(plus_one((Node *) count)));
}

/* The value by counts, which are added to the list; NULL: it is none of these aggregates, or not known by counts. */
static Node *
value_of(const Aggref *aggref, bool has_sets, List **counts)
{
	List	   *keys = find_keys(aggref, has_sets);
	Expr	   *before = keys == NIL ? NULL : rows_before(keys, aggref->aggfnoid == F_CUME_DIST_ANY);
	Aggref	   *count;
	Aggref	   *all;

	if (before == NULL)
		return NULL;
	if (aggref->aggfnoid == F_DENSE_RANK_ANY)
		return dense_rank_of(aggref, keys, before, counts);
	if (aggref->aggfnoid != F_RANK_ANY && aggref->aggfnoid != F_PERCENT_RANK_ANY && aggref->aggfnoid != F_CUME_DIST_ANY)
		return NULL;
	count = count_of(aggref, before);
	*counts = list_append_unique(*counts, count);
	if (aggref->aggfnoid == F_RANK_ANY)
		return plus_one((Node *) count);
	all = count_of(aggref, NULL);
	*counts = list_append_unique(*counts, all);
	if (aggref->aggfnoid == F_CUME_DIST_ANY)
		return ratio_of(plus_one((Node *) count), plus_one((Node *) all));
	return choose(pipeline_compare_int8(all, BTEqualStrategyNumber, 0),
				  (Node *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(0), false,
									 FLOAT8PASSBYVAL),
				  ratio_of((Node *) count, (Node *) all));
}

List *
hypothetical_sets_replace(List *aggrefs, bool has_sets, List **replaced, List **values)
{
	List	   *all = NIL;
	ListCell   *lc;

	*replaced = *values = NIL;
	foreach(lc, aggrefs)
	{
		Node	   *value = value_of(lfirst_node(Aggref, lc), has_sets, &all);

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
