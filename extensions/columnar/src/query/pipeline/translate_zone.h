/*-------------------------------------------------------------------------
 *
 * translate_zone.h
 *	  Time zones that are arguments of functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_ZONE_H
#define PENUMBRA_TRANSLATE_ZONE_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* A zone, by its name or as an interval, as the engine's functions take it. */
extern PenumbraExpr translate_zone(Translation *translation, Node *zone);
/* make_timestamptz() in a zone. */
extern PenumbraExpr translate_made_in_zone(Translation *translation, const FuncExpr *func);

#endif							/* PENUMBRA_TRANSLATE_ZONE_H */
