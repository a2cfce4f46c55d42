/*-------------------------------------------------------------------------
 *
 * value_fuzz.c
 *	  libFuzzer: reading of values, from the version byte to the raw bytes.
 *
 * An input is the bytes of a value (its first byte chooses the slice and
 * whether the value is first made from the rest, and then damaged).  A value
 * that can be read whole can be read in slices, with the same bytes; one that
 * cannot raises an ERROR, in a buffer of exactly its length.
 *
 * The server's part is a stub that hands out slices as the TOAST table would:
 * copies of exactly the bytes that were asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "server_stubs.h"

#include "access/detoast.h"
#include "compressed.h"
#include "dictionary.h"
#include "waiting.h"
#include "miscadmin.h"

/* Longer ones are sound in principle, but the fuzzer's memory is not for them. */
#define RAW_BYTES_MAX (1 << 22)

/* By method, compressing or decompressing */
static void *states[METHODS_BUILTIN][2];

int			default_method = METHOD_ZSTD;
volatile sig_atomic_t InterruptPending = false;

extern int	LLVMFuzzerInitialize(int *argc, char ***argv);
extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

void
ProcessInterrupts(void)
{
}

const CompressionMethod *
method_by_id(uint32 id)
{
	if (id >= METHODS_BUILTIN)
		ereport(ERROR, (errmsg("compression method with id %u does not exist", id)));
	return &builtin_methods[id];
}

void *
method_state(const CompressionMethod *method, int level, bool decompress, uint32 dictionary_id)
{
	if (dictionary_id != 0)
		ereport(ERROR, (errmsg("compression dictionary %u does not exist", dictionary_id)));
	return states[method->id][decompress];
}

uint32
dictionary_id_by_number(uint32 number)
{
	return 0;
}

/* The modifier of the fuzzer is the method's id. */
CompressionTarget
typmod_target(int32 typmod)
{
	return (CompressionTarget) {.method_id = typmod};
}

void
check_target(const CompressionTarget *target, const CompressionMethod *method)
{
}

static struct varlena *
varlena_copy(const char *bytes, Size count)
{
	struct varlena *copy = palloc(VARHDRSZ + count);

	SET_VARSIZE(copy, VARHDRSZ + count);
	memcpy(VARDATA(copy), bytes, count);
	return copy;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

struct varlena *
pg_detoast_datum_slice(struct varlena *datum, int32 first, int32 count)
{
	Size		bytes = VARSIZE_ANY_EXHDR(datum);
	Size		begin = Min((Size) first, bytes);

	return varlena_copy(VARDATA_ANY(datum) + begin, Min((Size) count, bytes - begin));
}

/* No value is made by an input function. */
struct varlena *
waiting_value_stored_raw(Datum datum)
{
	return NULL;
}

Size
toast_raw_datum_size(Datum value)
{
	return VARSIZE_ANY_EXHDR(DatumGetPointer(value)) + VARHDRSZ;
}

int
GetDatabaseEncoding(void)
{
	return 6;					/* UTF8 */
}

int
pg_database_encoding_max_length(void)
{
	return 4;
}

int
pg_mbstrlen_with_len(const char *bytes, int limit)
{
	return limit;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (int i = 1; i < METHODS_BUILTIN; i++)
	{
		CompressionOptions options = {.level = builtin_methods[i].routine->default_level};

		for (int decompress = 0; decompress < 2; decompress++)
		{
			options.decompress = decompress;
			if (builtin_methods[i].routine->cminitstate != NULL)
				states[i][decompress] = builtin_methods[i].routine->cminitstate(&options);
		}
	}
	return 0;
}

/* A value of the payload, repeated so often that it may have several blocks, then damaged. */
static struct varlena *
damaged_value(const uint8 *data, size_t size, uint8 choice)
{
	Size		times = choice & 1 ? 1 + 200000 / size : 1;
	char	   *raw = palloc(times * size);
	struct varlena *value;
	volatile bool done;

	for (Size i = 0; i < times; i++)
		memcpy(raw + i * size, data, size);
	raw[0] &= 0x7F;				/* text begins with the first byte of a character */
	done = stub_try(value = value_compress(raw, times * size, data[0] % METHODS_BUILTIN, true));
	fuzz_require(done);
	fuzz_require(VARSIZE(value) - VARHDRSZ <= times * size + VALUE_MAX_HEADER_BYTES);
	fuzz_require(memcmp(VARDATA(value_decompress(PointerGetDatum(value))), raw, times * size) == 0);
	/* mostly in the header and the table, where damage is not found by a hash */
	if (choice & 2 && size > 4)
		VARDATA(value)[data[1] % Min(VARSIZE(value) - VARHDRSZ, 80)] ^= data[2];
	if (choice & 4 && size > 4)
		SET_VARSIZE(value, VARSIZE(value) - data[3] % (VARSIZE(value) - VARHDRSZ));
	return value;
}

static void
check_value(Datum datum, uint32 offset, uint32 length)
{
	OpenValue	value;
	OpenValue	beginning;
	struct varlena *volatile whole = NULL;
	char	   *volatile slice = NULL;

	if (!stub_try(value_open(datum, &value)) || value.header.raw_bytes > RAW_BYTES_MAX)
		return;
	fuzz_require(value_data_offset(&value.header) <= value.available);
	stub_try(whole = value_decompress(datum));
	stub_try(value_hash(&value));

	/* As if the value were out of line and its first bytes only were here. */
	beginning = value;
	beginning.available = Min(value.available, VALUE_MAX_HEADER_BYTES);
	offset = value.header.raw_bytes == 0 ? 0 : offset % value.header.raw_bytes;
	length = Min(length, value.header.raw_bytes - offset);
	for (int i = 0; i < 2; i++)
	{
		slice = palloc(length);
		if (stub_try(value_read_slice(i == 0 ? &value : &beginning, offset, length, slice)))
			fuzz_require(whole == NULL || memcmp(VARDATA(whole) + offset, slice, length) == 0);
		else
			fuzz_require(whole == NULL);
	}
	if (whole != NULL)
		fuzz_require(VARSIZE(whole) - VARHDRSZ == value.header.raw_bytes);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	StubMark	mark = stub_mark();
	struct varlena *value;

	if (size < 8)
		return 0;
	if (data[0] & 1)
		value = damaged_value(data + 7, size - 7, data[0] >> 1);
	else
		value = varlena_copy((const char *) data + 7, size - 7);
	/* in a buffer of its length */
	check_value(PointerGetDatum(varlena_copy(VARDATA(value), VARSIZE(value) - VARHDRSZ)),
				load_uint32(data + 1) >> (data[0] >> 4), data[5] | data[6] << 8);
	stub_free_since(mark);
	return 0;
}
