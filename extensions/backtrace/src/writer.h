/*-------------------------------------------------------------------------
 *
 * writer.h
 *	  Formatting for signal handlers: no allocation, no locale, no stdio.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_WRITER_H
#define BACKTRACE_WRITER_H

#include "postgres.h"

/* Text in a buffer.  With a file it is written whenever the buffer is full; without, the rest is dropped. */
typedef struct Writer
{
	char	   *buffer;
	size_t		size_bytes;
	size_t		used_bytes;
	int			fd;				/* -1: none */
	bool		failed;			/* something could not be written */
} Writer;

extern void writer_init(Writer *writer, char *buffer, size_t size_bytes, int fd);
extern void writer_flush(Writer *writer);
extern void writer_char(Writer *writer, char c);
extern void writer_string(Writer *writer, const char *string);
extern void writer_hex(Writer *writer, uint64 value);
extern void writer_hex_bytes(Writer *writer, const uint8 *bytes, int count);
extern void writer_decimal(Writer *writer, int64 value);
extern void writer_decimal_2(Writer *writer, int value);
extern void writer_escaped(Writer *writer, const char *string, size_t bytes);

#endif							/* BACKTRACE_WRITER_H */
