/*-------------------------------------------------------------------------
 *
 * build.h
 *	  CREATE INDEX.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_BUILD_H
#define KEYTREE_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"

extern IndexBuildResult *keytree_build(Relation heap, Relation index, IndexInfo *info);
extern void keytree_build_empty(Relation index);

/* Phases in pg_stat_progress_create_index, after the core's own first. */
#define KEYTREE_BUILD_SCAN 2
#define KEYTREE_BUILD_LOAD 3
#define KEYTREE_BUILD_LOG 4
extern char *keytree_build_phase_name(int64 phase);

#endif							/* KEYTREE_BUILD_H */
