/*-------------------------------------------------------------------------
 *
 * join_paths.c
 *	  Joins of relations that the engine can compute.
 *
 * PostgreSQL's join search asks about every legal pair of relations.  Of each
 * join relation the cheapest pipeline is remembered, so the search orders our
 * joins as it orders its own, by dynamic programming and within its rules of
 * legality, whatever path wins below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "query/paths/base_pipelines.h"
#include "query/paths/core_path.h"
#include "query/paths/custom_path.h"
#include "query/paths/join_estimates.h"
#include "query/paths/join_paths.h"
#include "query/paths/lateral_values.h"
#include "query/paths/row_order.h"
#include "query/paths/scan_paths.h"
#include "query/paths/subplan_uses.h"
#include "query/paths/subplans.h"
#include "query/paths/unnest.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_made.h"
#include "query/pipeline/translate_node.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"
#include "query/planning/level_columns.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/* An equality between sides. */
typedef struct ClauseKey
{
	OpExpr	   *equality;		/* see PipelineStage */
	OpExpr	   *commuted;
	Relids		left_relids;
	Relids		right_relids;
	double		row_factor;		/* by which more rows pass it than PostgreSQL thinks */
	List	   *narrowed_factors;	/* of RowFactor * */
} ClauseKey;

/* What the engine makes of a condition; a query asks for the same ones with each pair. */
typedef struct JoinClause
{
	const RestrictInfo *rinfo;
	const char *refusal;		/* or NULL: it can be evaluated */
	List	   *ranges;			/* comparisons of the sides by which the engine searches: itself, or some it has */
	Node	   *normalized;
	List	   *keys;			/* of ClauseKey *: equalities that are true where it is */
	bool		is_keys;		/* it is true where these are */
} JoinClause;

/* The conditions of one join. */
typedef struct JoinClauses
{
	List	   *keys;			/* probe side first */
	List	   *conditions;		/* RestrictInfos that decide the match too */
	List	   *filters;		/* RestrictInfos of what comes out of an outer join */
	List	   *subplans;		/* RestrictInfos of an inner join with subqueries, which are asked of its pairs */
	const RelPipeline *asked;	/* subqueries of which the sides have values */
	List	   *ranges;			/* of conditions */
	double		row_factor;		/* of all keys; without keys, of the ranges */
} JoinClauses;

static const RelPipeline nothing_asked = {0};

/* ---------------------------------------------------------------- clauses */

/* Whether the clause is "value IS NULL"; a type that reads the same bytes has the same NULLs. */
static bool
is_null_test_of(Node *clause, Node *value)
{
	NullTest   *test = (NullTest *) clause;
	Node	   *tested;

	if (!IsA(clause, NullTest) || test->nulltesttype != IS_NULL || test->argisrow)
		return false;
	tested = (Node *) test->arg;
	while (IsA(tested, RelabelType))
		tested = (Node *) ((RelabelType *) tested)->arg;
	while (IsA(value, RelabelType))
		value = (Node *) ((RelabelType *) value)->arg;
	return equal(tested, value);
}

/* Whether the clause is: both values are NULL. */
static bool
are_both_null(Node *clause, List *values)
{
	List	   *tests = is_andclause(clause) ? ((BoolExpr *) clause)->args : NIL;

	for (int i = 0; i < 2 && list_length(tests) == 2; i++)
	{
		if (is_null_test_of(list_nth(tests, i), linitial(values)) &&
			is_null_test_of(list_nth(tests, 1 - i), lsecond(values)))
			return true;
	}
	return false;
}

/*
 * What the clause says of two values, if they are equal or else, of a DistinctExpr, both NULL.  Tools write x = y OR x
 * IS NULL AND y IS NULL for IS NOT DISTINCT FROM.  NULL: it says something else.
 */
static OpExpr *
find_equality(Node *clause)
{
	OpExpr	   *equality = NULL;

	if (IsA(clause, OpExpr))
		equality = (OpExpr *) clause;
	else if (is_notclause(clause) && IsA(get_notclausearg(clause), DistinctExpr))
	{
		equality = copyObject((OpExpr *) get_notclausearg(clause));
		NodeSetTag(equality, T_OpExpr);
	}
	else if (is_orclause(clause) && list_length(((BoolExpr *) clause)->args) == 2)
	{
		List	   *args = ((BoolExpr *) clause)->args;
		int			place = IsA(linitial(args), OpExpr) ? 0 : 1;

		equality = copyObject((OpExpr *) list_nth(args, place));
		if (!IsA(equality, OpExpr) || list_length(equality->args) != 2 ||
			!are_both_null(list_nth(args, 1 - place), equality->args))
			return NULL;
	}
	if (equality == NULL || !comparison_key_is_equality_clause((Node *) equality))
		return NULL;
	if (!IsA(clause, OpExpr))
		NodeSetTag(equality, T_DistinctExpr);
	return equality;
}

