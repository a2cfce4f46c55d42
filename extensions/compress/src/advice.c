/*-------------------------------------------------------------------------
 *
 * advice.c
 *	  compression_advice(): what each method, level and dictionary would do
 *	  to a column, tried on a sample of it.
 *
 *	  Dictionaries are trained on every other value and tried on the rest, as
 *	  all are: a dictionary knows what it was trained on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog.h"
#include "compressed.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "portability/instr_time.h"
#include "train.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PENUMBRA_SQL_FUNCTION(compression_advice);

#define MAX_SAMPLE_BYTES (16 * 1024 * 1024)
#define ADVICE_COLUMNS 7
#define LEVELS_MAX 5

/* zstd's levels above 9 take long; the last one shows what there is to gain. */
static const struct Candidate
{
	const char *method;
	int			levels[LEVELS_MAX]; /* up to the first 0, which is none or the default */
	int			with_dictionary;	/* how many of these levels also with dictionaries */
}			candidates[] = {
	{"none", {0}},
	{"pglz", {0}},
	{"lz4", {1, 9}, 1},
	{"zlib", {1, 4, 6, 9}},
	{"zstd", {1, 3, 6, 9, 19}, LEVELS_MAX},
	{"snappy", {0}},
	{"brotli", {1, 5, 9}},
};

static const int dictionary_sizes[] = {4096, 16384, 65536};

/* Dictionaries help short values; a long one is a dictionary of its own. */
#define DICTIONARY_MAX_AVERAGE_BYTES 16384

typedef struct Advice
{
	const CompressionMethod *method;
	int			level;
	Size		dictionary_size;	/* 0: none */
	double		ratio;
	double		compress_us;	/* per value */
	double		decompress_us;
} Advice;

typedef struct Trial
{
	const Dictionary *dictionary;
	char	   *out;			/* the compressed blocks of one value */
	char	   *raw;
	Size		blocks_bytes;	/* of all values, with their headers */
	instr_time	compress;
	instr_time	decompress;
} Trial;

static void *
init_state(const Trial *trial, const Advice *advice, bool decompress)
{
	CompressionOptions options = {.level = advice->level, .decompress = decompress};
	const CompressionRoutine *routine = advice->method->routine;

	if (trial->dictionary != NULL)
	{
		options.dictionary = trial->dictionary->content;
		options.dictionary_bytes = trial->dictionary->bytes;
	}
	return routine->cminitstate != NULL ? routine->cminitstate(&options) : NULL;
}

/* One value, in blocks, there and back. */
static void
try_value(Trial *trial, const Advice *advice, void *const states[2], const char *raw, Size bytes)
{
	const CompressionRoutine *routine = advice->method->routine;
	uint32		blocks = value_block_count(bytes);
	Size		header_bytes = 8 + (trial->dictionary != NULL ? 4 : 0);
	Size		used = 0;
	bool		done = true;
	instr_time	begin;
	instr_time	middle;
	instr_time	end;

	for (uint32 i = 0; i < blocks; i++)
	{
		uint32		from = value_block_begin(bytes, i);
		uint32		raw_bytes = value_block_begin(bytes, i + 1) - from;
		size_t		out_bytes;

		INSTR_TIME_SET_CURRENT(begin);
		/* the head of several blocks is stored as it is */
		out_bytes = raw_bytes > 1 && (blocks == 1 || i > 0)
			? routine->cmcompress(states[0], raw + from, raw_bytes, trial->out, raw_bytes - 1) : 0;
		INSTR_TIME_SET_CURRENT(middle);
		if (out_bytes > 0)
			done = routine->cmdecompress(states[1], trial->out, out_bytes, trial->raw, raw_bytes);
		INSTR_TIME_SET_CURRENT(end);
		if (!done || (out_bytes > 0 && memcmp(trial->raw, raw + from, raw_bytes) != 0))
			ereport(ERROR,
					(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
					 errmsg("compression method \"%s\" does not read what it wrote",
							advice->method->name)));
		INSTR_TIME_ACCUM_DIFF(trial->compress, middle, begin);
		INSTR_TIME_ACCUM_DIFF(trial->decompress, end, middle);
		used += out_bytes > 0 ? out_bytes : raw_bytes;
	}
	if (blocks > 1)
		used += blocks * VALUE_BLOCK_ENTRY_BYTES;
	trial->blocks_bytes += Min(used + header_bytes, bytes + 4);
}

