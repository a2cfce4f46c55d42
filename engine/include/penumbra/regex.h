/*
 * A regular expression as the constant argument of the functions REGEX_...: a PENUMBRA_TEXT constant whose bytes are
 * the words below, in the machine's order. The adapter's compiler has made automata of the pattern; the engine knows
 * no syntax.
 *
 *   PenumbraRegexHeader
 *   ranges:     range_count x { first character, color }, ascending, the first at 0: each reaches to the next
 *   automata:   automaton_count x automaton
 *   parts:      part_count x PenumbraRegexPart
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
 *
 * Where the groups of a match are is asked of the parts. Part 0 is the match. The text of a part is divided among the
 * parts inside, which have later numbers; each has an automaton that accepts its text.
 */
#ifndef PENUMBRA_REGEX_H
#define PENUMBRA_REGEX_H

#include <stdint.h>

#define PENUMBRA_REGEX_VERSION 3
/* What arcs may have in place of a color. */
#define PENUMBRA_REGEX_ANY 0xffffffffu /* any character */
#define PENUMBRA_REGEX_BEGIN 0xfffffffeu
#define PENUMBRA_REGEX_END 0xfffffffdu
/* Of a state: */
#define PENUMBRA_REGEX_NO_PROGRESS 1u /* nothing of a match has been read */

/* More than that is refused. */
#define PENUMBRA_REGEX_STATES_MAX 2000
#define PENUMBRA_REGEX_ARCS_MAX 20000
#define PENUMBRA_REGEX_PARTS_MAX 40
#define PENUMBRA_REGEX_GROUPS_MAX 1000

typedef struct PenumbraRegexHeader {
  uint32_t version;
  uint32_t is_utf8;
  uint32_t range_count;
  uint32_t automaton_count; /* 1: that of the search; 2: that of a match as well; then those of parts */
  uint32_t is_shortest;     /* of the matches that begin leftmost the shortest is meant, else the longest */
  uint32_t part_count;      /* 0: nobody asks for groups */
  uint32_t group;           /* that PENUMBRA_FN_REGEX_SUBSTRING gives; 0: the match */
} PenumbraRegexHeader;

/* How the text of a part is divided. */
typedef enum PenumbraRegexPartKind {
  PENUMBRA_REGEX_UNDIVIDED, /* there is no part inside */
  PENUMBRA_REGEX_SAME,      /* the part inside has all of it */
  PENUMBRA_REGEX_OPTIONAL, /* the same, but an empty text if it does not accept that or is_shortest: then none has it */
  PENUMBRA_REGEX_CHOICE,   /* the first of the parts inside that accepts it has it */
  PENUMBRA_REGEX_SEQUENCE, /* two parts: the first ends as late, or as early, as both accept theirs */
  PENUMBRA_REGEX_REPEATED  /* as OPTIONAL, and the part inside has the last of several pieces */
} PenumbraRegexPartKind;

typedef struct PenumbraRegexPart {
  uint32_t kind;
  uint32_t group;       /* whose text it is; 0: of none */
  uint32_t automaton;   /* 1 of part 0 */
  uint32_t is_shortest; /* it prefers short texts: the first in a sequence, or a piece, ends as early as it can */
  uint32_t first;       /* part inside; 0: none */
  uint32_t next;        /* in the part around; 0: none */
  uint32_t pieces_max;  /* of a REPEATED one; 0: any number */
} PenumbraRegexPart;

typedef struct PenumbraRegexAutomaton {
  uint32_t state_count;
  uint32_t arc_count;
  uint32_t initial;
  uint32_t final; /* has no arcs */
} PenumbraRegexAutomaton;

#endif
