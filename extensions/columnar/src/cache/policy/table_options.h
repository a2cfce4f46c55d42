/*-------------------------------------------------------------------------
 *
 * table_options.h
 *	  What the owner of a table says of caching it: security labels of tables
 *	  and columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLE_OPTIONS_H
#define PENUMBRA_TABLE_OPTIONS_H

#include "postgres.h"

#include "nodes/bitmapset.h"

#include "cache/column_key.h"

/* "priority=N": wishes and uses of the table count so many times. */
#define PRIORITY_MAX	16
/* "pin": nothing of the table makes room for others. */
#define PRIORITY_PINNED	PG_UINT32_MAX

typedef struct TableOptions
{
	bool		is_never;		/* the columns are not cached */
	Bitmapset  *exceptions;		/* of columns whose labels say otherwise */
	uint32		priority;		/* 1 without a label */
} TableOptions;

/* The provider of the labels. */
extern void table_options_install(void);

/* In a transaction; reads the catalog each time. */
extern TableOptions table_options_read(Oid relid);
extern bool table_options_permit(const TableOptions *options, ColumnKey column);
/* Whether they permit no column. */
extern bool table_options_refuse(const TableOptions *options);
/* Takes out the columns that they do not permit; how many are left. */
extern int	table_options_filter(const TableOptions *options, ColumnKey *columns, int ncolumns);

/* Tells the directory, and drops what is cached of the relation where they do not permit it. */
extern void table_options_apply(Oid relid);	/* InvalidOid: of all relations of the database */

#endif							/* PENUMBRA_TABLE_OPTIONS_H */
