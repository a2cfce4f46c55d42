/*-------------------------------------------------------------------------
 *
 * codec_fuzz.c
 *	  libFuzzer: one method's callbacks on arbitrary and on damaged bytes.
 *
 * Compiled once for each method, which -DROUTINE=zstd_routine names.  Buffers
 * have exactly the lengths that the callbacks are told, so AddressSanitizer
 * sees a byte read or written beyond them.  What must hold:
 *
 *	- the callbacks return, whatever the bytes;
 *	- a prefix that cmdecompress_slice() makes is that of the whole block
 *	  (lz4: of a sound one);
 *	- the state is not harmed: after each input it still decompresses a sound
 *	  block to what it was, and damaged bytes never decide what comes next.
 *
 *-------------------------------------------------------------------------
 */
#include "server_stubs.h"

#include "method.h"

#define BLOCK_BYTES 65536
#define LEVELS_MAX 3
#define DICTIONARY_BYTES 4096
#define SOUND_BYTES 5000

/* What precedes the payload of an input. */
typedef struct FuzzInput
{
	uint8		is_raw;			/* the payload is compressed first, and then damaged */
	uint8		options;		/* dictionary or not, level */
	uint8		flips;			/* at most 3 damaged bytes, and whether the end is cut off */
	uint8		cut;
	uint8		flip_positions[6];
	uint8		flip_masks[3];
	uint8		slice[2];
	uint8		raw_bytes[2];
} FuzzInput;

/* Without and with dictionary */
typedef struct States
{
	void	   *compress[LEVELS_MAX];
	void	   *decompress;
	char	   *sound;			/* a compressed block that is not damaged */
	size_t		sound_bytes;
} States;

static const CompressionRoutine *const routine = &ROUTINE;

static States states[2];
static char sound_raw[SOUND_BYTES];

extern int	LLVMFuzzerInitialize(int *argc, char ***argv);
extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

static uint16
two_bytes(const uint8 *bytes)
{
	return bytes[0] | bytes[1] << 8;
}

static char *
exact_copy(const void *bytes, size_t count)
{
	char	   *copy = malloc(count);

	fuzz_require(copy != NULL || count == 0);
	memcpy(copy, bytes, count);
	return copy;
}

static bool
decompress(const States *chosen, const char *in, size_t in_bytes, char *raw, size_t raw_bytes)
{
	volatile bool done = false;

	return stub_try(done = routine->cmdecompress(chosen->decompress, in, in_bytes, raw, raw_bytes))
		&& done;
}

static void *
make_state(const CompressionOptions *options)
{
	void	   *volatile state = NULL;

	fuzz_require(stub_try(if (routine->cmcheck) routine->cmcheck(options)));
	fuzz_require(stub_try(if (routine->cminitstate) state = routine->cminitstate(options)));
	return state;
}

static void
make_states(States *made, const char *dictionary)
{
	CompressionOptions options = {
		.dictionary = dictionary,
		.dictionary_bytes = dictionary != NULL ? DICTIONARY_BYTES : 0
	};
	/* the least, the usual, and with lz4's dictionaries not the highest, which it refuses */
	int			levels[LEVELS_MAX] = {
		routine->min_level, routine->default_level,
		dictionary != NULL ? routine->default_level : Min(routine->max_level, 9)
	};

	for (int i = 0; i < LEVELS_MAX; i++)
	{
		options.level = levels[i];
		made->compress[i] = make_state(&options);
	}
	options.decompress = true;
	made->decompress = make_state(&options);
	made->sound = malloc(SOUND_BYTES);
	made->sound_bytes = routine->cmcompress(made->compress[1], sound_raw, SOUND_BYTES, made->sound,
											SOUND_BYTES - 1);
	fuzz_require(made->sound_bytes > 0);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char		dictionary[DICTIONARY_BYTES];

	for (int i = 0; i < SOUND_BYTES; i++)
		sound_raw[i] = "the same few words again"[(i * i / 7 + i) % 24];
	memcpy(dictionary, sound_raw, DICTIONARY_BYTES);
	make_states(&states[0], NULL);
	if (routine->takes_dictionary)
		make_states(&states[1], dictionary);
	return 0;
}

static void
check_sound_slice(const States *chosen, const char *in, size_t in_bytes, const char *raw,
				  size_t slice_bytes)
{
	char	   *slice = malloc(slice_bytes);

	if (routine->cmdecompress_slice != NULL)
	{
		fuzz_require(routine->cmdecompress_slice(chosen->decompress, in, in_bytes, slice,
												 slice_bytes));
		fuzz_require(memcmp(raw, slice, slice_bytes) == 0);
	}
	free(slice);
}

