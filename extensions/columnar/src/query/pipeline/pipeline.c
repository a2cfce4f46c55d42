/*-------------------------------------------------------------------------
 *
 * pipeline.c
 *	  Building, walking and (de)serialising pipelines.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/pipeline/pipeline.h"
#include "query/planning/relation_numbers.h"

Pipeline *
pipeline_copy(const Pipeline *pipeline)
{
	Pipeline   *copy = palloc(sizeof(Pipeline));

	*copy = *pipeline;
	copy->runtime_exprs = NIL;
	copy->called_exprs = NIL;
	copy->is_checked = false;
	copy->output_map = copy->default_map = NIL;
	copy->position_map = NIL;
	return copy;
}

PipelineStage *
pipeline_add_stage(Pipeline *pipeline, PipelineStageKind kind, List *exprs)
{
	PipelineStage *stage = palloc0(sizeof(PipelineStage));

	stage->kind = kind;
	stage->exprs = exprs;
	if (pipeline->top != NULL)
		stage->inputs = list_make1(pipeline->top);
	pipeline->top = stage;
	return stage;
}

Node *
pipeline_int4(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
}

static Node *
compare(Oid operator, void *expr, Node *value)
{
	OpExpr	   *comparison = (OpExpr *) make_opclause(operator, BOOLOID, false, expr, (Expr *) value,
													  InvalidOid, InvalidOid);

	set_opfuncid(comparison);
	return (Node *) comparison;
}

Node *
pipeline_int4_equals(void *expr, int value)
{
	return compare(Int4EqualOperator, expr, pipeline_int4(value));
}

Node *
pipeline_int8(int64 value)
{
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL);
}

Node *
pipeline_compare_int8s(void *expr, int strategy, Node *value)
{
	return compare(get_opfamily_member(INTEGER_BTREE_FAM_OID, INT8OID, INT8OID, strategy), expr, value);
}

Node *
pipeline_compare_int8(void *expr, int strategy, int64 value)
{
	return pipeline_compare_int8s(expr, strategy, pipeline_int8(value));
}

Node *
pipeline_coalesce(Node *value, Node *other)
{
	CoalesceExpr *coalesce = makeNode(CoalesceExpr);

	coalesce->coalescetype = exprType(value);
	coalesce->coalescecollid = exprCollation(value);
	coalesce->args = list_make2(value, other);
	coalesce->location = -1;
	return (Node *) coalesce;
}

CaseWhen *
pipeline_when(void *condition, void *result)
{
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = result;
	when->location = -1;
	return when;
}

Node *
pipeline_case(Oid type, Oid collation, List *whens, void *otherwise)
{
	CaseExpr   *choice = makeNode(CaseExpr);

	choice->casetype = type;
	choice->casecollid = collation;
	choice->args = whens;
	choice->defresult = otherwise;
	choice->location = -1;
	return (Node *) choice;
}

Node *
pipeline_null_test(void *value, NullTestType kind)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = value;
	test->nulltesttype = kind;
	test->location = -1;
	return (Node *) test;
}

Const *
pipeline_constant(Oid type, int32 typmod, Oid collation, Datum value, bool is_null)
{
	int16		length;
	bool		by_value;

	get_typlenbyval(type, &length, &by_value);
	return makeConst(type, typmod, collation, length, is_null ? (Datum) 0 : value, is_null, by_value);
}

Const *
pipeline_default_of(Node *expr)
{
	const CoalesceExpr *coalesce = (const CoalesceExpr *) expr;

	return IsA(expr, CoalesceExpr) && list_length(coalesce->args) == 2 && IsA(lsecond(coalesce->args), Const)
		? lsecond(coalesce->args) : NULL;
}

Aggref *
pipeline_aggref(Oid function, Oid type, Node *value, Oid collation)
{
	Aggref	   *aggref = makeNode(Aggref);

	aggref->aggfnoid = function;
	aggref->aggtype = type;
	aggref->inputcollid = collation;
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggstar = value == NULL;
	aggref->location = -1;
	if (value != NULL)
	{
		aggref->aggargtypes = list_make1_oid(exprType(value));
		aggref->args = list_make1(makeTargetEntry((Expr *) value, 1, NULL, false));
	}
	return aggref;
}

Aggref *
pipeline_aggref_of_window(const WindowFunc *function)
{
	Aggref	   *aggref = pipeline_aggref(function->winfnoid, function->wintype, NULL, function->inputcollid);
	ListCell   *lc;

	aggref->aggcollid = function->wincollid;
	aggref->aggstar = function->winstar;
	aggref->aggfilter = function->aggfilter;
	foreach(lc, function->args)
	{
		aggref->aggargtypes = lappend_oid(aggref->aggargtypes, exprType(lfirst(lc)));
		aggref->args = lappend(aggref->args, makeTargetEntry(lfirst(lc), foreach_current_index(lc) + 1, NULL, false));
	}
	return aggref;
}

static Node *
without_windows_mutator(Node *node, void *context)
{
	if (node != NULL && IsA(node, WindowFunc))
		node = (Node *) pipeline_aggref_of_window((WindowFunc *) node);
	return node == NULL ? NULL : expression_tree_mutator(node, without_windows_mutator, context);
}

Node *
pipeline_without_windows(Node *node)
{
	return without_windows_mutator(node, NULL);
}

WindowFunc *
pipeline_row_number(Index window)
{
	WindowFunc *function = makeNode(WindowFunc);

	function->winfnoid = F_ROW_NUMBER;
	function->wintype = INT8OID;
	function->winref = window;
	function->location = -1;
	return function;
}

WindowFunc *
pipeline_add_row_number(Pipeline *pipeline, List *keys, List *sort_flags)
{
	PipelineStage *stage = pipeline_add_stage(pipeline, PIPELINE_WINDOW, keys);
	WindowFunc *function = pipeline_row_number(0);
	WindowClause *frame = makeNode(WindowClause);

	frame->frameOptions = FRAMEOPTION_DEFAULTS;
	stage->sort_flags = sort_flags;
	stage->aggrefs = list_make1(function);
	stage->frames = list_make1(frame);
	return function;
}

void
pipeline_take(Pipeline *pipeline, const Pipeline *other)
{
	pipeline->has_barrier |= other->has_barrier;
	pipeline->init_plans = list_concat_unique_ptr(list_copy(pipeline->init_plans), other->init_plans);
}

OpExpr *
pipeline_commuted_key(const OpExpr *key)
{
	Oid			commutator = get_commutator(key->opno);
	OpExpr	   *commuted;

	if (!OidIsValid(commutator))
		return NULL;
	commuted = (OpExpr *) copyObject((const Node *) key);
	commuted->opno = commutator;
	commuted->opfuncid = get_opcode(commutator);
	commuted->args = list_make2(lsecond(commuted->args), linitial(commuted->args));
	return commuted;
}

List *
pipeline_commuted_keys(List *keys)
{
	List	   *commuted = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		OpExpr	   *key = pipeline_commuted_key(lfirst(lc));

		if (key == NULL)
			return NIL;
		commuted = lappend(commuted, key);
	}
	return commuted;
}

bool
pipeline_can_share(const PipelineStage *stage)
{
	while (stage->kind == PIPELINE_FILTER || stage->kind == PIPELINE_PROJECTION)
		stage = linitial(stage->inputs);
	return stage->kind == PIPELINE_AGGREGATION || stage->kind == PIPELINE_SORT || stage->kind == PIPELINE_WINDOW ||
		stage->kind == PIPELINE_RECURSION;
}

static void
collect_stages(PipelineStage *stage, List **stages)
{
	ListCell   *lc;

	if (pipeline_can_share(stage) && list_member_ptr(*stages, stage))
		return;
	foreach(lc, stage->inputs)
		collect_stages(lfirst(lc), stages);
	*stages = lappend(*stages, stage);
}

List *
pipeline_stages(const Pipeline *pipeline)
{
	List	   *stages = NIL;

	collect_stages(pipeline->top, &stages);
	return stages;
}

Bitmapset *
pipeline_numbers(const Pipeline *pipeline)
{
	Bitmapset  *numbers = NULL;
	ListCell   *lc;

	foreach(lc, pipeline_stages(pipeline))
	{
		const PipelineStage *stage = lfirst(lc);

		numbers = names_add_numbers(numbers, stage->exprs);
		numbers = names_add_numbers(numbers, stage->names);
		numbers = names_add_numbers(numbers, stage->aggrefs);
		numbers = names_add_numbers(numbers, stage->join_keys);
	}
	return numbers;
}

List *
pipeline_scans(const Pipeline *pipeline)
{
	List	   *scans = NIL;
	ListCell   *lc;

	foreach(lc, pipeline_stages(pipeline))
	{
		if (((PipelineStage *) lfirst(lc))->kind == PIPELINE_SCAN)
			scans = lappend(scans, lfirst(lc));
	}
	return scans;
}

bool
pipeline_is_chain(const Pipeline *pipeline)
{
	ListCell   *lc;

	foreach(lc, pipeline_stages(pipeline))
	{
		if (list_length(((PipelineStage *) lfirst(lc))->inputs) > 1)
			return false;
	}
	return true;
}

int
pipeline_find_expr(const List *exprs, const Node *expr)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		const Node *other = lfirst(lc);

		if (nodeTag(other) != nodeTag(expr) ||
			(IsA(expr, Var) && ((const Var *) other)->varattno != ((const Var *) expr)->varattno))
			continue;
		if (equal(other, expr))
			return foreach_current_index(lc);
	}
	return -1;
}

static bool
reads_other_walker(Node *node, void *outputs)
{
	if (node == NULL || pipeline_find_expr(outputs, node) >= 0)
		return false;
	return IsA(node, Var) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
		expression_tree_walker(node, reads_other_walker, outputs);
}

bool
pipeline_reads_only(List *outputs, void *expr)
{
	return !reads_other_walker(expr, outputs);
}

/* ---------------------------------------------------------------- as lists */

