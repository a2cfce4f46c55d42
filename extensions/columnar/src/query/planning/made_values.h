/*-------------------------------------------------------------------------
 *
 * made_values.h
 *	  Arrays, rows and documents that a query makes of values, as these values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_MADE_VALUES_H
#define PENUMBRA_MADE_VALUES_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

typedef struct MadeValue
{
	List	   *parts;			/* not the constants among them */
	bool		is_ordered;		/* by the parts, one after the other, NULLs last */
	bool		may_be_null;	/* where the only part is; otherwise never */
} MadeValue;

/* Whether the node makes a value of parts, so that two such values are equal where all parts are, NULLs too. */
extern bool made_value_take_apart(Node *node, MadeValue *made);
/* Whether values are equal by the one collation where they are by the other. */
extern bool made_values_are_equal_alike(Oid collation, Oid other);
/* Whether a document's member of such a value is equal where it is, and has its text, or that of true and false. */
extern bool made_value_is_kept_as_text(Oid type);
/* A quick test: other nodes make none. */
extern bool made_value_may_be(const Node *node);

#endif							/* PENUMBRA_MADE_VALUES_H */
