/*-------------------------------------------------------------------------
 *
 * composed_image.h
 *	  What the engine has in place of documents, arrays and ranges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_COMPOSED_IMAGE_H
#define PENUMBRA_COMPOSED_IMAGE_H

/* From then on value_image_of() has them. */
extern void composed_image_install(void);

#endif							/* PENUMBRA_COMPOSED_IMAGE_H */
