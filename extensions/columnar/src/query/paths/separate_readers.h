/*-------------------------------------------------------------------------
 *
 * separate_readers.h
 *	  Stages that several others have as their input, but are better computed
 *	  for each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SEPARATE_READERS_H
#define PENUMBRA_SEPARATE_READERS_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"

/* Gives readers copies of such stages. */
extern void separate_readers(Pipeline *pipeline);

#endif							/* PENUMBRA_SEPARATE_READERS_H */
