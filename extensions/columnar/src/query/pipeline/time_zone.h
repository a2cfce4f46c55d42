/*-------------------------------------------------------------------------
 *
 * time_zone.h
 *	  The session's time zone for the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TIME_ZONE_H
#define PENUMBRA_TIME_ZONE_H

#include "postgres.h"

#include "penumbra/engine.h"

/* Of the session, valid until the zone changes. */
extern const PenumbraTimeZone *time_zone_of_session(void);

#endif							/* PENUMBRA_TIME_ZONE_H */
