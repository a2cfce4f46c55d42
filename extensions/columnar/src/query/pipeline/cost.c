/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What Penumbra's work costs, in the planner's units.
 *
 * A sequential scan of a table in memory takes 1.3 to 2.5 us per unit of its
 * cost, and so do our emission of rows and validation by the costs below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/spccache.h"

#include "query/pipeline/cost.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stages.h"
#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

/*
 * Planning it, building the plan, pinning chunks, starting the engine: about
 * 100 us.  Above the cost of a look-up by a unique index (8.5), which bails
 * out on it.
 */
#define STARTUP_COST 12.0
/* Finding out whether a page is still as cached: a bit of the visibility map. */
#define VALIDATION_COST_PER_PAGE 0.0005
/* The same by the LSN of the page itself: 75 to 85 ns. */
#define VALIDATION_COST_PER_LSN_PAGE 0.035
/* A value in a vector, against a tuple of the row executor. */
#define VALUE_COST (cpu_tuple_cost / 50)
/* A cached row that a scan visits, beside the columns that its filters read. */
#define SCANNED_ROW_VALUES 0.2
/* A key or an aggregate of a group, which is kept and comes out. */
#define GROUP_VALUES 4
/* A value of a window function. */
#define WINDOW_VALUES 10
/*
 * A row that a join's table is built of, and one that looks for its matches,
 * per key; and the same where no cache holds the table.  A value is 0.4 ns.
 */
#define BUILD_VALUES 40
#define PROBE_VALUES 16
#define MISSED_BUILD_VALUES 240
#define MISSED_PROBE_VALUES 60
/* A row that the join's filter drops in the scan, or the tags of the table. */
#define FILTERED_VALUES 4
#define MISSED_FILTERED_VALUES 20
/* A column that the table keeps. */
#define MISSED_COLUMN_VALUES 32
/*
 * A row of a correlated subquery that is read, aggregated and kept by key:
 * measured 50 to 200 ns, less where filters drop most.
 */
#define KEPT_VALUES 100
#define CACHE_BYTES (1024.0 * 1024)
/* A column of a row that comes out of a join. */
#define JOINED_VALUES 4
/* What a row takes in a sort beside its columns; how many runs on disk one merge takes. */
#define SORT_ROW_BYTES 64
#define SORT_MERGED_RUNS 128
/* Rows are copied once, into memory that nobody has touched yet: 1 ns a byte. */
#define SORT_BYTE_COST (cpu_tuple_cost / 30)
/* The engine sorts all rows where more are wanted. */
#define TOP_N_ROWS_MAX 100000
/* PostgreSQL expects as many, and ten times the first rows in each. */
#define RECURSION_ITERATIONS 10
/* A row that PostgreSQL computes, on its way into the engine, and a column of it. */
#define ROW_COST (cpu_tuple_cost * 4)
#define ROW_VALUE_COST (cpu_tuple_cost)
/* A row that leaves the engine as a slot. */
#define EMISSION_COST (cpu_tuple_cost * 2)
/*
 * What random_page_cost is when the data is in memory, at PostgreSQL's cost of
 * a tuple.  Measured: with it the planner's choices among joins are right.
 */
#define HOT_RANDOM_PAGE_COST 1.1
/* Below joins and EXISTS a scan is at least so much cheaper than PostgreSQL's own. */
#define JOIN_INPUT_SHARE 0.95
/* The rows of an index-only scan are in order: a hash table of them is built the faster for it. */
#define INDEX_ORDER_FACTOR 2.0
/*
 * A look-up by index that is repeated for each row of an outer query finds its
 * pages in memory, and takes half as long per unit as a sequential scan does.
 */
#define LOOKUP_FACTOR 2.0
/* A row that such a look-up finds takes 110 ns at least, with an aggregate above. */
#define EXECUTED_ROW_COST (cpu_tuple_cost * 5)
/* Threads pay off from this many rows each. */
#define ROWS_PER_THREAD 250000.0
/* Where each scan starts them anew; on busy processors one that is not there yet is waited for up to 1 ms. */
#define ROWS_PER_THREAD_RESCANNED 2000000.0

int
cost_threads(double rows, bool is_rescanned)
{
	int			threads = penumbra_threads_per_query >= 0 ? penumbra_threads_per_query :
		max_parallel_workers_per_gather;

	threads = Min(threads, penumbra_max_threads - 1);
	return Min(threads, (int) (rows / (is_rescanned ? ROWS_PER_THREAD_RESCANNED : ROWS_PER_THREAD)));
}

Size
cost_memory_bytes(int threads)
{
	return get_hash_memory_limit() * (1 + threads);
}

double
cost_processes(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	if (workers > 0 && (!parallel_leader_participation || leader < 0))
		leader = 0;
	return workers + leader;
}

