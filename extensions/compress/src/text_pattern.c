/*-------------------------------------------------------------------------
 *
 * text_pattern.c
 *	  LIKE, ILIKE and regular expressions on compressed_text, and the planner's
 *	  support for LIKE: the fixed prefix of a pattern becomes a range of a
 *	  btree index whose order is that of bytes, by its collation or its
 *	  operator class.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "pg_compat.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "value_cache.h"

FUNCTION_ON_CACHED(compressed_text_like, textlike)
FUNCTION_ON_CACHED(compressed_text_notlike, textnlike)
FUNCTION_ON_CACHED(compressed_text_ilike, texticlike)
FUNCTION_ON_CACHED(compressed_text_notilike, texticnlike)
FUNCTION_ON_CACHED(compressed_text_regex_eq, textregexeq)
FUNCTION_ON_CACHED(compressed_text_regex_ne, textregexne)
FUNCTION_ON_CACHED(compressed_text_regex_ieq, texticregexeq)
FUNCTION_ON_CACHED(compressed_text_regex_ine, texticregexne)
FUNCTION_ON_CACHED(compressed_text_regex_substring, textregexsubstr)

PENUMBRA_SQL_FUNCTION(compressed_text_like_support);

/* The text before the first wildcard; NULL if the pattern is invalid.  Sets *exact. */
static char *
fixed_prefix(const char *pattern, bool *exact)
{
	char	   *prefix = palloc(strlen(pattern) + 1);
	char	   *end = prefix;

	*exact = false;
	for (; *pattern != '%' && *pattern != '_'; pattern++)
	{
		if (*pattern == '\\' && *++pattern == '\0')
			return NULL;
		if (*pattern == '\0')
		{
			*exact = true;
			break;
		}
		*end++ = *pattern;
	}
	*end = '\0';
	return prefix;
}

/*
 * The least text of valid characters that is beyond all with the prefix, or a
 * greater one: its last ASCII character, but DEL, goes up by one.  NULL if
 * there is none.
 */
static char *
beyond_prefix(const char *prefix)
{
	char	   *beyond = pstrdup(prefix);

	for (char *last = beyond + strlen(beyond); last-- > beyond; *last = '\0')
	{
		if ((uint8) *last < 0x7F)
		{
			(*last)++;
			return beyond;
		}
	}
	return NULL;
}

static Expr *
index_clause(Node *column, const char *text, Oid opfamily, StrategyNumber strategy, Oid collation)
{
	/* other access methods have no operators of these strategies */
	Oid			operator = get_opfamily_member(opfamily, exprType(column), TEXTOID, strategy);

	if (!OidIsValid(operator))
		return NULL;
	return make_opclause(operator, BOOLOID, false, (Expr *) column,
						 (Expr *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
											CStringGetTextDatum(text), false, false),
						 InvalidOid, collation);
}

/*
 * A pattern without wildcards becomes column = prefix. Others become prefix <=
 * column, and column < the least text beyond all with the prefix, if there is one.
 */
static List *
pattern_conditions(SupportRequestIndexCondition *request, Node *column, Const *pattern)
{
	bool		exact;
	char	   *prefix = fixed_prefix(TextDatumGetCString(pattern->constvalue), &exact);
	char	   *beyond;
	Expr	   *clause;
	List	   *clauses;

	if (prefix == NULL || (!exact && *prefix == '\0'))
		return NIL;
	clause = index_clause(column, prefix, request->opfamily,
						  exact ? BTEqualStrategyNumber : BTGreaterEqualStrategyNumber,
						  request->indexcollation);
	if (clause == NULL)
		return NIL;
	clauses = list_make1(clause);
	beyond = exact ? NULL : beyond_prefix(prefix);
	if (beyond != NULL)
		clauses = lappend(clauses, index_clause(column, beyond, request->opfamily,
												BTLessStrategyNumber, request->indexcollation));
	return clauses;
}

/*
 * Whether patterns match by bytes, and the index is in their order: operator class
 * compressed_text_pattern_ops, whose "<" is "~<~", has it whatever the collation.
 */
static bool
orders_by_bytes(const SupportRequestIndexCondition *request, Oid type, Oid collation)
{
	Oid			less;
	char	   *name;

	if (!get_collation_isdeterministic(collation))
		return false;
	if (compat_collate_is_c(request->indexcollation))
		return true;
	less = get_opfamily_member(request->opfamily, type, TEXTOID, BTLessStrategyNumber);
	name = OidIsValid(less) ? get_opname(less) : NULL;
	return name != NULL && strcmp(name, "~<~") == 0;
}

/*
 * The index finds the rows with the pattern's fixed prefix. It is lossy, so LIKE
 * itself is evaluated on each of them.
 */
Datum
compressed_text_like_support(PG_FUNCTION_ARGS)
{
	Node	   *node = (Node *) PG_GETARG_POINTER(0);
	List	   *clauses = NIL;

	if (IsA(node, SupportRequestIndexCondition))
	{
		SupportRequestIndexCondition *request = (SupportRequestIndexCondition *) node;
		OpExpr	   *like = (OpExpr *) request->node;

		if (is_opclause(like) && request->indexarg == 0 && IsA(lsecond(like->args), Const) &&
			!lsecond_node(Const, like->args)->constisnull &&
			OidIsValid(request->indexcollation) &&
			orders_by_bytes(request, exprType(linitial(like->args)), like->inputcollid))
		{
			clauses = pattern_conditions(request, linitial(like->args),
										 lsecond_node(Const, like->args));
			request->lossy = true;
		}
	}
	PG_RETURN_POINTER(clauses);
}
