/*-------------------------------------------------------------------------
 *
 * region.c
 *	  Variable-size pages in a reserved range.
 *
 * The range is a file in memory that the postmaster maps once before it forks.
 * Of such a file the kernel counts the pages that it has, in every mode of
 * vm.overcommit_memory, and not its size; so the reserve costs address space
 * alone.  Each size class has its own part of it, twice as large as the budget,
 * since a page may hold little more than half of what it has room for; so any
 * mix of classes can use the whole budget and no class ever fragments another:
 * what limits is physical memory, of which a page holds only the 4 KB units
 * that its owner asked for.  Freed pages go back to the kernel with MADV_REMOVE
 * at once, so address space is all that stays behind.  Where the kernel refuses
 * more memory, a touch would be SIGBUS; so a page has its memory (fallocate)
 * before its owner knows of it, and so have the places in the free lists.
 *
 * The mapping outlives a crash restart (the postmaster keeps it), its
 * contents do not: region_shmem_startup() removes them.
 *
 * Lock: one spinlock over the free lists and counters, a leaf.  The free
 * list of a class is an array in the range itself, behind the classes; it is
 * touched only as far as it was ever filled.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "miscadmin.h"
#include "port/atomics.h"
#include "port/pg_bitutils.h"
#include "storage/spin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "cache/policy/machine.h"
#include "cache/region.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* What one chunk of a narrow table may need: there is no cache below it. */
#define REGION_MINIMUM_BYTES	((Size) 16 * 1024 * 1024)

typedef struct RegionClass
{
	uint32		page_limit;		/* pages that fit the class's part of the range */
	uint32		next_page;		/* never allocated from here on */
	uint32		free_count;
	uint64		used_pages;
	Size		used_bytes;
} RegionClass;

typedef struct RegionControl
{
	pg_atomic_uint32 target_mb; /* the postmaster's penumbra.memory_target */
	pg_atomic_uint32 fitting_mb;	/* what the machine has room for, at the launcher's last look */
	slock_t		lock;
	Size		used_bytes;
	RegionClass classes[REGION_CLASS_COUNT];
} RegionControl;

/* The same in every process: set in the postmaster, inherited. */
static char *region_base = NULL;
static Size region_bytes;
static Size class_part_bytes;	/* of address space, per class */
static int	memory_mb;
static int	memory_target_mb;
static Size budget_bytes;		/* penumbra.memory, or as much of it as could be had */
static int	region_file = -1;
static uint32 *free_lists[REGION_CLASS_COUNT];
static RegionControl *control;

/*
 * Processes take up a reload one by one, a long statement at its end: they would
 * fill and empty the region to different targets.  So the postmaster's holds.
 */
static void
assign_memory_target(int newval, void *extra)
{
	if (!IsUnderPostmaster && control != NULL)
		pg_atomic_write_u32(&control->target_mb, (uint32) newval);
}

/* Too little is refused where somebody sets it; a server whose file has it starts all the same, without a cache. */
static bool
check_memory(int *newval, void **extra, GucSource source)
{
	if (*newval == 0 || (Size) *newval >= REGION_MINIMUM_BYTES / (1024 * 1024) || !IsUnderPostmaster)
		return true;
	GUC_check_errdetail("It is 0, which is no cache, or at least %zu MB, which a chunk of a table needs.",
						REGION_MINIMUM_BYTES / (1024 * 1024));
	return false;
}

void
region_define_settings(void)
{
	DefineCustomIntVariable("penumbra.memory",
							"Memory for cached columns.",
							"Physical memory is taken as columns are loaded. "
							"The default is a quarter of the machine's memory. 0 is no cache.",
							&memory_mb, machine_default_mb(), 0, INT_MAX / 2,
							PGC_POSTMASTER, GUC_UNIT_MB, check_memory, NULL, NULL);
	DefineCustomIntVariable("penumbra.memory_target",
							"Memory for cached columns, of what penumbra.memory reserves.",
							"The least used columns go when it is lowered. 0, or more than penumbra.memory, is all of it.",
							&memory_target_mb, 0, 0, INT_MAX / 2,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, assign_memory_target, NULL);
}

static Size
class_page_bytes(int class)
{
	return REGION_UNIT_BYTES << class;
}

int
region_class(Size bytes)
{
	return bytes <= REGION_UNIT_BYTES ? 0 :
		pg_leftmost_one_pos64((uint64) bytes - 1) + 1 - 12;
}

