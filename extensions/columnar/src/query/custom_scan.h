/*-------------------------------------------------------------------------
 *
 * custom_scan.h
 *	  Execution state of a Penumbra node, seen by its callbacks and EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CUSTOM_SCAN_H
#define PENUMBRA_CUSTOM_SCAN_H

#include "postgres.h"

#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "port/atomics.h"

#include "cache/cache.h"
#include "cache/heap_page.h"
#include "query/pipeline.h"
#include "query/result_slot.h"

/* One table of the scan. */
typedef struct ScanTable
{
	Relation	rel;			/* from executor start to its end */
	CachedScan *cached;			/* this and the rest: of one execution */
	HeapRowReader *reader;
	int			heap_range;		/* next to read */
	BlockNumber next_block;		/* in that range */
	uint32		heap_row;		/* next to read, after the ranges */
} ScanTable;

/*
 * Chunks that are read ahead of the engine's threads, and from how much memory
 * of them on only two.  Disks give as much with 2 to 8 MB under way as with 32.
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
	uint64		pages_from_cache;
	uint64		pages_by_row;
	uint64		pages_from_heap;
	char	   *ordinary_reason;	/* the ordinary plan ran instead, and why */
} ScanReport;

/* Shared by the processes of one parallel scan; each claims a part of the pages at a time. */
typedef struct ParallelScan
{
	pg_atomic_uint32 next_part; /* of cache_chunk_pages pages */
	pg_atomic_uint64 pages_from_cache;
	pg_atomic_uint64 pages_by_row;
	pg_atomic_uint64 pages_from_heap;
} ParallelScan;

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
	bool		holds_rows;		/* back until the engine is at its end */
	Tuplestorestate *held;
	TupleTableSlot *held_slot;
	PlanState  *ordinary;		/* PostgreSQL's own plan, when it runs instead */
	List	   *sources;		/* of PlanState *: what computes rows for the engine */
	int			input_count;
	ScanInput  *inputs;			/* one of each scan */
	ChunkRead	reads[CHUNKS_AHEAD];	/* places are taken in turns */
	uint64		begun_reads;
	uint64		ended_reads;	/* of these */
	uint64		finished_reads; /* of these, by the engine, or never pushed */
	List	   *indexes;		/* that the ordinary plan reads, open as long as the tables */
	const char *temporary_prefix;	/* of the engine's files */
	ParallelScan *parallel;		/* NULL: not a parallel scan */
	ParallelScan unshared;		/* of a parallel scan that runs in one process */
	bool		is_rescanned;	/* tables stay open and proven between executions */
	bool		has_threads;	/* the engine may, for its execution */
	MemoryContext scan_context; /* tables: chunks pinned, readers */
	MemoryContext buffer_context;	/* its child: chunks from disk; older than the next, so freed later */
	MemoryContext execution_context;	/* its child: the plan and what follows */
	PenumbraPlan *plan;
	PenumbraExec *exec;
	ResultWindow *window;
	Tuplestorestate *returned;	/* for a cursor: the rows so far, to go back to */
	TupleTableSlot *returned_slot;
	bool		is_exhausted;	/* nothing comes after the last of them */
	ScanReport	report;
} PenumbraScanState;

/* custom_scan.c */
extern const CustomScanMethods *custom_scan_methods(const char *kind);
extern void custom_scan_register(void);
/* False at the end, or when the ordinary plan has taken over. */
extern bool custom_scan_next_engine_row(PenumbraScanState *state, TupleTableSlot *slot);

/* scan_input.c; rows of the columns (of Vars), on their way into the engine. */
extern PenumbraRows *scan_input_create_rows(const List *columns);
/* Back to where nothing of the heap was read, nor of the disk. */
extern void scan_input_reset(ScanInput *input);
/* The input of this scan if it has not given all rows that are pushed; else NULL. */
extern ScanInput *scan_input_find(PenumbraScanState *state, PenumbraOperator scan);
/* The next page of a ScanTable's ranges; what reads them may be ahead of the page that is open. */
extern BlockNumber scan_input_next_block(void *table);
/* Before the engine's start: pushes all rows and ends them, where these are few and small and it helps. */
extern PenumbraStatus scan_input_push_first(PenumbraScanState *state, ScanInput *input);
/* One step: reads and pushes a chunk or a batch of rows, or tells their end.  *waits: the engine is to get on first. */
extern PenumbraStatus scan_input_push(PenumbraScanState *state, ScanInput *input, bool *waits);

/* held_rows.c */
extern void held_rows_collect(PenumbraScanState *state, TupleTableSlot *slot);
extern bool held_rows_next(PenumbraScanState *state, TupleTableSlot *slot);
extern void held_rows_drop(PenumbraScanState *state);

/* source_rows.c; at executor start: initialises the sources' plans, the node's children; false: one is not there. */
extern bool source_rows_begin(PenumbraScanState *state, EState *estate);
/* Appends rows up to so many, or one more than the bytes hold; false: there are no more. */
extern bool source_rows_append(PenumbraScanState *state, ScanInput *input, uint32 row_limit, Size bytes_limit);
extern void source_rows_rescan(PenumbraScanState *state);
extern void source_rows_end(PenumbraScanState *state);

/* parallel_scan.c */
extern void parallel_scan_install(CustomExecMethods *methods);
/* Proves the pages of the next execution; false when all are claimed. */
extern bool parallel_scan_claim(PenumbraScanState *state);

/* explain.c */
extern void explain_custom_scan(CustomScanState *node, List *ancestors, ExplainState *es);
/* Copies the engine's statistics before it goes. */
extern void explain_keep_report(PenumbraScanState *state);

#endif							/* PENUMBRA_CUSTOM_SCAN_H */
