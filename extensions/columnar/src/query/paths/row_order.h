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

/* The level's only relation is read in an order that it shows, or a level around it to which it only passes rows. */
extern bool row_order_is_shown(PlannerInfo *root);
/* A window of the level shows it. */
extern bool row_order_is_of_windows(PlannerInfo *root);

#endif							/* PENUMBRA_ROW_ORDER_H */
