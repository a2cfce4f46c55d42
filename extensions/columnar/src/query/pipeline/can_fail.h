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

#include "nodes/nodes.h"

/*
 * Whether evaluating the expression, to which aggregates are given, may raise
 * an error; or whether running the Query may.  What is not known may.
 */
extern bool expr_can_fail(Node *node);

#endif							/* PENUMBRA_CAN_FAIL_H */
