/*-------------------------------------------------------------------------
 *
 * join_scalars.h
 *	  Scalar subqueries that read a CTE of their query, in FROM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_JOIN_SCALARS_H
#define PENUMBRA_JOIN_SCALARS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy of the query with such subqueries in FROM; NULL: there are none. */
extern Query *join_scalars(Query *query);

#endif							/* PENUMBRA_JOIN_SCALARS_H */
