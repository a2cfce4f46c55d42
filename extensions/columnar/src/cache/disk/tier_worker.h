/*-------------------------------------------------------------------------
 *
 * tier_worker.h
 *	  The process that saves what is cached, and finds it at its start.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TIER_WORKER_H
#define PENUMBRA_TIER_WORKER_H

#include "postgres.h"

extern PGDLLEXPORT void penumbra_tier_main(Datum argument);

#endif							/* PENUMBRA_TIER_WORKER_H */
