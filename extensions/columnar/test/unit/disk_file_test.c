/*-------------------------------------------------------------------------
 *
 * disk_file_test.c
 *	  The disk cache's files without a server: what is read is what was written, or
 *	  is not taken, whichever system call fails.
 *
 * Each test runs in a process and an empty directory of its own, because
 * disk_file.c remembers names, the lock and its asynchronous reads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/disk/disk_file.h"
#include "cache/disk/disk_pack.h"
#include "faults.h"

/* The C library's, not the server's */
#undef printf
#undef fprintf
#undef snprintf

#define require(condition) \
	do { \
		if (!(condition)) \
		{ \
			printf("  %s:%d: does not hold: %s (call %ld failed, kind %d, errno %d)\n", \
				   __FILE__, __LINE__, #condition, fault_at, fault_kind, errno); \
			fflush(stdout); \
			_exit(1); \
		} \
	} while (0)

#define EXTENTS			12
#define EXTENT_BYTES_MAX	((Size) 40 * 1024)
#define FILE_BYTES		((uint64) 128 * 1024)

static uint64 random_state = 1;

static uint32
random_number(void)
{
	random_state = random_state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (uint32) (random_state >> 33);
}

/* Whole units, as direct I/O wants. */
static char *
allocate_units(Size bytes)
{
	void	   *memory;

	require(posix_memalign(&memory, DISK_UNIT_BYTES, disk_cost_bytes(bytes)) == 0);
	memset(memory, 0, disk_cost_bytes(bytes));
	return memory;
}

typedef struct Saved
{
	char	   *data;
	Size		bytes;
	DiskExtent	extent;
	bool		is_written;
} Saved;

static void
make_extents(Saved *saved)
{
	for (int i = 0; i < EXTENTS; i++)
	{
		saved[i].bytes = 1 + random_number() % EXTENT_BYTES_MAX;
		saved[i].data = allocate_units(saved[i].bytes);
		for (Size b = 0; b < saved[i].bytes; b++)
			saved[i].data[b] = (char) random_number();
	}
}

static void
free_extents(Saved *saved)
{
	for (int i = 0; i < EXTENTS; i++)
		free(saved[i].data);
}

/* What is called fine is what was written. */
static DiskFault
read_and_compare(const Saved *saved, bool ahead)
{
	DiskRead	read = {.extent = saved->extent,.memory = allocate_units(saved->bytes)};
	DiskFault	fault;

	if (ahead)
		disk_begin_read(&read);
	fault = ahead ? disk_end_read(&read) : disk_read(&saved->extent, read.memory);
	if (fault == DISK_FINE)
		require(memcmp(read.memory, saved->data, saved->bytes) == 0);
	disk_await_reads();
	free(read.memory);
	return fault;
}

static void
write_extents(DiskWriter *writer, Saved *saved)
{
	for (int i = 0; i < EXTENTS; i++)
		saved[i].is_written = disk_writer_append(writer, saved[i].data, saved[i].bytes, &saved[i].extent);
}

static void
open_empty(void)
{
	require(system("rm -rf penumbra") == 0);
	require(disk_open_directories() == NULL);
}

/* ---------------------------------------------------------------- tests --- */

static void
test_what_is_written_is_read(void)
{
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};
	DiskFile   *files;
	int			count;

	open_empty();
	make_extents(saved);
	write_extents(&writer, saved);
	require(disk_writer_sync(&writer));
	for (int i = 0; i < EXTENTS; i++)
	{
		require(saved[i].is_written);
		require(saved[i].extent.bytes == saved[i].bytes && !disk_is_packed(&saved[i].extent));
		require(read_and_compare(&saved[i], false) == DISK_FINE);
		require(read_and_compare(&saved[i], true) == DISK_FINE);
	}
	count = disk_list_files(&files);
	require(count == (int) writer.number && count > 1);
	for (int i = 0; i < count; i++)
	{
		require(files[i].number == (uint32) i + 1);
		require(files[i].bytes > 0 && files[i].bytes <= FILE_BYTES);
	}
	require(disk_unlink_file(1) && disk_unlink_file(1));
	require(read_and_compare(&saved[0], false) == DISK_UNREADABLE && errno == ENOENT);
	require(read_and_compare(&saved[0], true) == DISK_UNREADABLE);
	free(files);
	disk_writer_close(&writer);
	free_extents(saved);
}

