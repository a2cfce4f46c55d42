/*-------------------------------------------------------------------------
 *
 * value_text.c
 *	  Text of values, byte for byte as their types' output functions make it.
 *
 * An output function returns a string of its own, which its caller copies.
 * Where the text takes a few lines it is written to its place instead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pg_compat.h"

#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "penumbra/engine.h"
#include "query/execute/value_text.h"

StaticAssertDecl(WRITTEN_TEXT_BYTES > MAXDATELEN, "room for dates");

static char *
write_int2(Datum value, char *to)
{
	return to + pg_itoa(DatumGetInt16(value), to);
}

static char *
write_int4(Datum value, char *to)
{
	return to + pg_ltoa(DatumGetInt32(value), to);
}

static char *
write_int8(Datum value, char *to)
{
	return to + pg_lltoa(DatumGetInt64(value), to);
}

static void
write_2_digits(int number, char *to)
{
	to[0] = (char) ('0' + number / 10);
	to[1] = (char) ('0' + number % 10);
}

/* As date_out() has it. */
static char *
write_date(Datum value, char *to)
{
	DateADT		date = DatumGetDateADT(value);
	struct pg_tm tm = {0};

	if (DATE_NOT_FINITE(date))
		EncodeSpecialDate(date, to);
	else
	{
		j2date(date + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
		if (DateStyle == USE_ISO_DATES && tm.tm_year > 0 && tm.tm_year <= 9999)
		{
			write_2_digits(tm.tm_year / 100, to);
			write_2_digits(tm.tm_year % 100, to + 2);
			to[4] = to[7] = '-';
			write_2_digits(tm.tm_mon, to + 5);
			write_2_digits(tm.tm_mday, to + 8);
			return to + 10;
		}
		EncodeDateOnly(&tm, DateStyle, to);
	}
	return to + strlen(to);
}

/* Of the usual numbers; others are long, NaN or infinite. */
static char *
write_numeric(Datum value, char *to)
{
	struct varlena *number = PG_DETOAST_DATUM_PACKED(value);
	uint32		bytes = penumbra_numeric_text(VARDATA_ANY(number), (uint32) VARSIZE_ANY_EXHDR(number), to,
											  WRITTEN_TEXT_BYTES);

	return bytes > 0 ? to + bytes : NULL;
}

/* By the type's function, which is the base type's where the type is a domain. */
void
value_text_begin(ValueText *column, Oid type)
{
	Oid			output;
	bool		is_varlena;

	*column = (ValueText) {0};
	getTypeOutputInfo(type, &output, &is_varlena);
	switch (output)
	{
		case F_INT2OUT:
			column->write = write_int2;
			break;
		case F_INT4OUT:
			column->write = write_int4;
			break;
		case F_INT8OUT:
			column->write = write_int8;
			break;
		case F_DATE_OUT:
			column->write = write_date;
			break;
		case F_NUMERIC_OUT:
			column->write = write_numeric;
			break;
		case F_TEXTOUT:
		case F_VARCHAROUT:
		case F_BPCHAROUT:
			column->is_string = true;
			break;
		default:
			break;
	}
	if (!column->is_string)
		fmgr_info(output, &column->output);
}
