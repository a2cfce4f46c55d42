/*-------------------------------------------------------------------------
 *
 * share_subqueries.h
 *	  The query with equal subqueries in FROM as references to one CTE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SHARE_SUBQUERIES_H
#define PENUMBRA_SHARE_SUBQUERIES_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: no two subqueries are equal. */
extern Query *share_subqueries(Query *query);

#endif							/* PENUMBRA_SHARE_SUBQUERIES_H */
