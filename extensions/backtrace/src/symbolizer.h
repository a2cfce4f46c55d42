/*-------------------------------------------------------------------------
 *
 * symbolizer.h
 *	  penumbra-symbolize as a child process.
 *
 * Every wait is bounded.  An interrupt in it may raise an error: stop the
 * program then.  What the program
 * does to itself does nothing to us: it has its own memory, its own process
 * group, no file of ours but its pipes, and is killed when it is late.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_SYMBOLIZER_H
#define BACKTRACE_SYMBOLIZER_H

#include "postgres.h"

typedef struct Symbolizer
{
	pid_t		pid;			/* 0: does not run */
	int			to_fd;
	int			from_fd;
	bool		ended;			/* its output is at an end */
} Symbolizer;

extern const char *symbolizer_path(void);
extern bool symbolizer_start(Symbolizer *symbolizer, const char *option, const char *argument);
extern bool symbolizer_ask(Symbolizer *symbolizer, const char *raw, char *answer, size_t size_bytes,
						   int timeout_ms);
extern bool symbolizer_read_all(Symbolizer *symbolizer, char *answer, size_t size_bytes, int timeout_ms);
extern int	symbolizer_stop(Symbolizer *symbolizer);

#endif							/* BACKTRACE_SYMBOLIZER_H */
