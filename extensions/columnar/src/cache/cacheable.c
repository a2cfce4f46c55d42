/*-------------------------------------------------------------------------
 *
 * cacheable.c
 *	  Which expressions can be cached, and in which form.
 *
 * They consist of functions of PostgreSQL's own that depend on nothing but their
 * arguments: who loads may be a superuser, and calls nobody else's.  Collations that
 * are not deterministic are refused.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/json_conversion.h"
#include "cache/list_image.h"
#include "cache/text_search.h"
#include "cache/value_image.h"
#include "pg_compat.h"

/* InvalidOid: the node calls no function, or not by itself. */
static Oid
called_function(Node *node)
{
	if (IsA(node, FuncExpr))
		return ((FuncExpr *) node)->funcid;
	if (!IsA(node, OpExpr))
		return InvalidOid;
	set_opfuncid((OpExpr *) node);
	return ((OpExpr *) node)->opfuncid;
}

/* Functions of PostgreSQL's that depend on nothing but their arguments and raise no error, whatever these are. */
static bool
never_fails(Oid function)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_ARRAY_ELEMENT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_EXISTS:
		case F_JSONB_EXISTS_ANY:
		case F_JSONB_EXISTS_ALL:
		case F_JSONB_CONTAINS:
		case F_JSONB_CONTAINED:
		case F_JSONB_TYPEOF:
		case F_JSONB_EQ:
		case F_JSONB_NE:
		case F_JSONB_LT:
		case F_JSONB_LE:
		case F_JSONB_GT:
		case F_JSONB_GE:
		case F_ARRAYCONTAINS:
		case F_ARRAYCONTAINED:
		case F_ARRAYOVERLAP:
		case F_ARRAY_EQ:
		case F_ARRAY_NE:
		case F_CARDINALITY:
		case F_ARRAY_LENGTH:
		case F_ARRAY_LOWER:
		case F_ARRAY_UPPER:
		case F_ARRAY_NDIMS:
		case F_LOWER_ANYRANGE:
		case F_UPPER_ANYRANGE:
		case F_ISEMPTY_ANYRANGE:
		case F_LOWER_INC_ANYRANGE:
		case F_UPPER_INC_ANYRANGE:
		case F_LOWER_INF_ANYRANGE:
		case F_UPPER_INF_ANYRANGE:
		case F_LOWER_ANYMULTIRANGE:
		case F_UPPER_ANYMULTIRANGE:
		case F_ISEMPTY_ANYMULTIRANGE:
		case F_LOWER_INC_ANYMULTIRANGE:
		case F_UPPER_INC_ANYMULTIRANGE:
		case F_LOWER_INF_ANYMULTIRANGE:
		case F_UPPER_INF_ANYMULTIRANGE:
		case F_RANGE_CONTAINS_ELEM:
		case F_ELEM_CONTAINED_BY_RANGE:
		case F_RANGE_CONTAINS:
		case F_RANGE_CONTAINED_BY:
		case F_RANGE_OVERLAPS:
		case F_RANGE_BEFORE:
		case F_RANGE_AFTER:
		case F_RANGE_OVERLEFT:
		case F_RANGE_OVERRIGHT:
		case F_RANGE_INTERSECT:
		case F_MULTIRANGE_CONTAINS_ELEM:
		case F_ELEM_CONTAINED_BY_MULTIRANGE:
		case F_MULTIRANGE_CONTAINS_RANGE:
		case F_MULTIRANGE_CONTAINS_MULTIRANGE:
		case F_RANGE_CONTAINED_BY_MULTIRANGE:
		case F_MULTIRANGE_CONTAINED_BY_MULTIRANGE:
		case F_RANGE_OVERLAPS_MULTIRANGE:
		case F_MULTIRANGE_OVERLAPS_RANGE:
		case F_MULTIRANGE_OVERLAPS_MULTIRANGE:
			return true;
		default:
			return false;
	}
}

/* Of arrays whose elements it does not look at. */
static bool
takes_any_elements(Oid function)
{
	switch (function)
	{
		case F_CARDINALITY:
		case F_ARRAY_LENGTH:
		case F_ARRAY_LOWER:
		case F_ARRAY_UPPER:
		case F_ARRAY_NDIMS:
		case F_ARRAY_DIMS:
		case F_ARRAY_APPEND:
		case F_ARRAY_PREPEND:
		case F_ARRAY_CAT:
		case F_TRIM_ARRAY:
			return true;
		default:
			return false;
	}
}

/* Others of arrays of any type, which take its equality at most. */
static bool
takes_any_array(Oid function)
{
	switch (function)
	{
		case F_ARRAY_REMOVE:
		case F_ARRAY_REPLACE:
		case F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE:
		case F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE_INT4:
		case F_ARRAY_POSITIONS:
			return true;
		default:
			return takes_any_elements(function);
	}
}