/* Of whole rows.  Parallel workers get it as text, where a number without a point is an Integer. */
static Node *
rows_to_node(double rows)
{
	char	   *text = palloc(MAXINT8LEN + sizeof(".0"));
	int			length = pg_ulltoa_n((uint64) Min(rint(rows), 1e18), text);

	memcpy(text + length, ".0", sizeof(".0"));
	return (Node *) makeFloat(text);
}

static List *
stage_to_list(const PipelineStage *stage, List *inputs)
{
	List	   *fields;

	fields = list_make5(makeInteger(stage->kind), inputs, stage->exprs, stage->names,
						stage->aggrefs);
	fields = list_concat(fields, list_make3(stage->sort_flags, stage->limit, stage->offset));
	fields = list_concat(fields, list_make3(makeInteger((int) stage->relation_oid),
											stage->table_oids, stage->table_attnums));
	fields = list_concat(fields, list_make5(makeInteger(stage->join_kind), stage->join_keys,
											makeBoolean(stage->is_null_aware), stage->grouping_sets,
											rows_to_node(stage->rows)));
	fields = list_concat(fields, list_make5(stage->source, rows_to_node(stage->probe_rows),
											rows_to_node(stage->build_rows), stage->frames,
											makeBoolean(stage->may_refuse_lists)));
	return list_concat(fields, list_make5(makeInteger(stage->single_cte), makeBoolean(stage->is_distinct),
										  makeBoolean(stage->gives_late), makeInteger(stage->join_choice),
										  stage->sample));
}

