/*-------------------------------------------------------------------------
 *
 * directory.h
 *	  What is cached: relations, chunks, column segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DIRECTORY_H
#define PENUMBRA_DIRECTORY_H

#include "postgres.h"

#define DIRECTORY_TRANCHE		"penumbra"
#define DIRECTORY_LOCK_COUNT	2

extern Size directory_shmem_bytes(void);
extern void directory_shmem_startup(void);

#endif							/* PENUMBRA_DIRECTORY_H */
