/*-------------------------------------------------------------------------
 *
 * translate_constant.h
 *	  Constants of the engine from Datums.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TRANSLATE_CONSTANT_H
#define PENUMBRA_TRANSLATE_CONSTANT_H

#include "postgres.h"

#include "query/pipeline/translation.h"

/* A constant.  Negative: refused, as for all functions here. */
extern PenumbraExpr translate_datum(Translation *translation, Oid type_oid, Datum datum, bool isnull);
/* An array's elements, of this type, as one argument. */
extern PenumbraExpr translate_list(Translation *translation, Oid type_oid, const Datum *values, const bool *nulls,
								   int count);
extern PenumbraExpr translate_int4(Translation *translation, int32 integer);
/* Ends the execution, for PostgreSQL's plan to run, where a row asks for its value. */
extern PenumbraExpr translate_unsupported(Translation *translation, PenumbraType type);
/* Stands for a value that planning does not know. */
extern PenumbraExpr translate_stand_in(Translation *translation, PenumbraType type);

#endif							/* PENUMBRA_TRANSLATE_CONSTANT_H */
