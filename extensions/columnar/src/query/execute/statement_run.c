/*-------------------------------------------------------------------------
 *
 * statement_run.c
 *	  What one execution of a statement did, as its nodes report it.
 *
 * It hangs on the memory context of the query's executor, which is what every
 * node knows of its statement, and what goes at errors too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/memnodes.h"

#include "query/execute/statement_run.h"

/* The only one there is. */
static MemoryContextCallbackFunction run_end;

void
run_counts_add(RunCounts *counts, const RunCounts *added)
{
	counts->executions += added->executions;
	counts->rows_from_cache += added->rows_from_cache;
	counts->rows_from_heap += added->rows_from_heap;
	counts->decoded_bytes += added->decoded_bytes;
	counts->spilled_bytes += added->spilled_bytes;
}

StatementRun *
statement_run_begin(EState *estate, MemoryContextCallbackFunction end)
{
	StatementRun *run = MemoryContextAlloc(estate->es_query_cxt, sizeof(StatementRun));

	run_end = end;
	memset(run, 0, sizeof(StatementRun));
	run->callback.func = end;
	run->callback.arg = run;
	run->estate = estate;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &run->callback);
	return run;
}

StatementRun *
statement_run_of(EState *estate)
{
	MemoryContextCallback *callback = estate->es_query_cxt->reset_cbs;

	while (callback != NULL && callback->func != run_end)
		callback = callback->next;
	return callback == NULL ? NULL : callback->arg;
}
