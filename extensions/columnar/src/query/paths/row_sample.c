/*-------------------------------------------------------------------------
 *
 * row_sample.c
 *	  What the cache says of the rows that pass a table's quals.
 *
 * PostgreSQL takes the columns of a table for independent of each other, and
 * each date of a calendar of two centuries for as likely in a table of sales as
 * any other: of a year's sales it expects a hundredth.  The rows of the
 * calendar that pass are read in less time than such a plan takes to be made,
 * and tell both how many they are and which range of keys they have.
 *
 * Of expressions that are columns, as paths of documents, there are no statistics at
 * all.  So of a large table whose quals read some a few rows of many chunks tell the
 * share, and of those that are keys how many distinct values there are.  They also
 * tell it of several quals of a table in a join, one of which may be the bounds that
 * another table has, and of what statistics do not know, as patterns.
 *
 * These are estimates: what was written since the load is not in them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "cache/cache.h"
#include "query/paths/row_sample.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/rel_pipeline.h"
#include "query/pipeline/stage_filter.h"
#include "query/pipeline/stage_scan.h"
#include "query/pipeline/translate_expr.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"
#include "query/planning/expression_columns.h"
#include "query/planning/path_walk.h"
#include "query/planning/privileges.h"
#include "query/planning/relation_numbers.h"

/* A table with more rows is left to the statistics, or rows of some chunks stand for it. */
#define SAMPLED_ROWS_MAX 131072.0
#define SAMPLED_CHUNKS	16
#define SAMPLED_CHUNK_ROWS	2048
/* Beside statistics, which know rare values better: a sample of a millisecond with a pattern in it. */
#define JOINED_CHUNK_ROWS 512
/* Of twice as many. */
#define SAMPLED_SHARE(rows) Min(1, 2.0 * SAMPLED_CHUNKS * SAMPLED_CHUNK_ROWS / (rows))
/* In a smaller one distinct values cannot be wrong by much. */
#define DISTINCT_ROWS_MIN 1000.0
#define SAMPLED_COLUMNS_MAX 8
/* Of the rows, less of them in the cache tell little. */
#define COVERED_SHARE_MIN 0.9
/* Bytes of the columns, times the functions that look at each row: some 50 ms. */
#define SAMPLED_WORK_MAX 67108864.0

/* Whether a bound is a value of the column's type. */
static bool
has_integers(const Translation *translation, PenumbraExpr column, Oid type_oid)
{
	PenumbraType type = penumbra_plan_expr_type(translation->plan, column);

	return translate_is_its_image(type_oid) &&
		(type == PENUMBRA_INT2 || type == PENUMBRA_INT4 || type == PENUMBRA_INT8 || type == PENUMBRA_DATE);
}

/* Whether a qual reads an expression that is a column. */
static bool
has_expressions(PlannerInfo *root, const ServedTable *table)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, table->quals)
	{
		Node	   *clause = relation_numbers_normalize(root, (Node *) ((TableQual *) lfirst(lc))->rinfo->clause);

		foreach(lc2, pull_var_clause(clause, PVC_RECURSE_PLACEHOLDERS))
		{
			if (expression_column_is(lfirst_node(Var, lc2)->varattno))
				return true;
		}
	}
	return false;
}

/* share: of the rows that are looked at. */
static bool
is_cheap(PlannerInfo *root, const ServedTable *table, double share)
{
	double		width = 0;
	QualCost	cost;
	ListCell   *lc;

	cost_qual_eval(&cost, table->rel->baserestrictinfo, root);
	foreach(lc, table->attnums)
	{
		int32		column_width = get_attavgwidth(table->oid, lfirst_int(lc));

		width += column_width > 0 ? column_width : sizeof(int64);
	}
	return table->coverage.cached_rows * share * width * Max(cost.per_tuple / cpu_operator_cost, 1) <= SAMPLED_WORK_MAX;
}

