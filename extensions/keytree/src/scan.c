/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Index scans: page by page, all that a page has for the scan at once.
 *
 * A page's items are taken whatever the direction, so turning around needs
 * no care; where to go on is said by the page's fences, not by its links,
 * which are only guesses (see README.md, "Moving between leaves").
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "inner_copy.h"
#include "scan.h"
#include "tree.h"

/* Reads without lock that others may disturb before a scan takes the lock. */
#define MAX_READS_WITHOUT_LOCK 3

KeytreeLeafReads keytree_leaf_reads;

static KeytreeLeafItems *
create_leaf_items(IndexScanDesc scan)
{
	Size		keys_bytes = scan->xs_want_itup ? 2 * KEYTREE_MAX_ENTRIES * sizeof(uint64) : 0;
	KeytreeLeafItems *leaf = MemoryContextAlloc(GetMemoryChunkContext(scan->opaque),
												offsetof(KeytreeLeafItems, keys) + keys_bytes);

	leaf->count = 0;
	leaf->pin = InvalidBuffer;
	return leaf;
}

IndexScanDesc
keytree_beginscan(Relation index, int keys_count, int orderbys_count)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys_count, orderbys_count);
	KeytreeScan *state = palloc0(sizeof(KeytreeScan));

	state->kind = keytree_kind_of(index->rd_opcintype[0]);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext, "keytree scan bounds",
												  ALLOCSET_SMALL_SIZES);
	state->marked_index = -1;
	scan->xs_itupdesc = RelationGetDescr(index);
	scan->opaque = state;
	return scan;
}

static void
drop_pin(KeytreeLeafItems *leaf)
{
	if (leaf != NULL && BufferIsValid(leaf->pin))
	{
		ReleaseBuffer(leaf->pin);
		leaf->pin = InvalidBuffer;
	}
}

/*
 * Tells the page which of its entries are dead.  Only if nobody changed it
 * since it was read: otherwise the TIDs may mean other rows by now.
 */
