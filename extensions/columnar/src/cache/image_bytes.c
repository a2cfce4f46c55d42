/*-------------------------------------------------------------------------
 *
 * image_bytes.c
 *	  Numbers and strings as bytes that are in the order of the values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"

#include "cache/image_bytes.h"
#include "pg_compat.h"

/* The bits of a negative number are all inverted, NaN comes last. */
void
write_float(ImageWriter *writer, double value)
{
	uint64		bits;

	form_write(&writer->form, value == 0 && signbit(value));
	if (isnan(value))
		value = get_float8_nan();
	else if (value == 0)
		value = 0;
	memcpy(&bits, &value, sizeof(bits));
	write_uint64(writer, isnan(value) ? PG_UINT64_MAX : bits & SIGN_BIT64 ? ~bits : bits | SIGN_BIT64);
}

double
read_float(ImageReader *reader)
{
	uint64		bits = read_uint64(reader);
	bool		is_negative_zero = form_read(&reader->form) != 0;
	double		value;

	if (bits == PG_UINT64_MAX)
		return get_float8_nan();
	bits = bits & SIGN_BIT64 ? bits ^ SIGN_BIT64 : ~bits;
	memcpy(&value, &bits, sizeof(value));
	return is_negative_zero && value == 0 ? -0.0 : value;
}

/* Zero bytes are followed by ESCAPED, the end by END. */
#define ESCAPED		0xFF
#define END			0x00

void
write_string(ImageWriter *writer, const char *bytes, Size length)
{
	const char *end = bytes + length;

	while (bytes < end)
	{
		const char *zero = memchr(bytes, 0, end - bytes);

		if (zero == NULL)
			zero = end;
		appendBinaryStringInfo(&writer->bytes, bytes, zero - bytes);
		bytes = zero;
		if (zero < end)
		{
			appendStringInfoChar(&writer->bytes, '\0');
			appendStringInfoChar(&writer->bytes, (char) ESCAPED);
			bytes++;
		}
	}
	appendStringInfoChar(&writer->bytes, '\0');
	appendStringInfoChar(&writer->bytes, END);
}

/* With the zeros that are escaped. */
static Size
string_bytes(const ImageReader *reader)
{
	const uint8 *zero = reader->next;

	while ((zero = memchr(zero, 0, reader->end - zero))[1] != END)
		zero += 2;
	return zero - reader->next;
}

char *
read_string(ImageReader *reader, Size head, Size *length)
{
	char	   *string = palloc_extended(Max(head + string_bytes(reader), 1), MCXT_ALLOC_HUGE);
	char	   *to = string + head;

	for (;;)
	{
		const uint8 *zero = memchr(reader->next, 0, reader->end - reader->next);
		Size		bytes = zero - reader->next;

		memcpy(to, reader->next, bytes);
		to += bytes;
		reader->next = zero + 2;
		if (zero[1] == END)
			break;
		*to++ = '\0';
	}
	*length = to - string - head;
	return string;
}

void
write_blank_padded(ImageWriter *writer, const struct varlena *value)
{
	Size		bytes = VARSIZE_ANY_EXHDR(value);
	Size		length = bytes;

	while (length > 0 && VARDATA_ANY(value)[length - 1] == ' ')
		length--;
	write_string(writer, VARDATA_ANY(value), length);
	form_write(&writer->form, bytes - length);
}

struct varlena *
read_blank_padded(ImageReader *reader)
{
	Size		length;
	char	   *string = read_string(reader, VARHDRSZ, &length);
	Size		blanks = form_read(&reader->form);

	string = repalloc_huge(string, VARHDRSZ + length + blanks);
	memset(string + VARHDRSZ + length, ' ', blanks);
	SET_VARSIZE(string, VARHDRSZ + length + blanks);
	return (struct varlena *) string;
}

/*
 * Of an interval the days of 24 hours, of which a month has 30, and the time that is left.  Its form says by how much
 * its months and days are others than those of the shortest way to write it: 26 hours are not a day and 2 hours.
 */
static void
shortest_interval(int64 days, bool has_time, uint32 *month, uint32 *day)
{
	/* towards zero, as the time has the sign of the days */
	if (days < 0 && has_time)
		days++;
	*month = (uint32) (days / DAYS_PER_MONTH);
	*day = (uint32) (days % DAYS_PER_MONTH);
}

/* Small numbers for those around zero. */
static uint32
fold_sign(uint32 number)
{
	return number << 1 ^ ((number & SIGN_BIT32) != 0 ? PG_UINT32_MAX : 0);
}

static uint32
unfold_sign(uint32 number)
{
	return number >> 1 ^ ((number & 1) != 0 ? PG_UINT32_MAX : 0);
}