/* Adds the stage after its inputs, which it has by their places in the list; returns its own. */
static int
add_to_list(PipelineStage *stage, List **added, List **list)
{
	List	   *inputs = NIL;
	ListCell   *lc;

	foreach(lc, pipeline_can_share(stage) ? *added : NIL)
	{
		if (lfirst(lc) == stage)
			return foreach_current_index(lc);
	}
	foreach(lc, stage->inputs)
		inputs = lappend_int(inputs, add_to_list(lfirst(lc), added, list));
	*added = lappend(*added, stage);
	*list = lappend(*list, stage_to_list(stage, inputs));
	return list_length(*list) - 1;
}

/* `before` has the stages before it. */
static PipelineStage *
stage_from_list(List *fields, const List *before)
{
	PipelineStage *stage = palloc0(sizeof(PipelineStage));
	ListCell   *lc;

	stage->kind = intVal(list_nth(fields, 0));
	foreach(lc, (List *) list_nth(fields, 1))
		stage->inputs = lappend(stage->inputs, list_nth(before, lfirst_int(lc)));
	stage->exprs = list_nth(fields, 2);
	stage->names = list_nth(fields, 3);
	stage->aggrefs = list_nth(fields, 4);
	stage->sort_flags = list_nth(fields, 5);
	stage->limit = list_nth(fields, 6);
	stage->offset = list_nth(fields, 7);
	stage->relation_oid = (Oid) intVal(list_nth(fields, 8));
	stage->table_oids = list_nth(fields, 9);
	stage->table_attnums = list_nth(fields, 10);
	stage->join_kind = intVal(list_nth(fields, 11));
	stage->join_keys = list_nth(fields, 12);
	stage->is_null_aware = boolVal(list_nth(fields, 13));
	stage->grouping_sets = list_nth(fields, 14);
	stage->rows = floatVal(list_nth(fields, 15));
	stage->source = list_nth(fields, 16);
	stage->probe_rows = floatVal(list_nth(fields, 17));
	stage->build_rows = floatVal(list_nth(fields, 18));
	stage->frames = list_nth(fields, 19);
	stage->may_refuse_lists = boolVal(list_nth(fields, 20));
	stage->single_cte = intVal(list_nth(fields, 21));
	stage->is_distinct = boolVal(list_nth(fields, 22));
	stage->gives_late = boolVal(list_nth(fields, 23));
	stage->join_choice = intVal(list_nth(fields, 24));
	stage->sample = list_nth(fields, 25);
	stage->operator = -1;
	return stage;
}

