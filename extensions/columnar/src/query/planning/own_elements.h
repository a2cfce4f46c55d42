/*-------------------------------------------------------------------------
 *
 * own_elements.h
 *	  Subqueries over the elements of an array or document of the row around them.
 *
 *		(SELECT sum((e ->> 'price')::numeric)
 *		 FROM jsonb_array_elements(t.doc -> 'items') e WHERE e ->> 'state' = 'sold')
 *
 * The elements are lists, columns of the table around the subquery (list_image.h).
 * So the subquery's expressions are ones of the level around it, in which the
 * set-returning function stands for the element, as in a target list.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_OWN_ELEMENTS_H
#define PENUMBRA_OWN_ELEMENTS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* The number of a Param in the expressions that stands for the element's number, from WITH ORDINALITY. */
#define OWN_ELEMENTS_NUMBER_PARAM	(-1)

typedef struct OwnElements
{
	const PlannerInfo *subroot; /* the subquery's level */
	FuncExpr   *call;			/* of the set-returning function */
	Node	   *any_value;		/* something small of an element; NULL: there is none */
	List	   *conditions;		/* conjuncts */
	List	   *values;			/* what the subquery returns; of aggregates, if has_aggregates: then in one row */
	bool		has_aggregates;
	bool		is_first;		/* LIMIT 1: of the first element, by the next two */
	List	   *sort_clauses;	/* SortGroupClauses, whose keys are the expressions */
	List	   *sort_exprs;
	List	   *read;			/* all of these, or something of the elements if they read none */
} OwnElements;

/* The level around the subquery has these values for its Params.  NULL: it is none of these. */
extern OwnElements *own_elements_of(PlannerInfo *subroot, List *params, List *values);

/* One whose lists are columns of the level around it is kept, and found by its own level.  NULL: there is none. */
extern void own_elements_keep(OwnElements *own);
extern const OwnElements *own_elements_find(const PlannerInfo *subroot);

#endif							/* PENUMBRA_OWN_ELEMENTS_H */
