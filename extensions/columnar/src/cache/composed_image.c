/*-------------------------------------------------------------------------
 *
 * composed_image.c
 *	  What the engine has in place of documents, arrays, ranges and composites.
 *
 * An image is the parts of a value, one behind the other, each in a form whose bytes
 * are in the order of its values (image_bytes.h), and whose end they say.  So images are compared
 * as PostgreSQL compares the values, part by part, and parts may have parts themselves.
 *
 * Values that are equal can be written differently where they have numbers, intervals or
 * char(n): 1.0 is equal to 1, and 24 hours to 1 day.  An image is of type char(n) then, with a tail
 * that does not compare and says how the parts are written (image_form.h).
 *
 * Where the parts have no such form, as of types of extensions, the image is the value's bytes, and
 * PostgreSQL compares the values (comparison_key.h of the queries).
 *
 * Attributes of a composite type may come and go, as the columns of a table whose rows are of it.  So it is
 * locked for as long as the transaction lasts that has an image with it inside, such an image is never changed,
 * and its shape is part of the facts of what is cached (column_facts.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "cache/composed_image.h"
#include "cache/document_image.h"
#include "cache/image_bytes.h"
#include "cache/user_type.h"
#include "cache/value_image.h"

/* Elements, or bounds. */
typedef struct Part
{
	Oid			type;
	const ValueImage *image;
	int16		length;
	bool		is_by_value;
	char		alignment;
} Part;

/* An attribute of a composite that is there. */
typedef struct Field
{
	int			place;			/* in the descriptor */
	Part		part;
} Field;

struct ComposedImage
{
	ValueImage	image;
	void		(*write) (const ComposedImage *composed, Datum value, ImageWriter *writer);
	Datum		(*read) (const ComposedImage *composed, ImageReader *reader);
	Part		part;
	TypeCacheEntry *range;		/* of ranges and multiranges */
	TupleDesc	desc;			/* of composites */
	Field	   *fields;
	int			field_count;
	bool		ends_with_image;	/* which does not say its end itself */
	List	   *relids;			/* of all composites inside */
	Oid			type;
};

/* ---------------------------------------------------------------- parts - */

/* Ends an image that does not say its end: nothing that may follow in it begins so. */
#define NOTHING_MORE	0

static void
write_part(ImageWriter *writer, const Part *part, Datum value)
{
	const ComposedImage *composed = part->image->composed;
	uint32		length = 0;
	uint64		image;

	if (composed != NULL)
	{
		composed->write(composed, value, writer);
		if (composed->ends_with_image)
			appendStringInfoChar(&writer->bytes, NOTHING_MORE);
		return;
	}
	switch (part->image->type)
	{
		case PENUMBRA_FLOAT4:
			write_float(writer, DatumGetFloat4(value));
			return;
		case PENUMBRA_FLOAT8:
			write_float(writer, DatumGetFloat8(value));
			return;
		case PENUMBRA_NUMERIC:
			write_numeric(writer, value);
			return;
		case PENUMBRA_INTERVAL:
			write_interval(writer, DatumGetIntervalP(value));
			return;
		case PENUMBRA_BPCHAR:
			write_blank_padded(writer, DatumGetBpCharPP(value));
			return;
		default:
			break;
	}
	image = value_image_make(part->image, value, &length);
	switch (part->image->type)
	{
		case PENUMBRA_TEXT:
			write_string(writer, (const char *) (uintptr_t) image, length);
			break;
		case PENUMBRA_UUID:
			appendBinaryStringInfo(&writer->bytes, (const char *) (uintptr_t) image, UUID_LEN);
			break;
		case PENUMBRA_BOOL:
			appendStringInfoChar(&writer->bytes, DatumGetBool((Datum) image) ? 1 : 0);
			break;
		case PENUMBRA_INT2:
			write_int32(writer, part->image->encode != NULL ? (int32) image : DatumGetInt16((Datum) image));
			break;
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
			write_int32(writer, DatumGetInt32((Datum) image));
			break;
		default:
			write_uint64(writer, image ^ SIGN_BIT64);
			break;
	}
}

