/*-------------------------------------------------------------------------
 *
 * copy_receiver.c
 *	  Rows of COPY (query) TO STDOUT, in text and CSV format.
 *
 * PostgreSQL's receiver calls each value's output function, which allocates a
 * string, and looks at that byte by byte.  This one writes what needs no escape
 * into the message at once, and looks at eight bytes of others at a time.  The
 * messages are PostgreSQL's, bytewise and in number: one a row.  All around the
 * rows stays with PostgreSQL: permissions, header, begin and end, the command's
 * tag, and the formats that copy_receiver_create() leaves out.
 *
 * The tag has the number of rows from PostgreSQL's receiver, whose struct is
 * private.  That receiver takes the first rows itself.  Where it counts, behind
 * a pointer in all versions that we know, is believed only if these rows were
 * seen to be counted there.  Otherwise it takes all rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include <ctype.h>

#include "commands/copy.h"
#include "commands/progress.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"

#include "query/execute/copy_receiver.h"
#include "query/execute/forwarding_receiver.h"
#include "query/execute/value_text.h"

#define COUNTER_OFFSET (MAXALIGN(sizeof(DestReceiver)) + sizeof(CopyToState))
#define ROWS_PASSED_ON 2		/* a flag would be 1 after both */

#define ALL_BYTES(byte) (UINT64CONST(0x0101010101010101) * (unsigned char) (byte))

typedef struct RowFormat
{
	bool		is_csv;
	char		delimiter;
	const char *null;
	int			null_bytes;
	bool		writes_plainly; /* what value_text.c writes has nothing to escape, and is not as NULL */
	uint64		pair[2];		/* eight times: the delimiter; the backslash or the quote */
	bool		is_special[256];	/* text: bytes to escape; CSV: those that ask for quotes */
	char		escaped[256];	/* text: what is behind the backslash; CSV: quote and escape, in quotes */
	char		quote;			/* from here: of CSV */
	char		escape;
	bool		has_one_column;
} RowFormat;

typedef struct CopyReceiver
{
	ForwardingReceiver base;
	RowFormat	format;
	int			column_count;
	ValueText  *columns;
	StringInfoData message;		/* used again for each row */
	MemoryContext context;		/* of one row's values */
	uint64	   *counter;		/* where PostgreSQL's receiver seems to count; NULL: nowhere */
	int			rows_passed_on;
	int64		bytes_processed;
} CopyReceiver;

/* Whether one of eight bytes may be special.  Control characters count as such. */
static inline bool
may_have_special(const RowFormat *format, const char *bytes)
{
	uint64		word,
				first,
				second;

	memcpy(&word, bytes, sizeof(word));
	first = word ^ format->pair[0];
	second = word ^ format->pair[1];
	/* zero bytes of the last two, and bytes below a blank: each borrows from its highest bit */
	return ((((word - ALL_BYTES(' ')) & ~word) | ((first - ALL_BYTES(1)) & ~first) |
			 ((second - ALL_BYTES(1)) & ~second)) & ALL_BYTES(0x80)) != 0;
}

/* How many bytes stand before the first special one. */
static int
plain_bytes(const RowFormat *format, const char *text, int bytes)
{
	int			i = 0;

	while (i < bytes)
	{
		int			end = Min(i + 8, bytes);

		if (bytes >= 8 && !may_have_special(format, text + end - 8))
		{
			i = end;
			continue;
		}
		for (; i < end; i++)
		{
			if (format->is_special[(unsigned char) text[i]])
				return i;
		}
	}
	return bytes;
}

/* As CopyAttributeOutText() has it. */
static char *
append_escaped(CopyReceiver *receiver, char *at, const char *text, int bytes)
{
	const RowFormat *format = &receiver->format;
	StringInfo	message = &receiver->message;

	for (;;)
	{
		int			plain = plain_bytes(format, text, bytes);

		at = message_append(message, at, text, plain);
		if (plain == bytes)
			return at;
		at = message_append(message, at, (char[]) {'\\', format->escaped[(unsigned char) text[plain]]}, 2);
		text += plain + 1;
		bytes -= plain + 1;
	}
}

