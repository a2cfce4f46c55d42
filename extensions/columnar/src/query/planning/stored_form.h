/*-------------------------------------------------------------------------
 *
 * stored_form.h
 *	  Queries that look at how a value is stored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STORED_FORM_H
#define PENUMBRA_STORED_FORM_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Whether the query that root is a level of calls pg_column_size() or the like. */
extern bool stored_form_is_read(PlannerInfo *root);

#endif							/* PENUMBRA_STORED_FORM_H */
