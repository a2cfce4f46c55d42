/*-------------------------------------------------------------------------
 *
 * region.h
 *	  The memory of the cache: variable-size pages in one reserved range that
 *	  every process of the server sees at the same address.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_REGION_H
#define PENUMBRA_REGION_H

#include "postgres.h"

/* Size classes 4 KB * 2^class: 4 KB to 1 GB. */
#define REGION_UNIT_BYTES		((Size) 4096)
#define REGION_CLASS_COUNT		19

typedef struct RegionClassStats
{
	Size		page_bytes;		/* virtual, of one page of the class */
	uint64		pages;			/* allocated */
	uint64		used_bytes;		/* counted against the budget */
} RegionClassStats;

/* penumbra.memory, at server start only, and penumbra.memory_target. */
extern void region_define_settings(void);

/*
 * Reserves the address range in the postmaster, for as much of penumbra.memory as
 * this machine has, with a WARNING where that is less.  False: there is no cache.
 */
extern bool region_reserve(void);
extern bool region_is_reserved(void);
/* Whether the library was loaded at server start, so that there could be one. */
extern bool region_is_configured(void);
extern Size region_budget_bytes(void);
/* What was reserved, which no budget exceeds; 0: nothing. */
extern Size region_reserved_bytes(void);
/* Lowers the budget to what the machine has by now, or raises it again. */
extern void region_follow_machine(void);
/* What is used beyond it, since it was lowered. */
extern Size region_excess_bytes(void);
extern Size region_free_bytes(void);

/* Bookkeeping in ordinary shared memory; startup empties the region. */
extern Size region_shmem_bytes(void);
extern void region_shmem_startup(void *shmem);

/*
 * A page of at least `bytes`, 4 KB aligned, or NULL when the budget is used
 * up or the kernel has no memory.  Of the page's size only the 4 KB units up to `bytes` may be touched.
 * Both never raise an error and may be called under any other lock.
 */
extern void *region_allocate(Size bytes);
extern void region_free(void *page, Size bytes);

/* The size class of an allocation of `bytes`, and what it costs the budget. */
extern int	region_class(Size bytes);
extern Size region_cost_bytes(Size bytes);
extern void region_get_stats(int class, RegionClassStats *stats);

/* Maps [page, page + bytes) into this process, cheaper than faulting it in. */
extern void region_populate(const void *page, Size bytes);
/* The same, unless this process has done so with what has this number, which is never used twice, or has said so. */
extern void region_populate_once(uint64 serial, const void *page, Size bytes);
extern void region_note_populated(uint64 serial);
/* The same of a page that was just allocated and will be written all over. */
extern void region_populate_for_write(void *page, Size bytes);

#endif							/* PENUMBRA_REGION_H */
