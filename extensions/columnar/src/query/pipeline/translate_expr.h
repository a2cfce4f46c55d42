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

extern PenumbraExpr translate_collated_call(Translation *translation, PenumbraFunction function, PenumbraType result,
											const PenumbraCollation *collation, const PenumbraExpr *args,
											int arg_count);
extern PenumbraExpr translate_function(Translation *translation, Oid function_oid, Oid result_oid, Oid collation,
									   List *nodes);
/* Whether a comparison that PostgreSQL builds from an operator (IS DISTINCT, NULLIF, IN) is this engine function. */
extern bool translate_operator_is(Translation *translation, Oid function_oid, Oid collation, PenumbraFunction wanted);

#endif							/* PENUMBRA_TRANSLATE_EXPR_H */
