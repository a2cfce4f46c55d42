/*-------------------------------------------------------------------------
 *
 * join_estimates.c
 *	  How many rows come out of a join.
 *
 * PostgreSQL's estimate, where we do not know more than it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/join_estimates.h"
#include "query/paths/row_sample.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/planning.h"

/* Of semi and anti joins; PostgreSQL says "one row" as soon as matches seem to be certain. */
#define MATCHED_SHARE_MIN 0.05
/* Of a table's rows so many distinct keys make a unique key. */
#define UNIQUE_SHARE_MIN 0.5
/* Statistics can be old: a range of which they know nothing may have rows since. */
#define SHARE_WITHIN_MIN 0.001

/*
 * Whether the equalities find one row of the table at most: they have all
 * columns of a unique index.  *keys: those that do, of the index with the least.
 */
static bool
is_unique(RelOptInfo *rel, List *restrictinfos, List **keys)
{
	bool		is_found = false;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		List	   *matched = NIL;
		int			columns = 0;

		if (!index->unique || !index->immediate || index->indpred != NIL)
			continue;
		for (int i = 0; i < index->nkeycolumns; i++)
		{
			ListCell   *lc2;
			int			before = list_length(matched);

			foreach(lc2, restrictinfos)
			{
				RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);

				if (rinfo->can_join &&
					(match_index_to_operand(get_leftop(rinfo->clause), i, index) ||
					 match_index_to_operand(get_rightop(rinfo->clause), i, index)))
					matched = lappend(matched, rinfo);
			}
			columns += list_length(matched) > before;
		}
		if (columns < index->nkeycolumns || (is_found && list_length(matched) >= list_length(*keys)))
			continue;
		is_found = true;
		*keys = matched;
	}
	return is_found;
}

/* How far our estimate of a relation is above PostgreSQL's. */
static double
correction(const RelPipeline *planned, const RelOptInfo *rel)
{
	return planned->rows / Max(rel->rows, 1);
}

/* The largest table of the relation in which the keys are unique: as many values have they at least. */
static void
find_unique(PlannerInfo *root, RelOptInfo *rel, List *restrictinfos, double *values, List **keys)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		RelOptInfo *table = root->simple_rel_array[relid];
		List	   *matched;

		if (table == NULL || table->tuples <= *values || !is_unique(table, restrictinfos, &matched))
			continue;
		*values = table->tuples;
		*keys = matched;
	}
}

/* The clauses without the keys and without other equalities of the same tables, which are mostly copies of them. */
static List *
other_clauses(List *restrictinfos, List *keys)
{
	Relids		relids = NULL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, keys)
		relids = bms_add_members(relids, lfirst_node(RestrictInfo, lc)->clause_relids);
	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->can_join || !bms_is_subset(rinfo->clause_relids, relids))
			others = lappend(others, rinfo);
	}
	return others;
}

/*
 * PostgreSQL multiplies the selectivities of a join's keys, which is far too
 * little for keys of several columns: then it prefers nested loops for what
 * seem to be a few rows.  Where the keys are unique in a table, their number of
 * values together is its number of rows.
 */
static double
rows_of_unique(PlannerInfo *root, RelOptInfo *probe_rel, const RelPipeline *probe,
			   RelOptInfo *build_rel, const RelPipeline *build, JoinPathExtraData *extra)
{
	double		values = 0;
	List	   *keys = NIL;
	List	   *others;

	if (list_length(extra->restrictlist) < 2)
		return 0;
	find_unique(root, probe_rel, extra->restrictlist, &values, &keys);
	find_unique(root, build_rel, extra->restrictlist, &values, &keys);
	if (values < 1)
		return 0;
	others = other_clauses(extra->restrictlist, keys);
	return probe->rows / values * build->rows *
		(others == NIL ? 1 : clauselist_selectivity(root, others, 0, JOIN_INNER, extra->sjinfo));
}

/* The larger of the two tables that the equality compares; NULL: it compares others. */
static RelOptInfo *
larger_table(PlannerInfo *root, const RestrictInfo *rinfo)
{
	RelOptInfo *larger = NULL;
	int			relid = -1;

	if (!rinfo->can_join || bms_num_members(rinfo->clause_relids) != 2)
		return NULL;
	while ((relid = bms_next_member(rinfo->clause_relids, relid)) >= 0)
	{
		RelOptInfo *table = root->simple_rel_array[relid];

		if (table == NULL || table->rtekind != RTE_RELATION)
			return NULL;
		if (larger == NULL || table->tuples > larger->tuples)
			larger = table;
	}
	return larger;
}

