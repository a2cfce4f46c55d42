/*-------------------------------------------------------------------------
 *
 * pipeline.h
 *	  What one Penumbra node runs: a tree of stages from tables to the rows
 *	  that leave it.  Built while planning, carried as CustomScan.custom_private.
 *
 * Expressions are PostgreSQL's, with every Var renumbered: its varno is a name,
 * see relation_numbers.h, and nothing of outer joins is kept
 * in it (set_plan_references() never sees custom_private, so range table
 * indexes would go stale; and a subquery's stages stand in the same tree as
 * those of the query around it).  An expression of a stage may use any
 * expression that its inputs output: it is found there by equal().  A
 * placeholder (see relation_numbers.h) is such an output from the relation on that
 * PostgreSQL computes it at, so that outer joins above make it NULL.
 *
 * A stage does not change once another one has it as input, so pipelines share
 * them.  A stage may also be the input of several in one pipeline, as a CTE
 * that is read twice: where that can be (pipeline_can_share()) it is computed once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PIPELINE_H
#define PENUMBRA_PIPELINE_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#include "penumbra/engine.h"

typedef enum PipelineStageKind
{
	PIPELINE_SCAN,
	PIPELINE_FILTER,
	PIPELINE_PROJECTION,
	PIPELINE_AGGREGATION,
	PIPELINE_SORT,
	PIPELINE_WINDOW,
	PIPELINE_UNION,
	PIPELINE_UNNEST,
	PIPELINE_JOIN,
	PIPELINE_WORKING_TABLE,
	PIPELINE_RECURSION
} PipelineStageKind;

#define PIPELINE_SORT_DESCENDING	1
#define PIPELINE_SORT_NULLS_FIRST	2
#define PIPELINE_SORT_OF_PEERS		4	/* of a window's last key, which tells no peers apart */

typedef struct PipelineStage
{
	PipelineStageKind kind;
	List	   *inputs;			/* of PipelineStage *: none of a scan or a working table; all of a union;
								 * a join's probe and build side; a recursion's first rows, and what
								 * becomes of the working table's */
	List	   *exprs;			/* conjuncts, outputs, group keys or sort keys; the columns of a scan, Vars;
								 * of a window PARTITION BY's keys, then ORDER BY's, which have sort_flags */
	List	   *names;			/* of a projection: what its outputs are called above; NIL: as they are; what
								 * a mark join adds, or the number of the grouping set; of
								 * unnesting the elements, and their number if there is one more */
	List	   *aggrefs;		/* of an aggregation; a window's WindowFuncs; of unnesting those of each row's elements:
								 * then the rows stay, and a value that is no aggregate is of the only element */
	List	   *frames;			/* of a window: WindowClauses with their number and frame, and nothing else */
	List	   *grouping_sets;	/* of an aggregation: integer lists of places in exprs, or NIL */
	List	   *sort_flags;		/* integers, by sort key */
	Node	   *limit;			/* of a sort, or a filter that is WITH TIES: int8 expressions or NULL */
	Node	   *offset;
	Oid			relation_oid;	/* of a scan: whose columns the Vars number, the table or the parent of all */
	List	   *table_oids;		/* the tables read, one or several partitions */
	List	   *table_attnums;	/* per table an integer list, by scan column */
	List	   *sample;			/* the TableSampleClause, and the relation's number, of whose rows the scan has a
								 * sample; NIL: it has all */
	Node	   *source;			/* of a scan of rows that a plan computes, an Integer: its number, see
								 * external_rows_plan.h; NULL: of tables.  table_attnums has its columns. */
	PlannerInfo *source_root;	/* with the next three while planning: it scans this level's relation */
	Index		source_relid;
	List	   *source_columns;	/* Vars of it */
	Path	   *source_path;	/* of a table */
	PenumbraJoinKind join_kind;
	PenumbraJoinChoice join_choice; /* which of the matches come out, by the only condition */
	bool		is_null_aware;	/* of an anti join: NOT IN */
	bool		is_distinct;	/* of a recursion: UNION */
	bool		gives_late;		/* of a recursion: all rows are read, and none leaves before the last is there */
	bool		takes_any_calls;	/* while planning, of a filter: PostgreSQL would evaluate it for each row, too */
	bool		may_refuse_lists;	/* of unnesting, which is an inner or left join with each row's lists, in exprs; of
									 * aggregates of each row SINGLE says that the last counts one element at most */
	List	   *join_keys;		/* OpExprs: an equality of a probe side's and a build side's expression; DistinctExprs
								 * of such ones: IS NOT DISTINCT FROM */
	double		probe_rows;		/* of a join: that are expected to go in; 0: not known */
	double		build_rows;		/* the same of the side that the table is built of */
	double		build_rows_max; /* when it runs, see swap_sides.c; 0: any number */
	int			swaps;			/* how often its sides have changed places since it was planned */
	double		rows;			/* that are expected to come out; 0: as many as go in, or not known */
	int			single_cte;		/* number of the CTE of these rows, if it must not be computed twice; 0: none */
	PenumbraOperator operator;	/* of a translated stage: its last in the engine's plan */
	PenumbraOperator before;	/* the last that was made before its own */
} PipelineStage;

