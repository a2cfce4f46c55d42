/*-------------------------------------------------------------------------
 *
 * translate_type.c
 *	  The engine's types for PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"

#include "cache/cache.h"
#include "cache/value_image.h"
#include "query/pipeline/translate_type.h"
#include "query/pipeline/translation.h"

bool
translate_type(Oid type_oid, PenumbraType *type)
{
	return cache_type_of(type_oid, type);
}

bool
translate_have_one_image(Oid a, Oid b)
{
	const ValueImage *image_a = value_image_of(a);
	const ValueImage *image_b = value_image_of(b);

	return image_a != NULL && image_b != NULL && image_a->type == image_b->type && image_a->encode == image_b->encode &&
		image_a->decode == image_b->decode && image_a->composed == image_b->composed;
}

bool
translate_is_its_image(Oid type_oid)
{
	const ValueImage *image = value_image_of(type_oid);

	return image != NULL && !value_image_is_other(image);
}

bool
translate_join_type(PenumbraType a, PenumbraType b, PenumbraType *wide)
{
	bool		are_integers = (a == PENUMBRA_INT2 || a == PENUMBRA_INT4 || a == PENUMBRA_INT8) &&
		(b == PENUMBRA_INT2 || b == PENUMBRA_INT4 || b == PENUMBRA_INT8);
	bool		are_floats = (a == PENUMBRA_FLOAT4 || a == PENUMBRA_FLOAT8) &&
		(b == PENUMBRA_FLOAT4 || b == PENUMBRA_FLOAT8);

	*wide = a == b ? a : are_integers ? PENUMBRA_INT8 : PENUMBRA_FLOAT8;
	return a == b || are_integers || are_floats;
}

bool
translate_type_of(Translation *translation, Node *node, PenumbraType *type)
{
	Oid			type_oid = exprType(node);

	if (translate_type(type_oid, type))
		return true;
	translation->reason = psprintf("type %s", format_type_be(type_oid));
	return false;
}
