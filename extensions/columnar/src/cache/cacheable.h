/*-------------------------------------------------------------------------
 *
 * cacheable.h
 *	  Which expressions can be cached, and in which form.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CACHEABLE_H
#define PENUMBRA_CACHEABLE_H

#include "postgres.h"

#include "nodes/nodes.h"

/* A copy of the expression, the same for all that are cached as one: Vars of relation 1.  NULL: it cannot be cached. */
extern Node *cacheable_form(Node *expr);
/* Of an expression that can be cached: whether a row can have an error in place of a value. */
extern bool cacheable_can_fail(Node *expr);
/* As expression_tree_mutator(), but the expression by which an array's elements are cast stays as it is. */
extern Node *cacheable_mutate_outside_casts(Node *node, Node *(*mutator) (Node *node, void *context), void *context);

#endif							/* PENUMBRA_CACHEABLE_H */
