/*-------------------------------------------------------------------------
 *
 * comparison_key.h
 *	  What the engine compares in place of values whose images do not tell which are equal.
 *
 * Values of citext are compared in lower case.  Of other types of extensions and users
 * PostgreSQL's own comparison says which values are equal, once for each distinct one:
 * these have numbers (host_call_class).  Which is less is not known of these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COMPARISON_KEY_H
#define PENUMBRA_COMPARISON_KEY_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "query/pipeline/translation.h"

/* Whether there is such a key of the expression's values. */
extern bool comparison_key_is_other(Node *expr);
/* Whether that is lower(), by the database's default collation. */
extern bool comparison_key_is_in_lower_case(Node *expr);
/* Whether the operator is the equality of such values, which their keys have, too. */
extern bool comparison_key_is_equality(OpExpr *op);

/* Whether the clause is an equality of the engine, of two arguments as their keys are. */
extern bool comparison_key_is_equality_clause(Node *clause);

/* What is equal for equal values: of most the values.  Negative: refused. */
extern PenumbraExpr comparison_key(Translation *translation, Node *expr);
/* False: one is refused. */
extern bool comparison_keys(Translation *translation, List *exprs, PenumbraExpr *keys);
/* The same of what rows are grouped by, with the collations of the expressions. */
extern bool comparison_keys_of_groups(Translation *translation, List *exprs, PenumbraExpr *keys);

/* The expression of PostgreSQL's whose order is the values': of most the expression itself. */
extern Node *comparison_key_node(Node *expr);
extern List *comparison_key_nodes(List *exprs);

#endif							/* PENUMBRA_COMPARISON_KEY_H */
