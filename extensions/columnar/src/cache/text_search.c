/*-------------------------------------------------------------------------
 *
 * text_search.c
 *	  Configurations and dictionaries of text search in expressions that are cached.
 *
 * A configuration is its parser and its map, and what stands in the map is dictionaries.
 * A dictionary is its template and its options.  Its files may change, too: PostgreSQL
 * reads them once for each session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/htup_details.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_config_map.h"
#include "catalog/pg_ts_dict.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "utils/catcache.h"
#include "utils/syscache.h"

#include "cache/text_search.h"

static bool
is_text_search_type(Oid type)
{
	return type == REGCONFIGOID || type == REGDICTIONARYOID;
}

bool
text_search_is_fixed(const List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (is_text_search_type(exprType(lfirst(lc))) && !IsA(lfirst(lc), Const))
			return false;
	}
	return true;
}

static uint64
hash_dictionary(Oid dictionary)
{
	HeapTuple	tuple = SearchSysCache1(TSDICTOID, ObjectIdGetDatum(dictionary));
	uint64		hash = dictionary;
	Datum		options;
	bool		is_null;

	if (!HeapTupleIsValid(tuple))
		return hash;
	hash = hash_combine64(hash, ((Form_pg_ts_dict) GETSTRUCT(tuple))->dicttemplate);
	options = SysCacheGetAttr(TSDICTOID, tuple, Anum_pg_ts_dict_dictinitoption, &is_null);
	if (!is_null)
	{
		const text *value = DatumGetTextPP(options);

		hash = hash_combine64(hash, XXH3_64bits(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)));
	}
	ReleaseSysCache(tuple);
	return hash;
}

/* The sum does not depend on the order in which the map's rows are found. */
static uint64
hash_configuration(Oid configuration)
{
	HeapTuple	tuple = SearchSysCache1(TSCONFIGOID, ObjectIdGetDatum(configuration));
	CatCList   *map;
	uint64		sum = 0;
	uint64		hash = configuration;

	if (!HeapTupleIsValid(tuple))
		return hash;
	hash = hash_combine64(hash, ((Form_pg_ts_config) GETSTRUCT(tuple))->cfgparser);
	ReleaseSysCache(tuple);
	map = SearchSysCacheList1(TSCONFIGMAP, ObjectIdGetDatum(configuration));
	for (int i = 0; i < map->n_members; i++)
	{
		Form_pg_ts_config_map row = (Form_pg_ts_config_map) GETSTRUCT(&map->members[i]->tuple);
		uint64		place = (uint64) (uint32) row->maptokentype << 32 | (uint32) row->mapseqno;

		sum += hash_combine64(place, hash_dictionary(row->mapdict));
	}
	ReleaseSysCacheList(map);
	return hash_combine64(hash, sum);
}

static bool
add_definitions_walker(Node *node, void *context)
{
	uint64	   *hash = context;

	if (node == NULL)
		return false;
	if (IsA(node, Const) && is_text_search_type(((Const *) node)->consttype) && !((Const *) node)->constisnull)
	{
		Oid			object = DatumGetObjectId(((Const *) node)->constvalue);

		*hash = hash_combine64(*hash, ((Const *) node)->consttype == REGCONFIGOID ? hash_configuration(object)
							   : hash_dictionary(object));
	}
	return expression_tree_walker(node, add_definitions_walker, context);
}

uint64
text_search_definitions(Node *expr)
{
	uint64		hash = 0;

	(void) add_definitions_walker(expr, &hash);
	return hash;
}
