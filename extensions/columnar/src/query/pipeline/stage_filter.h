/*-------------------------------------------------------------------------
 *
 * stage_filter.h
 *	  The stage of a filter.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_FILTER_H
#define PENUMBRA_STAGE_FILTER_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* Adds a filter over the current operator; false: refused. */
extern bool stage_filter_add_conjuncts(Translation *translation, const PenumbraExpr *conjuncts, int count);

#endif							/* PENUMBRA_STAGE_FILTER_H */
