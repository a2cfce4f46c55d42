/*-------------------------------------------------------------------------
 *
 * translate_regex.c
 *	  Calls with the pattern of a regular expression.
 *
 * The pattern is compiled while planning, so it has to be known then.  A wrong
 * one is refused here; PostgreSQL raises its error when a row needs it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "regex/regex.h"

#include "query/pipeline/regex_automata.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_regex.h"

/* NULL: it is none. */
static const text *
text_constant(Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull ? DatumGetTextPP(constant->constvalue) : NULL;
}

PenumbraExpr
translate_regex(Translation *translation, const FunctionMapping *mapping, Oid collation, List *nodes)
{
	const text *pattern = text_constant(lsecond(nodes));
	int			cflags = REG_ADVANCED | (mapping->shape == SHAPE_REGEX_NO_CASE ? REG_ICASE : 0);
	const char *reason;
	const bytea *automata;

	if (pattern == NULL)
		return translation_refuse(translation, "pattern of a regular expression that is not constant");
	if (list_length(nodes) > 2)
	{
		const text *options = text_constant(lthird(nodes));
		bool		is_global;

		if (options == NULL || !regex_parse_options(options, &cflags, &is_global) || is_global)
			return translation_refuse(translation, "options of a regular expression");
	}
	automata = regex_automata_of(pattern, cflags | REG_NOSUB, collation, &reason);
	if (automata == NULL)
		return translation_refuse(translation, reason);
	return translate_datum(translation, TEXTOID, PointerGetDatum(automata), false);
}
