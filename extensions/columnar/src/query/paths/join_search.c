/*-------------------------------------------------------------------------
 *
 * join_search.c
 *	  The order of joins of more relations than can all be tried.
 *
 * From geqo_threshold relations on, PostgreSQL tries random orders and frees
 * what it built for each, so that nothing of it can be continued.  Greedy
 * operator ordering (Fegaras, 1998) makes n^2 joins, and keeps them: of all
 * pairs of what is joined so far the one with the fewest rows is joined next.
 * Hash joins with filters pushed into the probing scan cost about what they
 * read and give, so what is small early is cheap.  A table of facts meets its
 * dimensions after these have met theirs.
 *
 * A join relation, once it is the input of another, must not get paths: the
 * planner frees those that lose, and somebody may use them.  So a pair is
 * made once: what is joined already are disjoint sets of relations.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/joininfo.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "pg_compat.h"
#include "query/paths/base_pipelines.h"
#include "query/paths/join_paths.h"
#include "query/paths/join_search.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/planning/node_kinds.h"
#include "query/planning/planning.h"

/* Two of what is joined so far, and their join. */
typedef struct Pair
{
	RelOptInfo *left;
	RelOptInfo *right;
	RelOptInfo *joined;
} Pair;

/* Joins `rel` with each of the others: where a condition or the order of outer joins asks for it, or else. */
static List *
add_pairs(PlannerInfo *root, List *pairs, RelOptInfo *rel, List *others, bool is_wanted)
{
	ListCell   *lc;

	foreach(lc, others)
	{
		Pair		pair = {.left = rel,.right = lfirst(lc)};

		CHECK_FOR_INTERRUPTS();
		if ((have_relevant_joinclause(root, rel, pair.right) ||
			 have_join_order_restriction(root, rel, pair.right)) != is_wanted)
			continue;
		pair.joined = make_join_rel(root, rel, pair.right);
		if (pair.joined == NULL)
			continue;			/* not legal */
		generate_partitionwise_join_paths(root, pair.joined);
		compat_complete_join(root, pair.joined);
		if (join_paths_find(root, pair.joined) != NULL)
			pairs = lappend(pairs, memcpy(palloc(sizeof(Pair)), &pair, sizeof(Pair)));
	}
	return pairs;
}

static List *
add_all_pairs(PlannerInfo *root, List *pairs, List *relations, bool is_wanted)
{
	ListCell   *lc;

	foreach(lc, relations)
		pairs = add_pairs(root, pairs, lfirst(lc),
						  list_copy_tail(relations, foreach_current_index(lc) + 1), is_wanted);
	return pairs;
}

static const Pair *
smallest_pair(PlannerInfo *root, List *pairs)
{
	const Pair *best = NULL;
	ListCell   *lc;

	foreach(lc, pairs)
	{
		const Pair *pair = lfirst(lc);

		if (best == NULL ||
			base_pipelines_find(root, pair->joined)->rows < base_pipelines_find(root, best->joined)->rows)
			best = pair;
	}
	return best;
}

/* The pairs that join neither of what is joined now. */
static List *
drop_pairs_of(List *pairs, const Pair *taken)
{
	ListCell   *lc;

	foreach(lc, pairs)
	{
		const Pair *pair = lfirst(lc);

		if (pair->left == taken->left || pair->left == taken->right ||
			pair->right == taken->left || pair->right == taken->right)
			pairs = foreach_delete_current(pairs, lc);
	}
	return pairs;
}

/* Whether PostgreSQL's best order among these costs more than ours. */
static bool
is_worth_it(PlannerInfo *root, RelOptInfo *rel)
{
	const RelPipeline *planned = base_pipelines_find(root, rel);

	return MODE_IS_FORCED() || path_is_ours(rel->cheapest_total_path) ||
		planned->startup_cost + planned->run_cost < rel->cheapest_total_path->total_cost;
}

static RelOptInfo *
join_all(PlannerInfo *root, List *relations)
{
	List	   *pairs = add_all_pairs(root, NIL, relations, true);

	relations = list_copy(relations);
	while (list_length(relations) > 1)
	{
		const Pair *taken = smallest_pair(root, pairs);

		/* A cross product only where no condition joins any two. */
		if (taken == NULL)
			taken = smallest_pair(root, add_all_pairs(root, NIL, relations, false));
		if (taken == NULL)
			return NULL;
		pairs = drop_pairs_of(pairs, taken);
		relations = list_delete_ptr(list_delete_ptr(relations, taken->left), taken->right);
		pairs = add_pairs(root, pairs, taken->joined, relations, true);
		relations = lappend(relations, taken->joined);
	}
	return is_worth_it(root, linitial(relations)) ? linitial(relations) : NULL;
}

RelOptInfo *
join_search_greedy(PlannerInfo *root, List *relations)
{
	struct HTAB *known_hash = root->join_rel_hash;
	int			known = list_length(root->join_rel_list);
	RelOptInfo *joined;
	ListCell   *lc;

	foreach(lc, relations)
	{
		if (base_pipelines_find(root, lfirst(lc)) == NULL)
			return NULL;
	}
	root->join_rel_hash = NULL;
	joined = join_all(root, relations);
	if (joined == NULL)
	{
		/* The genetic search must not find ours, to which it would add paths of memory that it frees. */
		root->join_rel_list = list_truncate(root->join_rel_list, known);
		root->join_rel_hash = known_hash;
	}
	return joined;
}
