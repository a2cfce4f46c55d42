/*-------------------------------------------------------------------------
 *
 * stock_ddl.h
 *	  COMPRESSION in the server's own DDL, mapped to the compressed types.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STOCK_DDL_H
#define PENUMBRA_STOCK_DDL_H

/* Installs the hook; from _PG_init. */
extern void stock_ddl_init(void);

#endif
