/*-------------------------------------------------------------------------
 *
 * value_classes.h
 *	  Numbers of the values of a type that are equal.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALUE_CLASSES_H
#define PENUMBRA_VALUE_CLASSES_H

#include "postgres.h"

typedef struct ValueClasses ValueClasses;

/* In the context at hand, which keeps a value of each class. */
extern ValueClasses *value_classes_create(Oid type_oid, Oid collation);
/* Whether they were created for this type, or a domain of it, and this collation. */
extern bool value_classes_are_of(const ValueClasses *classes, Oid type_oid, Oid collation);
/* The number of those that are equal to the value, by the type's own functions.  Any error may be raised. */
extern int64 value_classes_number(ValueClasses *classes, Datum value);
/* The memory that the classes take. */
extern Size value_classes_bytes(const ValueClasses *classes);

#endif							/* PENUMBRA_VALUE_CLASSES_H */
