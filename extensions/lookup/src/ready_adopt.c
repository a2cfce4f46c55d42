/*-------------------------------------------------------------------------
 *
 * ready_adopt.c
 *	  The state of an ordinary execution becomes a ready state.
 *
 * Nothing is built here: standard_ExecutorStart() built it for an execution
 * that has come to its end.  What belongs to that execution is given back;
 * the memory moves to where it outlives the transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "ready_state.h"

static bool
is_known_access(Relation table, Relation index)
{
	if (table->rd_tableam != GetHeapamTableAmRoutine())
		return false;
	return index->rd_rel->relam == BTREE_AM_OID || strcmp(get_am_name(index->rd_rel->relam), "keytree") == 0;
}

static bool
add_expressions(ReadyState *state, List *expressions)
{
	ListCell   *cell;

	foreach(cell, expressions)
	{
		if (!ready_add_expression(state, lfirst(cell)))
			return false;
	}
	return true;
}

static LookupOutcome
add_scan(ReadyState *state, ReadyScan scan)
{
	for (int i = 0; i < scan.key_count; i++)
	{
		/* A row's comparison points to further keys. */
		if (scan.keys[i].sk_flags & SK_ROW_HEADER)
			return OUTCOME_EXPRESSION;
		state->functions = lappend(state->functions, &scan.keys[i].sk_func);
	}
	for (int i = 0; i < scan.runtime_key_count; i++)
	{
		if (!ready_add_expression(state, scan.runtime_keys[i].key_expr))
			return OUTCOME_EXPRESSION;
	}
	scan.table = scan.node->ss_currentRelation;
	if (!is_known_access(scan.table, scan.index))
		return OUTCOME_ACCESS_METHOD;
	scan.table_oid = RelationGetRelid(scan.table);
	scan.index_oid = RelationGetRelid(scan.index);
	scan.lock_mode = exec_rt_fetch(((Scan *) scan.node->ps.plan)->scanrelid, state->estate)->rellockmode;
	scan.is_heap_open = scan.is_index_open = true;
	state->scans = state->scans == NULL ? palloc(sizeof(ReadyScan)) :
		repalloc(state->scans, (state->scan_count + 1) * sizeof(ReadyScan));
	state->scans[state->scan_count++] = scan;
	return OUTCOME_READY;
}

static LookupOutcome
add_index_scan(ReadyState *state, IndexScanState *node)
{
	ReadyScan	scan = {
		.node = &node->ss, .index = node->iss_RelationDesc, .descriptor = &node->iss_ScanDesc,
		.keys = node->iss_ScanKeys, .key_count = node->iss_NumScanKeys,
		.runtime_keys = node->iss_RuntimeKeys, .runtime_key_count = node->iss_NumRuntimeKeys,
		.runtime_context = node->iss_RuntimeContext,
		.direction = ((IndexScan *) node->ss.ps.plan)->indexorderdir,
		.are_runtime_keys_ready = &node->iss_RuntimeKeysReady
	};

	if (!ready_add_expression(state, node->indexqualorig))
		return OUTCOME_EXPRESSION;
	return add_scan(state, scan);
}

static LookupOutcome
add_index_only_scan(ReadyState *state, IndexOnlyScanState *node)
{
	ReadyScan	scan = {
		.node = &node->ss, .index = node->ioss_RelationDesc, .descriptor = &node->ioss_ScanDesc,
		.keys = node->ioss_ScanKeys, .key_count = node->ioss_NumScanKeys,
		.runtime_keys = node->ioss_RuntimeKeys, .runtime_key_count = node->ioss_NumRuntimeKeys,
		.runtime_context = node->ioss_RuntimeContext,
		.direction = ((IndexOnlyScan *) node->ss.ps.plan)->indexorderdir,
		.are_runtime_keys_ready = &node->ioss_RuntimeKeysReady,
		.map_buffer = &node->ioss_VMBuffer
	};

	if (!ready_add_expression(state, node->recheckqual))
		return OUTCOME_EXPRESSION;
	return add_scan(state, scan);
}

/*
 * An aggregate's functions are called with the rights of its owner, which are
 * not looked at again: that of PostgreSQL's own aggregates may call anything.
 */
static bool
add_aggregation(ReadyState *state, AggState *node)
{
	for (int i = 0; i < node->numtrans; i++)
	{
		AggStatePerTrans transition = &node->pertrans[i];

		if (transition->numSortCols > 0 || transition->numDistinctCols > 0 || OidIsValid(transition->serialfn_oid) ||
			OidIsValid(transition->deserialfn_oid))
			return false;
		state->functions = lappend(state->functions, &transition->transfn);
	}
	for (int i = 0; i < node->numaggs; i++)
	{
		AggStatePerAgg aggregate = &node->peragg[i];

		if (aggregate->aggref->aggkind != AGGKIND_NORMAL || aggregate->aggref->aggfnoid >= FirstNormalObjectId)
			return false;
		state->executed_functions = lappend_oid(state->executed_functions, aggregate->aggref->aggfnoid);
		if (OidIsValid(aggregate->finalfn_oid))
			state->functions = lappend(state->functions, &aggregate->finalfn);
	}
	for (int i = 0; i < node->numphases; i++)
	{
		AggStatePerPhase phase = &node->phases[i];

		if (!ready_add_expression(state, phase->evaltrans))
			return false;
		for (int column = 0; phase->eqfunctions != NULL && column < phase->aggnode->numCols; column++)
		{
			if (!ready_add_expression(state, phase->eqfunctions[column]))
				return false;
		}
	}
	return true;
}

