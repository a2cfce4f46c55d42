/*-------------------------------------------------------------------------
 *
 * translate_made.h
 *	  Comparisons of arrays and rows that a query makes of values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_MADE_H
#define PENUMBRA_TRANSLATE_MADE_H

#include "postgres.h"

#include "nodes/pg_list.h"

/*
 * The condition that such a call of =, <>, <, <=, > or >= on two arrays or rows is, of which one is made here.  NULL:
 * it is another call, or they may have another number of values.
 */
extern Node *translate_made_comparison(Oid function_oid, Oid collation, List *nodes);
/* Of such a condition equalities with constants, which are true where it is. */
extern List *translate_made_bounds(Node *node);
/* What it says of each two values, as DistinctExprs that are false where it is true; NIL: it is another condition. */
extern List *translate_made_equalities(Node *node);

#endif							/* PENUMBRA_TRANSLATE_MADE_H */
