/*-------------------------------------------------------------------------
 *
 * penumbra_numeric.c
 *	  Module start.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
}