/* Writes, replaces and reads while one system call fails; gives their number. */
static long
run_with_fault(void)
{
	static const char old_note[] = "old";
	static const char new_note[] = "new and longer";
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};
	Saved		later[EXTENTS] = {{0}};
	char	   *note;
	Size		bytes;
	DiskFile   *files;
	int			count;
	bool		is_replaced;
	long		calls;
	long		at = fault_at;

	fault_at = 0;
	open_empty();
	require(disk_replace_file("penumbra/note", old_note, sizeof(old_note)));
	make_extents(saved);
	make_extents(later);
	fault_calls = 0;
	fault_at = at;
	write_extents(&writer, saved);
	(void) disk_writer_sync(&writer);
	is_replaced = disk_replace_file("penumbra/note", new_note, sizeof(new_note));
	note = disk_slurp_file("penumbra/note", &bytes);
	if (note != NULL && bytes == sizeof(new_note))
		require(memcmp(note, new_note, bytes) == 0);
	free(note);
	for (int i = 0; i < EXTENTS; i++)
	{
		DiskFault	faults[] = {DISK_UNREADABLE, DISK_UNREADABLE};

		for (int ahead = 0; saved[i].is_written && ahead < 2; ahead++)
			faults[ahead] = read_and_compare(&saved[i], ahead == 1);
		/* an interrupted call is made again */
		require(fault_kind != FAULT_INTERRUPTED || (faults[0] == DISK_FINE && faults[1] == DISK_FINE));
	}
	calls = fault_calls;
	require(fault_kind != FAULT_INTERRUPTED || is_replaced);
	fault_at = 0;
	/* a full disk leaves no empty files */
	count = disk_list_files(&files);
	for (int i = 0; i < count; i++)
		require(files[i].bytes > 0);
	free(files);

	/* nothing fails any more: what was said to be done is, and work goes on in files of their own */
	note = disk_slurp_file("penumbra/note", &bytes);
	require(note != NULL);
	if (is_replaced)
		require(bytes == sizeof(new_note) && memcmp(note, new_note, bytes) == 0);
	else
		require((bytes == sizeof(old_note) && memcmp(note, old_note, bytes) == 0) ||
				(bytes == sizeof(new_note) && memcmp(note, new_note, bytes) == 0));
	free(note);
	write_extents(&writer, later);
	require(disk_writer_sync(&writer));
	for (int i = 0; i < EXTENTS; i++)
	{
		require(later[i].is_written && read_and_compare(&later[i], i % 2 == 0) == DISK_FINE);
		if (saved[i].is_written)
			require(read_and_compare(&saved[i], i % 2 != 0) == DISK_FINE);
	}
	disk_writer_close(&writer);
	free_extents(saved);
	free_extents(later);
	return calls;
}

static void
test_a_failing_call(void)
{
	for (fault_kind = 0; fault_kind < FAULT_KINDS; fault_kind++)
	{
		long		calls;

		fault_at = 0;
		calls = run_with_fault();
		require(calls > 50);
		for (long call = 1; call <= calls; call++)
		{
			fault_at = call;
			(void) run_with_fault();
		}
	}
}

