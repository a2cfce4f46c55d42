/*-------------------------------------------------------------------------
 *
 * operator_class.c
 *	  amvalidate: what operator classes of the access method may hold.
 *
 * Keys are compared as numbers, by no function of the class.  So a class may
 * only say what is true of them: operators must be those that btree has for
 * the same types and strategy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "key.h"
#include "operator_class.h"

/* The operator that the strategy means for these types, or InvalidOid. */
static Oid
expected_operator(Oid left, Oid right, StrategyNumber strategy)
{
	Oid			btree_class;

	if (!keytree_types_compare(left, right))
		return InvalidOid;
	btree_class = GetDefaultOpClass(left, BTREE_AM_OID);
	return OidIsValid(btree_class) ?
		get_opfamily_member(get_opclass_family(btree_class), left, right, strategy) : InvalidOid;
}

static bool
operator_is_valid(Form_pg_amop amop, const char *class_name)
{
	if (amop->amoppurpose == AMOP_SEARCH &&
		amop->amopopr == expected_operator(amop->amoplefttype, amop->amoprighttype, amop->amopstrategy))
		return true;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator family of class \"%s\" of access method keytree contains operator %s with strategy number %d, which is not btree's",
					class_name, format_operator(amop->amopopr), amop->amopstrategy)));
	return false;
}

static bool
type_is_supported(Oid type, const char *class_name)
{
	KeytreeKind kind;

	if (keytree_find_kind(type, &kind))
		return true;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" of access method keytree is for type %s, which has no keys",
					class_name, format_type_be(type))));
	return false;
}

/* All five strategies with every type that its key compares with. */
static bool
operators_are_complete(Oid family, Oid type, const char *class_name)
{
	const Oid	rights[] = {INT2OID, INT4OID, INT8OID, DATEOID, TIMESTAMPOID, TIMESTAMPTZOID, UUIDOID};

	for (int i = 0; i < lengthof(rights); i++)
		for (StrategyNumber strategy = 1; strategy <= BTMaxStrategyNumber; strategy++)
			if (keytree_types_compare(type, rights[i]) &&
				!OidIsValid(get_opfamily_member(family, type, rights[i], strategy)))
			{
				ereport(INFO,
						(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
						 errmsg("operator family of class \"%s\" of access method keytree is missing an operator for types %s and %s",
								class_name, format_type_be(type), format_type_be(rights[i]))));
				return false;
			}
	return true;
}

bool
keytree_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class_form;
	CatCList   *operators;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class_form = (Form_pg_opclass) GETSTRUCT(tuple);
	result = type_is_supported(class_form->opcintype, NameStr(class_form->opcname)) &&
		operators_are_complete(class_form->opcfamily, class_form->opcintype, NameStr(class_form->opcname));
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(class_form->opcfamily));
	for (int i = 0; i < operators->n_members; i++)
		result &= operator_is_valid((Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple),
									NameStr(class_form->opcname));
	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	return result;
}
