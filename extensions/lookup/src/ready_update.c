/*-------------------------------------------------------------------------
 *
 * ready_update.c
 *	  UPDATE of one table: what its node keeps, and what begins and ends with
 *	  each execution.
 *
 * The node makes much when it changes its first row: the projection of the new
 * row, constraints' expressions, slots.  So only an execution that changed a row
 * leaves its state.  Descriptors of indexes, and triggers' functions, are made
 * anew by each execution, as in a new state.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/executor.h"
#include "utils/rel.h"

#include "ready_state.h"

/* Partitions move rows, and generated columns and triggers' conditions have expressions of their own. */
static bool
is_known_table(const ModifyTableState *node)
{
	const ResultRelInfo *result = node->resultRelInfo;
	Relation	table = result->ri_RelationDesc;
	const TupleConstr *constraints = table->rd_att->constr;
	const TriggerDesc *triggers = result->ri_TrigDesc;

	if (table->rd_rel->relkind != RELKIND_RELATION || table->rd_rel->relispartition ||
		result->ri_RootResultRelInfo != NULL || node->mt_transition_capture != NULL ||
		(constraints != NULL && compat_has_generated(constraints)))
		return false;
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		if (triggers->triggers[i].tgqual != NULL)
			return false;
	}
	return true;
}

static bool
add_checks(ReadyState *state, const ResultRelInfo *result)
{
	const TupleConstr *constraints = result->ri_RelationDesc->rd_att->constr;
	ListCell   *cell;

	for (int i = 0; constraints != NULL && i < constraints->num_check; i++)
	{
		if (!ready_add_expression(state, COMPAT_CHECKS(result)[i]))
			return false;
	}
	foreach(cell, result->ri_WithCheckOptionExprs)
	{
		if (!ready_add_expression(state, lfirst(cell)))
			return false;
	}
	return true;
}

/* OUTCOME_FIRST: this execution changed no row, and a later one may do. */
LookupOutcome
ready_add_update(ReadyState *state, const ModifyTableState *node)
{
	const ResultRelInfo *result = node->resultRelInfo;
	const TupleConstr *constraints = result->ri_RelationDesc->rd_att->constr;

	if (!is_known_table(node))
		return OUTCOME_STATEMENT;
	if (!result->ri_projectNewInfoValid ||
		(constraints != NULL && constraints->num_check > 0 && COMPAT_CHECKS(result) == NULL))
		return OUTCOME_FIRST;
	if (!add_checks(state, result) || !ready_add_expression(state, &result->ri_projectNew->pi_state) ||
		(result->ri_projectReturning != NULL && !ready_add_expression(state, &result->ri_projectReturning->pi_state)))
		return OUTCOME_EXPRESSION;
	state->is_update = true;
	return OUTCOME_READY;
}

/* As ExecInitModifyTable() does, which checks what publications ask for. */
void
ready_begin_update(ModifyTableState *node)
{
	node->mt_done = false;
	node->fireBSTriggers = true;
	CheckCmdReplicaIdentity(node->resultRelInfo->ri_RelationDesc, CMD_UPDATE);
}

/*
 * As ExecEndModifyTable() and ExecEndPlan() do.  What the executor leaves to the
 * end of its memory is freed here: the next execution makes it again.
 */
void
ready_end_update(ModifyTableState *node)
{
	EState	   *estate = node->ps.state;
	ResultRelInfo *result = node->resultRelInfo;

	EvalPlanQualEnd(&node->mt_epqstate);
	node->mt_epqstate.origslot = NULL;
	ExecCloseResultRelations(estate);
	estate->es_trig_target_relations = NIL;
	if (result->ri_IndexRelationDescs != NULL)
	{
		for (int i = 0; i < result->ri_NumIndices; i++)
			pfree(result->ri_IndexRelationInfo[i]);
		pfree(result->ri_IndexRelationInfo);
		pfree(result->ri_IndexRelationDescs);
	}
	result->ri_NumIndices = 0;
	result->ri_IndexRelationDescs = NULL;
	result->ri_IndexRelationInfo = NULL;
	if (result->ri_TrigDesc != NULL)
		memset(result->ri_TrigFunctions, 0, result->ri_TrigDesc->numtriggers * sizeof(FmgrInfo));
}
