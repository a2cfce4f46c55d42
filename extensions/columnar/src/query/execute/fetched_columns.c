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

#include "cache/heap_page.h"
#include "query/execute/fetched_columns.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/planning/relation_numbers.h"
#include "pg_compat.h"

/* A table's part of it. */
typedef struct FetchedTable
{
	TupleTableSlot *slot;		/* NULL: no row was fetched yet, and the next is not known */
	List	   *attnums;
} FetchedTable;

typedef struct FetchedRow
{
	int			output;			/* of the engine: the position */
	const ScanInput *input;
	FetchedTable *tables;		/* as the input has them */
	FetchedTable *last;			/* whose row was fetched last; NULL: none */
	List	   *columns;		/* of the node's slot, as integers */
	List	   *attnums;		/* these, as the scan numbers them */
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

static const ScanInput *
input_of_scan(const PenumbraScanState *state, const PipelineStage *scan)
{
	int			i = 0;

	while (state->inputs[i].stage != scan)
		i++;
	return &state->inputs[i];
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
	row->input = input_of_scan(state, scan_of_position(state->pipeline, position));
	row->tables = palloc0(sizeof(FetchedTable) * row->input->table_count);
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

/* Of a tree with a thousand tables a query finds rows of few. */
static void
begin_table(const PenumbraScanState *state, const FetchedRow *row, FetchedTable *table, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	ListCell   *lc;

	foreach(lc, row->attnums)
	{
		const char *name = get_attname(row->input->stage->relation_oid, lfirst_int(lc), false);

		table->attnums = lappend_int(table->attnums, get_attnum(RelationGetRelid(rel), name));
	}
	table->slot = ExecInitExtraTupleSlot(state->css.ss.ps.state, RelationGetDescr(rel), table_slot_callbacks(rel));
	MemoryContextSwitchTo(old);
}

static FetchedTable *
fetch(const PenumbraScanState *state, FetchedRow *row, int64 position)
{
	const ScanTable *scanned = &row->input->tables[POSITION_TABLE(position)];
	FetchedTable *table = &row->tables[POSITION_TABLE(position)];
	Relation	rel = scanned->rel;
	ItemPointerData tid;

	if (table->slot == NULL)
		begin_table(state, row, table, rel);
	/* one page is pinned, not one of each table */
	if (row->last != NULL && row->last != table)
		ExecClearTuple(row->last->slot);
	row->last = table;
	cache_scan_locate_row(scanned->cached, position, &tid);
	if (!table_tuple_fetch_row_version(rel, &tid, state->css.ss.ps.state->es_snapshot, table->slot))
		elog(ERROR, "row (%u,%u) of relation \"%s\" is not visible any more", ItemPointerGetBlockNumber(&tid),
			 ItemPointerGetOffsetNumber(&tid), RelationGetRelationName(rel));
	return table;
}

void
fetched_columns_fill(PenumbraScanState *state, TupleTableSlot *slot)
{
	ListCell   *lc;
	ListCell   *column;
	ListCell   *attnum;

	foreach(lc, state->fetched_rows)
	{
		FetchedRow *row = lfirst(lc);
		const FetchedTable *table;
		int64		position;

		/* The slot says of its columns that they are NULL: so they are of a row that an outer join made. */
		if (!result_window_position(state->window, foreach_current_index(lc), &position))
			continue;
		table = fetch(state, row, position);
		forboth(column, row->columns, attnum, table->attnums)
			slot->tts_values[lfirst_int(column)] = slot_getattr(table->slot, lfirst_int(attnum),
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