/* What the values of a type are is fixed, and what functions of them call, too. */
static bool
is_fixed_type(Oid type)
{
	Oid			element = get_base_element_type(type);
	PenumbraType engine_type;

	return type < FirstGenbkiObjectId &&
		(type == JSONPATHOID || cache_type_of(OidIsValid(element) ? element : type, &engine_type));
}

/* to_char() of a local time looks at a setting for names of months and days alone, and at that only for TM. */
static bool
is_fixed_format(Oid function, List *args)
{
	const Const *format;
	char	   *pattern;

	if (function != F_TO_CHAR_TIMESTAMP_TEXT)
		return false;
	format = lsecond(args);
	if (!IsA(format, Const) || format->constisnull)
		return false;
	pattern = TextDatumGetCString(format->constvalue);
	return strstr(asc_toupper(pattern, strlen(pattern)), "TM") == NULL;
}

/*
 * A zone that is no abbreviation, of which a setting says what it means.  An abbreviation has no slash, and UTC is the
 * same in all of PostgreSQL's sets.
 */
static bool
is_fixed_zone(const Node *zone)
{
	char	   *name;

	if (!IsA(zone, Const) || ((const Const *) zone)->constisnull)
		return false;
	name = TextDatumGetCString(((const Const *) zone)->constvalue);
	return strchr(name, '/') != NULL || pg_strcasecmp(name, "UTC") == 0;
}

/* A function of PostgreSQL's that is declared immutable, and yet looks at a setting. */
static bool
looks_at_setting(Oid function, List *args)
{
	switch (function)
	{
		case F_FLOAT4OUT:		/* extra_float_digits */
		case F_FLOAT8OUT:
		case F_BYTEAOUT:		/* bytea_output */
		case F_QUOTE_IDENT:		/* quote_all_identifiers */
		case F_AGE_TIMESTAMPTZ_TIMESTAMPTZ: /* TimeZone */
			return true;
		case F_TIMEZONE_TEXT_TIMESTAMP: /* timezone_abbreviations */
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return !is_fixed_zone(linitial(args));
		default:
			return false;
	}
}

/* An immutable function of PostgreSQL's, of types that have nothing of a user's. */
static bool
is_fixed_function(Oid function, List *args)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		is_fixed;

	if (function >= FirstGenbkiObjectId || looks_at_setting(function, args) || !text_search_is_fixed(args))
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	is_fixed = proc->provolatile == PROVOLATILE_IMMUTABLE && proc->prolang == INTERNALlanguageId &&
		proc->prokind == PROKIND_FUNCTION && !proc->proretset && is_fixed_type(proc->prorettype);
	for (int i = 0; i < proc->pronargs && is_fixed; i++)
		is_fixed = is_fixed_type(proc->proargtypes.values[i]);
	ReleaseSysCache(tuple);
	return is_fixed;
}

/* What arrays and ranges of it are compared by is PostgreSQL's own. */
static bool
has_fixed_elements(Oid type)
{
	Oid			element = get_base_element_type(type);

	if (OidIsValid(element))
		return value_image_tells_equality(element);
	type = getBaseType(type);
	return type < FirstGenbkiObjectId || !(type_is_range(type) || type_is_multirange(type));
}

/* x = ANY (array), x <> ALL (array) by a type's own equality. */
static bool
is_fixed_membership(const ScalarArrayOpExpr *expr)
{
	Oid			equality = expr->useOr ? expr->opno : get_negator(expr->opno);
	Oid			left;
	Oid			right;

	if (!OidIsValid(equality))
		return false;
	op_input_types(equality, &left, &right);
	return op_hashjoinable(equality, left) && has_fixed_elements(exprType(lsecond(expr->args))) &&
		get_opcode(equality) < FirstGenbkiObjectId;
}

/*
 * A field of a composite type, which a value keeps: a type or a table of which there are columns gets new
 * fields alone, without defaults, and the numbers of dropped ones are not used again.
 */
static bool
is_fixed_field(const FieldSelect *field)
{
	return get_typtype(getBaseType(exprType((Node *) field->arg))) == TYPTYPE_COMPOSITE;
}

/* Whether a row of the type consists of NULLs: another shape of the type is part of the facts (cached_expression.c). */
static bool
is_fixed_row_test(const NullTest *test)
{
	const ValueImage *image = test->argisrow ? value_image_of(exprType((Node *) test->arg)) : NULL;

	return !test->argisrow || (image != NULL && image->composed != NULL && image->shape != 0);
}

static bool
is_fixed_text_function(Oid function)
{
	return function < FirstGenbkiObjectId && func_volatile(function) == PROVOLATILE_IMMUTABLE &&
		!looks_at_setting(function, NIL);
}

