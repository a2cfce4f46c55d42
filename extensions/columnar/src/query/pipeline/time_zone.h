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

#include "penumbra/engine.h"
#include "query/pipeline/translation.h"

/* Of the session, valid until the zone changes. */
extern const PenumbraTimeZone *time_zone_of_session(void);

/* PenumbraZoneHeader of the zone of that name or abbreviation; empty: there is none, or it has no one table. */
extern bytea *time_zone_named(const text *name);

/* A zone, by its name or as an interval, as an argument of the engine's functions. */
extern PenumbraExpr time_zone_translate(Translation *translation, Node *zone);

#endif							/* PENUMBRA_TIME_ZONE_H */