/* Whether PostgreSQL's paths cost more than that; a parameterized one costs so much per row of a join. */
static bool
costs_more(const RelOptInfo *rel, Cost cost)
{
	ListCell   *lc;

	/* add_path() keeps them by total cost */
	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL)
			return path->total_cost > cost;
	}
	return false;
}

bool
cost_scan_can_win(RelOptInfo *rel)
{
	return costs_more(rel, STARTUP_COST);
}

int
cost_count_relations(const PlannerInfo *root, const RelOptInfo *rel)
{
	Relids		base_rels = bms_intersect(rel->relids, root->all_baserels);
	int			count = bms_num_members(base_rels);

	bms_free(base_rels);
	return count;
}

/* Each relation of a join of ours costs at least its start. */
bool
cost_join_can_win(const PlannerInfo *root, RelOptInfo *joinrel)
{
	return costs_more(joinrel, cost_count_relations(root, joinrel) * STARTUP_COST);
}

/* By how much our cost must be larger to be comparable with that of look-ups by index. */
static double
lookup_factor(Oid tablespace)
{
	double		random_page;

	get_tablespace_page_costs(tablespace, &random_page, NULL);
	return Max(LOOKUP_FACTOR * random_page / HOT_RANDOM_PAGE_COST, 1.0);
}

void
cost_add_scan(RelPipeline *planned, List *tables, int filter_columns, int other_columns,
			  double selected_rows, double table_rows)
{
	double		cached_rows = 0;
	double		scanned_rows = 0;	/* of the cached rows, those in chunks that zone maps do not skip */
	double		cached_pages = 0;
	double		lsn_pages = 0;
	double		heap_pages = 0;
	double		cold_pages = 0; /* as many as columns that are on disk only would fill */
	double		heap_rows;
	double		fraction_selected = table_rows > 0 ? Min(selected_rows / table_rows, 1.0) : 1.0;
	double		processes = cost_processes(planned->workers);
	double		factor = 1.0;
	double		values;
	int			threads;
	ListCell   *lc;

	foreach(lc, tables)
	{
		ServedTable *table = lfirst(lc);
		double		pages = table->rel->pages;
		double		valid = Min((double) table->coverage.valid_pages, pages);

		planned->is_rescanned |= table->is_rescanned;
		if (table->is_looked_up)
			factor = Max(factor, lookup_factor(table->rel->reltablespace));
		cached_pages += valid;
		lsn_pages += Min((double) table->coverage.lsn_pages, valid);
		heap_pages += pages - valid;
		cold_pages += (double) table->coverage.cold_bytes / BLCKSZ * (1 - table->skipped_share);
		if (pages > 0)
		{
			double		rows = table->rel->tuples * (valid / pages);

			cached_rows += rows;
			scanned_rows += rows * (1 - table->skipped_share);
		}
	}
	heap_rows = Max(table_rows - cached_rows, 0);
	values = scanned_rows * (filter_columns + SCANNED_ROW_VALUES) +
		cached_rows * other_columns * fraction_selected;
	threads = planned->workers > 0 ? 0 : cost_threads(table_rows, planned->is_rescanned);
	planned->input_rows = table_rows;
	planned->rows = clamp_row_est(selected_rows / processes);
	planned->startup_cost = STARTUP_COST + VALIDATION_COST_PER_PAGE * cached_pages +
		VALIDATION_COST_PER_LSN_PAGE * lsn_pages / processes;
	planned->run_cost = values * VALUE_COST / (1 + threads) / processes +
		(heap_pages + cold_pages) * seq_page_cost + heap_rows * cpu_tuple_cost / processes;
	planned->startup_cost *= factor;
	planned->run_cost *= factor;
	planned->rescan_factor = factor;
}

void
cost_add_rows(RelPipeline *planned, const Path *source, int columns)
{
	planned->input_rows = planned->rows = clamp_row_est(source->rows);
	planned->startup_cost = STARTUP_COST + source->startup_cost;
	planned->run_cost = source->total_cost - source->startup_cost +
		planned->rows * (ROW_COST + columns * ROW_VALUE_COST);
}

void
cost_add_shared(RelPipeline *planned, int columns)
{
	planned->shared_cost += planned->startup_cost + planned->run_cost;
	planned->startup_cost = 0;
	planned->run_cost = planned->rows * columns * VALUE_COST;
}

void
cost_add_working_table(RelPipeline *planned, double tuples, int columns)
{
	planned->rows = tuples;
	planned->run_cost = tuples * columns * VALUE_COST;
}

/* Tables of joins are built once.  So many iterations as cost_recursive_union() expects. */
void
cost_add_recursion(RelPipeline *planned, const RelPipeline *term, int columns, bool is_distinct)
{
	planned->startup_cost += planned->run_cost + term->startup_cost;
	planned->input_rows += term->input_rows;
	planned->rows += RECURSION_ITERATIONS * term->rows;
	planned->run_cost = RECURSION_ITERATIONS * term->run_cost +
		planned->rows * (columns * 2 + (is_distinct ? MISSED_BUILD_VALUES : BUILD_VALUES)) * VALUE_COST;
	planned->before_sort = NULL;
}

