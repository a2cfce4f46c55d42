/*-------------------------------------------------------------------------
 *
 * json_conversion.h
 *	  Members of documents as arrays and composites.
 *
 * jsonb_to_record() and its like make an array of a JSON array, and a composite of an object.  SQL has no
 * cast for that.  So a cast of jsonb by input and output stands for it here, which PostgreSQL
 * refuses in a query.  What is evaluated in its place is jsonb_populate_record() of a row of one column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_JSON_CONVERSION_H
#define PENUMBRA_JSON_CONVERSION_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* Of a member of the object; NULL: it is no array or composite of types whose input depends on nothing else. */
extern Node *json_conversion_make(Node *object, const char *member, Oid type);
extern bool json_conversion_is(const CoerceViaIO *cast);
/* Whether the value depends on nothing but the document, and on what json_conversion_shape() tells. */
extern bool json_conversion_is_fixed(const CoerceViaIO *cast);
/* Of the types of all conversions in the expression: the names and types of their attributes; 0: they have none. */
extern uint64 json_conversion_shape(Node *expr);
/* A copy of the expression, as PostgreSQL can evaluate it. */
extern Node *json_conversion_expand(Node *expr);

#endif							/* PENUMBRA_JSON_CONVERSION_H */