/* The equality as a key, if its sides are of different relations and of types that the engine joins; or NULL. */
static ClauseKey *
examine_key(PlannerInfo *root, const RelPipeline *asked, OpExpr *equality)
{
	ClauseKey  *key = palloc0(sizeof(ClauseKey));
	PenumbraType left;
	PenumbraType right;
	PenumbraType wide;

	if (!translate_type(exprType(linitial(equality->args)), &left) ||
		!translate_type(exprType(lsecond(equality->args)), &right) ||
		!translate_join_type(left, right, &wide))
		return NULL;
	key->left_relids = pull_varnos(root, linitial(equality->args));
	key->right_relids = pull_varnos(root, lsecond(equality->args));
	if (bms_is_empty(key->left_relids) || bms_is_empty(key->right_relids) ||
		bms_overlap(key->left_relids, key->right_relids))
		return NULL;
	/* NULL is not equal to what is never NULL. */
	if (IsA(equality, DistinctExpr) && (level_columns_is_not_null(root, linitial(equality->args)) ||
										level_columns_is_not_null(root, lsecond(equality->args))))
		NodeSetTag(equality, T_OpExpr);
	key->equality = (OpExpr *) rel_pipeline_normalize(root, asked, (Node *) equality);
	key->commuted = pipeline_commuted_key(key->equality);
	key->row_factor = 1;
	return key->commuted == NULL ? NULL : key;
}

/* The clause's keys: what it says of two values, or of the values of which arrays or rows are made. */
static void
examine_keys(PlannerInfo *root, const RelPipeline *asked, JoinClause *clause)
{
	Node	   *node = (Node *) clause->rinfo->clause;
	List	   *equalities = translate_made_equalities(node);
	OpExpr	   *equality = equalities == NIL ? find_equality(node) : NULL;
	ClauseKey  *key;
	ListCell   *lc;

	if (equality != NULL)
	{
		key = examine_key(root, asked, equality);
		if (key == NULL)
			return;
		key->row_factor = join_estimates_row_factor(root, equality, &key->narrowed_factors);
		clause->keys = list_make1(key);
	}
	foreach(lc, equalities)
	{
		key = examine_key(root, asked, lfirst(lc));
		if (key != NULL)
			clause->keys = lappend(clause->keys, key);
	}
	clause->is_keys = equality != NULL || list_length(clause->keys) == list_length(equalities);
}

/* Comparisons of one side of the clause with the other that are true where it is. */
static void
examine_bounds(PlannerInfo *root, JoinClause *clause)
{
	ListCell   *lc;

	foreach(lc, translate_bounds_of((Node *) clause->rinfo->clause))
	{
		OpExpr	   *bound = lfirst(lc);
		Relids		left = pull_varnos(root, linitial(bound->args));
		Relids		right = pull_varnos(root, lsecond(bound->args));
		Node	   *normalized = relation_numbers_normalize(root, (Node *) bound);

		if (!bms_is_empty(left) && !bms_is_empty(right) && !bms_overlap(left, right) &&
			stage_scan_is_searched(normalized))
			clause->ranges = lappend(clause->ranges, normalized);
	}
}