/* Subqueries of a value or of EXISTS.  Others keep hash tables and arrays. */
static bool
add_subplans(ReadyState *state, List *subplans)
{
	ListCell   *cell;

	foreach(cell, subplans)
	{
		SubPlanState *subplan = lfirst(cell);

		if ((subplan->subplan->subLinkType != EXISTS_SUBLINK && subplan->subplan->subLinkType != EXPR_SUBLINK) ||
			subplan->subplan->useHashTable || !add_expressions(state, COMPAT_SUBPLAN_ARGUMENTS(subplan)))
			return false;
		state->subplans = lappend(state->subplans, subplan);
	}
	return true;
}

static LookupOutcome
add_node(ReadyState *state, PlanState *node)
{
	LookupOutcome outcome = OUTCOME_READY;
	List	   *expressions = list_make1(node->qual);

	if (node->ps_ProjInfo != NULL)
		expressions = lappend(expressions, &node->ps_ProjInfo->pi_state);
	state->nodes = lappend(state->nodes, node);
	switch (nodeTag(node))
	{
		case T_ResultState:
			expressions = lappend(expressions, ((ResultState *) node)->resconstantqual);
			break;
		case T_LimitState:
			expressions = lappend(expressions, ((LimitState *) node)->limitOffset);
			expressions = lappend(expressions, ((LimitState *) node)->limitCount);
			break;
		case T_NestLoopState:
			expressions = lappend(expressions, ((NestLoopState *) node)->js.joinqual);
			/* It is filled once, with NULLs that are nobody's. */
			state->slots = list_delete_ptr(state->slots, ((NestLoopState *) node)->nl_NullInnerTupleSlot);
			break;
		case T_SortState:
			state->has_sort = true;
			break;
		case T_ModifyTableState:
			outcome = ready_add_update(state, (ModifyTableState *) node);
			break;
		case T_AggState:
			if (!add_aggregation(state, (AggState *) node))
				outcome = OUTCOME_EXPRESSION;
			break;
		case T_IndexScanState:
			outcome = add_index_scan(state, (IndexScanState *) node);
			break;
		case T_IndexOnlyScanState:
			outcome = add_index_only_scan(state, (IndexOnlyScanState *) node);
			break;
		default:
			return OUTCOME_NODE;
	}
	if (outcome == OUTCOME_READY && (!add_expressions(state, expressions) || !add_subplans(state, node->initPlan) ||
									 !add_subplans(state, node->subPlan)))
		outcome = OUTCOME_EXPRESSION;
	if (outcome == OUTCOME_READY && node->lefttree != NULL)
		outcome = add_node(state, node->lefttree);
	if (outcome == OUTCOME_READY && node->righttree != NULL)
		outcome = add_node(state, node->righttree);
	return outcome;
}

static void
add_source(ReadyState *state, int cache, Oid oid)
{
	ReadySource source = {cache, GetSysCacheHashValue1(cache, ObjectIdGetDatum(oid))};

	state->sources = state->sources == NULL ? palloc(sizeof(ReadySource)) :
		repalloc(state->sources, (state->source_count + 1) * sizeof(ReadySource));
	state->sources[state->source_count++] = source;
}

/* Relations, functions, and the types of what nodes return. */
static void
add_sources(ReadyState *state)
{
	ListCell   *cell;

	for (int i = 0; i < state->scan_count; i++)
		state->relations = list_append_unique_oid(list_append_unique_oid(state->relations, state->scans[i].table_oid),
												  state->scans[i].index_oid);
	foreach(cell, COMPAT_PERMISSIONS(state->plan->stmt))
		state->relations = list_append_unique_oid(state->relations, ((CompatPermissions *) lfirst(cell))->relid);
	foreach(cell, state->functions)
		add_source(state, PROCOID, ((FmgrInfo *) lfirst(cell))->fn_oid);
	foreach(cell, state->executed_functions)
		add_source(state, PROCOID, lfirst_oid(cell));
	foreach(cell, state->nodes)
	{
		TupleDesc	type = ((PlanState *) lfirst(cell))->ps_ResultTupleDesc;

		for (int i = 0; type != NULL && i < type->natts; i++)
			add_source(state, TYPEOID, TupleDescAttr(type, i)->atttypid);
	}
}

