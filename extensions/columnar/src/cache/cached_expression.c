/*-------------------------------------------------------------------------
 *
 * cached_expression.c
 *	  Expressions whose values are cached as columns of their table are.
 *
 * They consist of functions of PostgreSQL's own that depend on nothing but their
 * arguments: who loads may be a superuser, and calls nobody else's.  A load computes
 * them for rows that no query would.  An expression that raised an error for a row
 * is no column for a while, and queries are planned without it.
 *
 * An entry is the text of the expression's node tree, its Vars numbered by
 * attribute: a renamed column changes nothing.  Entries are found by a hash of the
 * text.  A table has few numbers, since each takes room in every chunk.  An entry
 * that no query has looked for in a while makes room for another, and for one that
 * somebody loads does any entry that queries wanted and nobody has loaded.  The other
 * gets a serial of its own: a key of the former stands for nothing then, and no
 * segment has its facts.  The texts are in a file that is read at the server's start; who writes
 * numbers to another file writes it first.
 *
 * Facts: the text's hash says which expression it is.  The definitions of its
 * functions do not change while a server runs; one of another version makes another
 * hash, and so does another version of a collation.  Collations that are not
 * deterministic are refused.  Of the attributes type, type modifier and collation are
 * in the tree, and compared with the descriptor; what rows older than an attribute
 * have is hashed in.
 *
 * Lock: the expressions' lock, held for no longer than a walk over the entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <inttypes.h>
#include <xxhash.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "cache/cache.h"
#include "cache/cached_expression.h"
#include "cache/disk/disk_file.h"
#include "cache/list_image.h"
#include "cache/value_image.h"
#include "pg_compat.h"

/* Beside the list of requested columns: a line for each expression. */
#define FILE_NAME		DISK_DIRECTORY "/expressions"
/* Database, relation, number, hash of the text, which follows. */
#define LINE			"%u %u %d %" PRIx64 " "

#define ENTRIES			1024
#define TEXT_BYTES_MAX	1400
/* One that was not looked for so long gives its place to another. */
#define UNUSED_MS		(10 * 60 * 1000)
/* So long one that raised an error is not tried again: its row may be gone then. */
#define FAILED_MS		(60 * 60 * 1000)
/* Of a table's numbers, how many are kept for what is inside of documents and arrays. */
#define KEPT_NUMBERS	(COLUMN_KEY_EXPRESSIONS / 2)

typedef struct Entry
{
	Oid			database;		/* InvalidOid: free */
	Oid			relid;
	int			number;
	uint32		serial;
	uint64		hash;			/* of the text */
	pg_atomic_uint64 used_at;	/* TimestampTz */
	TimestampTz failed_at;		/* 0: never */
	bool		is_wanted;		/* a query would have read it from the cache */
	bool		is_loaded;		/* or was when the server stopped, or was to be */
} Entry;

/* Texts are apart, so that a walk over the entries reads little. */
typedef struct ExpressionControl
{
	uint32		next_serial;
	int			entry_count;	/* of these some may be free again */
	Entry		entries[ENTRIES];
	char		texts[ENTRIES][TEXT_BYTES_MAX + 1];
} ExpressionControl;

static ExpressionControl *control = NULL;

#define TRANCHE			"penumbra expressions"
#define expression_lock (&GetNamedLWLockTranche(TRANCHE)->lock)

/* An entry as this process has read it. */
typedef struct KnownExpression
{
	uint32		serial;			/* key */
	Expr	   *expr;			/* NULL: it is damaged */
	uint64		hash;			/* of the text, and of the versions of collations */
	Bitmapset  *attributes;
} KnownExpression;

static HTAB *known = NULL;
static MemoryContext known_context = NULL;