Size
region_cost_bytes(Size bytes)
{
	return TYPEALIGN(REGION_UNIT_BYTES, Max(bytes, 1));
}

/* A server that was moved to a smaller machine takes what it would take there by default. */
static Size
fitting_bytes(Size bytes)
{
	Size		machine_bytes = machine_memory_bytes();

	return bytes <= machine_bytes ? bytes : machine_bytes / MACHINE_SHARE;
}

static void
warn_of_machine(Size bytes)
{
	ereport(WARNING,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("penumbra.memory = %d MB is more than the %zu MB that this machine, its control group "
					"or vm.overcommit_memory = 2 allows",
					memory_mb, machine_memory_bytes() / (1024 * 1024)),
			 errdetail("Cached columns take up to %zu MB.", bytes / (1024 * 1024))));
}

/*
 * Any backend may scan any column, on any socket: pages are spread over the
 * memory of all nodes, so that scans have the bandwidth of all, instead of
 * lying where the worker that loaded them ran.  A policy that the server was
 * started with stays; a container may forbid all this.
 */
static void
spread_over_nodes(void)
{
	unsigned long nodes[1024 / (BITS_PER_BYTE * sizeof(unsigned long))] = {0};
	const unsigned long node_limit = BITS_PER_BYTE * sizeof(nodes);
	int			policy = MPOL_DEFAULT;

	if (syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0) != 0 || policy != MPOL_DEFAULT ||
		syscall(SYS_get_mempolicy, NULL, nodes, node_limit, NULL, MPOL_F_MEMS_ALLOWED) != 0 ||
		syscall(SYS_mbind, region_base, region_bytes, MPOL_INTERLEAVE, nodes, node_limit, 0) != 0)
		ereport(DEBUG1, (errmsg_internal("penumbra: cached columns are not spread over NUMA nodes")));
}

static Size
list_bytes_of(int class)
{
	return TYPEALIGN(REGION_UNIT_BYTES, class_part_bytes / class_page_bytes(class) * sizeof(uint32));
}

/*
 * Maps a range for a budget; false with errno: that cannot be had.  Without a file
 * (a limit on their size, a container that forbids them) the range is anonymous,
 * as which its size counts with vm.overcommit_memory = 2.
 */
static bool
map_range(Size budget)
{
	/* the largest class needs room for one page at least, and every part must keep pages aligned */
	class_part_bytes = TYPEALIGN((Size) 2 * 1024 * 1024, 2 * budget);
	region_bytes = class_part_bytes * REGION_CLASS_COUNT;
	for (int class = 0; class < REGION_CLASS_COUNT; class++)
		region_bytes += list_bytes_of(class);
	if (region_file >= 0 && ftruncate(region_file, (off_t) region_bytes) != 0)
	{
		close(region_file);
		region_file = -1;
	}
	region_base = mmap(NULL, region_bytes, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_NORESERVE | (region_file < 0 ? MAP_ANONYMOUS : 0), region_file, 0);
	if (region_base == MAP_FAILED)
		region_base = NULL;
	return region_base != NULL;
}

/* Reserves the range for as much of the budget as can be had. */
static void
reserve_range(void)
{
	int			error = 0;

	region_file = memfd_create("penumbra", MFD_CLOEXEC);
	while (budget_bytes >= REGION_MINIMUM_BYTES && !map_range(budget_bytes))
	{
		error = errno;
		budget_bytes /= 2;
	}
	errno = error;
	if (region_base == NULL)
		ereport(WARNING,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not reserve address space for penumbra.memory = %d MB: %m", memory_mb),
				 errdetail("No columns are cached.")));
	else if (error != 0)
		ereport(WARNING,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not reserve address space for penumbra.memory = %d MB: %m", memory_mb),
				 errdetail("Cached columns take up to %zu MB, for which %zu MB of address space are reserved.",
						   budget_bytes / (1024 * 1024), region_bytes / (1024 * 1024))));
}

/* What is configured, as far as this machine has it; SHOW goes on saying what is configured. */
static bool
choose_budget(void)
{
	Size		configured_bytes = (Size) memory_mb * 1024 * 1024;

	budget_bytes = fitting_bytes(configured_bytes);
	if (budget_bytes < configured_bytes)
		warn_of_machine(budget_bytes);
	if (memory_mb > 0 && budget_bytes < REGION_MINIMUM_BYTES)
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%zu MB are too little for one chunk of a table", budget_bytes / (1024 * 1024)),
				 errdetail("No columns are cached."),
				 errhint("Set penumbra.memory to at least %zu MB.", REGION_MINIMUM_BYTES / (1024 * 1024))));
	return budget_bytes >= REGION_MINIMUM_BYTES;
}

