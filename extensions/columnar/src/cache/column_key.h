/*-------------------------------------------------------------------------
 *
 * column_key.h
 *	  Which column of a relation a cached column is, and what of the catalog its
 *	  values depend on.
 *
 * Other files take a key for a name: they compare, hash and order keys, and find
 * a key's slot by its place.  What a key stands for is known here alone.
 *
 * Today that is an attribute.  A column that is none needs a second member of the
 * key, a place behind those of the attributes, and a way to compute its values
 * in heap_page.c.  Where a key leaves memory (the list of requested columns, the
 * disk cache's manifest, the views), column_key_number() stands for it; there it
 * needs a name, and the two files a new format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COLUMN_KEY_H
#define PENUMBRA_COLUMN_KEY_H

#include "postgres.h"

#include "access/attnum.h"
#include "access/tupdesc.h"
#include "common/hashfn.h"
#include "nodes/pg_list.h"

/* An attribute.  As a struct it is no number by accident. */
typedef struct ColumnKey
{
	AttrNumber	attribute;
} ColumnKey;

/*
 * What the catalog adds to a column's values in the tuples.  A cached column is
 * used where the relation's column of its key has the same facts.
 */
typedef struct ColumnFacts
{
	uint64		missing;		/* a hash of what rows older than the column have; 0: NULL, or there are none */
	Oid			type_oid;		/* InvalidOid: the relation has no such column */
	int32		typmod;
	Oid			collation;
} ColumnFacts;

static inline ColumnKey
column_key_of_attribute(AttrNumber attribute)
{
	return (ColumnKey) {attribute};
}

/* Its attribute's number, which stands for it in files and views. */
static inline AttrNumber
column_key_number(ColumnKey key)
{
	return key.attribute;
}

/* An array, palloc'd, for a list of attributes' numbers. */
extern ColumnKey *column_keys_of_attributes(const List *attributes);

static inline bool
column_keys_are_equal(ColumnKey a, ColumnKey b)
{
	return a.attribute == b.attribute;
}

/* Their order, for qsort(). */
static inline int
column_keys_compare(ColumnKey a, ColumnKey b)
{
	return a.attribute - b.attribute;
}

static inline uint32
column_key_hash(ColumnKey key)
{
	return murmurhash32((uint32) key.attribute);
}

/* Of several, in their order. */
static inline uint64
column_keys_hash(const ColumnKey *keys, int count)
{
	uint64		hash = count;

	for (int i = 0; i < count; i++)
		hash = hash_combine64(hash, column_key_hash(keys[i]));
	return hash;
}

/*
 * Its place among the columns of a relation, which is that of its slot in every
 * chunk and in the relation's totals: attributes by number, from 0 on.
 */
static inline uint32
column_key_place(ColumnKey key)
{
	return key.attribute - 1;
}

static inline ColumnKey
column_key_at(uint32 place)
{
	return column_key_of_attribute((AttrNumber) (place + 1));
}

/* How many places a relation's columns have. */
static inline int
column_key_places(TupleDesc desc)
{
	return desc->natts;
}

/* The attribute that the values come from; NULL: the relation has no such column, or it was dropped. */
extern Form_pg_attribute column_key_attribute(ColumnKey key, TupleDesc desc);

/* Reads a missing value, which may be long; so not to be called under a lock. */
extern ColumnFacts column_key_facts(ColumnKey key, TupleDesc desc);

static inline bool
column_facts_are_equal(const ColumnFacts *a, const ColumnFacts *b)
{
	return a->type_oid == b->type_oid && a->typmod == b->typmod && a->collation == b->collation &&
		a->missing == b->missing;
}

#endif							/* PENUMBRA_COLUMN_KEY_H */
