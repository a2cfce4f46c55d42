/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  What may fail without the statement failing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ATTEMPT_H
#define PENUMBRA_ATTEMPT_H

#include "postgres.h"

/*
 * Calls the function in a subtransaction.  False: it raised an error, which is
 * forgotten, or no subtransaction can be had here (before 17 while workers of a parallel plan run)
 * and it was not called.  A cancel, a lack of resources, a serialization failure or
 * an internal error is raised on.
 */
extern bool attempt(void (*function) (void *argument), void *argument);

#endif							/* PENUMBRA_ATTEMPT_H */
