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

/* The expression of the reader at work that is evaluated, by its place there; -1: none. */
extern volatile sig_atomic_t slow_expression_evaluated;

/* From now on this process looks once a second which expression is evaluated. */
extern void slow_expression_watch(void);
/* Counts anew: a chunk begins. */
extern void slow_expression_reset(void);
/* Whether the expression at work took too long, for which the process was interrupted; says so once. */
extern bool slow_expression_take(void);

#endif							/* PENUMBRA_SLOW_EXPRESSION_H */
