/*-------------------------------------------------------------------------
 *
 * translate_collation.h
 *	  Collations for the engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_COLLATION_H
#define PENUMBRA_TRANSLATE_COLLATION_H

#include "postgres.h"

#include "query/translate.h"

extern bool translate_collation(Translation *translation, PenumbraFunction function, Oid collation,
								PenumbraCollation **found);

#endif							/* PENUMBRA_TRANSLATE_COLLATION_H */
