/*-------------------------------------------------------------------------
 *
 * cached_expression.c
 *	  Expressions whose values are cached as columns of their table are.
 *
 * Which expressions can be, cacheable.c says.  A load computes them for rows that no
 * query would.  An expression that raised an error for a row is no column for a while,
 * and queries are planned without it.
 *
 * An entry is the text of the expression's node tree, its Vars numbered by
 * attribute: a renamed column changes nothing.  Entries are found by a hash of the
 * text.  A table has few numbers, since each takes room in every chunk.  An entry
 * that no query has looked for in a while makes room for another; after some seconds
 * one that a single query looked for does, so that those that come back keep theirs
 * while somebody asks one question after the other; and for one that
 * somebody loads does any entry that queries wanted and nobody has loaded.  The other
 * gets a serial of its own: a key of the former stands for nothing then, and no
 * segment has its facts.  The texts are in a file that is read at the server's start; who writes
 * numbers to another file writes it first.
 *
 * Facts: the text's hash says which expression it is.  The definitions of its
 * functions do not change while a server runs; one of another version makes another
 * hash, and so does another version of a collation.  Of the attributes type, type modifier and collation are
 * in the tree, and compared with the descriptor; what rows older than an attribute
 * have is hashed in, and how configurations and dictionaries of text search are defined (text_search.c).
 *
 * Lock: the expressions' lock, held for no longer than a walk over the entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <inttypes.h>
#include <xxhash.h>

#include "catalog/pg_collation.h"
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
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "cache/cache.h"
#include "cache/cacheable.h"
#include "cache/cached_expression.h"
#include "cache/disk/disk_file.h"
#include "cache/json_conversion.h"
#include "cache/list_image.h"
#include "cache/text_search.h"
#include "cache/value_image.h"
#include "pg_compat.h"

/* Beside the list of requested columns: a line for each expression. */
#define FILE_NAME		DISK_DIRECTORY "/expressions"
/* Database, relation, number, hash of the text, which follows. */
#define LINE			"%u %u %d %" PRIx64 " "

#define ENTRIES			1024
#define TEXT_BYTES_MAX	4000
/* One that was not looked for so long gives its place to another. */
#define UNUSED_MS		(10 * 60 * 1000)
/* What was looked for within so long, and never since, was one query's.  No query is planned for longer. */
#define ONE_QUERY_MS	(5 * 1000)
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
	TimestampTz first_at;		/* a query looked for it; 0: somebody has loaded it by its name */
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

static bool
may_make_room(Entry *entry, ExpressionNeed need, TimestampTz now)
{
	TimestampTz last = used_at(entry);

	if (need == EXPRESSION_LOADED && !entry->is_loaded)
		return true;
	return TimestampDifferenceExceeds(last, now, UNUSED_MS) ||
		(entry->first_at != 0 && !TimestampDifferenceExceeds(entry->first_at, last, ONE_QUERY_MS) &&
		 TimestampDifferenceExceeds(last, now, ONE_QUERY_MS));
}

/* Of two that may make room for another, the first of which may be NULL, the one that does. */
static Entry *
choose_older(Entry *chosen, Entry *entry, ExpressionNeed need, TimestampTz now)
{
	if (!may_make_room(entry, need, now))
		return chosen;
	return chosen == NULL || used_at(entry) < used_at(chosen) ? entry : chosen;
}

/* Under the exclusive lock: a free entry, or one that makes room; NULL: none. */
static Entry *
choose_entry(Oid database, Oid relid, ExpressionNeed need, int *number)
{
	TimestampTz now = GetCurrentTimestamp();
	Entry	   *own = NULL;
	Entry	   *any = NULL;
	uint64		taken = 0;

	while ((any = next_entry(database, relid, any)) != NULL)
	{
		taken |= UINT64CONST(1) << (any->number - MaxHeapAttributeNumber - 1);
		own = choose_older(own, any, need, now);
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
			any = choose_older(any, entry, need, now);
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
	TimestampTz now = GetCurrentTimestamp();

	if (entry == NULL)
		return NULL;
	*entry = (Entry) {
		.database = database,
		.relid = relid,
		.number = number == 0 ? chosen : number,
		.serial = control->next_serial++,
		.hash = hash,
		.first_at = need == EXPRESSION_LOADED ? 0 : now,
		.is_loaded = need == EXPRESSION_LOADED,
	};
	pg_atomic_init_u64(&entry->used_at, (uint64) now);
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
	Node	   *canonical = control == NULL ? NULL : cacheable_form(expr);
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
		if (entry != NULL && need == EXPRESSION_LOADED)
		{
			entry->first_at = 0;
			entry->is_loaded = true;
		}
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
cached_expression_note_error(ColumnKey key, int sqlstate)
{
	Entry	   *entry;

	switch (ERRCODE_TO_CATEGORY(sqlstate))
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

bool
cached_expression_has_failed(ColumnKey key)
{
	const Entry *entry;
	bool		has_failed;

	LWLockAcquire(expression_lock, LW_SHARED);
	entry = entry_of_key(key);
	has_failed = entry != NULL && failed_lately(entry, GetCurrentTimestamp());
	LWLockRelease(expression_lock);
	return has_failed;
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
	Node	   *canonical = cacheable_form(expr);

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

/* Whether values that are older than the column have its missing value, which a rewrite of the table forgets. */
static bool
selects_missing(const FieldSelect *select)
{
	Oid			type = getBaseType(exprType((const Node *) select->arg));
	TupleDesc	desc = type == RECORDOID ? NULL : lookup_rowtype_tupdesc_noerror(type, -1, true);
	bool		is_missing = desc != NULL && select->fieldnum <= desc->natts &&
		TupleDescAttr(desc, select->fieldnum - 1)->atthasmissing;

	if (desc != NULL)
		ReleaseTupleDesc(desc);
	return is_missing;
}

/* Adds the shapes of composites on which the values depend, beside those of the values' own type. */
static bool
add_shapes_walker(Node *node, void *context)
{
	uint64	   *content = context;

	if (node == NULL)
		return false;
	if (IsA(node, NullTest) && ((NullTest *) node)->argisrow)
	{
		const ValueImage *image = value_image_of(exprType((Node *) ((NullTest *) node)->arg));

		*content = hash_combine64(*content, image == NULL ? 0 : image->shape);
	}
	if (IsA(node, FieldSelect) && selects_missing((FieldSelect *) node))
		*content = hash_combine64(*content, ((FieldSelect *) node)->fieldnum);
	return expression_tree_walker(node, add_shapes_walker, context);
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
	(void) add_shapes_walker((Node *) expr, &content);
	content = hash_combine64(hash_combine64(content, json_conversion_shape((Node *) expr)),
							 image == NULL ? 0 : image->shape);
	content ^= text_search_definitions((Node *) expr);
	if (list_image_is_set((const Node *) expr))
		return (ColumnFacts) {.type_oid = LIST_IMAGE_TYPE,.typmod = -1,.content = content | 1};
	return (ColumnFacts) {
		.type_oid = exprType((Node *) expr),
		.typmod = exprTypmod((Node *) expr),
		.collation = exprCollation((Node *) expr),
		.content = content | 1,
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
