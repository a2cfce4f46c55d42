/*-------------------------------------------------------------------------
 *
 * process.h
 *	  What all processes of ours do between two pieces of work.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PROCESS_H
#define PENUMBRA_PROCESS_H

#include "postgres.h"

/*
 * For a process that is connected, between two transactions: interrupts,
 * messages of other processes, and changed settings.
 */
extern void process_handle_signals(void);

#endif							/* PENUMBRA_PROCESS_H */
