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
#include "miscadmin.h"
#include "pg_compat.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "build.h"
#include "change.h"
#include "inner_copy.h"
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
	Relation	heap;
	IndexInfo  *info;
	double		entries_count;
} BuildState;

static void
build_row(Relation index, ItemPointer pointer, Datum *values, bool *nulls, bool is_alive, void *state)
{
	BuildState *build = state;

	if (build->info->ii_Unique && is_alive && (!nulls[0] || build->info->ii_NullsNotDistinct))
		(void) keytree_insert_unique(index, build->heap, build->kind, values, nulls, pointer,
									 UNIQUE_CHECK_YES, false);
	else
		keytree_insert_value(index, build->heap, build->kind, values[0], nulls[0], pointer, false);
	build->entries_count++;
	CHECK_FOR_INTERRUPTS();
}

IndexBuildResult *
keytree_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BuildState	state = {.kind = keytree_kind_of(index->rd_opcintype[0]),.heap = heap,.info = info};

	if (info->ii_Unique && !COMPAT_MAY_BE_UNIQUE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method keytree supports unique indexes from PostgreSQL 18 on"),
				 errdetail("Before, INSERT ... ON CONFLICT fails on every table that has a unique index of another method than btree."),
				 errhint("Keep the constraint in a btree index and add a keytree index beside it, or use EXCLUDE USING keytree (column WITH =).")));
	keytree_inner_copy_forget(index);
	create_tree(index, MAIN_FORKNUM);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true, build_row, &state, NULL);
	result->index_tuples = state.entries_count;
	return result;
}

void
keytree_build_empty(Relation index)
{
	create_tree(index, INIT_FORKNUM);
}
