/*-------------------------------------------------------------------------
 *
 * fetched_columns.c
 *	  Columns that the engine cannot read, of the rows that leave the node.
 *
 * The engine filters, joins and orders rows by what it can read, and says which
 * rows of a table they are.  Of those PostgreSQL reads the rest from the heap, by
 * the snapshot of the scan: that proved each row to be visible to it, so it is
 * still there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "query/execute/fetched_columns.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/planning/relation_numbers.h"
#include "pg_compat.h"

typedef struct FetchedRow
{
	int			output;			/* of the engine: the position */
	ScanTable  *table;
	TupleTableSlot *slot;
	List	   *columns;		/* of the node's slot, as integers */
	List	   *attnums;		/* these */
} FetchedRow;

/* The scan whose rows' positions the column has. */
static const PipelineStage *
scan_of_position(const Pipeline *pipeline, const Var *position)
{
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
	{
		const PipelineStage *scan = lfirst(lc);

		if (stage_scan_has_positions(scan) && llast_node(Var, scan->exprs)->varno == position->varno)
			return scan;
	}
	elog(ERROR, "no scan has the positions of relation %d", position->varno);
}

static ScanTable *
table_of_scan(const PenumbraScanState *state, const PipelineStage *scan)
{
	int			i = 0;

	while (state->inputs[i].stage != scan)
		i++;
	return &state->inputs[i].tables[0];
}

static FetchedRow *
row_of_output(PenumbraScanState *state, int output)
{
	const Var  *position = list_nth_node(Var, stage_outputs(state->pipeline->top), output);
	FetchedRow *row;
	ListCell   *lc;

	foreach(lc, state->fetched_rows)
	{
		row = lfirst(lc);
		if (row->output == output)
			return row;
	}
	row = palloc0(sizeof(FetchedRow));
	row->output = output;
	row->table = table_of_scan(state, scan_of_position(state->pipeline, position));
	row->slot = ExecInitExtraTupleSlot(state->css.ss.ps.state, RelationGetDescr(row->table->rel),
									   table_slot_callbacks(row->table->rel));
	state->fetched_rows = lappend(state->fetched_rows, row);
	return row;
}

void
fetched_columns_begin(PenumbraScanState *state)
{
	ListCell   *lc;

	foreach(lc, state->pipeline->position_map)
	{
		int			column = foreach_current_index(lc);
		FetchedRow *row;

		if (lfirst_int(lc) < 0)
			continue;
		row = row_of_output(state, lfirst_int(lc));
		row->columns = lappend_int(row->columns, column);
		row->attnums = lappend_int(row->attnums,
								   ATTRIBUTE_OF_OUTPUT(list_nth_int(state->pipeline->output_map, column)));
	}
}

List *
fetched_columns_positions(const PenumbraScanState *state)
{
	List	   *outputs = NIL;
	ListCell   *lc;

	foreach(lc, state->fetched_rows)
		outputs = lappend_int(outputs, ((FetchedRow *) lfirst(lc))->output);
	return outputs;
}

static void
fetch(const PenumbraScanState *state, const FetchedRow *row, int64 position)
{
	Relation	rel = row->table->rel;
	ItemPointerData tid;

	cache_scan_locate_row(row->table->cached, position, &tid);
	if (!table_tuple_fetch_row_version(rel, &tid, state->css.ss.ps.state->es_snapshot, row->slot))
		elog(ERROR, "row (%u,%u) of relation \"%s\" is not visible any more", ItemPointerGetBlockNumber(&tid),
			 ItemPointerGetOffsetNumber(&tid), RelationGetRelationName(rel));
}

void
fetched_columns_fill(PenumbraScanState *state, TupleTableSlot *slot)
{
	ListCell   *lc;
	ListCell   *column;
	ListCell   *attnum;

	foreach(lc, state->fetched_rows)
	{
		const FetchedRow *row = lfirst(lc);
		int64		position;

		/* The slot says of its columns that they are NULL: so they are of a row that an outer join made. */
		if (!result_window_position(state->window, foreach_current_index(lc), &position))
			continue;
		fetch(state, row, position);
		forboth(column, row->columns, attnum, row->attnums)
			slot->tts_values[lfirst_int(column)] = slot_getattr(row->slot, lfirst_int(attnum),
																&slot->tts_isnull[lfirst_int(column)]);
	}
}

void
fetched_columns_explain(const PenumbraScanState *state, ExplainState *es)
{
	const Pipeline *pipeline = state->pipeline;
	bool		is_qualified = list_length(pipeline_scans(pipeline)) > 1;
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, pipeline->position_map)
	{
		const Var  *position;
		const PipelineStage *scan;
		const char *name;

		if (lfirst_int(lc) < 0)
			continue;
		position = list_nth_node(Var, stage_outputs(pipeline->top), lfirst_int(lc));
		scan = scan_of_position(pipeline, position);
		name = get_attname(scan->relation_oid, ATTRIBUTE_OF_OUTPUT(list_nth_int(pipeline->output_map,
																			  foreach_current_index(lc))), false);
		names = lappend(names, unconstify(char *, is_qualified
						? quote_qualified_identifier(relation_number_alias(pipeline->names, position->varno), name)
						: quote_identifier(name)));
	}
	if (names != NIL)
		ExplainPropertyList("Columns From Heap", names, es);
}
