/*-------------------------------------------------------------------------
 *
 * narrow_ctes.h
 *	  The query with CTEs that have only the rows that a reference wants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NARROW_CTES_H
#define PENUMBRA_NARROW_CTES_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: no CTE has rows that none of its references wants. */
extern Query *narrow_ctes(Query *query);

/* Whether it shows how often its rows are computed: it locks them, or is volatile. */
extern bool narrow_ctes_has_effects(Query *query);
/* SELECT every column FROM the relation, which has those of the query, WHERE the condition. */
extern Query *narrow_ctes_select_all(RangeTblEntry *rte, const Query *columns, Node *condition);

#endif							/* PENUMBRA_NARROW_CTES_H */