/* The quals as the filter of the plan; false: there is none, or one whose value is not known. */
static bool
add_quals(PlannerInfo *root, Translation *translation, const ServedTable *table)
{
	PenumbraExpr *conjuncts = palloc(sizeof(PenumbraExpr) * Max(list_length(table->quals), 1));
	int			count = 0;
	ListCell   *lc;

	foreach(lc, table->quals)
	{
		const TableQual *qual = lfirst(lc);

		if (qual->refusal != NULL)
			return false;
		conjuncts[count] = translate_expr(translation, relation_numbers_normalize(root, (Node *) qual->rinfo->clause));
		if (conjuncts[count++] < 0 || translation->runtime_exprs != NIL || translation->called_exprs != NIL)
			return false;
	}
	return count > 0 && stage_filter_add_conjuncts(translation, conjuncts, count);
}

/* count(*), and of all rows min() and max() of columns, of which it makes the list of bounds; false: refused. */
static bool
add_aggregates(Translation *translation, const PipelineStage *scan, ServedTable *table, bool is_of_all)
{
	PenumbraAggregateCall calls[1 + 2 * SAMPLED_COLUMNS_MAX] = {{.function = PENUMBRA_AGG_COUNT_STAR,
	.result = PENUMBRA_INT8,.filter = -1}};
	int			count = 1;
	ListCell   *lc;

	foreach(lc, table->attnums)
	{
		PenumbraExpr column = penumbra_plan_column(translation->plan, translation->current,
												   foreach_current_index(lc));
		PenumbraAggregateCall call = {.arguments = {column},.argument_count = 1,.filter = -1};
		ColumnBounds *bounds;

		if (!is_of_all || count == (int) lengthof(calls) ||
			!has_integers(translation, column, exprType(list_nth(scan->exprs, foreach_current_index(lc)))))
			continue;
		call.result = penumbra_plan_expr_type(translation->plan, column);
		call.function = PENUMBRA_AGG_MIN;
		calls[count++] = call;
		call.function = PENUMBRA_AGG_MAX;
		calls[count++] = call;
		bounds = palloc0(sizeof(ColumnBounds));
		bounds->attno = lfirst_int(lc);
		table->bounds = lappend(table->bounds, bounds);
	}
	translation->current = penumbra_plan_add_aggregation(translation->plan, translation->current, NULL, 0,
														 calls, count);
	return translation->current >= 0 && translation_finish(translation);
}

/* What a sample has shown, each planning would look for again. */
#define KNOWN_SAMPLES 256

/* Of a small table until something else is in the cache; of a large one until it has another size. */
typedef struct KnownSample
{
	uint64		hash;			/* of the table, its columns and the quals */
	double		rows;
	uint64		bytes;
	double		share;			/* of the rows that pass, or -1 */
	int			bounds_count;
	ColumnBounds bounds[SAMPLED_COLUMNS_MAX];
} KnownSample;

static bool
has_other_size(double known_rows, double rows)
{
	return rows > known_rows * 1.2 || rows < known_rows * 0.8;
}

static uint64
add_to_hash(uint64 hash, Node *node)
{
	char	   *text = nodeToString(node);

	hash = hash_combine64(hash, hash_bytes_extended((const unsigned char *) text, strlen(text), 0));
	pfree(text);
	return hash;
}

static KnownSample *
known_sample(PlannerInfo *root, const ServedTable *table, bool is_of_all)
{
	static KnownSample known[KNOWN_SAMPLES];
	uint64		hash = add_to_hash(table->oid, (Node *) table->attnums);
	const CacheCoverage *coverage = &table->coverage;
	KnownSample *entry;
	ListCell   *lc;

	foreach(lc, table->quals)
		hash = add_to_hash(hash, relation_numbers_normalize(root, (Node *) ((TableQual *) lfirst(lc))->rinfo->clause));
	entry = &known[hash % KNOWN_SAMPLES];
	if (entry->hash != hash ||
		(is_of_all ? entry->rows != coverage->cached_rows || entry->bytes != coverage->cached_bytes
		 : has_other_size(entry->rows, coverage->cached_rows)))
		*entry = (KnownSample) {.hash = hash,.rows = coverage->cached_rows,.bytes = coverage->cached_bytes,.share = -1};
	return entry;
}

