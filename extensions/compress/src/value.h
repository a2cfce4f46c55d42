/*-------------------------------------------------------------------------
 *
 * value.h
 *	  Layout of a compressed value, the same for the three types.
 *
 * After the varlena header, which may have 1 or 4 bytes:
 *
 *	bytes	what
 *	1		format version (high half) and flags (low half)
 *	1-2		method id, varint
 *	1		level - PENUMBRA_MIN_LEVEL, if VALUE_HAS_LEVEL; without, it is the
 *			method's default level
 *	4		dictionary id, if VALUE_HAS_DICTIONARY
 *	1-5		raw length in bytes, varint
 *	1-5		bytes that continue a character, varint, if VALUE_HAS_CONTINUATION;
 *			0 without: as many characters as bytes (text only)
 *	4		hash of the raw bytes, if compressed in one block
 *	8 * n	n > 1 blocks: per block the end of its data, counted from the end
 *			of this table, and the hash of its raw bytes
 *	rest	the data: raw bytes if the method is "none", else blocks
 *
 * Varints have 7 bits per byte, low ones first.  Other integers are
 * little-endian.  Up to VALUE_BLOCK_BYTES raw bytes are one block.  More begin
 * with a block of VALUE_HEAD_BYTES, which is stored as it is: a short prefix is
 * one chunk of TOAST and no decompression.  The second one ends at
 * VALUE_SECOND_END, so that a longer prefix is a short decompression; the
 * others hold VALUE_BLOCK_BYTES, the last one the rest.  So their number
 * follows from the raw length.  A block whose data has its raw length is stored
 * as it is.
 *
 * hash_raw() depends on the raw bytes alone, so that values of different
 * methods and levels have the same hash, which is what hash indexes hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_VALUE_H
#define COMPRESS_VALUE_H

#include "postgres.h"

#include "penumbra_compress.h"
#include "utils/memutils.h"

#define VALUE_VERSION 1
#define VALUE_BLOCK_BYTES 65536
#define VALUE_HEAD_BYTES 512
#define VALUE_SECOND_END 4096

/* Flags */
#define VALUE_HAS_DICTIONARY 0x01
#define VALUE_HAS_CONTINUATION 0x02
#define VALUE_IS_RAW 0x04
#define VALUE_HAS_LEVEL 0x08

#define VALUE_MAX_RAW_BYTES (MaxAllocSize - VARHDRSZ)
/* What a value can hold, whatever it is compressed to */
#define VALUE_MAX_CONTENT_BYTES (VALUE_MAX_RAW_BYTES - VALUE_MAX_HEADER_BYTES)
/* Without the table of blocks. */
#define VALUE_MAX_HEADER_BYTES (1 + 2 + 1 + 4 + 5 + 5 + 4)
#define VALUE_BLOCK_ENTRY_BYTES 8

/* Two bytes of varint, and what a type modifier has room for (typmod.h). */
#define METHOD_ID_MAX 4095

StaticAssertDecl(METHOD_ID_MAX < 1 << 14, "a method id fits into two bytes");
StaticAssertDecl(VALUE_MAX_RAW_BYTES < UINT64CONST(1) << 32, "a raw length fits into 32 bits");

typedef struct ValueHeader
{
	uint8		flags;
	uint32		method_id;
	uint8		level_code;		/* level - PENUMBRA_MIN_LEVEL */
	uint32		dictionary_id;
	uint32		raw_bytes;
	uint32		continuation_bytes;
	uint32		hash;			/* of a single compressed block */
	uint32		blocks;			/* 0 if stored raw */
	uint32		header_bytes;	/* where the table of blocks begins, or the data */
} ValueHeader;

static inline uint32
value_block_count(uint32 raw_bytes)
{
	if (raw_bytes <= VALUE_BLOCK_BYTES)
		return raw_bytes != 0;
	return 2 + (raw_bytes - VALUE_SECOND_END + VALUE_BLOCK_BYTES - 1) / VALUE_BLOCK_BYTES;
}

/* Where in the raw bytes a block begins; the end of the last one is their end. */
static inline uint32
value_block_begin(uint32 raw_bytes, uint32 block)
{
	if (block == 0)
		return 0;
	if (block >= value_block_count(raw_bytes))
		return raw_bytes;
	if (block == 1)
		return VALUE_HEAD_BYTES;
	return VALUE_SECOND_END + (block - 2) * VALUE_BLOCK_BYTES;
}

/* The block that holds this raw byte. */
static inline uint32
value_block_at(uint32 raw_bytes, uint32 offset)
{
	if (raw_bytes <= VALUE_BLOCK_BYTES || offset < VALUE_HEAD_BYTES)
		return 0;
	if (offset < VALUE_SECOND_END)
		return 1;
	return 2 + (offset - VALUE_SECOND_END) / VALUE_BLOCK_BYTES;
}

/* Of a compressed value. */
static inline int
value_level(const ValueHeader *header, const CompressionRoutine *routine)
{
	return header->flags & VALUE_HAS_LEVEL ? header->level_code + PENUMBRA_MIN_LEVEL
		: routine->default_level;
}

/* 0 unless there is more than one block. */
static inline Size
value_table_bytes(const ValueHeader *header)
{
	return header->blocks > 1 ? (Size) header->blocks * VALUE_BLOCK_ENTRY_BYTES : 0;
}

static inline uint32
value_data_offset(const ValueHeader *header)
{
	return header->header_bytes + value_table_bytes(header);
}

static inline uint32
load_uint32(const uint8 *bytes)
{
	return bytes[0] | (uint32) bytes[1] << 8 | (uint32) bytes[2] << 16 | (uint32) bytes[3] << 24;
}

static inline uint8 *
store_uint32(uint8 *bytes, uint32 number)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = number >> 8 * i;
	return bytes + 4;
}

/* Returns NULL, or what is wrong.  The bytes may be a prefix of VALUE_MAX_HEADER_BYTES. */
extern const char *value_header_read(const uint8 *bytes, Size available, ValueHeader *header);

/* Writes all but the table; sets header_bytes and blocks.  Returns header_bytes. */
extern uint32 value_header_write(uint8 *bytes, ValueHeader *header);

extern uint32 hash_block(const char *raw, Size bytes);
extern uint32 hash_raw(const char *raw, Size bytes);
/* hash_raw() of what has these hashes of blocks. */
extern uint32 hash_blocks(const uint32 *hashes, uint32 blocks);

#endif							/* COMPRESS_VALUE_H */
