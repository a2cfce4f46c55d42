/*-------------------------------------------------------------------------
 *
 * stage_window.h
 *	  What the planner asks of window functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_WINDOW_H
#define PENUMBRA_STAGE_WINDOW_H

#include "postgres.h"

#include "nodes/primnodes.h"

#include "query/pipeline/pipeline.h"

/* Whether the function's value depends on the places of rows that are equal in the window's order. */
extern bool stage_window_needs_order(const WindowFunc *function, int frame_options);

/* The frame of the stage's functions with that number of a window. */
extern const WindowClause *stage_window_frame_of(const PipelineStage *stage, Index winref);

#endif							/* PENUMBRA_STAGE_WINDOW_H */
