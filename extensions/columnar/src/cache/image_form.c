/*-------------------------------------------------------------------------
 *
 * image_form.c
 *	  How the parts of an image are written.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "penumbra/types.h"

#include "cache/image_form.h"

#define MORE			0x80
#define NUMBER_BITS		7
#define NUMBER_MASK		0x7F

static void
write_number(StringInfo bytes, uint32 number)
{
	for (; number > NUMBER_MASK; number >>= NUMBER_BITS)
		appendStringInfoChar(bytes, (char) (number & NUMBER_MASK) | (char) MORE);
	appendStringInfoChar(bytes, (char) number);
}

/* Behind the end there are zeros. */
static uint32
read_number(FormReader *reader)
{
	uint32		number = 0;

	for (int shift = 0; shift < 32 && reader->next < reader->end; shift += NUMBER_BITS)
	{
		uint8		byte = *reader->next++;

		number |= (uint32) (byte & NUMBER_MASK) << shift;
		if ((byte & MORE) == 0)
			break;
	}
	return number;
}

void
form_write(FormWriter *writer, uint32 longer)
{
	if (longer == 0)
	{
		writer->short_numbers++;
		return;
	}
	if (writer->bytes.data == NULL)
		initStringInfo(&writer->bytes);
	write_number(&writer->bytes, writer->short_numbers);
	write_number(&writer->bytes, longer);
	writer->short_numbers = 0;
}

void
form_finish(const FormWriter *writer, StringInfo image)
{
	uint32		tail = writer->bytes.len + PENUMBRA_TAIL_END_BYTES;

	/* one zero at least, so that the last byte that is compared is no blank and no tail's */
	do
		appendStringInfoChar(image, '\0');
	while (image->len < PENUMBRA_TAILED_BYTES_MIN);
	if (writer->bytes.data == NULL)
		return;
	appendBinaryStringInfo(image, writer->bytes.data, writer->bytes.len);
	for (int i = 0; i < 4; i++)
		appendStringInfoChar(image, (char) (uint8) (tail >> (8 * i)));
	appendStringInfoChar(image, '\0');
	appendStringInfoChar(image, '\1');
}

FormReader
form_begin(const char *image, uint32 *length)
{
	const uint8 *end = (const uint8 *) image + *length;
	uint32		tail = penumbra_tail_bytes(image, *length);

	*length -= tail;
	return (FormReader) {
		.next = end - tail,
		.end = tail == 0 ? end : end - PENUMBRA_TAIL_END_BYTES
	};
}

uint32
form_read(FormReader *reader)
{
	const uint8 *pair = reader->next;

	if (pair == reader->end)
		return 0;
	if (read_number(reader) > reader->short_numbers)
	{
		reader->next = pair;
		reader->short_numbers++;
		return 0;
	}
	reader->short_numbers = 0;
	return read_number(reader);
}
