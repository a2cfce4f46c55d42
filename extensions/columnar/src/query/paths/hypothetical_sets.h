/*-------------------------------------------------------------------------
 *
 * hypothetical_sets.h
 *	  rank() and the like WITHIN GROUP, as counts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HYPOTHETICAL_SETS_H
#define PENUMBRA_HYPOTHETICAL_SETS_H

#include "postgres.h"

#include "nodes/pg_list.h"

/*
 * The aggregates, with plain ones in the places of hypothetical-set ones.  These, and the expressions of plain ones
 * that stand for them, go into the lists, which stay NIL where there are none.  has_sets: a group's keys may be NULL
 * in place of what its rows have.
 */
extern List *hypothetical_sets_replace(List *aggrefs, bool has_sets, List **replaced, List **values);

#endif							/* PENUMBRA_HYPOTHETICAL_SETS_H */
