/*-------------------------------------------------------------------------
 *
 * array_subqueries.h
 *	  The query with correlated ARRAY(SELECT ...) as array_agg().
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ARRAY_SUBQUERIES_H
#define PENUMBRA_ARRAY_SUBQUERIES_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: there are none. */
extern Query *array_subqueries_aggregate(Query *query);

#endif							/* PENUMBRA_ARRAY_SUBQUERIES_H */
