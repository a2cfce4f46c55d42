/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  Background loading: one launcher, one worker per database that has
 *	  something to do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WORKER_H
#define PENUMBRA_WORKER_H

#include "postgres.h"

extern bool penumbra_auto_load;

extern void worker_define_settings(void);
extern void worker_register_launcher(void);

extern PGDLLEXPORT void penumbra_launcher_main(Datum argument);
extern PGDLLEXPORT void penumbra_worker_main(Datum argument);

#endif							/* PENUMBRA_WORKER_H */
