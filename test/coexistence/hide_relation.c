/*
 * hide_relation.c
 *	  Hides a table from queries as Citus hides its shards: what reads pg_class
 *	  gets a condition when it is planned.
 */
#include "postgres.h"

#include <limits.h>

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/guc.h"

#include "pg_compat.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

static planner_hook_type next_planner_hook;
static int	hidden_oid;

static void
hide_from(Query *query, int rangetable_index)
{
	Expr	   *left = (Expr *) makeVar(rangetable_index, Anum_pg_class_oid, OIDOID, -1, InvalidOid, 0);
	Expr	   *right = (Expr *) makeConst(OIDOID, -1, InvalidOid, sizeof(Oid),
										   ObjectIdGetDatum((Oid) hidden_oid), false, true);
	OpExpr	   *condition = (OpExpr *)
		make_opclause(OpernameGetOprid(list_make1(makeString("<>")), OIDOID, OIDOID),
					  BOOLOID, false, left, right, InvalidOid, InvalidOid);

	set_opfuncid(condition);
	query->jointree->quals = make_and_qual(query->jointree->quals, (Node *) condition);
}

static bool
hide_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		for (int i = 1; i <= list_length(query->rtable); i++)
		{
			RangeTblEntry *rte = list_nth_node(RangeTblEntry, query->rtable, i - 1);

			if (rte->rtekind == RTE_RELATION && rte->relid == RelationRelationId)
				hide_from(query, i);
		}
		return query_tree_walker(query, hide_walker, context, 0);
	}
	return expression_tree_walker(node, hide_walker, context);
}

static PlannedStmt *
hide_planner(COMPAT_PLANNER_PARAMETERS)
{
	if (hidden_oid != 0)
		(void) hide_walker((Node *) query, NULL);
	return next_planner_hook != NULL ? next_planner_hook(COMPAT_PLANNER_ARGUMENTS)
		: standard_planner(COMPAT_PLANNER_ARGUMENTS);
}

void
_PG_init(void)
{
	DefineCustomIntVariable("hide_relation.oid", "The table that queries do not see.", NULL, &hidden_oid,
							0, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
	next_planner_hook = planner_hook;
	planner_hook = hide_planner;
}
