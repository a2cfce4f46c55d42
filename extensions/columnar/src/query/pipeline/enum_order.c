/*-------------------------------------------------------------------------
 *
 * enum_order.c
 *	  The order of enums, as far as the engine knows it.
 *
 * What is cached of an enum are OIDs, which say which values are equal whatever
 * happens to the type.  Their order is that of the type as long as no value was
 * added before another one: CREATE TYPE gives OIDs in the order of the values,
 * and a later value gets a later OID, until OIDs wrap around.  Otherwise a
 * comparison with a known value becomes a list of the values that pass it.  Other
 * comparisons, sorts, min() and max() take a value's place in the order for it, if
 * the type has few values; what is left is refused.
 *
 * The catalog is asked when a plan is made, and again when a node starts, each time
 * by a new snapshot.  That one sees each value that a row or a constant of the query
 * may have: a value is committed before others can use it, and never removed.  An
 * answer of the syscache could be older, since a transaction is seen as committed
 * before its invalidations are sent.  The query's own snapshot could be too old for
 * a constant.  Not seen are values that a volatile function reads later, of another
 * transaction that added them meanwhile: they have no place, and PostgreSQL's plan
 * runs instead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "query/pipeline/enum_order.h"
#include "query/pipeline/translate_constant.h"

/* The place of a value is found by comparing it with one after the other. */
#define PLACES_MAX	64

/* The values of an enum in their order; *is_of_oids: they are ascending. */
static Oid *
values_in_order(Oid type, int *count, bool *is_of_oids)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	int			limit = 16;
	Oid		   *values = palloc(sizeof(Oid) * limit);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	*count = 0;
	*is_of_oids = true;
	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	InvalidateCatalogSnapshot();
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)))
	{
		if (*count == limit)
			values = repalloc(values, sizeof(Oid) * (limit *= 2));
		values[*count] = ((Form_pg_enum) GETSTRUCT(tuple))->oid;
		*is_of_oids &= *count == 0 || values[*count] > values[*count - 1];
		(*count)++;
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);
	return values;
}

/* InvalidOid: the expression is of no enum. */
static Oid
enum_of(Node *expr)
{
	Oid			type = getBaseType(exprType(expr));

	return type >= FirstGenbkiObjectId && get_typtype(type) == TYPTYPE_ENUM ? type : InvalidOid;
}

static bool
refuse(Translation *translation, Oid type)
{
	translation->reason = psprintf("order of %s, to which a value was added before another one", format_type_be(type));
	return false;
}

bool
enum_order_is_kept(Translation *translation, Node *expr)
{
	Oid			type = enum_of(expr);
	int			count;
	bool		is_of_oids;

	if (!OidIsValid(type))
		return true;
	pfree(values_in_order(type, &count, &is_of_oids));
	return is_of_oids || refuse(translation, type);
}

static PenumbraExpr
constant_oid(Translation *translation, Oid value)
{
	return translate_datum(translation, OIDOID, ObjectIdGetDatum(value), false);
}

/* CASE WHEN value = the first THEN 1 WHEN value = the second THEN 2 ... */
static PenumbraExpr
place_of(Translation *translation, PenumbraExpr value, const Oid *values, int count)
{
	PenumbraExpr *branches = palloc(sizeof(PenumbraExpr) * (2 * count + 2));
	PenumbraExpr *next = branches;

	for (int i = 0; i < count; i++)
	{
		PenumbraExpr equality[] = {value, constant_oid(translation, values[i])};

		*next++ = translate_call(translation, PENUMBRA_FN_EQ, PENUMBRA_BOOL, equality, 2);
		*next++ = translate_int4(translation, i + 1);
	}
	*next++ = translate_call(translation, PENUMBRA_FN_IS_NOT_NULL, PENUMBRA_BOOL, &value, 1);
	*next++ = translate_unsupported(translation, PENUMBRA_INT4);
	return translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_INT4, branches, next - branches);
}

PenumbraExpr
enum_order_key(Translation *translation, Node *expr, PenumbraExpr value)
{
	Oid			type = enum_of(expr);
	int			count;
	bool		is_of_oids;
	Oid		   *values;

	if (!OidIsValid(type))
		return value;
	values = values_in_order(type, &count, &is_of_oids);
	if (is_of_oids)
		return value;
	return count <= PLACES_MAX ? place_of(translation, value, values, count) : (refuse(translation, type), -1);
}

