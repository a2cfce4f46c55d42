/*-------------------------------------------------------------------------
 *
 * window_paths.h
 *	  Window functions over rows that the engine has sorted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WINDOW_PATHS_H
#define PENUMBRA_WINDOW_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Adds the path of PostgreSQL's window functions over the input's rows from the engine, in the order they need. */
extern void window_paths_add(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel);

#endif							/* PENUMBRA_WINDOW_PATHS_H */
