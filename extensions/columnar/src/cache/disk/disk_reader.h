/*-------------------------------------------------------------------------
 *
 * disk_reader.h
 *	  The process that reads back, after the server's start, what is on disk.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DISK_READER_H
#define PENUMBRA_DISK_READER_H

#include "postgres.h"

/* Starts it, once per start of the server, when the columns' uses are known. */
extern void disk_start_reader(void);

extern PGDLLEXPORT void penumbra_disk_reader_main(Datum argument);

#endif							/* PENUMBRA_DISK_READER_H */
