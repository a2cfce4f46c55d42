/*-------------------------------------------------------------------------
 *
 * value_classes.c
 *	  Numbers of the values of a type that are equal.
 *
 * Each class has a value in a tree in the order of the type's comparison function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/rbtree.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "query/execute/value_classes.h"

typedef struct ValueClass
{
	RBTNode		node;
	Datum		value;
	int64		number;
} ValueClass;

struct ValueClasses
{
	TypeCacheEntry *type;
	Oid			collation;
	RBTree	   *tree;
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

	classes->type = lookup_type_cache(getBaseType(type_oid), TYPECACHE_CMP_PROC_FINFO);
	classes->collation = collation;
	classes->context = AllocSetContextCreate(CurrentMemoryContext, "Penumbra classes of values", ALLOCSET_DEFAULT_SIZES);
	classes->tree = rbt_create(sizeof(ValueClass), compare, combine, allocate, NULL, classes);
	return classes;
}

bool
value_classes_are_of(const ValueClasses *classes, Oid type_oid, Oid collation)
{
	return classes->type->type_id == getBaseType(type_oid) && classes->collation == collation;
}

int64
value_classes_number(ValueClasses *classes, Datum value)
{
	ValueClass	added = {.value = value,.number = classes->count};
	ValueClass *found = (ValueClass *) rbt_find(classes->tree, &added.node);
	MemoryContext old;
	bool		is_new;

	if (found != NULL)
		return found->number;
	old = MemoryContextSwitchTo(classes->context);
	added.value = datumCopy(value, classes->type->typbyval, classes->type->typlen);
	MemoryContextSwitchTo(old);
	(void) rbt_insert(classes->tree, &added.node, &is_new);
	return classes->count++;
}

Size
value_classes_bytes(const ValueClasses *classes)
{
	return MemoryContextMemAllocated(classes->context, false);
}
