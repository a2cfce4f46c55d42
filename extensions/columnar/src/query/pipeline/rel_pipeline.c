/*-------------------------------------------------------------------------
 *
 * rel_pipeline.c
 *	  What the engine can compute for relations of the planner: the parts that
 *	  pipelines are made of, and what is remembered by relation.
 *
 * Pipelines are remembered by relation rather than found in its pathlist: a
 * full sort may have lost against another path there although the top-N made
 * from it wins, and the best order of joins is not known before all of them
 * are planned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "cache/value_image.h"
#include "query/pipeline/comparison_key.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/stages.h"
#include "query/pipeline/translation.h"
#include "query/planning/expression_columns.h"
#include "query/planning/planning.h"
#include "query/planning/quals.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/repeats.h"

/* ---------------------------------------------------------------- parts of pipelines */

static bool
has_barrier(const PlannerInfo *root)
{
	ListCell   *lc;

	for (; root != NULL; root = root->parent_root)
	{
		foreach(lc, root->parse->rtable)
		{
			RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

			if (rte->security_barrier || rte->securityQuals != NIL)
				return true;
		}
	}
	return false;
}

/*
 * Whether rows may be hidden from the user.  Leakproof quals of his are pushed
 * down past a barrier and then have the same security level as its own, so
 * the quals themselves do not tell.  Looked up once per query level: a table
 * of thousands of partitions would do it for each.
 */
bool
rel_pipeline_is_below_barrier(const PlannerInfo *root)
{
	Planning   *planning = planning_current();

	if (planning->barrier_root != root)
	{
		planning->barrier_root = root;
		planning->is_below_barrier = has_barrier(root);
	}
	return planning->is_below_barrier;
}

Pipeline *
rel_pipeline_begin_scan(PlannerInfo *root, Index relid, List *attnums)
{
	Pipeline   *pipeline = palloc0(sizeof(Pipeline));
	PipelineStage *scan = pipeline_add_stage(pipeline, PIPELINE_SCAN, NIL);
	Index		name = relation_number_of(root, relid);
	ListCell   *lc;

	scan->relation_oid = root->simple_rte_array[relid]->relid;
	if (root->simple_rte_array[relid]->tablesample != NULL)
		scan->sample = list_make2(root->simple_rte_array[relid]->tablesample, makeInteger((int) name));
	pipeline->has_barrier = rel_pipeline_is_below_barrier(root);
	foreach(lc, attnums)
	{
		AttrNumber	attno = lfirst_int(lc);
		Oid			type;
		int32		typmod;
		Oid			collation;

		if (expression_column_is(attno))
		{
			const Var  *column = expression_columns_var(attno);

			scan->exprs = lappend(scan->exprs, makeVar(name, attno, column->vartype, column->vartypmod,
													   column->varcollid, 0));
			continue;
		}
		get_atttypetypmodcoll(scan->relation_oid, attno, &type, &typmod, &collation);
		scan->exprs = lappend(scan->exprs, makeVar(name, attno, type, typmod, collation, 0));
	}
	return pipeline;
}

/*
 * Adds the quals as filters, one per security level, so that no row reaches a
 * leaky qual before a barrier below it has passed it; nor does its zone map,
 * since EXPLAIN ANALYZE shows how many chunks were skipped.
 */
void
rel_pipeline_add_filters(PlannerInfo *root, Pipeline *pipeline, List *restrictinfos)
{
	PipelineStage *stage = NULL;
	Index		level = 0;
	ListCell   *lc;

	foreach(lc, quals_sort(root, restrictinfos))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *clause = relation_numbers_normalize(root, (Node *) rinfo->clause);

		if (stage == NULL || quals_level(rinfo) != level)
			stage = pipeline_add_stage(pipeline, PIPELINE_FILTER, NIL);
		level = quals_level(rinfo);
		stage->exprs = lappend(stage->exprs, clause);
	}
}

List *
rel_pipeline_ordered_clauses(PlannerInfo *root, const RelPipeline *planned, List *restrictinfos)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, quals_sort(root, restrictinfos))
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		clauses = lappend(clauses, rel_pipeline_normalize(root, planned, clause));
	}
	return clauses;
}

bool
rel_pipeline_check(Pipeline *pipeline)
{
	Translation *translation = translation_begin(NULL, NULL);
	Planning   *planning = planning_current();
	bool		is_taken;

	planning->taken_init_plans = pipeline->init_plans;
	is_taken = stages_add_to_plan(translation, pipeline);
	planning->taken_init_plans = NIL;
	if (is_taken)
	{
		pipeline->is_checked = true;
		pipeline->runtime_exprs = translation->runtime_exprs;
		pipeline->called_exprs = translation->called_exprs;
		pipeline->holds_rows = penumbra_plan_can_be_unsupported_late(translation->plan) || translation->raises_late;
	}
	else
		planning_refuse(translation->reason, NULL);
	translation_end(translation);
	return is_taken;
}

