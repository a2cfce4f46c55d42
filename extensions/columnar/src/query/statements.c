/*-------------------------------------------------------------------------
 *
 * statements.c
 *	  Executor hooks: they measure statements, and give their rows a receiver.
 *
 * Every execution of every session comes by.  It takes a few hundred
 * instructions: no lock but the one to find its entry once, and nothing that
 * has to be undone at an error.  What did not get to the end of ExecutorFinish
 * has failed, so that the executor's end needs no hook.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/backend_status.h"
#include "utils/guc.h"

#include "query/receivers.h"
#include "query/require.h"
#include "query/statement_table.h"
#include "query/statements.h"

static bool track_statements = true;

static ExecutorStart_hook_type previous_executor_start = NULL;
static ExecutorRun_hook_type previous_executor_run = NULL;

void
statements_define_settings(void)
{
	DefineCustomBoolVariable("penumbra.track_statements",
							 "Whether statements are counted in the view penumbra.statements.",
							 NULL,
							 &track_statements, true, PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
add_time(StatementRun *run)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_ACCUM_DIFF(run->time, now, run->begun_at);
	INSTR_TIME_SET_ZERO(run->begun_at);
}

/* The executor's memory goes: at its end, or after an error, when nothing but this memory is left of the query. */
static void
end_run(void *argument)
{
	StatementRun *run = argument;

	if (!INSTR_TIME_IS_ZERO(run->begun_at))
		add_time(run);
	statement_table_add(run);
}

static void
begin_run(QueryDesc *query, const Refusal *refusal)
{
	int64		queryid = (int64) query->plannedstmt->queryId;
	StatementRun *run;

	/* What a command runs, REFRESH or before 18 CREATE TABLE AS, goes by the command's number. */
	if (queryid == 0)
		queryid = (int64) pgstat_get_my_query_id();
	if (queryid == 0)
		return;
	run = statement_run_begin(query->estate, end_run);
	run->key = (StatementKey) {GetUserId(), MyDatabaseId, queryid};
	run->is_all_ours = require_plan_is_penumbra(query->plannedstmt);
	run->refusal = refusal;
}

static void
penumbra_executor_start(QueryDesc *query, int eflags)
{
	const Refusal *refusal;

	if (previous_executor_start)
		previous_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	/* A worker's part is its leader's. */
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || IsParallelWorker())
		return;
	refusal = refusal_count_plan(query->plannedstmt);
	if (track_statements && statement_table_exists())
		begin_run(query, refusal);
}

static void
penumbra_executor_run(COMPAT_EXECUTOR_RUN_PARAMETERS)
{
	StatementRun *run = statement_run_of(query->estate);
	DestReceiver *original = query->dest;
	DestReceiver *receiver = receivers_create(query);

	if (receiver != NULL)
		query->dest = receiver;
	if (run != NULL)
		INSTR_TIME_SET_CURRENT(run->begun_at);
	if (previous_executor_run)
		previous_executor_run(COMPAT_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(COMPAT_EXECUTOR_RUN_ARGUMENTS);
	query->dest = original;
	if (receiver != NULL)
		receiver->rDestroy(receiver);
	if (run != NULL)
		add_time(run);
}

void
statements_install_hooks(void)
{
	if (statement_table_is_wanted())
		EnableQueryId();
	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = penumbra_executor_start;
	previous_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = penumbra_executor_run;
}
