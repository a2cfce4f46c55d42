/*-------------------------------------------------------------------------
 *
 * plan_rewrite.c
 *	  A planner hook that lets finished plans call our functions.
 *
 * It replaces the OIDs of functions and aggregates of pg_catalog in the plan
 * by those of our functions of the same name and arguments.  Operators keep
 * their identity: joins, sorts and index scans look at it, EXPLAIN prints it,
 * and the planner is done with costs, indexes and statistics by then.  Index
 * conditions stay as they are, because an index calls what its operator class
 * says.  Custom and foreign scans keep their own expressions.
 *
 * The executor asks for EXECUTE on what the plan calls.  So that the setting
 * changes nobody's rights, a function is replaced only where everybody may
 * execute both, and a plan depends on both.
 *
 *-------------------------------------------------------------------------
 */
#include "pg_compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/planner.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "takeover.h"

#define EXTENSION_NAME "penumbra_numeric"

/* A function of pg_catalog, and ours. */
typedef struct Replacement
{
	Oid			theirs;			/* the hash key */
	Oid			ours;
} Replacement;

typedef struct Rewrite
{
	HTAB	   *replacements;
	List	   *replaced;		/* of Oid: theirs that the plan called, and ours that it now calls */
	Bitmapset  *kept_states;	/* of the current Agg: transition states that stay the server's */
} Rewrite;

static bool is_rewriting = false;
static planner_hook_type previous_planner_hook = NULL;

/* Empty: the extension is not in this database. */
static HTAB *replacements = NULL;

/* Changes of pg_proc: how many were seen, and how many had been when the look-up of the replacements began. */
static uint64 function_changes = 1;
static uint64 replacements_as_of = 0;

/* Comes in the middle of any look-up in the catalogs, so nothing is freed here. */
static void
note_function_change(Datum arg, int cache_id, uint32 hash_value)
{
	function_changes++;
}

/*
 * Our function stands for the one of the same name and arguments in pg_catalog, if there is one and everybody may
 * execute either.
 */
static void
add_replacement(HTAB *table, Oid ours)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(ours));
	Form_pg_proc form;
	Oid			theirs;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	theirs = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, NameGetDatum(&form->proname),
							 PointerGetDatum(&form->proargtypes),
							 ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
	if (OidIsValid(theirs) && compat_may_execute(theirs, ACL_ID_PUBLIC) && compat_may_execute(ours, ACL_ID_PUBLIC))
	{
		Replacement *entry = hash_search(table, &theirs, HASH_ENTER, NULL);

		entry->ours = ours;
	}
	ReleaseSysCache(tuple);
}

/* Every function of the extension, by what pg_depend knows of it. */
static void
add_extension_functions(HTAB *table, Oid extension)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == ProcedureRelationId && form->deptype == DEPENDENCY_EXTENSION)
			add_replacement(table, form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
}

/* Looked up anew where pg_proc changed since, or meanwhile: a REVOKE must not be missed. */
static HTAB *
find_replacements(void)
{
	static bool is_watching = false;
	HASHCTL		control = {.keysize = sizeof(Oid), .entrysize = sizeof(Replacement)};

	if (!is_watching)
	{
		CacheRegisterSyscacheCallback(PROCOID, note_function_change, (Datum) 0);
		is_watching = true;
	}
	while (replacements_as_of != function_changes)
	{
		uint64		as_of = function_changes;
		Oid			extension;

		CHECK_FOR_INTERRUPTS();
		if (replacements != NULL)
			hash_destroy(replacements);
		replacements = NULL;
		replacements = hash_create("penumbra_numeric functions", 128, &control, HASH_ELEM | HASH_BLOBS);
		extension = get_extension_oid(EXTENSION_NAME, true);
		if (OidIsValid(extension))
			add_extension_functions(replacements, extension);
		replacements_as_of = as_of;
	}
	return replacements;
}

static void
replace(Oid *function, Rewrite *rewrite)
{
	Replacement *entry = hash_search(rewrite->replacements, function, HASH_FIND, NULL);

	if (entry == NULL)
		return;
	*function = entry->ours;
	rewrite->replaced = list_append_unique_oid(rewrite->replaced, entry->theirs);
	rewrite->replaced = list_append_unique_oid(rewrite->replaced, entry->ours);
}

