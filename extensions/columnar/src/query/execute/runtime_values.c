/*-------------------------------------------------------------------------
 *
 * runtime_values.c
 *	  Evaluates what contains no column, when a node starts.
 *
 * PostgreSQL evaluates such an expression for each row that asks for it, and
 * runs an InitPlan when the first one does.  An expression that can fail is
 * evaluated in a subtransaction.  If it fails it has no value, and the engine
 * gets a constant that is an error for the rows that ask.
 *
 * The executor of the query cannot run an InitPlan in a subtransaction: its
 * end would take away the pins and files of nodes that live on.  So one that
 * can fail is run apart, in an executor that begins and ends in the
 * subtransaction, as parallel workers and EvalPlanQual have theirs.  If it
 * succeeds the query's own executor gets the value, and does not run it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/execdesc.h"
#include "executor/executor.h"
#include "executor/nodeSubplan.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "tcop/dest.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "query/execute/runtime_values.h"
#include "query/pipeline/can_fail.h"
#include "query/planning/attempt.h"

typedef struct Evaluation
{
	PenumbraScanState *state;
	Node	   *expr;
	ExprState  *expr_state;
	List	   *subplans;		/* SubPlans to be run apart */
	Bitmapset  *params;			/* that the expression and they need */
	MemoryContext context;		/* of what is run apart; an error leaves the executor's in it */
	RuntimeValue *value;
} Evaluation;

static bool
params_walker(Node *node, void *context)
{
	Bitmapset **params = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, params_walker, context);
}

/* The InitPlan that has yet to be run for a parameter; NULL: it has its value. */
static SubPlanState *
pending_subplan(EState *estate, int param)
{
	return estate->es_param_exec_vals[param].execPlan;
}

/* Adds the InitPlan of a parameter, and those that it needs. */
static void
add_subplan(Evaluation *evaluation, int param)
{
	EState	   *estate = evaluation->state->css.ss.ps.state;
	SubPlanState *pending = pending_subplan(estate, param);
	int			needed = -1;

	evaluation->params = bms_add_member(evaluation->params, param);
	if (pending == NULL || list_member_ptr(evaluation->subplans, pending->subplan))
		return;
	evaluation->subplans = lappend(evaluation->subplans, pending->subplan);
	while ((needed = bms_next_member(pending->planstate->plan->extParam, needed)) >= 0)
		add_subplan(evaluation, needed);
}

/* The statement around one row of the expression. */
static PlannedStmt *
statement_of(const Evaluation *evaluation)
{
	PlannedStmt *statement = makeNode(PlannedStmt);
	Result	   *result = makeNode(Result);

	memcpy(statement, evaluation->state->css.ss.ps.state->es_plannedstmt, sizeof(PlannedStmt));
	statement->commandType = CMD_SELECT;
	statement->hasReturning = statement->hasModifyingCTE = false;
	statement->planTree = &result->plan;
	result->plan.targetlist = list_make1(makeTargetEntry((Expr *) evaluation->expr, 1, NULL, false));
	result->plan.initPlan = evaluation->subplans;
	return statement;
}

/* Permissions are those of the user at the start of the query, who may not be the one who fetches. */
static QueryDesc *
start_apart(const Evaluation *evaluation)
{
	PenumbraScanState *state = evaluation->state;
	EState	   *estate = state->css.ss.ps.state;
	QueryDesc  *query = CreateQueryDesc(statement_of(evaluation), estate->es_sourceText, estate->es_snapshot,
										estate->es_crosscheck_snapshot, None_Receiver, estate->es_param_list_info,
										estate->es_queryEnv, 0);
	Oid			user_oid;
	int			security_context;
	int			param = -1;

	GetUserIdAndSecContext(&user_oid, &security_context);
	SetUserIdAndSecContext(state->user_oid, state->security_context);
	standard_ExecutorStart(query, EXEC_FLAG_SKIP_TRIGGERS);
	SetUserIdAndSecContext(user_oid, security_context);
	query->estate->es_use_parallel_mode = estate->es_use_parallel_mode;
	while ((param = bms_next_member(evaluation->params, param)) >= 0)
	{
		if (pending_subplan(estate, param) == NULL)
			query->estate->es_param_exec_vals[param] = estate->es_param_exec_vals[param];
	}
	return query;
}

static Datum
copy_value(Datum value, bool isnull, Oid type)
{
	int16		length;
	bool		is_by_value;

	get_typlenbyval(type, &length, &is_by_value);
	return isnull ? value : datumCopy(value, is_by_value, length);
}

