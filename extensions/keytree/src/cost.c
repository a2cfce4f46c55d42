/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What a scan costs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "cost.h"

/* What btree charges for each page that it goes through, in the same unit. */
#define OPERATORS_PER_PAGE 50.0

/* Whether the scan can find one entry at most. */
static bool
finds_one_entry(const IndexPath *path)
{
	const IndexOptInfo *index = path->indexinfo;
	bool		has_equality = false;
	ListCell   *clause_cell;

	if (!index->unique)
		return false;
	foreach(clause_cell, path->indexclauses)
	{
		ListCell   *qual_cell;

		foreach(qual_cell, lfirst_node(IndexClause, clause_cell)->indexquals)
		{
			Expr	   *clause = lfirst_node(RestrictInfo, qual_cell)->clause;

			if (!IsA(clause, OpExpr))
				return false;
			has_equality |= get_op_opfamily_strategy(((OpExpr *) clause)->opno, index->opfamily[0]) ==
				BTEqualStrategyNumber;
		}
	}
	return has_equality;
}

/* How much the heap's order is that of the key, from the column's statistics. */
static double
correlation_of(PlannerInfo *root, const IndexOptInfo *index)
{
	RangeTblEntry *table = planner_rt_fetch(index->rel->relid, root);
	bool		is_column = index->indexkeys[0] != 0;
	VariableStatData statistics = {0};
	AttStatsSlot slot;
	Oid			less;
	double		correlation = 0.0;

	if (is_column && get_relation_stats_hook != NULL &&
		get_relation_stats_hook(root, table, index->indexkeys[0], &statistics))
		;
	else if (!is_column && get_index_stats_hook != NULL &&
			 get_index_stats_hook(root, index->indexoid, 1, &statistics))
		;
	else
	{
		statistics.statsTuple = SearchSysCache3(STATRELATTINH,
												ObjectIdGetDatum(is_column ? table->relid : index->indexoid),
												Int16GetDatum(is_column ? index->indexkeys[0] : 1),
												BoolGetDatum(is_column && table->inh));
		statistics.freefunc = ReleaseSysCache;
	}
	less = get_opfamily_member(index->opfamily[0], index->opcintype[0], index->opcintype[0], BTLessStrategyNumber);
	if (HeapTupleIsValid(statistics.statsTuple) && OidIsValid(less) &&
		get_attstatsslot(&slot, statistics.statsTuple, STATISTIC_KIND_CORRELATION, less, ATTSTATSSLOT_NUMBERS))
	{
		correlation = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(statistics);
	return correlation;
}

/*
 * As btree's, but for the descent: inner levels are searched in the backend's
 * own copy, so the leaf is the only page to go through.
 */
void
keytree_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
					  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
					  double *correlation, double *pages)
{
	const IndexOptInfo *index = path->indexinfo;
	GenericCosts costs = {0};
	Cost		descent_cost;

	if (finds_one_entry(path))
		costs.numIndexTuples = 1.0;
	genericcostestimate(root, path, loop_count, &costs);
	descent_cost = (OPERATORS_PER_PAGE + ceil(log2(Max(index->tuples, 1.0)))) * cpu_operator_cost;
	*startup_cost = costs.indexStartupCost + descent_cost;
	*total_cost = costs.indexTotalCost + costs.num_sa_scans * descent_cost;
	*selectivity = costs.indexSelectivity;
	*correlation = correlation_of(root, index);
	*pages = costs.numIndexPages;
}
