/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What EXPLAIN shows of Penumbra nodes, and why a query has none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "query/custom_scan.h"
#include "query/paths.h"
#include "query/translate.h"

static ExplainOneQuery_hook_type previous_explain_one_query_hook = NULL;

/* Of the plan made last; see explain_note_planning(). */
static char last_reason[160];
static bool last_is_partly_used;

void
explain_note_planning(const char *reason, bool is_partly_used)
{
	last_reason[0] = '\0';
	if (reason != NULL)
		strlcpy(last_reason, reason, sizeof(last_reason));
	last_is_partly_used = is_partly_used;
}

/* ---------------------------------------------------------------- the pipeline */

static List *
deparse_context(const Pipeline *pipeline)
{
	return deparse_context_for(get_rel_name(pipeline->relation_oid), pipeline->relation_oid);
}

static Node *
number_params(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Param))
	{
		Param	   *param = copyObject((Param *) node);

		param->paramkind = PARAM_EXTERN;
		return (Node *) param;
	}
	return expression_tree_mutator(node, number_params, context);
}

/*
 * Parameters are printed as $n.  From 17 on the server looks for the subplan
 * that computes one in the plan of the context, and ours has no plan.
 */
static char *
deparse(Node *node, List *context)
{
	return deparse_expression(number_params(node, NULL), context, false, false);
}

static void
explain_exprs(const char *label, List *exprs, List *context, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		texts = lappend(texts, deparse(lfirst(lc), context));
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

static void
explain_sort(PipelineStage *stage, List *context, ExplainState *es)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, stage->exprs)
	{
		int			flags = list_nth_int(stage->sort_flags, foreach_current_index(lc));
		bool		is_descending = (flags & PIPELINE_SORT_DESCENDING) != 0;
		bool		nulls_first = (flags & PIPELINE_SORT_NULLS_FIRST) != 0;

		texts = lappend(texts, psprintf("%s%s%s", deparse(lfirst(lc), context),
										is_descending ? " DESC" : "",
										nulls_first == is_descending ? ""
										: nulls_first ? " NULLS FIRST" : " NULLS LAST"));
	}
	ExplainPropertyList("Vector Sort Key", texts, es);
	if (stage->limit != NULL)
		ExplainPropertyText("Vector Limit", deparse(stage->limit, context), es);
	if (stage->offset != NULL)
		ExplainPropertyText("Vector Offset", deparse(stage->offset, context), es);
}

static void
explain_stages(const Pipeline *pipeline, ExplainState *es)
{
	List	   *context = deparse_context(pipeline);
	bool		is_aggregated = false;
	ListCell   *lc;

	foreach(lc, pipeline->stages)
	{
		PipelineStage *stage = lfirst(lc);

		switch (stage->kind)
		{
			case PIPELINE_FILTER:
				ExplainPropertyText(is_aggregated ? "Vector Having" : "Vector Filter",
									deparse((Node *) make_ands_explicit(stage->exprs), context),
									es);
				break;
			case PIPELINE_PROJECTION:
				if (es->verbose)
					explain_exprs("Vector Output", stage->exprs, context, es);
				break;
			case PIPELINE_AGGREGATION:
				explain_exprs("Vector Group Key", stage->exprs, context, es);
				explain_exprs("Vector Aggregates", stage->aggrefs, context, es);
				is_aggregated = true;
				break;
			case PIPELINE_SORT:
				explain_sort(stage, context, es);
				break;
		}
	}
}

static void
explain_tables(const Pipeline *pipeline, ExplainState *es)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, pipeline->table_oids)
		names = lappend(names, get_rel_name(lfirst_oid(lc)));
	ExplainPropertyList(list_length(names) == 1 ? "Table" : "Tables", names, es);
	explain_exprs("Columns", pipeline->columns, deparse_context(pipeline), es);
}

/* ---------------------------------------------------------------- operators */

