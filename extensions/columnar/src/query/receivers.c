/*-------------------------------------------------------------------------
 *
 * receivers.c
 *	  Who takes the rows of a statement.
 *
 * What a row costs between the engine and its consumer is mostly the
 * consumer's, and PostgreSQL's receivers work value by value.  Where the plan is
 * all ours its rows go to receivers of ours, which leave begin and end to
 * PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "optimizer/optimizer.h"
#include "tcop/pquery.h"
#include "utils/portal.h"

#include "query/execute/client_receiver.h"
#include "query/execute/table_receiver.h"
#include "query/receivers.h"
#include "query/require.h"

/* Whether PostgreSQL evaluates something volatile for the rows; the engine and its sources do not. */
static bool
is_volatile(const PlannedStmt *stmt)
{
	for (Plan *plan = stmt->planTree; plan != NULL; plan = plan->lefttree)
	{
		if (contain_volatile_functions((Node *) plan->targetlist))
			return true;
	}
	return stmt->subplans != NIL;
}

/*
 * The formats of a portal are its receiver's where they were set for it.
 * Within EXECUTE and FETCH they are not: there the receiver is another portal's.
 */
static bool
has_formats(const QueryDesc *query)
{
	return ActivePortal != NULL && ActivePortal->queryDesc == query && ActivePortal->formats != NULL;
}

DestReceiver *
receivers_create(const QueryDesc *query)
{
	if (query->operation != CMD_SELECT || !require_plan_is_penumbra(query->plannedstmt))
		return NULL;
	switch (query->dest->mydest)
	{
		case DestIntoRel:
			return is_volatile(query->plannedstmt) ? NULL : table_receiver_create(query->dest);
		case DestRemote:
		case DestRemoteExecute:
			return has_formats(query) ? client_receiver_create(query->dest, ActivePortal->formats) : NULL;
		default:
			return NULL;
	}
}
