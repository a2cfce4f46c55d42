/*-------------------------------------------------------------------------
 *
 * external_rows_plan.c
 *	  Rows that PostgreSQL computes, as an input of the engine.
 *
 * A join of ours need not stop where one of its inputs is not ours.  The
 * ordinary plan, which a node keeps for the case that the engine gives up,
 * has a node that scans that input: it is initialised a second time, as a
 * child of ours, and its rows are pushed into the engine as a heap's are.
 * So nothing is planned twice.  Of a table the ordinary plan may have a scan
 * of some rows only, for each row of a nested loop: the table's own cheapest
 * path becomes a second plan below our node.  Which node it is, is told by its
 * plan_node_id: setrefs.c numbers the nodes after we make ours, and takes away
 * what has nothing to do, so the number is filled in when planning ends.
 *
 * The rows may be computed a second time by the ordinary plan: nothing that is
 * volatile is a source.  A CTE is computed once, and read by both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"

#include "cache/value_image.h"
#include "query/paths/external_rows_plan.h"
#include "query/pipeline/cost.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/translate_type.h"
#include "query/planning/plan_walk.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"
#include "query/planning/repeats.h"

static bool
has_semi_joins(const PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		JoinType	type = lfirst_node(SpecialJoinInfo, lc)->jointype;

		if (type == JOIN_SEMI || type == JOIN_ANTI)
			return true;
	}
	return false;
}

/*
 * Whether somebody asks for all rows of a subquery is not known there, nor how
 * far a cursor goes.  Of EXISTS a row is enough.
 */
bool
external_rows_plan_reads_all(const PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->hasAggs || parse->groupClause != NIL ||
		(parse->sortClause != NIL && bms_membership(root->all_baserels) == BMS_SINGLETON) ||
		(root->query_level == 1 && root->tuple_fraction == 0 && !planning_current()->is_cursor &&
		 !has_semi_joins(root));
}

/* Whether a reference of a recursion to itself stands in it: only PostgreSQL's plan of the recursion has those rows. */
static bool
reads_working_table(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->self_reference;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_working_table, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_working_table, context);
}

/* Whether the level's rows, read to their end, may have none: it reads a recursive CTE as long as somebody asks. */
static bool
may_have_no_end(PlannerInfo *root)
{
	for (int i = 1; i < root->simple_rel_array_size && !external_rows_plan_reads_all(root); i++)
	{
		const RangeTblEntry *rte = root->simple_rte_array[i];
		const RelOptInfo *rel = root->simple_rel_array[i];
		PlannerInfo *subroot;
		const CommonTableExpr *cte = rte->rtekind == RTE_CTE ? planning_find_cte(root, rte, &subroot) : NULL;

		if (cte != NULL && cte->cterecursive)
			return true;
		if (rel != NULL && rel->subroot != NULL && may_have_no_end(rel->subroot))
			return true;
	}
	return false;
}

/* Whether all rows may be computed, and again. */
static bool
is_repeatable(const PlannerInfo *root, const RangeTblEntry *rte)
{
	CommonTableExpr *cte;
	PlannerInfo *subroot;

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return rte->tablesample == NULL;
		case RTE_SUBQUERY:
			return !rte->inh && !contain_volatile_functions((Node *) rte->subquery) &&
				!reads_working_table((Node *) rte->subquery, NULL);
		case RTE_FUNCTION:
			return !rte->funcordinality && !contain_volatile_functions((Node *) rte->functions);
		case RTE_VALUES:
			return !contain_volatile_functions((Node *) rte->values_lists);
		case RTE_CTE:
			cte = planning_find_cte(root, rte, &subroot);
			return cte != NULL && (!cte->cterecursive || external_rows_plan_reads_all(root)) &&
				castNode(Query, cte->ctequery)->commandType == CMD_SELECT &&
				!contain_volatile_functions(cte->ctequery);
		default:
			return false;
	}
}

