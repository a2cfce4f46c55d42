/*-------------------------------------------------------------------------
 *
 * translation.c
 *	  Engine plans from pipelines; constants, parameters and functions of
 *	  expressions.  Node types with a shape of their own are in
 *	  translate_node.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "cache/cache.h"
#include "query/function_map.h"
#include "query/init_plans.h"
#include "query/pipeline.h"
#include "query/time_zone.h"
#include "query/translate.h"
#include "query/translate_collation.h"
#include "query/translate_internal.h"

/* The engine takes 200 levels of calls; casts that change nothing are levels here only. */
#define TRANSLATION_DEPTH_MAX 400

PenumbraExpr
translate_refuse(Translation *translation, const char *reason)
{
	translation->reason = reason;
	return -1;
}

/* Passes on the engine's result, with its reason when it refused. */
static PenumbraExpr
engine_result(Translation *translation, PenumbraExpr expr)
{
	if (expr < 0)
		translation->reason = pstrdup(penumbra_plan_reason(translation->plan));
	return expr;
}

bool
translate_type(Oid type_oid, PenumbraType *type)
{
	if (type_oid == INTERVALOID)
	{
		*type = PENUMBRA_INTERVAL;
		return true;
	}
	if (cache_type_of(type_oid, type))
		return true;
	return cache_type_of(getBaseType(type_oid), type);
}

bool
translate_is_equality(Node *clause)
{
	const FunctionMapping *mapping;

	if (!IsA(clause, OpExpr) || list_length(((OpExpr *) clause)->args) != 2)
		return false;
	mapping = function_map_lookup(((OpExpr *) clause)->opfuncid);
	return mapping != NULL && mapping->function == PENUMBRA_FN_EQ && mapping->shape == SHAPE_PLAIN;
}

bool
translate_join_type(PenumbraType a, PenumbraType b, PenumbraType *wide)
{
	bool		are_integers = (a == PENUMBRA_INT2 || a == PENUMBRA_INT4 || a == PENUMBRA_INT8) &&
		(b == PENUMBRA_INT2 || b == PENUMBRA_INT4 || b == PENUMBRA_INT8);
	bool		are_floats = (a == PENUMBRA_FLOAT4 || a == PENUMBRA_FLOAT8) &&
		(b == PENUMBRA_FLOAT4 || b == PENUMBRA_FLOAT8);

	*wide = a == b ? a : are_integers ? PENUMBRA_INT8 : PENUMBRA_FLOAT8;
	return a == b || are_integers || are_floats;
}

/* The type of an expression; false with the reason. */
bool
translate_type_of(Translation *translation, Node *node, PenumbraType *type)
{
	Oid			type_oid = exprType(node);

	if (translate_type(type_oid, type))
		return true;
	translation->reason = psprintf("type %s", format_type_be(type_oid));
	return false;
}

/* ---------------------------------------------------------------- constants */

static PenumbraExpr
constant_of_datum(Translation *translation, PenumbraType type, Datum datum, bool isnull)
{
	PenumbraValue value = {0};
	struct varlena *payload;

	value.is_null = isnull;
	if (!isnull)
		switch (type)
		{
			case PENUMBRA_BOOL:
				value.integer = DatumGetBool(datum);
				break;
			case PENUMBRA_INT2:
				value.integer = DatumGetInt16(datum);
				break;
			case PENUMBRA_INT4:
			case PENUMBRA_DATE:
				value.integer = DatumGetInt32(datum);
				break;
			case PENUMBRA_INT8:
			case PENUMBRA_TIMESTAMP:
			case PENUMBRA_TIMESTAMPTZ:
				value.integer = DatumGetInt64(datum);
				break;
			case PENUMBRA_FLOAT4:
				value.real = DatumGetFloat4(datum);
				break;
			case PENUMBRA_FLOAT8:
				value.real = DatumGetFloat8(datum);
				break;
			case PENUMBRA_INTERVAL:
				memcpy(&value.interval, DatumGetIntervalP(datum), sizeof(Interval));
				break;
			case PENUMBRA_UUID:
				value.bytes = DatumGetUUIDP(datum);
				value.bytes_length = UUID_LEN;
				break;
			case PENUMBRA_NUMERIC:
			case PENUMBRA_TEXT:
			case PENUMBRA_BPCHAR:
				payload = PG_DETOAST_DATUM_PACKED(datum);
				value.bytes = VARDATA_ANY(payload);
				value.bytes_length = VARSIZE_ANY_EXHDR(payload);
				break;
		}
	return engine_result(translation, penumbra_plan_constant(translation->plan, type, &value));
}

