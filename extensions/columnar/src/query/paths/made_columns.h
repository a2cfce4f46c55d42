/*-------------------------------------------------------------------------
 *
 * made_columns.h
 *	  Columns of subqueries and CTEs that these make of values, as what they are made of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MADE_COLUMNS_H
#define PENUMBRA_MADE_COLUMNS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "query/planning/made_values.h"

/* A query, and those around it. */
typedef struct QueryLevel
{
	Query	   *query;
	const struct QueryLevel *around;	/* NULL: it is the topmost one */
} QueryLevel;

/* Whether columns of the query may be other expressions than those that it has. */
extern bool made_columns_can_be_parts(const Query *query);

/* Whether the expression, or what it is in a subquery or CTE, may be a made value. */
extern bool made_columns_may_be(const QueryLevel *level, Node *expr);

/*
 * Makes the value of such a column in the query, of others that the subquery or CTE gets.  The queries are changed.
 * Where an outer join can lack the subquery's row the value is CASE WHEN marker THEN it END, and that is true there.
 */
extern void made_columns_take(const QueryLevel *level, const Node *expr);

/*
 * As made_value_take_apart(), also of such a CASE: its first part is the marker, and all are NULL where the whole is.
 * Another value has none: *marker is NULL.
 */
extern bool made_columns_take_apart(const QueryLevel *level, Node *expr, MadeValue *made, const Node **marker);

#endif							/* PENUMBRA_MADE_COLUMNS_H */
