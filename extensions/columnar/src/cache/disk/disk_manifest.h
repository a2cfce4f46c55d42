/*-------------------------------------------------------------------------
 *
 * disk_manifest.h
 *	  What the disk cache has on disk, and whether it is right for this server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_MANIFEST_H
#define PENUMBRA_DISK_MANIFEST_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "lib/stringinfo.h"

#include "cache/directory.h"

/* A chunk; its segments follow. */
typedef struct ManifestChunk
{
	CacheKey	key;
	Oid			relid;
	uint32		number;
	uint32		segment_count;
	DiskExtent	header;
} ManifestChunk;

typedef struct ManifestSegment
{
	DiskExtent	extent;
	PenumbraZoneMap zone_map;
	uint64		content;
	Oid			type_oid;
	int32		typmod;
	Oid			collation;
	int32		number;			/* column_key_number() */
} ManifestSegment;

/* What pg_control said before recovery began. */
typedef struct DiskStart
{
	bool		is_known;
	bool		was_shut_down;
	XLogRecPtr	checkpoint;
	XLogRecPtr	redo;
	uint64		next_xid;		/* not past the first that this server gives */
} DiskStart;

/*
 * In the postmaster, before the startup process runs, also where there is no
 * disk cache.  After a start that rule T7 refuses no later one takes what is there.
 */
extern void manifest_note_start(DiskStart *start);

/*
 * The entries, after every rule that can be checked here was; on a primary.
 * NULL: *problem says why they are not to be used, or is NULL where there are
 * none.
 */
extern char *manifest_read(const DiskStart *start, Size *bytes, const char **problem);

/*
 * Replaces the manifest by these entries.  Whatever they say was true when WAL
 * ended at `lsn`, up to which the caller has flushed it; false with errno.
 */
extern bool manifest_write(const char *entries, Size bytes, XLogRecPtr lsn);

/* Whatever is in the files, no start will take it. */
extern bool manifest_remove(void);

#endif							/* PENUMBRA_DISK_MANIFEST_H */
