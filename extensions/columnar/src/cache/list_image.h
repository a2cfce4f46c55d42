/*-------------------------------------------------------------------------
 *
 * list_image.h
 *	  The rows of a set-returning function as one value: a list of the engine's.
 *
 * unnest(array), generate_subscripts(), with what the array has at these, and the functions
 * that give the elements of a document's array, or the keys and values of an object, or the
 * matches of a constant pattern, depend on nothing but their argument.  What they return for
 * a tuple is cached as a column of lists (PenumbraListHead), of the type bytea.  Elements that
 * are documents or arrays have no form in the engine, but what an expression gives for each has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_LIST_IMAGE_H
#define PENUMBRA_LIST_IMAGE_H

#include "postgres.h"

#include "executor/executor.h"
#include "nodes/primnodes.h"

#include "penumbra/engine.h"

/*
 * Of jsonb_path_query_array() with one of these paths there is a list if all elements are objects: of them records
 * are made, and PostgreSQL raises an error where one is something else.
 */
#define LIST_IMAGE_PATH_OF_OBJECTS	"strict $[*]"
#define LIST_IMAGE_PATH_OF_OBJECT	"strict $"

/* The type of lists as columns. */
#define LIST_IMAGE_TYPE		BYTEAOID

/*
 * The elements that such an expression gives or, where they are documents or arrays, reads: the call of a
 * function, or a column of its rows.  The list has the expression's values then.  NULL: there are none.  Of what
 * else it reads nothing is said.
 */
extern Node *list_image_elements(const Node *expr);
#define list_image_is_set(expr) (list_image_elements((const Node *) (expr)) != NULL)
/* The call. */
extern FuncExpr *list_image_call(const Node *expr);
/* What reads of the call what the elements read of theirs. */
extern Node *list_image_elements_of(FuncExpr *call, const Node *elements);
/* The same, by unnest() where it splits a text: the one that is cached. */
extern FuncExpr *list_image_canonical_call(const Node *expr);
/* The column of a call in FROM, if that is of documents or arrays or not the only one; NULL: it has no such column. */
extern Node *list_image_column(FuncExpr *call, AttrNumber column);
/* Whether the elements are matches of a pattern, which is whether making a list may raise an error. */
extern bool list_image_has_matches(const Node *elements);
/* Whether it raises errors for some arguments, of which the list is PENUMBRA_LIST_REFUSED. */
extern bool list_image_may_be_refused(const Node *expr);
/* The expression with another node in place of its elements. */
extern Node *list_image_replace_elements(Node *expr, Node *with);
/* What stands for the element, where an expression is evaluated for each. */
extern Node *list_image_one_element(const Node *expr);

typedef struct ListMaker ListMaker;

/* Expressions of elements are evaluated in the context. */
extern ListMaker *list_maker_create(Node *expr, ExprContext *econtext);
extern ExprState *list_maker_argument(const ListMaker *maker);
/* A bytea in the current context, of the call's argument, which is not NULL. */
extern Datum list_maker_make(const ListMaker *maker, Datum argument);

#endif							/* PENUMBRA_LIST_IMAGE_H */
