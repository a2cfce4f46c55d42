/*-------------------------------------------------------------------------
 *
 * refusal.h
 *	  Why something is left to PostgreSQL: of a plan, and how often it ran so.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REFUSAL_H
#define PENUMBRA_REFUSAL_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* A reason, and which relation or column it is about: one for each such text of this process, never freed. */
typedef struct Refusal Refusal;

/* Shared memory of the counters; only when preloaded. */
extern Size refusal_shmem_bytes(void);
extern void refusal_shmem_startup(void);

/* The reason of a plan for which nothing was refused; it is not counted. */
#define REFUSAL_BY_COST "no path was cheaper"

/* subject: NULL for none. */
extern const Refusal *refusal_find(const char *reason, const char *subject);
/* "reason: subject".  This string, and the next, live as long as the process. */
extern const char *refusal_text(const Refusal *refusal);
/* The reason alone. */
extern const char *refusal_reason(const Refusal *refusal);
/* A hash of the text. */
extern uint64 refusal_hash(const Refusal *refusal);

/* Of a text that may come from a database of another encoding: what it has beyond ASCII is shown as question marks. */
extern Datum refusal_text_datum(const char *text);

/* One execution more that met it; the subject does not matter. */
extern void refusal_count(const Refusal *refusal);
/* All counts become 0. */
extern void refusal_reset_counts(void);

/* A finished plan takes refusals with it, to wherever it is copied in this process. */
extern void refusal_add_to_plan(PlannedStmt *stmt, const Refusal *refusal);
/* The last that was added; NULL: there is none. */
extern const Refusal *refusal_of_plan(const PlannedStmt *stmt);
/* The same, and counts an execution of the plan. */
extern const Refusal *refusal_count_plan(const PlannedStmt *stmt);

#endif							/* PENUMBRA_REFUSAL_H */