/* Stands for a value that planning does not know. */
static PenumbraExpr
stand_in_constant(Translation *translation, PenumbraType type)
{
	static const uint8 zero_uuid[UUID_LEN];
	static const int16 zero_numeric = (int16) 0x8000;	/* short form, no digits */
	PenumbraValue value = {0};

	if (type == PENUMBRA_UUID)
	{
		value.bytes = zero_uuid;
		value.bytes_length = UUID_LEN;
	}
	else if (type == PENUMBRA_NUMERIC)
	{
		value.bytes = &zero_numeric;
		value.bytes_length = sizeof(zero_numeric);
	}
	else
		value.bytes = "";
	return engine_result(translation, penumbra_plan_constant(translation->plan, type, &value));
}

PenumbraExpr
translate_datum(Translation *translation, Oid type_oid, Datum datum, bool isnull)
{
	PenumbraType type;

	if (!translate_type(type_oid, &type))
		return translate_refuse(translation, psprintf("type %s", format_type_be(type_oid)));
	return constant_of_datum(translation, type, datum, isnull);
}

/* ---------------------------------------------------------------- what PostgreSQL evaluates */

static bool
needs_input_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_PlaceHolderVar:
		case T_NamedArgExpr:	/* a placeholder */
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_CaseTestExpr:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return true;
		default:
			return expression_tree_walker(node, needs_input_walker, context);
	}
}

bool
translate_is_runtime(Node *node)
{
	return !needs_input_walker(node, NULL) && !contain_volatile_functions(node) &&
		!expression_returns_set(node);
}

/* The place of the expression among those evaluated at start; planning adds it. */
int
translate_runtime_index(Translation *translation, Node *node)
{
	ListCell   *lc;

	foreach(lc, translation->runtime_exprs)
	{
		if (equal(lfirst(lc), node))
			return foreach_current_index(lc);
	}
	if (translation->runtime_values != NULL)
		elog(ERROR, "expression of a Penumbra node was not planned");
	translation->runtime_exprs = lappend(translation->runtime_exprs, node);
	return list_length(translation->runtime_exprs) - 1;
}

static PenumbraExpr
int4_constant(Translation *translation, int32 integer)
{
	return constant_of_datum(translation, PENUMBRA_INT4, Int32GetDatum(integer), false);
}

/* An error for each row that asks for the value: CASE WHEN 1 / 0 = 0 THEN ... */
static PenumbraExpr
failing_expr(Translation *translation, PenumbraType type)
{
	PenumbraExpr zero = int4_constant(translation, 0);
	PenumbraExpr quotient[] = {int4_constant(translation, 1), zero};
	PenumbraExpr equality[] = {translate_call(translation, PENUMBRA_FN_DIV, PENUMBRA_INT4, quotient, 2), zero};
	PenumbraExpr branches[] = {
		translate_call(translation, PENUMBRA_FN_EQ, PENUMBRA_BOOL, equality, 2),
		stand_in_constant(translation, type), stand_in_constant(translation, type)
	};

	return translate_call(translation, PENUMBRA_FN_CASE, type, branches, 3);
}

