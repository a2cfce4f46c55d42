/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  The planner hooks, and in which forms a query is planned.
 *
 * The hooks run for every query of every session, so each returns after a
 * few comparisons where Penumbra has nothing to offer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "miscadmin.h"
#include "optimizer/geqo.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "cache/cache.h"
#include "query/execute/custom_scan.h"
#include "query/execute/explain.h"
#include "query/hooks.h"
#include "query/paths/array_subqueries.h"
#include "query/paths/custom_path.h"
#include "query/paths/external_rows_plan.h"
#include "query/paths/inline_ctes.h"
#include "query/paths/join_paths.h"
#include "query/paths/join_search.h"
#include "query/paths/join_scalars.h"
#include "query/paths/late_targets.h"
#include "query/paths/made_keys.h"
#include "query/paths/member_expressions.h"
#include "query/paths/narrow_ctes.h"
#include "query/paths/own_rows.h"
#include "query/paths/row_documents.h"
#include "query/paths/scan_paths.h"
#include "query/paths/share_subqueries.h"
#include "query/paths/unread_columns.h"
#include "query/paths/upper_paths.h"
#include "query/paths/whole_counts.h"
#include "query/paths/whole_rows.h"
#include "query/paths/wishes.h"
#include "query/planning/attempt.h"
#include "query/planning/node_kinds.h"
#include "query/planning/plan_walk.h"
#include "query/planning/planning.h"
#include "query/planning/privileges.h"
#include "query/planning/query_tree.h"
#include "query/require.h"
#include "query/shared_ctes.h"

static planner_hook_type previous_planner_hook = NULL;
static set_rel_pathlist_hook_type previous_set_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type previous_set_join_pathlist_hook = NULL;
static join_search_hook_type previous_join_search_hook = NULL;
static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

static void
penumbra_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	Planning   *planning;
	Path	   *ordinary = NULL;

	if (previous_set_rel_pathlist_hook)
		previous_set_rel_pathlist_hook(root, rel, rti, rte);
	CHECK_FOR_INTERRUPTS();
	planning = planning_current();
	if (planning == NULL || !planning->is_enabled)
		return;
	planning->has_conditions_of_ctes |= rte->rtekind == RTE_CTE && rel->baserestrictinfo != NIL;
	planning->root = root;
	if (join_paths_has_conditions(root, rel))
		ordinary = custom_path_cheapest_ordinary(rel, true);
	if (scan_paths_may_add(root, rel, rte))
		scan_paths_add(root, rel, rte);
	if (ordinary != NULL && planning->tables != NIL)
		join_paths_add_conditions(root, rel, ordinary);
}

static void
penumbra_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel,
						   RelOptInfo *inner_rel, JoinType join_type, JoinPathExtraData *extra)
{
	Planning   *planning;

	if (previous_set_join_pathlist_hook)
		previous_set_join_pathlist_hook(root, joinrel, outer_rel, inner_rel, join_type, extra);
	CHECK_FOR_INTERRUPTS();
	planning = planning_current();
	if (planning != NULL && planning->tables != NIL && !compat_is_partly_aggregated(joinrel))
	{
		planning->root = root;
		join_paths_add(root, joinrel, outer_rel, inner_rel, join_type, extra);
	}
}

static RelOptInfo *
penumbra_join_search(PlannerInfo *root, int levels_needed, List *initial_rels)
{
	Planning   *planning = planning_current();
	bool		is_genetic = enable_geqo && levels_needed >= geqo_threshold;
	RelOptInfo *rel = NULL;

	if (planning != NULL && planning->tables != NIL && (is_genetic || previous_join_search_hook == NULL))
	{
		planning->root = root;
		rel = join_search_simple(root, levels_needed, initial_rels, is_genetic);
	}
	if (rel != NULL)
		return rel;
	if (previous_join_search_hook)
		return previous_join_search_hook(root, levels_needed, initial_rels);
	return is_genetic ? geqo(root, levels_needed, initial_rels)
		: standard_join_search(root, levels_needed, initial_rels);
}