/* Subqueries in it are those of which the sides have the values, in what is `asked`, or the engine has none. */
static const JoinClause *
examine_clause(PlannerInfo *root, const RelPipeline *asked, RestrictInfo *rinfo)
{
	Planning   *planning = planning_current();
	JoinClause *clause;
	Translation *translation;
	PenumbraExpr expr;
	MemoryContext context;
	bool		asks = asked->subplans != NIL && contain_subplans((Node *) rinfo->clause);
	ListCell   *lc;

	foreach(lc, asks ? NIL : planning->clauses)
	{
		clause = lfirst(lc);
		if (clause->rinfo == rinfo)
			return clause;
	}
	clause = palloc0(sizeof(JoinClause));
	clause->rinfo = rinfo;
	clause->normalized = rel_pipeline_normalize(root, asked, (Node *) rinfo->clause);
	context = CurrentMemoryContext;
	translation = translation_begin(NIL, NULL);
	expr = stage_scan_translate_pair(translation, clause->normalized);
	if (expr < 0)
		clause->refusal = MemoryContextStrdup(context, translation->reason);
	if (clause->refusal == NULL && rinfo->can_join && penumbra_plan_is_range(translation->plan, expr))
		clause->ranges = list_make1(clause->normalized);
	translation_end(translation);
	if (clause->refusal == NULL && !asks)
		examine_bounds(root, clause);
	if (clause->refusal == NULL)
		examine_keys(root, asked, clause);
	if (!asks)
		planning->clauses = lappend(planning->clauses, clause);
	return clause;
}

/* The largest is of the side that knows most. */
static double
row_factor_of_pair(const ClauseKey *key, const RelOptInfo *probe_rel, const RelOptInfo *build_rel)
{
	double		most = key->row_factor;
	ListCell   *lc;

	foreach(lc, key->narrowed_factors)
	{
		const RowFactor *narrowed = lfirst(lc);

		if (bms_is_subset(narrowed->relids, probe_rel->relids) || bms_is_subset(narrowed->relids, build_rel->relids))
			most = Max(most, narrowed->factor);
	}
	return most;
}

static bool
is_less(const OpExpr *clause)
{
	RegProcedure estimator = get_oprrest(clause->opno);

	return estimator == F_SCALARLTSEL || estimator == F_SCALARLESEL;
}

/* Whether one value has a bound on each side: x >= a AND x < b. */
static bool
are_two_sided(const OpExpr *one, const OpExpr *other)
{
	bool		are_alike = is_less(one) == is_less(other);

	for (int i = 0; i < 2; i++)
	{
		for (int j = 0; j < 2; j++)
		{
			if (are_alike == (i != j) && equal(list_nth(one->args, i), list_nth(other->args, j)))
				return true;
		}
	}
	return false;
}

/*
 * PostgreSQL expects that each comparison of two tables' values drops two rows
 * of three.  Of two that bound one value it expects more if the bounds are
 * Params: that is so here, too.
 */
static double
row_factor_of_ranges(const List *ranges)
{
	double		factor = 1;
	ListCell   *one;

	foreach(one, ranges)
	{
		ListCell   *other;

		for_each_cell(other, ranges, lnext(ranges, one))
		{
			if (are_two_sided(lfirst(one), lfirst(other)))
				factor *= DEFAULT_RANGE_INEQ_SEL / (DEFAULT_INEQ_SEL * DEFAULT_INEQ_SEL);
		}
	}
	return factor;
}

/* Whether it is a condition of what comes out of an outer join. */
static bool
is_of_outer_rows(const RelOptInfo *joinrel, JoinType join_type, const RestrictInfo *rinfo)
{
	return IS_OUTER_JOIN(join_type) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids);
}

/* Adds the clause's keys of the pair; false: it is more than these. */
static bool
add_keys(const JoinClause *clause, const RelOptInfo *probe_rel, const RelOptInfo *build_rel, JoinClauses *clauses)
{
	bool		is_any = false;
	bool		is_all = clause->is_keys;
	ListCell   *lc;

	foreach(lc, clause->keys)
	{
		const ClauseKey *key = lfirst(lc);
		bool		is_commuted = !bms_is_subset(key->left_relids, probe_rel->relids);

		if (!bms_is_subset(is_commuted ? key->right_relids : key->left_relids, probe_rel->relids) ||
			!bms_is_subset(is_commuted ? key->left_relids : key->right_relids, build_rel->relids))
		{
			is_all = false;
			continue;
		}
		clauses->keys = lappend(clauses->keys, is_commuted ? key->commuted : key->equality);
		clauses->row_factor *= row_factor_of_pair(key, probe_rel, build_rel);
		is_any = true;
	}
	return is_any && is_all;
}

