/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  What _PG_init() needs of the planner and executor side.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HOOKS_H
#define PENUMBRA_HOOKS_H

#include "postgres.h"

/* Planner, EXPLAIN and custom-scan hooks; works without the cache region (then nothing is planned). */
extern void hooks_install(void);

#endif							/* PENUMBRA_HOOKS_H */