static PenumbraExpr
translate_runtime(Translation *translation, Node *node)
{
	PenumbraType type;
	int			index;

	if (!translate_type_of(translation, node, &type))
		return -1;
	index = translate_runtime_index(translation, node);
	if (translation->runtime_values == NULL)
		return stand_in_constant(translation, type);
	if (translation->runtime_values[index].has_failed)
		return failing_expr(translation, type);
	return constant_of_datum(translation, type, translation->runtime_values[index].value,
							 translation->runtime_values[index].isnull);
}

/* ---------------------------------------------------------------- functions */

bool
translate_args(Translation *translation, List *nodes, PenumbraExpr *args)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		args[foreach_current_index(lc)] = translate_expr(translation, lfirst(lc));
		if (args[foreach_current_index(lc)] < 0)
			return false;
	}
	return true;
}

PenumbraExpr
translate_call(Translation *translation, PenumbraFunction function, PenumbraType result,
			   const PenumbraExpr *args, int arg_count)
{
	return engine_result(translation, penumbra_plan_call(translation->plan, function, result,
														 args, arg_count));
}

PenumbraExpr
translate_collated_call(Translation *translation, PenumbraFunction function, PenumbraType result,
						const PenumbraCollation *collation, const PenumbraExpr *args,
						int arg_count)
{
	return engine_result(translation,
						 penumbra_plan_call_collated(translation->plan, function, result,
													 collation, args, arg_count));
}

/* numeric(x, typmod), varchar(x, typmod, is_explicit), char(...): lengths as the engine takes them. */
static PenumbraExpr
translate_typmod(Translation *translation, const FunctionMapping *mapping, List *nodes,
				 PenumbraType result)
{
	Const	   *typmod = lsecond(nodes);
	PenumbraExpr args[3];
	int32		bits;

	if (!IsA(typmod, Const) || typmod->constisnull)
		return translate_refuse(translation, "length or precision that is not a constant");
	args[0] = translate_expr(translation, linitial(nodes));
	if (args[0] < 0)
		return -1;
	bits = DatumGetInt32(typmod->constvalue) - VARHDRSZ;
	if (bits < 0)
		return args[0];
	if (mapping->shape == SHAPE_NUMERIC_TYPMOD)
	{
		args[1] = int4_constant(translation, (bits >> 16) & 0xffff);
		args[2] = int4_constant(translation, ((bits & 0x7ff) ^ 1024) - 1024);
	}
	else
	{
		args[1] = int4_constant(translation, bits);
		args[2] = translate_expr(translation, lthird(nodes));
	}
	if (args[1] < 0 || args[2] < 0)
		return -1;
	return translate_call(translation, mapping->function, result, args, 3);
}

/* Text without a collation to compare it by, as UNION of different ones gives it, is an error of PostgreSQL's. */
static bool
has_collation(Translation *translation, Oid collation, Node *expr)
{
	if (OidIsValid(collation) || !OidIsValid(get_typcollation(exprType(expr))))
		return true;
	translation->reason = "indeterminate collation";
	return false;
}

static bool
have_collation(Translation *translation, Oid collation, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!has_collation(translation, collation, lfirst(lc)))
			return false;
	}
	return true;
}

/* Brings dates and timestamps that are compared to one type. */
static bool
compare_args_as(Translation *translation, PenumbraType type, PenumbraExpr *args, int arg_count)
{
	for (int i = 0; i < arg_count; i++)
	{
		if (penumbra_plan_expr_type(translation->plan, args[i]) == type)
			continue;
		args[i] = translate_call(translation, PENUMBRA_FN_COMPARED_AS, type, &args[i], 1);
		if (args[i] < 0)
			return false;
	}
	return true;
}

