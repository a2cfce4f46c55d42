/*-------------------------------------------------------------------------
 *
 * modules.h
 *	  The executable segments of this process, from /proc/self/maps.
 *
 * Everything here may run in a signal handler.  dl_iterate_phdr() may not: it
 * takes the loader's lock, which the interrupted code may hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_MODULES_H
#define BACKTRACE_MODULES_H

#include "postgres.h"

#include "writer.h"

#define MODULE_PATH_BYTES		256
#define BUILD_ID_BYTES_MAX		32

typedef struct Module
{
	uintptr_t	start;
	uintptr_t	end;
	uintptr_t	offset;			/* of start in the file */
	uintptr_t	image;			/* where the file's first byte is mapped; 0: unknown */
	char		path[MODULE_PATH_BYTES];
} Module;

extern int	modules_read(Module *modules, int modules_max, const uintptr_t *wanted, int wanted_count);
extern const Module *modules_find(const Module *modules, int count, uintptr_t pc);
extern void module_write(const Module *module, Writer *writer);

#endif							/* BACKTRACE_MODULES_H */
