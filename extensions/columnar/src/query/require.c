/*-------------------------------------------------------------------------
 *
 * require.c
 *	  penumbra.mode = require: a plan that reads a user table without
 *	  Penumbra is an error.
 *
 * Precisely: the plan is refused when it scans, outside a Penumbra node and
 * by any kind of scan, an ordinary table or materialised view that is not a
 * system catalog, has at least one page, and is neither the target of the
 * statement nor locked by it; or when an aggregation or DISTINCT over tables
 * that Penumbra serves had to stay with PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/table.h"
#include "access/transam.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "query/execute/external_rows.h"
#include "query/pipeline/pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/plan_walk.h"
#include "query/planning/planning.h"
#include "query/require.h"

typedef struct PlanFinding
{
	PlannedStmt *stmt;
	Oid			plain_table;	/* one that is read without Penumbra */
} PlanFinding;

static bool
is_excused(PlannedStmt *stmt, Index relid)
{
	ListCell   *lc;

	if (compat_is_result_relation(stmt, relid))
		return true;
	foreach(lc, stmt->rowMarks)
	{
		if (lfirst_node(PlanRowMark, lc)->rti == relid)
			return true;
	}
	return false;
}

static void
examine_scan(Scan *scan, PlanFinding *finding)
{
	RangeTblEntry *rte;
	Relation	rel;

	if (scan->scanrelid == 0 || OidIsValid(finding->plain_table))
		return;
	rte = rt_fetch(scan->scanrelid, finding->stmt->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relid < FirstNormalObjectId ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		is_excused(finding->stmt, scan->scanrelid))
		return;
	rel = table_open(rte->relid, NoLock);
	if (RelationGetNumberOfBlocks(rel) > 0)
		finding->plain_table = rte->relid;
	table_close(rel, NoLock);
}

static bool examine_plan(Plan *plan, void *context);

static void
examine_sources(const CustomScan *scan, PlanFinding *finding)
{
	plan_walk_list(external_rows_plans(scan, pipeline_from_list(scan->custom_private), finding->stmt->subplans),
				   examine_plan, finding);
}

static bool
examine_plan(Plan *plan, void *context)
{
	PlanFinding *finding = context;

	switch (nodeTag(plan))
	{
		case T_CustomScan:
			if (!plan_is_ours(plan))
				return true;
			examine_sources((CustomScan *) plan, finding);
			return false;		/* all else below it is only the ordinary plan */
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
			examine_scan((Scan *) plan, finding);
			return true;
		default:
			return true;
	}
}

static PlanFinding
examine_stmt(PlannedStmt *stmt)
{
	PlanFinding finding = {.stmt = stmt};

	plan_walk(stmt->planTree, examine_plan, &finding);
	plan_walk_list(stmt->subplans, examine_plan, &finding);
	return finding;
}

bool
require_plan_is_penumbra(PlannedStmt *stmt)
{
	Plan	   *top = stmt->planTree;

	while (IsA(top, Limit) || (IsA(top, ModifyTable) && ((ModifyTable *) top)->operation == CMD_INSERT))
		top = top->lefttree;
	return plan_is_ours(top) && top->qual == NIL;
}

void
require_check_plan(PlannedStmt *stmt, const Planning *planning)
{
	PlanFinding finding = examine_stmt(stmt);
	const Refusal *refusal = planning_refusal(planning);
	const char *reason = refusal != NULL ? refusal_reason(refusal) :
		planning->is_enabled ? REFUSAL_BY_COST : "this database does not have the extension";

	if (OidIsValid(finding.plain_table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query cannot be run by Penumbra"),
				 errdetail("Table \"%s\": %s.", get_rel_name(finding.plain_table), reason)));
	if (planning->refused_stages > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query cannot be run by Penumbra"),
				 errdetail("Aggregation: %s.", reason)));
}