void
write_interval(ImageWriter *writer, const Interval *value)
{
	int64		days = (int64) value->month * DAYS_PER_MONTH + value->day + value->time / USECS_PER_DAY;
	int64		time = value->time % USECS_PER_DAY;
	uint32		month;
	uint32		day;

	if (time < 0)
	{
		time += USECS_PER_DAY;
		days--;
	}
	write_uint64(writer, (uint64) days ^ SIGN_BIT64);
	write_uint64(writer, (uint64) time);
	shortest_interval(days, time != 0, &month, &day);
	form_write(&writer->form, fold_sign((uint32) value->month - month));
	form_write(&writer->form, fold_sign((uint32) value->day - day));
}

Interval *
read_interval(ImageReader *reader)
{
	Interval   *value = palloc(sizeof(Interval));
	int64		days = (int64) (read_uint64(reader) ^ SIGN_BIT64);
	int64		time = (int64) read_uint64(reader);
	uint32		month;
	uint32		day;

	shortest_interval(days, time != 0, &month, &day);
	value->month = (int32) (month + unfold_sign(form_read(&reader->form)));
	value->day = (int32) (day + unfold_sign(form_read(&reader->form)));
	/* the sum has room where the product has none */
	value->time = (int64) ((uint64) time + (uint64) (days - (int64) value->month * DAYS_PER_MONTH - value->day) *
						   (uint64) USECS_PER_DAY);
	return value;
}

/* Of a numeric: what it is, then the weight and the digits to the base 10,000, each one more than it is, and a zero. */
enum
{
	MINUS_INFINITY,
	NEGATIVE,
	ZERO,
	POSITIVE,
	PLUS_INFINITY,
	NOT_A_NUMBER
};

/* As numeric_send() writes them. */
#define SENT_NEGATIVE	0x4000
#define SENT_NAN		0xC000
#define SENT_PINF		0xD000
#define SENT_NINF		0xF000

static int
scale_of_digits(int count, int weight, uint16 last)
{
	int			scale = (count - weight - 1) * 4;

	for (; count > 0 && last % 10 == 0; last /= 10)
		scale--;
	return count == 0 ? 0 : Max(scale, 0);
}

void
write_numeric(ImageWriter *writer, Datum value)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
	ImageReader from = {(const uint8 *) VARDATA_ANY(sent)};
	int			count = read_uint16(&from, false);
	int16		weight = (int16) read_uint16(&from, false);
	uint16		sign = read_uint16(&from, false);
	int			scale = read_uint16(&from, false);
	bool		is_negative = sign == SENT_NEGATIVE;
	uint16		digit = 0;
	int			least_scale;

	if (sign == SENT_NAN || sign == SENT_PINF || sign == SENT_NINF)
	{
		appendStringInfoChar(&writer->bytes, sign == SENT_NAN ? NOT_A_NUMBER
							 : sign == SENT_PINF ? PLUS_INFINITY : MINUS_INFINITY);
		return;
	}
	appendStringInfoChar(&writer->bytes, count == 0 ? ZERO : is_negative ? NEGATIVE : POSITIVE);
	if (count > 0)
	{
		write_uint16(writer, (uint16) weight ^ 0x8000, is_negative);
		for (int i = 0; i < count; i++)
		{
			digit = read_uint16(&from, false);
			write_uint16(writer, digit + 1, is_negative);
		}
		write_uint16(writer, 0, is_negative);
	}
	least_scale = scale_of_digits(count, weight, digit);
	if (scale < least_scale)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a numeric has more digits than it shows")));
	form_write(&writer->form, scale - least_scale);
}

Datum
read_numeric(ImageReader *reader)
{
	StringInfoData sent;
	int			kind = *reader->next++;
	bool		is_negative = kind == NEGATIVE;
	int			count = 0;
	int16		weight = 0;
	uint16		digit = 0;
	uint16		next;

	initStringInfo(&sent);
	pq_sendint16(&sent, 0);
	if (kind == NEGATIVE || kind == POSITIVE)
		weight = (int16) (read_uint16(reader, is_negative) ^ 0x8000);
	pq_sendint16(&sent, weight);
	pq_sendint16(&sent, kind == NOT_A_NUMBER ? SENT_NAN : kind == PLUS_INFINITY ? SENT_PINF
				 : kind == MINUS_INFINITY ? SENT_NINF : is_negative ? SENT_NEGATIVE : 0);
	pq_sendint16(&sent, 0);
	while ((kind == NEGATIVE || kind == POSITIVE) && (next = read_uint16(reader, is_negative)) != 0)
	{
		digit = next - 1;
		pq_sendint16(&sent, digit);
		count++;
	}
	((uint16 *) sent.data)[0] = pg_hton16(count);
	if (kind >= NEGATIVE && kind <= POSITIVE)
		((uint16 *) sent.data)[3] = pg_hton16(scale_of_digits(count, weight, digit) + form_read(&reader->form));
	return DirectFunctionCall3(numeric_recv, PointerGetDatum(&sent), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}
