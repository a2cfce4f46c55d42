/*-------------------------------------------------------------------------
 *
 * early_expressions.c
 *	  Expressions above a join that read its build side alone, computed there.
 *
 * A row of the build side mostly finds several of the probe side.  So an
 * expression of it, as to_char(day.date, 'YYYY-MM') or the factor in
 * value > 2 * (SELECT avg(...) ...), is computed for each row that the table is
 * built of, and not for each that comes out of the join.
 *
 * A projection below the join has it as one more output, in which the stages
 * above find it by equal().  It is computed for rows that find no partner, too, so
 * it must not be able to fail.  Where an outer join makes the build side's
 * columns NULL, strict expressions alone are NULL with them.
 *
 * Vars and operators of types that are passed by value stay where they are: to
 * compute them costs no more than to keep one more column in the join's table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "query/paths/early_expressions.h"
#include "query/pipeline/can_fail.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stages.h"

/* So many times fewer rows must be built of: a column of the table is written and read, too. */
#define FEWER_ROWS_MIN 2

typedef struct EarlyExpressions
{
	List	   *projections;	/* of build sides, that were made for this */
	PipelineStage *reader;		/* whose expressions are searched */
	List	   *columns;		/* that its inputs have */
} EarlyExpressions;

typedef struct CopiedStage
{
	const PipelineStage *stage;
	PipelineStage *copy;
} CopiedStage;

/* A tree that can be changed: paths share stages.  What several stages of it read stays one. */
static PipelineStage *
copy_stages(const PipelineStage *stage, List **copies)
{
	const bool	can_share = pipeline_can_share(stage);
	PipelineStage *copy;
	CopiedStage *known;
	ListCell   *lc;

	foreach(lc, can_share ? *copies : NIL)
	{
		known = lfirst(lc);
		if (known->stage == stage)
			return known->copy;
	}
	copy = memcpy(palloc(sizeof(PipelineStage)), stage, sizeof(PipelineStage));
	copy->inputs = NIL;
	foreach(lc, stage->inputs)
		copy->inputs = lappend(copy->inputs, copy_stages(lfirst(lc), copies));
	if (can_share)
	{
		known = palloc(sizeof(CopiedStage));
		*known = (CopiedStage) {stage, copy};
		*copies = lappend(*copies, known);
	}
	return copy;
}

/* How many rows come out; 0: not known. */
static double
rows_of(const PipelineStage *stage)
{
	while (stage->rows <= 0 && stage->inputs != NIL)
	{
		if (stage->kind == PIPELINE_JOIN && stage->probe_rows > 0)
			return stage->probe_rows;
		stage = linitial(stage->inputs);
	}
	return stage->rows;
}

typedef struct ReadColumns
{
	const List *columns;		/* what inputs have in place of expressions */
	bool		is_any_read;
} ReadColumns;

static bool
reads_other_walker(Node *node, void *context)
{
	ReadColumns *read = context;

	if (node == NULL)
		return false;
	if (pipeline_find_expr(read->columns, node) >= 0)
	{
		read->is_any_read = true;
		return false;
	}
	return IsA(node, Var) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, GroupingFunc) ||
		IsA(node, PlaceHolderVar) || IsA(node, SubPlan) || IsA(node, Param) || IsA(node, CaseTestExpr) ||
		expression_tree_walker(node, reads_other_walker, context);
}

static bool
reads_only(Node *expr, const List *columns)
{
	ReadColumns read = {.columns = columns};

	return !reads_other_walker(expr, &read) && read.is_any_read;
}

static bool
is_passed_by_reference(Oid type)
{
	return OidIsValid(type) && !get_typbyval(type);
}

/* Whether an operator or a function in it has a value or an argument that is passed by reference. */
static bool
is_costly_walker(Node *node, void *context)
{
	List	   *args = NIL;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
		args = ((FuncExpr *) node)->args;
	else if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
		args = ((OpExpr *) node)->args;
	else if (IsA(node, ScalarArrayOpExpr))
		args = list_make1(linitial(((ScalarArrayOpExpr *) node)->args));
	foreach(lc, args)
	{
		if (is_passed_by_reference(exprType(lfirst(lc))))
			return true;
	}
	return (args != NIL && is_passed_by_reference(exprType(node))) ||
		expression_tree_walker(node, is_costly_walker, context);
}

/* Whether the join makes the columns of its input NULL for rows without a partner. */
static bool
may_make_null(const PipelineStage *join, int input)
{
	switch (join->join_kind)
	{
		case PENUMBRA_JOIN_INNER:
		case PENUMBRA_JOIN_SEMI:
		case PENUMBRA_JOIN_ANTI:
		case PENUMBRA_JOIN_RIGHT_SEMI:
		case PENUMBRA_JOIN_RIGHT_ANTI:
		case PENUMBRA_JOIN_MARK:
			return false;
		case PENUMBRA_JOIN_LEFT:
		case PENUMBRA_JOIN_SINGLE:
			return input == 1;
		case PENUMBRA_JOIN_RIGHT:
			return input == 0;
		case PENUMBRA_JOIN_FULL:
			return true;
	}
	return true;
}

