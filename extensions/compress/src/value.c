/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Reading and writing the header of a value, hashes.  See value.h.
 *
 *-------------------------------------------------------------------------
 */
#include "value.h"

#include <xxhash.h>

static uint8 *
store_varint(uint8 *bytes, uint32 number)
{
	while (number >= 0x80)
	{
		*bytes++ = number | 0x80;
		number >>= 7;
	}
	*bytes++ = number;
	return bytes;
}

/* Returns NULL if the bytes end before the number, or it needs more than max_bytes. */
static const uint8 *
load_varint(const uint8 *bytes, const uint8 *end, int max_bytes, uint32 *number)
{
	uint64		sum = 0;

	for (int i = 0; i < max_bytes && bytes < end; i++)
	{
		uint8		byte = *bytes++;

		sum |= (uint64) (byte & 0x7F) << 7 * i;
		if (!(byte & 0x80))
		{
			*number = sum;
			return sum <= PG_UINT32_MAX ? bytes : NULL;
		}
	}
	return NULL;
}

static const uint8 *
load_checked_uint32(const uint8 *bytes, const uint8 *end, uint32 *number)
{
	if (end - bytes < 4)
		return NULL;
	*number = load_uint32(bytes);
	return bytes + 4;
}

/* Returns what is wrong with the bytes, or NULL. They are not trusted: each length is checked before use. */
const char *
value_header_read(const uint8 *bytes, Size available, ValueHeader *header)
{
	const char *const too_short = "The header of the value is incomplete.";
	const uint8 *at = bytes;
	const uint8 *end = bytes + available;

	memset(header, 0, sizeof(*header));
	if (available == 0)
		return too_short;
	if (*at >> 4 != VALUE_VERSION)
		return "The format version of the value is unknown.";
	header->flags = *at++ & 0x0F;

	if ((at = load_varint(at, end, 2, &header->method_id)) == NULL)
		return too_short;
	if (header->method_id > METHOD_ID_MAX)
		return "The method of the value is out of range.";
	if (header->flags & VALUE_HAS_LEVEL)
	{
		if (at == end)
			return too_short;
		header->level_code = *at++;
		if (header->level_code > PENUMBRA_MAX_LEVEL - PENUMBRA_MIN_LEVEL)
			return "The level of the value is out of range.";
	}
	if (header->flags & VALUE_HAS_DICTIONARY &&
		(at = load_checked_uint32(at, end, &header->dictionary_id)) == NULL)
		return too_short;
	if ((at = load_varint(at, end, 5, &header->raw_bytes)) == NULL)
		return too_short;
	if (header->raw_bytes > VALUE_MAX_RAW_BYTES)
		return "The raw length of the value is out of range.";
	if (header->flags & VALUE_HAS_CONTINUATION)
	{
		if ((at = load_varint(at, end, 5, &header->continuation_bytes)) == NULL)
			return too_short;
		if (header->continuation_bytes >= header->raw_bytes)
			return "The value has fewer bytes than characters.";
	}
	if (header->flags & VALUE_IS_RAW)
	{
		if (header->flags & (VALUE_HAS_DICTIONARY | VALUE_HAS_LEVEL))
			return "The value has flags that contradict each other.";
	}
	else
	{
		header->blocks = value_block_count(header->raw_bytes);
		if (header->blocks == 0)
			return "A compressed value cannot be empty.";
		if (header->blocks == 1 && (at = load_checked_uint32(at, end, &header->hash)) == NULL)
			return too_short;
	}
	header->header_bytes = at - bytes;
	return NULL;
}

uint32
value_header_write(uint8 *bytes, ValueHeader *header)
{
	uint8	   *at = bytes;

	*at++ = VALUE_VERSION << 4 | header->flags;
	at = store_varint(at, header->method_id);
	if (header->flags & VALUE_HAS_LEVEL)
		*at++ = header->level_code;
	if (header->flags & VALUE_HAS_DICTIONARY)
		at = store_uint32(at, header->dictionary_id);
	at = store_varint(at, header->raw_bytes);
	if (header->flags & VALUE_HAS_CONTINUATION)
		at = store_varint(at, header->continuation_bytes);
	header->blocks = header->flags & VALUE_IS_RAW ? 0 : value_block_count(header->raw_bytes);
	if (header->blocks == 1)
		at = store_uint32(at, header->hash);
	header->header_bytes = at - bytes;
	return header->header_bytes;
}

uint32
hash_block(const char *raw, Size bytes)
{
	return XXH3_64bits(raw, bytes);
}

uint32
hash_blocks(const uint32 *hashes, uint32 blocks)
{
	XXH64_hash_t hash = blocks;

	for (uint32 i = 0; i < blocks; i++)
	{
		uint8		bytes[4];

		store_uint32(bytes, hashes[i]);
		hash = XXH3_64bits_withSeed(bytes, sizeof(bytes), hash);
	}
	return hash;
}

uint32
hash_raw(const char *raw, Size bytes)
{
	uint32		blocks = value_block_count(bytes);
	uint32	   *hashes;
	uint32		hash;

	if (blocks <= 1)
		return hash_block(raw, bytes);
	hashes = palloc(blocks * sizeof(uint32));
	for (uint32 i = 0; i < blocks; i++)
	{
		uint32		begin = value_block_begin(bytes, i);

		hashes[i] = hash_block(raw + begin, value_block_begin(bytes, i + 1) - begin);
	}
	hash = hash_blocks(hashes, blocks);
	pfree(hashes);
	return hash;
}
