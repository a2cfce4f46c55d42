/*-------------------------------------------------------------------------
 *
 * translate_internal.h
 *	  Shared by translation.c and translate_node.c only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_INTERNAL_H
#define PENUMBRA_TRANSLATE_INTERNAL_H

#include "query/translate.h"

/* Sets the reason, returns -1. */
extern PenumbraExpr translate_refuse(Translation *translation, const char *reason);

extern bool translate_type_of(Translation *translation, Node *node, PenumbraType *type);
extern bool translate_args(Translation *translation, List *nodes, PenumbraExpr *args);
extern PenumbraExpr translate_call(Translation *translation, PenumbraFunction function,
								   PenumbraType result, const PenumbraExpr *args, int arg_count);
extern PenumbraExpr translate_collated_call(Translation *translation, PenumbraFunction function,
											PenumbraType result,
											const PenumbraCollation *collation,
											const PenumbraExpr *args, int arg_count);
extern PenumbraExpr translate_function(Translation *translation, Oid function_oid, Oid result_oid,
									   Oid collation, List *nodes);
extern PenumbraExpr translate_datum(Translation *translation, Oid type_oid, Datum datum,
									bool isnull);
extern bool translate_operator_is(Translation *translation, Oid function_oid, Oid collation,
								  PenumbraFunction wanted);
extern bool translate_check_equality(Translation *translation, Oid collation);
extern int	translate_runtime_index(Translation *translation, Node *node);

/* By node type; the node is no constant, no input and not evaluated by PostgreSQL. */
extern PenumbraExpr translate_node(Translation *translation, Node *node);

#endif							/* PENUMBRA_TRANSLATE_INTERNAL_H */
