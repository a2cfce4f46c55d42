/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  What Penumbra's work costs, in the planner's units.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COST_H
#define PENUMBRA_COST_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* How many threads beside the backend an execution over so many rows gets. */
extern int	cost_threads(double rows, bool is_rescanned);
/* Of an execution with so many threads beside the backend: what as many processes of a parallel plan may take. */
extern Size cost_memory_bytes(int threads);
/* Processes at work when a parallel scan has so many workers, as costsize.c counts them. */
extern double cost_processes(int workers);
/* Whether the cheapest path costs more than the start of a scan of ours alone. */
extern bool cost_scan_can_win(RelOptInfo *rel);
/* The same of a join, whose start costs as much for each relation. */
extern bool cost_join_can_win(const PlannerInfo *root, RelOptInfo *joinrel);
/* The base relations of a join. */
extern int	cost_count_relations(const PlannerInfo *root, const RelOptInfo *rel);
/* Of rows that PostgreSQL's path computes. */
extern void cost_add_rows(RelPipeline *planned, const Path *source, int columns);
/* Of a CTE that is computed once, for which the planner charges the query: what is left is to read it. */
extern void cost_add_shared(RelPipeline *planned, int columns);
/* Of the working table of a recursion, in one iteration; so many rows pass the conditions. */
extern void cost_add_working_table(RelPipeline *planned, double tuples, int columns);
/* Of a recursion: planned has its first rows. */
extern void cost_add_recursion(RelPipeline *planned, const RelPipeline *term, int columns, bool is_distinct);
extern void cost_add_scan(RelPipeline *planned, List *tables, int filter_columns,
						  int other_columns, double selected_rows, double table_rows);
/* What was a look-up per row of an outer query is one scan for all of them. */
extern void cost_without_rescans(RelPipeline *planned);
/*
 * What so many executions of a correlated subquery cost, of such a cost and so
 * many rows each, and what a join with all of its rows does.
 */
extern Cost cost_of_executions(double executions, Cost cost, double rows, bool is_looked_up);
extern Cost cost_of_all_rows(const RelPipeline *subquery);
/* Of conditions that read so many columns; so many rows are left. */
extern void cost_add_filter(RelPipeline *planned, int columns, double rows);
/*
 * Of a join with so many rows: planned is the probe side and becomes the join.
 * The rows of it that are not `matched` may be dropped without a look-up.
 */
extern void cost_add_join(RelPipeline *planned, const RelPipeline *build, int keys, int build_columns,
						  int conditions, double matched, double pairs, double rows);
/* Of so many calls of aggregates by so many keys. */
extern void cost_add_aggregation(RelPipeline *planned, int keys, int calls, double groups);
/* Of lists, of which so many elements come out beside so many columns. */
extern void cost_add_unnest(RelPipeline *planned, int lists, int columns, double rows);
/* A window without an order, which keeps rows of so many bytes. */
extern void cost_add_partitions(RelPipeline *planned, int keys, int width);
/* Of rows that a sort or the partitions have. */
extern void cost_add_window(RelPipeline *planned, int functions);
/* Of rows of so many bytes; the first `bound` of them are wanted, if it is positive. */
extern void cost_add_sort(RelPipeline *planned, int keys, int width, double bound);
/* The rows and costs of a path, or of one of its executions, with what it costs to emit its rows. */
extern void cost_set(Path *path, const RelPipeline *planned, bool is_repeated);
/* Of the columns that its rows have from the heap. */
extern void cost_add_fetches(PlannerInfo *root, Path *path, const RelPipeline *planned);
/* The same for the repeated scan of a correlated EXISTS, whose first row is enough. */
extern void cost_set_exists(Path *path, const Path *replaced, double rows);
/* Makes the cost of a finished scan comparable with other inputs of joins. */
extern void cost_set_join_input(Path *path, RelOptInfo *rel, const Path *replaced);

#endif							/* PENUMBRA_COST_H */
