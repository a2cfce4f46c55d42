/*-------------------------------------------------------------------------
 *
 * inspect.c
 *	  keytree_page(), keytree_page_header() and keytree_stats(): the structure
 *	  of an index, for people; keytree_leaf_reads(): how this session reads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "result_rows.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "inspect.h"
#include "key.h"
#include "scan.h"
#include "tree.h"

PENUMBRA_SQL_FUNCTION(keytree_page);
PENUMBRA_SQL_FUNCTION(keytree_page_header);
PENUMBRA_SQL_FUNCTION(keytree_stats);
PENUMBRA_SQL_FUNCTION(keytree_leaf_reads_of_session);

Relation
keytree_open_index(Oid index_oid, LOCKMODE mode)
{
	Relation	index = relation_open(index_oid, mode);

	if (index->rd_rel->relkind != RELKIND_INDEX || index->rd_rel->relam != get_index_am_oid("keytree", true))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a keytree index", RelationGetRelationName(index))));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read temporary indexes of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index))));
	return index;
}

static void
copy_page(Relation index, BlockNumber block, char *page, bool may_be_new)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	if (!may_be_new || !PageIsNew((Page) page))
		keytree_check_page(index, buffer);
	UnlockReleaseBuffer(buffer);
}

void
keytree_copy_page(Relation index, BlockNumber block, char *page)
{
	copy_page(index, block, page, false);
}

void
keytree_copy_page_or_new(Relation index, BlockNumber block, char *page)
{
	copy_page(index, block, page, true);
}

/* The page that the user asks for. */
static Relation
open_page(Oid index_oid, int64 block, char *page)
{
	Relation	index = keytree_open_index(index_oid, AccessShareLock);

	if (block < 1 || block >= RelationGetNumberOfBlocks(index))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block " INT64_FORMAT " of index \"%s\" is not a page of a tree", block,
						RelationGetRelationName(index)),
				 errdetail("Blocks 1 to %u are.", RelationGetNumberOfBlocks(index) - 1)));
	keytree_copy_page(index, (BlockNumber) block, page);
	return index;
}

static Datum
key_as_text(Relation index, const KeytreeEntry *entry)
{
	Oid			type = index->rd_opcintype[0];
	char		bytes[KEYTREE_MAX_KEY_BYTES];
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output,
													 keytree_key_to_datum(keytree_kind_of(type), entry, bytes)));
}

/* Lists a copy of the page. The first entry of an inner page has no key: it stands for the page's low fence. */
Datum
keytree_page(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	PGAlignedBlock page;
	const KeytreePageHeader *header = KeytreeHeader(page.data);
	Relation	index = open_page(PG_GETARG_OID(0), PG_GETARG_INT64(1), page.data);

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < header->count; i++)
	{
		KeytreeEntry entry = keytree_page_entry(page.data, i);
		ItemPointerData pointer;
		Datum		values[5];
		bool		nulls[5] = {false};

		keytree_tid_to_pointer(entry.tid, &pointer);
		values[0] = Int32GetDatum(i);
		nulls[1] = (header->flags & KEYTREE_PAGE_NULLS) || (header->level > 0 && i == 0);
		values[1] = nulls[1] ? (Datum) 0 : key_as_text(index, &entry);
		values[2] = PointerGetDatum(&pointer);
		nulls[3] = header->level == 0;
		values[3] = nulls[3] ? (Datum) 0 : Int64GetDatum(keytree_page_child(page.data, i));
		nulls[4] = header->level > 0;
		values[4] = nulls[4] ? (Datum) 0 : BoolGetDatum(keytree_page_entry_is_dead(page.data, i));
		put_row(result, values, nulls);
	}
	index_close(index, AccessShareLock);
	return (Datum) 0;
}

