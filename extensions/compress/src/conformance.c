/*-------------------------------------------------------------------------
 *
 * conformance.c
 *	  check_compression_method(): what every method must hold, tried on one.
 *
 *	  Compressed bytes are read from, and raw bytes written to, memory that
 *	  ends at a page nobody may touch: a method that reads or writes beyond its
 *	  buffers crashes the server.  That is meant: run it on a test server.
 *
 *-------------------------------------------------------------------------
 */
#include "compressed.h"

#include <sys/mman.h>
#include <unistd.h>

#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PENUMBRA_SQL_FUNCTION(check_compression_method);

/* The damage is tried on this much: every bit of what it compresses to. */
#define DAMAGED_RAW_BYTES 600
#define BUFFER_BYTES (2 * VALUE_BLOCK_BYTES)
/* The longest value is made and read in so much at once. */
#define PIECE_BYTES (16 * 1024 * 1024)
/* Before the output, to see what is written there. */
#define CANARY_BYTES 256

/* Bytes that end at a guard page */
typedef struct GuardedBuffer
{
	char	   *begin;
	char	   *end;
	Size		mapped_bytes;
	MemoryContextCallback reset;
} GuardedBuffer;

typedef struct Kit
{
	const CompressionMethod *method;
	CompressionOptions options;
	void	   *encoder;
	void	   *decoder;
	GuardedBuffer *input;
	GuardedBuffer *output;
	char	   *raw;
	char	   *compressed;
	const char *problem;		/* of the check that runs; NULL: none yet */
} Kit;

typedef void (*FillFunction) (char *raw, Size bytes);

static void
unmap_buffer(void *arg)
{
	GuardedBuffer *buffer = arg;

	munmap(buffer->begin, buffer->mapped_bytes);
}

static GuardedBuffer *
map_buffer(void)
{
	GuardedBuffer *buffer = palloc0(sizeof(GuardedBuffer));
	Size		page = sysconf(_SC_PAGESIZE);

	buffer->mapped_bytes = BUFFER_BYTES + page;
	buffer->begin = mmap(NULL, buffer->mapped_bytes, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer->begin == MAP_FAILED)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("could not map memory: %m")));
	buffer->end = buffer->begin + BUFFER_BYTES;
	mprotect(buffer->end, page, PROT_NONE);
	buffer->reset.func = unmap_buffer;
	buffer->reset.arg = buffer;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &buffer->reset);
	return buffer;
}

/* Sample data */

static void
fill_zeros(char *raw, Size bytes)
{
	memset(raw, 0, bytes);
}

static void
fill_random(char *raw, Size bytes)
{
	pg_prng_state prng;

	pg_prng_seed(&prng, bytes);
	for (Size i = 0; i < bytes; i++)
		raw[i] = pg_prng_uint32(&prng);
}

static void
fill_words(char *raw, Size bytes)
{
	static const char *const words[] = {
		"the ", "quick ", "\"name\": ", "compress", "2026-", "{", "}, ", "ing ", "x", "\n"
	};
	pg_prng_state prng;

	pg_prng_seed(&prng, bytes);
	for (Size used = 0; used < bytes;)
	{
		const char *word = words[pg_prng_uint64_range(&prng, 0, lengthof(words) - 1)];
		Size		length = Min(strlen(word), bytes - used);

		memcpy(raw + used, word, length);
		used += length;
	}
}

static const FillFunction fills[] = {fill_zeros, fill_random, fill_words};
static const Size sample_bytes[] = {1, 2, 13, 100, 801, 4096, VALUE_BLOCK_BYTES};

/* Calls of the method */

static void
note(Kit *kit, const char *problem, Size bytes)
{
	if (kit->problem == NULL)
		kit->problem = psprintf("%s (%zu raw bytes, level %d%s)", problem, bytes,
								kit->options.level,
								kit->options.dictionary != NULL ? ", with dictionary" : "");
}

