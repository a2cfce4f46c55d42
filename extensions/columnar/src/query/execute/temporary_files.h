/*-------------------------------------------------------------------------
 *
 * temporary_files.h
 *	  The engine's spill files under PostgreSQL's rules for temporary files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TEMPORARY_FILES_H
#define PENUMBRA_TEMPORARY_FILES_H

#include "postgres.h"

#include "penumbra/engine.h"

/* The prefix is allocated in the current memory context. */
extern void temporary_files_set_options(PenumbraExecOptions *options);
/* Statistics and log of what the stopped execution wrote. */
extern void temporary_files_report(const PenumbraExecStats *stats, const char *prefix);

#endif							/* PENUMBRA_TEMPORARY_FILES_H */
