/*-------------------------------------------------------------------------
 *
 * range_image.h
 *	  What the engine has in place of ranges and multiranges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_RANGE_IMAGE_H
#define PENUMBRA_RANGE_IMAGE_H

#include "postgres.h"

/* As ValueImage has them. */
extern uint64 range_image_encode(Datum value, uint32 *length);
extern Datum range_image_decode(uint64 image, uint32 length);
extern uint64 multirange_image_encode(Datum value, uint32 *length);
extern Datum multirange_image_decode(uint64 image, uint32 length);

#endif							/* PENUMBRA_RANGE_IMAGE_H */
