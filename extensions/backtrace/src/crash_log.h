/*-------------------------------------------------------------------------
 *
 * crash_log.h
 *	  Crash files in the server log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_CRASH_LOG_H
#define BACKTRACE_CRASH_LOG_H

#include "postgres.h"

extern bool crash_log_new_files(void);

#endif							/* BACKTRACE_CRASH_LOG_H */