static void *
make_state(const Kit *kit, bool decompress)
{
	CompressionOptions options = kit->options;

	options.decompress = decompress;
	return kit->method->routine->cminitstate != NULL
		? kit->method->routine->cminitstate(&options) : NULL;
}

/* An error that the method raises counts as "cannot be decompressed". */
static bool
decode(Kit *kit, void *state, const char *in, Size in_bytes, char *raw, Size raw_bytes, bool slice)
{
	MemoryContext caller = CurrentMemoryContext;
	const CompressionRoutine *routine = kit->method->routine;
	volatile bool decoded = false;

	CHECK_FOR_INTERRUPTS();
	PG_TRY();
	{
		decoded = slice ? routine->cmdecompress_slice(state, in, in_bytes, raw, raw_bytes)
			: routine->cmdecompress(state, in, in_bytes, raw, raw_bytes);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		if (geterrcode() == ERRCODE_QUERY_CANCELED)
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	return decoded;
}

/* Decompresses from and into guarded memory; returns where the raw bytes are, or NULL. */
static char *
decode_guarded(Kit *kit, const char *in, Size in_bytes, Size raw_bytes, bool slice)
{
	char	   *input = kit->input->end - in_bytes;
	char	   *output = kit->output->end - raw_bytes;

	memcpy(input, in, in_bytes);
	memset(output - CANARY_BYTES, 0x5A, CANARY_BYTES);
	if (!decode(kit, kit->decoder, input, in_bytes, output, raw_bytes, slice))
		output = NULL;
	for (int i = 0; i < CANARY_BYTES; i++)
		if (kit->output->end[-(ptrdiff_t) raw_bytes - 1 - i] != 0x5A)
			note(kit, "wrote before its buffer", raw_bytes);
	return output;
}

/* Compresses kit->raw into kit->compressed; 0 if that does not gain. */
static Size
encode(Kit *kit, Size raw_bytes, Size out_bytes)
{
	char	   *output = kit->output->end - out_bytes;
	Size		bytes;

	memcpy(kit->input->end - raw_bytes, kit->raw, raw_bytes);
	bytes = kit->method->routine->cmcompress(kit->encoder, kit->input->end - raw_bytes, raw_bytes,
											 output, out_bytes);
	if (bytes > out_bytes)
		note(kit, "returned more bytes than there was room for", raw_bytes);
	else
		memcpy(kit->compressed, output, bytes);
	return Min(bytes, out_bytes);
}

/* The checks; each on the sample kit->raw of raw_bytes */

static void
check_round_trip(Kit *kit, Size raw_bytes)
{
	Size		bytes = encode(kit, raw_bytes, raw_bytes - 1);
	char	   *raw = bytes != 0 ? decode_guarded(kit, kit->compressed, bytes, raw_bytes, false)
		: kit->raw;

	if (raw == NULL)
		note(kit, "could not decompress what it compressed", raw_bytes);
	else if (memcmp(raw, kit->raw, raw_bytes) != 0)
		note(kit, "decompressed to other bytes", raw_bytes);
}

static void
check_slices(Kit *kit, Size raw_bytes)
{
	Size		bytes = encode(kit, raw_bytes, raw_bytes - 1);
	Size		slices[] = {1, raw_bytes / 3 + 1, raw_bytes / 2 + 1, raw_bytes - 1, raw_bytes};

	if (bytes == 0 || kit->method->routine->cmdecompress_slice == NULL)
		return;
	for (int i = 0; i < lengthof(slices); i++)
	{
		char	   *raw = slices[i] == 0 ? kit->raw :
			decode_guarded(kit, kit->compressed, bytes, slices[i], true);

		if (raw == NULL)
			note(kit, "could not decompress a slice", slices[i]);
		else if (memcmp(raw, kit->raw, slices[i]) != 0)
			note(kit, "decompressed a slice to other bytes", slices[i]);
	}
}

/* What does not fit must not be written, whatever room there is. */
static void
check_little_room(Kit *kit, Size raw_bytes)
{
	Size		needed = encode(kit, raw_bytes, raw_bytes - 1);

	for (Size room = 1; room < needed; room += 1 + needed / 7)
	{
		Size		bytes = encode(kit, raw_bytes, room);
		char	   *raw = bytes != 0 ? decode_guarded(kit, kit->compressed, bytes, raw_bytes, false)
			: kit->raw;

		if (raw == NULL || memcmp(raw, kit->raw, raw_bytes) != 0)
			note(kit, "claimed to have compressed into too little room", raw_bytes);
	}
}

/* Each backend has states of its own. So two states must compress alike, and one must read what another wrote. */
static void
check_states(Kit *kit, Size raw_bytes)
{
	Size		bytes = encode(kit, raw_bytes, raw_bytes - 1);
	void	   *encoder = make_state(kit, false);
	void	   *decoder = make_state(kit, true);
	char	   *other = palloc(Max(raw_bytes, bytes) + 1);
	Size		other_bytes = kit->method->routine->cmcompress(encoder, kit->raw, raw_bytes, other,
															   raw_bytes - 1);

	if (other_bytes != bytes || memcmp(other, kit->compressed, bytes) != 0)
		note(kit, "two states compressed the same bytes differently", raw_bytes);
	if (encode(kit, raw_bytes, raw_bytes - 1) != bytes ||
		memcmp(other, kit->compressed, Min(bytes, other_bytes)) != 0)
		note(kit, "compressed the same bytes differently the second time", raw_bytes);
	if (bytes != 0 && (!decode(kit, decoder, kit->compressed, bytes, other, raw_bytes, false) ||
					   memcmp(other, kit->raw, raw_bytes) != 0 ||
					   decode_guarded(kit, kit->compressed, bytes, raw_bytes, false) == NULL))
		note(kit, "two states did not decompress the same", raw_bytes);
	pfree(other);
}

/* A method may take what it is asked for as a slice (pglz does): the value's hash will tell. */
static void
check_lying_length(Kit *kit, Size raw_bytes)
{
	Size		bytes = encode(kit, raw_bytes, raw_bytes - 1);
	Size		lies[] = {1, raw_bytes / 2, raw_bytes - 1, raw_bytes + 1, 2 * raw_bytes, VALUE_BLOCK_BYTES};

	for (int i = 0; bytes != 0 && i < lengthof(lies); i++)
	{
		char	   *raw;

		if (lies[i] == raw_bytes || lies[i] > VALUE_BLOCK_BYTES)
			continue;
		raw = decode_guarded(kit, kit->compressed, bytes, lies[i], false);
		if (raw != NULL && lies[i] > raw_bytes)
			note(kit, "decompressed to more bytes than there were", lies[i]);
		if (raw != NULL && memcmp(raw, kit->raw, Min(lies[i], raw_bytes)) != 0)
			note(kit, "decompressed to other bytes", lies[i]);
	}
}

/* Damaged bytes may decompress to anything (the value has a hash), within the buffers. */
static void
check_damage(Kit *kit, Size raw_bytes)
{
	Size		bytes = encode(kit, raw_bytes, raw_bytes - 1);
	bool		has_slices = kit->method->routine->cmdecompress_slice != NULL;

	for (Size cut = 0; cut < bytes; cut++)
	{
		char	   *raw = decode_guarded(kit, kit->compressed, cut, raw_bytes, false);

		if (raw != NULL && memcmp(raw, kit->raw, raw_bytes) != 0)
			note(kit, "decompressed truncated bytes to something else", raw_bytes);
		if (has_slices)
			decode_guarded(kit, kit->compressed, cut, raw_bytes / 2, true);
	}
	for (Size bit = 0; bit < bytes * 8; bit++)
	{
		kit->compressed[bit / 8] ^= 1 << bit % 8;
		decode_guarded(kit, kit->compressed, bytes, raw_bytes, false);
		if (has_slices)
			decode_guarded(kit, kit->compressed, bytes, raw_bytes / 2, true);
		kit->compressed[bit / 8] ^= 1 << bit % 8;
	}
	check_round_trip(kit, raw_bytes);
}

/* Bytes that no compressor wrote */
static void
check_garbage(Kit *kit, Size raw_bytes)
{
	for (Size bytes = 1; bytes <= 300; bytes++)
	{
		fill_random(kit->compressed, bytes);
		decode_guarded(kit, kit->compressed, bytes, raw_bytes, false);
		if (kit->method->routine->cmdecompress_slice != NULL)
			decode_guarded(kit, kit->compressed, bytes, raw_bytes / 2 + 1, true);
	}
	check_round_trip(kit, raw_bytes);
}

static const struct
{
	const char *name;
	void		(*check) (Kit *kit, Size raw_bytes);
	bool		few_bytes;		/* too slow for larger samples */
}			checks[] = {
	{"round trip", check_round_trip, false},
	{"slices", check_slices, false},
	{"little room", check_little_room, false},
	{"independent states", check_states, false},
	{"lying length", check_lying_length, false},
	{"truncated and flipped bits", check_damage, true},
	{"garbage", check_garbage, true},
};

static void
run_check(Kit *kit, int check)
{
	for (int fill = 0; fill < lengthof(fills); fill++)
	{
		if (checks[check].few_bytes)
		{
			fills[fill] (kit->raw, DAMAGED_RAW_BYTES);
			checks[check].check(kit, DAMAGED_RAW_BYTES);
			continue;
		}
		for (int i = 0; i < lengthof(sample_bytes); i++)
		{
			fills[fill] (kit->raw, sample_bytes[i]);
			if (sample_bytes[i] > 1)
				checks[check].check(kit, sample_bytes[i]);
		}
	}
}

/* The checks with one set of options: adds to what each found. */
static void
run_checks(Kit *kit, const char **problems)
{
	if (kit->method->routine->cmcheck != NULL)
		kit->method->routine->cmcheck(&kit->options);
	kit->encoder = make_state(kit, false);
	kit->decoder = make_state(kit, true);
	for (int check = 0; check < lengthof(checks); check++)
	{
		kit->problem = problems[check];
		run_check(kit, check);
		problems[check] = kit->problem;
	}
}

/* Whole values of this method, by the way that columns take. */
static const char *
check_values(const CompressionMethod *method)
{
	CompressionTarget target = {.method_id = method->id, .level = method->routine->default_level};
	static const Size value_bytes[] = {0, 1, 100, VALUE_BLOCK_BYTES + 1, 1024 * 1024 + 7};

	for (int i = 0; i < lengthof(value_bytes); i++)
		for (int fill = 0; fill < lengthof(fills); fill++)
		{
			char	   *raw = palloc(value_bytes[i] + 1);
			struct varlena *value;
			struct varlena *back;

			fills[fill] (raw, value_bytes[i]);
			value = value_compress(raw, value_bytes[i], target_typmod(&target), false);
			back = value_decompress(PointerGetDatum(value));
			if (VARSIZE(back) - VARHDRSZ != value_bytes[i] ||
				memcmp(VARDATA(back), raw, value_bytes[i]) != 0)
				return psprintf("a value of %zu bytes changed", value_bytes[i]);
		}
	return NULL;
}

static const char *
compare_pieces(const OpenValue *value, const char *raw, char *piece)
{
	for (Size begin = 0; begin < value->header.raw_bytes; begin += PIECE_BYTES)
	{
		Size		bytes = Min(PIECE_BYTES, value->header.raw_bytes - begin);

		CHECK_FOR_INTERRUPTS();
		value_read_slice(value, begin, bytes, piece);
		if (memcmp(raw + begin, piece, bytes) != 0)
			return psprintf("the longest value changed after byte %zu", begin);
	}
	return NULL;
}

static bool
refuses_length(const char *raw, Size bytes, int32 typmod)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool refused = false;

	PG_TRY();
	{
		value_compress(raw, bytes, typmod, false);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		if (geterrcode() != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			PG_RE_THROW();
		FlushErrorState();
		refused = true;
	}
	PG_END_TRY();
	return refused;
}

/* Values of all bytes that there can be, 1 GB: takes up to twice as much memory. */
static const char *
check_longest_value(const CompressionMethod *method)
{
	CompressionTarget target = {.method_id = method->id, .level = method->routine->default_level};
	int32		typmod = target_typmod(&target);
	char	   *raw = palloc(VALUE_MAX_CONTENT_BYTES + 1);
	char	   *piece = palloc(PIECE_BYTES);
	const char *problem = NULL;

	for (int fill = 0; fill < lengthof(fills) && problem == NULL; fill++)
	{
		struct varlena *made;
		OpenValue	value;

		for (Size begin = 0; begin < VALUE_MAX_CONTENT_BYTES; begin += PIECE_BYTES)
		{
			CHECK_FOR_INTERRUPTS();
			fills[fill] (raw + begin, Min(PIECE_BYTES, VALUE_MAX_CONTENT_BYTES - begin));
		}
		made = value_compress(raw, VALUE_MAX_CONTENT_BYTES, typmod, false);
		value_open(PointerGetDatum(made), &value);
		if (value.header.raw_bytes != VALUE_MAX_CONTENT_BYTES)
			problem = "the longest value has another length";
		else
			problem = compare_pieces(&value, raw, piece);
		pfree(made);
	}
	if (problem == NULL && !refuses_length(raw, VALUE_MAX_CONTENT_BYTES + 1, typmod))
		problem = "a value longer than the longest one was not refused";
	pfree(piece);
	pfree(raw);
	return problem;
}

static void
add_row(ReturnSetInfo *result, const char *check, const char *problem)
{
	Datum		values[] = {CStringGetTextDatum(check), BoolGetDatum(problem == NULL), (Datum) 0};
	bool		nulls[] = {false, false, problem == NULL};

	if (problem != NULL)
		values[2] = CStringGetTextDatum(problem);
	put_row(result, values, nulls);
}

/*
 * (check, passed, problem) per check; all levels of interest, with and without
 * dictionary.  The second argument adds values of 1 GB.
 */
Datum
check_compression_method(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Kit			kit = {.method = method_by_name(name)};
	const CompressionRoutine *routine;
	const char *problems[lengthof(checks)] = {NULL};
	char		dictionary[2000];

	if (kit.method == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("compression method \"%s\" does not exist", name)));
	if ((routine = kit.method->routine) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("compression method \"%s\" has no routine to check", name)));
	InitMaterializedSRF(fcinfo, 0);
	kit.input = map_buffer();
	kit.output = map_buffer();
	kit.raw = palloc(BUFFER_BYTES);
	kit.compressed = palloc(BUFFER_BYTES);
	for (int level = routine->min_level; level <= routine->max_level; level++)
	{
		if (level != routine->min_level && level != routine->default_level &&
			level != routine->max_level)
			continue;
		kit.options.level = level;
		kit.options.dictionary = NULL;
		run_checks(&kit, problems);
	}
	if (routine->takes_dictionary)
	{
		fill_words(dictionary, sizeof(dictionary));
		kit.options.level = routine->default_level;
		kit.options.dictionary = dictionary;
		kit.options.dictionary_bytes = sizeof(dictionary);
		run_checks(&kit, problems);
	}
	for (int check = 0; check < lengthof(checks); check++)
		add_row((ReturnSetInfo *) fcinfo->resultinfo, checks[check].name, problems[check]);
	add_row((ReturnSetInfo *) fcinfo->resultinfo, "whole values", check_values(kit.method));
	if (PG_GETARG_BOOL(1))
		add_row((ReturnSetInfo *) fcinfo->resultinfo, "values of 1 GB",
				check_longest_value(kit.method));
	return (Datum) 0;
}
