/*-------------------------------------------------------------------------
 *
 * pg_compat.h
 *	  Every difference between the supported PostgreSQL versions (15, 17, 18).
 *
 * No other file tests PG_VERSION_NUM.  Where a function changed its
 * signature, a wrapper here has the newest shape.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PG_COMPAT_H
#define PENUMBRA_PG_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "Penumbra supports PostgreSQL 15 to 18"
#endif

#endif							/* PENUMBRA_PG_COMPAT_H */
