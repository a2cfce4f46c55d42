/*-------------------------------------------------------------------------
 *
 * ready_expressions.c
 *	  What an expression's compiled steps keep between evaluations.
 *
 * A step is known if all that it keeps is the lookup data of functions, or
 * nothing.  Others are not taken: they remember row types, domains'
 * constraints or hash tables.  Subplans and aggregates are members of their
 * nodes, where ready_adopt.c looks at them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "executor/execExpr.h"

#include "ready_state.h"

void
ready_add_function(ReadyState *state, FmgrInfo *function)
{
	state->functions = lappend(state->functions, function);
	state->executed_functions = lappend_oid(state->executed_functions, function->fn_oid);
}

static bool
add_step(ReadyState *state, ExprEvalOp operation, ExprEvalStep *step)
{
	switch (operation)
	{
		COMPAT_CASES_OF_DONE
		case EEOP_INNER_FETCHSOME:
		case EEOP_OUTER_FETCHSOME:
		case EEOP_SCAN_FETCHSOME:
		case EEOP_INNER_VAR:
		case EEOP_OUTER_VAR:
		case EEOP_SCAN_VAR:
		case EEOP_INNER_SYSVAR:
		case EEOP_OUTER_SYSVAR:
		case EEOP_SCAN_SYSVAR:
		case EEOP_ASSIGN_INNER_VAR:
		case EEOP_ASSIGN_OUTER_VAR:
		case EEOP_ASSIGN_SCAN_VAR:
		case EEOP_ASSIGN_TMP:
		case EEOP_ASSIGN_TMP_MAKE_RO:
		case EEOP_CONST:
		case EEOP_BOOL_AND_STEP_FIRST:
		case EEOP_BOOL_AND_STEP:
		case EEOP_BOOL_AND_STEP_LAST:
		case EEOP_BOOL_OR_STEP_FIRST:
		case EEOP_BOOL_OR_STEP:
		case EEOP_BOOL_OR_STEP_LAST:
		case EEOP_BOOL_NOT_STEP:
		case EEOP_QUAL:
		case EEOP_JUMP:
		case EEOP_JUMP_IF_NULL:
		case EEOP_JUMP_IF_NOT_NULL:
		case EEOP_JUMP_IF_NOT_TRUE:
		case EEOP_NULLTEST_ISNULL:
		case EEOP_NULLTEST_ISNOTNULL:
		case EEOP_BOOLTEST_IS_TRUE:
		case EEOP_BOOLTEST_IS_NOT_TRUE:
		case EEOP_BOOLTEST_IS_FALSE:
		case EEOP_BOOLTEST_IS_NOT_FALSE:
		case EEOP_PARAM_EXEC:
		case EEOP_PARAM_EXTERN:
		case EEOP_PARAM_CALLBACK:
		case EEOP_CASE_TESTVAL:
		case EEOP_MAKE_READONLY:
		case EEOP_SQLVALUEFUNCTION:
		COMPAT_CASES_OF_SUBPLAN_ARGUMENTS
		case EEOP_SUBPLAN:
		case EEOP_AGGREF:
		COMPAT_CASES_OF_AGGREGATE_ARGUMENTS
		case EEOP_AGG_STRICT_INPUT_CHECK_ARGS:
		case EEOP_AGG_STRICT_INPUT_CHECK_NULLS:
		case EEOP_AGG_PLAIN_PERGROUP_NULLCHECK:
		case EEOP_AGG_PLAIN_TRANS_INIT_STRICT_BYVAL:
		case EEOP_AGG_PLAIN_TRANS_STRICT_BYVAL:
		case EEOP_AGG_PLAIN_TRANS_BYVAL:
		case EEOP_AGG_PLAIN_TRANS_INIT_STRICT_BYREF:
		case EEOP_AGG_PLAIN_TRANS_STRICT_BYREF:
		case EEOP_AGG_PLAIN_TRANS_BYREF:
			return true;
		COMPAT_CASES_OF_FUNCTIONS
		case EEOP_FUNCEXPR:
		case EEOP_FUNCEXPR_STRICT:
		case EEOP_FUNCEXPR_FUSAGE:
		case EEOP_FUNCEXPR_STRICT_FUSAGE:
		case EEOP_DISTINCT:
		case EEOP_NOT_DISTINCT:
		case EEOP_NULLIF:
			ready_add_function(state, step->d.func.finfo);
			return true;
		case EEOP_IOCOERCE:
			ready_add_function(state, step->d.iocoerce.finfo_out);
			ready_add_function(state, step->d.iocoerce.finfo_in);
			return true;
		case EEOP_SCALARARRAYOP:
			ready_add_function(state, step->d.scalararrayop.finfo);
			return true;
		default:
			return false;
	}
}

bool
ready_add_expression(ReadyState *state, ExprState *expression)
{
	if (expression == NULL)
		return true;
	for (int i = 0; i < expression->steps_len; i++)
	{
		ExprEvalStep *step = &expression->steps[i];

		if (!add_step(state, ExecEvalStepOp(expression, step), step))
			return false;
	}
	return true;
}