void
rel_pipeline_unite(RelPipeline *all, const RelPipeline *member)
{
	PipelineStage *stage = all->pipeline->top;

	if (stage->kind != PIPELINE_UNION)
		stage = pipeline_add_stage(all->pipeline, PIPELINE_UNION, NIL);
	stage->inputs = lappend(stage->inputs, member->pipeline->top);
	pipeline_take(all->pipeline, member->pipeline);
	all->input_rows += member->input_rows;
	all->rows += member->rows;
	all->startup_cost += member->startup_cost;
	all->run_cost += member->run_cost;
	all->shared_cost += member->shared_cost;
	all->before_sort = NULL;
}

bool
rel_pipeline_repeats(const PipelineStage *stage)
{
	ListCell   *lc;

	switch (stage->kind)
	{
		case PIPELINE_SCAN:
			if (stage->source != NULL)
				return false;
			break;
		case PIPELINE_WORKING_TABLE:
		case PIPELINE_RECURSION:
			return false;
		case PIPELINE_AGGREGATION:
			foreach(lc, stage->aggrefs)
			{
				if (!aggregate_repeats(lfirst_node(Aggref, lc)))
					return false;
			}
			foreach(lc, stage->exprs)
			{
				if (!repeats_has_one_form(lfirst(lc)))
					return false;
			}
			break;
		case PIPELINE_SORT:
		case PIPELINE_WINDOW:
			return false;
		default:
			break;
	}
	foreach(lc, stage->inputs)
	{
		if (!rel_pipeline_repeats(lfirst(lc)))
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- expressions and outputs */

/* NOT (x = ANY ...) for x <> ALL ..., which it is: of a strict operator and its negator. */
static Node *
negate_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, SubPlan) && ((SubPlan *) node)->subLinkType == ALL_SUBLINK &&
		IsA(((SubPlan *) node)->testexpr, OpExpr))
	{
		SubPlan    *any = copyObject((SubPlan *) node);
		OpExpr	   *test = (OpExpr *) any->testexpr;

		any->subLinkType = ANY_SUBLINK;
		test->opno = get_negator(test->opno);
		test->opfuncid = InvalidOid;
		if (OidIsValid(test->opno))
			set_opfuncid(test);
		if (OidIsValid(test->opno) && comparison_key_is_equality_clause((Node *) test))
			return (Node *) make_notclause((Expr *) any);
	}
	return expression_tree_mutator(node, negate_mutator, context);
}

Node *
rel_pipeline_normalize_subplans(PlannerInfo *root, Node *node)
{
	return negate_mutator(relation_numbers_normalize(root, node), NULL);
}

static Node *
value_mutator(Node *node, void *context)
{
	const RelPipeline *planned = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
	{
		ListCell   *lc;

		foreach(lc, planned->subplans)
		{
			if (equal(node, lfirst(lc)))
				return copyObject(list_nth(planned->subplan_values, foreach_current_index(lc)));
		}
	}
	return expression_tree_mutator(node, value_mutator, context);
}

Node *
rel_pipeline_normalize(PlannerInfo *root, const RelPipeline *planned, Node *expr)
{
	if (planned->subplans == NIL)
		return relation_numbers_normalize(root, expr);
	return value_mutator(rel_pipeline_normalize_subplans(root, expr), unconstify(RelPipeline *, planned));
}

bool
rel_pipeline_needs_no_input(Node *expr)
{
	return !contain_var_clause(expr) && !contain_agg_clause(expr) && !contain_windowfuncs(expr);
}

static bool
has_param_walker(Node *node, void *params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		list_member_int((List *) params, ((Param *) node)->paramid))
		return true;
	return expression_tree_walker(node, has_param_walker, params);
}

bool
rel_pipeline_has_param(void *expr, List *params)
{
	return has_param_walker(expr, params);
}

/* Up to 17 one more column of set operations, which says what side a row is of: nobody reads it in the result. */
static bool
is_flag_of_set_operation(const PlannerInfo *root, const Node *expr)
{
	return IsA(expr, Var) && ((const Var *) expr)->varno == 0 &&
		((const Var *) expr)->varattno > list_length(castNode(SetOperationStmt, root->parse->setOperations)->colTypes);
}

