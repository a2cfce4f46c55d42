/*-------------------------------------------------------------------------
 *
 * state.c
 *	  The states of methods that a backend keeps: contexts of codecs and
 *	  digested dictionaries, which cost more to make than a short value to
 *	  compress (measured: zstd-3 on 800 bytes 7.8 us with a kept context,
 *	  22.8 us with a fresh one).
 *
 *	  At most STATES_MAX, the least recently used goes.  Each has a memory
 *	  context of its own, so that deleting it is all there is to freeing.
 *
 *-------------------------------------------------------------------------
 */
#include "method.h"

#include "dictionary.h"
#include "pg_compat.h"
#include "utils/memutils.h"

/* A zstd state of a high level with a dictionary has 2.4 MB; usual ones have 0.1 to 0.5 MB. */
#define STATES_MAX 8

typedef struct CachedState
{
	const CompressionMethod *method;	/* NULL: free */
	int			level;
	bool		decompress;
	uint32		dictionary_id;
	uint64		last_use;
	MemoryContext context;
	void	   *state;
} CachedState;

static CachedState states[STATES_MAX];
static CachedState *latest = &states[0];
static uint64 uses = 0;

static bool
state_matches(const CachedState *cached, const CompressionMethod *method, int level,
			  bool decompress, uint32 dictionary_id)
{
	return cached->method == method && cached->level == level &&
		cached->decompress == decompress && cached->dictionary_id == dictionary_id;
}

/* Fills the slot only when nothing can fail any more. */
static void
init_state(CachedState *slot, const CompressionMethod *method, int level, bool decompress,
		   uint32 dictionary_id)
{
	CompressionOptions options = {.level = level, .decompress = decompress};
	bytea	   *dictionary = NULL;
	MemoryContext context;
	MemoryContext caller;
	void	   *state = NULL;

	if (dictionary_id != 0)
	{
		dictionary = dictionary_content(dictionary_id);
		options.dictionary = VARDATA_ANY(dictionary);
		options.dictionary_bytes = VARSIZE_ANY_EXHDR(dictionary);
	}
	if (slot->method != NULL)
	{
		slot->method = NULL;
		slot->last_use = 0;
		MemoryContextDelete(slot->context);
	}

	/* Below the caller's until it is whole, so that an error frees it. */
	context = AllocSetContextCreate(CurrentMemoryContext, "compression state",
									ALLOCSET_SMALL_SIZES);
	if (method->routine->cminitstate != NULL)
	{
		caller = MemoryContextSwitchTo(context);
		state = method->routine->cminitstate(&options);
		MemoryContextSwitchTo(caller);
	}
	MemoryContextSetParent(context, TopMemoryContext);
	if (dictionary != NULL)
		pfree(dictionary);
	slot->context = context;
	slot->state = state;
	slot->level = level;
	slot->decompress = decompress;
	slot->dictionary_id = dictionary_id;
	slot->method = method;
}

/* A new state replaces the one that was unused for longest. Decompressing knows no level. */
void *
method_state(const CompressionMethod *method, int level, bool decompress, uint32 dictionary_id)
{
	if (decompress)
		level = 0;
	if (!state_matches(latest, method, level, decompress, dictionary_id))
	{
		CachedState *oldest = &states[0];
		CachedState *found = NULL;

		for (int i = 0; i < STATES_MAX && found == NULL; i++)
		{
			if (state_matches(&states[i], method, level, decompress, dictionary_id))
				found = &states[i];
			else if (states[i].last_use < oldest->last_use)
				oldest = &states[i];
		}
		if (found == NULL)
		{
			init_state(oldest, method, level, decompress, dictionary_id);
			found = oldest;
		}
		latest = found;
	}
	latest->last_use = ++uses;
	return latest->state;
}
