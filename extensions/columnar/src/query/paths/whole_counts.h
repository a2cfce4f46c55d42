/*-------------------------------------------------------------------------
 *
 * whole_counts.h
 *	  The query in which counts of whole values are counts of rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WHOLE_COUNTS_H
#define PENUMBRA_WHOLE_COUNTS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: there are none. */
extern Query *whole_counts_replace(Query *query);

#endif							/* PENUMBRA_WHOLE_COUNTS_H */
