/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  What may fail without the statement failing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xact.h"
#include "utils/resowner.h"

#include "query/planning/attempt.h"

/* Whether the error is one of the values and expressions at hand. */
static bool
is_of_statement(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_QUERY_CANCELED):
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_SYSTEM_ERROR):
		case ERRCODE_TO_CATEGORY(ERRCODE_T_R_SERIALIZATION_FAILURE):
		case ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR):
			return false;
		default:
			return true;
	}
}

bool
attempt(void (*function) (void *argument), void *argument)
{
	MemoryContext old_context = CurrentMemoryContext;
	ResourceOwner old_owner = CurrentResourceOwner;
	volatile bool has_succeeded = false;
	int			levels;

	if (!compat_leave_parallel_mode(&levels))
		return false;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old_context);
	PG_TRY();
	{
		function(argument);
		ReleaseCurrentSubTransaction();
		has_succeeded = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(old_context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		/* Who catches the error further up ends his own subtransaction, so ours has to be gone by then. */
		if (!is_of_statement(error->sqlerrcode))
		{
			MemoryContextSwitchTo(old_context);
			CurrentResourceOwner = old_owner;
			compat_enter_parallel_mode(levels);
			ReThrowError(error);
		}
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old_context);
	CurrentResourceOwner = old_owner;
	compat_enter_parallel_mode(levels);
	return has_succeeded;
}