bool
region_reserve(void)
{
	char	   *lists;

	if (!choose_budget())
		return false;
	reserve_range();
	if (region_base == NULL)
		return false;
	/* a core file of a backend would hold all of the cache */
	(void) madvise(region_base, region_bytes, MADV_DONTDUMP);
	spread_over_nodes();
	lists = region_base + class_part_bytes * REGION_CLASS_COUNT;
	for (int class = 0; class < REGION_CLASS_COUNT; class++)
	{
		free_lists[class] = (uint32 *) lists;
		lists += list_bytes_of(class);
	}
	ereport(LOG,
			(errmsg("penumbra: up to %zu MB of memory for cached columns", budget_bytes / (1024 * 1024))));
	return true;
}

/* A control group's limit may be lowered while the server runs. */
void
region_follow_machine(void)
{
	uint32		fitting_mb = (uint32) (fitting_bytes(budget_bytes) / (1024 * 1024));

	if (pg_atomic_exchange_u32(&control->fitting_mb, fitting_mb) != fitting_mb &&
		fitting_mb < budget_bytes / (1024 * 1024))
		warn_of_machine(region_budget_bytes());
}

bool
region_is_reserved(void)
{
	return region_base != NULL;
}

Size
region_reserved_bytes(void)
{
	return region_base == NULL ? 0 : budget_bytes;
}

bool
region_is_configured(void)
{
	return control != NULL;
}

Size
region_budget_bytes(void)
{
	uint32		target_mb = pg_atomic_read_u32(&control->target_mb);
	uint32		fitting_mb = pg_atomic_read_u32(&control->fitting_mb);
	Size		limit_bytes = (Size) (target_mb == 0 ? fitting_mb : Min(target_mb, fitting_mb)) * 1024 * 1024;

	return Min(budget_bytes, Max(limit_bytes, REGION_MINIMUM_BYTES));
}

static Size
used_bytes_now(void)
{
	Size		used_bytes;

	SpinLockAcquire(&control->lock);
	used_bytes = control->used_bytes;
	SpinLockRelease(&control->lock);
	return used_bytes;
}

Size
region_excess_bytes(void)
{
	Size		used_bytes = used_bytes_now();

	return used_bytes - Min(used_bytes, region_budget_bytes());
}

Size
region_free_bytes(void)
{
	Size		budget = region_budget_bytes();

	return budget - Min(budget, used_bytes_now());
}

Size
region_shmem_bytes(void)
{
	return sizeof(RegionControl);
}

void
region_shmem_startup(void *shmem)
{
	control = shmem;
	memset(control, 0, sizeof(RegionControl));
	pg_atomic_init_u32(&control->target_mb, (uint32) memory_target_mb);
	pg_atomic_init_u32(&control->fitting_mb, PG_UINT32_MAX);
	SpinLockInit(&control->lock);
	if (region_base == NULL)
		return;
	for (int class = 0; class < REGION_CLASS_COUNT; class++)
		control->classes[class].page_limit =
			(uint32) Min(class_part_bytes / class_page_bytes(class), (Size) UINT32_MAX);
	if (madvise(region_base, region_bytes, MADV_REMOVE) != 0)
		ereport(FATAL,
				(errmsg("could not empty the memory for cached columns: %m")));
}

/* Takes a page's number off a class, within the budget; PG_UINT32_MAX: there is none.  Freed ones come first. */
static uint32
take_number(int class, Size cost_bytes, bool *is_new)
{
	RegionClass *size_class = &control->classes[class];
	Size		limit_bytes = region_budget_bytes();
	uint32		number = PG_UINT32_MAX;

	*is_new = false;
	SpinLockAcquire(&control->lock);
	if (control->used_bytes + cost_bytes <= limit_bytes)
	{
		if (size_class->free_count > 0)
			number = free_lists[class][--size_class->free_count];
		else if (size_class->next_page < size_class->page_limit)
		{
			number = size_class->next_page++;
			*is_new = true;
		}
	}
	if (number != PG_UINT32_MAX)
	{
		size_class->used_pages++;
		size_class->used_bytes += cost_bytes;
		control->used_bytes += cost_bytes;
	}
	SpinLockRelease(&control->lock);
	return number;
}

