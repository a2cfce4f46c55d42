/*-------------------------------------------------------------------------
 *
 * stage_window.c
 *	  The stage of a window: the functions of one PARTITION BY and ORDER BY.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/regproc.h"
#include "utils/timestamp.h"

#include "query/pipeline/collected_call.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/init_plans.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stage_sort.h"
#include "query/pipeline/stage_window.h"
#include "query/pipeline/translate_aggregate.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"

static const struct
{
	Oid			oid;
	PenumbraWindowFunction function;
	bool		needs_order;	/* its value depends on the places of peers */
}			functions[] = {
	{F_ROW_NUMBER, PENUMBRA_WINDOW_ROW_NUMBER, true},
	{F_RANK_, PENUMBRA_WINDOW_RANK, false},
	{F_DENSE_RANK_, PENUMBRA_WINDOW_DENSE_RANK, false},
	{F_PERCENT_RANK_, PENUMBRA_WINDOW_PERCENT_RANK, false},
	{F_CUME_DIST_, PENUMBRA_WINDOW_CUME_DIST, false},
	{F_NTILE, PENUMBRA_WINDOW_NTILE, true},
	{F_LAG_ANYELEMENT, PENUMBRA_WINDOW_LAG, true},
	{F_LAG_ANYELEMENT_INT4, PENUMBRA_WINDOW_LAG, true},
	{F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, PENUMBRA_WINDOW_LAG, true},
	{F_LEAD_ANYELEMENT, PENUMBRA_WINDOW_LEAD, true},
	{F_LEAD_ANYELEMENT_INT4, PENUMBRA_WINDOW_LEAD, true},
	{F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE, PENUMBRA_WINDOW_LEAD, true},
	{F_FIRST_VALUE, PENUMBRA_WINDOW_FIRST_VALUE, true},
	{F_LAST_VALUE, PENUMBRA_WINDOW_LAST_VALUE, true},
	{F_NTH_VALUE, PENUMBRA_WINDOW_NTH_VALUE, true},
};

/* The engine evaluates arguments for all rows, PostgreSQL those that it needs. */
static bool
cannot_fail(Translation *translation, PenumbraExpr expr)
{
	if (expr < 0)
		return false;
	return !penumbra_plan_expr_can_fail(translation->plan, expr) ||
		translation_refuse(translation, "window function of an expression that can fail") >= 0;
}

/* Of a frame with offsets in the order's key: what the key becomes, and what adds and subtracts the offset. */
static const struct
{
	Oid			key;
	Oid			offset;			/* InvalidOid: any integer */
	Oid			type;			/* of what is compared */
	Oid			cast;			/* InvalidOid: the key has the type */
	Oid			plus;
	Oid			minus;
}			edges[] = {
	{INT2OID, InvalidOid, INT8OID, F_INT8_INT2, F_INT8PL, F_INT8MI},
	{INT4OID, InvalidOid, INT8OID, F_INT8_INT4, F_INT8PL, F_INT8MI},
	{INT8OID, InvalidOid, INT8OID, InvalidOid, F_INT8PL, F_INT8MI},
	{FLOAT4OID, FLOAT8OID, FLOAT8OID, F_FLOAT8_FLOAT4, F_FLOAT8PL, F_FLOAT8MI},
	{FLOAT8OID, FLOAT8OID, FLOAT8OID, InvalidOid, F_FLOAT8PL, F_FLOAT8MI},
	{NUMERICOID, NUMERICOID, NUMERICOID, InvalidOid, F_NUMERIC_ADD, F_NUMERIC_SUB},
	{DATEOID, INTERVALOID, TIMESTAMPOID, F_TIMESTAMP_DATE, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL},
	{TIMESTAMPOID, INTERVALOID, TIMESTAMPOID, InvalidOid, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL},
	{TIMESTAMPTZOID, INTERVALOID, TIMESTAMPTZOID, InvalidOid, F_TIMESTAMPTZ_PL_INTERVAL, F_TIMESTAMPTZ_MI_INTERVAL},
};

/* PostgreSQL adds no integers beyond their range: what is further away than all others is so far away. */
#define FARTHEST_INTEGER (INT64CONST(1) << 40)

