/*-------------------------------------------------------------------------
 *
 * translate_type.h
 *	  The engine's types for PostgreSQL's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_TYPE_H
#define PENUMBRA_TRANSLATE_TYPE_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* Engine type of a PostgreSQL type, domains resolved. */
extern bool translate_type(Oid type_oid, PenumbraType *type);
/* The type of an expression; false with the reason. */
extern bool translate_type_of(Translation *translation, Node *node, PenumbraType *type);

/* Whether the engine has the same in place of equal bytes of two types. */
extern bool translate_have_one_image(Oid a, Oid b);
/* Whether it has the values themselves. */
extern bool translate_is_its_image(Oid type_oid);

/* As what values of two types can be joined; false: by no equality of the engine. */
extern bool translate_join_type(PenumbraType a, PenumbraType b, PenumbraType *wide);

#endif							/* PENUMBRA_TRANSLATE_TYPE_H */
