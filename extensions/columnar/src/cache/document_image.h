/*-------------------------------------------------------------------------
 *
 * document_image.h
 *	  Documents as bytes that are in the order of the values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_DOCUMENT_IMAGE_H
#define PENUMBRA_DOCUMENT_IMAGE_H

#include "postgres.h"

#include "utils/jsonb.h"

#include "cache/image_bytes.h"

extern void document_image_write(Jsonb *document, ImageWriter *writer);
/* In the current memory context. */
extern Jsonb *document_image_read(ImageReader *reader);

#endif							/* PENUMBRA_DOCUMENT_IMAGE_H */
