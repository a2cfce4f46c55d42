/*-------------------------------------------------------------------------
 *
 * row_identity.c
 *	  Which row of the table a scan has returned last, for WHERE CURRENT OF.
 *
 * execCurrentOf() finds the scan of the table among the nodes of the cursor's
 * plan and takes the TID from its scan slot; an empty slot is a scan that has
 * returned no row, or that is at its end.  So a scan of one table that runs in
 * a portal with a name, which a statement can speak of, has the engine give
 * each row's position, as one more column up to the last stage.  A scan that
 * cannot do so hides its table: execCurrentOf() then says that the cursor is
 * not simply updatable, where a TID that is not valid would change nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "tcop/pquery.h"
#include "utils/portal.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "query/execute/row_identity.h"
#include "query/execute/scan_state.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"

/* Whether a statement can name the portal that runs the node's plan. */
static bool
is_in_named_portal(const PenumbraScanState *state)
{
	return ActivePortal != NULL && ActivePortal->name[0] != '\0' && ActivePortal->stmts != NIL &&
		linitial(ActivePortal->stmts) == (void *) state->css.ss.ps.state->es_plannedstmt;
}

void
row_identity_begin(PenumbraScanState *state)
{
	Pipeline   *pipeline = state->pipeline;
	Relation	rel = state->css.ss.ss_currentRelation;
	const Index name = 1;		/* of a scan without columns, which has none yet */

	state->position_output = -1;
	if (rel == NULL)
		return;
	if (!is_in_named_portal(state))
		return;
	if (state->parallel != NULL || state->css.ss.ps.ps_ResultTupleDesc->natts == MaxTupleAttributeNumber ||
		!stage_scan_add_positions(pipeline, name))
	{
		state->css.ss.ss_currentRelation = NULL;
		return;
	}
	if (pipeline->names == NIL)
		pipeline->names = list_make1(list_make4(makeInteger(name), makeString(RelationGetRelationName(rel)),
												makeInteger((int) RelationGetRelid(rel)), NIL));
	while (!stage_scan_is_position(list_nth(stage_outputs(pipeline->top), ++state->position_output)))
		;
	state->css.ss.ss_ScanTupleSlot->tts_tableOid = RelationGetRelid(rel);
}

void
row_identity_set(PenumbraScanState *state)
{
	int64		position;

	(void) result_window_position(state->window, list_length(state->fetched_rows), &position);
	cache_scan_locate_row(state->inputs[0].tables[0].cached, position, &state->css.ss.ss_ScanTupleSlot->tts_tid);
}

/* As execCurrentOf() finds it. */
void
row_identity_take_ordinary(PenumbraScanState *state)
{
	PlanState  *node = state->ordinary;
	ScanState  *scan;

	while (IsA(node, ResultState))
		node = outerPlanState(node);
	scan = (ScanState *) node;
	if (IsA(node, IndexOnlyScanState))
		state->css.ss.ss_ScanTupleSlot->tts_tid = ((IndexOnlyScanState *) node)->ioss_ScanDesc->xs_heaptid;
	else if (IsA(node, SeqScanState) || IsA(node, IndexScanState) || IsA(node, BitmapHeapScanState) ||
			 IsA(node, TidScanState) || IsA(node, TidRangeScanState) || IsA(node, SampleScanState))
		state->css.ss.ss_ScanTupleSlot->tts_tid = scan->ss_ScanTupleSlot->tts_tid;
	else
		state->css.ss.ss_currentRelation = NULL;
}