/* False: one of them is not for the engine. */
static bool
sort_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel, RelOptInfo *build_rel,
			 JoinType join_type, List *restrictinfos, const RelPipeline *asked, JoinClauses *clauses)
{
	ListCell   *lc;

	memset(clauses, 0, sizeof(JoinClauses));
	clauses->asked = asked;
	clauses->row_factor = 1;
	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		is_filter = is_of_outer_rows(joinrel, join_type, rinfo);
		const JoinClause *clause;

		/* PostgreSQL puts these into a Result above. */
		if (rinfo->pseudoconstant)
			return false;
		if (join_type == JOIN_INNER && contain_subplans((Node *) rinfo->clause) &&
			contain_subplans(rel_pipeline_normalize(root, asked, (Node *) rinfo->clause)))
		{
			clauses->subplans = lappend(clauses->subplans, rinfo);
			continue;
		}
		clause = examine_clause(root, is_filter ? &nothing_asked : asked, rinfo);
		if (clause->refusal != NULL)
		{
			planning_refuse(clause->refusal, NULL);
			return false;
		}
		if (is_filter)
		{
			clauses->filters = lappend(clauses->filters, rinfo);
			continue;
		}
		if (add_keys(clause, probe_rel, build_rel, clauses))
			continue;
		clauses->conditions = lappend(clauses->conditions, rinfo);
		clauses->ranges = list_concat(clauses->ranges, clause->ranges);
	}
	if (clauses->keys == NIL)
		clauses->row_factor *= row_factor_of_ranges(clauses->ranges);
	return true;
}

/* ---------------------------------------------------------------- pairs */

static Cost
cost_of(const RelPipeline *planned)
{
	return planned->startup_cost + planned->run_cost;
}

/*
 * Semi and anti joins output one side, and what is above may speak of the
 * other: of a semi join's keys, which are equal to those of this side, and of
 * anything of an anti join that was a left join, where it is NULL.
 */
static void
add_other_side(PlannerInfo *root, RelOptInfo *joinrel, RelPipeline *planned, const PipelineStage *join,
			   const JoinClauses *clauses)
{
	bool		is_semi = join->join_kind == PENUMBRA_JOIN_SEMI || join->join_kind == PENUMBRA_JOIN_RIGHT_SEMI;
	bool		has_probe = join->join_kind == PENUMBRA_JOIN_SEMI || join->join_kind == PENUMBRA_JOIN_ANTI;
	List	   *names;
	List	   *exprs;
	List	   *needed;
	ListCell   *lc;

	if (!is_semi && !has_probe && join->join_kind != PENUMBRA_JOIN_RIGHT_ANTI)
		return;
	names = list_copy(stage_outputs(join));
	exprs = list_copy(names);
	needed = list_concat_copy(joinrel->reltarget->exprs,
							  pull_var_clause((Node *) get_actual_clauses(clauses->filters), PVC_INCLUDE_PLACEHOLDERS));
	needed = (List *) relation_numbers_normalize(root, (Node *) needed);
	foreach(lc, is_semi ? join->join_keys : stage_outputs(has_probe ? lsecond(join->inputs) : linitial(join->inputs)))
	{
		Node	   *here = NULL;
		Node	   *there = lfirst(lc);

		if (is_semi)
		{
			here = list_nth(((OpExpr *) lfirst(lc))->args, has_probe ? 0 : 1);
			there = list_nth(((OpExpr *) lfirst(lc))->args, has_probe ? 1 : 0);
			if (exprType(here) != exprType(there))
				continue;
		}
		if (pipeline_find_expr(needed, there) < 0 || pipeline_find_expr(names, there) >= 0)
			continue;
		if (here == NULL)
			here = (Node *) makeNullConst(exprType(there), exprTypmod(there), exprCollation(there));
		exprs = lappend(exprs, here);
		names = lappend(names, there);
	}
	if (!equal(names, exprs))
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, exprs)->names = names;
}

/* The stages of a join; false: a condition is not for the engine. */
static bool
add_stages(PlannerInfo *root, RelOptInfo *joinrel, RelPipeline *planned, const RelPipeline *probe,
		   const RelPipeline *build, PenumbraJoinKind kind, const JoinClauses *clauses)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_JOIN, NIL);
	ListCell   *lc;

	stage->inputs = lappend(stage->inputs, build->pipeline->top);
	stage->join_kind = kind;
	stage->join_keys = clauses->keys;
	stage->exprs = rel_pipeline_ordered_clauses(root, clauses->asked, clauses->conditions);
	/* of an iteration nobody knows how many */
	stage->probe_rows = probe->pipeline->reads_working_table ? 0 : probe->rows;
	stage->build_rows = build->rows;
	stage->rows = planned->rows;
	pipeline_take(planned->pipeline, build->pipeline);
	planned->before_sort = NULL;
	add_other_side(root, joinrel, planned, stage, clauses);
	if (clauses->filters != NIL)
		rel_pipeline_add_filters(root, planned->pipeline, clauses->filters);
	foreach(lc, clauses->subplans)
	{
		if (!subplans_apply(root, planned, lfirst(lc), planned->rows))
			return false;
	}
	return base_pipelines_add_placeholders(root, joinrel, NULL, planned);
}