static void
change_byte(const DiskExtent *extent, uint64 at, unsigned char mask)
{
	char		path[64];
	unsigned char byte;
	int			fd;

	snprintf(path, sizeof(path), "%s/%08X.columns", disk_files(), extent->file);
	fd = open(path, O_RDWR);
	at += extent->unit * DISK_UNIT_BYTES;
	require(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= mask;
	require(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

static void
test_damage_is_seen(void)
{
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};

	open_empty();
	make_extents(saved);
	write_extents(&writer, saved);
	require(disk_writer_sync(&writer));
	for (int round = 0; round < 2000; round++)
	{
		int			i = random_number() % EXTENTS;
		uint64		at = random_number() % saved[i].bytes;
		unsigned char mask = 1 << random_number() % 8;

		change_byte(&saved[i].extent, at, mask);
		require(read_and_compare(&saved[i], round % 2 == 0) == DISK_DAMAGED);
		change_byte(&saved[i].extent, at, mask);
	}
	for (int i = 0; i < EXTENTS; i++)
	{
		Size		padding = disk_cost_bytes(saved[i].bytes) - saved[i].bytes;

		/* nobody reads what fills a unit */
		if (padding > 0)
			change_byte(&saved[i].extent, saved[i].bytes + random_number() % padding, 255);
		require(read_and_compare(&saved[i], false) == DISK_FINE);
	}
	disk_writer_close(&writer);
	free_extents(saved);
}

static void
test_files_that_end_before(void)
{
	DiskWriter	writer = {.fd = -1,.limit_bytes = UINT64CONST(1) << 30};
	Saved		saved[EXTENTS] = {{0}};
	char		path[64];

	open_empty();
	make_extents(saved);
	write_extents(&writer, saved);
	require(disk_writer_sync(&writer));
	snprintf(path, sizeof(path), "%s/%08X.columns", disk_files(), writer.number);
	for (uint64 bytes = writer.bytes; bytes > 0; bytes -= Min(bytes, 1000))
	{
		require(truncate(path, bytes) == 0);
		for (int i = 0; i < EXTENTS; i++)
		{
			uint64		begin = saved[i].extent.unit * DISK_UNIT_BYTES;
			bool		is_whole = begin + disk_cost_bytes(saved[i].bytes) <= bytes;
			DiskFault	fault = read_and_compare(&saved[i], i % 2 == 0);

			require(fault == (is_whole ? DISK_FINE : DISK_UNREADABLE));
			require(is_whole || errno == 0);
		}
	}
	disk_writer_close(&writer);
	free_extents(saved);
}

/* The machine has no events left for this process: all is read when it is ended, and ahead when there are some. */
static void
test_no_events(void)
{
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};

	open_empty();
	make_extents(saved);
	write_extents(&writer, saved);
	for (int refused = 1; refused >= 0; refused--)
	{
		fault_refuses_events = refused != 0;
		for (int i = 0; i < EXTENTS; i++)
		{
			DiskRead	read = {.extent = saved[i].extent,.memory = allocate_units(saved[i].bytes)};

			disk_begin_read(&read);
			require(read.is_pending == (refused == 0));
			require(disk_end_read(&read) == DISK_FINE);
			require(memcmp(read.memory, saved[i].data, saved[i].bytes) == 0);
			free(read.memory);
		}
	}
	disk_writer_close(&writer);
	free_extents(saved);
}

/* More than the system is asked for at once: the others are begun when these have ended. */
static void
test_many_reads_ahead(void)
{
	enum
	{
		READS = 700
	};
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};
	DiskRead   *reads = calloc(READS, sizeof(DiskRead));

	open_empty();
	make_extents(saved);
	write_extents(&writer, saved);
	for (int i = 0; i < READS; i++)
	{
		reads[i].extent = saved[i % EXTENTS].extent;
		reads[i].memory = allocate_units(reads[i].extent.bytes);
		disk_begin_read(&reads[i]);
		if (i % 50 == 0)
			disk_poll_reads();
	}
	for (int i = READS; i-- > 0;)
	{
		require(disk_end_read(&reads[i]) == DISK_FINE);
		require(memcmp(reads[i].memory, saved[i % EXTENTS].data, saved[i % EXTENTS].bytes) == 0);
	}
	/* memory may go only then */
	for (int i = 0; i < READS; i++)
		disk_begin_read(&reads[i]);
	disk_await_reads();
	for (int i = 0; i < READS; i++)
	{
		require(!reads[i].is_pending);
		free(reads[i].memory);
	}
	free(reads);
	disk_writer_close(&writer);
	free_extents(saved);
}

static bool
is_refused(const char *with)
{
	const char *problem = disk_open_directories();

	require(problem != NULL && strstr(problem, with) != NULL);
	return true;
}

static void
test_directories_that_are_refused(void)
{
	open_empty();
	require(chmod("penumbra", 0770) == 0 && is_refused("can be written by others"));
	require(chmod("penumbra", 0700) == 0 && disk_open_directories() == NULL);
	require(rename("penumbra", "elsewhere") == 0 && symlink("elsewhere", "penumbra") == 0);
	require(is_refused("is not a directory"));
	require(unlink("penumbra") == 0 && close(open("penumbra", O_CREAT | O_WRONLY, 0600)) == 0);
	require(is_refused("is not a directory"));
	require(unlink("penumbra") == 0);
	require(mkdir("penumbra", 0700) == 0 && symlink("../elsewhere", disk_files()) == 0);
	require(is_refused("is not a directory"));
	require(unlink(disk_files()) == 0 && disk_open_directories() == NULL);
	require(system("rm -f penumbra/*/lock && ln -s /dev/null penumbra/*/lock 2>/dev/null || "
				   "ln -s /dev/null \"$(echo penumbra/pgsql*)/lock\"") == 0);
	require(is_refused("could not open file"));
}

