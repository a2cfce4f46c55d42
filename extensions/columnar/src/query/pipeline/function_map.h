/*-------------------------------------------------------------------------
 *
 * function_map.h
 *	  PostgreSQL's functions and aggregates, and the engine's for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FUNCTION_MAP_H
#define PENUMBRA_FUNCTION_MAP_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "penumbra/engine.h"

typedef enum FunctionShape
{
	SHAPE_PLAIN,
	SHAPE_NUMERIC_TYPMOD,		/* (x, typmod) */
	SHAPE_STRING_TYPMOD,		/* (x, typmod, is_explicit) */
	SHAPE_SWAPPED,				/* the two arguments change places */
	SHAPE_AS_TIMESTAMP,			/* both arguments are compared as one */
	SHAPE_AS_TIMESTAMPTZ,
	SHAPE_FIRST_ARGUMENT,		/* the function is its argument */
	SHAPE_ANY_COLLATION,		/* bytewise whatever the collation is */
	SHAPE_REGEX,				/* (x, pattern, options): the engine takes automata of the pattern */
	SHAPE_REGEX_NO_CASE,		/* the same, without regard to letter case */
	SHAPE_REGEX_NO_GROUP		/* of a pattern without parentheses that capture */
} FunctionShape;

typedef struct FunctionMapping
{
	Oid			oid;
	PenumbraFunction function;
	FunctionShape shape;
} FunctionMapping;

/* NULL: the engine has no such function. */
extern const FunctionMapping *function_map_lookup(Oid function_oid);
extern bool function_map_aggregate(const Aggref *aggref, PenumbraAggregate *aggregate);

#endif							/* PENUMBRA_FUNCTION_MAP_H */
