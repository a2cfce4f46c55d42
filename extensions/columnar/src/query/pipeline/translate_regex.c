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

#include "pg_compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "regex/regex.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "penumbra/regex.h"
#include "query/pipeline/regex_automata.h"
#include "query/pipeline/regex_literal.h"
#include "query/pipeline/translate_constant.h"
#include "query/pipeline/translate_regex.h"

/* NULL: it is none. */
static const text *
text_constant(Node *node)
{
	const Const *constant = (const Const *) node;

	return IsA(node, Const) && !constant->constisnull ? DatumGetTextPP(constant->constvalue) : NULL;
}

/* Whether a replacement has "\\1" or the like. */
static bool
asks_for_groups(const text *replacement)
{
	const char *bytes = VARDATA_ANY(replacement);
	int			length = VARSIZE_ANY_EXHDR(replacement);

	for (int i = 0; i + 1 < length; i++)
	{
		if (bytes[i] != '\\')
			continue;
		i++;
		if (bytes[i] >= '1' && bytes[i] <= '9')
			return true;
	}
	return false;
}

PenumbraExpr
translate_regex(Translation *translation, const FunctionMapping *mapping, int group, Oid collation, List *nodes,
				bool *is_global)
{
	bool		is_replacement = mapping->function == PENUMBRA_FN_REGEX_REPLACE;
	int			options_place = is_replacement ? 3 : 2;
	const text *pattern = text_constant(lsecond(nodes));
	const text *replacement = is_replacement ? text_constant(lthird(nodes)) : NULL;
	int			cflags = REG_ADVANCED | (mapping->shape == SHAPE_REGEX_NO_CASE ? REG_ICASE : 0);
	const char *reason;
	const bytea *automata;

	*is_global = false;
	if (pattern == NULL)
		return translation_refuse(translation, "pattern of a regular expression that is not constant");
	if (is_replacement && replacement == NULL)
		return translation_refuse(translation, "replacement that is not constant");
	if (list_length(nodes) > options_place)
	{
		const text *options = text_constant(list_nth(nodes, options_place));

		if (options == NULL || !regex_parse_options(options, &cflags, is_global) ||
			(*is_global && !is_replacement))
			return translation_refuse(translation, "options of a regular expression");
	}
	if (mapping->shape != SHAPE_REGEX_GROUP && (replacement == NULL || !asks_for_groups(replacement)))
		cflags |= REG_NOSUB;
	automata = regex_automata_of(pattern, cflags, collation, &reason);
	if (automata == NULL)
		return translation_refuse(translation, reason);
	if (mapping->shape == SHAPE_REGEX_GROUP && group > 1)
	{
		bytea	   *of_group = memcpy(palloc(VARSIZE(automata)), automata, VARSIZE(automata));

		((PenumbraRegexHeader *) VARDATA(of_group))->group = group;
		automata = of_group;
	}
	return translate_datum(translation, TEXTOID, PointerGetDatum(automata), false);
}

Node *
translate_regex_prefilter(Node *node)
{
	OpExpr	   *op = (OpExpr *) node;
	bool		is_match;
	const text *pattern;
	const char *literal;
	StringInfoData like;
	int			bytes;

	if (!IsA(node, OpExpr))
		return NULL;
	set_opfuncid(op);
	is_match = op->opfuncid == F_TEXTREGEXEQ;
	pattern = is_match || op->opfuncid == F_TEXTREGEXNE ? text_constant(lsecond(op->args)) : NULL;
	bytes = pattern == NULL ? 0 : regex_literal_find(pattern, &literal);
	/* the error of a wrong pattern belongs to every text */
	if (bytes == 0 || !regex_automata_is_valid(pattern, REG_ADVANCED | REG_NOSUB, op->inputcollid))
		return NULL;
	initStringInfo(&like);
	appendStringInfoChar(&like, '%');
	for (int i = 0; i < bytes; i++)
	{
		if (literal[i] == '%' || literal[i] == '_')
			appendStringInfoChar(&like, '\\');
		appendStringInfoChar(&like, literal[i]);
	}
	appendStringInfoChar(&like, '%');
	return (Node *) makeFuncExpr(is_match ? F_TEXTLIKE : F_TEXTNLIKE, BOOLOID,
								 list_make2(linitial(op->args),
											makeConst(TEXTOID, -1, op->inputcollid, -1,
													  PointerGetDatum(cstring_to_text_with_len(like.data, like.len)),
													  false, false)),
								 InvalidOid, op->inputcollid, COERCE_EXPLICIT_CALL);
}
