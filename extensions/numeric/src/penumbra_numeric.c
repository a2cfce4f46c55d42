/*-------------------------------------------------------------------------
 *
 * penumbra_numeric.c
 *	  Module start.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "takeover.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	search_path_define_settings();
	plan_rewrite_define_settings();
	MarkGUCPrefixReserved("penumbra_numeric");
	plan_rewrite_install_hook();
}
