/*-------------------------------------------------------------------------
 *
 * client_receiver.h
 *	  Rows to the client, written into messages without a copy per value.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CLIENT_RECEIVER_H
#define PENUMBRA_CLIENT_RECEIVER_H

#include "postgres.h"

#include "tcop/dest.h"

/* In place of the client's receiver, which must outlive it; formats: of each column, 0 text or 1 binary. */
extern DestReceiver *client_receiver_create(DestReceiver *original, const int16 *formats);

#endif							/* PENUMBRA_CLIENT_RECEIVER_H */
