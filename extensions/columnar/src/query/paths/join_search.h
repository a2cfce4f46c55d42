/*-------------------------------------------------------------------------
 *
 * join_search.h
 *	  The order of joins of more relations than can all be tried.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_JOIN_SEARCH_H
#define PENUMBRA_JOIN_SEARCH_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * The join of all relations, in place of the genetic search; NULL: one of them
 * or of their joins is not ours, or no legal order was found.
 */
extern RelOptInfo *join_search_greedy(PlannerInfo *root, List *relations);

#endif							/* PENUMBRA_JOIN_SEARCH_H */
