/*-------------------------------------------------------------------------
 *
 * unread_columns.h
 *	  The query without columns of UNION ALL and of CTEs that nothing reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_UNREAD_COLUMNS_H
#define PENUMBRA_UNREAD_COLUMNS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: there are none. */
extern Query *unread_columns_drop(Query *query);

#endif							/* PENUMBRA_UNREAD_COLUMNS_H */
