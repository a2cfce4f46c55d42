/*-------------------------------------------------------------------------
 *
 * wanted.h
 *	  Columns that queries would have read from the cache: what the worker
 *	  loads, hottest first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WANTED_H
#define PENUMBRA_WANTED_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"

#include "cache/chunk.h"

struct Latch;

/* How often something was wanted, or used, is counted up to here. */
#define WISHES_MAX	64
/* A pinned table's columns are taken for used more than any others, so after a start they come first. */
#define USES_OF_PINNED	(WISHES_MAX + 1)

/* A relation that queries asked for since it was last taken. */
typedef struct WantedRelation
{
	Oid			relid;
	uint32		count;			/* of its most wanted column, since it was last forgotten */
	uint32		priority;		/* the worker's */
	int			ncolumns;
	ColumnKey  *columns;		/* without the serials of expressions */
	MemoryShortage shortage;	/* when one of them was tried last */
} WantedRelation;

extern Size wanted_shmem_bytes(void);
extern void wanted_shmem_startup(void *shmem);

/* Cheap; forgets the request when the table is busy or full. */
extern void wanted_note(Oid database, Oid relid, const ColumnKey *columns, int ncolumns);

/* ---- for the list on disk: database, relation, column, count */

#define WANTED_LINE		"%u %u %d %u\n"

/* As if it was wanted so often. */
extern void wanted_note_column(Oid database, Oid relid, ColumnKey column, uint32 count);
/* Of what is to be loaded. */
extern void wanted_append_lines(StringInfo lines);
/* Whether it was read since the server's start, or its restart after a crash. */
extern bool wanted_list_is_read(void);
extern void wanted_set_list_read(void);

/* ---- for the worker */

/* Takes the database's wanted relations, palloc'd, and what was taken and not ended. */
extern int	wanted_take(Oid database, WantedRelation **relations);
/*
 * What was taken of a relation (InvalidOid: of all of them) is forgotten, or
 * where there was a shortage goes on being counted.
 */
extern void wanted_end(Oid database, Oid relid, const MemoryShortage *shortage);
/* What a worker that has ended took of the database and did not end is to be taken again. */
extern void wanted_release(Oid database);
/* What is wanted of the database is not wanted any more. */
extern void wanted_forget_database(Oid database);
/* Halves all counts. */
extern void wanted_age(void);

/* Databases with something to take; returns the number written. */
extern int	wanted_list_databases(Oid *databases, int limit);
/* Columns to take, or taken and not ended, of all databases. */
extern uint32 wanted_count(void);

/* Whose latch wanted_note() sets when the table stops being empty. */
extern void wanted_set_listener(struct Latch *latch);

/* Calls the listener: something else is to be done. */
extern void wanted_wake_listener(void);

#endif							/* PENUMBRA_WANTED_H */
