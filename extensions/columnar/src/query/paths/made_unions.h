/*-------------------------------------------------------------------------
 *
 * made_unions.h
 *	  Set operations of what arrays, rows and documents are made of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MADE_UNIONS_H
#define PENUMBRA_MADE_UNIONS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* Whether the query is a set operation that may have such columns; is_read: by a query around it. */
extern bool made_unions_may_be(const Query *query, bool is_read);
/* Makes the query, a set operation that no recursion is, one that makes such columns of another's. */
extern void made_unions_make_above(Query *query);

#endif							/* PENUMBRA_MADE_UNIONS_H */
