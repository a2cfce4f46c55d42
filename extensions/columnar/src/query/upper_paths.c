/*-------------------------------------------------------------------------
 *
 * upper_paths.c
 *	  Aggregation, DISTINCT, ORDER BY and LIMIT over tables that Penumbra
 *	  serves: one path that does all of it.
 *
 * Each step extends the pipeline of the step before, which is remembered by
 * its relation rather than found in its pathlist: a full sort may have lost
 * against another path there although the top-N made from it wins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths_internal.h"
#include "query/translate.h"

/* ---------------------------------------------------------------- the pipeline below */

/* Columns of the child that hold the columns `attnos` of the parent. */
static List *
child_attnos(Oid parent_oid, Oid child_oid, List *attnos)
{
	List	   *mapped = NIL;
	ListCell   *lc;

	foreach(lc, attnos)
	{
		char	   *name = get_attname(parent_oid, lfirst_int(lc), false);

		mapped = lappend_int(mapped, get_attnum(child_oid, name));
	}
	return mapped;
}

/* Collects the tables below an inheritance parent; false if one of them is not served. */
static bool
collect_children(PlannerInfo *root, Index parent, List **tables)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;
		PlannedTable *table;

		if (appinfo->parent_relid != parent)
			continue;
		child = root->simple_rel_array[appinfo->child_relid];
		if (child == NULL || IS_DUMMY_REL(child))
			continue;			/* pruned */
		if (root->simple_rte_array[appinfo->child_relid]->inh)
		{
			if (!collect_children(root, appinfo->child_relid, tables))
				return false;
			continue;
		}
		table = paths_table_of_tree(root, child, root->simple_rte_array[appinfo->child_relid]);
		if (table == NULL)
			return false;
		*tables = lappend(*tables, table);
	}
	return true;
}

/* The expressions that `rel` outputs to the stages above, and what its quals need. */
static List *
parent_attnos(RelOptInfo *rel)
{
	Bitmapset  *used = NULL;
	List	   *attnos = NIL;
	int			member = -1;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &used);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid, &used);
	while ((member = bms_next_member(used, member)) >= 0)
		attnos = lappend_int(attnos, member + FirstLowInvalidHeapAttributeNumber);
	return attnos;
}

static PlannedPipeline *
pipeline_of_rel(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	PlannedPipeline *planned;
	List	   *tables = NIL;
	List	   *attnos;
	List	   *clauses = NIL;
	double		tuples = 0;
	ListCell   *lc;

	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL)
		return NULL;
	if (!rte->inh)
	{
		PlannedTable *table = paths_find_table(rel);

		if (table == NULL)
			return NULL;
		tables = list_make1(table);
	}
	else if (!collect_children(root, rel->relid, &tables) || tables == NIL)
		return NULL;
	attnos = parent_attnos(rel);
	foreach(lc, attnos)
	{
		if (lfirst_int(lc) <= 0)
			return NULL;
	}
	planned = palloc0(sizeof(PlannedPipeline));
	planned->rel = rel;
	planned->pipeline = paths_pipeline_begin(root, rte, attnos);
	foreach(lc, tables)
	{
		PlannedTable *table = lfirst(lc);

		planned->pipeline->table_oids = lappend_oid(planned->pipeline->table_oids, table->oid);
		planned->pipeline->table_attnos = lappend(planned->pipeline->table_attnos,
												  child_attnos(rte->relid, table->oid, attnos));
		tuples += table->rel->tuples;
	}
	paths_add_filters(root, planned->pipeline, rel->baserestrictinfo, rel->relid);
	foreach(lc, rel->baserestrictinfo)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	price_scan(planned, tables, paths_count_columns(clauses),
			  paths_count_columns(rel->reltarget->exprs), rel->rows, tuples);
	return planned;
}

/* A copy, to be extended; NULL: the relation is not ours. */
static PlannedPipeline *
pipeline_below(PlannerInfo *root, RelOptInfo *input_rel)
{
	PlannedPipeline *planned = NULL;
	ListCell   *lc;

	if (input_rel->reloptkind == RELOPT_BASEREL)
		return pipeline_of_rel(root, input_rel);
	foreach(lc, planning_current()->pipelines)
	{
		PlannedPipeline *candidate = lfirst(lc);

		if (candidate->rel == input_rel)
			planned = candidate;
	}
	if (planned != NULL)
	{
		PlannedPipeline *copy = palloc(sizeof(PlannedPipeline));

		*copy = *planned;
		copy->pipeline = pipeline_copy(planned->pipeline);
		return copy;
	}
	return NULL;
}

