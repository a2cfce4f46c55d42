/*-------------------------------------------------------------------------
 *
 * record_columns.h
 *	  Functions in FROM whose rows are records: of documents, and of arrays of composites.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RECORD_COLUMNS_H
#define PENUMBRA_RECORD_COLUMNS_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"

/* Whether the function is one of these, whose columns a list may have. */
extern bool record_columns_is_call(const RangeTblFunction *function);
/* Whether it gives one row, of NULLs for a NULL. */
extern bool record_columns_is_one_row(const RangeTblFunction *function);
/* The call whose elements are the composites, or the documents, each of which is an object. */
extern FuncExpr *record_columns_call(const RangeTblFunction *function);
/* The plan depends on the names and types of the columns: it is made anew when these change. */
extern void record_columns_depend(PlannerInfo *root, const RangeTblFunction *function);
extern int	record_columns_count(const RangeTblFunction *function);
/*
 * What a list has for a column: how it follows from the values of the call.  NULL: that is not known, or there is no
 * such column.
 */
extern Node *record_columns_source(const RangeTblFunction *function, AttrNumber number);
/* Whether that is the column's value. */
extern bool record_columns_is_source(const RangeTblFunction *function, AttrNumber number);
/* Else the value, of the source; PostgreSQL computes it for each record, as it may fail.  NULL: it is the source. */
extern Node *record_columns_value(PlannerInfo *root, const RangeTblFunction *function, AttrNumber number, Node *source);
/* As Vars of the relation have it. */
extern int32 record_columns_typmod(const RangeTblFunction *function, AttrNumber number);
extern Oid	record_columns_collation(const RangeTblFunction *function, AttrNumber number);
/* Whether a document may have no such value, which is an error of the call whether the column is read or not. */
extern bool record_columns_can_fail(const RangeTblFunction *function, AttrNumber number);

#endif							/* PENUMBRA_RECORD_COLUMNS_H */