/*
 * Keeps of the parameters those that were asked for.  What was run need not be
 * run again, but EXPLAIN ANALYZE shows what the query's own executor runs.
 */
static void
take_params(Evaluation *evaluation, const EState *apart)
{
	EState	   *estate = evaluation->state->css.ss.ps.state;
	MemoryContext old_context = CurrentMemoryContext;
	int			param = -1;

	while ((param = bms_next_member(evaluation->params, param)) >= 0)
	{
		const ParamExecData *value = &apart->es_param_exec_vals[param];
		ParamExecData *own = &estate->es_param_exec_vals[param];

		if (value->execPlan != NULL)
			evaluation->params = bms_del_member(evaluation->params, param);
		else if (own->execPlan != NULL && estate->es_instrument == 0)
		{
			MemoryContextSwitchTo(estate->es_query_cxt);
			own->value = copy_value(value->value, value->isnull,
									list_nth_oid(estate->es_plannedstmt->paramExecTypes, param));
			own->isnull = value->isnull;
			own->execPlan = NULL;
			MemoryContextSwitchTo(old_context);
		}
	}
}

static void
evaluate_apart(void *argument)
{
	Evaluation *evaluation = argument;
	MemoryContext old_context = MemoryContextSwitchTo(evaluation->context);
	QueryDesc  *query = start_apart(evaluation);
	TupleTableSlot *row = ExecProcNode(query->planstate);
	RuntimeValue *value = evaluation->value;

	MemoryContextSwitchTo(old_context);
	value->value = slot_getattr(row, 1, &value->isnull);
	value->value = copy_value(value->value, value->isnull, exprType(evaluation->expr));
	take_params(evaluation, query->estate);
	standard_ExecutorFinish(query);
	standard_ExecutorEnd(query);
	FreeQueryDesc(query);
}

/* False: it has no value. */
static bool
try_apart(Evaluation *evaluation)
{
	bool		has_succeeded;

	evaluation->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra subquery", ALLOCSET_DEFAULT_SIZES);
	has_succeeded = attempt(evaluate_apart, evaluation);
	MemoryContextDelete(evaluation->context);
	if (has_succeeded)
		ExecSetParamPlanMulti(evaluation->params, evaluation->state->css.ss.ps.ps_ExprContext);
	return has_succeeded;
}

static void
evaluate(void *argument)
{
	Evaluation *evaluation = argument;

	evaluation->value->value = ExecEvalExpr(evaluation->expr_state, evaluation->state->css.ss.ps.ps_ExprContext,
											&evaluation->value->isnull);
}

/* Runs the InitPlans that the expression needs, or leaves them to its evaluation. */
static void
prepare_subplans(Evaluation *evaluation)
{
	PenumbraScanState *state = evaluation->state;
	Bitmapset  *params = NULL;
	Bitmapset  *safe = NULL;
	int			param = -1;

	params_walker(evaluation->expr, &params);
	while ((param = bms_next_member(params, param)) >= 0)
	{
		if (list_member_int(state->pipeline->tried_params, param))
			add_subplan(evaluation, param);
		else
			safe = bms_add_member(safe, param);
	}
	ExecSetParamPlanMulti(safe, state->css.ss.ps.ps_ExprContext);
	evaluation->params = bms_add_members(evaluation->params, safe);
}

RuntimeValue *
runtime_values_evaluate(PenumbraScanState *state, bool *has_failed)
{
	List	   *exprs = ((CustomScan *) state->css.ss.ps.plan)->custom_exprs;
	RuntimeValue *values = palloc0(sizeof(RuntimeValue) * Max(list_length(exprs), 1));
	ListCell   *lc;
	ListCell   *lc2;

	*has_failed = false;
	forboth(lc, exprs, lc2, state->runtime_states)
	{
		RuntimeValue *value = &values[foreach_current_index(lc)];
		Evaluation	evaluation = {.state = state,.expr = lfirst(lc),.expr_state = lfirst(lc2),.value = value};

		prepare_subplans(&evaluation);
		if (evaluation.subplans != NIL)
			value->has_failed = !try_apart(&evaluation);
		else if (expr_can_fail(evaluation.expr))
			value->has_failed = !attempt(evaluate, &evaluation);
		else
			evaluate(&evaluation);
		*has_failed |= value->has_failed;
	}
	return values;
}
