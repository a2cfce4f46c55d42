/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  What a scan costs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_COST_H
#define KEYTREE_COST_H

#include "nodes/pathnodes.h"

extern void keytree_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count,
								  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
								  double *correlation, double *pages);

#endif							/* KEYTREE_COST_H */
