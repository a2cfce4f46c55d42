/*-------------------------------------------------------------------------
 *
 * quals.h
 *	  The order in which PostgreSQL evaluates conditions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_QUALS_H
#define PENUMBRA_QUALS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* A leakproof qual may see every row; one of groups has no level. */
extern Index quals_level(const void *qual);
/* RestrictInfos or clauses by security level, then by cost, as PostgreSQL evaluates them; stable. */
extern List *quals_sort(PlannerInfo *root, List *quals);

#endif							/* PENUMBRA_QUALS_H */
