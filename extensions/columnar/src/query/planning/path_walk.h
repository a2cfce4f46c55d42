/*-------------------------------------------------------------------------
 *
 * path_walk.h
 *	  What PostgreSQL's paths read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_PATH_WALK_H
#define PENUMBRA_PATH_WALK_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* The path that it reads, if it reads one. */
extern const Path *path_walk_input(const Path *path);
/* Whether it reads tables by their indexes only. */
extern bool path_walk_is_looked_up(const Path *path);
/* How many rows come from the tables, and from the joins between them. */
extern double path_walk_rows(const Path *path);
/* Whether an index finds the rows of the relation, of a table that is not small: they may be all that joins look at. */
extern bool path_walk_rows_are_found(const RelOptInfo *rel);

#endif							/* PENUMBRA_PATH_WALK_H */
