/*-------------------------------------------------------------------------
 *
 * function_columns.h
 *	  Functions that the engine lacks as columns of scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FUNCTION_COLUMNS_H
#define PENUMBRA_FUNCTION_COLUMNS_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* Before anything of the query level is translated: its functions that are cached become columns. */
extern void function_columns_find(PlannerInfo *root);
/* The table, with what the level would read of it if it was cached: for wishes alone.  NULL: nothing else. */
extern ServedTable *function_columns_wished(PlannerInfo *root, ServedTable *table);

#endif							/* PENUMBRA_FUNCTION_COLUMNS_H */