static bool
rewrite_expression(Node *node, void *context)
{
	Rewrite    *rewrite = context;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) node);
			replace(&((OpExpr *) node)->opfuncid, rewrite);
			break;
		case T_ScalarArrayOpExpr:
			/* With a hash table the executor pairs the function with the operator's hash function. */
			set_sa_opfuncid((ScalarArrayOpExpr *) node);
			replace(&((ScalarArrayOpExpr *) node)->opfuncid, rewrite);
			break;
		case T_FuncExpr:
			replace(&((FuncExpr *) node)->funcid, rewrite);
			break;
		case T_Aggref:
			if (!bms_is_member(((Aggref *) node)->aggtransno, rewrite->kept_states))
				replace(&((Aggref *) node)->aggfnoid, rewrite);
			break;
		case T_WindowFunc:
			replace(&((WindowFunc *) node)->winfnoid, rewrite);
			break;
		default:
			break;
	}
	return expression_tree_walker(node, rewrite_expression, context);
}

/*
 * Aggregates of one Agg may share a transition state (the planner found their
 * transition functions and inputs equal), which then is ours for all of them
 * or for none.  A partial Agg and the one that combines its states have the
 * same aggregates, so they come to the same decision.
 */
static bool
find_kept_states(Node *node, void *context)
{
	Rewrite    *rewrite = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *aggref = (const Aggref *) node;

		if (hash_search(rewrite->replacements, &aggref->aggfnoid, HASH_FIND, NULL) == NULL)
			rewrite->kept_states = bms_add_member(rewrite->kept_states, aggref->aggtransno);
		return false;
	}
	return expression_tree_walker(node, find_kept_states, context);
}

static void rewrite_plan(Plan *plan, Rewrite *rewrite);

static void
rewrite_plans(List *plans, Rewrite *rewrite)
{
	ListCell   *cell;

	foreach(cell, plans)
		rewrite_plan(lfirst(cell), rewrite);
}

static void
rewrite_node(void *node, Rewrite *rewrite)
{
	rewrite_expression((Node *) node, rewrite);
}

/*
 * The expressions and children that only this kind of plan node has; target list,
 * qual, InitPlans and the outer and inner plan are rewrite_plan()'s.
 *
 * An expression that is missing here goes on calling the server's functions,
 * whose results are the same: that costs speed and nothing else.  It has to be
 * missing where the operator chooses something else than the executor's
 * expressions, since both must agree: index conditions and orders (indexqual,
 * indexorderby) are the operator class's.  An IndexOnlyScan's recheckqual is
 * evaluated for lossy index methods only, so it is left out as well.  TIDs
 * (TidScan, TidRangeScan) are not numerics, nor are arguments of the methods of
 * TABLESAMPLE that PostgreSQL has (SampleScan).  Join clauses may change: hash and
 * merge joins find their functions by the operators, which stay.
 */