PenumbraExpr
translate_function(Translation *translation, Oid function_oid, Oid result_oid, Oid collation,
				   List *nodes)
{
	const FunctionMapping *mapping = function_map_lookup(function_oid);
	int			arg_count = list_length(nodes);
	PenumbraExpr args[8];
	PenumbraType result;
	PenumbraCollation *engine_collation = NULL;

	if (mapping == NULL || arg_count > (int) lengthof(args))
		return translate_refuse(translation,
								psprintf("function %s", format_procedure(function_oid)));
	if (!translate_type(result_oid, &result))
		return translate_refuse(translation, psprintf("type %s", format_type_be(result_oid)));
	if (mapping->shape != SHAPE_ANY_COLLATION && mapping->shape != SHAPE_FIRST_ARGUMENT &&
		!have_collation(translation, collation, nodes))
		return -1;
	if (mapping->shape != SHAPE_ANY_COLLATION &&
		!translate_collation(translation, mapping->function, collation, &engine_collation))
		return -1;
	if (mapping->shape == SHAPE_NUMERIC_TYPMOD || mapping->shape == SHAPE_STRING_TYPMOD)
		return translate_typmod(translation, mapping, nodes, result);
	if (!translate_args(translation, nodes, args))
		return -1;
	switch (mapping->shape)
	{
		case SHAPE_FIRST_ARGUMENT:
			return args[0];
		case SHAPE_SWAPPED:
			{
				PenumbraExpr first = args[0];

				args[0] = args[1];
				args[1] = first;
				break;
			}
		case SHAPE_AS_TIMESTAMP:
			if (!compare_args_as(translation, PENUMBRA_TIMESTAMP, args, arg_count))
				return -1;
			break;
		case SHAPE_AS_TIMESTAMPTZ:
			if (!compare_args_as(translation, PENUMBRA_TIMESTAMPTZ, args, arg_count))
				return -1;
			break;
		default:
			break;
	}
	return translate_collated_call(translation, mapping->function, result, engine_collation, args,
								   arg_count);
}

/* A comparison that PostgreSQL builds from an operator (IS DISTINCT, NULLIF, IN): its engine function. */
bool
translate_operator_is(Translation *translation, Oid function_oid, Oid collation,
					  PenumbraFunction wanted)
{
	const FunctionMapping *mapping = function_map_lookup(function_oid);

	if (mapping == NULL || mapping->function != wanted || mapping->shape != SHAPE_PLAIN)
	{
		translation->reason = psprintf("function %s", format_procedure(function_oid));
		return false;
	}
	return translate_check_equality(translation, collation);
}

/* Equality of values with the collation has to be equality of bytes. */
bool
translate_check_equality(Translation *translation, Oid collation)
{
	PenumbraCollation *unused;

	return translate_collation(translation, PENUMBRA_FN_EQ, collation, &unused);
}

/* ---------------------------------------------------------------- expressions */

static PenumbraExpr
translate_input(Translation *translation, Node *node)
{
	int			place = pipeline_find_expr(translation->inputs, node);

	if (place < 0)
		return -1;
	if (translation->build >= 0)
		return penumbra_plan_pair_column(translation->plan, translation->current,
										 translation->build, place);
	return penumbra_plan_column(translation->plan, translation->current, place);
}

static PenumbraExpr
translate_shallow(Translation *translation, Node *node)
{
	PenumbraExpr expr;

	if (node == NULL)
		return translate_refuse(translation, "empty expression");
	if (IsA(node, Const))
		return translate_datum(translation, ((Const *) node)->consttype,
							   ((Const *) node)->constvalue, ((Const *) node)->constisnull);
	expr = translate_input(translation, node);
	if (expr >= 0)
		return expr;
	if (IsA(node, NamedArgExpr))
		return translate_expr(translation, (Node *) ((NamedArgExpr *) node)->arg);
	if (IsA(node, Var) || IsA(node, Aggref))
		return translate_refuse(translation, "column that the stage does not have");
	if (!translate_is_runtime(node))
		return translate_node(translation, node);
	/* A constant lets the engine use zone maps and dictionaries; one that fails does so for the rows that ask. */
	if (translation->runtime_values == NULL &&
		init_plans_must_wait(node, translation->conditional_depth > 0, translation->branch_depth > 0))
		return translate_refuse(translation, "subquery that need not be evaluated");
	return translate_runtime(translation, node);
}

