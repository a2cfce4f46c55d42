/*-------------------------------------------------------------------------
 *
 * can_fail.h
 *	  Whether an expression or a query may raise an error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CAN_FAIL_H
#define PENUMBRA_CAN_FAIL_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * Whether evaluating the expression, to which aggregates are given, may raise
 * an error; or whether running the Query may.  What is not known may.
 */
extern bool expr_can_fail(Node *node);
/* The same of what is computed for a group: also where the values of its aggregates may fail, whose rows have not. */
extern bool groups_can_fail(Node *node);
/* bit_and() and the like of bit strings, which fail where two have other lengths. */
extern bool aggregate_is_of_bit_strings(const Aggref *aggref);

#endif							/* PENUMBRA_CAN_FAIL_H */
