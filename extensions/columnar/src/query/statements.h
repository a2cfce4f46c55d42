/*-------------------------------------------------------------------------
 *
 * statements.h
 *	  Executor hooks that measure statements.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STATEMENTS_H
#define PENUMBRA_STATEMENTS_H

#include "postgres.h"

/* penumbra.track_statements. */
extern void statements_define_settings(void);

extern void statements_install_hooks(void);

#endif							/* PENUMBRA_STATEMENTS_H */