/* Slots of tables have the relation cache's description, which a resource owner counts: they get copies. */
static void
copy_descriptions(ReadyState *state)
{
	ListCell   *cell;

	foreach(cell, state->slots)
	{
		TupleTableSlot *slot = lfirst(cell);
		TupleDesc	shared = slot->tts_tupleDescriptor;

		if (shared == NULL || shared->tdrefcount < 0)
			continue;
		slot->tts_tupleDescriptor = CreateTupleDescCopyConstr(shared);
		for (int i = 0; i < state->scan_count; i++)
		{
			if (state->scans[i].node->ss_ScanTupleSlot == slot)
				state->scans[i].node->ps.scandesc = slot->tts_tupleDescriptor;
		}
		ReleaseTupleDesc(shared);
	}
}

/* What an EState has besides is nothing that plan_verdict() lets through; looked at all the same. */
static bool
has_only_scans(const ReadyState *state)
{
	const EState *estate = state->estate;
	int			open_count = 0;

	for (Index i = 0; i < estate->es_range_table_size; i++)
		open_count += estate->es_relations[i] != NULL;
	return open_count == state->scan_count && estate->es_rowmarks == NULL &&
		list_length(estate->es_opened_result_relations) == (int) state->is_update &&
		estate->es_auxmodifytables == NIL &&
		estate->es_partition_directory == NULL && estate->es_jit == NULL && estate->es_epq_active == NULL &&
		estate->es_query_dsa == NULL;
}

/* The state, in the executor's memory. */
static ReadyState *
describe_state(LookupPlan *plan, QueryDesc *query)
{
	EState	   *estate = query->estate;
	ReadyState *state = palloc0(sizeof(ReadyState));
	ParamListInfo params = query->params;

	state->plan = plan;
	state->context = estate->es_query_cxt;
	state->estate = estate;
	state->planstate = query->planstate;
	state->result_type = query->tupDesc;
	state->track_functions = pgstat_track_functions;
	state->has_parameters = params != NULL;
	state->param_compile = params == NULL ? NULL : params->paramCompile;
	state->parser_setup_argument = params == NULL ? NULL : params->parserSetupArg;
	state->scroll_eflags = estate->es_top_eflags & READY_SCROLL_EFLAGS;
	state->checked_user = InvalidOid;
	state->slots = list_copy(estate->es_tupleTable);
	state->slot_count = list_length(estate->es_tupleTable);
	state->exec_param_count = list_length(plan->stmt->paramExecTypes);
	return state;
}

static void
keep_functions_apart(ReadyState *state)
{
	ListCell   *cell;

	state->function_context = AllocSetContextCreate(state->context, "penumbra_lookup functions",
													ALLOCSET_SMALL_SIZES);
	foreach(cell, state->functions)
		((FmgrInfo *) lfirst(cell))->fn_mcxt = state->function_context;
}

/* Whether it was an execution whose state can serve any other one, and nothing changed since it was built. */
static bool
is_ordinary(const LookupPlan *plan, const QueryDesc *query)
{
	const EState *estate = query->estate;

	return plan->candidate == estate && plan->candidate_changes == ready_changes &&
		(estate->es_top_eflags & ~READY_EFLAGS) == 0 && estate->es_instrument == 0 && estate->es_finished &&
		IsMVCCSnapshot(estate->es_snapshot) && estate->es_crosscheck_snapshot == NULL && !IsInParallelMode();
}

bool
ready_adopt(LookupPlan *plan, QueryDesc *query)
{
	MemoryContext previous;
	ReadyState *state;
	LookupOutcome outcome;
	ListCell   *cell;

	if (plan->verdict != OUTCOME_READY || plan->state != NULL || !is_ordinary(plan, query) || !ready_make_room())
		return false;
	plan->candidate = NULL;
	previous = MemoryContextSwitchTo(query->estate->es_query_cxt);
	state = describe_state(plan, query);
	outcome = add_node(state, state->planstate);
	foreach(cell, state->estate->es_subplanstates)
	{
		if (outcome == OUTCOME_READY && lfirst(cell) != NULL)
			outcome = add_node(state, lfirst(cell));
	}
	if (outcome == OUTCOME_READY && !has_only_scans(state))
		outcome = OUTCOME_STATEMENT;
	if (outcome != OUTCOME_READY)
	{
		if (outcome != OUTCOME_FIRST)
			plan->verdict = outcome;
		MemoryContextSwitchTo(previous);
		return false;
	}
	add_sources(state);
	/* To look at catalogs may have brought news. */
	if (plan->candidate_changes != ready_changes)
	{
		MemoryContextSwitchTo(previous);
		return false;
	}
	keep_functions_apart(state);
	ready_prepare_scans(state);
	compat_end_instrumentation(query);
	ready_rest(state);
	copy_descriptions(state);
	MemoryContextSwitchTo(previous);
	MemoryContextSetParent(state->context, CacheMemoryContext);
	state->context_bytes = MemoryContextMemAllocated(state->context, false);
	ready_insert(state);
	query->tupDesc = NULL;
	query->estate = NULL;
	query->planstate = NULL;
	return true;
}
