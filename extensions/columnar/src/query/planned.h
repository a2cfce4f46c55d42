/*-------------------------------------------------------------------------
 *
 * planned.h
 *	  What the engine can compute, by relation of the planner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PLANNED_H
#define PENUMBRA_PLANNED_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "cache/cache.h"
#include "query/pipeline.h"

/* A qual on one table. */
typedef struct TableQual
{
	RestrictInfo *rinfo;
	const char *refusal;		/* why the engine cannot evaluate it, or NULL */
	bool		is_parallel;	/* cannot fail and waits for no value */
} TableQual;

/* A plain table that a query reads and Penumbra can serve. */
typedef struct PlannedTable
{
	RelOptInfo *rel;
	Oid			oid;
	List	   *attnos;			/* columns the query uses, ascending */
	CacheCoverage coverage;
	List	   *quals;			/* of TableQual *, without pseudoconstants */
	double		skipped_share;	/* of the chunks, by zone maps */
	double		sampled_share;	/* of the rows, that pass the quals; negative: not known, see row_sample.h */
	List	   *bounds;			/* of ColumnBounds *, in these */
	bool		is_rescanned;	/* for each row of an outer query, of which the quals hold values */
	bool		is_looked_up;	/* then by an index in PostgreSQL's plan */
} PlannedTable;

/* Clauses of a query level beside FROM and WHERE, by bit. */
typedef enum PlannedClause
{
	PLANNED_GROUPS = 1,			/* GROUP BY, aggregates, HAVING */
	PLANNED_WINDOWS = 2,
	PLANNED_DISTINCT = 4,
	PLANNED_ORDER = 8,
	PLANNED_LIMIT = 16,			/* and OFFSET */
	PLANNED_SET_OPERATION = 32
} PlannedClause;

/*
 * What the engine can compute for a relation of the planner.  It says which
 * clauses of its query level it has done; planned_remember_stage() compares
 * that with what the planner takes for done there.
 */
typedef struct PlannedPipeline
{
	Pipeline   *pipeline;		/* NULL: nothing, and it is known */
	int			clauses;		/* of PlannedClause */
	int			workers;		/* of a parallel scan; 0: one process */
	double		input_rows;		/* of all scans, before filters */
	double		rows;			/* out */
	bool		is_rescanned;	/* a table of it is */
	double		rescan_factor;	/* by which the costs are larger for it, beside look-ups by index; or 0 */
	Cost		startup_cost;	/* until the first row can leave */
	Cost		run_cost;		/* from then on, emission aside */
	struct PlannedPipeline *before_sort;	/* a sort's input */
	List	   *subplans;		/* of the query's outputs, which have become joins; normalized */
	List	   *subplan_values; /* what stands for each */
	Cost		rival_cost;		/* of a join: of PostgreSQL's path when ours was offered last */
} PlannedPipeline;

/* A path of ours. */
typedef struct PenumbraPath
{
	CustomPath	custom;
	Pipeline   *pipeline;
	List	   *scan_exprs;		/* what the node outputs, for custom_scan_tlist */
	List	   *kept_quals;		/* RestrictInfos that PostgreSQL evaluates on our rows */
	Cost		total_cost;		/* what it costs; the path says less where planned_outbid() lowered it */
} PenumbraPath;

/* scan_paths.c: the table as it was found for its scan, or NULL. */
extern PlannedTable *planned_find_table(RelOptInfo *rel);
/* The same for a table below a join or of an inheritance tree, which may also be small or not cached. */
extern PlannedTable *planned_table_of_rel(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);
/* Rows that the statement changes or locks: nothing that a cache could serve. */
extern bool planned_is_target_or_locked(PlannerInfo *root, RelOptInfo *rel);

/* Whether the query is a cursor's of which WHERE CURRENT OF may ask for the row. */
extern bool planned_is_simply_updatable(PlannerInfo *root);

/* rel_pipelines.c: what is remembered of the relation, not to be changed; NULL: it is not ours. */
extern const PlannedPipeline *planned_of_rel(PlannerInfo *root, RelOptInfo *rel);
/* One that can be extended without changing the other. */
extern PlannedPipeline *planned_copy(const PlannedPipeline *planned);
/* planned_of_rel(), to be extended. */
extern PlannedPipeline *planned_copy_of_rel(PlannerInfo *root, RelOptInfo *rel);
/*
 * What is remembered of the subquery's last step, to be extended by the query
 * around it, of whose clauses nothing is done.  outputs: the subquery's target
 * list without its junk, as expressions of the pipeline.
 */
