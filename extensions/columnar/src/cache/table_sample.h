/*-------------------------------------------------------------------------
 *
 * table_sample.h
 *	  Which rows of a table are in a sample: TABLESAMPLE BERNOULLI and SYSTEM.
 *
 * PostgreSQL decides by a hash of a row's page, or of its page and offset, and
 * of a seed.  So which rows are in the sample is known without reading any.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLE_SAMPLE_H
#define PENUMBRA_TABLE_SAMPLE_H

#include "postgres.h"

#include "cache/chunk.h"

typedef struct TableSample
{
	bool		is_of_pages;	/* SYSTEM: all rows of a page, or none */
	uint32		seed;
	uint64		cutoff;			/* hashes below it are in the sample */
} TableSample;

/* percent: from 0 to 100. */
extern TableSample table_sample_make(bool is_of_pages, double percent, uint32 seed);
/* The seed of REPEATABLE. */
extern uint32 table_sample_seed(double repeatable);
/* False: no row of the page is. */
extern bool table_sample_has_page(const TableSample *sample, BlockNumber block);
extern bool table_sample_has_row(const TableSample *sample, BlockNumber block, OffsetNumber offset);
/* Leaves of the rows on offer, in ranges of whole pages of the chunk or patch, those that are in the sample. */
extern void table_sample_take(const TableSample *sample, const CachedChunk *chunk, PenumbraChunk *offered);

#endif							/* PENUMBRA_TABLE_SAMPLE_H */
