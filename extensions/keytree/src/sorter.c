/*-------------------------------------------------------------------------
 *
 * sorter.c
 *	  External sort of entries.
 *
 * Entries are gathered in runs that the kernels sort as 128-bit numbers: key
 * above TID, or for a uuid its high half above the entry's number in the run,
 * whose low half and TID stand apart and decide among equals.  A run that came
 * in order is not sorted.  When memory is used up all runs in it are merged
 * into one on disk.  Reading merges what there is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "penumbra/sort.h"
#include "sorter.h"

/* One call into the kernels, about 30 ms, cannot be interrupted. */
#define MAX_RUN_ENTRIES (1024 * 1024)

#define FILE_BUFFER_ENTRIES 4096

/* A run of uuids is read in an order that no cache foresees. */
#define PREFETCHED_ENTRIES 16

/* What does not fit a number with the high half of a uuid. */
typedef struct Rest
{
	uint64		low;
	uint64		tid;
}			Rest;

typedef struct Run
{
	int64		count;			/* entries left after head */
	KeytreeEntry head;			/* the next to be read */

	/* in memory */
	PenumbraWideKey *keys;		/* NULL on disk */
	Rest	   *rests;			/* NULL but for uuid */
	int64		at;

	/* on disk */
	BufFile    *file;
	KeytreeEntry *buffer;
	int			buffered;
	int			buffer_at;
}			Run;

struct KeytreeSorter
{
	bool		has_rests;
	FileSet    *files;			/* of runs that another process will read, or NULL */
	const char *name;			/* theirs, but for the number */
	MemoryContext context;		/* of the sorter */
	MemoryContext run_context;	/* of runs in memory */
	int64		run_entries;	/* of a full run in memory */
	int			runs_in_memory; /* that memory holds */
	Run		   *filling;		/* the run that entries are added to */
	Run		  **runs;			/* those on disk first; after the sort a heap by head */
	int			runs_count;
	int			runs_on_disk;
	int			runs_room;
	bool		is_reading;
};

KeytreeSorter *
keytree_sorter_create(KeytreeKind kind, Size memory_bytes, FileSet *files, const char *name)
{
	KeytreeSorter *sorter = palloc0(sizeof(KeytreeSorter));
	Size		entry_bytes;
	int64		entries;

	sorter->has_rests = kind == KEYTREE_UUID;
	sorter->files = files;
	sorter->name = name;
	sorter->context = CurrentMemoryContext;
	sorter->run_context = AllocSetContextCreate(CurrentMemoryContext, "keytree sort", ALLOCSET_DEFAULT_SIZES);
	entry_bytes = sizeof(PenumbraWideKey) + (sorter->has_rests ? sizeof(Rest) : 0);
	entries = Max(memory_bytes / entry_bytes, 1024);
	sorter->run_entries = Min(entries, MAX_RUN_ENTRIES);
	sorter->runs_in_memory = Max(entries / sorter->run_entries, 1);
	return sorter;
}

static void
append_run(KeytreeSorter *sorter, Run *run)
{
	if (sorter->runs_count == sorter->runs_room)
	{
		int			room = Max(2 * sorter->runs_room, 16);

		sorter->runs = sorter->runs == NULL ?
			MemoryContextAlloc(sorter->context, room * sizeof(Run *)) :
			repalloc(sorter->runs, room * sizeof(Run *));
		sorter->runs_room = room;
	}
	sorter->runs[sorter->runs_count++] = run;
}

