/*-------------------------------------------------------------------------
 *
 * plans.c
 *	  The table of plans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "plans.h"

typedef struct PlanEntry
{
	const PlannedStmt *stmt;
	LookupPlan *plan;
	char		status;
} PlanEntry;

#define SH_PREFIX planhash
#define SH_ELEMENT_TYPE PlanEntry
#define SH_KEY_TYPE const PlannedStmt *
#define SH_KEY stmt
#define SH_HASH_KEY(table, key) murmurhash32((uint32) ((uintptr_t) (key) >> 3))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static planhash_hash *plans;

/* The plan is about to be freed. */
static void
forget_plan(void *argument)
{
	LookupPlan *plan = argument;

	if (plan->state != NULL)
		plan->forget_plan(plan->state);
	planhash_delete(plans, plan->stmt);
}

/*
 * Plans of the plan cache are copied into a context of their own, which is
 * filled once and deleted as a whole (BuildCachedPlan(), ReleaseCachedPlan()).
 * Of a one-shot plan the context is the caller's, so it is not taken.
 */
LookupPlan *
plans_insert(const PlannedStmt *stmt)
{
	MemoryContext context = GetMemoryChunkContext((void *) stmt);
	LookupPlan *plan;
	PlanEntry  *entry;
	bool		found;

	if (strcmp(context->name, "CachedPlan") != 0)
		return NULL;
	if (plans == NULL)
		plans = planhash_create(CacheMemoryContext, 64, NULL);
	plan = MemoryContextAllocZero(context, sizeof(LookupPlan));
	plan->stmt = stmt;
	plan->verdict = OUTCOME_FIRST;
	plan->callback.func = forget_plan;
	plan->callback.arg = plan;
	entry = planhash_insert(plans, stmt, &found);
	Assert(!found);
	entry->plan = plan;
	MemoryContextRegisterResetCallback(context, &plan->callback);
	return plan;
}

LookupPlan *
plans_find(const PlannedStmt *stmt)
{
	PlanEntry  *entry = plans == NULL ? NULL : planhash_lookup(plans, stmt);

	return entry == NULL ? NULL : entry->plan;
}
