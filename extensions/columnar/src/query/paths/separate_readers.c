/*-------------------------------------------------------------------------
 *
 * separate_readers.c
 *	  Stages that several others have as their input, but are better computed
 *	  for each.
 *
 * A join's filter reaches the scans below its probe side through the keys of
 * aggregations and windows, so a reader that joins may need few of the groups.
 * It does not reach what others read, too.  So the work for all is held against
 * that of each reader alone: the share of rows that its joins leave.
 *
 * Stages are counted, not costed, by the rows that go into them.  What is not on
 * the probe side's way from the stage to its scans is done for each reader in
 * full, but for breakers, which stay shared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "query/paths/separate_readers.h"

/* A row of a scan is 1; of others so many, measured with one or two keys. */
#define SORTED_ROW_WORK 10.0
#define AGGREGATED_ROW_WORK 10.0
#define PROBED_ROW_WORK 3.0
#define BUILT_ROW_WORK 5.0
/* A row that the filter drops in a scan. */
#define DROPPED_ROW_WORK 0.3
/* Shares are estimates: less must be saved by all readers together to be worth it. */
#define SEPARATE_WORK_MAX 0.9

typedef struct SharedStage
{
	PipelineStage *stage;
	int			readers;
	double		separate_work;	/* of the readers that are known, each for itself */
} SharedStage;

/* The values of the expression that come through a join's filter. */
typedef struct KeyShare
{
	Node	   *expr;
	double		share;
} KeyShare;

static SharedStage *
find_shared(const List *shared, const PipelineStage *stage)
{
	ListCell   *lc;

	foreach(lc, shared)
	{
		if (((SharedStage *) lfirst(lc))->stage == stage)
			return lfirst(lc);
	}
	return NULL;
}

/* Those with several readers that may be computed for each. */
static List *
shared_stages(const Pipeline *pipeline)
{
	List	   *shared = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, pipeline_stages(pipeline))
	{
		foreach(lc2, ((PipelineStage *) lfirst(lc))->inputs)
		{
			PipelineStage *input = lfirst(lc2);
			SharedStage *known = find_shared(shared, input);

			if (!pipeline_can_share(input) || input->single_cte > 0)
				continue;
			if (known == NULL)
			{
				known = palloc0(sizeof(SharedStage));
				known->stage = input;
				shared = lappend(shared, known);
			}
			known->readers++;
		}
	}
	foreach(lc, shared)
	{
		if (((SharedStage *) lfirst(lc))->readers < 2)
			shared = foreach_delete_current(shared, lc);
	}
	return shared;
}

static double
rows_of(const PipelineStage *stage)
{
	while (stage->rows <= 0 && stage->inputs != NIL)
		stage = linitial(stage->inputs);
	return stage->rows;
}

static double
own_work(const PipelineStage *stage)
{
	switch (stage->kind)
	{
		case PIPELINE_SCAN:
			return stage->rows;
		case PIPELINE_JOIN:
			return PROBED_ROW_WORK * stage->probe_rows + BUILT_ROW_WORK * stage->build_rows;
		case PIPELINE_AGGREGATION:
			return AGGREGATED_ROW_WORK * rows_of(linitial(stage->inputs));
		case PIPELINE_SORT:
		case PIPELINE_WINDOW:
			return SORTED_ROW_WORK * rows_of(linitial(stage->inputs));
		default:
			return 0;
	}
}

/* Of a build side: what would not stay shared. */
static double
work_beside(const PipelineStage *stage)
{
	double		work = own_work(stage);
	ListCell   *lc;

	foreach(lc, stage->inputs)
	{
		if (!pipeline_can_share(lfirst(lc)))
			work += work_beside(lfirst(lc));
	}
	return work;
}

/* For a share of the rows. */
static double
work_of(const PipelineStage *stage, double share)
{
	double		work = own_work(stage) * (stage->kind == PIPELINE_SCAN ? Max(share, DROPPED_ROW_WORK) : share);
	ListCell   *lc;

	foreach(lc, stage->inputs)
	{
		if (stage->kind == PIPELINE_JOIN && foreach_current_index(lc) > 0)
			work += pipeline_can_share(lfirst(lc)) ? 0 : work_beside(lfirst(lc));
		else
			work += work_of(lfirst(lc), share);
	}
	return work;
}

static bool
drops_probe_rows(const PipelineStage *join)
{
	return !join->is_null_aware &&
		(join->join_kind == PENUMBRA_JOIN_INNER || join->join_kind == PENUMBRA_JOIN_SEMI ||
		 join->join_kind == PENUMBRA_JOIN_RIGHT || join->join_kind == PENUMBRA_JOIN_RIGHT_SEMI);
}

static List *
add_own_keys(List *keys, const PipelineStage *join)
{
	ListCell   *lc;

	foreach(lc, join->join_keys)
	{
		KeyShare   *key = palloc(sizeof(KeyShare));

		key->expr = linitial(((OpExpr *) lfirst(lc))->args);
		key->share = Min(join->rows / Max(join->probe_rows, 1), 1);
		keys = lappend(keys, key);
	}
	return keys;
}

