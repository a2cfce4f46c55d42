/*-------------------------------------------------------------------------
 *
 * planner.h
 *	  What _PG_init() needs of the planner and executor side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PLANNER_H
#define PENUMBRA_PLANNER_H

#include "postgres.h"

/* Planner, EXPLAIN and custom-scan hooks; works without the cache region (then nothing is planned). */
extern void planner_install_hooks(void);

#endif							/* PENUMBRA_PLANNER_H */
