/*-------------------------------------------------------------------------
 *
 * row_documents.c
 *	  The query in which members of documents that are whole rows are these rows' columns:
 *
 *		SELECT to_jsonb(t) ->> 'a', to_jsonb(t) -> 'doc' ->> 'b' FROM t
 *
 *	  is
 *
 *		SELECT t.a::text, t.doc ->> 'b' FROM t
 *
 * A member's text is that of the column where a document keeps its value as text, a number or true and false: settings
 * say how dates and floats are written.  The text of a NULL is NULL in both, of a row that an outer join lacks, too.  A
 * column that is a document itself is the member where only members of that are read, as a JSON null has none.
 *
 * Where the query groups by rows or by documents of these, it has no columns to read.
 *
 * A document that is a key, to_jsonb(t) or to_jsonb(t) - 'a', is made of the row's columns if no outer join may lack
 * the row: jsonb_build_object('b', t.b, 'c', t.c).  Of that made_keys.c takes the key apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/attnum.h"
#include "access/tupdesc.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "query/paths/row_documents.h"
#include "query/planning/made_values.h"
#include "query/planning/query_tree.h"

/* What a member is read by; its name, if that is a constant. */
typedef struct Member
{
	Node	   *document;
	bool		is_text;
	char	   *name;
} Member;

/* False: the node reads no member, or element, of a document. */
static bool
reads_member(Node *node, Member *member)
{
	const Const *name;
	Oid			function;
	List	   *args;

	if (IsA(node, OpExpr))
	{
		function = get_opcode(((OpExpr *) node)->opno);
		args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else
		return false;
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSON_OBJECT_FIELD_TEXT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
			member->is_text = true;
			break;
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_ARRAY_ELEMENT:
			member->is_text = false;
			break;
		default:
			return false;
	}
	member->document = linitial(args);
	name = lsecond(args);
	member->name = !IsA(name, Const) || name->constisnull || name->consttype != TEXTOID ? NULL
		: TextDatumGetCString(name->constvalue);
	return true;
}

/* Of a document that is a whole row of the query level, that row; else NULL. */
static Var *
row_of_document(const Node *document)
{
	const FuncExpr *call = (const FuncExpr *) document;
	Var		   *row;

	if (!IsA(document, FuncExpr) || (call->funcid != F_TO_JSONB && call->funcid != F_TO_JSON &&
									 call->funcid != F_ROW_TO_JSON_RECORD))
		return NULL;
	row = linitial(call->args);
	return IsA(row, Var) && row->varattno == InvalidAttrNumber && row->varlevelsup == 0 ? row : NULL;
}

/* The number of the column among those of the same name, which is the only one; 0: it is none of these. */
static AttrNumber
number_of_name(const List *names, const char *wanted)
{
	AttrNumber	number = 0;
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(strVal(lfirst(lc)), wanted) != 0)
			continue;
		if (number != 0)
			return 0;
		number = foreach_current_index(lc) + 1;
	}
	return number;
}

/* The column of the name, as the row's Var; NULL: none is known. */
static Var *
column_of_row(const Query *query, const Var *row, const char *name)
{
	const RangeTblEntry *entry = rt_fetch(row->varno, query->rtable);
	Var		   *column = copyObject((Var *) row);

	/* the document of a table's or view's row has its names, whatever the query calls them */
	if ((entry->rtekind == RTE_RELATION || entry->rtekind == RTE_SUBQUERY) && row->vartype != RECORDOID)
	{
		Oid			relid = get_typ_typrelid(row->vartype);

		column->varattno = OidIsValid(relid) ? get_attnum(relid, name) : InvalidAttrNumber;
		if (column->varattno <= 0)
			return NULL;
		get_atttypetypmodcoll(relid, column->varattno, &column->vartype, &column->vartypmod, &column->varcollid);
	}
	else if (entry->rtekind == RTE_SUBQUERY)
	{
		const Node *expr;

		column->varattno = number_of_name(entry->eref->colnames, name);
		if (column->varattno == 0)
			return NULL;
		expr = (const Node *) get_tle_by_resno(entry->subquery->targetList, column->varattno)->expr;
		column->vartype = exprType(expr);
		column->vartypmod = exprTypmod(expr);
		column->varcollid = exprCollation(expr);
	}
	else
		return NULL;
	column->varattnosyn = column->varattno;
	return column;
}

