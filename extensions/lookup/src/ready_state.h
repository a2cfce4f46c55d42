/*-------------------------------------------------------------------------
 *
 * ready_state.h
 *	  The executor's state of a plan, kept from one execution to the next.
 *
 * A state is at rest or in use.  At rest it is memory and nothing else: it
 * holds no lock, pin, snapshot, reference of the relation cache, or anything
 * else that a resource owner would know of.  The README has the proofs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LOOKUP_READY_STATE_H
#define LOOKUP_READY_STATE_H

#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "executor/executor.h"
#include "storage/lockdefs.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"

#include "btree_position.h"
#include "plans.h"

/* Options of executions that make no difference to a state. Cursors that scroll rescan, and read backward. */
#define READY_EFLAGS (EXEC_FLAG_SKIP_TRIGGERS | EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD)

/* A sort keeps its result for reading backward if it was asked to when it was initialised. */
#define READY_SCROLL_EFLAGS (EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD)

/* An index scan of the state, of either kind. */
typedef struct ReadyScan
{
	ScanState  *node;
	Oid			table_oid;
	Oid			index_oid;
	LOCKMODE	lock_mode;
	Relation	table;			/* where the relation cache had them; valid until is_stale */
	Relation	index;
	bool		is_heap_open;	/* of this execution */
	bool		is_index_open;

	/* Members of the node. */
	IndexScanDesc *descriptor;	/* NULL is there until the scan first began */
	ScanKey		keys;
	int			key_count;
	IndexRuntimeKeyInfo *runtime_keys;
	int			runtime_key_count;
	bool	   *are_runtime_keys_ready;
	ExprContext *runtime_context;
	Buffer	   *map_buffer;		/* of an index-only scan's visibility map; NULL: it is none */
	ScanDirection direction;	/* the plan's */
	BtreePosition position;		/* where it begins, if that is known of such keys */
	bool		has_descriptor; /* the scan began in an execution that has ended */
	uint32		fetch_flags;	/* of 19's table access */
} ReadyScan;

/* A row of a system cache, by its hash value, that the state was made from. */
typedef struct ReadySource
{
	int			cache;
	uint32		hash;
} ReadySource;

typedef struct ReadyState
{
	dlist_node	link;			/* of the list of all states, the last used first */
	LookupPlan *plan;			/* NULL: it is gone */
	MemoryContext context;		/* of everything here, this struct included */
	MemoryContext function_context; /* what functions keep between their calls: of one execution */
	Size		context_bytes;	/* when it was adopted */
	EState	   *estate;
	PlanState  *planstate;
	TupleDesc	result_type;

	bool		is_in_use;
	bool		is_stale;		/* what it was made from has changed */
	int			nest_level;		/* of the transaction that uses it */

	ParamCompileHook param_compile; /* which code parameters were compiled by */
	void	   *parser_setup_argument;
	bool		has_parameters;
	int			track_functions;	/* the setting that calls were compiled for */

	Oid			checked_user;	/* whose privileges were looked at */
	uint64		role_changes;	/* how many there had been then */

	List	   *nodes;			/* PlanState, each before its children */
	List	   *subplans;		/* SubPlanState */
	bool		is_update;
	bool		has_sort;
	int			scroll_eflags;	/* those that its sorts were initialised with */
	List	   *slots;			/* TupleTableSlot */
	int			slot_count;		/* of the executor's list */
	List	   *functions;		/* FmgrInfo of expressions and keys */
	List	   *executed_functions; /* their OIDs as far as EXECUTE is checked */
	List	   *relations;		/* OIDs of those that are scanned, and of those whose privileges count */
	ReadyScan  *scans;
	int			scan_count;
	ReadySource *sources;
	int			source_count;
	int			exec_param_count;
} ReadyState;

extern int	ready_max_states;	/* penumbra_lookup.max_plans */
extern int	ready_in_use_count; /* of states */

/* How many changes of catalogs there were: a state that was built across one is not kept. */
extern uint64 ready_changes;

/* Starts an execution on the plan's state, which is at rest. Else: false, and the state is at rest or gone. */
extern bool ready_start(ReadyState *state, QueryDesc *query, int eflags, LookupOutcome *outcome);

/* The state that the execution takes; NULL: it has one of its own. */
extern ReadyState *ready_find(const EState *estate);

/* Instead of standard_ExecutorEnd(). */
extern void ready_end(ReadyState *state, QueryDesc *query);

/* Keeps the state of an execution that would end; false: it was not touched. */
extern bool ready_adopt(LookupPlan *plan, QueryDesc *query);

extern void ready_begin_node(PlanState *node);
extern void ready_end_node(PlanState *node);
extern void ready_begin_subplans(ReadyState *state);
extern void ready_end_subplans(ReadyState *state);
extern void ready_begin_update(ModifyTableState *node);
extern void ready_end_update(ModifyTableState *node);
extern void ready_begin_scan(ReadyState *state, ReadyScan *scan);
extern void ready_end_scan(ReadyScan *scan);

/* What is found out once of the scans of a state that was adopted. */
extern void ready_prepare_scans(ReadyState *state);

extern void ready_rest(ReadyState *state);
extern void ready_destroy(ReadyState *state);
extern void ready_insert(ReadyState *state);
extern bool ready_make_room(void);
extern void ready_keep_to_limit(void);

/* Adds a function that an expression calls. */
extern void ready_add_function(ReadyState *state, FmgrInfo *function);

/* Adds the functions of an expression to the state's; false: it has a step whose state is not known. */
extern bool ready_add_expression(ReadyState *state, ExprState *expression);

/* Adds an UPDATE's expressions to the state; OUTCOME_FIRST: it is not complete yet. */
extern LookupOutcome ready_add_update(ReadyState *state, const ModifyTableState *node);

/* Invalidation and ends of transactions */
extern void ready_register_callbacks(void);
extern uint64 ready_role_changes;
extern dlist_head ready_states;

#endif							/* LOOKUP_READY_STATE_H */