/* chunk_rows: to look at of each of some chunks; 0: all of all.  rare: the share at most if none of them passes. */
static void
take(PlannerInfo *root, ServedTable *table, Relation relation, uint32 chunk_rows, double rare)
{
	bool		is_of_all = chunk_rows == 0;
	const Pipeline *pipeline = rel_pipeline_begin_scan(root, table->rel->relid, table->attnums);
	int64		values[1 + 2 * SAMPLED_COLUMNS_MAX];
	double		rows;
	Translation *translation;
	ListCell   *lc;

	/* What can be seen of the estimates must not tell of hidden rows. */
	if (pipeline->has_barrier || !is_cheap(root, table, is_of_all ? 1 : SAMPLED_SHARE(table->coverage.cached_rows)))
		return;
	translation = translation_begin(NULL, NULL);
	translation->needs_values = true;
	if (stage_scan_add_to_plan(translation, pipeline->top) &&
		add_quals(root, translation, table) && add_aggregates(translation, pipeline->top, table, is_of_all) &&
		cache_aggregate(relation, table->columns, list_length(table->attnums), is_of_all ? 0 : SAMPLED_CHUNKS,
						chunk_rows, translation->plan, pipeline->top->operator, values,
						&rows) && rows > 0)
		table->sampled_share = values[0] > 0 ? values[0] / rows : Min(rare, 0.5 / rows);
	translation_end(translation);
	foreach(lc, table->sampled_share > 0 ? table->bounds : NIL)
	{
		ColumnBounds *bounds = lfirst(lc);
		int			place = 1 + 2 * foreach_current_index(lc);

		bounds->least = values[place];
		bounds->greatest = values[place + 1];
	}
}

static bool
is_small(const ServedTable *table)
{
	return table->coverage.cached_rows <= SAMPLED_ROWS_MAX;
}

/* Whether there are rows to look at for the quals. */
static bool
has_rows(const ServedTable *table)
{
	return table->quals != NIL && table->rel->tuples > 0 &&
		table->coverage.cached_rows >= table->rel->tuples * COVERED_SHARE_MIN;
}

static void
take_or_remember(PlannerInfo *root, ServedTable *table, Relation relation, uint32 chunk_rows, double rare)
{
	KnownSample *known = known_sample(root, table, chunk_rows == 0);
	ListCell   *lc;

	if (known->share < 0)
	{
		take(root, table, relation, chunk_rows, rare);
		known->share = table->sampled_share;
		known->bounds_count = 0;
		foreach(lc, table->bounds)
			known->bounds[known->bounds_count++] = *(ColumnBounds *) lfirst(lc);
		return;
	}
	table->sampled_share = known->share;
	for (int i = 0; i < known->bounds_count; i++)
		table->bounds = lappend(table->bounds, memcpy(palloc(sizeof(ColumnBounds)), &known->bounds[i],
													  sizeof(ColumnBounds)));
}

void
row_sample_take(PlannerInfo *root, ServedTable *table, Relation relation)
{
	if (has_rows(table) && is_small(table) && bms_membership(root->all_baserels) == BMS_MULTIPLE)
		take_or_remember(root, table, relation, 0, 0);
	else if (has_rows(table) && has_expressions(root, table))
		take_or_remember(root, table, relation, is_small(table) ? 0 : SAMPLED_CHUNK_ROWS, is_small(table) ? 0 : 1);
}

