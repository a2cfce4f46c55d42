/*-------------------------------------------------------------------------
 *
 * disk_worker.h
 *	  The process that saves what is cached, and finds it at its start.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_WORKER_H
#define PENUMBRA_DISK_WORKER_H

#include "postgres.h"

extern PGDLLEXPORT void penumbra_disk_worker_main(Datum argument);

#endif							/* PENUMBRA_DISK_WORKER_H */
