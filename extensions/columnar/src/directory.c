#include "postgres.h"

#include "storage/shmem.h"

#include "directory.h"
#include "region.h"

Size
directory_shmem_bytes(void)
{
	return region_shmem_bytes();
}

void
directory_shmem_startup(void)
{
	bool		found;

	region_shmem_startup(ShmemInitStruct("penumbra region", region_shmem_bytes(), &found));
}
