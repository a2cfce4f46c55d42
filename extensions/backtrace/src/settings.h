/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Settings, and which errors they ask for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_SETTINGS_H
#define BACKTRACE_SETTINGS_H

#include "postgres.h"

extern bool backtrace_crash_reports;
extern bool backtrace_crash_query;
extern char *backtrace_crash_directory;
extern char *backtrace_symbolizer;
extern int	backtrace_max_stacks;

/* Changes when the choice of errors does. */
extern uint64 settings_generation;

extern void settings_define(void);
extern void settings_define_at_start(void);
extern bool settings_want_none(void);
extern bool settings_want_functions(void);
extern bool settings_want_sqlstate(int sqlerrcode);
extern bool settings_want_function(const char *name);

#endif							/* BACKTRACE_SETTINGS_H */
