/*-------------------------------------------------------------------------
 *
 * made_range.h
 *	  Operators of ranges that a query makes of values, as of two columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MADE_RANGE_H
#define PENUMBRA_MADE_RANGE_H

#include "postgres.h"

#include "query/pipeline/function_map.h"
#include "query/pipeline/translation.h"

/* Whether it is a call of a range's constructor of which its arguments say what is in it. */
extern bool made_range_is(Node *node);
/* A call of which an argument is one; a function that takes its arguments in this order. */
extern PenumbraExpr made_range_translate(Translation *translation, const FunctionMapping *mapping, List *args);

/*
 * Its bound, of that type or as a place (range_form_has_place()), or the other value where it has none; an error where
 * its bounds are in no order.
 */
extern Node *made_range_bound(Oid type, Node *range, bool is_upper, Const *other);

#endif							/* PENUMBRA_MADE_RANGE_H */
