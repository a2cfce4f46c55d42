/*-------------------------------------------------------------------------
 *
 * train.h
 *	  Making dictionaries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_TRAIN_H
#define COMPRESS_TRAIN_H

#include "sample.h"

typedef struct Dictionary
{
	char	   *content;
	Size		bytes;			/* 0: the sample is too small */
} Dictionary;

/* At most "size" bytes; the same for the same sample. */
extern Dictionary dictionary_train(const Sample *sample, Size size);

/* Setting penumbra_compress.dictionaries_per_role */
extern int	dictionaries_per_role;

/* drop_dictionary() has proven that of the one that it deletes now. */
extern bool dictionary_is_unused;

/* A name after the column that no dictionary has. */
extern char *dictionary_free_name(const SampledColumn *column);

#endif							/* COMPRESS_TRAIN_H */