/* Whether no row comes out for a row of the probe side without a match. */
static bool
drops_unmatched(PenumbraJoinKind kind)
{
	return kind == PENUMBRA_JOIN_INNER || kind == PENUMBRA_JOIN_SEMI || kind == PENUMBRA_JOIN_RIGHT ||
		kind == PENUMBRA_JOIN_RIGHT_SEMI || kind == PENUMBRA_JOIN_RIGHT_ANTI;
}

/* How many pairs the join looks at, of which so many come out. */
static double
looked_at_pairs(PlannerInfo *root, const RelPipeline *probe, const RelPipeline *build, PenumbraJoinKind kind,
				const JoinClauses *clauses, JoinPathExtraData *extra, double rows)
{
	double		all = probe->rows * build->rows;

	if (clauses->keys != NIL)
		return rows;
	if (clauses->ranges == NIL)
		return all;
	/* All matches of a build row are noted, of a probe row the first. */
	if (kind == PENUMBRA_JOIN_RIGHT_SEMI || kind == PENUMBRA_JOIN_RIGHT_ANTI)
		return Max(rows, all * clauses->row_factor *
				   clauselist_selectivity(root, clauses->conditions, 0, JOIN_INNER, extra->sjinfo));
	return rows;
}

/*
 * Puts the join of the pair into *best if that is cheaper.  Hundreds are costed
 * for one that is made.  How many rows come out does not depend on the pair:
 * the higher estimate is of the one that knows more.  False: refused.
 */
static bool
consider_sides(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel, const RelPipeline *probe,
			   RelOptInfo *build_rel, const RelPipeline *build, PenumbraJoinKind kind, JoinType join_type,
			   JoinPathExtraData *extra, RelPipeline **best)
{
	const RelPipeline asked = {
		.subplans = list_concat_copy(probe->subplans, build->subplans),
		.subplan_values = list_concat_copy(probe->subplan_values, build->subplan_values)
	};
	RelPipeline joined = *probe;
	RelPipeline *planned;
	JoinClauses clauses;
	double		rows;
	double		matched;

	/* a working table's rows come while the join runs */
	if (build->pipeline->reads_working_table)
		return true;
	if (!sort_clauses(root, joinrel, probe_rel, build_rel, join_type, extra->restrictlist, &asked, &clauses))
		return false;
	/* Above, a row that found no partner has others. */
	joined.subplans = joined.subplan_values = NIL;
	rows = join_estimates_rows(root, joinrel, probe_rel, probe, build_rel, build, kind, extra,
					 clauses.row_factor);
	if (*best != NULL)
		(*best)->rows = rows = Max((*best)->rows, rows);
	matched = drops_unmatched(kind) ? Min(rows, probe->rows) : probe->rows;
	cost_add_join(&joined, build, list_length(clauses.keys),
				  list_length(build_rel->reltarget->exprs), list_length(clauses.conditions),
				  matched, looked_at_pairs(root, probe, build, kind, &clauses, extra, Max(rows, matched)), rows);
	if (clauses.filters != NIL)
		cost_add_filter(&joined, rel_pipeline_count_columns(get_actual_clauses(clauses.filters)), rows);
	/* Conditions with subqueries only add to it. */
	if (*best != NULL && cost_of(&joined) >= cost_of(*best))
		return true;
	planned = palloc(sizeof(RelPipeline));
	*planned = joined;
	planned->pipeline = pipeline_copy(probe->pipeline);
	if (!add_stages(root, joinrel, planned, probe, build, kind, &clauses))
		return false;
	if (*best == NULL || cost_of(planned) < cost_of(*best))
		*best = planned;
	return true;
}

