/*-------------------------------------------------------------------------
 *
 * join_rows.c
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
#include "utils/selfuncs.h"

#include "query/join_rows.h"
#include "query/planned.h"

/* Of semi and anti joins; PostgreSQL says "one row" as soon as matches seem to be certain. */
#define MATCHED_SHARE_MIN 0.05

/* Whether the equalities find one row of the table at most: they have all columns of a unique index. */
static bool
is_unique(RelOptInfo *rel, List *restrictinfos)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		int			found = 0;

		if (!index->unique || !index->immediate || index->indpred != NIL)
			continue;
		for (int i = 0; i < index->nkeycolumns; i++)
		{
			ListCell   *lc2;

			foreach(lc2, restrictinfos)
			{
				RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc2);

				if (rinfo->can_join &&
					(match_index_to_operand(get_leftop(rinfo->clause), i, index) ||
					 match_index_to_operand(get_rightop(rinfo->clause), i, index)))
					break;
			}
			if (lc2 != NULL)
				found++;
		}
		if (found == index->nkeycolumns)
			return true;
	}
	return false;
}

/* How far our estimate of a relation is above PostgreSQL's. */
static double
correction(const PlannedPipeline *planned, const RelOptInfo *rel)
{
	return Max(planned->rows / Max(rel->rows, 1), 1);
}

/*
 * PostgreSQL multiplies the selectivities of a join's keys, which is far too
 * little for keys of several columns: then it prefers nested loops for what
 * seem to be a few rows.  Where the keys are unique in a table of one side,
 * each row of the other finds its one, if that is still in the relation.
 */
static double
rows_of_unique(PlannerInfo *root, RelOptInfo *rel, double rel_rows, double other_rows,
			   List *restrictinfos)
{
	double		rows = 0;
	int			relid = -1;

	if (list_length(restrictinfos) < 2)
		return 0;
	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		RelOptInfo *table = root->simple_rel_array[relid];

		if (table != NULL && table->tuples >= 1 && is_unique(table, restrictinfos))
			rows = Max(rows, other_rows * Min(rel_rows / table->tuples, 1));
	}
	return rows;
}

double
join_rows(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel, const PlannedPipeline *probe,
		  RelOptInfo *build_rel, const PlannedPipeline *build, PenumbraJoinKind kind,
		  List *restrictinfos, double row_factor)
{
	double		rows = joinrel->rows * correction(probe, probe_rel) * row_factor;

	if (kind == PENUMBRA_JOIN_SEMI || kind == PENUMBRA_JOIN_ANTI)
		return Max(rows, probe->rows * MATCHED_SHARE_MIN);
	if (kind == PENUMBRA_JOIN_RIGHT_SEMI || kind == PENUMBRA_JOIN_RIGHT_ANTI)
		return Max(joinrel->rows * correction(build, build_rel) * row_factor, build->rows * MATCHED_SHARE_MIN);
	rows *= correction(build, build_rel);
	if (kind == PENUMBRA_JOIN_LEFT || kind == PENUMBRA_JOIN_FULL)
		rows = Max(rows, probe->rows);
	if (kind == PENUMBRA_JOIN_RIGHT || kind == PENUMBRA_JOIN_FULL)
		rows = Max(rows, build->rows);
	if (kind != PENUMBRA_JOIN_INNER)
		return rows;
	rows = Max(rows, rows_of_unique(root, build_rel, build->rows, probe->rows, restrictinfos));
	return Max(rows, rows_of_unique(root, probe_rel, probe->rows, build->rows, restrictinfos));
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
			!planned_is_empty(root->simple_rel_array[appinfo->child_relid]))
			distinct += distinct_values(root, list_nth(appinfo->translated_vars, var->varattno - 1));
	}
	return distinct;
}

/* What the column of the subquery has; 0: not known. */
static double
distinct_of_subquery(PlannerInfo *root, const Var *var)
{
	RelOptInfo *rel = root->simple_rel_array[var->varno];
	PlannerInfo *subroot = rel->subroot;
	TargetEntry *entry;

	if (root->simple_rte_array[var->varno]->inh)
		return distinct_of_union(root, var);
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
		root->simple_rte_array[var->varno]->rtekind == RTE_SUBQUERY)
		return distinct_of_subquery(root, var);
	examine_variable(root, expr, 0, &stats);
	distinct = get_variable_numdistinct(&stats, &is_default);
	ReleaseVariableStats(stats);
	return is_default ? 0 : distinct;
}

/*
 * Of a subquery's columns PostgreSQL takes 200 distinct values for granted,
 * where joins of groups of tens of thousands find one partner each.
 */
double
join_rows_factor(PlannerInfo *root, const OpExpr *equality)
{
	double		distinct = 0;
	double		assumed = 0;
	ListCell   *lc;

	foreach(lc, equality->args)
	{
		VariableStatData stats;
		bool		is_default;

		examine_variable(root, lfirst(lc), 0, &stats);
		assumed = Max(assumed, get_variable_numdistinct(&stats, &is_default));
		ReleaseVariableStats(stats);
		distinct = Max(distinct, distinct_values(root, lfirst(lc)));
	}
	return distinct > assumed ? assumed / distinct : 1;
}
