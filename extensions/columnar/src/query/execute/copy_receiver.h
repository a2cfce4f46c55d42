/*-------------------------------------------------------------------------
 *
 * copy_receiver.h
 *	  Rows of COPY (query) TO STDOUT, in text and CSV format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COPY_RECEIVER_H
#define PENUMBRA_COPY_RECEIVER_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "tcop/dest.h"

/*
 * In place of COPY's receiver, which must outlive it; options: of the command, which PostgreSQL has accepted.
 * NULL: the rows are PostgreSQL's to send.
 */
extern DestReceiver *copy_receiver_create(DestReceiver *original, List *options);

#endif							/* PENUMBRA_COPY_RECEIVER_H */