static Datum
read_part(ImageReader *reader, const Part *part)
{
	const ComposedImage *composed = part->image->composed;
	Size		length = 0;
	char	   *string;
	uint64		image;

	if (composed != NULL)
	{
		Datum		value = composed->read(composed, reader);

		reader->next += composed->ends_with_image;
		return value;
	}
	switch (part->image->type)
	{
		case PENUMBRA_FLOAT4:
			return Float4GetDatum((float4) read_float(reader));
		case PENUMBRA_FLOAT8:
			return Float8GetDatum(read_float(reader));
		case PENUMBRA_NUMERIC:
			return read_numeric(reader);
		case PENUMBRA_INTERVAL:
			return IntervalPGetDatum(read_interval(reader));
		case PENUMBRA_BPCHAR:
			return PointerGetDatum(read_blank_padded(reader));
		case PENUMBRA_TEXT:
			string = read_string(reader, VARHDRSZ, &length);
			if (part->image->decode != NULL)
				return value_image_read(part->image, (uint64) (uintptr_t) (string + VARHDRSZ), (uint32) length);
			SET_VARSIZE(string, VARHDRSZ + length);
			return PointerGetDatum(string);
		case PENUMBRA_UUID:
			string = palloc(UUID_LEN);
			read_bytes(reader, string, UUID_LEN);
			return PointerGetDatum(string);
		case PENUMBRA_BOOL:
			return BoolGetDatum(*reader->next++ != 0);
		case PENUMBRA_INT2:
		case PENUMBRA_INT4:
		case PENUMBRA_DATE:
			image = (uint64) (int64) read_int32(reader);
			break;
		default:
			image = read_uint64(reader) ^ SIGN_BIT64;
			break;
	}
	return part->image->decode != NULL ? part->image->decode(image, 0) : (Datum) image;
}

static bool
has_forms(const ValueImage *image)
{
	switch (image->type)
	{
		case PENUMBRA_FLOAT4:
		case PENUMBRA_FLOAT8:
		case PENUMBRA_NUMERIC:
		case PENUMBRA_INTERVAL:
		case PENUMBRA_BPCHAR:
			return true;
		default:
			return false;
	}
}

/* Of values whose images tell which are equal.  Those of enums have no fixed order, but their equality. */
static bool
set_part(ComposedImage *composed, Oid type, Oid collation)
{
	Part	   *part = &composed->part;

	part->type = type;
	part->image = value_image_of(type);
	if (part->image == NULL)
		return false;
	if (part->image->composed != NULL)
		composed->relids = list_concat_unique_oid(composed->relids, part->image->composed->relids);
	if (part->image->shape != 0)
		composed->image.shape = hash_combine64(composed->image.shape, part->image->shape) | 1;
	if (part->image->equality != VALUE_EQUAL_IMAGES || (part->image->shape != 0 && part->image->composed == NULL))
		return false;
	get_typlenbyvalalign(type, &part->length, &part->is_by_value, &part->alignment);
	composed->image.type = has_forms(part->image) ? PENUMBRA_BPCHAR : PENUMBRA_TEXT;
	composed->image.order = part->image->order;
	composed->image.order_collation = part->image->order_collation;
	if (get_typtype(getBaseType(type)) == TYPTYPE_ENUM)
		composed->image.order = VALUE_ORDER_UNKNOWN;
	else if (part->image->composed == NULL && part->image->order == VALUE_ORDER_OF_IMAGE &&
			 OidIsValid(get_typcollation(type)))
	{
		composed->image.order = VALUE_ORDER_OF_COLLATION;
		composed->image.order_collation = collation;
	}
	return true;
}

/* ---------------------------------------------------------------- arrays - */

/* PostgreSQL compares the elements, a NULL being the greatest; their number; dimensions and bounds. */
enum
{
	NO_MORE_ELEMENTS,
	AN_ELEMENT,
	A_NULL
};

static void
write_array(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	const Part *part = &composed->part;
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *values;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, part->type, part->length, part->is_by_value, part->alignment, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		appendStringInfoChar(&writer->bytes, nulls[i] ? A_NULL : AN_ELEMENT);
		if (!nulls[i])
			write_part(writer, part, values[i]);
	}
	appendStringInfoChar(&writer->bytes, NO_MORE_ELEMENTS);
	appendStringInfoChar(&writer->bytes, (char) ARR_NDIM(array));
	for (int i = 0; i < ARR_NDIM(array); i++)
		write_int32(writer, ARR_DIMS(array)[i]);
	for (int i = 0; i < ARR_NDIM(array); i++)
		write_int32(writer, ARR_LBOUND(array)[i]);
}

