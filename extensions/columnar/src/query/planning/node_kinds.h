/*-------------------------------------------------------------------------
 *
 * node_kinds.h
 *	  The kinds of Penumbra's nodes: by what the last operator of their
 *	  pipelines does, as EXPLAIN names them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NODE_KINDS_H
#define PENUMBRA_NODE_KINDS_H

#include "postgres.h"

#include "nodes/extensible.h"

typedef enum NodeKind
{
	NODE_SCAN,
	NODE_JOIN,
	NODE_AGGREGATE,
	NODE_DISTINCT,
	NODE_SET_OPERATION,
	NODE_RECURSION,
	NODE_SORT,
	NODE_WINDOW,
	NODE_TOP_N
} NodeKind;

/* Before the first path is made: what makes a plan of a path, and a state of a plan; of all kinds. */
extern void node_kinds_register(const CustomPathMethods *path_methods, const CustomScanMethods *scan_methods);

/* What a plain scan, a sort and a limit can do for cursors without SCROLL. */
extern bool node_kind_scans_backward(NodeKind kind);
extern const CustomPathMethods *node_kind_path_methods(NodeKind kind);
/* Of the plan that is made of the path. */
extern const CustomScanMethods *node_kind_scan_methods(const CustomPath *path);

extern bool path_is_ours(const Path *path);
extern bool plan_is_ours(const Plan *plan);

#endif							/* PENUMBRA_NODE_KINDS_H */
