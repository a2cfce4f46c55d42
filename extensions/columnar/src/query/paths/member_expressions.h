/*-------------------------------------------------------------------------
 *
 * member_expressions.h
 *	  The query whose UNION ALLs have for columns what it reads of their documents.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MEMBER_EXPRESSIONS_H
#define PENUMBRA_MEMBER_EXPRESSIONS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A copy; NULL: there are none, or PostgreSQL makes the members part of the query. */
extern Query *member_expressions_push(Query *query);

#endif							/* PENUMBRA_MEMBER_EXPRESSIONS_H */
