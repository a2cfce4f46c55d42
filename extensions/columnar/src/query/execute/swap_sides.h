/*-------------------------------------------------------------------------
 *
 * swap_sides.h
 *	  Joins whose build side turns out to be the larger one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SWAP_SIDES_H
#define PENUMBRA_SWAP_SIDES_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"

/* At executor start: how many rows each join may be built of. */
extern void swap_sides_limit_builds(const Pipeline *pipeline);
/* After PENUMBRA_BUILD_TOO_LARGE: swaps the sides of the join that ended the execution; false: there is none. */
extern bool swap_sides_of_too_large(const Pipeline *pipeline, PenumbraExec *exec);

#endif							/* PENUMBRA_SWAP_SIDES_H */
