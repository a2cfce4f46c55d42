/*-------------------------------------------------------------------------
 *
 * writer.c
 *	  Formatting for signal handlers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "writer.h"

static const char digits[] = "0123456789abcdef";

void
writer_init(Writer *writer, char *buffer, size_t size_bytes, int fd)
{
	writer->buffer = buffer;
	writer->size_bytes = size_bytes;
	writer->used_bytes = 0;
	writer->fd = fd;
	writer->failed = false;
}

void
writer_flush(Writer *writer)
{
	size_t		done = 0;

	while (writer->fd >= 0 && done < writer->used_bytes)
	{
		ssize_t		written = write(writer->fd, writer->buffer + done, writer->used_bytes - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
		{
			writer->failed = true;
			break;
		}
		done += written;
	}
	writer->used_bytes = 0;
}

void
writer_char(Writer *writer, char c)
{
	if (writer->used_bytes == writer->size_bytes)
	{
		if (writer->fd < 0)
			return;
		writer_flush(writer);
	}
	writer->buffer[writer->used_bytes++] = c;
}

void
writer_string(Writer *writer, const char *string)
{
	while (*string)
		writer_char(writer, *string++);
}

void
writer_hex(Writer *writer, uint64 value)
{
	int			shift = 60;

	while (shift > 0 && (value >> shift) == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		writer_char(writer, digits[(value >> shift) & 15]);
}

void
writer_hex_bytes(Writer *writer, const uint8 *bytes, int count)
{
	for (int i = 0; i < count; i++)
	{
		writer_char(writer, digits[bytes[i] >> 4]);
		writer_char(writer, digits[bytes[i] & 15]);
	}
}

void
writer_decimal(Writer *writer, int64 value)
{
	char		reversed[20];
	int			count = 0;
	uint64		rest = value < 0 ? -(uint64) value : (uint64) value;

	if (value < 0)
		writer_char(writer, '-');
	do
		reversed[count++] = digits[rest % 10];
	while ((rest /= 10) > 0);
	while (count > 0)
		writer_char(writer, reversed[--count]);
}

void
writer_decimal_2(Writer *writer, int value)
{
	writer_char(writer, digits[value / 10 % 10]);
	writer_char(writer, digits[value % 10]);
}

/* One line of ASCII, whatever the bytes are. */
void
writer_escaped(Writer *writer, const char *string, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
	{
		unsigned char c = string[i];

		if (c == '\\')
			writer_string(writer, "\\\\");
		else if (c == '\n')
			writer_string(writer, "\\n");
		else if (c == '\r')
			writer_string(writer, "\\r");
		else if (c == '\t')
			writer_string(writer, "\\t");
		else if (c >= 32 && c < 127)
			writer_char(writer, c);
		else
		{
			writer_string(writer, "\\x");
			writer_hex_bytes(writer, &c, 1);
		}
	}
}
