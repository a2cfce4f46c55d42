/*-------------------------------------------------------------------------
 *
 * functions.h
 *	  What the SQL functions share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FUNCTIONS_SQL_H
#define PENUMBRA_FUNCTIONS_SQL_H

#include "postgres.h"

#include "utils/relcache.h"

/*
 * Opens with AccessShareLock a relation whose cache the user may manage (its
 * owner, or who may MAINTAIN it), or raises the error that says why not.
 */
extern Relation functions_open_relation(Oid relid);

/* Raises the error that says where to name the library, if there is no cache. */
extern void functions_check_is_preloaded(void);

#endif							/* PENUMBRA_FUNCTIONS_SQL_H */
