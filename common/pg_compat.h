/*-------------------------------------------------------------------------
 *
 * pg_compat.h
 *	  Every difference between the supported PostgreSQL versions (15 to 19).
 *
 * No other file tests PG_VERSION_NUM.  Where a function changed its
 * signature, a wrapper here has the newest shape.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PG_COMPAT_H
#define PENUMBRA_PG_COMPAT_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/heapam.h"
#include "access/parallel.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlogreader.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "commands/vacuum.h"
#include "fmgr.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parse_relation.h"
#include "parser/scansup.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "storage/standby.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* 16 took the macros of variable-length values out of postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 16 has soft errors. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#endif

/* 16 moved the numbers of queries. */
#if PG_VERSION_NUM < 160000
#include "utils/queryjumble.h"
#else
#include "nodes/queryjumble.h"
#endif

/* 17 reads pages in streams. */
#if PG_VERSION_NUM >= 170000
#include "storage/read_stream.h"
#endif

/* 18 split EXPLAIN's header. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "Penumbra supports PostgreSQL 15 to 19"
#endif

/* 16 renamed RelFileNode to RelFileLocator, and its members. */
#if PG_VERSION_NUM < 160000
#define RelFileNumber Oid
#define compat_rel_tablespace(rel) ((rel)->rd_node.spcNode)
#define compat_rel_database(rel) ((rel)->rd_node.dbNode)
#define compat_rel_filenumber(rel) ((rel)->rd_node.relNode)
#define compat_read_recent_buffer(rel, block, buffer) \
	ReadRecentBuffer((rel)->rd_node, MAIN_FORKNUM, block, buffer)
#define compat_log_new_page(rel, block, page) \
	log_newpage(&(rel)->rd_node, MAIN_FORKNUM, block, page, true)
#define compat_rel_new_subid(rel) ((rel)->rd_newRelfilenodeSubid)
#define compat_rel_first_subid(rel) ((rel)->rd_firstRelfilenodeSubid)
#else
#define compat_rel_tablespace(rel) ((rel)->rd_locator.spcOid)
#define compat_rel_database(rel) ((rel)->rd_locator.dbOid)
#define compat_rel_filenumber(rel) ((rel)->rd_locator.relNumber)
#define compat_read_recent_buffer(rel, block, buffer) \
	ReadRecentBuffer((rel)->rd_locator, MAIN_FORKNUM, block, buffer)
#define compat_log_new_page(rel, block, page) \
	log_newpage(&(rel)->rd_locator, MAIN_FORKNUM, block, page, true)
#define compat_rel_new_subid(rel) ((rel)->rd_newRelfilelocatorSubid)
#define compat_rel_first_subid(rel) ((rel)->rd_firstRelfilelocatorSubid)
#endif

/* 19 renamed it. */
#if PG_VERSION_NUM < 190000
#define compat_page_set_checksum(page, block) PageSetChecksumInplace(page, block)
#else
#define compat_page_set_checksum(page, block) PageSetChecksum(page, block)
#endif

/* 17 renamed what holds the next transaction number. */
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

/*
 * 17 allows subtransactions in parallel mode, if they get no number.  Before, a leader leaves the mode for one while no
 * worker has its state from him; false: it cannot be had.
 */
static inline bool
compat_leave_parallel_mode(int *levels)
{
	*levels = 0;
#if PG_VERSION_NUM < 170000
	if (IsParallelWorker() || ParallelContextActive())
		return !IsInParallelMode();
	for (; IsInParallelMode(); (*levels)++)
		ExitParallelMode();
#endif
	return true;
}

static inline void
compat_enter_parallel_mode(int levels)
{
	while (levels-- > 0)
		EnterParallelMode();
}

/* 17 removed old_snapshot_threshold. */
#if PG_VERSION_NUM < 170000
#define compat_old_snapshots_expire() (old_snapshot_threshold >= 0)
#define compat_test_old_snapshot(snapshot, rel, page) TestForOldSnapshot(snapshot, rel, page)
#else
#define compat_old_snapshots_expire() false
#define compat_test_old_snapshot(snapshot, rel, page) ((void) 0)
#endif

/* 16 merged the ownership checks; pg_class is all we ask about. */
static inline bool
compat_class_ownercheck(Oid relid, Oid roleid)
{
#if PG_VERSION_NUM < 160000
	return pg_class_ownercheck(relid, roleid);
#else
	return object_ownercheck(RelationRelationId, relid, roleid);
#endif
}

/* 17 brought MAINTAIN, the privilege to do what load, unload and refresh do. */
static inline bool
compat_class_maintaincheck(Oid relid, Oid roleid)
{
#if PG_VERSION_NUM < 170000
	return compat_class_ownercheck(relid, roleid);
#else
	return pg_class_aclcheck(relid, roleid, ACL_MAINTAIN) == ACLCHECK_OK;
#endif
}

/*
 * What autovacuum would do with the relations for the sake of the visibility
 * map.  16 wants a memory context that outlives the transactions in between,
 * and names the main part of the relation as something to process.
 */
static inline void
compat_vacuum_for_visibility(List *relations, BufferAccessStrategy strategy, MemoryContext context)
{
	VacuumParams params;

	memset(&params, 0, sizeof(params));
	params.options = VACOPT_VACUUM | VACOPT_SKIP_LOCKED;
	params.freeze_min_age = -1;
	params.freeze_table_age = -1;
	params.multixact_freeze_min_age = -1;
	params.multixact_freeze_table_age = -1;
#if PG_VERSION_NUM < 190000
	params.log_min_duration = -1;
#else
	params.log_vacuum_min_duration = -1;
	params.log_analyze_min_duration = -1;
#endif
	params.index_cleanup = VACOPTVALUE_UNSPECIFIED;
	params.truncate = VACOPTVALUE_UNSPECIFIED;
	params.nworkers = -1;
#if PG_VERSION_NUM < 160000
	vacuum(relations, &params, strategy, true);
#else
	params.options |= VACOPT_PROCESS_MAIN | VACOPT_SKIP_DATABASE_STATS;
	vacuum(relations, &params, strategy, context, true);
#endif
}

