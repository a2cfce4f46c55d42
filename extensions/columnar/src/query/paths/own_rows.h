/*-------------------------------------------------------------------------
 *
 * own_rows.h
 *	  The query whose subqueries join or group a row's own elements, as ones that
 *	  read that row again by its primary key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_OWN_ROWS_H
#define PENUMBRA_OWN_ROWS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* NULL: it has no such subquery.  The given query stays as it is. */
extern Query *own_rows_read_again(Query *query);

#endif							/* PENUMBRA_OWN_ROWS_H */
