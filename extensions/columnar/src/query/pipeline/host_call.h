/*-------------------------------------------------------------------------
 *
 * host_call.h
 *	  Expressions of which the engine knows the inputs, but not the function.
 *
 * PostgreSQL evaluates such an expression while the engine runs: once for
 * inputs that it has not seen yet, and not for each row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_HOST_CALL_H
#define PENUMBRA_HOST_CALL_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "query/pipeline/translation.h"

typedef enum HostCallKind
{
	HOST_CALL_VALUE,
	HOST_CALL_CLASS,			/* a number of the values that are equal to the expression's */
	HOST_CALL_LABEL,			/* bytes in the order of the expression's values */
	HOST_CALL_LABELED,			/* a value that has such bytes, which the input is */
	HOST_CALL_ZONE				/* the time zone that the expression names, as time_zone.h has it */
} HostCallKind;

typedef struct HostCall
{
	Node	   *expr;			/* its inputs are Vars of OUTER_VAR, counted from 1 */
	List	   *inputs;			/* expressions that the engine evaluates */
	HostCallKind kind;			/* what the result is */
} HostCall;

/*
 * The expression, which the engine does not know, as a call of translation->host_calls.
 * Negative: it cannot be, or while planning, is not expected to be worth it;
 * translation->reason stays what it is.
 */
extern PenumbraExpr host_call_translate(Translation *translation, Node *node);

/*
 * A number that is the same for all values of a plan that the type's comparison function says are equal, and for no
 * others.  Negative: refused.
 */
extern PenumbraExpr host_call_class(Translation *translation, Node *node);

/*
 * A uuid in the order of the expression's values by the type's comparison function, which the engine has none for.
 * Negative: refused, with the translation's reason where that is not for the call.
 */
extern PenumbraExpr host_call_label(Translation *translation, Node *node);

/* The values of the expression that have such labels, of some that were given. */
extern PenumbraExpr host_call_labeled(Translation *translation, Node *node, PenumbraExpr label);

/* The time zones that the text names.  Negative: refused. */
extern PenumbraExpr host_call_zone(Translation *translation, Node *node);

/* How often PostgreSQL will evaluate the translation's calls, by the statistics of their inputs. */
extern double host_call_evaluations(const Translation *translation);

/* Whether an expression, or a list of some, can be evaluated by itself, of its inputs. */
extern bool host_call_can_evaluate(Node *node);
/*
 * The largest parts of the node below it that the engine knows, at most inputs_max, become inputs of the call, and
 * `args` for the engine.  False, with translation->reason or without one: there are others.
 */
extern bool host_call_find_inputs(Translation *translation, Node *node, int inputs_max, HostCall *call,
								  PenumbraExpr *args);

#endif							/* PENUMBRA_HOST_CALL_H */
