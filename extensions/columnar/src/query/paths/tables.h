/*-------------------------------------------------------------------------
 *
 * tables.h
 *	  Which tables Penumbra can serve, and what is known of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLES_H
#define PENUMBRA_TABLES_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/*
 * Looks at a table; NULL: not for us.  in_tree: below a join or an inheritance
 * tree, where it may also be small or not cached.
 */
extern ServedTable *tables_examine(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, bool in_tree);
/* As it was found for its scan, or else looked at as in a tree; NULL also where only a scan by itself is for us. */
extern ServedTable *tables_find(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);
/* Notes a column that is not cached, and not fetched either. */
extern void tables_refuse_fetched(const ServedTable *table);
/* Rows that the statement changes or locks: nothing that a cache could serve. */
extern bool tables_is_target_or_locked(PlannerInfo *root, RelOptInfo *rel);

#endif							/* PENUMBRA_TABLES_H */
