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

#include "cache/cache.h"
#include "query/execute/explain.h"
#include "query/execute/fetched_columns.h"
#include "query/execute/ordinary_plan.h"
#include "query/execute/scan_state.h"
#include "query/pipeline/deparser.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translation.h"
#include "query/planning/plan_walk.h"
#include "query/planning/planning.h"

static ExplainOneQuery_hook_type previous_explain_one_query_hook = NULL;
static explain_per_node_hook_type previous_explain_node_hook = NULL;

/* Of the query that EXPLAIN is at; see explain_note_planning(). */
typedef struct ExplainedQuery
{
	const Query *query;
	const ExplainState *es;
	const char *reason;			/* NULL: none */
	bool		is_partly_used;
} ExplainedQuery;

static ExplainedQuery explained;

void
explain_note_planning(const Query *query, const char *reason, bool is_partly_used)
{
	if (query != explained.query)
		return;
	explained.reason = reason;
	explained.is_partly_used = is_partly_used;
}

/* ---------------------------------------------------------------- the pipeline */

static void
indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

static void
explain_stage(const PipelineStage *stage, const Deparser *deparser, ExplainState *es)
{
	if (stage_kind_of(stage)->explain != NULL)
		stage_kind_of(stage)->explain(stage, deparser, es);
}

/* Of a stage and the filters and projections above it, which stand with it. */
typedef struct StageReport
{
	double		planned_rows;	/* 0: not known */
	bool		is_filled;		/* from here: what ran */
	uint64		rows;
	uint64		time_ns;		/* summed over threads */
	uint64		build_rows;
	uint64		filtered_rows;
	uint64		spilled_bytes;
	uint64		iterations;
	const char *join_table;
} StageReport;

static void
add_to_report(StageReport *report, const PipelineStage *stage, const PenumbraExecStats *stats)
{
	if (stage->rows > 0)
		report->planned_rows = stage->rows;
	for (int i = 0; stats != NULL && i < stats->operator_count; i++)
	{
		const PenumbraOperatorStats *operator = &stats->operators[i];

		/* A stage may have become several operators. */
		if (operator->id <= stage->before || operator->id > stage->operator)
			continue;
		report->is_filled = true;
		if (operator->id == stage->operator)
			report->rows = operator->rows_out;
		report->time_ns += operator->time_ns;
		report->build_rows += operator->build_rows;
		report->filtered_rows += operator->filtered_rows;
		report->spilled_bytes += operator->spilled_bytes;
		report->iterations += operator->iterations;
		if (operator->join_table != NULL)
			report->join_table = operator->join_table;
	}
}

static void
explain_stage_title(const char *title, const StageReport *report, bool is_shown, ExplainState *es)
{
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText("Stage", title, es);
		if (es->costs && report->planned_rows > 0)
			ExplainPropertyFloat("Planned Rows", NULL, report->planned_rows, 0, es);
		if (report->is_filled && es->timing)
			ExplainPropertyFloat("Time", "ms", report->time_ns / 1e6, 3, es);
		if (report->is_filled)
			ExplainPropertyUInteger("Rows Out", NULL, report->rows, es);
		if (is_shown)
			ExplainPropertyBool("Computed Once, Above", true, es);
		return;
	}
	indent(es);
	appendStringInfo(es->str, "->  %s%s", title, is_shown ? ", computed once, above" : "");
	if (es->costs && report->planned_rows > 0)
		appendStringInfo(es->str, "  (rows=%.0f)", report->planned_rows);
	if (report->is_filled && es->timing)
		appendStringInfo(es->str, " (actual time=%.3f rows=" UINT64_FORMAT ")", report->time_ns / 1e6,
						 report->rows);
	else if (report->is_filled)
		appendStringInfo(es->str, " (actual rows=" UINT64_FORMAT ")", report->rows);
	appendStringInfoChar(es->str, '\n');
}

static void
explain_stage_report(const StageReport *report, ExplainState *es)
{
	if (report->join_table != NULL && es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Vector Join Table: %s of " UINT64_FORMAT " rows", report->join_table,
						 report->build_rows);
		if (report->filtered_rows > 0)
			appendStringInfo(es->str, ", its filter dropped " UINT64_FORMAT " rows in scans",
							 report->filtered_rows);
		appendStringInfoChar(es->str, '\n');
	}
	else if (report->join_table != NULL)
	{
		ExplainPropertyText("Join Table", report->join_table, es);
		ExplainPropertyUInteger("Build Rows", NULL, report->build_rows, es);
		ExplainPropertyUInteger("Rows Filtered In Scans", NULL, report->filtered_rows, es);
	}
	if (report->iterations > 0)
		ExplainPropertyUInteger("Iterations", NULL, report->iterations, es);
	if (report->spilled_bytes > 0)
		ExplainPropertyUInteger("Spilled", "kB", (report->spilled_bytes + 1023) / 1024, es);
}

