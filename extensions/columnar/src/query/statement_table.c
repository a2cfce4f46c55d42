/*-------------------------------------------------------------------------
 *
 * statement_table.c
 *	  Totals of statements in shared memory: the view statements.
 *
 * A hash of penumbra.max_statements entries.  To find an entry takes the lock
 * in shared mode; exclusive mode is needed for an entry that is not there yet,
 * and for a reset.  Where the hash is full, one of twenty entries goes: those
 * used least, of which old uses count less.
 *
 * A process remembers where its last statements are, as long as none goes, and
 * counts there without the lock: on a machine of many processors every
 * statement of every session would come by it.  Counts are atomic.  A call that
 * ends in the moment in which its entry goes may be counted in the entry that
 * takes its place; never is its reason shown there, which is written under the
 * lock and, for readers, a spinlock of the entry.  It is written only if it is
 * another than before, which its hash says.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "cache/functions.h"
#include "query/statement_table.h"
#include "result_rows.h"

#define TRANCHE "penumbra statements"

#define REASON_BYTES 224

/* Of the entries go so many at a time. */
#define EVICTED_SHARE 20

/* What a call counts; all entries lose such a part of theirs each time that some go. */
#define USE 64

typedef enum StatementCounter
{
	CALLS_IN_VECTORS,
	CALLS_PARTLY,
	CALLS_NOT,
	CALLS_FAILED,				/* of those before */
	RESTARTS,
	TIME_NS,
	ROWS_FROM_CACHE,
	ROWS_FROM_HEAP,
	DECODED_BYTES,
	SPILLED_BYTES,
	COUNTER_COUNT
} StatementCounter;

typedef struct Statement
{
	StatementKey key;			/* hash key */
	pg_atomic_uint64 counters[COUNTER_COUNT];
	pg_atomic_uint64 last_call_at;	/* TimestampTz */
	pg_atomic_uint64 reason_hash;
	slock_t		lock;			/* of the next, held for a copy */
	char		reason[REASON_BYTES];	/* empty: none */
	/* changed under the exclusive lock: */
	uint64		uses;			/* calls by USE, fewer as time goes by */
	uint64		calls_in_uses;
} Statement;

typedef struct StatementTable
{
	LWLock	   *lock;
	pg_atomic_uint64 removals;	/* times that entries went; changed under the exclusive lock */
} StatementTable;

static int	max_statements;
static StatementTable *table = NULL;
static HTAB *statements = NULL;

/* Entries that this process used, by the last bits of their number: what it runs again and again is not looked up. */
static struct RecentStatement
{
	StatementKey key;
	Statement  *statement;		/* NULL: none */
	uint64		removals;		/* it is right as long as there are no more */
}			recent_statements[16];

void
statement_table_define_settings(void)
{
	DefineCustomIntVariable("penumbra.max_statements",
							"Statements that the view penumbra.statements has at most.",
							"Those used least make room for others. 0: there is none, and nothing is counted.",
							&max_statements, 5000, 0, 1000000, PGC_POSTMASTER, 0, NULL, NULL, NULL);
}

bool
statement_table_is_wanted(void)
{
	return max_statements > 0;
}

bool
statement_table_exists(void)
{
	return table != NULL;
}

void
statement_table_shmem_request(void)
{
	if (max_statements == 0)
		return;
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(StatementTable)),
									hash_estimate_size(max_statements, sizeof(Statement))));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

