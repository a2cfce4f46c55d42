/*-------------------------------------------------------------------------
 *
 * invalidation.h
 *	  Drops what DDL has made unreachable.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_INVALIDATION_H
#define PENUMBRA_INVALIDATION_H

#include "postgres.h"

extern void invalidation_install_hooks(void);

/* Drops a relation of this database from the cache unless it still has the same file. In a transaction. */
extern void invalidation_check_relation(Oid relid);

/* Drops what belongs to databases that do not exist; returns the chunks.  In a transaction. */
extern uint64 invalidation_drop_lost_databases(void);

#endif							/* PENUMBRA_INVALIDATION_H */
