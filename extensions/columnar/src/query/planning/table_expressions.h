/*-------------------------------------------------------------------------
 *
 * table_expressions.h
 *	  Expressions of a query level that can be columns of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLE_EXPRESSIONS_H
#define PENUMBRA_TABLE_EXPRESSIONS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Whether the expression of the level can be a column, and of which relation: a table, or a function in FROM whose rows
 * are of a table's documents or arrays.
 */
extern bool table_expressions_may_be_column(PlannerInfo *root, Node *node, Index *relid);
/* The expression that gives the values of such a one for a row of a table, perhaps itself; the table. */
extern Node *table_expressions_resolve(PlannerInfo *root, Node *node, Index *relid);
/* Whether the cache can have an expression of a table's own columns, and the level may read it from there. */
extern bool table_expressions_can_be_cached(PlannerInfo *root, Node *expr);
/*
 * The relation of which all Vars are; 0: they are of several.  With a root, columns of a function in FROM and of the
 * relation whose elements it gives are the function's.  From 16 on pull_varnos() counts outer joins, too.
 */
extern Index table_expressions_relation(const PlannerInfo *root, Node *node);

/*
 * The call that the relation is, alone, of a function that gives rows of documents, open arrays or several columns.
 * NULL: the relation is something else.
 */
extern FuncExpr *table_expressions_elements_call(const PlannerInfo *root, Index relid);
/* If its rows are records that are made of documents: the function. */
extern const RangeTblFunction *table_expressions_records(const PlannerInfo *root, Index relid);
/* How the values of its column follow from the rows of the call.  NULL: that is not known, or it has no such column. */
extern Node *table_expressions_element_column(const PlannerInfo *root, Index relid, AttrNumber number);
/*
 * Whether it is a column of a table or of a UNION ALL of tables, or of a relation that is such a call, whose elements
 * can be in lists.
 */
extern bool table_expressions_is_column(const PlannerInfo *root, const Var *var);
/* Without what Vars say of outer joins above their relation. */
extern Node *table_expressions_below_joins(Node *expr);
/* The parent's expression as that of a child: of a table, or a member of UNION ALL. */
extern Node *table_expressions_of_child(PlannerInfo *root, Node *expr, AppendRelInfo *appinfo);
/* Something small of a document or array. */
extern Node *table_expressions_any_of_element(Node *element);
/*
 * The expressions by which the level reads the arrays of regexp_matches() in FROM, which is open from here on: they can
 * be columns.  NIL: the relation is another, or an array is read whole.
 */
extern List *table_expressions_open_matches(PlannerInfo *root, Index relid);
/* As if that had not been called. */
extern void table_expressions_close_matches(PlannerInfo *root, Index relid);

#endif							/* PENUMBRA_TABLE_EXPRESSIONS_H */
