/*-------------------------------------------------------------------------
 *
 * value_text.h
 *	  Text of values, byte for byte as their types' output functions make it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALUE_TEXT_H
#define PENUMBRA_VALUE_TEXT_H

#include "postgres.h"

#include "pg_compat.h"

#include "fmgr.h"
#include "lib/stringinfo.h"

/* Of the texts that are written: digits, letters and "-+/.: ". */
#define WRITTEN_TEXT_BYTES 136

/* How the values of one column become text. */
typedef struct ValueText
{
	/* Writes the text at once, and returns its end.  NULL: value_text_get() makes it. */
	char	   *(*write) (Datum value, char *to);
	bool		is_string;		/* the value has its text in it */
	FmgrInfo	output;			/* the type's function; not of strings */
} ValueText;

extern void value_text_begin(ValueText *column, Oid type);

/* Of a value of any type that is not NULL.  The text is the value's own, or new in the current memory context. */
static inline char *
value_text_get(ValueText *column, Datum value, int *bytes)
{
	text	   *string;
	char	   *made;

	if (column->is_string)
	{
		string = DatumGetTextPP(value);
		*bytes = (int) VARSIZE_ANY_EXHDR(string);
		return VARDATA_ANY(string);
	}
	made = OutputFunctionCall(&column->output, value);
	*bytes = (int) strlen(made);
	return made;
}

/* The end of a message, with room for so many bytes. */
static inline char *
message_room(StringInfo message, int bytes)
{
	if (message->maxlen - message->len <= bytes)
		enlargeStringInfo(message, bytes);
	return message->data + message->len;
}

static inline void
message_append(StringInfo message, const char *from, int bytes)
{
	memcpy(message_room(message, bytes), from, bytes);
	message->len += bytes;
}

#endif							/* PENUMBRA_VALUE_TEXT_H */