static bool
is_fixed_array_text(Oid function, List *args)
{
	Oid			output;
	bool		is_varlena;

	switch (function)
	{
		case F_ARRAY_TO_STRING_ANYARRAY_TEXT:
		case F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT:
			getTypeOutputInfo(get_base_element_type(exprType(linitial(args))), &output, &is_varlena);
			return is_fixed_text_function(output);
		default:
			return false;
	}
}

/* A cast by way of the value's text. */
static bool
is_fixed_cast(const CoerceViaIO *cast)
{
	Oid			argument_type = exprType((Node *) cast->arg);
	Oid			output;
	Oid			input;
	Oid			io_param;
	bool		is_varlena;

	if (json_conversion_is(cast))
		return json_conversion_is_fixed(cast);
	if (!is_fixed_type(argument_type) || !is_fixed_type(cast->resulttype))
		return false;
	getTypeOutputInfo(argument_type, &output, &is_varlena);
	getTypeInputInfo(cast->resulttype, &input, &io_param);
	return is_fixed_text_function(output) && is_fixed_text_function(input);
}

/* The cast of the elements is a node of its own. */
static bool
is_fixed_array_cast(const ArrayCoerceExpr *cast)
{
	return is_fixed_type(exprType((Node *) cast->arg)) && is_fixed_type(cast->resulttype);
}

/* The node's own value follows from those of its arguments. */
static bool
is_fixed_node(Node *node)
{
	ListCell   *lc;
	List	   *args = NIL;
	Oid			function = called_function(node);
	Oid			collation;

	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0;
		case T_Const:
		case T_CaseTestExpr:	/* an element, the value of CASE, or an element that is cast */
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_BoolExpr:
		case T_BooleanTest:
			return true;
		case T_OpExpr:
		case T_FuncExpr:
			args = IsA(node, OpExpr) ? ((OpExpr *) node)->args : ((FuncExpr *) node)->args;
			if (!never_fails(function) && !takes_any_array(function) && !is_fixed_function(function, args) &&
				!is_fixed_format(function, args) && !is_fixed_array_text(function, args))
				return false;
			break;
		case T_ScalarArrayOpExpr:
			if (!is_fixed_membership((ScalarArrayOpExpr *) node) &&
				!(is_fixed_function(get_opcode(((ScalarArrayOpExpr *) node)->opno), NIL) &&
				  has_fixed_elements(exprType(lsecond(((ScalarArrayOpExpr *) node)->args)))))
				return false;
			break;
		case T_NullTest:
			return is_fixed_row_test((NullTest *) node);
		case T_CoerceViaIO:
			return is_fixed_cast((CoerceViaIO *) node);
		case T_ArrayCoerceExpr:
			return is_fixed_array_cast((ArrayCoerceExpr *) node);
		case T_RelabelType:
			return true;
		case T_FieldSelect:
			return is_fixed_field((FieldSelect *) node);
		case T_SubscriptingRef:
			return ((SubscriptingRef *) node)->refassgnexpr == NULL &&
				(((SubscriptingRef *) node)->refcontainertype == JSONBOID ||
				 OidIsValid(get_element_type(((SubscriptingRef *) node)->refcontainertype)));
		default:
			return false;
	}
	foreach(lc, takes_any_elements(function) ? NIL : args)
	{
		if (!has_fixed_elements(exprType(lfirst(lc))))
			return false;
	}
	collation = exprInputCollation(node);
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/* Where the node's place in the query's text stands; NULL: it has none, or needs none. */
static int *
location_of(Node *node)
{
	switch (nodeTag(node))
	{
		case T_Const:
			return &((Const *) node)->location;
		case T_OpExpr:
			return &((OpExpr *) node)->location;
		case T_FuncExpr:
			return &((FuncExpr *) node)->location;
		case T_ScalarArrayOpExpr:
			return &((ScalarArrayOpExpr *) node)->location;
		case T_NullTest:
			return &((NullTest *) node)->location;
		case T_CoerceViaIO:
			return &((CoerceViaIO *) node)->location;
		case T_ArrayCoerceExpr:
			return &((ArrayCoerceExpr *) node)->location;
		case T_RelabelType:
			return &((RelabelType *) node)->location;
		case T_CaseExpr:
			return &((CaseExpr *) node)->location;
		case T_CaseWhen:
			return &((CaseWhen *) node)->location;
		case T_CoalesceExpr:
			return &((CoalesceExpr *) node)->location;
		case T_BoolExpr:
			return &((BoolExpr *) node)->location;
		case T_BooleanTest:
			return &((BooleanTest *) node)->location;
		default:
			return NULL;
	}
}

