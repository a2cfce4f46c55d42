/*-------------------------------------------------------------------------
 *
 * time_zone.h
 *	  Time zones for the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TIME_ZONE_H
#define PENUMBRA_TIME_ZONE_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "penumbra/engine.h"

/* Of the session, valid until the zone changes. */
extern const PenumbraTimeZone *time_zone_of_session(void);

/*
 * PenumbraZoneHeader: of the zone of that name or abbreviation, of that offset, and of no zone, which the others give
 * where there is none, or none with one table.
 */
extern bytea *time_zone_named(const text *name);
extern bytea *time_zone_of_interval(const Interval *interval);
extern bytea *time_zone_unknown(void);

#endif							/* PENUMBRA_TIME_ZONE_H */
