/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  State of an index scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_SCAN_H
#define KEYTREE_SCAN_H

#include "access/genam.h"
#include "access/relscan.h"
#include "access/sdir.h"
#include "nodes/tidbitmap.h"
#include "pg_compat.h"

#include "key.h"
#include "page.h"

/*
 * What the scan keys ask for: entries of a tree from one (inclusive) to
 * another (exclusive).  A scan has several with = ANY (array), or when it
 * returns NULLs after all values; they are disjoint and in scan order.
 */
typedef struct KeytreeInterval
{
	KeytreeEntry from;
	KeytreeEntry to;
	BlockNumber root;
}			KeytreeInterval;

typedef struct KeytreeBounds
{
	KeytreeInterval *intervals;
	int			count;
	bool		has_others;		/* entries that do not satisfy the keys: the executor must ask the operators */
	KeytreeInterval fixed[2];	/* storage where no array is involved */
}			KeytreeBounds;

/* Computes the intervals of the scan keys; arrays go into the current memory context. */
extern void keytree_compute_bounds(IndexScanDesc scan, KeytreeBounds *bounds);

/* The entries of one leaf that satisfy the scan, whatever the direction. */
typedef struct KeytreeLeafItems
{
	int			count;
	int			index;			/* the current one; -1 or count when none */
	int			first_interval; /* those that meet the page */
	int			last_interval;
	Buffer		pin;			/* or InvalidBuffer */
	BlockNumber block;
	BlockNumber next_guess;		/* where the next interval in the direction begins, or InvalidBlockNumber */
	KeytreePageHeader header;	/* as it was when the page was read */
	uint64		tids[KEYTREE_MAX_ENTRIES];
	uint16		positions[KEYTREE_MAX_ENTRIES];
	uint64		keys[];			/* of index-only scans: high and low halves of each */
}			KeytreeLeafItems;

/* Where a scan goes on: at the interval, from an entry on or down to below it. */
typedef struct KeytreeTarget
{
	int			interval;
	KeytreeEntry entry;			/* inclusive forwards, exclusive backwards */
	BlockNumber guess;
}			KeytreeTarget;

typedef struct KeytreeScan
{
	KeytreeKind kind;
	KeytreeBounds bounds;
	bool		has_bounds;		/* of the keys that were given last */
	MemoryContext bounds_context;
	bool		is_started;
	bool		is_at_end;		/* in the direction that was last asked for */
	KeytreeLeafItems *leaf;
	KeytreeLeafItems *marked_leaf;	/* what the mark refers to after the scan left the page */
	int			marked_index;	/* -1: no mark */
	bool		mark_is_in_leaf;
	int			killed_count;
	uint16	   *killed;			/* positions in leaf's page */
	IndexTuple	tuple;			/* of index-only scans */
	IndexTuple	null_tuple;
}			KeytreeScan;

/* How scans of this session have read leaves. */
typedef struct KeytreeLeafReads
{
	int64		without_lock;
	int64		disturbed;		/* begun without lock, and of no use because somebody wrote */
	int64		with_lock;
}			KeytreeLeafReads;

extern KeytreeLeafReads keytree_leaf_reads;

extern IndexScanDesc keytree_beginscan(Relation index, int keys_count, int orderbys_count);
extern void keytree_rescan(IndexScanDesc scan, ScanKey keys, int keys_count, ScanKey orderbys, int orderbys_count);
extern bool keytree_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 keytree_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void keytree_endscan(IndexScanDesc scan);
extern void keytree_markpos(IndexScanDesc scan);
extern void keytree_restrpos(IndexScanDesc scan);

extern Size keytree_estimate_parallel_scan(COMPAT_ESTIMATE_PARALLEL_SCAN_PARAMETERS);
extern void keytree_init_parallel_scan(void *place);
extern void keytree_parallel_rescan(IndexScanDesc scan);

/* Takes the target of the next page (of no meaning if it is to be the first); false at the end. */
extern bool keytree_parallel_take(IndexScanDesc scan, KeytreeTarget *target, bool *is_first);

/* Gives the others the target after a page; NULL if there is none. */
extern void keytree_parallel_put(IndexScanDesc scan, const KeytreeTarget *target);

#endif							/* KEYTREE_SCAN_H */
