/*-------------------------------------------------------------------------
 *
 * value_classes.h
 *	  Numbers of the values of a type that are equal, and labels in the order of values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_VALUE_CLASSES_H
#define PENUMBRA_VALUE_CLASSES_H

#include "postgres.h"

typedef struct ValueClasses ValueClasses;

/* In the context at hand, which keeps a value of each class; of a type that has an order, if that is asked for. */
extern ValueClasses *value_classes_create(Oid type_oid, Oid collation, bool is_ordered);
/* Whether they were created for this type, or a domain of it, and this collation. */
extern bool value_classes_are_of(const ValueClasses *classes, Oid type_oid, Oid collation, bool is_ordered);
/* The number of those that are equal to the value, by the type's own functions.  Any error may be raised. */
extern int64 value_classes_number(ValueClasses *classes, Datum value);
/*
 * The bytes of a uuid that are less than those of greater values, and the same for equal ones; they stay as they are.
 * Where values come in an order that leaves no room between two labels, an error is raised.
 */
extern const uint8 *value_classes_label(ValueClasses *classes, Datum value);
/* A value of the class that has the label; it is the classes'. */
extern Datum value_classes_of_label(ValueClasses *classes, const uint8 *label);
/* The memory that the classes take. */
extern Size value_classes_bytes(const ValueClasses *classes);

#endif							/* PENUMBRA_VALUE_CLASSES_H */
