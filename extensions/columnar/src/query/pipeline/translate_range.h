/*-------------------------------------------------------------------------
 *
 * translate_range.h
 *	  Functions and operators of ranges and multiranges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_RANGE_H
#define PENUMBRA_TRANSLATE_RANGE_H

#include "postgres.h"

#include "query/pipeline/function_map.h"
#include "query/pipeline/translation.h"

/* A call of SHAPE_RANGE or SHAPE_RANGE_SWAPPED. */
extern PenumbraExpr translate_range(Translation *translation, const FunctionMapping *mapping, Oid result_oid,
									List *nodes);
/* Comparisons of bounds and values that are true where such a call is, by which a join can search; or NIL. */
extern List *translate_range_bounds(const FunctionMapping *mapping, List *nodes);

#endif							/* PENUMBRA_TRANSLATE_RANGE_H */