/* DISTINCT keeps the select list.  Targets also have what windows partition and order by: nobody reads it any more. */
static bool
is_lost_by_distinct(const PlannerInfo *root, const RelPipeline *planned, const Node *expr)
{
	const Query *parse = root->parse;

	return planned->clauses & CLAUSE_DISTINCT && !parse->hasDistinctOn &&
		!list_member(get_sortgrouplist_exprs(parse->distinctClause, root->processed_tlist), expr);
}

List *
rel_pipeline_map_attribute(Pipeline *pipeline, List *outputs, const Var *position, AttrNumber attno)
{
	int			place = pipeline_find_expr(outputs, (const Node *) position);

	if (place < 0)
	{
		place = list_length(outputs);
		outputs = lappend(outputs, copyObject(unconstify(Var *, position)));
	}
	while (list_length(pipeline->position_map) < list_length(pipeline->output_map))
		pipeline->position_map = lappend_int(pipeline->position_map, -1);
	pipeline->position_map = lappend_int(pipeline->position_map, place);
	pipeline->output_map = lappend_int(pipeline->output_map, OUTPUT_OF_ATTRIBUTE(attno));
	return outputs;
}

static bool
has_position_walker(Node *node, void *context)
{
	return node != NULL &&
		(stage_scan_is_position(node) || expression_tree_walker(node, has_position_walker, context));
}

/* Of the table whose column the Var is, of a subquery perhaps, which only returns it. */
static AttrNumber
attribute_of_table(const PlannerInfo *root, const Var *var)
{
	const PlannerInfo *subroot = root->simple_rel_array[var->varno]->subroot;

	return subroot == NULL ? var->varattno
		: attribute_of_table(subroot, castNode(Var, get_tle_by_resno(subroot->processed_tlist, var->varattno)->expr));
}

/* coalesce(value, constant) of a value that the engine only passes on: the value, and the constant. */
static Node *
split_default(const Pipeline *pipeline, Node *expr, Const **constant)
{
	const ValueImage *image = value_image_of(exprType(expr));
	bool		is_passed_on = (image == NULL || image->composed != NULL) &&
		pipeline_find_expr(stage_outputs(pipeline->top), expr) < 0;

	*constant = is_passed_on ? pipeline_default_of(expr) : NULL;
	return *constant == NULL ? expr : linitial(((CoalesceExpr *) expr)->args);
}

bool
rel_pipeline_set_target(PlannerInfo *root, RelPipeline *planned, const PathTarget *target)
{
	Pipeline   *pipeline = planned->pipeline;
	List	   *outputs = NIL;
	ListCell   *lc;

	if (target == NULL)
		return false;
	pipeline->output_map = pipeline->position_map = pipeline->default_map = NIL;
	foreach(lc, target->exprs)
	{
		Node	   *expr;
		Const	   *constant;

		/* The projection above the node computes what needs no input. */
		if (rel_pipeline_needs_no_input(lfirst(lc)) || is_flag_of_set_operation(root, lfirst(lc)) ||
			is_lost_by_distinct(root, planned, lfirst(lc)))
		{
			pipeline->output_map = lappend_int(pipeline->output_map, OUTPUT_IS_NULL);
			continue;
		}
		expr = rel_pipeline_normalize(root, planned, lfirst(lc));
		if (IsA(lfirst(lc), Var) && stage_scan_is_position(expr))
		{
			outputs = rel_pipeline_map_attribute(pipeline, outputs, (Var *) expr, attribute_of_table(root, lfirst(lc)));
			continue;
		}
		/* PostgreSQL computes what it fetches the values for */
		if (has_position_walker(expr, NULL))
			return false;
		expr = split_default(pipeline, expr, &constant);
		if (constant != NULL)
		{
			while (list_length(pipeline->default_map) < list_length(pipeline->output_map))
				pipeline->default_map = lappend(pipeline->default_map, NULL);
			pipeline->default_map = lappend(pipeline->default_map, constant);
		}
		pipeline->output_map = lappend_int(pipeline->output_map, list_length(outputs));
		outputs = lappend(outputs, expr);
	}
	if (!equal(outputs, stage_outputs(pipeline->top)))
		pipeline_add_stage(pipeline, PIPELINE_PROJECTION, outputs);
	return true;
}