static Datum
read_array(const ComposedImage *composed, ImageReader *reader)
{
	const Part *part = &composed->part;
	int			room = 16;
	int			count = 0;
	Datum	   *values = palloc(sizeof(Datum) * room);
	bool	   *nulls = palloc(sizeof(bool) * room);
	int			dimensions;
	int			lengths[MAXDIM];
	int			bounds[MAXDIM];
	int			kind;

	for (; (kind = *reader->next++) != NO_MORE_ELEMENTS; count++)
	{
		if (count == room)
		{
			room *= 2;
			values = repalloc_huge(values, sizeof(Datum) * room);
			nulls = repalloc_huge(nulls, sizeof(bool) * room);
		}
		nulls[count] = kind == A_NULL;
		values[count] = kind == A_NULL ? (Datum) 0 : read_part(reader, part);
	}
	dimensions = *reader->next++;
	Assert(dimensions <= MAXDIM);
	for (int i = 0; i < dimensions; i++)
		lengths[i] = read_int32(reader);
	for (int i = 0; i < dimensions; i++)
		bounds[i] = read_int32(reader);
	return PointerGetDatum(construct_md_array(values, nulls, dimensions, lengths, bounds, part->type, part->length,
											  part->is_by_value, part->alignment));
}

static bool
set_array(ComposedImage *composed, Oid element)
{
	composed->write = write_array;
	composed->read = read_array;
	/* of int2vector and oidvector there are other rules */
	return lookup_type_cache(composed->type, TYPECACHE_CMP_PROC)->cmp_proc == F_BTARRAYCMP &&
		set_part(composed, element, InvalidOid);
}

/* ---------------------------------------------------------------- ranges - */

/* As range_image.c has them. */
enum
{
	EMPTY_RANGE,
	A_RANGE
};

enum
{
	BEFORE_ALL,
	FINITE,
	BEHIND_ALL
};

static void
write_bound(const ComposedImage *composed, const RangeBound *bound, ImageWriter *writer)
{
	if (bound->infinite)
	{
		appendStringInfoChar(&writer->bytes, bound->lower ? BEFORE_ALL : BEHIND_ALL);
		return;
	}
	appendStringInfoChar(&writer->bytes, FINITE);
	write_part(writer, &composed->part, bound->val);
	appendStringInfoChar(&writer->bytes, bound->lower != bound->inclusive);
}

static RangeBound
read_bound(const ComposedImage *composed, ImageReader *reader, bool is_lower)
{
	RangeBound	bound = {.lower = is_lower,.infinite = *reader->next++ != FINITE};

	if (!bound.infinite)
	{
		bound.val = read_part(reader, &composed->part);
		bound.inclusive = (*reader->next++ != 0) != is_lower;
	}
	return bound;
}

static void
write_range_of(const ComposedImage *composed, const RangeType *range, ImageWriter *writer)
{
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;

	range_deserialize(composed->range, range, &lower, &upper, &is_empty);
	appendStringInfoChar(&writer->bytes, is_empty ? EMPTY_RANGE : A_RANGE);
	if (is_empty)
		return;
	write_bound(composed, &lower, writer);
	write_bound(composed, &upper, writer);
}

static RangeType *
read_range_of(const ComposedImage *composed, ImageReader *reader)
{
	RangeBound	lower = {.lower = true};
	RangeBound	upper = {0};
	bool		is_empty = *reader->next++ == EMPTY_RANGE;

	if (!is_empty)
	{
		lower = read_bound(composed, reader, true);
		upper = read_bound(composed, reader, false);
	}
	return compat_range_serialize(composed->range, &lower, &upper, is_empty);
}

static void
write_range(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	write_range_of(composed, DatumGetRangeTypeP(value), writer);
}

static Datum
read_range(const ComposedImage *composed, ImageReader *reader)
{
	return RangeTypePGetDatum(read_range_of(composed, reader));
}

static void
write_multirange(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	int32		count;
	RangeType **ranges;

	multirange_deserialize(composed->range, DatumGetMultirangeTypeP(value), &count, &ranges);
	for (int32 i = 0; i < count; i++)
		write_range_of(composed, ranges[i], writer);
}

