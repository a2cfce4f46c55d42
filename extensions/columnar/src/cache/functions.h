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

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

/*
 * Opens with AccessShareLock a relation whose cache the user may manage (its
 * owner, or who may MAINTAIN it), or raises the error that says why not.
 */
extern Relation functions_open_relation(Oid relid);

/* Raises the error that says where to name the library, if there is no cache. */
extern void functions_check_is_preloaded(void);

/* Whether the user may load and unload the relation. */
extern bool functions_may_maintain(Oid relid);

/* Which tables are cached, how large they are and how often they are read: as pg_stat_* views of sessions. */
extern bool functions_may_see_all(void);

/* Begins a set of rows, for put_row(), after that check. */
extern ReturnSetInfo *functions_begin_rows(FunctionCallInfo fcinfo);

#endif							/* PENUMBRA_FUNCTIONS_SQL_H */
