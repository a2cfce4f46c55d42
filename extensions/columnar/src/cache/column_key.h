/*-------------------------------------------------------------------------
 *
 * column_key.h
 *	  Which column of a relation a cached column is, and what of the catalog its
 *	  values depend on.
 *
 * Other files take a key for a name: they compare, hash and order keys, and find
 * a key's slot by its place.  What a key stands for is known here alone.
 *
 * That is an attribute, or an expression of attributes (cached_expression.h).
 * Where a key leaves memory (the list of requested columns, the disk cache's
 * manifest, the views), column_key_number() stands for it: an attribute's own, or
 * a number beyond those that attributes can have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COLUMN_KEY_H
#define PENUMBRA_COLUMN_KEY_H

#include "postgres.h"

#include "access/attnum.h"
#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "common/hashfn.h"
#include "nodes/pg_list.h"

/* How many expressions of a relation can be cached. */
#define COLUMN_KEY_EXPRESSIONS	64

typedef struct ColumnKey
{
	AttrNumber	number;			/* an attribute's; beyond MaxHeapAttributeNumber: an expression's */
	uint32		serial;			/* of the expression, never used twice; 0: an attribute */
} ColumnKey;

/*
 * What the catalog adds to a column's values in the tuples.  A cached column is
 * used where the relation's column of its key has the same facts.
 */
typedef struct ColumnFacts
{
	/* a hash of what rows older than the column have, 0: NULL, or there are none; of an expression, and of that */
	uint64		content;
	Oid			type_oid;		/* InvalidOid: the relation has no such column */
	int32		typmod;
	Oid			collation;
} ColumnFacts;

static inline ColumnKey
column_key_of_attribute(AttrNumber attribute)
{
	return (ColumnKey) {.number = attribute};
}

static inline bool
column_number_is_expression(int number)
{
	return number > MaxHeapAttributeNumber && number <= MaxHeapAttributeNumber + COLUMN_KEY_EXPRESSIONS;
}

static inline bool
column_key_is_expression(ColumnKey key)
{
	return column_number_is_expression(key.number);
}

/* Whether it stands for a key. */
static inline bool
column_number_is_possible(int number)
{
	return number > 0 && (number <= MaxHeapAttributeNumber || column_number_is_expression(number));
}

/* The key without the serial of an expression; so it finds slots and names, and has no facts. */
static inline ColumnKey
column_key_of_number(int number)
{
	return (ColumnKey) {.number = (AttrNumber) number};
}

/* What stands for it in files and views. */
static inline AttrNumber
column_key_number(ColumnKey key)
{
	return key.number;
}

static inline bool
column_keys_are_equal(ColumnKey a, ColumnKey b)
{
	return a.number == b.number && a.serial == b.serial;
}

/* Their order, for qsort(). */
static inline int
column_keys_compare(ColumnKey a, ColumnKey b)
{
	if (a.number != b.number)
		return a.number - b.number;
	return a.serial < b.serial ? -1 : a.serial > b.serial;
}

static inline uint32
column_key_hash(ColumnKey key)
{
	return hash_combine(murmurhash32((uint32) key.number), key.serial);
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
 * chunk and in the relation's totals: expressions first, since their number is
 * bounded; then attributes by number.
 */
static inline uint32
column_key_place(ColumnKey key)
{
	return column_key_is_expression(key) ? key.number - MaxHeapAttributeNumber - 1
		: COLUMN_KEY_EXPRESSIONS + key.number - 1;
}

/* How many places a relation's columns have, and how many a relation's can have. */
static inline int
column_key_places(TupleDesc desc)
{
	return COLUMN_KEY_EXPRESSIONS + desc->natts;
}

#define COLUMN_KEY_PLACES_MAX	(COLUMN_KEY_EXPRESSIONS + MaxHeapAttributeNumber)

static inline ColumnKey
column_key_of_place(uint32 place)
{
	return column_key_of_number(place < COLUMN_KEY_EXPRESSIONS ? MaxHeapAttributeNumber + 1 + (int) place
								: (int) place - COLUMN_KEY_EXPRESSIONS + 1);
}

/* The attribute that it is; NULL: none of the relation, or it was dropped. */
extern Form_pg_attribute column_key_attribute(ColumnKey key, TupleDesc desc);

/* A hash of what rows older than the attribute have; 0: NULL, or there are none. */
extern uint64 column_key_missing(TupleDesc desc, Form_pg_attribute att);

static inline bool
column_facts_are_equal(const ColumnFacts *a, const ColumnFacts *b)
{
	return a->type_oid == b->type_oid && a->typmod == b->typmod && a->collation == b->collation &&
		a->content == b->content;
}

#endif							/* PENUMBRA_COLUMN_KEY_H */
