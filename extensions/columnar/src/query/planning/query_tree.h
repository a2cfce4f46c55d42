/*-------------------------------------------------------------------------
 *
 * query_tree.h
 *	  What queries that are not planned yet read and do, and how one is put around another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_QUERY_TREE_H
#define PENUMBRA_QUERY_TREE_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* The query has the reference, which is entry rti of its range table.  False ends the visit. */
typedef bool (*ReferenceVisitor) (Query *query, Index rti, void *argument);

/*
 * Visits the references to a CTE of the query, wherever they stand below it.  False: a visitor ended it, or there are
 * not as many as the CTE counts.
 */
extern bool query_tree_visit_references(Query *query, const CommonTableExpr *cte, ReferenceVisitor visit,
										void *argument);

/* Whether the query has a subquery or CTE, wherever that stands. */
extern bool query_tree_has_subqueries(const Query *query);

/* Whether the query or one within it has a CTE, or a set operation in FROM. */
extern bool query_tree_has_unions_or_ctes(Query *query);

/* Adds the columns of a relation that the query and those within it read.  False: all columns are. */
extern bool query_tree_find_read(Query *query, Index relid, Bitmapset **numbers);

/* Whether the entry is in FROM, or a part of it, where no outer join makes its columns NULL. */
extern bool query_tree_is_never_null(Node *jointree, Index rti);

/* Everything by which rows of the query are grouped, told apart, sorted and divided into partitions; a new list. */
extern List *query_tree_clauses(const Query *query);

/* Whether the query has no groups, or each of the expressions is one of their keys, or an aggregate. */
extern bool query_tree_has_keys(const Query *query, const List *exprs);

/* Whether the query has values of queries around it. */
extern bool query_tree_is_correlated(Query *query);

/* Whether the query reads CTEs of queries around it. */
extern bool query_tree_reads_outer_ctes(Query *query);

/* Whether the query shows how often its rows are computed: it locks them, has samples that differ, or is volatile. */
extern bool query_tree_has_effects(Query *query);

/* The subquery as an entry of a range table, for FROM; column_names: of Strings. */
extern RangeTblEntry *query_tree_make_subquery(Query *subquery, const char *name, List *column_names);

/* A new query: SELECT every column FROM the entry, whose columns are those of the other query, WHERE the condition. */
extern Query *query_tree_select_all(RangeTblEntry *rte, const Query *columns, Node *condition);

#endif							/* PENUMBRA_QUERY_TREE_H */
