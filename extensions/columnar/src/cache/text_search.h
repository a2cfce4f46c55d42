/*-------------------------------------------------------------------------
 *
 * text_search.h
 *	  Configurations and dictionaries of text search in expressions that are cached.
 *
 * to_tsvector('english', x) is immutable for PostgreSQL, and ALTER TEXT SEARCH changes what it gives.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TEXT_SEARCH_H
#define PENUMBRA_TEXT_SEARCH_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Arguments that name a configuration or a dictionary are constants. */
extern bool text_search_is_fixed(const List *args);
/* A hash of how those in the expression are defined now; 0: it names none. */
extern uint64 text_search_definitions(Node *expr);

#endif							/* PENUMBRA_TEXT_SEARCH_H */
