/*-------------------------------------------------------------------------
 *
 * zstd_training.c
 *	  zstd's training of a dictionary, which a cancel need not wait for.
 *
 * The training is one call of the library and may take more than a second.  So
 * a thread makes it, from a copy of the sample, and touches nothing of
 * PostgreSQL's.  A session that is cancelled leaves it alone: of the two the
 * one that ends last frees the memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <pthread.h>
#include <signal.h>
#include <zdict.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "zstd_training.h"

#define POLL_MS 10

/* Allocated by malloc(), with the sample's sizes, its bytes and the dictionary after it. */
typedef struct Training
{
	pg_atomic_uint32 users;		/* the thread until the result is there, and the session */
	unsigned	values;
	Size		size;
	Size		result_bytes;
	size_t	   *value_bytes;
	char	   *bytes;
	char	   *content;
} Training;

static Training *
create_training(const Sample *sample, Size size)
{
	Size		sizes_bytes = sample->values * sizeof(size_t);
	Training   *training = malloc(sizeof(Training) + sizes_bytes + sample->total_bytes + size);

	if (training == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	pg_atomic_init_u32(&training->users, 2);
	training->values = sample->values;
	training->size = size;
	training->value_bytes = (size_t *) (training + 1);
	training->bytes = (char *) (training->value_bytes + sample->values);
	training->content = training->bytes + sample->total_bytes;
	memcpy(training->value_bytes, sample->value_bytes, sizes_bytes);
	memcpy(training->bytes, sample->bytes, sample->total_bytes);
	return training;
}

/* Of the thread and of the session, each of which calls it once. */
static void
end_training(Training *training)
{
	if (pg_atomic_sub_fetch_u32(&training->users, 1) == 0)
		free(training);
}

static void *
run_training(void *argument)
{
	Training   *training = argument;

	training->result_bytes = ZDICT_trainFromBuffer(training->content, training->size, training->bytes,
												   training->value_bytes, training->values);
	if (ZDICT_isError(training->result_bytes))
		training->result_bytes = 0;
	end_training(training);
	return NULL;
}

/* Signals are for the session. */
static void
start_thread(Training *training)
{
	pthread_t	thread;
	pthread_attr_t attributes;
	sigset_t	all;
	sigset_t	before;
	int			error;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&thread, &attributes, run_training, training);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error != 0)
	{
		free(training);
		errno = error;
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a thread to train a compression dictionary: %m")));
	}
}

Size
zstd_train(const Sample *sample, char *content, Size size)
{
	Training   *training = create_training(sample, size);
	Size		result_bytes;

	start_thread(training);
	PG_TRY();
	{
		while (pg_atomic_read_u32(&training->users) == 2)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS, PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		pg_read_barrier();
		result_bytes = training->result_bytes;
		memcpy(content, training->content, result_bytes);
	}
	PG_FINALLY();
	{
		end_training(training);
	}
	PG_END_TRY();
	return result_bytes;
}
