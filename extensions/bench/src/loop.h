/*-------------------------------------------------------------------------
 *
 * loop.h
 *	  What the loops share: their keys, their result, who may call them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_BENCH_LOOP_H
#define PENUMBRA_BENCH_LOOP_H

#include "postgres.h"

#include "fmgr.h"
#include "portability/instr_time.h"

/* Values that the executions of a loop take in turn. */
typedef struct LoopKeys
{
	Oid			type;
	Datum	   *values;
	int			count;
} LoopKeys;

typedef struct LoopResult
{
	int64		executions;
	int64		rows;
	uint64		checksum;		/* the same for the same rows in any order */
	bool		is_read_only;
	instr_time	duration;
} LoopResult;

extern void loop_check_superuser(void);
extern int64 loop_get_executions(FunctionCallInfo fcinfo, int argument);
extern LoopKeys loop_get_keys(FunctionCallInfo fcinfo, int argument);
extern Datum loop_make_result(FunctionCallInfo fcinfo, const LoopResult *result);

static inline Datum
loop_key(const LoopKeys *keys, int64 execution)
{
	return keys->values[execution % keys->count];
}

#endif							/* PENUMBRA_BENCH_LOOP_H */