/* Compresses the payload, checks that it comes back, and damages it as the input says. */
static char *
compress_and_damage(const States *chosen, const FuzzInput *input, const uint8 *payload,
					size_t raw_bytes, size_t *in_bytes)
{
	char	   *raw = exact_copy(payload, raw_bytes);
	char	   *in = malloc(raw_bytes);
	char	   *back = malloc(raw_bytes);
	size_t		bytes = routine->cmcompress(chosen->compress[input->options / 2 % LEVELS_MAX],
											raw, raw_bytes, in, raw_bytes - 1);

	fuzz_require(bytes < raw_bytes);
	if (bytes > 0)
	{
		in = realloc(in, bytes);
		fuzz_require(decompress(chosen, in, bytes, back, raw_bytes));
		fuzz_require(memcmp(raw, back, raw_bytes) == 0);
		check_sound_slice(chosen, in, bytes, raw, two_bytes(input->slice) % raw_bytes + 1);
		for (int i = 0; i < input->flips % 4; i++)
			in[two_bytes(input->flip_positions + 2 * i) % bytes] ^= input->flip_masks[i];
		if (input->flips & 4 && input->cut < bytes)
			bytes -= input->cut;
	}
	free(raw);
	free(back);
	*in_bytes = bytes;
	raw = exact_copy(in, bytes);
	free(in);
	return raw;
}

static void
check_state(const States *chosen)
{
	char	   *raw = malloc(SOUND_BYTES);

	fuzz_require(decompress(chosen, chosen->sound, chosen->sound_bytes, raw, SOUND_BYTES));
	fuzz_require(memcmp(raw, sound_raw, SOUND_BYTES) == 0);
	free(raw);
}

/*
 * A match at distance 0, which no sound block has, makes lz4 leave what its
 * own copies beyond the end wrote there, and these depend on the room left.
 */
static bool
repeats_damaged_bytes(void)
{
	return strcmp(CppAsString2(ROUTINE), "lz4_routine") != 0;
}

static void
check_bytes(const States *chosen, const char *in, size_t in_bytes, size_t raw_bytes,
			size_t slice_bytes)
{
	/* zeros: lz4 reads a match at distance 0 as what the buffer held before */
	char	   *raw = calloc(1, raw_bytes);
	char	   *again = calloc(1, raw_bytes);
	char	   *slice = calloc(1, slice_bytes);
	bool		is_whole = decompress(chosen, in, in_bytes, raw, raw_bytes);
	volatile bool is_slice = false;

	check_state(chosen);
	fuzz_require(decompress(chosen, in, in_bytes, again, raw_bytes) == is_whole);
	fuzz_require(!is_whole || memcmp(raw, again, raw_bytes) == 0);
	if (routine->cmdecompress_slice != NULL)
	{
		stub_try(is_slice = routine->cmdecompress_slice(chosen->decompress, in, in_bytes, slice,
														slice_bytes));
		/* of damaged bytes, one of zlib and libdeflate may refuse what the other accepts */
		if (is_whole && is_slice && repeats_damaged_bytes())
			fuzz_require(memcmp(raw, slice, slice_bytes) == 0);
		check_state(chosen);
	}
	free(raw);
	free(again);
	free(slice);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	StubMark	mark = stub_mark();
	FuzzInput	input;
	const States *chosen;
	size_t		raw_bytes;
	size_t		in_bytes;
	char	   *in;

	if (size < sizeof(FuzzInput) + 2)
		return 0;
	memcpy(&input, data, sizeof(FuzzInput));
	data += sizeof(FuzzInput);
	in_bytes = Min(size - sizeof(FuzzInput), BLOCK_BYTES);
	chosen = &states[routine->takes_dictionary ? input.options % 2 : 0];
	if (input.is_raw % 2)
	{
		raw_bytes = in_bytes;
		in = compress_and_damage(chosen, &input, data, raw_bytes, &in_bytes);
	}
	else
	{
		raw_bytes = two_bytes(input.raw_bytes) + 1;
		in = exact_copy(data, in_bytes);
	}
	if (in_bytes > 0)
		check_bytes(chosen, in, in_bytes, raw_bytes, two_bytes(input.slice) % raw_bytes + 1);
	free(in);
	stub_free_since(mark);
	return 0;
}