/* The text of the column's member of a document; NULL: it is not that of the column. */
static Node *
text_of_column(Var *column, Oid collation)
{
	Node	   *text;

	if (!made_value_is_kept_as_text(getBaseType(column->vartype)))
		return NULL;
	text = coerce_to_target_type(NULL, (Node *) column, column->vartype, TEXTOID, -1, COERCION_EXPLICIT,
								 COERCE_EXPLICIT_CAST, -1);
	return text == NULL || exprCollation(text) == collation ? text
		: (Node *) makeRelabelType((Expr *) text, TEXTOID, -1, collation, COERCE_EXPLICIT_CAST);
}

/* What stands for the node; NULL: the node itself. */
static Node *
column_of_member(const Query *query, Node *node)
{
	Member		outer;
	Member		inner;
	Var		   *row;
	Var		   *column;
	Node	   *copy;

	if (!reads_member(node, &outer))
		return NULL;
	row = row_of_document(outer.document);
	if (row != NULL && outer.is_text && outer.name != NULL)
	{
		column = column_of_row(query, row, outer.name);
		return column == NULL ? NULL : text_of_column(column, exprCollation(node));
	}
	if (exprType(outer.document) != JSONBOID || !reads_member(outer.document, &inner) || inner.is_text ||
		inner.name == NULL || (row = row_of_document(inner.document)) == NULL)
		return NULL;
	column = column_of_row(query, row, inner.name);
	if (column == NULL || column->vartype != JSONBOID)
		return NULL;
	copy = copyObject(node);
	linitial(IsA(copy, OpExpr) ? ((OpExpr *) copy)->args : ((FuncExpr *) copy)->args) = column;
	return copy;
}

static Node *
members_mutator(Node *node, void *context)
{
	Node	   *column;

	/* subqueries are levels of their own */
	if (node == NULL || IsA(node, Query))
		return node;
	column = column_of_member(context, node);
	return column != NULL ? column : expression_tree_mutator(node, members_mutator, context);
}

static bool
has_member_walker(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	return column_of_member(context, node) != NULL || expression_tree_walker(node, has_member_walker, context);
}

/* ---------------------------------------------------------------- keys */

/* A document of a whole row, and the members that are taken from it. */
typedef struct RowDocument
{
	Var		   *row;
	List	   *deleted;
} RowDocument;

static bool
is_row_document(Node *node, RowDocument *document)
{
	const OpExpr *deletion = (const OpExpr *) node;
	const Const *name;

	if (!IsA(node, OpExpr))
	{
		document->deleted = NIL;
		document->row = row_of_document(node);
		return document->row != NULL && ((FuncExpr *) node)->funcid == F_TO_JSONB;
	}
	if (get_opcode(deletion->opno) != F_JSONB_DELETE_JSONB_TEXT)
		return false;
	name = lsecond(deletion->args);
	if (!IsA(name, Const) || name->constisnull || !is_row_document(linitial(deletion->args), document))
		return false;
	document->deleted = lappend(document->deleted, makeString(TextDatumGetCString(name->constvalue)));
	return true;
}

/* The names of the row's columns, as its document has them; NIL: they are not known. */
static List *
names_of_row(const Query *query, const Var *row)
{
	List	   *names = NIL;
	TupleDesc	desc;

	if (row->vartype == RECORDOID)
		return rt_fetch(row->varno, query->rtable)->eref->colnames;
	desc = lookup_rowtype_tupdesc_noerror(row->vartype, -1, true);
	for (int i = 0; desc != NULL && i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			names = lappend(names, makeString(pstrdup(NameStr(TupleDescAttr(desc, i)->attname))));
	}
	if (desc != NULL)
		ReleaseTupleDesc(desc);
	return names;
}

