/*-------------------------------------------------------------------------
 *
 * key.c
 *	  Between SQL values and the key of an entry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "key.h"

bool
keytree_find_kind(Oid type, KeytreeKind *kind)
{
	switch (type)
	{
		case INT2OID:
			*kind = KEYTREE_INT2;
			return true;
		case INT4OID:
		case DATEOID:
			*kind = KEYTREE_INT4;
			return true;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*kind = KEYTREE_INT8;
			return true;
		case UUIDOID:
			*kind = KEYTREE_UUID;
			return true;
		default:
			return false;
	}
}

KeytreeKind
keytree_kind_of(Oid type)
{
	KeytreeKind kind;

	if (!keytree_find_kind(type, &kind))
		ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("access method keytree does not support type %s", format_type_be(type)),
					 errhint("It supports smallint, integer, bigint, date, timestamp, timestamptz and uuid.")));
	return kind;
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_datetime(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool
keytree_types_compare(Oid left, Oid right)
{
	return left == right || (is_integer(left) && is_integer(right)) || (is_datetime(left) && is_datetime(right));
}

bool
keytree_types_need_conversion(Oid left, Oid right)
{
	return left != right && is_datetime(left);
}

/*
 * Keys compared as unsigned numbers, the high half first, have the order of their
 * type. A UUID's halves are read as big-endian, since UUIDs are compared byte by
 * byte.
 */
void
keytree_key_from_datum(KeytreeKind kind, Datum value, KeytreeEntry *entry)
{
	entry->low = 0;
	switch (kind)
	{
		case KEYTREE_INT2:
			entry->high = keytree_int_to_key(DatumGetInt16(value));
			break;
		case KEYTREE_INT4:
			entry->high = keytree_int_to_key(DatumGetInt32(value));
			break;
		case KEYTREE_INT8:
			entry->high = keytree_int_to_key(DatumGetInt64(value));
			break;
		case KEYTREE_UUID:
			{
				const pg_uuid_t *uuid = DatumGetUUIDP(value);

				memcpy(&entry->high, uuid->data, sizeof(uint64));
				memcpy(&entry->low, uuid->data + sizeof(uint64), sizeof(uint64));
				entry->high = pg_ntoh64(entry->high);
				entry->low = pg_ntoh64(entry->low);
			}
			break;
	}
}

int
keytree_key_to_bytes(KeytreeKind kind, const KeytreeEntry *entry, char *bytes)
{
	switch (kind)
	{
		case KEYTREE_INT2:
			{
				int16		value = (int16) keytree_int_from_key(entry->high);

				memcpy(bytes, &value, sizeof(value));
				return sizeof(value);
			}
		case KEYTREE_INT4:
			{
				int32		value = (int32) keytree_int_from_key(entry->high);

				memcpy(bytes, &value, sizeof(value));
				return sizeof(value);
			}
		case KEYTREE_INT8:
			{
				int64		value = keytree_int_from_key(entry->high);

				memcpy(bytes, &value, sizeof(value));
				return sizeof(value);
			}
		case KEYTREE_UUID:
			{
				uint64		halves[] = {pg_hton64(entry->high), pg_hton64(entry->low)};

				memcpy(bytes, halves, sizeof(halves));
				return sizeof(halves);
			}
	}
	pg_unreachable();
}

Datum
keytree_key_to_datum(KeytreeKind kind, const KeytreeEntry *entry, char *bytes)
{
	int64		value = keytree_int_from_key(entry->high);

	switch (kind)
	{
		case KEYTREE_INT2:
			return Int16GetDatum((int16) value);
		case KEYTREE_INT4:
			return Int32GetDatum((int32) value);
		case KEYTREE_INT8:
			return Int64GetDatum(value);
		case KEYTREE_UUID:
			keytree_key_to_bytes(kind, entry, bytes);
			return PointerGetDatum(bytes);
	}
	pg_unreachable();
}
