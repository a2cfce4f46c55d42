/*-------------------------------------------------------------------------
 *
 * outcomes.c
 *	  Counts of the session's executions by outcome, and the function behind
 *	  the view penumbra_lookup.executions.
 *
 * The counts are this process's own: counters in shared memory would cost
 * more than what they count.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "funcapi.h"
#include "utils/builtins.h"

#include "outcomes.h"
#include "result_rows.h"

PENUMBRA_SQL_FUNCTION(penumbra_lookup_get_executions);
PENUMBRA_SQL_FUNCTION(penumbra_lookup_reset_executions);

static int64 counts[OUTCOME_COUNT];

static const char *const labels[] = {
#define OUTCOME_LABEL(name, label, description) label,
	LOOKUP_OUTCOMES(OUTCOME_LABEL)
#undef OUTCOME_LABEL
};

static const char *const descriptions[] = {
#define OUTCOME_DESCRIPTION(name, label, description) description,
	LOOKUP_OUTCOMES(OUTCOME_DESCRIPTION)
#undef OUTCOME_DESCRIPTION
};

void
outcomes_count(LookupOutcome outcome)
{
	counts[outcome]++;
}

Datum
penumbra_lookup_get_executions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < OUTCOME_COUNT; i++)
	{
		Datum		values[3] = {CStringGetTextDatum(labels[i]), Int64GetDatum(counts[i]),
		CStringGetTextDatum(descriptions[i])};
		bool		nulls[3] = {false};

		put_row(result, values, nulls);
	}
	return (Datum) 0;
}

Datum
penumbra_lookup_reset_executions(PG_FUNCTION_ARGS)
{
	memset(counts, 0, sizeof(counts));
	PG_RETURN_VOID();
}
