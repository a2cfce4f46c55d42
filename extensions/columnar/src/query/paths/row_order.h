/*-------------------------------------------------------------------------
 *
 * row_order.h
 *	  Query levels whose answer shows in which order a table's rows are read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_ORDER_H
#define PENUMBRA_ROW_ORDER_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "query/pipeline/rel_pipeline.h"

/* The level's only relation is read in an order that it shows, or a level around it to which it only passes rows. */
extern bool row_order_is_shown(PlannerInfo *root);
/* A window of the level shows it. */
extern bool row_order_is_of_windows(PlannerInfo *root);
/*
 * Gives what shows in which order rows are read that of the table, which is
 * PostgreSQL's for windows of all rows, and where it hashes the groups: a sort
 * for them keeps none, and grouping sets are sorted.  Positions are made for
 * each row, in memory.  Those by which columns are fetched are in another order.
 * False: PostgreSQL reads the table in another order, or they take too much.
 */
extern bool row_order_add(PlannerInfo *root, RelOptInfo *input_rel, RelPipeline *planned, bool is_of_windows);

#endif							/* PENUMBRA_ROW_ORDER_H */