typedef struct Pipeline
{
	PipelineStage *top;
	List	   *runtime_exprs;	/* evaluated by PostgreSQL when the node starts */
	List	   *called_exprs;	/* evaluated by PostgreSQL while the engine runs, see host_call.h */
	List	   *tried_params;	/* of a node: ids of Params in them whose InitPlans can fail, see runtime_values.c */
	bool		is_checked;		/* the engine takes it; runtime_exprs and called_exprs are known */
	List	   *init_plans;		/* while planning: SubPlans of subqueries, of which expressions use the Params */
	bool		has_barrier;	/* row-level security or a security barrier hides rows: counts are not shown */
	bool		holds_rows;		/* while planning: no row leaves before the last is computed */
	bool		reads_working_table;	/* the same: it is a part of a recursion, and nothing by itself */
	double		ordinary_rows;	/* of a node: PostgreSQL's plan runs first; if it gives more rows, the engine anew */
	double		ordinary_input_rows;	/* the same, if it reads more rows to make groups of */
	List	   *output_map;		/* per column of custom_scan_tlist: see below */
	List	   *default_map;	/* then, where that is not NIL: the Const in the place of NULL; else NULL */
	List	   *position_map;	/* then, where that is an attribute: the output that is its row's position; else -1 */
	List	   *expression_columns; /* of a node: expressions that are columns of its scans, see expression_columns.h */
	List	   *names;			/* of a node: what EXPLAIN calls the Vars' relations, see relation_numbers.h */
} Pipeline;

/*
 * Of an output map: the number of an engine output, or NULL, or an attribute that
 * the engine cannot read and the heap's row has, of a table whose rows have their positions.
 */
#define OUTPUT_IS_NULL			(-1)
#define OUTPUT_OF_ATTRIBUTE(attno)	(OUTPUT_IS_NULL - (attno))
#define OUTPUT_IS_ATTRIBUTE(output)	((output) < OUTPUT_IS_NULL)
#define ATTRIBUTE_OF_OUTPUT(output)	(OUTPUT_IS_NULL - (output))

/* A pipeline that can be extended or finished without changing the other. */
extern Pipeline *pipeline_copy(const Pipeline *pipeline);
/* A stage over the last, which it takes the place of; that may be NULL, below a scan. */
extern PipelineStage *pipeline_add_stage(Pipeline *pipeline, PipelineStageKind kind, List *exprs);

/* The node is an int4 constant; the expression, an int4, equals it. */
extern Node *pipeline_int4(int value);
extern Node *pipeline_int4_equals(void *expr, int value);
extern Node *pipeline_int8(int64 value);
/* The expression, an int8, is so to the value, another: a strategy of btree. */
extern Node *pipeline_compare_int8s(void *expr, int strategy, Node *value);
extern Node *pipeline_compare_int8(void *expr, int strategy, int64 value);
/* coalesce(value, other) */
extern Node *pipeline_coalesce(Node *value, Node *other);
/* WHEN condition THEN result */
extern CaseWhen *pipeline_when(void *condition, void *result);
/* CASE whens ELSE otherwise END */
extern Node *pipeline_case(Oid type, Oid collation, List *whens, void *otherwise);
/* value IS [NOT] NULL */
extern Node *pipeline_null_test(void *value, NullTestType kind);
extern Const *pipeline_constant(Oid type, int32 typmod, Oid collation, Datum value, bool is_null);
/* The constant of such an expression as pipeline_coalesce() makes, if the other is one; else NULL. */
extern Const *pipeline_default_of(Node *expr);
/* A plain aggregate of the value, or of rows (NULL). */
extern Aggref *pipeline_aggref(Oid function, Oid type, Node *value, Oid collation);
/* The aggregate that is called, whether or not it is one. */
extern Aggref *pipeline_aggref_of_window(const WindowFunc *function);
/*
 * Window functions as calls of aggregates, for EXPLAIN: from PostgreSQL 18 on
 * it looks for a WindowFunc's window in a WindowAgg, and fails without one.
 */
extern Node *pipeline_without_windows(Node *node);

/* row_number() over the window of that number */
extern WindowFunc *pipeline_row_number(Index window);
/* Adds row_number() by the keys, of which those at the end that have flags are the order. */
extern WindowFunc *pipeline_add_row_number(Pipeline *pipeline, List *keys, List *sort_flags);

/* The pipeline has stages of the other now. */
extern void pipeline_take(Pipeline *pipeline, const Pipeline *other);

/* The equality with its sides swapped; NULL: it cannot be. */
extern OpExpr *pipeline_commuted_key(const OpExpr *key);
/* All of them; NIL: one cannot be. */
extern List *pipeline_commuted_keys(List *keys);

/* The stages without inputs, in the order in which a plan is made of them. */
extern List *pipeline_scans(const Pipeline *pipeline);
/*
 * Whether it is computed once however many stages have it as their input: a breaker
 * keeps its rows, and filters and projections above it run again.
 */
extern bool pipeline_can_share(const PipelineStage *stage);
/* Whether no stage has more than one input. */
extern bool pipeline_is_chain(const Pipeline *pipeline);
/* Every stage, inputs first; one that is shared once. */
extern List *pipeline_stages(const Pipeline *pipeline);
/* Of the relations that its expressions read, see relation_numbers.h. */
extern Bitmapset *pipeline_numbers(const Pipeline *pipeline);

/* The expression's place in the list, or -1.  Lists of columns can be long. */
extern int	pipeline_find_expr(const List *exprs, const Node *expr);
/* Whether it reads no column, aggregate or window function but what the outputs have. */
extern bool pipeline_reads_only(List *outputs, void *expr);

/* As a plan holds it, and a pipeline made of that; both share expressions with what they are made of. */
extern List *pipeline_to_list(const Pipeline *pipeline);
extern Pipeline *pipeline_from_list(List *list);

#endif							/* PENUMBRA_PIPELINE_H */
