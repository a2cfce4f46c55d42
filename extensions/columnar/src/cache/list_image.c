/*-------------------------------------------------------------------------
 *
 * list_image.c
 *	  The rows of a set-returning function as one value: a list of the engine's.
 *
 * A load makes lists for rows that no query would ask the function for.  So a list
 * is always made: one that would take more than a value may, or of an argument of which
 * the function raises an error, is a refused one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "cache/json_conversion.h"
#include "cache/list_image.h"
#include "cache/value_image.h"

struct ListMaker
{
	Oid			function;
	const ValueImage *image;	/* of the elements */
	int			width;			/* of one in the list; 0: they are strings */
	ExprState  *argument;		/* of the call */
	ExprContext *econtext;
	ExprState  *of_element;		/* NULL: the elements themselves */
	bool		gives_keys;		/* of an object */
	bool		wants_objects;
	FuncExpr   *matches;		/* the call of regexp_matches(); NULL: it is none */
	ExprContext *matches_econtext;	/* never shut down: a call that an error ended is left where it is */
	int			dimension;		/* of generate_subscripts() */
	bool		gives_values;	/* what an array has at its subscripts */
	Oid			array_element;	/* of an array, with the next three */
	int16		length;
	bool		is_by_value;
	char		align;
};

/* Elements as PenumbraColumnInput has them. */
typedef struct Elements
{
	int64		count;
	int64		room;
	int64		null_count;
	Size		string_bytes;
	uint64	   *values;
	uint32	   *lengths;
	bool	   *nulls;
} Elements;

static bool
is_call(const Node *node, Oid function)
{
	return IsA(node, FuncExpr) && ((const FuncExpr *) node)->funcid == function &&
		list_length(((const FuncExpr *) node)->args) == 1;
}

/* The function whose array has the rows of one that splits a text; InvalidOid: it is none of these. */
static Oid
splitting_to_array(Oid function)
{
	switch (function)
	{
		case F_STRING_TO_TABLE_TEXT_TEXT:
			return F_STRING_TO_ARRAY_TEXT_TEXT;
		case F_STRING_TO_TABLE_TEXT_TEXT_TEXT:
			return F_STRING_TO_ARRAY_TEXT_TEXT_TEXT;
		case F_REGEXP_SPLIT_TO_TABLE_TEXT_TEXT:
			return F_REGEXP_SPLIT_TO_ARRAY_TEXT_TEXT;
		case F_REGEXP_SPLIT_TO_TABLE_TEXT_TEXT_TEXT:
			return F_REGEXP_SPLIT_TO_ARRAY_TEXT_TEXT_TEXT;
		default:
			return InvalidOid;
	}
}

static bool
splits_text(const Node *node)
{
	return IsA(node, FuncExpr) && OidIsValid(splitting_to_array(((const FuncExpr *) node)->funcid));
}

/* Of a constant pattern. */
bool
list_image_has_matches(const Node *elements)
{
	const FuncExpr *call = (const FuncExpr *) elements;

	if (!IsA(elements, FuncExpr) ||
		(call->funcid != F_REGEXP_MATCHES_TEXT_TEXT && call->funcid != F_REGEXP_MATCHES_TEXT_TEXT_TEXT))
		return false;
	for (int i = 1; i < list_length(call->args); i++)
	{
		const Const *arg = list_nth(call->args, i);

		if (!IsA(arg, Const) || arg->constisnull)
			return false;
	}
	return OidIsValid(call->inputcollid) && get_collation_isdeterministic(call->inputcollid);
}

/* jsonb_path_query() gives the elements of the array that jsonb_path_query_array() gives. */
static bool
is_path_query(const Node *node)
{
	return IsA(node, FuncExpr) && ((const FuncExpr *) node)->funcid == F_JSONB_PATH_QUERY;
}

