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

#endif							/* KEYTREE_BUILD_H */