/*
 * Each stage with its inputs below it: of a join first the side that probes,
 * then the side that its table is built of.  Filters stand with what they
 * filter, as in PostgreSQL's plans.  What several stages have as their input is
 * shown where it comes first.  stats: NULL before it ran.  shown: the stages so far.
 */
static void
explain_tree(const PipelineStage *stage, const Deparser *deparser, const PenumbraExecStats *stats,
			 List **shown, ExplainState *es)
{
	StageReport report = {0};
	List	   *above = NIL;
	bool		is_shown;
	ListCell   *lc;

	while (stage_kind_of(stage)->stands_with_input)
	{
		above = lcons((void *) stage, above);
		stage = linitial(stage->inputs);
	}
	is_shown = list_member_ptr(*shown, stage);
	*shown = lappend(*shown, (void *) stage);
	if (!is_shown)
		add_to_report(&report, stage, stats);
	foreach(lc, above)
		add_to_report(&report, lfirst(lc), stats);
	ExplainOpenGroup("Stage", NULL, true, es);
	explain_stage_title(stage_kind_of(stage)->title(stage, deparser), &report, is_shown, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		es->indent += 2;
	if (!is_shown)
		explain_stage(stage, deparser, es);
	foreach(lc, above)
		explain_stage(lfirst(lc), deparser, es);
	explain_stage_report(&report, es);
	if (stage->swaps > 0 && stats != NULL)
		ExplainPropertyInteger("Sides Swapped", NULL, stage->swaps, es);
	if (stage->inputs != NIL && !is_shown)
		ExplainOpenGroup("Stages", "Stages", false, es);
	foreach(lc, is_shown ? NIL : stage->inputs)
		explain_tree(lfirst(lc), deparser, stats, shown, es);
	if (stage->inputs != NIL && !is_shown)
		ExplainCloseGroup("Stages", "Stages", false, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		es->indent -= 2;
	ExplainCloseGroup("Stage", NULL, true, es);
}

/* What PostgreSQL evaluates for the engine, and how often it did. */
static void
explain_calls(const Pipeline *pipeline, const ScanReport *report, bool shows_rows, ExplainState *es)
{
	Deparser	deparser = deparser_of_pipeline(pipeline);

	if (pipeline->called_exprs == NIL)
		return;
	deparser_explain_list("Evaluated By PostgreSQL", pipeline->called_exprs, &deparser, es);
	if (report->is_filled && shows_rows)
		ExplainPropertyUInteger("Evaluations", NULL, report->evaluated_inputs, es);
}

static void
explain_pipeline(const Pipeline *pipeline, const PenumbraExecStats *stats, bool has_tables,
				 ExplainState *es)
{
	List	   *scans = pipeline_scans(pipeline);
	Deparser	deparser = deparser_of_pipeline(pipeline);
	List	   *tables = NIL;
	List	   *shown = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, scans)
	{
		foreach(lc2, ((PipelineStage *) lfirst(lc))->table_oids)
			tables = lappend(tables, get_rel_name(lfirst_oid(lc2)));
	}
	if (has_tables)
		ExplainPropertyList(list_length(tables) == 1 ? "Table" : "Tables", tables, es);
	/* The lines of a chain stand in the node's own block. */
	if (!pipeline_is_chain(pipeline))
	{
		ExplainOpenGroup("Stages", "Stages", false, es);
		explain_tree(pipeline->top, &deparser, stats, &shown, es);
		ExplainCloseGroup("Stages", "Stages", false, es);
		return;
	}
	foreach(lc, pipeline_stages(pipeline))
		explain_stage(lfirst(lc), &deparser, es);
}

/* ---------------------------------------------------------------- operators */

static void
explain_operator_names(const Pipeline *pipeline, ExplainState *es)
{
	Translation *translation = translation_begin(NIL, NULL);
	List	   *names = NIL;
	const char *name;

	if (stages_add_to_plan(translation, pipeline))
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
	const ScannedPages none = {0};
	PenumbraExecStats stats;
	PenumbraOperatorStats *operators;
	MemoryContext context = state->css.ss.ps.state->es_query_cxt;

	if (state->css.ss.ps.instrument == NULL || state->parallel != NULL)
		return;
	/* The engine owns the operators' array, and is gone when EXPLAIN shows it. */
	penumbra_exec_get_stats(state->exec, &stats);
	operators = MemoryContextAlloc(context, sizeof(PenumbraOperatorStats) *
								   Max(stats.operator_count, 1));
	if (stats.operator_count > 0)
		memcpy(operators, stats.operators,
			   sizeof(PenumbraOperatorStats) * stats.operator_count);
	stats.operators = operators;
	report->stats = stats;
	report->pages = none;
	for (int i = 0; i < state->input_count; i++)
	{
		for (int t = 0; t < state->inputs[i].table_count; t++)
		{
			CachedScan *cached = state->inputs[i].tables[t].cached;

			if (cached != NULL)
				scanned_pages_add(&report->pages, &cached->pages, &none);
		}
	}
	report->is_filled = true;
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
		if (operator->dropped_groups > 0)
			appendStringInfo(es->str, " dropped=" UINT64_FORMAT, operator->dropped_groups);
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
		ExplainPropertyUInteger("Dropped Groups", NULL, operator->dropped_groups, es);
		ExplainPropertyUInteger("Spilled", "kB", (operator->spilled_bytes + 1023) / 1024, es);
	}
	ExplainCloseGroup("Operator", NULL, true, es);
}

