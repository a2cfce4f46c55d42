/*-------------------------------------------------------------------------
 *
 * slow_expression.h
 *	  Gives up a cached expression that keeps a background load for too long.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SLOW_EXPRESSION_H
#define PENUMBRA_SLOW_EXPRESSION_H

#include <signal.h>

#include "utils/rel.h"

#include "cache/column_key.h"

/* The expression of the reader at work that is evaluated, by its place there; -1: none. */
extern volatile sig_atomic_t slow_expression_evaluated;

/* From now on this process looks once a second which expression is evaluated. */
extern void slow_expression_watch(void);
/* Counts anew: a chunk begins. */
extern void slow_expression_reset(void);
/*
 * In PG_CATCH: the relation's expression has raised the error, or was interrupted.  Remembers it, and in place of the
 * cancel raises an error that says what took too long, in the context.
 */
extern void slow_expression_note_error(Relation rel, ColumnKey key, MemoryContext context);

#endif							/* PENUMBRA_SLOW_EXPRESSION_H */
