/*-------------------------------------------------------------------------
 *
 * range_form.h
 *	  What is in the ranges and multiranges of a call, as the engine takes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RANGE_FORM_H
#define PENUMBRA_RANGE_FORM_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

#include "penumbra/engine.h"

#define RANGE_FORM_NONE		(-1)

/* Whether an argument is a value in ranges, and no range or multirange. */
extern bool range_form_is_value(Node *node);
/* The type of the ranges or multiranges of a call: a value is beside one. */
extern Oid	range_form_type_of(List *args);
/* Their PenumbraRangeForm; RANGE_FORM_NONE: in them is something else than numbers, dates and instants. */
extern int	range_form_of(List *args);

/* A call of lower() or upper(), whose type may be given. */
extern Node *range_form_bound(Oid type, Node *range, bool is_upper);

/*
 * Of a numeric range, or of a value as such a range, a call whose type is bigint is the place of the bound: the engine
 * numbers them in their order, but some that differ have one number, and an empty range has NULL.  PostgreSQL has no
 * places, and must not evaluate what has one in it.
 */
extern bool range_form_has_place(Node *node);

/* A comparison of two values of the type by the strategy of its default order. */
extern Node *range_form_compare(Oid type, int strategy, Node *left, Node *right);

#endif							/* PENUMBRA_RANGE_FORM_H */