static Datum
read_multirange(const ComposedImage *composed, ImageReader *reader)
{
	int32		room = 4;
	RangeType **ranges = palloc(sizeof(RangeType *) * room);
	int32		count = 0;

	/* zeros may follow */
	while (reader->next < reader->end && *reader->next == A_RANGE)
	{
		if (count == room)
			ranges = repalloc(ranges, sizeof(RangeType *) * (room *= 2));
		ranges[count++] = read_range_of(composed, reader);
	}
	return MultirangeTypePGetDatum(make_multirange(composed->type, composed->range, count, ranges));
}

/* By the subtype's default order, as bounds' images have it. */
static bool
set_range(ComposedImage *composed, Oid range, bool is_multirange)
{
	TypeCacheEntry *subtype;

	composed->write = is_multirange ? write_multirange : write_range;
	composed->read = is_multirange ? read_multirange : read_range;
	composed->ends_with_image = is_multirange;
	composed->range = lookup_type_cache(range, TYPECACHE_RANGE_INFO);
	if (composed->range->rngelemtype == NULL)
		return false;
	subtype = lookup_type_cache(composed->range->rngelemtype->type_id, TYPECACHE_CMP_PROC);
	if (OidIsValid(composed->range->rng_collation) && !get_collation_isdeterministic(composed->range->rng_collation))
		return false;
	return subtype->cmp_proc == composed->range->rng_cmp_proc_finfo.fn_oid &&
		set_part(composed, subtype->type_id, composed->range->rng_collation);
}

/* ---------------------------------------------------------------- documents */

static void
write_document(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	document_image_write(DatumGetJsonbP(value), writer);
}

static Datum
read_document(const ComposedImage *composed, ImageReader *reader)
{
	return JsonbPGetDatum(document_image_read(reader));
}

static bool
set_document(ComposedImage *composed)
{
	composed->write = write_document;
	composed->read = read_document;
	composed->image.type = PENUMBRA_BPCHAR;
	composed->image.order = VALUE_ORDER_OF_COLLATION;
	composed->image.order_collation = DEFAULT_COLLATION_OID;
	return true;
}

/* ---------------------------------------------------------------- composites - */

/* As elements of an array: a NULL is the greatest. */
static void
write_composite(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header),.t_data = header};
	Datum	   *values = palloc(sizeof(Datum) * composed->desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * composed->desc->natts);

	heap_deform_tuple(&tuple, composed->desc, values, nulls);
	for (int i = 0; i < composed->field_count; i++)
	{
		const Field *field = &composed->fields[i];

		appendStringInfoChar(&writer->bytes, nulls[field->place] ? A_NULL : AN_ELEMENT);
		if (!nulls[field->place])
			write_part(writer, &field->part, values[field->place]);
	}
}

static Datum
read_composite(const ComposedImage *composed, ImageReader *reader)
{
	Datum	   *values = palloc0(sizeof(Datum) * composed->desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * composed->desc->natts);

	memset(nulls, true, sizeof(bool) * composed->desc->natts);
	for (int i = 0; i < composed->field_count; i++)
	{
		const Field *field = &composed->fields[i];

		nulls[field->place] = *reader->next++ == A_NULL;
		if (!nulls[field->place])
			values[field->place] = read_part(reader, &field->part);
	}
	return HeapTupleGetDatum(heap_form_tuple(composed->desc, values, nulls));
}

static bool
have_one_order(Oid a, Oid b)
{
	return a == b || (compat_collate_is_c(a) && compat_collate_is_c(b));
}