void
cached_expression_shmem_request(void)
{
	RequestAddinShmemSpace(sizeof(ExpressionControl));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

/* ---------------------------------------------------------------- which can be cached */

/* InvalidOid: the node calls no function, or not by itself. */
static Oid
called_function(Node *node)
{
	if (IsA(node, FuncExpr))
		return ((FuncExpr *) node)->funcid;
	if (!IsA(node, OpExpr))
		return InvalidOid;
	set_opfuncid((OpExpr *) node);
	return ((OpExpr *) node)->opfuncid;
}

/* Functions of PostgreSQL's that depend on nothing but their arguments and raise no error, whatever these are. */
static bool
never_fails(Oid function)
{
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_ARRAY_ELEMENT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_EXISTS:
		case F_JSONB_EXISTS_ANY:
		case F_JSONB_EXISTS_ALL:
		case F_JSONB_CONTAINS:
		case F_JSONB_CONTAINED:
		case F_JSONB_TYPEOF:
		case F_JSONB_EQ:
		case F_JSONB_NE:
		case F_JSONB_LT:
		case F_JSONB_LE:
		case F_JSONB_GT:
		case F_JSONB_GE:
		case F_ARRAYCONTAINS:
		case F_ARRAYCONTAINED:
		case F_ARRAYOVERLAP:
		case F_ARRAY_EQ:
		case F_ARRAY_NE:
		case F_CARDINALITY:
		case F_ARRAY_LENGTH:
		case F_ARRAY_LOWER:
		case F_ARRAY_UPPER:
		case F_ARRAY_NDIMS:
		case F_LOWER_ANYRANGE:
		case F_UPPER_ANYRANGE:
		case F_ISEMPTY_ANYRANGE:
		case F_LOWER_INC_ANYRANGE:
		case F_UPPER_INC_ANYRANGE:
		case F_LOWER_INF_ANYRANGE:
		case F_UPPER_INF_ANYRANGE:
		case F_LOWER_ANYMULTIRANGE:
		case F_UPPER_ANYMULTIRANGE:
		case F_ISEMPTY_ANYMULTIRANGE:
		case F_LOWER_INC_ANYMULTIRANGE:
		case F_UPPER_INC_ANYMULTIRANGE:
		case F_LOWER_INF_ANYMULTIRANGE:
		case F_UPPER_INF_ANYMULTIRANGE:
		case F_RANGE_CONTAINS_ELEM:
		case F_ELEM_CONTAINED_BY_RANGE:
		case F_RANGE_CONTAINS:
		case F_RANGE_CONTAINED_BY:
		case F_RANGE_OVERLAPS:
		case F_RANGE_BEFORE:
		case F_RANGE_AFTER:
		case F_RANGE_OVERLEFT:
		case F_RANGE_OVERRIGHT:
		case F_RANGE_INTERSECT:
		case F_MULTIRANGE_CONTAINS_ELEM:
		case F_ELEM_CONTAINED_BY_MULTIRANGE:
		case F_MULTIRANGE_CONTAINS_RANGE:
		case F_MULTIRANGE_CONTAINS_MULTIRANGE:
		case F_RANGE_CONTAINED_BY_MULTIRANGE:
		case F_MULTIRANGE_CONTAINED_BY_MULTIRANGE:
		case F_RANGE_OVERLAPS_MULTIRANGE:
		case F_MULTIRANGE_OVERLAPS_RANGE:
		case F_MULTIRANGE_OVERLAPS_MULTIRANGE:
			return true;
		default:
			return false;
	}
}

/* What the values of a type are is fixed, and what functions of them call, too. */
static bool
is_fixed_type(Oid type)
{
	Oid			element = get_base_element_type(type);
	PenumbraType engine_type;

	return type < FirstGenbkiObjectId &&
		(type == JSONPATHOID || cache_type_of(OidIsValid(element) ? element : type, &engine_type));
}

/* to_char() of a local time looks at a setting for names of months and days alone, and at that only for TM. */
static bool
is_fixed_format(Oid function, List *args)
{
	const Const *format;
	char	   *pattern;

	if (function != F_TO_CHAR_TIMESTAMP_TEXT)
		return false;
	format = lsecond(args);
	if (!IsA(format, Const) || format->constisnull)
		return false;
	pattern = TextDatumGetCString(format->constvalue);
	return strstr(asc_toupper(pattern, strlen(pattern)), "TM") == NULL;
}

