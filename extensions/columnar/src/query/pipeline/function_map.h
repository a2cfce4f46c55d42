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
	SHAPE_REGEX_GROUP,		/* the same, and what a group matched is asked for */
	SHAPE_FORMAT,				/* (x, a constant) */
	SHAPE_FORMAT_OF_NUMBERS,	/* (x, a constant), which may show what depends on lc_numeric */
	SHAPE_SAME_ENCODING,		/* (x, name of an encoding): x, if it is the database's */
	SHAPE_ZONE_FIRST,			/* (zone, x): the engine takes the zone last, as a table of offsets */
	SHAPE_ZONE_LAST,			/* (x, y, zone): the same */
	SHAPE_RANGE,				/* of ranges and multiranges, and values in them */
	SHAPE_RANGE_SWAPPED,		/* the same, and the two arguments change places */
	SHAPE_LOWER_CASE			/* PostgreSQL's function of the arguments as comparison_key.h has them */
} FunctionShape;

typedef struct FunctionMapping
{
	Oid			oid;			/* of another one's, where the function is not PostgreSQL's own */
	PenumbraFunction function;
	FunctionShape shape;
} FunctionMapping;

/* NULL: the engine has no such function. */
extern const FunctionMapping *function_map_lookup(Oid function_oid);
/* False: the engine has no such aggregate. */
extern bool function_map_aggregate(const Aggref *aggref, PenumbraAggregate *aggregate);

#endif							/* PENUMBRA_FUNCTION_MAP_H */
