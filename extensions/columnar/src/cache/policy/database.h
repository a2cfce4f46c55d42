/*-------------------------------------------------------------------------
 *
 * database.h
 *	  Whether this database has the extension: the cache serves no other one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DATABASE_H
#define PENUMBRA_DATABASE_H

#include "postgres.h"

extern void database_install_callback(void);

/*
 * For whoever loads: keeps the extension from being dropped until the
 * transaction ends.  False: there is none, or (unless `wait`) somebody is about
 * to drop it.
 */
extern bool database_lock_extension(bool wait);

/* For whoever has cached something: on a standby that lock keeps nobody, and a drop that was replayed is an error. */
extern void database_check_in_recovery(void);

/* DROP EXTENSION: what it forgets is forgotten when the transaction commits. */
extern void database_note_drop(Oid extension);
/* Before the commit, and after whatever ended the transaction. */
extern void database_check_drop(void);
extern void database_end_drop(void);

#endif							/* PENUMBRA_DATABASE_H */
