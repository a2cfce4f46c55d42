/*-------------------------------------------------------------------------
 *
 * whole_rows.h
 *	  The query with the columns of whole rows of its subqueries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WHOLE_ROWS_H
#define PENUMBRA_WHOLE_ROWS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A whole row as what makes it of the columns of its entry. */
extern Node *whole_rows_of_columns(const Var *var, RangeTblEntry *entry);

/* A copy without those of subqueries and CTEs; NULL: there are none. */
extern Query *whole_rows_replace(Query *query);
/* The same of tables, in target lists. */
extern Query *whole_rows_replace_of_tables(Query *query);

#endif							/* PENUMBRA_WHOLE_ROWS_H */
