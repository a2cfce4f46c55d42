/*-------------------------------------------------------------------------
 *
 * early_expressions.h
 *	  Expressions above a join that read its build side alone, computed there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EARLY_EXPRESSIONS_H
#define PENUMBRA_EARLY_EXPRESSIONS_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"

/* Moves them into projections of the build sides, where that is less work. */
extern void early_expressions(Pipeline *pipeline);

#endif							/* PENUMBRA_EARLY_EXPRESSIONS_H */
