/*-------------------------------------------------------------------------
 *
 * value_classes.c
 *	  Numbers of the values of a type that are equal.
 *
 * Each class has a value in a tree in the order of the type's comparison function, or
 * of a type without one in a table by its hash function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/rbtree.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "query/execute/value_classes.h"

typedef struct ValueClass
{
	RBTNode		node;
	struct ValueClass *next;	/* of the same hash */
	Datum		value;
	int64		number;
} ValueClass;

typedef struct HashedClasses
{
	uint32		hash;			/* key */
	ValueClass *first;
} HashedClasses;

struct ValueClasses
{
	TypeCacheEntry *type;
	Oid			collation;
	RBTree	   *tree;			/* or: */
	HTAB	   *table;
	int64		count;
	MemoryContext context;
};

static int
compare(const RBTNode *a, const RBTNode *b, void *argument)
{
	const ValueClasses *classes = argument;

	return DatumGetInt32(FunctionCall2Coll(&classes->type->cmp_proc_finfo, classes->collation,
										   ((const ValueClass *) a)->value, ((const ValueClass *) b)->value));
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
value_classes_create(Oid type_oid, Oid collation)
{
	ValueClasses *classes = palloc0(sizeof(ValueClasses));
	HASHCTL		ctl = {.keysize = sizeof(uint32),.entrysize = sizeof(HashedClasses)};

	classes->type = lookup_type_cache(getBaseType(type_oid), TYPECACHE_CMP_PROC_FINFO | TYPECACHE_HASH_PROC_FINFO |
									  TYPECACHE_EQ_OPR_FINFO);
	classes->collation = collation;
	classes->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra classes of values", ALLOCSET_DEFAULT_SIZES);
	ctl.hcxt = classes->context;
	if (OidIsValid(classes->type->cmp_proc))
		classes->tree = rbt_create(sizeof(ValueClass), compare, combine, allocate, NULL, classes);
	else
		classes->table = hash_create("Penumbra classes of values", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return classes;
}

bool
value_classes_are_of(const ValueClasses *classes, Oid type_oid, Oid collation)
{
	return classes->type->type_id == getBaseType(type_oid) && classes->collation == collation;
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

int64
value_classes_number(ValueClasses *classes, Datum value)
{
	ValueClass	added = {.value = value,.number = classes->count};
	ValueClass *found;
	bool		is_new;

	if (classes->table != NULL)
		return number_by_hash(classes, value);
	found = (ValueClass *) rbt_find(classes->tree, &added.node);
	if (found != NULL)
		return found->number;
	added.value = copy_value(classes, value);
	(void) rbt_insert(classes->tree, &added.node, &is_new);
	return classes->count++;
}

Size
value_classes_bytes(const ValueClasses *classes)
{
	return MemoryContextMemAllocated(classes->context, true);
}
