/*-------------------------------------------------------------------------
 *
 * wanted_list.h
 *	  The columns that are cached or wanted, on disk: what the worker loads
 *	  after a restart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_WANTED_LIST_H
#define PENUMBRA_WANTED_LIST_H

#include "postgres.h"

/* For the launcher, which calls it now and then; returns how long to wait at most. */
extern long wanted_list_keep(void);
/* Saves the list, unless nothing changed. */
extern void wanted_list_save(void);

#endif							/* PENUMBRA_WANTED_LIST_H */