PenumbraExpr
enum_order_value(Translation *translation, Node *expr, PenumbraExpr place)
{
	int			count;
	bool		is_of_oids;
	Oid		   *values = values_in_order(enum_of(expr), &count, &is_of_oids);
	PenumbraExpr *branches = palloc(sizeof(PenumbraExpr) * 2 * count);

	for (int i = 0; i < count; i++)
	{
		PenumbraExpr equality[] = {place, translate_int4(translation, i + 1)};

		branches[2 * i] = translate_call(translation, PENUMBRA_FN_EQ, PENUMBRA_BOOL, equality, 2);
		branches[2 * i + 1] = constant_oid(translation, values[i]);
	}
	return translate_call(translation, PENUMBRA_FN_CASE, PENUMBRA_INT8, branches, 2 * count);
}

/* Whether the value is known when the node starts. */
static bool
is_known(Node *node)
{
	return IsA(node, Const) || translation_is_runtime(node);
}

/* False: planning does not know it, or it could not be evaluated. */
static bool
known_value(Translation *translation, Node *node, Oid *value, bool *isnull)
{
	const RuntimeValue *runtime = translation->runtime_values;

	if (IsA(node, Const))
	{
		*isnull = ((Const *) node)->constisnull;
		*value = *isnull ? InvalidOid : DatumGetObjectId(((Const *) node)->constvalue);
		return true;
	}
	if (runtime == NULL)
		return false;
	runtime += translation_runtime_index(translation, node);
	*isnull = runtime->isnull || runtime->has_failed;
	*value = *isnull ? InvalidOid : DatumGetObjectId(runtime->value);
	return !runtime->has_failed;
}

/* The values that compare so with the one at `place`; at least one, which may be no value's. */
static int
select_values(PenumbraFunction function, const Oid *values, int count, int place, Datum *passing)
{
	int			passing_count = 0;

	for (int i = 0; i < count; i++)
	{
		bool		passes = function == PENUMBRA_FN_LT ? i < place
			: function == PENUMBRA_FN_LE ? i <= place
			: function == PENUMBRA_FN_GT ? i > place : i >= place;

		if (passes)
			passing[passing_count++] = ObjectIdGetDatum(values[i]);
	}
	if (passing_count == 0)
		passing[passing_count++] = ObjectIdGetDatum(InvalidOid);
	return passing_count;
}

static PenumbraFunction
exchange(PenumbraFunction function)
{
	switch (function)
	{
		case PENUMBRA_FN_LT:
			return PENUMBRA_FN_GT;
		case PENUMBRA_FN_LE:
			return PENUMBRA_FN_GE;
		case PENUMBRA_FN_GT:
			return PENUMBRA_FN_LT;
		default:
			return PENUMBRA_FN_LE;
	}
}

bool
enum_order_has_known(List *nodes)
{
	return is_known(linitial(nodes)) || is_known(lsecond(nodes));
}

PenumbraExpr
enum_order_passing(Translation *translation, PenumbraFunction function, List *nodes, int *compared)
{
	Node	   *known;
	Oid			type = enum_of(linitial(nodes));
	int			count;
	bool		is_of_oids;
	Oid		   *values = values_in_order(type, &count, &is_of_oids);
	Datum	   *passing = palloc(sizeof(Datum) * Max(count, 1));
	bool	   *nulls = palloc0(sizeof(bool) * Max(count, 1));
	int			passing_count = 1;
	int			place = 0;
	Oid			value;
	bool		isnull = true;

	*compared = is_known(linitial(nodes)) ? 1 : 0;
	known = *compared == 1 ? linitial(nodes) : lsecond(nodes);
	if (!known_value(translation, known, &value, &isnull) && translation->runtime_values != NULL)
		return translation_refuse(translation, "value of an enum that cannot be evaluated");
	while (!isnull && place < count && values[place] != value)
		place++;
	if (!isnull && place == count)
		return translation_refuse(translation, "value of an enum that its type does not have");
	if (isnull)
		nulls[0] = true;
	else
		passing_count = select_values(*compared == 1 ? exchange(function) : function, values, count, place, passing);
	return translate_list(translation, type, passing, nulls, passing_count);
}
