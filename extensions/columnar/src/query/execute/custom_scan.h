/*-------------------------------------------------------------------------
 *
 * custom_scan.h
 *	  Execution of Penumbra's nodes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CUSTOM_SCAN_H
#define PENUMBRA_CUSTOM_SCAN_H

#include "postgres.h"

/* A callback of CustomScanMethods. */
extern Node *custom_scan_create_state(CustomScan *scan);

#endif							/* PENUMBRA_CUSTOM_SCAN_H */
