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

/* The WindowAggPaths of PostgreSQL's cheapest path, the lowest first; NIL: there are none that may be ours. */
extern List *window_paths_find(RelOptInfo *output_rel);
/* Whether none has a key that is not the same for all rows. */
extern bool window_paths_are_of_all_rows(PlannerInfo *root, List *windows);
/*
 * Adds all of these windows, and says in which order the rows come then; false: one is refused.  in_row_order: the
 * pipeline has positions, which are their only key.
 */
extern bool window_paths_add_stages(PlannerInfo *root, RelPipeline *planned, List *windows, bool in_row_order,
									List **pathkeys);
/* Has a new window or sort agree with a window below it in which peers come first. */
extern void window_paths_keep_peers(PipelineStage *stage);
/* Adds the path of PostgreSQL's window functions over the rows of `planned`, in the order they need. */
extern void window_paths_add_sorted(PlannerInfo *root, RelPipeline *planned, List *windows, RelOptInfo *output_rel);

#endif							/* PENUMBRA_WINDOW_PATHS_H */
