/*-------------------------------------------------------------------------
 *
 * penumbra_keytree.c
 *	  The library: resource manager and access method.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/reloptions.h"
#include "catalog/pg_am.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "build.h"
#include "change.h"
#include "cost.h"
#include "inner_copy.h"
#include "operator_class.h"
#include "scan.h"
#include "tree.h"
#include "vacuum.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

static relopt_kind no_options;

PENUMBRA_SQL_FUNCTION(keytree_handler);

void
_PG_init(void)
{
	if (process_shared_preload_libraries_in_progress)
		keytree_register_rmgr();
	DefineCustomIntVariable("penumbra_keytree.inner_copy_memory",
							"Memory that a backend may use for copies of inner pages.",
							"A lookup through a copied page touches only a leaf. Zero turns the copies off.",
							&keytree_inner_copy_memory_kilobytes,
							16 * 1024, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	MarkGUCPrefixReserved("penumbra_keytree");
	no_options = add_reloption_kind();
}

static bool
keytree_insert(Relation index, Datum *values, bool *nulls, ItemPointer pointer, Relation heap,
			   IndexUniqueCheck check_unique, bool index_unchanged, IndexInfo *info)
{
	KeytreeKind kind = keytree_kind_of(index->rd_opcintype[0]);

	keytree_require_rmgr(index);
	/* NULLs are distinct, if not said otherwise */
	if (check_unique != UNIQUE_CHECK_NO && (!nulls[0] || info->ii_NullsNotDistinct))
		return keytree_insert_unique(index, heap, kind, values, nulls, pointer, check_unique, index_unchanged);
	if (check_unique == UNIQUE_CHECK_EXISTING)
		return true;
	keytree_insert_value(index, heap, kind, values[0], nulls[0], pointer,
						 index_unchanged);
	return true;
}

static bool
keytree_can_return(Relation index, int attribute)
{
	return true;
}

static bytea *
keytree_options(Datum options, bool validate)
{
	/* refuses every one; an index of a release that ignored them keeps its own */
	return build_reloptions(options, validate, no_options, 0, NULL, 0);
}

Datum
keytree_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = compat_make_am_routine();

	routine->amstrategies = BTMaxStrategyNumber;
	routine->amcanorder = true;
	routine->amcanbackward = true;
	routine->amcanunique = true;
	routine->amoptionalkey = true;
	routine->amsearcharray = true;
	routine->amsearchnulls = true;
	routine->amclusterable = true;
	routine->ampredlocks = true;
	routine->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;

	routine->ambuild = keytree_build;
	routine->ambuildempty = keytree_build_empty;
	routine->ambuildphasename = keytree_build_phase_name;
	routine->aminsert = keytree_insert;
	routine->ambulkdelete = keytree_bulk_delete;
	routine->amvacuumcleanup = keytree_vacuum_cleanup;
	routine->amcanreturn = keytree_can_return;
	routine->amcostestimate = keytree_cost_estimate;
	routine->amoptions = keytree_options;
	routine->amvalidate = keytree_validate;
	routine->ambeginscan = keytree_beginscan;
	routine->amrescan = keytree_rescan;
	routine->amgettuple = keytree_gettuple;
	routine->amgetbitmap = keytree_getbitmap;
	routine->amendscan = keytree_endscan;
	routine->ammarkpos = keytree_markpos;
	routine->amrestrpos = keytree_restrpos;
	routine->amcanparallel = true;
	routine->amestimateparallelscan = keytree_estimate_parallel_scan;
	routine->aminitparallelscan = keytree_init_parallel_scan;
	routine->amparallelrescan = keytree_parallel_rescan;
	compat_set_builds_in_parallel(routine);
	compat_set_ordered_am(routine);
	PG_RETURN_POINTER(routine);
}
