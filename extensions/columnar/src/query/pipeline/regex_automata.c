/*-------------------------------------------------------------------------
 *
 * regex_automata.c
 *	  Regular expressions as the engine takes them.
 *
 * PostgreSQL compiles the pattern, so syntax, options, letter case and classes
 * of characters are its own.  What comes out is a nondeterministic automaton
 * over "colors", sets of characters that the pattern does not tell apart.  We
 * pass on its arcs, and the color of each character.
 *
 * Two things are not in the automaton: back references, and lookaround of more
 * than one character.  Such patterns are refused.  Lookaround of one character,
 * as in \y, is: the automaton reads the character before the match and the one
 * behind it.
 *
 * Beyond U+07FF the color of a character may depend on the locale, which is
 * asked class by class.  Which characters are in a class is found once for a
 * collation and kept, as ranges.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "regex/regguts.h"
#include "utils/memutils.h"

#include "penumbra/regex.h"
#include "query/pipeline/regex_automata.h"

/* Patterns that are remembered, and how long they may be. */
#define KNOWN_MAX 32
#define KNOWN_BYTES_MAX 4096
#define CODE_POINTS 0x110000
#define CHARACTERS_PER_CHECK 0xffff

/* ---------------------------------------------------------------- options */

bool
regex_parse_options(const text *options, int *cflags, bool *is_global)
{
	static const struct
	{
		char		letter;
		int			without;
		int			with;
	}			rules[] = {
		{'g', 0, 0},
		{'b', REG_ADVANCED | REG_EXTENDED | REG_QUOTE, 0},
		{'c', REG_ICASE, 0},
		{'e', REG_ADVANCED | REG_QUOTE, REG_EXTENDED},
		{'i', 0, REG_ICASE},
		{'m', 0, REG_NEWLINE},
		{'n', 0, REG_NEWLINE},
		{'p', REG_NLANCH, REG_NLSTOP},
		{'q', REG_ADVANCED | REG_EXTENDED, REG_QUOTE},
		{'s', REG_NEWLINE, 0},
		{'t', REG_EXPANDED, 0},
		{'w', REG_NLSTOP, REG_NLANCH},
		{'x', 0, REG_EXPANDED},
	};

	*is_global = false;
	for (int i = 0; i < (int) VARSIZE_ANY_EXHDR(options); i++)
	{
		char		letter = VARDATA_ANY(options)[i];
		int			rule = 0;

		while (rule < (int) lengthof(rules) && rules[rule].letter != letter)
			rule++;
		if (rule == lengthof(rules))
			return false;
		/* In this order: EXTENDED is a bit of ADVANCED, which 'e' therefore takes away, in PostgreSQL too. */
		*cflags |= rules[rule].with;
		*cflags &= ~rules[rule].without;
		*is_global |= letter == 'g';
	}
	return true;
}

/* ---------------------------------------------------------------- compiling */

/* Returns whether it was compiled; then the caller frees it. */
static bool
compile(regex_t *regex, const char *pattern, int length, int cflags, Oid collation)
{
	pg_wchar   *characters = palloc((length + 1) * sizeof(pg_wchar));
	int			count = pg_mb2wchar_with_len(pattern, characters, length);
	int			result = pg_regcomp(regex, characters, count, cflags, collation);

	pfree(characters);
	CHECK_FOR_INTERRUPTS();
	return result == REG_OKAY;
}

/* ---------------------------------------------------------------- classes of characters */

/* Where membership in a class begins or ends among the characters beyond the simple ones. */
typedef struct ClassEnds
{
	Oid			collation;
	int			class;
	int			count;
	pg_wchar   *ends;
} ClassEnds;

static List *known_classes = NIL;	/* of ClassEnds *, in automata_context */
static MemoryContext automata_context = NULL;

