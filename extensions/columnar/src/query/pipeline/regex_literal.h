/*-------------------------------------------------------------------------
 *
 * regex_literal.h
 *	  What every match of a regular expression has in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REGEX_LITERAL_H
#define PENUMBRA_REGEX_LITERAL_H

#include "postgres.h"

/*
 * The longest string that stands in the pattern, which is a valid one without options, and in every match of it.
 * Returns its bytes; 0: none is known.
 */
extern int	regex_literal_find(const text *pattern, const char **literal);

#endif							/* PENUMBRA_REGEX_LITERAL_H */