static void
penumbra_create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							RelOptInfo *output_rel, void *extra)
{
	Planning   *planning;

	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	CHECK_FOR_INTERRUPTS();
	planning = planning_current();
	if (planning != NULL && planning->is_enabled &&
		(planning->tables != NIL || root->parent_root != NULL))
	{
		planning->root = root;
		upper_paths_add(root, stage, input_rel, output_rel, extra);
	}
}

/* A call of planner(), whose query may be another form of the one that was given, and what came of it. */
typedef struct PlannerCall
{
	COMPAT_PLANNER_FIELDS
	Planning	planning;
	PlannedStmt *stmt;
} PlannerCall;

/* By the planners below us. */
static void
plan_query(PlannerCall *call)
{
	ErrorContextCallback mark;

	planning_begin(&call->planning, &mark);
	call->stmt = (previous_planner_hook ? previous_planner_hook : standard_planner) (COMPAT_PLANNER_ARGUMENTS_OF(call));
	planning_end(&mark);
	external_rows_plan_resolve(&call->planning, call->stmt);
	custom_path_finish(&call->planning, call->stmt);
}

/* The same.  CTEs that must be computed once, and would not be, are PostgreSQL's. */
static void
plan_single_ctes(PlannerCall *call, bool has_ctes)
{
	PlannerCall again = *call;

	/* The planner writes into the query. */
	if (has_ctes)
		again.query = copyObject(call->query);
	plan_query(call);
	if (!call->planning.has_single_ctes || shared_ctes_are_computed_once(call->stmt))
		return;
	again.planning.leaves_single_ctes = true;
	plan_query(&again);
	*call = again;
}

/* A plan that uses Penumbra wherever it can, whatever it seems to cost. */
static void
plan_forced(void *argument)
{
	const int	mode = penumbra_mode;

	PG_TRY();
	{
		if (!MODE_IS_FORCED())
			penumbra_mode = MODE_PREFER;
		plan_query(argument);
	}
	PG_FINALLY();
	{
		penumbra_mode = mode;
	}
	PG_END_TRY();
}

/* A plan that costs less is not worth the time that another one takes to make. */
#define REPLAN_COST_MIN 5000

/*
 * Nothing is known of a CTE's columns, so the rows of conditions on them are
 * guessed, and joins of what is guessed to be few are nested loops.  A plan in
 * vectors throughout is linear in its inputs and may seem to cost more.
 */
#define VECTORS_ADVANTAGE 2

/*
 * The filter of a join reaches what one reader alone computes, which no cost
 * tells.  Where a CTE has only the rows that some reader wants, little else is
 * gained by computing them for all readers at once.
 */
#define READERS_ADVANTAGE 1.5

static Cost
cost_of(const PlannerCall *call)
{
	return call->stmt->planTree->total_cost;
}

/* Whether the plan that there is costs enough for another form to be planned. */
static bool
costs_enough(const PlannerCall *call)
{
	return MODE_IS_FORCED() || cost_of(call) >= REPLAN_COST_MIN;
}

/* The same, and tables are served. */
static bool
is_worth_replanning(const PlannerCall *call)
{
	return call->planning.tables != NIL && costs_enough(call);
}

static bool
inlined_is_better(const PlannerCall *inlined, const PlannerCall *ordinary, bool is_narrowed)
{
	if (!require_plan_is_penumbra(inlined->stmt) ||
		(inlined->planning.has_single_ctes && !shared_ctes_are_computed_once(inlined->stmt)))
		return false;
	if (require_plan_is_penumbra(ordinary->stmt))
		return cost_of(inlined) < cost_of(ordinary) * (is_narrowed ? READERS_ADVANTAGE : 1);
	return MODE_IS_FORCED() || cost_of(inlined) < cost_of(ordinary) * VECTORS_ADVANTAGE;
}

