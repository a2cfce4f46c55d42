/*-------------------------------------------------------------------------
 *
 * price.h
 *	  What Penumbra's work costs, in the planner's units.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PRICE_H
#define PENUMBRA_PRICE_H

#include "postgres.h"

#include "query/planned.h"

extern int	price_threads(double rows, bool is_rescanned);
/* Processes at work when a parallel scan has so many workers, as costsize.c counts them. */
extern double price_processes(int workers);
extern bool price_scan_can_win(RelOptInfo *rel);
extern void price_scan(PlannedPipeline *planned, List *tables, int filter_columns,
					  int other_columns, double selected_rows, double table_rows);
/* What was a look-up per row of an outer query is one scan for all of them. */
extern void price_without_rescans(PlannedPipeline *planned);
extern void price_filter(PlannedPipeline *planned, int columns, double rows);
/* Of a join with so many rows: planned is the probe side and becomes the join. */
extern void price_join(PlannedPipeline *planned, const PlannedPipeline *build, int keys, int build_columns,
					  int conditions, double pairs, double rows);
extern void price_aggregation(PlannedPipeline *planned, int keys, int calls, double groups);
extern void price_sort(PlannedPipeline *planned, int keys, double bound);
extern void price_set(Path *path, const PlannedPipeline *planned);
/* The same for the repeated scan of a correlated EXISTS, whose first row is enough. */
extern void price_exists(Path *path, const Path *replaced, double rows);
/* Makes the price of a finished scan comparable with other inputs of joins. */
extern void price_join_input(Path *path, RelOptInfo *rel, const Path *replaced);

#endif							/* PENUMBRA_PRICE_H */
