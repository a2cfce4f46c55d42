/*-------------------------------------------------------------------------
 *
 * ready_state.c
 *	  A state's way from rest into use and back.
 *
 * ready_start() does what standard_ExecutorStart() does for each execution:
 * permissions, locks, relations, snapshot, parameters.  It leaves out what
 * comes out the same each time: nodes, expressions, slots, scan keys.
 * ready_rest() gives back what standard_ExecutorEnd() gives back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "ready_state.h"

/* A state that grew by more is built anew: other libraries, and receivers of rows, allocate where the state lives. */
#define MAX_GROWTH_BYTES (64 * 1024)

/* Where there is no room, one of so many plans that would leave their state may. */
#define ADMITTED_SHARE 16

int			ready_max_states;
dlist_head	ready_states = DLIST_STATIC_INIT(ready_states);
static int	state_count;
int			ready_in_use_count;

static void
set_in_use(ReadyState *state, bool is_in_use)
{
	ready_in_use_count += (int) is_in_use - (int) state->is_in_use;
	state->is_in_use = is_in_use;
}

void
ready_destroy(ReadyState *state)
{
	if (state->plan != NULL)
		state->plan->state = NULL;
	dlist_delete(&state->link);
	state_count--;
	set_in_use(state, false);
	MemoryContextDelete(state->context);
}

/* The plan's memory goes. If the state is in use, that use was broken off, and the end of its transaction follows. */
static void
forget_plan(ReadyState *state)
{
	state->plan = NULL;
	if (!state->is_in_use)
		ready_destroy(state);
}

void
ready_insert(ReadyState *state)
{
	state->plan->state = state;
	state->plan->forget_plan = forget_plan;
	dlist_push_head(&ready_states, &state->link);
	state_count++;
}

/* Destroys states at rest, those first that were used longest ago, until so many are left. */
static void
evict(int wanted_count)
{
	dlist_node *node = dlist_is_empty(&ready_states) ? NULL : dlist_tail_node(&ready_states);

	while (node != NULL && state_count > wanted_count)
	{
		ReadyState *state = dlist_container(ReadyState, link, node);

		node = dlist_has_prev(&ready_states, node) ? dlist_prev_node(&ready_states, node) : NULL;
		if (!state->is_in_use)
			ready_destroy(state);
	}
}

/* The setting may have become less. */
void
ready_keep_to_limit(void)
{
	if (state_count > ready_max_states)
		evict(ready_max_states);
}

/*
 * Room for one more state.  Where more plans take turns than have room, a state
 * would be gone before its plan comes again, so that only few plans are admitted.
 */
bool
ready_make_room(void)
{
	static uint32 asked = 0;

	if (state_count >= ready_max_states && ++asked % ADMITTED_SHARE == 0)
		evict(ready_max_states - 1);
	return state_count < ready_max_states;
}

ReadyState *
ready_find(const EState *estate)
{
	dlist_iter	iter;

	if (ready_in_use_count == 0)
		return NULL;
	/* Those in use are among the first, since they were used last. */
	dlist_foreach(iter, &ready_states)
	{
		ReadyState *state = dlist_container(ReadyState, link, iter.cur);

		if (state->estate == estate)
			return state->is_in_use ? state : NULL;
	}
	return NULL;
}

/*
 * Privileges of relations and functions.  What they depend on are the user, the
 * roles, and rows of catalogs whose changes end the state; so they are not
 * looked at again before one of these changed, unless a hook wants it.
 */
static bool
are_privileges_known(const ReadyState *state)
{
	return state->checked_user == GetUserId() && state->role_changes == ready_role_changes &&
		ExecutorCheckPerms_hook == NULL;
}

/* Those of relations raise an error here.  Without those of functions, ExecInitFunc() will. */
static bool
check_privileges(ReadyState *state)
{
	Oid			user = GetUserId();
	uint64		role_changes = ready_role_changes;
	ListCell   *cell;

	compat_check_permissions(state->plan->stmt);
	foreach(cell, state->executed_functions)
	{
		if (!compat_may_execute(lfirst_oid(cell), user))
			return false;
	}
	state->checked_user = user;
	state->role_changes = role_changes;
	return true;
}

/* Code of parameters was compiled by the hook of their list, if it has one, for an expression of PL/pgSQL. */
static bool
are_parameters_alike(const ReadyState *state, ParamListInfo params)
{
	if (params == NULL)
		return !state->has_parameters;
	return state->has_parameters && state->param_compile == params->paramCompile &&
		(params->paramCompile == NULL || state->parser_setup_argument == params->parserSetupArg);
}

static LookupOutcome
find_refusal(ReadyState *state, const QueryDesc *query, int eflags)
{
	if (state->is_in_use)
		return OUTCOME_IN_USE;
	if ((eflags & ~READY_EFLAGS) != 0 || query->instrument_options != 0 ||
		(state->has_sort && (eflags & READY_SCROLL_EFLAGS) != state->scroll_eflags) ||
		(state->is_update && XactReadOnly))
		return OUTCOME_OPTIONS;
	if (query->snapshot == NULL || !IsMVCCSnapshot(query->snapshot) || query->crosscheck_snapshot != NULL)
		return OUTCOME_SNAPSHOT;
	if (IsInParallelMode())
		return OUTCOME_PARALLEL;
	if (!are_parameters_alike(state, query->params))
		return OUTCOME_PARAMETERS;
	if (object_access_hook != NULL || needs_fmgr_hook != NULL)
		return OUTCOME_SECURITY;
	return state->track_functions == pgstat_track_functions ? OUTCOME_READY : OUTCOME_CHANGED;
}

