/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  Reading the extension's own tables, by primary or unique key, wherever
 *	  the extension's schema is and whatever search_path is.
 *
 *	  They are declared user_catalog_table, as output functions read them
 *	  while logical decoding has a snapshot of the past.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_CATALOG_H
#define COMPRESS_CATALOG_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"

/* Columns of "registered_compression_methods" */
#define Anum_methods_id 1
#define Anum_methods_name 2
#define Anum_methods_library 3
#define Anum_methods_symbol 4
#define Anum_methods_extension 5

/* Columns of "compression_dictionaries" */
#define Anum_dictionaries_id 1
#define Anum_dictionaries_number 2
#define Anum_dictionaries_name 3
#define Anum_dictionaries_content 4
#define Anum_dictionaries_owner 7

/*
 * Calls the function on the row whose column is equal to the key, which is
 * int8 or text (as the column); returns false if there is none.
 */
typedef void (*catalog_row_callback) (HeapTuple row, TupleDesc desc, void *arg);
extern bool catalog_find(const char *table, AttrNumber column, Datum key, Oid key_type,
						 catalog_row_callback callback, void *arg);

/* How many rows have this key, those that were committed a moment ago too. */
extern int	catalog_count(const char *table, AttrNumber column, Datum key, Oid key_type);

/* The schema of the extension; an error if it is not installed. */
extern Oid	catalog_schema(void);

#endif							/* COMPRESS_CATALOG_H */