static bool
needs_quotes(const RowFormat *format, const char *text, int bytes)
{
	if (bytes == format->null_bytes && memcmp(text, format->null, bytes) == 0)
		return true;
	/* alone in its line it would end the data */
	if (format->has_one_column && bytes == 2 && memcmp(text, "\\.", 2) == 0)
		return true;
	return plain_bytes(format, text, bytes) < bytes;
}

/* As CopyAttributeOutCSV() has it. */
static char *
append_csv(CopyReceiver *receiver, char *at, const char *text, int bytes)
{
	const RowFormat *format = &receiver->format;
	StringInfo	message = &receiver->message;
	int			begin = 0;

	if (!needs_quotes(format, text, bytes))
		return message_append(message, at, text, bytes);
	at = message_append(message, at, &format->quote, 1);
	for (int i = 0; i < bytes; i++)
	{
		if (format->escaped[(unsigned char) text[i]] == 0)
			continue;
		at = message_append(message, at, text + begin, i - begin);
		at = message_append(message, at, &format->escape, 1);
		begin = i;
	}
	at = message_append(message, at, text + begin, bytes - begin);
	return message_append(message, at, &format->quote, 1);
}

static char *
append_looked_at(CopyReceiver *receiver, char *at, Datum value, ValueText *column)
{
	char		written[WRITTEN_TEXT_BYTES];
	char	   *end = column->write != NULL ? column->write(value, written) : NULL;
	char	   *text = written;
	int			bytes;

	if (end != NULL)
		bytes = (int) (end - written);
	else
		text = value_text_get(column, value, &bytes);
	if (receiver->format.is_csv)
		return append_csv(receiver, at, text, bytes);
	return append_escaped(receiver, at, text, bytes);
}

static void
append_row(CopyReceiver *receiver, TupleTableSlot *row)
{
	const RowFormat *format = &receiver->format;
	StringInfo	message = &receiver->message;
	char	   *at = message->data;

	pq_beginmessage_reuse(message, 'd');
	for (int c = 0; c < receiver->column_count; c++)
	{
		ValueText  *column = &receiver->columns[c];
		char	   *end = NULL;

		at = message_room(message, at, WRITTEN_TEXT_BYTES);
		if (c > 0)
			*at++ = format->delimiter;
		if (row->tts_isnull[c])
			end = message_append(message, at, format->null, format->null_bytes);
		else if (column->write != NULL && format->writes_plainly)
			end = column->write(row->tts_values[c], at);
		at = end != NULL ? end : append_looked_at(receiver, at, row->tts_values[c], column);
	}
	at = message_append(message, at, "\n", 1);
	message->len = (int) (at - message->data);
}

static void
report_progress(CopyReceiver *receiver)
{
	static const int parameters[] = {PROGRESS_COPY_BYTES_PROCESSED, PROGRESS_COPY_TUPLES_PROCESSED};

	pgstat_progress_update_multi_param(2, parameters,
									   (int64[]) {receiver->bytes_processed, (int64) *receiver->counter});
}

/* To PostgreSQL's receiver. */
static bool
pass_on(CopyReceiver *receiver, TupleTableSlot *row)
{
	DestReceiver *original = receiver->base.original;
	bool		goes_on = original->receiveSlot(row, original);

	receiver->rows_passed_on++;
	if (receiver->counter != NULL && *receiver->counter != (uint64) receiver->rows_passed_on)
		receiver->counter = NULL;
	/* with the header's */
	if (MyBEEntry != NULL)
		receiver->bytes_processed = MyBEEntry->st_progress_param[PROGRESS_COPY_BYTES_PROCESSED];
	return goes_on;
}

static bool
receive(TupleTableSlot *row, DestReceiver *self)
{
	CopyReceiver *receiver = (CopyReceiver *) self;
	MemoryContext old_context;

	if (receiver->counter == NULL || receiver->rows_passed_on < ROWS_PASSED_ON)
		return pass_on(receiver, row);
	slot_getallattrs(row);
	old_context = MemoryContextSwitchTo(receiver->context);
	append_row(receiver, row);
	pq_endmessage_reuse(&receiver->message);
	receiver->bytes_processed += receiver->message.len;
	++*receiver->counter;
	report_progress(receiver);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(receiver->context);
	return true;
}

