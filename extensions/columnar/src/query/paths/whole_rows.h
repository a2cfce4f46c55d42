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

/* A copy; NULL: there are none. */
extern Query *whole_rows_replace(Query *query);

#endif							/* PENUMBRA_WHOLE_ROWS_H */