/* Whether the statistics of a column tell which share of the rows passes. */
static bool
is_known_to_statistics(PlannerInfo *root, const Expr *clause)
{
	List	   *args = IsA(clause, OpExpr) ? ((const OpExpr *) clause)->args
		: IsA(clause, ScalarArrayOpExpr) ? ((const ScalarArrayOpExpr *) clause)->args : NIL;
	VariableStatData stats;
	Node	   *other;
	bool		on_left;
	bool		is_known;

	if (IsA(clause, NullTest) || IsA(clause, Var))
		return true;
	if (!get_restriction_variable(root, args, 0, &stats, &other, &on_left))
		return false;
	is_known = HeapTupleIsValid(stats.statsTuple);
	ReleaseVariableStats(stats);
	switch (get_oprrest(IsA(clause, OpExpr) ? ((const OpExpr *) clause)->opno
						: ((const ScalarArrayOpExpr *) clause)->opno))
	{
		case F_EQSEL:
		case F_NEQSEL:
		case F_SCALARLTSEL:
		case F_SCALARLESEL:
		case F_SCALARGTSEL:
		case F_SCALARGESEL:
			return is_known;
		default:
			return false;
	}
}

/* Whether an index finds some rows of a table: all that the joins look at may be few, and less work than a sample. */
static bool
has_looked_up(const PlannerInfo *root)
{
	int			relid = -1;

	while ((relid = bms_next_member(root->all_baserels, relid)) >= 0)
	{
		const RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel->cheapest_total_path == NULL || path_walk_rows_are_found(rel))
			return true;
	}
	return false;
}

void
row_sample_take_joined(PlannerInfo *root, ServedTable *table)
{
	Relation	relation;

	if (table->sampled_share >= 0 || is_small(table) || !has_rows(table) ||
		(list_length(table->quals) == 1 &&
		 is_known_to_statistics(root, ((TableQual *) linitial(table->quals))->rinfo->clause)) ||
		!privileges_permit_values(root) || has_looked_up(root))
		return;
	relation = table_open(table->oid, NoLock);
	take_or_remember(root, table, relation, JOINED_CHUNK_ROWS, table->rel->rows / table->rel->tuples);
	table_close(relation, NoLock);
}

static const ColumnBounds *
find_bounds(const ServedTable *table, AttrNumber attno)
{
	ListCell   *lc;

	/* Where no row of the sample passed, its bounds were not filled. */
	foreach(lc, table->sampled_share > 0 ? table->bounds : NIL)
	{
		const ColumnBounds *bounds = lfirst(lc);

		if (bounds->attno == attno)
			return bounds;
	}
	return NULL;
}

/* NULL: it is no column of a table that is served. */
static const ServedTable *
table_of(PlannerInfo *root, const Node *expr)
{
	const Var  *var = (const Var *) expr;
	RelOptInfo *rel;

	if (!IsA(expr, Var) || var->varlevelsup != 0 || var->varattno <= 0 || var->varno <= 0 ||
		var->varno >= root->simple_rel_array_size || root->simple_rte_array[var->varno]->rtekind != RTE_RELATION)
		return NULL;
	rel = root->simple_rel_array[var->varno];
	return rel == NULL ? NULL : rel_pipeline_find_table(rel);
}

const ColumnBounds *
row_sample_bounds(PlannerInfo *root, const Node *expr)
{
	const ServedTable *table = table_of(root, expr);

	return table == NULL ? NULL : find_bounds(table, ((const Var *) expr)->varattno);
}

