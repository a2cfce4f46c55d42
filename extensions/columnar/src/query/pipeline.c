/*-------------------------------------------------------------------------
 *
 * pipeline.c
 *	  Building, copying and (de)serialising pipelines.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "query/pipeline.h"

Pipeline *
pipeline_copy(const Pipeline *pipeline)
{
	Pipeline   *copy = palloc(sizeof(Pipeline));
	ListCell   *lc;

	*copy = *pipeline;
	copy->stages = NIL;
	foreach(lc, pipeline->stages)
	{
		PipelineStage *stage = palloc(sizeof(PipelineStage));

		*stage = *(PipelineStage *) lfirst(lc);
		copy->stages = lappend(copy->stages, stage);
	}
	copy->runtime_exprs = NIL;
	copy->output_map = NIL;
	return copy;
}

PipelineStage *
pipeline_add_stage(Pipeline *pipeline, PipelineStageKind kind, List *exprs)
{
	PipelineStage *stage = palloc0(sizeof(PipelineStage));

	stage->kind = kind;
	stage->exprs = exprs;
	pipeline->stages = lappend(pipeline->stages, stage);
	return stage;
}

List *
pipeline_outputs(const Pipeline *pipeline)
{
	List	   *outputs = pipeline->columns;
	ListCell   *lc;

	foreach(lc, pipeline->stages)
	{
		PipelineStage *stage = lfirst(lc);

		if (stage->kind == PIPELINE_PROJECTION)
			outputs = stage->exprs;
		else if (stage->kind == PIPELINE_AGGREGATION)
			outputs = list_concat_copy(stage->exprs, stage->aggrefs);
	}
	return outputs;
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

static Node *
normalize_mutator(Node *node, void *context)
{
	Index		relid = *(Index *) context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == relid && var->varlevelsup == 0)
			return (Node *) makeVar(PIPELINE_VARNO, var->varattno, var->vartype,
									var->vartypmod, var->varcollid, 0);
		return copyObject(node);
	}
	if (IsA(node, PlaceHolderVar))
		return normalize_mutator((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	return expression_tree_mutator(node, normalize_mutator, context);
}

Node *
pipeline_normalize(Node *node, Index relid)
{
	return normalize_mutator(node, &relid);
}

List *
pipeline_to_list(const Pipeline *pipeline)
{
	List	   *stages = NIL;
	ListCell   *lc;

	foreach(lc, pipeline->stages)
	{
		PipelineStage *stage = lfirst(lc);
		List	   *fields = list_make3(makeInteger(stage->kind), stage->exprs, stage->aggrefs);

		fields = lappend(fields, stage->sort_flags);
		fields = lappend(fields, stage->limit);
		fields = lappend(fields, stage->offset);
		stages = lappend(stages, fields);
	}
	return list_concat(list_make5(pipeline->table_oids, pipeline->table_attnos, pipeline->columns,
								  stages, pipeline->runtime_exprs),
					   list_make3(pipeline->output_map,
								  makeInteger((int) pipeline->relation_oid),
								  makeBoolean(pipeline->has_barrier)));
}

Pipeline *
pipeline_from_list(List *list)
{
	Pipeline   *pipeline = palloc0(sizeof(Pipeline));
	ListCell   *lc;

	pipeline->table_oids = list_nth(list, 0);
	pipeline->table_attnos = list_nth(list, 1);
	pipeline->columns = list_nth(list, 2);
	foreach(lc, (List *) list_nth(list, 3))
	{
		List	   *fields = lfirst(lc);
		PipelineStage *stage;

		stage = pipeline_add_stage(pipeline, intVal(linitial(fields)), lsecond(fields));
		stage->aggrefs = lthird(fields);
		stage->sort_flags = lfourth(fields);
		stage->limit = list_nth(fields, 4);
		stage->offset = list_nth(fields, 5);
	}
	pipeline->runtime_exprs = list_nth(list, 4);
	pipeline->output_map = list_nth(list, 5);
	pipeline->relation_oid = (Oid) intVal(list_nth(list, 6));
	pipeline->has_barrier = boolVal(list_nth(list, 7));
	return pipeline;
}
