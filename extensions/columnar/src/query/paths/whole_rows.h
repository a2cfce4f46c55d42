/*-------------------------------------------------------------------------
 *
 * whole_rows.h
 *	  The query whose target lists have rows of tables as their columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WHOLE_ROWS_H
#define PENUMBRA_WHOLE_ROWS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: there is no such row in it. */
extern Query *whole_rows(Query *query);

#endif							/* PENUMBRA_WHOLE_ROWS_H */
