/*-------------------------------------------------------------------------
 *
 * decorrelation.h
 *	  Takes the Params out of a subquery's stages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DECORRELATION_H
#define PENUMBRA_DECORRELATION_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"

/* An expression of the subquery's Params alone, and the column that it is compared with. */
typedef struct Dependence
{
	Node	   *outer;
	Node	   *column;
	OpExpr	   *equality;		/* of the column and the expression, in this order */
} Dependence;

/* A stage without its Params, and what they were compared with below it. */
typedef struct Decorrelated
{
	PipelineStage *stage;		/* NULL: it cannot be done */
	List	   *dependences;	/* of Dependence * */
	bool		is_single_group;	/* it was an aggregation without keys, which has a row in any case */
	List	   *having;			/* unless a filter above it drops that row */
} Decorrelated;

/* Whether the rows around the subquery know the value. */
extern bool decorrelation_is_outer(Node *node, List *params);
/* The clause as column = expression of Params; NULL: it is something else. */
extern Dependence *decorrelation_of_clause(Node *clause, List *params);
/* A copy of the stage and those below it without the Params. */
extern Decorrelated decorrelation_of_stage(PipelineStage *given, List *params);

#endif							/* PENUMBRA_DECORRELATION_H */