void
cost_without_rescans(RelPipeline *planned)
{
	if (planned->rescan_factor > 1)
	{
		planned->startup_cost /= planned->rescan_factor;
		planned->run_cost /= planned->rescan_factor;
	}
	planned->rescan_factor = 0;
	planned->is_rescanned = false;
}

Cost
cost_of_executions(double executions, Cost cost, double rows, bool is_looked_up)
{
	return executions * Max(cost / (is_looked_up ? lookup_factor(InvalidOid) : 1), rows * EXECUTED_ROW_COST);
}

Cost
cost_of_all_rows(const RelPipeline *subquery)
{
	return subquery->input_rows * KEPT_VALUES * VALUE_COST / (1 + cost_threads(subquery->input_rows, false));
}

/* A stage that waits for its whole input: no row leaves before this work and that of the stages below is done. */
static void
end_streaming(RelPipeline *planned, Cost work)
{
	planned->startup_cost += planned->run_cost + work;
	planned->run_cost = 0;
}

void
cost_add_filter(RelPipeline *planned, int columns, double rows)
{
	planned->run_cost += planned->rows * columns * VALUE_COST /
		(1 + cost_threads(planned->input_rows, planned->is_rescanned));
	planned->rows = rows;
}

void
cost_add_unnest(RelPipeline *planned, int lists, int columns, double rows)
{
	planned->run_cost += (planned->rows * lists + rows * (lists + columns)) * JOINED_VALUES * VALUE_COST /
		(1 + cost_threads(planned->input_rows, planned->is_rescanned));
	planned->rows = rows;
}

void
cost_add_join(RelPipeline *planned, const RelPipeline *build, int keys, int build_columns,
			  int conditions, double matched, double pairs, double rows)
{
	double		threads = 1 + cost_threads(planned->input_rows + build->input_rows,
										   planned->is_rescanned || build->is_rescanned);
	bool		is_cached = build->rows * (16 + 8 * (keys + build_columns)) <= CACHE_BYTES;
	double		build_values = is_cached ? BUILD_VALUES : MISSED_BUILD_VALUES;
	double		probe_values = is_cached ? PROBE_VALUES : MISSED_PROBE_VALUES;
	double		filtered_values = is_cached ? FILTERED_VALUES : MISSED_FILTERED_VALUES;

	planned->shared_cost += build->shared_cost;
	planned->startup_cost += build->startup_cost + build->run_cost +
		build->rows * (build_values + build_columns * (is_cached ? 1 : MISSED_COLUMN_VALUES)) * VALUE_COST / threads;
	planned->run_cost += (matched * probe_values + Max(planned->rows - matched, 0) * filtered_values +
						  pairs * (1 + conditions) +
						  rows * build_columns * JOINED_VALUES) * VALUE_COST / threads;
	planned->input_rows += build->input_rows;
	planned->rows = rows;
}

void
cost_add_aggregation(RelPipeline *planned, int keys, int calls, double groups)
{
	double		values = planned->rows * (2.0 * keys + calls);

	end_streaming(planned, values * VALUE_COST / (1 + cost_threads(planned->input_rows, planned->is_rescanned)) +
		  groups * (1 + keys + calls) * VALUE_COST * GROUP_VALUES);
	planned->rows = groups;
}

static double
memory_bytes_of(const RelPipeline *planned)
{
	return cost_memory_bytes(cost_threads(planned->input_rows, planned->is_rescanned));
}

/*
 * Sorted rows that are written and read again: as cost_tuplesort() has it, so
 * that a sort of ours and one of PostgreSQL's pay alike for the disk.
 */
static Cost
sorted_runs_cost(double bytes, double memory_bytes)
{
	double		pages = ceil(bytes / BLCKSZ);
	double		passes = ceil(log(Max(bytes / memory_bytes, 2.0)) / log(SORT_MERGED_RUNS));

	return 2 * pages * passes * (seq_page_cost * 0.75 + random_page_cost * 0.25);
}

void
cost_add_sort(RelPipeline *planned, int keys, int width, double bound)
{
	double		rows = Max(planned->rows, 2.0);
	double		row_bytes = width + SORT_ROW_BYTES;
	bool		is_bounded = bound >= 1 && bound < rows;
	double		memory_bytes = memory_bytes_of(planned);
	bool		fits = (is_bounded ? bound : rows) * row_bytes <= memory_bytes;

	if (is_bounded && fits && bound <= TOP_N_ROWS_MAX)
		end_streaming(planned, rows * VALUE_COST * keys);
	else
		end_streaming(planned, rows * log2(rows) * keys * cpu_operator_cost / 5 + rows * row_bytes * SORT_BYTE_COST +
			  (fits ? 0 : sorted_runs_cost(rows * row_bytes, memory_bytes)));
	if (is_bounded)
		planned->rows = bound;
}