/*
 * As the nodes' initialisation does: tables are locked by the caller, indexes
 * here.  To wait for a lock, or to get it, may bring news of changes; then
 * is_stale is set.
 */
static bool
open_relations(ReadyState *state)
{
	for (int i = 0; i < state->scan_count; i++)
	{
		ReadyScan  *scan = &state->scans[i];
		Relation	table = table_open(scan->table_oid, NoLock);
		Relation	index;

		if (table != scan->table)
			state->is_stale = true;
		scan->table = table;
		scan->is_heap_open = true;
		index = index_open(scan->index_oid, scan->lock_mode);
		if (index != scan->index)
			state->is_stale = true;
		scan->index = index;
		scan->is_index_open = true;
		if (state->is_stale)
			break;
	}
	return !state->is_stale;
}

static void
close_relations(ReadyState *state)
{
	for (int i = 0; i < state->scan_count; i++)
	{
		ReadyScan  *scan = &state->scans[i];

		if (scan->is_index_open)
			index_close(scan->index, NoLock);
		if (scan->is_heap_open)
			table_close(scan->table, NoLock);
		scan->is_index_open = scan->is_heap_open = false;
	}
}

static void
start_execution(ReadyState *state, QueryDesc *query, int eflags)
{
	EState	   *estate = state->estate;
	ListCell   *cell;

	estate->es_direction = ForwardScanDirection;
	estate->es_snapshot = RegisterSnapshot(query->snapshot);
	estate->es_sourceText = query->sourceText;
	estate->es_param_list_info = query->params;
	estate->es_queryEnv = query->queryEnv;
	if (state->is_update)
		estate->es_output_cid = GetCurrentCommandId(true);
	else
		eflags |= EXEC_FLAG_SKIP_TRIGGERS;	/* a SELECT queues none */
	estate->es_top_eflags = eflags;
	if ((eflags & EXEC_FLAG_SKIP_TRIGGERS) == 0)
		AfterTriggerBeginQuery();
	estate->es_processed = 0;
	compat_reset_total_processed(estate);
	estate->es_finished = false;
	if (state->exec_param_count > 0)
		memset(estate->es_param_exec_vals, 0, state->exec_param_count * sizeof(ParamExecData));
	ready_begin_subplans(state);
	foreach(cell, estate->es_exprcontexts)
		((ExprContext *) lfirst(cell))->ecxt_param_list_info = query->params;
	foreach(cell, state->nodes)
		ready_begin_node(lfirst(cell));
	for (int i = 0; i < state->scan_count; i++)
		ready_begin_scan(state, &state->scans[i]);
	query->estate = estate;
	query->planstate = state->planstate;
	query->tupDesc = state->result_type;
	compat_start_instrumentation(query);
}

bool
ready_start(ReadyState *state, QueryDesc *query, int eflags, LookupOutcome *outcome)
{
	MemoryContext previous;

	*outcome = find_refusal(state, query, eflags);
	if (*outcome != OUTCOME_READY)
	{
		if (*outcome == OUTCOME_CHANGED)
			ready_destroy(state);
		return false;
	}
	check_stack_depth();

	/* From here on an error finds the state in use, and the end of the transaction destroys it. */
	set_in_use(state, true);
	state->nest_level = GetCurrentTransactionNestLevel();
	dlist_move_head(&ready_states, &state->link);
	if (!are_privileges_known(state) && !check_privileges(state))
	{
		set_in_use(state, false);
		*outcome = OUTCOME_SECURITY;
		if (state->is_stale)
			ready_destroy(state);
		return false;
	}
	if (!open_relations(state))
	{
		close_relations(state);
		ready_destroy(state);
		*outcome = OUTCOME_CHANGED;
		return false;
	}
	previous = MemoryContextSwitchTo(state->context);
	start_execution(state, query, eflags);
	MemoryContextSwitchTo(previous);
	return true;
}

/* Slots that an execution made for itself have the relation cache's description: they end, and the state with them. */
static void
drop_new_slots(ReadyState *state)
{
	List	   *slots = state->estate->es_tupleTable;

	for (int i = state->slot_count; i < list_length(slots); i++)
	{
		TupleTableSlot *slot = list_nth(slots, i);

		ExecClearTuple(slot);
		ReleaseTupleDesc(slot->tts_tupleDescriptor);
		state->is_stale = true;
	}
}

void
ready_rest(ReadyState *state)
{
	EState	   *estate = state->estate;
	ListCell   *cell;

	foreach(cell, state->slots)
		ExecClearTuple(lfirst(cell));
	drop_new_slots(state);
	foreach(cell, state->nodes)
		ready_end_node(lfirst(cell));
	ready_end_subplans(state);
	for (int i = 0; i < state->scan_count; i++)
		ready_end_scan(&state->scans[i]);
	close_relations(state);
	UnregisterSnapshot(estate->es_snapshot);
	estate->es_snapshot = NULL;
	foreach(cell, estate->es_exprcontexts)
		ReScanExprContext(lfirst(cell));
	/* Functions may keep what holds for one query only: they begin anew. */
	foreach(cell, state->functions)
		((FmgrInfo *) lfirst(cell))->fn_extra = NULL;
	MemoryContextReset(state->function_context);
	set_in_use(state, false);
}

void
ready_end(ReadyState *state, QueryDesc *query)
{
	MemoryContext previous = MemoryContextSwitchTo(state->context);

	compat_end_instrumentation(query);
	ready_rest(state);
	MemoryContextSwitchTo(previous);
	query->tupDesc = NULL;
	query->estate = NULL;
	query->planstate = NULL;
	if (state->is_stale || state->plan == NULL ||
		MemoryContextMemAllocated(state->context, false) > state->context_bytes + MAX_GROWTH_BYTES)
		ready_destroy(state);
}
