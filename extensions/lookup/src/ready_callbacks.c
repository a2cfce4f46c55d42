/*-------------------------------------------------------------------------
 *
 * ready_callbacks.c
 *	  What ends a state: a change of what it was made from, or the end of a
 *	  transaction that did not end its execution.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "ready_state.h"

uint64		ready_changes;
uint64		ready_role_changes;

/* One in use goes on with what it has, as any execution does, and is not kept. */
static void
invalidate(ReadyState *state)
{
	if (state->is_in_use)
		state->is_stale = true;
	else
		ready_destroy(state);
}

static bool
has_source(const ReadyState *state, int cache, uint32 hash)
{
	for (int i = 0; i < state->source_count; i++)
	{
		if (state->sources[i].cache == cache && state->sources[i].hash == hash)
			return true;
	}
	return false;
}

/* Any relation may be meant by none. */
static void
relation_changed(Datum argument, Oid relation)
{
	dlist_mutable_iter iter;

	ready_changes++;
	dlist_foreach_modify(iter, &ready_states)
	{
		ReadyState *state = dlist_container(ReadyState, link, iter.cur);

		if (!OidIsValid(relation) || list_member_oid(state->relations, relation))
			invalidate(state);
	}
}

/* Any row may be meant by hash value 0. Operators of families have keys of more columns, and change seldom. */
static void
row_changed(Datum argument, CompatSysCacheId cache, uint32 hash)
{
	dlist_mutable_iter iter;

	ready_changes++;
	dlist_foreach_modify(iter, &ready_states)
	{
		ReadyState *state = dlist_container(ReadyState, link, iter.cur);

		if (hash == 0 || (int) cache == AMOPOPID || has_source(state, cache, hash))
			invalidate(state);
	}
}

static void
role_changed(Datum argument, CompatSysCacheId cache, uint32 hash)
{
	ready_role_changes++;
}

/* Executions that nobody ends any more: an error broke them off, and what they held is given back by others. */
static void
drop_broken(int nest_level)
{
	dlist_mutable_iter iter;

	if (ready_in_use_count == 0)
		return;
	dlist_foreach_modify(iter, &ready_states)
	{
		ReadyState *state = dlist_container(ReadyState, link, iter.cur);

		if (state->is_in_use && state->nest_level >= nest_level)
			ready_destroy(state);
	}
}

static void
transaction_ends(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			drop_broken(0);
			break;
		default:
			break;
	}
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *argument)
{
	int			nest_level = GetCurrentTransactionNestLevel();
	dlist_iter	iter;

	if (event == SUBXACT_EVENT_ABORT_SUB)
		drop_broken(nest_level);
	else if (event == SUBXACT_EVENT_COMMIT_SUB && ready_in_use_count > 0)
	{
		/* Cursors go over to the transaction around it. */
		dlist_foreach(iter, &ready_states)
		{
			ReadyState *state = dlist_container(ReadyState, link, iter.cur);

			if (state->is_in_use && state->nest_level >= nest_level)
				state->nest_level = nest_level - 1;
		}
	}
}

void
ready_register_callbacks(void)
{
	static const int row_caches[] = {PROCOID, TYPEOID, AMOPOPID};
	static const int role_caches[] = {AUTHOID, AUTHMEMROLEMEM, DATABASEOID};

	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	for (int i = 0; i < lengthof(row_caches); i++)
		CacheRegisterSyscacheCallback(row_caches[i], row_changed, (Datum) 0);
	for (int i = 0; i < lengthof(role_caches); i++)
		CacheRegisterSyscacheCallback(role_caches[i], role_changed, (Datum) 0);
	RegisterXactCallback(transaction_ends, NULL);
	RegisterSubXactCallback(subtransaction_ends, NULL);
}
