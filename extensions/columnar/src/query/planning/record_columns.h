/*-------------------------------------------------------------------------
 *
 * record_columns.h
 *	  Documents as records: jsonb_to_record(), jsonb_to_recordset(), jsonb_populate_record[set]() in FROM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RECORD_COLUMNS_H
#define PENUMBRA_RECORD_COLUMNS_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/parsenodes.h"

/* Whether the function is one of these, whose columns a list may have. */
extern bool record_columns_is_call(const RangeTblFunction *function);
/* Whether it gives one row, of NULLs for a NULL. */
extern bool record_columns_is_one_row(const RangeTblFunction *function);
/* The call whose elements are the documents, each of which is an object. */
extern FuncExpr *record_columns_call(const RangeTblFunction *function);
extern int	record_columns_count(const RangeTblFunction *function);
/* How the values of a column follow from those of the call.  NULL: that is not known, or there is no such column. */
extern Node *record_columns_expr(const RangeTblFunction *function, AttrNumber number);
/* As Vars of the relation have it. */
extern int32 record_columns_typmod(const RangeTblFunction *function, AttrNumber number);
extern Oid	record_columns_collation(const RangeTblFunction *function, AttrNumber number);
/* Whether a document may have no such value, which is an error of the call whether the column is read or not. */
extern bool record_columns_can_fail(const RangeTblFunction *function, AttrNumber number);

#endif							/* PENUMBRA_RECORD_COLUMNS_H */
