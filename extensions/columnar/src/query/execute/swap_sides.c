/*-------------------------------------------------------------------------
 *
 * swap_sides.c
 *	  Joins whose build side turns out to be the larger one.
 *
 * A join builds its table of the side with fewer rows, by estimates, which can
 * be wrong by orders of magnitude; those of a decorrelated subquery are of one
 * value of the query around it.  The engine counts.  A build side with several
 * times the rows that were expected ends the execution while no row has left
 * the node; then the sides change places and the execution starts anew.
 *
 * That wastes what was read so far.  The sides are swapped at most twice: back
 * again if the other one is larger by as much, and then for good.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/execute/swap_sides.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/stages.h"

/* Times the estimate. */
#define TOO_LARGE_FACTOR 4
/* Fewer rows are built of in a millisecond. */
#define TOO_LARGE_ROWS_MIN 65536.0

/* Of the same join with its sides swapped; false: it has none. */
static bool
find_swapped_kind(PenumbraJoinKind kind, PenumbraJoinKind *swapped)
{
	static const PenumbraJoinKind pairs[][2] = {
		{PENUMBRA_JOIN_INNER, PENUMBRA_JOIN_INNER},
		{PENUMBRA_JOIN_FULL, PENUMBRA_JOIN_FULL},
		{PENUMBRA_JOIN_LEFT, PENUMBRA_JOIN_RIGHT},
		{PENUMBRA_JOIN_SEMI, PENUMBRA_JOIN_RIGHT_SEMI},
		{PENUMBRA_JOIN_ANTI, PENUMBRA_JOIN_RIGHT_ANTI}
	};

	for (int i = 0; i < (int) lengthof(pairs); i++)
	{
		for (int side = 0; side < 2; side++)
		{
			if (kind != pairs[i][side])
				continue;
			*swapped = pairs[i][1 - side];
			return true;
		}
	}
	return false;
}

static bool
can_swap(const PipelineStage *join)
{
	PenumbraJoinKind kind;

	return !join->is_null_aware && join->join_choice == PENUMBRA_JOIN_ALL && join->join_keys != NIL &&
		find_swapped_kind(join->join_kind, &kind) && pipeline_commuted_keys(join->join_keys) != NIL;
}

/* Whether rows may leave before every join is built. */
static bool
is_streaming_union(const PipelineStage *stage)
{
	if (stage->kind == PIPELINE_UNION)
		return true;
	if (stage_kind_of(stage)->is_breaker || stage->inputs == NIL)
		return false;
	return is_streaming_union(linitial(stage->inputs));
}

void
swap_sides_limit_builds(const Pipeline *pipeline)
{
	ListCell   *lc;

	foreach(lc, is_streaming_union(pipeline->top) ? NIL : pipeline_stages(pipeline))
	{
		PipelineStage *join = lfirst(lc);
		double		limit = Max(TOO_LARGE_FACTOR * join->build_rows, TOO_LARGE_ROWS_MIN);

		if (join->kind == PIPELINE_JOIN && join->probe_rows > 0 && join->probe_rows < limit && can_swap(join))
			join->build_rows_max = limit;
	}
}

static void
swap_sides(PipelineStage *join)
{
	join->inputs = list_make2(lsecond(join->inputs), linitial(join->inputs));
	join->join_keys = pipeline_commuted_keys(join->join_keys);
	(void) find_swapped_kind(join->join_kind, &join->join_kind);
	join->build_rows_max = join->swaps == 0 ? TOO_LARGE_FACTOR * join->build_rows_max : 0;
	join->swaps++;
}

bool
swap_sides_of_too_large(const Pipeline *pipeline, PenumbraExec *exec)
{
	PenumbraExecStats stats;
	bool		is_swapped = false;
	ListCell   *lc;

	penumbra_exec_get_stats(exec, &stats);
	foreach(lc, pipeline_stages(pipeline))
	{
		PipelineStage *join = lfirst(lc);

		for (int i = 0; i < stats.operator_count; i++)
		{
			/* A join is the last operator of its stage. */
			if (!stats.operators[i].is_build_too_large || stats.operators[i].id != join->operator)
				continue;
			swap_sides(join);
			is_swapped = true;
		}
	}
	return is_swapped;
}