static void
rewrite_particulars(Plan *plan, Rewrite *rewrite)
{
	switch (nodeTag(plan))
	{
		case T_Result:
			rewrite_node(((Result *) plan)->resconstantqual, rewrite);
			break;
		case T_ModifyTable:
			rewrite_node(((ModifyTable *) plan)->withCheckOptionLists, rewrite);
			rewrite_node(((ModifyTable *) plan)->returningLists, rewrite);
			rewrite_node(((ModifyTable *) plan)->onConflictSet, rewrite);
			rewrite_node(((ModifyTable *) plan)->onConflictWhere, rewrite);
			rewrite_node(((ModifyTable *) plan)->mergeActionLists, rewrite);
			rewrite_node(compat_merge_join_conditions((ModifyTable *) plan), rewrite);
			break;
		case T_Append:
			rewrite_plans(((Append *) plan)->appendplans, rewrite);
			break;
		case T_MergeAppend:
			rewrite_plans(((MergeAppend *) plan)->mergeplans, rewrite);
			break;
		case T_SubqueryScan:
			rewrite_plan(((SubqueryScan *) plan)->subplan, rewrite);
			break;
		case T_CustomScan:
			rewrite_plans(((CustomScan *) plan)->custom_plans, rewrite);
			break;
		case T_IndexScan:
			rewrite_node(((IndexScan *) plan)->indexqualorig, rewrite);
			break;
		case T_BitmapHeapScan:
			rewrite_node(((BitmapHeapScan *) plan)->bitmapqualorig, rewrite);
			break;
		case T_FunctionScan:
			rewrite_node(((FunctionScan *) plan)->functions, rewrite);
			break;
		case T_TableFuncScan:
			rewrite_node(((TableFuncScan *) plan)->tablefunc, rewrite);
			break;
		case T_ValuesScan:
			rewrite_node(((ValuesScan *) plan)->values_lists, rewrite);
			break;
		case T_NestLoop:
			rewrite_node(((Join *) plan)->joinqual, rewrite);
			break;
		case T_MergeJoin:
			rewrite_node(((Join *) plan)->joinqual, rewrite);
			rewrite_node(((MergeJoin *) plan)->mergeclauses, rewrite);
			break;
		case T_HashJoin:
			rewrite_node(((Join *) plan)->joinqual, rewrite);
			rewrite_node(((HashJoin *) plan)->hashclauses, rewrite);
			rewrite_node(((HashJoin *) plan)->hashkeys, rewrite);
			break;
		case T_Hash:
			rewrite_node(((Hash *) plan)->hashkeys, rewrite);
			break;
		case T_Memoize:
			rewrite_node(((Memoize *) plan)->param_exprs, rewrite);
			break;
		case T_WindowAgg:
			rewrite_node(((WindowAgg *) plan)->startOffset, rewrite);
			rewrite_node(((WindowAgg *) plan)->endOffset, rewrite);
			rewrite_node(((WindowAgg *) plan)->runCondition, rewrite);
			break;
		case T_Limit:
			rewrite_node(((Limit *) plan)->limitOffset, rewrite);
			rewrite_node(((Limit *) plan)->limitCount, rewrite);
			break;
		default:
			break;
	}
}

static void
rewrite_plan(Plan *plan, Rewrite *rewrite)
{
	if (plan == NULL)
		return;
	check_stack_depth();
	if (IsA(plan, Agg))
	{
		rewrite->kept_states = NULL;
		find_kept_states((Node *) plan->targetlist, rewrite);
		find_kept_states((Node *) plan->qual, rewrite);
	}
	rewrite_node(plan->targetlist, rewrite);
	rewrite_node(plan->qual, rewrite);
	rewrite_node(plan->initPlan, rewrite);
	rewrite_particulars(plan, rewrite);
	rewrite_plan(plan->lefttree, rewrite);
	rewrite_plan(plan->righttree, rewrite);
}

/* A cached plan must be made anew when one of the functions goes, or the right to execute it. */
static void
record_dependencies(PlannedStmt *statement, List *functions)
{
	ListCell   *cell;

	foreach(cell, functions)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = PROCOID;
		item->hashValue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(lfirst_oid(cell)));
		statement->invalItems = lappend(statement->invalItems, item);
	}
}

static PlannedStmt *
rewriting_planner(COMPAT_PLANNER_PARAMETERS)
{
	Rewrite		rewrite = {0};
	PlannedStmt *statement;
	ListCell   *cell;

	statement = (previous_planner_hook ? previous_planner_hook : standard_planner) (COMPAT_PLANNER_ARGUMENTS);
	if (!is_rewriting)
		return statement;
	rewrite.replacements = find_replacements();
	if (hash_get_num_entries(rewrite.replacements) == 0)
		return statement;
	rewrite_plan(statement->planTree, &rewrite);
	foreach(cell, statement->subplans)
		rewrite_plan(lfirst(cell), &rewrite);
	record_dependencies(statement, rewrite.replaced);
	return statement;
}

void
plan_rewrite_define_settings(void)
{
	DefineCustomBoolVariable("penumbra_numeric.rewrite",
							 "Lets plans call this extension's functions instead of pg_catalog's.",
							 "For the functions, operators, casts and aggregates of numeric in whatever is planned: views, functions and queries alike.",
							 &is_rewriting, false, PGC_USERSET, 0, NULL, NULL, NULL);
}

void
plan_rewrite_install_hook(void)
{
	previous_planner_hook = planner_hook;
	planner_hook = rewriting_planner;
}
