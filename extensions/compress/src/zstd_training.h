/*-------------------------------------------------------------------------
 *
 * zstd_training.h
 *	  zstd's training of a dictionary, which a cancel need not wait for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_ZSTD_TRAINING_H
#define COMPRESS_ZSTD_TRAINING_H

#include "sample.h"

/* Writes at most "size" bytes to "content": how many, or 0 if the sample is too small.  Serves interrupts. */
extern Size zstd_train(const Sample *sample, char *content, Size size);

#endif							/* COMPRESS_ZSTD_TRAINING_H */