/* The offset as a constant of what is added; NULL: it is negative, not a number, or not of the type. */
static Node *
edge_offset(Oid wanted, const Const *offset)
{
	switch (offset->consttype)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			{
				int64		value = offset->consttype == INT8OID ? DatumGetInt64(offset->constvalue)
					: offset->consttype == INT4OID ? DatumGetInt32(offset->constvalue)
					: DatumGetInt16(offset->constvalue);

				if (OidIsValid(wanted) || value < 0)
					return NULL;
				return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, true);
			}
		case FLOAT8OID:
			if (!(DatumGetFloat8(offset->constvalue) >= 0) || isinf(DatumGetFloat8(offset->constvalue)))
				return NULL;
			break;
		case NUMERICOID:
			{
				Numeric		value = DatumGetNumeric(offset->constvalue);

				if (numeric_is_nan(value) || numeric_is_inf(value) ||
					DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(value),
													  NumericGetDatum(int64_to_numeric(0)))) < 0)
					return NULL;
				break;
			}
		case INTERVALOID:
			{
				Interval	zero = {0};

				if (DatumGetInt32(DirectFunctionCall2(interval_cmp, offset->constvalue, IntervalPGetDatum(&zero))) < 0)
					return NULL;
				break;
			}
		default:
			return NULL;
	}
	return offset->consttype == wanted ? (Node *) offset : NULL;
}

/* The key's value at which a bound lies that is `offset` before the row's or, if `adds`, after it. */
static bool
translate_edge(Translation *translation, Node *key, const Const *offset, bool adds, PenumbraExpr *range_key,
			   PenumbraExpr *edge)
{
	int			i = 0;
	Node	   *added;

	while (i < (int) lengthof(edges) && edges[i].key != exprType(key))
		i++;
	if (i == (int) lengthof(edges) || (added = edge_offset(edges[i].offset, offset)) == NULL)
		return translation_refuse(translation, "window frame with an offset of another kind") >= 0;
	if (edges[i].cast == F_INT8_INT2 || edges[i].cast == F_INT8_INT4)
	{
		int64		value = DatumGetInt64(((Const *) added)->constvalue);

		((Const *) added)->constvalue = Int64GetDatum(Min(value, FARTHEST_INTEGER));
	}
	if (OidIsValid(edges[i].cast))
		key = (Node *) makeFuncExpr(edges[i].cast, edges[i].type, list_make1(key), InvalidOid, InvalidOid,
									COERCE_EXPLICIT_CAST);
	*range_key = translate_expr(translation, key);
	*edge = translate_expr(translation, (Node *) makeFuncExpr(adds ? edges[i].plus : edges[i].minus, edges[i].type,
															  list_make2(key, added), InvalidOid, InvalidOid,
															  COERCE_EXPLICIT_CALL));
	return *range_key >= 0 && *edge >= 0;
}

/* What an offset of the type is while planning. */
static Datum
no_offset(Oid type)
{
	switch (type)
	{
		case NUMERICOID:
			return NumericGetDatum(int64_to_numeric(0));
		case INTERVALOID:
			return IntervalPGetDatum(palloc0(sizeof(Interval)));
		case INT8OID:
			return Int64GetDatum(0);
		case FLOAT8OID:
			return Float8GetDatum(0);
		default:
			return (Datum) 0;
	}
}

/*
 * A frame's offset as a constant; NULL: refused.  Of NULL PostgreSQL makes an
 * error before it has a row, so the ordinary plan runs.
 */
static Const *
known_offset(Translation *translation, Node *node)
{
	RuntimeValue value = {0};

	if (IsA(node, Const) && !((Const *) node)->constisnull)
		return (Const *) node;
	if (IsA(node, Const) || !translation_is_runtime(node) || init_plans_must_wait(node, true, false))
	{
		(void) translation_refuse(translation, "window frame with an offset that is not constant");
		return NULL;
	}
	if (translation->runtime_values != NULL)
		value = translation->runtime_values[translation_runtime_index(translation, node)];
	else
	{
		(void) translation_runtime_index(translation, node);
		value.value = no_offset(exprType(node));
	}
	if (value.isnull || value.has_failed)
	{
		(void) translation_refuse(translation, "window frame with an offset that is NULL or an error");
		return NULL;
	}
	return pipeline_constant(exprType(node), exprTypmod(node), exprCollation(node), value.value, false);
}

