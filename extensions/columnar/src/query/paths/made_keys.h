/*-------------------------------------------------------------------------
 *
 * made_keys.h
 *	  The query whose keys are what its arrays, rows and documents are made of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MADE_KEYS_H
#define PENUMBRA_MADE_KEYS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy of the query with other keys; NULL: it has none that are made of values. */
extern Query *made_keys_take_apart(Query *query);

#endif							/* PENUMBRA_MADE_KEYS_H */
