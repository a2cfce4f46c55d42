/*-------------------------------------------------------------------------
 *
 * host_functions.c
 *	  Evaluates what the engine leaves to PostgreSQL while it runs.
 *
 * The engine asks on the backend's thread, from within one of its functions,
 * whose C++ frames no error may jump over.  So every error is caught here.
 * Until a row has left the node the inputs are evaluated in a
 * subtransaction: if one fails the ordinary plan runs, and raises the error if
 * SQL evaluates it.  What no subtransaction may end (a cancel), and any error
 * after the first row, is kept and raised when the engine has returned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "cache/value_image.h"
#include "query/execute/host_functions.h"
#include "query/execute/result_slot.h"
#include "query/execute/value_classes.h"
#include "query/execute/window_aggregates.h"
#include "query/pipeline/host_call.h"
#include "query/pipeline/time_zone.h"
#include "query/planning/attempt.h"

/* What the results of one call may take beyond the memory for hashing. */
#define RESULTS_BYTES_MIN ((Size) 64 << 20)

typedef struct HostFunction
{
	ExprState  *expr_state;
	TupleTableSlot *inputs;
	ResultWindow *window;		/* from the engine's columns into the slot */
	const ValueImage *image;	/* of the result's type */
	ValueClasses *classes;		/* of the values whose numbers or labels are asked for, or that are; or NULL */
	HostCallKind kind;
	int16		length;			/* of that type */
	bool		is_by_value;
} HostFunction;

struct HostFunctions
{
	PenumbraScanState *state;
	HostFunction *functions;	/* by number */
	List	   *classes;		/* of ValueClasses * */
	WindowAggregates *aggregates;	/* NULL: there are none */
	ExprContext *econtext;
	MemoryContext results;		/* of the call at hand */
	ErrorData  *error;			/* to be raised when the engine has returned; or NULL */
};

/* One call of the engine's. */
typedef struct HostRun
{
	HostFunctions *host;
	HostFunction *function;
	const PenumbraResult *arguments;
	const PenumbraFrames *frames;	/* in place of function and arguments */
	PenumbraColumnInput *results;
	uint64	   *values;
	uint32	   *lengths;
	uint8	   *nulls;
} HostRun;

static void
check_memory(const HostRun *run)
{
	bool		keeps_values = run->function->kind == HOST_CALL_CLASS || run->function->kind == HOST_CALL_LABEL;
	Size		bytes = keeps_values ? value_classes_bytes(run->function->classes)
		: MemoryContextMemAllocated(run->host->results, true);

	/* what is known of classes stays, so that later rows need no more than their own values */
	if (bytes > get_hash_memory_limit() + RESULTS_BYTES_MIN &&
		(!keeps_values || !run->host->state->has_emitted))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("results of a function take too much memory for Penumbra")));
}

/* What the engine gave stands for, or what the function makes of it. */
static Datum
evaluate_row(HostFunction *function, ExprContext *econtext, bool *isnull)
{
	Datum		label;

	if (function->kind != HOST_CALL_LABELED)
		return ExecEvalExprSwitchContext(function->expr_state, econtext, isnull);
	label = slot_getattr(function->inputs, 1, isnull);
	return *isnull ? (Datum) 0 : value_classes_of_label(function->classes, DatumGetUUIDP(label)->data);
}

static void
evaluate_rows(void *argument)
{
	HostRun    *run = argument;
	HostFunction *function = run->function;
	ExprContext *econtext = run->host->econtext;

	result_window_open(function->window, run->arguments);
	for (uint32 i = 0; i < run->arguments->rows; i++)
	{
		Datum		value;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		(void) result_window_next(function->window, function->inputs);
		ResetExprContext(econtext);
		econtext->ecxt_outertuple = function->inputs;
		run->host->state->report.evaluated_inputs++;
		value = evaluate_row(function, econtext, &isnull);
		run->nulls[i] = isnull;
		if (isnull)
			continue;
		switch (function->kind)
		{
			case HOST_CALL_CLASS:
				run->values[i] = (uint64) value_classes_number(function->classes, value);
				check_memory(run);
				continue;
			case HOST_CALL_LABEL:
				run->values[i] = (uint64) (uintptr_t) value_classes_label(function->classes, value);
				check_memory(run);
				continue;
			case HOST_CALL_ZONE:
				value = PointerGetDatum(time_zone_named(DatumGetTextPP(value)));
				break;
			default:
				break;
		}
		run->values[i] = value_image_make(function->image, datumCopy(value, function->is_by_value, function->length),
										  &run->lengths[i]);
		if (!function->is_by_value)
			check_memory(run);
	}
}