static void
kill_items(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;
	Buffer		buffer;
	Page		page;

	if (state->killed_count == 0)
		return;
	buffer = ReadBuffer(scan->indexRelation, state->leaf->block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (KeytreeHeader(page)->version == state->leaf->header.version &&
		!(KeytreeHeader(page)->flags & KEYTREE_PAGE_DELETED) && KeytreeHeader(page)->level == 0)
	{
		for (int i = 0; i < state->killed_count; i++)
			keytree_page_mark_dead(page, state->killed[i]);
		MarkBufferDirtyHint(buffer, true);
	}
	UnlockReleaseBuffer(buffer);
	state->killed_count = 0;
}

/* The scan leaves its page; the mark keeps what it needs. */
static void
leave_page(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;
	KeytreeLeafItems *leaf = state->leaf;

	if (leaf == NULL)
		return;
	kill_items(scan);
	if (state->mark_is_in_leaf)
	{
		state->leaf = state->marked_leaf;
		state->marked_leaf = leaf;
		state->mark_is_in_leaf = false;
	}
	else
		drop_pin(leaf);
	if (state->leaf != NULL)
		state->leaf->count = 0;
}

static void
forget_mark(KeytreeScan *state)
{
	drop_pin(state->marked_leaf);
	state->marked_index = -1;
	state->mark_is_in_leaf = false;
}

void
keytree_rescan(IndexScanDesc scan, ScanKey keys, int keys_count, ScanKey orderbys, int orderbys_count)
{
	KeytreeScan *state = scan->opaque;

	leave_page(scan);
	forget_mark(state);
	if (keys != NULL && scan->numberOfKeys > 0)
		memcpy(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	/* They are computed with the first page: a scan may be set back without being read again. */
	state->has_bounds = false;
	state->is_started = false;
	state->is_at_end = false;
}

/* First position in [from, count) that is not below the entry; most intervals are of one key, so look near first. */
static int
end_position(const char *page, const KeytreePageHeader *header, int from, const KeytreeEntry *to)
{
	if (!keytree_less(to, &header->high_fence))
		return header->count;
	for (int position = from; position < Min(from + 2, header->count); position++)
	{
		KeytreeEntry entry = keytree_view_entry(page, header, position);

		if (!keytree_less(&entry, to))
			return position;
	}
	return keytree_view_lower_bound(page, header, to);
}

/*
 * Without a lock the page may change meanwhile. So the result counts only if the
 * version word is the same afterwards. All access follows the copied header, and so
 * stays within the page.
 */
static void
take_positions(IndexScanDesc scan, KeytreeLeafItems *leaf, const char *page, int from, int to)
{
	const KeytreePageHeader *header = &leaf->header;
	bool		skip_dead = scan->ignore_killed_tuples && (header->flags & KEYTREE_PAGE_HAS_DEAD);

	for (int position = from; position < to; position++)
	{
		KeytreeEntry entry;

		if (skip_dead && keytree_view_entry_is_dead(page, header, position))
			continue;
		entry = keytree_view_entry(page, header, position);
		leaf->tids[leaf->count] = entry.tid;
		leaf->positions[leaf->count] = position;
		if (scan->xs_want_itup)
		{
			leaf->keys[2 * leaf->count] = entry.high;
			leaf->keys[2 * leaf->count + 1] = entry.low;
		}
		leaf->count++;
	}
}

/*
 * Takes what the page has for all intervals that meet it; interval is one of
 * them.  The page may change meanwhile: no position is taken twice whatever
 * it says, so the arrays suffice.
 */
static void
take_page(IndexScanDesc scan, KeytreeLeafItems *leaf, const char *page, int interval)
{
	const KeytreeScan *state = scan->opaque;
	const KeytreeInterval *intervals = state->bounds.intervals;
	const KeytreePageHeader *header = &leaf->header;
	BlockNumber root = intervals[interval].root;
	int			end = 0;
	int			first = interval;
	int			last = interval;

	while (first > 0 && intervals[first - 1].root == root &&
		   keytree_less(&header->low_fence, &intervals[first - 1].to))
		first--;
	while (last + 1 < state->bounds.count && intervals[last + 1].root == root &&
		   keytree_less(&intervals[last + 1].from, &header->high_fence))
		last++;

	leaf->count = 0;
	leaf->first_interval = first;
	leaf->last_interval = last;
	for (int i = first; i <= last; i++)
	{
		int			from = keytree_less(&header->low_fence, &intervals[i].from) ?
			keytree_view_lower_bound(page, header, &intervals[i].from) : 0;

		from = Max(from, end);
		end = Max(from, end_position(page, header, from, &intervals[i].to));
		take_positions(scan, leaf, page, from, end);
	}
}

/* The greatest entry that is less. */
static KeytreeEntry
entry_before(KeytreeEntry entry)
{
	if (entry.tid-- == 0 && entry.low-- == 0)
		entry.high--;
	return entry;
}

static bool
first_target(const KeytreeScan *state, bool forward, KeytreeTarget *target)
{
	const KeytreeBounds *bounds = &state->bounds;

	if (bounds->count == 0)
		return false;
	target->interval = forward ? 0 : bounds->count - 1;
	target->entry = forward ? bounds->intervals[0].from : bounds->intervals[bounds->count - 1].to;
	target->guess = InvalidBlockNumber;
	return true;
}

/* The target after a page, which may have been the last. */
static bool
next_target(const KeytreeScan *state, const KeytreeLeafItems *leaf, bool forward, KeytreeTarget *target)
{
	const KeytreeBounds *bounds = &state->bounds;

	if (forward)
	{
		const KeytreeInterval *last = &bounds->intervals[leaf->last_interval];

		if (keytree_less(&leaf->header.high_fence, &last->to))
			*target = (KeytreeTarget)
		{
			.interval = leaf->last_interval,.entry = leaf->header.high_fence,.guess = leaf->header.right
		};
		else if (leaf->last_interval + 1 < bounds->count)
			*target = (KeytreeTarget)
		{
			.interval = leaf->last_interval + 1,.entry = last[1].from,.guess = leaf->next_guess
		};
		else
			return false;
	}
	else
	{
		const KeytreeInterval *first = &bounds->intervals[leaf->first_interval];

		if (keytree_less(&first->from, &leaf->header.low_fence))
			*target = (KeytreeTarget)
		{
			.interval = leaf->first_interval,.entry = leaf->header.low_fence,.guess = leaf->header.left
		};
		else if (leaf->first_interval > 0)
			*target = (KeytreeTarget)
		{
			.interval = leaf->first_interval - 1,.entry = first[-1].to,.guess = leaf->next_guess
		};
		else
			return false;
	}
	return true;
}

/* Index-only scans and others that do not look at the heap with an MVCC snapshot keep VACUUM away by their pin. */
static bool
needs_pin(IndexScanDesc scan)
{
	return scan->xs_want_itup || scan->xs_snapshot == NULL || !IsMVCCSnapshot(scan->xs_snapshot);
}

/*
 * Whether the page has items on the hither side of the target: after a merge
 * of the ranges of pages that were two when the target was computed.
 */
static bool
reaches_back(const KeytreeScan *state, const KeytreeTarget *target, bool forward)
{
	const KeytreeLeafItems *leaf = state->leaf;

	if (leaf->count == 0)
		return false;
	if (forward)
		return keytree_less(&state->bounds.intervals[leaf->first_interval].from, &target->entry) &&
			keytree_less(&leaf->header.low_fence, &target->entry);
	return keytree_less(&target->entry, &state->bounds.intervals[leaf->last_interval].to) &&
		keytree_less(&target->entry, &leaf->header.high_fence);
}

/* Index of the item that the scan begins with in a page that was just taken. */
static int
first_index(const KeytreeScan *state, const char *page, const KeytreeTarget *target, bool forward)
{
	const KeytreeLeafItems *leaf = state->leaf;
	int			index = forward ? 0 : leaf->count;

	if (reaches_back(state, target, forward))
	{
		int			bound = keytree_view_lower_bound(page, &leaf->header, &target->entry);

		if (forward)
			while (index < leaf->count && leaf->positions[index] < bound)
				index++;
		else
			while (index > 0 && leaf->positions[index - 1] >= bound)
				index--;
	}
	return forward ? index : index - 1;
}

/*
 * Replay puts full images over pages without going through the version word;
 * and a serializable reader who does not see an insert must have its
 * predicate lock before the inserter looks for one, which the lock ensures.
 */
static bool
lock_may_be_spared(void)
{
	return !RecoveryInProgress() && !IsolationIsSerializable();
}

/* Reads the target's page; the current item is the first (or last) one in the direction. */
static void
read_target(IndexScanDesc scan, const KeytreeTarget *target, bool forward, bool keep_pin)
{
	KeytreeScan *state = scan->opaque;
	KeytreeLeafItems *leaf = state->leaf;
	KeytreeEntry entry = forward ? target->entry : entry_before(target->entry);
	int			tries_left = lock_may_be_spared() ? MAX_READS_WITHOUT_LOCK : 0;
	bool		is_read = false;
	Buffer		buffer = InvalidBuffer;

	while (!is_read)
	{
		bool		is_locked;
		const char *page;

		buffer = keytree_read_leaf(scan->indexRelation, state->bounds.intervals[target->interval].root,
								   target->guess, &entry, tries_left-- > 0, &leaf->header, &is_locked);
		page = BufferGetPage(buffer);
		leaf->block = BufferGetBlockNumber(buffer);
		leaf->next_guess = InvalidBlockNumber;
		if (is_locked && scan->xs_snapshot != NULL)
			PredicateLockPage(scan->indexRelation, leaf->block, scan->xs_snapshot);
		take_page(scan, leaf, page, target->interval);
		leaf->index = first_index(state, page, target, forward);
		is_read = is_locked || keytree_page_is_unchanged(page, &leaf->header);
		if (is_locked)
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			keytree_leaf_reads.with_lock++;
		}
		else if (is_read)
			keytree_leaf_reads.without_lock++;
		else
			keytree_leaf_reads.disturbed++;
		if (!is_read || !keep_pin)
			ReleaseBuffer(buffer);
	}
	if (keep_pin)
		leaf->pin = buffer;
}

/* Lets the page of the next interval come while the executor is busy with the items of this one. */
static void
prefetch_next_interval(IndexScanDesc scan, bool forward)
{
	KeytreeScan *state = scan->opaque;
	KeytreeTarget target;
	KeytreeEntry entry;

	if (!next_target(state, state->leaf, forward, &target) || BlockNumberIsValid(target.guess) ||
		state->bounds.intervals[target.interval].root != KEYTREE_VALUES_ROOT)
		return;
	entry = forward ? target.entry : entry_before(target.entry);
	state->leaf->next_guess = keytree_inner_copy_find(scan->indexRelation, &entry);
	if (BlockNumberIsValid(state->leaf->next_guess))
		keytree_prefetch_page(scan->indexRelation, state->leaf->next_guess);
}

static void
compute_bounds(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;
	MemoryContext previous;

	MemoryContextReset(state->bounds_context);
	previous = MemoryContextSwitchTo(state->bounds_context);
	keytree_compute_bounds(scan, &state->bounds);
	MemoryContextSwitchTo(previous);
	state->has_bounds = true;
}

/* The page to be read next; false if there is none. */
static bool
take_target(IndexScanDesc scan, bool forward, KeytreeTarget *target)
{
	KeytreeScan *state = scan->opaque;
	bool		is_first = !state->is_started;

	if (scan->parallel_scan != NULL)
	{
		if (!keytree_parallel_take(scan, target, &is_first))
			return false;
		if (!is_first)
			return true;
		if (first_target(state, forward, target))
			return true;
		keytree_parallel_put(scan, NULL);
		return false;
	}
	return is_first ? first_target(state, forward, target) :
		next_target(state, state->leaf, forward, target);
}

/* Reads pages in the direction until one has an item. */
static bool
read_next_page(IndexScanDesc scan, bool forward, bool keep_pin)
{
	KeytreeScan *state = scan->opaque;
	KeytreeTarget target;

	if (!state->has_bounds)
		compute_bounds(scan);
	while (take_target(scan, forward, &target))
	{
		if (state->is_started)
			leave_page(scan);
		if (state->leaf == NULL)
			state->leaf = create_leaf_items(scan);
		state->is_started = true;
		read_target(scan, &target, forward, keep_pin);
		if (scan->parallel_scan != NULL)
			keytree_parallel_put(scan, next_target(state, state->leaf, forward, &target) ? &target : NULL);
		else if (state->bounds.count > 1)
			prefetch_next_interval(scan, forward);
		if (state->leaf->index >= 0 && state->leaf->index < state->leaf->count)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

static IndexTuple
form_tuple(IndexScanDesc scan, const KeytreeLeafItems *leaf)
{
	KeytreeScan *state = scan->opaque;
	KeytreeEntry entry = {.high = leaf->keys[2 * leaf->index],.low = leaf->keys[2 * leaf->index + 1]};
	char	   *values;

	if (state->bounds.intervals[leaf->first_interval].root == KEYTREE_NULLS_ROOT)
		return state->null_tuple;
	values = (char *) state->tuple + MAXALIGN(sizeof(IndexTupleData));
	(void) keytree_key_to_bytes(state->kind, &entry, values);
	return state->tuple;
}

static void
prepare_tuples(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;
	MemoryContext previous = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	bool		is_null = true;
	Datum		value = (Datum) 0;
	char		zero[sizeof(uint64) * 2] = {0};

	state->null_tuple = index_form_tuple(RelationGetDescr(scan->indexRelation), &value, &is_null);
	is_null = false;
	if (state->kind == KEYTREE_UUID)
		value = PointerGetDatum(zero);
	state->tuple = index_form_tuple(RelationGetDescr(scan->indexRelation), &value, &is_null);
	MemoryContextSwitchTo(previous);
}

/* The killed item is the one returned last. */
static void
remember_killed(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;
	const KeytreeLeafItems *leaf = state->leaf;

	if (leaf == NULL || leaf->index < 0 || leaf->index >= leaf->count)
		return;
	if (state->killed == NULL)
		state->killed = MemoryContextAlloc(GetMemoryChunkContext(state), KEYTREE_MAX_ENTRIES * sizeof(uint16));
	if (state->killed_count < KEYTREE_MAX_ENTRIES)
		state->killed[state->killed_count++] = leaf->positions[leaf->index];
}

bool
keytree_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	KeytreeScan *state = scan->opaque;
	KeytreeLeafItems *leaf;
	bool		forward = ScanDirectionIsForward(direction);

	if (!state->is_started)
	{
		compat_count_index_search(scan);
		if (!read_next_page(scan, forward, needs_pin(scan)))
			return false;
	}
	else
	{
		if (scan->kill_prior_tuple)
			remember_killed(scan);
		leaf = state->leaf;
		/* at most one step beyond either end, from where the other direction comes back */
		if (forward ? leaf->index < leaf->count : leaf->index >= 0)
			leaf->index += forward ? 1 : -1;
		if ((leaf->index < 0 || leaf->index >= leaf->count) &&
			!read_next_page(scan, forward, needs_pin(scan)))
			return false;
	}
	leaf = state->leaf;
	keytree_tid_to_pointer(leaf->tids[leaf->index], &scan->xs_heaptid);
	scan->xs_recheck = state->bounds.has_others;
	if (scan->xs_want_itup)
	{
		if (state->tuple == NULL)
			prepare_tuples(scan);
		scan->xs_itup = form_tuple(scan, leaf);
	}
	return true;
}

/* If a range is wide, the executor checks all rows again. */
int64
keytree_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	KeytreeScan *state = scan->opaque;
	int64		count = 0;

	compat_count_index_search(scan);
	while (read_next_page(scan, true, false))
	{
		KeytreeLeafItems *leaf = state->leaf;

		for (; leaf->index < leaf->count; leaf->index++)
		{
			ItemPointerData pointer;

			keytree_tid_to_pointer(leaf->tids[leaf->index], &pointer);
			tbm_add_tuples(bitmap, &pointer, 1, state->bounds.has_others);
			count++;
		}
		CHECK_FOR_INTERRUPTS();
	}
	return count;
}

void
keytree_endscan(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;

	leave_page(scan);
	forget_mark(state);
	drop_pin(state->leaf);
	MemoryContextDelete(state->bounds_context);
	if (state->leaf != NULL)
		pfree(state->leaf);
	if (state->marked_leaf != NULL)
		pfree(state->marked_leaf);
	pfree(state);
}

void
keytree_markpos(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;

	forget_mark(state);
	if (state->is_started && state->leaf->index >= 0 && state->leaf->index < state->leaf->count)
	{
		state->marked_index = state->leaf->index;
		state->mark_is_in_leaf = true;
	}
}

void
keytree_restrpos(IndexScanDesc scan)
{
	KeytreeScan *state = scan->opaque;

	if (state->marked_index < 0)
		return;
	if (!state->mark_is_in_leaf)
	{
		KeytreeLeafItems *leaf = state->leaf;

		kill_items(scan);
		drop_pin(leaf);
		state->leaf = state->marked_leaf;
		state->marked_leaf = leaf;
		state->mark_is_in_leaf = true;
	}
	state->leaf->index = state->marked_index;
}
