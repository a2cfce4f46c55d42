/*-------------------------------------------------------------------------
 *
 * receivers.h
 *	  Who takes the rows of a statement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RECEIVERS_H
#define PENUMBRA_RECEIVERS_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "tcop/dest.h"

/* A faster receiver for one run of the query, in place of its own and on top of it; NULL: there is none. */
extern DestReceiver *receivers_create(const QueryDesc *query);

#endif							/* PENUMBRA_RECEIVERS_H */
