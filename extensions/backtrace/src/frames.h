/*-------------------------------------------------------------------------
 *
 * frames.h
 *	  Stacks as rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_FRAMES_H
#define BACKTRACE_FRAMES_H

#include "postgres.h"

#include "nodes/execnodes.h"

extern void frames_put(ReturnSetInfo *result, char *text);

#endif							/* BACKTRACE_FRAMES_H */
