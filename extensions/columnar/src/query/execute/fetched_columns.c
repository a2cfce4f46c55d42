/*-------------------------------------------------------------------------
 *
 * fetched_columns.c
 *	  Columns that the engine cannot read, of the rows that a scan returns.
 *
 * The engine filters rows by what it can read and says which they are.  Of those
 * PostgreSQL reads the rest from the heap, by the snapshot of the scan: that
 * proved each row to be visible to it, so it is still there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "query/execute/fetched_columns.h"
#include "pg_compat.h"

bool
fetched_columns_exist(const Pipeline *pipeline)
{
	ListCell   *lc;

	foreach(lc, pipeline->output_map)
	{
		if (OUTPUT_IS_ATTRIBUTE(lfirst_int(lc)))
			return true;
	}
	return false;
}

void
fetched_columns_begin(PenumbraScanState *state)
{
	Relation	rel = state->css.ss.ss_currentRelation;

	if (state->position_output >= 0 && fetched_columns_exist(state->pipeline))
		state->fetched_slot = ExecInitExtraTupleSlot(state->css.ss.ps.state, RelationGetDescr(rel),
													 table_slot_callbacks(rel));
}

void
fetched_columns_fill(PenumbraScanState *state, TupleTableSlot *slot)
{
	TupleTableSlot *fetched = state->fetched_slot;
	Relation	rel = state->css.ss.ss_currentRelation;
	ListCell   *lc;

	if (!table_tuple_fetch_row_version(rel, &slot->tts_tid, state->css.ss.ps.state->es_snapshot, fetched))
		elog(ERROR, "row (%u,%u) of relation \"%s\" is not visible any more",
			 ItemPointerGetBlockNumber(&slot->tts_tid), ItemPointerGetOffsetNumber(&slot->tts_tid),
			 RelationGetRelationName(rel));
	foreach(lc, state->pipeline->output_map)
	{
		int			column = foreach_current_index(lc);

		if (OUTPUT_IS_ATTRIBUTE(lfirst_int(lc)))
			slot->tts_values[column] = slot_getattr(fetched, ATTRIBUTE_OF_OUTPUT(lfirst_int(lc)),
													&slot->tts_isnull[column]);
	}
}

void
fetched_columns_explain(const PenumbraScanState *state, ExplainState *es)
{
	TupleDesc	desc;
	List	   *names = NIL;
	ListCell   *lc;

	if (state->css.ss.ss_currentRelation == NULL || !fetched_columns_exist(state->pipeline))
		return;
	desc = RelationGetDescr(state->css.ss.ss_currentRelation);
	foreach(lc, state->pipeline->output_map)
	{
		if (OUTPUT_IS_ATTRIBUTE(lfirst_int(lc)))
			names = lappend(names, unconstify(char *, quote_identifier(NameStr(
				TupleDescAttr(desc, ATTRIBUTE_OF_OUTPUT(lfirst_int(lc)) - 1)->attname))));
	}
	ExplainPropertyList("Columns From Heap", names, es);
}
