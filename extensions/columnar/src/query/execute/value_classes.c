/*-------------------------------------------------------------------------
 *
 * value_classes.c
 *	  Numbers of the values of a type that are equal, and labels in the order of values.
 *
 * Each class has a value in a tree in the order of the type's comparison function, or
 * of a type without one in a table by its hash function.
 *
 * A label is a number of 128 bits between those of its neighbours.  What comes behind all or before
 * all has another 64 bits of room, and of values that come one behind the other each takes little.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/rbtree.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "query/execute/value_classes.h"

#define LABEL_BYTES	UUID_LEN

typedef struct ValueClass
{
	RBTNode		node;
	struct ValueClass *next;	/* of the same hash */
	Datum		value;
	int64		number;			/* or: */
	uint64		label[LABEL_BYTES / sizeof(uint64)];	/* what counts more comes first, also in the bytes of each */
} ValueClass;

typedef struct Label
{
	uint64		high;
	uint64		low;
} Label;

typedef struct HashedClasses
{
	uint32		hash;			/* key */
	ValueClass *first;
} HashedClasses;

struct ValueClasses
{
	TypeCacheEntry *type;
	Oid			collation;
	bool		is_ordered;		/* the classes have labels */
	const ValueClass *before;	/* of the value that was looked for last: the classes beside its place */
	const ValueClass *after;
	const ValueClass *last;		/* that was added */
	int			run;			/* it came right behind the one before it (1), or before it (-1) */
	bool		seeks_label;	/* and no value */
	RBTree	   *tree;			/* or: */
	HTAB	   *table;
	int64		count;
	MemoryContext context;
};

/* The first is the one that is looked for. */
static int
compare(const RBTNode *a, const RBTNode *b, void *argument)
{
	ValueClasses *classes = argument;
	int			result;

	if (classes->seeks_label)
		return memcmp(((const ValueClass *) a)->label, ((const ValueClass *) b)->label, LABEL_BYTES);
	result = DatumGetInt32(FunctionCall2Coll(&classes->type->cmp_proc_finfo, classes->collation,
											 ((const ValueClass *) a)->value, ((const ValueClass *) b)->value));

	if (result > 0)
		classes->before = (const ValueClass *) b;
	else if (result < 0)
		classes->after = (const ValueClass *) b;
	return result;
}

/* The node's value lies in the context of whoever asks. */
static void
combine(RBTNode *existing, const RBTNode *added, void *argument)
{
}

static RBTNode *
allocate(void *argument)
{
	const ValueClasses *classes = argument;

	return MemoryContextAlloc(classes->context, sizeof(ValueClass));
}

ValueClasses *
value_classes_create(Oid type_oid, Oid collation, bool is_ordered)
{
	ValueClasses *classes = palloc0(sizeof(ValueClasses));
	HASHCTL		ctl = {.keysize = sizeof(uint32),.entrysize = sizeof(HashedClasses)};

	classes->type = lookup_type_cache(getBaseType(type_oid), TYPECACHE_CMP_PROC_FINFO | TYPECACHE_HASH_PROC_FINFO |
									  TYPECACHE_EQ_OPR_FINFO);
	classes->collation = collation;
	classes->is_ordered = is_ordered;
	classes->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra classes of values", ALLOCSET_DEFAULT_SIZES);
	ctl.hcxt = classes->context;
	if (OidIsValid(classes->type->cmp_proc))
		classes->tree = rbt_create(sizeof(ValueClass), compare, combine, allocate, NULL, classes);
	else
		classes->table = hash_create("Penumbra classes of values", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return classes;
}

bool
value_classes_are_of(const ValueClasses *classes, Oid type_oid, Oid collation, bool is_ordered)
{
	return classes->type->type_id == getBaseType(type_oid) && classes->collation == collation &&
		classes->is_ordered == is_ordered;
}

static Datum
copy_value(const ValueClasses *classes, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(classes->context);
	Datum		copy = datumCopy(value, classes->type->typbyval, classes->type->typlen);

	MemoryContextSwitchTo(old);
	return copy;
}

static int64
number_by_hash(ValueClasses *classes, Datum value)
{
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&classes->type->hash_proc_finfo, classes->collation, value));
	HashedClasses *hashed = hash_search(classes->table, &hash, HASH_FIND, NULL);
	ValueClass *class = hashed == NULL ? NULL : hashed->first;
	bool		is_found;

	while (class != NULL && !DatumGetBool(FunctionCall2Coll(&classes->type->eq_opr_finfo, classes->collation,
															class->value, value)))
		class = class->next;
	if (class != NULL)
		return class->number;
	class = MemoryContextAlloc(classes->context, sizeof(ValueClass));
	*class = (ValueClass) {.value = copy_value(classes, value),.number = classes->count++};
	hashed = hash_search(classes->table, &hash, HASH_ENTER, &is_found);
	class->next = is_found ? hashed->first : NULL;
	hashed->first = class;
	return class->number;
}

