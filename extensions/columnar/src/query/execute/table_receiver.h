/*-------------------------------------------------------------------------
 *
 * table_receiver.h
 *	  Rows of CREATE TABLE AS, inserted in batches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TABLE_RECEIVER_H
#define PENUMBRA_TABLE_RECEIVER_H

#include "postgres.h"

#include "tcop/dest.h"

/*
 * In place of CREATE TABLE AS's receiver, which must outlive it and makes the
 * table.  Only for queries that call no volatile function: one could look at
 * the table, and miss the rows of the batch.
 */
extern DestReceiver *table_receiver_create(DestReceiver *original);

#endif							/* PENUMBRA_TABLE_RECEIVER_H */