/*
 * Several columns of a table have no more combinations than it has rows,
 * unique or not: the selectivity of equalities of two tables is no less than
 * one row of the larger.
 */
static double
selectivity_of_keys(PlannerInfo *root, JoinPathExtraData *extra)
{
	List	   *others = extra->restrictlist;
	double		selectivity = 1;
	ListCell   *lc;

	foreach(lc, extra->restrictlist)
	{
		RestrictInfo *first = lfirst_node(RestrictInfo, lc);
		RelOptInfo *table = larger_table(root, first);
		List	   *keys = NIL;
		ListCell   *lc2;

		if (table == NULL || !list_member_ptr(others, first))
			continue;
		foreach(lc2, others)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);

			if (rinfo->can_join && bms_equal(rinfo->clause_relids, first->clause_relids))
				keys = lappend(keys, rinfo);
		}
		if (list_length(keys) < 2)
			continue;
		others = list_difference_ptr(others, keys);
		selectivity *= Max(clauselist_selectivity(root, keys, 0, JOIN_INNER, extra->sjinfo),
						   1 / Max(table->tuples, 1));
	}
	return selectivity * clauselist_selectivity(root, others, 0, JOIN_INNER, extra->sjinfo);
}

/* Each row of the other side finds one row at most of a table by a unique key. */
static double
rows_at_most(RelOptInfo *probe_rel, const RelPipeline *probe, RelOptInfo *build_rel,
			 const RelPipeline *build, List *restrictinfos)
{
	double		most = probe->rows * build->rows;
	List	   *keys;

	if (is_unique(build_rel, restrictinfos, &keys))
		most = Min(most, probe->rows);
	if (is_unique(probe_rel, restrictinfos, &keys))
		most = Min(most, build->rows);
	return most;
}

/*
 * What PostgreSQL's selectivities make of our estimates of the inputs.  Its own
 * estimate does not tell: where it says "one row" it may have meant a millionth.
 */
static double
rows_of_inner(PlannerInfo *root, RelOptInfo *probe_rel, const RelPipeline *probe,
			  RelOptInfo *build_rel, const RelPipeline *build, JoinPathExtraData *extra, double row_factor)
{
	double		rows = probe->rows * build->rows * row_factor * selectivity_of_keys(root, extra);

	rows = Max(rows, rows_of_unique(root, probe_rel, probe, build_rel, build, extra));
	return clamp_row_est(Min(rows, rows_at_most(probe_rel, probe, build_rel, build, extra->restrictlist)));
}

double
join_estimates_rows(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel, const RelPipeline *probe,
		  RelOptInfo *build_rel, const RelPipeline *build, PenumbraJoinKind kind,
		  JoinPathExtraData *extra, double row_factor)
{
	double		rows;

	switch (kind)
	{
		case PENUMBRA_JOIN_INNER:
			return rows_of_inner(root, probe_rel, probe, build_rel, build, extra, row_factor);
		case PENUMBRA_JOIN_SEMI:
		case PENUMBRA_JOIN_ANTI:
			return Max(joinrel->rows * correction(probe, probe_rel), probe->rows * MATCHED_SHARE_MIN);
		case PENUMBRA_JOIN_RIGHT_SEMI:
		case PENUMBRA_JOIN_RIGHT_ANTI:
			return Max(joinrel->rows * correction(build, build_rel), build->rows * MATCHED_SHARE_MIN);
		default:
			rows = joinrel->rows * correction(probe, probe_rel) * correction(build, build_rel) * row_factor;
			/* An outer join has at least the rows of each side that it preserves. */
			if (kind != PENUMBRA_JOIN_RIGHT)
				rows = Max(rows, probe->rows);
			return kind == PENUMBRA_JOIN_LEFT ? rows : Max(rows, build->rows);
	}
}

/* ---------------------------------------------------------------- distinct values of subqueries */

static double distinct_values(PlannerInfo *root, Node *expr);

/* Of a column of a UNION ALL: at most those of all members. */
static double
distinct_of_union(PlannerInfo *root, const Var *var)
{
	double		distinct = 0;
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		if (appinfo->parent_relid == var->varno && list_length(appinfo->translated_vars) >= var->varattno &&
			!base_pipelines_is_empty(root->simple_rel_array[appinfo->child_relid]))
			distinct += distinct_values(root, list_nth(appinfo->translated_vars, var->varattno - 1));
	}
	return distinct;
}

