/*-------------------------------------------------------------------------
 *
 * column_facts.h
 *	  What of the catalog the values of a cached column depend on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COLUMN_FACTS_H
#define PENUMBRA_COLUMN_FACTS_H

#include "postgres.h"

#include "utils/relcache.h"

#include "cache/column_key.h"

/* Reads a missing value, which may be long, and takes a lock; so not to be called under a lock. */
extern ColumnFacts column_key_facts(ColumnKey key, TupleDesc desc);

/* An expression's key has the serial of that which has the number now. */
extern ColumnKey column_key_now(ColumnKey key, TupleDesc desc);
/* The keys of all columns that the relation can have, palloc'd, by place. */
extern ColumnKey *column_keys_now(TupleDesc desc);

/* Its name; of an expression as SQL writes it, cut to a name's length.  False: the relation has no such column. */
extern bool column_key_name(ColumnKey key, Relation rel, NameData *name);

#endif							/* PENUMBRA_COLUMN_FACTS_H */