/* NULL: the expression is not one that can be cached. */
static Node *
canonical_mutator(Node *node, void *context)
{
	bool	   *is_fixed = context;
	Node	   *copy;
	int		   *location;

	if (node == NULL)
		return NULL;
	if (IsA(node, List))
		return expression_tree_mutator(node, canonical_mutator, context);
	if (!is_fixed_node(node))
	{
		*is_fixed = false;
		return node;
	}
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;

		return (Node *) makeVar(1, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
	}
	copy = expression_tree_mutator(node, canonical_mutator, context);
	/* 17 and later do not write locations */
	location = location_of(copy);
	if (location != NULL)
		*location = -1;
	if (IsA(copy, ScalarArrayOpExpr))
		/* the planner's NOT leaves it open */
		set_sa_opfuncid((ScalarArrayOpExpr *) copy);
	else if (IsA(copy, CoerceViaIO))
		((CoerceViaIO *) copy)->coerceformat = COERCE_EXPLICIT_CAST;
	else if (IsA(copy, ArrayCoerceExpr))
		((ArrayCoerceExpr *) copy)->coerceformat = COERCE_EXPLICIT_CAST;
	return copy;
}

Node *
cacheable_mutate_outside_casts(Node *node, Node *(*mutator) (Node *node, void *context), void *context)
{
	ArrayCoerceExpr *cast;

	if (!IsA(node, ArrayCoerceExpr))
		return expression_tree_mutator(node, mutator, context);
	cast = copyObject((ArrayCoerceExpr *) node);
	cast->arg = (Expr *) mutator((Node *) cast->arg, context);
	return (Node *) cast;
}

/* In place of the element.  A cast of arrays has elements of its own, and CASE (canonical_set()) is none of it. */
static Node *
put_elements(Node *node, void *elements)
{
	if (node == NULL || IsA(node, CaseTestExpr))
		return node == NULL ? NULL : copyObject(elements);
	return cacheable_mutate_outside_casts(node, put_elements, elements);
}

static bool
has_case(Node *node, void *context)
{
	return node != NULL && (IsA(node, CaseExpr) || expression_tree_walker(node, has_case, context));
}

/* What is around others the engine has itself, whatever they are. */
static bool
is_around_others(const Node *node)
{
	return IsA(node, CaseExpr) || IsA(node, CoalesceExpr) || IsA(node, BoolExpr) || IsA(node, BooleanTest);
}

/*
 * A set-returning function of a column or of what can be cached, of any type; or what can be cached if an element is
 * put in place of the call, as which it is evaluated.
 */
static Node *
canonical_set(Node *expr)
{
	const FuncExpr *call = list_image_canonical_call(expr);
	Node	   *elements = list_image_elements(expr);
	bool		is_fixed = true;
	FuncExpr   *canonical = makeNode(FuncExpr);
	Node	   *of_element = NULL;

	if (elements != expr)
	{
		of_element = canonical_mutator(list_image_replace_elements(expr, list_image_one_element(expr)), &is_fixed);
		is_fixed &= !contain_var_clause(of_element) && !has_case(of_element, NULL);
	}
	*canonical = *call;
	canonical->args = (List *) canonical_mutator((Node *) call->args, &is_fixed);
	canonical->location = -1;
	if (!is_fixed || !contain_var_clause((Node *) canonical))
		return NULL;
	elements = list_image_elements_of(canonical, elements);
	return of_element == NULL ? elements : put_elements(of_element, elements);
}

Node *
cacheable_form(Node *expr)
{
	bool		is_fixed = !IsA(expr, List);
	Node	   *canonical;
	PenumbraType type;

	if (list_image_is_set(expr))
		return canonical_set(expr);
	canonical = canonical_mutator(expr, &is_fixed);
	if (!is_fixed || is_around_others(canonical) || !contain_var_clause(canonical) ||
		!cache_type_of(exprType(canonical), &type) ||
		(IsA(canonical, Var) && !cache_type_is_composed(exprType(canonical))))
		return NULL;
	return canonical;
}

static bool
can_fail_walker(Node *node, void *context)
{
	Oid			function = node == NULL ? InvalidOid : called_function(node);

	if (OidIsValid(function) && !never_fails(function))
		return true;
	if (node != NULL && IsA(node, CoerceViaIO) && ((CoerceViaIO *) node)->resulttype != TEXTOID)
		return true;
	if (node != NULL && IsA(node, ScalarArrayOpExpr) && !is_fixed_membership((ScalarArrayOpExpr *) node))
		return true;
	return node != NULL && expression_tree_walker(node, can_fail_walker, context);
}

/* Of most set-returning functions there is a list, whatever the argument is. */
bool
cacheable_can_fail(Node *expr)
{
	if (!list_image_is_set(expr))
		return can_fail_walker(expr, NULL);
	return list_image_has_matches((Node *) list_image_call(expr)) ||
		can_fail_walker(linitial(list_image_canonical_call(expr)->args), NULL) ||
		can_fail_walker(list_image_replace_elements(expr, list_image_one_element(expr)), NULL);
}