static bool
form_is_better(const PlannerCall *form, const PlannerCall *best)
{
	return MODE_IS_FORCED() ? require_plan_is_penumbra(form->stmt)
		: plan_walk_finds_ours(form->stmt) && cost_of(form) < cost_of(best);
}

/* Plans the query in another form, and takes that plan if it is better. */
static void
try_form(PlannerCall *best, const PlannerCall *given, Query *form, bool has_ctes)
{
	PlannerCall other = *given;

	other.query = form;
	plan_single_ctes(&other, has_ctes);
	if (form_is_better(&other, best))
		*best = other;
}

/* The same with joins in the place of look-ups.  Such a form may be ours once what it reads is cached. */
static void
try_joins(PlannerCall *best, const PlannerCall *given, Query *form, bool has_ctes)
{
	PlannerCall joined = *given;

	joined.planning.looks_at_lookups = true;
	joined.query = form;
	plan_single_ctes(&joined, has_ctes);
	if (form_is_better(&joined, best))
		*best = joined;
	else
		best->planning.wishes = list_concat_copy(best->planning.wishes, joined.planning.wishes);
}

/* What the function makes of the query; the query itself if that is nothing. */
static Query *
reformed(Query *(*reform) (Query *query), Query *query)
{
	Query	   *made = reform(query);

	return made != NULL ? made : query;
}

/*
 * Plans the query in the forms that may be better than the given one, and takes the best plan.  The planner writes
 * into a query, so the forms are made before.
 */
static void
plan_forms(PlannerCall *best)
{
	const PlannerCall given = *best;
	const bool	is_enabled = given.planning.is_enabled;
	Query	   *keyed = !is_enabled ? given.query
		: reformed(made_keys_take_apart,
				   reformed(row_documents_replace, reformed(whole_counts_replace, given.query)));
	Query	   *whole = !is_enabled || !query_tree_has_subqueries(keyed) ? keyed
		: reformed(unread_columns_drop,
				   reformed(member_expressions_push,
							reformed(whole_rows_replace, reformed(array_subqueries_aggregate, keyed))));
	Query	   *shared = is_enabled ? share_subqueries(whole) : NULL;
	bool		has_ctes = shared != NULL || (is_enabled && inline_ctes_has_any(given.query));
	Query	   *inlined = has_ctes ? inline_ctes(whole) : NULL;
	Query	   *joined = has_ctes && !given.planning.is_cursor ? join_scalars(shared != NULL ? shared : whole) : NULL;
	Query	   *with_ctes = joined != NULL ? joined : shared;
	Query	   *narrowed = has_ctes ? narrow_ctes(with_ctes != NULL ? with_ctes : whole) : NULL;
	Query	   *rewritten = narrowed != NULL ? narrowed : with_ctes != NULL ? with_ctes
		: whole != given.query ? whole : NULL;
	Query	   *late = is_enabled && !given.planning.is_cursor ? late_targets(whole) : NULL;
	Query	   *own_rows = is_enabled && query_tree_has_subqueries(whole) ? own_rows_read_again(whole) : NULL;
	Query	   *looked_up = is_enabled && query_tree_has_subqueries(whole)
		? copyObject(rewritten != NULL ? rewritten : given.query) : NULL;
	Query	   *of_columns = is_enabled && !given.planning.is_cursor ? whole_rows_replace_of_tables(whole) : NULL;
	PlannerCall other;

	if (rewritten != NULL)
		best->query = rewritten;
	plan_single_ctes(best, has_ctes);
	/* PostgreSQL's alone is what it would be without us; with conditions an index may find a subquery's few rows. */
	if (rewritten != NULL &&
		(!plan_walk_finds_ours(best->stmt) || (shared != NULL && best->planning.has_conditions_of_ctes)))
	{
		other = given;
		plan_single_ctes(&other, has_ctes);
		if (!plan_walk_finds_ours(best->stmt) ||
			cost_of(&other) < cost_of(best) * (narrowed != NULL ? READERS_ADVANTAGE : 1))
		{
			/* the other form may be ours once what it reads is cached */
			other.planning.wishes = list_concat_copy(other.planning.wishes, best->planning.wishes);
			*best = other;
			narrowed = NULL;
		}
	}
	if (inlined != NULL && is_worth_replanning(best) && !best->planning.has_executions &&
		(best->planning.has_conditions_of_ctes || !require_plan_is_penumbra(best->stmt)))
	{
		other = given;
		other.query = inlined;
		/* In the place of a reference a CTE's constants may meet conditions that fail on them. */
		if (attempt(plan_forced, &other) && inlined_is_better(&other, best, narrowed != NULL))
			*best = other;
	}
	/* a table whose columns are only returned below LIMIT may be served, although it was refused */
	if (late != NULL && (best->planning.tables != NIL || best->planning.refusal_count > 0) && costs_enough(best))
		try_form(best, &given, late, has_ctes);
	if (looked_up != NULL && best->planning.has_lookups && costs_enough(best))
		try_joins(best, &given, looked_up, has_ctes);
	if (own_rows != NULL && costs_enough(best))
		try_joins(best, &given, own_rows, has_ctes);
	/* a table whose rows are read whole may not be served; what finds a row by a key is not planned twice */
	if (of_columns != NULL && costs_enough(best))
		try_form(best, &given, of_columns, has_ctes);
	if (has_ctes && best->planning.tables != NIL)
		shared_ctes_hide_unread(best->stmt);
}