static void
add_output(EarlyExpressions *early, ListCell *place, Node *expr)
{
	PipelineStage *input = lfirst(place);
	PipelineStage *projection = input;

	if (!list_member_ptr(early->projections, input))
	{
		projection = palloc0(sizeof(PipelineStage));
		projection->kind = PIPELINE_PROJECTION;
		projection->inputs = list_make1(input);
		projection->exprs = list_copy(stage_outputs(input));
		early->projections = lappend(early->projections, projection);
		lfirst(place) = projection;
	}
	if (pipeline_find_expr(projection->exprs, expr) < 0)
		projection->exprs = lappend(projection->exprs, expr);
}

static bool move_below(EarlyExpressions *early, ListCell *place, Node *expr, double rows);

/* Has the expression computed on the join's build side, or below it; rows: it is read for so many. */
static bool
move_into_join(EarlyExpressions *early, PipelineStage *join, Node *expr, double rows)
{
	for (int i = 0; i < 2; i++)
	{
		ListCell   *input = list_nth_cell(join->inputs, i);

		if (!reads_only(expr, stage_outputs(lfirst(input))))
			continue;
		/* its own conditions see pairs */
		if (join != early->reader && may_make_null(join, i) && contain_nonstrict_functions(expr))
			return false;
		if (i == 0 || join->build_rows * FEWER_ROWS_MIN > rows)
			return move_below(early, input, expr, rows);
		if (expr_can_fail(expr) && stages_expr_can_fail(lfirst(input), expr))
			return false;
		add_output(early, input, expr);
		return true;
	}
	return false;
}

static bool
move_below(EarlyExpressions *early, ListCell *place, Node *expr, double rows)
{
	PipelineStage *stage = lfirst(place);

	if (pipeline_can_share(stage))
		return false;
	switch (stage->kind)
	{
		case PIPELINE_FILTER:
			return move_below(early, list_head(stage->inputs), expr, rows);
		case PIPELINE_PROJECTION:
			if (stage->names != NIL || !reads_only(expr, stage_outputs(linitial(stage->inputs))) ||
				!move_below(early, list_head(stage->inputs), expr, rows))
				return false;
			stage->exprs = list_append_unique(list_copy(stage->exprs), expr);
			return true;
		case PIPELINE_JOIN:
			return move_into_join(early, stage, expr, rows);
		default:
			return false;
	}
}

/* Whether it is worth it, and nothing is different for it. */
static bool
is_suitable(const EarlyExpressions *early, Node *expr)
{
	switch (nodeTag(expr))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			return is_costly_walker(expr, NULL) && reads_only(expr, early->columns) &&
				!contain_volatile_functions(expr);
		default:
			return false;
	}
}

static bool
search_walker(Node *node, void *context)
{
	EarlyExpressions *early = context;
	PipelineStage *reader = early->reader;

	if (node == NULL || IsA(node, Var) || IsA(node, Const) || pipeline_find_expr(early->columns, node) >= 0)
		return false;
	if (is_suitable(early, node) &&
		(reader->kind == PIPELINE_JOIN ? move_into_join(early, reader, node, rows_of(reader))
		 : move_below(early, list_head(reader->inputs), node, rows_of(linitial(reader->inputs)))))
		return false;
	return expression_tree_walker(node, search_walker, context);
}

/* The conditions of a join without keys are bounds that its build side is ordered by. */
static bool
reads_rows(const PipelineStage *stage)
{
	return stage->kind == PIPELINE_JOIN ? stage->join_keys != NIL
		: list_length(stage->inputs) == 1 && stage->kind != PIPELINE_UNNEST;
}

static void
search_stages(EarlyExpressions *early, PipelineStage *stage)
{
	ListCell   *lc;

	early->reader = stage;
	early->columns = NIL;
	foreach(lc, stage->inputs)
		early->columns = list_concat_copy(early->columns, stage_outputs(lfirst(lc)));
	if (reads_rows(stage))
	{
		(void) search_walker((Node *) stage->exprs, early);
		(void) search_walker((Node *) stage->aggrefs, early);
	}
	foreach(lc, stage->inputs)
		search_stages(early, lfirst(lc));
}

void
early_expressions(Pipeline *pipeline)
{
	EarlyExpressions early = {0};
	PipelineStage *top = pipeline->top;
	List	   *copies = NIL;

	if (pipeline_is_chain(pipeline))
		return;
	pipeline->top = copy_stages(top, &copies);
	search_stages(&early, pipeline->top);
	/* Functions that PostgreSQL evaluates are known anew. */
	if (early.projections != NIL && !rel_pipeline_check(pipeline))
		early.projections = NIL;
	if (early.projections == NIL)
		pipeline->top = top;
}