/* generate_subscripts() of a constant dimension. */
static bool
is_subscripts(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) node;
	const Const *dimension;

	if (!IsA(node, FuncExpr) || call->funcid != F_GENERATE_SUBSCRIPTS_ANYARRAY_INT4)
		return false;
	dimension = lsecond(call->args);
	return IsA(dimension, Const) && !dimension->constisnull;
}

/* What the array has at each of its own subscripts: its elements, or NULLs if it has several dimensions. */
static bool
is_subscripted(const Node *node)
{
	const SubscriptingRef *element = (const SubscriptingRef *) node;

	return IsA(node, SubscriptingRef) && element->refassgnexpr == NULL && element->reflowerindexpr == NIL &&
		list_length(element->refupperindexpr) == 1 && is_subscripts(linitial(element->refupperindexpr)) &&
		OidIsValid(get_element_type(element->refcontainertype)) &&
		equal(element->refexpr, linitial(linitial_node(FuncExpr, element->refupperindexpr)->args));
}

static bool
gives_documents(const Node *node)
{
	return is_call(node, F_JSONB_ARRAY_ELEMENTS) || is_path_query(node) ||
		((is_call(node, F_UNNEST_ANYARRAY) || is_subscripted(node)) && exprType(node) == JSONBOID);
}

static bool
gives_composites(const Node *node)
{
	return (is_call(node, F_UNNEST_ANYARRAY) || is_subscripted(node)) &&
		get_typtype(getBaseType(exprType(node))) == TYPTYPE_COMPOSITE;
}

#define KEY_COLUMN		1
#define VALUE_COLUMN	2

/* A column of the rows that jsonb_each() or jsonb_each_text() returns. */
static bool
is_column(const Node *node, Oid function, AttrNumber column)
{
	return IsA(node, FieldSelect) && ((const FieldSelect *) node)->fieldnum == column &&
		is_call((const Node *) ((const FieldSelect *) node)->arg, function);
}

typedef struct FoundElements
{
	Node	   *elements;
	bool		has_others;
} FoundElements;

/* Those that are documents, composites or arrays. */
static bool
find_elements_walker(Node *node, void *context)
{
	FoundElements *found = context;

	if (node == NULL)
		return false;
	if (!gives_documents(node) && !gives_composites(node) && !is_column(node, F_JSONB_EACH, VALUE_COLUMN) &&
		!list_image_has_matches(node))
		return expression_tree_walker(node, find_elements_walker, context);
	found->has_others |= found->elements != NULL && !equal(found->elements, node);
	found->elements = node;
	return false;
}

Node *
list_image_elements(const Node *expr)
{
	FoundElements found = {0};

	switch (nodeTag(expr))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_ScalarArrayOpExpr:
		case T_NullTest:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_RelabelType:
		case T_SubscriptingRef:
		case T_FieldSelect:
			break;
		default:
			return NULL;
	}
	if (value_image_of(exprType(expr)) == NULL)
		return NULL;
	if (is_call(expr, F_UNNEST_ANYARRAY) || is_call(expr, F_UNNEST_ANYMULTIRANGE) || splits_text(expr) ||
		is_subscripts(expr) || is_subscripted(expr) ||
		is_call(expr, F_JSONB_ARRAY_ELEMENTS_TEXT) || is_call(expr, F_JSONB_OBJECT_KEYS) ||
		is_column(expr, F_JSONB_EACH, KEY_COLUMN) || is_column(expr, F_JSONB_EACH_TEXT, KEY_COLUMN) ||
		is_column(expr, F_JSONB_EACH_TEXT, VALUE_COLUMN))
		return unconstify(Node *, expr);
	(void) find_elements_walker(unconstify(Node *, expr), &found);
	/* a match that is read whole is PostgreSQL's */
	return found.has_others || (found.elements == expr && list_image_has_matches(expr)) ? NULL : found.elements;
}

