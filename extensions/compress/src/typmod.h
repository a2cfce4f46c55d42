/*-------------------------------------------------------------------------
 *
 * typmod.h
 *	  Type modifiers: method, level, dictionary in 31 bits.
 *
 *	bits	what
 *	0-11	method id
 *	12-17	level - PENUMBRA_MIN_LEVEL; 63 if the method has no levels
 *	18-30	number of the dictionary; 0 is none
 *
 *	  They are printed by name, level and number: a dump can be restored
 *	  before the dictionary is there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_TYPMOD_H
#define COMPRESS_TYPMOD_H

#include "postgres.h"

#include "dictionary.h"
#include "method.h"
#include "value.h"

#define TYPMOD_NO_LEVEL 63

StaticAssertDecl(METHOD_ID_MAX < 1 << 12, "a method id fits into 12 bits");
StaticAssertDecl(PENUMBRA_MAX_LEVEL - PENUMBRA_MIN_LEVEL < TYPMOD_NO_LEVEL,
				 "a level fits into 6 bits");
StaticAssertDecl(DICTIONARY_NUMBER_MAX < 1 << 13, "31 bits are enough");

typedef struct CompressionTarget
{
	uint32		method_id;
	int			level;			/* 0 if the method has none */
	uint32		dictionary_number;
} CompressionTarget;

/* A negative modifier gives the default method. */
extern CompressionTarget typmod_target(int32 typmod);
extern int32 target_typmod(const CompressionTarget *target);

/* The modifier of values that are stored raw */
extern int32 raw_typmod(void);

/* An error if the method does not take the level or dictionary. */
extern void check_target(const CompressionTarget *target, const CompressionMethod *method);

/* Setting penumbra_compress.default_method */
extern int	default_method;

#endif							/* COMPRESS_TYPMOD_H */
