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

/*
 * What the engine takes for the pattern and its options, among the arguments behind the text: constants, or refused,
 * as is a replacement that is none.  group: that a function of shape SHAPE_REGEX_GROUP gives; without groups the first
 * is the match.  is_global: the option to go on after a match.
 */
extern PenumbraExpr translate_regex(Translation *translation, const FunctionMapping *mapping, int group, Oid collation,
									List *nodes, bool *is_global);

/*
 * What holds for each text for which a condition text ~ pattern holds, or the same of !~ the other way round: that it
 * has a string in it, by LIKE or NOT LIKE.  NULL: the node is another, or nothing is known.
 */
extern Node *translate_regex_prefilter(Node *node);

#endif							/* PENUMBRA_TRANSLATE_REGEX_H */
