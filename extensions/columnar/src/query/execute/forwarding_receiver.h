/*-------------------------------------------------------------------------
 *
 * forwarding_receiver.h
 *	  A receiver of rows that leaves begin and end of a result to another.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_FORWARDING_RECEIVER_H
#define PENUMBRA_FORWARDING_RECEIVER_H

#include "postgres.h"

#include "tcop/dest.h"

/* What such a receiver begins with. */
typedef struct ForwardingReceiver
{
	DestReceiver pub;
	DestReceiver *original;
} ForwardingReceiver;

/* Of so many bytes, which are 0 behind its begin; the original must outlive it. */
extern ForwardingReceiver *forwarding_receiver_create(Size bytes, DestReceiver *original,
													  bool (*receive) (TupleTableSlot *row, DestReceiver *self),
													  void (*startup) (DestReceiver *self, int operation,
																	   TupleDesc desc),
													  void (*shut_down) (DestReceiver *self));

#endif							/* PENUMBRA_FORWARDING_RECEIVER_H */