static void
explain_operator_names(const Pipeline *pipeline, ExplainState *es)
{
	Pipeline   *unbound = pipeline_copy(pipeline);
	Translation *translation;
	List	   *names = NIL;
	const char *name;

	translation = translation_begin(unbound, NULL);
	if (translation_add_stages(translation, unbound))
	{
		for (int i = 0; (name = penumbra_plan_operator_name(translation->plan, i)) != NULL; i++)
			names = lappend(names, pstrdup(name));
	}
	translation_end(translation);
	if (names != NIL)
		ExplainPropertyList("Operators", names, es);
}

void
explain_keep_report(PenumbraScanState *state)
{
	ScanReport *report = &state->report;
	PenumbraExecStats stats;
	PenumbraOperatorStats *operators;
	MemoryContext context = state->css.ss.ps.state->es_query_cxt;

	if (state->css.ss.ps.instrument == NULL || state->parallel != NULL)
		return;
	penumbra_exec_get_stats(state->exec, &stats);
	operators = MemoryContextAlloc(context, sizeof(PenumbraOperatorStats) *
								   Max(stats.operator_count, 1));
	if (stats.operator_count > 0)
		memcpy(operators, stats.operators,
			   sizeof(PenumbraOperatorStats) * stats.operator_count);
	stats.operators = operators;
	report->stats = stats;
	report->pages_from_cache = 0;
	report->pages_from_heap = 0;
	for (int i = 0; i < state->table_count; i++)
	{
		if (state->tables[i].cached == NULL)
			continue;
		report->pages_from_cache += state->tables[i].cached->pages_from_cache;
		report->pages_from_heap += state->tables[i].cached->pages_from_heap;
	}
	report->is_filled = true;
}

static void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

static void
explain_operator(const PenumbraOperatorStats *operator, ExplainState *es)
{
	ExplainOpenGroup("Operator", NULL, true, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "%s:", operator->name);
		appendStringInfo(es->str, " rows=" UINT64_FORMAT, operator->rows_out);
		if (es->timing)
			appendStringInfo(es->str, " time=%.3f ms", operator->time_ns / 1e6);
		if (operator->groups > 0)
			appendStringInfo(es->str, " groups=" UINT64_FORMAT, operator->groups);
		if (operator->spilled_bytes > 0)
			appendStringInfo(es->str, " spilled=" UINT64_FORMAT "kB",
							 (operator->spilled_bytes + 1023) / 1024);
		appendStringInfoChar(es->str, '\n');
	}
	else
	{
		ExplainPropertyText("Name", operator->name, es);
		ExplainPropertyUInteger("Rows In", NULL, operator->rows_in, es);
		ExplainPropertyUInteger("Rows Out", NULL, operator->rows_out, es);
		if (es->timing)
			ExplainPropertyFloat("Time", "ms", operator->time_ns / 1e6, 3, es);
		ExplainPropertyUInteger("Groups", NULL, operator->groups, es);
		ExplainPropertyUInteger("Spilled", "kB", (operator->spilled_bytes + 1023) / 1024, es);
	}
	ExplainCloseGroup("Operator", NULL, true, es);
}

static void
explain_pages(uint64 from_cache, uint64 from_heap, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Pages: " UINT64_FORMAT " from cache, " UINT64_FORMAT
						 " from heap\n", from_cache, from_heap);
		return;
	}
	ExplainPropertyUInteger("Pages From Cache", NULL, from_cache, es);
	ExplainPropertyUInteger("Pages From Heap", NULL, from_heap, es);
}

/* The operators share a budget: what each says of memory is the peak of all. */
static uint64
memory_peak_kb(const PenumbraExecStats *stats)
{
	uint64		bytes = 0;

	for (int i = 0; i < stats->operator_count; i++)
		bytes = Max(bytes, stats->operators[i].memory_peak_bytes);
	return (bytes + 1023) / 1024;
}