List *
row_sample_clauses_within(Var *column, const ColumnBounds *bounds)
{
	TypeCacheEntry *type = lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY);
	int64		ends[] = {bounds->least, bounds->greatest};
	int16		strategies[] = {BTGreaterEqualStrategyNumber, BTLessEqualStrategyNumber};
	List	   *clauses = NIL;

	for (int i = 0; type->btree_opintype == column->vartype && i < 2; i++)
	{
		Oid			operator = get_opfamily_member(type->btree_opf, type->btree_opintype, type->btree_opintype,
												   strategies[i]);
		Datum		end = type->typlen == 8 ? Int64GetDatum(ends[i])
			: type->typlen == 4 ? Int32GetDatum((int32) ends[i]) : Int16GetDatum((int16) ends[i]);
		Const	   *value = makeConst(column->vartype, -1, InvalidOid, type->typlen, end, false, type->typbyval);

		if (!OidIsValid(operator))
			return NIL;
		clauses = lappend(clauses, make_opclause(operator, BOOLOID, false, (Expr *) copyObject(column),
												 (Expr *) value, InvalidOid, InvalidOid));
	}
	return clauses;
}

/* The table with the quals that the column is within the bounds, too. */
static ServedTable
narrowed_table(PlannerInfo *root, const ServedTable *table, Var *column, const ColumnBounds *within)
{
	ServedTable narrowed = *table;
	ListCell   *lc;

	narrowed.sampled_share = -1;
	narrowed.bounds = NIL;
	narrowed.quals = list_copy(table->quals);
	foreach(lc, row_sample_clauses_within(column, within))
	{
		TableQual  *qual = palloc0(sizeof(TableQual));

		qual->rinfo = make_simple_restrictinfo(root, lfirst(lc));
		narrowed.quals = lappend(narrowed.quals, qual);
	}
	return narrowed;
}

const ColumnBounds *
row_sample_bounds_within(PlannerInfo *root, Var *column, Var *other, const ColumnBounds *within)
{
	const ServedTable *table = table_of(root, (Node *) column);
	ServedTable narrowed;
	Relation	relation;

	if (table == NULL || table->columns == NULL || !privileges_permit_values(root))
		return NULL;
	narrowed = narrowed_table(root, table, other, within);
	relation = table_open(table->oid, NoLock);
	row_sample_take(root, &narrowed, relation);
	table_close(relation, NoLock);
	return find_bounds(&narrowed, column->varattno);
}

/* So many rows of a sample must pass for it to tell which share of them has something else, too. */
#define PASSED_ROWS_MIN 32

double
row_sample_share_within(PlannerInfo *root, Var *column, const ColumnBounds *within)
{
	const ServedTable *table = table_of(root, (Node *) column);
	ServedTable narrowed;
	Relation	relation;
	double		passed_share;

	if (table == NULL || table->columns == NULL || !has_rows(table) ||
		!privileges_permit_values(root) || has_looked_up(root))
		return -1;
	passed_share = table->sampled_share >= 0 ? table->sampled_share : table->rel->rows / table->rel->tuples;
	if (passed_share * Min(SAMPLED_CHUNKS * JOINED_CHUNK_ROWS, table->rel->tuples) < PASSED_ROWS_MIN)
		return -1;
	narrowed = narrowed_table(root, table, column, within);
	relation = table_open(table->oid, NoLock);
	take_or_remember(root, &narrowed, relation, is_small(table) ? 0 : JOINED_CHUNK_ROWS, 0);
	table_close(relation, NoLock);
	return narrowed.sampled_share < 0 ? -1 : Min(narrowed.sampled_share / passed_share, 1);
}

/* ---------------------------------------------------------------- distinct values of expressions */

/* Of rows with as many values each, of which so many have been seen in a sample: bisection. */
static double
distinct_of_sample(double seen, double sample, double rows)
{
	double		least = seen;
	double		most = Max(rows, seen);

	for (int i = 0; i < 40 && most - least > 1; i++)
	{
		double		middle = (least + most) / 2;

		if (middle * (1 - exp(-sample / middle)) < seen)
			least = middle;
		else
			most = middle;
	}
	return least;
}

