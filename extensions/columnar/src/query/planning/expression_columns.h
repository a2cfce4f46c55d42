/*-------------------------------------------------------------------------
 *
 * expression_columns.h
 *	  Columns of scans that are expressions of a table's columns.
 *
 * Of a column whose type the engine lacks, a document or an array, queries mostly
 * read a value inside it.  Where all that a query level does with such a column
 * is done by expressions that the cache can hold (cached_expression.h), the scan
 * outputs these and not the column.  Functions that the engine lacks are columns, too
 * (query/paths/function_columns.h).  In pipelines a Var stands for each, with a
 * number that no attribute can have (relation_numbers_replace()).
 *
 * Of a set-returning function the column has lists (list_image.h), which the stage of
 * unnesting makes rows of.  A Var of its own stands for the elements.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EXPRESSION_COLUMNS_H
#define PENUMBRA_EXPRESSION_COLUMNS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "cache/cached_expression.h"

#define EXPRESSION_COLUMN_FIRST		2000
#define expression_column_is(number) ((number) >= EXPRESSION_COLUMN_FIRST)

/* Whether the cache has nearly all of the table's expression; the key, or zeros if it has none. */
extern bool expression_columns_is_cached(PlannerInfo *root, Index relid, Node *expr, ExpressionNeed need,
										 ColumnKey *key);
/* Whether it is one now. */
extern bool expression_columns_is_one(const PlannerInfo *root, Node *node);
/* Makes it one wherever it stands in the level. */
extern void expression_columns_add(PlannerInfo *root, Node *node);
/* Makes lists one, for whose elements the Var stands. */
extern void expression_columns_add_elements(PlannerInfo *root, Node *expr, Var *elements);
/* Makes lists one of the relation in FROM, of which that has no column. */
extern void expression_columns_add_source(PlannerInfo *root, Index relid, Node *expr);
/* What stands for the elements of such lists, as that column of the relation; 0: as none.  NULL: there are none. */
extern Var *expression_columns_elements(PlannerInfo *root, Index relid, Node *expr, AttrNumber number);
/* The numbers of those of the relation; a new list.  A child of a table has its parent's. */
extern List *expression_columns_numbers(PlannerInfo *root, Index relid);
/* What a member of UNION ALL outputs for the column of the whole. */
extern Var *expression_columns_of_member(PlannerInfo *root, Index relid, AttrNumber number);
/* Plain columns of the topmost parent of the table, or its own: those that these are; relid becomes the parent's. */
extern List *expression_columns_of_parent(const PlannerInfo *root, Index *relid, List *attnums);
/* Whether a row can have an error in place of the value of one of these columns. */
extern bool expression_columns_can_fail(List *numbers);
/*
 * A call of a set-returning function, of a query level: what a scan outputs for it, a column of lists, and
 * what stands for the elements where the call is of a target list.  NULL: its rows are not cached.
 */
extern Var *expression_columns_of_set(PlannerInfo *root, Node *call, Var **elements);
/*
 * The same of the relation that jsonb_array_elements() or regexp_matches() is in FROM: lists of both; NIL: it is
 * another, or not cached.
 */
extern List *expression_columns_of_elements(PlannerInfo *root, Index relid);
/* The Var of pipelines that stands for the column, by its number. */
extern Var *expression_columns_var(AttrNumber number);

/*
 * Expressions of columns as plans have them: lists of a number, an expression with Vars of relation 1, and what
 * pipelines call the relation.  A table and its children have the same number, and other columns of their own.
 */

/* While planning: of those numbers of the relation that are expressions. */
extern List *expression_columns_list(List *numbers, Index relation);
/* Adds those that a scan outputs, and of a member of UNION ALL what the whole has in their place. */
extern List *expression_columns_of_scan(List *expressions, List *vars);
/*
 * The columns of a table, by their numbers in the plan.  "relation" is the table or a parent, whose columns
 * the expressions read; pipelines call it "name".  NULL: one of them cannot be cached.
 */
extern ColumnKey *expression_columns_keys(Oid relation, Oid table, Index name, List *numbers, List *expressions);

#endif							/* PENUMBRA_EXPRESSION_COLUMNS_H */
