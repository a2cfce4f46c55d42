/*-------------------------------------------------------------------------
 *
 * dictionary.h
 *	  Dictionaries: rows of the extension's table "compression_dictionaries", never changed.
 *
 *	  The id, which stands in values, is a hash of the content; the number,
 *	  which stands in type modifiers, is the low 13 bits of the id and unique
 *	  in a database.  So both are the same wherever a dump is restored.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMPRESS_DICTIONARY_H
#define COMPRESS_DICTIONARY_H

#include "postgres.h"

/* What a type modifier has room for (typmod.h). */
#define DICTIONARY_NUMBER_MAX 8191

static inline uint32
dictionary_number(uint32 id)
{
	return id & DICTIONARY_NUMBER_MAX;
}

/* From _PG_init. */
extern void dictionary_init(void);

/* Never 0, nor is its number. */
extern uint32 dictionary_id(const char *content, Size bytes);

/* In the current memory context; an error if there is none. */
extern bytea *dictionary_content(uint32 id);

/*
 * The id for a number of a type modifier; 0, with a warning once per
 * transaction, if there is none (yet).
 */
extern uint32 dictionary_id_by_number(uint32 number);

/* After one was dropped. */
extern void dictionary_forget_numbers(void);

/* An error unless the current role has the privileges of the one that the dictionary belongs to. */
extern void dictionary_check_use(uint32 number);

/* 0 if there is none. */
extern uint32 dictionary_id_by_name(const char *name);

#endif							/* COMPRESS_DICTIONARY_H */
