/*-------------------------------------------------------------------------
 *
 * slow_expression.c
 *	  Gives up a cached expression that keeps a background load for too long.
 *
 * A database has one worker at a time, and a pattern may take minutes for one
 * value.  A timer looks once a second which expression is evaluated.  One that it finds
 * SECONDS_OF_CHUNK_MAX times within a chunk is interrupted as a cancelled query
 * is, and counts as one that has failed: it is tried again after an hour.  What somebody
 * loads by its name has no such limit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "cache/cache.h"
#include "cache/cached_expression.h"
#include "cache/column_facts.h"
#include "cache/slow_expression.h"

/* A chunk has some 100,000 rows, or 256 MB: what is loaded at 10 MB/s is slow, but no accident. */
#define SECONDS_OF_CHUNK_MAX 30

volatile sig_atomic_t slow_expression_evaluated = -1;

static volatile sig_atomic_t seconds[COLUMN_KEY_EXPRESSIONS];
static volatile sig_atomic_t is_too_slow = false;

/* Async-signal-safe. */
static void
look(void)
{
	int			evaluated = slow_expression_evaluated;

	if (evaluated < 0 || ++seconds[evaluated] < SECONDS_OF_CHUNK_MAX)
		return;
	is_too_slow = true;
	InterruptPending = true;
	QueryCancelPending = true;
	SetLatch(MyLatch);
}

void
slow_expression_watch(void)
{
	TimeoutId	timeout = RegisterTimeout(USER_TIMEOUT, look);

	enable_timeout_every(timeout, GetCurrentTimestamp() + 1000 * 1000, 1000);
}

void
slow_expression_reset(void)
{
	for (int i = 0; i < COLUMN_KEY_EXPRESSIONS; i++)
		seconds[i] = 0;
}

void
slow_expression_note_error(Relation rel, ColumnKey key, MemoryContext context)
{
	NameData	name;

	if (!is_too_slow)
	{
		cached_expression_note_error(key, geterrcode());
		return;
	}
	is_too_slow = false;
	QueryCancelPending = false;
	cached_expression_note_error(key, ERRCODE_PROGRAM_LIMIT_EXCEEDED);
	MemoryContextSwitchTo(context);
	FlushErrorState();
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("expression of relation \"%s\" takes too long to be cached in the background",
					RelationGetRelationName(rel)),
			 column_key_name(key, rel, &name) ? errdetail("It begins with: %s", NameStr(name)) : 0,
			 errhint("It is tried again after an hour. penumbra.load() has no such limit.")));
}