FuncExpr *
list_image_call(const Node *expr)
{
	Node	   *elements = list_image_elements(expr);

	if (IsA(elements, FieldSelect))
		return (FuncExpr *) ((FieldSelect *) elements)->arg;
	return IsA(elements, SubscriptingRef) ? linitial(((SubscriptingRef *) elements)->refupperindexpr)
		: (FuncExpr *) elements;
}

Node *
list_image_elements_of(FuncExpr *call, const Node *elements)
{
	SubscriptingRef *subscripted;

	if (IsA(elements, FieldSelect))
		return list_image_column(call, ((const FieldSelect *) elements)->fieldnum);
	if (!IsA(elements, SubscriptingRef))
		return (Node *) call;
	subscripted = copyObject((SubscriptingRef *) elements);
	subscripted->refexpr = linitial(call->args);
	subscripted->refupperindexpr = list_make1(call);
	return (Node *) subscripted;
}

FuncExpr *
list_image_canonical_call(const Node *expr)
{
	FuncExpr   *call = list_image_call(expr);
	bool		is_split = splits_text((Node *) call);
	FuncExpr   *array;

	if (!is_split && !is_path_query((Node *) call))
		return call;
	array = copyObject(call);
	array->funcid = is_split ? splitting_to_array(call->funcid) : F_JSONB_PATH_QUERY_ARRAY;
	array->funcretset = false;
	if (is_split)
		array->funcresulttype = TEXTARRAYOID;
	call = makeFuncExpr(is_split ? F_UNNEST_ANYARRAY : F_JSONB_ARRAY_ELEMENTS, call->funcresulttype, list_make1(array),
						call->funccollid, call->funccollid, COERCE_EXPLICIT_CALL);
	call->funcretset = true;
	return call;
}

Node *
list_image_column(FuncExpr *call, AttrNumber column)
{
	FieldSelect *select;

	if (column < KEY_COLUMN || column > VALUE_COLUMN)
		return NULL;
	if (gives_documents((Node *) call) || list_image_has_matches((Node *) call) || is_subscripts((Node *) call))
		return column == 1 ? (Node *) call : NULL;
	if (call->funcid != F_JSONB_EACH && call->funcid != F_JSONB_EACH_TEXT)
		return NULL;
	select = makeNode(FieldSelect);
	select->arg = (Expr *) call;
	select->fieldnum = column;
	select->resulttype = column == VALUE_COLUMN && call->funcid == F_JSONB_EACH ? JSONBOID : TEXTOID;
	select->resulttypmod = -1;
	select->resultcollid = get_typcollation(select->resulttype);
	return (Node *) select;
}

bool
list_image_may_be_refused(const Node *expr)
{
	const FuncExpr *call = list_image_canonical_call(expr);

	return call->funcid != F_UNNEST_ANYARRAY && call->funcid != F_UNNEST_ANYMULTIRANGE &&
		call->funcid != F_GENERATE_SUBSCRIPTS_ANYARRAY_INT4;
}

typedef struct Replacement
{
	const Node *elements;
	Node	   *with;
} Replacement;

static Node *
replace_elements_mutator(Node *node, void *context)
{
	const Replacement *replacement = context;

	if (node == NULL)
		return NULL;
	if (nodeTag(node) == nodeTag(replacement->elements) && equal(node, replacement->elements))
		return copyObject(replacement->with);
	return expression_tree_mutator(node, replace_elements_mutator, context);
}

Node *
list_image_replace_elements(Node *expr, Node *with)
{
	Replacement replacement = {list_image_elements(expr), with};

	return replace_elements_mutator(expr, &replacement);
}

Node *
list_image_one_element(const Node *expr)
{
	const Node *elements = list_image_elements(expr);
	CaseTestExpr *element = makeNode(CaseTestExpr);

	element->typeId = exprType(elements);
	element->typeMod = -1;
	element->collation = exprCollation(elements);
	return (Node *) element;
}

