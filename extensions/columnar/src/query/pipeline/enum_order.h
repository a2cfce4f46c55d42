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
/*
 * If it does not, for a comparison (LT to GE) of which one argument is known when
 * the node starts: the list of values that pass, to be looked for in by IN, and
 * which argument is compared.  Else -1, with the reason.
 */
extern PenumbraExpr enum_order_passing(Translation *translation, PenumbraFunction function, List *nodes, int *compared);

#endif							/* PENUMBRA_ENUM_ORDER_H */
