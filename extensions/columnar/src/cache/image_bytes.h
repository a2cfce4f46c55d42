/*-------------------------------------------------------------------------
 *
 * image_bytes.h
 *	  Numbers and strings as bytes that are in the order of the values.
 *
 * Numbers have the byte that counts most first, strings have their end marked.  So
 * values that are written one behind the other are compared by their bytes, as if
 * they were compared one by one.
 *
 * Values that are equal can be written differently: their bytes are the same here, and
 * their form says what they lack (image_form.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_IMAGE_BYTES_H
#define PENUMBRA_IMAGE_BYTES_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"

#include "cache/image_form.h"

/* With an initialised buffer, and otherwise all zero at first. */
typedef struct ImageWriter
{
	StringInfoData bytes;
	FormWriter	form;
} ImageWriter;

typedef struct ImageReader
{
	const uint8 *next;
	const uint8 *end;
	FormReader	form;
} ImageReader;

extern void write_float(ImageWriter *writer, double value);
extern double read_float(ImageReader *reader);
extern void write_numeric(ImageWriter *writer, Datum value);
extern Datum read_numeric(ImageReader *reader);
extern void write_interval(ImageWriter *writer, const Interval *value);
extern Interval *read_interval(ImageReader *reader);
extern void write_string(ImageWriter *writer, const char *bytes, Size length);
/* A new string, behind `head` bytes of the caller's. */
extern char *read_string(ImageReader *reader, Size head, Size *length);
/* Of char(n), whose blanks at the end do not compare. */
extern void write_blank_padded(ImageWriter *writer, const struct varlena *value);
extern struct varlena *read_blank_padded(ImageReader *reader);

static inline void
read_bytes(ImageReader *reader, void *bytes, Size length)
{
	memcpy(bytes, reader->next, length);
	reader->next += length;
}

static inline void
write_uint32(ImageWriter *writer, uint32 number)
{
	number = pg_hton32(number);
	appendBinaryStringInfo(&writer->bytes, (char *) &number, sizeof(number));
}

static inline uint32
read_uint32(ImageReader *reader)
{
	uint32		number;

	read_bytes(reader, &number, sizeof(number));
	return pg_ntoh32(number);
}

static inline void
write_uint64(ImageWriter *writer, uint64 number)
{
	number = pg_hton64(number);
	appendBinaryStringInfo(&writer->bytes, (char *) &number, sizeof(number));
}

static inline uint64
read_uint64(ImageReader *reader)
{
	uint64		number;

	read_bytes(reader, &number, sizeof(number));
	return pg_ntoh64(number);
}

#define SIGN_BIT32 ((uint32) 1 << 31)
#define SIGN_BIT64 (UINT64CONST(1) << 63)

static inline void
write_int32(ImageWriter *writer, int32 number)
{
	write_uint32(writer, (uint32) number ^ SIGN_BIT32);
}

static inline int32
read_int32(ImageReader *reader)
{
	return (int32) (read_uint32(reader) ^ SIGN_BIT32);
}

static inline void
write_uint16(ImageWriter *writer, uint16 number, bool is_inverted)
{
	number = pg_hton16(is_inverted ? ~number : number);
	appendBinaryStringInfo(&writer->bytes, (char *) &number, sizeof(number));
}

static inline uint16
read_uint16(ImageReader *reader, bool is_inverted)
{
	uint16		number;

	read_bytes(reader, &number, sizeof(number));
	number = pg_ntoh16(number);
	return is_inverted ? ~number : number;
}

#endif							/* PENUMBRA_IMAGE_BYTES_H */