/* The keys of the stage's rows that are keys of an input's. */
static List *
keys_of_input(const PipelineStage *stage, int input, List *keys)
{
	List	   *passed = NIL;
	int			partition_keys = list_length(stage->exprs) - list_length(stage->sort_flags);
	ListCell   *lc;

	if (stage->kind == PIPELINE_JOIN && input == 0)
		return drops_probe_rows(stage) ? add_own_keys(list_copy(keys), stage) : keys;
	foreach(lc, keys)
	{
		KeyShare   *key = lfirst(lc);
		int			place = pipeline_find_expr(stage->names != NIL ? stage->names : stage->exprs, key->expr);
		bool		passes;

		switch (stage->kind)
		{
			case PIPELINE_PROJECTION:
				passes = place >= 0;
				break;
			case PIPELINE_FILTER:
				passes = stage->limit == NULL;
				break;
			case PIPELINE_AGGREGATION:
				passes = place >= 0 && stage->grouping_sets == NIL;
				break;
			case PIPELINE_WINDOW:
				passes = place >= 0 && place < partition_keys;
				break;
			case PIPELINE_SORT:
				passes = stage->limit == NULL && stage->offset == NULL;
				break;
			case PIPELINE_JOIN:
				passes = stage->join_kind == PENUMBRA_JOIN_INNER;
				break;
			default:
				passes = false;
				break;
		}
		if (passes && stage->kind == PIPELINE_PROJECTION && stage->names != NIL)
		{
			KeyShare   *renamed = palloc(sizeof(KeyShare));

			*renamed = (KeyShare) {list_nth(stage->exprs, place), key->share};
			key = renamed;
		}
		if (passes)
			passed = lappend(passed, key);
	}
	return passed;
}

/* The least share that a filter of the keys leaves of the rows that the stage's breaker reads. */
static double
share_of(const PipelineStage *stage, List *keys)
{
	double		share = 1;
	ListCell   *lc;

	while (stage->kind == PIPELINE_FILTER || stage->kind == PIPELINE_PROJECTION)
	{
		keys = keys_of_input(stage, 0, keys);
		stage = linitial(stage->inputs);
	}
	foreach(lc, keys_of_input(stage, 0, keys))
		share = Min(share, ((KeyShare *) lfirst(lc))->share);
	return share;
}

/* `visited` has the shared stages that were met before. */
static void
find_separate_work(PipelineStage *stage, List *keys, List *shared, List **visited)
{
	SharedStage *known = find_shared(shared, stage);
	ListCell   *lc;

	if (known != NULL)
		known->separate_work += work_of(stage, share_of(stage, keys));
	if (pipeline_can_share(stage))
	{
		if (list_member_ptr(*visited, stage))
			return;
		*visited = lappend(*visited, stage);
	}
	foreach(lc, stage->inputs)
	{
		List	   *passed = known != NULL ? NIL : keys_of_input(stage, foreach_current_index(lc), keys);

		find_separate_work(lfirst(lc), passed, shared, visited);
	}
}

/* Sources' plans were counted with the path, and what must not be computed twice may lie on the way. */
static bool
must_stay(const PipelineStage *stage)
{
	ListCell   *lc;

	foreach(lc, stage->inputs)
	{
		if (must_stay(lfirst(lc)))
			return true;
	}
	return stage->source != NULL || stage->single_cte > 0;
}

/* A stage's copy, where it has one, so that what stays shared has one. */
typedef struct CopiedStage
{
	PipelineStage *stage;
	PipelineStage *copy;
} CopiedStage;

/*
 * The stage, or a copy of it if something below it is separate.  is_separate: of
 * the stages on the probe side's way each reader has its own.
 */
static PipelineStage *
separate(PipelineStage *stage, bool is_separate, List *chosen, List **copies)
{
	PipelineStage *copy = stage;
	CopiedStage *known;
	ListCell   *lc;

	is_separate |= find_shared(chosen, stage) != NULL;
	foreach(lc, is_separate || !pipeline_can_share(stage) ? NIL : *copies)
	{
		known = lfirst(lc);
		if (known->stage == stage)
			return known->copy;
	}
	foreach(lc, stage->inputs)
	{
		PipelineStage *input = separate(lfirst(lc), is_separate && (stage->kind != PIPELINE_JOIN ||
																	foreach_current_index(lc) == 0),
										chosen, copies);

		if (copy == stage && (is_separate || input != lfirst(lc)))
		{
			copy = memcpy(palloc(sizeof(PipelineStage)), stage, sizeof(PipelineStage));
			copy->inputs = list_copy(stage->inputs);
		}
		if (copy != stage)
			lfirst(list_nth_cell(copy->inputs, foreach_current_index(lc))) = input;
	}
	if (!is_separate && pipeline_can_share(stage))
	{
		known = palloc(sizeof(CopiedStage));
		*known = (CopiedStage) {stage, copy};
		*copies = lappend(*copies, known);
	}
	return copy;
}

void
separate_readers(Pipeline *pipeline)
{
	List	   *shared = shared_stages(pipeline);
	List	   *visited = NIL;
	List	   *copies = NIL;
	ListCell   *lc;

	if (shared == NIL)
		return;
	find_separate_work(pipeline->top, NIL, shared, &visited);
	foreach(lc, shared)
	{
		SharedStage *candidate = lfirst(lc);

		if (candidate->separate_work >= SEPARATE_WORK_MAX * work_of(candidate->stage, 1) ||
			must_stay(candidate->stage))
			shared = foreach_delete_current(shared, lc);
	}
	if (shared != NIL)
		pipeline->top = separate(pipeline->top, false, shared, &copies);
}