static bool
wants_objects(const FuncExpr *array)
{
	const Const *path;
	const char *text;

	if (!IsA(array, FuncExpr) || array->funcid != F_JSONB_PATH_QUERY_ARRAY || !IsA(lsecond(array->args), Const))
		return false;
	path = lsecond_node(Const, array->args);
	text = path->constisnull ? "" : DatumGetCString(DirectFunctionCall1(jsonpath_out, path->constvalue));
	return strcmp(text, LIST_IMAGE_PATH_OF_OBJECTS) == 0 || strcmp(text, LIST_IMAGE_PATH_OF_OBJECT) == 0;
}

ListMaker *
list_maker_create(Node *expr, ExprContext *econtext)
{
	FuncExpr   *call = list_image_call(expr);
	ListMaker  *maker = palloc0(sizeof(ListMaker));

	maker->function = call->funcid;
	maker->image = value_image_of(exprType(expr));
	maker->width = value_image_width(maker->image->type);
	maker->array_element = get_base_element_type(exprType(linitial(call->args)));
	if (OidIsValid(maker->array_element))
		get_typlenbyvalalign(maker->array_element, &maker->length, &maker->is_by_value, &maker->align);
	maker->argument = ExecInitExpr((Expr *) json_conversion_expand(linitial(call->args)), NULL);
	maker->econtext = econtext;
	if (list_image_has_matches((Node *) call))
	{
		maker->matches = call;
		maker->matches_econtext = CreateStandaloneExprContext();
	}
	if (is_subscripts((Node *) call))
		maker->dimension = DatumGetInt32(lsecond_node(Const, call->args)->constvalue);
	maker->gives_values = IsA(list_image_elements(expr), SubscriptingRef);
	maker->wants_objects = wants_objects(linitial(call->args));
	maker->gives_keys = call->funcid == F_JSONB_OBJECT_KEYS || is_column(expr, call->funcid, KEY_COLUMN);
	if (list_image_elements(expr) != expr)
	{
		Node	   *of_element = list_image_replace_elements(expr, list_image_one_element(expr));

		maker->of_element = ExecInitExpr((Expr *) json_conversion_expand(of_element), NULL);
	}
	return maker;
}

/* ---------------------------------------------------------------- the list */

static void
make_room(Elements *elements, int64 count)
{
	elements->room = Max(count, 1);
	elements->values = palloc_extended(sizeof(uint64) * elements->room, MCXT_ALLOC_HUGE);
	elements->lengths = palloc_extended(sizeof(uint32) * elements->room, MCXT_ALLOC_HUGE);
	elements->nulls = palloc_extended(sizeof(bool) * elements->room, MCXT_ALLOC_HUGE);
}

/* NULL if there is no value. */
static void
add_element(const ListMaker *maker, Elements *elements, const Datum *value)
{
	int64		i = elements->count++;
	uint32		length = 0;

	if (i == elements->room)
	{
		elements->room *= 2;
		elements->values = repalloc_huge(elements->values, sizeof(uint64) * elements->room);
		elements->lengths = repalloc_huge(elements->lengths, sizeof(uint32) * elements->room);
		elements->nulls = repalloc_huge(elements->nulls, sizeof(bool) * elements->room);
	}
	CHECK_FOR_INTERRUPTS();
	elements->nulls[i] = value == NULL;
	elements->values[i] = 0;
	if (value != NULL)
		elements->values[i] = value_image_make(maker->image, *value, &length);
	elements->lengths[i] = length;
	elements->null_count += value == NULL;
	elements->string_bytes += length;
}

static Datum
refused_list(void)
{
	uint32		head = PENUMBRA_LIST_REFUSED;

	return PointerGetDatum(cstring_to_text_with_len((const char *) &head, sizeof(head)));
}

