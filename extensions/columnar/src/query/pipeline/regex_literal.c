/*-------------------------------------------------------------------------
 *
 * regex_literal.c
 *	  What every match of a regular expression has in it.
 *
 * Characters that stand side by side in a pattern, outside of parentheses, and are
 * neither repeated nor alternatives, stand side by side in each match.  Of what is
 * hard to tell apart, as options within the pattern or escapes with digits, nothing is
 * known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "pg_compat.h"

#include "mb/pg_wchar.h"

#include "query/pipeline/regex_literal.h"

typedef struct Search
{
	const char *next;
	const char *end;
	int			depth;			/* of parentheses */
	const char *run;			/* of characters, NULL: there is none */
	const char *last;			/* of these */
	const char *longest;
	int			longest_bytes;
} Search;

static void
end_run(Search *search, const char *end)
{
	if (search->run != NULL && end - search->run > search->longest_bytes)
	{
		search->longest = search->run;
		search->longest_bytes = end - search->run;
	}
	search->run = NULL;
}

/* Where a bracket expression ends, behind it; NULL: it is left alone. */
static const char *
skip_brackets(const char *next, const char *end)
{
	next++;
	if (next < end && *next == '^')
		next++;
	if (next < end && *next == ']')
		next++;
	for (; next < end && *next != ']'; next++)
	{
		/* classes, collating elements and escapes may have a bracket */
		if (*next == '[' || *next == '\\')
			return NULL;
	}
	return next < end ? next + 1 : NULL;
}

/* The token at the place; false: what it means is left alone. */
static bool
take_token(Search *search)
{
	const char *at = search->next;
	char		c = *at;

	search->next += pg_mblen(at);
	if (search->next > search->end)
		return false;
	switch (c)
	{
		case '|':
			return search->depth > 0;
		case '*':
		case '+':
		case '?':
			/* of the character before, or of what ended the run */
			end_run(search, search->run == NULL ? at : search->last);
			return true;
		case '{':
			end_run(search, search->run == NULL ? at : search->last);
			while (search->next < search->end && (isdigit((unsigned char) *search->next) || *search->next == ','))
				search->next++;
			return search->next < search->end && *search->next++ == '}';
		case '(':
			end_run(search, at);
			search->depth++;
			/* a comment may have anything */
			if (search->end - search->next >= 2 && memcmp(search->next, "?#", 2) == 0)
				return false;
			return true;
		case ')':
			end_run(search, at);
			return search->depth-- > 0;
		case '[':
			end_run(search, at);
			search->next = skip_brackets(at, search->end);
			return search->next != NULL;
		case '\\':
			end_run(search, at);
			/* those that are one character */
			if (search->next == search->end ||
				(strchr("dswDSWyYmMAZ", *search->next) == NULL && !ispunct((unsigned char) *search->next)))
				return false;
			search->next++;
			return true;
		case '.':
		case '^':
		case '$':
			end_run(search, at);
			return true;
		default:
			if (search->depth > 0)
				return true;
			if (search->run == NULL)
				search->run = at;
			search->last = at;
			return true;
	}
}

int
regex_literal_find(const text *pattern, const char **literal)
{
	Search		search = {
		.next = VARDATA_ANY(pattern),
		.end = VARDATA_ANY(pattern) + VARSIZE_ANY_EXHDR(pattern),
	};

	/* *** and (?options) change what follows */
	if (search.end - search.next >= 3 &&
		(memcmp(search.next, "***", 3) == 0 ||
		 (memcmp(search.next, "(?", 2) == 0 && isalpha((unsigned char) search.next[2]))))
		return 0;
	while (search.next < search.end)
	{
		if (!take_token(&search))
			return 0;
	}
	end_run(&search, search.end);
	*literal = search.longest;
	return search.depth == 0 ? search.longest_bytes : 0;
}
