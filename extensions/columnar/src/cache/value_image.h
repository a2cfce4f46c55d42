/*-------------------------------------------------------------------------
 *
 * value_image.h
 *	  What the engine has in place of values of PostgreSQL's types.
 *
 * The engine has few types.  A value of another one is stored, compared, grouped
 * and joined as its image, a value of one of the engine's types.  Equal values
 * have equal images and other values have others, images are in the order of
 * the type's default operator class, and a value can be made of its image again.
 * The order of enums is the one exception: see enum_order.h of the queries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALUE_IMAGE_H
#define PENUMBRA_VALUE_IMAGE_H

#include "postgres.h"

#include "penumbra/engine.h"

typedef struct ValueImage
{
	PenumbraType type;
	/*
	 * Makes a value's image: an integer, or a pointer with a length to bytes in the
	 * current memory context.  NULL: the image is the value, or of a varlena what is
	 * behind its header.
	 */
	uint64		(*encode) (Datum value, uint32 *length);
	/* Makes a value of its image, which may be allocated in the current context; NULL where encode is. */
	Datum		(*decode) (uint64 image, uint32 length);
	/* Expressions read what is inside of a value, and are columns of their own (cached_expression.h). */
	bool		has_parts;
} ValueImage;

/* Of a type, or a domain over one; NULL: it has none.  Static memory. */
extern const ValueImage *value_image_of(Oid type_oid);

/* A value as PenumbraColumnInput takes it: what is allocated or detoasted for it is in the current context. */
extern uint64 value_image_make(const ValueImage *image, Datum value, uint32 *length);

#endif							/* PENUMBRA_VALUE_IMAGE_H */
