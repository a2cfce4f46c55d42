/*-------------------------------------------------------------------------
 *
 * result_rows.h
 *	  Rows that SQL functions return, with as many columns as their script
 *	  declares.
 *
 * A library and the objects of its extension are of different versions after
 * one of them was replaced and the other was not.  values[] would then be
 * read past its end, or columns be shifted: each row is compared with the
 * declaration.  A C function whose arguments change gets a new name instead.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RESULT_ROWS_H
#define PENUMBRA_RESULT_ROWS_H

#include "postgres.h"

#include "funcapi.h"
#include "utils/tuplestore.h"

static inline void
check_column_count(TupleDesc declared, int column_count)
{
	if (declared->natts != column_count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the library and the SQL objects of the extension are of different versions"),
				 errdetail("The function returns %d columns and is declared with %d.", column_count, declared->natts),
				 errhint("Run ALTER EXTENSION ... UPDATE, or restart the server with the library of the installed version.")));
}

static inline void
put_row_values(ReturnSetInfo *result, Datum *values, bool *nulls, int column_count)
{
	check_column_count(result->setDesc, column_count);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static inline Datum
make_row_values(FunctionCallInfo fcinfo, Datum *values, bool *nulls, int column_count)
{
	TupleDesc	declared;

	if (get_call_result_type(fcinfo, NULL, &declared) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_column_count(declared, column_count);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(declared), values, nulls));
}

/* A row of a set, after InitMaterializedSRF(); values is an array. */
#define put_row(result, values, nulls) put_row_values(result, values, nulls, lengthof(values))

/* The row that a function returns; values is an array. */
#define make_row(fcinfo, values, nulls) make_row_values(fcinfo, values, nulls, lengthof(values))

#endif							/* PENUMBRA_RESULT_ROWS_H */