/* An immutable function of PostgreSQL's, of types that have nothing of a user's. */
static bool
is_fixed_function(Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		is_fixed;

	if (function >= FirstGenbkiObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	is_fixed = proc->provolatile == PROVOLATILE_IMMUTABLE && proc->prolang == INTERNALlanguageId &&
		proc->prokind == PROKIND_FUNCTION && !proc->proretset && is_fixed_type(proc->prorettype);
	for (int i = 0; i < proc->pronargs && is_fixed; i++)
		is_fixed = is_fixed_type(proc->proargtypes.values[i]);
	ReleaseSysCache(tuple);
	return is_fixed;
}

/* What arrays and ranges of it are compared by is PostgreSQL's own. */
static bool
has_fixed_elements(Oid type)
{
	Oid			element = get_base_element_type(type);

	if (OidIsValid(element))
		return value_image_tells_equality(element);
	type = getBaseType(type);
	return type < FirstGenbkiObjectId || !(type_is_range(type) || type_is_multirange(type));
}

/* x = ANY (array), x <> ALL (array) by a type's own equality. */
static bool
is_fixed_membership(const ScalarArrayOpExpr *expr)
{
	Oid			equality = expr->useOr ? expr->opno : get_negator(expr->opno);
	Oid			left;
	Oid			right;

	if (!OidIsValid(equality))
		return false;
	op_input_types(equality, &left, &right);
	return op_hashjoinable(equality, left) && has_fixed_elements(exprType(lsecond(expr->args))) &&
		get_opcode(equality) < FirstGenbkiObjectId;
}

/*
 * A field of a composite type, which a value keeps: a type or a table of which there are columns gets new
 * fields alone, without defaults, and the numbers of dropped ones are not used again.
 */
static bool
is_fixed_field(const FieldSelect *field)
{
	return get_typtype(getBaseType(exprType((Node *) field->arg))) == TYPTYPE_COMPOSITE;
}

static bool
is_fixed_text_function(Oid function)
{
	/* a setting says how many digits the text of a float has */
	return function < FirstGenbkiObjectId && function != F_FLOAT4OUT && function != F_FLOAT8OUT &&
		func_volatile(function) == PROVOLATILE_IMMUTABLE;
}

/* A cast by way of the value's text. */
static bool
is_fixed_cast(const CoerceViaIO *cast)
{
	Oid			argument_type = exprType((Node *) cast->arg);
	Oid			output;
	Oid			input;
	Oid			io_param;
	bool		is_varlena;

	if (!is_fixed_type(argument_type) || !is_fixed_type(cast->resulttype))
		return false;
	getTypeOutputInfo(argument_type, &output, &is_varlena);
	getTypeInputInfo(cast->resulttype, &input, &io_param);
	return is_fixed_text_function(output) && is_fixed_text_function(input);
}

/* The node's own value follows from those of its arguments. */
static bool
is_fixed_node(Node *node)
{
	ListCell   *lc;
	List	   *args = NIL;
	Oid			function = called_function(node);
	Oid			collation;

	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0;
		case T_Const:
		case T_CaseTestExpr:	/* an element; of CASE there is none, which is not listed */
			return true;
		case T_OpExpr:
		case T_FuncExpr:
			args = IsA(node, OpExpr) ? ((OpExpr *) node)->args : ((FuncExpr *) node)->args;
			if (!never_fails(function) && !is_fixed_function(function) && !is_fixed_format(function, args))
				return false;
			break;
		case T_ScalarArrayOpExpr:
			if (!is_fixed_membership((ScalarArrayOpExpr *) node))
				return false;
			break;
		case T_NullTest:
			return !((NullTest *) node)->argisrow;
		case T_CoerceViaIO:
			return is_fixed_cast((CoerceViaIO *) node);
		case T_RelabelType:
			return true;
		case T_FieldSelect:
			return is_fixed_field((FieldSelect *) node);
		case T_SubscriptingRef:
			return ((SubscriptingRef *) node)->refassgnexpr == NULL &&
				((SubscriptingRef *) node)->reflowerindexpr == NIL &&
				(((SubscriptingRef *) node)->refcontainertype == JSONBOID ||
				 OidIsValid(get_element_type(((SubscriptingRef *) node)->refcontainertype)));
		default:
			return false;
	}
	foreach(lc, args)
	{
		if (!has_fixed_elements(exprType(lfirst(lc))))
			return false;
	}
	collation = exprInputCollation(node);
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/* NULL: the expression is not one that can be cached. */
static Node *
canonical_mutator(Node *node, void *context)
{
	bool	   *is_fixed = context;
	Node	   *copy;

	if (node == NULL)
		return NULL;
	if (IsA(node, List))
		return expression_tree_mutator(node, canonical_mutator, context);
	if (!is_fixed_node(node))
	{
		*is_fixed = false;
		return node;
	}
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;

		return (Node *) makeVar(1, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
	}
	copy = expression_tree_mutator(node, canonical_mutator, context);
	/* 17 and later do not write locations */
	if (IsA(copy, Const))
		((Const *) copy)->location = -1;
	else if (IsA(copy, OpExpr))
		((OpExpr *) copy)->location = -1;
	else if (IsA(copy, FuncExpr))
		((FuncExpr *) copy)->location = -1;
	else if (IsA(copy, ScalarArrayOpExpr))
	{
		((ScalarArrayOpExpr *) copy)->location = -1;
		/* the planner's NOT leaves it open */
		set_sa_opfuncid((ScalarArrayOpExpr *) copy);
	}
	else if (IsA(copy, NullTest))
		((NullTest *) copy)->location = -1;
	else if (IsA(copy, CoerceViaIO))
	{
		((CoerceViaIO *) copy)->location = -1;
		((CoerceViaIO *) copy)->coerceformat = COERCE_EXPLICIT_CAST;
	}
	else if (IsA(copy, RelabelType))
		((RelabelType *) copy)->location = -1;
	return copy;
}

/* In place of the element. */
static Node *
put_elements(Node *node, void *elements)
{
	if (node == NULL || IsA(node, CaseTestExpr))
		return node == NULL ? NULL : copyObject(elements);
	return expression_tree_mutator(node, put_elements, elements);
}

/*
 * A set-returning function of a column or of what can be cached, of any type; or what can be cached if an element is
 * put in place of the call, as which it is evaluated.
 */
static Node *
canonical_set(Node *expr)
{
	const FuncExpr *call = list_image_canonical_call(expr);
	Node	   *elements = list_image_elements(expr);
	bool		is_fixed = true;
	FuncExpr   *canonical = makeNode(FuncExpr);
	Node	   *of_element = NULL;

	if (elements != expr)
	{
		of_element = canonical_mutator(list_image_replace_elements(expr, list_image_one_element(expr)), &is_fixed);
		is_fixed &= !contain_var_clause(of_element);
	}
	*canonical = *call;
	canonical->args = (List *) canonical_mutator((Node *) call->args, &is_fixed);
	canonical->location = -1;
	if (!is_fixed || !contain_var_clause((Node *) canonical))
		return NULL;
	elements = IsA(elements, FieldSelect) ? list_image_column(canonical, ((FieldSelect *) elements)->fieldnum)
		: (Node *) canonical;
	return of_element == NULL ? elements : put_elements(of_element, elements);
}

static Node *
canonical_form(Node *expr)
{
	bool		is_fixed = !IsA(expr, List);
	Node	   *canonical;
	PenumbraType type;

	if (list_image_is_set(expr))
		return canonical_set(expr);
	canonical = canonical_mutator(expr, &is_fixed);
	if (!is_fixed || !contain_var_clause(canonical) || !cache_type_of(exprType(canonical), &type) ||
		(IsA(canonical, Var) && !cache_type_is_composed(exprType(canonical))))
		return NULL;
	return canonical;
}

bool
cached_expression_is_possible(Node *expr)
{
	return canonical_form(expr) != NULL;
}

static bool
can_fail_walker(Node *node, void *context)
{
	Oid			function = node == NULL ? InvalidOid : called_function(node);

	if (OidIsValid(function) && !never_fails(function))
		return true;
	if (node != NULL && IsA(node, CoerceViaIO) && ((CoerceViaIO *) node)->resulttype != TEXTOID)
		return true;
	return node != NULL && expression_tree_walker(node, can_fail_walker, context);
}

/* Of most set-returning functions there is a list, whatever the argument is. */
bool
cached_expression_can_fail(Node *expr)
{
	if (!list_image_is_set(expr))
		return value_image_can_fail(value_image_of(exprType(expr))) || can_fail_walker(expr, NULL);
	return list_image_has_matches((Node *) list_image_call(expr)) ||
		can_fail_walker(linitial(list_image_canonical_call(expr)->args), NULL) ||
		can_fail_walker(list_image_replace_elements(expr, list_image_one_element(expr)), NULL);
}

/* ---------------------------------------------------------------- entries - */

static const KnownExpression *find_known(ColumnKey key);

static char *
text_of(const Entry *entry)
{
	return control->texts[entry - control->entries];
}

/* Under the lock: the relation's next entry behind one, or its first; NULL: there is none. */
static Entry *
next_entry(Oid database, Oid relid, const Entry *last)
{
	for (int i = last == NULL ? 0 : last - control->entries + 1; i < control->entry_count; i++)
	{
		Entry	   *entry = &control->entries[i];

		if (entry->relid == relid && entry->database == database)
			return entry;
	}
	return NULL;
}

/* Under the lock. */
static Entry *
find_entry(Oid database, Oid relid, uint64 hash)
{
	Entry	   *entry = NULL;

	while ((entry = next_entry(database, relid, entry)) != NULL && entry->hash != hash)
		;
	return entry;
}

/* The same by number. */
static Entry *
find_number(Oid database, Oid relid, int number)
{
	Entry	   *entry = NULL;

	while ((entry = next_entry(database, relid, entry)) != NULL && entry->number != number)
		;
	return entry;
}

static TimestampTz
used_at(Entry *entry)
{
	return (TimestampTz) pg_atomic_read_u64(&entry->used_at);
}

/* Of two that may make room for another, the first of which may be NULL, the one that does.  limit: of lately. */
static Entry *
choose_older(Entry *chosen, Entry *entry, ExpressionNeed need, TimestampTz limit)
{
	if (used_at(entry) >= limit && (need != EXPRESSION_LOADED || entry->is_loaded))
		return chosen;
	return chosen == NULL || used_at(entry) < used_at(chosen) ? entry : chosen;
}

/* Under the exclusive lock: a free entry, or one that makes room; NULL: none. */
static Entry *
choose_entry(Oid database, Oid relid, ExpressionNeed need, int *number)
{
	TimestampTz limit = GetCurrentTimestamp() - (TimestampTz) UNUSED_MS * 1000;
	Entry	   *own = NULL;
	Entry	   *any = NULL;
	uint64		taken = 0;

	while ((any = next_entry(database, relid, any)) != NULL)
	{
		taken |= UINT64CONST(1) << (any->number - MaxHeapAttributeNumber - 1);
		own = choose_older(own, any, need, limit);
	}
	*number = own == NULL ? 0 : own->number;
	for (int i = 0; i < COLUMN_KEY_EXPRESSIONS; i++)
	{
		if (taken & UINT64CONST(1) << i)
			continue;
		*number = MaxHeapAttributeNumber + 1 + i;
		for (int n = 0; n < control->entry_count; n++)
		{
			Entry	   *entry = &control->entries[n];

			if (!OidIsValid(entry->database))
				return entry;
			any = choose_older(any, entry, need, limit);
		}
		return control->entry_count < ENTRIES ? &control->entries[control->entry_count++] : any;
	}
	return own;
}

/* Under the exclusive lock; a number of 0 is chosen.  NULL: there is no room. */
static Entry *
add_entry(Oid database, Oid relid, ExpressionNeed need, int number, const char *text, uint64 hash)
{
	int			chosen;
	Entry	   *entry = choose_entry(database, relid, need, &chosen);

	if (entry == NULL)
		return NULL;
	*entry = (Entry) {
		.database = database,
		.relid = relid,
		.number = number == 0 ? chosen : number,
		.serial = control->next_serial++,
		.hash = hash,
		.is_loaded = need == EXPRESSION_LOADED,
	};
	pg_atomic_init_u64(&entry->used_at, (uint64) GetCurrentTimestamp());
	strcpy(text_of(entry), text);
	return entry;
}

static ColumnKey
key_of_entry(const Entry *entry)
{
	return (ColumnKey) {.number = (AttrNumber) entry->number,.serial = entry->serial};
}

/* Under the lock: those that do not need one leave numbers to those that do. */
static bool
has_room(Oid database, Oid relid)
{
	const Entry *entry = NULL;
	int			count = 0;

	while ((entry = next_entry(database, relid, entry)) != NULL)
		count++;
	return count < COLUMN_KEY_EXPRESSIONS - KEPT_NUMBERS;
}

static bool
failed_lately(const Entry *entry, TimestampTz now)
{
	return entry->failed_at != 0 && !TimestampDifferenceExceeds(entry->failed_at, now, FAILED_MS);
}

/* Every execution asks; only the first one of an expression needs the lock alone. */
bool
cached_expression_find(Oid relid, Node *expr, ExpressionNeed need, ColumnKey *key)
{
	Node	   *canonical = control == NULL ? NULL : canonical_form(expr);
	char	   *text;
	Entry	   *entry;
	uint64		hash;
	TimestampTz now;
	bool		is_found;

	if (canonical == NULL)
		return false;
	text = nodeToString(canonical);
	if (strlen(text) > TEXT_BYTES_MAX)
		return false;
	hash = XXH3_64bits(text, strlen(text));
	LWLockAcquire(expression_lock, LW_SHARED);
	entry = find_entry(MyDatabaseId, relid, hash);
	if (need == EXPRESSION_LOADED || (entry == NULL && need != EXPRESSION_KNOWN))
	{
		LWLockRelease(expression_lock);
		LWLockAcquire(expression_lock, LW_EXCLUSIVE);
		entry = find_entry(MyDatabaseId, relid, hash);
		if (entry == NULL && (need >= EXPRESSION_NEEDED || has_room(MyDatabaseId, relid)))
			entry = add_entry(MyDatabaseId, relid, need, 0, text, hash);
		if (entry != NULL)
			entry->is_loaded |= need == EXPRESSION_LOADED;
	}
	now = GetCurrentTimestamp();
	is_found = entry != NULL && !failed_lately(entry, now);
	if (is_found)
	{
		pg_atomic_write_u64(&entry->used_at, (uint64) now);
		*key = key_of_entry(entry);
	}
	LWLockRelease(expression_lock);
	/* from here on this process knows it, whatever becomes of its entry */
	return is_found && find_known(*key) != NULL;
}

void
cached_expression_keys(Oid relid, ColumnKey keys[COLUMN_KEY_EXPRESSIONS])
{
	const Entry *entry = NULL;

	for (int i = 0; i < COLUMN_KEY_EXPRESSIONS; i++)
		keys[i] = column_key_of_place(i);
	if (control == NULL)
		return;
	LWLockAcquire(expression_lock, LW_SHARED);
	while ((entry = next_entry(MyDatabaseId, relid, entry)) != NULL)
		keys[column_key_place(key_of_entry(entry))] = key_of_entry(entry);
	LWLockRelease(expression_lock);
}

ColumnKey
cached_expression_key(Oid relid, int number)
{
	ColumnKey	keys[COLUMN_KEY_EXPRESSIONS];

	cached_expression_keys(relid, keys);
	return keys[column_key_place(column_key_of_number(number))];
}

/* Under the lock. */
static Entry *
entry_of_key(ColumnKey key)
{
	for (int i = 0; i < control->entry_count && key.serial != 0; i++)
	{
		if (control->entries[i].serial == key.serial)
			return &control->entries[i];
	}
	return NULL;
}

void
cached_expression_note_load(ColumnKey key)
{
	Entry	   *entry;

	LWLockAcquire(expression_lock, LW_EXCLUSIVE);
	entry = entry_of_key(key);
	if (entry != NULL)
		entry->is_loaded = true;
	LWLockRelease(expression_lock);
}

void
cached_expression_note_error(ColumnKey key)
{
	Entry	   *entry;

	switch (ERRCODE_TO_CATEGORY(geterrcode()))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_FEATURE_NOT_SUPPORTED):
		case ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED):
			break;
		default:
			return;
	}
	LWLockAcquire(expression_lock, LW_EXCLUSIVE);
	entry = entry_of_key(key);
	if (entry != NULL)
		entry->failed_at = GetCurrentTimestamp();
	LWLockRelease(expression_lock);
}