/* Why a plan is not ours throughout goes with it. */
static void
note_refusals(PlannedStmt *stmt, const Query *query, const Planning *planning)
{
	bool		is_partly_used = plan_walk_finds_ours(stmt);

	for (int i = 0; i < planning->refusal_count; i++)
		refusal_add_to_plan(stmt, planning->refusals[i]);
	if (planning->refusal_count > 0)
		explain_note_planning(query, refusal_text(planning_refusal(planning)), is_partly_used);
	else if (!is_partly_used)
		refusal_add_to_plan(stmt, refusal_find(REFUSAL_BY_COST, NULL));
}

static PlannedStmt *
penumbra_planner(COMPAT_PLANNER_PARAMETERS)
{
	PlannerCall call = {COMPAT_PLANNER_VALUES,.query = query};
	Planning   *planning = &call.planning;

	planning->is_cursor = (cursor_options & CURSOR_OPT_FAST_PLAN) != 0;
	planning->is_enabled = penumbra_mode != MODE_OFF && (penumbra_mode != MODE_AUTO || cache_is_available()) &&
		cache_serves_database();
	planning->is_permitted = planning->is_enabled && privileges_permit(query);
	plan_forms(&call);
	if (planning->wishes != NIL)
		wishes_tell(planning, call.stmt);
	if (penumbra_mode == MODE_REQUIRE)
		require_check_plan(call.stmt, planning);
	/* What was refused on the way to a plan that is all ours is of no interest. */
	if ((planning->refusal_count > 0 || planning->tables != NIL) && !require_plan_is_penumbra(call.stmt))
		note_refusals(call.stmt, query, planning);
	return call.stmt;
}

static const CustomPathMethods path_methods = {.PlanCustomPath = custom_path_plan};
static const CustomScanMethods scan_methods = {.CreateCustomScanState = custom_scan_create_state};

void
hooks_install(void)
{
	node_kinds_register(&path_methods, &scan_methods);
	explain_install_hook();
	previous_planner_hook = planner_hook;
	planner_hook = penumbra_planner;
	previous_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = penumbra_set_rel_pathlist;
	previous_join_search_hook = join_search_hook;
	join_search_hook = penumbra_join_search;
	previous_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = penumbra_set_join_pathlist;
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = penumbra_create_upper_paths;
}