List *
pipeline_to_list(const Pipeline *pipeline)
{
	List	   *added = NIL;
	List	   *stages = NIL;
	List	   *list;

	(void) add_to_list(pipeline->top, &added, &stages);
	list = list_make5(stages, pipeline->runtime_exprs, pipeline->output_map, makeBoolean(pipeline->has_barrier),
					  pipeline->names);
	list = lappend(lappend(list, makeBoolean(pipeline->is_checked)), pipeline->tried_params);
	list = list_concat(list, list_make5(pipeline->called_exprs, pipeline->expression_columns, pipeline->position_map,
										rows_to_node(pipeline->ordinary_rows), pipeline->default_map));
	return lappend(list, rows_to_node(pipeline->ordinary_input_rows));
}

Pipeline *
pipeline_from_list(List *list)
{
	Pipeline   *pipeline = palloc0(sizeof(Pipeline));
	List	   *stages = NIL;
	ListCell   *lc;

	foreach(lc, (List *) linitial(list))
		stages = lappend(stages, stage_from_list(lfirst(lc), stages));
	pipeline->top = llast(stages);
	pipeline->runtime_exprs = lsecond(list);
	pipeline->output_map = lthird(list);
	pipeline->has_barrier = boolVal(lfourth(list));
	pipeline->names = list_nth(list, 4);
	pipeline->is_checked = boolVal(list_nth(list, 5));
	pipeline->tried_params = list_nth(list, 6);
	pipeline->called_exprs = list_nth(list, 7);
	pipeline->expression_columns = list_nth(list, 8);
	pipeline->position_map = list_nth(list, 9);
	pipeline->ordinary_rows = floatVal(list_nth(list, 10));
	pipeline->default_map = list_nth(list, 11);
	pipeline->ordinary_input_rows = floatVal(list_nth(list, 12));
	return pipeline;
}
