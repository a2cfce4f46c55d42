/*-------------------------------------------------------------------------
 *
 * translate_node.h
 *	  Expressions by node type.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_NODE_H
#define PENUMBRA_TRANSLATE_NODE_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* The node is no constant, no input and not evaluated by PostgreSQL. */
extern PenumbraExpr translate_node(Translation *translation, Node *node);
/* What a comparison of rows says of the first pair, as a <= c of (a, b) < (c, d); NULL: the node is none. */
extern Node *translate_row_compare_bound(Node *node);
/* Comparisons that are true where the node is: that of rows, or both of the ends of periods that overlap. */
extern List *translate_bounds_of(Node *node);

#endif							/* PENUMBRA_TRANSLATE_NODE_H */
