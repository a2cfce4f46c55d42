/*-------------------------------------------------------------------------
 *
 * regex_automata.h
 *	  Regular expressions as the engine takes them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REGEX_AUTOMATA_H
#define PENUMBRA_REGEX_AUTOMATA_H

#include "postgres.h"

/*
 * The options of a pattern by their letters, as regexp_like() and the like take them; false: one
 * of them is none.  cflags is what holds without them.
 */
extern bool regex_parse_options(const text *options, int *cflags, bool *is_global);

/*
 * What PostgreSQL's compiler makes of the pattern, in the form of penumbra/regex.h, good until
 * the next call; NULL with the reason: there is no such form, or the pattern is wrong.
 */
extern const bytea *regex_automata_of(const text *pattern, int cflags, Oid collation, const char **reason);

/* Whether a pattern that has no such form is a valid one. */
extern bool regex_automata_is_valid(const text *pattern, int cflags, Oid collation);

#endif							/* PENUMBRA_REGEX_AUTOMATA_H */
