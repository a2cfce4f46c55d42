/*-------------------------------------------------------------------------
 *
 * compress.c
 *	  From raw bytes to values.
 *
 *-------------------------------------------------------------------------
 */
#include "compress.h"

#include "dictionary.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pg_compat.h"

/* No method gains on less than this and its header. */
#define MIN_RAW_BYTES 24

/* Bytes that continue a character: all others begin one. */
static uint32
count_continuation(const char *raw, Size bytes)
{
	Size		count = 0;

	if (pg_database_encoding_max_length() == 1)
		return 0;
	if (GetDatabaseEncoding() != PG_UTF8)
		return bytes - pg_mbstrlen_with_len(raw, bytes);
	for (; bytes >= sizeof(uint64); bytes -= sizeof(uint64), raw += sizeof(uint64))
	{
		const uint64 ones = UINT64CONST(0x0101010101010101);
		uint64		eight;

		/* 1 in each byte that is 10xxxxxx; multiplying adds them up in the highest */
		memcpy(&eight, raw, sizeof(eight));
		count += ((eight >> 7 & ~(eight >> 6) & ones) * ones) >> 56;
	}
	for (; bytes > 0; bytes--, raw++)
		count += ((uint8) *raw & 0xC0) == 0x80;
	return count;
}

/* Returns the bytes of data, or 0 if they are more than "room". */
static Size
compress_blocks(const CompressionMethod *method, void *state, const char *raw, ValueHeader *header,
				uint8 *table, uint8 *data, Size room)
{
	Size		used = 0;

	for (uint32 i = 0; i < header->blocks; i++)
	{
		uint32		begin = value_block_begin(header->raw_bytes, i);
		uint32		raw_bytes = value_block_begin(header->raw_bytes, i + 1) - begin;
		size_t		bytes;

		CHECK_FOR_INTERRUPTS();
		if (used + raw_bytes > room)
			return 0;
		/* the head is stored as it is */
		bytes = i == 0 ? 0 : method->routine->cmcompress(state, raw + begin, raw_bytes,
														 (char *) data + used, raw_bytes - 1);
		if (bytes == 0)
		{
			memcpy(data + used, raw + begin, raw_bytes);
			bytes = raw_bytes;
		}
		used += bytes;
		table = store_uint32(table, used);
		table = store_uint32(table, hash_block(raw + begin, raw_bytes));
	}
	return used;
}

static bool
compress_into(const CompressionTarget *target, const char *raw, ValueHeader *header,
			  struct varlena *result)
{
	const CompressionMethod *method = method_by_id(target->method_id);
	uint8	   *bytes = (uint8 *) VARDATA(result);
	Size		used;
	void	   *state;

	check_target(target, method);
	header->method_id = target->method_id;
	if (target->level != method->routine->default_level)
	{
		header->flags |= VALUE_HAS_LEVEL;
		header->level_code = target->level - PENUMBRA_MIN_LEVEL;
	}
	if (target->dictionary_number != 0)
		header->dictionary_id = dictionary_id_by_number(target->dictionary_number);
	if (header->dictionary_id != 0)
		header->flags |= VALUE_HAS_DICTIONARY;
	state = method_state(method, target->level, false, header->dictionary_id);

	if (value_block_count(header->raw_bytes) == 1)
	{
		/* what a raw header would not have */
		Size		extra = 4 + (header->dictionary_id != 0 ? 4 : 0) +
			(header->flags & VALUE_HAS_LEVEL ? 1 : 0);

		header->hash = hash_block(raw, header->raw_bytes);
		bytes += value_header_write(bytes, header);
		used = method->routine->cmcompress(state, raw, header->raw_bytes, (char *) bytes,
										   header->raw_bytes - extra - 1);
	}
	else
	{
		uint8	   *table = bytes + value_header_write(bytes, header);

		bytes = table + value_table_bytes(header);
		used = compress_blocks(method, state, raw, header, table, bytes,
							   header->raw_bytes - value_table_bytes(header));
	}
	SET_VARSIZE(result, (char *) bytes + used - (char *) result);
	return used != 0;
}

/* The value is stored raw where compression gains nothing: compress_into() has less room than the raw value takes. */
struct varlena *
value_compress(const char *raw, Size bytes, int32 typmod, bool is_text)
{
	CompressionTarget target = typmod_target(typmod);
	ValueHeader header = {0};
	struct varlena *result;

	if (bytes > VALUE_MAX_CONTENT_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value of %zu bytes is too long to be compressed", bytes)));
	header.raw_bytes = bytes;
	if (is_text)
		header.continuation_bytes = count_continuation(raw, bytes);
	if (header.continuation_bytes != 0)
		header.flags |= VALUE_HAS_CONTINUATION;

	result = palloc(VARHDRSZ + VALUE_MAX_HEADER_BYTES + bytes);
	if (target.method_id == METHOD_NONE || bytes < MIN_RAW_BYTES ||
		!compress_into(&target, raw, &header, result))
	{
		uint8	   *data = (uint8 *) VARDATA(result);

		header.flags = VALUE_IS_RAW | (header.flags & VALUE_HAS_CONTINUATION);
		header.method_id = METHOD_NONE;
		data += value_header_write(data, &header);
		memcpy(data, raw, bytes);
		SET_VARSIZE(result, (char *) data + bytes - (char *) result);
	}
	if (bytes > VALUE_BLOCK_BYTES)
		result = repalloc(result, VARSIZE(result));
	return result;
}

bool
value_has_target(const ValueHeader *header, const CompressionTarget *target)
{
	uint32		dictionary_id = 0;

	if (header->flags & VALUE_IS_RAW)
		return target->method_id == METHOD_NONE;
	if (header->method_id != target->method_id ||
		value_level(header, method_by_id(target->method_id)->routine) != target->level)
		return false;
	if (target->dictionary_number != 0)
		dictionary_id = dictionary_id_by_number(target->dictionary_number);
	return header->dictionary_id == dictionary_id;
}
