/*-------------------------------------------------------------------------
 *
 * paths_internal.h
 *	  Shared by scan_paths.c, upper_paths.c and stored_form.c only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PATHS_INTERNAL_H
#define PENUMBRA_PATHS_INTERNAL_H

#include "query/paths.h"

extern PlannedTable *paths_find_table(RelOptInfo *rel);
/* The same for a table of an inheritance tree, which may also be small or not cached. */
extern PlannedTable *paths_table_of_tree(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);

/* Scan columns of one relation, with no stage yet. */
extern Pipeline *paths_pipeline_begin(PlannerInfo *root, RangeTblEntry *rte, List *attnos);
extern void paths_add_filters(PlannerInfo *root, Pipeline *pipeline, List *restrictinfos, Index relid);

/* Whether the engine takes the whole pipeline; fills runtime_exprs or notes the refusal. */
extern bool paths_check(Pipeline *pipeline);

/* Adds the path, or puts it in the place of all others. */
extern void paths_offer(RelOptInfo *rel, PenumbraPath *path);

extern int	paths_count_columns(List *exprs);

/* Whether the query that root is a level of calls pg_column_size() or the like. */
extern bool stored_form_is_read(PlannerInfo *root);

#endif							/* PENUMBRA_PATHS_INTERNAL_H */