static void
explain_pages(const ScannedPages *pages, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		indent(es);
		appendStringInfo(es->str, "Pages: " UINT64_FORMAT " from cache", pages->from_cache);
		if (pages->by_row > 0)
			appendStringInfo(es->str, " (" UINT64_FORMAT " row by row)", pages->by_row);
		appendStringInfo(es->str, ", " UINT64_FORMAT " from heap\n", pages->from_heap);
	}
	else
	{
		ExplainPropertyUInteger("Pages From Cache", NULL, pages->from_cache, es);
		ExplainPropertyUInteger("Pages Row By Row", NULL, pages->by_row, es);
		ExplainPropertyUInteger("Pages From Heap", NULL, pages->from_heap, es);
	}
	/* VACUUM makes it none: then the visibility map proves the pages. */
	if (pages->headers > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger("Page Headers Read", NULL, pages->headers, es);
}

/* What earlier executions found of patterns and functions of strings, so that this one did not evaluate them. */
static void
explain_recalled(const PenumbraExecStats *stats, ExplainState *es)
{
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyUInteger("Rows Known By Remembered Filters", NULL, stats->recalled_rows, es);
		ExplainPropertyUInteger("Vectors Skipped By Remembered Filters", NULL, stats->recalled_vectors, es);
	}
	else if (stats->recalled_rows > 0)
	{
		indent(es);
		appendStringInfo(es->str, "Remembered Filters: " UINT64_FORMAT " rows known, " UINT64_FORMAT
						 " vectors skipped\n", stats->recalled_rows, stats->recalled_vectors);
	}
}

/* How far PostgreSQL's plan is run before the engine takes over. */
static void
explain_ordinary_first(const Pipeline *pipeline, ExplainState *es)
{
	const double rows = Max(pipeline->ordinary_rows, pipeline->ordinary_input_rows);
	const char *of = pipeline->ordinary_input_rows > 0 ? " below its groups" : "";

	if (rows > 0)
		ExplainPropertyText("Ordinary Plan First",
							es->costs ? psprintf("up to %.0f rows%s", rows, of) : psprintf("some rows%s", of), es);
}