/* 17 can match MERGE's source rows to no target row, which takes the join conditions. */
#if PG_VERSION_NUM >= 170000
#define compat_merge_join_conditions(modify_table) ((modify_table)->mergeJoinConditions)
#else
#define compat_merge_join_conditions(modify_table) NIL
#endif

/* Before 16 PG_FUNCTION_INFO_V1 does not export the function; we compile with hidden visibility. */
#define PENUMBRA_SQL_FUNCTION(name) \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

/* 18 divides numerics in digits of base 10^8. */
#define COMPAT_NUMERIC_DIVIDES_BY_WIDE_DIGITS (PG_VERSION_NUM >= 180000)

/* 16 chooses the scale of numeric powers with whole exponents by the size of the result. */
#define COMPAT_INTEGER_POWER_SCALE_BY_RESULT (PG_VERSION_NUM >= 160000)

/* Whether the planner makes a join of x IN (a correlated subquery). */
#define COMPAT_JOINS_CORRELATED_IN (PG_VERSION_NUM >= 170000)

/* 18 has columns that are computed when read. */
#ifdef ATTRIBUTE_GENERATED_VIRTUAL
#define compat_attribute_is_virtual(att) ((att)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#else
#define compat_attribute_is_virtual(att) false
#endif

/* 18 moved what is known of a collation into its locale object. */
static inline bool
compat_collate_is_c(Oid collation)
{
#if PG_VERSION_NUM < 180000
	return lc_collate_is_c(collation);
#else
	return pg_newlocale_from_collation(collation)->collate_is_c;
#endif
}

static inline bool
compat_ctype_is_c(Oid collation)
{
#if PG_VERSION_NUM < 180000
	return lc_ctype_is_c(collation);
#else
	return pg_newlocale_from_collation(collation)->ctype_is_c;
#endif
}

/* 17 brought the builtin provider, and one column for the locale of all providers but libc. */
#if PG_VERSION_NUM < 170000
#define COLLPROVIDER_BUILTIN 'b'
#define compat_anum_database_locale Anum_pg_database_daticulocale
#define compat_anum_collation_locale Anum_pg_collation_colliculocale
#else
#define compat_anum_database_locale Anum_pg_database_datlocale
#define compat_anum_collation_locale Anum_pg_collation_colllocale
#endif

