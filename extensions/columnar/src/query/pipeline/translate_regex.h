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
 * The same condition, which PostgreSQL evaluates, for texts alone that have what every match has: given the condition
 * and what was translated of it.
 */
extern PenumbraExpr translate_regex_behind_literal(Translation *translation, Node *node, PenumbraExpr expr);

#endif							/* PENUMBRA_TRANSLATE_REGEX_H */