/* What is too deep for us is PostgreSQL's, also its error when it is too deep for PostgreSQL. */
PenumbraExpr
translate_expr(Translation *translation, Node *node)
{
	PenumbraExpr expr;

	if (translation->depth >= TRANSLATION_DEPTH_MAX || stack_is_too_deep())
		return translate_refuse(translation, "expression too deep");
	translation->depth++;
	expr = translate_shallow(translation, node);
	translation->depth--;
	return expr;
}

/* ---------------------------------------------------------------- stages */

/* Goes on from a new operator; false: it was refused. */
static bool
keep_operator(Translation *translation, PenumbraOperator added)
{
	if (added < 0)
	{
		engine_result(translation, -1);
		return false;
	}
	translation->current = added;
	return true;
}

bool
translation_add_filter(Translation *translation, const PenumbraExpr *conjuncts, int count)
{
	return keep_operator(translation, penumbra_plan_add_filter(translation->plan,
															   translation->current,
															   conjuncts, count));
}

static bool
add_filter(Translation *translation, PipelineStage *stage)
{
	int			count = list_length(stage->exprs);
	PenumbraExpr *conjuncts = palloc(sizeof(PenumbraExpr) * count);

	return translate_args(translation, stage->exprs, conjuncts) &&
		translation_add_filter(translation, conjuncts, count);
}

static bool
add_projection(Translation *translation, PipelineStage *stage)
{
	int			count = list_length(stage->exprs);
	PenumbraExpr *exprs = palloc(sizeof(PenumbraExpr) * Max(count, 1));

	if (!translate_args(translation, stage->exprs, exprs))
		return false;
	if (!keep_operator(translation, penumbra_plan_add_projection(translation->plan,
																 translation->current,
																 exprs, count)))
		return false;
	translation->inputs = pipeline_outputs(stage);
	return true;
}

static bool
translate_aggref(Translation *translation, Aggref *aggref, PenumbraAggregateCall *call)
{
	PenumbraCollation *collation = NULL;
	ListCell   *lc;

	call->filter = -1;
	call->distinct = aggref->aggdistinct != NIL;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggorder != NIL || aggref->aggvariadic ||
		list_length(aggref->args) > PENUMBRA_AGGREGATE_ARGUMENTS_MAX ||
		!function_map_aggregate(aggref, &call->function))
	{
		translation->reason = psprintf("aggregate %s", format_procedure(aggref->aggfnoid));
		return false;
	}
	if (!translate_type_of(translation, (Node *) aggref, &call->result))
		return false;
	if ((call->function == PENUMBRA_AGG_MIN || call->function == PENUMBRA_AGG_MAX) &&
		!translate_collation(translation, PENUMBRA_FN_LT, aggref->inputcollid, &collation))
		return false;
	call->collation = collation;
	if (call->distinct && !translate_check_equality(translation, aggref->inputcollid))
		return false;
	/* Arguments are evaluated for rows that pass the FILTER. */
	translation->branch_depth += aggref->aggfilter != NULL;
	foreach(lc, aggref->args)
	{
		Node	   *node = (Node *) lfirst_node(TargetEntry, lc)->expr;
		PenumbraExpr argument = has_collation(translation, aggref->inputcollid, node)
			? translate_expr(translation, node) : -1;

		if (argument < 0)
			return false;
		call->arguments[call->argument_count++] = argument;
	}
	translation->branch_depth -= aggref->aggfilter != NULL;
	if (aggref->aggfilter != NULL)
	{
		call->filter = translate_expr(translation, (Node *) aggref->aggfilter);
		if (call->filter < 0)
			return false;
	}
	return true;
}

/* The sets of places as sets of bits. */
static uint64 *
key_bits(List *grouping_sets)
{
	uint64	   *bits = palloc0(sizeof(uint64) * list_length(grouping_sets));
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, grouping_sets)
	{
		foreach(lc2, (List *) lfirst(lc))
			bits[foreach_current_index(lc)] |= UINT64CONST(1) << lfirst_int(lc2);
	}
	return bits;
}

