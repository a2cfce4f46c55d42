/*-------------------------------------------------------------------------
 *
 * ready_scan.c
 *	  Index scans of a state: what begins and ends with each execution.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "executor/nodeIndexscan.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "ready_state.h"

static ReadyScan *
find_scan(const PlanState *node)
{
	ReadyState *state = ready_find(node->state);

	for (int i = 0; i < state->scan_count; i++)
	{
		if (&state->scans[i].node->ps == node)
			return &state->scans[i];
	}
	pg_unreachable();
}

/*
 * Either function of the index scan's node, with the scan positioned before it
 * asks the index for the first time.
 */
static TupleTableSlot *
exec_positioned(PlanState *node)
{
	ReadyScan  *scan = find_scan(node);
	IndexScanDesc descriptor = *scan->descriptor;
	TupleTableSlot *row;

	if (btree_position_scan(&scan->position, descriptor, scan->direction * node->state->es_direction))
		return node->ExecProcNodeReal(node);
	row = node->ExecProcNodeReal(node);
	if (!TupIsNull(row))
		btree_position_remember_row(descriptor);
	return row;
}

/* The first call of an execution. Its keys are computed as ExecReScan() does, which also sets back what is new. */
static TupleTableSlot *
exec_first(PlanState *node)
{
	ReadyScan  *scan = find_scan(node);

	if (scan->runtime_key_count > 0 && !*scan->are_runtime_keys_ready)
	{
		ExecIndexEvalRuntimeKeys(scan->runtime_context, scan->runtime_keys, scan->runtime_key_count);
		*scan->are_runtime_keys_ready = true;
		index_rescan(*scan->descriptor, scan->keys, scan->key_count, NULL, 0);
	}
	node->ExecProcNode = scan->position.is_known ? exec_positioned : node->ExecProcNodeReal;
	return node->ExecProcNode(node);
}

/* As index_beginscan() and, where all keys are constants, the node's first call do. */
void
ready_begin_scan(ReadyState *state, ReadyScan *scan)
{
	IndexScanDesc descriptor = *scan->descriptor;

	if (descriptor == NULL)
		return;
	descriptor->xs_snapshot = state->estate->es_snapshot;
	descriptor->xactStartedInRecovery = TransactionStartedDuringRecovery();
	descriptor->ignore_killed_tuples = !descriptor->xactStartedInRecovery;
	descriptor->xs_heapfetch = compat_index_fetch_again(descriptor->xs_heapfetch, scan->table, scan->fetch_flags);
	scan->node->ps.ExecProcNode = exec_first;
	if (scan->runtime_key_count == 0)
		index_rescan(descriptor, scan->keys, scan->key_count, NULL, 0);
}

void
ready_prepare_scans(ReadyState *state)
{
	for (int i = 0; i < state->scan_count; i++)
	{
		ReadyScan  *scan = &state->scans[i];

		scan->position = btree_position_describe(scan->index, scan->keys, scan->key_count);
	}
}

/*
 * amrescan() drops the scan's pins and marks what it found dead, as amendscan()
 * does, and keeps memory.
 */
void
ready_end_scan(ReadyScan *scan)
{
	IndexScanDesc descriptor = *scan->descriptor;

	if (scan->map_buffer != NULL && BufferIsValid(*scan->map_buffer))
	{
		ReleaseBuffer(*scan->map_buffer);
		*scan->map_buffer = InvalidBuffer;
	}
	if (descriptor == NULL)
		return;
	if (!scan->has_descriptor)
	{
		/* index_beginscan()'s reference, beside that of index_open() */
		RelationDecrementReferenceCount(scan->index);
		scan->has_descriptor = true;
	}
	scan->fetch_flags = compat_index_fetch_flags(descriptor->xs_heapfetch);
	/* Keys that this execution did not compute point to what is gone, and the scan holds nothing. */
	if (!btree_position_end(descriptor) && (scan->runtime_key_count == 0 || *scan->are_runtime_keys_ready))
		index_rescan(descriptor, scan->keys, scan->key_count, NULL, 0);
	descriptor->xs_heapfetch = compat_index_fetch_rest(descriptor->xs_heapfetch);
	descriptor->xs_snapshot = NULL;
}
