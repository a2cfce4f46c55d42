/*-------------------------------------------------------------------------
 *
 * build.c
 *	  CREATE INDEX: the empty tree, then the rows of the heap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
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
#include "change.h"
#include "inner_copy.h"
#include "load.h"
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

typedef struct BuildState
{
	KeytreeKind kind;
	bool		is_unique;
	double		entries_count;
	/* of rows that are alive and of others, which only unique indexes treat apart; of values and of NULLs */
	KeytreeSorter *sorters[2][2];
} BuildState;

static void
build_row(Relation index, ItemPointer pointer, Datum *values, bool *nulls, bool is_alive, void *state)
{
	BuildState *build = state;
	KeytreeEntry entry = {0};

	if (!nulls[0])
		keytree_key_from_datum(build->kind, values[0], &entry);
	entry.tid = keytree_tid_from_pointer(pointer);
	keytree_sorter_add(build->sorters[build->is_unique && !is_alive][nulls[0]], &entry);
	build->entries_count++;
}

/* Rows that may be dead do not take part in the check of uniqueness, so they come after the others. */
static void
insert_others(Relation heap, Relation index, BuildState *build)
{
	for (int is_null = 0; is_null < 2; is_null++)
	{
		KeytreeEntry entry;

		while (keytree_sorter_next(build->sorters[1][is_null], &entry))
		{
			ItemPointerData pointer;
			char		bytes[KEYTREE_MAX_KEY_BYTES];

			CHECK_FOR_INTERRUPTS();
			keytree_tid_to_pointer(entry.tid, &pointer);
			keytree_insert_value(index, heap, build->kind, keytree_key_to_datum(build->kind, &entry, bytes),
								 is_null, &pointer, false);
		}
	}
}

static void
create_sorters(BuildState *build)
{
	Size		memory_bytes = (Size) maintenance_work_mem * 1024;
	Size		share_bytes = memory_bytes / 16;

	/* one of them gets most rows; NULLs come in order or nearly so */
	build->sorters[0][0] = keytree_sorter_create(build->kind, memory_bytes - 3 * share_bytes);
	build->sorters[0][1] = keytree_sorter_create(KEYTREE_INT2, share_bytes);
	build->sorters[1][0] = keytree_sorter_create(build->kind, share_bytes);
	build->sorters[1][1] = keytree_sorter_create(KEYTREE_INT2, share_bytes);
}

IndexBuildResult *
keytree_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "keytree build", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	BuildState	state = {.kind = keytree_kind_of(index->rd_opcintype[0]),.is_unique = info->ii_Unique};

	if (info->ii_Unique && !COMPAT_MAY_BE_UNIQUE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method keytree supports unique indexes from PostgreSQL 18 on"),
				 errdetail("Before, INSERT ... ON CONFLICT fails on every table that has a unique index of another method than btree."),
				 errhint("Keep the constraint in a btree index and add a keytree index beside it, or use EXCLUDE USING keytree (column WITH =).")));
	keytree_inner_copy_forget(index);
	create_tree(index, MAIN_FORKNUM);
	caller = MemoryContextSwitchTo(context);
	create_sorters(&state);
	MemoryContextSwitchTo(caller);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true, build_row, &state, NULL);
	result->index_tuples = state.entries_count;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_LOAD);
	keytree_load_tree(heap, index, KEYTREE_VALUES_ROOT, state.sorters[0][0], info->ii_Unique);
	keytree_load_tree(heap, index, KEYTREE_NULLS_ROOT, state.sorters[0][1],
					  info->ii_Unique && info->ii_NullsNotDistinct);
	if (RelationNeedsWAL(index))
	{
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, KEYTREE_BUILD_LOG);
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	}
	insert_others(heap, index, &state);
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