/* Appends the characters, beyond the simple ones, from which on the color is another one. */
static void
append_color_ends(struct colormap *colors, StringInfo ends)
{
	color		last = pg_reg_getcolor(colors, MAX_SIMPLE_CHR + 1);

	for (pg_wchar c = MAX_SIMPLE_CHR + 2; c < CODE_POINTS; c++)
	{
		color		this = pg_reg_getcolor(colors, c);

		if (this != last)
			appendBinaryStringInfo(ends, (char *) &c, sizeof(c));
		last = this;
		if ((c & CHARACTERS_PER_CHECK) == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

static ClassEnds *
learn_class(int class, Oid collation)
{
	static const char *const names[NUM_CCLASSES] = {
		[CC_ALNUM] = "alnum",[CC_ALPHA] = "alpha",[CC_ASCII] = "ascii",[CC_BLANK] = "blank",
		[CC_CNTRL] = "cntrl",[CC_DIGIT] = "digit",[CC_GRAPH] = "graph",[CC_LOWER] = "lower",
		[CC_PRINT] = "print",[CC_PUNCT] = "punct",[CC_SPACE] = "space",[CC_UPPER] = "upper",
		[CC_XDIGIT] = "xdigit",[CC_WORD] = "word"
	};
	char	   *pattern = psprintf("[[:%s:]]", names[class]);
	regex_t		regex;
	StringInfoData ends;
	ClassEnds  *learned;

	if (!compile(&regex, pattern, strlen(pattern), REG_ADVANCED | REG_NOSUB, collation))
		return NULL;
	initStringInfo(&ends);
	PG_TRY();
	{
		append_color_ends(&((struct guts *) regex.re_guts)->cmap, &ends);
	}
	PG_FINALLY();
	{
		pg_regfree(&regex);
	}
	PG_END_TRY();
	learned = MemoryContextAlloc(automata_context, sizeof(ClassEnds));
	learned->collation = collation;
	learned->class = class;
	learned->count = ends.len / sizeof(pg_wchar);
	learned->ends = MemoryContextAlloc(automata_context, Max(ends.len, 1));
	memcpy(learned->ends, ends.data, ends.len);
	return learned;
}

/* NULL: it cannot be known. */
static const ClassEnds *
ends_of_class(int class, Oid collation)
{
	ClassEnds  *learned;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, known_classes)
	{
		const ClassEnds *known = lfirst(lc);

		if (known->class == class && known->collation == collation)
			return known;
	}
	learned = learn_class(class, collation);
	if (learned == NULL)
		return NULL;
	old = MemoryContextSwitchTo(automata_context);
	known_classes = lappend(known_classes, learned);
	MemoryContextSwitchTo(old);
	return learned;
}

/* ---------------------------------------------------------------- colors */

static int
compare_characters(const void *a, const void *b)
{
	pg_wchar	x = *(const pg_wchar *) a;
	pg_wchar	y = *(const pg_wchar *) b;

	return (x > y) - (x < y);
}

static void
append_word(StringInfo out, uint32 word)
{
	appendBinaryStringInfo(out, (char *) &word, sizeof(word));
}

/*
 * Characters beyond the simple ones where the color may change: ends of ranges that the pattern
 * names, and of classes.  false: a class is not known.
 */
static bool
append_places(struct colormap *colors, Oid collation, StringInfo places)
{
	append_word(places, MAX_SIMPLE_CHR + 1);
	for (int i = 0; i < colors->numcmranges; i++)
	{
		append_word(places, colors->cmranges[i].cmin);
		append_word(places, colors->cmranges[i].cmax + 1);
	}
	for (int class = 0; class < NUM_CCLASSES; class++)
	{
		const ClassEnds *ends;

		if (colors->classbits[class] == 0)
			continue;
		ends = ends_of_class(class, collation);
		if (ends == NULL)
			return false;
		appendBinaryStringInfo(places, (char *) ends->ends, ends->count * sizeof(pg_wchar));
	}
	qsort(places->data, places->len / sizeof(pg_wchar), sizeof(pg_wchar), compare_characters);
	return true;
}

/* Begins a range where the color is another one than of the range before. */
static void
append_color(color this, pg_wchar c, StringInfo out, color *last, int *count)
{
	if (this == *last)
		return;
	append_word(out, c);
	append_word(out, this);
	*last = this;
	(*count)++;
}

/* Appends the ranges, returns how many; negative: a class is not known. */
static int
append_ranges(struct colormap *colors, Oid collation, StringInfo out)
{
	bool		is_utf8 = GetDatabaseEncoding() == PG_UTF8;
	pg_wchar	simple_end = is_utf8 ? MAX_SIMPLE_CHR + 1 : UCHAR_MAX + 1;
	StringInfoData places;
	color		last = COLORLESS;
	int			count = 0;

	for (pg_wchar c = 0; c < simple_end; c++)
		append_color(GETCOLOR(colors, c), c, out, &last, &count);
	if (!is_utf8)
		return count;
	initStringInfo(&places);
	if (!append_places(colors, collation, &places))
		return -1;
	for (int i = 0; i < places.len / (int) sizeof(pg_wchar); i++)
	{
		pg_wchar	c = ((pg_wchar *) places.data)[i];

		if (c >= CODE_POINTS)
			break;
		append_color(pg_reg_getcolor(colors, c), c, out, &last, &count);
	}
	return count;
}

/* ---------------------------------------------------------------- automata */

/* What the engine calls the color of an arc; COLORLESS: no character has it, nor a text an end of it. */
static bool
arc_color(const struct colormap *colors, const struct cnfa *automaton, color given, uint32 *found)
{
	if (given == RAINBOW)
		*found = PENUMBRA_REGEX_ANY;
	else if (given == automaton->bos[1])
		*found = PENUMBRA_REGEX_BEGIN;
	else if (given == automaton->eos[1])
		*found = PENUMBRA_REGEX_END;
	else if (colors->cd[given].flags & PSEUDO)
		return false;
	else
		*found = given;
	return true;
}

/* false: it is too large. */
static bool
append_automaton(const struct colormap *colors, const struct cnfa *automaton, StringInfo out)
{
	PenumbraRegexAutomaton header = {.state_count = automaton->nstates,.initial = automaton->pre,
	.final = automaton->post};
	StringInfoData starts;
	StringInfoData arcs;
	uint32		color;

	if (automaton->nstates > PENUMBRA_REGEX_STATES_MAX)
		return false;
	initStringInfo(&starts);
	initStringInfo(&arcs);
	for (int state = 0; state < automaton->nstates; state++)
	{
		append_word(&starts, header.arc_count);
		for (const struct carc *arc = automaton->states[state]; arc->co != COLORLESS; arc++)
		{
			if (!arc_color(colors, automaton, arc->co, &color))
				continue;
			append_word(&arcs, color);
			append_word(&arcs, arc->to);
			if (++header.arc_count > PENUMBRA_REGEX_ARCS_MAX)
				return false;
		}
	}
	append_word(&starts, header.arc_count);
	appendBinaryStringInfo(out, (char *) &header, sizeof(header));
	for (int state = 0; state < automaton->nstates; state++)
		append_word(out, automaton->stflags[state] & CNFA_NOPROGRESS ? PENUMBRA_REGEX_NO_PROGRESS : 0);
	appendBinaryStringInfo(out, starts.data, starts.len);
	appendBinaryStringInfo(out, arcs.data, arcs.len);
	return true;
}

/* ---------------------------------------------------------------- parts of a match */

/* Of the compiler's tree; each but the first brings an automaton. */
typedef struct Parts
{
	int			count;
	PenumbraRegexPart parts[PENUMBRA_REGEX_PARTS_MAX];
	const struct cnfa *automata[PENUMBRA_REGEX_PARTS_MAX];
} Parts;

/*
 * Adds the node and those below it, as cdissect() of PostgreSQL's regexec.c divides a match among them.  Without a back
 * reference each node's automaton accepts what its division does, so PostgreSQL takes none back, and divides what is
 * repeated at least once as a sequence.  Returns the reason to refuse, or NULL.
 */
static const char *
add_part(const struct subre *node, Parts *parts, uint32 *place)
{
	PenumbraRegexPart *part = &parts->parts[parts->count];
	uint32	   *link = &part->first;

	check_stack_depth();
	if (parts->count == PENUMBRA_REGEX_PARTS_MAX)
		return "regular expression with many groups";
	if (node->cnfa.nstates == 0 || (node->cnfa.flags & HASLACONS))
		return "regular expression with lookaround";
	*place = parts->count;
	*part = (PenumbraRegexPart) {.group = node->capno,.automaton = 1 + parts->count,
	.is_shortest = (node->flags & SHORTER) != 0};
	parts->automata[parts->count++] = &node->cnfa;
	if (node->op == '=')
		part->kind = PENUMBRA_REGEX_UNDIVIDED;
	else if (node->op == '(')
		part->kind = PENUMBRA_REGEX_SAME;
	else if (node->op == '|')
		part->kind = PENUMBRA_REGEX_CHOICE;
	else if (node->op == '.')
		part->kind = PENUMBRA_REGEX_SEQUENCE;
	else if (node->op == '*' && node->max == 1)
		part->kind = node->min == 0 ? PENUMBRA_REGEX_OPTIONAL : PENUMBRA_REGEX_SAME;
	else if (node->op == '*' && node->min == 0)
	{
		part->kind = PENUMBRA_REGEX_REPEATED;
		part->pieces_max = node->max == DUPINF ? 0 : node->max;
	}
	else
		return "regular expression with a group that is repeated";
	for (const struct subre *child = part->kind == PENUMBRA_REGEX_UNDIVIDED ? NULL : node->child; child != NULL;
		 child = child->sibling)
	{
		const char *reason = add_part(child, parts, link);

		if (reason != NULL)
			return reason;
		link = &parts->parts[*link].next;
	}
	return NULL;
}

/* The compiler has found out that nothing can match, and has no automaton. */
static void
append_impossible(StringInfo out)
{
	PenumbraRegexHeader header = {.version = PENUMBRA_REGEX_VERSION,.range_count = 1,.automaton_count = 2};
	PenumbraRegexAutomaton automaton = {.state_count = 2,.final = 1};

	appendBinaryStringInfo(out, (char *) &header, sizeof(header));
	appendBinaryStringInfo(out, (char *) (uint32[2]) {0, 0}, sizeof(uint32[2]));
	for (int i = 0; i < header.automaton_count; i++)
	{
		appendBinaryStringInfo(out, (char *) &automaton, sizeof(automaton));
		/* no flags of the states, no arcs */
		appendBinaryStringInfo(out, (char *) (uint32[5]) {0}, sizeof(uint32[5]));
	}
}

/* Returns the reason to refuse, or NULL. */
static const char *
append_regex(const regex_t *regex, bool wants_groups, Oid collation, StringInfo out)
{
	struct guts *guts = (struct guts *) regex->re_guts;
	PenumbraRegexHeader header = {.version = PENUMBRA_REGEX_VERSION};
	Parts	   *parts = palloc0(sizeof(Parts));
	StringInfoData ranges;
	const char *reason;
	uint32		match;
	int			count;

	if (guts->info & REG_UBACKREF)
		return "regular expression with a back reference";
	if (guts->info & REG_UIMPOSSIBLE)
	{
		append_impossible(out);
		return NULL;
	}
	if ((guts->search.flags | guts->tree->cnfa.flags) & HASLACONS)
		return "regular expression with lookaround";
	reason = wants_groups && regex->re_nsub > 0 ? add_part(guts->tree, parts, &match) : NULL;
	if (reason != NULL)
		return reason;
	initStringInfo(&ranges);
	count = append_ranges(&guts->cmap, collation, &ranges);
	if (count < 0)
		return "regular expression with a class of characters that is not known";
	header.is_utf8 = GetDatabaseEncoding() == PG_UTF8;
	header.range_count = count;
	header.is_shortest = (guts->tree->flags & SHORTER) != 0;
	header.automaton_count = Max(parts->count, 1) + 1;
	header.part_count = parts->count;
	header.group = parts->count > 0 ? 1 : 0;
	appendBinaryStringInfo(out, (char *) &header, sizeof(header));
	appendBinaryStringInfo(out, ranges.data, ranges.len);
	if (!append_automaton(&guts->cmap, &guts->search, out) ||
		!append_automaton(&guts->cmap, &guts->tree->cnfa, out))
		return "regular expression with a large automaton";
	for (int i = 1; i < parts->count; i++)
	{
		if (!append_automaton(&guts->cmap, parts->automata[i], out))
			return "regular expression with a large automaton";
	}
	appendBinaryStringInfo(out, (char *) parts->parts, sizeof(PenumbraRegexPart) * parts->count);
	return NULL;
}

static const char reason_of_invalid[] = "regular expression that is not valid";

static const char *
make_automata(const text *pattern, int cflags, Oid collation, StringInfo out)
{
	regex_t		regex;
	const char *volatile reason = NULL;

	if (!compile(&regex, VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern), cflags, collation))
		return reason_of_invalid;
	PG_TRY();
	{
		reason = append_regex(&regex, (cflags & REG_NOSUB) == 0, collation, out);
	}
	PG_FINALLY();
	{
		pg_regfree(&regex);
	}
	PG_END_TRY();
	return reason;
}

/* ---------------------------------------------------------------- what is known */

typedef struct KnownRegex
{
	const text *pattern;
	int			cflags;
	Oid			collation;
	const bytea *automata;		/* NULL: the reason */
	const char *reason;
	MemoryContext context;		/* of all this */
} KnownRegex;

/* The last one used first. */
static KnownRegex known_regexes[KNOWN_MAX];
static int	known_count = 0;

static KnownRegex *
find_known(const text *pattern, int cflags, Oid collation)
{
	for (int i = 0; i < known_count; i++)
	{
		KnownRegex	known = known_regexes[i];

		if (known.cflags != cflags || known.collation != collation ||
			VARSIZE_ANY_EXHDR(known.pattern) != VARSIZE_ANY_EXHDR(pattern) ||
			memcmp(VARDATA_ANY(known.pattern), VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)) != 0)
			continue;
		memmove(&known_regexes[1], &known_regexes[0], i * sizeof(KnownRegex));
		known_regexes[0] = known;
		return &known_regexes[0];
	}
	return NULL;
}