/* 16 merged the permission checks of most objects. */
static inline bool
compat_may_execute(Oid function_oid, Oid roleid)
{
#if PG_VERSION_NUM < 160000
	return pg_proc_aclcheck(function_oid, roleid, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return object_aclcheck(ProcedureRelationId, function_oid, roleid, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* Of the tables that the query itself names, not of its subqueries. */
static inline bool
compat_query_is_permitted(const Query *query)
{
#if PG_VERSION_NUM < 160000
	return ExecCheckRTPerms(query->rtable, false);
#else
	return ExecCheckPermissions(query->rtable, query->rteperminfos, false);
#endif
}

/* Plans and explains a query as EXPLAIN does by itself; an own function since 17. */
static inline void
compat_explain_one_query(Query *query, int cursor_options, IntoClause *into, ExplainState *es,
						 const char *query_string, ParamListInfo params,
						 QueryEnvironment *environment)
{
#if PG_VERSION_NUM >= 170000
	standard_ExplainOneQuery(query, cursor_options, into, es, query_string, params, environment);
#else
	BufferUsage buffers_at_start = pgBufferUsage;
	BufferUsage buffers = {0};
	instr_time	start;
	instr_time	duration;
	PlannedStmt *plan;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, query_string, cursor_options, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	if (es->buffers)
		BufferUsageAccumDiff(&buffers, &pgBufferUsage, &buffers_at_start);
	ExplainOnePlan(plan, into, es, query_string, params, environment, &duration,
				   es->buffers ? &buffers : NULL);
#endif
}

/* pg_column_toast_chunk_id() came with 17. */
static inline bool
compat_is_toast_chunk_id(Oid function_oid)
{
#if PG_VERSION_NUM >= 170000
	return function_oid == F_PG_COLUMN_TOAST_CHUNK_ID;
#else
	return false;
#endif
}

/* 18 has reverse(bytea) too, so the function's symbol names its argument. */
#if PG_VERSION_NUM >= 180000
#define F_REVERSE F_REVERSE_TEXT
#endif

/* Conditions on a window function's value that rows only fail from some row on; 17 keeps them in the path. */
static inline List *
compat_run_conditions(const WindowAggPath *path)
{
#if PG_VERSION_NUM >= 170000
	return path->runCondition;
#else
	return path->winclause->runCondition;
#endif
}

/* What conditions that are left to the windows compare the function's value with; 17 keeps them in the function. */
static inline List *
compat_run_bounds(const WindowFunc *function, List *windows)
{
	List	   *bounds = NIL;
	ListCell   *lc;

#if PG_VERSION_NUM >= 170000
	foreach(lc, function->runCondition)
		bounds = lappend(bounds, lfirst_node(WindowFuncRunCondition, lc)->arg);
#else
	ListCell   *lc2;

	foreach(lc, windows)
	{
		foreach(lc2, lfirst_node(WindowClause, lc)->runCondition)
		{
			List	   *args = lfirst_node(OpExpr, lc2)->args;

			if (equal(linitial(args), function))
				bounds = lappend(bounds, lsecond(args));
			else if (equal(lsecond(args), function))
				bounds = lappend(bounds, linitial(args));
		}
	}
#endif
	return bounds;
}

/* IGNORE NULLS came with 19. */
static inline bool
compat_treats_nulls(const WindowFunc *function)
{
#if PG_VERSION_NUM >= 190000
	return function->ignore_nulls != NO_NULLTREATMENT;
#else
	return false;
#endif
}

static inline bool
compat_ignores_nulls(const WindowFunc *function)
{
#if PG_VERSION_NUM >= 190000
	return function->ignore_nulls == PARSER_IGNORE_NULLS || function->ignore_nulls == IGNORE_NULLS;
#else
	return false;
#endif
}

/* 16 counts the types of processes. */
#if PG_VERSION_NUM < 160000
#define BACKEND_NUM_TYPES (B_LOGGER + 1)
#endif

/* 18 marks functions that do not return in front. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* 19's handlers of signals take more than the signal, which the system's macro has no type for. */
#if PG_VERSION_NUM < 190000
#define PG_SIG_IGN SIG_IGN
#endif

/* 19 compiles with warnings of comments that only say so. */
#if PG_VERSION_NUM < 190000
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* 17 moved the local transaction id. */
#if PG_VERSION_NUM >= 170000
#define compat_local_xid() (MyProc->vxid.lxid)
#else
#define compat_local_xid() (MyProc->lxid)
#endif

/* 16 and 17 have parts of SQL/JSON's expressions that walks meet and that are no expressions themselves. */
static inline bool
compat_is_json_part(const Node *node)
{
#if PG_VERSION_NUM < 160000
	return false;
#elif PG_VERSION_NUM < 170000
	return IsA(node, JsonReturning) || IsA(node, JsonFormat);
#else
	return IsA(node, JsonReturning) || IsA(node, JsonFormat) || IsA(node, JsonBehavior);
#endif
}

/* 16 can report errors softly here. */
#if PG_VERSION_NUM >= 160000
#define compat_qualified_name_list(string) stringToQualifiedNameList(string, NULL)
#else
#define compat_qualified_name_list(string) stringToQualifiedNameList(string)
#endif

/* What a setting's check hook leaves in "extra": 16 has an own allocator for it. */
#if PG_VERSION_NUM < 160000
#define compat_guc_malloc(bytes) malloc(bytes)
#else
#define compat_guc_malloc(bytes) guc_malloc(LOG, bytes)
#endif

/* 18 counts searches of an index for EXPLAIN.  19's scans take flags. */
#if PG_VERSION_NUM < 180000
#define compat_index_beginscan(table, index, snapshot, keys, orderbys) \
	index_beginscan(table, index, snapshot, keys, orderbys)
#elif PG_VERSION_NUM < 190000
#define compat_index_beginscan(table, index, snapshot, keys, orderbys) \
	index_beginscan(table, index, snapshot, NULL, keys, orderbys)
#else
#define compat_index_beginscan(table, index, snapshot, keys, orderbys) \
	index_beginscan(table, index, snapshot, NULL, keys, orderbys, SO_NONE)
#endif

#if PG_VERSION_NUM < 190000
#define compat_index_fetch_begin(table) table_index_fetch_begin(table)
#define compat_beginscan_parallel(table, shared) table_beginscan_parallel(table, shared)
#else
#define compat_index_fetch_begin(table) table_index_fetch_begin(table, SO_NONE)
#define compat_beginscan_parallel(table, shared) table_beginscan_parallel(table, shared, SO_NONE)
#endif

/*
 * 19 can also set the page's bits in the visibility map, which would move the
 * map page's LSN under a loader that waits for it to stand still: not here.
 */
static inline void
compat_prune_page(Relation rel, Buffer buffer)
{
#if PG_VERSION_NUM < 190000
	heap_page_prune_opt(rel, buffer);
#else
	Buffer		map_buffer = InvalidBuffer;

	heap_page_prune_opt(rel, buffer, &map_buffer, false);
	if (BufferIsValid(map_buffer))
		ReleaseBuffer(map_buffer);
#endif
}

/* 19 tells planners what EXPLAIN wants. */
#if PG_VERSION_NUM < 190000
#define COMPAT_PLANNER_PARAMETERS \
	Query *query, const char *query_string, int cursor_options, ParamListInfo params
#define COMPAT_PLANNER_ARGUMENTS query, query_string, cursor_options, params
/* The same as fields of a struct: their declarations, values and use. */
#define COMPAT_PLANNER_FIELDS Query *query; const char *query_string; int cursor_options; ParamListInfo params;
#define COMPAT_PLANNER_VALUES .query_string = query_string, .cursor_options = cursor_options, .params = params
#define COMPAT_PLANNER_ARGUMENTS_OF(s) (s)->query, (s)->query_string, (s)->cursor_options, (s)->params
#else
#define COMPAT_PLANNER_PARAMETERS \
	Query *query, const char *query_string, int cursor_options, ParamListInfo params, ExplainState *es
#define COMPAT_PLANNER_ARGUMENTS query, query_string, cursor_options, params, es
#define COMPAT_PLANNER_FIELDS \
	Query *query; const char *query_string; int cursor_options; ParamListInfo params; ExplainState *es;
#define COMPAT_PLANNER_VALUES \
	.query_string = query_string, .cursor_options = cursor_options, .params = params, .es = es
#define COMPAT_PLANNER_ARGUMENTS_OF(s) (s)->query, (s)->query_string, (s)->cursor_options, (s)->params, (s)->es
#endif

/* Whether the genetic search plans the joins of this level; 19 keeps what it knows elsewhere. */
static inline bool
compat_is_genetic_search(PlannerInfo *root)
{
#if PG_VERSION_NUM < 190000
	return root->join_search_private != NULL;
#else
	/* it has no number before it ran for the first time */
	return Geqo_planner_extension_id >= 0 && GetGeqoPrivateData(root) != NULL;
#endif
}

/*
 * Where characters are bytes, ILIKE of 19~rc1 does not find one beyond ASCII after a %: 'aşb' ILIKE '%ş%' is false, as
 * it compares a char with an unsigned one.
 */
static inline bool
compat_ilike_misses_characters(void)
{
	return PG_VERSION_NUM >= 190000 && pg_database_encoding_max_length() == 1;
}

/* Whether an outer join may have NULLs in place of the base relation's rows. */
static inline bool
compat_is_nullable(const PlannerInfo *root, const RelOptInfo *rel)
{
#if PG_VERSION_NUM < 160000
	return bms_is_member(rel->relid, root->nullable_baserels);
#else
	return !bms_is_empty(rel->nulling_relids);
#endif
}

/* 19 aggregates below joins, too: such a relation has the relids of the ordinary one, and other columns. */
static inline bool
compat_is_partly_aggregated(RelOptInfo *rel)
{
#if PG_VERSION_NUM < 190000
	return false;
#else
	return IS_GROUPED_REL(rel);
#endif
}

/*
 * A join that has all its paths, for joins above it.  Those of 19 join the
 * partly aggregated relation too, which must have its paths then; not the last
 * join's, which the aggregation itself makes.
 */
static inline void
compat_complete_join(PlannerInfo *root, RelOptInfo *rel)
{
	set_cheapest(rel);
#if PG_VERSION_NUM >= 190000
	if (rel->grouped_rel != NULL && !bms_equal(rel->relids, root->all_query_rels))
	{
		generate_grouped_paths(root, rel->grouped_rel, rel);
		set_cheapest(rel->grouped_rel);
	}
#endif
}

/*
 * Of the table's rows; 18 has constraints that do not hold for all of them.  Those of a parent without partitions say
 * nothing of its children.
 */
static inline bool
compat_column_is_not_null(const RelOptInfo *rel, const RangeTblEntry *rte, AttrNumber attno)
{
#if PG_VERSION_NUM >= 170000
	(void) rte;
	return bms_is_member(attno, rel->notnullattnums);
#else
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(rte->relid), Int16GetDatum(attno));
	bool		is_not_null = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull &&
		(!rte->inh || rte->relkind == RELKIND_PARTITIONED_TABLE);

	(void) rel;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_not_null;
#endif
}

/* How joins may be made, by settings; 19 has looked at these before, and made a mask of them. */
typedef struct CompatJoinMethods
{
	bool		has_merge;
	bool		has_material;
	bool		has_memoize;
	uint64		mask;
} CompatJoinMethods;

static inline void
compat_set_join_methods(PlannerInfo *root, CompatJoinMethods methods)
{
	enable_mergejoin = methods.has_merge;
	enable_material = methods.has_material;
	enable_memoize = methods.has_memoize;
#if PG_VERSION_NUM >= 190000
	root->glob->default_pgs_mask = methods.mask;
#else
	(void) root;
#endif
}

static inline CompatJoinMethods
compat_join_methods(PlannerInfo *root)
{
	CompatJoinMethods methods = {enable_mergejoin, enable_material, enable_memoize};

#if PG_VERSION_NUM >= 190000
	methods.mask = root->glob->default_pgs_mask;
#else
	(void) root;
#endif
	return methods;
}

/* Hash joins, and nested loops whose inner side is read again as it is. */
static inline CompatJoinMethods
compat_simple_join_methods(CompatJoinMethods methods)
{
#if PG_VERSION_NUM >= 190000
	methods.mask &= ~(PGS_MERGEJOIN_ANY | PGS_NESTLOOP_MATERIALIZE | PGS_NESTLOOP_MEMOIZE);
#endif
	return (CompatJoinMethods) {.mask = methods.mask};
}

/* 19 names what removes duplicates of sorted rows as the plan's node; it was another path's name. */
#if PG_VERSION_NUM < 190000
#define COMPAT_T_UNIQUE_PATH T_UpperUniquePath
typedef UpperUniquePath CompatUniquePath;
#else
#define COMPAT_T_UNIQUE_PATH T_UniquePath
typedef UniquePath CompatUniquePath;
#endif

/* 19 has the statement's targets as a set. */
static inline bool
compat_is_result_relation(PlannedStmt *stmt, Index relid)
{
#if PG_VERSION_NUM < 190000
	return list_member_int(stmt->resultRelations, relid);
#else
	return bms_is_member(relid, stmt->resultRelationRelids);
#endif
}

/* 19 allocates all entries of a shared hash table at once. */
#if PG_VERSION_NUM < 190000
#define compat_shmem_init_hash(name, initial, max, info, flags) \
	ShmemInitHash(name, initial, max, info, flags)
#else
#define compat_shmem_init_hash(name, initial, max, info, flags) ShmemInitHash(name, max, info, flags)
#endif

/*
 * Conversions that set *overflow to -1 or 1 where the result has no such time.
 * 19 reports that as a soft error, and returns the infinity of that side.
 */
#if PG_VERSION_NUM < 190000
#define compat_date2timestamp(date, overflow) date2timestamp_opt_overflow(date, overflow)
#define compat_date2timestamptz(date, overflow) date2timestamptz_opt_overflow(date, overflow)
#define compat_timestamp2timestamptz(timestamp, overflow) \
	timestamp2timestamptz_opt_overflow(timestamp, overflow)
#else
#define COMPAT_SOFT_CONVERSION(conversion, type) \
static inline int64 \
compat_##conversion(type value, int *overflow) \
{ \
	ErrorSaveContext errors = {T_ErrorSaveContext}; \
	int64		result = conversion##_safe(value, (Node *) &errors); \
\
	*overflow = !errors.error_occurred ? 0 : TIMESTAMP_IS_NOBEGIN(result) ? -1 : 1; \
	return result; \
}

COMPAT_SOFT_CONVERSION(date2timestamp, DateADT)
COMPAT_SOFT_CONVERSION(date2timestamptz, DateADT)
COMPAT_SOFT_CONVERSION(timestamp2timestamptz, Timestamp)
#endif

/* 16 lets a standby's logical decoding conflict with rows removed from catalogs. */
static inline bool
compat_is_catalog_for_decoding(Relation heap)
{
#if PG_VERSION_NUM >= 160000
	return RelationIsAccessibleInLogicalDecoding(heap);
#else
	return false;
#endif
}

/* Replay of a record whose block 0 loses entries: cancels queries that may still need them. */
static inline void
compat_resolve_snapshot_conflict(XLogReaderState *record, TransactionId horizon, bool is_catalog)
{
#if PG_VERSION_NUM >= 160000
	RelFileLocator locator;

	XLogRecGetBlockTag(record, 0, &locator, NULL, NULL);
	ResolveRecoveryConflictWithSnapshot(horizon, is_catalog, locator);
#else
	RelFileNode node;

	XLogRecGetBlockTag(record, 0, &node, NULL, NULL);
	ResolveRecoveryConflictWithSnapshot(horizon, node);
#endif
}

/* 18 counts the searches of each scan node too. */
static inline void
compat_count_index_search(IndexScanDesc scan)
{
	pgstat_count_index_scan(scan->indexRelation);
#if PG_VERSION_NUM >= 180000
	if (scan->instrument)
		scan->instrument->nsearches++;
#endif
}

/* 18 says the order of a pathkey without the strategy number of an access method. */
#if PG_VERSION_NUM >= 180000
#define compat_pathkey_is_descending(pathkey) ((pathkey)->pk_cmptype == COMPARE_GT)
#else
#define compat_pathkey_is_descending(pathkey) ((pathkey)->pk_strategy == BTGreaterStrategyNumber)
#endif

/* 18 knows operators of any ordered access method, by comparison types, which are numbered as btree's strategies. */
#if PG_VERSION_NUM >= 180000
typedef OpIndexInterpretation CompatOpInterpretation;
#define compat_get_op_interpretation(opno) get_op_index_interpretation(opno)
#define compat_strategy_of_interpretation(interpretation) ((int) (interpretation)->cmptype)
#define COMPAT_STRATEGY_NOT_EQUAL COMPARE_NE
#else
typedef OpBtreeInterpretation CompatOpInterpretation;
#define compat_get_op_interpretation(opno) get_op_btree_interpretation(opno)
#define compat_strategy_of_interpretation(interpretation) ((interpretation)->strategy)
#define COMPAT_STRATEGY_NOT_EQUAL ROWCOMPARE_NE
#endif

/* Of the path with a sort above it; 18 counts the disabled nodes. */
#if PG_VERSION_NUM >= 180000
#define compat_cost_sort(sorted, root, pathkeys, path) \
	cost_sort(sorted, root, pathkeys, (path)->disabled_nodes, (path)->total_cost, (path)->rows, \
			  (path)->pathtarget->width, 0, work_mem, -1)
#else
#define compat_cost_sort(sorted, root, pathkeys, path) \
	cost_sort(sorted, root, pathkeys, (path)->total_cost, (path)->rows, (path)->pathtarget->width, 0, work_mem, -1)
#endif

/* 18 tells VACUUM's delays from ANALYZE's. */
#if PG_VERSION_NUM >= 180000
#define compat_vacuum_delay_point() vacuum_delay_point(false)
#else
#define compat_vacuum_delay_point() vacuum_delay_point()
#endif

/* 19 keeps what a handler returns for as long as the process lives; before, callers free it. */
static inline IndexAmRoutine *
compat_make_am_routine(void)
{
#if PG_VERSION_NUM < 190000
	return makeNode(IndexAmRoutine);
#else
	static IndexAmRoutine routine = {T_IndexAmRoutine};

	return &routine;
#endif
}

/*
 * 18 asks access methods themselves how strategies order; ours are numbered
 * as btree's.  Before, the planner compares operator families with btree's.
 *
 * 18 also merges equivalences of any tables only if their operators are
 * equality in the same families.  So a family needs every operator between
 * types that btree's has.
 */
#if PG_VERSION_NUM >= 180000
static inline CompareType
compat_translate_strategy(StrategyNumber strategy, Oid opfamily)
{
	return strategy >= BTLessStrategyNumber && strategy <= BTGreaterStrategyNumber ?
		(CompareType) strategy : COMPARE_INVALID;
}

static inline StrategyNumber
compat_translate_cmptype(CompareType type, Oid opfamily)
{
	return type >= COMPARE_LT && type <= COMPARE_GT ? (StrategyNumber) type : InvalidStrategy;
}

#define compat_set_ordered_am(routine) \
	((routine)->amconsistentequality = true, \
	 (routine)->amconsistentordering = true, \
	 (routine)->amtranslatestrategy = compat_translate_strategy, \
	 (routine)->amtranslatecmptype = compat_translate_cmptype)
#else
#define compat_set_ordered_am(routine) ((void) 0)
#endif

/* Before 18, ON CONFLICT asks every unique index for btree's equality. */
#define COMPAT_MAY_BE_UNIQUE (PG_VERSION_NUM >= 180000)

/* 17 asks for an index's workers itself, if the access method says that it can use some. */
static inline int
compat_build_workers(Relation heap, Relation index, IndexInfo *info)
{
#if PG_VERSION_NUM >= 170000
	return info->ii_ParallelWorkers;
#else
	return IsNormalProcessingMode() ? plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index)) : 0;
#endif
}

