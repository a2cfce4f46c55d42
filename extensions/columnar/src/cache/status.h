/*-------------------------------------------------------------------------
 *
 * status.h
 *	  The engine's statuses as errors of PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STATUS_H
#define PENUMBRA_STATUS_H

#include "postgres.h"

#include "penumbra/engine.h"

/* The text of a status other than PENUMBRA_OK. */
extern const char *status_text(const PenumbraStatus *status);

/* Raises the ereport that belongs to a status other than PENUMBRA_OK. */
extern void status_report(const PenumbraStatus *status) __attribute__((noreturn));

#endif							/* PENUMBRA_STATUS_H */
