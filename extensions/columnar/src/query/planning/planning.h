/*-------------------------------------------------------------------------
 *
 * planning.h
 *	  What is known during one planner() call; penumbra.mode.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PLANNING_H
#define PENUMBRA_PLANNING_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/hsearch.h"

#include "query/planning/refusal.h"

typedef enum PenumbraMode
{
	MODE_AUTO,
	MODE_PREFER,				/* wherever it can, whatever it costs: for tests */
	MODE_REQUIRE,				/* the same, and an error where it cannot */
	MODE_OFF
} PenumbraMode;

extern int	penumbra_mode;
extern int	penumbra_threads_per_query;
extern int	penumbra_max_threads;

#define MODE_IS_FORCED() (penumbra_mode == MODE_PREFER || penumbra_mode == MODE_REQUIRE)

/* Refusals that a plan remembers. */
#define PLAN_REFUSALS_MAX 8

/* Of one planner() call. */
typedef struct Planning
{
	bool		is_enabled;		/* Penumbra may be used */
	bool		is_permitted;	/* see privileges_permit() */
	const PlannerInfo *permitted_root;	/* the last that privileges_permit_values() was asked of, and its answer */
	int			permitted_entries;	/* for so many entries of its range table */
	bool		permits_values;
	PlannerInfo *root;			/* the query level that paths or a plan are made for */
	List	   *tables;			/* of ServedTable * */
	List	   *joined_tables;	/* the same: small tables, at which joins alone look */
	List	   *wishes;			/* of Wish *: tables that the cache does not cover, see wishes.h */
	HTAB	   *pipelines;		/* RelPipelines by relation; NULL: none yet */
	List	   *clauses;		/* of JoinClause *: what the engine makes of conditions of joins */
	List	   *names;			/* of RangeTblEntry *: the relations that pipelines speak of */
	int			last_name;		/* the place of the one that was asked of last: mostly it is asked of again */
	List	   *replacements;	/* of Replacement *: see relation_numbers_replace() */
	bool		replaces_columns;	/* there are some of plain Vars */
	List	   *expression_columns; /* of ExpressionColumn *, and of LevelColumns *: see level_columns.h */
	List	   *expression_levels;
	List	   *own_elements;	/* of OwnElements *: see own_elements.h */
	List	   *open_matches;	/* of RangeTblEntry *: see table_expressions_open_matches() */
	int			expression_count;	/* of these that are no child's */
	List	   *returned_columns;	/* of ReturnedColumns *: see returned_columns.h */
	List	   *searched_levels;	/* of PlannerInfo *, and of WishedFunction *: see function_columns.h */
	List	   *wished_functions;
	List	   *set_operations; /* of lists of a PlannerInfo and the RangeTblEntry in names of its relation 0 */
	List	   *row_sources;	/* of FoundSource *: plans that compute rows for the engine */
	List	   *window_scans;	/* of CustomScan *: plans that output window functions */
	List	   *set_operation_scans;	/* of lists of a CustomScan that outputs Vars of relation 0, and their entry */
	/* of something Penumbra could gain from; each once, the last at the end */
	const Refusal *refusals[PLAN_REFUSALS_MAX];
	int			refusal_count;
	bool		is_examined;	/* a table was: reads_stored_form is known */
	bool		reads_stored_form;
	const PlannerInfo *barrier_root;	/* the query level that the next is known of */
	bool		is_below_barrier;
	Bitmapset  *subplans_without_volatile;	/* their plan_ids */
	const PlannerInfo *level_without_ctes;	/* no query around it has any; NULL: none known */
	List	   *taken_init_plans;	/* of the pipeline that is checked: those of levels below, whose Params it has */
	bool		has_single_ctes;	/* a pipeline reads a CTE that must not be computed twice, see shared_ctes.h */
	bool		leaves_single_ctes; /* these are PostgreSQL's */
	bool		has_conditions_of_ctes; /* a reference has some, which would reach into an inlined CTE */
	bool		is_cursor;		/* of DECLARE or PL/pgSQL */
	bool		has_executions; /* of a correlated subquery, which cost less than a join of ours */
	bool		looks_at_lookups;	/* also at tables that an index finds for each execution of a correlated subquery */
	bool		has_lookups;	/* there was one */
	int			refused_stages; /* aggregations and DISTINCTs over served tables */
} Planning;

/* penumbra.mode, threads_per_query and max_threads. */
extern void planning_define_settings(void);

/* The caller's planner() call begins and ends; mark: of the caller's frame.  An error ends it, too. */
extern void planning_begin(Planning *planning, ErrorContextCallback *mark);
extern void planning_end(const ErrorContextCallback *mark);

/* Of the innermost planner() call; NULL outside of all. */
extern Planning *planning_current(void);

/* The query level of the subquery. */
extern PlannerInfo *planning_level_of(const PlannerGlobal *glob, const SubPlan *subplan);
/* Whether the level, which is being planned, is executed for values of the rows of a level around it. */
extern bool planning_level_is_repeated(const PlannerInfo *root);
/* What PostgreSQL calls the plan of the subquery or CTE that was planned there. */
extern int	planning_number_of_level(const PlannerInfo *subroot);
/* The entry's CTE, and where it was planned; NULL: it was not planned by itself, or the entry is the recursion. */
extern CommonTableExpr *planning_find_cte(const PlannerInfo *root, const RangeTblEntry *rte, PlannerInfo **subroot);
/* Where the entry's CTE was planned, and the CTE; NULL: it is recursive, or was not planned by itself. */
extern PlannerInfo *planning_level_of_cte(const PlannerInfo *root, const RangeTblEntry *rte,
										  CommonTableExpr **found);

/* Remembers why something is left to PostgreSQL; subject: the relation or columns that it is about, or NULL. */
extern void planning_refuse(const char *reason, const char *subject);

/* The last refusal of the call; NULL: none. */
extern const Refusal *planning_refusal(const Planning *planning);

#endif							/* PENUMBRA_PLANNING_H */
