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

#include "access/attnum.h"
#include "datatype/timestamp.h"

/* A relation that queries asked for since it was last taken. */
typedef struct WantedRelation
{
	Oid			relid;
	uint32		count;			/* of its most wanted column */
	int			natts;
	AttrNumber *attnums;
} WantedRelation;

extern Size wanted_shmem_bytes(void);
extern void wanted_shmem_startup(void *shmem);

/* Cheap; forgets the request when the table is busy or full. */
extern void wanted_note(Oid database, Oid relid, const AttrNumber *attnums, int natts);

/* Takes the database's wanted relations, hottest first, palloc'd. */
extern int	wanted_take(Oid database, WantedRelation **relations);

/* Databases with something wanted; returns the number written. */
extern int	wanted_list_databases(Oid *databases, int limit);

/* Whose latch wanted_note() sets when the table stops being empty. */
extern void wanted_set_listener(struct Latch *latch);

/* Calls the listener: something else is to be done. */
extern void wanted_wake_listener(void);

#endif							/* PENUMBRA_WANTED_H */
