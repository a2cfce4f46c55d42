/*-------------------------------------------------------------------------
 *
 * pace.h
 *	  When, and how fast, workers load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PACE_H
#define PENUMBRA_PACE_H

#include "postgres.h"

/* penumbra.load_hours and penumbra.max_load_rate */
extern void pace_define_settings(void);

/* Whether it is one of the hours. */
extern bool pace_permits_now(void);
/* How many chunks a worker may load at a stretch, up to the limit: those of a second, at least one. */
extern uint32 pace_chunks(uint32 limit);
/* How long to rest after so many bytes of the heap were read within so long. */
extern long pace_rest_ms(uint64 bytes, long elapsed_ms);

#endif							/* PENUMBRA_PACE_H */