/* Method "none" has no routine: a value takes its own bytes and a header of 4 bytes. */
static void
try_method(const Sample *sample, const Dictionary *dictionary, Advice *advice)
{
	Trial		trial = {.dictionary = dictionary};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "compression trial",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	const char *raw = sample->bytes;
	void	   *states[2] = {NULL, NULL};

	trial.out = palloc(VALUE_BLOCK_BYTES * 2);
	trial.raw = palloc(VALUE_BLOCK_BYTES * 2);
	if (advice->method->routine != NULL)
	{
		states[0] = init_state(&trial, advice, false);
		states[1] = init_state(&trial, advice, true);
	}
	for (uint32 i = 0; i < sample->values; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (advice->method->routine != NULL)
			try_value(&trial, advice, states, raw, sample->value_bytes[i]);
		else
			trial.blocks_bytes += sample->value_bytes[i] + 4;
		raw += sample->value_bytes[i];
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	advice->ratio = (double) sample->total_bytes / trial.blocks_bytes;
	advice->compress_us = INSTR_TIME_GET_DOUBLE(trial.compress) * 1e6 / sample->values;
	advice->decompress_us = INSTR_TIME_GET_DOUBLE(trial.decompress) * 1e6 / sample->values;
}

/*
 * The statements can be run as they are. The dictionary is trained under a name that
 * is free now, before the column's type names it.
 */
static char *
advice_ddl(const SampledColumn *column, const Advice *advice)
{
	const char *attribute = quote_identifier(column->attribute_name);
	const char *schema = quote_identifier(get_namespace_name(catalog_schema()));
	StringInfoData ddl;
	char	   *name = NULL;

	initStringInfo(&ddl);
	if (advice->dictionary_size > 0)
	{
		name = quote_literal_cstr(dictionary_free_name(column));
		appendStringInfo(&ddl, "SELECT %s.train_dictionary(%s, %s, %zu, %s); ", schema,
						 quote_literal_cstr(column->relation_name),
						 quote_literal_cstr(column->attribute_name), advice->dictionary_size, name);
	}
	appendStringInfo(&ddl, "ALTER TABLE %s ALTER COLUMN %s TYPE %s.%s(%s", column->relation_name,
					 attribute, schema, column->compressed_type,
					 quote_identifier(advice->method->name));
	if (method_has_levels(advice->method))
		appendStringInfo(&ddl, ", %d", advice->level);
	if (name != NULL)
		appendStringInfo(&ddl, ", %s", name);
	appendStringInfoString(&ddl, ");");
	return ddl.data;
}

/* Every other value, from the first or the second one on. */
static Sample
half_sample(const Sample *whole, uint32 first)
{
	Sample		half = {.bytes = palloc(whole->total_bytes + 1)};
	const char *from = whole->bytes;

	half.value_bytes = palloc((whole->values + 1) * sizeof(size_t));
	for (uint32 i = 0; i < whole->values; i++)
	{
		if (i % 2 == first)
		{
			memcpy(half.bytes + half.total_bytes, from, whole->value_bytes[i]);
			half.value_bytes[half.values++] = whole->value_bytes[i];
			half.total_bytes += whole->value_bytes[i];
		}
		from += whole->value_bytes[i];
	}
	return half;
}

static void
put_advice(ReturnSetInfo *result, const SampledColumn *column, const Advice *advice)
{
	Datum		values[ADVICE_COLUMNS];
	bool		nulls[ADVICE_COLUMNS] = {false};

	values[0] = CStringGetTextDatum(advice->method->name);
	values[1] = Int32GetDatum(advice->level);
	nulls[1] = !method_has_levels(advice->method);
	values[2] = Int32GetDatum((int32) advice->dictionary_size);
	nulls[2] = advice->dictionary_size == 0;
	values[3] = Float8GetDatum(advice->ratio);
	values[4] = Float8GetDatum(advice->compress_us);
	values[5] = Float8GetDatum(advice->decompress_us);
	values[6] = CStringGetTextDatum(advice_ddl(column, advice));
	put_row(result, values, nulls);
}

/* A method at one level with every dictionary that it can have. */
static void
try_dictionaries(ReturnSetInfo *result, const SampledColumn *column, const Sample *tried,
				 const Dictionary *dictionaries, Advice *advice)
{
	for (int i = 0; i < lengthof(dictionary_sizes); i++)
	{
		if (dictionaries[i].bytes == 0)
			continue;
		advice->dictionary_size = dictionary_sizes[i];
		try_method(tried, &dictionaries[i], advice);
		put_advice(result, column, advice);
	}
}

static void
try_candidates(ReturnSetInfo *result, const SampledColumn *column, const Sample *tried,
			   const Dictionary *dictionaries)
{
	for (int i = 0; i < lengthof(candidates); i++)
	{
		const CompressionMethod *method = method_by_name(candidates[i].method);

		for (int j = 0; j < LEVELS_MAX && (j == 0 || candidates[i].levels[j] != 0); j++)
		{
			Advice		advice = {.method = method, .level = candidates[i].levels[j]};

			try_method(tried, NULL, &advice);
			put_advice(result, column, &advice);
			if (j < candidates[i].with_dictionary)
				try_dictionaries(result, column, tried, dictionaries, &advice);
		}
	}
}

/*
 * Dictionaries are trained on one half of the sample and tried on the other: on
 * their own half they would seem too good.
 */
Datum
compression_advice(PG_FUNCTION_ARGS)
{
	SampledColumn column = sample_column(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)));
	int32		max_values = PG_GETARG_INT32(2);
	Dictionary	dictionaries[lengthof(dictionary_sizes)] = {0};
	Sample		whole;
	Sample		training;
	Sample		tried;

	InitMaterializedSRF(fcinfo, 0);
	if (max_values < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("size of a sample must be positive")));
	whole = sample_values(&column, max_values, MAX_SAMPLE_BYTES);
	training = half_sample(&whole, 0);
	tried = whole.values > 1 ? half_sample(&whole, 1) : training;
	if (tried.values == 0)
		return (Datum) 0;

	for (int i = 0; i < lengthof(dictionary_sizes); i++)
		if (whole.total_bytes / whole.values <= DICTIONARY_MAX_AVERAGE_BYTES)
			dictionaries[i] = dictionary_train(&training, dictionary_sizes[i]);
	try_candidates((ReturnSetInfo *) fcinfo->resultinfo, &column, &tried, dictionaries);
	return (Datum) 0;
}