int
rel_pipeline_count_columns(List *exprs)
{
	List	   *vars = pull_var_clause((Node *) exprs, PVC_RECURSE_AGGREGATES |
									   PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	Bitmapset  *attnums = NULL;
	ListCell   *lc;

	foreach(lc, vars)
		attnums = bms_add_member(attnums, lfirst_node(Var, lc)->varattno -
								 FirstLowInvalidHeapAttributeNumber);
	return bms_num_members(attnums);
}

/* ---------------------------------------------------------------- by relation */

/* What is remembered of a relation: a search of twelve tables has thousands, and asks a million times. */
typedef struct RememberedPipeline
{
	RelOptInfo *rel;			/* key */
	RelPipeline *planned;	/* NULL: nothing is known yet */
	List	   *skipped;		/* of a join: pairs whose join was not costed yet */
} RememberedPipeline;

static RememberedPipeline *
remembered(RelOptInfo *rel)
{
	Planning   *planning = planning_current();
	RememberedPipeline *entry;
	bool		is_found;

	if (planning->pipelines == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(RelOptInfo *),.entrysize = sizeof(RememberedPipeline),
		.hcxt = CurrentMemoryContext};

		planning->pipelines = hash_create("Penumbra pipelines by relation", 64, &ctl,
										  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(planning->pipelines, &rel, HASH_ENTER, &is_found);
	if (!is_found)
	{
		entry->planned = NULL;
		entry->skipped = NIL;
	}
	return entry;
}

static RememberedPipeline *
find_remembered(RelOptInfo *rel)
{
	Planning   *planning = planning_current();

	return planning->pipelines == NULL ? NULL : hash_search(planning->pipelines, &rel, HASH_FIND, NULL);
}

const RelPipeline *
rel_pipeline_remember(RelOptInfo *rel, RelPipeline *planned)
{
	if (planned == NULL)
		planned = palloc0(sizeof(RelPipeline));
	return remembered(rel)->planned = planned;
}

/* The clauses that are done in rows of the stage's relation, for any plan. */
static int
clauses_of_stage(PlannerInfo *root, UpperRelationKind stage)
{
	const Query *parse = root->parse;
	int			clauses = 0;

	if (parse->setOperations != NULL)
		clauses |= CLAUSE_SET_OPERATION;
	else if (parse->groupClause != NIL || parse->groupingSets != NIL || parse->hasAggs || root->hasHavingQual)
		clauses |= CLAUSE_GROUPS;
	if (stage == UPPERREL_SETOP || stage == UPPERREL_GROUP_AGG)
		return clauses;
	if (parse->hasWindowFuncs)
		clauses |= CLAUSE_WINDOWS;
	if (stage == UPPERREL_WINDOW)
		return clauses;
	if (parse->distinctClause != NIL)
		clauses |= CLAUSE_DISTINCT;
	if (stage == UPPERREL_DISTINCT)
		return clauses;
	if (parse->sortClause != NIL)
		clauses |= CLAUSE_ORDER;
	if (stage == UPPERREL_ORDERED)
		return clauses;
	Assert(stage == UPPERREL_FINAL);
	if (limit_needed(root->parse))
		clauses |= CLAUSE_LIMIT;
	return clauses;
}

bool
rel_pipeline_remember_stage(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel, RelPipeline *planned)
{
	int			missing = clauses_of_stage(root, stage) ^ planned->clauses;

	/* The order of a subquery's or a set operation's rows does not matter to what goes on with them without LIMIT. */
	if ((root->parent_root != NULL || root->parse->setOperations != NULL) && !(planned->clauses & CLAUSE_LIMIT))
		missing &= ~CLAUSE_ORDER;
	if (missing != 0)
		return false;
	(void) rel_pipeline_remember(rel, planned);
	return true;
}

bool
rel_pipeline_is_known(RelOptInfo *rel)
{
	return find_remembered(rel) != NULL;
}

void
rel_pipeline_skip(RelOptInfo *joinrel, void *pair)
{
	RememberedPipeline *entry = remembered(joinrel);

	entry->skipped = lappend(entry->skipped, pair);
}

List *
rel_pipeline_take_skipped(RelOptInfo *joinrel)
{
	RememberedPipeline *entry = find_remembered(joinrel);
	List	   *skipped = entry == NULL ? NIL : entry->skipped;

	if (skipped != NIL)
		entry->skipped = NIL;
	return skipped;
}

RelPipeline *
rel_pipeline_copy(const RelPipeline *planned)
{
	RelPipeline *copy = palloc(sizeof(RelPipeline));

	*copy = *planned;
	copy->pipeline = pipeline_copy(planned->pipeline);
	return copy;
}

const RelPipeline *
rel_pipeline_find(RelOptInfo *rel)
{
	RememberedPipeline *entry = find_remembered(rel);

	return entry == NULL ? NULL : entry->planned;
}

static ServedTable *
find_table(List *tables, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		ServedTable *table = lfirst(lc);

		if (table->rel == rel)
			return table;
	}
	return NULL;
}

ServedTable *
rel_pipeline_find_table(RelOptInfo *rel)
{
	ServedTable *table = find_table(planning_current()->tables, rel);

	return table != NULL ? table : find_table(planning_current()->joined_tables, rel);
}
