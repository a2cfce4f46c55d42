/*-------------------------------------------------------------------------
 *
 * limits.c
 *	  LIMIT, OFFSET and WITH TIES as stages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "utils/fmgroids.h"

#include "query/paths/limits.h"
#include "query/paths/row_order.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"

/* The last row's rank of FETCH FIRST ... WITH TIES: NULL for no rows, which have no peers; no count is all rows. */
static Node *
last_rank(const Query *parse, Node *offset)
{
	CaseWhen   *all = pipeline_when(pipeline_null_test(parse->limitCount, IS_NULL), pipeline_int8(PG_INT64_MAX));
	CaseWhen   *some = pipeline_when(pipeline_compare_int8(parse->limitCount, BTGreaterStrategyNumber, 0),
									 makeFuncExpr(F_INT8PL, INT8OID, list_make2(parse->limitCount, offset), InvalidOid,
												  InvalidOid, COERCE_EXPLICIT_CALL));

	return pipeline_case(INT8OID, InvalidOid, list_make2(all, some), makeNullConst(INT8OID, -1, InvalidOid));
}

void
limits_add_ties(PlannerInfo *root, Pipeline *pipeline)
{
	const Query *parse = root->parse;
	const PipelineStage *sort = pipeline->top;
	Node	   *offset = pipeline_coalesce(parse->limitOffset == NULL ? pipeline_int8(0) : parse->limitOffset,
									   pipeline_int8(0));
	WindowFunc *number;
	WindowFunc *rank;
	List	   *conditions;
	PipelineStage *filter;

	pipeline->top = linitial(sort->inputs);
	number = pipeline_add_row_number(pipeline, sort->exprs, sort->sort_flags);
	rank = copyObject(number);
	rank->winfnoid = F_RANK_;
	pipeline->top->aggrefs = parse->limitOffset == NULL ? list_make1(rank) : list_make2(rank, number);
	conditions = list_make1(pipeline_compare_int8s(rank, BTLessEqualStrategyNumber, last_rank(parse, offset)));
	if (parse->limitOffset != NULL)
		conditions = lappend(conditions, pipeline_compare_int8s(number, BTGreaterStrategyNumber, offset));
	filter = pipeline_add_stage(pipeline, PIPELINE_FILTER, (List *) eval_const_expressions(root, (Node *) conditions));
	filter->limit = parse->limitCount;
	filter->offset = parse->limitOffset;
}

PipelineStage *
limits_sort(Pipeline *pipeline)
{
	PipelineStage *sort = pipeline->top;
	PipelineStage *copy;

	while (sort->kind == PIPELINE_PROJECTION)
		sort = linitial(sort->inputs);
	if (sort->kind != PIPELINE_SORT)
		return NULL;
	copy = palloc(sizeof(PipelineStage));
	*copy = *sort;
	pipeline->top = copy;
	return copy;
}

void
limits_add_unordered(PlannerInfo *root, RelOptInfo *input_rel, RelPipeline *planned)
{
	const Query *parse = root->parse;
	List	   *position = NIL;
	PipelineStage *sort;

	if (IS_SIMPLE_REL(input_rel) && row_order_add(root, input_rel, planned, false))
		position = list_make1(stage_scan_find_position(stage_outputs(planned->pipeline->top)));
	sort = pipeline_add_stage(planned->pipeline, PIPELINE_SORT, position);
	sort->sort_flags = position == NIL ? NIL : list_make1_int(0);
	sort->limit = parse->limitCount;
	sort->offset = parse->limitOffset;
}

bool
limits_is_unknown(const PipelineStage *stage)
{
	return stage->kind == PIPELINE_SORT && stage->exprs == NIL;
}

bool
limits_have_no_order(Query *query)
{
	return limit_needed(query) && query->sortClause == NIL;
}

bool
limits_bound_rows(PlannerInfo *root)
{
	int			relid;

	return bms_get_singleton_member(root->all_baserels, &relid) && root->simple_rel_array[relid]->subroot != NULL &&
		root->simple_rel_array[relid]->subroot->limit_tuples > 0;
}
