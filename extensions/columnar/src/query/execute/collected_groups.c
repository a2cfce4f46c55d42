/*-------------------------------------------------------------------------
 *
 * collected_groups.c
 *	  Aggregates of PostgreSQL's over rows that the engine collected.
 *
 * The engine filters, sorts and groups, and gives each group's rows, as
 * collected_call.h has them.  The arguments are evaluated of these and the
 * aggregate's own functions make the value, row by row, so it is PostgreSQL's
 * to the byte, in every version.  They only run within an aggregation; a
 * window's state, of which they take a memory context and nothing else, is
 * enough of one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "parser/parse_agg.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "cache/value_image.h"
#include "query/execute/collected_groups.h"
#include "query/execute/result_slot.h"
#include "query/pipeline/collected_call.h"

#define ROWS_PER_CHECK 1024

typedef struct GroupCall
{
	int			arg_count;
	ExprState **args;
	FmgrInfo	add;
	FmgrInfo	finish;
	Oid			collation;
	int			input_count;
	PenumbraResultColumn *columns;	/* of the inputs */
	ResultWindow *window;		/* from these into the slot */
	TupleTableSlot *inputs;
} GroupCall;

struct CollectedGroups
{
	GroupCall  *calls;			/* by label */
	WindowAggState *within;
	ExprContext *econtext;
};

/* The functions learn the types of their arguments from expressions that call them. */
static void
find_functions(GroupCall *call, Aggref *aggref)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Oid			types[FUNC_MAX_ARGS];
	int			type_count = get_aggregate_argtypes(aggref, types);
	Form_pg_aggregate form;
	Expr	   *add;
	Expr	   *finish;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	build_aggregate_transfn_expr(types, type_count, 0, false, form->aggtranstype, aggref->inputcollid,
								 form->aggtransfn, InvalidOid, &add, NULL);
	build_aggregate_finalfn_expr(types, 1, form->aggtranstype, aggref->aggtype, aggref->inputcollid,
								 form->aggfinalfn, &finish);
	fmgr_info(form->aggtransfn, &call->add);
	fmgr_info_set_expr((Node *) add, &call->add);
	fmgr_info(form->aggfinalfn, &call->finish);
	fmgr_info_set_expr((Node *) finish, &call->finish);
	ReleaseSysCache(tuple);
}

static void
prepare(GroupCall *call, const CollectedCall *from)
{
	List	   *columns = NIL;
	ListCell   *lc;

	find_functions(call, from->aggref);
	call->collation = from->aggref->inputcollid;
	call->args = palloc(sizeof(ExprState *) * list_length(from->args));
	foreach(lc, from->args)
		call->args[call->arg_count++] = ExecInitExpr(lfirst(lc), NULL);
	call->input_count = list_length(from->inputs);
	call->columns = palloc0(sizeof(PenumbraResultColumn) * Max(call->input_count, 1));
	for (int i = 0; i < call->input_count; i++)
	{
		columns = lappend_int(columns, i);
		call->columns[i].type = from->types[i];
	}
	call->inputs = MakeSingleTupleTableSlot(ExecTypeFromExprList(from->inputs), &TTSOpsVirtual);
	call->window = result_window_create(columns, call->inputs->tts_tupleDescriptor, NIL);
}

CollectedGroups *
collected_groups_create(List *calls)
{
	CollectedGroups *groups;
	ListCell   *lc;

	if (calls == NIL)
		return NULL;
	groups = palloc0(sizeof(CollectedGroups));
	groups->calls = palloc0(sizeof(GroupCall) * list_length(calls));
	foreach(lc, calls)
		prepare(&groups->calls[foreach_current_index(lc)], lfirst(lc));
	groups->econtext = CreateStandaloneExprContext();
	groups->within = makeNode(WindowAggState);
	groups->within->curaggcontext = AllocSetContextCreate(CurrentMemoryContext, "Penumbra aggregate of a group",
														  ALLOCSET_DEFAULT_SIZES);
	return groups;
}

/* Takes one column from `next`; returns where the one after it begins. */
static const char *
open_column(PenumbraResultColumn *column, uint32 rows, const char *next)
{
	const char **payloads;
	const char *values = (const char *) TYPEALIGN(MAXIMUM_ALIGNOF, next + rows);
	Size		width = value_image_width(column->type);

	column->nulls = (const uint8 *) next;
	if (width > 0)
	{
		column->values = values;
		return values + rows * width;
	}
	payloads = palloc(sizeof(char *) * rows);
	column->payload_lengths = (const uint32 *) values;
	column->payloads = payloads;
	next = values + rows * sizeof(uint32);
	for (uint32 i = 0; i < rows; i++)
	{
		payloads[i] = next;
		next += column->payload_lengths[i];
	}
	return next;
}

static void
add_rows(CollectedGroups *groups, GroupCall *call, FunctionCallInfo fcinfo, uint32 rows)
{
	ExprContext *econtext = groups->econtext;

	for (uint32 i = 0; i < rows; i++)
	{
		if (i % ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		(void) result_window_next(call->window, call->inputs);
		ResetExprContext(econtext);
		econtext->ecxt_outertuple = call->inputs;
		for (int a = 0; a < call->arg_count; a++)
			fcinfo->args[1 + a].value = ExecEvalExprSwitchContext(call->args[a], econtext, &fcinfo->args[1 + a].isnull);
		fcinfo->isnull = false;
		fcinfo->args[0].value = FunctionCallInvoke(fcinfo);
		fcinfo->args[0].isnull = fcinfo->isnull;
	}
}

Datum
collected_groups_finish(void *argument, Datum rows, bool *isnull)
{
	CollectedGroups *groups = argument;
	const PenumbraGroupRows *head = (const PenumbraGroupRows *) VARDATA(DatumGetPointer(rows));
	GroupCall  *call = &groups->calls[head->label];
	const char *next = (const char *) (head + 1);
	MemoryContext group = groups->within->curaggcontext;
	MemoryContext old = MemoryContextSwitchTo(group);
	PenumbraResult result = {head->rows, call->columns};
	Datum		value;

	LOCAL_FCINFO(fcinfo, 1 + FUNC_MAX_ARGS);

	for (int i = 0; i < call->input_count; i++)
		next = open_column(&call->columns[i], head->rows, next);
	result_window_open(call->window, &result);
	InitFunctionCallInfoData(*fcinfo, &call->add, 1 + call->arg_count, call->collation, (Node *) groups->within, NULL);
	fcinfo->args[0].value = (Datum) 0;
	fcinfo->args[0].isnull = true;
	add_rows(groups, call, fcinfo, head->rows);
	MemoryContextSwitchTo(old);
	InitFunctionCallInfoData(*fcinfo, &call->finish, 1, call->collation, (Node *) groups->within, NULL);
	value = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	MemoryContextReset(group);
	return value;
}