void
statement_table_shmem_startup(void)
{
	HASHCTL		control = {.keysize = sizeof(StatementKey),.entrysize = sizeof(Statement)};
	bool		is_found;

	if (max_statements == 0)
		return;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	table = ShmemInitStruct("penumbra statements", sizeof(StatementTable), &is_found);
	if (!is_found)
	{
		pg_atomic_init_u64(&table->removals, 0);
		table->lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	}
	statements = compat_shmem_init_hash("penumbra statements by key", max_statements, max_statements, &control,
										HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	LWLockRelease(AddinShmemInitLock);
}

/* ---------------------------------------------------------------- under the exclusive lock */

static int
compare_uses(const void *a, const void *b)
{
	uint64		left = (*(Statement *const *) a)->uses;
	uint64		right = (*(Statement *const *) b)->uses;

	return left < right ? -1 : left > right;
}

static void
update_uses(Statement *statement)
{
	uint64		calls = 0;

	for (StatementCounter c = CALLS_IN_VECTORS; c <= CALLS_NOT; c++)
		calls += pg_atomic_read_u64(&statement->counters[c]);
	statement->uses += (calls - statement->calls_in_uses) * USE;
	statement->uses -= (statement->uses + USE - 1) / USE;
	statement->calls_in_uses = calls;
}

/* Makes room; without memory to sort the entries in, none goes. */
static void
evict(void)
{
	long		count = hash_get_num_entries(statements);
	Statement **sorted = malloc(sizeof(Statement *) * count);
	HASH_SEQ_STATUS scan;
	Statement  *statement;
	long		i = 0;

	Assert(LWLockHeldByMeInMode(table->lock, LW_EXCLUSIVE));
	if (sorted == NULL)
		return;
	hash_seq_init(&scan, statements);
	while ((statement = hash_seq_search(&scan)) != NULL)
	{
		sorted[i++] = statement;
		update_uses(statement);
	}
	qsort(sorted, count, sizeof(Statement *), compare_uses);
	for (i = 0; i < Max(count / EVICTED_SHARE, 1); i++)
		hash_search(statements, &sorted[i]->key, HASH_REMOVE, NULL);
	pg_atomic_fetch_add_u64(&table->removals, 1);
	free(sorted);
}

static void
initialize(Statement *statement)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		pg_atomic_init_u64(&statement->counters[i], 0);
	pg_atomic_init_u64(&statement->last_call_at, 0);
	pg_atomic_init_u64(&statement->reason_hash, 0);
	SpinLockInit(&statement->lock);
	statement->reason[0] = '\0';
	statement->uses = 0;
	statement->calls_in_uses = 0;
}

/* Where this process remembers it. */
static struct RecentStatement *
recent_place(const StatementKey *key)
{
	return &recent_statements[(uint64) key->queryid % lengthof(recent_statements)];
}

/* NULL: it is not remembered, or entries went since. */
static Statement *
find_recent(const StatementKey *key)
{
	const struct RecentStatement *recent = recent_place(key);

	return recent->removals == pg_atomic_read_u64(&table->removals) && recent->key.queryid == key->queryid &&
		recent->key.userid == key->userid && recent->key.dbid == key->dbid ? recent->statement : NULL;
}

/* Under the lock; NULL: it is not there. */
static Statement *
find(const StatementKey *key)
{
	struct RecentStatement *recent = recent_place(key);

	recent->key = *key;
	recent->removals = pg_atomic_read_u64(&table->removals);
	recent->statement = hash_search(statements, key, HASH_FIND, NULL);
	return recent->statement;
}

/* NULL: there was no room. */
static Statement *
enter(const StatementKey *key)
{
	Statement  *statement = find(key);

	Assert(LWLockHeldByMeInMode(table->lock, LW_EXCLUSIVE));
	if (statement != NULL)
		return statement;
	if (hash_get_num_entries(statements) >= max_statements)
		evict();
	if (hash_get_num_entries(statements) >= max_statements)
		return NULL;
	statement = hash_search(statements, key, HASH_ENTER_NULL, NULL);
	if (statement != NULL)
		initialize(statement);
	return statement;
}

/* ---------------------------------------------------------------- counting */

static void
count(Statement *statement, StatementCounter counter, uint64 amount)
{
	if (amount > 0)
		pg_atomic_fetch_add_u64(&statement->counters[counter], amount);
}

static bool
has_reason(Statement *statement, const Refusal *refusal)
{
	return refusal == NULL || pg_atomic_read_u64(&statement->reason_hash) == refusal_hash(refusal);
}

/* Under the lock. */
static void
set_reason(Statement *statement, const Refusal *refusal)
{
	SpinLockAcquire(&statement->lock);
	strlcpy(statement->reason, refusal_text(refusal), REASON_BYTES);
	pg_atomic_write_u64(&statement->reason_hash, refusal_hash(refusal));
	SpinLockRelease(&statement->lock);
}

static StatementCounter
kind_of_call(const StatementRun *run)
{
	if (run->counts.executions == 0)
		return CALLS_NOT;
	return run->is_all_ours && run->restarts == 0 ? CALLS_IN_VECTORS : CALLS_PARTLY;
}

