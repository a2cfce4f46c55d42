/*-------------------------------------------------------------------------
 *
 * typmod.c
 *	  Type modifiers.  See typmod.h.
 *
 *-------------------------------------------------------------------------
 */
#include "typmod.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "pg_compat.h"
#include "utils/array.h"
#include "utils/builtins.h"

PENUMBRA_SQL_FUNCTION(compression_typmod_in);
PENUMBRA_SQL_FUNCTION(compression_typmod_out);

int			default_method = METHOD_ZSTD;

/* A typmod has 12 bits of method, 6 of level, then the dictionary's number; see target_typmod(). */
CompressionTarget
typmod_target(int32 typmod)
{
	CompressionTarget target = {0};

	if (typmod < 0)
	{
		const CompressionMethod *method = method_by_id(default_method);

		target.method_id = default_method;
		target.level = method->routine != NULL ? method->routine->default_level : 0;
	}
	else
	{
		int			level = typmod >> 12 & 0x3F;

		target.method_id = typmod & METHOD_ID_MAX;
		target.level = level == TYPMOD_NO_LEVEL ? 0 : level + PENUMBRA_MIN_LEVEL;
		target.dictionary_number = typmod >> 18;
	}
	return target;
}

int32
target_typmod(const CompressionTarget *target)
{
	const CompressionMethod *method = method_by_id(target->method_id);
	int			level = method_has_levels(method) ? target->level - PENUMBRA_MIN_LEVEL
		: TYPMOD_NO_LEVEL;

	return target->method_id | level << 12 | target->dictionary_number << 18;
}

int32
raw_typmod(void)
{
	const CompressionTarget none = {.method_id = METHOD_NONE};

	return target_typmod(&none);
}

/* Levels and dictionaries that the method takes: a modifier can be made by hand. */
void
check_target(const CompressionTarget *target, const CompressionMethod *method)
{
	const CompressionRoutine *routine = method->routine;
	CompressionOptions options = {
		.level = target->level,
		/* the content does not matter and may not be there yet */
		.dictionary = target->dictionary_number != 0 ? "" : NULL
	};

	if (method_has_levels(method) &&
		(target->level < routine->min_level || target->level > routine->max_level))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("compression level %d is out of range for method \"%s\"", target->level,
						method->name),
				 errhint("Its levels are %d to %d, the default is %d.", routine->min_level,
						 routine->max_level, routine->default_level)));
	if (target->dictionary_number != 0 && (routine == NULL || !routine->takes_dictionary))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("compression method \"%s\" takes no dictionary", method->name)));
	if (routine != NULL && routine->cmcheck != NULL)
		routine->cmcheck(&options);
}

static bool
parse_integer(const char *string, int *number)
{
	char	   *end;
	long		parsed;

	errno = 0;
	parsed = strtol(string, &end, 10);
	if (end == string || *end != '\0' || errno != 0 || parsed != (int) parsed)
		return false;
	*number = parsed;
	return true;
}

static void
set_level(CompressionTarget *target, const CompressionMethod *method, const char *string)
{
	int			level;

	if (!parse_integer(string, &level))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid compression level: \"%s\"", string)));
	if (!method_has_levels(method))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("compression method \"%s\" has no levels", method->name)));
	target->level = level;
}

/* A number is taken as it is: a dump is restored before the dictionary's row is there. */
static void
set_dictionary(CompressionTarget *target, const char *string)
{
	int			number;

	if (!parse_integer(string, &number))
	{
		uint32		id = dictionary_id_by_name(string);

		if (id == 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("compression dictionary \"%s\" does not exist", string)));
		number = dictionary_number(id);
	}
	if (number < 1 || number > DICTIONARY_NUMBER_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of a compression dictionary must be from 1 to %d",
						DICTIONARY_NUMBER_MAX)));
	dictionary_check_use(number);
	target->dictionary_number = number;
}

/*
 * (method [, level] [, dictionary]): a second of two is a level if it is a number,
 * unless the method has dictionaries but no levels.  pg_upgrade creates the tables
 * while "registered_compression_methods" is empty: there both directions have the bare number.
 */
Datum
compression_typmod_in(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	const CompressionMethod *method;
	CompressionTarget target = {0};
	Datum	   *words;
	int			count;
	int			number;
	bool		second_is_level;

	deconstruct_array(array, CSTRINGOID, -2, false, TYPALIGN_CHAR, &words, NULL, &count);
	if (count < 1 || count > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type modifier"),
				 errhint("A compressed type is written as (method), (method, level), "
						 "(method, dictionary) or (method, level, dictionary).")));
	if (IsBinaryUpgrade && parse_integer(DatumGetCString(words[0]), &number))
		PG_RETURN_INT32(number);
	method = method_by_name(DatumGetCString(words[0]));
	if (method == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("compression method \"%s\" does not exist", DatumGetCString(words[0])),
				 errhint("The view \"compression_methods\" lists those that exist.")));
	target.method_id = method->id;
	target.level = method->routine != NULL ? method->routine->default_level : 0;
	second_is_level = count == 3 || (parse_integer(DatumGetCString(words[count - 1]), &number) &&
									 (method_has_levels(method) || method->routine == NULL ||
									  !method->routine->takes_dictionary));
	if (count > 1 && second_is_level)
		set_level(&target, method, DatumGetCString(words[1]));
	else if (count == 2)
		set_dictionary(&target, DatumGetCString(words[1]));
	if (count == 3)
		set_dictionary(&target, DatumGetCString(words[2]));
	check_target(&target, method);
	PG_RETURN_INT32(target_typmod(&target));
}

Datum
compression_typmod_out(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(0);
	CompressionTarget target = typmod_target(typmod);
	char		name[NAMEDATALEN];
	StringInfoData out;

	if (IsBinaryUpgrade)
		PG_RETURN_CSTRING(psprintf("(%d)", typmod));
	method_name(target.method_id, name);
	initStringInfo(&out);
	appendStringInfo(&out, "(%s", quote_identifier(name));
	if ((typmod >> 12 & 0x3F) != TYPMOD_NO_LEVEL)
		appendStringInfo(&out, ",%d", target.level);
	if (target.dictionary_number != 0)
		appendStringInfo(&out, ",%u", target.dictionary_number);
	appendStringInfoChar(&out, ')');
	PG_RETURN_CSTRING(out.data);
}
