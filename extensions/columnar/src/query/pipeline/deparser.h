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

/* Writes a pipeline's expressions as EXPLAIN shows them. */
typedef struct Deparser
{
	List	   *names;			/* as in the pipeline */
	List	   *context;		/* of deparse_expression() */
	List	   *expression_columns; /* as in the pipeline */
	bool		has_prefix;		/* columns have their relations' names before them: there are several */
} Deparser;

extern Deparser deparser_of_pipeline(const Pipeline *pipeline);
/* A new string. */
extern char *deparser_text(Node *node, const Deparser *deparser);
/* A property of EXPLAIN: the expressions, if there are any. */
extern void deparser_explain_list(const char *label, List *exprs, const Deparser *deparser, ExplainState *es);
/* The same of conditions: one expression, their conjunction. */
extern void deparser_explain_conditions(const char *label, List *exprs, const Deparser *deparser, ExplainState *es);

#endif							/* PENUMBRA_DEPARSER_H */