static void
test_a_directory_elsewhere(void)
{
	char		here[MAXPGPATH / 4];
	char		path[MAXPGPATH];

	require(getcwd(here, sizeof(here)) != NULL);
	disk_directory_setting = "relative";
	require(is_refused("is not an absolute path"));
	snprintf(path, sizeof(path), "%s/disk/", here);
	disk_directory_setting = path;
	require(is_refused("could not stat directory"));
	require(access("disk", F_OK) != 0);
	require(symlink("/tmp", "disk") == 0 && is_refused("is not a directory"));
	require(unlink("disk") == 0 && mkdir("disk", 0700) == 0);
	require(disk_open_directories() == NULL);
	require(strncmp(disk_files(), path, strlen(path)) == 0);
}

/* A link that comes after the directories were opened: nothing is done where it leads. */
static void
require_nothing_is_followed(Saved *saved)
{
	DiskWriter	other = {.fd = -1,.number = 100,.limit_bytes = FILE_BYTES};
	DiskExtent	extent;
	DiskFile   *files;
	char		note[MAXPGPATH];
	Size		bytes;

	snprintf(note, sizeof(note), "%s/note", disk_files());
	require(read_and_compare(&saved[0], false) == DISK_UNREADABLE && errno != ENOENT);
	require(read_and_compare(&saved[0], true) == DISK_UNREADABLE);
	require(disk_list_files(&files) == -1);
	require(!disk_unlink_file(1));
	require(!disk_writer_append(&other, saved[0].data, saved[0].bytes, &extent));
	require(!disk_replace_file(note, "new", 4));
	require(disk_slurp_file(note, &bytes) == NULL);
	require(!disk_unlink(note));
}

static void
test_links_that_come_later(const char *parent)
{
	DiskWriter	writer = {.fd = -1,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};
	DiskFile   *files;
	char		note[MAXPGPATH];
	char		path[MAXPGPATH];
	char		here[MAXPGPATH / 2];
	char		moved[MAXPGPATH];
	char	   *content;
	Size		bytes;

	require(getcwd(here, sizeof(here)) != NULL);
	snprintf(moved, sizeof(moved), "%s/moved", here);
	open_empty();
	snprintf(note, sizeof(note), "%s/note", disk_files());
	require(disk_replace_file(note, "old", 4));
	make_extents(saved);
	write_extents(&writer, saved);
	require(disk_writer_sync(&writer));
	for (int step = 0; step < 2; step++)
	{
		snprintf(path, sizeof(path), "%s", step == 0 ? parent : disk_files());
		require(rename(path, moved) == 0);
		require(symlink(moved, path) == 0);
		require_nothing_is_followed(saved);
		require(unlink(path) == 0 && rename(moved, path) == 0);
		content = disk_slurp_file(note, &bytes);
		require(content != NULL && bytes == 4 && memcmp(content, "old", 4) == 0);
		free(content);
		require(disk_list_files(&files) == (int) writer.number);
		free(files);
		for (int i = 0; i < EXTENTS; i++)
			require(read_and_compare(&saved[i], i % 2 == 0) == DISK_FINE);
	}
	disk_writer_close(&writer);
	free_extents(saved);
}

static void
test_links_put_later(void)
{
	test_links_that_come_later("penumbra");
}

/* Above the directory of the setting they are the administrator's. */
static void
test_links_above_the_setting(void)
{
	char		here[MAXPGPATH / 4];
	char		path[MAXPGPATH];

	require(getcwd(here, sizeof(here)) != NULL);
	require(mkdir("mounted", 0700) == 0 && mkdir("mounted/disk", 0700) == 0 && symlink("mounted", "linked") == 0);
	snprintf(path, sizeof(path), "%s/linked/disk/", here);
	disk_directory_setting = path;
	test_links_that_come_later("mounted/disk");
}

static void
test_one_server_has_the_lock(void)
{
	int			to_child[2];
	int			to_parent[2];
	char		byte = 0;
	pid_t		child;

	open_empty();
	require(pipe(to_child) == 0 && pipe(to_parent) == 0);
	child = fork();
	if (child == 0)
	{
		/* it inherited the parent's lock, but not the right to it again by another descriptor */
		bool		is_locked = disk_open_directories() != NULL;

		require(write(to_parent[1], &byte, 1) == 1 && read(to_child[0], &byte, 1) == 1);
		_exit(is_locked ? 0 : 1);
	}
	require(read(to_parent[0], &byte, 1) == 1 && write(to_child[1], &byte, 1) == 1);
	{
		int			status;

		require(waitpid(child, &status, 0) == child && status == 0);
	}
	require(disk_open_directories() == NULL);
}

