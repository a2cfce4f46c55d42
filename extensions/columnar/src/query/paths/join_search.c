/*-------------------------------------------------------------------------
 *
 * join_search.c
 *	  The order of joins that are ours.
 *
 * PostgreSQL's search spends most of its time on ways to join that lose where
 * ours wins: merge joins, parallel plans, loops over what is kept.  It runs
 * without them first, and as a whole if ours is not the cheapest then and what
 * is costs more than such a search.
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

#include <math.h>

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
#include "query/planning/path_walk.h"
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

/* What the genetic search for another order takes: 500 orders of a dozen joins and more, 30 ms at least. */
#define GENETIC_SEARCH_COST 10000

/* Whether PostgreSQL's best order among these costs more than ours, or what there is to gain is lost in the search. */
static bool
is_worth_it(PlannerInfo *root, RelOptInfo *rel)
{
	const RelPipeline *planned = base_pipelines_find(root, rel);

	return MODE_IS_FORCED() || path_is_ours(rel->cheapest_total_path) ||
		planned->startup_cost + planned->run_cost < rel->cheapest_total_path->total_cost + GENETIC_SEARCH_COST;
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

/* From so many relations on PostgreSQL's other methods cost more time than they may gain. */
#define SIMPLE_LEVELS_MIN 4

/* Whether the joins of all relations can be ours, and the simple methods are enough to see if they should be. */
static bool
may_be_simple(PlannerInfo *root, int levels, List *relations, bool is_genetic)
{
	ListCell   *lc;

	if (!is_genetic && levels < SIMPLE_LEVELS_MIN)
		return false;
	foreach(lc, relations)
	{
		RelOptInfo *rel = lfirst(lc);

		if (base_pipelines_find(root, rel) == NULL || (!is_genetic && path_walk_rows_are_found(rel)))
			return false;
	}
	return true;
}

/* The search without merge joins, parallel plans, Memoize and Materialize. */
static RelOptInfo *
search_simple(PlannerInfo *root, int levels, List *relations, bool is_genetic)
{
	CompatJoinMethods methods = compat_join_methods(root);
	List	   *parallel = NIL;
	RelOptInfo *joined;
	ListCell   *lc;

	foreach(lc, relations)
	{
		RelOptInfo *rel = lfirst(lc);

		if (rel->consider_parallel)
			parallel = lappend(parallel, rel);
		rel->consider_parallel = false;
	}
	PG_TRY();
	{
		compat_set_join_methods(root, compat_simple_join_methods(methods));
		joined = is_genetic ? join_all(root, relations) : standard_join_search(root, levels, relations);
	}
	PG_FINALLY();
	{
		compat_set_join_methods(root, methods);
	}
	PG_END_TRY();
	foreach(lc, parallel)
		((RelOptInfo *) lfirst(lc))->consider_parallel = true;
	return joined;
}

/* What the search as a whole costs at least, of so many relations: each doubles it. */
static Cost
search_cost(int levels)
{
	return ldexp(8, levels);
}

RelOptInfo *
join_search_simple(PlannerInfo *root, int levels, List *relations, bool is_genetic)
{
	struct HTAB *known_hash = root->join_rel_hash;
	int			known = list_length(root->join_rel_list);
	RelOptInfo *joined;

	if (!may_be_simple(root, levels, relations, is_genetic))
		return NULL;
	root->join_rel_hash = NULL;
	joined = search_simple(root, levels, relations, is_genetic);
	if (joined != NULL && (is_genetic || path_is_ours(joined->cheapest_total_path) ||
						   joined->cheapest_total_path->total_cost < search_cost(levels)))
		return joined;
	/* Another search must not find what this one has made; the genetic one would add paths to it and free them. */
	root->join_rel_list = list_truncate(root->join_rel_list, known);
	root->join_rel_hash = known_hash;
	return NULL;
}