/* A share of what is left for values that come one behind the other. */
#define RUN_SHARE_BITS	10

static Label
label_of(const ValueClass *class)
{
	return (Label) {pg_ntoh64(class->label[0]), pg_ntoh64(class->label[1])};
}

static Label
add_labels(Label a, Label b)
{
	Label		sum = {a.high + b.high, a.low + b.low};

	sum.high += sum.low < a.low;
	return sum;
}

static Label
subtract_labels(Label a, Label b)
{
	return (Label) {a.high - b.high - (a.low < b.low), a.low - b.low};
}

static Label
shift_label(Label label, int bits)
{
	return (Label) {label.high >> bits, label.low >> bits | label.high << (64 - bits)};
}

/* Between those of the classes beside the place that was found. */
static Label
next_label(ValueClasses *classes)
{
	Label		low = classes->before == NULL ? (Label) {0, 0} : label_of(classes->before);
	Label		high = classes->after == NULL ? (Label) {PG_UINT64_MAX, PG_UINT64_MAX} : label_of(classes->after);
	Label		room = subtract_labels(high, low);
	Label		step = {1, 0};
	int			run = classes->last == NULL ? 0 : classes->last == classes->before ? 1
		: classes->last == classes->after ? -1 : 0;
	bool		goes_on = run != 0 && run == classes->run;

	classes->run = run;
	if (classes->after == NULL && classes->before != NULL && room.high > 1)
		return add_labels(low, step);
	if (classes->before == NULL && classes->after != NULL && room.high > 1)
		return subtract_labels(high, step);
	step = shift_label(room, goes_on ? RUN_SHARE_BITS : 1);
	if (step.high == 0 && step.low == 0)
		step = shift_label(room, 1);
	if (step.high == 0 && step.low == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("values of type %s come in an order for which Penumbra has no labels",
						format_type_be(classes->type->type_id))));
	return run < 0 ? subtract_labels(high, step) : add_labels(low, step);
}

static const ValueClass *
find_class(ValueClasses *classes, Datum value)
{
	ValueClass	added = {.value = value,.number = classes->count};
	const ValueClass *found;
	bool		is_new;

	classes->before = classes->after = NULL;
	found = (const ValueClass *) rbt_find(classes->tree, &added.node);
	if (found != NULL)
		return found;
	if (classes->is_ordered)
	{
		Label		label = next_label(classes);

		added.label[0] = pg_hton64(label.high);
		added.label[1] = pg_hton64(label.low);
	}
	added.value = copy_value(classes, value);
	classes->count++;
	return classes->last = (const ValueClass *) rbt_insert(classes->tree, &added.node, &is_new);
}

int64
value_classes_number(ValueClasses *classes, Datum value)
{
	return classes->table != NULL ? number_by_hash(classes, value) : find_class(classes, value)->number;
}

const uint8 *
value_classes_label(ValueClasses *classes, Datum value)
{
	return (const uint8 *) find_class(classes, value)->label;
}

/* Labels are in the order of values. */
Datum
value_classes_of_label(ValueClasses *classes, const uint8 *label)
{
	ValueClass	sought;
	const ValueClass *found;

	memcpy(sought.label, label, LABEL_BYTES);
	classes->seeks_label = true;
	found = (const ValueClass *) rbt_find(classes->tree, &sought.node);
	classes->seeks_label = false;
	if (found == NULL)
		elog(ERROR, "a label of type %s stands for no value", format_type_be(classes->type->type_id));
	return found->value;
}

Size
value_classes_bytes(const ValueClasses *classes)
{
	return MemoryContextMemAllocated(classes->context, true);
}
