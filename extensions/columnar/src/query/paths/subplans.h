/*-------------------------------------------------------------------------
 *
 * subplans.h
 *	  Correlated subqueries as joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_SUBPLANS_H
#define PENUMBRA_SUBPLANS_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* A subquery's rows by key, under names of their own. */
typedef struct SubqueryRows
{
	RelPipeline *planned;
	List	   *values;			/* Vars: of its target */
	List	   *empty_values;	/* what they are for Params without a row; NULL: NULL */
	List	   *defaults;		/* what is in the place of NULL also with one, a Const; NULL: NULL */
	List	   *keys;			/* OpExprs: its columns = the outer expressions */
	bool		is_unique;		/* a key has one row at most */
	bool		has_default;	/* Params without a row have one in any case, with the empty values */
} SubqueryRows;

/* outer: the rows around the subquery.  False: they cannot be had for all Params at once. */
extern bool subplans_find_rows(PlannerInfo *root, const RelPipeline *outer, const SubPlan *subplan, SubqueryRows *rows);

/* Joins the pipeline with the subquery's rows, as the probe side or as the build side. */
extern void subplans_join_rows(RelPipeline *planned, const SubqueryRows *rows, PenumbraJoinKind kind,
							   List *keys, bool probes);

/*
 * Joins with an inner join, or one that keeps all outer rows; keys: with the
 * outer side first.  The side with less rows is built; if that is the outer
 * one, its keys filter what the subquery reads.
 */
extern void subplans_join_smaller_side(RelPipeline *planned, const SubqueryRows *rows, List *keys,
									   bool keeps_all);

/* Adds a condition with a subquery as a join; false: it is PostgreSQL's, and nothing was added. */
extern bool subplans_apply(PlannerInfo *root, RelPipeline *planned, RestrictInfo *rinfo, double result_rows);
/* Adds subqueries in outputs as joins; false: one is PostgreSQL's, and the pipeline is not to be used. */
extern bool subplans_join_outputs(PlannerInfo *root, RelPipeline *planned, List *exprs);
/* Joins the pipeline with a LATERAL subquery in FROM; false: it is PostgreSQL's, and nothing was added. */
extern bool subplans_join_lateral(PlannerInfo *root, RelPipeline *planned, RelOptInfo *rel, bool is_left,
								  double result_rows);

#endif							/* PENUMBRA_SUBPLANS_H */
