/*-------------------------------------------------------------------------
 *
 * machine.c
 *	  The memory that this server can have.
 *
 * A limit holds for a control group and all groups in it: a container's, a
 * slice's, a systemd unit's.  In a container of control groups v1 the path that
 * the process is told may be that of the host, while the container sees its own
 * group as the root; so files that are not there are no limit, and the root is
 * looked at, too.
 *
 * With vm.overcommit_memory = 2 the kernel counts what processes ask for, and
 * cached columns, against a limit that may be far below the machine's memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <unistd.h>

#include "cache/policy/machine.h"

/* A value of vm.overcommit_memory. */
#define OVERCOMMIT_NEVER 2

/* Where limits are: v1 has a mount for each controller, and v2 may be mounted beside these. */
typedef struct GroupLimit
{
	const char *controllers;
	const char *mount;
	const char *file;
} GroupLimit;

static const GroupLimit limits[] = {
	{"", "", "memory.max"},
	{"", "", "memory.high"},
	{"", "/unified", "memory.max"},
	{"", "/unified", "memory.high"},
	{"memory", "/memory", "memory.limit_in_bytes"},
};

/* What is no number, as "max", is no limit. */
static Size
read_limit(const char *path)
{
	FILE	   *file = fopen(path, "r");
	unsigned long long number;
	Size		limit = SIZE_MAX;

	if (file == NULL)
		return SIZE_MAX;
	if (fscanf(file, "%llu", &number) == 1)
		limit = (Size) number;
	fclose(file);
	return limit;
}

/* Of a group and those around it, whose names are the group's without its last one. */
static Size
read_limits(const char *mounts, const GroupLimit *kind, const char *group)
{
	Size		limit = SIZE_MAX;
	int			length = strlen(group);

	while (length >= 0)
	{
		char		path[2 * MAXPGPATH];

		if (snprintf(path, sizeof(path), "%s%s%.*s/%s", mounts, kind->mount, length, group, kind->file) <
			(int) sizeof(path))
			limit = Min(limit, read_limit(path));
		do
			length--;
		while (length > 0 && group[length] != '/');
	}
	return limit;
}

/* A line is "number:controllers:group". */
Size
machine_group_limit(const char *groups, const char *mounts)
{
	FILE	   *file = fopen(groups, "r");
	char		line[2 * MAXPGPATH];
	Size		limit = SIZE_MAX;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
	{
		char	   *controllers = strchr(line, ':');
		char	   *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

		if (group == NULL)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		for (int i = 0; i < lengthof(limits); i++)
		{
			if (strcmp(controllers + 1, limits[i].controllers) == 0)
				limit = Min(limit, read_limits(mounts, &limits[i], group));
		}
	}
	if (file != NULL)
		fclose(file);
	return limit;
}

Size
machine_commit_limit(const char *proc)
{
	char		path[MAXPGPATH];
	char		line[256];
	unsigned long long limit_kb;
	Size		limit = SIZE_MAX;
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/sys/vm/overcommit_memory", proc);
	if (read_limit(path) != OVERCOMMIT_NEVER)
		return SIZE_MAX;
	snprintf(path, sizeof(path), "%s/meminfo", proc);
	file = fopen(path, "r");
	while (file != NULL && limit == SIZE_MAX && fgets(line, sizeof(line), file) != NULL)
	{
		if (sscanf(line, "CommitLimit: %llu kB", &limit_kb) == 1)
			limit = (Size) limit_kb * 1024;
	}
	if (file != NULL)
		fclose(file);
	return limit;
}

Size
machine_memory_bytes(void)
{
	Size		bytes = (Size) sysconf(_SC_PHYS_PAGES) * (Size) sysconf(_SC_PAGESIZE);

	bytes = Min(bytes, machine_group_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
	return Min(bytes, machine_commit_limit("/proc"));
}

int
machine_default_mb(void)
{
	Size		share_mb = machine_memory_bytes() / MACHINE_SHARE / (1024 * 1024);

	return (int) Min(Max(share_mb, 16), INT_MAX / 2);
}
