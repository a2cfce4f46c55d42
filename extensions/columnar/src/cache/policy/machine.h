/*-------------------------------------------------------------------------
 *
 * machine.h
 *	  The memory that this server can have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MACHINE_H
#define PENUMBRA_MACHINE_H

#include "postgres.h"

/*
 * The machine's memory, or the limit of a control group that the process is in, or of
 * what the kernel promises; now, since limits change.
 */
extern Size machine_memory_bytes(void);

/* The share of it that a setting takes by default. */
#define MACHINE_SHARE	4
/* That share in MB, as such a default: within what an integer setting may be. */
extern int machine_default_mb(void);

/*
 * The least limit of the control groups that are named in the file `groups`, as
 * /proc/self/cgroup, and of those around them, below the directory `mounts`.
 * SIZE_MAX: none.
 */
extern Size machine_group_limit(const char *groups, const char *mounts);

/*
 * What the kernel promises to all processes together where vm.overcommit_memory is 2,
 * by the files below `proc`, as /proc.  SIZE_MAX: it is not, or they are not there.
 */
extern Size machine_commit_limit(const char *proc);

#endif							/* PENUMBRA_MACHINE_H */