/* Of a column of a set operation; 0: not known. */
static double
distinct_of_operation(PlannerInfo *root, Node *node, AttrNumber column)
{
	const SetOperationStmt *operation = (SetOperationStmt *) node;
	double		left;
	double		right;

	if (IsA(node, RangeTblRef))
	{
		const RelOptInfo *rel = root->simple_rel_array[((RangeTblRef *) node)->rtindex];
		TargetEntry *entry = rel == NULL || rel->subroot == NULL ? NULL
			: get_tle_by_resno(rel->subroot->processed_tlist, column);

		return entry == NULL ? 0 : distinct_values(rel->subroot, (Node *) entry->expr);
	}
	left = distinct_of_operation(root, operation->larg, column);
	right = distinct_of_operation(root, operation->rarg, column);
	if (operation->op == SETOP_EXCEPT || left == 0)
		return left;
	return operation->op == SETOP_UNION ? left + right : Min(left, right);
}

/* What the column of the subquery has; 0: not known. */
static double
distinct_of_subquery(PlannerInfo *root, const Var *var)
{
	const RangeTblEntry *rte = root->simple_rte_array[var->varno];
	RelOptInfo *rel = root->simple_rel_array[var->varno];
	CommonTableExpr *cte;
	PlannerInfo *subroot = rte->rtekind == RTE_CTE ? planning_level_of_cte(root, rte, &cte) : rel->subroot;
	TargetEntry *entry;

	if (rte->inh)
		return distinct_of_union(root, var);
	if (subroot != NULL && subroot->parse->setOperations != NULL)
		return Min(distinct_of_operation(subroot, subroot->parse->setOperations, var->varattno), rel->rows);
	entry = subroot == NULL ? NULL : get_tle_by_resno(subroot->processed_tlist, var->varattno);
	return entry == NULL ? 0 : Min(distinct_values(subroot, (Node *) entry->expr), rel->rows);
}

/* How many distinct values the expression has; 0: not known. */
static double
distinct_values(PlannerInfo *root, Node *expr)
{
	VariableStatData stats;
	const Var  *var = (const Var *) strip_implicit_coercions(expr);
	bool		is_default;
	double		distinct;

	if (IsA(var, Var) && var->varlevelsup == 0 && var->varattno > 0 && var->varno < root->simple_rel_array_size &&
		(root->simple_rte_array[var->varno]->rtekind == RTE_SUBQUERY ||
		 root->simple_rte_array[var->varno]->rtekind == RTE_CTE))
		return distinct_of_subquery(root, var);
	distinct = row_sample_distinct(root, expr);
	if (distinct > 0)
		return distinct;
	examine_variable(root, expr, 0, &stats);
	distinct = get_variable_numdistinct(&stats, &is_default);
	ReleaseVariableStats(stats);
	return is_default ? 0 : distinct;
}

static double share_within(PlannerInfo *root, Var *var, const ColumnBounds *bounds);

/* Of a column of a UNION ALL, as many rows of each member as it has; below 0: not known. */
static double
share_of_union_within(PlannerInfo *root, const Var *var, const ColumnBounds *bounds)
{
	double		rows = 0;
	double		rows_within = 0;
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *member = root->simple_rel_array[appinfo->child_relid];
		Node	   *column;
		double		share;

		if (appinfo->parent_relid != var->varno || base_pipelines_is_empty(member))
			continue;
		column = list_length(appinfo->translated_vars) < var->varattno ? NULL
			: list_nth(appinfo->translated_vars, var->varattno - 1);
		if (column == NULL || !IsA(column, Var) || (share = share_within(root, (Var *) column, bounds)) < 0)
			return -1;
		rows += member->rows;
		rows_within += member->rows * share;
	}
	return rows > 0 ? rows_within / rows : -1;
}

/* The share of the rows whose column is within the bounds, by the statistics; below 0: there are none. */
static double
share_within(PlannerInfo *root, Var *var, const ColumnBounds *bounds)
{
	VariableStatData stats;
	bool		is_known;
	List	   *clauses;

	if (var->varno < root->simple_rel_array_size && root->simple_rte_array[var->varno]->rtekind == RTE_SUBQUERY &&
		root->simple_rte_array[var->varno]->inh)
		return share_of_union_within(root, var, bounds);
	examine_variable(root, (Node *) var, 0, &stats);
	is_known = HeapTupleIsValid(stats.statsTuple);
	ReleaseVariableStats(stats);
	clauses = is_known ? row_sample_clauses_within(var, bounds) : NIL;
	return clauses == NIL ? -1 : clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL);
}

