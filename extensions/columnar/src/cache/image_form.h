/*-------------------------------------------------------------------------
 *
 * image_form.h
 *	  How the parts of an image are written.
 *
 * Numbers that are equal can be written differently: 1.0 is equal to 1, and -0 to 0.  So
 * an image has them in their shortest form, and a form says by how many zeros each is longer.
 * So it is with the blanks of char(n), and the months and days of intervals.
 * The form is a tail of the image (penumbra/types.h), which does not compare.
 *
 * It has a pair of numbers for each number that is longer: how many short ones come before
 * it, after the longer one before; by how many zeros it is longer.  A number's bytes have
 * seven bits each, the least first, and another bit where one follows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_IMAGE_FORM_H
#define PENUMBRA_IMAGE_FORM_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* All zero at first. */
typedef struct FormWriter
{
	StringInfoData bytes;		/* without memory: all are short */
	uint32		short_numbers;	/* the last ones */
} FormWriter;

typedef struct FormReader
{
	const uint8 *next;
	const uint8 *end;
	uint32		short_numbers;	/* the last ones */
} FormReader;

/* Of the next number. */
extern void form_write(FormWriter *writer, uint32 longer);
/* Ends an image, which is as long as one with a tail must be then. */
extern void form_finish(const FormWriter *writer, StringInfo image);

/* Of an image, of which `length` is without the tail then. */
extern FormReader form_begin(const char *image, uint32 *length);
/* By how many zeros the next number is longer. */
extern uint32 form_read(FormReader *reader);

#endif							/* PENUMBRA_IMAGE_FORM_H */
