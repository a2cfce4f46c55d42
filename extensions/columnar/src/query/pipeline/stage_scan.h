/*-------------------------------------------------------------------------
 *
 * stage_scan.h
 *	  The stage of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STAGE_SCAN_H
#define PENUMBRA_STAGE_SCAN_H

#include "postgres.h"

#include "cache/table_sample.h"
#include "query/pipeline/pipeline.h"
#include "query/pipeline/translation.h"

/* Makes it the current operator, over nothing; false: refused. */
extern bool stage_scan_add_to_plan(Translation *translation, PipelineStage *stage);
/*
 * Translates a condition of a join alone, over a scan of the columns that it reads, which is all that the plan has.
 * Below 0: refused, with the translation's reason.
 */
extern PenumbraExpr stage_scan_translate_pair(Translation *translation, Node *condition);
/* Whether the engine searches rows by the join's condition. */
extern bool stage_scan_is_searched(Node *condition);

/*
 * Adds the rows' positions, a column in the order of the table, up to the last stage; they may be there.  name: of
 * the relation, if the scan has no column.  False: it is no scan of tables, or of too many, or has stages above that
 * do not pass a column on.
 */
extern bool stage_scan_add_positions(Pipeline *pipeline, Index name);
/* Whether the stage's last column is one. */
extern bool stage_scan_has_positions(const PipelineStage *stage);
/* Whether the column has rows' positions. */
extern bool stage_scan_is_position(const Node *column);
/* The last of the columns that is one; NULL: none is. */
extern Node *stage_scan_find_position(List *columns);
/* A new column of positions, of the relation. */
extern Var *stage_scan_position(Index name);

/* Whether scans can have a sample by the clause. */
extern bool stage_scan_sample_is_known(const TableSampleClause *clause);
/*
 * The sample of the stage's table of that place; false: it has all rows.  random: of the execution, whose scans of one
 * relation have the same sample without REPEATABLE.
 */
extern bool stage_scan_sample(const PipelineStage *stage, int table, uint32 random, TableSample *sample);

#endif							/* PENUMBRA_STAGE_SCAN_H */
