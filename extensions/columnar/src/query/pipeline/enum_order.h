/*-------------------------------------------------------------------------
 *
 * enum_order.h
 *	  The order of enums, as far as the engine knows it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ENUM_ORDER_H
#define PENUMBRA_ENUM_ORDER_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "query/pipeline/translation.h"

/* Whether the engine orders values of the expression as PostgreSQL does; false with the reason. */
extern bool enum_order_is_kept(Translation *translation, Node *expr);
/* What the engine orders as PostgreSQL orders the expression's values: these, or their places; -1 with the reason. */
extern PenumbraExpr enum_order_key(Translation *translation, Node *expr, PenumbraExpr value);
/* The value that has a place. */
extern PenumbraExpr enum_order_value(Translation *translation, Node *expr, PenumbraExpr place);
/* Whether one of two arguments is known when the node starts. */
extern bool enum_order_has_known(List *nodes);
/*
 * For a comparison (LT to GE) of such arguments in an order that is not kept: the list of values that pass, to
 * be looked for in by IN, and which argument is compared.  -1 with the reason.
 */
extern PenumbraExpr enum_order_passing(Translation *translation, PenumbraFunction function, List *nodes, int *compared);

#endif							/* PENUMBRA_ENUM_ORDER_H */