static void
test_files_of_others(void)
{
	DiskWriter	writer = {.fd = -1,.number = 6,.limit_bytes = FILE_BYTES};
	Saved		saved[EXTENTS] = {{0}};
	DiskFile   *files;
	char		path[64];

	open_empty();
	for (int i = 0; i < 4; i++)
	{
		static const char *const names[] = {"00000001.columns~", "1.columns", "0000000G.columns", "00000000.columns"};

		snprintf(path, sizeof(path), "%s/%s", disk_files(), names[i]);
		require(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
	}
	snprintf(path, sizeof(path), "%s/00000003.columns", disk_files());
	require(mkdir(path, 0700) == 0);
	require(disk_list_files(&files) == 0);
	free(files);
	/* a number that is taken is not written over; the next is used */
	snprintf(path, sizeof(path), "%s/00000007.columns", disk_files());
	require(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
	make_extents(saved);
	require(!disk_writer_append(&writer, saved[0].data, saved[0].bytes, &saved[0].extent) && errno == EEXIST);
	require(disk_writer_append(&writer, saved[0].data, saved[0].bytes, &saved[0].extent));
	require(saved[0].extent.file == 8);
	require(disk_list_files(&files) == 2 && files[0].number == 7 && files[0].bytes == 0 && files[1].number == 8);
	free(files);
	disk_writer_close(&writer);
	free_extents(saved);
}

/* AddressSanitizer watches the buffers. */
static void
test_packed_segments(void)
{
	Size		bytes = 50000;
	char	   *data = malloc(bytes);
	char	   *packed = malloc(DISK_PACKED_BYTES_MAX(bytes));
	Size		packed_bytes;

	for (Size b = 0; b < bytes; b++)
		data[b] = (char) (b % 50 < 40 ? b % 50 : random_number());
	require(disk_pack(data, bytes, bytes / 8 + 1, packed) == 0);
	packed_bytes = disk_pack(data, bytes, bytes / 8, packed);
	require(packed_bytes > 0 && packed_bytes < bytes);
	for (int round = 0; round < 20000; round++)
	{
		/* of just these sizes */
		char	   *input = malloc(packed_bytes);
		char	   *output = malloc(bytes);

		memcpy(input, packed, packed_bytes);
		if (round > 0)
			input[random_number() % packed_bytes] ^= (char) (1 << random_number() % 8);
		if (disk_unpack(input, packed_bytes, output, bytes) && round == 0)
			require(memcmp(output, data, bytes) == 0);
		else
			require(round > 0);
		free(input);
		free(output);
	}
	require(!disk_unpack(packed, packed_bytes, data, bytes - 1));
	require(!disk_unpack(packed, packed_bytes - 1, data, bytes));
	free(data);
	free(packed);
}

static const struct
{
	const char *name;
	void		(*run) (void);
}			tests[] = {
	{"what is written is read, at once and ahead", test_what_is_written_is_read},
	{"each system call fails once, in each way", test_a_failing_call},
	{"damage is seen", test_damage_is_seen},
	{"files that end before", test_files_that_end_before},
	{"no events are left for reads ahead", test_no_events},
	{"more reads ahead than there is room for", test_many_reads_ahead},
	{"directories that are refused", test_directories_that_are_refused},
	{"a directory elsewhere", test_a_directory_elsewhere},
	{"links put later are not followed", test_links_put_later},
	{"links above the directory of the setting are", test_links_above_the_setting},
	{"one server has the lock", test_one_server_has_the_lock},
	{"files of others", test_files_of_others},
	{"packed segments, also damaged", test_packed_segments},
};

int
main(void)
{
	int			failed = 0;

	for (int i = 0; i < (int) lengthof(tests); i++)
	{
		char		directory[] = "tier-XXXXXX";
		char		command[64];
		pid_t		child;
		int			status = 1;

		if (mkdtemp(directory) == NULL)
			return 1;
		fflush(stdout);
		child = fork();
		if (child == 0)
		{
			umask(0);
			if (chdir(directory) != 0)
				_exit(1);
			tests[i].run();
			exit(0);
		}
		(void) waitpid(child, &status, 0);
		printf("%s: %s\n", status == 0 ? "ok" : "FAILED", tests[i].name);
		failed += status != 0;
		snprintf(command, sizeof(command), "rm -rf %s", directory);
		(void) !system(command);
	}
	return failed > 0;
}