static bool
translate_bound(Translation *translation, const PipelineStage *stage, int options, Node *offset, int preceding,
				int following, PenumbraWindowCall *call, PenumbraFrameBound *bound)
{
	const Const *known;

	/* of a window that got another frame, since its functions have no use for one, the offset is still there */
	if ((options & (preceding | following)) == 0)
		return true;
	bound->kind = options & preceding ? PENUMBRA_FRAME_PRECEDING : PENUMBRA_FRAME_FOLLOWING;
	known = known_offset(translation, offset);
	if (known == NULL)
		return false;
	if (call->mode != PENUMBRA_FRAME_RANGE)
	{
		Assert(known->consttype == INT8OID);
		bound->offset = DatumGetInt64(known->constvalue);
		return true;
	}
	if (list_length(stage->sort_flags) != 1)
		return translation_refuse(translation, "window frame with an offset and no key to add it to") >= 0;
	return translate_edge(translation, llast(stage->exprs), known,
						  (bound->kind == PENUMBRA_FRAME_FOLLOWING) !=
						  ((linitial_int(stage->sort_flags) & PIPELINE_SORT_DESCENDING) != 0),
						  &call->range_key, &bound->edge);
}

static bool
translate_frame(Translation *translation, const PipelineStage *stage, const WindowClause *window,
				PenumbraWindowCall *call)
{
	int			options = window->frameOptions;

	call->mode = options & FRAMEOPTION_ROWS ? PENUMBRA_FRAME_ROWS
		: options & FRAMEOPTION_GROUPS ? PENUMBRA_FRAME_GROUPS : PENUMBRA_FRAME_RANGE;
	call->exclusion = options & FRAMEOPTION_EXCLUDE_CURRENT_ROW ? PENUMBRA_EXCLUDE_CURRENT_ROW
		: options & FRAMEOPTION_EXCLUDE_GROUP ? PENUMBRA_EXCLUDE_GROUP
		: options & FRAMEOPTION_EXCLUDE_TIES ? PENUMBRA_EXCLUDE_TIES : PENUMBRA_EXCLUDE_NO_OTHERS;
	call->start.kind = options & FRAMEOPTION_START_UNBOUNDED_PRECEDING ? PENUMBRA_FRAME_UNBOUNDED_PRECEDING
		: PENUMBRA_FRAME_CURRENT_ROW;
	call->end.kind = options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING ? PENUMBRA_FRAME_UNBOUNDED_FOLLOWING
		: PENUMBRA_FRAME_CURRENT_ROW;
	return translate_bound(translation, stage, options, window->startOffset, FRAMEOPTION_START_OFFSET_PRECEDING,
						   FRAMEOPTION_START_OFFSET_FOLLOWING, call, &call->start) &&
		translate_bound(translation, stage, options, window->endOffset, FRAMEOPTION_END_OFFSET_PRECEDING,
						FRAMEOPTION_END_OFFSET_FOLLOWING, call, &call->end);
}

static int
place_of(const WindowFunc *function)
{
	int			i = 0;

	while (i < (int) lengthof(functions) && functions[i].oid != function->winfnoid)
		i++;
	return i;
}

bool
stage_window_needs_order(const WindowFunc *function, int frame_options)
{
	int			place = place_of(function);

	if (!function->winagg)
		return place < (int) lengthof(functions) && functions[place].needs_order;
	if (aggregate_shows_row_order(pipeline_aggref_of_window(function)))
		return true;
	return (frame_options & FRAMEOPTION_ROWS) != 0 &&
		((frame_options & FRAMEOPTION_START_UNBOUNDED_PRECEDING) == 0 ||
		 (frame_options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) == 0);
}

/* Whether the only key is the place in the table: all rows are peers of each other all the same. */
static bool
is_in_row_order(const PipelineStage *stage)
{
	return stage->sort_flags != NIL && stage_scan_is_position(llast(stage->exprs));
}

/* Of a frame among rows that all are peers; false: no frame of rows. */
static bool
translate_frame_of_peers(Translation *translation, int options, PenumbraWindowCall *call)
{
	if (options & (FRAMEOPTION_EXCLUDE_GROUP | FRAMEOPTION_EXCLUDE_TIES))
		return translation_refuse(translation, "window without ORDER BY that excludes peers") >= 0;
	if (call->mode == PENUMBRA_FRAME_ROWS)
		return true;
	if (options & (FRAMEOPTION_START_OFFSET | FRAMEOPTION_END_OFFSET))
		return translation_refuse(translation, "window frame with an offset and no ORDER BY") >= 0;
	call->mode = PENUMBRA_FRAME_ROWS;
	call->start.kind = PENUMBRA_FRAME_UNBOUNDED_PRECEDING;
	call->end.kind = PENUMBRA_FRAME_UNBOUNDED_FOLLOWING;
	return true;
}

