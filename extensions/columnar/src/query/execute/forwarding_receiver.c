/*-------------------------------------------------------------------------
 *
 * forwarding_receiver.c
 *	  A receiver of rows that leaves begin and end of a result to another.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "query/execute/forwarding_receiver.h"

static void
destroy(DestReceiver *self)
{
	pfree(self);
}

ForwardingReceiver *
forwarding_receiver_create(Size bytes, DestReceiver *original,
						   bool (*receive) (TupleTableSlot *row, DestReceiver *self),
						   void (*startup) (DestReceiver *self, int operation, TupleDesc desc),
						   void (*shut_down) (DestReceiver *self))
{
	ForwardingReceiver *receiver = palloc0(bytes);

	receiver->pub = (DestReceiver) {
		.receiveSlot = receive,
		.rStartup = startup,
		.rShutdown = shut_down,
		.rDestroy = destroy,
		.mydest = original->mydest,
	};
	receiver->original = original;
	return receiver;
}
