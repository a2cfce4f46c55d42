/*-------------------------------------------------------------------------
 *
 * decompress.c
 *	  From values to raw bytes, all or a part of them.
 *
 *	  The hash of a block is checked when the block is decompressed as a
 *	  whole.  A method with cmdecompress_slice stops at the end of the slice,
 *	  which has no hash.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "waiting.h"

/* One chunk of TOAST: what costs no more to read than a header alone. */
#define FIRST_READ_BYTES 1996

/* What all blocks of a value are decompressed with. */
typedef struct Reader
{
	const CompressionMethod *method;
	void	   *state;
} Reader;

/* The table of blocks, from the entry of one on */
typedef struct BlockTable
{
	const uint8 *entries;
	uint32		first;
} BlockTable;

void
report_corruption(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("compressed value is corrupted"),
			 errdetail_internal("%s", detail)));
}

static void
open_bytes(struct varlena *detoasted, Datum datum, Size stored_bytes, OpenValue *value)
{
	const ValueHeader *header = &value->header;
	const char *problem;

	value->datum = datum;
	value->bytes = (const uint8 *) VARDATA_ANY(detoasted);
	value->available = VARSIZE_ANY_EXHDR(detoasted);
	value->stored_bytes = stored_bytes;
	problem = value_header_read(value->bytes, value->available, &value->header);
	if (problem != NULL)
		report_corruption(problem);
	if (stored_bytes < value_data_offset(header))
		report_corruption("The value ends within its table of blocks.");
	if (header->flags & VALUE_IS_RAW && stored_bytes - header->header_bytes != header->raw_bytes)
		report_corruption("The value has another length than its header says.");
}

void
value_open(Datum datum, OpenValue *value)
{
	struct varlena *detoasted;

	/* what is only read need not be compressed first */
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		detoasted = waiting_value_stored_raw(datum);
	else
		detoasted = PG_DETOAST_DATUM_PACKED(datum);
	open_bytes(detoasted, datum, VARSIZE_ANY_EXHDR(detoasted), value);
}

