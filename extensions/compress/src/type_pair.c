/*-------------------------------------------------------------------------
 *
 * type_pair.c
 *	  See type_pair.h.
 *
 *-------------------------------------------------------------------------
 */
#include "type_pair.h"

#include "catalog/pg_type.h"
#include "utils/syscache.h"

static const struct
{
	Oid			plain;
	const char *compressed;
}			pairs[] = {
	{TEXTOID, "compressed_text"},
	{JSONBOID, "compressed_jsonb"},
	{BYTEAOID, "compressed_bytea"},
};

const char *
compressed_type_name(Oid type, Oid schema, bool *is_plain)
{
	for (int i = 0; i < lengthof(pairs); i++)
	{
		*is_plain = type == pairs[i].plain;
		if (*is_plain || type == GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
												 CStringGetDatum(pairs[i].compressed),
												 ObjectIdGetDatum(schema)))
			return pairs[i].compressed;
	}
	return NULL;
}
