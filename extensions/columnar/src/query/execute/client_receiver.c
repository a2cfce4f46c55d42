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

/* Appends a value that is not NULL: its length in 4 bytes, and its bytes. */
typedef void (*AppendValue) (StringInfo message, Datum value, OutputColumn *column);

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

static void
append_length(StringInfo message, int bytes)
{
	uint32		length = pg_hton32((uint32) bytes);

	message_append(message, (const char *) &length, sizeof(length));
}

/* In the client's encoding.  Of strings it is the same in both formats. */
static void
append_text(StringInfo message, Datum value, OutputColumn *column)
{
	int			bytes;
	char	   *text = value_text_get(&column->text, value, &bytes);
	char	   *converted = pg_server_to_client(text, bytes);

	if (converted != text)
		bytes = (int) strlen(converted);
	append_length(message, bytes);
	message_append(message, converted, bytes);
}

/* Digits, and letters of English, are the same in all encodings. */
static void
append_written(StringInfo message, Datum value, OutputColumn *column)
{
	char	   *text = message_room(message, (int) sizeof(uint32) + WRITTEN_TEXT_BYTES) + sizeof(uint32);
	char	   *end = column->text.write(value, text);

	if (end == NULL)
	{
		append_text(message, value, column);
		return;
	}
	append_length(message, (int) (end - text));
	message->len += (int) (end - text);
}

static void
append_2_bytes(StringInfo message, Datum value, OutputColumn *column)
{
	pq_sendint32(message, sizeof(int16));
	pq_sendint16(message, (uint16) DatumGetInt16(value));
}

static void
append_4_bytes(StringInfo message, Datum value, OutputColumn *column)
{
	pq_sendint32(message, sizeof(int32));
	pq_sendint32(message, (uint32) DatumGetInt32(value));
}

static void
append_8_bytes(StringInfo message, Datum value, OutputColumn *column)
{
	pq_sendint32(message, sizeof(int64));
	pq_sendint64(message, (uint64) DatumGetInt64(value));
}

static void
append_sent(StringInfo message, Datum value, OutputColumn *column)
{
	bytea	   *sent = SendFunctionCall(&column->send, value);

	pq_sendint32(message, VARSIZE(sent) - VARHDRSZ);
	pq_sendbytes(message, VARDATA(sent), (int) (VARSIZE(sent) - VARHDRSZ));
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

	if (receiver->columns == NULL)
		begin_columns(receiver, row->tts_tupleDescriptor);
	slot_getallattrs(row);
	old_context = MemoryContextSwitchTo(receiver->context);
	pq_beginmessage_reuse(message, 'D');
	pq_sendint16(message, (uint16) receiver->column_count);
	for (int c = 0; c < receiver->column_count; c++)
	{
		OutputColumn *column = &receiver->columns[c];

		if (row->tts_isnull[c])
			pq_sendint32(message, (uint32) -1);
		else
			column->append(message, row->tts_values[c], column);
	}
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
