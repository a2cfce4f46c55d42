/*-------------------------------------------------------------------------
 *
 * translation.h
 *	  An engine plan under construction.
 *
 * The same code runs while planning, to learn whether the engine takes a
 * pipeline (with stand-in values for what is only known later), and when the
 * node starts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATION_H
#define PENUMBRA_TRANSLATION_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "penumbra/engine.h"

/* The value of one of Pipeline.runtime_exprs. */
typedef struct RuntimeValue
{
	Datum		value;
	bool		isnull;
	bool		has_failed;		/* there is none: it is an error for the rows that ask for it */
} RuntimeValue;

/* An engine plan under construction; freed with the memory context it was begun in. */
typedef struct Translation
{
	PenumbraPlan *plan;
	PenumbraOperator current;	/* the operator at hand, input of the next */
	PenumbraOperator last;		/* that was made */
	List	   *added_stages;	/* of AddedStage *: those that can be shared, see stages.c */
	PenumbraOperator build;		/* conditions of a join: its build side, current is the probe side; else -1 */
	List	   *inputs;			/* what the columns of the current stage stand for */
	List	   *runtime_exprs;
	const RuntimeValue *runtime_values; /* by runtime_exprs; NULL while planning */
	List	   *called_exprs;	/* that PostgreSQL evaluates while it runs; while planning those that are known yet */
	List	   *host_calls;		/* of HostCall *: these, see host_call.h */
	List	   *collected_calls;	/* of CollectedCall *, by label, see collected_call.h */
	bool		raises_late;	/* an error that PostgreSQL need not raise may come when rows have left the engine */
	bool		takes_any_calls;	/* also of inputs that are hardly ever the same */
	bool		weighs_calls;	/* none whose inputs hardly repeat, in forced modes neither */
	bool		is_within_call; /* looks for inputs of one */
	int			failed_inputs;	/* that were looked for in vain, a bound of that work */
	bool		needs_values;	/* planning will look at rows with it; else one element stands for a list */
	const char *reason;			/* why the last expression was refused */
	int			conditional_depth;	/* inside what is not evaluated where there are no rows or pairs */
	int			branch_depth;	/* inside CASE, COALESCE, AND and OR, which may skip it */
	int			depth;			/* of the expression at hand */
	PenumbraExpr case_operand;
	MemoryContext owner;
} Translation;

/* runtime_exprs: those that the values are of. */
extern Translation *translation_begin(List *runtime_exprs, const RuntimeValue *values);
/* False: refused, see translation->reason. */
extern bool translation_finish(Translation *translation);
/* Frees the plan before the memory context ends. */
extern void translation_end(Translation *translation);

/* Sets the reason, returns -1. */
extern PenumbraExpr translation_refuse(Translation *translation, const char *reason);
/* Passes on the engine's result, with its reason when it refused. */
extern PenumbraExpr translation_take_expr(Translation *translation, PenumbraExpr expr);
/* Goes on from a new operator; false: it was refused. */
extern bool translation_keep_operator(Translation *translation, PenumbraOperator added);
/* A call of the engine's function; negative: refused. */
extern PenumbraExpr translate_call(Translation *translation, PenumbraFunction function, PenumbraType result,
								   const PenumbraExpr *args, int arg_count);

/* Whether the expression has a value without a row: no volatile one, and evaluated at the node's start. */
extern bool translation_is_runtime(Node *node);
/* The place of the expression among those evaluated at start; planning adds it. */
extern int	translation_runtime_index(Translation *translation, Node *node);

#endif							/* PENUMBRA_TRANSLATION_H */