#if PG_VERSION_NUM >= 170000
#define compat_set_builds_in_parallel(routine) ((routine)->amcanbuildparallel = true)
#else
#define compat_set_builds_in_parallel(routine) ((void) 0)
#endif

/*
 * Pages of a relation in the order that next_block() names them, up to
 * InvalidBlockNumber.  17 reads some of them ahead, and neighbours in one go.
 * Before, what is read ahead is left to the system, which knows neighbours: to
 * ask it for single pages (PrefetchBuffer) spoils that.
 */
typedef struct CompatPages
{
	Relation	rel;
	BufferAccessStrategy strategy;
	BlockNumber (*next_block) (void *argument);
	void	   *argument;
#if PG_VERSION_NUM >= 170000
	MemoryContext context;
	ReadStream *stream;			/* NULL: no page was asked for yet */
#endif
} CompatPages;

#if PG_VERSION_NUM >= 170000
static inline BlockNumber
compat_next_block(ReadStream *stream, void *pages, void *unused)
{
	return ((CompatPages *) pages)->next_block(((CompatPages *) pages)->argument);
}
#endif

/* What it needs is of the current memory context; *pages must stay where it is. */
static inline void
compat_begin_pages(CompatPages *pages)
{
#if PG_VERSION_NUM >= 170000
	pages->context = CurrentMemoryContext;
	pages->stream = NULL;
#endif
}