/* Whether the condition asks its subqueries of rows of the relation alone, and these say whether it asks. */
static bool
asks_of(PlannerInfo *root, const RestrictInfo *rinfo, const RelOptInfo *rel)
{
	List	   *uses = subplan_uses_find((Node *) rinfo->clause, false);
	ListCell   *lc;

	foreach(lc, uses)
	{
		const SubplanUse *use = lfirst(lc);
		Relids		relids = bms_union(pull_varnos(root, use->node), pull_varnos(root, (Node *) use->guards));

		if (use->is_guard_unknown || bms_is_empty(relids) || !bms_is_subset(relids, rel->relids))
			return false;
	}
	return uses != NIL;
}

/* The relation's rows, with the values of the subqueries that the conditions of a join ask of them. */
static const RelPipeline *
with_values_asked(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *rel, JoinType join_type, List *restrictinfos)
{
	const RelPipeline *planned = join_paths_find(root, rel);
	RelPipeline *copy;
	List	   *asking = NIL;
	ListCell   *lc;

	foreach(lc, root->parse->hasSubLinks ? restrictinfos : NIL)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->security_level == 0 && !is_of_outer_rows(joinrel, join_type, rinfo) && asks_of(root, rinfo, rel))
			asking = lappend(asking, rinfo->clause);
	}
	if (asking == NIL)
		return planned;
	copy = rel_pipeline_copy(planned);
	return subplans_join_outputs(root, copy, asking) ? copy : planned;
}

/*
 * A subquery in a condition that reads one side alone is joined with that side first, and its value may be a key.
 * An inner join may also ask the rows that it leaves.
 */
static bool
consider_pair(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *probe_rel, RelOptInfo *build_rel,
			  PenumbraJoinKind kind, JoinType join_type, JoinPathExtraData *extra, RelPipeline **best)
{
	const RelPipeline *probe = with_values_asked(root, joinrel, probe_rel, join_type, extra->restrictlist);
	const RelPipeline *build = with_values_asked(root, joinrel, build_rel, join_type, extra->restrictlist);
	bool		is_asked = probe->subplans != NIL || build->subplans != NIL;
	bool		is_taken = consider_sides(root, joinrel, probe_rel, probe, build_rel, build, kind, join_type, extra,
										  best);

	if (is_asked && join_type == JOIN_INNER)
		is_taken |= consider_sides(root, joinrel, probe_rel, join_paths_find(root, probe_rel), build_rel,
								   join_paths_find(root, build_rel), kind, join_type, extra, best);
	return is_taken;
}

/* A path for the join alone, without what the query does with it. */
static void
offer_join(PlannerInfo *root, RelOptInfo *joinrel, const RelPipeline *planned, Path *ordinary, const Path *core_path)
{
	RelPipeline finished = *planned;
	PenumbraPath *path;

	if (ordinary == NULL || level_columns_hide(root, joinrel->reltarget->exprs))
		return;
	finished.pipeline = pipeline_copy(planned->pipeline);
	(void) rel_pipeline_set_target(root, &finished, joinrel->reltarget);
	path = custom_path_create(root, joinrel, joinrel->reltarget, NODE_JOIN, &finished,
							  ordinary);
	path->scan_exprs = joinrel->reltarget->exprs;
	path->custom.flags |= CUSTOMPATH_SUPPORT_PROJECTION;
	core_path_offer(root, joinrel, path, core_path);
}

bool
join_paths_has_conditions(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	if (!root->parse->hasSubLinks)
		return false;
	/* Of UPDATE and DELETE it is the target. */
	if ((root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT) ||
		root->parse->rowMarks != NIL || root->rowMarks != NIL || rel->reloptkind != RELOPT_BASEREL ||
		bms_membership(root->all_baserels) != BMS_SINGLETON || row_order_is_shown(root) ||
		scan_paths_is_simply_updatable(root))
		return false;
	foreach(lc, rel->baserestrictinfo)
	{
		if (contain_subplans((Node *) lfirst_node(RestrictInfo, lc)->clause))
			return true;
	}
	return false;
}

static bool
can_fail(const Pipeline *pipeline)
{
	ListCell   *lc;

	foreach(lc, pipeline_stages(pipeline))
	{
		const PipelineStage *stage = lfirst(lc);

		if (stage->kind == PIPELINE_JOIN ? stage->join_kind == PENUMBRA_JOIN_SINGLE
			: stage->kind == PIPELINE_FILTER && expr_can_fail((Node *) stage->exprs))
			return true;
	}
	return false;
}