/* ---------------------------------------------------------------- targets */

static bool
needs_no_input(Node *expr)
{
	return !contain_var_clause(expr) && !contain_agg_clause(expr);
}

/*
 * Makes the pipeline output what of the target needs input, and maps the
 * target's columns to the outputs.
 */
static void
set_target(PlannedPipeline *planned, PathTarget *target, Index relid)
{
	Pipeline   *pipeline = planned->pipeline;
	List	   *outputs = NIL;
	ListCell   *lc;

	pipeline->output_map = NIL;
	foreach(lc, target->exprs)
	{
		int			place = -1;

		if (!needs_no_input(lfirst(lc)))
		{
			place = list_length(outputs);
			outputs = lappend(outputs, pipeline_normalize(lfirst(lc), relid));
		}
		pipeline->output_map = lappend_int(pipeline->output_map, place);
	}
	if (!equal(outputs, pipeline_outputs(pipeline)))
		pipeline_add_stage(pipeline, PIPELINE_PROJECTION, outputs);
}

/* The table whose Vars the expressions of this query level hold. */
static Index
table_relid(PlannerInfo *root)
{
	return bms_singleton_member(root->all_baserels);
}

/* Remembers the pipeline for the stages above and adds its path. */
static void
finish(PlannerInfo *root, PlannedPipeline *planned, RelOptInfo *output_rel, PathTarget *target,
	   const char *kind, List *pathkeys, bool add)
{
	Planning   *planning = planning_current();
	Path	   *ordinary;
	PenumbraPath *path;

	planned->rel = output_rel;
	planning->pipelines = lappend(planning->pipelines, planned);
	ordinary = add ? custom_path_cheapest_ordinary(output_rel, true) : NULL;
	if (ordinary == NULL || !equal(ordinary->pathtarget->exprs, target->exprs))
		return;
	path = custom_path_create(root, output_rel, target, kind, planned, ordinary);
	path->scan_exprs = target->exprs;
	path->custom.path.pathkeys = pathkeys;
	paths_offer(output_rel, path);
}

/* ---------------------------------------------------------------- GROUP BY */

typedef struct GroupInputs
{
	List	   *keys;			/* as the query writes them */
	List	   *aggrefs;
	List	   *extra_keys;		/* columns that the keys determine */
} GroupInputs;

static bool
group_inputs_walker(Node *node, void *context)
{
	GroupInputs *inputs = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		inputs->aggrefs = list_append_unique(inputs->aggrefs, node);
		return false;
	}
	if (list_member(inputs->keys, node))
		return false;
	if (IsA(node, Var))
	{
		inputs->extra_keys = list_append_unique(inputs->extra_keys, node);
		return false;
	}
	return expression_tree_walker(node, group_inputs_walker, context);
}

static bool
is_default_equality(Oid operator, Node *expr)
{
	return lookup_type_cache(exprType(expr), TYPECACHE_EQ_OPR)->eq_opr == operator;
}

/* The keys of GROUP BY or DISTINCT; false if one compares in a way of its own. */
static bool
clause_exprs(List *clauses, List *tlist, List **exprs)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, tlist);

		if (!is_default_equality(clause->eqop, expr))
		{
			planning_refuse("grouping by an operator class of its own");
			return false;
		}
		*exprs = list_append_unique(*exprs, expr);
	}
	return true;
}

/* A key that is the same in all rows groups and orders nothing. */
static bool
is_constant_key(Node *key)
{
	return needs_no_input(key) && !contain_volatile_functions(key);
}

static List *
drop_constant_keys(List *keys)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (is_constant_key(lfirst(lc)))
			keys = foreach_delete_current(keys, lc);
	}
	return keys;
}

/* count(*) > 0 */
static OpExpr *
count_is_positive(void)
{
	Aggref	   *count = makeNode(Aggref);
	Const	   *zero = makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false,
								 FLOAT8PASSBYVAL);
	OpExpr	   *expr;

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->location = -1;
	expr = (OpExpr *) make_opclause(lookup_type_cache(INT8OID, TYPECACHE_GT_OPR)->gt_opr, BOOLOID,
									false, (Expr *) count, (Expr *) zero, InvalidOid, InvalidOid);
	set_opfuncid(expr);
	return expr;
}

static double
estimated_rows(RelOptInfo *rel)
{
	Path	   *path = custom_path_cheapest_ordinary(rel, false);

	return path == NULL ? 1 : path->rows;
}

