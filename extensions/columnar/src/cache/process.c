/*-------------------------------------------------------------------------
 *
 * process.c
 *	  What all processes of ours do between two pieces of work.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/sinval.h"
#include "utils/guc.h"

#include "cache/process.h"

void
process_handle_signals(void)
{
	MemoryContext context = CurrentMemoryContext;

	CHECK_FOR_INTERRUPTS();
	/* who sleeps for long would keep others' messages from being forgotten; this has a transaction, and its context */
	if (catchupInterruptPending)
		ProcessCatchupInterrupt();
	MemoryContextSwitchTo(context);
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}