static void
evaluate_call(void *argument)
{
	HostRun    *run = argument;

	run->values = palloc(sizeof(uint64) * run->arguments->rows);
	run->lengths = palloc0(sizeof(uint32) * run->arguments->rows);
	run->nulls = palloc(run->arguments->rows);
	evaluate_rows(run);
	*run->results = (PenumbraColumnInput) {run->values, run->lengths, run->nulls};
}

static void
evaluate_frames(void *argument)
{
	HostRun    *run = argument;

	window_aggregates_evaluate(run->host->aggregates, run->frames, run->results);
}

/* False: it failed. */
static bool
run_caught(HostRun *run, void (*evaluate) (void *argument))
{
	HostFunctions *host = run->host;
	MemoryContext old_context = CurrentMemoryContext;
	volatile bool has_succeeded = false;

	PG_TRY();
	{
		MemoryContextReset(host->results);
		MemoryContextSwitchTo(host->results);
		if (host->state->has_emitted)
		{
			evaluate(run);
			has_succeeded = true;
		}
		else
			has_succeeded = attempt(evaluate, run);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(host->state->css.ss.ps.state->es_query_cxt);
		host->error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old_context);
	return has_succeeded;
}

static bool
call_host(void *argument, int number, const PenumbraResult *arguments, PenumbraColumnInput *results)
{
	HostFunctions *host = argument;
	HostRun		run = {.host = host,.function = &host->functions[number],.arguments = arguments,.results = results};

	return run_caught(&run, evaluate_call);
}

static bool
call_frames(void *argument, const PenumbraFrames *frames, PenumbraColumnInput *results)
{
	HostRun		run = {.host = argument,.frames = frames,.results = results};

	return run_caught(&run, evaluate_frames);
}

/* Values of both sides of a join have the same numbers. */
static ValueClasses *
classes_of(HostFunctions *host, Node *expr, bool is_ordered)
{
	ListCell   *lc;

	foreach(lc, host->classes)
	{
		if (value_classes_are_of(lfirst(lc), exprType(expr), exprCollation(expr), is_ordered))
			return lfirst(lc);
	}
	host->classes = lappend(host->classes, value_classes_create(exprType(expr), exprCollation(expr), is_ordered));
	return llast(host->classes);
}

static void
begin_function(HostFunctions *host, HostFunction *function, const HostCall *call)
{
	List	   *columns = NIL;

	for (int i = 0; i < list_length(call->inputs); i++)
		columns = lappend_int(columns, i);
	function->expr_state = ExecInitExpr((Expr *) call->expr, NULL);
	function->inputs = MakeSingleTupleTableSlot(ExecTypeFromExprList(call->inputs), &TTSOpsVirtual);
	function->window = result_window_create(columns, function->inputs->tts_tupleDescriptor, NIL);
	function->kind = call->kind;
	function->classes = call->kind == HOST_CALL_VALUE || call->kind == HOST_CALL_ZONE ? NULL
		: classes_of(host, call->expr, call->kind != HOST_CALL_CLASS);
	function->image = value_image_of(exprType(call->expr));
	get_typlenbyval(exprType(call->expr), &function->length, &function->is_by_value);
}

void
host_functions_set_options(PenumbraScanState *state, List *calls, List *collected_calls, PenumbraExecOptions *options)
{
	HostFunctions *host;
	Oid			user_oid;
	int			security_context;
	ListCell   *lc;

	options->host_function = NULL;
	options->host_frames = NULL;
	options->host = state->host = NULL;
	if (calls == NIL && collected_calls == NIL)
		return;
	host = palloc0(sizeof(HostFunctions));
	host->state = state;
	host->functions = palloc0(sizeof(HostFunction) * Max(list_length(calls), 1));
	host->econtext = CreateStandaloneExprContext();
	host->results = AllocSetContextCreate(CurrentMemoryContext, "Penumbra results of functions",
										  ALLOCSET_DEFAULT_SIZES);
	/* EXECUTE was checked for the user at executor start, who need not be the one who fetches. */
	GetUserIdAndSecContext(&user_oid, &security_context);
	SetUserIdAndSecContext(state->user_oid, state->security_context);
	foreach(lc, calls)
		begin_function(host, &host->functions[foreach_current_index(lc)], lfirst(lc));
	host->aggregates = window_aggregates_create(collected_calls);
	SetUserIdAndSecContext(user_oid, security_context);
	if (calls != NIL)
		options->host_function = call_host;
	if (host->aggregates != NULL)
		options->host_frames = call_frames;
	options->host = state->host = host;
}

void
host_functions_raise(PenumbraScanState *state)
{
	if (state->host != NULL && state->host->error != NULL)
		ReThrowError(state->host->error);
}
