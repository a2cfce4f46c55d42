/*-------------------------------------------------------------------------
 *
 * query_loop.c
 *	  exec_query_in_loop(), exec_query_in_key_loop(): a prepared statement
 *	  executed again and again through SPI, without client and protocol.
 *
 * Rows go to a receiver that adds up a checksum and forgets them, so that a
 * loop over large results needs no memory and pays for no copies.
 *
 *-------------------------------------------------------------------------
 */
#include "loop.h"

#include "common/hashfn.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/plancache.h"

#include "pg_compat.h"

PENUMBRA_SQL_FUNCTION(penumbra_bench_query_loop);
PENUMBRA_SQL_FUNCTION(penumbra_bench_query_key_loop);

typedef struct ChecksumReceiver
{
	DestReceiver receiver;
	uint64		checksum;
} ChecksumReceiver;

/* What the executor hands over may live in a buffer or in TOAST: nothing is kept of it. */
static uint64
hash_value(Datum value, Form_pg_attribute attribute)
{
	if (attribute->attbyval)
		return hash_bytes_extended((unsigned char *) &value, sizeof(Datum), 0);
	if (attribute->attlen == -1)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
		uint64		hash = hash_bytes_extended((unsigned char *) VARDATA_ANY(bytes),
											   VARSIZE_ANY_EXHDR(bytes), 0);

		if ((Pointer) bytes != DatumGetPointer(value))
			pfree(bytes);
		return hash;
	}
	return hash_bytes_extended((unsigned char *) DatumGetPointer(value),
							   attribute->attlen == -2 ? strlen(DatumGetCString(value)) :
							   attribute->attlen, 0);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	ChecksumReceiver *receiver = (ChecksumReceiver *) self;
	TupleDesc	descriptor = slot->tts_tupleDescriptor;
	uint64		row = 0;

	slot_getallattrs(slot);
	for (int i = 0; i < descriptor->natts; i++)
		row = hash_combine64(row, slot->tts_isnull[i] ? 0 :
							 hash_value(slot->tts_values[i], TupleDescAttr(descriptor, i)));
	receiver->checksum += row;
	return true;
}

static void
start_rows(DestReceiver *self, int operation, TupleDesc descriptor)
{
}

static void
end_rows(DestReceiver *self)
{
}

/*
 * Whether every execution may share the caller's snapshot: nothing is written
 * or locked, and no function is called that could see its own effects.
 */
static bool
is_read_only(SPIPlanPtr plan)
{
	ListCell   *source_cell;

	foreach(source_cell, SPI_plan_get_plan_sources(plan))
	{
		CachedPlanSource *source = (CachedPlanSource *) lfirst(source_cell);
		ListCell   *query_cell;

		foreach(query_cell, source->query_list)
		{
			Query	   *query = lfirst_node(Query, query_cell);

			if (query->commandType != CMD_SELECT || query->hasModifyingCTE ||
				query->rowMarks != NIL || contain_volatile_functions((Node *) query))
				return false;
		}
	}
	return true;
}

/* Executes the plan; KEYS, where there are any, are the values of its only parameter. */
static void
run_loop(SPIPlanPtr plan, ParamListInfo parameters, const LoopKeys *keys, LoopResult *result)
{
	ChecksumReceiver receiver = {
		.receiver = {
			.receiveSlot = receive_row,
			.rStartup = start_rows,
			.rShutdown = end_rows,
			.rDestroy = end_rows,
			.mydest = DestNone,
		}
	};
	SPIExecuteOptions options = {
		.params = parameters,
		.read_only = result->is_read_only,
		.dest = &receiver.receiver,
	};
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	for (int64 i = 0; i < result->executions; i++)
	{
		int			code;

		CHECK_FOR_INTERRUPTS();
		if (keys != NULL)
			parameters->params[0].value = loop_key(keys, i);
		code = SPI_execute_plan_extended(plan, &options);
		if (code < 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("statement cannot be executed in a loop"),
					 errdetail_internal("%s", SPI_result_code_string(code))));
		result->rows += (int64) SPI_processed;
	}
	INSTR_TIME_SET_CURRENT(result->duration);
	INSTR_TIME_SUBTRACT(result->duration, start);
	result->checksum = receiver.checksum;
}

/*
 * Prepares the statement of the first argument for parameters of these types
 * and runs it as often as the second one says.  A kept plan, as PL/pgSQL's and
 * prepared statements are: invalidated by DDL, generic after five executions
 * where that costs no more.
 */
static Datum
prepare_and_run(FunctionCallInfo fcinfo, int count, Oid *types, ParamListInfo parameters,
				const LoopKeys *keys)
{
	LoopResult	result = {0};
	char	   *query;
	SPIPlanPtr	plan;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("query must not be null")));
	query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	result.executions = loop_get_executions(fcinfo, 1);

	SPI_connect();
	plan = SPI_prepare(query, count, types);
	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement cannot be executed in a loop"),
				 errdetail_internal("%s", SPI_result_code_string(SPI_result))));
	if (SPI_plan_get_plan_sources(plan) == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must not be empty")));
	result.is_read_only = is_read_only(plan);
	SPI_keepplan(plan);
	PG_TRY();
	{
		run_loop(plan, parameters, keys, &result);
	}
	PG_FINALLY();
	{
		SPI_freeplan(plan);
	}
	PG_END_TRY();
	SPI_finish();
	return loop_make_result(fcinfo, &result);
}

static void
set_parameter(ParamListInfo parameters, int number, Oid type, Datum value, bool is_null)
{
	ParamExternData *parameter = &parameters->params[number];

	parameter->value = value;
	parameter->isnull = is_null;
	parameter->pflags = PARAM_FLAG_CONST;
	parameter->ptype = type;
}

/* The arguments after the first two are the query's parameters. */
Datum
penumbra_bench_query_loop(PG_FUNCTION_ARGS)
{
	Datum	   *values = NULL;
	Oid		   *types = NULL;
	bool	   *nulls = NULL;
	int			count = 0;
	ParamListInfo parameters;

	loop_check_superuser();
	if (PG_NARGS() > 2)
		count = extract_variadic_args(fcinfo, 2, true, &values, &types, &nulls);
	if (count < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("parameters must not be a null array")));
	parameters = makeParamList(count);
	for (int i = 0; i < count; i++)
		set_parameter(parameters, i, types[i], values[i], nulls[i]);
	return prepare_and_run(fcinfo, count, types, parameters, NULL);
}

Datum
penumbra_bench_query_key_loop(PG_FUNCTION_ARGS)
{
	LoopKeys	keys;
	ParamListInfo parameters;

	loop_check_superuser();
	keys = loop_get_keys(fcinfo, 2);
	parameters = makeParamList(1);
	set_parameter(parameters, 0, keys.type, (Datum) 0, false);
	return prepare_and_run(fcinfo, 1, &keys.type, parameters, &keys);
}