/* A page that has no place in the free list, as the kernel refused it, is never used: there are twice as many. */
static void
give_number(int class, Size cost_bytes, uint32 number, bool has_place)
{
	RegionClass *size_class = &control->classes[class];

	SpinLockAcquire(&control->lock);
	if (has_place)
		free_lists[class][size_class->free_count++] = number;
	size_class->used_pages--;
	size_class->used_bytes -= cost_bytes;
	control->used_bytes -= cost_bytes;
	SpinLockRelease(&control->lock);
}

/* Memory for a part of the range; false: the kernel has none. */
static bool
take_memory(const char *part, Size bytes)
{
	int			result;

	if (region_file < 0)
		return true;
	do
		result = fallocate(region_file, 0, part - region_base, (off_t) bytes);
	while (result != 0 && errno == EINTR);
	return result == 0;
}

/*
 * A list of freed pages never has more of them than there were, so a place for a
 * new page's number, wherever it will stand, is there when the page is.
 */
void *
region_allocate(Size bytes)
{
	int			class = region_class(bytes);
	Size		cost_bytes = region_cost_bytes(bytes);
	bool		is_new;
	bool		has_place;
	uint32		number;
	char	   *page;

	if (class >= REGION_CLASS_COUNT)
		return NULL;
	number = take_number(class, cost_bytes, &is_new);
	if (number == PG_UINT32_MAX)
		return NULL;
	has_place = !is_new || take_memory((char *) &free_lists[class][number], sizeof(uint32));
	page = region_base + class * class_part_bytes + number * class_page_bytes(class);
	if (has_place && take_memory(page, cost_bytes))
		return page;
	give_number(class, cost_bytes, number, has_place);
	return NULL;
}

void
region_free(void *page, Size bytes)
{
	int			class = region_class(bytes);
	Size		cost_bytes = region_cost_bytes(bytes);
	Size		offset = (char *) page - (region_base + class * class_part_bytes);

	/* before the budget has it back; failure would only mean that the kernel keeps it longer */
	(void) madvise(page, cost_bytes, MADV_REMOVE);
	give_number(class, cost_bytes, (uint32) (offset / class_page_bytes(class)), true);
}

void
region_get_stats(int class, RegionClassStats *stats)
{
	RegionClass *size_class = &control->classes[class];

	stats->page_bytes = class_page_bytes(class);
	SpinLockAcquire(&control->lock);
	stats->pages = size_class->used_pages;
	stats->used_bytes = size_class->used_bytes;
	SpinLockRelease(&control->lock);
}

void
region_populate(const void *page, Size bytes)
{
	/* before Linux 5.14 this fails and the pages are faulted in one by one */
	(void) madvise(unconstify(void *, page), region_cost_bytes(bytes), MADV_POPULATE_READ);
}

void
region_populate_for_write(void *page, Size bytes)
{
	(void) madvise(page, region_cost_bytes(bytes), MADV_POPULATE_WRITE);
}

/* ---------------------------------------------------------------- once ---- */

/* What this process has mapped: a bit per serial. */
static uint64 *populated_bits = NULL;
static uint64 populated_words = 0;
#define POPULATED_WORDS_MAX		(UINT64CONST(1) << 20)	/* 8 MB: 67 million segments */

/* Sets the bit of a serial; false: it was set, or there are too many. */
static bool
set_populated(uint64 serial)
{
	uint64		word = serial / 64;
	uint64		bit = UINT64CONST(1) << (serial % 64);

	if (word >= populated_words)
	{
		uint64		words = Max(populated_words * 2, Max(word + 1, 1024));

		if (word >= POPULATED_WORDS_MAX)
			return false;
		if (populated_bits == NULL)
			populated_bits = MemoryContextAllocZero(TopMemoryContext, words * sizeof(uint64));
		else
		{
			populated_bits = repalloc(populated_bits, words * sizeof(uint64));
			memset(populated_bits + populated_words, 0, (words - populated_words) * sizeof(uint64));
		}
		populated_words = words;
	}
	if (populated_bits[word] & bit)
		return false;
	populated_bits[word] |= bit;
	return true;
}

void
region_populate_once(uint64 serial, const void *page, Size bytes)
{
	if (set_populated(serial))
		region_populate(page, bytes);
}

void
region_note_populated(uint64 serial)
{
	(void) set_populated(serial);
}
