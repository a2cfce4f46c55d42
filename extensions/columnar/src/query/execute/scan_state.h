/*-------------------------------------------------------------------------
 *
 * scan_state.h
 *	  Execution state of a Penumbra node, seen by its callbacks and EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SCAN_STATE_H
#define PENUMBRA_SCAN_STATE_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "port/atomics.h"
#include "storage/spin.h"

#include "cache/cache.h"
#include "cache/heap_page.h"
#include "cache/table_sample.h"
#include "query/execute/result_slot.h"
#include "query/execute/statement_run.h"
#include "query/pipeline/pipeline.h"

/* One table of the scan. */
typedef struct ScanTable
{
	Relation	rel;			/* from executor start to its end */
	CachedScan *cached;			/* this and the rest: of one execution */
	HeapRowReader *reader;
	TableSample sample;			/* of its rows, if the stage has one */
	int			heap_range;		/* next to read */
	BlockNumber next_block;		/* in that range */
	uint32		heap_row;		/* next to read, after the ranges */
} ScanTable;

/*
 * At most so many chunks are read ahead of the engine's threads; once they
 * take BYTES_AHEAD of memory, only two.  Disks give as much with 2 to 8 MB under way as with 32.
 */
#define CHUNKS_AHEAD 8
#define BYTES_AHEAD ((Size) 16 << 20)

/* What a scan of the plan reads: one table, or the tables of an inheritance tree. */
typedef struct ScanInput
{
	struct PenumbraScanState *state;
	const PipelineStage *stage;
	int			table_count;
	ScanTable  *tables;
	PlanState  *source;			/* in their place: what computes the rows */
	PenumbraOperator scan;		/* this and the rest: of one execution */
	PenumbraRows *rows;			/* on their way into the engine */
	const struct ValueImage **images;	/* of their columns' types */
	int			heap_table;		/* whose heap pages are read now */
	bool		is_page_open;	/* of that table, with more rows */
	bool		is_ended;		/* the engine got all rows of the heap, or of the source */
	int			read_table;		/* whose chunks are read from disk now */
	uint64		pushed_chunks;
} ScanInput;

/* A chunk that is read from disk, of one input after the other in the order in which the engine wants them. */
typedef struct ChunkRead
{
	ScanInput  *input;
	CachedScan *cached;
	uint64		number;			/* of the input's pushed chunks; 0: it was not pushed */
	ChunkBuffer *buffer;		/* stays when the read is finished, for whichever comes next; NULL: none */
} ChunkRead;

/* What EXPLAIN ANALYZE shows; kept when the engine is gone. */
typedef struct ScanReport
{
	bool		is_filled;
	PenumbraExecStats stats;	/* operators copied */
	ScannedPages pages;
	uint64		evaluated_inputs;	/* of called_exprs */
	const char *ordinary_reason;	/* the ordinary plan ran instead, and why */
} ScanReport;

/* Shared by the processes of one parallel scan; each claims a part of the pages at a time. */
typedef struct ParallelScan
{
	pg_atomic_uint32 next_part; /* of cache_chunk_pages pages */
	slock_t		lock;			/* of the next two */
	ScannedPages pages;
	RunCounts	worker_counts;	/* the leader's go straight to its statement */
} ParallelScan;

typedef struct HostFunctions HostFunctions;

typedef struct PenumbraScanState
{
	CustomScanState css;
	Pipeline   *pipeline;
	List	   *runtime_states; /* ExprStates of custom_exprs */
	int			eflags;
	Oid			user_oid;		/* at executor start, with the next: whose permissions count */
	int			security_context;
	bool		is_streaming;	/* no stage waits for all input */
	bool		is_started;
	bool		is_done;
	bool		has_emitted;
	bool		is_given_up;	/* by the engine */
	bool		holds_rows;		/* back until the engine is at its end */
	Tuplestorestate *held;
	TupleTableSlot *held_slot;
	PlanState  *ordinary;		/* PostgreSQL's own plan, when it runs instead */
	PlanState  *left_ordinary;	/* the same, of which there were more rows than it was to give */
	List	   *sources;		/* of PlanState *: what computes rows for the engine */
	int			input_count;
	ScanInput  *inputs;			/* one of each scan */
	ChunkRead	reads[CHUNKS_AHEAD];	/* places are taken in turns */
	uint64		begun_reads;
	uint64		ended_reads;	/* of the begun reads: waited for, and pushed if the chunk was there */
	uint64		finished_reads; /* of the ended reads: the engine needs the chunk no more, or never got it */
	List	   *indexes;		/* that the ordinary plan reads, open as long as the tables */
	const char *temporary_prefix;	/* of the engine's files */
	ParallelScan *parallel;		/* NULL: not a parallel scan */
	ParallelScan unshared;		/* of a parallel scan that runs in one process */
	uint32		random_seed;	/* of samples that are not REPEATABLE, in all executions */
	bool		is_rescanned;	/* tables stay open and proven between executions */
	bool		has_threads;	/* the engine may, for its execution */
	MemoryContext scan_context; /* tables: chunks pinned, readers */
	MemoryContext buffer_context;	/* its child: chunks from disk; older than the next, so freed later */
	MemoryContext execution_context;	/* its child: the plan and what follows */
	List	   *host_calls;		/* of HostCall *: what PostgreSQL evaluates for the plan */
	List	   *collected_calls;	/* of CollectedCall *: its aggregates that PostgreSQL computes */
	HostFunctions *host;		/* these, prepared; NULL: there are none */
	PenumbraPlan *plan;
	PenumbraExec *exec;
	ResultWindow *window;
	Tuplestorestate *returned;	/* for a cursor: the rows so far, to go back to */
	TupleTableSlot *returned_slot;	/* with the TID after the columns, if is_identified */
	TupleTableSlot *identified_slot;	/* then: to store it */
	List	   *fetched_rows;	/* of FetchedRow *: of the heap, whose attributes are outputs */
	int			position_output;	/* of the engine: the row's position, for WHERE CURRENT OF; -1: not wanted */
	bool		is_exhausted;	/* nothing comes after the last of them */
	ScanReport	report;
} PenumbraScanState;

#endif							/* PENUMBRA_SCAN_STATE_H */
