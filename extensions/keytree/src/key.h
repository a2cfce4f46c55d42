/*-------------------------------------------------------------------------
 *
 * key.h
 *	  Between SQL values and the key of an entry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_KEY_H
#define KEYTREE_KEY_H

#include "postgres.h"

#include "page.h"

/* How values of a type become keys; all integers share one order, so they compare across types. */
typedef enum KeytreeKind
{
	KEYTREE_INT2,
	KEYTREE_INT4,				/* date too */
	KEYTREE_INT8,				/* timestamp and timestamptz too */
	KEYTREE_UUID
}			KeytreeKind;

/* False if the type has no keys; the second form errors out. */
extern bool keytree_find_kind(Oid type, KeytreeKind *kind);
extern KeytreeKind keytree_kind_of(Oid type);

static inline uint64
keytree_int_to_key(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

static inline int64
keytree_int_from_key(uint64 key)
{
	return (int64) (key ^ (UINT64CONST(1) << 63));
}

/* Sets the halves of the key; tid is the caller's. */
extern void keytree_key_from_datum(KeytreeKind kind, Datum value, KeytreeEntry *entry);

/*
 * The entries that have a value equal to one of another type, from one
 * (inclusive) to another (exclusive); empty where it would stand if there are
 * none.  A wide range has others too: the operator must be asked.
 */
typedef struct KeytreeRange
{
	KeytreeEntry from;
	KeytreeEntry to;
	bool		is_wide;
}			KeytreeRange;

/* Of a key of the type in an index on the other. */
extern void keytree_range_of(Oid indexed_type, Oid type, const KeytreeEntry *key, KeytreeRange *range);

/* Types whose values compare; those that need no conversion have equal keys for equal values. */
extern bool keytree_types_compare(Oid left, Oid right);
extern bool keytree_types_need_conversion(Oid left, Oid right);

#define KEYTREE_MAX_KEY_BYTES 16

/* The value of a key; bytes, of KEYTREE_MAX_KEY_BYTES, hold it if it is passed by reference. */
extern Datum keytree_key_to_datum(KeytreeKind kind, const KeytreeEntry *entry, char *bytes);

/* A datum's bytes as in a tuple; returns how many. */
extern int	keytree_key_to_bytes(KeytreeKind kind, const KeytreeEntry *entry, char *bytes);

#endif							/* KEYTREE_KEY_H */
