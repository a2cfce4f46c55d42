/*-------------------------------------------------------------------------
 *
 * invalidation.h
 *	  Drops what DDL has made unreachable.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_INVALIDATION_H
#define PENUMBRA_INVALIDATION_H

extern void invalidation_install_hooks(void);

#endif							/* PENUMBRA_INVALIDATION_H */
