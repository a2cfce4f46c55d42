/*-------------------------------------------------------------------------
 *
 * external_rows.c
 *	  Pushes the rows of plans of PostgreSQL's, see external_rows_plan.h, into the
 *	  engine.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "cache/heap_page.h"
#include "cache/status.h"
#include "cache/value_image.h"
#include "query/execute/external_rows.h"
#include "query/execute/scan_state.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/plan_walk.h"

typedef struct NumberedPlan
{
	int			plan_node_id;
	Plan	   *plan;
} NumberedPlan;

static bool
has_number(Plan *plan, void *context)
{
	NumberedPlan *wanted = context;

	if (plan->plan_node_id == wanted->plan_node_id)
		wanted->plan = plan;
	return wanted->plan == NULL;
}

List *
external_rows_plans(const CustomScan *scan, const Pipeline *pipeline, List *subplans)
{
	List	   *plans = NIL;
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
	{
		const PipelineStage *stage = lfirst(lc);
		NumberedPlan wanted = {0};

		if (stage->source == NULL)
			continue;
		wanted.plan_node_id = intVal(stage->source);
		plan_walk_list(scan->custom_plans, has_number, &wanted);
		plan_walk_list(subplans, has_number, &wanted);
		plans = lappend(plans, wanted.plan);
	}
	return plans;
}

bool
external_rows_begin(PenumbraScanState *state, EState *estate)
{
	ListCell   *lc;

	foreach(lc, external_rows_plans((CustomScan *) state->css.ss.ps.plan, state->pipeline,
								 estate->es_plannedstmt->subplans))
	{
		if (lfirst(lc) == NULL)
			return false;
		state->css.custom_ps = lappend(state->css.custom_ps,
									   ExecInitNode(lfirst(lc), estate,
													state->eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)));
		state->sources = state->css.custom_ps;
	}
	return true;
}

static void
append_row(PenumbraScanState *state, ScanInput *input, TupleTableSlot *row)
{
	List	   *numbers = linitial(input->stage->table_attnums);
	int			count = list_length(numbers);
	uint64	   *values = palloc(sizeof(uint64) * count);
	uint32	   *lengths = palloc0(sizeof(uint32) * count);
	uint8	   *nulls = palloc(count);
	PenumbraColumnInput *columns = palloc(sizeof(PenumbraColumnInput) * count);
	PenumbraStatus status;
	ListCell   *lc;

	/* The engine copies the row: a detoasted value lives until the next row only. */
	slot_getallattrs(row);
	foreach(lc, numbers)
	{
		int			c = foreach_current_index(lc);
		int			number = lfirst_int(lc) - 1;

		nulls[c] = row->tts_isnull[number];
		if (!nulls[c])
			values[c] = value_image_make(input->images[c], row->tts_values[number], &lengths[c]);
		columns[c] = (PenumbraColumnInput) {&values[c], &lengths[c], &nulls[c]};
	}
	status = penumbra_rows_append(input->rows, columns, 1);
	if (status.code != PENUMBRA_OK)
		status_report(&status);
}

bool
external_rows_append(PenumbraScanState *state, ScanInput *input, uint32 row_limit, Size bytes_limit)
{
	MemoryContext row_context = state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory;

	while (penumbra_rows_count(input->rows) < row_limit && penumbra_rows_bytes(input->rows) < bytes_limit)
	{
		MemoryContext old_context = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
		TupleTableSlot *row = ExecProcNode(input->source);

		MemoryContextSwitchTo(row_context);
		if (!TupIsNull(row))
			append_row(state, input, row);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(row_context);
		if (TupIsNull(row))
			return false;
	}
	return true;
}

void
external_rows_rescan(PenumbraScanState *state)
{
	ListCell   *lc;

	foreach(lc, state->sources)
	{
		PlanState  *source = lfirst(lc);

		if (state->css.ss.ps.chgParam != NULL)
			UpdateChangedParamSet(source, state->css.ss.ps.chgParam);
		if (source->chgParam == NULL)
			ExecReScan(source);
	}
}

void
external_rows_end(PenumbraScanState *state)
{
	ListCell   *lc;

	foreach(lc, state->sources)
		ExecEndNode(lfirst(lc));
}
