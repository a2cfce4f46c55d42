/*-------------------------------------------------------------------------
 *
 * tier_file.h
 *	  The tier's files: extents with checksums, appended and never changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TIER_FILE_H
#define PENUMBRA_TIER_FILE_H

#include "postgres.h"

#include "common/file_utils.h"
#include "lib/ilist.h"
#include "storage/fd.h"

/* In the data directory. */
#define TIER_DIRECTORY			"penumbra"

/* penumbra.disk_cache_directory; empty: TIER_DIRECTORY. */
extern char *tier_directory_setting;
extern const char *tier_files(void);	/* the directory below it in which the files are */

/* Extents begin and end at multiples of it, as direct I/O wants. */
#define TIER_UNIT_BYTES			((Size) 4096)

/* A place on disk; a file's number is never used twice while anything knows it. */
typedef struct TierExtent
{
	uint32		file;			/* 0: none */
	uint32		unit;
	uint64		bytes;
	uint64		checksum;
	uint64		plain_bytes;	/* of what it holds; not as many: packed (tier_pack.h) */
} TierExtent;

typedef struct TierFile
{
	uint32		number;
	uint64		bytes;
	uint64		resident_bytes; /* of extents whose contents are in memory, too */
	uint64		cold_bytes;		/* of the other extents that are known */
} TierFile;

/* The file at whose end the tier's worker writes. */
typedef struct TierWriter
{
	int			fd;				/* -1: none is open */
	bool		is_direct;		/* past the system's cache */
	uint32		number;			/* of the file open last */
	uint64		bytes;
	uint64		limit_bytes;	/* of a file */
} TierWriter;

typedef enum TierFault
{
	TIER_FINE,
	TIER_UNREADABLE,			/* errno says why; 0: the file ends before */
	TIER_DAMAGED,
} TierFault;

/* A read that goes on while its process does something else. */
typedef struct TierRead
{
	TierExtent	extent;
	void	   *memory;
	void	   *segment;		/* where it is unpacked; or the memory */
	dlist_node	node;			/* in the queue of those that wait for others */
	bool		is_pending;		/* the system writes to the memory, or will */
	bool		is_complete;	/* and was not short */
} TierRead;

#define tier_cost_bytes(bytes) TYPEALIGN(TIER_UNIT_BYTES, bytes)

#define tier_is_packed(extent) ((extent)->plain_bytes != (extent)->bytes)

/* Makes the one in the data directory; NULL, or why it is not to be used. */
extern const char *tier_make_directory(void);
/* Makes the directories, but not that of the setting, and takes their lock; NULL, or why they are not to be used. */
extern const char *tier_open_directories(void);
/* The files there are, by number, palloc'd; -1: the directory cannot be read. */
extern int	tier_list_files(TierFile **files);
extern bool tier_unlink_file(uint32 number);

/*
 * Reads what an extent holds into memory that begins at a multiple of the unit
 * and is whole units long.  Raises no error; needs no transaction.
 */
extern TierFault tier_read(const TierExtent *extent, void *buffer);

/*
 * The same in two steps, between which the memory is the system's: before it is
 * freed, after an error too, tier_await_reads() must have returned.
 */
extern void tier_begin_read(TierRead *read);
extern TierFault tier_end_read(TierRead *read);
/* Notes which reads are not pending any more. */
extern void tier_poll_reads(void);
/* Returns when no read of this process is pending. */
extern void tier_await_reads(void);

/*
 * Appends, from memory that is whole units long, what is not packed, or the
 * caller says so; false with errno.  It can be read at once and is safe after
 * the next tier_writer_sync().
 */
extern bool tier_writer_append(TierWriter *writer, const void *data, Size bytes, TierExtent *extent);
extern bool tier_writer_sync(TierWriter *writer);
extern void tier_writer_close(TierWriter *writer);

/* A small file, replaced as a whole or not at all; false with errno. */
extern bool tier_replace_file(const char *path, const void *data, Size bytes);
/* Its contents, palloc'd with a byte more; NULL with errno. */
extern char *tier_slurp_file(const char *path, Size *bytes);

#endif							/* PENUMBRA_TIER_FILE_H */
