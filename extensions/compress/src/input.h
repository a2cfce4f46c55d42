/*-------------------------------------------------------------------------
 *
 * input.h
 *	  Values as input functions make them.
 *
 *	  The server calls input functions of literals and parameters without the
 *	  column's type modifier, and casts the result to it afterwards.  So that
 *	  this compresses once, a value without a modifier waits (waiting.h), and is
 *	  compressed with the default method only when it is stored as it is.  A
 *	  cast to a modifier takes the raw bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_INPUT_H
#define COMPRESS_INPUT_H

#include "postgres.h"

#include "fmgr.h"

/* From _PG_init. */
extern void input_init(void);

/* What the input or receive function with these arguments returns for the raw bytes. */
extern Datum input_value(FunctionCallInfo fcinfo, const char *raw, Size bytes, bool is_text);

#endif							/* COMPRESS_INPUT_H */
