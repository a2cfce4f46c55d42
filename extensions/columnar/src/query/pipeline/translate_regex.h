/*-------------------------------------------------------------------------
 *
 * translate_regex.h
 *	  Calls with the pattern of a regular expression.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_REGEX_H
#define PENUMBRA_TRANSLATE_REGEX_H

#include "postgres.h"

#include "query/pipeline/function_map.h"
#include "query/pipeline/translation.h"

/* What the engine takes for the pattern and its options, the arguments behind the text: constants, or refused. */
extern PenumbraExpr translate_regex(Translation *translation, const FunctionMapping *mapping, Oid collation,
									List *nodes);

#endif							/* PENUMBRA_TRANSLATE_REGEX_H */