/* Adds an attribute to the image; its order is known if all texts inside have one collation. */
static bool
add_field(ComposedImage *composed, Form_pg_attribute att)
{
	ValueImage	before = composed->image;
	ValueImage *image = &composed->image;

	if ((OidIsValid(att->attcollation) && !get_collation_isdeterministic(att->attcollation)) ||
		!set_part(composed, att->atttypid, att->attcollation))
		return false;
	if (image->order == VALUE_ORDER_OF_COLLATION && !OidIsValid(image->order_collation))
		image->order_collation = att->attcollation;
	if (before.type == PENUMBRA_BPCHAR)
		image->type = PENUMBRA_BPCHAR;
	if (before.order == VALUE_ORDER_UNKNOWN ||
		(before.order == VALUE_ORDER_OF_COLLATION && image->order == VALUE_ORDER_OF_COLLATION &&
		 !have_one_order(before.order_collation, image->order_collation)))
		image->order = VALUE_ORDER_UNKNOWN;
	else if (before.order == VALUE_ORDER_OF_COLLATION && image->order == VALUE_ORDER_OF_IMAGE)
	{
		image->order = before.order;
		image->order_collation = before.order_collation;
	}
	composed->fields[composed->field_count++] = (Field) {.place = att->attnum - 1,.part = composed->part};
	return true;
}

#define MISSING_SHAPE	11

/*
 * With those of what is inside, which are locked.  A value may be older than a table's column and have the column's
 * missing value, which a rewrite of the table forgets.
 */
static uint64
shape_of(TupleDesc desc)
{
	uint64		shape = desc->natts;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const ValueImage *image = att->attisdropped ? NULL : value_image_of(att->atttypid);

		shape = hash_combine64(shape, att->attisdropped ? 0 : ((uint64) att->atttypid << 32 | att->attcollation));
		if (att->atthasmissing && !att->attisdropped)
			shape = hash_combine64(shape, MISSING_SHAPE);
		if (image != NULL && image->composed != NULL)
			shape = hash_combine64(shape, image->shape);
	}
	return shape | 1;
}

/* Of a composite type, or the one that each table and view has for its rows; not of PostgreSQL's own. */
static Oid
relation_of_composite(Oid type_oid)
{
	Oid			relid = type_oid < FirstGenbkiObjectId ? InvalidOid : get_typ_typrelid(type_oid);

	return relid >= FirstNormalObjectId ? relid : InvalidOid;
}

/* In the current memory context. */
static bool
set_composite(ComposedImage *composed, Oid relid)
{
	bool		is_possible = true;

	/* what was changed until then is known behind it */
	LockRelationOid(relid, AccessShareLock);
	composed->desc = lookup_rowtype_tupdesc_copy(composed->type, -1);
	composed->fields = palloc(sizeof(Field) * composed->desc->natts);
	composed->write = write_composite;
	composed->read = read_composite;
	composed->image.type = PENUMBRA_TEXT;
	composed->image.order = VALUE_ORDER_OF_IMAGE;
	composed->image.shape = shape_of(composed->desc);
	for (int i = 0; i < composed->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(composed->desc, i);

		is_possible &= att->attisdropped || add_field(composed, att);
	}
	composed->relids = list_append_unique_oid(composed->relids, relid);
	return is_possible;
}

/* ---------------------------------------------------------------- images - */

static const char *
encode(const ComposedImage *composed, Datum value, uint32 *length)
{
	ImageWriter writer = {0};

	initStringInfo(&writer.bytes);
	composed->write(composed, value, &writer);
	if (composed->image.type == PENUMBRA_BPCHAR)
		form_finish(&writer.form, &writer.bytes);
	*length = writer.bytes.len;
	return writer.bytes.data;
}

static Datum
decode(const ComposedImage *composed, const char *image, uint32 length)
{
	ImageReader reader = {.next = (const uint8 *) image};

	if (composed->image.type == PENUMBRA_BPCHAR)
		reader.form = form_begin(image, &length);
	reader.end = reader.next + length;
	return composed->read(composed, &reader);
}

typedef struct KnownImage
{
	Oid			type;			/* key */
	bool		is_current;
	bool		has_image;
	ComposedImage *composed;	/* where it is, as others may hold it */
} KnownImage;

static HTAB *known = NULL;

/* A type's OID can be given again. */
static void
forget_images(Datum argument, int cache_id, uint32 hash_value)
{
	HASH_SEQ_STATUS images;
	KnownImage *image;

	hash_seq_init(&images, known);
	while ((image = hash_seq_search(&images)) != NULL)
		image->is_current = false;
}

/* Without an image, a type may get one. */
static void
forget_composites(Datum argument, Oid relid)
{
	HASH_SEQ_STATUS images;
	KnownImage *image;

	hash_seq_init(&images, known);
	while ((image = hash_seq_search(&images)) != NULL)
	{
		if (!image->has_image || (image->composed->relids != NIL && relid == InvalidOid) ||
			list_member_oid(image->composed->relids, relid))
			image->is_current = false;
	}
}

