/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background worker that has stacks symbolised.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_WORKER_H
#define BACKTRACE_WORKER_H

#include "postgres.h"

extern void worker_register(void);

extern PGDLLEXPORT void penumbra_backtrace_main(Datum argument);

#endif							/* BACKTRACE_WORKER_H */