/* With room for what is behind the head; NULL: no value may be as large. */
static bytea *
begin_list(int64 count, uint32 flags, Size bytes, char **next)
{
	uint32		head = (uint32) count << PENUMBRA_LIST_COUNT_SHIFT | flags;
	Size		size = VARHDRSZ + sizeof(head) + bytes;
	bytea	   *list;

	if (count > PENUMBRA_LIST_COUNT_MAX || bytes > MaxAllocSize || !AllocSizeIsValid(size))
		return NULL;
	list = palloc(size);
	SET_VARSIZE(list, size);
	memcpy(VARDATA(list), &head, sizeof(head));
	*next = VARDATA(list) + sizeof(head);
	return list;
}

static char *
write_validity(const Elements *elements, char *to)
{
	if (elements->null_count == 0)
		return to;
	memset(to, 0, (elements->count + 7) / 8);
	for (int64 i = 0; i < elements->count; i++)
		to[i / 8] |= !elements->nulls[i] << (i % 8);
	return to + (elements->count + 7) / 8;
}

static void
write_number(char *to, int width, uint64 value)
{
	switch (width)
	{
		case 1:
			*(uint8 *) to = (uint8) value;
			break;
		case 2:
			memcpy(to, &(uint16) {(uint16) value}, sizeof(uint16));
			break;
		case 4:
			memcpy(to, &(uint32) {(uint32) value}, sizeof(uint32));
			break;
		default:
			memcpy(to, &value, sizeof(value));
	}
}

static Datum
write_list(const ListMaker *maker, const Elements *elements)
{
	int			end_bytes = elements->string_bytes <= PG_UINT8_MAX ? 1
		: elements->string_bytes <= PG_UINT16_MAX ? 2 : 4;
	uint32		flags = elements->null_count > 0 ? PENUMBRA_LIST_HAS_NULLS : 0;
	Size		bytes = elements->null_count > 0 ? (elements->count + 7) / 8 : 0;
	Size		string_bytes = 0;
	bytea	   *list;
	char	   *next;

	if (maker->width == 0 && end_bytes > 1)
		flags |= end_bytes == 2 ? PENUMBRA_LIST_ENDS_OF_2_BYTES : PENUMBRA_LIST_ENDS_OF_4_BYTES;
	bytes += elements->count * (maker->width == 0 ? end_bytes : maker->width);
	list = begin_list(elements->count, flags, bytes + (maker->width == 0 ? elements->string_bytes : 0), &next);
	if (list == NULL)
		return refused_list();
	next = write_validity(elements, next);
	for (int64 i = 0; i < elements->count; i++)
	{
		if (maker->width == 0)
		{
			string_bytes += elements->lengths[i];
			write_number(next + i * end_bytes, end_bytes, string_bytes);
		}
		else if (maker->width < 16)
			write_number(next + i * maker->width, maker->width, elements->values[i]);
		else if (elements->nulls[i])
			memset(next + i * maker->width, 0, maker->width);
		else
			memcpy(next + i * maker->width, (const void *) (uintptr_t) elements->values[i], maker->width);
	}
	if (maker->width == 0)
	{
		next += elements->count * end_bytes;
		for (int64 i = 0; i < elements->count; next += elements->lengths[i++])
			memcpy(next, (const void *) (uintptr_t) elements->values[i], elements->lengths[i]);
	}
	return PointerGetDatum(list);
}

/* False: it is NULL. */
static bool
value_of_element(const ListMaker *maker, NullableDatum element, Datum *value)
{
	bool		is_null;

	maker->econtext->caseValue_datum = element.value;
	maker->econtext->caseValue_isNull = element.isnull;
	*value = ExecEvalExpr(maker->of_element, maker->econtext, &is_null);
	return !is_null;
}

/* ---------------------------------------------------------------- of arrays */