const WindowClause *
stage_window_frame_of(const PipelineStage *stage, Index winref)
{
	ListCell   *lc;

	foreach(lc, stage->frames)
	{
		if (lfirst_node(WindowClause, lc)->winref == winref)
			return lfirst(lc);
	}
	elog(ERROR, "window function without a window");
}

/* Whether the frame of each row has the row itself, so that no row's argument is left unevaluated. */
static bool
has_own_row(const PenumbraWindowCall *call)
{
	return call->start.kind != PENUMBRA_FRAME_FOLLOWING && call->end.kind != PENUMBRA_FRAME_PRECEDING &&
		(call->exclusion == PENUMBRA_EXCLUDE_NO_OTHERS || call->exclusion == PENUMBRA_EXCLUDE_TIES);
}

/* The engine evaluates arguments for all rows, PostgreSQL for those that are in some frame. */
static bool
arguments_cannot_fail(Translation *translation, const WindowFunc *function, const PenumbraWindowCall *call)
{
	if (function->aggfilter == NULL && has_own_row(call))
		return true;
	for (int i = 0; i < call->aggregate.argument_count; i++)
	{
		if (!cannot_fail(translation, call->aggregate.arguments[i]))
			return false;
	}
	return true;
}

/*
 * An aggregate that the engine does not know, or not over such a frame, is
 * PostgreSQL's: it gets the rows one by one while the engine runs, so their order counts.
 */
static bool
translate_window_aggregate(Translation *translation, WindowFunc *function, const PipelineStage *stage, int options,
						   PenumbraWindowCall *call)
{
	Aggref	   *aggref = pipeline_aggref_of_window(function);
	int			branch_depth = translation->branch_depth;
	int			order_keys = list_length(stage->sort_flags);
	const char *reason;

	call->function = PENUMBRA_WINDOW_AGGREGATE;
	if (translate_aggregate(translation, aggref, &call->aggregate, NULL) &&
		arguments_cannot_fail(translation, function, call))
	{
		if (penumbra_plan_takes_window_call(translation->plan, translation->current, call, order_keys) ||
			order_keys == 0)
			return true;
		translation->reason = pstrdup(penumbra_plan_reason(translation->plan));
	}
	if (order_keys == 0)
		return false;
	reason = translation->reason;
	translation->branch_depth = branch_depth;
	memset(&call->aggregate, 0, sizeof(call->aggregate));
	if (collected_call_of_window(translation, aggref, options, &call->aggregate) &&
		arguments_cannot_fail(translation, function, call))
		return true;
	translation->reason = reason;
	return false;
}

/* Of rows or buckets: a constant, or a value that each row has. */
static bool
translate_count(Translation *translation, Node *node, PenumbraWindowCall *call)
{
	if (!IsA(node, Const) || ((Const *) node)->constisnull)
	{
		call->count_value = translate_expr(translation, node);
		/* The others evaluate it for each row. */
		return call->function == PENUMBRA_WINDOW_NTILE ? cannot_fail(translation, call->count_value)
			: call->count_value >= 0;
	}
	Assert(exprType(node) == INT4OID);
	call->count = DatumGetInt32(((Const *) node)->constvalue);
	return true;
}

/* LAG and LEAD: value, rows, default; NTH_VALUE: value, place; NTILE: buckets. */
static bool
translate_arguments(Translation *translation, WindowFunc *function, PenumbraWindowCall *call)
{
	List	   *args = function->args;

	call->count = 1;
	call->count_value = call->default_value = -1;
	if (call->function == PENUMBRA_WINDOW_NTILE)
		return translate_count(translation, linitial(args), call);
	if (args == NIL)
		return true;
	call->value = translate_expr(translation, linitial(args));
	if (!cannot_fail(translation, call->value))
		return false;
	if (list_length(args) > 1 && !translate_count(translation, lsecond(args), call))
		return false;
	if (list_length(args) > 2 && !(IsA(lthird(args), Const) && ((Const *) lthird(args))->constisnull))
	{
		call->default_value = translate_expr(translation, lthird(args));
		return cannot_fail(translation, call->default_value);
	}
	return true;
}

