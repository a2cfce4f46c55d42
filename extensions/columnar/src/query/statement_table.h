/*-------------------------------------------------------------------------
 *
 * statement_table.h
 *	  Totals of statements in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STATEMENT_TABLE_H
#define PENUMBRA_STATEMENT_TABLE_H

#include "postgres.h"

#include "query/execute/statement_run.h"

/* penumbra.max_statements; the library is preloaded. */
extern void statement_table_define_settings(void);

/* Asks for shared memory and the lock, and initialises them. */
extern void statement_table_shmem_request(void);
extern void statement_table_shmem_startup(void);

/* By the setting; and whether there is one. */
extern bool statement_table_is_wanted(void);
extern bool statement_table_exists(void);

/* Adds an execution that has ended; raises no error. */
extern void statement_table_add(const StatementRun *run);

extern void statement_table_reset(void);

#endif							/* PENUMBRA_STATEMENT_TABLE_H */