/* Of any dimensions and bounds, which unnest() passes over. */
static Datum
list_of_array(const ListMaker *maker, ArrayType *array)
{
	int			count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const char *next = ARR_DATA_PTR(array);
	const uint8 *bitmap = ARR_NULLBITMAP(array);
	Elements	elements = {0};

	/* packed as in a list */
	if (maker->of_element == NULL && !ARR_HASNULL(array) && maker->image->encode == NULL && maker->width > 0 &&
		maker->width == maker->length)
	{
		bytea	   *list;
		char	   *to;

		list = begin_list(count, 0, (Size) count * maker->width, &to);
		if (list == NULL)
			return refused_list();
		memcpy(to, next, (Size) count * maker->width);
		return PointerGetDatum(list);
	}
	make_room(&elements, count);
	for (int i = 0; i < count; i++)
	{
		NullableDatum element = {.isnull = bitmap != NULL && (bitmap[i / 8] & 1 << (i % 8)) == 0};
		Datum		value;

		if (!element.isnull)
		{
			element.value = fetch_att(next, maker->is_by_value, maker->length);
			next = att_addlength_pointer(next, maker->length, next);
			next = (const char *) att_align_nominal(next, maker->align);
		}
		value = element.value;
		if (maker->of_element != NULL)
			element.isnull = !value_of_element(maker, element, &value);
		add_element(maker, &elements, element.isnull ? NULL : &value);
		if (elements.string_bytes > MaxAllocSize)
			return refused_list();
	}
	return write_list(maker, &elements);
}

/* Subscripts of no dimension are none. */
static Datum
list_of_subscripts(const ListMaker *maker, ArrayType *array)
{
	bool		has_dimension = maker->dimension >= 1 && maker->dimension <= ARR_NDIM(array);
	int			count = has_dimension ? ARR_DIMS(array)[maker->dimension - 1] : 0;
	int			first = has_dimension ? ARR_LBOUND(array)[maker->dimension - 1] : 0;
	Elements	elements = {0};

	if (maker->gives_values && has_dimension && ARR_NDIM(array) == 1)
		return list_of_array(maker, array);
	make_room(&elements, count);
	for (int i = 0; i < count; i++)
	{
		NullableDatum element = {.value = Int32GetDatum(first + i),.isnull = maker->gives_values};

		if (maker->of_element != NULL)
			element.isnull = !value_of_element(maker, element, &element.value);
		add_element(maker, &elements, element.isnull ? NULL : &element.value);
	}
	return write_list(maker, &elements);
}

static Datum
list_of_multirange(const ListMaker *maker, MultirangeType *multirange)
{
	TypeCacheEntry *type = lookup_type_cache(get_multirange_range(MultirangeTypeGetOid(multirange)),
											 TYPECACHE_RANGE_INFO);
	Elements	elements = {0};
	int32		count;
	RangeType **ranges;

	multirange_deserialize(type, multirange, &count, &ranges);
	make_room(&elements, count);
	for (int32 i = 0; i < count; i++)
		add_element(maker, &elements, &(Datum) {RangeTypePGetDatum(ranges[i])});
	return write_list(maker, &elements);
}

/* ---------------------------------------------------------------- of documents */

/* As jsonb_array_elements_text() and jsonb_each_text() give it; false: a JSON null, which is NULL. */
static bool
text_of_json(JsonbValue *json, Datum *value)
{
	text	   *made = NULL;

	switch (json->type)
	{
		case jbvNull:
			return false;
		case jbvString:
			made = cstring_to_text_with_len(json->val.string.val, json->val.string.len);
			break;
		case jbvBool:
			made = cstring_to_text(json->val.boolean ? "true" : "false");
			break;
		case jbvNumeric:
			made = cstring_to_text(DatumGetCString(DirectFunctionCall1(numeric_out,
																	   NumericGetDatum(json->val.numeric))));
			break;
		case jbvBinary:
			{
				StringInfoData buffer;

				initStringInfo(&buffer);
				(void) JsonbToCString(&buffer, json->val.binary.data, json->val.binary.len);
				made = cstring_to_text_with_len(buffer.data, buffer.len);
				pfree(buffer.data);
				break;
			}
		default:
			elog(ERROR, "unknown type of a JSON value: %d", (int) json->type);
	}
	*value = PointerGetDatum(made);
	return true;
}

