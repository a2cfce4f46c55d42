/*-------------------------------------------------------------------------
 *
 * machine_test.c
 *	  Limits of control groups, and of what the kernel promises, in directories
 *	  that look like the kernel's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cache/policy/machine.h"

/* No server's. */
#undef printf

typedef struct GroupCase
{
	const char *name;
	const char *groups;			/* of /proc/self/cgroup; NULL: there is none */
	const char *files[4][2];	/* below the mounts */
	Size		expected;
} GroupCase;

#define MB ((Size) 1024 * 1024)
#define LONG_NAME \
	"/1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
#define LONG_PATH LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME LONG_NAME

static const GroupCase cases[] = {
	{"no control groups", NULL, {{NULL}}, SIZE_MAX},
	{"an empty list", "", {{"memory.max", "5242880\n"}}, SIZE_MAX},
	{"a container sees its own group as the root", "0::/\n", {{"memory.max", "5242880\n"}}, 5 * MB},
	{"a systemd unit", "0::/system.slice/postgresql@15-main.service\n",
	{{"system.slice/postgresql@15-main.service/memory.max", "7340032\n"}, {"system.slice/memory.max", "max\n"}}, 7 * MB},
	{"the least of those around it", "0::/a/b/c\n",
	{{"a/b/c/memory.max", "9437184\n"}, {"a/b/memory.max", "3145728\n"}, {"a/memory.max", "6291456\n"}}, 3 * MB},
	{"the root counts, too", "0::/a/b\n", {{"a/b/memory.max", "max\n"}, {"memory.max", "4194304\n"}}, 4 * MB},
	{"memory.high, past which a group is slowed down", "0::/a\n",
	{{"a/memory.max", "9437184\n"}, {"a/memory.high", "2097152\n"}}, 2 * MB},
	{"no limit", "0::/a\n", {{"a/memory.max", "max\n"}, {"a/memory.high", "max\n"}}, SIZE_MAX},
	{"v1", "9:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n",
	{{"memory/docker/abc/memory.limit_in_bytes", "8388608\n"}, {"cpu/x/memory.limit_in_bytes", "1048576\n"}}, 8 * MB},
	{"v1, the group around it", "4:memory:/docker/abc\n",
	{{"memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n"},
	{"memory/docker/memory.limit_in_bytes", "8388608\n"}}, 8 * MB},
	{"v1 in a container that is told the host's path", "4:memory:/docker/abc\n",
	{{"memory/memory.limit_in_bytes", "8388608\n"}}, 8 * MB},
	{"v1 without a limit", "4:memory:/a\n", {{"memory/a/memory.limit_in_bytes", "9223372036854771712\n"}},
	UINT64CONST(9223372036854771712)},
	{"v2 beside v1", "4:memory:/a\n0::/b\n",
	{{"memory/a/memory.limit_in_bytes", "8388608\n"}, {"unified/b/memory.max", "6291456\n"}}, 6 * MB},
	{"other controllers of such a name", "4:memory2:/a\n5:name=memory:/a\n",
	{{"memory/a/memory.limit_in_bytes", "8388608\n"}}, SIZE_MAX},
	{"strange names", "0::/a b/\"c\"/\xc3\xa4:1%s\n", {{"a b/\"c\"/\xc3\xa4:1%s/memory.max", "5242880\n"}}, 5 * MB},
	{"lines that are none", "nothing\n1:\n:\n::\n0::/a", {{"a/memory.max", "5242880"}}, 5 * MB},
	{"numbers that are none", "0::/a\n", {{"a/memory.max", "many\n"}, {"memory.max", ""}}, SIZE_MAX},
	{"a path without end", "0::" LONG_PATH LONG_PATH LONG_PATH "\n", {{"memory.max", "5242880\n"}}, 5 * MB},
};

static void
write_file(const char *path, const char *content)
{
	char		part[256];
	FILE	   *file;

	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
	{
		(void) snprintf(part, sizeof(part), "%.*s", (int) (slash - path), path);
		(void) mkdir(part, 0700);
	}
	file = fopen(path, "w");
	if (file == NULL || fputs(content, file) < 0 || fclose(file) != 0)
		exit(1);
}

typedef struct CommitCase
{
	const char *name;
	const char *mode;			/* NULL: there is no such file */
	const char *meminfo;
	Size		expected;
} CommitCase;

static const CommitCase commit_cases[] = {
	{"the kernel promises more than it has", "0\n", "MemTotal: 8192 kB\nCommitLimit:     4096 kB\n", SIZE_MAX},
	{"it promises all that is asked for", "1\n", "CommitLimit:     4096 kB\n", SIZE_MAX},
	{"it promises so much", "2\n", "MemTotal: 8192 kB\nCommitLimit:     4096 kB\nCommitted_AS:    512 kB\n", 4 * MB},
	{"nothing", "2\n", "CommitLimit: 0 kB\n", 0},
	{"it says no limit", "2\n", "MemTotal: 8192 kB\n", SIZE_MAX},
	{"no number", "2\n", "CommitLimit: many kB\n", SIZE_MAX},
	{"no mode", NULL, "CommitLimit:     4096 kB\n", SIZE_MAX},
	{"no meminfo", "2\n", NULL, SIZE_MAX},
};

static int
check(const char *name, Size limit, Size expected)
{
	printf("%s: %s\n", limit == expected ? "ok" : "FAILED", name);
	return limit != expected;
}

static int
check_group(int number, const GroupCase *group)
{
	char		mounts[64];
	char		path[256];

	(void) snprintf(mounts, sizeof(mounts), "mounts%d", number);
	(void) mkdir(mounts, 0700);
	if (group->groups != NULL)
		write_file("groups", group->groups);
	for (int f = 0; f < 4 && group->files[f][0] != NULL; f++)
	{
		(void) snprintf(path, sizeof(path), "%s/%s", mounts, group->files[f][0]);
		write_file(path, group->files[f][1]);
	}
	return check(group->name, machine_group_limit(group->groups != NULL ? "groups" : "nothing", mounts),
				 group->expected);
}

static int
check_commit(int number, const CommitCase *commit)
{
	char		proc[64];
	char		path[256];

	(void) snprintf(proc, sizeof(proc), "proc%d", number);
	(void) snprintf(path, sizeof(path), "%s/sys/vm/overcommit_memory", proc);
	if (commit->mode != NULL)
		write_file(path, commit->mode);
	(void) snprintf(path, sizeof(path), "%s/meminfo", proc);
	if (commit->meminfo != NULL)
		write_file(path, commit->meminfo);
	return check(commit->name, machine_commit_limit(proc), commit->expected);
}

int
main(void)
{
	int			failed = 0;

	for (int i = 0; i < (int) lengthof(cases); i++)
		failed += check_group(i, &cases[i]);
	for (int i = 0; i < (int) lengthof(commit_cases); i++)
		failed += check_commit(i, &commit_cases[i]);
	return failed > 0;
}