/* The values of a chunk or two, NULL counting as one; 0: not known. */
static double
sample_distinct(PlannerInfo *root, const ServedTable *table, AttrNumber number, ColumnKey key)
{
	Pipeline   *pipeline = rel_pipeline_begin_scan(root, table->rel->relid, list_make1_int(number));
	Translation *translation = translation_begin(NULL, NULL);
	Relation	relation = table_open(table->oid, NoLock);
	double		distinct = 0;
	int64		values[2];
	double		rows;

	if (!pipeline->has_barrier && stage_scan_add_to_plan(translation, pipeline->top))
	{
		PenumbraExpr column = penumbra_plan_column(translation->plan, translation->current, 0);
		PenumbraAggregateCall calls[] = {
			{.function = PENUMBRA_AGG_COUNT,.result = PENUMBRA_INT8,.argument_count = 1,.filter = -1},
			{.function = PENUMBRA_AGG_COUNT,.result = PENUMBRA_INT8,.argument_count = 1,.filter = -1,.distinct = true}
		};

		calls[0].arguments[0] = calls[1].arguments[0] = column;

		translation->current = penumbra_plan_add_aggregation(translation->plan, translation->current, NULL, 0, calls,
															 lengthof(calls));
		if (translation->current >= 0 && translation_finish(translation) &&
			cache_aggregate(relation, &key, 1, 1, 0, translation->plan, pipeline->top->operator, values, &rows) &&
			rows > 0)
			distinct = distinct_of_sample(values[1], values[0], table->rel->tuples * values[0] / rows) +
				(values[0] < rows ? 1 : 0);
	}
	table_close(relation, NoLock);
	translation_end(translation);
	return distinct;
}

/* What sample_distinct() has found, until the table has another size. */
typedef struct KnownDistinct
{
	uint32		serial;			/* of the expression */
	double		rows;
	double		distinct;
} KnownDistinct;

static double
known_or_sampled(PlannerInfo *root, const ServedTable *table, AttrNumber number, ColumnKey key)
{
	static KnownDistinct known[KNOWN_SAMPLES];
	KnownDistinct *entry = &known[key.serial % KNOWN_SAMPLES];
	double		rows = table->coverage.cached_rows;

	if (entry->serial != key.serial || has_other_size(entry->rows, rows))
		*entry = (KnownDistinct) {key.serial, rows, sample_distinct(root, table, number, key)};
	return entry->distinct;
}

double
row_sample_distinct(PlannerInfo *root, Node *expr)
{
	Var		   *var;
	ListCell   *lc;
	ListCell   *lc2;

	if (!expression_columns_is_one(root, expr) || !privileges_permit_values(root))
		return 0;
	var = (Var *) relation_numbers_normalize(root, expr);
	if (!IsA(var, Var))
		return 0;
	foreach(lc, pull_var_clause(expr, 0))
	{
		RelOptInfo *rel = root->simple_rel_array[lfirst_node(Var, lc)->varno];
		const ServedTable *table = rel == NULL ? NULL : rel_pipeline_find_table(rel);

		foreach(lc2, table == NULL || table->columns == NULL || rel->tuples < DISTINCT_ROWS_MIN ? NIL : table->attnums)
		{
			if (lfirst_int(lc2) == var->varattno && table->coverage.cached_rows >= rel->tuples * COVERED_SHARE_MIN)
				return known_or_sampled(root, table, var->varattno, table->columns[foreach_current_index(lc2)]);
		}
	}
	return 0;
}

double
row_sample_groups(PlannerInfo *root, List *keys, double rows)
{
	List	   *several = NIL;
	double		groups = 1;
	ListCell   *lc;

	foreach(lc, keys)
	{
		const ColumnBounds *bounds = row_sample_bounds(root, lfirst(lc));
		double		distinct = row_sample_distinct(root, lfirst(lc));

		if (distinct > 0)
			groups *= distinct;
		else if (bounds == NULL || bounds->least < bounds->greatest)
			several = lappend(several, lfirst(lc));
	}
	if (several != NIL)
		groups *= estimate_num_groups(root, several, rows, NULL, NULL);
	return Min(groups, Max(rows, 1));
}
