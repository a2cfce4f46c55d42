/*-------------------------------------------------------------------------
 *
 * relation_numbers.h
 *	  The numbers by which pipelines call relations.
 *
 * A relation of any level of the query has its own, so that stages of a
 * subquery and of the query around it can stand in one pipeline.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RELATION_NUMBERS_H
#define PENUMBRA_RELATION_NUMBERS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* The number of the relation, for as long as the query is planned. */
extern Index relation_number_of(PlannerInfo *root, Index relid);
/* The relation of this query level that has the number; 0: none has. */
extern Index relation_number_relid(const PlannerInfo *root, Index number);
/* The same of this level or of one below: the relation. */
extern RelOptInfo *relation_number_rel(const PlannerInfo *root, Index number);
/* The entry of the level's set operations, whose columns are Vars of relation 0; up to 17 the last is a flag. */
extern RangeTblEntry *relation_numbers_set_operation(PlannerInfo *root);
/* One of its own, with a column. */
extern Index relation_number_add(const char *alias, const char *column);
/* Another column of such a one, for the expression, which is added to the expressions, and its Var to the names. */
extern Var *relation_number_add_column(Index number, Node *expr, List **exprs, List **names);
/*
 * A copy of the expression of this query level for a pipeline: Vars renumbered, and nothing of outer joins
 * in them.  A PlaceHolderVar, which a plan cannot hold, becomes a NamedArgExpr
 * of its expression and number; plans have no others.
 */
extern Node *relation_numbers_normalize(PlannerInfo *root, Node *node);

/*
 * From here on that makes the Var of an expression of the level which is equal to this one, normalized.  A Var
 * is taken for one where it is not inside of another such expression.
 */
extern void relation_numbers_replace(PlannerInfo *root, Node *normalized, Var *var);

/* What the planner knows of the PlaceHolderVar; NULL: nothing. */
extern const PlaceHolderInfo *relation_numbers_find_placeholder(const PlannerInfo *root,
																const PlaceHolderVar *placeholder);

/* The numbers that the expressions, normalized, have: a query of many nodes has many others. */
extern Bitmapset *names_add_numbers(Bitmapset *numbers, List *exprs);
/*
 * What EXPLAIN needs to write expressions of these: lists of a number, the
 * alias, the table's OID or 0, and without a table the columns' names.
 */
extern List *relation_numbers_to_list(const Bitmapset *numbers);
/* The alias in such lists. */
extern const char *relation_number_alias(List *names, Index number);
/* A context for deparse_expression(). */
extern List *relation_numbers_deparse_context(List *names);

#endif							/* PENUMBRA_RELATION_NUMBERS_H */
