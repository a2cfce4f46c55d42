#include "postgres.h"

#include "planner.h"

Size
refusal_shmem_bytes(void)
{
	return 0;
}

void
refusal_shmem_startup(void)
{
}
