/*-------------------------------------------------------------------------
 *
 * stage_scan.c
 *	  The stage of a scan: of tables, or of rows that PostgreSQL computes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "pg_compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "common/hashfn.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "cache/heap_page.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_kind.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"
#include "query/planning/relation_numbers.h"

/* What numeric(p,s) declares; a negative scale is none. */
static void
set_declared(PenumbraScanColumn *column, Var *var)
{
	int			declared = var->vartypmod - VARHDRSZ;
	int			scale = ((declared & 0x7ff) ^ 1024) - 1024;

	if (declared < 0 || scale < 0)
		return;
	column->numeric_scale = scale;
	column->numeric_precision = (declared >> 16) & 0xffff;
}

bool
stage_scan_add_to_plan(Translation *translation, PipelineStage *stage)
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
		column->numeric_scale = -1;
		column->numeric_precision = 0;
		if (column->type == PENUMBRA_NUMERIC && stage->source == NULL)
			set_declared(column, var);
	}
	if (!translation_keep_operator(translation, penumbra_plan_add_scan(translation->plan, columns, count)))
		return false;
	stage->operator = translation->current;
	translation->inputs = stage->exprs;
	return true;
}

PenumbraExpr
stage_scan_translate_pair(Translation *translation, Node *condition)
{
	PipelineStage scan = {.kind = PIPELINE_SCAN};
	ListCell   *lc;

	translation->conditional_depth++;	/* there may be no pairs */
	foreach(lc, pull_var_clause(condition, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								   PVC_RECURSE_PLACEHOLDERS))
	{
		PenumbraType type;
		Var		   *var = lfirst(lc);

		if (var->varattno <= 0 || !translate_type(var->vartype, &type))
		{
			translation->reason = "column that joins cannot use";
			return -1;
		}
		scan.exprs = list_append_unique(scan.exprs, var);
	}
	return stage_scan_add_to_plan(translation, &scan) ? translate_expr(translation, condition) : -1;
}

bool
stage_scan_is_searched(Node *condition)
{
	Translation *translation = translation_begin(NIL, NULL);
	PenumbraExpr expr = stage_scan_translate_pair(translation, condition);
	bool		is_searched = expr >= 0 && penumbra_plan_is_range(translation->plan, expr);

	translation_end(translation);
	return is_searched;
}

bool
stage_scan_is_position(const Node *column)
{
	return IsA(column, Var) && ((const Var *) column)->varattno == SelfItemPointerAttributeNumber &&
		((const Var *) column)->vartype == INT8OID;
}

Node *
stage_scan_find_position(List *columns)
{
	Node	   *position = NULL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		if (stage_scan_is_position(lfirst(lc)))
			position = lfirst(lc);
	}
	return position;
}

bool
stage_scan_has_positions(const PipelineStage *stage)
{
	return stage->exprs != NIL && stage_scan_is_position(llast(stage->exprs));
}

static PipelineStage *
add_position(const PipelineStage *stage, Var *position)
{
	PipelineStage *copy = palloc(sizeof(PipelineStage));

	*copy = *stage;
	if (stage->kind != PIPELINE_FILTER)
		copy->exprs = lappend(list_copy(stage->exprs), position);
	if (stage->kind != PIPELINE_SCAN)
		copy->inputs = list_make1(add_position(linitial(stage->inputs), position));
	return copy;
}

Var *
stage_scan_position(Index name)
{
	return makeVar(name, SelfItemPointerAttributeNumber, INT8OID, -1, InvalidOid, 0);
}

bool
stage_scan_add_positions(Pipeline *pipeline, Index name)
{
	const PipelineStage *stage = pipeline->top;

	while (stage->kind == PIPELINE_FILTER || (stage->kind == PIPELINE_PROJECTION && stage->names == NIL))
		stage = linitial(stage->inputs);
	if (stage->kind != PIPELINE_SCAN || stage->table_oids == NIL ||
		list_length(stage->table_oids) > POSITION_TABLES_MAX)
		return false;
	if (stage_scan_has_positions(stage))
		return true;
	if (stage->exprs != NIL)
		name = linitial_node(Var, stage->exprs)->varno;
	pipeline->top = add_position(pipeline->top, stage_scan_position(name));
	return true;
}