static KnownRegex *
remember(KnownRegex known)
{
	if (known_count == KNOWN_MAX)
		MemoryContextDelete(known_regexes[--known_count].context);
	memmove(&known_regexes[1], &known_regexes[0], known_count * sizeof(KnownRegex));
	known_count++;
	MemoryContextSetParent(known.context, automata_context);
	known_regexes[0] = known;
	return &known_regexes[0];
}

const bytea *
regex_automata_of(const text *pattern, int cflags, Oid collation, const char **reason)
{
	KnownRegex *known;
	KnownRegex	added = {.cflags = cflags,.collation = collation};
	MemoryContext old;
	StringInfoData out;

	if (GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
		*reason = "regular expression in this encoding";
	else if (VARSIZE_ANY_EXHDR(pattern) > KNOWN_BYTES_MAX)
		*reason = "regular expression with a long pattern";
	else
		*reason = NULL;
	if (*reason != NULL)
		return NULL;
	if (automata_context == NULL)
		automata_context = AllocSetContextCreate(TopMemoryContext, "Penumbra regular expressions",
												 ALLOCSET_SMALL_SIZES);
	known = find_known(pattern, cflags, collation);
	if (known == NULL)
	{
		/* Until it is complete it ends with the caller's memory. */
		added.context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra regular expression",
											  ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(added.context);
		added.pattern = (text *) PG_DETOAST_DATUM_COPY(PointerGetDatum(pattern));
		initStringInfo(&out);
		appendStringInfoSpaces(&out, VARHDRSZ);
		MemoryContextSwitchTo(old);
		added.reason = make_automata(pattern, cflags, collation, &out);
		SET_VARSIZE(out.data, out.len);
		added.automata = added.reason == NULL ? (bytea *) out.data : NULL;
		known = remember(added);
	}
	*reason = known->reason;
	return known->automata;
}

bool
regex_automata_is_valid(const text *pattern, int cflags, Oid collation)
{
	const char *reason;

	return regex_automata_of(pattern, cflags, collation, &reason) != NULL ||
		(automata_context != NULL && VARSIZE_ANY_EXHDR(pattern) <= KNOWN_BYTES_MAX && reason != reason_of_invalid);
}
