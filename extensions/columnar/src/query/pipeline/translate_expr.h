/*-------------------------------------------------------------------------
 *
 * translate_expr.h
 *	  Engine expressions from PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_EXPR_H
#define PENUMBRA_TRANSLATE_EXPR_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* Negative: refused. */
extern PenumbraExpr translate_expr(Translation *translation, Node *node);
/* False: one is refused. */
extern bool translate_args(Translation *translation, List *nodes, PenumbraExpr *args);

/* An error for each row that asks for the value. */
extern PenumbraExpr translate_failure(Translation *translation, PenumbraType type);

/* A call of the engine's function, with what it needs to know of the collation: NULL where C is as good. */
extern PenumbraExpr translate_collated_call(Translation *translation, PenumbraFunction function, PenumbraType result,
											const PenumbraCollation *collation, const PenumbraExpr *args,
											int arg_count);
/* A call of PostgreSQL's function, of these arguments. */
extern PenumbraExpr translate_function(Translation *translation, Oid function_oid, Oid result_oid, Oid collation,
									   List *nodes);
/* (regexp_match(...))[n] of a constant n. */
extern PenumbraExpr translate_match_element(Translation *translation, const SubscriptingRef *element);
/* Whether a comparison that PostgreSQL builds from an operator (IS DISTINCT, NULLIF, IN) is this engine function. */
extern bool translate_operator_is(Translation *translation, Oid function_oid, Oid collation, PenumbraFunction wanted);

#endif							/* PENUMBRA_TRANSLATE_EXPR_H */
