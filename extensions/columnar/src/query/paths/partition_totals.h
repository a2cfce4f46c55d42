/*-------------------------------------------------------------------------
 *
 * partition_totals.h
 *	  Windows of aggregates over whole partitions, for which the rows are read
 *	  twice.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PARTITION_TOTALS_H
#define PENUMBRA_PARTITION_TOTALS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/*
 * Adds the functions of the window to `planned` by a join with the aggregates of
 * `rows`, which are below all of its windows; is_sorted: the window's partitions are
 * told by the sort of another one; `width`: bytes of a row.  False, and
 * nothing is added: the rows cannot be read twice, the functions need more than
 * the whole partition, or to keep the rows costs less.
 */
extern bool partition_totals_add(PlannerInfo *root, RelPipeline *planned, const RelPipeline *rows,
								 const WindowClause *clause, List *functions, bool is_sorted, int width);

#endif							/* PENUMBRA_PARTITION_TOTALS_H */
