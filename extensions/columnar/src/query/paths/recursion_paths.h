/*-------------------------------------------------------------------------
 *
 * recursion_paths.h
 *	  Recursive CTEs that PostgreSQL's plan begins, and the engine may end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RECURSION_PATHS_H
#define PENUMBRA_RECURSION_PATHS_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/*
 * Whether the statement reads the rows of its recursive CTE, whose level this is,
 * to their ends; false: it is not known.
 */
extern bool recursion_paths_all_rows_are_read(PlannerInfo *root);
/* Adds a path that competes with PostgreSQL's where the engine's own seems to cost more. */
extern void recursion_paths_offer_after_ordinary(PlannerInfo *root, RelOptInfo *output_rel,
												 const RelPipeline *planned);

#endif							/* PENUMBRA_RECURSION_PATHS_H */
