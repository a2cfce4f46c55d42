/*-------------------------------------------------------------------------
 *
 * explain.h
 *	  What EXPLAIN shows of Penumbra.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_EXPLAIN_H
#define PENUMBRA_EXPLAIN_H

#include "postgres.h"

#include "query/execute/scan_state.h"

extern void explain_install_hook(void);
/* What EXPLAIN is to say of the query, if that is what it explains: why something was left to PostgreSQL. */
extern void explain_note_planning(const Query *query, const char *reason, bool is_partly_used);

/* A callback of CustomExecMethods. */
extern void explain_custom_scan(CustomScanState *node, List *ancestors, ExplainState *es);
/* Copies the engine's statistics before it goes. */
extern void explain_keep_report(PenumbraScanState *state);

#endif							/* PENUMBRA_EXPLAIN_H */