/* Forgets what was asked for ahead; the next page is what next_block() says then. */
static inline void
compat_reset_pages(CompatPages *pages)
{
#if PG_VERSION_NUM >= 170000
	if (pages->stream != NULL)
		read_stream_reset(pages->stream);
#endif
}

/* The next page, pinned; InvalidBuffer: there was none, which may be another time. */
static inline Buffer
compat_next_page(CompatPages *pages)
{
#if PG_VERSION_NUM >= 170000
	Buffer		buffer;

	if (pages->stream == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(pages->context);

		pages->stream = read_stream_begin_relation(READ_STREAM_DEFAULT, pages->strategy, pages->rel, MAIN_FORKNUM,
												   compat_next_block, pages, 0);
		MemoryContextSwitchTo(old);
	}
	buffer = read_stream_next_buffer(pages->stream, NULL);
	if (!BufferIsValid(buffer))
		read_stream_reset(pages->stream);
	return buffer;
#else
	BlockNumber block = pages->next_block(pages->argument);

	return block == InvalidBlockNumber ? InvalidBuffer :
		ReadBufferExtended(pages->rel, MAIN_FORKNUM, block, RBM_NORMAL, pages->strategy);
#endif
}

static inline void
compat_end_pages(CompatPages *pages)
{
#if PG_VERSION_NUM >= 170000
	if (pages->stream != NULL)
		read_stream_end(pages->stream);
#endif
}

