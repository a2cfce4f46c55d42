/*-------------------------------------------------------------------------
 *
 * statement_run.h
 *	  What one execution of a statement did, as its nodes report it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STATEMENT_RUN_H
#define PENUMBRA_STATEMENT_RUN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "portability/instr_time.h"

#include "query/planning/refusal.h"

typedef struct StatementKey
{
	Oid			userid;
	Oid			dbid;
	int64		queryid;
} StatementKey;

/* What nodes of ours read. */
typedef struct RunCounts
{
	uint64		executions;		/* of the engine, that did not give up */
	uint64		rows_from_cache;
	uint64		rows_from_heap; /* also those that plans of PostgreSQL's computed for the engine */
	uint64		decoded_bytes;
	uint64		spilled_bytes;
} RunCounts;

/* From executor start to its end, or to the error that ends it. */
typedef struct StatementRun
{
	MemoryContextCallback callback; /* of the query's context, where it lies too */
	const EState *estate;
	StatementKey key;
	bool		is_all_ours;	/* the plan's top node is ours */
	int			restarts;		/* of nodes, with PostgreSQL's plan */
	const Refusal *refusal;		/* the plan's, or the last restart's; NULL: none */
	instr_time	time;			/* of the calls of ExecutorRun that ended */
	instr_time	begun_at;		/* of the call of ExecutorRun that is going on */
	RunCounts	counts;
} StatementRun;

/* Adds each of the counts. */
extern void run_counts_add(RunCounts *counts, const RunCounts *added);

/* Statements are tracked in this query's executor from now on; end: called when its memory goes. */
extern StatementRun *statement_run_begin(EState *estate, MemoryContextCallbackFunction end);

/* NULL: it is not tracked, or an executor inside of a node. */
extern StatementRun *statement_run_of(EState *estate);

#endif							/* PENUMBRA_STATEMENT_RUN_H */
