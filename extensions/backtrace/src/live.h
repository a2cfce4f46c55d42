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

extern void live_install_handler(void);
extern char *live_next_for_worker(void);
extern void live_answered(char *text, bool symbolised);

#endif							/* BACKTRACE_LIVE_H */
