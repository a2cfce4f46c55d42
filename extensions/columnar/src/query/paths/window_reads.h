/*-------------------------------------------------------------------------
 *
 * window_reads.h
 *	  The functions of PostgreSQL's windows, and how far they read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WINDOW_READS_H
#define PENUMBRA_WINDOW_READS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* The level's functions of the window, and those of its conditions. */
extern List *window_reads_functions(PlannerInfo *root, const WindowAggPath *path);

typedef enum WindowReads
{
	WINDOW_READS_BEHIND,		/* no further than the row and its peers */
	WINDOW_READS_PARTITION,		/* to the end of a partition, or as far as an offset says */
	WINDOW_READS_ALL,			/* to the end of the only partition */
} WindowReads;

/* How far PostgreSQL reads its rows before it has the values of one. */
extern WindowReads window_reads_of(PlannerInfo *root, const WindowAggPath *path);
#endif							/* PENUMBRA_WINDOW_READS_H */
