/*-------------------------------------------------------------------------
 *
 * paths.h
 *	  Penumbra's paths: what planner.c's hooks add, what becomes a CustomScan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PATHS_H
#define PENUMBRA_PATHS_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "cache/cache.h"
#include "query/pipeline.h"

typedef enum PenumbraMode
{
	MODE_AUTO,
	MODE_PREFER,				/* wherever it can, whatever it costs: for tests */
	MODE_REQUIRE,				/* the same, and an error where it cannot */
	MODE_OFF
} PenumbraMode;

extern int	penumbra_mode;
extern int	penumbra_workers;

#define MODE_IS_FORCED() (penumbra_mode == MODE_PREFER || penumbra_mode == MODE_REQUIRE)

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
} PlannedTable;

/* What the engine can compute for a relation of the planner. */
typedef struct PlannedPipeline
{
	RelOptInfo *rel;
	Pipeline   *pipeline;
	int			workers;		/* of a parallel scan; 0: one process */
	double		input_rows;		/* per scan, before filters */
	double		rows;			/* out */
	Cost		startup_cost;	/* until the first row can leave */
	Cost		run_cost;		/* from then on, emission aside */
	struct PlannedPipeline *before_sort;	/* costs of a sort's input */
} PlannedPipeline;

/* Of one planner() call. */
typedef struct Planning
{
	bool		is_enabled;		/* Penumbra may be used */
	List	   *tables;			/* of PlannedTable * */
	List	   *pipelines;		/* of PlannedPipeline * */
	const char *reason;			/* the last refusal of something Penumbra could gain from */
	bool		is_examined;	/* a table was: reads_stored_form is known */
	bool		reads_stored_form;
	const PlannerInfo *barrier_root;	/* the query level that the next is known of */
	bool		is_below_barrier;
	bool		is_cursor;		/* of DECLARE or PL/pgSQL */
	int			refused_stages; /* aggregations and DISTINCTs over served tables */
} Planning;

/* Of the innermost planner() call; NULL outside of all. */
extern Planning *planning_current(void);

/* Remembers and counts why something is left to PostgreSQL. */
extern void planning_refuse(const char *reason);

/* A path of ours. */
typedef struct PenumbraPath
{
	CustomPath	custom;
	Pipeline   *pipeline;
	List	   *scan_exprs;		/* what the node outputs, for custom_scan_tlist */
	List	   *kept_quals;		/* RestrictInfos that PostgreSQL evaluates on our rows */
} PenumbraPath;

/* Before anything else is looked at: must be a few instructions for a one-row look-up. */
extern bool paths_may_add_scan(RelOptInfo *rel, RangeTblEntry *rte);
extern void paths_add_scan(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte);
extern void paths_add_upper(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
							RelOptInfo *output_rel, void *extra);

/* price.c */
extern int	price_threads(double rows);
/* Processes at work when a parallel scan has so many workers, as costsize.c counts them. */
extern double price_processes(int workers);
extern bool price_scan_can_win(RelOptInfo *rel);
extern void price_scan(PlannedPipeline *planned, List *tables, int filter_columns,
					  int other_columns, double selected_rows, double table_rows);
extern void price_aggregation(PlannedPipeline *planned, int keys, int calls, double groups);
extern void price_sort(PlannedPipeline *planned, int keys, double bound);
extern void price_set(Path *path, const PlannedPipeline *planned);
/* Makes the price of a finished scan comparable with other inputs of joins. */
extern void price_join_input(Path *path, RelOptInfo *rel, const Path *replaced);

/* custom_path.c: make the path and its plan. */
extern PenumbraPath *custom_path_create(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
										const char *kind, const PlannedPipeline *planned,
										Path *ordinary);
extern Path *custom_path_cheapest_ordinary(RelOptInfo *rel, bool copy);
extern bool custom_path_is_ours(const Path *path);
extern bool custom_plan_is_ours(const Plan *plan);

/* custom_scan.c */
extern const CustomScanMethods *custom_scan_methods(const char *kind);
extern void custom_scan_register(void);

/* refusal.c */
extern void refusal_count(const char *reason);

/* require.c: raises an error when a plan reads user tables without Penumbra. */
extern void require_check_plan(PlannedStmt *stmt, const Planning *planning);
/* Whether any of our nodes is in the plan. */
extern bool require_plan_uses_penumbra(PlannedStmt *stmt);

/* explain.c */
extern void explain_install_hook(void);
/* What EXPLAIN says of the plan just made: why something was left to PostgreSQL, NULL for nothing. */
extern void explain_note_planning(const char *reason, bool is_partly_used);

#endif							/* PENUMBRA_PATHS_H */
