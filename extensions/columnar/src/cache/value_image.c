/*-------------------------------------------------------------------------
 *
 * value_image.c
 *	  What the engine has in place of values of PostgreSQL's types.
 *
 * Images that are strings are compared as the engine compares text without a
 * collation: byte by byte, and a string before those that it begins.  Images
 * are stored, so a change of one is a change of segment format, which only the
 * build that wrote a segment reads (T9 of the disk cache).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>

#include "pg_compat.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varbit.h"

#include "cache/range_image.h"
#include "cache/value_image.h"

/* ---------------------------------------------------------------- numbers - */

/* "char" is compared as unsigned. */
static uint64
encode_char(Datum value, uint32 *length)
{
	return (uint8) DatumGetChar(value);
}

static Datum
decode_char(uint64 image, uint32 length)
{
	return CharGetDatum((char) (uint8) image);
}

static uint64
encode_oid(Datum value, uint32 *length)
{
	return DatumGetObjectId(value);
}

static Datum
decode_oid(uint64 image, uint32 length)
{
	return ObjectIdGetDatum((Oid) image);
}

#define SIGN_BIT (UINT64CONST(1) << 63)

/* All 64 bits of an unsigned number: the least one is the least signed number. */
static uint64
encode_unsigned(Datum value, uint32 *length)
{
	return DatumGetUInt64(value) ^ SIGN_BIT;
}

static Datum
decode_unsigned(uint64 image, uint32 length)
{
	return UInt64GetDatum(image ^ SIGN_BIT);
}

/* The bytes of a MAC address as a number, the first one counting most. */
static uint64
encode_macaddr(Datum value, uint32 *length)
{
	const uint8 *bytes = (const uint8 *) DatumGetMacaddrP(value);
	uint64		image = 0;

	for (int i = 0; i < (int) sizeof(macaddr); i++)
		image = image << 8 | bytes[i];
	return image;
}

static Datum
decode_macaddr(uint64 image, uint32 length)
{
	macaddr    *value = palloc(sizeof(macaddr));

	for (int i = sizeof(macaddr) - 1; i >= 0; i--, image >>= 8)
		((uint8 *) value)[i] = (uint8) image;
	return MacaddrPGetDatum(value);
}

/* The same, which needs all 64 bits. */
static uint64
encode_macaddr8(Datum value, uint32 *length)
{
	uint64		bytes;

	memcpy(&bytes, DatumGetMacaddr8P(value), sizeof(bytes));
	return pg_ntoh64(bytes) ^ SIGN_BIT;
}

static Datum
decode_macaddr8(uint64 image, uint32 length)
{
	macaddr8   *value = palloc(sizeof(macaddr8));
	uint64		bytes = pg_hton64(image ^ SIGN_BIT);

	memcpy(value, &bytes, sizeof(bytes));
	return Macaddr8PGetDatum(value);
}

/* ---------------------------------------------------------------- strings - */

static uint64
encode_name(Datum value, uint32 *length)
{
	const char *name = NameStr(*DatumGetName(value));

	*length = strnlen(name, NAMEDATALEN);
	return (uint64) (uintptr_t) name;
}

static Datum
decode_name(uint64 image, uint32 length)
{
	Name		name = palloc0(sizeof(NameData));

	memcpy(NameStr(*name), (const char *) (uintptr_t) image, Min(length, NAMEDATALEN - 1));
	return NameGetDatum(name);
}

/* The time in UTC, then the zone: both as numbers whose bytes are in order. */
#define TIMETZ_IMAGE_BYTES (sizeof(uint64) + sizeof(uint32))

static uint64
encode_timetz(Datum value, uint32 *length)
{
	const TimeTzADT *timetz = DatumGetTimeTzADTP(value);
	char	   *image = palloc(TIMETZ_IMAGE_BYTES);
	uint64		time = pg_hton64((uint64) (timetz->time + (int64) timetz->zone * USECS_PER_SEC) ^ SIGN_BIT);
	uint32		zone = pg_hton32((uint32) timetz->zone ^ (uint32) 1 << 31);

	memcpy(image, &time, sizeof(time));
	memcpy(image + sizeof(time), &zone, sizeof(zone));
	*length = TIMETZ_IMAGE_BYTES;
	return (uint64) (uintptr_t) image;
}

