/*-------------------------------------------------------------------------
 *
 * btree_position.h
 *	  Where a scan of a btree index begins, found without reading inner pages
 *	  under locks.
 *
 * The README has the proof: a leaf page shows by itself that it is the right one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LOOKUP_BTREE_POSITION_H
#define LOOKUP_BTREE_POSITION_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/sdir.h"
#include "access/skey.h"
#include "utils/rel.h"

/* Parts of the compared columns. */
#define POSITION_MAX_PARTS 8

/* An eighth of an index entry at most, compared as a signed number. */
typedef enum PartKind
{
	PART_INT2,
	PART_INT4,
	PART_INT8,
	PART_UINT4,
	PART_BYTES8					/* half of a uuid */
} PartKind;

typedef struct PositionPart
{
	PartKind	kind;
	int			attribute;		/* of the index, from 1 */
	int			offset;			/* within the entry's data */
	int			key;			/* the number of its key of equality, else -1 */
	PartKind	argument_kind;	/* of that key */
} PositionPart;

/* One end of a range: a key of the last column. */
typedef struct PositionEnd
{
	int			key;			/* -1: there is none */
	PartKind	argument_kind;
	bool		is_strict;		/* < or > */
} PositionEnd;

/* What the scan's keys ask for: equality of the first columns, then a range of the next one. */
typedef struct BtreePosition
{
	bool		is_known;		/* else nothing of this is used */
	int			equal_part_count;
	int			part_count;		/* with those of the range's column */
	PositionPart parts[POSITION_MAX_PARTS];
	bool		has_range;		/* without NULLs, with one end, both or none */
	PositionEnd lower;
	PositionEnd upper;
	int			data_bytes;		/* what is read of an entry's data */
} BtreePosition;

/* Whether scans with such keys can be positioned. */
extern BtreePosition btree_position_describe(Relation index, const ScanKeyData *keys, int key_count);

/*
 * Does what the first btgettuple() does before it returns an entry, or nothing.
 * False: where the first row's page is was not known, and should be remembered
 * once the row was returned.
 */
extern bool btree_position_scan(const BtreePosition *position, IndexScanDesc scan, ScanDirection direction);

extern void btree_position_remember_row(IndexScanDesc scan);

/* The scan gives back what amrescan() gives back; false: it has to be called. */
extern bool btree_position_end(IndexScanDesc scan);

#endif							/* LOOKUP_BTREE_POSITION_H */