/* Constants are part of expressions: a query that somebody runs once is not to load a table. */
int
cached_expression_filter(ColumnKey *columns, int ncolumns)
{
	int			count = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		bool		is_repeated = true;

		if (column_key_is_expression(columns[i]))
		{
			Entry	   *entry;

			LWLockAcquire(expression_lock, LW_EXCLUSIVE);
			entry = entry_of_key(columns[i]);
			is_repeated = entry != NULL && entry->is_wanted;
			if (entry != NULL)
				entry->is_wanted = true;
			LWLockRelease(expression_lock);
		}
		if (is_repeated)
			columns[count++] = columns[i];
	}
	return count;
}

/* ---------------------------------------------------------------- what they stand for */

static Bitmapset *
attributes_of(Node *expr)
{
	List	   *vars = pull_var_clause(expr, 0);
	Bitmapset  *attributes = NULL;
	ListCell   *lc;

	foreach(lc, vars)
		attributes = bms_add_member(attributes, lfirst_node(Var, lc)->varattno);
	return attributes;
}

/* Adds what the locale's definitions are to the hash: a function may depend on them. */
static bool
add_locales_walker(Node *node, void *context)
{
	uint64	   *hash = context;
	Oid			collation;

	if (node == NULL)
		return false;
	collation = exprInputCollation(node);
	if (OidIsValid(collation) && !(compat_collate_is_c(collation) && compat_ctype_is_c(collation)))
	{
		LOCAL_FCINFO(call, 1);
		Datum		version;

		InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
		call->args[0] = (NullableDatum) {ObjectIdGetDatum(collation)};
		version = pg_collation_actual_version(call);
		*hash = hash_combine64(*hash, call->isnull ? collation
							   : XXH3_64bits(VARDATA_ANY(DatumGetPointer(version)),
											VARSIZE_ANY_EXHDR(DatumGetPointer(version))));
	}
	return expression_tree_walker(node, add_locales_walker, context);
}