static bool
value_of_json(const ListMaker *maker, JsonbValue *json, Datum *value)
{
	Datum		element;

	if (maker->of_element == NULL && maker->image->composed == NULL)
		return text_of_json(json, value);
	element = JsonbPGetDatum(JsonbValueToJsonb(json));
	if (maker->of_element != NULL)
		return value_of_element(maker, (NullableDatum) {.value = element}, value);
	*value = element;
	return true;
}

/* In the order in which PostgreSQL's functions return them, which is that of the document. */
static Datum
list_of_json(const ListMaker *maker, Jsonb *json)
{
	bool		is_array = maker->function == F_JSONB_ARRAY_ELEMENTS || maker->function == F_JSONB_ARRAY_ELEMENTS_TEXT;
	JsonbIteratorToken wanted = is_array ? WJB_ELEM : maker->gives_keys ? WJB_KEY : WJB_VALUE;
	Elements	elements = {0};
	JsonbIterator *iterator;
	JsonbValue	value;
	JsonbIteratorToken token;

	if (is_array ? !JB_ROOT_IS_ARRAY(json) || JB_ROOT_IS_SCALAR(json) : !JB_ROOT_IS_OBJECT(json))
		return refused_list();
	make_room(&elements, JB_ROOT_COUNT(json));
	iterator = JsonbIteratorInit(&json->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		Datum		element;

		if (token != wanted)
			continue;
		if (maker->wants_objects && !(value.type == jbvBinary && JsonContainerIsObject(value.val.binary.data)))
			return refused_list();
		add_element(maker, &elements, value_of_json(maker, &value, &element) ? &element : NULL);
		/* numbers of a few bytes may have 131,072 digits */
		if (elements.string_bytes > MaxAllocSize)
			return refused_list();
	}
	return write_list(maker, &elements);
}

/* ---------------------------------------------------------------- of matches */

static Datum
list_of_matches(const ListMaker *maker, Datum searched)
{
	LOCAL_FCINFO(fcinfo, 3);
	FmgrInfo	function;
	ReturnSetInfo rows = {
		.type = T_ReturnSetInfo,
		.econtext = maker->matches_econtext,
		.allowedModes = SFRM_ValuePerCall,
	};
	Elements	elements = {0};

	fmgr_info(maker->function, &function);
	InitFunctionCallInfoData(*fcinfo, &function, list_length(maker->matches->args), maker->matches->inputcollid, NULL,
							 (Node *) &rows);
	fcinfo->args[0] = (NullableDatum) {.value = searched};
	for (int i = 1; i < fcinfo->nargs; i++)
		fcinfo->args[i] = (NullableDatum) {.value = list_nth_node(Const, maker->matches->args, i)->constvalue};
	make_room(&elements, 1);
	while (true)
	{
		NullableDatum match = {.value = FunctionCallInvoke(fcinfo)};
		Datum		value;

		if (rows.isDone != ExprMultipleResult)
			return write_list(maker, &elements);
		add_element(maker, &elements, value_of_element(maker, match, &value) ? &value : NULL);
		if (elements.string_bytes > MaxAllocSize)
			break;
	}
	return refused_list();
}

ExprState *
list_maker_argument(const ListMaker *maker)
{
	return maker->argument;
}

Datum
list_maker_make(const ListMaker *maker, Datum argument)
{
	if (maker->function == F_UNNEST_ANYARRAY)
		return list_of_array(maker, DatumGetArrayTypeP(argument));
	if (maker->function == F_GENERATE_SUBSCRIPTS_ANYARRAY_INT4)
		return list_of_subscripts(maker, DatumGetArrayTypeP(argument));
	if (maker->function == F_UNNEST_ANYMULTIRANGE)
		return list_of_multirange(maker, DatumGetMultirangeTypeP(argument));
	if (maker->matches != NULL)
		return list_of_matches(maker, argument);
	return list_of_json(maker, DatumGetJsonbP(argument));
}