static bool
add_aggregation(Translation *translation, PipelineStage *stage)
{
	int			key_count = list_length(stage->exprs);
	int			call_count = list_length(stage->aggrefs);
	PenumbraExpr *keys = palloc(sizeof(PenumbraExpr) * Max(key_count, 1));
	PenumbraAggregateCall *calls = palloc0(sizeof(PenumbraAggregateCall) * Max(call_count, 1));
	ListCell   *lc;

	translation->conditional_depth++;
	if (!translate_args(translation, stage->exprs, keys))
		return false;
	foreach(lc, stage->exprs)
	{
		if (!has_collation(translation, exprCollation(lfirst(lc)), lfirst(lc)) ||
			!translate_check_equality(translation, exprCollation(lfirst(lc))))
			return false;
	}
	foreach(lc, stage->aggrefs)
	{
		if (!translate_aggref(translation, lfirst(lc), &calls[foreach_current_index(lc)]))
			return false;
	}
	translation->conditional_depth--;
	if (!keep_operator(translation, stage->grouping_sets == NIL
					   ? penumbra_plan_add_aggregation(translation->plan, translation->current, keys,
													   key_count, calls, call_count)
					   : penumbra_plan_add_grouping_sets(translation->plan, translation->current, keys,
														 key_count, key_bits(stage->grouping_sets),
														 list_length(stage->grouping_sets), calls, call_count)))
		return false;
	translation->inputs = pipeline_outputs(stage);
	return true;
}

/* LIMIT or OFFSET; null_value is what NULL stands for. */
static bool
row_count_of(Translation *translation, Node *node, int64 null_value, int64 *count)
{
	Datum		value;
	bool		isnull;

	*count = null_value;
	if (node == NULL)
		return true;
	if (IsA(node, Const))
	{
		value = ((Const *) node)->constvalue;
		isnull = ((Const *) node)->constisnull;
	}
	else if (translate_is_runtime(node))
	{
		int			index = translate_runtime_index(translation, node);

		if (translation->runtime_values == NULL)
		{
			*count = 1;
			return true;
		}
		if (translation->runtime_values[index].has_failed)
		{
			translation->reason = "LIMIT or OFFSET that cannot be evaluated";
			return false;
		}
		value = translation->runtime_values[index].value;
		isnull = translation->runtime_values[index].isnull;
	}
	else
	{
		translation->reason = "LIMIT that depends on more than parameters";
		return false;
	}
	if (isnull)
		return true;
	*count = DatumGetInt64(value);
	if (*count >= 0)
		return true;
	translation->reason = "negative LIMIT or OFFSET";
	return false;
}

static bool
add_sort(Translation *translation, PipelineStage *stage)
{
	int			count = list_length(stage->exprs);
	PenumbraSortKey *keys = palloc(sizeof(PenumbraSortKey) * count);
	int64		limit;
	int64		offset;
	ListCell   *lc;

	foreach(lc, stage->exprs)
	{
		int			i = foreach_current_index(lc);
		int			flags = list_nth_int(stage->sort_flags, i);
		PenumbraCollation *collation;

		if (!has_collation(translation, exprCollation(lfirst(lc)), lfirst(lc)) ||
			!translate_collation(translation, PENUMBRA_FN_LT, exprCollation(lfirst(lc)),
								 &collation))
			return false;
		keys[i].collation = collation;
		keys[i].expr = translate_expr(translation, lfirst(lc));
		if (keys[i].expr < 0)
			return false;
		keys[i].descending = (flags & PIPELINE_SORT_DESCENDING) != 0;
		keys[i].nulls_first = (flags & PIPELINE_SORT_NULLS_FIRST) != 0;
	}
	if (!row_count_of(translation, stage->limit, -1, &limit) ||
		!row_count_of(translation, stage->offset, 0, &offset))
		return false;
	return keep_operator(translation, penumbra_plan_add_sort(translation->plan,
															 translation->current, keys, count,
															 limit, offset));
}