/* The relation's quals are part of PostgreSQL's scan of it, so only its columns are left to us. */
static RelPipeline *
scan_columns(PlannerInfo *root, RelOptInfo *rel, List *columns)
{
	const RangeTblEntry *rte = root->simple_rte_array[rel->relid];
	RelPipeline *planned;
	PipelineStage *scan;
	ListCell   *lc;

	if (rel->subroot != NULL && !external_rows_plan_reads_all(root) && may_have_no_end(rel->subroot))
		return NULL;
	if (rte->lateral || rel->cheapest_total_path == NULL || rel->cheapest_total_path->param_info != NULL ||
		!is_repeatable(root, rte) ||
		contains_volatile((Node *) extract_actual_clauses(rel->baserestrictinfo, false), root->glob))
		return NULL;
	foreach(lc, columns)
	{
		const Var  *column = lfirst(lc);
		PenumbraType type;

		if (!IsA(column, Var) || column->varattno <= 0 || !translate_type(column->vartype, &type) ||
		/* documents and the like would become images and values again */
			value_image_has_forms(value_image_of(column->vartype)) ||
		/* it is fetched, by a position that these rows lack */
			stage_scan_is_position(relation_numbers_normalize(root, lfirst(lc))))
			return NULL;
	}
	planned = palloc0(sizeof(RelPipeline));
	planned->pipeline = palloc0(sizeof(Pipeline));
	scan = pipeline_add_stage(planned->pipeline, PIPELINE_SCAN, (List *) relation_numbers_normalize(root,
																									(Node *) columns));
	scan->source = (Node *) makeInteger(-1);
	scan->source_root = root;
	scan->source_columns = columns;
	scan->source_relid = rel->relid;
	if (rte->rtekind == RTE_RELATION)
		scan->source_path = rel->cheapest_total_path;
	cost_add_rows(planned, rel->cheapest_total_path, list_length(columns));
	scan->rows = planned->rows;
	return planned;
}

RelPipeline *
external_rows_plan_scan(PlannerInfo *root, RelOptInfo *rel)
{
	return scan_columns(root, rel, list_copy(rel->reltarget->exprs));
}

RelPipeline *
external_rows_plan_scan_member(PlannerInfo *root, RelOptInfo *rel, List *types, List *collations)
{
	List	   *columns = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, types, lc2, collations)
		columns = lappend(columns, makeVar(rel->relid, foreach_current_index(lc) + 1, lfirst_oid(lc), -1,
										   lfirst_oid(lc2), 0));
	return scan_columns(root, rel, columns);
}

static Plan *find_scan(PlannerInfo *root, Plan *plan, const PipelineStage *stage);

static Plan *
find_scan_in(PlannerInfo *root, List *plans, const PipelineStage *stage)
{
	ListCell   *lc;

	foreach(lc, plans)
	{
		Plan	   *found = find_scan(root, lfirst(lc), stage);

		if (found != NULL)
			return found;
	}
	return NULL;
}

/*
 * Whether the scan has all of the relation's rows that pass its own conditions.
 * Inside a nested loop it may have a condition of the join, too, with a Param
 * that nobody sets for us.
 */
static bool
is_whole(PlannerInfo *root, const Scan *scan)
{
	List	   *own = extract_actual_clauses(find_base_rel(root, scan->scanrelid)->baserestrictinfo, false);

	return list_length(scan->plan.qual) == list_length(own);
}

/* The node that scans the stage's relation, in a plan of the query level. */
static Plan *
find_scan(PlannerInfo *root, Plan *plan, const PipelineStage *stage)
{
	Plan	   *found = NULL;

	if (plan == NULL)
		return NULL;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_SubqueryScan:
		case T_FunctionScan:
		case T_ValuesScan:
		case T_CteScan:
			if (root == stage->source_root && ((Scan *) plan)->scanrelid == stage->source_relid)
				return is_whole(root, (Scan *) plan) ? plan : NULL;
			if (IsA(plan, SubqueryScan))
				return find_scan(find_base_rel(root, ((Scan *) plan)->scanrelid)->subroot,
								 ((SubqueryScan *) plan)->subplan, stage);
			return NULL;
		case T_Append:
			return find_scan_in(root, ((Append *) plan)->appendplans, stage);
		case T_MergeAppend:
			return find_scan_in(root, ((MergeAppend *) plan)->mergeplans, stage);
		case T_CustomScan:
			return find_scan_in(root, ((CustomScan *) plan)->custom_plans, stage);
		default:
			found = find_scan(root, plan->lefttree, stage);
			return found != NULL ? found : find_scan(root, plan->righttree, stage);
	}
}

