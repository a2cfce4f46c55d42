/*-------------------------------------------------------------------------
 *
 * quals.c
 *	  The order in which PostgreSQL evaluates conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"

#include "query/planning/quals.h"

static Cost
qual_cost(PlannerInfo *root, Node *qual)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, qual, root);
	return cost.per_tuple;
}

Index
quals_level(const void *qual)
{
	const RestrictInfo *rinfo = qual;

	return !IsA(rinfo, RestrictInfo) || rinfo->leakproof ? 0 : rinfo->security_level;
}

List *
quals_sort(PlannerInfo *root, List *quals)
{
	List	   *sorted = NIL;
	ListCell   *lc;

	foreach(lc, quals)
	{
		Node	   *qual = lfirst(lc);
		Cost		cost = qual_cost(root, qual);
		int			place = list_length(sorted);

		while (place > 0)
		{
			Node	   *before = list_nth(sorted, place - 1);

			if (quals_level(before) < quals_level(qual) ||
				(quals_level(before) == quals_level(qual) &&
				 qual_cost(root, before) <= cost))
				break;
			place--;
		}
		sorted = list_insert_nth(sorted, place, qual);
	}
	return sorted;
}