bool
translation_finish(Translation *translation)
{
	if (penumbra_plan_finish(translation->plan, translation->current))
		return true;
	engine_result(translation, -1);
	return false;
}

/* The sides of a join's equality as one engine type; false: refused. */
static bool
match_types(Translation *translation, PenumbraJoinKey *key)
{
	PenumbraType probe = penumbra_plan_expr_type(translation->plan, key->probe);
	PenumbraType build = penumbra_plan_expr_type(translation->plan, key->build);
	PenumbraType wide;

	if (probe == build)
		return true;
	if (!translate_join_type(probe, build, &wide))
	{
		translation->reason = "join of different types";
		return false;
	}
	if (probe != wide)
		key->probe = translate_call(translation, PENUMBRA_FN_CAST, wide, &key->probe, 1);
	if (build != wide)
		key->build = translate_call(translation, PENUMBRA_FN_CAST, wide, &key->build, 1);
	return key->probe >= 0 && key->build >= 0;
}

static bool add_stage(Translation *translation, PipelineStage *stage);

static bool
add_join(Translation *translation, PipelineStage *stage)
{
	int			condition_count = list_length(stage->exprs);
	PenumbraJoinKey *keys = palloc0(sizeof(PenumbraJoinKey) * Max(list_length(stage->join_keys), 1));
	PenumbraExpr *conditions = palloc(sizeof(PenumbraExpr) * Max(condition_count, 1));
	PenumbraJoin join = {.kind = stage->join_kind,.is_null_aware = stage->is_null_aware,.keys = keys,
		.key_count = list_length(stage->join_keys),.conditions = conditions,
	.condition_count = condition_count,.build_rows_max = (uint64) stage->build_rows_max};
	PenumbraOperator probe;
	PenumbraOperator build;
	List	   *probe_inputs;
	List	   *build_inputs;
	bool		is_taken;
	ListCell   *lc;

	if (!add_stage(translation, linitial(stage->inputs)))
		return false;
	probe = translation->current;
	probe_inputs = translation->inputs;
	if (!add_stage(translation, lsecond(stage->inputs)))
		return false;
	build = translation->current;
	build_inputs = translation->inputs;
	translation->conditional_depth++;
	foreach(lc, stage->join_keys)
	{
		OpExpr	   *clause = lfirst_node(OpExpr, lc);
		PenumbraJoinKey *key = &keys[foreach_current_index(lc)];

		translation->current = probe;
		translation->inputs = probe_inputs;
		key->probe = translate_expr(translation, linitial(clause->args));
		translation->current = build;
		translation->inputs = build_inputs;
		key->build = key->probe < 0 ? -1 : translate_expr(translation, lsecond(clause->args));
		if (key->build < 0 || !have_collation(translation, clause->inputcollid, clause->args) ||
			!translate_check_equality(translation, clause->inputcollid) ||
			!match_types(translation, key))
			return false;
	}
	translation->current = probe;
	translation->build = build;
	translation->inputs = list_concat_copy(probe_inputs, build_inputs);
	is_taken = translate_args(translation, stage->exprs, conditions);
	translation->build = -1;
	translation->conditional_depth--;
	if (!is_taken ||
		!keep_operator(translation, penumbra_plan_add_join(translation->plan, probe, build, &join)))
		return false;
	translation->inputs = pipeline_outputs(stage);
	return true;
}

static bool
add_union(Translation *translation, PipelineStage *stage)
{
	PenumbraOperator *inputs = palloc(sizeof(PenumbraOperator) * list_length(stage->inputs));
	ListCell   *lc;

	foreach(lc, stage->inputs)
	{
		if (!add_stage(translation, lfirst(lc)))
			return false;
		inputs[foreach_current_index(lc)] = translation->current;
	}
	if (!keep_operator(translation, penumbra_plan_add_union(translation->plan, inputs,
															list_length(stage->inputs))))
		return false;
	translation->inputs = pipeline_outputs(stage);
	return true;
}

