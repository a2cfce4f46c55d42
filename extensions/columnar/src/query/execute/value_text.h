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

/*
 * A message is written through a pointer to where it goes on.  Its length is set at its end, since each store of a
 * character may change it for all that the compiler knows.
 */

/* Room for so many more bytes, and one: where they go. */
static inline char *
message_room(StringInfo message, char *at, int bytes)
{
	if (likely(message->data + message->maxlen - at > bytes))
		return at;
	message->len = (int) (at - message->data);
	enlargeStringInfo(message, bytes);
	return message->data + message->len;
}

/* The same, with these bytes: their end. */
static inline char *
message_append(StringInfo message, char *at, const char *from, int bytes)
{
	at = message_room(message, at, bytes);
	memcpy(at, from, bytes);
	return at + bytes;
}

#endif							/* PENUMBRA_VALUE_TEXT_H */