/* What amestimateparallelscan gets; 18 also renamed where the access method's part begins. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_ESTIMATE_PARALLEL_SCAN_PARAMETERS Relation index, int keys_count, int orderbys_count
#define compat_parallel_scan_of_am(scan) \
	OffsetToPointer((scan)->parallel_scan, (scan)->parallel_scan->ps_offset_am)
#else
#if PG_VERSION_NUM >= 170000
#define COMPAT_ESTIMATE_PARALLEL_SCAN_PARAMETERS int keys_count, int orderbys_count
#else
#define COMPAT_ESTIMATE_PARALLEL_SCAN_PARAMETERS void
#endif
#define compat_parallel_scan_of_am(scan) \
	OffsetToPointer((scan)->parallel_scan, (scan)->parallel_scan->ps_offset)
#endif

/* 18 no longer tells ExecutorRun that it is called once. */
#if PG_VERSION_NUM < 180000
#define COMPAT_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define COMPAT_EXECUTOR_RUN_ARGUMENTS query, direction, count, execute_once
#else
#define COMPAT_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define COMPAT_EXECUTOR_RUN_ARGUMENTS query, direction, count
#endif

/* 17 has wait events of extensions. */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#endif

/* 18 shows names and versions of modules; extension.mk has them from the control file. */
#ifndef PG_MODULE_MAGIC_EXT
#define PENUMBRA_MODULE_MAGIC PG_MODULE_MAGIC
#else
#define PENUMBRA_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = MODULE_NAME, .version = MODULE_VERSION)
#endif

/*
 * A note goes with a plan wherever it is copied.  19 has a list for such.  Before, it is one of the plan's items that
 * name catalog rows it depends on: every version copies, writes and reads them, and their only reader, plancache.c,
 * compares them with rows of given system caches that changed.  A note names no system cache, so it is passed over.
 * Parallel workers get no such items.
 */
static inline void
compat_plan_add_note(PlannedStmt *stmt, PlanInvalItem *note)
{
#if PG_VERSION_NUM < 190000
	stmt->invalItems = lappend(stmt->invalItems, note);
#else
	stmt->extension_state = lappend(stmt->extension_state, makeDefElem("penumbra", (Node *) note, -1));
#endif
}

#if PG_VERSION_NUM < 190000
#define COMPAT_PLAN_NOTES(stmt) ((stmt)->invalItems)
#else
#define COMPAT_PLAN_NOTES(stmt) ((stmt)->extension_state)
#endif

/* The note that an element of that list is; NULL: it is none. */
static inline const PlanInvalItem *
compat_plan_note(const void *element)
{
#if PG_VERSION_NUM < 190000
	const PlanInvalItem *item = element;

	return item->cacheId < 0 ? item : NULL;
#else
	const DefElem *element_of_extension = element;

	return strcmp(element_of_extension->defname, "penumbra") == 0 ? (const PlanInvalItem *) element_of_extension->arg : NULL;
#endif
}

/* 18 has a hook for what extensions say of a plan's nodes, which auto_explain calls too. */
#if PG_VERSION_NUM < 180000
typedef void (*explain_per_node_hook_type) (PlanState *planstate, List *ancestors, const char *relationship,
											const char *plan_name, ExplainState *es);
#define compat_set_explain_node_hook(hook, previous) ((void) (hook), (void) (previous))
#else
#define compat_set_explain_node_hook(hook, previous) \
	(*(previous) = explain_per_node_hook, explain_per_node_hook = (hook))
#endif

/*-------------------------------------------------------------------------
 * Executor states that are kept (extensions/lookup)
 *-------------------------------------------------------------------------
 */

/* 16 took what may be done with relations out of the range table. */
#if PG_VERSION_NUM < 160000
#define compat_check_permissions(stmt) ExecCheckRTPerms((stmt)->rtable, true)
#define COMPAT_PERMISSIONS(stmt) ((stmt)->rtable)
typedef RangeTblEntry CompatPermissions;
#else
#define compat_check_permissions(stmt) ExecCheckPermissions((stmt)->rtable, (stmt)->permInfos, true)
#define COMPAT_PERMISSIONS(stmt) ((stmt)->permInfos)
typedef RTEPermissionInfo CompatPermissions;
#endif

