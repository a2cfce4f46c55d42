/*-------------------------------------------------------------------------
 *
 * node_kinds.c
 *	  The kinds of Penumbra's nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/planning/node_kinds.h"

static const struct
{
	const char *name;
	bool		scans_backward;
}			kinds[] = {
	[NODE_SCAN] = {"Penumbra Scan", true},
	[NODE_JOIN] = {"Penumbra Join", true},
	[NODE_AGGREGATE] = {"Penumbra Aggregate", false},
	[NODE_DISTINCT] = {"Penumbra Distinct", false},
	[NODE_SET_OPERATION] = {"Penumbra Set Operation", false},
	[NODE_RECURSION] = {"Penumbra Recursive Union", false},
	[NODE_SORT] = {"Penumbra Sort", true},
	[NODE_WINDOW] = {"Penumbra Window", false},
	[NODE_TOP_N] = {"Penumbra Top-N", true},
};

/* PostgreSQL tells kinds by the addresses of these, and finds the second by name in parallel workers. */
static CustomPathMethods all_path_methods[lengthof(kinds)];
static CustomScanMethods all_scan_methods[lengthof(kinds)];

void
node_kinds_register(const CustomPathMethods *path_methods, const CustomScanMethods *scan_methods)
{
	for (int kind = 0; kind < (int) lengthof(kinds); kind++)
	{
		all_path_methods[kind] = *path_methods;
		all_path_methods[kind].CustomName = kinds[kind].name;
		all_scan_methods[kind] = *scan_methods;
		all_scan_methods[kind].CustomName = kinds[kind].name;
		RegisterCustomScanMethods(&all_scan_methods[kind]);
	}
}

bool
node_kind_scans_backward(NodeKind kind)
{
	return kinds[kind].scans_backward;
}

const CustomPathMethods *
node_kind_path_methods(NodeKind kind)
{
	return &all_path_methods[kind];
}

const CustomScanMethods *
node_kind_scan_methods(const CustomPath *path)
{
	return &all_scan_methods[path->methods - all_path_methods];
}

bool
path_is_ours(const Path *path)
{
	const CustomPathMethods *methods;

	if (!IsA(path, CustomPath))
		return false;
	methods = ((const CustomPath *) path)->methods;
	return methods >= all_path_methods && methods < all_path_methods + lengthof(all_path_methods);
}

bool
plan_is_ours(const Plan *plan)
{
	const CustomScanMethods *methods;

	if (!IsA(plan, CustomScan))
		return false;
	methods = ((const CustomScan *) plan)->methods;
	return methods >= all_scan_methods && methods < all_scan_methods + lengthof(all_scan_methods);
}
