/*-------------------------------------------------------------------------
 *
 * table_pages.h
 *	  Pages of a table that this transaction creates, written past the buffers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLE_PAGES_H
#define PENUMBRA_TABLE_PAGES_H

#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup.h"
#include "utils/rel.h"

/* Longer tuples may have to be toasted. */
#define TABLE_PAGES_TUPLE_BYTES_MAX TOAST_TUPLE_THRESHOLD

typedef struct TablePages TablePages;

/* Of a heap table that no one else can see; NULL: its rows have to go through its access method. */
extern TablePages *table_pages_begin(Relation rel, CommandId command);

/* Appends a copy of a tuple of at most so many bytes, and sets in its header what an insertion does. */
extern void table_pages_add(TablePages *pages, HeapTuple tuple);

/* Writes the last page and frees all.  From now on the access method can append to the table. */
extern void table_pages_end(TablePages *pages);

#endif							/* PENUMBRA_TABLE_PAGES_H */
