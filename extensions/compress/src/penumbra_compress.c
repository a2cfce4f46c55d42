/*-------------------------------------------------------------------------
 *
 * penumbra_compress.c
 *	  Loading the library: its setting and hook.
 *
 *-------------------------------------------------------------------------
 */
#include "typmod.h"

#include "dictionary.h"
#include "input.h"
#include "pg_compat.h"
#include "stock_ddl.h"
#include "train.h"
#include "utils/guc.h"

PENUMBRA_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

static const struct config_enum_entry default_methods[] = {
	{"none", METHOD_NONE, false},
	{"pglz", METHOD_PGLZ, false},
	{"lz4", METHOD_LZ4, false},
	{"zlib", METHOD_ZLIB, false},
	{"gzip", METHOD_GZIP, false},
	{"zstd", METHOD_ZSTD, false},
	{"snappy", METHOD_SNAPPY, false},
	{"brotli", METHOD_BROTLI, false},
	{NULL, 0, false}
};

void
_PG_init(void)
{
	DefineCustomEnumVariable("penumbra_compress.default_method",
							 "Compression method of columns and values whose type names none.",
							 NULL, &default_method, METHOD_ZSTD, default_methods, PGC_USERSET, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra_compress.dictionaries_per_role",
							"How many compression dictionaries the tables of a role may have in a database.",
							"Superusers may train more.",
							&dictionaries_per_role, 100, 0, DICTIONARY_NUMBER_MAX, PGC_SUSET, 0,
							NULL, NULL, NULL);
	dictionary_init();
	input_init();
	stock_ddl_init();
	MarkGUCPrefixReserved("penumbra_compress");
}