/* The copy of an entry of a query's range table becomes another query's, with what may be done with it. */
static inline void
compat_copy_permissions(Query *query, RangeTblEntry *copy, const Query *source)
{
#if PG_VERSION_NUM >= 160000
	if (copy->perminfoindex == 0)
		return;
	query->rteperminfos = lappend(query->rteperminfos, copyObject(getRTEPermissionInfo(source->rteperminfos, copy)));
	copy->perminfoindex = list_length(query->rteperminfos);
#endif
}

/* Whether the statement needs no other right than SELECT. */
static inline bool
compat_only_selects(const PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, COMPAT_PERMISSIONS(stmt))
	{
		if ((((CompatPermissions *) lfirst(cell))->requiredPerms & ~ACL_SELECT) != 0)
			return false;
	}
	return true;
}

/* 18 prunes partitions for the whole plan; before, only nodes do that have partitions. */
#if PG_VERSION_NUM < 180000
#define compat_prunes_partitions(stmt) false
#else
#define compat_prunes_partitions(stmt) ((stmt)->partPruneInfos != NIL)
#endif

/* 18 computes generated columns when they are read, too, and checks their NOT NULL by expressions. */
#if PG_VERSION_NUM < 180000
#define compat_has_generated(constraints) ((constraints)->has_generated_stored)
#define COMPAT_CHECKS(result) ((result)->ri_ConstraintExprs)
#else
#define compat_has_generated(constraints) \
	((constraints)->has_generated_stored || (constraints)->has_generated_virtual)
#define COMPAT_CHECKS(result) ((result)->ri_CheckConstraintExprs)
#endif

/* 16 counts the rows of all calls of ExecutorRun(). */
#if PG_VERSION_NUM < 160000
#define compat_reset_total_processed(estate) ((void) 0)
#else
#define compat_reset_total_processed(estate) ((estate)->es_total_processed = 0)
#endif

/* The table's part of an index scan at rest. Since 19 a reset keeps pins, so it is begun again as it was. */
#if PG_VERSION_NUM < 190000
#define compat_index_fetch_flags(fetch) 0
#define compat_index_fetch_rest(fetch) (table_index_fetch_reset(fetch), (fetch))
#define compat_index_fetch_again(fetch, table, flags) (fetch)
#else
#define compat_index_fetch_flags(fetch) ((fetch)->flags)
#define compat_index_fetch_rest(fetch) (table_index_fetch_end(fetch), NULL)
#define compat_index_fetch_again(fetch, table, flags) table_index_fetch_begin(table, flags)
#endif

/* Measurements of a whole query, which others ask for; ExecutorStart() makes them since 19. */
#if PG_VERSION_NUM < 190000
#define compat_start_instrumentation(query) ((void) 0)
#define COMPAT_INSTRUMENTATION(query) ((query)->totaltime)
#else
#define compat_start_instrumentation(query) \
	((query)->query_instr = (query)->query_instr_options == 0 ? NULL : InstrAlloc((query)->query_instr_options))
#define COMPAT_INSTRUMENTATION(query) ((query)->query_instr)
#endif

static inline void
compat_end_instrumentation(QueryDesc *query)
{
	if (COMPAT_INSTRUMENTATION(query) != NULL)
		pfree(COMPAT_INSTRUMENTATION(query));
	COMPAT_INSTRUMENTATION(query) = NULL;
}

/* 18 has steps of its own for the end of an expression without result, and for functions of few arguments. */
#if PG_VERSION_NUM < 180000
#define COMPAT_CASES_OF_DONE case EEOP_DONE:
#define COMPAT_CASES_OF_FUNCTIONS
#else
#define COMPAT_CASES_OF_DONE case EEOP_DONE_RETURN: case EEOP_DONE_NO_RETURN:
#define COMPAT_CASES_OF_FUNCTIONS case EEOP_FUNCEXPR_STRICT_1: case EEOP_FUNCEXPR_STRICT_2:
#endif

/* The arguments of a subplan are steps of the calling expression from 18 on, which also has a step for one argument. */
#if PG_VERSION_NUM < 180000
#define COMPAT_SUBPLAN_ARGUMENTS(subplan) ((subplan)->args)
#define COMPAT_CASES_OF_SUBPLAN_ARGUMENTS
#define COMPAT_CASES_OF_AGGREGATE_ARGUMENTS
#else
#define COMPAT_SUBPLAN_ARGUMENTS(subplan) NIL
#define COMPAT_CASES_OF_SUBPLAN_ARGUMENTS case EEOP_PARAM_SET:
#define COMPAT_CASES_OF_AGGREGATE_ARGUMENTS case EEOP_AGG_STRICT_INPUT_CHECK_ARGS_1:
#endif

/* Whether a buffer, which nobody keeps in place, has this block of a relation. */
#if PG_VERSION_NUM < 160000
#define compat_buffer_has(buffer, rel, block) \
	(GetBufferDescriptor((buffer) - 1)->tag.blockNum == (block) && \
	 GetBufferDescriptor((buffer) - 1)->tag.forkNum == MAIN_FORKNUM && \
	 RelFileNodeEquals(GetBufferDescriptor((buffer) - 1)->tag.rnode, (rel)->rd_node))
#else
#define compat_buffer_has(buffer, rel, block) \
	(GetBufferDescriptor((buffer) - 1)->tag.blockNum == (block) && \
	 BufTagGetForkNum(&GetBufferDescriptor((buffer) - 1)->tag) == MAIN_FORKNUM && \
	 BufTagMatchesRelFileLocator(&GetBufferDescriptor((buffer) - 1)->tag, &(rel)->rd_locator))
#endif

/* A btree scan remembers its direction from 17 on, and the page's left link and whether it drops pins from 18 on. */
#if PG_VERSION_NUM < 170000
#define compat_set_scan_position(position, left_page, direction) ((void) 0)
#elif PG_VERSION_NUM < 180000
#define compat_set_scan_position(position, left_page, direction) ((position)->dir = (direction))
#else
#define compat_set_scan_position(position, left_page, direction) \
	((position)->prevPage = (left_page), (position)->dir = (direction))
