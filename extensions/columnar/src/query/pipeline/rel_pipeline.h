/*-------------------------------------------------------------------------
 *
 * rel_pipeline.h
 *	  What the engine can compute, by relation of the planner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REL_PIPELINE_H
#define PENUMBRA_REL_PIPELINE_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "cache/cache.h"
#include "query/pipeline/pipeline.h"

/* A qual on one table. */
typedef struct TableQual
{
	RestrictInfo *rinfo;
	const char *refusal;		/* why the engine cannot evaluate it, or NULL */
	bool		is_parallel;	/* cannot fail and waits for no value */
} TableQual;

/* A plain table that a query reads and Penumbra can serve. */
typedef struct ServedTable
{
	RelOptInfo *rel;
	Oid			oid;
	List	   *attnums;			/* columns the query uses, ascending; see expression_columns.h */
	List	   *fetched;			/* others, that the engine cannot read: they are fetched from the heap */
	bool		is_fetched_last;	/* for rows of the result; else for those of the scan */
	List	   *spared;			/* of the attnums: they will be fetched last, once the others are cached */
	ColumnKey  *columns;			/* these */
	CacheCoverage coverage;
	List	   *quals;			/* of TableQual *, without pseudoconstants */
	double		skipped_share;	/* of the chunks, by zone maps */
	double		sampled_share;	/* of the rows, that pass the quals; negative: not known, see row_sample.h */
	List	   *bounds;			/* of ColumnBounds *, in these */
	bool		is_rescanned;	/* for each row of an outer query, of which the quals hold values */
	bool		is_looked_up;	/* then by an index in PostgreSQL's plan */
} ServedTable;

/* Clauses of a query level beside FROM and WHERE, by bit. */
typedef enum RelPipelineClause
{
	CLAUSE_GROUPS = 1,			/* GROUP BY, aggregates, HAVING */
	CLAUSE_WINDOWS = 2,
	CLAUSE_DISTINCT = 4,
	CLAUSE_ORDER = 8,
	CLAUSE_LIMIT = 16,			/* and OFFSET */
	CLAUSE_SET_OPERATION = 32
} RelPipelineClause;

/*
 * What the engine can compute for a relation of the planner.  It says which
 * clauses of its query level it has done; rel_pipeline_remember_stage() compares
 * that with what the planner takes for done there.
 */
typedef struct RelPipeline
{
	Pipeline   *pipeline;		/* NULL: nothing, and it is known */
	int			clauses;		/* of RelPipelineClause */
	int			workers;		/* of a parallel scan; 0: one process */
	double		input_rows;		/* of all scans, before filters */
	double		rows;			/* out, as PostgreSQL estimates it */
	double		passing_rows;	/* of these, the conditions on row_number() and the like; 0: there are none */
	bool		is_below_projection;	/* PostgreSQL's expressions give the relation's target */
	bool		is_rescanned;	/* a table of it is */
	double		rescan_factor;	/* by which the costs are larger for it, beside look-ups by index; or 0 */
	Cost		startup_cost;	/* until the first row can leave */
	Cost		run_cost;		/* from then on, emission aside */
	Cost		shared_cost;	/* of CTEs, which the planner charges the query once: for each execution of it */
	struct RelPipeline *before_sort;	/* a sort's input */
	List	   *subplans;		/* of the query's outputs, which have become joins; normalized */
	List	   *subplan_values; /* what stands for each */
	Cost		core_cost;		/* of a join: of PostgreSQL's path when ours was offered last */
} RelPipeline;

/* A path of ours. */
typedef struct PenumbraPath
{
	CustomPath	custom;
	Pipeline   *pipeline;
	List	   *scan_exprs;		/* what the node outputs, for custom_scan_tlist */
	List	   *kept_quals;		/* RestrictInfos that PostgreSQL evaluates on our rows */
	List	   *kept_having;	/* the same of groups: clauses, in their order */
	Cost		total_cost;		/* what it costs; the path says less where core_path_outbid() lowered it */
} PenumbraPath;

