/*-------------------------------------------------------------------------
 *
 * deparser.h
 *	  How EXPLAIN writes the expressions of a pipeline.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DEPARSER_H
#define PENUMBRA_DEPARSER_H

#include "postgres.h"

#include "commands/explain.h"

#include "pg_compat.h"

#include "query/pipeline/pipeline.h"

/* Where there are several relations, columns have their names before them. */
typedef struct Deparser
{
	List	   *names;
	List	   *context;
	List	   *expression_columns;
	bool		has_prefix;
} Deparser;

extern Deparser deparser_of_pipeline(const Pipeline *pipeline);
extern char *deparser_text(Node *node, const Deparser *deparser);
/* Properties of EXPLAIN: a list of expressions, conditions that are all true. */
extern void deparser_explain_list(const char *label, List *exprs, const Deparser *deparser, ExplainState *es);
extern void deparser_explain_conditions(const char *label, List *exprs, const Deparser *deparser, ExplainState *es);

#endif							/* PENUMBRA_DEPARSER_H */