/* The same in the ordinary plan and, where a subquery has become a join, in the subquery's. */
static Plan *
find_ordinary_scan(PlannerInfo *root, Plan *ordinary, const PipelineStage *stage)
{
	Plan	   *plan = find_scan(root, ordinary, stage);
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, root->glob->subplans, lc2, root->glob->subroots)
	{
		if (plan == NULL)
			plan = find_scan(lfirst(lc2), lfirst(lc), stage);
	}
	return plan;
}

/*
 * By output column of the scan the number among those of the plan; NIL: one is
 * missing.  A member of a set operation gives the columns, as that has them.
 */
static List *
numbers_of_columns(const Plan *plan, const PipelineStage *stage)
{
	List	   *numbers = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stage->source_columns)
	{
		if (stage->source_root->parse->setOperations != NULL)
		{
			numbers = lappend_int(numbers, lfirst_node(Var, lc)->varattno);
			continue;
		}
		foreach(lc2, plan->targetlist)
		{
			const TargetEntry *entry = lfirst_node(TargetEntry, lc2);

			if (IsA(entry->expr, Var) && ((Var *) entry->expr)->varno == stage->source_relid &&
				((Var *) entry->expr)->varattno == lfirst_node(Var, lc)->varattno)
			{
				numbers = lappend_int(numbers, entry->resno);
				break;
			}
		}
	}
	return numbers;
}

/* A source in a plan that is not finished. */
typedef struct FoundSource
{
	Plan	   *plan;
	Integer    *plan_node_id;	/* to be filled in */
} FoundSource;

static bool
take_plan(PipelineStage *stage, Plan *plan)
{
	Planning   *planning = planning_current();
	FoundSource *found = palloc(sizeof(FoundSource));

	stage->source = (Node *) makeInteger(-1);
	stage->table_attnums = list_make1(numbers_of_columns(plan, stage));
	found->plan = plan;
	found->plan_node_id = (Integer *) stage->source;
	planning->row_sources = lappend(planning->row_sources, found);
	return list_length(linitial(stage->table_attnums)) == list_length(stage->source_columns);
}

List *
external_rows_plan_paths(const Pipeline *pipeline)
{
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
	{
		const PipelineStage *stage = lfirst(lc);

		if (stage->source_path != NULL)
			paths = lappend(paths, stage->source_path);
	}
	return paths;
}

bool
external_rows_plan_find_plans(PlannerInfo *root, Pipeline *pipeline, List *plans)
{
	int			place = 1;		/* in plans, of the next of external_rows_plan_paths() */
	ListCell   *lc;

	foreach(lc, pipeline_scans(pipeline))
	{
		PipelineStage *stage = lfirst(lc);
		Plan	   *plan;

		if (stage->source == NULL)
			continue;
		if (stage->source_path != NULL)
			plan = list_nth(plans, place++);
		else
			plan = find_ordinary_scan(root, linitial(plans), stage);
		if (plan == NULL || !take_plan(stage, plan))
			return false;
	}
	return true;
}

/* setrefs.c takes a scan of a subquery away that has nothing to do, and an Append of one member. */
static Plan *
what_may_stand_for(const Plan *plan)
{
	if (IsA(plan, SubqueryScan))
		return ((const SubqueryScan *) plan)->subplan;
	if (IsA(plan, Append) && list_length(((const Append *) plan)->appendplans) == 1)
		return linitial(((const Append *) plan)->appendplans);
	return NULL;
}

static bool
tell_number(Plan *plan, void *context)
{
	ListCell   *lc;

	foreach(lc, (List *) context)
	{
		FoundSource *found = lfirst(lc);
		Plan	   *at = found->plan;

		/* What stands for it, if it went; it was visited before if it did not. */
		while (at != plan && what_may_stand_for(at) != NULL)
			at = what_may_stand_for(at);
		if (at == plan && found->plan_node_id->ival < 0)
			found->plan_node_id->ival = plan->plan_node_id;
	}
	return true;
}

void
external_rows_plan_resolve(const Planning *planning, PlannedStmt *stmt)
{
	if (planning->row_sources == NIL)
		return;
	plan_walk(stmt->planTree, tell_number, planning->row_sources);
	plan_walk_list(stmt->subplans, tell_number, planning->row_sources);
}
