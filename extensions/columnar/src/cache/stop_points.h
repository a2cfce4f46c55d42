/*-------------------------------------------------------------------------
 *
 * stop_points.h
 *	  Named places where a test can hold a backend, to reproduce a race
 *	  without sleeping.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_STOP_POINTS_H
#define PENUMBRA_STOP_POINTS_H

#include "postgres.h"

extern char *penumbra_stop_points;

extern void stop_points_define_settings(void);
extern void stop_point_wait(const char *name);

/* No content lock, LWLock or spinlock may be held here. */
#define STOP_POINT(name) \
	do { \
		if (unlikely(penumbra_stop_points[0] != '\0')) \
			stop_point_wait(name); \
	} while (0)

#endif							/* PENUMBRA_STOP_POINTS_H */
