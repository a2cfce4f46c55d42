/*-------------------------------------------------------------------------
 *
 * make_room.c
 *	  Removes dead entries from a full leaf, so that it need not be split.
 *
 * First what scans have marked dead.  If there is none and the executor says
 * that an UPDATE did not change the key, then versions of one row fill the
 * page: the table access method is asked which of them nobody can see
 * (bottom-up deletion).  Either way the table says which transactions of
 * standbys must not see the entries go.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "storage/bufmgr.h"

#include "change.h"
#include "tree.h"

/* What makes a bottom-up deletion worth its visits to the table. */
#define BOTTOM_UP_ENTRIES 24

/* Work space of one call, too large for the stack. */
typedef struct Candidates
{
	TM_IndexDeleteOp operation;
	TM_IndexDelete tids[KEYTREE_MAX_ENTRIES];
	TM_IndexStatus states[KEYTREE_MAX_ENTRIES];
	uint16		positions[KEYTREE_MAX_ENTRIES];
} Candidates;

static void
add_candidate(Candidates *candidates, const char *page, int position, bool is_dead, bool is_promising)
{
	int			number = candidates->operation.ndeltids++;
	KeytreeEntry entry = keytree_page_entry(page, position);

	keytree_tid_to_pointer(entry.tid, &candidates->tids[number].tid);
	candidates->tids[number].id = number;
	candidates->states[number] = (TM_IndexStatus)
	{
		.idxoffnum = position + FirstOffsetNumber,	/* the table knows offsets, which begin with 1 */
			.knowndeletable = is_dead,
			.promising = is_promising,
			.freespace = 1
	};
}

static void
add_marked(Candidates *candidates, const char *page)
{
	int			count = KeytreeHeader(page)->count;

	for (int position = 0; position < count; position++)
		if (keytree_page_entry_is_dead(page, position))
			add_candidate(candidates, page, position, true, false);
}

static bool
same_key(const char *page, int position, int other)
{
	KeytreeEntry a = keytree_page_entry(page, position);
	KeytreeEntry b = keytree_page_entry(page, other);

	return a.high == b.high && a.low == b.low;
}

/* All entries; keys that occur more than once are where dead versions are likely. */
static void
add_all(Candidates *candidates, const char *page)
{
	int			count = KeytreeHeader(page)->count;

	for (int position = 0; position < count; position++)
		add_candidate(candidates, page, position, false,
					  (position > 0 && same_key(page, position - 1, position)) ||
					  (position + 1 < count && same_key(page, position, position + 1)));
}

static int
compare_positions(const void *a, const void *b)
{
	return (int) *(const uint16 *) a - (int) *(const uint16 *) b;
}

/* Asks the table which candidates may go, and lets them go. */
static void
delete_candidates(Relation index, Relation heap, Buffer buffer, Candidates *candidates)
{
	TM_IndexDeleteOp *operation = &candidates->operation;
	TransactionId horizon = table_index_delete_tuples(heap, operation);
	int			count = 0;

	for (int i = 0; i < operation->ndeltids; i++)
	{
		const TM_IndexStatus *state = &candidates->states[candidates->tids[i].id];

		if (state->knowndeletable)
			candidates->positions[count++] = state->idxoffnum - FirstOffsetNumber;
	}
	if (count == 0)
		return;
	/* the table has the candidates in its own order */
	qsort(candidates->positions, count, sizeof(uint16), compare_positions);
	keytree_change_delete(index, heap, buffer, candidates->positions, count, horizon);
}

/*
 * Without marked entries and without an UPDATE that keeps the key, dead entries are
 * unlikely: then the caller splits the page.
 */
void
keytree_make_room(Relation index, Relation heap, Buffer buffer, bool updates_same_key)
{
	const char *page = BufferGetPage(buffer);
	Candidates *candidates;
	bool		has_dead = (KeytreeHeader(page)->flags & KEYTREE_PAGE_HAS_DEAD) != 0;

	if (!has_dead && !updates_same_key)
		return;
	candidates = palloc(sizeof(Candidates));
	candidates->operation = (TM_IndexDeleteOp)
	{
		.irel = index,
			.iblknum = BufferGetBlockNumber(buffer),
			.bottomup = !has_dead,
			.bottomupfreespace = has_dead ? 0 : BOTTOM_UP_ENTRIES,
			.deltids = candidates->tids,
			.status = candidates->states
	};
	if (has_dead)
		add_marked(candidates, page);
	else
		add_all(candidates, page);
	if (candidates->operation.ndeltids > 0)
		delete_candidates(index, heap, buffer, candidates);
	pfree(candidates);
}
