/*-------------------------------------------------------------------------
 *
 * value_image.h
 *	  What the engine has in place of values of PostgreSQL's types.
 *
 * The engine has few types.  A value of another one is stored, compared, grouped
 * and joined as its image, a value of one of the engine's types.  Equal values
 * have equal images and other values have others, images are in the order of
 * the type's default operator class, and a value can be made of its image again.
 * The order of enums is an exception: see enum_order.h of the queries.  So are types
 * of extensions and users, which queries compare by other keys: comparison_key.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALUE_IMAGE_H
#define PENUMBRA_VALUE_IMAGE_H

#include "postgres.h"

#include "penumbra/engine.h"

/* Whether the order of images is the type's. */
typedef enum ValueOrder
{
	VALUE_ORDER_OF_IMAGE,
	VALUE_ORDER_OF_COLLATION,	/* if that is the order of bytes */
	VALUE_ORDER_UNKNOWN
} ValueOrder;

/* Which values are equal. */
typedef enum ValueEquality
{
	VALUE_EQUAL_IMAGES,
	VALUE_EQUAL_IN_LOWER_CASE,	/* by the database's default collation: citext */
	VALUE_EQUAL_BY_TYPE			/* that the type's comparison function says are */
} ValueEquality;

typedef struct ValueImage
{
	PenumbraType type;
	/*
	 * Makes a value's image: an integer, or a pointer with a length to bytes in the
	 * current memory context.  NULL: the image is the value, or of a varlena what is
	 * behind its header.
	 */
	uint64		(*encode) (Datum value, uint32 *length);
	/* Makes a value of its image, which may be allocated in the current context; NULL: the image is the value. */
	Datum		(*decode) (uint64 image, uint32 length);
	uint32		fixed_bytes;	/* of values that are passed by reference and as long; else 0 */
	ValueEquality equality;
	/*
	 * The parts of a value make its image, in place of the two functions.  Expressions read what is inside of it, and
	 * are columns of their own (cached_expression.h); so are whole values, where queries ask for these.
	 */
	const struct ComposedImage *composed;
	const char *(*encode_parts) (const struct ComposedImage *composed, Datum value, uint32 *length);
	Datum		(*decode_parts) (const struct ComposedImage *composed, const char *image, uint32 length);
	ValueOrder	order;
	Oid			order_collation;	/* InvalidOid: the expression's */
	uint64		shape;			/* of types that can be altered: another one is another image; else 0 */
} ValueImage;

typedef struct ComposedImage ComposedImage;

/* Who makes images of other types: composed_image.c, which asks for those of the parts of values. */
extern void value_image_set_others(const ValueImage *(*image_of) (Oid type_oid));

/* Of a type, or a domain over one; NULL: it has none.  Static memory. */
extern const ValueImage *value_image_of(Oid type_oid);

/* Whether the type has an image, and what is equal is told by PostgreSQL's own functions. */
extern bool value_image_tells_equality(Oid type_oid);

/* A value as PenumbraColumnInput takes it: what is allocated or detoasted for it is in the current context. */
extern uint64 value_image_make(const ValueImage *image, Datum value, uint32 *length);
/* A value of an image of a type whose images are not its values, in the current context. */
extern Datum value_image_read(const ValueImage *image, uint64 made, uint32 length);

/* The bytes of a value in the engine's flat vectors; 0: of strings and NUMERIC, which have lengths. */
extern int	value_image_width(PenumbraType type);

/* Whether that is so of the type's images. */
static inline bool
value_image_is_other(const ValueImage *image)
{
	return image->decode != NULL || image->composed != NULL;
}

/* Whether equal values may have several forms, which the images keep: numbers inside. */
static inline bool
value_image_has_forms(const ValueImage *image)
{
	return image->composed != NULL && image->type == PENUMBRA_BPCHAR;
}

#endif							/* PENUMBRA_VALUE_IMAGE_H */
