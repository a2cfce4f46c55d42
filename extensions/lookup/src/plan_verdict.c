/*-------------------------------------------------------------------------
 *
 * plan_verdict.c
 *	  Which plans have states that can be kept, by their statement and nodes.
 *	  What only the state shows is looked at by ready_adopt().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "jit/jit.h"

#include "plans.h"

/* Nodes whose state ready_state.c knows how to set back to what ExecInitNode() makes. */
static bool
are_known_nodes(const Plan *plan)
{
	if (plan == NULL)
		return true;
	if (plan->parallel_aware)
		return false;
	switch (nodeTag(plan))
	{
		case T_Result:
		case T_NestLoop:
		case T_Sort:
			break;
		case T_Agg:
			/* Hash tables are built anew by each rescan. */
			if ((((const Agg *) plan)->aggstrategy != AGG_PLAIN && ((const Agg *) plan)->aggstrategy != AGG_SORTED) ||
				((const Agg *) plan)->aggsplit != AGGSPLIT_SIMPLE || ((const Agg *) plan)->groupingSets != NIL ||
				((const Agg *) plan)->chain != NIL)
				return false;
			break;
		case T_Limit:
			/* WITH TIES keeps a row. */
			if (((const Limit *) plan)->limitOption != LIMIT_OPTION_COUNT)
				return false;
			break;
		case T_IndexScan:
			if (((const IndexScan *) plan)->indexorderby != NIL)
				return false;
			break;
		case T_IndexOnlyScan:
			if (((const IndexOnlyScan *) plan)->indexorderby != NIL)
				return false;
			break;
		default:
			return false;
	}
	return are_known_nodes(plan->lefttree) && are_known_nodes(plan->righttree);
}

/* An UPDATE of one table, or nothing but reading. */
static bool
is_known_statement(const PlannedStmt *stmt)
{
	const ModifyTable *update = (const ModifyTable *) stmt->planTree;

	if (stmt->commandType == CMD_SELECT)
		return compat_only_selects(stmt);
	return stmt->commandType == CMD_UPDATE && IsA(update, ModifyTable) && update->operation == CMD_UPDATE &&
		update->canSetTag && list_length(update->resultRelations) == 1 && update->rootRelation == 0 &&
		update->rowMarks == NIL;
}

LookupOutcome
plan_verdict(const PlannedStmt *stmt)
{
	const Plan *plan = stmt->planTree;
	ListCell   *cell;

	if (!is_known_statement(stmt) || stmt->utilityStmt != NULL || stmt->hasModifyingCTE ||
		stmt->rowMarks != NIL || stmt->parallelModeNeeded ||
		(stmt->jitFlags & PGJIT_PERFORM) != 0 || compat_prunes_partitions(stmt))
		return OUTCOME_STATEMENT;
	foreach(cell, stmt->subplans)
	{
		if (!are_known_nodes(lfirst(cell)))
			return OUTCOME_NODE;
	}
	return are_known_nodes(IsA(plan, ModifyTable) ? outerPlan(plan) : plan) ? OUTCOME_READY : OUTCOME_NODE;
}
