/*-------------------------------------------------------------------------
 *
 * budget.c
 *	  What executions of all sessions may use together.
 *
 * The engine keeps the rules and the numbers (thread_tickets.h, arena.h); they
 * lie in shared memory, a sum and what each process has of it.  Executions take
 * back what they added when they are stopped, which is before a process ends, be
 * it by a FATAL error.  A process that is killed takes the server's shared memory
 * with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/guc.h"

#include "cache/policy/machine.h"
#include "query/execute/budget.h"
#include "query/planning/planning.h"
#include "result_rows.h"

typedef union BudgetUsage
{
	PenumbraUsage usage;
	char		padding[PG_CACHE_LINE_SIZE];	/* threads of each process write to its own line */
} BudgetUsage;

#define KEPT_BYTES_MIN ((Size) 1 << 20)

typedef struct Budget
{
	BudgetUsage all;
	pg_atomic_uint32 process_count; /* that have run an execution */
	char		padding[PG_CACHE_LINE_SIZE - sizeof(pg_atomic_uint32)];
	BudgetUsage of_process[FLEXIBLE_ARRAY_MEMBER];	/* by place of its PGPROC */
} Budget;

static Budget *budget = NULL;
static int	query_memory_mb;

void
budget_define_settings(void)
{
	DefineCustomIntVariable("penumbra.query_memory",
							"Memory for hashing and sorting in the engine, of all sessions together.",
							"When they hold more, those that hold more than an equal share spill, before work_mem. "
							"The default is a quarter of the machine's memory. 0 is no limit.",
							&query_memory_mb, machine_default_mb(), 0, INT_MAX / 2,
							PGC_SIGHUP, GUC_UNIT_MB | GUC_EXPLAIN, NULL, NULL, NULL);
}

Size
budget_shmem_bytes(void)
{
	return offsetof(Budget, of_process) + sizeof(BudgetUsage) * MaxBackends;
}

void
budget_shmem_startup(void *shmem)
{
	budget = shmem;
	memset(budget, 0, budget_shmem_bytes());
	pg_atomic_init_u32(&budget->process_count, 0);
}

/* Takes back what is left, so that a defect costs others nothing. */
static void
end_at_exit(int code, Datum argument)
{
	PenumbraUsage *own = (PenumbraUsage *) DatumGetPointer(argument);
	PenumbraUsage *all = &budget->all.usage;
	static const PenumbraUsage none;

	Assert(memcmp(own, &none, sizeof(none)) == 0);
	pg_atomic_fetch_sub_u32((pg_atomic_uint32 *) &all->callers, (int32) own->callers);
	pg_atomic_fetch_sub_u32((pg_atomic_uint32 *) &all->tickets, (int32) own->tickets);
	for (int level = 0; level < PENUMBRA_WORK_LEVELS; level++)
		pg_atomic_fetch_sub_u32((pg_atomic_uint32 *) &all->waiting[level], (int32) own->waiting[level]);
	pg_atomic_fetch_sub_u32((pg_atomic_uint32 *) &all->holders, (int32) own->holders);
	pg_atomic_fetch_sub_u64((pg_atomic_uint64 *) &all->memory_bytes, (int64) own->memory_bytes);
	*own = none;
	pg_atomic_fetch_sub_u32(&budget->process_count, 1);
}

/* NULL: not preloaded, or a process that runs no queries. */
static BudgetUsage *
own_usage(void)
{
	static BudgetUsage *own = NULL;
	ptrdiff_t	place = MyProc - ProcGlobal->allProcs;

	if (own != NULL || budget == NULL || place >= MaxBackends)
		return own;
	own = &budget->of_process[place];
	pg_atomic_fetch_add_u32(&budget->process_count, 1);
	/* runs after the transaction was aborted, and with it all executions destroyed */
	on_shmem_exit(end_at_exit, PointerGetDatum(own));
	return own;
}

void
budget_set_options(PenumbraExecOptions *options)
{
	BudgetUsage *own = own_usage();

	options->all_usage = own != NULL ? &budget->all.usage : NULL;
	options->own_usage = own != NULL ? &own->usage : NULL;
	options->max_threads = (uint32_t) penumbra_max_threads;
	options->max_memory_bytes = (uint64_t) query_memory_mb << 20;
}

Size
budget_kept_bytes(void)
{
	uint32		processes = budget == NULL ? 0 : pg_atomic_read_u32(&budget->process_count);
	Size		share = ((Size) query_memory_mb << 20) / 2 / Max(processes, 1);

	return query_memory_mb == 0 ? BUDGET_KEPT_BYTES_MAX : Min(Max(share, KEPT_BYTES_MIN), BUDGET_KEPT_BYTES_MAX);
}

PENUMBRA_SQL_FUNCTION(penumbra_sql_get_budget);

/* The sum, and what each process has of it. */
Datum
penumbra_sql_get_budget(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = -1; budget != NULL && i < MaxBackends; i++)
	{
		const BudgetUsage *usage = i < 0 ? &budget->all : &budget->of_process[i];
		Datum		values[5];
		bool		nulls[5] = {i < 0};
		int64		waiting = 0;

		for (int level = 0; level < PENUMBRA_WORK_LEVELS; level++)
			waiting += usage->usage.waiting[level];
		values[0] = Int32GetDatum(i < 0 ? 0 : ProcGlobal->allProcs[i].pid);
		values[1] = Int64GetDatum(usage->usage.callers);
		values[2] = Int64GetDatum(usage->usage.tickets);
		values[3] = Int64GetDatum(waiting);
		values[4] = Int64GetDatum((int64) usage->usage.memory_bytes);
		put_row(result, values, nulls);
	}
	return (Datum) 0;
}
