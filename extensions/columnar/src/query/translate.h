/*-------------------------------------------------------------------------
 *
 * translate.h
 *	  PostgreSQL expressions to engine expressions, pipelines to engine plans.
 *
 * The same code runs while planning, to learn whether the engine takes a
 * pipeline (with stand-in values for what is only known later), and when the
 * node starts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_H
#define PENUMBRA_TRANSLATE_H

#include "postgres.h"

#include "penumbra/engine.h"
#include "query/pipeline.h"

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
	PenumbraOperator current;	/* the operator made last, input of the next */
	PenumbraOperator build;		/* conditions of a join: its build side, current is the probe side; else -1 */
	List	   *inputs;			/* what the columns of the current stage stand for */
	List	   *runtime_exprs;
	const RuntimeValue *runtime_values; /* by runtime_exprs; NULL while planning */
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
extern bool translation_add_scan(Translation *translation, PipelineStage *stage);
/* False: refused, see translation->reason. */
extern bool translation_add_filter(Translation *translation, const PenumbraExpr *conjuncts, int count);
/* Adds all stages and finishes the plan.  False: refused, see translation->reason. */
extern bool translation_add_stages(Translation *translation, const Pipeline *pipeline);
extern bool translation_finish(Translation *translation);
extern void translation_end(Translation *translation);

/* Negative: refused. */
extern PenumbraExpr translate_expr(Translation *translation, Node *node);

/* Whether the expression has a value without a row: no volatile one, and evaluated at the node's start. */
extern bool translate_is_runtime(Node *node);

/* Engine type of a PostgreSQL type, domains resolved. */
extern bool translate_type(Oid type_oid, PenumbraType *type);

/* Whether the clause is an equality of the engine, of two arguments as they are. */
extern bool translate_is_equality(Node *clause);

/* As what values of two types can be joined; false: by no equality of the engine. */
extern bool translate_join_type(PenumbraType a, PenumbraType b, PenumbraType *wide);

#endif							/* PENUMBRA_TRANSLATE_H */