static Datum
decode_timetz(uint64 image, uint32 length)
{
	TimeTzADT  *timetz = palloc0(sizeof(TimeTzADT));
	uint64		time;
	uint32		zone;

	Assert(length == TIMETZ_IMAGE_BYTES);
	memcpy(&time, (const char *) (uintptr_t) image, sizeof(time));
	memcpy(&zone, (const char *) (uintptr_t) image + sizeof(time), sizeof(zone));
	timetz->zone = (int32) (pg_ntoh32(zone) ^ (uint32) 1 << 31);
	timetz->time = (int64) (pg_ntoh64(time) ^ SIGN_BIT) - (int64) timetz->zone * USECS_PER_SEC;
	return TimeTzADTPGetDatum(timetz);
}

/*
 * Family, network, length of the netmask, and the address where that is not the
 * network.  PostgreSQL compares families, then the bits that both netmasks cover,
 * the netmasks' lengths, and all bits of the addresses.  If the common bits differ,
 * the networks differ there first.  If not, the network with the shorter netmask
 * has zeros behind them, so it is less or both are the same, and then the netmask
 * decides as there.
 */
static uint64
encode_inet(Datum value, uint32 *length)
{
	const inet *packed = DatumGetInetPP(value);
	const inet_struct *from = (const inet_struct *) VARDATA_ANY(packed);
	int			bytes = from->family == PGSQL_AF_INET ? 4 : 16;
	uint8	   *image = palloc(2 + 2 * bytes);
	int			netmask_bytes = from->bits / BITS_PER_BYTE;

	image[0] = from->family;
	memset(image + 1, 0, bytes);
	memcpy(image + 1, from->ipaddr, netmask_bytes);
	if (from->bits % BITS_PER_BYTE != 0)
		image[1 + netmask_bytes] = from->ipaddr[netmask_bytes] & (0xFF << (BITS_PER_BYTE - from->bits % BITS_PER_BYTE));
	image[1 + bytes] = from->bits;
	*length = 2 + bytes;
	if (memcmp(image + 1, from->ipaddr, bytes) != 0)
	{
		memcpy(image + *length, from->ipaddr, bytes);
		*length += bytes;
	}
	return (uint64) (uintptr_t) image;
}

static Datum
decode_inet(uint64 image, uint32 length)
{
	const uint8 *from = (const uint8 *) (uintptr_t) image;
	inet	   *value = palloc0(sizeof(inet));
	int			bytes = from[0] == PGSQL_AF_INET ? 4 : 16;

	ip_family(value) = from[0];
	ip_bits(value) = from[1 + bytes];
	memcpy(ip_addr(value), (int) length == 2 + bytes ? from + 1 : from + 2 + bytes, bytes);
	SET_INET_VARSIZE(value);
	return InetPGetDatum(value);
}

/*
 * Groups as in penumbra/types.h.  PostgreSQL compares the bytes that both values
 * have, then the numbers of bits.  Zeros in place of missing bytes do not come
 * after any byte, and where they decide nothing the numbers do.
 */

static uint64
encode_bits(Datum value, uint32 *length)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	const char *bits = VARDATA_ANY(packed) + sizeof(int32);
	Size		bytes = VARSIZE_ANY_EXHDR(packed) - sizeof(int32);
	Size		groups = Max((bytes + PENUMBRA_BITS_GROUP_BYTES - 1) / PENUMBRA_BITS_GROUP_BYTES, 1);
	uint8	   *image = palloc_extended(groups * (PENUMBRA_BITS_GROUP_BYTES + 1), MCXT_ALLOC_HUGE);
	uint8	   *next = image;
	int32		bit_count;

	memcpy(&bit_count, VARDATA_ANY(packed), sizeof(bit_count));
	for (Size group = 0; group < groups; group++, next += PENUMBRA_BITS_GROUP_BYTES + 1)
	{
		Size		begin = group * PENUMBRA_BITS_GROUP_BYTES;
		bool		is_last = group == groups - 1;

		memset(next, 0, PENUMBRA_BITS_GROUP_BYTES);
		memcpy(next, bits + begin, Min(bytes - begin, PENUMBRA_BITS_GROUP_BYTES));
		next[PENUMBRA_BITS_GROUP_BYTES] = is_last ? bit_count - begin * BITS_PER_BYTE : PENUMBRA_BITS_GO_ON;
	}
	*length = groups * (PENUMBRA_BITS_GROUP_BYTES + 1);
	return (uint64) (uintptr_t) image;
}

