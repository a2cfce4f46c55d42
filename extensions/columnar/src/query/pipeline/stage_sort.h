/*-------------------------------------------------------------------------
 *
 * stage_sort.h
 *	  Keys of an order, of a sort and of a window.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_SORT_H
#define PENUMBRA_STAGE_SORT_H

#include "postgres.h"

#include "query/pipeline/deparser.h"
#include "query/pipeline/translation.h"

/* The direction of a default btree ordering; false for any other. */
extern bool stage_sort_direction(const SortGroupClause *clause, Node *expr, bool *is_descending);
/* PIPELINE_SORT_... of a clause. */
extern int	stage_sort_flags(const SortGroupClause *clause, bool is_descending);
/* NULL: one is refused. */
extern PenumbraSortKey *stage_sort_keys(Translation *translation, List *exprs, List *sort_flags);
/* The value of a LIMIT or OFFSET, or what stands for NULL; false: there is none, or PostgreSQL's error. */
extern bool stage_sort_row_count(Translation *translation, Node *node, int64 null_value, int64 *count);
extern void stage_sort_explain_keys(const char *label, List *exprs, List *sort_flags, const Deparser *deparser,
									ExplainState *es);

#endif							/* PENUMBRA_STAGE_SORT_H */