/*
 * By which factor more rows of the other side find a partner than PostgreSQL
 * thinks, who spreads them evenly over all `assumed` keys of this side.  The
 * sample knows the least and the greatest key that passes this side's quals.
 * Most keys between these bounds pass, and none outside of them does: the
 * other side's rows within the bounds are spread over the keys between them.
 */
static double
factor_of_bounds(PlannerInfo *root, const Var *key, Var *other, double assumed, const ColumnBounds *bounds)
{
	double		tuples = bounds == NULL ? 0 : root->simple_rel_array[key->varno]->tuples;
	double		keys;
	double		share;

	/* Of other than unique keys the rows between the bounds do not tell the number. */
	if (bounds == NULL || !IsA(other, Var) || key->vartype != other->vartype || assumed < tuples * UNIQUE_SHARE_MIN)
		return 1;
	/* What passes the other side's quals may depend on them. */
	if ((share = row_sample_share_within(root, other, bounds)) < 0 && (share = share_within(root, other, bounds)) < 0)
		return 1;
	keys = Min((double) bounds->greatest - (double) bounds->least + 1, tuples);
	return Max(share, SHARE_WITHIN_MIN) * assumed / keys;
}

/*
 * Where the key's table is joined to another one first, whose quals bound the
 * column that joins them, the key has the bounds of the rows that this leaves:
 * of a calendar that is joined by its weeks to a year of itself, that year's.
 * Adds what the factor is then; rest: the factor that does not depend on it.
 */
static void
add_narrowed_factors(PlannerInfo *root, Var *key, Var *other, double assumed, double rest, List **narrowed)
{
	ListCell   *lc;
	ListCell   *lc2;
	ListCell   *lc3;

	foreach(lc, IsA(key, Var) && IsA(other, Var) && key->varlevelsup == 0 ? root->eq_classes : NIL)
	{
		EquivalenceClass *class = lfirst_node(EquivalenceClass, lc);

		foreach(lc2, bms_is_member(key->varno, class->ec_relids) ? class->ec_members : NIL)
		{
			Var		   *by = (Var *) ((EquivalenceMember *) lfirst(lc2))->em_expr;

			foreach(lc3, IsA(by, Var) && by->varno == key->varno ? class->ec_members : NIL)
			{
				Var		   *joined = (Var *) ((EquivalenceMember *) lfirst(lc3))->em_expr;
				const ColumnBounds *bounds = row_sample_bounds(root, (Node *) joined);
				RowFactor  *factor;

				if (bounds == NULL || joined->varno == by->varno || joined->varno == other->varno ||
					joined->vartype != by->vartype)
					continue;
				factor = palloc(sizeof(RowFactor));
				factor->relids = bms_add_member(bms_make_singleton(by->varno), joined->varno);
				factor->factor = rest * factor_of_bounds(root, key, other, assumed,
														 row_sample_bounds_within(root, key, by, bounds));
				*narrowed = lappend(*narrowed, factor);
			}
		}
	}
}

/*
 * Of a subquery's columns PostgreSQL takes 200 distinct values for granted,
 * where joins of groups of tens of thousands find one partner each.
 */
double
join_estimates_row_factor(PlannerInfo *root, const OpExpr *equality, List **narrowed)
{
	Node	   *left = strip_implicit_coercions(linitial(equality->args));
	Node	   *right = strip_implicit_coercions(lsecond(equality->args));
	double		distinct = 0;
	double		assumed = 0;
	double		factor;
	double		of_left;
	double		of_right;
	ListCell   *lc;

	foreach(lc, equality->args)
	{
		VariableStatData stats;
		bool		is_default;
		double		known = distinct_values(root, lfirst(lc));
		double		taken;

		examine_variable(root, lfirst(lc), 0, &stats);
		taken = get_variable_numdistinct(&stats, &is_default);
		ReleaseVariableStats(stats);
		assumed = Max(assumed, taken);
		distinct = Max(distinct, known > 0 ? (is_default ? known : Max(known, taken)) : taken);
	}
	factor = assumed / Max(distinct, 1);
	of_left = factor_of_bounds(root, (Var *) left, (Var *) right, assumed, row_sample_bounds(root, left));
	of_right = factor_of_bounds(root, (Var *) right, (Var *) left, assumed, row_sample_bounds(root, right));
	add_narrowed_factors(root, (Var *) left, (Var *) right, assumed, factor * of_right, narrowed);
	add_narrowed_factors(root, (Var *) right, (Var *) left, assumed, factor * of_left, narrowed);
	return factor * of_left * of_right;
}