#endif
/* Whether heap's fetch of rows only asks which buffer it has. 19's remembers the block and a page of the map, too. */
#define COMPAT_ROW_PAGE_CAN_BE_PINNED (PG_VERSION_NUM < 190000)

/* Backward scans return the rows of one entry in descending order from 19 on. */
#define COMPAT_BACKWARD_ROWS_DESCEND (PG_VERSION_NUM >= 190000)
#if PG_VERSION_NUM < 180000
#define compat_scan_drops_pin(scan, state) \
	(IsMVCCSnapshot((scan)->xs_snapshot) && RelationNeedsWAL((scan)->indexRelation) && !(scan)->xs_want_itup)
#else
#define compat_scan_drops_pin(scan, state) ((state)->dropPin)
#endif

/* 19 names the type of system caches' numbers. */
#if PG_VERSION_NUM < 190000
typedef int CompatSysCacheId;
#else
typedef SysCacheIdentifier CompatSysCacheId;
#endif

/* 16 lets a range be made without raising an error. */
#if PG_VERSION_NUM < 160000
#define compat_range_serialize(type, lower, upper, is_empty) range_serialize(type, lower, upper, is_empty)
#else
#define compat_range_serialize(type, lower, upper, is_empty) range_serialize(type, lower, upper, is_empty, NULL)
#endif

/* A document that is made part by part has a state of its own from 19 on, which keeps the result. */
#if PG_VERSION_NUM < 190000
typedef struct CompatJsonbBuilder
{
	JsonbParseState *state;
	JsonbValue *result;
} CompatJsonbBuilder;
#define compat_jsonb_push(builder, token, value) \
	((builder)->result = pushJsonbValue(&(builder)->state, token, value))
#else
typedef JsonbInState CompatJsonbBuilder;
#define compat_jsonb_push(builder, token, value) pushJsonbValue(builder, token, value)
#endif

/* The format of COPY is one member of its options from 19 on; of 19 is JSON, too. */
#if PG_VERSION_NUM < 190000
#define compat_copy_is_text(options) (!(options)->binary && !(options)->csv_mode)
#define compat_copy_is_csv(options) ((options)->csv_mode)
#else
#define compat_copy_is_text(options) ((options)->format == COPY_FORMAT_TEXT)
#define compat_copy_is_csv(options) ((options)->format == COPY_FORMAT_CSV)
#endif

/*
 * The zone that AT TIME ZONE takes for the name, an abbreviation or a zone's.  NULL: there is none, or its offset is
 * not that of a zone alone.  From 16 on errors of abbreviations are soft.
 */
static inline pg_tz *
compat_time_zone(const char *name)
{
	char	   *lower_case = downcase_truncate_identifier(name, strlen(name), false);
	pg_tz	   *tz = NULL;
	int			offset_seconds = 0;
	int			kind;

#if PG_VERSION_NUM < 160000
	kind = DecodeTimezoneAbbrev(0, lower_case, &offset_seconds, &tz);
#else
	DateTimeErrorExtra error;

	if (DecodeTimezoneAbbrev(0, lower_case, &kind, &offset_seconds, &tz, &error) != 0)
		return NULL;
#endif
	if (kind == TZ || kind == DTZ)
		return pg_tzset_offset(-offset_seconds);
	return kind == DYNTZ ? NULL : pg_tzset(name);
}

/* 18 has columns of rows before and after a change. */
#if PG_VERSION_NUM < 180000
#define compat_expand_rte(rte, rtindex, names, vars) expandRTE(rte, rtindex, 0, -1, true, names, vars)
#else
#define compat_expand_rte(rte, rtindex, names, vars) \
	expandRTE(rte, rtindex, 0, VAR_RETURNING_DEFAULT, -1, true, names, vars)
#endif

/* 18 has the direction of a clause beside its operator. */
static inline void
compat_clause_set_direction(SortGroupClause *clause, bool is_descending)
{
#if PG_VERSION_NUM >= 180000
	clause->reverse_sort = is_descending;
#endif
}

/* What a query groups by, of a target; until it is planned a Var of the groups stands for it from 18 on. */
static inline Node *
compat_key_of_groups(const Query *query, Node *expr)
{
#if PG_VERSION_NUM >= 180000
	const Var  *var = (const Var *) expr;

	if (query->hasGroupRTE && IsA(expr, Var) && var->varlevelsup == 0)
	{
		const RangeTblEntry *rte = list_nth_node(RangeTblEntry, query->rtable, var->varno - 1);

		if (rte->rtekind == RTE_GROUP)
			return (Node *) list_nth(rte->groupexprs, var->varattno - 1);
	}
#endif
	return expr;
}

/* Whether Vars of an entry of the groups say which sets make them NULL. */
static inline bool
compat_has_group_entry(const Query *query)
{
#if PG_VERSION_NUM >= 180000
	return query->hasGroupRTE;
#else
	return false;
#endif
}

/* Gives the Var the outer joins that make the other one NULL. */
static inline void
compat_copy_nulling(Var *to, const Var *from)
{
#if PG_VERSION_NUM >= 160000
	to->varnullingrels = bms_copy(from->varnullingrels);
#endif
}

/* Puts these expressions in the places of the Vars, as planning does; of a query without grouping sets. */
static inline void
compat_flatten_groups(Query *query)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *lc;

	if (!query->hasGroupRTE)
		return;
	query->targetList = (List *) flatten_group_exprs(NULL, query, (Node *) query->targetList);
	query->havingQual = flatten_group_exprs(NULL, query, query->havingQual);
	query->hasGroupRTE = false;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind != RTE_GROUP)
			continue;
		rte->rtekind = RTE_RESULT;
		rte->groupexprs = NIL;
	}
#endif
}

#endif							/* PENUMBRA_PG_COMPAT_H */
