/*-------------------------------------------------------------------------
 *
 * form_fuzz.c
 *	  Forms of numbers in images: what was written is read, and any bytes are read within their bounds.
 *
 * An input is the number of bytes before the form, how many numbers are short and by how
 * many zeros the others are longer, and then what is written over the image.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "penumbra/types.h"

#include "cache/image_form.h"

#define require(condition) \
	do { \
		if (!(condition)) \
			__builtin_trap(); \
	} while (0)

#define NUMBERS_MAX		1000

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* ---------------------------------------------------------------- of the server */

static void
make_room(StringInfo bytes, int length)
{
	bytes->maxlen = bytes->len + length + 1;
	bytes->data = realloc(bytes->data, bytes->maxlen);
	require(bytes->data != NULL);
}

void
initStringInfo(StringInfo bytes)
{
	memset(bytes, 0, sizeof(*bytes));
	make_room(bytes, 0);
}

void
appendBinaryStringInfo(StringInfo bytes, const char *data, int length)
{
	make_room(bytes, length);
	memcpy(bytes->data + bytes->len, data, length);
	bytes->len += length;
}

void
appendStringInfoChar(StringInfo bytes, char byte)
{
	appendBinaryStringInfo(bytes, &byte, 1);
}

/* ---------------------------------------------------------------- */

static uint32
next(const uint8 **data, size_t *size, int bytes)
{
	uint32		value = 0;

	for (; bytes > 0 && *size > 0; bytes--, (*size)--)
		value = value << 8 | *(*data)++;
	return value;
}

/* In memory of its own, so that the sanitizer sees a read past the end. */
static void
read_changed(const StringInfoData *image, const uint8 *data, size_t size)
{
	uint32		length = next(&data, &size, 1) % 8 == 0 ? next(&data, &size, 2) % (image->len + 1) : image->len;
	char	   *changed = malloc(length);
	uint32		compared = length;
	FormReader	reader;

	require(length == 0 || changed != NULL);
	memcpy(changed, image->data, length);
	while (size > 0 && length > 0)
	{
		/* half of the time where the length is */
		uint32		from_end = next(&data, &size, 1) % 2 == 0 ? 8 : length;

		changed[length - 1 - next(&data, &size, 2) % Min(from_end, length)] = (char) next(&data, &size, 1);
	}
	reader = form_begin(changed, &compared);
	require(compared <= length && (compared == length || compared >= PENUMBRA_TAILED_BYTES_MIN));
	for (int i = 0; i < NUMBERS_MAX; i++)
		(void) form_read(&reader);
	free(changed);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	uint32		longer[NUMBERS_MAX] = {0};
	uint32		count = next(&data, &size, 2) % NUMBERS_MAX;
	uint32		bytes = next(&data, &size, 1);
	uint32		length;
	FormWriter	writer = {0};
	FormReader	reader;
	StringInfoData image;

	initStringInfo(&image);
	for (uint32 i = 0; i < bytes; i++)
		appendStringInfoChar(&image, (char) (i % 2));
	for (uint32 i = 0; i < count && size > 0; i += 1 + next(&data, &size, 1))
		longer[i] = next(&data, &size, 2);
	for (uint32 i = 0; i < count; i++)
		form_write(&writer, longer[i]);
	form_finish(&writer, &image);
	length = image.len;
	reader = form_begin(image.data, &length);
	require(length >= bytes + 1 && length <= Max(bytes + 1, PENUMBRA_TAILED_BYTES_MIN));
	for (uint32 i = 0; i < count; i++)
		require(form_read(&reader) == longer[i]);
	require(form_read(&reader) == 0);
	read_changed(&image, data, size);
	free(writer.bytes.data);
	free(image.data);
	return 0;
}
