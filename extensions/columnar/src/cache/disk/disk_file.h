/*-------------------------------------------------------------------------
 *
 * disk_file.h
 *	  The disk cache's files: extents with checksums, appended and never changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_FILE_H
#define PENUMBRA_DISK_FILE_H

#include "postgres.h"

#include "common/file_utils.h"
#include "lib/ilist.h"
#include "storage/fd.h"

/* In the data directory. */
#define DISK_DIRECTORY			"penumbra"

/* penumbra.disk_cache_directory; empty: DISK_DIRECTORY. */
extern char *disk_directory_setting;
#define DISK_PATH_BYTES_MAX		(MAXPGPATH / 2)
extern const char *disk_files(void);	/* the directory below it in which the files are */

/* Extents begin and end at multiples of it, as direct I/O wants. */
#define DISK_UNIT_BYTES			((Size) 4096)

/* A place on disk; a file's number is never used twice while anything knows it. */
typedef struct DiskExtent
{
	uint32		file;			/* 0: none */
	uint32		unit;
	uint64		bytes;
	uint64		checksum;
	uint64		plain_bytes;	/* of what it holds; not as many: packed (disk_pack.h) */
} DiskExtent;

typedef struct DiskFile
{
	uint32		number;
	uint64		bytes;
	uint64		resident_bytes; /* of extents whose contents are in memory, too */
	uint64		cold_bytes;		/* of the other extents that are known */
} DiskFile;

/* The file at whose end the disk cache's worker writes. */
typedef struct DiskWriter
{
	int			fd;				/* -1: none is open */
	bool		is_direct;		/* past the system's cache */
	uint32		number;			/* of the file open last */
	uint64		bytes;
	uint64		limit_bytes;	/* of a file */
} DiskWriter;

typedef enum DiskFault
{
	DISK_FINE,
	DISK_UNREADABLE,			/* errno says why; 0: the file ends before */
	DISK_DAMAGED,
} DiskFault;

/* A read that goes on while its process does something else. */
typedef struct DiskRead
{
	DiskExtent	extent;
	void	   *memory;
	void	   *segment;		/* where it is unpacked; or the memory */
	dlist_node	node;			/* in the queue of those that wait for others */
	bool		is_pending;		/* the system writes to the memory, or will */
	bool		is_complete;	/* and was not short */
} DiskRead;

#define disk_cost_bytes(bytes) TYPEALIGN(DISK_UNIT_BYTES, bytes)

#define disk_is_packed(extent) ((extent)->plain_bytes != (extent)->bytes)

/* Makes the one in the data directory; NULL, or why it is not to be used. */
extern const char *disk_make_directory(void);
/* Makes the directories, but not that of the setting, and takes their lock; NULL, or why they are not to be used. */
extern const char *disk_open_directories(void);
/* The files there are, by number, palloc'd; -1: the directory cannot be read. */
extern int	disk_list_files(DiskFile **files);
extern bool disk_unlink_file(uint32 number);
/* A file that is not there is fine; false with errno. */
extern bool disk_unlink(const char *path);

/*
 * Reads what an extent holds into memory that begins at a multiple of the unit
 * and is whole units long.  Raises no error; needs no transaction.
 */
extern DiskFault disk_read(const DiskExtent *extent, void *buffer);

/*
 * The same in two steps, between which the memory is the system's: before it is
 * freed, after an error too, disk_await_reads() must have returned.
 */
extern void disk_begin_read(DiskRead *read);
extern DiskFault disk_end_read(DiskRead *read);
/* Notes which reads are not pending any more. */
extern void disk_poll_reads(void);
/* Returns when no read of this process is pending. */
extern void disk_await_reads(void);

/*
 * Appends, from memory that is whole units long, what is not packed, or the
 * caller says so; false with errno.  It can be read at once and is safe after
 * the next disk_writer_sync().
 */
extern bool disk_writer_append(DiskWriter *writer, const void *data, Size bytes, DiskExtent *extent);
extern bool disk_writer_sync(DiskWriter *writer);
extern void disk_writer_close(DiskWriter *writer);

/* A small file, replaced as a whole or not at all; false with errno. */
extern bool disk_replace_file(const char *path, const void *data, Size bytes);
/* Its contents, palloc'd with a byte more; NULL with errno. */
extern char *disk_slurp_file(const char *path, Size *bytes);

#endif							/* PENUMBRA_DISK_FILE_H */