static void
explain_report(const ScanReport *report, ExplainState *es)
{
	const PenumbraExecStats *stats = &report->stats;
	uint64		memory_kb = memory_peak_kb(stats);

	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Chunks: %u of %u (%u skipped by zone maps)\n",
						 stats->chunks - stats->chunks_skipped, stats->chunks,
						 stats->chunks_skipped);
	}
	else
	{
		ExplainPropertyUInteger("Chunks", NULL, stats->chunks, es);
		ExplainPropertyUInteger("Chunks Skipped", NULL, stats->chunks_skipped, es);
	}
	explain_pages(report->pages_from_cache, report->pages_from_heap, es);
	if (stats->summarized_rows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger("Rows From Metadata", NULL, stats->summarized_rows, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Threads: %d", stats->threads);
		if (memory_kb > 0)
			appendStringInfo(es->str, "  Memory: " UINT64_FORMAT "kB", memory_kb);
		appendStringInfoChar(es->str, '\n');
	}
	else
	{
		ExplainPropertyUInteger("Rows From Cache", NULL, stats->cached_rows, es);
		ExplainPropertyUInteger("Rows From Heap", NULL, stats->pushed_rows, es);
		ExplainPropertyInteger("Threads", NULL, stats->threads, es);
		ExplainPropertyUInteger("Peak Memory", "kB", memory_kb, es);
	}
	ExplainOpenGroup("Operators", "Operators", false, es);
	for (int i = 0; i < stats->operator_count; i++)
		explain_operator(&stats->operators[i], es);
	ExplainCloseGroup("Operators", "Operators", false, es);
}

void
explain_custom_scan(CustomScanState *node, List *ancestors, ExplainState *es)
{
	PenumbraScanState *state = (PenumbraScanState *) node;

	if (((Scan *) node->ss.ps.plan)->scanrelid == 0 || es->verbose)
		explain_tables(state->pipeline, es);
	else
		explain_exprs("Columns", state->pipeline->columns, deparse_context(state->pipeline), es);
	explain_stages(state->pipeline, es);
	if (state->report.ordinary_reason != NULL)
		ExplainPropertyText("Ordinary Plan Used", state->report.ordinary_reason, es);
	if (!es->analyze)
	{
		explain_operator_names(state->pipeline, es);
		return;
	}
	if (state->parallel != NULL)
	{
		explain_pages(pg_atomic_read_u64(&state->parallel->pages_from_cache),
					  pg_atomic_read_u64(&state->parallel->pages_from_heap), es);
		return;
	}
	if (state->exec != NULL)
		explain_keep_report(state);
	/* What zone maps skip and quals pass depends on the rows below a barrier, pages do not. */
	if (state->report.is_filled && state->pipeline->has_barrier)
	{
		explain_pages(state->report.pages_from_cache, state->report.pages_from_heap, es);
		explain_operator_names(state->pipeline, es);
	}
	else if (state->report.is_filled)
		explain_report(&state->report, es);
}

/* ---------------------------------------------------------------- refused queries */

static void
penumbra_explain_one_query(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
						   const char *query_string, ParamListInfo params,
						   QueryEnvironment *environment)
{
	explain_note_planning(NULL, false);
	if (previous_explain_one_query_hook)
		previous_explain_one_query_hook(query, cursor_options, into, es, query_string, params,
										environment);
	else
		compat_explain_one_query(query, cursor_options, into, es, query_string, params,
								 environment);
	if (last_reason[0] == '\0' || penumbra_mode == MODE_OFF)
		return;
	/* A group of its own: the query's group is closed by now. */
	ExplainOpenGroup("Penumbra", NULL, true, es);
	ExplainPropertyText("Penumbra", psprintf("%s (%s)", last_is_partly_used ? "partly used"
											 : "not used", last_reason), es);
	ExplainCloseGroup("Penumbra", NULL, true, es);
}

void
explain_install_hook(void)
{
	previous_explain_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = penumbra_explain_one_query;
}
