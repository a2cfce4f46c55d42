/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  What EXPLAIN shows of Penumbra.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EXPLAIN_H
#define PENUMBRA_EXPLAIN_H

#include "postgres.h"

extern void explain_install_hook(void);
/* What EXPLAIN says of the plan just made: why something was left to PostgreSQL, NULL for nothing. */
extern void explain_note_planning(const char *reason, bool is_partly_used);

#endif							/* PENUMBRA_EXPLAIN_H */
