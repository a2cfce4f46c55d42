/*-------------------------------------------------------------------------
 *
 * build.c
 *	  CREATE INDEX: the empty tree, then the rows of the heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "build.h"
#include "build_rows.h"
#include "change.h"
#include "inner_copy.h"
#include "load.h"
#include "parallel_build.h"
#include "scan_pages.h"
#include "tree.h"

static void
create_page(Relation index, ForkNumber fork, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	Page		page = BufferGetPage(buffer);

	if (BufferGetBlockNumber(buffer) != block)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	if (block == KEYTREE_META_BLOCK)
		keytree_page_init_meta(page, index->rd_opcintype[0]);
	else
		keytree_page_init(page, 0, KEYTREE_PAGE_ROOT | (block == KEYTREE_NULLS_ROOT ? KEYTREE_PAGE_NULLS : 0));
	MarkBufferDirty(buffer);
	/* an init fork is logged though its relation is not */
	if (RelationNeedsWAL(index) || fork == INIT_FORKNUM)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

static void
create_tree(Relation index, ForkNumber fork)
{
	if (fork == MAIN_FORKNUM && index->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT)
		keytree_require_rmgr(index);
	if (index->rd_indoption[0] != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method keytree does not support DESC or NULLS FIRST"),
				 errhint("Leave them out: the index is read backwards for ORDER BY ... DESC NULLS FIRST.")));
	for (BlockNumber block = 0; block < KEYTREE_INITIAL_BLOCKS; block++)
		create_page(index, fork, block);
}

/* Rows that may be dead do not take part in the check of uniqueness, so they come after the others. */
static void
insert_others(KeytreeBuild *build)
{
	for (int is_null = 0; is_null < 2; is_null++)
	{
		KeytreeEntry entry;

		while (keytree_sorter_read(build->sorters[keytree_sorter_for(true, is_null)], &entry, 1) > 0)
		{
			ItemPointerData pointer;
			char		bytes[KEYTREE_MAX_KEY_BYTES];

			CHECK_FOR_INTERRUPTS();
			keytree_tid_to_pointer(entry.tid, &pointer);
			keytree_insert_value(build->index, build->heap, build->kind,
								 keytree_key_to_datum(build->kind, &entry, bytes), is_null, &pointer, false);
		}
	}
}

/* All rows of the table into the sorters, with the help of others if there are any. */
static KeytreeParallelBuild *
scan_table(KeytreeBuild *build)
{
	int			workers = compat_build_workers(build->heap, build->index, build->info);
	KeytreeParallelBuild *parallel = workers > 0 ? keytree_parallel_build_begin(build, workers) : NULL;

	if (parallel != NULL)
		keytree_parallel_build_scan(parallel, build);
	else
	{
		KeytreePageQueue queue;

		keytree_build_create_sorters(build, (Size) maintenance_work_mem * 1024, NULL, 0);
		keytree_page_queue_init(&queue, build->heap);
		keytree_scan_table(build, &queue, NULL, true);
	}
	return parallel;
}

static void
load_trees(KeytreeBuild *build)
{
	IndexInfo  *info = build->info;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_LOAD);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) build->entries_count);
	keytree_load_tree(build->heap, build->index, KEYTREE_VALUES_ROOT,
					  build->sorters[keytree_sorter_for(false, false)], info->ii_Unique);
	keytree_load_tree(build->heap, build->index, KEYTREE_NULLS_ROOT,
					  build->sorters[keytree_sorter_for(false, true)], info->ii_Unique && info->ii_NullsNotDistinct);
	if (RelationNeedsWAL(build->index))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_LOG);
		log_newpage_range(build->index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(build->index), true);
	}
	insert_others(build);
}

/* Entries are sorted, and pages are written once, from left to right. Whole pages are logged at the end. */
IndexBuildResult *
keytree_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "keytree build", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	KeytreeBuild build = {.heap = heap,.index = index,.info = info,.kind = keytree_kind_of(index->rd_opcintype[0])};
	KeytreeParallelBuild *parallel;

	if (info->ii_Unique && !COMPAT_MAY_BE_UNIQUE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method keytree supports unique indexes from PostgreSQL 18 on"),
				 errdetail("Before, INSERT ... ON CONFLICT fails on every table that has a unique index of another method than btree."),
				 errhint("Keep the constraint in a btree index and add a keytree index beside it, or use EXCLUDE USING keytree (column WITH =).")));
	keytree_inner_copy_forget(index);
	create_tree(index, MAIN_FORKNUM);
	caller = MemoryContextSwitchTo(context);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_SCAN);
	parallel = scan_table(&build);
	load_trees(&build);
	if (parallel != NULL)
		keytree_parallel_build_end(parallel);
	MemoryContextSwitchTo(caller);
	result->heap_tuples = build.rows_count;
	result->index_tuples = build.entries_count;
	MemoryContextDelete(context);
	return result;
}

char *
keytree_build_phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case KEYTREE_BUILD_SCAN:
			return "scanning table";
		case KEYTREE_BUILD_LOAD:
			return "sorting and loading entries";
		case KEYTREE_BUILD_LOG:
			return "writing WAL";
		default:
			return NULL;
	}
}

void
keytree_build_empty(Relation index)
{
	create_tree(index, INIT_FORKNUM);
}