/* Fences are NULL at the ends of a level, and in the tree of NULLs, whose entries have no key. */
Datum
keytree_page_header(PG_FUNCTION_ARGS)
{
	PGAlignedBlock page;
	const KeytreePageHeader *header = KeytreeHeader(page.data);
	Relation	index = open_page(PG_GETARG_OID(0), PG_GETARG_INT64(1), page.data);
	const struct
	{
		uint16		flag;
		const char *name;
	}			names[] = {
		{KEYTREE_PAGE_ROOT, "root"}, {KEYTREE_PAGE_NULLS, "nulls"}, {KEYTREE_PAGE_DELETED, "deleted"},
		{KEYTREE_PAGE_SPLIT, "split"}, {KEYTREE_PAGE_HAS_DEAD, "has_dead"}
	};
	StringInfoData flags;
	bool		is_first = keytree_compare(&header->low_fence, &KEYTREE_ENTRY_FIRST) == 0;
	bool		is_last = keytree_compare(&header->high_fence, &KEYTREE_ENTRY_LAST) == 0;
	bool		has_values = (header->flags & KEYTREE_PAGE_NULLS) == 0;
	Datum		values[11];
	bool		nulls[11] = {false};

	initStringInfo(&flags);
	for (int i = 0; i < lengthof(names); i++)
		if (header->flags & names[i].flag)
			appendStringInfo(&flags, "%s%s", flags.len > 0 ? " " : "", names[i].name);
	values[0] = Int32GetDatum(header->level);
	values[1] = CStringGetTextDatum(flags.data);
	values[2] = Int32GetDatum(header->count);
	values[3] = Int32GetDatum(header->key_width);
	values[4] = Int32GetDatum(keytree_tail_width(header));
	values[5] = Int32GetDatum(BLCKSZ - KEYTREE_KEYS_OFFSET -
							  header->count * (header->key_width + keytree_tail_width(header)));
	nulls[6] = !BlockNumberIsValid(header->left);
	values[6] = Int64GetDatum(header->left);
	nulls[7] = !BlockNumberIsValid(header->right);
	values[7] = Int64GetDatum(header->right);
	nulls[8] = is_first || !has_values;
	values[8] = nulls[8] ? (Datum) 0 : key_as_text(index, &header->low_fence);
	nulls[9] = is_last || !has_values;
	values[9] = nulls[9] ? (Datum) 0 : key_as_text(index, &header->high_fence);
	values[10] = Int64GetDatum(header->version);
	index_close(index, AccessShareLock);
	return make_row(fcinfo, values, nulls);
}

/* Pages are copied one by one while writers go on, so the numbers belong to no single moment. */
Datum
keytree_stats(PG_FUNCTION_ARGS)
{
	Relation	index = keytree_open_index(PG_GETARG_OID(0), AccessShareLock);
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	int			level = 0;
	int64		leaf_pages = 0;
	int64		inner_pages = 0;
	int64		free_pages = 0;
	int64		entries = 0;
	int64		null_entries = 0;
	int64		dead_entries = 0;
	int64		leaf_bytes = 0;
	Datum		values[9];
	bool		nulls[9] = {false};

	for (BlockNumber block = KEYTREE_VALUES_ROOT; block < blocks; block++)
	{
		PGAlignedBlock page;
		const KeytreePageHeader *header = KeytreeHeader(page.data);

		CHECK_FOR_INTERRUPTS();
		keytree_copy_page_or_new(index, block, page.data);
		if (PageIsNew((Page) page.data) || (header->flags & KEYTREE_PAGE_DELETED))
		{
			free_pages++;
			continue;
		}
		if (block == KEYTREE_VALUES_ROOT)
			level = header->level;
		if (header->level > 0)
		{
			inner_pages++;
			continue;
		}
		leaf_pages++;
		leaf_bytes += header->count * (header->key_width + keytree_tail_width(header));
		entries += header->count;
		if (header->flags & KEYTREE_PAGE_NULLS)
			null_entries += header->count;
		for (int i = 0; i < header->count; i++)
			dead_entries += keytree_page_entry_is_dead(page.data, i);
	}
	values[0] = Int64GetDatum((int64) blocks * BLCKSZ);
	values[1] = Int32GetDatum(level);
	values[2] = Int64GetDatum(inner_pages);
	values[3] = Int64GetDatum(leaf_pages);
	values[4] = Int64GetDatum(free_pages);
	values[5] = Int64GetDatum(entries);
	values[6] = Int64GetDatum(null_entries);
	values[7] = Int64GetDatum(dead_entries);
	nulls[8] = leaf_pages == 0;
	values[8] = Float8GetDatum(100.0 * leaf_bytes / Max(leaf_pages, 1) / KEYTREE_CAPACITY_BYTES);
	index_close(index, AccessShareLock);
	return make_row(fcinfo, values, nulls);
}

Datum
keytree_leaf_reads_of_session(PG_FUNCTION_ARGS)
{
	Datum		values[3] = {
		Int64GetDatum(keytree_leaf_reads.without_lock),
		Int64GetDatum(keytree_leaf_reads.disturbed),
		Int64GetDatum(keytree_leaf_reads.with_lock)
	};
	bool		nulls[3] = {false};

	return make_row(fcinfo, values, nulls);
}
