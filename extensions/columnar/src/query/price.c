/*-------------------------------------------------------------------------
 *
 * price.c
 *	  What Penumbra's work costs, in the planner's units.
 *
 * A sequential scan of a table in memory takes 1.3 to 2.5 us per unit of its
 * price, and so do our emission of rows and validation by the prices below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <unistd.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/spccache.h"

#include "query/planning.h"
#include "query/price.h"

/*
 * Planning it, building the plan, pinning chunks, starting the engine: about
 * 100 us.  Above the price of a look-up by a unique index (8.5), which bails
 * out on it.
 */
#define STARTUP_COST 12.0
/* Finding out whether a page is still as cached: a bit of the visibility map. */
#define VALIDATION_COST_PER_PAGE 0.0005
/* The same by the LSN of the page itself: 75 to 85 ns. */
#define VALIDATION_COST_PER_DEAR_PAGE 0.035
/* A value in a vector, against a tuple of the row executor. */
#define VALUE_COST (cpu_tuple_cost / 50)
/*
 * A row that a join's table is built of, and one that looks for its matches,
 * per key; and the same where no cache holds the table.  A value is 0.4 ns.
 */
#define BUILD_VALUES 40
#define PROBE_VALUES 16
#define MISSED_BUILD_VALUES 120
#define MISSED_PROBE_VALUES 60
#define CACHE_BYTES (1024.0 * 1024)
/* A column of a row that comes out of a join. */
#define JOINED_VALUES 4
/* A row that leaves the engine as a slot. */
#define EMISSION_COST (cpu_tuple_cost * 2)
/*
 * What random_page_cost is when the data is in memory, at PostgreSQL's price of
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
#define LOOK_UP_FACTOR 2.0
/* Threads pay off from this many rows each. */
#define ROWS_PER_THREAD 250000.0
/* Where each scan starts them anew; on busy processors one that is not there yet is waited for up to 1 ms. */
#define ROWS_PER_THREAD_RESCANNED 2000000.0

int
price_threads(double rows, bool is_rescanned)
{
	static int	cores = 0;
	int			threads;

	if (cores == 0)
		cores = Max((int) sysconf(_SC_NPROCESSORS_ONLN), 1);
	threads = penumbra_workers >= 0 ? penumbra_workers : max_parallel_workers_per_gather;
	threads = Min(threads, cores - 1);
	return Min(threads, (int) (rows / (is_rescanned ? ROWS_PER_THREAD_RESCANNED : ROWS_PER_THREAD)));
}

double
price_processes(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	if (workers > 0 && (!parallel_leader_participation || leader < 0))
		leader = 0;
	return workers + leader;
}

bool
price_scan_can_win(RelOptInfo *rel)
{
	ListCell   *lc;

	/* add_path() keeps them by total cost; a parameterized one costs that much per row of a join. */
	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL)
			return path->total_cost > STARTUP_COST;
	}
	return false;
}

/* By how much our price must be larger to be comparable with that of look-ups by index. */
static double
look_up_factor(RelOptInfo *rel)
{
	double		random_page;

	get_tablespace_page_costs(rel->reltablespace, &random_page, NULL);
	return Max(LOOK_UP_FACTOR * random_page / HOT_RANDOM_PAGE_COST, 1.0);
}

void
price_scan(PlannedPipeline *planned, List *tables, int filter_columns, int other_columns,
		  double selected_rows, double table_rows)
{
	double		cached_rows = 0;
	double		scanned_rows = 0;	/* of these, in chunks that are not skipped */
	double		cached_pages = 0;
	double		dear_pages = 0;
	double		heap_pages = 0;
	double		heap_rows;
	double		fraction_selected = table_rows > 0 ? Min(selected_rows / table_rows, 1.0) : 1.0;
	double		processes = price_processes(planned->workers);
	double		factor = 1.0;
	double		values;
	int			threads;
	ListCell   *lc;

	foreach(lc, tables)
	{
		PlannedTable *table = lfirst(lc);
		double		pages = table->rel->pages;
		double		valid = Min((double) table->coverage.valid_pages, pages);

		planned->is_rescanned |= table->is_rescanned;
		if (table->is_looked_up)
			factor = Max(factor, look_up_factor(table->rel));
		cached_pages += valid;
		dear_pages += Min((double) table->coverage.dear_pages, valid);
		heap_pages += pages - valid;
		if (pages > 0)
		{
			double		rows = table->rel->tuples * (valid / pages);

			cached_rows += rows;
			scanned_rows += rows * (1 - table->skipped_share);
		}
	}
	heap_rows = Max(table_rows - cached_rows, 0);
	values = scanned_rows * (filter_columns + 0.2) +
		cached_rows * other_columns * fraction_selected;
	threads = planned->workers > 0 ? 0 : price_threads(table_rows, planned->is_rescanned);
	planned->input_rows = table_rows;
	planned->rows = clamp_row_est(selected_rows / processes);
	planned->startup_cost = STARTUP_COST + VALIDATION_COST_PER_PAGE * cached_pages +
		VALIDATION_COST_PER_DEAR_PAGE * dear_pages / processes;
	planned->run_cost = values * VALUE_COST / (1 + threads) / processes +
		heap_pages * seq_page_cost + heap_rows * cpu_tuple_cost / processes;
	planned->startup_cost *= factor;
	planned->run_cost *= factor;
	planned->rescan_factor = factor;
}

