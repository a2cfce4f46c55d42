/*
 * A regular expression as the constant argument of the functions REGEX_...: a PENUMBRA_TEXT constant whose bytes are
 * the words below, in the machine's order. The adapter's compiler has made automata of the pattern; the engine knows
 * no syntax.
 *
 *   PenumbraRegexHeader
 *   ranges:     range_count x { first character, color }, ascending, the first at 0: each reaches to the next
 *   automata:   automaton_count x automaton
 *
 *   automaton:  PenumbraRegexAutomaton
 *               state_count x flags of the state
 *               state_count + 1 x the place of the state's first arc
 *               arc_count x { color, to }
 *
 * A character is a code point where `is_utf8`, else a byte. An automaton first consumes the color of the character
 * before the text, PENUMBRA_REGEX_BEGIN where there is none, then the colors of the text, then that of the character
 * behind it, or PENUMBRA_REGEX_END. It accepts the text if it is in its final state then. The first automaton skips
 * what is before a match by itself.
 */
#ifndef PENUMBRA_REGEX_H
#define PENUMBRA_REGEX_H

#include <stdint.h>

#define PENUMBRA_REGEX_VERSION 1
/* What arcs may have in place of a color. */
#define PENUMBRA_REGEX_ANY 0xffffffffu /* any character */
#define PENUMBRA_REGEX_BEGIN 0xfffffffeu
#define PENUMBRA_REGEX_END 0xfffffffdu
/* Of a state: */
#define PENUMBRA_REGEX_NO_PROGRESS 1u /* nothing of a match has been read */

/* More than that is refused. */
#define PENUMBRA_REGEX_STATES_MAX 2000
#define PENUMBRA_REGEX_ARCS_MAX 20000

typedef struct PenumbraRegexHeader {
  uint32_t version;
  uint32_t is_utf8;
  uint32_t range_count;
  uint32_t automaton_count; /* 1: that of the search; 2: that of a match as well */
  uint32_t is_shortest;     /* of the matches that begin leftmost the shortest is meant, else the longest */
  uint32_t group_count;     /* in parentheses; the engine does not use it */
} PenumbraRegexHeader;

typedef struct PenumbraRegexAutomaton {
  uint32_t state_count;
  uint32_t arc_count;
  uint32_t initial;
  uint32_t final; /* has no arcs */
} PenumbraRegexAutomaton;

#endif