static void
add_group(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *having)
{
	Query	   *parse = root->parse;
	PathTarget *target = output_rel->reltarget;
	Index		relid = table_relid(root);
	GroupInputs inputs = {0};
	PlannedPipeline *planned = pipeline_below(root, input_rel);
	PipelineStage *stage;
	List	   *keys;
	OpExpr	   *is_any;

	if (planned == NULL)
		return;
	planning_current()->refused_stages++;
	if (parse->groupingSets != NIL)
	{
		planning_refuse("grouping sets");
		return;
	}
	if (!clause_exprs(parse->groupClause, root->processed_tlist, &inputs.keys))
		return;
	group_inputs_walker((Node *) target->exprs, &inputs);
	group_inputs_walker((Node *) having, &inputs);
	keys = drop_constant_keys(list_concat_copy(inputs.keys, inputs.extra_keys));
	if (keys == NIL && inputs.keys != NIL)
	{
		/* Without a row there is no group either, unlike without GROUP BY. */
		is_any = count_is_positive();
		inputs.aggrefs = lappend(inputs.aggrefs, linitial(is_any->args));
		having = lappend(list_copy(having), is_any);
	}
	stage = pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION,
							   (List *) pipeline_normalize((Node *) keys, relid));
	stage->aggrefs = (List *) pipeline_normalize((Node *) inputs.aggrefs, relid);
	price_aggregation(planned, list_length(keys), list_length(inputs.aggrefs),
					 estimated_rows(output_rel));
	if (having != NIL)
		pipeline_add_stage(planned->pipeline, PIPELINE_FILTER,
						   (List *) pipeline_normalize((Node *) having, relid));
	set_target(planned, target, relid);
	if (!paths_check(planned->pipeline))
		return;
	planning_current()->refused_stages--;
	finish(root, planned, output_rel, target, "Penumbra Aggregate", NIL, true);
}

/* ---------------------------------------------------------------- DISTINCT */

static void
add_distinct(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	Query	   *parse = root->parse;
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	Index		relid = table_relid(root);
	PlannedPipeline *planned = pipeline_below(root, input_rel);
	List	   *keys = NIL;
	ListCell   *lc;

	if (planned == NULL)
		return;
	planning_current()->refused_stages++;
	if (parse->hasDistinctOn)
	{
		planning_refuse("DISTINCT ON");
		return;
	}
	if (!clause_exprs(parse->distinctClause, root->processed_tlist, &keys))
		return;
	foreach(lc, target->exprs)
	{
		if (!list_member(keys, lfirst(lc)))
			return;
	}
	keys = drop_constant_keys(keys);
	if (keys == NIL)
	{
		planning_refuse("DISTINCT of constants only");
		return;
	}
	pipeline_add_stage(planned->pipeline, PIPELINE_AGGREGATION,
					   (List *) pipeline_normalize((Node *) keys, relid));
	price_aggregation(planned, list_length(keys), 0, estimated_rows(output_rel));
	set_target(planned, target, relid);
	if (!paths_check(planned->pipeline))
		return;
	planning_current()->refused_stages--;
	finish(root, planned, output_rel, target, "Penumbra Distinct", NIL, true);
}

/* ---------------------------------------------------------------- ORDER BY, LIMIT */

/* The direction of a default btree ordering; false for any other. */
static bool
sort_direction(SortGroupClause *clause, Node *expr, bool *is_descending)
{
	TypeCacheEntry *type = lookup_type_cache(exprType(expr), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	*is_descending = clause->sortop == type->gt_opr;
	return clause->sortop == type->lt_opr || clause->sortop == type->gt_opr;
}

static PipelineStage *
add_sort_stage(PlannerInfo *root, PlannedPipeline *planned, Index relid)
{
	PipelineStage *stage = pipeline_add_stage(planned->pipeline, PIPELINE_SORT, NIL);
	ListCell   *lc;

	foreach(lc, root->parse->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, root->processed_tlist);
		bool		is_descending;

		if (is_constant_key(expr))
			continue;
		if (!sort_direction(clause, expr, &is_descending))
		{
			planning_refuse("ordering by an operator class of its own");
			return NULL;
		}
		stage->exprs = lappend(stage->exprs, pipeline_normalize(expr, relid));
		stage->sort_flags = lappend_int(stage->sort_flags,
										(is_descending ? PIPELINE_SORT_DESCENDING : 0) |
										(clause->nulls_first ? PIPELINE_SORT_NULLS_FIRST : 0));
	}
	if (stage->exprs == NIL)
		return NULL;
	return stage;
}