static void
startup(DestReceiver *self, int operation, TupleDesc desc)
{
	CopyReceiver *receiver = (CopyReceiver *) self;
	DestReceiver *original = receiver->base.original;

	original->rStartup(original, operation, desc);
	initStringInfo(&receiver->message);
	receiver->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra output", ALLOCSET_DEFAULT_SIZES);
	receiver->column_count = desc->natts;
	receiver->format.has_one_column = desc->natts == 1;
	receiver->columns = palloc0(sizeof(ValueText) * Max(desc->natts, 1));
	for (int c = 0; c < desc->natts; c++)
		value_text_begin(&receiver->columns[c], TupleDescAttr(desc, c)->atttypid);
	receiver->counter = (uint64 *) ((char *) original + COUNTER_OFFSET);
	if (*receiver->counter != 0)
		receiver->counter = NULL;
}

static void
shut_down(DestReceiver *self)
{
	CopyReceiver *receiver = (CopyReceiver *) self;

	MemoryContextDelete(receiver->context);
	pfree(receiver->message.data);
	pfree(receiver->columns);
	receiver->base.original->rShutdown(receiver->base.original);
}

/* Of what value_text.c writes. */
static bool
is_written(char c)
{
	return isalnum((unsigned char) c) || strchr("-+/.: ", c) != NULL;
}

static void
describe_text(RowFormat *format)
{
	static const char control[] = "\b\f\n\r\t\v";
	static const char letters[] = "bfnrtv";

	format->pair[1] = ALL_BYTES('\\');
	format->escaped['\\'] = '\\';
	format->escaped[(unsigned char) format->delimiter] = format->delimiter;
	for (int i = 0; control[i] != '\0'; i++)
		format->escaped[(unsigned char) control[i]] = letters[i];
	for (int i = 0; i < 256; i++)
		format->is_special[i] = format->escaped[i] != 0;
	format->writes_plainly = !is_written(format->delimiter);
}

static void
describe_csv(RowFormat *format, const CopyFormatOptions *options)
{
	format->is_csv = true;
	format->quote = options->quote[0];
	format->escape = options->escape[0];
	format->pair[1] = ALL_BYTES(format->quote);
	format->escaped[(unsigned char) format->quote] = format->quote;
	format->escaped[(unsigned char) format->escape] = format->escape;
	format->is_special[(unsigned char) format->delimiter] = true;
	format->is_special[(unsigned char) format->quote] = true;
	format->is_special['\n'] = true;
	format->is_special['\r'] = true;
	format->writes_plainly = !is_written(format->delimiter) && !is_written(format->quote) && format->null_bytes == 0;
}

/* Whether the text goes as it is. */
static bool
is_unconverted(int encoding)
{
	if (encoding < 0)
		encoding = pg_get_client_encoding();
	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII;
}

DestReceiver *
copy_receiver_create(DestReceiver *original, List *options)
{
	CopyReceiver *receiver;
	RowFormat *format;
	CopyFormatOptions parsed = {0};

	ProcessCopyOptions(NULL, &parsed, false, options);
	if (!(compat_copy_is_text(&parsed) || compat_copy_is_csv(&parsed)) ||
		parsed.force_quote_all || parsed.force_quote != NIL || !is_unconverted(parsed.file_encoding))
		return NULL;
	receiver = (CopyReceiver *)
		forwarding_receiver_create(sizeof(CopyReceiver), original, receive, startup, shut_down);
	format = &receiver->format;
	format->delimiter = parsed.delim[0];
	format->pair[0] = ALL_BYTES(format->delimiter);
	format->null = parsed.null_print;
	format->null_bytes = parsed.null_print_len;
	if (compat_copy_is_csv(&parsed))
		describe_csv(format, &parsed);
	else
		describe_text(format);
	return &receiver->base.pub;
}