void
value_open_header(Datum datum, OpenValue *value)
{
	if (VARATT_IS_EXTERNAL(DatumGetPointer(datum)) &&
		!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		open_bytes((struct varlena *) PG_DETOAST_DATUM_SLICE(datum, 0, FIRST_READ_BYTES), datum,
				   toast_raw_datum_size(datum) - VARHDRSZ, value);
	else
		value_open(datum, value);
}

/* The copy is found by its distance from the bytes: 1 or 4 bytes of varlena header. */
void
value_close(OpenValue *value)
{
	struct varlena *original = (struct varlena *) DatumGetPointer(value->datum);

	if (VARATT_IS_EXTENDED(original) && !VARATT_IS_SHORT(original))
	{
		/* detoasting gives a full header */
		pfree((char *) value->bytes - VARHDRSZ);
	}
	value->bytes = NULL;
}

static Reader
open_reader(const ValueHeader *header)
{
	Reader		reader;

	reader.method = method_by_id(header->method_id);
	if (reader.method->routine == NULL)
		report_corruption("The value is compressed with the method \"none\".");
	reader.state = method_state(reader.method, 0, true, header->dictionary_id);
	return reader;
}

static void
report_bad_block(const Reader *reader)
{
	report_corruption(psprintf("Its data cannot be decompressed by method \"%s\".",
							   reader->method->name));
}

/* Decompresses a whole block. */
static void
read_block(const Reader *reader, const uint8 *data, Size bytes, uint32 hash, char *raw,
		   uint32 raw_bytes, bool may_be_stored)
{
	CHECK_FOR_INTERRUPTS();
	if (may_be_stored && bytes == raw_bytes)
		memcpy(raw, data, bytes);
	else if (bytes >= raw_bytes ||
			 !reader->method->routine->cmdecompress(reader->state, (const char *) data, bytes,
													raw, raw_bytes))
		report_bad_block(reader);
	if (hash_block(raw, raw_bytes) != hash)
		report_corruption(psprintf("Decompressed by method \"%s\", its bytes have another hash.",
								   reader->method->name));
}

/* Decompresses the beginning of a block. */
static void
read_block_slice(const Reader *reader, const uint8 *data, Size bytes, uint32 hash, char *raw,
				 uint32 slice_bytes, uint32 raw_bytes, bool may_be_stored)
{
	char	   *whole;

	if (slice_bytes == raw_bytes)
		read_block(reader, data, bytes, hash, raw, raw_bytes, may_be_stored);
	else if (may_be_stored && bytes == raw_bytes)
		memcpy(raw, data, slice_bytes);
	else if (reader->method->routine->cmdecompress_slice != NULL)
	{
		if (bytes >= raw_bytes ||
			!reader->method->routine->cmdecompress_slice(reader->state, (const char *) data, bytes,
														 raw, slice_bytes))
			report_bad_block(reader);
	}
	else
	{
		whole = palloc(raw_bytes);
		read_block(reader, data, bytes, hash, whole, raw_bytes, may_be_stored);
		memcpy(raw, whole, slice_bytes);
		pfree(whole);
	}
}

static const uint8 *
block_entry(const BlockTable *table, uint32 block)
{
	Assert(block >= table->first);
	return table->entries + (block - table->first) * VALUE_BLOCK_ENTRY_BYTES;
}

/* The data of blocks, from the end of the one before to its own; checked against "limit". */
static void
block_extent(const BlockTable *table, uint32 block, Size limit, uint32 *begin, uint32 *end)
{
	*begin = block == 0 ? 0 : load_uint32(block_entry(table, block - 1));
	*end = load_uint32(block_entry(table, block));
	if (*begin > *end || *end > limit)
		report_corruption("The table of blocks contradicts the length of the value.");
}

static uint32
block_hash(const BlockTable *table, uint32 block)
{
	return load_uint32(block_entry(table, block) + 4);
}

/* Each block is checked against its hash: damage becomes an error, not another value. Raw values have no hash. */
void
value_read(const OpenValue *value, char *raw)
{
	const ValueHeader *header = &value->header;
	const BlockTable table = {value->bytes + header->header_bytes, 0};
	const uint8 *data = value->bytes + value_data_offset(header);
	Size		data_bytes = value->available - value_data_offset(header);
	Reader		reader;

	Assert(value->available == value->stored_bytes);
	if (header->flags & VALUE_IS_RAW)
	{
		memcpy(raw, data, header->raw_bytes);
		return;
	}
	reader = open_reader(header);
	if (header->blocks == 1)
	{
		read_block(&reader, data, data_bytes, header->hash, raw, header->raw_bytes, false);
		return;
	}
	for (uint32 i = 0; i < header->blocks; i++)
	{
		uint32		raw_begin = value_block_begin(header->raw_bytes, i);
		uint32		begin;
		uint32		end;

		block_extent(&table, i, data_bytes, &begin, &end);
		read_block(&reader, data + begin, end - begin, block_hash(&table, i), raw + raw_begin,
				   value_block_begin(header->raw_bytes, i + 1) - raw_begin, true);
	}
}

/* The bytes of the value from begin to end, as they are stored; fetches them if need be. */
static const uint8 *
stored_bytes(const OpenValue *value, Size begin, Size end)
{
	struct varlena *slice;

	if (end <= value->available)
		return value->bytes + begin;
	if (end > value->stored_bytes)
		report_corruption("The value ends before its data.");
	slice = (struct varlena *) PG_DETOAST_DATUM_SLICE(value->datum, begin, end - begin);
	if (VARSIZE_ANY_EXHDR(slice) != end - begin)
		report_corruption("The value ends before its data.");
	return (const uint8 *) VARDATA_ANY(slice);
}

/*
 * Two slices of a value in TOAST are fetched: the blocks' entries in the table, then
 * their data. A block can only be read from its beginning, so bytes of the first
 * block before the offset are dropped.
 */
static void
read_blocks_slice(const OpenValue *value, const Reader *reader, uint32 offset, uint32 bytes,
				  char *raw)
{
	const ValueHeader *header = &value->header;
	Size		data_offset = value_data_offset(header);
	Size		data_bytes = value->stored_bytes - data_offset;
	uint32		first = value_block_at(header->raw_bytes, offset);
	uint32		last = value_block_at(header->raw_bytes, offset + bytes - 1);
	BlockTable	table = {.first = first > 0 ? first - 1 : 0};
	uint32		data_begin;
	uint32		data_end;
	uint32		ignored;
	const uint8 *data;

	table.entries = stored_bytes(value,
								 header->header_bytes + table.first * VALUE_BLOCK_ENTRY_BYTES,
								 header->header_bytes + (last + 1) * VALUE_BLOCK_ENTRY_BYTES);
	block_extent(&table, first, data_bytes, &data_begin, &ignored);
	block_extent(&table, last, data_bytes, &ignored, &data_end);
	data = stored_bytes(value, data_offset + data_begin, data_offset + data_end);
	for (uint32 i = first; i <= last; i++)
	{
		uint32		raw_begin = value_block_begin(header->raw_bytes, i);
		uint32		raw_end = value_block_begin(header->raw_bytes, i + 1);
		uint32		from = Max(offset, raw_begin);
		uint32		to = Min(offset + bytes, raw_end);
		uint32		begin;
		uint32		end;
		char	   *whole = from == raw_begin ? raw + (from - offset) : palloc(to - raw_begin);

		block_extent(&table, i, data_end, &begin, &end);
		if (begin < data_begin)
			report_corruption("The table of blocks contradicts the length of the value.");
		read_block_slice(reader, data + (begin - data_begin), end - begin, block_hash(&table, i),
						 whole, to - raw_begin, raw_end - raw_begin, true);
		if (from != raw_begin)
		{
			memcpy(raw + (from - offset), whole + (from - raw_begin), to - from);
			pfree(whole);
		}
	}
}

/* A block can only be read from its beginning: bytes before the offset are decompressed, too, and dropped. */
void
value_read_slice(const OpenValue *value, uint32 offset, uint32 bytes, char *raw)
{
	const ValueHeader *header = &value->header;
	Reader		reader;

	Assert(offset + bytes <= header->raw_bytes);
	if (bytes == 0)
		return;
	if (header->flags & VALUE_IS_RAW)
	{
		Size		begin = header->header_bytes + (Size) offset;

		memcpy(raw, stored_bytes(value, begin, begin + bytes), bytes);
		return;
	}
	reader = open_reader(header);
	if (header->blocks == 1)
	{
		Size		size = value->stored_bytes;
		const uint8 *data = stored_bytes(value, header->header_bytes, size);
		char	   *whole = offset == 0 ? raw : palloc(offset + bytes);

		read_block_slice(&reader, data, size - header->header_bytes, header->hash, whole,
						 offset + bytes, header->raw_bytes, false);
		if (offset != 0)
		{
			memcpy(raw, whole + offset, bytes);
			pfree(whole);
		}
	}
	else
		read_blocks_slice(value, &reader, offset, bytes, raw);
}

/*
 * The hash is of the raw bytes or, for several blocks, of the blocks' hashes. So
 * equal values have one hash, however they are compressed, and nothing is
 * decompressed for it.
 */
uint32
value_hash(const OpenValue *value)
{
	const ValueHeader *header = &value->header;
	Size		data_offset = value_data_offset(header);
	BlockTable	table = {0};
	uint32	   *hashes;
	uint32		hash;

	if (header->flags & VALUE_IS_RAW)
		return hash_raw((const char *) stored_bytes(value, data_offset,
													data_offset + header->raw_bytes),
						header->raw_bytes);
	if (header->blocks == 1)
		return header->hash;
	table.entries = stored_bytes(value, header->header_bytes, data_offset);
	hashes = palloc(header->blocks * sizeof(uint32));
	for (uint32 i = 0; i < header->blocks; i++)
		hashes[i] = block_hash(&table, i);
	hash = hash_blocks(hashes, header->blocks);
	pfree(hashes);
	return hash;
}

struct varlena *
value_decompress(Datum datum)
{
	OpenValue	value;
	struct varlena *result;

	value_open(datum, &value);
	result = palloc(VARHDRSZ + value.header.raw_bytes);
	value_read(&value, VARDATA(result));
	SET_VARSIZE(result, VARHDRSZ + value.header.raw_bytes);
	value_close(&value);
	return result;
}

Datum
value_recompress(Datum datum, int32 typmod, bool is_text)
{
	struct varlena *raw = value_decompress(datum);
	struct varlena *result = value_compress(VARDATA(raw), VARSIZE(raw) - VARHDRSZ, typmod, is_text);

	pfree(raw);
	return PointerGetDatum(result);
}