/* A text that came from a file is read as any other, and has to be what it would be if it was written now. */
static void
read_text(KnownExpression *expression, const char *text)
{
	Node	   *expr = stringToNode(text);
	Node	   *canonical = canonical_form(expr);

	if (canonical == NULL || !equal(canonical, expr))
		return;
	expression->expr = (Expr *) canonical;
	expression->attributes = attributes_of(expr);
	(void) add_locales_walker(expr, &expression->hash);
}

/* Makes room for one more. */
static void
prepare_known(void)
{
	HASHCTL		ctl = {.keysize = sizeof(uint32),.entrysize = sizeof(KnownExpression)};

	if (known != NULL && hash_get_num_entries(known) < ENTRIES)
		return;
	if (known != NULL)
		MemoryContextDelete(known_context);
	ctl.hcxt = known_context = AllocSetContextCreate(TopMemoryContext, "penumbra expressions", ALLOCSET_SMALL_SIZES);
	known = hash_create("Penumbra expressions", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Valid until the next is read; NULL: the key stands for nothing any more. */
static const KnownExpression *
find_known(ColumnKey key)
{
	KnownExpression *expression;
	const Entry *entry;
	Entry		copy = {0};
	char	   *text = NULL;
	bool		is_found;

	if (control == NULL || key.serial == 0)
		return NULL;
	expression = known == NULL ? NULL : hash_search(known, &key.serial, HASH_FIND, NULL);
	if (expression != NULL)
		return expression->expr == NULL ? NULL : expression;
	text = palloc(TEXT_BYTES_MAX + 1);
	LWLockAcquire(expression_lock, LW_SHARED);
	entry = entry_of_key(key);
	if (entry != NULL)
	{
		copy = *entry;
		strcpy(text, text_of(entry));
	}
	LWLockRelease(expression_lock);
	if (entry != NULL && copy.database == MyDatabaseId)
	{
		KnownExpression read = {.serial = key.serial,.hash = copy.hash};
		MemoryContext old;

		prepare_known();
		old = MemoryContextSwitchTo(known_context);
		read_text(&read, text);
		MemoryContextSwitchTo(old);
		expression = hash_search(known, &key.serial, HASH_ENTER, &is_found);
		*expression = read;
	}
	pfree(text);
	return expression == NULL || expression->expr == NULL ? NULL : expression;
}

/* False: the relation does not have what the expression reads. */
static bool
check_vars_walker(Node *node, void *context)
{
	TupleDesc	desc = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;
		Form_pg_attribute att = column_key_attribute(column_key_of_attribute(var->varattno), desc);

		return att == NULL || compat_attribute_is_virtual(att) || att->atttypid != var->vartype ||
			att->atttypmod != var->vartypmod || att->attcollation != var->varcollid;
	}
	return expression_tree_walker(node, check_vars_walker, context);
}

Expr *
cached_expression_get(ColumnKey key, TupleDesc desc)
{
	const KnownExpression *expression = find_known(key);

	if (expression == NULL || check_vars_walker((Node *) expression->expr, desc))
		return NULL;
	return expression->expr;
}

ColumnFacts
cached_expression_facts(ColumnKey key, TupleDesc desc)
{
	Expr	   *expr = cached_expression_get(key, desc);
	const KnownExpression *expression;
	const ValueImage *image;
	uint64		content;
	int			attribute = -1;

	if (expr == NULL)
		return (ColumnFacts) {0};
	image = value_image_of(exprType((Node *) expr));
	expression = find_known(key);
	content = hash_combine64(expression->hash, atoi(GetConfigOption("server_version_num", false, false)));
	while ((attribute = bms_next_member(expression->attributes, attribute)) >= 0)
		content = hash_combine64(content, column_key_missing(desc, TupleDescAttr(desc, attribute - 1)));
	if (list_image_is_set((const Node *) expr))
		return (ColumnFacts) {.type_oid = LIST_IMAGE_TYPE,.typmod = -1,.content = content | 1};
	return (ColumnFacts) {
		.type_oid = exprType((Node *) expr),
		.typmod = exprTypmod((Node *) expr),
		.collation = exprCollation((Node *) expr),
		.content = hash_combine64(content, image == NULL ? 0 : image->shape) | 1,
	};
}

Bitmapset *
cached_expression_attributes(ColumnKey key)
{
	const KnownExpression *expression = find_known(key);

	return expression == NULL ? NULL : bms_copy(expression->attributes);
}

char *
cached_expression_text(ColumnKey key, Relation rel)
{
	Expr	   *expr = cached_expression_get(key, RelationGetDescr(rel));

	if (expr == NULL)
		return NULL;
	return deparse_expression((Node *) expr,
							  deparse_context_for(RelationGetRelationName(rel), RelationGetRelid(rel)), false, false);
}

Oid
cached_expression_relid(TupleDesc desc)
{
	return desc->natts == 0 ? InvalidOid : TupleDescAttr(desc, 0)->attrelid;
}

/* ---------------------------------------------------------------- on disk - */

void
cached_expression_save(void)
{
	static uint64 saved_hash = 0;
	StringInfoData lines;
	uint64		hash;

	initStringInfo(&lines);
	LWLockAcquire(expression_lock, LW_SHARED);
	for (int i = 0; i < control->entry_count; i++)
	{
		const Entry *entry = &control->entries[i];

		if (OidIsValid(entry->database))
			appendStringInfo(&lines, LINE "%s\n", entry->database, entry->relid, entry->number, entry->hash,
							 text_of(entry));
	}
	LWLockRelease(expression_lock);
	hash = XXH3_64bits(lines.data, lines.len);
	if (hash != saved_hash && disk_make_directory() == NULL && disk_replace_file(FILE_NAME, lines.data, lines.len))
		saved_hash = hash;
	pfree(lines.data);
}

/* The file is not trusted: reading ends at a line of another format, and a text has to have its hash. */
static void
read_file(void)
{
	Size		bytes;
	char	   *content = disk_slurp_file(FILE_NAME, &bytes);
	char	   *line = content;
	char	   *end;

	if (content == NULL)
		return;
	content[bytes] = '\0';
	LWLockAcquire(expression_lock, LW_EXCLUSIVE);
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
	{
		Oid			database;
		Oid			relid;
		int			number;
		uint64		hash;
		int			length = 0;
		const char *text;

		*end = '\0';
		if (sscanf(line, LINE "%n", &database, &relid, &number, &hash, &length) != 4 || length == 0)
			break;
		text = line + length;
		if (OidIsValid(database) && OidIsValid(relid) && column_number_is_expression(number) &&
			strlen(text) <= TEXT_BYTES_MAX && XXH3_64bits(text, strlen(text)) == hash &&
			find_entry(database, relid, hash) == NULL && find_number(database, relid, number) == NULL)
			(void) add_entry(database, relid, EXPRESSION_LOADED, number, text, hash);
	}
	LWLockRelease(expression_lock);
	pfree(content);
}

void
cached_expression_shmem_startup(void)
{
	bool		found;

	control = ShmemInitStruct("penumbra expressions", sizeof(ExpressionControl), &found);
	memset(control, 0, sizeof(*control));
	control->next_serial = 1;
	read_file();
}

void
cached_expression_forget(Oid database, Oid relid)
{
	LWLockAcquire(expression_lock, LW_EXCLUSIVE);
	for (int i = 0; i < control->entry_count; i++)
	{
		Entry	   *entry = &control->entries[i];

		if (entry->database == database && (entry->relid == relid || !OidIsValid(relid)))
			*entry = (Entry) {0};
	}
	LWLockRelease(expression_lock);
}
