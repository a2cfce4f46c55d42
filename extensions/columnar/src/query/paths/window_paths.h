/*-------------------------------------------------------------------------
 *
 * window_paths.h
 *	  Window functions: the engine's, and PostgreSQL's over rows that the
 *	  engine has sorted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WINDOW_PATHS_H
#define PENUMBRA_WINDOW_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/* The input's rows, if the engine has them and windows may be offered; NULL: they may not. */
extern RelPipeline *window_paths_find_input(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel);
/* Adds all windows of the query level, and says in which order the rows come then; false: one is refused. */
extern bool window_paths_add_stages(PlannerInfo *root, RelPipeline *planned, RelOptInfo *output_rel, List **pathkeys);
/* Adds the path of PostgreSQL's window functions over the input's rows from the engine, in the order they need. */
extern void window_paths_add_sorted(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel);

#endif							/* PENUMBRA_WINDOW_PATHS_H */