/* NULL: the node is none, or has other members than columns that are known. */
static Node *
object_of_columns(const Query *query, Node *node)
{
	RowDocument document;
	List	   *args = NIL;
	ListCell   *lc;

	if (!is_row_document(node, &document) ||
		!query_tree_is_never_null((Node *) query->jointree, document.row->varno))
		return NULL;
	foreach(lc, names_of_row(query, document.row))
	{
		const char *name = strVal(lfirst(lc));
		Var		   *column;

		if (list_member(document.deleted, lfirst(lc)))
			continue;
		column = column_of_row(query, document.row, name);
		if (column == NULL)
			return NULL;
		args = lappend(args, makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(name), false,
									   false));
		args = lappend(args, column);
	}
	return args == NIL || list_length(args) > FUNC_MAX_ARGS ? NULL
		: (Node *) makeFuncExpr(F_JSONB_BUILD_OBJECT_ANY, JSONBOID, args, InvalidOid, DEFAULT_COLLATION_OID,
								COERCE_EXPLICIT_CALL);
}

static Node *
documents_mutator(Node *node, void *context)
{
	Node	   *object;

	if (node == NULL || IsA(node, Query))
		return node;
	object = object_of_columns(context, node);
	return object != NULL ? object : expression_tree_mutator(node, documents_mutator, context);
}

static bool
has_row_walker(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno == InvalidAttrNumber && ((Var *) node)->varlevelsup == 0;
	return expression_tree_walker(node, has_row_walker, context);
}

/* Whether a group has a row, or something of one, that is no column's. */
static bool
groups_by_rows(const Query *query)
{
	List	   *keys = get_sortgrouplist_exprs(query->groupClause, query->targetList);
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (has_row_walker(members_mutator(lfirst(lc), (void *) query), NULL))
			return true;
	}
	return false;
}

/* Whether keys are documents of rows, and no group has a row otherwise. */
static bool
has_documents_for_keys(const Query *query)
{
	bool		has_any = false;
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->rowMarks != NIL || query->setOperations != NULL ||
		query->groupingSets != NIL)
		return false;
	foreach(lc, query_tree_clauses(query))
	{
		Node	   *key = compat_key_of_groups(query, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc),
																			   query->targetList));

		has_any |= object_of_columns(query, key) != NULL;
		if (has_row_walker(documents_mutator(key, (void *) query), NULL))
			return false;
	}
	return has_any;
}

static bool
can_replace(const Query *query)
{
	return query->commandType == CMD_SELECT && query->rowMarks == NIL && query->setOperations == NULL &&
		query->groupingSets == NIL && !groups_by_rows(query);
}

static bool
has_any_walker(Node *node, void *context)
{
	Query	   *query = (Query *) node;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, has_any_walker, context);
	return has_documents_for_keys(query) ||
		(can_replace(query) && query_tree_walker(query, has_member_walker, query,
												 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES)) ||
		query_tree_walker(query, has_any_walker, context, 0);
}

static Node *
replace_mutator(Node *node, void *context)
{
	Query	   *query = (Query *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Query))
		return expression_tree_mutator(node, replace_mutator, context);
	if (can_replace(query))
		query = query_tree_mutator(query, members_mutator, query, 0);
	if (has_documents_for_keys(query))
		query = query_tree_mutator(query, documents_mutator, query, 0);
	return (Node *) query_tree_mutator(query, replace_mutator, context, 0);
}

Query *
row_documents_replace(Query *query)
{
	return query->commandType == CMD_SELECT && !query->hasModifyingCTE && has_any_walker((Node *) query, NULL)
		? castNode(Query, replace_mutator((Node *) query, NULL)) : NULL;
}
