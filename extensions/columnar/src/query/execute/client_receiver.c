/*-------------------------------------------------------------------------
 *
 * client_receiver.c
 *	  Rows to the client, written into messages without a copy per value.
 *
 * PostgreSQL's receiver calls each value's output function, which allocates a
 * string, and copies that into the message.  This one writes the same bytes
 * into the message at once where it can (value_text.c, and values of fixed width
 * in binary).  Others go through their functions as they do there.
 * RowDescription, and what else begins and ends a result, stays with
 * PostgreSQL's receiver.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "query/execute/client_receiver.h"
#include "query/execute/forwarding_receiver.h"
#include "query/execute/value_text.h"

typedef struct OutputColumn OutputColumn;

/* Appends a value that is not NULL, its length in 4 bytes and its bytes, and returns its end. */
typedef char *(*AppendValue) (StringInfo message, char *at, Datum value, OutputColumn *column);

struct OutputColumn
{
	AppendValue append;
	ValueText	text;
	FmgrInfo	send;			/* the type's function, in binary */
};

typedef struct ClientReceiver
{
	ForwardingReceiver base;
	const int16 *formats;
	int			column_count;
	OutputColumn *columns;
	StringInfoData message;		/* used again for each row */
	MemoryContext context;		/* of one row's values */
} ClientReceiver;

static inline char *
put_uint16(char *at, uint16 value)
{
	value = pg_hton16(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static inline char *
put_uint32(char *at, uint32 value)
{
	value = pg_hton32(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static inline char *
put_uint64(char *at, uint64 value)
{
	value = pg_hton64(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* In the client's encoding.  Of strings it is the same in both formats. */
static char *
append_text(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	int			bytes;
	char	   *text = value_text_get(&column->text, value, &bytes);
	char	   *converted = pg_server_to_client(text, bytes);

	if (converted != text)
		bytes = (int) strlen(converted);
	at = put_uint32(message_room(message, at, sizeof(uint32)), bytes);
	return message_append(message, at, converted, bytes);
}

/* Digits, and letters of English, are the same in all encodings. */
static char *
append_written(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	char	   *text;
	char	   *end;

	at = message_room(message, at, (int) sizeof(uint32) + WRITTEN_TEXT_BYTES);
	text = at + sizeof(uint32);
	end = column->text.write(value, text);
	if (end == NULL)
		return append_text(message, at, value, column);
	put_uint32(at, (uint32) (end - text));
	return end;
}

static char *
append_2_bytes(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	at = put_uint32(message_room(message, at, sizeof(uint32) + sizeof(int16)), sizeof(int16));
	return put_uint16(at, (uint16) DatumGetInt16(value));
}

static char *
append_4_bytes(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	at = put_uint32(message_room(message, at, sizeof(uint32) + sizeof(int32)), sizeof(int32));
	return put_uint32(at, (uint32) DatumGetInt32(value));
}

static char *
append_8_bytes(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	at = put_uint32(message_room(message, at, sizeof(uint32) + sizeof(int64)), sizeof(int64));
	return put_uint64(at, (uint64) DatumGetInt64(value));
}

static char *
append_sent(StringInfo message, char *at, Datum value, OutputColumn *column)
{
	bytea	   *sent = SendFunctionCall(&column->send, value);
	int			bytes = (int) (VARSIZE(sent) - VARHDRSZ);

	at = put_uint32(message_room(message, at, sizeof(uint32)), bytes);
	return message_append(message, at, VARDATA(sent), bytes);
}

/* By the type's function, which is the base type's where the type is a domain. */
static void
begin_binary_column(OutputColumn *column, Oid type)
{
	Oid			send;
	bool		is_varlena;

	getTypeBinaryOutputInfo(type, &send, &is_varlena);
	switch (send)
	{
		case F_TEXTSEND:
		case F_VARCHARSEND:
		case F_BPCHARSEND:
			column->text.is_string = true;
			column->append = append_text;
			break;
		case F_INT2SEND:
			column->append = append_2_bytes;
			break;
		case F_INT4SEND:
		case F_DATE_SEND:
		case F_FLOAT4SEND:
			column->append = append_4_bytes;
			break;
		case F_INT8SEND:
		case F_FLOAT8SEND:
		case F_TIMESTAMP_SEND:
		case F_TIMESTAMPTZ_SEND:
			column->append = append_8_bytes;
			break;
		default:
			fmgr_info(send, &column->send);
			column->append = append_sent;
	}
}

static void
begin_column(OutputColumn *column, Oid type, int16 format)
{
	switch (format)
	{
		case 0:
			value_text_begin(&column->text, type);
			column->append = column->text.write != NULL ? append_written : append_text;
			break;
		case 1:
			begin_binary_column(column, type);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("unsupported format code: %d", format)));
	}
}

/* With the first row, as in PostgreSQL: a result without rows has no type that cannot be sent. */
static void
begin_columns(ClientReceiver *receiver, TupleDesc desc)
{
	receiver->column_count = desc->natts;
	receiver->columns = palloc0(sizeof(OutputColumn) * Max(desc->natts, 1));
	for (int c = 0; c < desc->natts; c++)
		begin_column(&receiver->columns[c], TupleDescAttr(desc, c)->atttypid, receiver->formats[c]);
}

static void
startup(DestReceiver *self, int operation, TupleDesc desc)
{
	ClientReceiver *receiver = (ClientReceiver *) self;

	receiver->base.original->rStartup(receiver->base.original, operation, desc);
	initStringInfo(&receiver->message);
	receiver->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra output", ALLOCSET_DEFAULT_SIZES);
}

static bool
receive(TupleTableSlot *row, DestReceiver *self)
{
	ClientReceiver *receiver = (ClientReceiver *) self;
	StringInfo	message = &receiver->message;
	MemoryContext old_context;
	char	   *at;

	if (receiver->columns == NULL)
		begin_columns(receiver, row->tts_tupleDescriptor);
	slot_getallattrs(row);
	old_context = MemoryContextSwitchTo(receiver->context);
	pq_beginmessage_reuse(message, 'D');
	at = put_uint16(message_room(message, message->data, sizeof(uint16)), (uint16) receiver->column_count);
	for (int c = 0; c < receiver->column_count; c++)
	{
		OutputColumn *column = &receiver->columns[c];

		if (row->tts_isnull[c])
			at = put_uint32(message_room(message, at, sizeof(uint32)), (uint32) -1);
		else
			at = column->append(message, at, row->tts_values[c], column);
	}
	message->len = (int) (at - message->data);
	pq_endmessage_reuse(message);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(receiver->context);
	return true;
}

static void
shut_down(DestReceiver *self)
{
	ClientReceiver *receiver = (ClientReceiver *) self;

	MemoryContextDelete(receiver->context);
	pfree(receiver->message.data);
	if (receiver->columns != NULL)
		pfree(receiver->columns);
	receiver->base.original->rShutdown(receiver->base.original);
}

DestReceiver *
client_receiver_create(DestReceiver *original, const int16 *formats)
{
	ClientReceiver *receiver = (ClientReceiver *)
		forwarding_receiver_create(sizeof(ClientReceiver), original, receive, startup, shut_down);

	receiver->formats = formats;
	return &receiver->base.pub;
}
