/*-------------------------------------------------------------------------
 *
 * server_stubs.c
 *	  See server_stubs.h.
 *
 *-------------------------------------------------------------------------
 */
#include "server_stubs.h"

#include "utils/memutils.h"

/* Before each allocation, which is malloc()'s; 16 bytes keep its alignment. */
typedef struct Allocation
{
	struct Allocation *previous;
	struct Allocation *next;
} Allocation;

MemoryContext CurrentMemoryContext = NULL;
sigjmp_buf *stub_catcher = NULL;

static Allocation *newest = NULL;

void *
palloc(Size size)
{
	Allocation *allocation = malloc(sizeof(Allocation) + size);

	fuzz_require(AllocSizeIsValid(size) && allocation != NULL);
	allocation->previous = newest;
	allocation->next = NULL;
	if (newest != NULL)
		newest->next = allocation;
	newest = allocation;
	return allocation + 1;
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void
pfree(void *pointer)
{
	Allocation *allocation = (Allocation *) pointer - 1;

	if (allocation->previous != NULL)
		allocation->previous->next = allocation->next;
	if (allocation->next != NULL)
		allocation->next->previous = allocation->previous;
	else
		newest = allocation->previous;
	free(allocation);
}

void *
repalloc(void *pointer, Size size)
{
	void	   *moved = palloc(size);

	/* it is only called to make something smaller */
	memcpy(moved, pointer, size);
	pfree(pointer);
	return moved;
}

char *
psprintf(const char *fmt,...)
{
	return palloc0(1);
}

StubMark
stub_mark(void)
{
	return newest;
}

void
stub_free_since(StubMark mark)
{
	while (newest != mark)
		pfree(newest + 1);
}

/* The states live as long as the process. */
void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *callback)
{
}

bool
errstart(int elevel, const char *domain)
{
	return elevel >= ERROR;
}

pg_attribute_cold bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	fuzz_require(stub_catcher != NULL);
	siglongjmp(*stub_catcher, 1);
}

int
errcode(int sqlerrcode)
{
	return 0;
}

int
errmsg(const char *fmt,...)
{
	return 0;
}

int
errmsg_internal(const char *fmt,...)
{
	return 0;
}

int
errdetail(const char *fmt,...)
{
	return 0;
}

int
errdetail_internal(const char *fmt,...)
{
	return 0;
}

int
errhint(const char *fmt,...)
{
	return 0;
}

#ifdef USE_ASSERT_CHECKING
void
ExceptionalCondition(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: failed assertion: %s\n", file, line, condition);
	abort();
}
#endif
