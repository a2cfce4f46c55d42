/*-------------------------------------------------------------------------
 *
 * status.c
 *	  The engine's status values as PostgreSQL errors: the SQLSTATE and the
 *	  message that PostgreSQL's own executor would give.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"

#include "cache/status.h"

typedef struct StatusError
{
	PenumbraCode code;
	int			sqlstate;
	const char *message;
} StatusError;

static const StatusError status_errors[] = {
	{PENUMBRA_DIVISION_BY_ZERO, ERRCODE_DIVISION_BY_ZERO, "division by zero"},
	{PENUMBRA_INT2_OUT_OF_RANGE, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "smallint out of range"},
	{PENUMBRA_INT4_OUT_OF_RANGE, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"},
	{PENUMBRA_INT8_OUT_OF_RANGE, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range"},
	{PENUMBRA_FLOAT_OVERFLOW, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"},
	{PENUMBRA_FLOAT_UNDERFLOW, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"},
	{PENUMBRA_NUMERIC_OVERFLOW, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format"},
	{PENUMBRA_NUMERIC_FIELD_OVERFLOW, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow"},
	{PENUMBRA_CANNOT_CONVERT, ERRCODE_FEATURE_NOT_SUPPORTED, "cannot convert value"},
	{PENUMBRA_DATE_OUT_OF_RANGE, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "date out of range"},
	{PENUMBRA_TIMESTAMP_OUT_OF_RANGE, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "timestamp out of range"},
	{PENUMBRA_INTERVAL_OUT_OF_RANGE, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "interval out of range"},
	{PENUMBRA_INVALID_ARGUMENT, ERRCODE_INVALID_PARAMETER_VALUE, "invalid argument"},
	{PENUMBRA_INVALID_POWER_ARGUMENT, ERRCODE_INVALID_ARGUMENT_FOR_POWER_FUNCTION, "invalid argument for power function"},
	{PENUMBRA_INVALID_LOG_ARGUMENT, ERRCODE_INVALID_ARGUMENT_FOR_LOG, "invalid argument for logarithm"},
	{PENUMBRA_INVALID_NTILE, ERRCODE_INVALID_ARGUMENT_FOR_NTILE, "argument of ntile must be greater than zero"},
	{PENUMBRA_INVALID_NTH_VALUE, ERRCODE_INVALID_ARGUMENT_FOR_NTH_VALUE,
	"argument of nth_value must be greater than zero"},
	{PENUMBRA_SUBSTRING_ERROR, ERRCODE_SUBSTRING_ERROR, "negative substring length not allowed"},
	{PENUMBRA_BITS_OF_OTHER_LENGTH, ERRCODE_STRING_DATA_LENGTH_MISMATCH, "bit strings of different sizes"},
	{PENUMBRA_INVALID_ESCAPE, ERRCODE_INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character"},
	{PENUMBRA_STRING_TOO_LONG, ERRCODE_STRING_DATA_RIGHT_TRUNCATION, "value too long for type"},
	{PENUMBRA_CARDINALITY_VIOLATION, ERRCODE_CARDINALITY_VIOLATION,
	"more than one row returned by a subquery used as an expression"},
	{PENUMBRA_VALUE_TOO_LARGE, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "out of memory"},
	{PENUMBRA_OUT_OF_MEMORY, ERRCODE_OUT_OF_MEMORY, "out of memory"},
	{PENUMBRA_DISK_FULL, ERRCODE_DISK_FULL, "could not write to temporary file: no space left on device"},
	{PENUMBRA_IO_ERROR, ERRCODE_IO_ERROR, "could not use a temporary file"},
	{PENUMBRA_CANCELLED, ERRCODE_QUERY_CANCELED, "canceling statement due to user request"},
	{PENUMBRA_HOST_ERROR, ERRCODE_FEATURE_NOT_SUPPORTED, "function that PostgreSQL evaluates has failed"},
	{PENUMBRA_CORRUPT, ERRCODE_DATA_CORRUPTED, "cached column does not decode"},
	{PENUMBRA_UNSUPPORTED, ERRCODE_FEATURE_NOT_SUPPORTED, "query cannot be run by Penumbra"},
};

/*
 * Codes whose message names only the kind of error: there the status message,
 * when present, is PostgreSQL's own text for this very case.
 */
static bool
status_message_is_primary(PenumbraCode code)
{
	switch (code)
	{
		case PENUMBRA_FLOAT_OVERFLOW:
		case PENUMBRA_FLOAT_UNDERFLOW:
		case PENUMBRA_CANNOT_CONVERT:
		case PENUMBRA_INVALID_ARGUMENT:
		case PENUMBRA_INVALID_POWER_ARGUMENT:
		case PENUMBRA_INVALID_LOG_ARGUMENT:
		case PENUMBRA_STRING_TOO_LONG:
		case PENUMBRA_BITS_OF_OTHER_LENGTH:
			return true;
		default:
			return false;
	}
}

const char *
status_text(const PenumbraStatus *status)
{
	if (status->message[0] != '\0')
		return status->message;
	if (status->code == PENUMBRA_TEMPORARY_SPACE_LIMIT)
		return "temp_file_limit";
	for (int i = 0; i < (int) lengthof(status_errors); i++)
	{
		if (status_errors[i].code == status->code)
			return status_errors[i].message;
	}
	return "internal error of the engine";
}

/*
 * Raises the error with PostgreSQL's SQLSTATE. The engine's text is the message of
 * some codes and the detail of the others.
 */
void
status_report(const PenumbraStatus *status)
{
	if (status->code == PENUMBRA_TEMPORARY_SPACE_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("temporary file size exceeds temp_file_limit (%dkB)", temp_file_limit)));
	for (int i = 0; i < (int) lengthof(status_errors); i++)
	{
		const StatusError *error = &status_errors[i];

		if (error->code != status->code)
			continue;
		if (status_message_is_primary(status->code) && status->message[0] != '\0')
			ereport(ERROR, (errcode(error->sqlstate), errmsg_internal("%s", status->message)));
		ereport(ERROR,
				(errcode(error->sqlstate), errmsg("%s", error->message),
				 status->message[0] != '\0' ? errdetail_internal("%s", status->message) : 0));
	}
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg_internal("Penumbra engine: code %d: %s", (int) status->code, status->message)));
}
