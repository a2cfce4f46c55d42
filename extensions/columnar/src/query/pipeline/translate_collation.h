/*-------------------------------------------------------------------------
 *
 * translate_collation.h
 *	  Collations for the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_COLLATION_H
#define PENUMBRA_TRANSLATE_COLLATION_H

#include "postgres.h"

#include "query/pipeline/translation.h"


/*
 * False, with the reason: the expression is text without a collation to compare it by, as UNION of different ones gives
 * it.  PostgreSQL raises an error then.
 */
extern bool translate_has_collation(Translation *translation, Oid collation, Node *expr);
/* The same of all. */
extern bool translate_have_collation(Translation *translation, Oid collation, List *exprs);
/* Equality of values with the collation has to be equality of bytes. */
extern bool translate_check_equality(Translation *translation, Oid collation);

/* Whether images of the expression's values are in their order. */
extern bool translate_order_is_known(Translation *translation, Node *expr);
/* *found: what the function needs to know of the collation; NULL where C is as good.  False: refused. */
extern bool translate_collation(Translation *translation, PenumbraFunction function, Oid collation,
								PenumbraCollation **found);
/* The order by the collation of texts in lower case as the database's default collation has it: citext's. */
extern bool translate_lower_case_order(Translation *translation, Oid collation, PenumbraCollation **found);

#endif							/* PENUMBRA_TRANSLATE_COLLATION_H */