/* The declared scale of numeric(p,s), -1 if there is none or it is negative. */
static int
numeric_scale_of(Var *var)
{
	int			scale;

	if (var->vartypmod < VARHDRSZ)
		return -1;
	scale = (((var->vartypmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
	return Max(scale, -1);
}

bool
translation_add_scan(Translation *translation, PipelineStage *stage)
{
	int			count = list_length(stage->exprs);
	PenumbraScanColumn *columns = palloc(sizeof(PenumbraScanColumn) * Max(count, 1));
	ListCell   *lc;

	foreach(lc, stage->exprs)
	{
		Var		   *var = lfirst_node(Var, lc);
		PenumbraScanColumn *column = &columns[foreach_current_index(lc)];

		if (!translate_type(var->vartype, &column->type))
			elog(ERROR, "column of type %s in a Penumbra pipeline", format_type_be(var->vartype));
		column->numeric_scale = column->type == PENUMBRA_NUMERIC && stage->source == NULL ? numeric_scale_of(var) : -1;
	}
	if (!keep_operator(translation, penumbra_plan_add_scan(translation->plan, columns, count)))
		return false;
	stage->operator = translation->current;
	translation->inputs = stage->exprs;
	return true;
}

static bool
add_stage_alone(Translation *translation, PipelineStage *stage)
{
	if (stage->kind == PIPELINE_JOIN)
		return add_join(translation, stage);
	if (stage->kind == PIPELINE_UNION)
		return add_union(translation, stage);
	if (stage->inputs != NIL && !add_stage(translation, linitial(stage->inputs)))
		return false;
	switch (stage->kind)
	{
		case PIPELINE_SCAN:
			return translation_add_scan(translation, stage);
		case PIPELINE_FILTER:
			return add_filter(translation, stage);
		case PIPELINE_PROJECTION:
			return add_projection(translation, stage);
		case PIPELINE_AGGREGATION:
			return add_aggregation(translation, stage);
		case PIPELINE_SORT:
			return add_sort(translation, stage);
		case PIPELINE_UNION:
		case PIPELINE_JOIN:
			break;
	}
	return false;
}

static bool
add_stage(Translation *translation, PipelineStage *stage)
{
	if (!add_stage_alone(translation, stage))
		return false;
	stage->operator = translation->current;
	return true;
}

bool
translation_add_stages(Translation *translation, const Pipeline *pipeline)
{
	return add_stage(translation, pipeline->top) && translation_finish(translation);
}

/* ---------------------------------------------------------------- begin and end */

static void
destroy_plan(void *arg)
{
	penumbra_plan_destroy(((Translation *) arg)->plan);
}

Translation *
translation_begin(List *runtime_exprs, const RuntimeValue *values)
{
	MemoryContext owner = AllocSetContextCreate(CurrentMemoryContext, "Penumbra translation",
												ALLOCSET_SMALL_SIZES);
	Translation *translation = MemoryContextAllocZero(owner, sizeof(Translation));
	MemoryContextCallback *callback = MemoryContextAllocZero(owner,
															 sizeof(MemoryContextCallback));
	PenumbraPlanOptions options = {
		.encoding_is_utf8 = GetDatabaseEncoding() == PG_UTF8,
		.time_zone = time_zone_of_session()
	};

	translation->owner = owner;
	translation->current = -1;
	translation->build = -1;
	translation->runtime_exprs = list_copy(runtime_exprs);
	translation->runtime_values = values;
	translation->case_operand = -1;
	translation->plan = penumbra_plan_create(&options);
	if (translation->plan == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	callback->func = destroy_plan;
	callback->arg = translation;
	MemoryContextRegisterResetCallback(owner, callback);
	return translation;
}

void
translation_end(Translation *translation)
{
	MemoryContextDelete(translation->owner);
}
