/*-------------------------------------------------------------------------
 *
 * modules.c
 *	  The executable segments of this process, from /proc/self/maps.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "guard.h"
#include "modules.h"

#define NOTES_BYTES_MAX		1024

/* A file read line by line, into a buffer on the stack. */
typedef struct Lines
{
	int			fd;
	size_t		position;
	size_t		filled;
	char		buffer[2048];
	char		line[MODULE_PATH_BYTES + 128];	/* the rest of a longer one is dropped */
} Lines;

/* Uses read() and memory that is there: stdio and allocation are not allowed in a signal handler. */
static bool
next_line(Lines *lines)
{
	size_t		used = 0;

	for (;;)
	{
		char		c;

		if (lines->position == lines->filled)
		{
			ssize_t		got;

			do
				got = read(lines->fd, lines->buffer, sizeof(lines->buffer));
			while (got < 0 && errno == EINTR);
			if (got <= 0)
				return false;
			lines->filled = got;
			lines->position = 0;
		}
		c = lines->buffer[lines->position++];
		if (c == '\n')
			break;
		if (used < sizeof(lines->line) - 1)
			lines->line[used++] = c;
	}
	lines->line[used] = '\0';
	return true;
}

static uintptr_t
read_hex(const char **text)
{
	uintptr_t	value = 0;

	for (;; (*text)++)
	{
		char		c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (c - 'a' + 10);
		else
			return value;
	}
}

static const char *
skip_field(const char *text)
{
	while (*text && *text != ' ')
		text++;
	while (*text == ' ')
		text++;
	return text;
}

/* "START-END PERMISSIONS OFFSET DEVICE INODE PATH" */
static bool
parse_line(const char *line, Module *module)
{
	const char *permissions;

	module->start = read_hex(&line);
	if (*line++ != '-')
		return false;
	module->end = read_hex(&line);
	permissions = line = skip_field(line);
	line = skip_field(line);
	module->offset = read_hex(&line);
	line = skip_field(skip_field(skip_field(line)));
	strlcpy(module->path, *line ? line : "[anonymous]", sizeof(module->path));
	return strlen(permissions) > 2 && permissions[2] == 'x';
}

static bool
holds_any(const Module *module, const uintptr_t *wanted, int wanted_count)
{
	for (int i = 0; i < wanted_count; i++)
	{
		if (wanted[i] >= module->start && wanted[i] < module->end)
			return true;
	}
	return false;
}

/* All executable segments, or those that hold a wanted address; ordered by address. */
int
modules_read(Module *modules, int modules_max, const uintptr_t *wanted, int wanted_count)
{
	Lines		lines = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	Module		first = {0};	/* the segment with the beginning of the file that is being listed */
	int			count = 0;

	if (lines.fd < 0)
		return 0;
	while (count < modules_max && next_line(&lines))
	{
		Module	   *module = &modules[count];
		bool		executable = parse_line(lines.line, module);

		if (module->offset == 0)
			first = *module;
		module->image = strcmp(first.path, module->path) == 0 ? first.start : 0;
		if (executable && (wanted == NULL || holds_any(module, wanted, wanted_count)))
			count++;
	}
	close(lines.fd);
	return count;
}

const Module *
modules_find(const Module *modules, int count, uintptr_t pc)
{
	for (int i = 0; i < count; i++)
	{
		if (pc >= modules[i].start && pc < modules[i].end)
			return &modules[i];
	}
	return NULL;
}

/* Returns the size of the build-id in the notes, and where it begins. */
static int
find_build_id(const uint8 *notes, size_t bytes, const uint8 **build_id)
{
	size_t		position = 0;

	while (position + sizeof(ElfW(Nhdr)) <= bytes)
	{
		const ElfW(Nhdr) * note = (const ElfW(Nhdr) *) (notes + position);
		size_t		name = position + sizeof(*note);
		size_t		content = name + TYPEALIGN(4, (size_t) note->n_namesz);

		if (content > bytes || content + note->n_descsz > bytes)
			return 0;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			memcmp(notes + name, "GNU", 4) == 0 && note->n_descsz <= BUILD_ID_BYTES_MAX)
		{
			*build_id = notes + content;
			return note->n_descsz;
		}
		position = content + TYPEALIGN(4, (size_t) note->n_descsz);
	}
	return 0;
}

/*
 * From the file's image in memory, so that it is the build-id of what runs and
 * not of what was installed since.  Copies under the guard: the memory may be
 * anything.
 */
static int
read_build_id(const Module *module, uint8 *build_id)
{
	ElfW(Ehdr) header;
	uintptr_t	first_address = 0;
	bool		first_known = false;

	if (module->image == 0 || !guarded_copy(&header, module->image, sizeof(header)) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
		return 0;
	for (int i = 0; i < header.e_phnum; i++)
	{
		ElfW(Phdr) segment;

		if (!guarded_copy(&segment, module->image + header.e_phoff + i * sizeof(segment), sizeof(segment)))
			return 0;
		if (segment.p_type == PT_LOAD && !first_known)
		{
			first_address = segment.p_vaddr - segment.p_offset;
			first_known = true;
		}
		/* PT_NOTE may stand before PT_LOAD; the notes of the first page are at their file offset. */
		if (segment.p_type == PT_NOTE)
		{
			union
			{
				uint32		alignment;
				uint8		bytes[NOTES_BYTES_MAX];
			}			notes;
			size_t		bytes = Min(segment.p_filesz, NOTES_BYTES_MAX);
			uintptr_t	address = first_known ? segment.p_vaddr - first_address : segment.p_offset;
			const uint8 *found;
			int			found_bytes;

			if (!guarded_copy(notes.bytes, module->image + address, bytes))
				continue;
			found_bytes = find_build_id(notes.bytes, bytes, &found);
			if (found_bytes > 0)
			{
				memcpy(build_id, found, found_bytes);
				return found_bytes;
			}
		}
	}
	return 0;
}

/* Writes "module START-END OFFSET BUILD-ID PATH", with - where there is no build id. */
void
module_write(const Module *module, Writer *writer)
{
	uint8		build_id[BUILD_ID_BYTES_MAX];
	int			build_id_bytes = read_build_id(module, build_id);

	writer_string(writer, "module ");
	writer_hex(writer, module->start);
	writer_char(writer, '-');
	writer_hex(writer, module->end);
	writer_char(writer, ' ');
	writer_hex(writer, module->offset);
	writer_char(writer, ' ');
	if (build_id_bytes > 0)
		writer_hex_bytes(writer, build_id, build_id_bytes);
	else
		writer_char(writer, '-');
	writer_char(writer, ' ');
	writer_string(writer, module->path);
	writer_char(writer, '\n');
}