/* What nodes of ours did. */
static void
count_nodes(Statement *statement, const StatementRun *run)
{
	count(statement, RESTARTS, run->restarts);
	count(statement, ROWS_FROM_CACHE, run->counts.rows_from_cache);
	count(statement, ROWS_FROM_HEAP, run->counts.rows_from_heap);
	count(statement, DECODED_BYTES, run->counts.decoded_bytes);
	count(statement, SPILLED_BYTES, run->counts.spilled_bytes);
}

static void
count_run(Statement *statement, const StatementRun *run)
{
	count(statement, kind_of_call(run), 1);
	count(statement, CALLS_FAILED, !run->estate->es_finished);
	count(statement, TIME_NS, (uint64) (INSTR_TIME_GET_DOUBLE(run->time) * 1e9));
	if (run->counts.executions > 0 || run->restarts > 0)
		count_nodes(statement, run);
	pg_atomic_write_u64(&statement->last_call_at, (uint64) GetCurrentStatementStartTimestamp());
}

void
statement_table_add(const StatementRun *run)
{
	Statement  *statement = find_recent(&run->key);

	if (statement != NULL && has_reason(statement, run->refusal))
	{
		count_run(statement, run);
		return;
	}
	LWLockAcquire(table->lock, LW_SHARED);
	statement = find(&run->key);
	if (statement == NULL)
	{
		LWLockRelease(table->lock);
		LWLockAcquire(table->lock, LW_EXCLUSIVE);
		statement = enter(&run->key);
	}
	if (statement != NULL)
	{
		count_run(statement, run);
		if (!has_reason(statement, run->refusal))
			set_reason(statement, run->refusal);
	}
	LWLockRelease(table->lock);
}

void
statement_table_reset(void)
{
	HASH_SEQ_STATUS scan;
	Statement  *statement;

	if (table == NULL)
		return;
	LWLockAcquire(table->lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, statements);
	while ((statement = hash_seq_search(&scan)) != NULL)
		hash_search(statements, &statement->key, HASH_REMOVE, NULL);
	pg_atomic_fetch_add_u64(&table->removals, 1);
	LWLockRelease(table->lock);
}

/* ---------------------------------------------------------------- SQL */

static Datum
counter_datum(Statement *statement, StatementCounter counter)
{
	return Int64GetDatum((int64) pg_atomic_read_u64(&statement->counters[counter]));
}

static void
put_statement(ReturnSetInfo *result, Statement *statement)
{
	char		reason[REASON_BYTES];
	Datum		values[15];
	bool		nulls[lengthof(values)] = {0};
	int			i = 0;

	SpinLockAcquire(&statement->lock);
	memcpy(reason, statement->reason, REASON_BYTES);
	SpinLockRelease(&statement->lock);
	values[i++] = ObjectIdGetDatum(statement->key.userid);
	values[i++] = ObjectIdGetDatum(statement->key.dbid);
	values[i++] = Int64GetDatum(statement->key.queryid);
	for (StatementCounter c = CALLS_IN_VECTORS; c <= RESTARTS; c++)
		values[i++] = counter_datum(statement, c);
	values[i++] = Float8GetDatum(pg_atomic_read_u64(&statement->counters[TIME_NS]) / 1e6);
	for (StatementCounter c = ROWS_FROM_CACHE; c <= SPILLED_BYTES; c++)
		values[i++] = counter_datum(statement, c);
	values[i] = reason[0] == '\0' ? (Datum) 0 : refusal_text_datum(reason);
	nulls[i++] = reason[0] == '\0';
	values[i++] = TimestampTzGetDatum((TimestampTz) pg_atomic_read_u64(&statement->last_call_at));
	Assert(i == lengthof(values));
	put_row(result, values, nulls);
}

/* The user's own statements; all for members of pg_read_all_stats. */
PENUMBRA_SQL_FUNCTION(penumbra_sql_get_statements);

Datum
penumbra_sql_get_statements(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = functions_begin_rows(fcinfo);
	bool		sees_all = functions_may_see_all();
	HASH_SEQ_STATUS scan;
	Statement  *statement;

	if (table == NULL)
		return (Datum) 0;
	LWLockAcquire(table->lock, LW_SHARED);
	hash_seq_init(&scan, statements);
	while ((statement = hash_seq_search(&scan)) != NULL)
	{
		if (sees_all || statement->key.userid == GetUserId())
			put_statement(result, statement);
	}
	LWLockRelease(table->lock);
	return (Datum) 0;
}
