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

/* Nodes to be replaced, each by the one at its place in the other list. */
typedef struct Replacements
{
	List	   *params;			/* numbers of Params */
	List	   *nodes;			/* or nodes, by address */
	List	   *values;
} Replacements;

/* A mutator; its context are Replacements. */
extern Node *decorrelation_replace(Node *node, void *context);

/* An expression of the subquery's Params alone, and the column that it is compared with. */
typedef struct Dependence
{
	Node	   *outer;
	Node	   *column;
	OpExpr	   *equality;		/* of the column and the expression, in this order */
} Dependence;

/*
 * The values that the Params have, as rows without repetitions: for conditions that are no equality with a column.  A
 * subquery is joined with them once.
 */
typedef struct ParamValues
{
	PipelineStage *stage;
	List	   *columns;		/* Vars, by Param */
	double		memory_share;	/* of what a join may take: the subquery's rows, if they are its build side */
	PipelineStage *join;		/* once it is made */
	bool		has_range;		/* one of its conditions is one that the engine searches by */
	double		rows;			/* of the subquery's, that are expected to be joined with one of them */
} ParamValues;

/* A stage without its Params, and what they were compared with below it. */
typedef struct Decorrelated
{
	PipelineStage *stage;		/* NULL: it cannot be done */
	List	   *dependences;	/* of Dependence * */
	bool		is_single_group;	/* it was an aggregation without keys, which has a row in any case */
	List	   *having;			/* unless a filter above it drops that row */
	List	   *values;			/* columns of it that stand for the Params, and all that it depends on; NIL: none */
} Decorrelated;

/* Whether the rows around the subquery know the value. */
extern bool decorrelation_is_outer(Node *node, List *params);
/* The clause as column = expression of Params; NULL: it is something else. */
extern Dependence *decorrelation_of_clause(Node *clause, List *params);
/* A copy of the stage and those below it without the Params.  values: NULL if they are not known. */
extern Decorrelated decorrelation_of_stage(PipelineStage *given, List *params, ParamValues *values);

#endif							/* PENUMBRA_DECORRELATION_H */
