/*-------------------------------------------------------------------------
 *
 * level_columns.h
 *	  Which columns of its relations a query level reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LEVEL_COLUMNS_H
#define PENUMBRA_LEVEL_COLUMNS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * The columns, ascending, that a scan of the base relation has: what it outputs
 * and what its quals read.  NIL with a reason: it reads what is no column.
 */
extern List *level_columns_of_rel(PlannerInfo *root, RelOptInfo *rel, const char **reason);
/* Whether an expression reads a column of a relation directly that no scan of ours outputs. */
extern bool level_columns_hide(PlannerInfo *root, List *exprs);
/*
 * Whether the level, the query's, does nothing with these columns of the relation but return them, or what PostgreSQL
 * computes of them.  Then the Var stands for each in pipelines, of the topmost parent: the row's position.
 */
extern bool level_columns_return(PlannerInfo *root, const RelOptInfo *rel, List *attnums, Var *position);
/* The same of a column of a subquery, which is such a position there. */
extern bool level_columns_pass(PlannerInfo *root, RelOptInfo *rel, AttrNumber attno, Var *position);
/* Whether the expression is a column of a table that has no NULL, nor gets any from an outer join. */
extern bool level_columns_is_not_null(PlannerInfo *root, Node *expr);
/*
 * Whether the query only returns the column, which the engine can read, of so few rows that it is better fetched than
 * cached of all.
 */
extern bool level_columns_is_spared(PlannerInfo *root, const RelOptInfo *rel, AttrNumber attno);

#endif							/* PENUMBRA_LEVEL_COLUMNS_H */