void
price_without_rescans(PlannedPipeline *planned)
{
	if (planned->rescan_factor > 1)
	{
		planned->startup_cost /= planned->rescan_factor;
		planned->run_cost /= planned->rescan_factor;
	}
	planned->rescan_factor = 0;
	planned->is_rescanned = false;
}

/* Ends streaming: all that came before is startup now. */
static void
block(PlannedPipeline *planned, Cost work)
{
	planned->startup_cost += planned->run_cost + work;
	planned->run_cost = 0;
}

void
price_filter(PlannedPipeline *planned, int columns, double rows)
{
	planned->run_cost += planned->rows * columns * VALUE_COST /
		(1 + price_threads(planned->input_rows, planned->is_rescanned));
	planned->rows = rows;
}

void
price_join(PlannedPipeline *planned, const PlannedPipeline *build, int keys, int build_columns,
		  int conditions, double pairs, double rows)
{
	double		threads = 1 + price_threads(planned->input_rows + build->input_rows,
											planned->is_rescanned || build->is_rescanned);
	bool		is_cached = build->rows * (16 + 8 * (keys + build_columns)) <= CACHE_BYTES;
	double		build_values = is_cached ? BUILD_VALUES : MISSED_BUILD_VALUES;
	double		probe_values = is_cached ? PROBE_VALUES : MISSED_PROBE_VALUES;

	planned->startup_cost += build->startup_cost + build->run_cost +
		build->rows * (build_values + build_columns) * VALUE_COST / threads;
	planned->run_cost += (planned->rows * probe_values + pairs * (1 + conditions) +
						  rows * build_columns * JOINED_VALUES) * VALUE_COST / threads;
	planned->input_rows += build->input_rows;
	planned->rows = rows;
}

void
price_aggregation(PlannedPipeline *planned, int keys, int calls, double groups)
{
	double		values = planned->rows * (2.0 * keys + calls);

	block(planned, values * VALUE_COST / (1 + price_threads(planned->input_rows, planned->is_rescanned)) +
		  groups * (1 + keys + calls) * VALUE_COST * 4);
	planned->rows = groups;
}

void
price_sort(PlannedPipeline *planned, int keys, double bound)
{
	double		rows = Max(planned->rows, 2.0);

	if (bound >= 1 && bound < rows)
	{
		block(planned, rows * VALUE_COST * keys);
		planned->rows = bound;
	}
	else
		block(planned, rows * log2(rows) * keys * cpu_operator_cost / 5);
}

void
price_set(Path *path, const PlannedPipeline *planned)
{
	path->rows = planned->rows;
	path->startup_cost = planned->startup_cost;
	path->total_cost = planned->startup_cost + planned->run_cost + planned->rows * EMISSION_COST;
	if (planned->pipeline->holds_rows)
	{
		/* A row kept back costs about as much again. */
		path->total_cost += planned->rows * EMISSION_COST;
		path->startup_cost = path->total_cost;
	}
}

/*
 * A scan below a join takes work from look-ups by index, whose price contains
 * random_page_cost.  With a setting for disks a scan priced by its time would
 * win against look-ups that are faster, so it is priced in the same coin; but
 * below the path of PostgreSQL that it replaces, which it is faster than.
 */
void
price_join_input(Path *path, RelOptInfo *rel, const Path *replaced)
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
price_exists(Path *path, const Path *replaced, double rows)
{
	Cost		one = path->startup_cost + (path->total_cost - path->startup_cost) / rows;
	Cost		replaced_one = replaced->startup_cost +
		(replaced->total_cost - replaced->startup_cost) / rows;
	double		factor = Max(replaced_one * JOIN_INPUT_SHARE / one, 1.0);

	path->startup_cost *= factor;
	path->total_cost *= factor;
}
