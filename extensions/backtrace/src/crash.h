/*-------------------------------------------------------------------------
 *
 * crash.h
 *	  Reports of processes that crash.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_CRASH_H
#define BACKTRACE_CRASH_H

#include "postgres.h"

#include <signal.h>
#include <ucontext.h>

#define CRASH_FILE_PREFIX	"pg_crash_"
#define CRASH_FILE_SUFFIX	".txt"
#define REPORT_FILE_SUFFIX	".report"

typedef struct Crash
{
	int			signal_number;
	const siginfo_t *info;
	ucontext_t *context;
	char		path[MAXPGPATH];
	char		report_path[MAXPGPATH];
	bool		file_written;
} Crash;

extern void crash_install_handlers(void);
extern bool crash_handling(void);
extern const char *crash_directory_path(void);

/* crash_file.c */
extern void crash_file_prepare(void);
extern void crash_file_write(Crash *crash);
extern void crash_message_write(const Crash *crash);

#endif							/* BACKTRACE_CRASH_H */