/* The table as it was found for its scan or for a join, or NULL. */
extern ServedTable *rel_pipeline_find_table(RelOptInfo *rel);

/* A pipeline with a scan of the relation's columns and no other stage yet. */
extern Pipeline *rel_pipeline_begin_scan(PlannerInfo *root, Index relid, List *attnums);
/* Whether rows of the query level may be hidden from the user. */
extern bool rel_pipeline_is_below_barrier(const PlannerInfo *root);
/* Adds the quals as filters. */
extern void rel_pipeline_add_filters(PlannerInfo *root, Pipeline *pipeline, List *restrictinfos);
/* The clauses, by rel_pipeline_normalize(), in the order in which PostgreSQL evaluates them. */
extern List *rel_pipeline_ordered_clauses(PlannerInfo *root, const RelPipeline *planned, List *restrictinfos);
/* Adds the member's rows, which have the same columns. */
extern void rel_pipeline_unite(RelPipeline *all, const RelPipeline *member);
/* Whether the stage gives the same rows when it is computed again. */
extern bool rel_pipeline_repeats(const PipelineStage *stage);
/* Whether the engine takes the whole pipeline; fills runtime_exprs and called_exprs, or notes the refusal. */
extern bool rel_pipeline_check(Pipeline *pipeline);

/* relation_numbers_normalize(), with NOT (x = ANY ...) for x <> ALL ... of subqueries. */
extern Node *rel_pipeline_normalize_subplans(PlannerInfo *root, Node *node);
/* The same, with what stands for the subqueries that have become joins. */
extern Node *rel_pipeline_normalize(PlannerInfo *root, const RelPipeline *planned, Node *expr);
/* Whether it reads no column, aggregate or window function. */
extern bool rel_pipeline_needs_no_input(Node *expr);
/* Whether one of these Params, by number, stands in the expression or the list. */
extern bool rel_pipeline_has_param(void *expr, List *params);
/* How many columns the expressions read; those of the same number count once. */
extern int	rel_pipeline_count_columns(List *exprs);
/*
 * Maps the next column to an attribute of the table's row that has the position, which is added to the outputs if
 * they have it not.  The outputs.
 */
extern List *rel_pipeline_map_attribute(Pipeline *pipeline, List *outputs, const Var *position, AttrNumber attno);
/*
 * Makes the pipeline output what of the target needs input, and maps the
 * target's columns to the outputs.  False: the stage has no target, or one that
 * the engine cannot have.
 */
extern bool rel_pipeline_set_target(PlannerInfo *root, RelPipeline *planned, const PathTarget *target);

/* What is remembered of the relation, without a pipeline if it is not ours; NULL: nothing is known yet. */
extern const RelPipeline *rel_pipeline_find(RelOptInfo *rel);
/* NULL: the relation is not ours. */
extern const RelPipeline *rel_pipeline_remember(RelOptInfo *rel, RelPipeline *planned);
/*
 * Remembers it for a relation of an upper stage.  False: it has not done the
 * clauses that are done there, and is not to be offered either.
 */
extern bool rel_pipeline_remember_stage(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *rel,
										RelPipeline *planned);
/* One that can be extended without changing the other. */
extern RelPipeline *rel_pipeline_copy(const RelPipeline *planned);
/* Whether something of it is remembered, or kept for later. */
extern bool rel_pipeline_is_known(RelOptInfo *rel);
/* Keeps a pair of relations, whose join was not costed yet, until join_paths_find() takes it. */
extern void rel_pipeline_skip(RelOptInfo *joinrel, void *pair);
/* The pairs that were kept, which are no longer. */
extern List *rel_pipeline_take_skipped(RelOptInfo *joinrel);

#endif							/* PENUMBRA_REL_PIPELINE_H */
