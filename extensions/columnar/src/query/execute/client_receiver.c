/*-------------------------------------------------------------------------
 *
 * client_receiver.c
 *	  Rows to the client, written into messages without a copy per value.
 *
 * PostgreSQL's receiver calls each value's output function, which allocates a
 * string, and copies that into the message.  This one writes the same bytes
 * into the message at once for the types whose output is a few lines.  Others
 * go through their output functions as they do there.  RowDescription, and
 * what else begins and ends a result, stays with PostgreSQL's receiver.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "query/execute/client_receiver.h"
#include "query/execute/forwarding_receiver.h"

#define INTEGER_TEXT_BYTES 21	/* of the longest, with its NUL */

typedef struct OutputColumn OutputColumn;

/* Appends a value that is not NULL: its length in 4 bytes, and its bytes. */
typedef void (*AppendValue) (StringInfo message, Datum value, OutputColumn *column);

struct OutputColumn
{
	AppendValue append;
	FmgrInfo	function;		/* of the type: output or send */
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

/* Room for a value in text form: its bytes go to the result, behind their length. */
static char *
begin_text(StringInfo message, int bytes_max)
{
	enlargeStringInfo(message, (int) sizeof(uint32) + bytes_max);
	return message->data + message->len + sizeof(uint32);
}

static void
end_text(StringInfo message, int bytes)
{
	uint32		length = pg_hton32((uint32) bytes);

	memcpy(message->data + message->len, &length, sizeof(length));
	message->len += (int) sizeof(length) + bytes;
}

static void
append_int2_text(StringInfo message, Datum value, OutputColumn *column)
{
	end_text(message, pg_itoa(DatumGetInt16(value), begin_text(message, INTEGER_TEXT_BYTES)));
}

static void
append_int4_text(StringInfo message, Datum value, OutputColumn *column)
{
	end_text(message, pg_ltoa(DatumGetInt32(value), begin_text(message, INTEGER_TEXT_BYTES)));
}

static void
append_int8_text(StringInfo message, Datum value, OutputColumn *column)
{
	end_text(message, pg_lltoa(DatumGetInt64(value), begin_text(message, INTEGER_TEXT_BYTES)));
}

/* As date_out() has it. */
static void
append_date_text(StringInfo message, Datum value, OutputColumn *column)
{
	DateADT		date = DatumGetDateADT(value);
	char	   *text = begin_text(message, MAXDATELEN + 1);
	struct pg_tm tm = {0};

	if (DATE_NOT_FINITE(date))
		EncodeSpecialDate(date, text);
	else
	{
		j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
		EncodeDateOnly(&tm, DateStyle, text);
	}
	end_text(message, (int) strlen(text));
}

/* In the client's encoding. */
static void
append_text(StringInfo message, char *text, int bytes)
{
	char	   *converted = pg_server_to_client(text, bytes);

	if (converted != text)
		bytes = (int) strlen(converted);
	memcpy(begin_text(message, bytes), converted, bytes);
	end_text(message, bytes);
}

/* Strings are the same in both formats. */
static void
append_string(StringInfo message, Datum value, OutputColumn *column)
{
	text	   *string = DatumGetTextPP(value);

	append_text(message, VARDATA_ANY(string), (int) VARSIZE_ANY_EXHDR(string));
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
append_output(StringInfo message, Datum value, OutputColumn *column)
{
	char	   *text = OutputFunctionCall(&column->function, value);

	append_text(message, text, (int) strlen(text));
}

static void
append_sent(StringInfo message, Datum value, OutputColumn *column)
{
	bytea	   *sent = SendFunctionCall(&column->function, value);

	pq_sendint32(message, VARSIZE(sent) - VARHDRSZ);
	pq_sendbytes(message, VARDATA(sent), (int) (VARSIZE(sent) - VARHDRSZ));
}

/* By the type's function, which is the base type's where the type is a domain. */
static AppendValue
append_of(Oid function_oid)
{
	switch (function_oid)
	{
		case F_INT2OUT:
			return append_int2_text;
		case F_INT4OUT:
			return append_int4_text;
		case F_INT8OUT:
			return append_int8_text;
		case F_DATE_OUT:
			return append_date_text;
		case F_TEXTOUT:
		case F_VARCHAROUT:
		case F_BPCHAROUT:
		case F_TEXTSEND:
		case F_VARCHARSEND:
		case F_BPCHARSEND:
			return append_string;
		case F_INT2SEND:
			return append_2_bytes;
		case F_INT4SEND:
		case F_DATE_SEND:
		case F_FLOAT4SEND:
			return append_4_bytes;
		case F_INT8SEND:
		case F_FLOAT8SEND:
		case F_TIMESTAMP_SEND:
		case F_TIMESTAMPTZ_SEND:
			return append_8_bytes;
	}
	return NULL;
}

static void
begin_column(OutputColumn *column, Oid type, int16 format)
{
	bool		is_binary = format == 1;
	Oid			function_oid;
	bool		is_varlena;

	if (is_binary)
		getTypeBinaryOutputInfo(type, &function_oid, &is_varlena);
	else if (format == 0)
		getTypeOutputInfo(type, &function_oid, &is_varlena);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unsupported format code: %d", format)));
	column->append = append_of(function_oid);
	if (column->append != NULL)
		return;
	fmgr_info(function_oid, &column->function);
	column->append = is_binary ? append_sent : append_output;
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
