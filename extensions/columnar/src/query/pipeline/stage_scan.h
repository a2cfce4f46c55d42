/*-------------------------------------------------------------------------
 *
 * stage_scan.h
 *	  The stage of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_SCAN_H
#define PENUMBRA_STAGE_SCAN_H

#include "postgres.h"

#include "query/pipeline/pipeline.h"
#include "query/pipeline/translation.h"

/* Makes it the current operator, over nothing; false: refused. */
extern bool stage_scan_add_to_plan(Translation *translation, PipelineStage *stage);

#endif							/* PENUMBRA_STAGE_SCAN_H */
