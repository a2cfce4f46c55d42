/*-------------------------------------------------------------------------
 *
 * cached_expression.h
 *	  Expressions whose values are cached as columns of their table are: paths
 *	  of documents, tests of arrays, functions of columns.
 *
 * An expression of one table's columns has an entry in shared memory and with
 * it a key, by which the cache calls it as it calls any column.  Its value must
 * follow from the tuple alone.  A load computes it for rows that no query would;
 * one that raises an error then is not cached.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_CACHED_EXPRESSION_H
#define PENUMBRA_CACHED_EXPRESSION_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"
#include "utils/relcache.h"

#include "cache/column_key.h"

extern void cached_expression_shmem_request(void);
extern void cached_expression_shmem_startup(void);

/* What becomes of an expression without a key. */
typedef enum ExpressionNeed
{
	EXPRESSION_KNOWN,			/* nothing */
	EXPRESSION_USEFUL,			/* it gets one if needed ones have room left */
	EXPRESSION_NEEDED,			/* it gets one */
	EXPRESSION_LOADED			/* it gets one, in place of one that nobody has loaded if there is no other */
} ExpressionNeed;

/*
 * The expression's key; its Vars, of one relation, may have any number.  False: it
 * cannot be cached, has failed lately, or there are too many.
 */
extern bool cached_expression_find(Oid relid, Node *expr, ExpressionNeed need, ColumnKey *key);
/* A load of it begins. */
extern void cached_expression_note_load(ColumnKey key);
/* The expression raised the error.  If that is one of a row's values, or a limit, it is not found for an hour. */
extern void cached_expression_note_error(ColumnKey key, int sqlstate);
/* Whether that was so within the last hour, though queries may have wanted it until then. */
extern bool cached_expression_has_failed(ColumnKey key);
/* Of columns that a query would have read, takes out expressions that none would have before; how many are left. */
extern int	cached_expression_filter(ColumnKey *columns, int ncolumns);

/* What the key stands for, with Vars of relation 1, until another is asked for; NULL: nothing, or not right for it. */
extern Expr *cached_expression_get(ColumnKey key, TupleDesc desc);
/* As column_key_facts(). */
extern ColumnFacts cached_expression_facts(ColumnKey key, TupleDesc desc);
/* The attributes that it reads; NULL: it stands for nothing. */
extern Bitmapset *cached_expression_attributes(ColumnKey key);
/* As SQL writes it. */
extern char *cached_expression_text(ColumnKey key, Relation rel);

/* The expression that has the number in the relation; one that does not exist where none has. */
extern ColumnKey cached_expression_key(Oid relid, int number);
/* The same of all, by place. */
extern void cached_expression_keys(Oid relid, ColumnKey keys[COLUMN_KEY_EXPRESSIONS]);
/* The relation of which this is the descriptor. */
extern Oid	cached_expression_relid(TupleDesc desc);

/* Writes the expressions to their file if they have changed; the server's start reads it. */
extern void cached_expression_save(void);
/* The expressions of the relation are forgotten; InvalidOid: those of all. */
extern void cached_expression_forget(Oid database, Oid relid);

#endif							/* PENUMBRA_CACHED_EXPRESSION_H */
