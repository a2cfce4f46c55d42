/*-------------------------------------------------------------------------
 *
 * result_slot.h
 *	  Engine results as rows of a slot.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RESULT_SLOT_H
#define PENUMBRA_RESULT_SLOT_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/pg_list.h"

#include "penumbra/engine.h"

typedef struct ResultWindow ResultWindow;

/* Makes a value of a varlena, in the current context. */
typedef Datum (*FinishGroup) (void *groups, Datum rows, bool *isnull);

/*
 * output_map: Pipeline.output_map; attributes are left NULL.  positions: outputs
 * that are positions of rows.  Lives in the current context.
 */
extern ResultWindow *result_window_create(List *output_map, TupleDesc desc, List *positions);
/* default_map: Pipeline.default_map */
extern void result_window_set_defaults(ResultWindow *window, List *default_map);
/* Of json and jsonb the engine has PenumbraGroupRows, of which this makes the values. */
extern void result_window_set_finish(ResultWindow *window, FinishGroup finish, void *groups);
/* Starts reading a fetched result, which must stay valid until its rows are consumed. */
extern void result_window_open(ResultWindow *window, const PenumbraResult *result);
/* Stores the next row; false when there is none.  The row is valid until the next call. */
extern bool result_window_next(ResultWindow *window, TupleTableSlot *slot);
/* The position that is so the n-th, from 0, of the row that was stored last; false: it is NULL. */
extern bool result_window_position(const ResultWindow *window, int n, int64 *position);
/* Clears the slot and gives it the row's first columns, by reference; the caller adds others and stores it. */
extern void result_slot_take(TupleTableSlot *slot, TupleTableSlot *row, int column_count);

#endif							/* PENUMBRA_RESULT_SLOT_H */