extern PlannedPipeline *planned_copy_of_subquery(PlannerInfo *subroot, List **outputs);
/* Whether the planner knows that the relation has no rows. */
extern bool planned_is_empty(RelOptInfo *rel);
/* Adds the member's rows, which have the same columns. */
extern void planned_unite(PlannedPipeline *all, const PlannedPipeline *member);
extern void planned_remember(RelOptInfo *rel, PlannedPipeline *planned);
/*
 * Remembers it for a relation of an upper stage.  False: it has not done the
 * clauses that are done there, and is not to be offered either.
 */
extern bool planned_remember_stage(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel,
								   PlannedPipeline *planned);
/* Whether something of it is remembered, or kept for later. */
extern bool planned_is_known(RelOptInfo *rel);
/* Keeps what planned_of_join() has to look at, until it does. */
extern void planned_skip(RelOptInfo *joinrel, void *pair);
extern List *planned_take_skipped(RelOptInfo *joinrel);
/* join_paths.c: planned_of_rel() for an input of a join, with what was left out while it seemed not worth it. */
extern const PlannedPipeline *planned_of_join(PlannerInfo *root, RelOptInfo *rel);
/*
 * Makes the pipeline output what of the target needs input, and maps the
 * target's columns to the outputs.  False: the stage has no target.
 */
extern bool planned_set_target(PlannerInfo *root, PlannedPipeline *planned, const PathTarget *target);
extern bool planned_needs_no_input(Node *expr);
/* Whether one of these Params, by number, stands in the expression or the list. */
extern bool planned_has_param(void *expr, List *params);

/* A pipeline with a scan of the relation's columns and no other stage yet. */
extern Pipeline *planned_begin_scan(PlannerInfo *root, Index relid, List *attnos);
/* Adds the quals as filters. */
extern void planned_add_filters(PlannerInfo *root, Pipeline *pipeline, List *restrictinfos);
/* subplans.c: adds a condition with a subquery as a join; false: it is PostgreSQL's, and nothing was added. */
extern bool planned_apply_subplans(PlannerInfo *root, PlannedPipeline *planned, RestrictInfo *rinfo,
								   double result_rows);
/* Adds subqueries in outputs as joins; false: one is PostgreSQL's, and the pipeline is not to be used. */
extern bool planned_join_subplans(PlannerInfo *root, PlannedPipeline *planned, List *exprs);
/* Joins the pipeline with a LATERAL subquery in FROM; false: it is PostgreSQL's, and nothing was added. */
extern bool planned_join_lateral(PlannerInfo *root, PlannedPipeline *planned, RelOptInfo *rel, bool is_left,
								 double result_rows);
/* names_normalize(), with what stands for these subqueries. */
extern Node *planned_normalize(PlannerInfo *root, const PlannedPipeline *planned, Node *expr);
/* The clauses for a pipeline, in the order in which PostgreSQL evaluates them. */
extern List *planned_ordered_clauses(PlannerInfo *root, List *restrictinfos);
/* Adds the PlaceHolderVars that are computed at this relation; false: it has one that cannot be computed here. */
extern bool planned_add_placeholders(PlannerInfo *root, RelOptInfo *rel, PlannedPipeline *planned);
/* Whether the engine takes the whole pipeline; fills runtime_exprs or notes the refusal. */
extern bool planned_check(Pipeline *pipeline);
/* Lowers our cost to one that add_path() prefers to the rival's, if by our estimates of rows ours costs less. */
extern void planned_outbid(PlannerInfo *root, Path *ours, const Path *rival);
/* Adds the path, or puts it in the place of all others; rival: the cheapest of those. */
extern void planned_offer(PlannerInfo *root, RelOptInfo *rel, PenumbraPath *path, const Path *rival);

extern int	planned_count_columns(List *exprs);

/* rival.c: what PostgreSQL's path costs by our estimates of rows. */
extern Cost planned_cost_of_rival(PlannerInfo *root, const Path *path);

#endif							/* PENUMBRA_PLANNED_H */