static int
compare_rests(const void *a, const void *b, void *rests)
{
	const Rest *left = &((Rest *) rests)[((const PenumbraWideKey *) a)->low];
	const Rest *right = &((Rest *) rests)[((const PenumbraWideKey *) b)->low];

	if (left->low != right->low)
		return left->low < right->low ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static void
sort_run(Run *run)
{
	if (!penumbra_keys_are_ordered(PENUMBRA_KEY_UINT128, run->keys, run->count, false))
		penumbra_sort_keys(PENUMBRA_KEY_UINT128, run->keys, run->count, false);
	if (run->rests == NULL)
		return;
	for (int64 from = 0, to; from < run->count; from = to)
	{
		for (to = from + 1; to < run->count && run->keys[to].high == run->keys[from].high; to++)
			;
		if (to - from > 1)
			qsort_arg(&run->keys[from], to - from, sizeof(PenumbraWideKey), compare_rests, run->rests);
		CHECK_FOR_INTERRUPTS();
	}
}

static Run *
start_run(KeytreeSorter *sorter)
{
	MemoryContext caller = MemoryContextSwitchTo(sorter->run_context);
	Run		   *run = palloc0(sizeof(Run));

	/* the kernels want the alignment of a 128-bit number */
	run->keys = (PenumbraWideKey *) TYPEALIGN(sizeof(PenumbraWideKey),
											  palloc_extended((sorter->run_entries + 1) * sizeof(PenumbraWideKey),
															  MCXT_ALLOC_HUGE));
	if (sorter->has_rests)
		run->rests = palloc_extended(sorter->run_entries * sizeof(Rest), MCXT_ALLOC_HUGE);
	MemoryContextSwitchTo(caller);
	return run;
}

/* Moves the head on to the run's next entry. */
static void
advance(Run *run)
{
	Assert(run->count > 0);
	run->count--;
	if (run->keys != NULL)
	{
		const PenumbraWideKey *key = &run->keys[run->at++];

		if (run->rests == NULL)
			run->head = (KeytreeEntry) {key->high, 0, key->low};
		else
		{
			if (run->count >= PREFETCHED_ENTRIES)
				__builtin_prefetch(&run->rests[key[PREFETCHED_ENTRIES].low]);
			run->head = (KeytreeEntry) {key->high, run->rests[key->low].low, run->rests[key->low].tid};
		}
		return;
	}
	if (run->buffer_at == run->buffered)
	{
		int64		wanted = Min(run->count + 1, FILE_BUFFER_ENTRIES);

		if (BufFileRead(run->file, run->buffer, wanted * sizeof(KeytreeEntry)) != wanted * sizeof(KeytreeEntry))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read temporary file of an index build: %m")));
		run->buffered = wanted;
		run->buffer_at = 0;
	}
	run->head = run->buffer[run->buffer_at++];
}

static void
sift_down(Run **heap, int count, int at)
{
	Run		   *run = heap[at];

	for (;;)
	{
		int			child = 2 * at + 1;

		if (child + 1 < count && keytree_less(&heap[child + 1]->head, &heap[child]->head))
			child++;
		if (child >= count || !keytree_less(&heap[child]->head, &run->head))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = run;
}

static void
start_merge(Run **runs, int count)
{
	for (int i = 0; i < count; i++)
		advance(runs[i]);
	for (int i = count / 2; i-- > 0;)
		sift_down(runs, count, i);
}

/* The next entries in order, up to so many; returns how many. */
static int
merge_entries(Run **heap, int *count, KeytreeEntry *entries, int most)
{
	int			read;

	for (read = 0; read < most && *count > 0; read++)
	{
		entries[read] = heap[0]->head;
		if (heap[0]->count > 0)
			advance(heap[0]);
		else
		{
			if (heap[0]->file != NULL)
				BufFileClose(heap[0]->file);
			heap[0] = heap[--*count];
		}
		if (*count > 1)
			sift_down(heap, *count, 0);
	}
	return read;
}

static void
finish_run(KeytreeSorter *sorter)
{
	if (sorter->filling == NULL)
		return;
	sort_run(sorter->filling);
	append_run(sorter, sorter->filling);
	sorter->filling = NULL;
}

static void
name_of_file(const char *name, int number, char *path)
{
	snprintf(path, MAXPGPATH, "%s.%d", name, number);
}

/* A run on disk, to be read from its start. */
static Run *
create_disk_run(BufFile *file, int64 count)
{
	Run		   *run = palloc0(sizeof(Run));

	run->file = file;
	run->count = count;
	run->buffer = palloc(FILE_BUFFER_ENTRIES * sizeof(KeytreeEntry));
	return run;
}

/* All runs in memory become one on disk. */
static void
spill(KeytreeSorter *sorter)
{
	MemoryContext caller = MemoryContextSwitchTo(sorter->context);
	char		name[MAXPGPATH];
	Run		   *spilled;
	Run		  **heap = sorter->runs + sorter->runs_on_disk;
	int			heap_count = sorter->runs_count - sorter->runs_on_disk;
	int			read;

	name_of_file(sorter->name, sorter->runs_on_disk, name);
	spilled = create_disk_run(sorter->files != NULL ? BufFileCreateFileSet(sorter->files, name) :
							  BufFileCreateTemp(false), 0);
	start_merge(heap, heap_count);
	while ((read = merge_entries(heap, &heap_count, spilled->buffer, FILE_BUFFER_ENTRIES)) > 0)
	{
		BufFileWrite(spilled->file, spilled->buffer, read * sizeof(KeytreeEntry));
		spilled->count += read;
		CHECK_FOR_INTERRUPTS();
	}
	if (BufFileSeek(spilled->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of an index build: %m")));
	MemoryContextReset(sorter->run_context);
	sorter->runs_count = sorter->runs_on_disk;
	append_run(sorter, spilled);
	sorter->runs_on_disk = sorter->runs_count;
	MemoryContextSwitchTo(caller);
}

/*
 * The kernel sorts pairs of 64 bits. These are key and TID or, where keys have a low
 * half, the high half and the number of the rest.
 */
void
keytree_sorter_add(KeytreeSorter *sorter, const KeytreeEntry *entry)
{
	Run		   *run = sorter->filling;
	int64		at;

	if (run == NULL || run->count == sorter->run_entries)
	{
		finish_run(sorter);
		if (sorter->runs_count - sorter->runs_on_disk >= sorter->runs_in_memory)
			spill(sorter);
		run = sorter->filling = start_run(sorter);
	}
	at = run->count++;
	run->keys[at].high = entry->high;
	run->keys[at].low = entry->tid;
	if (sorter->has_rests)
	{
		run->keys[at].low = at;
		run->rests[at] = (Rest)
		{
			.low = entry->low,.tid = entry->tid
		};
	}
}

int
keytree_sorter_read(KeytreeSorter *sorter, KeytreeEntry *entries, int most)
{
	if (!sorter->is_reading)
	{
		finish_run(sorter);
		start_merge(sorter->runs, sorter->runs_count);
		sorter->is_reading = true;
	}
	return merge_entries(sorter->runs, &sorter->runs_count, entries, most);
}

int
keytree_sorter_export(KeytreeSorter *sorter)
{
	finish_run(sorter);
	if (sorter->runs_count > sorter->runs_on_disk)
		spill(sorter);
	for (int i = 0; i < sorter->runs_count; i++)
	{
		BufFileExportFileSet(sorter->runs[i]->file);
		BufFileClose(sorter->runs[i]->file);
	}
	return sorter->runs_count;
}

void
keytree_sorter_import(KeytreeSorter *sorter, FileSet *files, const char *name, int count)
{
	MemoryContext caller = MemoryContextSwitchTo(sorter->context);

	finish_run(sorter);
	for (int i = 0; i < count; i++)
	{
		char		path[MAXPGPATH];
		BufFile    *file;

		name_of_file(name, i, path);
		file = BufFileOpenFileSet(files, path, O_RDONLY, false);
		append_run(sorter, create_disk_run(file, BufFileSize(file) / sizeof(KeytreeEntry)));
	}
	MemoryContextSwitchTo(caller);
}
