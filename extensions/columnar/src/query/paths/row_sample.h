/*-------------------------------------------------------------------------
 *
 * row_sample.h
 *	  What the cache says of the rows that pass a table's quals.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_SAMPLE_H
#define PENUMBRA_ROW_SAMPLE_H

#include "postgres.h"

#include "query/pipeline/rel_pipeline.h"

/* The values of a column in the rows that pass. */
typedef struct ColumnBounds
{
	AttrNumber	attno;
	int64		least;
	int64		greatest;
} ColumnBounds;

/*
 * Counts the rows of a small cached table of a join that pass its quals, and finds the
 * bounds of its columns of integers and dates in them: a fraction of a millisecond.
 * Fills sampled_share and bounds, if it can.  Of a table whose quals read expressions
 * that is done without a join, too, and of a large one sampled_share alone is filled.
 */
extern void row_sample_take(PlannerInfo *root, ServedTable *table, Relation relation);
/*
 * Fills sampled_share of a large table of a join, where the statistics of columns do not tell
 * it: of several quals, which PostgreSQL takes for independent, of patterns and of computed
 * values.  Half a millisecond, so not where an index finds the rows of a table.
 */
extern void row_sample_take_joined(PlannerInfo *root, ServedTable *table);
/* How many distinct values an expression has that is a column of a table; 0: not known, or it is none. */
extern double row_sample_distinct(PlannerInfo *root, Node *expr);
/* Of so many rows the groups by these keys. */
extern double row_sample_groups(PlannerInfo *root, List *keys, double rows);
/* The bounds of the expression in the rows that pass; NULL: not known, or no column. */
extern const ColumnBounds *row_sample_bounds(PlannerInfo *root, const Node *expr);
/* The same of those rows whose other column is within bounds. */
extern const ColumnBounds *row_sample_bounds_within(PlannerInfo *root, Var *column, Var *other,
													const ColumnBounds *within);
/* Which share of the rows that pass has the column within the bounds; below 0: not known, or all rows pass. */
extern double row_sample_share_within(PlannerInfo *root, Var *column, const ColumnBounds *within);
/* Two conditions, that the column is within the bounds; NIL: it has no such type. */
extern List *row_sample_clauses_within(Var *column, const ColumnBounds *bounds);

#endif							/* PENUMBRA_ROW_SAMPLE_H */