/* Drops what only the filters read, before the sort copies it. */
static void
keep_needed_columns(PlannerInfo *root, PlannedPipeline *planned, PathTarget *target, Index relid)
{
	List	   *exprs = list_copy(target->exprs);
	List	   *vars;
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, root->parse->sortClause)
		exprs = lappend(exprs, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc),
														root->processed_tlist));
	vars = pull_var_clause(pipeline_normalize((Node *) exprs, relid), 0);
	foreach(lc, planned->pipeline->columns)
	{
		if (pipeline_find_expr(vars, lfirst(lc)) >= 0)
			columns = lappend(columns, lfirst(lc));
	}
	if (list_length(columns) < list_length(planned->pipeline->columns))
		pipeline_add_stage(planned->pipeline, PIPELINE_PROJECTION, columns);
}

static bool
sort_fits_memory(double rows, int width)
{
	return rows * (width + 64) <= get_hash_memory_limit();
}

static void
add_ordered(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];
	Index		relid = table_relid(root);
	PlannedPipeline *planned = pipeline_below(root, input_rel);
	bool		fits;

	if (planned == NULL)
		return;
	if (input_rel->reloptkind == RELOPT_BASEREL)
		keep_needed_columns(root, planned, target, relid);
	if (add_sort_stage(root, planned, relid) == NULL)
		return;
	set_target(planned, target, relid);
	if (!paths_check(planned->pipeline))
		return;
	fits = sort_fits_memory(planned->rows, target->width) || MODE_IS_FORCED();
	planned->before_sort = palloc(sizeof(PlannedPipeline));
	*planned->before_sort = *planned;
	price_sort(planned, list_length(root->parse->sortClause), -1);
	finish(root, planned, output_rel, target, "Penumbra Sort", root->sort_pathkeys, fits);
}

static void
add_limited(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel)
{
	Query	   *parse = root->parse;
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	Index		relid = table_relid(root);
	PlannedPipeline *planned;
	PlannedPipeline limited;
	PipelineStage *sort = NULL;
	double		bound = root->limit_tuples;
	ListCell   *lc;

	if (parse->limitCount == NULL || parse->limitOption == LIMIT_OPTION_WITH_TIES ||
		parse->sortClause == NIL)
		return;
	planned = pipeline_below(root, input_rel);
	if (planned == NULL)
		return;
	foreach(lc, planned->pipeline->stages)
	{
		PipelineStage *stage = lfirst(lc);

		if (stage->kind == PIPELINE_SORT)
			sort = stage;
		else if (stage->kind != PIPELINE_PROJECTION)
			sort = NULL;
	}
	if (sort == NULL)
		return;
	sort->limit = parse->limitCount;
	sort->offset = parse->limitOffset;
	set_target(planned, target, relid);
	if (!paths_check(planned->pipeline))
		return;
	if (bound < 0)
		bound = clamp_row_est(planned->rows * 0.1);
	if (!sort_fits_memory(Min(bound, planned->rows), target->width) &&
		!MODE_IS_FORCED())
		return;
	limited = *planned->before_sort;
	limited.pipeline = planned->pipeline;
	price_sort(&limited, list_length(sort->exprs), bound);
	limited.rows = estimated_rows(output_rel);
	*planned = limited;
	finish(root, planned, output_rel, target, "Penumbra Top-N", root->sort_pathkeys, true);
}

/* ---------------------------------------------------------------- the hook's part */

void
paths_add_upper(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				RelOptInfo *output_rel, void *extra)
{
	Query	   *parse = root->parse;

	if (parse->commandType != CMD_SELECT || parse->rowMarks != NIL ||
		root->rowMarks != NIL || parse->hasTargetSRFs ||
		bms_membership(root->all_baserels) != BMS_SINGLETON ||
		output_rel->pathlist == NIL || IS_DUMMY_REL(input_rel) ||
		IS_OTHER_REL(input_rel))
		return;
	switch (stage)
	{
		case UPPERREL_GROUP_AGG:
			add_group(root, input_rel, output_rel, (List *) parse->havingQual);
			break;
		case UPPERREL_DISTINCT:
			add_distinct(root, input_rel, output_rel);
			break;
		case UPPERREL_ORDERED:
			add_ordered(root, input_rel, output_rel);
			break;
		case UPPERREL_FINAL:
			add_limited(root, input_rel, output_rel);
			break;
		default:
			break;
	}
}
