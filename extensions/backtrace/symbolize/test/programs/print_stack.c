#define _GNU_SOURCE
#include "print_stack.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
print_build_id(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const char *note = (const char *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const char *end = note + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		while (note + sizeof(ElfW(Nhdr)) < end)
		{
			const		ElfW(Nhdr) *header = (const ElfW(Nhdr) *) note;
			const unsigned char *value =
				(const unsigned char *) note + sizeof(*header) + (header->n_namesz + 3) / 4 * 4;

			if (header->n_type == NT_GNU_BUILD_ID)
			{
				for (unsigned b = 0; b < header->n_descsz; b++)
					printf("%02x", value[b]);
				return;
			}
			note = (const char *) value + (header->n_descsz + 3) / 4 * 4;
		}
	}
	printf("-");
}

static int
print_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	char		path[4096];
	long		page = sysconf(_SC_PAGESIZE);

	(void) size;
	(void) argument;
	snprintf(path, sizeof(path), "%s", info->dlpi_name);
	if (path[0] == '\0')
	{
		ssize_t		length = readlink("/proc/self/exe", path, sizeof(path) - 1);

		path[length < 0 ? 0 : length] = '\0';
	}
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t	start = info->dlpi_addr + segment->p_vaddr;
		uintptr_t	into_page = start % page;

		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
			continue;
		printf("module %lx-%lx %lx ", (long) (start - into_page), (long) (start + segment->p_memsz),
			   (long) (segment->p_offset - into_page));
		print_build_id(info);
		printf(" %s\n", path);
	}
	return 0;
}

void
print_stack(void)
{
	void	   *frames[64];
	int			count = backtrace(frames, 64);

	dl_iterate_phdr(print_module, NULL);
	for (int i = 0; i < count; i++)
		printf("frame %lx %s\n", (long) frames[i], "return");
	printf("\n");
	fflush(stdout);
}