static void
explain_report(const ScanReport *report, bool has_tree, ExplainState *es)
{
	const PenumbraExecStats *stats = &report->stats;
	uint64		memory_kb = (stats->memory_peak_bytes + 1023) / 1024;

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
	explain_pages(&report->pages, es);
	if (stats->summarized_rows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger("Rows From Metadata", NULL, stats->summarized_rows, es);
	explain_recalled(stats, es);
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
	/* The stages of the tree have shown them. */
	if (has_tree)
		return;
	ExplainOpenGroup("Operators", "Operators", false, es);
	for (int i = 0; i < stats->operator_count; i++)
		explain_operator(&stats->operators[i], es);
	ExplainCloseGroup("Operators", "Operators", false, es);
}

void
explain_custom_scan(CustomScanState *node, List *ancestors, ExplainState *es)
{
	PenumbraScanState *state = (PenumbraScanState *) node;
	ScanReport *report = &state->report;
	/* The tree of stages says what the operators do. */
	bool		has_tree = !pipeline_is_chain(state->pipeline);
	/* What zone maps skip and quals pass depends on the rows below a barrier, pages do not. */
	bool		shows_rows = es->analyze && !state->pipeline->has_barrier;

	if (es->analyze && state->exec != NULL)
		explain_keep_report(state);
	ordinary_plan_show(state);
	explain_pipeline(state->pipeline, report->is_filled && shows_rows ? &report->stats : NULL,
					 ((Scan *) node->ss.ps.plan)->scanrelid == 0 || es->verbose, es);
	fetched_columns_explain(state, es);
	explain_calls(state->pipeline, report, shows_rows, es);
	explain_ordinary_first(state->pipeline, es);
	if (report->ordinary_reason != NULL)
		ExplainPropertyText("Ordinary Plan Used", report->ordinary_reason, es);
	if (es->analyze && state->parallel != NULL)
		explain_pages(&state->parallel->pages, es);
	else if (report->is_filled && shows_rows)
		explain_report(report, has_tree, es);
	else
	{
		if (report->is_filled)
			explain_pages(&report->pages, es);
		if (!has_tree && (!es->analyze || report->is_filled))
			explain_operator_names(state->pipeline, es);
	}
}

/* ---------------------------------------------------------------- refused queries */

/* Adds to the query's group, which is closed by now, so that every format has one element for a query. */
static void
add_to_query(const char *label, const char *text, ExplainState *es)
{
	const char *closing = "";
	int			length;

	if (es->format == EXPLAIN_FORMAT_JSON)
		closing = psprintf("\n%*s}", 2 * es->indent, "");
	else if (es->format == EXPLAIN_FORMAT_XML)
		closing = psprintf("%*s</Query>\n", 2 * es->indent, "");
	length = es->str->len - (int) strlen(closing);
	if (length < 0 || strcmp(es->str->data + length, closing) != 0)
		return;
	es->str->len = length;
	es->str->data[length] = '\0';
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		es->indent++;
		es->grouping_stack = lcons_int(1, es->grouping_stack);
	}
	ExplainPropertyText(label, text, es);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		es->indent--;
		es->grouping_stack = list_delete_first(es->grouping_stack);
	}
	appendStringInfoString(es->str, closing);
}

static const char *
verdict(const char *reason, bool is_partly_used)
{
	return psprintf("%s (%s)", is_partly_used ? "partly used" : "not used", reason);
}

/* Of plans that EXPLAIN did not make: of prepared statements, and those that auto_explain shows. */
static void
penumbra_explain_node(PlanState *planstate, List *ancestors, const char *relationship, const char *plan_name,
					  ExplainState *es)
{
	const Refusal *refusal;

	if (previous_explain_node_hook)
		previous_explain_node_hook(planstate, ancestors, relationship, plan_name, es);
	if (ancestors != NIL || es == explained.es || es->pstmt == NULL)
		return;
	refusal = refusal_of_plan(es->pstmt);
	if (refusal != NULL && strcmp(refusal_text(refusal), REFUSAL_BY_COST) != 0)
		ExplainPropertyText("Penumbra", verdict(refusal_text(refusal), plan_walk_finds_ours(es->pstmt)), es);
}

static void
penumbra_explain_one_query(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
						   const char *query_string, ParamListInfo params,
						   QueryEnvironment *environment)
{
	/* What it explains may run other statements of ours. */
	ExplainedQuery outer = explained;
	ExplainedQuery own;

	explained = (ExplainedQuery) {query, es};
	if (previous_explain_one_query_hook)
		previous_explain_one_query_hook(query, cursor_options, into, es, query_string, params,
										environment);
	else
		compat_explain_one_query(query, cursor_options, into, es, query_string, params,
								 environment);
	own = explained;
	explained = outer;
	if (own.reason != NULL)
		add_to_query("Penumbra", verdict(own.reason, own.is_partly_used), es);
}

void
explain_install_hook(void)
{
	previous_explain_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = penumbra_explain_one_query;
	compat_set_explain_node_hook(penumbra_explain_node, &previous_explain_node_hook);
}
