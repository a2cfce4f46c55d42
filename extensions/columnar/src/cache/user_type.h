/*-------------------------------------------------------------------------
 *
 * user_type.h
 *	  What the engine has in place of values of types without a form of their own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_USER_TYPE_H
#define PENUMBRA_USER_TYPE_H

#include "postgres.h"

#include "cache/value_image.h"

/* Of a base type that has a default order or hash, if it has no other image; NULL: it has none.  Static memory. */
extern const ValueImage *user_type_image(Oid type_oid);
/* Of the type or a domain over it: which image that is; 0: there is none. */
extern uint64 user_type_shape(Oid type_oid);

/* The name of a function of citext's library; NULL: it is another function.  Of a function that is PostgreSQL's too. */
extern char *user_type_citext_function(Oid function_oid);
/* PostgreSQL's function that a user's function is another name of; InvalidOid: of none. */
extern Oid	user_type_internal_function(Oid function_oid);

#endif							/* PENUMBRA_USER_TYPE_H */
