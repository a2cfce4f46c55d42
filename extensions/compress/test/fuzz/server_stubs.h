/*-------------------------------------------------------------------------
 *
 * server_stubs.h
 *	  The few functions of the server that the fuzzed files call.
 *
 *	  palloc() is malloc(), so that AddressSanitizer sees every allocation by
 *	  itself.  An ERROR comes back to the innermost STUB_TRY.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_SERVER_STUBS_H
#define COMPRESS_SERVER_STUBS_H

#include "postgres.h"

#include <setjmp.h>

/* The C library's, not the server's */
#undef fprintf

extern sigjmp_buf *stub_catcher;

/* Frees all that was allocated since the mark. */
typedef void *StubMark;
extern StubMark stub_mark(void);
extern void stub_free_since(StubMark mark);

/* What held in an input that the fuzzer made does not hold: stops it with a report. */
#define fuzz_require(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* True if the statement ended without an ERROR. */
#define stub_try(statement) \
	({ \
		sigjmp_buf	catcher_here; \
		sigjmp_buf *catcher_outside = stub_catcher; \
		volatile bool is_whole = false; \
		if (sigsetjmp(catcher_here, 0) == 0) \
		{ \
			stub_catcher = &catcher_here; \
			statement; \
			is_whole = true; \
		} \
		stub_catcher = catcher_outside; \
		is_whole; \
	})

#endif							/* COMPRESS_SERVER_STUBS_H */
