/*-------------------------------------------------------------------------
 *
 * live.h
 *	  The stack of a running process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_LIVE_H
#define BACKTRACE_LIVE_H

#include "postgres.h"

#include <signal.h>

/* Hardly anybody takes the last but one real-time signal, or any. */
#define LIVE_SIGNAL			(SIGRTMAX - 1)

extern void live_install_handler(void);
extern char *live_next_for_worker(void);
extern void live_answered(char *text, bool symbolised);

#endif							/* BACKTRACE_LIVE_H */
