/*-------------------------------------------------------------------------
 *
 * sample.c
 *	  See sample.h.
 *
 *-------------------------------------------------------------------------
 */
#include "sample.h"

#include "access/htup_details.h"
#include "catalog.h"
#include "compressed.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "type_pair.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* A longer value adds nothing to what its beginning says. */
#define MAX_VALUE_BYTES (256 * 1024)

/* Pages are drawn, and some have fewer rows than the average. */
#define OVERSAMPLING 2

static void
find_type(SampledColumn *column)
{
	bool		is_plain;

	column->compressed_type = compressed_type_name(column->type, catalog_schema(), &is_plain);
	if (column->compressed_type == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column \"%s\" of type %s cannot be compressed", column->attribute_name,
						format_type_be(column->type)),
				 errhint("Columns of type text, jsonb and bytea can.")));
	column->is_compressed = !is_plain;
}

SampledColumn
sample_column(Oid relation, const char *attribute)
{
	SampledColumn column = {.relation = relation, .attribute_name = pstrdup(attribute)};
	AttrNumber	attnum = get_attnum(relation, attribute);
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", attribute, name)));
	column.relation_name =
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
	column.type = get_atttype(relation, attnum);
	find_type(&column);
	return column;
}

/* Which part of the pages has so many rows, as far as ANALYZE knows. */
static double
percent_of_pages(Oid relation, uint32 max_values)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	double		rows;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	rows = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	return rows > 0 ? Min(100.0, 100.0 * OVERSAMPLING * max_values / rows) : 100.0;
}

static void
add_value(Sample *sample, Datum datum, bool is_compressed, Size max_bytes)
{
	struct varlena *value = is_compressed ? value_decompress(datum) : PG_DETOAST_DATUM_PACKED(datum);
	Size		bytes = Min(VARSIZE_ANY_EXHDR(value), MAX_VALUE_BYTES);

	bytes = Min(bytes, max_bytes - sample->total_bytes);
	if (bytes > 0)
	{
		memcpy(sample->bytes + sample->total_bytes, VARDATA_ANY(value), bytes);
		sample->value_bytes[sample->values++] = bytes;
		sample->total_bytes += bytes;
	}
	if (DatumGetPointer(datum) != (Pointer) value)
		pfree(value);
}

Sample
sample_values(const SampledColumn *column, uint32 max_values, Size max_bytes)
{
	const char *attribute = quote_identifier(column->attribute_name);
	MemoryContext caller = CurrentMemoryContext;
	Sample		sample = {0};
	StringInfoData query;

	initStringInfo(&query);
	/* by a hash of their places, so that few values are not those of the first pages */
	appendStringInfo(&query,
					 "SELECT %s, pg_catalog.pg_column_size(%s)"
					 " FROM %s TABLESAMPLE pg_catalog.system (%.6f) REPEATABLE (0)"
					 " WHERE %s IS NOT NULL ORDER BY pg_catalog.hashtid(ctid), ctid LIMIT %u",
					 attribute, attribute, column->relation_name,
					 percent_of_pages(column->relation, max_values), attribute, max_values);
	sample.bytes = palloc(max_bytes);
	sample.value_bytes = palloc(max_values * sizeof(size_t));

	SPI_connect();
	if (SPI_execute(query.data, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not sample column \"%s\"", column->attribute_name);
	/* its name and type were looked up without a lock */
	if (SPI_gettypeid(SPI_tuptable->tupdesc, 1) != column->type)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("column \"%s\" was changed by another session", column->attribute_name)));
	MemoryContextSwitchTo(caller);
	for (uint64 i = 0; i < SPI_processed && sample.total_bytes < max_bytes; i++)
	{
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		is_null;

		CHECK_FOR_INTERRUPTS();
		add_value(&sample, SPI_getbinval(SPI_tuptable->vals[i], desc, 1, &is_null),
				  column->is_compressed, max_bytes);
		sample.stored_bytes += DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[i], desc, 2,
														   &is_null));
	}
	SPI_finish();
	return sample;
}
