/*-------------------------------------------------------------------------
 *
 * privileges.h
 *	  Whether planning may look at cached values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PRIVILEGES_H
#define PENUMBRA_PRIVILEGES_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Whether the executor will let all of the statement pass; before it is planned. */
extern bool privileges_permit(Query *query);
/* The gate before every look at values: samples, bounds, zone maps. */
extern bool privileges_permit_values(const PlannerInfo *root);

#endif							/* PENUMBRA_PRIVILEGES_H */