/*
 * All rows are looked at before the first comes out.  PostgreSQL may end before it meets one that raises an error,
 * as LIMIT does where an index or a grouping gives the order.
 */
void
join_paths_add_conditions(PlannerInfo *root, RelOptInfo *rel, Path *ordinary)
{
	const RelPipeline *planned = base_pipelines_find(root, rel);

	if (planned != NULL && !(limit_needed(root->parse) && can_fail(planned->pipeline)) &&
		rel_pipeline_check(planned->pipeline))
		offer_join(root, rel, planned, ordinary, ordinary);
}

/* Whether the engine may compute joins of the query level, and this one has paths to compete with. */
static bool
may_add_join(PlannerInfo *root, RelOptInfo *joinrel)
{
	/* The genetic search frees its join relations, and with them whatever is remembered of them. */
	return joinrel->reloptkind == RELOPT_JOINREL && !compat_is_genetic_search(root) &&
		root->rowMarks == NIL &&
		bms_is_empty(joinrel->lateral_relids) && joinrel->pathlist != NIL &&
		!IS_DUMMY_REL(joinrel) &&
		(root->parse->commandType == CMD_SELECT || root->parse->commandType == CMD_INSERT);
}

/* Whether the engine evaluates the conditions by themselves. */
static bool
takes_clauses(PlannerInfo *root, List *restrictinfos)
{
	ListCell   *lc;

	foreach(lc, restrictinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant || contain_subplans((Node *) rinfo->clause) ||
			examine_clause(root, &nothing_asked, rinfo)->refusal != NULL)
			return false;
	}
	return true;
}

/* Remembers the join with a LATERAL item, which gets values of the other side, if that is cheaper. */
static void
consider_lateral(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel, RelOptInfo *lateral_rel,
				 JoinType join_type, JoinPathExtraData *extra)
{
	const RangeTblEntry *rte = root->simple_rte_array[lateral_rel->relid];
	const RelPipeline *best = base_pipelines_find(root, joinrel);
	const RelPipeline *outer = join_paths_find(root, outer_rel);
	RelPipeline *planned;
	bool		is_left = join_type == JOIN_LEFT;
	bool		is_subquery = rte->rtekind == RTE_SUBQUERY;
	bool		is_joined;
	List	   *filters;

	if (outer == NULL || !(is_subquery || rte->rtekind == RTE_FUNCTION || rte->rtekind == RTE_VALUES) ||
		rte->inh || rte->security_barrier ||
		!bms_is_subset(lateral_rel->lateral_relids, outer_rel->relids) ||
		(is_left ? extra->restrictlist != NIL : join_type != JOIN_INNER) ||
		(lateral_rel->baserestrictinfo != NIL && (is_left || is_subquery)))
		return;
	filters = list_concat_copy(lateral_rel->baserestrictinfo, extra->restrictlist);
	if (!takes_clauses(root, filters))
		return;
	planned = rel_pipeline_copy(outer);
	if (rte->rtekind == RTE_FUNCTION)
		is_joined = unnest_join_functions(root, planned, lateral_rel, is_left, joinrel->rows);
	else if (is_subquery)
		is_joined = subplans_join_lateral(root, planned, lateral_rel, is_left, joinrel->rows);
	else
		is_joined = lateral_values_join(root, planned, lateral_rel, joinrel->rows);
	if (!is_joined)
		return;
	rel_pipeline_add_filters(root, planned->pipeline, filters);
	if (!base_pipelines_add_placeholders(root, joinrel, is_left ? NULL : lateral_rel, planned) ||
		(best != NULL && cost_of(planned) >= cost_of(best)))
		return;
	rel_pipeline_remember(joinrel, planned);
}

/* The join in which the outer side probes; false: the engine has none. */
static bool
find_join_kind(JoinType join_type, PenumbraJoinKind *kind)
{
	switch (join_type)
	{
		case JOIN_INNER:
			*kind = PENUMBRA_JOIN_INNER;
			return true;
		case JOIN_LEFT:
			*kind = PENUMBRA_JOIN_LEFT;
			return true;
		case JOIN_SEMI:
			*kind = PENUMBRA_JOIN_SEMI;
			return true;
		case JOIN_ANTI:
			*kind = PENUMBRA_JOIN_ANTI;
			return true;
		case JOIN_RIGHT:
			*kind = PENUMBRA_JOIN_RIGHT;
			return true;
		case JOIN_FULL:
			*kind = PENUMBRA_JOIN_FULL;
			return true;
		default:
			return false;
	}
}