static KnownImage *
known_image(Oid type_oid)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(KnownImage),.hcxt = TopMemoryContext};
	KnownImage *image;
	bool		is_found;

	if (known == NULL)
	{
		known = hash_create("Penumbra images", 32, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		CacheRegisterSyscacheCallback(TYPEOID, forget_images, (Datum) 0);
		CacheRegisterRelcacheCallback(forget_composites, (Datum) 0);
	}
	image = hash_search(known, &type_oid, HASH_ENTER, &is_found);
	if (!is_found)
		*image = (KnownImage) {.type = type_oid};
	return image;
}

/* ---------------------------------------------------------------- bytes - */

/* Also of images of images: none has it for a part. */
#define BYTES_SHAPE		7

static void
write_whole(const ComposedImage *composed, Datum value, ImageWriter *writer)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

	appendBinaryStringInfo(&writer->bytes, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

static Datum
read_whole(const ComposedImage *composed, ImageReader *reader)
{
	return PointerGetDatum(cstring_to_text_with_len((const char *) reader->next, reader->end - reader->next));
}

/* The type has an order or a hash of its own, as those of its parts are. */
static bool
set_bytes(ComposedImage *composed)
{
	const TypeCacheEntry *type = lookup_type_cache(composed->type, TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);
	ValueImage *image = &composed->image;

	composed->write = write_whole;
	composed->read = read_whole;
	image->type = PENUMBRA_TEXT;
	image->equality = VALUE_EQUAL_BY_TYPE;
	image->order = VALUE_ORDER_UNKNOWN;
	image->order_collation = InvalidOid;
	image->shape = composed->relids == NIL ? BYTES_SHAPE : hash_combine64(image->shape, BYTES_SHAPE) | 1;
	return OidIsValid(type->cmp_proc) || OidIsValid(type->hash_proc);
}

static bool
set_image(ComposedImage *composed)
{
	Oid			element = get_element_type(composed->type);
	bool		is_multirange = type_is_multirange(composed->type);
	Oid			relid = relation_of_composite(composed->type);

	if (composed->type == JSONBOID)
		return set_document(composed);
	if (OidIsValid(element))
		return get_typtype(element) != TYPTYPE_PSEUDO && (set_array(composed, element) || set_bytes(composed));
	if (OidIsValid(relid))
		return set_composite(composed, relid) || set_bytes(composed);
	if (!type_is_range(composed->type) && !is_multirange)
		return false;
	return set_range(composed, is_multirange ? get_multirange_range(composed->type) : composed->type, is_multirange) ||
		set_bytes(composed);
}

/* In its place, as others may hold it; with composites inside another shape has a new one, and the old one stays. */
static void
make_image(KnownImage *image)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "Penumbra image", ALLOCSET_SMALL_SIZES);
	MemoryContext around = MemoryContextSwitchTo(context);
	ComposedImage *made = palloc0(sizeof(ComposedImage));
	bool		is_same;

	made->type = image->type;
	made->image = (ValueImage) {.encode_parts = encode,.decode_parts = decode,.composed = made};
	image->has_image = set_image(made);
	image->is_current = true;
	is_same = image->has_image && image->composed != NULL && made->image.shape != 0 &&
		made->image.shape == image->composed->image.shape;
	MemoryContextSwitchTo(around);
	if (!image->has_image || is_same)
		MemoryContextDelete(context);
	else if (image->composed == NULL || made->relids != NIL || image->composed->relids != NIL)
		image->composed = made;
	else
	{
		*image->composed = *made;
		image->composed->image.composed = image->composed;
	}
}

static const ValueImage *
image_of(Oid type_oid)
{
	KnownImage *image = known_image(type_oid);
	ListCell   *lc;

	/* what was changed until then is known behind it */
	foreach(lc, image->has_image ? image->composed->relids : NIL)
		LockRelationOid(lfirst_oid(lc), AccessShareLock);
	if (!image->is_current)
		make_image(image);
	return image->has_image ? &image->composed->image : user_type_image(type_oid);
}

void
composed_image_install(void)
{
	value_image_set_others(image_of);
}
