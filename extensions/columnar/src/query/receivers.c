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
#include "tcop/tcopprot.h"
#include "utils/portal.h"

#include "query/execute/client_receiver.h"
#include "query/execute/copy_receiver.h"
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

/*
 * The COPY (query) TO STDOUT whose query this is, or NULL.  A query of a function that it calls may be in a COPY to a
 * file, but has a text of its own.
 */
static const CopyStmt *
copy_to_client(const QueryDesc *query)
{
	const PlannedStmt *command;
	const CopyStmt *copy;

	if (whereToSendOutput != DestRemote || ActivePortal == NULL || ActivePortal->sourceText != query->sourceText ||
		list_length(ActivePortal->stmts) != 1)
		return NULL;
	command = linitial_node(PlannedStmt, ActivePortal->stmts);
	if (command->utilityStmt == NULL || !IsA(command->utilityStmt, CopyStmt))
		return NULL;
	copy = (const CopyStmt *) command->utilityStmt;
	return copy->query != NULL && copy->filename == NULL ? copy : NULL;
}

DestReceiver *
receivers_create(const QueryDesc *query)
{
	const CopyStmt *copy;

	if (query->operation != CMD_SELECT || !require_plan_is_penumbra(query->plannedstmt))
		return NULL;
	switch (query->dest->mydest)
	{
		case DestIntoRel:
			return is_volatile(query->plannedstmt) ? NULL : table_receiver_create(query->dest);
		case DestRemote:
		case DestRemoteExecute:
			return has_formats(query) ? client_receiver_create(query->dest, ActivePortal->formats) : NULL;
		case DestCopyOut:
			copy = copy_to_client(query);
			return copy != NULL ? copy_receiver_create(query->dest, copy->options) : NULL;
		default:
			return NULL;
	}
}