static bool
is_known_number(const Node *node, double least, double greatest)
{
	const Const *number = (const Const *) node;
	double		value;

	if (!IsA(node, Const) || number->constisnull || (number->consttype != FLOAT4OID && number->consttype != FLOAT8OID))
		return false;
	value = number->consttype == FLOAT4OID ? DatumGetFloat4(number->constvalue) : DatumGetFloat8(number->constvalue);
	return least <= value && value <= greatest;
}

/* What raises an error is PostgreSQL's, which does so when it is asked for the first row. */
bool
stage_scan_sample_is_known(const TableSampleClause *clause)
{
	Node	   *repeatable = (Node *) clause->repeatable;

	return (clause->tsmhandler == F_BERNOULLI || clause->tsmhandler == F_SYSTEM) && list_length(clause->args) == 1 &&
		is_known_number(linitial(clause->args), 0, 100) &&
		(repeatable == NULL || is_known_number(repeatable, -INFINITY, INFINITY));
}

bool
stage_scan_sample(const PipelineStage *stage, int table, uint32 random, TableSample *sample)
{
	const TableSampleClause *clause = stage->sample == NIL ? NULL : linitial(stage->sample);
	uint32		seed;

	if (clause == NULL)
		return false;
	if (clause->repeatable != NULL)
		seed = table_sample_seed(DatumGetFloat8(((const Const *) clause->repeatable)->constvalue));
	else
		seed = hash_combine(random, hash_combine(murmurhash32((uint32) intVal(lsecond(stage->sample))),
												 murmurhash32((uint32) table)));
	*sample = table_sample_make(clause->tsmhandler == F_SYSTEM,
								DatumGetFloat4(linitial_node(Const, clause->args)->constvalue), seed);
	return true;
}

static bool
add_to_plan(Translation *translation, PipelineStage *stage, const StageInput *inputs)
{
	return stage_scan_add_to_plan(translation, stage);
}

static List *
outputs(const PipelineStage *stage, const StageInput *inputs)
{
	return stage->exprs;
}

/* A table as the query calls it. */
static char *
title(const PipelineStage *scan, const Deparser *deparser)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	if (scan->source != NULL)
		return psprintf("Vector Rows of %s", scan->exprs == NIL ? "a subquery"
						: relation_number_alias(deparser->names, linitial_node(Var, scan->exprs)->varno));
	foreach(lc, scan->table_oids)
		appendStringInfo(&text, "%s %s", text.len == 0 ? "Vector Scan on" : ",",
						 get_rel_name(lfirst_oid(lc)));
	if (scan->exprs != NIL)
	{
		const char *alias = relation_number_alias(deparser->names, linitial_node(Var, scan->exprs)->varno);

		if (strcmp(alias, get_rel_name(scan->relation_oid)) != 0)
			appendStringInfo(&text, " %s", alias);
	}
	return text.data;
}

/* As PostgreSQL's EXPLAIN has it. */
static char *
text_of_sample(const TableSampleClause *clause, const Deparser *deparser)
{
	char	   *text = psprintf("%s (%s)", clause->tsmhandler == F_SYSTEM ? "system" : "bernoulli",
								deparser_text(linitial(clause->args), deparser));

	return clause->repeatable == NULL ? text
		: psprintf("%s REPEATABLE (%s)", text, deparser_text((Node *) clause->repeatable, deparser));
}

static void
explain(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	deparser_explain_list("Columns", stage->exprs, deparser, es);
	if (stage->sample != NIL)
		ExplainPropertyText("Sampling", text_of_sample(linitial(stage->sample), deparser), es);
}

const StageKind stage_scan = {
	.outputs = outputs,
	.add_to_plan = add_to_plan,
	.title = title,
	.explain = explain,
};