static Datum
decode_bits(uint64 image, uint32 length)
{
	const uint8 *next = (const uint8 *) (uintptr_t) image;
	Size		groups = length / (PENUMBRA_BITS_GROUP_BYTES + 1);
	Size		bit_count = (groups - 1) * PENUMBRA_BITS_GROUP_BYTES * BITS_PER_BYTE + next[length - 1];
	VarBit	   *value = palloc0(VARBITTOTALLEN(bit_count));
	uint8	   *to = VARBITS(value);
	uint8	   *end;

	SET_VARSIZE(value, VARBITTOTALLEN(bit_count));
	VARBITLEN(value) = bit_count;
	end = to + VARBITBYTES(value);
	for (; to < end; to += PENUMBRA_BITS_GROUP_BYTES, next += PENUMBRA_BITS_GROUP_BYTES + 1)
		memcpy(to, next, Min(end - to, PENUMBRA_BITS_GROUP_BYTES));
	return VarBitPGetDatum(value);
}

/* ---------------------------------------------------------------- types --- */

/* Types with a fixed equality and order.  array_agg() makes arrays of those without functions only. */
static const struct
{
	Oid			type_oid;
	ValueImage	image;
}			images[] = {
	{BOOLOID, {PENUMBRA_BOOL}},
	{INT2OID, {PENUMBRA_INT2}},
	{INT4OID, {PENUMBRA_INT4}},
	{INT8OID, {PENUMBRA_INT8}},
	{FLOAT4OID, {PENUMBRA_FLOAT4}},
	{FLOAT8OID, {PENUMBRA_FLOAT8}},
	{NUMERICOID, {PENUMBRA_NUMERIC}},
	{DATEOID, {PENUMBRA_DATE}},
	{TIMESTAMPOID, {PENUMBRA_TIMESTAMP}},
	{TIMESTAMPTZOID, {PENUMBRA_TIMESTAMPTZ}},
	{INTERVALOID, {PENUMBRA_INTERVAL}},
	{TEXTOID, {PENUMBRA_TEXT}},
	{VARCHAROID, {PENUMBRA_TEXT}},
	{BPCHAROID, {PENUMBRA_BPCHAR}},
	{UUIDOID, {PENUMBRA_UUID}},
	{TIMEOID, {PENUMBRA_INT8}},
	{MONEYOID, {PENUMBRA_INT8}},
	{BYTEAOID, {PENUMBRA_TEXT}},
	{CHAROID, {PENUMBRA_INT2, encode_char, decode_char}},
	{OIDOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGPROCOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGPROCEDUREOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGOPEROID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGOPERATOROID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGCLASSOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGCOLLATIONOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGTYPEOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGROLEOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGNAMESPACEOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGCONFIGOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{REGDICTIONARYOID, {PENUMBRA_INT8, encode_oid, decode_oid}},
	{PG_LSNOID, {PENUMBRA_INT8, encode_unsigned, decode_unsigned}},
	{XID8OID, {PENUMBRA_INT8, encode_unsigned, decode_unsigned}},
	{NAMEOID, {PENUMBRA_TEXT, encode_name, decode_name}},
	{MACADDROID, {PENUMBRA_INT8, encode_macaddr, decode_macaddr}},
	{MACADDR8OID, {PENUMBRA_INT8, encode_macaddr8, decode_macaddr8}},
	{TIMETZOID, {PENUMBRA_TEXT, encode_timetz, decode_timetz}},
	{INETOID, {PENUMBRA_TEXT, encode_inet, decode_inet}},
	{CIDROID, {PENUMBRA_TEXT, encode_inet, decode_inet}},
	{BITOID, {PENUMBRA_TEXT, encode_bits, decode_bits}},
	{VARBITOID, {PENUMBRA_TEXT, encode_bits, decode_bits}},
	{INT4RANGEOID, {PENUMBRA_TEXT, range_image_encode, range_image_decode}},
	{INT8RANGEOID, {PENUMBRA_TEXT, range_image_encode, range_image_decode}},
	{DATERANGEOID, {PENUMBRA_TEXT, range_image_encode, range_image_decode}},
	{TSRANGEOID, {PENUMBRA_TEXT, range_image_encode, range_image_decode}},
	{TSTZRANGEOID, {PENUMBRA_TEXT, range_image_encode, range_image_decode}},
	{INT4MULTIRANGEOID, {PENUMBRA_TEXT, multirange_image_encode, multirange_image_decode}},
	{INT8MULTIRANGEOID, {PENUMBRA_TEXT, multirange_image_encode, multirange_image_decode}},
	{DATEMULTIRANGEOID, {PENUMBRA_TEXT, multirange_image_encode, multirange_image_decode}},
	{TSMULTIRANGEOID, {PENUMBRA_TEXT, multirange_image_encode, multirange_image_decode}},
	{TSTZMULTIRANGEOID, {PENUMBRA_TEXT, multirange_image_encode, multirange_image_decode}},
};

/* An enum's value is its OID, which stays; its order is the catalog's. */
static const ValueImage enum_image = {PENUMBRA_INT8, encode_oid, decode_oid};

static const ValueImage *(*other_image_of) (Oid type_oid) = NULL;

void
value_image_set_others(const ValueImage *(*image_of) (Oid type_oid))
{
	other_image_of = image_of;
}

const ValueImage *
value_image_of(Oid type_oid)
{
	for (int i = 0; i < (int) lengthof(images); i++)
	{
		if (images[i].type_oid == type_oid)
			return &images[i].image;
	}
	switch (type_oid < FirstGenbkiObjectId ? TYPTYPE_BASE : get_typtype(type_oid))
	{
		case TYPTYPE_ENUM:
			return &enum_image;
		case TYPTYPE_DOMAIN:
			return value_image_of(getBaseType(type_oid));
		default:
			return other_image_of(type_oid);
	}
}

bool
value_image_tells_equality(Oid type_oid)
{
	const ValueImage *image = value_image_of(type_oid);

	return image != NULL && image->equality == VALUE_EQUAL_IMAGES;
}

uint64
value_image_make(const ValueImage *image, Datum value, uint32 *length)
{
	struct varlena *packed;

	if (image->composed != NULL)
		return (uint64) (uintptr_t) image->encode_parts(image->composed, value, length);
	if (image->encode != NULL)
		return image->encode(value, length);
	if (image->fixed_bytes > 0)
	{
		*length = image->fixed_bytes;
		return (uint64) (uintptr_t) DatumGetPointer(value);
	}
	if (image->type != PENUMBRA_TEXT && image->type != PENUMBRA_BPCHAR && image->type != PENUMBRA_NUMERIC)
		return (uint64) value;
	packed = PG_DETOAST_DATUM_PACKED(value);
	*length = VARSIZE_ANY_EXHDR(packed);
	return (uint64) (uintptr_t) VARDATA_ANY(packed);
}

Datum
value_image_read(const ValueImage *image, uint64 made, uint32 length)
{
	return image->composed == NULL ? image->decode(made, length)
		: image->decode_parts(image->composed, (const char *) (uintptr_t) made, length);
}

int
value_image_width(PenumbraType type)
{
	switch (type)
	{
		case PENUMBRA_BOOL:
			return 1;
		case PENUMBRA_INT2:
			return 2;
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
		case PENUMBRA_FLOAT4:
			return 4;
		case PENUMBRA_INT8:
		case PENUMBRA_TIMESTAMP:
		case PENUMBRA_TIMESTAMPTZ:
		case PENUMBRA_FLOAT8:
			return 8;
		case PENUMBRA_INTERVAL:
		case PENUMBRA_UUID:
			return 16;
		default:
			return 0;
	}
}
