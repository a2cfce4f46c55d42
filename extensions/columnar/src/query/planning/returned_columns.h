/*-------------------------------------------------------------------------
 *
 * returned_columns.h
 *	  Columns that a query level does nothing with but return them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RETURNED_COLUMNS_H
#define PENUMBRA_RETURNED_COLUMNS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Whether the level's rows are those of its relations. */
extern bool returned_columns_are_rows(PlannerInfo *root);
/* The column as the level returns it, if nothing reads it there; NULL: something does. */
extern Var *returned_columns_find(PlannerInfo *root, Index relid, AttrNumber attno);
/* Whether nothing reads it in the levels around, too. */
extern bool returned_columns_pass(PlannerInfo *root, Index relid, AttrNumber attno);
/* Whether the level has few rows of the table. */
extern bool returned_columns_are_few(PlannerInfo *root, Index relid);
/* How many of so many rows DISTINCT ON and the conditions on row_number() and the like leave. */
extern double returned_columns_first_rows(PlannerInfo *root, double rows);

#endif							/* PENUMBRA_RETURNED_COLUMNS_H */
