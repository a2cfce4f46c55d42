/*-------------------------------------------------------------------------
 *
 * row_documents.h
 *	  The query in which members of documents that are whole rows are these rows' columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ROW_DOCUMENTS_H
#define PENUMBRA_ROW_DOCUMENTS_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* NULL: it reads no such member. */
extern Query *row_documents_replace(Query *query);

#endif							/* PENUMBRA_ROW_DOCUMENTS_H */