/* Rows that are kept, and grouped meanwhile, but not sorted. */
void
cost_add_partitions(RelPipeline *planned, int keys, int width)
{
	double		row_bytes = width + SORT_ROW_BYTES;
	double		bytes = planned->rows * row_bytes;
	double		memory_bytes = memory_bytes_of(planned);

	end_streaming(planned, planned->rows * 2.0 * keys * VALUE_COST + bytes * SORT_BYTE_COST +
		  (bytes <= memory_bytes ? 0 : sorted_runs_cost(bytes, memory_bytes)));
}

void
cost_add_window(RelPipeline *planned, int functions)
{
	planned->run_cost += planned->rows * functions * VALUE_COST * WINDOW_VALUES;
}

void
cost_set(Path *path, const RelPipeline *planned, bool is_repeated)
{
	path->rows = planned->rows;
	path->startup_cost = planned->startup_cost + (is_repeated ? planned->shared_cost : 0);
	path->total_cost = path->startup_cost + planned->run_cost + planned->rows * EMISSION_COST;
	if (planned->pipeline->holds_rows)
	{
		/* A row kept back costs about as much again. */
		path->total_cost += planned->rows * EMISSION_COST;
		path->startup_cost = path->total_cost;
	}
}

/* As a bitmap heap scan's, which reads the pages in their order. */
void
cost_add_fetches(PlannerInfo *root, Path *path, const RelPipeline *planned)
{
	const List *outputs = planned->pipeline->position_map == NIL ? NIL : stage_outputs(planned->pipeline->top);
	double		rows = planned->passing_rows > 0 ? Min(planned->rows, planned->passing_rows) : planned->rows;
	Bitmapset  *numbers = NULL;
	int			number = -1;
	ListCell   *lc;

	foreach(lc, planned->pipeline->position_map)
	{
		if (lfirst_int(lc) >= 0)
			numbers = bms_add_member(numbers, list_nth_node(Var, outputs, lfirst_int(lc))->varno);
	}
	while ((number = bms_next_member(numbers, number)) >= 0)
	{
		const RelOptInfo *rel = relation_number_rel(root, number);
		/* of partitions the number is not known */
		double		table_bytes = rel->tuples * rel->reltarget->width;
		BlockNumber table_pages = rel->pages > 0 ? rel->pages : (BlockNumber) ceil(table_bytes / BLCKSZ);
		double		pages = Min(index_pages_fetched(rows, table_pages, table_pages, root), table_pages);
		double		random_cost;
		double		sequential_cost;

		get_tablespace_page_costs(rel->reltablespace, &random_cost, &sequential_cost);
		random_cost -= (random_cost - sequential_cost) * sqrt(pages / Max(table_pages, 1));
		path->total_cost += pages * random_cost + rows * cpu_tuple_cost;
	}
}

/*
 * A scan below a join takes work from look-ups by index, whose cost contains
 * random_page_cost.  With a setting for disks a scan costed by its time would
 * win against look-ups that are faster, so it is costed on the same scale; but
 * below the path of PostgreSQL that it replaces, which it is faster than.
 */
void
cost_set_join_input(Path *path, RelOptInfo *rel, const Path *replaced)
{
	double		random_page;
	double		seq_page;
	double		factor;

	get_tablespace_page_costs(rel->reltablespace, &random_page, &seq_page);
	factor = random_page / HOT_RANDOM_PAGE_COST;
	if (replaced->pathtype == T_IndexOnlyScan)
		factor = Max(factor, INDEX_ORDER_FACTOR);
	else
		factor = Min(factor, replaced->total_cost * JOIN_INPUT_SHARE / path->total_cost);
	if (factor <= 1)
		return;
	path->startup_cost *= factor;
	path->total_cost *= factor;
}

/*
 * Whether PostgreSQL runs EXISTS for each outer row or once, for a hash table,
 * is a matter of how many rows it expects, which may be far too few.  With
 * sequential scans the hash table wins from two rows on.  So one execution of
 * ours, which ends at the first of `rows`, costs as much as with what it replaces.
 */
void
cost_set_exists(Path *path, const Path *replaced, double rows)
{
	Cost		one = path->startup_cost + (path->total_cost - path->startup_cost) / rows;
	Cost		replaced_one = replaced->startup_cost +
		(replaced->total_cost - replaced->startup_cost) / rows;
	double		factor = Max(replaced_one * JOIN_INPUT_SHARE / one, 1.0);

	path->startup_cost *= factor;
	path->total_cost *= factor;
}
