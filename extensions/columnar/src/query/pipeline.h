/*-------------------------------------------------------------------------
 *
 * pipeline.h
 *	  What one Penumbra node runs: tables, their columns, and the stages over
 *	  them.  Built while planning, carried as CustomScan.custom_private.
 *
 * All expressions are PostgreSQL's, with every Var of the table renumbered to
 * PIPELINE_VARNO (set_plan_references() never sees custom_private, so range
 * table indexes would go stale).  An expression of a stage may use any
 * expression that the stage before it outputs: it is found there by equal().
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PIPELINE_H
#define PENUMBRA_PIPELINE_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#define PIPELINE_VARNO 1

typedef enum PipelineStageKind
{
	PIPELINE_FILTER,
	PIPELINE_PROJECTION,
	PIPELINE_AGGREGATION,
	PIPELINE_SORT
} PipelineStageKind;

#define PIPELINE_SORT_DESCENDING	1
#define PIPELINE_SORT_NULLS_FIRST	2

typedef struct PipelineStage
{
	PipelineStageKind kind;
	List	   *exprs;			/* conjuncts, outputs, group keys or sort keys */
	List	   *aggrefs;		/* of an aggregation */
	List	   *sort_flags;		/* integers, by sort key */
	Node	   *limit;			/* of a sort: int8 expressions or NULL */
	Node	   *offset;
} PipelineStage;

typedef struct Pipeline
{
	Oid			relation_oid;	/* whose columns the Vars number: the table, or the parent of all */
	List	   *table_oids;		/* the tables read, one or several partitions */
	List	   *table_attnos;	/* per table an integer list, by scan column */
	List	   *columns;		/* Vars: the scan's columns */
	List	   *stages;			/* of PipelineStage * */
	List	   *runtime_exprs;	/* evaluated by PostgreSQL when the node starts */
	bool		has_barrier;	/* row-level security or a security barrier hides rows: counts are not shown */
	bool		holds_rows;		/* while planning: no row leaves before the last is computed */
	List	   *output_map;		/* per column of custom_scan_tlist: engine output, or -1 for NULL */
} Pipeline;

extern Pipeline *pipeline_copy(const Pipeline *pipeline);
extern PipelineStage *pipeline_add_stage(Pipeline *pipeline, PipelineStageKind kind, List *exprs);

/* The expressions that the last stage outputs. */
extern List *pipeline_outputs(const Pipeline *pipeline);

/* The expression's place in the list, or -1.  Lists of columns can be long. */
extern int	pipeline_find_expr(const List *exprs, const Node *expr);

/* A copy of the expression with Vars of relid renumbered and PlaceHolderVars removed. */
extern Node *pipeline_normalize(Node *node, Index relid);

extern List *pipeline_to_list(const Pipeline *pipeline);
extern Pipeline *pipeline_from_list(List *list);

#endif							/* PENUMBRA_PIPELINE_H */
