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
 * The join of all relations, ours unless its caller takes the genetic search's
 * place.  NULL: one of them or of their joins is not ours, PostgreSQL's joins may
 * cost less, or no legal order was found.
 */
extern RelOptInfo *join_search_simple(PlannerInfo *root, int levels, List *relations, bool is_genetic);

#endif							/* PENUMBRA_JOIN_SEARCH_H */