/* Remembers the cheaper of the join of the pair and what is remembered. */
static void
consider_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel, RelOptInfo *inner_rel,
			  JoinType join_type, JoinPathExtraData *extra)
{
	const RelPipeline *first;
	RelPipeline *best;
	PenumbraJoinKind kind;

	if (IS_SIMPLE_REL(inner_rel) && !bms_is_empty(inner_rel->lateral_relids))
	{
		consider_lateral(root, joinrel, outer_rel, inner_rel, join_type, extra);
		return;
	}
	if (join_paths_find(root, outer_rel) == NULL || join_paths_find(root, inner_rel) == NULL ||
		!find_join_kind(join_type, &kind))
		return;
	first = base_pipelines_find(root, joinrel);
	best = (RelPipeline *) first;
	if (!consider_pair(root, joinrel, outer_rel, inner_rel, kind, join_type, extra, &best))
		return;
	/* The search asks for the other kinds with the sides swapped, too, but for these once. */
	if ((join_type == JOIN_SEMI || join_type == JOIN_ANTI) &&
		!consider_pair(root, joinrel, inner_rel, outer_rel,
					   join_type == JOIN_SEMI ? PENUMBRA_JOIN_RIGHT_SEMI : PENUMBRA_JOIN_RIGHT_ANTI, join_type,
					   extra, &best))
		return;
	if (best != first)
		rel_pipeline_remember(joinrel, best);
}

/* A pair whose join PostgreSQL makes at a cost that is none, as of look-ups by key. */
typedef struct SkippedPair
{
	RelOptInfo *outer_rel;
	RelOptInfo *inner_rel;
	JoinType	join_type;
	JoinPathExtraData extra;
	SpecialJoinInfo sjinfo;
} SkippedPair;

static void
skip_pair(RelOptInfo *joinrel, RelOptInfo *outer_rel, RelOptInfo *inner_rel, JoinType join_type,
		  const JoinPathExtraData *extra)
{
	SkippedPair *pair = palloc(sizeof(SkippedPair));

	pair->outer_rel = outer_rel;
	pair->inner_rel = inner_rel;
	pair->join_type = join_type;
	pair->extra = *extra;
	pair->sjinfo = *extra->sjinfo;	/* that of an inner join is on the caller's stack */
	pair->extra.sjinfo = &pair->sjinfo;
	rel_pipeline_skip(joinrel, pair);
}

const RelPipeline *
join_paths_find(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, IS_SIMPLE_REL(rel) ? NIL : rel_pipeline_take_skipped(rel))
	{
		SkippedPair *pair = lfirst(lc);

		consider_join(root, rel, pair->outer_rel, pair->inner_rel, pair->join_type, &pair->extra);
	}
	return base_pipelines_find(root, rel);
}

void
join_paths_add(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer_rel,
			   RelOptInfo *inner_rel, JoinType join_type, JoinPathExtraData *extra)
{
	const RelPipeline *first;
	RelPipeline *best;
	const Path *core_path;

	if (!may_add_join(root, joinrel))
		return;
	/*
	 * An inner join is asked for both ways round, and what look-ups cost is
	 * known after the second.  Those of a subquery may be repeated.
	 */
	if ((join_type == JOIN_INNER && !rel_pipeline_is_known(joinrel)) ||
		(!MODE_IS_FORCED() && root->parent_root == NULL && !cost_join_can_win(root, joinrel)))
	{
		skip_pair(joinrel, outer_rel, inner_rel, join_type, extra);
		return;
	}
	first = base_pipelines_find(root, joinrel);
	(void) join_paths_find(root, joinrel);
	consider_join(root, joinrel, outer_rel, inner_rel, join_type, extra);
	best = (RelPipeline *) base_pipelines_find(root, joinrel);
	if (best == NULL)
		return;
	/* The search may have added something that seems to cost less, and dropped ours. */
	core_path = linitial(joinrel->pathlist);
	if (best != first || (!path_is_ours(core_path) &&
						  (MODE_IS_FORCED() || core_path->total_cost != best->core_cost)))
	{
		best->core_cost = core_path->total_cost;
		offer_join(root, joinrel, best, custom_path_ordinary(root, joinrel, NIL),
				   custom_path_cheapest_ordinary(joinrel, false));
	}
}
