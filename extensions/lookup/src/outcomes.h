/*-------------------------------------------------------------------------
 *
 * outcomes.h
 *	  How executions of this session ended up: on a ready state, or why not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LOOKUP_OUTCOMES_H
#define LOOKUP_OUTCOMES_H

#include "postgres.h"

/* A name, and what the view says.  An execution has one outcome. */
#define LOOKUP_OUTCOMES(X) \
	X(READY, "ready", "the execution took the state that an earlier one left") \
	X(OFF, "off", "penumbra_lookup.max_plans is 0") \
	X(HOOKS, "hooks", "another library's executor hooks come first: name penumbra_lookup before it in shared_preload_libraries") \
	X(NOT_CACHED, "not cached", "the plan is not of the plan cache: it is made for one execution") \
	X(FIRST, "first", "the plan has no state yet: its first executions, or the next ones after the state was dropped or evicted") \
	X(STATEMENT, "statement", "the statement locks rows, runs in parallel or with JIT, has partitions to prune, or writes other than by an UPDATE of one table without partitions, generated columns, and triggers of conditions or transition tables") \
	X(NODE, "node", "the plan has a node other than Index Scan, Index Only Scan, Nested Loop, Limit, Result, Sort, and Aggregate without hashing") \
	X(ACCESS_METHOD, "access method", "an index is not a btree or a keytree, or a table is not a heap") \
	X(EXPRESSION, "expression", "the plan has an expression of a kind whose state is not kept") \
	X(OPTIONS, "options", "the execution is instrumented, explained only, scrolls over a sort unlike the one that left the state, or would write in a read-only transaction") \
	X(SNAPSHOT, "snapshot", "the execution has a snapshot of a special kind") \
	X(PARALLEL, "parallel", "the execution is within a parallel query") \
	X(SECURITY, "security", "a hook wants to see each access, or the user may not execute a function") \
	X(PARAMETERS, "parameters", "the parameters come from elsewhere than those of the state") \
	X(IN_USE, "in use", "the state is in use: a recursive call, or an open cursor") \
	X(CHANGED, "changed", "something that the state was made from changed while it was started")

typedef enum LookupOutcome
{
#define OUTCOME_MEMBER(name, label, description) OUTCOME_##name,
	LOOKUP_OUTCOMES(OUTCOME_MEMBER)
#undef OUTCOME_MEMBER
	OUTCOME_COUNT
} LookupOutcome;

extern void outcomes_count(LookupOutcome outcome);

#endif							/* LOOKUP_OUTCOMES_H */