static bool
translate_window_function(Translation *translation, WindowFunc *function, const PipelineStage *stage,
				   PenumbraWindowCall *call)
{
	bool		has_order = stage->sort_flags != NIL;
	int			options = stage_window_frame_of(stage, function->winref)->frameOptions;

	if (!translate_frame(translation, stage, stage_window_frame_of(stage, function->winref), call) ||
		(is_in_row_order(stage) && !translate_frame_of_peers(translation, options, call)))
		return false;
	if (function->winagg)
	{
		if (!translate_window_aggregate(translation, function, stage, options, call))
			return false;
	}
	else
	{
		int			i = place_of(function);

		if (i == (int) lengthof(functions))
			return translation_refuse(translation, psprintf("window function %s",
															format_procedure(function->winfnoid))) >= 0;
		call->function = functions[i].function;
		call->ignores_nulls = compat_ignores_nulls(function);
		/* an error of the other functions */
		if (compat_treats_nulls(function) &&
			(call->function < PENUMBRA_WINDOW_LAG || call->function > PENUMBRA_WINDOW_NTH_VALUE))
			return translation_refuse(translation, "window function with IGNORE or RESPECT NULLS") >= 0;
		if (is_in_row_order(stage) && !functions[i].needs_order)
			return translation_refuse(translation, "rank without ORDER BY beside a row number") >= 0;
		if (!translate_arguments(translation, function, call))
			return false;
	}
	/* Rows would come in an order that users do not know from PostgreSQL; what has no number is no window of theirs. */
	if (!has_order && function->winref != 0 && stage_window_needs_order(function, options))
		return translation_refuse(translation, "window function of rows without ORDER BY") >= 0;
	return true;
}

static List *
partition_keys(const PipelineStage *stage)
{
	return list_truncate(list_copy(stage->exprs), list_length(stage->exprs) - list_length(stage->sort_flags));
}

static List *
order_keys(const PipelineStage *stage)
{
	return list_copy_tail(stage->exprs, list_length(stage->exprs) - list_length(stage->sort_flags));
}

static bool
has_collation(List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (OidIsValid(exprCollation(lfirst(lc))))
			return true;
	}
	return false;
}

/* Partitions of text come in any order: see order_of() in window_paths.c. */
static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	List	   *partition = partition_keys(stage);
	int			call_count = list_length(stage->aggrefs);
	PenumbraExpr *keys = palloc(sizeof(PenumbraExpr) * Max(list_length(partition), 1));
	PenumbraWindowCall *calls = palloc0(sizeof(PenumbraWindowCall) * call_count);
	PenumbraSortKey *order;
	ListCell   *lc;

	/* Without rows nothing is evaluated.  A refusal ends the translation, so nobody reads the depth then. */
	translation->conditional_depth++;
	if (!comparison_keys_of_groups(translation, partition, keys))
		return false;
	order = stage_sort_keys(translation, order_keys(stage), stage->sort_flags);
	if (order == NULL)
		return false;
	foreach(lc, stage->aggrefs)
	{
		if (!translate_window_function(translation, lfirst_node(WindowFunc, lc), stage,
									   &calls[foreach_current_index(lc)]))
			return false;
	}
	translation->conditional_depth--;
	return translation_keep_operator(translation,
									 penumbra_plan_add_window(translation->plan, translation->current,
															  keys, list_length(partition),
															  order, list_length(stage->sort_flags),
															  calls, call_count, has_collation(partition)));
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return list_concat_copy(inputs[0].outputs, stage->aggrefs);
}

static char *
title(const PipelineStage *stage, const Deparser *deparser)
{
	return "Vector Window";
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_list("Vector Partition Key", partition_keys(stage), deparser, es);
	if (stage->sort_flags != NIL)
		stage_sort_explain_keys("Vector Order Key", order_keys(stage), stage->sort_flags, deparser, es);
	deparser_explain_list("Vector Window Functions", stage->aggrefs, deparser, es);
}

const StageKind stage_window = {
	.is_breaker = true,
	.combines_inputs = true,
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};
